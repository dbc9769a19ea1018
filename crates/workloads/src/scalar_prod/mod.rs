//! `scalarProd`: scalar products of many pairs of vectors.
//!
//! Algorithm: each block takes one pair after the other, streams both vectors into 1024 partial sums in shared memory, and
//! adds these up as a tree whose lower levels leave most of the block idle. Two loads for one fused multiply-add: bound by
//! memory while it streams.
//!
//! Bit-exact: sums in the same order.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "scalarProd",
    suite: "CUDA SDK",
    description: "scalar products: two streams, then trees in shared memory, bound by memory",
    small: "240 pairs of 1024 elements (2 MiB)",
    full: "720 pairs of 4096 elements (23 MiB)",
    kernels: &["scalar_prod"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const GRID: u32 = 120;
const THREADS: u32 = 256;
const SUMS: usize = 1024;

struct Input {
    length: usize,
    a: Vec<f32>,
    b: Vec<f32>,
}

impl Input {
    fn generate(pairs: usize, length: usize) -> Self {
        let vectors = |name| Rng::named(name).floats(pairs * length, -1.0, 1.0);
        Input { length, a: vectors("scalarProd/a"), b: vectors("scalarProd/b") }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(240, 1024), Input::generate(720, 4096));
    let got = drive(gpu, &input)?;
    Ok(Checker::new().exact("products", &got, &reference::products(&input)).finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let pairs = input.a.len() / input.length;
    let (a, b) = (upload(gpu, &input.a)?, upload(gpu, &input.b)?);
    let products = zeroed::<f32>(gpu, pairs)?;
    let args = [Arg::Ptr(a), Arg::Ptr(b), Arg::Ptr(products), int(pairs), int(input.length)];
    gpu.launch("scalar_prod", [GRID, 1, 1], [THREADS, 1, 1], 0, &args)?;
    load(gpu, products, pairs)
}
