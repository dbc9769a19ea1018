//! `sgemm`: C = α A B + β C in single precision.
//!
//! Algorithm: register and shared-memory tiling for GPUs (Volkov, Demmel, "Benchmarking GPUs to tune dense linear algebra",
//! SC 2008): 16 results per thread, A straight from global memory, B through shared memory with broadcast reads. Dense FP
//! arithmetic at low occupancy, full warps throughout.
//!
//! Bit-exact: products are added in the order of k with fused multiply-adds.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{int, load, upload};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "sgemm",
    suite: "Parboil",
    description: "dense matrix multiplication: register tiles, broadcasts from shared memory, FP units busy",
    small: "C 256 × 240, k = 128",
    full: "C 1024 × 720, k = 256",
    kernels: &["sgemm"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const ROWS: usize = 128;
const COLUMNS: usize = 16;

struct Input {
    m: usize,
    n: usize,
    k: usize,
    /// Column-major, m × k.
    a: Vec<f32>,
    /// Row-major, k × n.
    b: Vec<f32>,
    /// Column-major, m × n.
    c: Vec<f32>,
    alpha: f32,
    beta: f32,
}

impl Input {
    fn generate(m: usize, n: usize, k: usize) -> Self {
        Input {
            m,
            n,
            k,
            a: Rng::named("sgemm/a").floats(m * k, -1.0, 1.0),
            b: Rng::named("sgemm/b").floats(k * n, -1.0, 1.0),
            c: Rng::named("sgemm/c").floats(m * n, -1.0, 1.0),
            alpha: 1.5,
            beta: -0.5,
        }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(256, 240, 128), Input::generate(1024, 720, 256));
    let got = drive(gpu, &input)?;
    Ok(Checker::new().exact("C", &got, &reference::multiply(&input)).finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let a = upload(gpu, &input.a)?;
    let b = upload(gpu, &input.b)?;
    let c = upload(gpu, &input.c)?;
    let grid = [(input.m / ROWS) as u32, (input.n / COLUMNS) as u32, 1];
    let args = [
        Arg::Ptr(a),
        Arg::Ptr(b),
        Arg::Ptr(c),
        int(input.m),
        int(input.n),
        int(input.k),
        Arg::F32(input.alpha),
        Arg::F32(input.beta),
    ];
    gpu.launch("sgemm", grid, [ROWS as u32, 1, 1], 0, &args)?;
    load(gpu, c, input.m * input.n)
}
