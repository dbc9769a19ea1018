//! `reduction`: the sum of a large array.
//!
//! Algorithm: each thread adds up its share in a grid-stride loop, a block its threads' sums as a tree in shared memory, a
//! second launch of one block the blocks' sums. One addition for four bytes: the purest stream, bound by DRAM.
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
    name: "reduction",
    suite: "SHOC",
    description: "sum of an array: one addition for four bytes, bound by DRAM",
    small: "500000 elements (2 MiB)",
    full: "8000000 elements (31 MiB)",
    kernels: &["reduction_sum"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

/// Several waves on any GPU. With a single one a greedy scheduler ends its oldest blocks early, and the youngest is alone in its
/// SM for long.
const BLOCKS: u32 = 512;
const THREADS: u32 = 256;

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let data = Rng::named("reduction/data").floats(size.pick(500_000, 8_000_000), 0.0, 1.0);
    let (sums, sum) = drive(gpu, &data)?;
    let want = reference::block_sums(&data, BLOCKS as usize);
    Ok(Checker::new()
        .exact("blocks' sums", &sums, &want)
        .exact("sum", &[sum], &reference::block_sums(&want, 1))
        .finish())
}

/// The sums of the blocks, and of all.
fn drive(gpu: &mut dyn Device, data: &[f32]) -> Result<(Vec<f32>, f32), DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let elements = upload(gpu, data)?;
    let sums = zeroed::<f32>(gpu, BLOCKS as usize)?;
    let sum = zeroed::<f32>(gpu, 1)?;
    let args = [Arg::Ptr(elements), Arg::Ptr(sums), int(data.len())];
    gpu.launch("reduction_sum", [BLOCKS, 1, 1], [THREADS, 1, 1], 0, &args)?;
    let args = [Arg::Ptr(sums), Arg::Ptr(sum), int(BLOCKS as usize)];
    gpu.launch("reduction_sum", [1, 1, 1], [THREADS, 1, 1], 0, &args)?;
    Ok((load(gpu, sums, BLOCKS as usize)?, load(gpu, sum, 1)?[0]))
}
