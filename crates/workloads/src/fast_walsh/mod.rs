//! `fastWalsh`: dyadic convolution by fast Walsh–Hadamard transforms.
//!
//! Algorithm: the transform of Hadamard order by radix-4 butterflies (Shanks, "Computation of the fast Walsh-Fourier
//! transform", IEEE Trans. Computers C-18, 1969), of signal and kernel; their product, element by element; and the transform
//! once more. Levels with large strides each pass through global memory (eight additions for eight accesses), the last ten
//! are done on 1024 elements in shared memory, with bank conflicts at the small strides: bound by memory.
//!
//! Bit-exact: additions, in an order that the levels prescribe.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{load, upload};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "fastWalsh",
    suite: "CUDA SDK",
    description: "fast Walsh transforms: butterflies over global memory, then in shared memory",
    small: "65536 elements",
    full: "1048576 elements (8 MiB)",
    kernels: &["walsh_global", "walsh_shared", "walsh_modulate"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: u32 = 256;
/// Elements of a part that is transformed in shared memory.
const LENGTH: usize = 1024;

/// Of equal length, four to some power times [`LENGTH`].
struct Input {
    signal: Vec<f32>,
    kernel: Vec<f32>,
}

impl Input {
    /// A kernel of a few elements.
    fn generate(length: usize) -> Self {
        let signal = Rng::named("fastWalsh/signal").floats(length, 0.0, 1.0);
        let mut kernel = vec![0.0; length];
        kernel[..64].copy_from_slice(&Rng::named("fastWalsh/kernel").floats(64, 0.0, 1.0));
        Input { signal, kernel }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = Input::generate(size.pick(1 << 16, 1 << 20));
    let got = drive(gpu, &input)?;
    Ok(Checker::new().exact("convolution", &got, &reference::convolve(&input)).finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let length = input.signal.len();
    let signal = upload(gpu, &input.signal)?;
    let kernel = upload(gpu, &input.kernel)?;
    transform(gpu, signal, length)?;
    transform(gpu, kernel, length)?;
    let args = [Arg::Ptr(signal), Arg::Ptr(kernel), Arg::F32(1.0 / length as f32)];
    gpu.launch("walsh_modulate", [length as u32 / THREADS, 1, 1], [THREADS, 1, 1], 0, &args)?;
    transform(gpu, signal, length)?;
    load(gpu, signal, length)
}

fn transform(gpu: &mut dyn Device, data: u64, length: usize) -> Result<(), DeviceError> {
    let mut stride = length / 4;
    while stride >= LENGTH {
        let args = [Arg::Ptr(data), Arg::I32(stride as i32)];
        gpu.launch("walsh_global", [length as u32 / 4 / THREADS, 1, 1], [THREADS, 1, 1], 0, &args)?;
        stride /= 4;
    }
    gpu.launch("walsh_shared", [(length / LENGTH) as u32, 1, 1], [THREADS, 1, 1], 0, &[Arg::Ptr(data)])
}
