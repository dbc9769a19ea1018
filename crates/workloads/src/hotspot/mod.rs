//! `hotspot`: the temperature of a chip over time, from the power of its cells.
//!
//! Algorithm: the thermal RC grid of HotSpot (Skadron, Stan, Huang, Velusamy, Sankaranarayanan, Tarjan, ISCA 2003), explicit
//! Euler steps, with ghost-zone tiling: a block advances a 16 × 16 tile two steps in shared memory before it writes
//! the inner 12 × 12. Every step two barriers, and the tile's rim falls idle: divergence at tile edges.
//!
//! Bit-exact.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "hotspot",
    suite: "Rodinia",
    description: "thermal simulation of a chip: 2D stencil, ghost zones in shared memory, two steps per launch",
    small: "192 × 192 cells, 4 steps",
    full: "512 × 512 cells, 8 steps (3 MiB)",
    kernels: &["hotspot"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const TILE: usize = 16;
const STEPS_PER_LAUNCH: usize = 2;

struct Input {
    width: usize,
    height: usize,
    steps: usize,
    temperature: Vec<f32>,
    power: Vec<f32>,
    physics: Physics,
}

/// Coefficients of one Euler step.
#[derive(Clone, Copy)]
struct Physics {
    step_over_capacity: f32,
    per_rx: f32,
    per_ry: f32,
    per_rz: f32,
    ambient: f32,
}

impl Physics {
    /// A silicon die of 16 mm × 16 mm × 0.5 mm cut into cells.
    fn of_cells(width: usize, height: usize) -> Self {
        const DIE: f64 = 0.016; // m
        const THICKNESS: f64 = 0.0005; // m
        const HEAT_CAPACITY: f64 = 1.75e6; // J / (m³ K), silicon
        const CONDUCTIVITY: f64 = 100.0; // W / (m K), silicon
        const LUMPING: f64 = 0.5; // a lumped capacitor acts as about half of the distributed one
        const FASTEST: f64 = 3.0e6; // W / m², the densest power that the step must follow
        const PRECISION: f64 = 0.001; // K per step at that density

        let (dx, dy) = (DIE / width as f64, DIE / height as f64);
        let capacity = LUMPING * HEAT_CAPACITY * THICKNESS * dx * dy;
        let rx = dx / (2.0 * CONDUCTIVITY * THICKNESS * dy);
        let ry = dy / (2.0 * CONDUCTIVITY * THICKNESS * dx);
        let rz = THICKNESS / (CONDUCTIVITY * dx * dy);
        let step = PRECISION / (FASTEST / (LUMPING * THICKNESS * HEAT_CAPACITY));
        Physics {
            step_over_capacity: (step / capacity) as f32,
            per_rx: (1.0 / rx) as f32,
            per_ry: (1.0 / ry) as f32,
            per_rz: (1.0 / rz) as f32,
            ambient: 353.0,
        }
    }
}

impl Input {
    fn generate(width: usize, height: usize, steps: usize) -> Self {
        let cells = width * height;
        let mut rng = Rng::named("hotspot/power");
        let cell_power = 64.0 / cells as f32;
        // Functional blocks of 32 × 32 cells, each with its own activity.
        let block_columns = width.div_ceil(32);
        let activity: Vec<f32> = (0..block_columns * height.div_ceil(32)).map(|_| rng.range(0.1, 1.9)).collect();
        let power = (0..cells)
            .map(|i| activity[i / width / 32 * block_columns + i % width / 32] * rng.range(0.9, 1.1) * cell_power)
            .collect();
        Input {
            width,
            height,
            steps,
            temperature: Rng::named("hotspot/temperature").floats(cells, 323.0, 343.0),
            power,
            physics: Physics::of_cells(width, height),
        }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let (edge, steps) = size.pick((192, 4), (512, 8));
    let input = Input::generate(edge, edge, steps);
    let got = drive(gpu, &input)?;
    Ok(Checker::new().exact("temperatures", &got, &reference::simulate(&input)).finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let cells = input.width * input.height;
    let power = upload(gpu, &input.power)?;
    let mut from = upload(gpu, &input.temperature)?;
    let mut to = zeroed::<f32>(gpu, cells)?;
    let block = [TILE as u32, TILE as u32, 1];
    let mut left = input.steps;
    while left > 0 {
        let steps = left.min(STEPS_PER_LAUNCH);
        let inner = TILE - 2 * steps;
        let grid = [blocks(input.width, inner), blocks(input.height, inner), 1];
        let args = [
            Arg::Ptr(power),
            Arg::Ptr(from),
            Arg::Ptr(to),
            int(input.width),
            int(input.height),
            int(steps),
            Arg::F32(input.physics.step_over_capacity),
            Arg::F32(input.physics.per_rx),
            Arg::F32(input.physics.per_ry),
            Arg::F32(input.physics.per_rz),
            Arg::F32(input.physics.ambient),
        ];
        gpu.launch("hotspot", grid, block, 0, &args)?;
        (from, to) = (to, from);
        left -= steps;
    }
    load(gpu, from, cells)
}
