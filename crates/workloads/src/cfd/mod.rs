//! `cfd`: flow of a gas over a wall, by finite volumes on an unstructured mesh.
//!
//! Algorithm: the Euler equations in two dimensions with Rusanov's flux (J. Comp. Math. Phys. USSR 1, 1961), local time
//! steps and a three-stage Runge–Kutta scheme (Jameson, Schmidt, Turkel, AIAA 81-1259). One thread per cell; the flux kernel
//! reads four neighbours wherever they are numbered, 144 bytes a cell, and is bound by memory; the copy of the
//! variables does nothing but load and store. The published benchmark is in three dimensions with tetrahedra, which also
//! have four faces; ours has one momentum less.
//!
//! Bit-exact: fused multiply-adds, divisions and square roots in the same order.

mod mesh;
mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use self::mesh::{Mesh, WALL};
use crate::host::{blocks, int, load, store_symbol, upload, zeroed};
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "cfd",
    suite: "Rodinia",
    description: "gas flow on an unstructured mesh: gathers of neighbours, bound by memory; a copy bound by stores",
    small: "4096 cells, 2 steps",
    full: "65536 cells, 3 steps (7 MiB)",
    kernels: &["cfd_copy", "cfd_step", "cfd_flux", "cfd_advance"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 192;
const VARIABLES: usize = 4;
const STAGES: usize = 3;
const COURANT: f32 = 0.5;
/// Density, momentum and energy of the flow far away: 0.4 times as fast as sound, along the wall.
const FAR_AWAY: [f32; VARIABLES] = [1.0, 0.4, 0.0, 1.865_714_3];

struct Input {
    mesh: Mesh,
    steps: usize,
    /// At the beginning, variable after variable.
    variables: Vec<f32>,
}

impl Input {
    /// The flow far away everywhere, but denser and hotter in strips: the first quarter of each quarter of the cells, by
    /// number. Cells are numbered by tiles, so these are four strips along the wall (full), or one across it (small).
    fn generate(edge: usize, steps: usize) -> Self {
        let mesh = Mesh::generate(edge, WALL);
        let cells = mesh.cells();
        let mut variables: Vec<f32> = FAR_AWAY.iter().flat_map(|&v| std::iter::repeat_n(v, cells)).collect();
        for i in (0..cells).filter(|i| i % (cells / 4) < cells / 16) {
            variables[i] *= 1.5;
            variables[3 * cells + i] *= 2.0;
        }
        Input { mesh, steps, variables }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(64, 2), Input::generate(256, 3));
    let got = drive(gpu, &input)?;
    Ok(Checker::new().exact("variables", &got, &reference::flow(&input)).finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    store_symbol(gpu, "far_away", &FAR_AWAY)?;
    let cells = input.mesh.cells();
    let count = VARIABLES * cells;
    let variables = upload(gpu, &input.variables)?;
    let area = upload(gpu, &input.mesh.area)?;
    let mesh =
        [upload(gpu, &input.mesh.neighbour)?, upload(gpu, &input.mesh.normal_x)?, upload(gpu, &input.mesh.normal_y)?];
    let [before, inflow] = [zeroed::<f32>(gpu, count)?, zeroed::<f32>(gpu, count)?];
    let factor = zeroed::<f32>(gpu, cells)?;

    let (grid, block) = ([blocks(cells, THREADS), 1, 1], [THREADS as u32, 1, 1]);
    let copy = [Arg::Ptr(variables), Arg::Ptr(before), int(count)];
    let step = [Arg::Ptr(variables), Arg::Ptr(area), Arg::Ptr(factor), int(cells), Arg::F32(COURANT)];
    let [neighbour, normal_x, normal_y] = mesh.map(Arg::Ptr);
    let flux = [Arg::Ptr(variables), neighbour, normal_x, normal_y, Arg::Ptr(inflow), int(cells)];
    for _ in 0..input.steps {
        gpu.launch("cfd_copy", [blocks(count, THREADS), 1, 1], block, 0, &copy)?;
        gpu.launch("cfd_step", grid, block, 0, &step)?;
        for stage in 0..STAGES {
            gpu.launch("cfd_flux", grid, block, 0, &flux)?;
            let mut advance = [before, inflow, factor, variables].map(Arg::Ptr).to_vec();
            advance.extend([int(cells), Arg::F32(part(stage))]);
            gpu.launch("cfd_advance", grid, block, 0, &advance)?;
        }
    }
    load(gpu, variables, count)
}

/// How much of the time step a stage makes.
fn part(stage: usize) -> f32 {
    1.0 / (STAGES - stage) as f32
}
