//! `leukocyte`: white blood cells in microscopy: finding them, and preparing to track them.
//!
//! Algorithm: detection by the gradient inverse coefficient of variation over circles (Dong, Ray, Acton, "Intravital
//! leukocyte detection using the gradient inverse coefficient of variation", IEEE Trans. Medical Imaging 24, 2005) and a
//! dilation, both full of gathers through the read-only path with offsets in constant memory; then motion gradient vector
//! flow (Ray, Acton, same journal 23, 2004) around each cell found, a block per cell in shared memory with eight divisions a
//! pixel and round, until the block's own field has settled: bound by arithmetic, and blocks end at different times. The
//! flow's smooth step is z / (1 + |z|), not an arc tangent, so that all arithmetic is exact.
//!
//! Bit-exact: divisions rounded correctly, sums in the same order.

mod image;
mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, store_symbol, upload, zeroed};
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "leukocyte",
    suite: "Rodinia",
    description: "cells in microscopy: scores and a dilation through the read-only path, then flow fields, a block a cell",
    small: "64 × 64 pixels, 4 cells",
    full: "256 × 224 pixels, 30 cells",
    kernels: &["leukocyte_score", "leukocyte_dilate", "leukocyte_evolve"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 192;
/// Radii of the circles, and points on each.
const RADII: [f64; 4] = [5.0, 6.0, 7.0, 8.0];
const ANGLES: usize = 32;
const BORDER: usize = 9;
const DISC: i32 = 5;
/// Edge of the image around a cell.
const PATCH: usize = 24;
/// A centre's score is at least this.
const THRESHOLD: f32 = 5.0;
const MOTION: [f32; 2] = [1.5, 0.5];
const SPREAD: f32 = 0.08;
const HOLD: f32 = 0.05;
/// A field has settled when a round changes a pixel by less than this on average.
const ENOUGH: f32 = 0.002 * (PATCH * PATCH) as f32;

/// A picture with values from 0 to 1, and how many rounds a flow may take.
struct Input {
    width: usize,
    height: usize,
    picture: Vec<f32>,
    most_rounds: usize,
}

#[derive(Debug, PartialEq)]
struct Cells {
    score: Vec<f32>,
    dilated: Vec<f32>,
    /// Rounds of each cell's flow, cells in the order of their places.
    rounds: Vec<i32>,
    fields: Vec<f32>,
}

impl Input {
    /// Gradients in x and in y: half the difference of the neighbours, 0 at the edges.
    fn gradients(&self) -> [Vec<f32>; 2] {
        let (width, height) = (self.width, self.height);
        let at = |x: usize, y: usize| self.picture[y * width + x];
        let inside = |i: usize| {
            let (x, y) = (i % width, i / width);
            (x > 0 && x + 1 < width && y > 0 && y + 1 < height).then_some((x, y))
        };
        let gradient = |of: &dyn Fn(usize, usize) -> f32| -> Vec<f32> {
            (0..width * height).map(|i| inside(i).map_or(0.0, |(x, y)| 0.5 * of(x, y))).collect()
        };
        [gradient(&|x, y| at(x + 1, y) - at(x - 1, y)), gradient(&|x, y| at(x, y + 1) - at(x, y - 1))]
    }

    /// The pictures around the cells: where a score is the greatest on its disc and above the threshold.
    fn patches(&self, score: &[f32], dilated: &[f32]) -> Vec<f32> {
        let centres = (0..score.len()).filter(|&i| score[i] >= THRESHOLD && score[i] == dilated[i]);
        let clamp = |c: usize, edge: usize| c.saturating_sub(PATCH / 2).min(edge - 1);
        centres
            .flat_map(|i| (0..PATCH * PATCH).map(move |k| (i % self.width + k % PATCH, i / self.width + k / PATCH)))
            .map(|(x, y)| self.picture[clamp(y, self.height) * self.width + clamp(x, self.width)])
            .collect()
    }
}

/// Points of the circles as offsets from the centre, radius after radius: x and y.
fn circles() -> [Vec<i32>; 2] {
    let points = |of: fn([f64; 2]) -> f64| {
        RADII.iter().flat_map(|r| directions().into_iter().map(move |d| (r * of(d)).round() as i32)).collect()
    };
    [points(|d| d[0]), points(|d| d[1])]
}

/// Cosine and sine of each angle.
fn directions() -> Vec<[f64; 2]> {
    (0..ANGLES)
        .map(|a| {
            let (sine, cosine) = crate::math::sin_cos_turns(a as f64 / ANGLES as f64);
            [cosine, sine]
        })
        .collect()
}

/// Offsets of the dilation's disc.
fn disc() -> Vec<[i32; 2]> {
    let square = (-DISC..=DISC).flat_map(|y| (-DISC..=DISC).map(move |x| [x, y]));
    square.filter(|[x, y]| x * x + y * y <= DISC * DISC).collect()
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(image::generate(64, 64, 2, 2, 12), image::generate(256, 224, 6, 5, 40));
    let got = drive(gpu, &input)?;
    let want = reference::cells(&input);
    Ok(Checker::new()
        .exact("scores", &got.score, &want.score)
        .exact("dilated scores", &got.dilated, &want.dilated)
        .exact("rounds", &got.rounds, &want.rounds)
        .exact("fields", &got.fields, &want.fields)
        .finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Cells, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let (width, height) = (input.width, input.height);
    let count = width * height;
    let [circle_x, circle_y] = circles();
    store_symbol(gpu, "circle_x", &circle_x)?;
    store_symbol(gpu, "circle_y", &circle_y)?;
    store_symbol(gpu, "cosine", &directions().iter().map(|d| d[0] as f32).collect::<Vec<_>>())?;
    store_symbol(gpu, "sine", &directions().iter().map(|d| d[1] as f32).collect::<Vec<_>>())?;
    let disc = disc();
    store_symbol(gpu, "element_x", &disc.iter().map(|offset| offset[0]).collect::<Vec<_>>())?;
    store_symbol(gpu, "element_y", &disc.iter().map(|offset| offset[1]).collect::<Vec<_>>())?;

    let [gradient_x, gradient_y] = input.gradients();
    let gradients = [upload(gpu, &gradient_x)?, upload(gpu, &gradient_y)?];
    let [score, dilated] = [zeroed::<f32>(gpu, count)?, zeroed::<f32>(gpu, count)?];
    let (grid, block) = ([blocks(count, THREADS), 1, 1], [THREADS as u32, 1, 1]);
    let mut args = gradients.map(Arg::Ptr).to_vec();
    args.extend([Arg::Ptr(score), int(width), int(height), int(BORDER)]);
    gpu.launch("leukocyte_score", grid, block, 0, &args)?;
    let args = [Arg::Ptr(score), Arg::Ptr(dilated), int(width), int(height), int(disc.len())];
    gpu.launch("leukocyte_dilate", grid, block, 0, &args)?;
    let (score, dilated) = (load::<f32>(gpu, score, count)?, load::<f32>(gpu, dilated, count)?);

    let start = input.patches(&score, &dilated);
    let cells = start.len() / (PATCH * PATCH);
    if cells == 0 {
        return Ok(Cells { score, dilated, rounds: Vec::new(), fields: Vec::new() });
    }
    let patches = upload(gpu, &start)?;
    let rounds = zeroed::<i32>(gpu, cells)?;
    let mut args = vec![Arg::Ptr(patches), Arg::Ptr(rounds), int(input.most_rounds)];
    args.extend([MOTION[0], MOTION[1], SPREAD, HOLD, ENOUGH].map(Arg::F32));
    gpu.launch("leukocyte_evolve", [cells as u32, 1, 1], block, 0, &args)?;
    let rounds = load(gpu, rounds, cells)?;
    Ok(Cells { score, dilated, rounds, fields: load(gpu, patches, start.len())? })
}
