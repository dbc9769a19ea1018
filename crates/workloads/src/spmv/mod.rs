//! `spmv`: sparse matrix times dense vector.
//!
//! Algorithm: jagged diagonal storage (Saad, "Krylov subspace methods on supercomputers", SIAM J. Sci. Stat. Comput. 10,
//! 1989): rows sorted by length, k-th entries side by side. Matrix and column indices stream, coalesced; the vector is
//! gathered through the read-only path (`ld.global.nc`, a texture in the published benchmark); the starts of the
//! diagonals sit in constant memory. Bound by memory, two operations per 8 bytes.
//!
//! Bit-exact: each row is added in its own order with fused multiply-adds; padding adds +0.

mod jds;
pub(crate) mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, store_symbol, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "spmv",
    suite: "Parboil",
    description: "sparse matrix-vector product in jagged diagonal storage: streams and gathers, bound by memory",
    small: "12288 rows, about 160 thousand entries",
    full: "131072 rows, about 3 million entries (24 MiB)",
    kernels: &["spmv"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 192;

/// Rows of (column, value).
pub(crate) struct Matrix {
    pub(crate) rows: Vec<Vec<(usize, f32)>>,
}

impl Matrix {
    /// A square matrix with most entries near the diagonal, as from a mesh, and row lengths spread around `mean`.
    fn generate(size: usize, mean: u32) -> Self {
        let mut rng = Rng::named("spmv/matrix");
        let row = |r: usize| {
            let length = 1 + rng.below(mean) + rng.below(mean);
            let mut columns: Vec<usize> = (0..length)
                .map(|_| match rng.below(10) {
                    0 => rng.below(size as u32) as usize,
                    _ => (r + size + rng.below(257) as usize - 128) % size,
                })
                .collect();
            columns.sort_unstable();
            columns.dedup();
            columns.into_iter().map(|column| (column, rng.range(-1.0, 1.0))).collect()
        };
        Matrix { rows: (0..size).map(row).collect() }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let (rows, mean) = size.pick((12_288, 13), (131_072, 23));
    let matrix = Matrix::generate(rows, mean);
    let x = Rng::named("spmv/x").floats(rows, -1.0, 1.0);
    let got = drive(gpu, &matrix, &x)?;
    Ok(Checker::new().exact("y", &got, &reference::multiply(&matrix, &x)).finish())
}

fn drive(gpu: &mut dyn Device, matrix: &Matrix, x: &[f32]) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let rows = matrix.rows.len();
    let jds = jds::Jagged::from_rows(&matrix.rows);
    store_symbol(gpu, "diagonal_start", &jds.diagonal_start)?;
    let value = upload(gpu, &jds.value)?;
    let column = upload(gpu, &jds.column)?;
    let warp_length = upload(gpu, &jds.warp_length)?;
    let permutation = upload(gpu, &jds.permutation)?;
    let x = upload(gpu, x)?;
    let y = zeroed::<f32>(gpu, rows)?;
    let mut args = [value, column, warp_length, permutation, x, y].map(Arg::Ptr).to_vec();
    args.push(int(rows));
    gpu.launch("spmv", [blocks(rows, THREADS), 1, 1], [THREADS as u32, 1, 1], 0, &args)?;
    load(gpu, y, rows)
}
