//! The same product on the CPU.

use super::Input;

pub(super) fn multiply(input: &Input) -> Vec<f32> {
    let (m, n) = (input.m, input.n);
    let mut c = Vec::with_capacity(m * n);
    for column in 0..n {
        // A whole column of sums at a time: each sum still sees its products in the order of k.
        let mut sums = vec![0.0f32; m];
        for (a, b) in input.a.chunks_exact(m).zip(input.b.chunks_exact(n)) {
            sums.iter_mut().zip(a).for_each(|(sum, a)| *sum = a.mul_add(b[column], *sum));
        }
        let old = &input.c[column * m..][..m];
        c.extend(sums.iter().zip(old).map(|(sum, c)| input.alpha.mul_add(*sum, input.beta * c)));
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_by_two_worked_by_hand() {
        // A = [1 2; 3 4] column-major, B = [5 6; 7 8] row-major, C = [1 1; 1 1].
        let input = Input {
            m: 2,
            n: 2,
            k: 2,
            a: vec![1.0, 3.0, 2.0, 4.0],
            b: vec![5.0, 6.0, 7.0, 8.0],
            c: vec![1.0; 4],
            alpha: 2.0,
            beta: 10.0,
        };
        // A B = [19 22; 43 50]; 2 A B + 10, column-major.
        assert_eq!(multiply(&input), [48.0, 96.0, 54.0, 110.0]);
    }

    #[test]
    fn the_identity_changes_nothing() {
        let mut input = Input::generate(128, 16, 16);
        (input.alpha, input.beta) = (1.0, 0.0);
        input.b.fill(0.0);
        (0..16).for_each(|i| input.b[i * 16 + i] = 1.0);
        assert!(multiply(&input).iter().zip(&input.a).all(|(c, a)| c == a));
    }
}
