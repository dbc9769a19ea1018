//! The same elimination on the CPU.

use super::System;

pub(super) fn eliminate(system: &System) -> System {
    let System { mut matrix, mut right } = system.clone();
    let n = right.len();
    for column in 0..n {
        let (above, below) = matrix.split_at_mut((column + 1) * n);
        let pivot = &above[column * n..];
        for (i, row) in below.chunks_exact_mut(n).enumerate() {
            let multiplier = row[column] / pivot[column];
            for (x, p) in row[column..].iter_mut().zip(&pivot[column..]) {
                *x = (-multiplier).mul_add(*p, *x);
            }
            let i = column + 1 + i;
            right[i] = (-multiplier).mul_add(right[column], right[i]);
        }
    }
    System { matrix, right }
}

/// The unknowns of a triangular system.
pub(super) fn substitute(system: &System) -> Vec<f32> {
    let n = system.n();
    let mut unknowns = vec![0.0f32; n];
    for (i, row) in system.matrix.chunks_exact(n).enumerate().rev() {
        let known: f32 = row[i + 1..].iter().zip(&unknowns[i + 1..]).map(|(a, x)| a * x).sum();
        unknowns[i] = (system.right[i] - known) / row[i];
    }
    unknowns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_equations_by_hand() {
        // 2x + y − z = 8, −3x − y + 2z = −11, −2x + y + 2z = −3: x = 2, y = 3, z = −1.
        let matrix = vec![2.0, 1.0, -1.0, -3.0, -1.0, 2.0, -2.0, 1.0, 2.0];
        let triangle = eliminate(&System { matrix, right: vec![8.0, -11.0, -3.0] });
        assert_eq!(triangle.matrix[3..6], [0.0, 0.5, 0.5]);
        assert_eq!(triangle.right, [8.0, 1.0, 1.0]);
        assert_eq!(substitute(&triangle), [2.0, 3.0, -1.0]);
    }

    #[test]
    fn the_solution_solves_the_system() {
        let system = System::generate(64);
        let unknowns = substitute(&eliminate(&system));
        for (row, right) in system.matrix.chunks_exact(64).zip(&system.right) {
            let left: f64 = row.iter().zip(&unknowns).map(|(a, x)| f64::from(*a) * f64::from(*x)).sum();
            assert!((left - f64::from(*right)).abs() < 1e-4, "{left}, not {right}");
        }
    }
}
