//! `mri-q`: the matrix Q of advanced MRI reconstruction from non-Cartesian samples.
//!
//! Algorithm: Stone, Haldar, Tsao, Hwu, Sutton, Liang, "Accelerating advanced MRI reconstructions on GPUs", J. Parallel
//! Distrib. Comput. 68, 2008: Q(x) = Σ |φ(k)|² e^(2πi k·x) over all samples k, for every voxel x. Samples sit in constant
//! memory, a chunk of 1024 (16 KiB, twice the constant cache) per launch, read by all lanes alike; a sine and a cosine
//! per pair keep the SFUs busy. No divergence, hardly any global memory.
//!
//! Tolerance: 4 × 10⁻⁶ of the sum of magnitudes. `sin.approx` and `cos.approx` are right to 2⁻²⁰·⁹ (5 × 10⁻⁷) in [−π, π],
//! where dropping whole turns keeps the angle; the phase is computed with the device's roundings, so that it agrees
//! exactly; the sums' roundings add √2048 × 2⁻²⁴ (3 × 10⁻⁶) at most.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, store_symbol, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "mri-q",
    suite: "Parboil",
    description: "MRI reconstruction matrix: sines and cosines over samples in constant memory, SFUs busy",
    small: "3840 voxels, 512 samples",
    full: "15360 voxels, 2048 samples",
    kernels: &["mriq_phi_magnitude", "mriq_compute_q"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 256;
const CHUNK: usize = 1024;
const TOLERANCE: f64 = 4e-6;

struct Input {
    /// Voxel coordinates, in units of the field of view.
    voxels: [Vec<f32>; 3],
    /// Sample coordinates in k-space, in cycles per field of view.
    samples: [Vec<f32>; 3],
    phi_real: Vec<f32>,
    phi_imaginary: Vec<f32>,
}

struct Output {
    magnitude: Vec<f32>,
    real: Vec<f32>,
    imaginary: Vec<f32>,
}

impl Input {
    fn generate(voxels: usize, samples: usize) -> Self {
        let mut rng = Rng::named("mri-q/voxels");
        let voxels = [(); 3].map(|()| rng.floats(voxels, -0.5, 0.5));
        let mut rng = Rng::named("mri-q/samples");
        let positions = [(); 3].map(|()| rng.floats(samples, -16.0, 16.0));
        let phi_real = rng.floats(samples, -1.0, 1.0);
        let phi_imaginary = rng.floats(samples, -1.0, 1.0);
        Input { voxels, samples: positions, phi_real, phi_imaginary }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(3840, 512), Input::generate(15_360, 2048));
    let got = drive(gpu, &input)?;
    let magnitude = reference::magnitudes(&input);
    let want = reference::q(&input, &magnitude);
    let scale: f64 = magnitude.iter().map(|&m| f64::from(m)).sum();
    Ok(Checker::new()
        .exact("magnitudes", &got.magnitude, &magnitude)
        .close("real part of Q", &got.real, &want.real, |_| scale, TOLERANCE)
        .close("imaginary part of Q", &got.imaginary, &want.imaginary, |_| scale, TOLERANCE)
        .finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Output, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let (voxels, samples) = (input.voxels[0].len(), input.phi_real.len());
    let block = [THREADS as u32, 1, 1];
    let real = upload(gpu, &input.phi_real)?;
    let imaginary = upload(gpu, &input.phi_imaginary)?;
    let magnitude = zeroed::<f32>(gpu, samples)?;
    let args = [Arg::Ptr(real), Arg::Ptr(imaginary), Arg::Ptr(magnitude), int(samples)];
    gpu.launch("mriq_phi_magnitude", [blocks(samples, THREADS), 1, 1], block, 0, &args)?;
    let magnitude = load::<f32>(gpu, magnitude, samples)?;

    let mut buffers = [0u64; 5];
    for (buffer, axis) in buffers.iter_mut().zip(&input.voxels) {
        *buffer = upload(gpu, axis)?;
    }
    for buffer in &mut buffers[3..] {
        *buffer = zeroed::<f32>(gpu, voxels)?;
    }
    let [x, y, z] = &input.samples;
    let packed: Vec<f32> = (0..samples).flat_map(|i| [x[i], y[i], z[i], magnitude[i]]).collect();
    for chunk in packed.chunks(4 * CHUNK) {
        store_symbol(gpu, "samples", chunk)?;
        let mut args = buffers.map(Arg::Ptr).to_vec();
        args.push(int(chunk.len() / 4));
        gpu.launch("mriq_compute_q", [(voxels / THREADS) as u32, 1, 1], block, 0, &args)?;
    }
    Ok(Output { magnitude, real: load(gpu, buffers[3], voxels)?, imaginary: load(gpu, buffers[4], voxels)? })
}
