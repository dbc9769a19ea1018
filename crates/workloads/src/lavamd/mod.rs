//! `lavaMD`: potentials and forces among particles in a box-decomposed space.
//!
//! Algorithm: cell lists (Hockney, Eastwood, "Computer Simulation Using Particles", 1981) with a Gaussian pair potential
//! q e^(−a r²); a particle meets all particles of its own box and of the up to 26 boxes around it. One block per box;
//! each neighbour box passes through shared memory and is read by all lanes alike, one `ex2` per pair. The number of
//! particles per box is not a multiple of 32, so the last warp has idle lanes throughout.
//!
//! Tolerance: 10⁻⁵ of the sum of the terms' magnitudes. `ex2.approx` may be wrong by 2⁻²², its argument is rounded to
//! float (|argument| stays below 9, so 2⁻²¹ of the result), and the up to 2700 roundings of a float sum
//! wander by about √2700 × 2⁻²⁴; together 4 × 10⁻⁶.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "lavaMD",
    suite: "Rodinia",
    description: "particles in boxes: pair loops over shared memory with ex2, partly filled warps",
    small: "3 × 3 × 3 boxes of 44 particles",
    full: "5 × 5 × 5 boxes of 100 particles",
    kernels: &["lavamd"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const NEIGHBOURS: usize = 27;
/// a of e^(−a r²), with the edge of a box as the unit of length.
const FALLOFF: f32 = 0.5;
const TOLERANCE: f64 = 1e-5;

struct Input {
    per_box: usize,
    /// x, y, z, charge.
    particles: Vec<f32>,
    /// Neighbour boxes of each box, its own first.
    neighbours: Vec<Vec<i32>>,
}

impl Input {
    fn generate(edge: usize, per_box: usize) -> Self {
        let mut rng = Rng::named("lavaMD/particles");
        let mut particles = Vec::with_capacity(edge * edge * edge * per_box * 4);
        let mut neighbours = Vec::with_capacity(edge * edge * edge);
        for corner in (0..edge * edge * edge).map(|i| [i % edge, i / edge % edge, i / edge / edge]) {
            for _ in 0..per_box {
                particles.extend(corner.map(|c| c as f32 + rng.unit()));
                particles.push(rng.range(0.1, 1.0));
            }
            neighbours.push(neighbours_of(corner, edge));
        }
        Input { per_box, particles, neighbours }
    }

    fn boxes(&self) -> usize {
        self.neighbours.len()
    }
}

/// The box itself, then those that touch it.
fn neighbours_of(corner: [usize; 3], edge: usize) -> Vec<i32> {
    let [x, y, z] = corner;
    let near = |c: usize| c.saturating_sub(1)..=(c + 1).min(edge - 1);
    let index = |x, y, z| ((z * edge + y) * edge + x) as i32;
    let home = index(x, y, z);
    let mut all = vec![home];
    for z in near(z) {
        for y in near(y) {
            all.extend(near(x).map(|x| index(x, y, z)).filter(|&i| i != home));
        }
    }
    all
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(3, 44), Input::generate(5, 100));
    let got = drive(gpu, &input)?;
    let want = reference::forces(&input);
    Ok(Checker::new().close("forces and potentials", &got, &want.sums, |i| want.magnitudes[i], TOLERANCE).finish())
}

/// Force x, y, z and potential of each particle.
fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let degree: Vec<i32> = input.neighbours.iter().map(|list| list.len() as i32).collect();
    let mut slots = Vec::with_capacity(input.boxes() * NEIGHBOURS);
    for list in &input.neighbours {
        slots.extend_from_slice(list);
        slots.resize(slots.len().next_multiple_of(NEIGHBOURS), 0);
    }
    let particles = upload(gpu, &input.particles)?;
    let degree = upload(gpu, &degree)?;
    let slots = upload(gpu, &slots)?;
    let result = zeroed::<f32>(gpu, input.particles.len())?;
    let block = [input.per_box.next_multiple_of(32) as u32, 1, 1];
    let args = [
        Arg::Ptr(particles),
        Arg::Ptr(degree),
        Arg::Ptr(slots),
        Arg::Ptr(result),
        int(input.per_box),
        Arg::F32(FALLOFF),
        Arg::F32(2.0 * FALLOFF),
    ];
    gpu.launch("lavamd", [input.boxes() as u32, 1, 1], block, 0, &args)?;
    load(gpu, result, input.particles.len())
}
