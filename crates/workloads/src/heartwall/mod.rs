//! `heartwall`: tracking the walls of a beating heart through ultrasound frames.
//!
//! Algorithm: template matching by normalized cross-correlation with sum tables (Lewis, "Fast template matching", Vision
//! Interface 1995), at 20 points of the inner and 31 of the outer wall; a point moves to where its template fits best, and
//! the template follows what is seen there. One block per point and frame: loops whose bounds differ from lane to lane
//! (the overlap of template and window), sum tables by as many threads as the window has columns, a tree at the end, and
//! only 51 blocks for the whole GPU. The published benchmark does its passes one after the other in one kernel, as this does.
//!
//! Bit-exact: sums in the same order, divisions and square roots rounded correctly.

mod frames;
mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use self::frames::Heart;
use crate::host::{int, load, store, upload, zeroed};
use crate::math::sin_cos_turns;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "heartwall",
    suite: "Rodinia",
    description: "template matching at 51 points: diverging loops, tables by few lanes, few blocks",
    small: "3 frames of 120 × 100, templates of 9 × 9",
    full: "6 frames of 240 × 200, templates of 15 × 15",
    kernels: &["heartwall_track"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: u32 = 128;
const INNER: usize = 20;
const OUTER: usize = 31;
/// How much of a template stays in each frame.
const KEEP: f32 = 0.8;

struct Input {
    heart: Heart,
    /// Frames to track through, after the one in which the points are placed.
    frames: usize,
    /// Column and row of each point in frame 0.
    points: Vec<i32>,
    /// Edge of a template.
    edge: usize,
    /// How far the search window goes beyond the template.
    margin: usize,
    /// The largest displacement in a frame.
    reach: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Track {
    /// Column and row of each point in each frame.
    positions: Vec<i32>,
    /// Of the last frame.
    templates: Vec<f32>,
}

impl Input {
    fn generate(heart: Heart, frames: usize, edge: usize, margin: usize, reach: usize) -> Self {
        let [x, y] = heart.centre();
        let wall = |count: usize, radius: f32| {
            (0..count).flat_map(move |i| {
                let (sine, cosine) = sin_cos_turns(i as f64 / count as f64);
                [x + radius * cosine as f32, y + radius * sine as f32].map(|c| c as i32)
            })
        };
        let points = wall(INNER, 0.4 * y).chain(wall(OUTER, 0.65 * y)).collect();
        Input { heart, frames, points, edge, margin, reach }
    }

    fn side(&self) -> usize {
        self.edge + 2 * self.margin
    }

    /// The first templates: what frame 0 shows around the points.
    fn templates(&self) -> Vec<f32> {
        let frame = self.heart.frame(0);
        let (edge, width) = (self.edge, self.heart.width);
        let around = |point: &[i32]| {
            let (left, top) = (point[0] as usize - edge / 2, point[1] as usize - edge / 2);
            (0..edge * edge).map(|i| f32::from(frame[(top + i / edge) * width + left + i % edge])).collect::<Vec<_>>()
        };
        self.points.chunks_exact(2).flat_map(around).collect()
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size
        .pick(Input::generate(Heart::new(120, 100), 3, 9, 3, 5), Input::generate(Heart::new(240, 200), 6, 15, 5, 10));
    let got = drive(gpu, &input)?;
    let want = reference::track(&input);
    Ok(Checker::new()
        .exact("positions", &got.positions, &want.positions)
        .exact("templates", &got.templates, &want.templates)
        .finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Track, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let (width, height) = (input.heart.width, input.heart.height);
    let count = input.points.len() / 2;
    let frame = zeroed::<u8>(gpu, width * height)?;
    let position = upload(gpu, &input.points)?;
    let first = input.templates();
    let templates = upload(gpu, &first)?;
    let mut args = vec![Arg::Ptr(frame), int(width), int(height), Arg::Ptr(position), Arg::Ptr(templates)];
    args.extend([input.edge, input.margin, input.reach].map(int));
    args.push(Arg::F32(KEEP));
    let mut positions = Vec::new();
    for index in 1..=input.frames {
        store(gpu, frame, &input.heart.frame(index))?;
        gpu.launch("heartwall_track", [count as u32, 1, 1], [THREADS, 1, 1], 0, &args)?;
        positions.extend(load::<i32>(gpu, position, 2 * count)?);
    }
    Ok(Track { positions, templates: load(gpu, templates, first.len())? })
}
