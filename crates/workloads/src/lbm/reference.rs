//! The same flow on the CPU, with the device's roundings.

use super::{Input, OMEGA, PUSH, VELOCITIES, weight};

/// The velocities; each odd one is followed by its opposite.
fn velocities() -> [[i32; 3]; VELOCITIES] {
    let half = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, -1, 0], [1, 0, 1], [1, 0, -1], [0, 1, 1], [0, 1, -1]];
    let mut all = [[0; 3]; VELOCITIES];
    for (k, e) in half.into_iter().enumerate() {
        all[2 * k + 1] = e;
        all[2 * k + 2] = e.map(|c: i32| -c);
    }
    all
}

pub(super) fn flow(input: &Input) -> Vec<f32> {
    let mut now = input.start.clone();
    for _ in 0..input.steps {
        now = step(input, &now);
    }
    now
}

fn step(input: &Input, from: &[f32]) -> Vec<f32> {
    let cells = input.cells();
    let [width, height, _] = input.size;
    let velocities = velocities();
    let mut to = vec![0.0; from.len()];
    for i in 0..cells {
        let mut f: [f32; VELOCITIES] = std::array::from_fn(|q| from[q * cells + i]);
        if input.solid[i] != 0 {
            (1..VELOCITIES).step_by(2).for_each(|q| f.swap(q, q + 1));
        } else {
            collide(&mut f, &velocities);
        }
        let place = [i % width, i / width % height, i / width / height];
        for (q, e) in velocities.iter().enumerate() {
            let wrap = |axis: usize| (place[axis] as i32 + e[axis]).rem_euclid(input.size[axis] as i32) as usize;
            to[q * cells + (wrap(2) * height + wrap(1)) * width + wrap(0)] = f[q];
        }
    }
    to
}

fn collide(f: &mut [f32; VELOCITIES], velocities: &[[i32; 3]; VELOCITIES]) {
    let signed = |e: i32, u: f32, sum: f32| match e {
        0 => sum,
        1 => sum + u,
        _ => sum - u,
    };
    let density: f32 = f.iter().fold(0.0, |sum, f| sum + f);
    let current = [0, 1, 2].map(|axis| f.iter().zip(velocities).fold(0.0, |sum, (f, e)| signed(e[axis], *f, sum)));
    let volume = 1.0 / density;
    let [ux, uy, uz] = [0, 1, 2].map(|axis: usize| current[axis].mul_add(volume, PUSH[axis]));
    let square = uz.mul_add(uz, uy.mul_add(uy, ux * ux));
    let base = (-1.5f32).mul_add(square, 1.0);
    for (q, e) in velocities.iter().enumerate() {
        let eu = signed(e[2], uz, signed(e[1], uy, signed(e[0], ux, 0.0)));
        let shape = eu.mul_add(4.5f32.mul_add(eu, 3.0), base);
        f[q] = OMEGA.mul_add((weight(q) * density).mul_add(shape, -f[q]), f[q]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_velocities_are_balanced() {
        let velocities = velocities();
        for axis in 0..3 {
            assert_eq!(velocities.iter().map(|e| e[axis]).sum::<i32>(), 0);
            // Σ w e² is a third: the speed of sound squared.
            let spread: f32 = velocities.iter().enumerate().map(|(q, e)| weight(q) * (e[axis] * e[axis]) as f32).sum();
            assert!((spread - 1.0 / 3.0).abs() < 1e-6);
        }
    }

    #[test]
    fn mass_stays_and_the_push_makes_the_fluid_move() {
        let input = Input::generate([16, 8, 8], 10);
        let after = flow(&input);
        let mass = |f: &[f32]| f.iter().map(|&f| f64::from(f)).sum::<f64>();
        assert!((mass(&after) / mass(&input.start) - 1.0).abs() < 1e-6);
        let cells = input.cells();
        let current: f32 = velocities()
            .iter()
            .enumerate()
            .map(|(q, e)| e[0] as f32 * after[q * cells..][..cells].iter().sum::<f32>())
            .sum();
        assert!(current > 0.0);
    }

    #[test]
    fn a_solid_cell_sends_back() {
        let mut input = Input::generate([4, 4, 4], 2);
        input.solid = vec![1; 64];
        // Out and back again: after two steps all is as before, mirrored.
        let after = flow(&input);
        assert_eq!(after[..64], input.start[..64]);
        assert_eq!(after[64..128], input.start[64..128]);
    }
}
