//! The same filter on the CPU, with the device's roundings and order of additions.

use super::{EDGE, Input, SHIFT, THREADS, Track, disc, place};

pub(super) fn track(input: &Input) -> Track {
    let count = input.particles;
    let [mut x, mut y] = place(0).map(|c| vec![c as f32; count]);
    let mut seeds = input.seeds();
    let mut estimates = Vec::new();
    for frame in &input.frames {
        for i in 0..count {
            x[i] = 2.0f32.mul_add(spread(&mut seeds[i]), x[i] + 1.0);
            y[i] = 2.0f32.mul_add(spread(&mut seeds[i]), y[i]);
        }
        let weights: Vec<f32> = x.iter().zip(&y).map(|(&x, &y)| weight(frame, x, y)).collect();
        let (sums, total) = running_sums(&weights);
        let times = |places: &[f32]| {
            // A stretch is added up with fused multiplications, so not as a sum of products.
            let stretches = weights.chunks(stretch(count)).zip(places.chunks(stretch(count)));
            let sums = stretches.map(|(w, p)| w.iter().zip(p).fold(0.0f32, |sum, (w, p)| w.mul_add(*p, sum)));
            sums.fold(0.0f32, |sum, part| part + sum)
        };
        estimates.extend([total, times(&x), times(&y)]);

        let drawn: Vec<usize> = (0..count)
            .map(|i| {
                let mark = (i as f32 + SHIFT) / count as f32 * total;
                sums.iter().position(|&sum| sum >= mark).unwrap_or(count - 1)
            })
            .collect();
        x = drawn.iter().map(|&i| x[i]).collect();
        y = drawn.iter().map(|&i| y[i]).collect();
    }
    Track { estimates, x, y }
}

/// Particles of a thread in the sum.
fn stretch(count: usize) -> usize {
    count.div_ceil(THREADS)
}

/// The sum up to each weight, and the whole sum.
fn running_sums(weights: &[f32]) -> (Vec<f32>, f32) {
    let (mut sums, mut before) = (Vec::new(), 0.0f32);
    for part in weights.chunks(stretch(weights.len())) {
        let mut sum = before;
        for w in part {
            sum += w;
            sums.push(sum);
        }
        before += part.iter().fold(0.0, |sum, w| sum + w);
    }
    (sums, before)
}

fn spread(state: &mut u32) -> f32 {
    (0..6).fold(-3.0, |sum, _| {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((*state >> 8) as f32).mul_add(1.0 / 16_777_216.0, sum)
    })
}

fn weight(frame: &[u8], x: f32, y: f32) -> f32 {
    let (column, row) = (x.round_ties_even() as i32, y.round_ties_even() as i32);
    let disc = disc();
    let inside = |c: i32| c.clamp(0, EDGE as i32 - 1) as usize;
    let square: i32 = disc
        .iter()
        .map(|[dx, dy]| 228 - i32::from(frame[inside(row + dy) * EDGE + inside(column + dx)]))
        .map(|dark| dark * dark)
        .sum();
    let off = square as f32 / (400.0 * disc.len() as f32);
    let likelihood = 1.0 / off.mul_add(off, 1.0);
    likelihood * likelihood
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_sums_are_sums() {
        let (sums, total) = running_sums(&(1..=600).map(|i| i as f32).collect::<Vec<_>>());
        assert_eq!((sums[0], sums[9], sums[599], total), (1.0, 55.0, 180_300.0, 180_300.0));
        assert!(sums.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_disc_weighs_more_than_the_background() {
        let input = Input::generate(1, 1);
        let [cx, cy] = place(1).map(|c| c as f32);
        let frame = &input.frames[0];
        let (on, beside, off) = (weight(frame, cx, cy), weight(frame, cx + 3.0, cy), weight(frame, 10.0, 10.0));
        assert!(on > 0.5 && on > 2.0 * beside && beside > 10.0 * off, "{on} {beside} {off}");
    }

    #[test]
    fn the_estimate_follows_the_disc() {
        let input = Input::generate(2048, 4);
        let track = track(&input);
        for (frame, estimate) in track.estimates.chunks_exact(3).enumerate() {
            let [cx, cy] = place(frame + 1).map(|c| c as f32);
            let (x, y) = (estimate[1] / estimate[0], estimate[2] / estimate[0]);
            assert!((x - cx).abs() < 1.0 && (y - cy).abs() < 1.5, "frame {}: {x}, {y}", frame + 1);
        }
    }
}
