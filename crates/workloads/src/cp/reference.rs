//! The same sums on the CPU, in double precision.

use super::{Input, SPACING};

pub(super) struct Potentials {
    pub sums: Vec<f64>,
    /// The sums of the terms' magnitudes: what errors are relative to.
    pub magnitudes: Vec<f64>,
}

pub(super) fn potentials(input: &Input) -> Potentials {
    let points = (0..input.width * input.height).map(|i| {
        let (x, y) = ((i % input.width) as f64 * f64::from(SPACING), (i / input.width) as f64 * f64::from(SPACING));
        let mut point = (0.0, 0.0);
        for atom in &input.atoms {
            let [ax, ay, z2, charge] = atom.map(f64::from);
            let term = charge / ((x - ax).powi(2) + (y - ay).powi(2) + z2).sqrt();
            point = (point.0 + term, point.1 + term.abs());
        }
        point
    });
    let (sums, magnitudes) = points.unzip();
    Potentials { sums, magnitudes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_atom_by_hand() {
        // Above point (4, 0), which is at x = 1, by 2; seen from point (10, 0) it is at a distance of √(1.5² + 2²) = 2.5.
        let input = Input { width: 16, height: 1, atoms: vec![[1.0, 0.0, 4.0, -3.0]] };
        let potentials = potentials(&input);
        assert_eq!((potentials.sums[4], potentials.sums[10]), (-1.5, -1.2));
        assert_eq!(potentials.magnitudes[4], 1.5);
    }

    #[test]
    fn opposite_charges_cancel_halfway() {
        let input = Input { width: 9, height: 9, atoms: vec![[0.0, 1.0, 1.0, 1.0], [2.0, 1.0, 1.0, -1.0]] };
        let potentials = potentials(&input);
        assert_eq!(potentials.sums[4 * 9 + 4], 0.0);
        assert!((potentials.magnitudes[4 * 9 + 4] - 2.0f64.sqrt()).abs() < 1e-12);
    }
}
