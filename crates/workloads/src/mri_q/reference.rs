//! The same sums on the CPU: phases with the device's roundings, sines, cosines and sums in double precision.

use super::Input;
use crate::math::sin_cos_turns;

pub(super) struct Q {
    pub(super) real: Vec<f64>,
    pub(super) imaginary: Vec<f64>,
}

pub(super) fn magnitudes(input: &Input) -> Vec<f32> {
    input.phi_real.iter().zip(&input.phi_imaginary).map(|(re, im)| im.mul_add(*im, re * re)).collect()
}

pub(super) fn q(input: &Input, magnitude: &[f32]) -> Q {
    let ([vx, vy, vz], [kx, ky, kz]) = (&input.voxels, &input.samples);
    let mut result = Q { real: Vec::with_capacity(vx.len()), imaginary: Vec::with_capacity(vx.len()) };
    for i in 0..vx.len() {
        let (mut real, mut imaginary) = (0.0, 0.0);
        for k in 0..magnitude.len() {
            let turns = kz[k].mul_add(vz[i], ky[k].mul_add(vy[i], kx[k] * vx[i]));
            let (sine, cosine) = sin_cos_turns(f64::from(turns));
            real += f64::from(magnitude[k]) * cosine;
            imaginary += f64::from(magnitude[k]) * sine;
        }
        result.real.push(real);
        result.imaginary.push(imaginary);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_centre_q_is_the_sum_of_magnitudes() {
        let mut input = Input::generate(1, 100);
        input.voxels = [vec![0.0], vec![0.0], vec![0.0]];
        let magnitude = magnitudes(&input);
        let found = q(&input, &magnitude);
        let sum: f64 = magnitude.iter().map(|&m| f64::from(m)).sum();
        assert!((found.real[0] - sum).abs() < 1e-9 && found.imaginary[0] == 0.0);
    }

    #[test]
    fn one_sample_turns_once_per_cycle() {
        let input = Input {
            voxels: [vec![0.0, 0.25, 0.5], vec![0.0; 3], vec![0.0; 3]],
            samples: [vec![1.0], vec![7.0], vec![-3.0]],
            phi_real: vec![0.0],
            phi_imaginary: vec![2.0],
        };
        let found = q(&input, &magnitudes(&input));
        let near = |a: &[f64], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(near(&found.real, [4.0, 0.0, -4.0]) && near(&found.imaginary, [0.0, 4.0, 0.0]));
    }

    #[test]
    fn opposite_voxels_are_conjugate() {
        let mut input = Input::generate(2, 50);
        input.voxels.iter_mut().for_each(|axis| axis[1] = -axis[0]);
        let found = q(&input, &magnitudes(&input));
        assert!((found.real[0] - found.real[1]).abs() < 1e-9);
        assert!((found.imaginary[0] + found.imaginary[1]).abs() < 1e-9);
    }
}
