//! `scanLargeArray`: prefix sums of a large array.
//!
//! Algorithm: work-efficient scan (Blelloch, "Prefix sums and their applications", CMU-CS-90-190, 1990), parts of 512
//! elements in shared memory with padding against bank conflicts, then the parts' sums in the same way, as often as needed.
//! Up and down the tree half of the threads drop out at each level, between barriers: bound by issue and barriers, half of
//! the warps with few lanes or none.
//!
//! Bit-exact: the elements are small whole numbers whose sums fit a float's 24 bits, so any order gives the same.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "scanLargeArray",
    suite: "CUDA SDK",
    description: "prefix sums: trees in shared memory from which lanes drop out, barriers, several levels",
    small: "60000 elements",
    full: "1500000 elements (6 MiB)",
    kernels: &["scan_parts", "scan_add"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: u32 = 256;
const PART: usize = 2 * THREADS as usize;

/// Whole numbers from 0 to 9.
fn generate(count: usize) -> Vec<f32> {
    let mut rng = Rng::named("scanLargeArray/elements");
    (0..count).map(|_| rng.below(10) as f32).collect()
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let elements = generate(size.pick(60_000, 1_500_000));
    let got = drive(gpu, &elements)?;
    Ok(Checker::new().exact("sums", &got, &reference::scan(&elements)).finish())
}

fn drive(gpu: &mut dyn Device, elements: &[f32]) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let input = upload(gpu, elements)?;
    let output = zeroed::<f32>(gpu, elements.len())?;
    scan(gpu, input, output, elements.len())?;
    load(gpu, output, elements.len())
}

fn scan(gpu: &mut dyn Device, input: u64, output: u64, count: usize) -> Result<(), DeviceError> {
    let parts = blocks(count, PART);
    let (grid, block) = ([parts, 1, 1], [THREADS, 1, 1]);
    let sums = zeroed::<f32>(gpu, parts as usize)?;
    gpu.launch("scan_parts", grid, block, 0, &[Arg::Ptr(input), Arg::Ptr(output), Arg::Ptr(sums), int(count)])?;
    if parts == 1 {
        return Ok(());
    }
    let before = zeroed::<f32>(gpu, parts as usize)?;
    scan(gpu, sums, before, parts as usize)?;
    gpu.launch("scan_add", grid, block, 0, &[Arg::Ptr(output), Arg::Ptr(before), int(count)])
}
