//! `pathfinder`: the cheapest path from the top of a grid to each cell of its last row, straight or diagonally down.
//!
//! Algorithm: dynamic programming by rows (as for seam carving: Avidan, Shamir, SIGGRAPH 2007), with ghost-zone tiling:
//! a block of 256 threads goes down several rows in shared memory, losing a cell at each end per row, before it writes.
//! Integer minima, two barriers a row, idle lanes at the blocks' ends.
//!
//! Bit-exact: integers.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "pathfinder",
    suite: "Rodinia",
    description: "cheapest path down a grid: integer dynamic programming with ghost zones in shared memory",
    small: "16384 columns, 41 rows, 10 rows per launch (2.6 MiB)",
    full: "100000 columns, 101 rows, 20 rows per launch (39 MiB)",
    kernels: &["pathfinder"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 256;

struct Input {
    columns: usize,
    /// The first row, and all further rows.
    first: Vec<i32>,
    wall: Vec<i32>,
    rows_per_launch: usize,
}

impl Input {
    fn generate(columns: usize, rows: usize, rows_per_launch: usize) -> Self {
        let mut rng = Rng::named("pathfinder/wall");
        let mut costs = |count: usize| (0..count).map(|_| rng.below(10) as i32).collect();
        Input { columns, first: costs(columns), wall: costs(columns * (rows - 1)), rows_per_launch }
    }

    fn rows(&self) -> usize {
        self.wall.len() / self.columns
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(16_384, 41, 10), Input::generate(100_000, 101, 20));
    let got = drive(gpu, &input)?;
    Ok(Checker::new().exact("costs", &got, &reference::costs(&input)).finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<i32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let columns = input.columns;
    let wall = upload(gpu, &input.wall)?;
    let mut from = upload(gpu, &input.first)?;
    let mut to = zeroed::<i32>(gpu, columns)?;
    let overlap = input.rows_per_launch;
    let grid = [blocks(columns, THREADS - 2 * overlap), 1, 1];
    let mut row = 0;
    while row < input.rows() {
        let steps = overlap.min(input.rows() - row);
        let args = [Arg::Ptr(wall), Arg::Ptr(from), Arg::Ptr(to), int(columns), int(row), int(steps), int(overlap)];
        gpu.launch("pathfinder", grid, [THREADS as u32, 1, 1], 0, &args)?;
        (from, to) = (to, from);
        row += steps;
    }
    load(gpu, from, columns)
}
