//! The same products on the CPU, in the device's order of additions.

use super::{Input, SUMS};

pub(super) fn products(input: &Input) -> Vec<f32> {
    let pairs = input.a.chunks_exact(input.length).zip(input.b.chunks_exact(input.length));
    pairs.map(|(x, y)| product(x, y)).collect()
}

fn product(x: &[f32], y: &[f32]) -> f32 {
    let mut sum = [0.0f32; SUMS];
    for (i, (x, y)) in x.iter().zip(y).enumerate() {
        sum[i % SUMS] = x.mul_add(*y, sum[i % SUMS]);
    }
    let mut half = SUMS / 2;
    while half > 0 {
        (0..half).for_each(|k| sum[k] += sum[k + half]);
        half /= 2;
    }
    sum[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_products() {
        assert_eq!(product(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 32.0);
        let ones = vec![1.0; 5000];
        assert_eq!(product(&ones, &ones), 5000.0);
    }
}
