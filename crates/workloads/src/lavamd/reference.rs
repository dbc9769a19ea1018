//! The same sums on the CPU, in double precision.

use super::{FALLOFF, Input};
use crate::math::exp;

pub(super) struct Forces {
    /// Force x, y, z and potential of each particle.
    pub(super) sums: Vec<f64>,
    /// The sums of the terms' magnitudes.
    pub(super) magnitudes: Vec<f64>,
}

pub(super) fn forces(input: &Input) -> Forces {
    let falloff = f64::from(FALLOFF);
    let particles: Vec<[f64; 4]> =
        input.particles.chunks_exact(4).map(|p| std::array::from_fn(|i| f64::from(p[i]))).collect();
    let mut result = Forces { sums: Vec::new(), magnitudes: Vec::new() };
    for (home, neighbours) in input.neighbours.iter().enumerate() {
        for me in &particles[home * input.per_box..][..input.per_box] {
            let (mut sum, mut magnitude) = ([0.0; 4], [0.0; 4]);
            for &from in neighbours {
                for it in &particles[from as usize * input.per_box..][..input.per_box] {
                    let d: [f64; 3] = std::array::from_fn(|i| me[i] - it[i]);
                    let r2: f64 = d.iter().map(|d| d * d).sum();
                    let v = it[3] * exp(-falloff * r2);
                    let slope = 2.0 * falloff * v;
                    for (i, term) in [slope * d[0], slope * d[1], slope * d[2], v].into_iter().enumerate() {
                        sum[i] += term;
                        magnitude[i] += term.abs();
                    }
                }
            }
            result.sums.extend(sum);
            result.magnitudes.extend(magnitude);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lavamd::neighbours_of;

    #[test]
    fn boxes_touch_8_to_27_boxes() {
        assert_eq!(neighbours_of([0, 0, 0], 3).len(), 8);
        assert_eq!(neighbours_of([1, 0, 0], 3).len(), 12);
        let centre = neighbours_of([1, 1, 1], 3);
        assert_eq!((centre.len(), centre[0]), (27, 13));
    }

    #[test]
    fn two_particles_push_each_other_apart_along_x() {
        let particles = vec![0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 2.0];
        let found = forces(&Input { per_box: 2, particles, neighbours: vec![vec![0]] });
        let e = (-0.5f64).exp();
        // Potential at the first: its own charge and twice e^(−1/2); force: 2 a q e^(−1/2) towards negative x.
        let want = [-2.0 * e, 0.0, 0.0, 1.0 + 2.0 * e, e, 0.0, 0.0, 2.0 + e];
        assert!(found.sums.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-14), "{:?}", found.sums);
    }

    #[test]
    fn force_is_the_gradient_of_the_potential() {
        let mut input = Input::generate(1, 5);
        let force = forces(&input).sums[0];
        let mut potential = |dx: f32| {
            let x = input.particles[0];
            input.particles[0] = x + dx;
            let potential = forces(&input).sums[3];
            input.particles[0] = x;
            potential
        };
        let h = 1.0 / 256.0;
        let slope = (potential(h) - potential(-h)) / (2.0 * f64::from(h));
        assert!((force + slope).abs() < 1e-4, "{force} against {slope}");
    }
}
