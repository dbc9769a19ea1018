//! `cutcp`: the electrostatic potential of charged atoms on a lattice, cut off at a distance.
//!
//! Algorithm: cut-off pair summation over spatial bins (Hardy, Stone, Schulten, "Multilevel summation of electrostatic
//! potentials using graphics processing units", Parallel Computing 35, 2009): potential q / r × (1 − r² / c²)² for r < c.
//! Bins of 8 atom slots; a block owns 8 × 8 × 8 lattice points, four per thread, and visits the bins within reach through
//! shared memory, their offsets in constant memory. `rsqrt`, and four divergent tests a pair.
//!
//! Tolerance: 10⁻⁵ of the sum of the terms' magnitudes: `rsqrt.approx` 2⁻²², and the rounding of a coordinate difference
//! (2⁻²⁴ of up to 12 Å) weighs up to 10⁻⁵ of a term only for an atom within 0.1 Å of a lattice point, where the
//! others' terms are small beside it; the roundings of the sum add less than 10⁻⁶.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{int, load, store_symbol, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "cutcp",
    suite: "Parboil",
    description: "cut-off Coulomb potential on a lattice: bins through shared memory, rsqrt, divergent distance tests",
    small: "24 × 24 × 16 points, about 54 atoms, cut-off 6 Å",
    full: "40 × 40 × 32 points, about 500 atoms, cut-off 8 Å",
    kernels: &["cutcp"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

/// Atom slots of a bin.
const BIN_DEPTH: usize = 8;
/// Lattice points along a block's edge, which is also a bin's edge.
const CUBE: usize = 8;
/// Distance of lattice points, Å: a power of two, so that a point's coordinates are exact.
const SPACING: f32 = 0.5;
const BIN_EDGE: f32 = CUBE as f32 * SPACING;
const TOLERANCE: f64 = 1e-5;

struct Input {
    /// x, y, z.
    bins: [usize; 3],
    cutoff: f32,
    /// `BIN_DEPTH` slots per bin of x, y, z, charge; a charge of zero ends a bin.
    slots: Vec<[f32; 4]>,
}

impl Input {
    /// `mean` atoms per bin, spread over the whole volume; an atom that finds its bin full is thrown again.
    fn generate(bins: [usize; 3], mean: usize, cutoff: f32) -> Self {
        let mut rng = Rng::named("cutcp/atoms");
        let count: usize = bins.iter().product();
        let mut slots = vec![[0.0; 4]; count * BIN_DEPTH];
        let mut used = vec![0; count];
        let mut left = mean.min(BIN_DEPTH) * count;
        while left > 0 {
            let position = bins.map(|n| rng.range(0.0, n as f32 * BIN_EDGE));
            let charge = if rng.below(2) == 0 { 1.0 } else { -1.0 } * rng.range(0.1, 1.0);
            let [x, y, z] = position.map(|p| (p / BIN_EDGE) as usize);
            let bin = (z * bins[1] + y) * bins[0] + x;
            if used[bin] < BIN_DEPTH {
                slots[bin * BIN_DEPTH + used[bin]] = [position[0], position[1], position[2], charge];
                used[bin] += 1;
                left -= 1;
            }
        }
        Input { bins, cutoff, slots }
    }

    fn points(&self) -> usize {
        self.bins.iter().product::<usize>() * CUBE * CUBE * CUBE
    }
}

/// Offsets of all bins of which some point is nearer than the cut-off to some point of the home bin, packed for the
/// kernel: x, y, z + 128 in a byte each.
fn offsets(cutoff: f32) -> Vec<i32> {
    let reach = (cutoff / BIN_EDGE).ceil() as i32;
    let gap = |d: i32| (d.abs() - 1).max(0) as f32 * BIN_EDGE;
    let mut all = Vec::new();
    for z in -reach..=reach {
        for y in -reach..=reach {
            for x in -reach..=reach {
                if gap(x) * gap(x) + gap(y) * gap(y) + gap(z) * gap(z) < cutoff * cutoff {
                    all.push((x + 128) | (y + 128) << 8 | (z + 128) << 16);
                }
            }
        }
    }
    all
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate([3, 3, 2], 3, 6.0), Input::generate([5, 5, 4], 5, 8.0));
    let got = drive(gpu, &input)?;
    let want = reference::potentials(&input);
    Ok(Checker::new().close("potentials", &got, &want.sums, |i| want.magnitudes[i], TOLERANCE).finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let offsets = offsets(input.cutoff);
    store_symbol(gpu, "offsets", &offsets)?;
    let atoms = upload(gpu, input.slots.as_flattened())?;
    let potential = zeroed::<f32>(gpu, input.points())?;
    let [x, y, z] = input.bins;
    let args = [
        Arg::Ptr(atoms),
        Arg::Ptr(potential),
        int(x),
        int(y),
        int(z),
        int(offsets.len()),
        Arg::F32(SPACING),
        Arg::F32(input.cutoff * input.cutoff),
    ];
    gpu.launch("cutcp", input.bins.map(|n| n as u32), [CUBE as u32, CUBE as u32, 2], 0, &args)?;
    load(gpu, potential, input.points())
}
