//! The same convolution on the CPU, by transforms of radix 2.

use super::Input;

pub(super) fn convolve(input: &Input) -> Vec<f32> {
    let [mut signal, mut kernel] = [input.signal.clone(), input.kernel.clone()];
    transform(&mut signal);
    transform(&mut kernel);
    let scale = 1.0 / signal.len() as f32;
    signal.iter_mut().zip(&kernel).for_each(|(s, k)| *s = *s * k * scale);
    transform(&mut signal);
    signal
}

/// From the largest stride to the smallest.
fn transform(data: &mut [f32]) {
    let mut stride = data.len() / 2;
    while stride > 0 {
        for part in data.chunks_exact_mut(2 * stride) {
            let (low, high) = part.split_at_mut(stride);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        stride /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transform_by_hand_and_back() {
        let mut data = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0];
        transform(&mut data);
        assert_eq!(data, [4.0, 2.0, 0.0, -2.0, 0.0, 2.0, 0.0, 2.0]);
        transform(&mut data);
        assert_eq!(data.map(|x| x / 8.0), [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn the_convolution_is_dyadic() {
        // (s ∗ k)(i) = Σ s(i ⊕ j) k(j)
        let input = Input::generate(4096);
        let got = convolve(&input);
        for i in [0, 1, 77, 4095] {
            let want: f64 = (0..64).map(|j| f64::from(input.signal[i ^ j]) * f64::from(input.kernel[j])).sum();
            assert!((f64::from(got[i]) - want).abs() < 1e-2, "{} for {want}", got[i]);
        }
    }
}
