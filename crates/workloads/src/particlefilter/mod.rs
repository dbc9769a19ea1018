//! `particlefilter`: following a disc through noisy frames with a cloud of guesses.
//!
//! Algorithm: sampling importance resampling (Gordon, Salmond, Smith, "Novel approach to nonlinear/non-Gaussian Bayesian
//! state estimation", IEE Proceedings F 140, 1993) with systematic resampling. Three kernels of different kinds in each
//! frame: weighing (integers, byte loads, constant memory); adding the weights up, in a single block of which one warp works
//! for part of the time while 14 SMs have nothing to do; drawing, in which each thread searches the sums of weights from the
//! beginning, through the caches. The likelihood is a rational function of the squared error (Student's t, heavy-tailed),
//! not an exponential, so that all arithmetic is exact.
//!
//! Bit-exact: sums in the same order, divisions rounded correctly.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, store, store_symbol, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "particlefilter",
    suite: "Rodinia",
    description: "particle filter: weighing, a sum by one block while the other SMs wait, searches through the cache",
    small: "1024 particles, 3 frames of 128 × 128",
    full: "6144 particles, 3 frames of 128 × 128",
    kernels: &["particle_weigh", "particle_sum", "particle_draw"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 256;
const EDGE: usize = 128;
const RADIUS: i32 = 5;
/// Where between two marks the first one lies.
const SHIFT: f32 = 0.5;

struct Input {
    particles: usize,
    frames: Vec<Vec<u8>>,
}

#[derive(Debug, PartialEq)]
struct Track {
    /// For each frame: the sum of weights, and this times the mean place.
    estimates: Vec<f32>,
    /// The particles drawn last.
    x: Vec<f32>,
    y: Vec<f32>,
}

impl Input {
    fn generate(particles: usize, frames: usize) -> Self {
        let mut rng = Rng::named("particlefilter/frames");
        let frames = (1..=frames)
            .map(|index| {
                let [cx, cy] = place(index);
                let pixel = |i: usize| {
                    let (dx, dy) = ((i % EDGE) as i32 - cx, (i / EDGE) as i32 - cy);
                    let light = if dx * dx + dy * dy <= RADIUS * RADIUS { 228.0 } else { 100.0 };
                    (light + 8.0 * rng.normal()).clamp(0.0, 255.0) as u8
                };
                (0..EDGE * EDGE).map(pixel).collect()
            })
            .collect();
        Input { particles, frames }
    }

    fn seeds(&self) -> Vec<u32> {
        let mut rng = Rng::named("particlefilter/seeds");
        (0..self.particles).map(|_| rng.below(u32::MAX)).collect()
    }
}

/// Where the disc is in a frame. The particles begin in frame 0.
fn place(index: usize) -> [i32; 2] {
    [48 + index as i32, 64 + 2 * index as i32]
}

/// Offsets of the disc's pixels from its centre.
fn disc() -> Vec<[i32; 2]> {
    let square = (-RADIUS..=RADIUS).flat_map(|y| (-RADIUS..=RADIUS).map(move |x| [x, y]));
    square.filter(|[x, y]| x * x + y * y <= RADIUS * RADIUS).collect()
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(1024, 3), Input::generate(6144, 3));
    let got = drive(gpu, &input)?;
    let want = reference::track(&input);
    Ok(Checker::new()
        .exact("estimates", &got.estimates, &want.estimates)
        .exact("x", &got.x, &want.x)
        .exact("y", &got.y, &want.y)
        .finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Track, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let (count, disc) = (input.particles, disc());
    store_symbol(gpu, "offset_x", &disc.iter().map(|offset| offset[0]).collect::<Vec<_>>())?;
    store_symbol(gpu, "offset_y", &disc.iter().map(|offset| offset[1]).collect::<Vec<_>>())?;
    let frame = zeroed::<u8>(gpu, EDGE * EDGE)?;
    let start = place(0).map(|c| vec![c as f32; count]);
    let [mut x, mut y] = [upload(gpu, &start[0])?, upload(gpu, &start[1])?];
    let [mut new_x, mut new_y] = [zeroed::<f32>(gpu, count)?, zeroed::<f32>(gpu, count)?];
    let seeds = upload(gpu, &input.seeds())?;
    let [weight, sums] = [zeroed::<f32>(gpu, count)?, zeroed::<f32>(gpu, count)?];
    let estimate = zeroed::<f32>(gpu, 3)?;

    let (grid, block) = ([blocks(count, THREADS), 1, 1], [THREADS as u32, 1, 1]);
    let mut estimates = Vec::new();
    for pixels in &input.frames {
        store(gpu, frame, pixels)?;
        let mut args = vec![Arg::Ptr(frame), int(EDGE), int(EDGE)];
        args.extend([x, y, seeds, weight].map(Arg::Ptr));
        args.extend([count, disc.len()].map(int));
        gpu.launch("particle_weigh", grid, block, 0, &args)?;
        let mut args = [x, y, weight, sums, estimate].map(Arg::Ptr).to_vec();
        args.push(int(count));
        gpu.launch("particle_sum", [1, 1, 1], block, 0, &args)?;
        let mut args = [sums, estimate, x, y, new_x, new_y].map(Arg::Ptr).to_vec();
        args.extend([int(count), Arg::F32(SHIFT)]);
        gpu.launch("particle_draw", grid, block, 0, &args)?;
        estimates.extend(load::<f32>(gpu, estimate, 3)?);
        std::mem::swap(&mut x, &mut new_x);
        std::mem::swap(&mut y, &mut new_y);
    }
    Ok(Track { estimates, x: load(gpu, x, count)?, y: load(gpu, y, count)? })
}
