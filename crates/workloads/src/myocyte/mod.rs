//! `myocyte`: the action potential of heart muscle cells.
//!
//! Algorithm: the membrane model of Beeler and Reuter ("Reconstruction of the action potential of ventricular myocardial
//! fibres", J. Physiology 268, 1977), eight ordinary differential equations, the gates by Rush and Larsen's exponential
//! steps (IEEE Trans. Biomedical Engineering 25, 1978). One thread per cell and very few cells: two to four warps on a whole
//! GPU, each a long chain of exponentials and divisions, nothing to overlap them with. (The published benchmark solves a
//! larger model, 91 equations, with as little parallelism.)
//!
//! Tolerance: 10⁻⁴ of 100 mV for the potential, of 1 for the gates, of 10⁻⁶ mol/l for calcium. A step's exponentials are
//! right to about 10⁻⁶, but while the potential rises by 100 mV in a millisecond, differences grow, before all cells settle
//! on the same plateau; results are read there.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, upload};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "myocyte",
    suite: "Rodinia",
    description: "heart muscle cells: a few warps on the whole GPU, long chains of exponentials",
    small: "64 cells for 8 ms",
    full: "128 cells for 60 ms",
    kernels: &["myocyte_run"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 32;
const STATES: usize = 8;
/// Steps of a launch.
const STEPS: usize = 200;
/// Milliseconds.
const STEP: f32 = 0.02;
const STIMULUS_LASTS: f32 = 1.0;
const TOLERANCE: f64 = 1e-4;
/// Of the variables, for errors.
const SCALES: [f64; STATES] = [100.0, 1e-6, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Potential, calcium, gates x1, m, h, j, d, f of a cell at rest.
const AT_REST: [f32; STATES] = [-84.57, 2e-7, 0.0057, 0.011, 0.988, 0.975, 0.003, 1.0];

struct Input {
    launches: usize,
    /// By cell: the current that sets the action potential off, the slow inward conductance.
    stimulus: Vec<f32>,
    slow: Vec<f32>,
}

impl Input {
    fn generate(cells: usize, launches: usize) -> Self {
        let mut rng = Rng::named("myocyte/cells");
        Input { launches, stimulus: rng.floats(cells, 50.0, 80.0), slow: rng.floats(cells, 0.07, 0.11) }
    }

    fn cells(&self) -> usize {
        self.slow.len()
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(64, 2), Input::generate(128, 15));
    let got = drive(gpu, &input)?;
    let scale = |i: usize| SCALES[i / input.cells()];
    Ok(Checker::new().close("states", &got, &reference::states(&input), scale, TOLERANCE).finish())
}

/// Variable after variable, at the end.
fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let cells = input.cells();
    let start: Vec<f32> = AT_REST.iter().flat_map(|&v| std::iter::repeat_n(v, cells)).collect();
    let state = upload(gpu, &start)?;
    let stimulus = upload(gpu, &input.stimulus)?;
    let slow = upload(gpu, &input.slow)?;
    for launch in 0..input.launches {
        let mut args = [state, stimulus, slow].map(Arg::Ptr).to_vec();
        args.extend([cells, launch * STEPS, STEPS].map(int));
        args.extend([STEP, STIMULUS_LASTS].map(Arg::F32));
        gpu.launch("myocyte_run", [blocks(cells, THREADS), 1, 1], [THREADS as u32, 1, 1], 0, &args)?;
    }
    load(gpu, state, STATES * cells)
}
