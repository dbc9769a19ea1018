//! The same diffusion on the CPU, on the linear image.

use super::{Input, REDUCE, STEP, speckle};

pub(super) fn diffuse(input: &Input, linear: &[f32]) -> Vec<f32> {
    let mut j = linear.to_vec();
    for _ in 0..input.iterations {
        let squares: Vec<f32> = j.iter().map(|v| v * v).collect();
        let q = speckle(tree_sum(&j), tree_sum(&squares), j.len());
        iterate(&mut j, input.width, input.height, q);
    }
    j
}

/// The sum in the order of the device's trees of 512.
fn tree_sum(values: &[f32]) -> f32 {
    let mut values = values.to_vec();
    while values.len() > 1 {
        let tree = |chunk: &[f32]| {
            let mut block = [0.0f32; REDUCE];
            block[..chunk.len()].copy_from_slice(chunk);
            let mut stride = REDUCE / 2;
            while stride > 0 {
                for t in 0..stride {
                    block[t] += block[t + stride];
                }
                stride /= 2;
            }
            block[0]
        };
        values = values.chunks(REDUCE).map(tree).collect();
    }
    values.first().copied().unwrap_or(0.0)
}

fn iterate(j: &mut [f32], width: usize, height: usize, speckle: f32) {
    let index = |x: usize, y: usize| y * width + x;
    let cells: Vec<(usize, usize)> = (0..width * height).map(|i| (i % width, i / width)).collect();

    // Derivatives to north, south, west, east; then the coefficient.
    let field: Vec<[f32; 5]> = cells
        .iter()
        .map(|&(x, y)| {
            let centre = j[index(x, y)];
            let n = j[index(x, y.saturating_sub(1))] - centre;
            let s = j[index(x, (y + 1).min(height - 1))] - centre;
            let w = j[index(x.saturating_sub(1), y)] - centre;
            let e = j[index((x + 1).min(width - 1), y)] - centre;
            [n, s, w, e, coefficient(centre, [n, s, w, e], speckle)]
        })
        .collect();

    for &(x, y) in &cells {
        let i = index(x, y);
        let [n, s, w, e, c] = field[i];
        let divergence = c * n;
        let divergence = field[index(x, (y + 1).min(height - 1))][4].mul_add(s, divergence);
        let divergence = c.mul_add(w, divergence);
        let divergence = field[index((x + 1).min(width - 1), y)][4].mul_add(e, divergence);
        j[i] = (0.25 * STEP).mul_add(divergence, j[i]);
    }
}

fn coefficient(centre: f32, [n, s, w, e]: [f32; 4], speckle: f32) -> f32 {
    let squares = e.mul_add(e, w.mul_add(w, s.mul_add(s, n * n)));
    let gradient = squares / (centre * centre);
    let laplacian = (n + s + w + e) / centre;
    let above = (-0.0625 * laplacian).mul_add(laplacian, 0.5 * gradient);
    let below = 0.25f32.mul_add(laplacian, 1.0);
    let q = above / (below * below);
    let excess = (q - speckle) / (speckle * (1.0 + speckle));
    (1.0 / (1.0 + excess)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_add_everything() {
        let values: Vec<f32> = (0..1300).map(|i| i as f32).collect();
        assert_eq!(tree_sum(&values), 1299.0 * 650.0);
    }

    #[test]
    fn a_flat_image_diffuses_wholly_and_an_edge_hardly() {
        assert_eq!(coefficient(2.0, [0.0; 4], 0.1), 1.0);
        let edge = coefficient(1.0, [0.0, 0.0, 0.0, 1.5], 0.01);
        assert!(edge < 0.05, "{edge}");
    }

    #[test]
    fn speckle_shrinks_and_brightness_stays() {
        let input = Input::generate(64, 64, 6);
        let linear: Vec<f32> = input.image.iter().map(|x| (x / 255.0).exp()).collect();
        let after = diffuse(&input, &linear);
        let mean = |v: &[f32]| v.iter().map(|&x| f64::from(x)).sum::<f64>() / v.len() as f64;
        assert!((mean(&after) / mean(&linear) - 1.0).abs() < 0.01);
        let roughness = |v: &[f32]| v.windows(2).map(|p| f64::from((p[1] - p[0]).abs())).sum::<f64>();
        assert!(roughness(&after) < 0.8 * roughness(&linear), "{} {}", roughness(&after), roughness(&linear));
    }
}
