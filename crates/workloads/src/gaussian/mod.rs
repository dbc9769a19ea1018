//! `gaussian`: a system of linear equations by Gaussian elimination.
//!
//! Algorithm: elimination without pivoting (Golub, Van Loan, "Matrix Computations", 3.2), which a diagonally dominant
//! matrix allows; two launches a column, the host substitutes back. Blocks are 4 × 4 threads, half a warp, and a thread's
//! neighbours in x work on different rows: small launches, idle lanes, and stores (a sector or two, 1.4 on average, for
//! every four lanes) that hold the SMs up.
//!
//! Bit-exact: divisions and fused multiply-adds in the same order.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "gaussian",
    suite: "Rodinia",
    description: "Gaussian elimination: two small launches a column, half warps, bound by scattered stores",
    small: "64 equations",
    full: "208 equations",
    kernels: &["gaussian_multipliers", "gaussian_eliminate"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 256;
const TILE: usize = 4;

/// `matrix` (n × n, row by row) times the unknowns is `right`.
#[derive(Clone, Debug, PartialEq)]
struct System {
    matrix: Vec<f32>,
    right: Vec<f32>,
}

impl System {
    /// Each diagonal element outweighs its row.
    fn generate(n: usize) -> Self {
        let mut matrix = Rng::named("gaussian/matrix").floats(n * n, -1.0, 1.0);
        for i in 0..n {
            matrix[i * n + i] += n as f32;
        }
        System { matrix, right: Rng::named("gaussian/right").floats(n, -10.0, 10.0) }
    }

    fn n(&self) -> usize {
        self.right.len()
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let system = System::generate(size.pick(64, 208));
    let got = drive(gpu, &system)?;
    let want = reference::eliminate(&system);
    Ok(Checker::new()
        .exact("triangle", &got.matrix, &want.matrix)
        .exact("right side", &got.right, &want.right)
        .exact("solution", &reference::substitute(&got), &reference::substitute(&want))
        .finish())
}

/// The system with zeros (or what rounding leaves of them) below the diagonal.
fn drive(gpu: &mut dyn Device, system: &System) -> Result<System, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let n = system.n();
    let matrix = upload(gpu, &system.matrix)?;
    let right = upload(gpu, &system.right)?;
    let multiplier = zeroed::<f32>(gpu, n * n)?;
    for column in 0..n - 1 {
        let below = n - 1 - column;
        let args = [Arg::Ptr(matrix), Arg::Ptr(multiplier), int(n), int(column)];
        let grid = [blocks(below, THREADS), 1, 1];
        gpu.launch("gaussian_multipliers", grid, [THREADS as u32, 1, 1], 0, &args)?;
        let args = [Arg::Ptr(matrix), Arg::Ptr(right), Arg::Ptr(multiplier), int(n), int(column)];
        let grid = [blocks(below, TILE), blocks(n - column, TILE), 1];
        gpu.launch("gaussian_eliminate", grid, [TILE as u32, TILE as u32, 1], 0, &args)?;
    }
    Ok(System { matrix: load(gpu, matrix, n * n)?, right: load(gpu, right, n)? })
}
