//! The same tracking on the CPU, point by point.

use super::{Input, KEEP, Track};

pub(super) fn track(input: &Input) -> Track {
    let edge = input.edge;
    let mut points = input.points.clone();
    let mut templates = input.templates();
    let mut positions = Vec::new();
    for index in 1..=input.frames {
        let frame = input.heart.frame(index);
        for (point, template) in points.chunks_exact_mut(2).zip(templates.chunks_exact_mut(edge * edge)) {
            follow(input, &frame, point, template);
        }
        positions.extend_from_slice(&points);
    }
    Track { positions, templates }
}

fn follow(input: &Input, frame: &[u8], point: &mut [i32], template: &mut [f32]) {
    let Input { edge, reach, .. } = *input;
    let (width, height, half) = (input.heart.width as i32, input.heart.height as i32, input.side() as i32 / 2);
    let pixel = |x: i32, y: i32| f32::from(frame[(y * width + x) as usize]);
    let window = Window::new(input, |x, y| pixel(point[0] - half + x as i32, point[1] - half + y as i32));

    let mut best = (-2.0, 0, 0);
    for dy in -(reach as i32)..=reach as i32 {
        for dx in -(reach as i32)..=reach as i32 {
            let score = window.correlation(input, template, dx + input.margin as i32, dy + input.margin as i32);
            if score > best.0 {
                best = (score, dx, dy);
            }
        }
    }
    point[0] = (point[0] + best.1).max(half).min(width - 1 - half);
    point[1] = (point[1] + best.2).max(half).min(height - 1 - half);
    for (i, value) in template.iter_mut().enumerate() {
        let (x, y) = ((i % edge) as i32 - edge as i32 / 2, (i / edge) as i32 - edge as i32 / 2);
        let seen = pixel(point[0] + x, point[1] + y);
        *value = KEEP.mul_add(*value - seen, seen);
    }
}

/// A search window with its tables of sums and sums of squares over the rectangles at its upper left corner.
struct Window {
    side: usize,
    pixels: Vec<f32>,
    sums: Vec<f32>,
    squares: Vec<f32>,
}

impl Window {
    fn new(input: &Input, pixel: impl Fn(usize, usize) -> f32) -> Self {
        let side = input.side();
        let pixels: Vec<f32> = (0..side * side).map(|i| pixel(i % side, i / side)).collect();
        let stride = side + 1;
        let mut sums = vec![0.0f32; stride * stride];
        let mut squares = sums.clone();
        for (i, w) in pixels.iter().enumerate() {
            let at = (i / side + 1) * stride + i % side + 1;
            sums[at] = sums[at - stride] + w;
            squares[at] = w.mul_add(*w, squares[at - stride]);
        }
        for at in stride..stride * stride {
            if at % stride != 0 {
                sums[at] += sums[at - 1];
                squares[at] += squares[at - 1];
            }
        }
        Window { side, pixels, sums, squares }
    }

    /// Over the overlap of the window and the template put at column `x` and row `y` of it.
    fn correlation(&self, input: &Input, template: &[f32], x: i32, y: i32) -> f32 {
        let (edge, side) = (input.edge as i32, self.side as i32);
        let rows = 0.max(-y)..edge.min(side - y);
        let columns = 0.max(-x)..edge.min(side - x);
        let (mut product, mut sum, mut square) = (0.0f32, 0.0f32, 0.0f32);
        for i in rows.clone() {
            for j in columns.clone() {
                let p = template[(i * edge + j) as usize];
                product = p.mul_add(self.pixels[((i + y) * side + j + x) as usize], product);
                sum += p;
                square = p.mul_add(p, square);
            }
        }
        let over = |table: &[f32]| {
            let at = |row: i32, column: i32| table[((row + y) * (side + 1) + column + x) as usize];
            at(rows.end, columns.end) - at(rows.end, columns.start) - at(rows.start, columns.end)
                + at(rows.start, columns.start)
        };
        let (other, others) = (over(&self.sums), over(&self.squares));
        let count = ((rows.end - rows.start) * (columns.end - columns.start)) as f32;
        let covariance = product - sum * other / count;
        let spread = (square - sum * sum / count) * (others - other * other / count);
        if spread > 1.0 { covariance / spread.sqrt() } else { -1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::frames::Heart;
    use super::*;

    fn input() -> Input {
        Input::generate(Heart::new(120, 100), 6, 9, 3, 5)
    }

    #[test]
    fn a_template_correlates_wholly_with_itself_and_with_a_brighter_self() {
        let input = input();
        let bright = |x: usize, y: usize| ((x * 37 + y * 101) % 50) as f32;
        let window = Window::new(&input, bright);
        let template: Vec<f32> = (0..81).map(|i| 2.0 * bright(i % 9 + 2, i / 9 + 4) + 7.0).collect();
        assert!((window.correlation(&input, &template, 2, 4) - 1.0).abs() < 1e-4);
        assert!(window.correlation(&input, &template, 3, 4) < 0.9);
        // A flat template says nothing.
        assert_eq!(window.correlation(&input, &[5.0; 81], 2, 4), -1.0);
    }

    #[test]
    fn tables_give_sums_of_rectangles() {
        let input = input();
        let window = Window::new(&input, |x, y| (x + y) as f32);
        // Columns 0 to 2 of rows 0 and 1: 0 + 1 + 2 + 1 + 2 + 3.
        assert_eq!((window.sums[2 * 16 + 3], window.squares[2 * 16 + 3]), (9.0, 19.0));
    }

    #[test]
    fn points_follow_the_tissue() {
        let input = input();
        let track = track(&input);
        let [cx, cy] = input.heart.centre();
        for (frame, positions) in track.positions.chunks_exact(input.points.len()).enumerate() {
            let stretch = Heart::stretch(frame + 1);
            for (now, first) in positions.chunks_exact(2).zip(input.points.chunks_exact(2)) {
                let want = [cx + (first[0] as f32 - cx) * stretch, cy + (first[1] as f32 - cy) * stretch];
                let error = (now[0] as f32 - want[0]).abs().max((now[1] as f32 - want[1]).abs());
                assert!(error < 2.0, "frame {}: {now:?}, not {want:?}", frame + 1);
            }
        }
    }
}
