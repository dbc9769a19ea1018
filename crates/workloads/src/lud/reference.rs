//! The same decomposition on the CPU: the textbook's three loops, with fused multiply-adds.

pub(super) fn decompose(matrix: &[f32], n: usize) -> Vec<f32> {
    let mut m = matrix.to_vec();
    for k in 0..n {
        let (done, rest) = m.split_at_mut((k + 1) * n);
        let pivot_row = &done[k * n..];
        for row in rest.chunks_exact_mut(n) {
            let l = row[k] / pivot_row[k];
            row[k] = l;
            for j in k + 1..n {
                row[j] = (-l).mul_add(pivot_row[j], row[j]);
            }
        }
    }
    m
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lud::generate;

    #[test]
    fn a_three_by_three_worked_by_hand() {
        let a = [2.0, 1.0, 1.0, 4.0, 3.0, 3.0, 8.0, 7.0, 9.0];
        assert_eq!(decompose(&a, 3), [2.0, 1.0, 1.0, 2.0, 1.0, 1.0, 4.0, 3.0, 2.0]);
    }

    #[test]
    fn l_times_u_is_the_matrix() {
        let n = 48;
        let a = generate(n);
        let lu = decompose(&a, n);
        for i in 0..n {
            for j in 0..n {
                let l = |k: usize| if k == i { 1.0 } else { f64::from(lu[i * n + k]) };
                let product: f64 = (0..=i.min(j)).map(|k| l(k) * f64::from(lu[k * n + j])).sum();
                assert!((product - f64::from(a[i * n + j])).abs() < 1e-5, "{i},{j}");
            }
        }
    }
}
