//! `lud`: LU decomposition of a dense matrix, in place, without pivoting.
//!
//! Algorithm: blocked right-looking elimination (Golub, Van Loan, "Matrix Computations", §3.2) with 16 × 16 tiles in shared
//! memory. Per block column three launches: the diagonal tile (one block of 16 threads: nearly the whole GPU idle, lanes
//! dropping out one by one), the perimeter (the two halves of a warp take different paths), and the remaining tiles (dense
//! arithmetic). Parallelism shrinks from step to step.
//!
//! Bit-exact: however the work is tiled, each element sees the same multiply-subtractions in the same order as in the
//! textbook's three loops.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{int, load, upload};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "lud",
    suite: "Rodinia",
    description: "LU decomposition by tiles: three small launches per step, little and shrinking parallelism",
    small: "192 × 192 matrix",
    full: "512 × 512 matrix",
    kernels: &["lud_diagonal", "lud_perimeter", "lud_internal"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const TILE: usize = 16;

/// A square matrix whose diagonal outweighs its rows, so that elimination without pivoting is safe.
fn generate(n: usize) -> Vec<f32> {
    let mut matrix = Rng::named("lud/matrix").floats(n * n, -1.0, 1.0);
    for i in 0..n {
        matrix[i * n + i] = matrix[i * n + i].abs() + n as f32 * 0.6;
    }
    matrix
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let n = size.pick(192, 512);
    let matrix = generate(n);
    let got = drive(gpu, &matrix, n)?;
    Ok(Checker::new().exact("L and U", &got, &reference::decompose(&matrix, n)).finish())
}

/// L below the diagonal (its own diagonal is 1), U on and above it.
fn drive(gpu: &mut dyn Device, matrix: &[f32], n: usize) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let buffer = upload(gpu, matrix)?;
    let tiles = n / TILE;
    for step in 0..tiles {
        let args = [Arg::Ptr(buffer), int(n), int(step * TILE)];
        let rest = (tiles - step - 1) as u32;
        gpu.launch("lud_diagonal", [1, 1, 1], [TILE as u32, 1, 1], 0, &args)?;
        if rest > 0 {
            gpu.launch("lud_perimeter", [rest, 1, 1], [2 * TILE as u32, 1, 1], 0, &args)?;
            gpu.launch("lud_internal", [rest, rest, 1], [TILE as u32, TILE as u32, 1], 0, &args)?;
        }
    }
    load(gpu, buffer, n * n)
}
