//! `transpose`: a matrix transposed, carelessly and with care.
//!
//! Algorithm: out(x, y) = in(y, x), once straight, so that stores scatter over rows, and once through 16 × 16 tiles in
//! shared memory, so that loads and stores both run along rows. Nothing but addresses, loads and stores: bound by memory,
//! the first kernel by its stores.
//!
//! Bit-exact: nothing is computed.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "transpose",
    suite: "CUDA SDK",
    description: "matrix transposition: straight with scattered stores, then through tiles in shared memory",
    small: "400 × 300",
    full: "1200 × 1000 (4.6 MiB)",
    kernels: &["transpose_naive", "transpose_tiled"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const TILE: usize = 16;

struct Input {
    width: usize,
    height: usize,
    matrix: Vec<f32>,
}

impl Input {
    fn generate(width: usize, height: usize) -> Self {
        Input { width, height, matrix: Rng::named("transpose/matrix").floats(width * height, -1.0, 1.0) }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(400, 300), Input::generate(1200, 1000));
    let [naive, tiled] = drive(gpu, &input)?;
    let want = reference::transpose(&input);
    Ok(Checker::new().exact("straight", &naive, &want).exact("through tiles", &tiled, &want).finish())
}

/// What each kernel makes.
fn drive(gpu: &mut dyn Device, input: &Input) -> Result<[Vec<f32>; 2], DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let count = input.matrix.len();
    let from = upload(gpu, &input.matrix)?;
    let to = [zeroed::<f32>(gpu, count)?, zeroed::<f32>(gpu, count)?];
    let grid = [blocks(input.width, TILE), blocks(input.height, TILE), 1];
    for (kernel, to) in WORKLOAD.kernels.iter().zip(to) {
        let args = [Arg::Ptr(from), Arg::Ptr(to), int(input.width), int(input.height)];
        gpu.launch(kernel, grid, [TILE as u32, TILE as u32, 1], 0, &args)?;
    }
    Ok([load(gpu, to[0], count)?, load(gpu, to[1], count)?])
}
