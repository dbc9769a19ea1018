//! Ultrasound frames as far as tracking is concerned: speckled tissue that stretches and shrinks about a centre.

use crate::math::sin_cos_turns;
use crate::rng::Rng;

/// Cells of the lattice of random echoes are this many pixels wide.
const CELL: f32 = 3.0;
const LATTICE: usize = 160;

pub(super) struct Heart {
    pub width: usize,
    pub height: usize,
    echoes: Vec<f32>,
}

impl Heart {
    pub(super) fn new(width: usize, height: usize) -> Self {
        Heart { width, height, echoes: Rng::named("heartwall/echoes").floats(LATTICE * LATTICE, 0.0, 255.0) }
    }

    /// Where a point of the tissue at rest (column and row, from the centre) is in a frame: a beat takes 12 frames.
    pub(super) fn stretch(frame: usize) -> f32 {
        (1.0 + 0.06 * sin_cos_turns(frame as f64 / 12.0).0) as f32
    }

    pub(super) fn centre(&self) -> [f32; 2] {
        [self.width as f32 / 2.0, self.height as f32 / 2.0]
    }

    pub(super) fn frame(&self, index: usize) -> Vec<u8> {
        let shrink = 1.0 / (Self::stretch(index) * CELL);
        let [cx, cy] = self.centre();
        let pixel = |i: usize| {
            let (x, y) = ((i % self.width) as f32 - cx, (i / self.width) as f32 - cy);
            self.echo(x * shrink + LATTICE as f32 / 2.0, y * shrink + LATTICE as f32 / 2.0) as u8
        };
        (0..self.width * self.height).map(pixel).collect()
    }

    /// Between the four echoes around a place of the lattice.
    fn echo(&self, x: f32, y: f32) -> f32 {
        let (column, row) = (x as usize, y as usize);
        let (fx, fy) = (x - column as f32, y - row as f32);
        let at =
            |dx: usize, dy: usize| self.echoes[(row + dy).min(LATTICE - 1) * LATTICE + (column + dx).min(LATTICE - 1)];
        let upper = at(0, 0) + (at(1, 0) - at(0, 0)) * fx;
        let lower = at(0, 1) + (at(1, 1) - at(0, 1)) * fx;
        upper + (lower - upper) * fy
    }
}
