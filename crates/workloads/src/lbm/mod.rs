//! `lbm`: flow through a porous block by the lattice Boltzmann method.
//!
//! Algorithm: D3Q19 with a single relaxation time (Qian, d'Humières, Lallemand, "Lattice BGK models for Navier–Stokes
//! equation", Europhysics Letters 17, 1992) and bounce-back at solid cells. One thread a cell, a block a row: 19 loads, a
//! collision, and 19 stores to the neighbours, of which most miss the lines' bounds by one word: bound by memory, with as
//! many stores as loads. Solid cells make some warps diverge.
//!
//! Bit-exact: fused multiply-adds and one division, in the same order.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "lbm",
    suite: "Parboil",
    description: "lattice Boltzmann flow, 19 velocities: as many stores as loads, bound by memory",
    small: "64 × 8 × 8 cells, 4 steps",
    full: "112 × 32 × 32 cells, 4 steps (16 MiB)",
    kernels: &["lbm_step"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const VELOCITIES: usize = 19;
const OMEGA: f32 = 1.2;
/// What a body force adds to the velocity, mostly along the rows.
const PUSH: [f32; 3] = [1e-3, -2e-4, 1e-4];

struct Input {
    size: [usize; 3],
    steps: usize,
    solid: Vec<u8>,
    /// Velocity after velocity.
    start: Vec<f32>,
}

impl Input {
    /// Balls of stone in a fluid whose density varies by a few percent.
    fn generate(size: [usize; 3], steps: usize) -> Self {
        let cells: usize = size.iter().product();
        let mut rng = Rng::named("lbm/stones");
        let stones: Vec<[f32; 4]> = (0..cells / 512)
            .map(|_| {
                let [x, y, z] = size.map(|edge| rng.range(0.0, edge as f32));
                [x, y, z, rng.range(1.0, 3.0)]
            })
            .collect();
        let solid = |i: usize| {
            let place = [i % size[0], i / size[0] % size[1], i / size[0] / size[1]].map(|c| c as f32);
            let inside = |stone: &[f32; 4]| {
                place.iter().zip(stone).map(|(a, b)| (a - b) * (a - b)).sum::<f32>() < stone[3] * stone[3]
            };
            u8::from(stones.iter().any(inside))
        };
        let mut rng = Rng::named("lbm/density");
        let density = rng.floats(cells, 0.97, 1.03);
        let start = (0..VELOCITIES).flat_map(|q| density.iter().map(move |d| weight(q) * d)).collect();
        Input { size, steps, solid: (0..cells).map(solid).collect(), start }
    }

    fn cells(&self) -> usize {
        self.solid.len()
    }
}

/// The share of a velocity in a fluid at rest.
fn weight(q: usize) -> f32 {
    match q {
        0 => 1.0 / 3.0,
        1..7 => 1.0 / 18.0,
        _ => 1.0 / 36.0,
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate([64, 8, 8], 4), Input::generate([112, 32, 32], 4));
    let got = drive(gpu, &input)?;
    Ok(Checker::new().exact("distributions", &got, &reference::flow(&input)).finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let count = input.start.len();
    let mut from = upload(gpu, &input.start)?;
    let mut to = zeroed::<f32>(gpu, count)?;
    let solid = upload(gpu, &input.solid)?;
    let [width, height, depth] = input.size.map(|edge| edge as u32);
    for _ in 0..input.steps {
        let mut args = [from, to, solid].map(Arg::Ptr).to_vec();
        args.extend([int(input.cells()), Arg::F32(OMEGA)]);
        args.extend(PUSH.map(Arg::F32));
        gpu.launch("lbm_step", [height, depth, 1], [width, 1, 1], 0, &args)?;
        std::mem::swap(&mut from, &mut to);
    }
    load(gpu, from, count)
}
