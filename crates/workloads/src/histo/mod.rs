//! `histo`: a saturating histogram of images whose values crowd in one place.
//!
//! Algorithm: privatized histograms (Shams, Kennedy, "Efficient histogram algorithms for NVIDIA CUDA compatible devices",
//! ICSPCS 2007). A first pass samples the range of the values; the host puts a window of 4096 bins in its middle; the
//! main pass counts inside the window with atomics on shared memory, outside it with atomics on global memory, and adds
//! the blocks' windows; a last pass cuts the counts at 255. Crowded values make lanes collide on one bin.
//!
//! Bit-exact: integers, and additions commute.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, store, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "histo",
    suite: "Parboil",
    description: "saturating histogram: colliding atomics on shared memory, stragglers on global memory",
    small: "131072 pixels, 16384 bins, 1 image",
    full: "1048576 pixels, 16384 bins, 3 images (12 MiB)",
    kernels: &["histo_prescan", "histo_main", "histo_final"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 512;
const GRID: u32 = 30;
const BINS: usize = 16_384;
const WINDOW: u32 = 4096;
const SAMPLE_STRIDE: usize = 16;

/// Images with normally distributed values.
fn generate(pixels: usize, images: usize) -> Vec<Vec<u32>> {
    let mut rng = Rng::named("histo/images");
    (0..images)
        .map(|image| {
            // From image to image the crowd wanders and spreads.
            let (centre, spread) = (7000.0 + 900.0 * image as f32, 700.0 + 150.0 * image as f32);
            (0..pixels).map(|_| (centre + spread * rng.normal()).clamp(0.0, BINS as f32 - 1.0) as u32).collect()
        })
        .collect()
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let images = size.pick(generate(131_072, 1), generate(1_048_576, 3));
    let got = drive(gpu, &images)?;
    Ok(Checker::new().exact("histograms", &got, &reference::histograms(&images)).finish())
}

/// The histograms, one after another.
fn drive(gpu: &mut dyn Device, images: &[Vec<u32>]) -> Result<Vec<u8>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let block = [THREADS as u32, 1, 1];
    let range = zeroed::<u32>(gpu, 2)?;
    let bins = zeroed::<u32>(gpu, BINS)?;
    let histogram = zeroed::<u8>(gpu, BINS)?;
    let mut all = Vec::with_capacity(images.len() * BINS);
    for image in images {
        let pixels = upload(gpu, image)?;
        let count = int(image.len());
        store(gpu, range, &[u32::MAX, 0])?;
        let args = [Arg::Ptr(pixels), Arg::Ptr(range), count.clone(), int(SAMPLE_STRIDE)];
        gpu.launch("histo_prescan", [GRID, 1, 1], block, 0, &args)?;
        let bounds = load::<u32>(gpu, range, 2)?;
        let start = window_start(bounds[0], bounds[1]);
        let args = [Arg::Ptr(pixels), Arg::Ptr(bins), count, Arg::U32(start)];
        gpu.launch("histo_main", [GRID, 1, 1], block, 0, &args)?;
        let args = [Arg::Ptr(bins), Arg::Ptr(histogram), int(BINS)];
        gpu.launch("histo_final", [blocks(BINS, THREADS), 1, 1], block, 0, &args)?;
        all.extend(load::<u8>(gpu, histogram, BINS)?);
    }
    Ok(all)
}

/// The window around the middle of the range, within the bins.
fn window_start(least: u32, most: u32) -> u32 {
    let middle = (u64::from(least) + u64::from(most)) / 2;
    middle.saturating_sub(u64::from(WINDOW / 2)).min(BINS as u64 - u64::from(WINDOW)) as u32
}
