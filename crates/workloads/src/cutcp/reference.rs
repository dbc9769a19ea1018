//! The same potentials on the CPU: every point against every atom, in double precision.

use super::{CUBE, Input, SPACING};

pub(super) struct Potentials {
    pub(super) sums: Vec<f64>,
    /// The sums of the terms' magnitudes.
    pub(super) magnitudes: Vec<f64>,
}

pub(super) fn potentials(input: &Input) -> Potentials {
    let cutoff2 = f64::from(input.cutoff).powi(2);
    let atoms: Vec<[f64; 4]> = input.slots.iter().filter(|a| a[3] != 0.0).map(|a| a.map(f64::from)).collect();
    let [nx, ny, nz] = input.bins.map(|n| n * CUBE);
    let mut result = Potentials { sums: Vec::new(), magnitudes: Vec::new() };
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                let point = [x, y, z].map(|c| c as f64 * f64::from(SPACING));
                let (mut sum, mut magnitude) = (0.0, 0.0);
                for atom in &atoms {
                    let r2: f64 = (0..3).map(|i| (atom[i] - point[i]).powi(2)).sum();
                    if r2 < cutoff2 {
                        let term = atom[3] / r2.sqrt() * (1.0 - r2 / cutoff2).powi(2);
                        sum += term;
                        magnitude += term.abs();
                    }
                }
                result.sums.push(sum);
                result.magnitudes.push(magnitude);
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cutcp::{BIN_DEPTH, offsets};

    #[test]
    fn one_atom_worked_by_hand() {
        let mut slots = vec![[0.0; 4]; BIN_DEPTH];
        slots[0] = [1.0, 0.0, 0.0, 2.0];
        let found = potentials(&Input { bins: [1, 1, 1], cutoff: 2.0, slots });
        // At the origin r = 1: 2 / 1 × (1 − 1/4)²; at x = 3 r = 2, the cut-off.
        assert_eq!(found.sums[0], 2.0 * 0.5625);
        assert_eq!(found.sums[6], 0.0);
    }

    #[test]
    fn bins_within_reach() {
        // Cut-off 6 Å, bins of 4 Å: two bins away the gap is 4 Å; only (2, 2, 2) is out of reach, 6.9 Å.
        assert_eq!(offsets(6.0).len(), 125 - 8);
        assert_eq!(offsets(8.0).len(), 125);
        assert_eq!(offsets(3.0).len(), 27);
    }

    #[test]
    fn bins_hold_their_atoms() {
        let input = Input::generate([3, 3, 2], 3, 6.0);
        let mut count = 0;
        for (bin, slots) in input.slots.chunks(BIN_DEPTH).enumerate() {
            let corner = [bin % 3, bin / 3 % 3, bin / 9].map(|c| c as f32 * 4.0);
            for atom in slots.iter().filter(|a| a[3] != 0.0) {
                count += 1;
                assert!((0..3).all(|i| (corner[i]..corner[i] + 4.0).contains(&atom[i])));
            }
        }
        assert_eq!(count, 54);
    }
}
