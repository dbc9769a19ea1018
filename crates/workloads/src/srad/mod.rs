//! `srad`: removal of speckle from an ultrasound image.
//!
//! Algorithm: speckle reducing anisotropic diffusion (Yu, Acton, IEEE Trans. Image Processing 11, 2002). Six kernels:
//! the image to a linear scale (`ex2`); per iteration the mean and mean square (a sum tree in shared memory, launched
//! until one block is left), the diffusion coefficients and the update (both with shared-memory tiles and rims, six
//! arrays through memory, several full-precision divisions); and back (`lg2`).
//!
//! Everything between is bit-exact against a reference that starts from the device's own linear image. Tolerance of
//! that image: 2⁻²⁰ relative (`ex2.approx` 2⁻²², its argument's rounding another 2⁻²³); of the final image: 10⁻⁴
//! grey levels of 255 (`lg2.approx` is right to 2⁻²² absolute, times 255 ln 2, and a rounding).

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, upload, zeroed};
use crate::math::ln;
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "srad",
    suite: "Rodinia",
    description: "speckle-reducing diffusion: sum trees, two tiled stencils with divisions, six arrays through memory",
    small: "144 × 144 pixels, 2 iterations",
    full: "512 × 512 pixels, 4 iterations (11 MiB)",
    kernels: &["srad_extract", "srad_prepare", "srad_reduce", "srad_diffuse", "srad_update", "srad_compress"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const TILE: usize = 16;
const REDUCE: usize = 512;
const STEP: f32 = 0.5;
const EXTRACT_TOLERANCE: f64 = 1.0 / 1_048_576.0;
const COMPRESS_TOLERANCE: f64 = 1e-4 / 255.0;

struct Input {
    width: usize,
    height: usize,
    iterations: usize,
    /// Grey levels, 0 to 255.
    image: Vec<f32>,
}

struct Output {
    /// The linear image before and after diffusion.
    linear: Vec<f32>,
    diffused: Vec<f32>,
    image: Vec<f32>,
}

impl Input {
    /// Bright discs on a dark ground, all of it under multiplicative noise.
    fn generate(width: usize, height: usize, iterations: usize) -> Self {
        let mut rng = Rng::named("srad/image");
        let scale = width.min(height) as f32;
        let discs: Vec<[f32; 4]> = (0..8)
            .map(|_| {
                let centre = [rng.unit() * width as f32, rng.unit() * height as f32];
                [centre[0], centre[1], rng.range(0.05, 0.2) * scale, rng.range(110.0, 200.0)]
            })
            .collect();
        let pixel = |i: usize| {
            let (x, y) = ((i % width) as f32, (i / width) as f32);
            let inside = |d: &&[f32; 4]| (x - d[0]) * (x - d[0]) + (y - d[1]) * (y - d[1]) < d[2] * d[2];
            let level = discs.iter().find(inside).map_or(60.0, |d| d[3]);
            (level * (1.0 + 0.2 * rng.normal())).clamp(1.0, 255.0)
        };
        Input { width, height, iterations, image: (0..width * height).map(pixel).collect() }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let (edge, iterations) = size.pick((144, 2), (512, 4));
    let input = Input::generate(edge, edge, iterations);
    let got = drive(gpu, &input)?;
    Ok(check(&input, &got))
}

fn check(input: &Input, got: &Output) -> Verification {
    let linear: Vec<f64> = input.image.iter().map(|&x| crate::math::exp(f64::from(x) / 255.0)).collect();
    let image: Vec<f64> = got.diffused.iter().map(|&x| ln(f64::from(x)) * 255.0).collect();
    Checker::new()
        .close("linear image", &got.linear, &linear, |_| 0.0, EXTRACT_TOLERANCE)
        .exact("diffused image", &got.diffused, &reference::diffuse(input, &got.linear))
        .close("image", &got.image, &image, |_| 255.0, COMPRESS_TOLERANCE)
        .finish()
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Output, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let (width, height) = (input.width, input.height);
    let pixels = width * height;
    let (flat_grid, flat_block) = ([blocks(pixels, REDUCE), 1, 1], [REDUCE as u32, 1, 1]);
    let tile_grid = [blocks(width, TILE), blocks(height, TILE), 1];
    let tile_block = [TILE as u32, TILE as u32, 1];

    let image = upload(gpu, &input.image)?;
    let j = zeroed::<f32>(gpu, pixels)?;
    gpu.launch("srad_extract", flat_grid, flat_block, 0, &[Arg::Ptr(image), Arg::Ptr(j), int(pixels)])?;
    let linear = load(gpu, j, pixels)?;

    // North, south, west, east, coefficient; and two pairs of sum buffers, each launch reading one and writing the other.
    let mut field = [0u64; 5];
    for buffer in &mut field {
        *buffer = zeroed::<f32>(gpu, pixels)?;
    }
    let mut sums = [0u64; 4];
    for buffer in &mut sums {
        *buffer = zeroed::<f32>(gpu, pixels)?;
    }
    for _ in 0..input.iterations {
        let [mut sum, mut squares, mut sum_out, mut squares_out] = sums;
        let args = [Arg::Ptr(j), Arg::Ptr(sum), Arg::Ptr(squares), int(pixels)];
        gpu.launch("srad_prepare", flat_grid, flat_block, 0, &args)?;
        let mut count = pixels;
        while count > 1 {
            let grid = blocks(count, REDUCE);
            let args = [Arg::Ptr(sum), Arg::Ptr(squares), Arg::Ptr(sum_out), Arg::Ptr(squares_out), int(count)];
            gpu.launch("srad_reduce", [grid, 1, 1], flat_block, 0, &args)?;
            (sum, squares, sum_out, squares_out) = (sum_out, squares_out, sum, squares);
            count = grid as usize;
        }
        let (total, total_squares) = (load::<f32>(gpu, sum, 1)?[0], load::<f32>(gpu, squares, 1)?[0]);
        let q = speckle(total, total_squares, pixels);

        let shape = [int(width), int(height)];
        let fields = field.map(Arg::Ptr);
        let args: Vec<Arg> =
            [Arg::Ptr(j)].into_iter().chain(fields.clone()).chain(shape.clone()).chain([Arg::F32(q)]).collect();
        gpu.launch("srad_diffuse", tile_grid, tile_block, 0, &args)?;
        let args: Vec<Arg> = [Arg::Ptr(j)].into_iter().chain(fields).chain(shape).chain([Arg::F32(STEP)]).collect();
        gpu.launch("srad_update", tile_grid, tile_block, 0, &args)?;
    }
    let diffused = load(gpu, j, pixels)?;
    gpu.launch("srad_compress", flat_grid, flat_block, 0, &[Arg::Ptr(j), Arg::Ptr(image), int(pixels)])?;
    Ok(Output { linear, diffused, image: load(gpu, image, pixels)? })
}

/// The square of the speckle scale: the image's variance over its squared mean.
fn speckle(sum: f32, squares: f32, pixels: usize) -> f32 {
    let mean = sum / pixels as f32;
    let variance = squares / pixels as f32 - mean * mean;
    variance / (mean * mean)
}
