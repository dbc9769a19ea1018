//! The picture: bright cells of different sizes and contrasts on a noisy ground.

use super::Input;
use crate::rng::Rng;

/// `across` × `down` cells, one in each part of the picture.
pub(super) fn generate(width: usize, height: usize, across: usize, down: usize, most_rounds: usize) -> Input {
    let mut rng = Rng::named("leukocyte/picture");
    let (part_x, part_y) = (width / across, height / down);
    let cells: Vec<[f32; 4]> = (0..across * down)
        .map(|i| {
            let place = |part: usize, index: usize, rng: &mut Rng| {
                (part * index + part / 2) as f32 + rng.range(-1.0, 1.0) * (part as f32 / 2.0 - 14.0).max(0.0)
            };
            let (x, y) = (place(part_x, i % across, &mut rng), place(part_y, i / across, &mut rng));
            [x, y, rng.range(5.0, 8.0), rng.range(0.3, 0.6)]
        })
        .collect();
    let picture = (0..width * height)
        .map(|i| {
            let (x, y) = ((i % width) as f32, (i / width) as f32);
            let light = |[cx, cy, radius, light]: &[f32; 4]| {
                // Full inside, gone outside, over about three pixels.
                let distance = ((x - cx) * (x - cx) + (y - cy) * (y - cy)).sqrt();
                light * (0.5 - (distance - radius) / 3.0).clamp(0.0, 1.0)
            };
            0.2 + cells.iter().map(light).sum::<f32>() + 0.02 * rng.normal()
        })
        .collect();
    Input { width, height, picture, most_rounds }
}
