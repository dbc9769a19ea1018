//! `mri-gridding`: MRI samples from anywhere in k-space put on a regular grid.
//!
//! Algorithm: gridding with a Gaussian window (Dutt, Rokhlin, "Fast Fourier transforms for nonequispaced data", SIAM J. Sci.
//! Comput. 14, 1993) of samples sorted into bins by counting: atomics that collide near the centre of k-space, a scan by
//! one block, a scatter, and a gather in which a block per bin goes through its neighbours' samples. Most samples lie near
//! the centre, as a scanner takes them, so a few blocks have most of the work and the GPU is not saturated for long.
//!
//! Tolerance: 10⁻⁵ of the sum of the terms' magnitudes. `ex2.approx` is right to 2⁻²² and its argument, at most 7.1, to
//! 2⁻²¹ or so. The order in which samples reach a bin is the device's, so the sums' roundings differ from the reference's.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "mri-gridding",
    suite: "Parboil",
    description: "MRI samples onto a grid: colliding atomics, a scan by one block, a gather of which few blocks do most",
    small: "16³ grid points, 512 samples",
    full: "32³ grid points, 6144 samples",
    kernels: &["gridding_bin", "gridding_scan", "gridding_reorder", "gridding_gather"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 256;
const SCAN: u32 = 256;
/// Grid points along the edge of a bin.
const BIN: usize = 4;
const FALLOFF: f32 = 0.4;
const CUTOFF: f32 = 3.5;
const TOLERANCE: f64 = 1e-5;

struct Input {
    /// Bins along the edge of the grid.
    bins: usize,
    /// x, y, z (in grid points) and 0.
    positions: Vec<[f32; 4]>,
    real: Vec<f32>,
    imaginary: Vec<f32>,
}

struct Sorted {
    /// Samples before each bin, and all.
    start: Vec<i32>,
    real: Vec<f32>,
    imaginary: Vec<f32>,
}

impl Input {
    fn generate(bins: usize, samples: usize) -> Self {
        let mut rng = Rng::named("mri-gridding/positions");
        let edge = (bins * BIN) as f32;
        let position = |rng: &mut Rng| {
            // Spokes through the centre: as many samples near it as far from it.
            let direction = [rng.normal(), rng.normal(), rng.normal()];
            let length = direction.iter().map(|c| c * c).sum::<f32>().sqrt().max(1e-3);
            let radius = rng.unit() * 0.48 * edge / length;
            let [x, y, z] = direction.map(|c| (0.5 * edge + radius * c).clamp(0.0, edge - 1.0));
            [x, y, z, 0.0]
        };
        let positions = (0..samples).map(|_| position(&mut rng)).collect();
        let mut rng = Rng::named("mri-gridding/values");
        Input { bins, positions, real: rng.floats(samples, -1.0, 1.0), imaginary: rng.floats(samples, -1.0, 1.0) }
    }

    fn samples(&self) -> usize {
        self.positions.len()
    }

    fn grid_points(&self) -> usize {
        (self.bins * BIN).pow(3)
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(4, 512), Input::generate(8, 6144));
    let got = drive(gpu, &input)?;
    let want = reference::grid(&input);
    Ok(Checker::new()
        .exact("bins", &got.start, &want.start)
        .close("real part", &got.real, &want.real, |i| want.real_magnitudes[i], TOLERANCE)
        .close("imaginary part", &got.imaginary, &want.imaginary, |i| want.imaginary_magnitudes[i], TOLERANCE)
        .finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Sorted, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let (samples, bins) = (input.samples(), input.bins.pow(3));
    let position = upload(gpu, input.positions.as_flattened())?;
    let [real, imaginary] = [upload(gpu, &input.real)?, upload(gpu, &input.imaginary)?];
    let count = zeroed::<u32>(gpu, bins)?;
    let [bin, rank] = [zeroed::<i32>(gpu, samples)?, zeroed::<i32>(gpu, samples)?];
    let (grid, block) = ([blocks(samples, THREADS), 1, 1], [THREADS as u32, 1, 1]);
    let mut args = [position, count, bin, rank].map(Arg::Ptr).to_vec();
    args.extend([samples, input.bins].map(int));
    gpu.launch("gridding_bin", grid, block, 0, &args)?;
    let start = zeroed::<i32>(gpu, bins + 1)?;
    gpu.launch("gridding_scan", [1, 1, 1], [SCAN, 1, 1], 0, &[Arg::Ptr(count), Arg::Ptr(start), int(bins)])?;

    let sorted = [zeroed::<f32>(gpu, 4 * samples)?, zeroed::<f32>(gpu, samples)?, zeroed::<f32>(gpu, samples)?];
    let mut args = [position, real, imaginary, bin, rank, start].map(Arg::Ptr).to_vec();
    args.extend(sorted.map(Arg::Ptr));
    args.push(int(samples));
    gpu.launch("gridding_reorder", grid, block, 0, &args)?;

    let points = input.grid_points();
    let out = [zeroed::<f32>(gpu, points)?, zeroed::<f32>(gpu, points)?];
    let mut args = sorted.map(Arg::Ptr).to_vec();
    args.extend([start, out[0], out[1]].map(Arg::Ptr));
    args.extend([int(input.bins), Arg::F32(FALLOFF), Arg::F32(CUTOFF * CUTOFF)]);
    gpu.launch("gridding_gather", [input.bins as u32; 3], [BIN.pow(3) as u32, 1, 1], 0, &args)?;
    Ok(Sorted {
        start: load(gpu, start, bins + 1)?,
        real: load(gpu, out[0], points)?,
        imaginary: load(gpu, out[1], points)?,
    })
}
