//! `stencil`: Jacobi iterations with a seven-point stencil on a 3D grid.
//!
//! Algorithm: seven-point stencil with 2.5D blocking (Datta et al., "Stencil computation optimization and auto-tuning on
//! state-of-the-art multicore architectures", SC 2008): blocks of 32 × 8 cells walk in z, the current plane in shared
//! memory, the planes around it in registers. Streams whole grids per launch: bound by memory once they leave the L2.
//! The weights, 1/6 of the six neighbours' sum less 1/36 of the centre, are not the heat equation's, and the other way round
//! than Parboil's (1/36 of the sum less 1/6 of the centre). Nothing that the kernel does depends on them.
//!
//! Bit-exact.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{int, load, upload};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "stencil",
    suite: "Parboil",
    description: "7-point stencil in 3D, walked plane by plane through shared memory and registers",
    small: "128 × 64 × 16 cells, 4 iterations",
    full: "256 × 128 × 64 cells, 4 iterations (16 MiB)",
    kernels: &["stencil"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const BLOCK: [u32; 3] = [32, 8, 1];

struct Input {
    /// x, y, z.
    shape: [usize; 3],
    grid: Vec<f32>,
    iterations: usize,
    centre_weight: f32,
    neighbour_weight: f32,
}

impl Input {
    fn generate(shape: [usize; 3], iterations: usize) -> Self {
        let grid = Rng::named("stencil/grid").floats(shape.iter().product(), 0.0, 1.0);
        // New = sum of the six neighbours / 6 − centre / 36.
        Input { shape, grid, iterations, centre_weight: 1.0 / 36.0, neighbour_weight: 1.0 / 6.0 }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = Input::generate(size.pick([128, 64, 16], [256, 128, 64]), 4);
    let got = drive(gpu, &input)?;
    Ok(Checker::new().exact("grid", &got, &reference::iterate(&input)).finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let [nx, ny, nz] = input.shape;
    // Both buffers hold the border, which no launch writes.
    let mut from = upload(gpu, &input.grid)?;
    let mut to = upload(gpu, &input.grid)?;
    let grid = [nx as u32 / BLOCK[0], ny as u32 / BLOCK[1], 1];
    for _ in 0..input.iterations {
        let args = [
            Arg::Ptr(from),
            Arg::Ptr(to),
            int(nx),
            int(ny),
            int(nz),
            Arg::F32(input.centre_weight),
            Arg::F32(input.neighbour_weight),
        ];
        gpu.launch("stencil", grid, BLOCK, 0, &args)?;
        (from, to) = (to, from);
    }
    load(gpu, from, input.grid.len())
}
