//! `sad`: sums of absolute differences for motion estimation in video coding.
//!
//! Algorithm: full search (Jain, Jain, "Displacement measurement and its application in interframe image coding", IEEE
//! Trans. Communications 29, 1981) for blocks of 4 × 4, 8 × 8 and 16 × 16 pixels as in H.264, the larger ones by adding the
//! smaller. Integers and byte loads through the read-only path; blocks of two warps, of which the limit on blocks lets only
//! few be resident: neither the units nor memory are saturated. The two adding kernels load and store.
//!
//! Bit-exact: integers.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "sad",
    suite: "Parboil",
    description: "sums of absolute differences: integers, byte loads, small blocks that saturate nothing",
    small: "64 × 48 pixels, displacements up to 8",
    full: "176 × 144 pixels, displacements up to 16 (4.4 MiB)",
    kernels: &["sad_4x4", "sad_8x8", "sad_16x16"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: u32 = 64;

struct Input {
    width: usize,
    height: usize,
    reach: usize,
    frame: Vec<u8>,
    earlier: Vec<u8>,
}

impl Input {
    /// A picture of soft patches and noise; the later frame shows it moved, with new noise.
    fn generate(width: usize, height: usize, reach: usize) -> Self {
        let mut rng = Rng::named("sad/frames");
        let patches: Vec<[f32; 4]> = (0..24)
            .map(|_| {
                let (x, y) = (rng.range(0.0, width as f32), rng.range(0.0, height as f32));
                [x, y, rng.range(3.0, 12.0), rng.range(-90.0, 90.0)]
            })
            .collect();
        let mut picture = |dx: f32, dy: f32| -> Vec<u8> {
            (0..width * height)
                .map(|i| {
                    let (x, y) = ((i % width) as f32 - dx, (i / width) as f32 - dy);
                    let light = |[px, py, radius, light]: &[f32; 4]| {
                        let r2 = ((x - px) * (x - px) + (y - py) * (y - py)) / (radius * radius);
                        light / (1.0 + r2)
                    };
                    (128.0 + patches.iter().map(light).sum::<f32>() + rng.range(-4.0, 4.0)).clamp(0.0, 255.0) as u8
                })
                .collect()
        };
        Input { width, height, reach, earlier: picture(0.0, 0.0), frame: picture(3.0, -2.0) }
    }

    /// The earlier frame, its outermost pixels repeated `reach` times on each side.
    fn bordered(&self) -> Vec<u8> {
        let (width, height, reach) = (self.width, self.height, self.reach);
        let inside = |place: usize, edge: usize| place.saturating_sub(reach).min(edge - 1);
        (0..height + 2 * reach)
            .flat_map(|y| (0..width + 2 * reach).map(move |x| (inside(x, width), inside(y, height))))
            .map(|(x, y)| self.earlier[y * width + x])
            .collect()
    }

    fn displacements(&self) -> usize {
        (2 * self.reach + 1).pow(2)
    }

    /// Blocks of pixels with this edge, across and down.
    fn grid(&self, edge: usize) -> [usize; 2] {
        [self.width / edge, self.height / edge]
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(64, 48, 8), Input::generate(176, 144, 16));
    let got = drive(gpu, &input)?;
    let mut checker = Checker::new();
    for ((what, edge), got) in [("4 × 4", 4), ("8 × 8", 8), ("16 × 16", 16)].into_iter().zip(&got) {
        checker = checker.exact(what, got, &reference::sums(&input, edge));
    }
    Ok(checker.finish())
}

/// The sums of all blocks of 4, 8 and 16 pixels, displacement after displacement.
fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<Vec<u16>>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let frame = upload(gpu, &input.frame)?;
    let earlier = upload(gpu, &input.bordered())?;
    let displacements = input.displacements();
    let mut parts = 0;
    let mut buffers = Vec::new();
    for (kernel, edge) in [("sad_4x4", 4), ("sad_8x8", 8), ("sad_16x16", 16)] {
        let [across, down] = input.grid(edge);
        let count = across * down * displacements;
        let sums = zeroed::<u16>(gpu, count)?;
        let args = if edge == 4 {
            vec![Arg::Ptr(frame), Arg::Ptr(earlier), Arg::Ptr(sums), int(input.width), int(input.reach)]
        } else {
            vec![Arg::Ptr(parts), Arg::Ptr(sums), int(displacements)]
        };
        gpu.launch(kernel, [across as u32, down as u32, 1], [THREADS, 1, 1], 0, &args)?;
        buffers.push((sums, count));
        parts = sums;
    }
    buffers.into_iter().map(|(sums, count)| load(gpu, sums, count)).collect()
}
