//! The same grid on the CPU, sample by sample, in double precision.

use super::{BIN, CUTOFF, FALLOFF, Input};
use crate::math::exp;

pub(super) struct Grid {
    pub start: Vec<i32>,
    pub real: Vec<f64>,
    pub imaginary: Vec<f64>,
    /// The sums of the terms' magnitudes: what errors are relative to.
    pub real_magnitudes: Vec<f64>,
    pub imaginary_magnitudes: Vec<f64>,
}

pub(super) fn grid(input: &Input) -> Grid {
    let (edge, points) = (input.bins * BIN, input.grid_points());
    let mut start = vec![0; input.bins.pow(3) + 1];
    let [mut real, mut imaginary] = [vec![0.0; points], vec![0.0; points]];
    let [mut real_magnitudes, mut imaginary_magnitudes] = [vec![0.0; points], vec![0.0; points]];
    for (i, position) in input.positions.iter().enumerate() {
        let [x, y, z] = [0, 1, 2].map(|axis| position[axis] as usize / BIN);
        start[(z * input.bins + y) * input.bins + x + 1] += 1;
        let near = [0, 1, 2].map(|axis| {
            let low = (position[axis] - CUTOFF).max(0.0) as usize;
            low..=((position[axis] + CUTOFF) as usize).min(edge - 1)
        });
        for (z, y) in near[2].clone().flat_map(|z| near[1].clone().map(move |y| (z, y))) {
            for x in near[0].clone() {
                // With the device's roundings, so that both agree on which samples are near enough.
                let [dx, dy, dz] = [position[0] - x as f32, position[1] - y as f32, position[2] - z as f32];
                let r2 = dz.mul_add(dz, dy.mul_add(dy, dx * dx));
                if r2 < CUTOFF * CUTOFF {
                    let window = exp(-f64::from(FALLOFF) * f64::from(r2));
                    let at = (z * edge + y) * edge + x;
                    let (re, im) = (f64::from(input.real[i]) * window, f64::from(input.imaginary[i]) * window);
                    real[at] += re;
                    imaginary[at] += im;
                    real_magnitudes[at] += re.abs();
                    imaginary_magnitudes[at] += im.abs();
                }
            }
        }
    }
    (1..start.len()).for_each(|b| start[b] += start[b - 1]);
    Grid { start, real, imaginary, real_magnitudes, imaginary_magnitudes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sample_by_hand() {
        let input = Input { bins: 2, positions: vec![[5.0, 2.0, 3.0, 0.0]], real: vec![2.0], imaginary: vec![-1.0] };
        let grid = grid(&input);
        // Bin 1 of 8; e^(−0.4 r²) at distances 0 and √5, nothing at 4.
        assert_eq!(grid.start, [0, 0, 1, 1, 1, 1, 1, 1, 1]);
        let at = |x: usize, y: usize, z: usize| (z * 8 + y) * 8 + x;
        assert_eq!((grid.real[at(5, 2, 3)], grid.imaginary[at(5, 2, 3)]), (2.0, -1.0));
        assert!((grid.real[at(6, 2, 5)] - 2.0 * (-0.4f64 * 5.0).exp()).abs() < 1e-7);
        assert_eq!(grid.real[at(1, 2, 3)], 0.0);
    }

    #[test]
    fn the_centre_is_crowded() {
        let input = Input::generate(8, 2048);
        let start = grid(&input).start;
        assert_eq!(start[512], 2048);
        let mut counts: Vec<i32> = start.windows(2).map(|pair| pair[1] - pair[0]).collect();
        counts.sort_unstable();
        assert!(counts[504..].iter().sum::<i32>() > 300, "the fullest eight bins");
    }
}
