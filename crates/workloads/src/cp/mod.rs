//! `CP`: Coulomb potential on a plane of a lattice.
//!
//! Algorithm: direct summation Σ q / r over all atoms (Stone et al., "Accelerating molecular modeling applications with
//! graphics processors", J. Computational Chemistry 28, 2007). Atoms pass through constant memory, 1024 (16 KiB, twice the
//! constant cache) per launch, read by all lanes alike; a thread holds eight points, so that an atom's load serves eight
//! `rsqrt`. No divergence, hardly any global memory: bound by FP units and SFUs.
//!
//! Tolerance: 10⁻⁵ of the sum of the terms' magnitudes. `rsqrt.approx` is right to 2⁻²²·⁴; a distance's coordinates are
//! rounded to 2⁻²⁴ of 100 units, eight times over, where the nearest atom is at least one unit away and counts for its
//! share only; the up to 1280 roundings of a float sum wander by about √1280 × 2⁻²⁴.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{int, load, store_symbol, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "CP",
    suite: "ISPASS 2009",
    description: "Coulomb potential by direct summation: atoms in constant memory, rsqrt, FP units and SFUs busy",
    small: "128 × 240 points, 128 atoms",
    full: "256 × 360 points, 1280 atoms",
    kernels: &["cp_plane"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const CHUNK: usize = 1024;
const POINTS: usize = 8;
const BLOCK: [usize; 2] = [16, 8];
const SPACING: f32 = 0.25;
const TOLERANCE: f64 = 1e-5;

struct Input {
    width: usize,
    height: usize,
    /// x, y, squared distance from the plane (at least 1), charge.
    atoms: Vec<[f32; 4]>,
}

impl Input {
    fn generate(width: usize, height: usize, atoms: usize) -> Self {
        let mut rng = Rng::named("CP/atoms");
        let atoms = (0..atoms)
            .map(|_| {
                let (x, y) = (rng.range(0.0, width as f32 * SPACING), rng.range(0.0, height as f32 * SPACING));
                let z = rng.range(1.0, 10.0);
                [x, y, z * z, rng.range(-2.0, 2.0)]
            })
            .collect();
        Input { width, height, atoms }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(128, 240, 128), Input::generate(256, 360, 1280));
    let got = drive(gpu, &input)?;
    let want = reference::potentials(&input);
    Ok(Checker::new().close("potentials", &got, &want.sums, |i| want.magnitudes[i], TOLERANCE).finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let count = input.width * input.height;
    let potential = zeroed::<f32>(gpu, count)?;
    let grid = [input.width / (BLOCK[0] * POINTS), input.height / BLOCK[1], 1].map(|edge| edge as u32);
    let block = [BLOCK[0] as u32, BLOCK[1] as u32, 1];
    for chunk in input.atoms.chunks(CHUNK) {
        store_symbol(gpu, "atoms", chunk.as_flattened())?;
        gpu.launch("cp_plane", grid, block, 0, &[Arg::Ptr(potential), int(chunk.len()), Arg::F32(SPACING)])?;
    }
    load(gpu, potential, count)
}
