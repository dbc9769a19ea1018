//! The same cells on the CPU, with the device's roundings and order of additions.

use super::{
    ANGLES, BORDER, Cells, ENOUGH, HOLD, Input, MOTION, PATCH, RADII, SPREAD, THREADS, circles, directions, disc,
};

pub(super) fn cells(input: &Input) -> Cells {
    let score = scores(input);
    let dilated = dilate(input, &score);
    let mut fields = input.patches(&score, &dilated);
    let patches = fields.chunks_exact_mut(PATCH * PATCH);
    let rounds = patches.map(|patch| evolve(patch, input.most_rounds)).collect();
    Cells { score, dilated, rounds, fields }
}

fn scores(input: &Input) -> Vec<f32> {
    let (width, height) = (input.width, input.height);
    let [gradient_x, gradient_y] = input.gradients();
    let [circle_x, circle_y] = circles();
    let directions: Vec<[f32; 2]> = directions().iter().map(|d| d.map(|c| c as f32)).collect();
    let mut score = vec![0.0f32; width * height];
    for y in BORDER..height - BORDER {
        for x in BORDER..width - BORDER {
            for r in 0..RADII.len() {
                let (mut sum, mut squares) = (0.0f32, 0.0f32);
                for (a, [cosine, sine]) in directions.iter().enumerate() {
                    let (dx, dy) = (circle_x[r * ANGLES + a], circle_y[r * ANGLES + a]);
                    let at = (y as i32 + dy) as usize * width + (x as i32 + dx) as usize;
                    let outwards = gradient_x[at].mul_add(*cosine, gradient_y[at] * sine);
                    sum += outwards;
                    squares = outwards.mul_add(outwards, squares);
                }
                let mean = sum / ANGLES as f32;
                let variance = (-mean).mul_add(sum, squares) / (ANGLES - 1) as f32;
                score[y * width + x] = score[y * width + x].max(mean * mean / variance);
            }
        }
    }
    score
}

fn dilate(input: &Input, score: &[f32]) -> Vec<f32> {
    let disc = disc();
    let (width, height) = (input.width as i32, input.height as i32);
    let most = |i: i32| {
        let places = disc.iter().map(|[dx, dy]| (i % width + dx, i / width + dy));
        let inside = places.filter(|(x, y)| (0..width).contains(x) && (0..height).contains(y));
        inside.map(|(x, y)| score[(y * width + x) as usize]).fold(0.0, f32::max)
    };
    (0..width * height).map(most).collect()
}

fn step(z: f32) -> f32 {
    0.5f32.mul_add(z / (1.0 + z.abs()), 0.5)
}

/// Replaces the patch by its field; gives back the rounds.
fn evolve(patch: &mut [f32], most_rounds: usize) -> i32 {
    let image = patch.to_vec();
    let clamp = |c: usize, d: i32| (c as i32 + d).clamp(0, PATCH as i32 - 1) as usize;
    for round in 1.. {
        let now = patch.to_vec();
        let mut changed = [0.0f32; 256];
        for i in 0..PATCH * PATCH {
            let mut flow = 0.0f32;
            for (dx, dy) in [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)] {
                let rise = now[clamp(i / PATCH, dy) * PATCH + clamp(i % PATCH, dx)] - now[i];
                let along = MOTION[0].mul_add(dx as f32, MOTION[1] * dy as f32);
                flow = step(along * rise).mul_add(rise, flow);
            }
            let pull = HOLD * image[i] * (image[i] - now[i]);
            let moved = SPREAD.mul_add(flow, pull);
            patch[i] = now[i] + moved;
            changed[i % THREADS] += moved.abs();
        }
        let mut half = 128;
        while half > 0 {
            (0..half).for_each(|t| changed[t] += changed[t + half]);
            half /= 2;
        }
        if changed[0] < ENOUGH || round == most_rounds as i32 {
            return round;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::super::image;
    use super::*;

    #[test]
    fn every_cell_is_found_once() {
        assert_eq!(cells(&image::generate(64, 64, 2, 2, 1)).rounds.len(), 4);
        assert_eq!(cells(&image::generate(256, 224, 6, 5, 1)).rounds.len(), 30);
    }

    #[test]
    fn flows_settle_at_different_times() {
        let rounds = cells(&image::generate(256, 224, 6, 5, 40)).rounds;
        let (least, most) = (rounds.iter().min().unwrap(), rounds.iter().max().unwrap());
        assert!(*least >= 5 && *most < 40 && least < most, "{rounds:?}");
    }

    #[test]
    fn a_flat_image_stays_flat() {
        let mut patch = vec![0.5; PATCH * PATCH];
        assert_eq!(evolve(&mut patch, 10), 1);
        assert_eq!(patch, [0.5; PATCH * PATCH]);
    }
}
