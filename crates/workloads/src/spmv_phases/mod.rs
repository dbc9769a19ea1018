//! `spmv-phases`: a sparse matrix-vector product whose demands change while the kernel runs.
//!
//! Algorithm: compressed rows, one thread a row (Bell, Garland, "Implementing sparse matrix-vector multiplication on
//! throughput-oriented processors", SC 2009), in a grid-stride loop. The matrix has bands of rows of two kinds, in turn:
//! rows of one length with a few entries beside the diagonal, which share the lines that they read; and rows of very
//! different lengths with entries anywhere, which pull the caches apart and leave lanes idle. As all warps walk down the
//! matrix together, the kernel goes through phases.
//!
//! Bit-exact: each row is added in its own order with fused multiply-adds.

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{int, load, upload, zeroed};
use crate::rng::Rng;
use crate::spmv::{Matrix, reference};
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "spmv-phases",
    suite: "Parboil",
    description: "sparse matrix-vector product by rows, in bands: neat rows and scattered rows in turn",
    small: "23040 rows in 2 bands, about 220 thousand entries",
    full: "138240 rows in 6 bands, about 1.3 million entries (12 MiB)",
    kernels: &["spmv_rows"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const GRID: u32 = 90;
const THREADS: u32 = 128;
/// Rows that all threads together take in one round of their loop.
const ROUND: usize = GRID as usize * THREADS as usize;

/// Bands of `rounds` × [`ROUND`] rows.
fn generate(bands: usize, rounds: usize) -> Matrix {
    let mut rng = Rng::named("spmv-phases/matrix");
    let size = bands * rounds * ROUND;
    let row = |r: usize| {
        let mut columns: Vec<usize> = if r / (rounds * ROUND) % 2 == 0 {
            (0..8).map(|k| (r + size + k - 4) % size).collect()
        } else {
            let length = if rng.below(8) == 0 { 24 + rng.below(41) } else { 1 + rng.below(12) };
            (0..length).map(|_| rng.below(size as u32) as usize).collect()
        };
        columns.sort_unstable();
        columns.dedup();
        columns.into_iter().map(|column| (column, rng.range(-1.0, 1.0))).collect()
    };
    Matrix { rows: (0..size).map(row).collect() }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let matrix = size.pick(generate(2, 1), generate(6, 2));
    let x = Rng::named("spmv-phases/x").floats(matrix.rows.len(), -1.0, 1.0);
    let got = drive(gpu, &matrix, &x)?;
    Ok(Checker::new().exact("y", &got, &reference::multiply(&matrix, &x)).finish())
}

fn drive(gpu: &mut dyn Device, matrix: &Matrix, x: &[f32]) -> Result<Vec<f32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let rows = matrix.rows.len();
    let mut starts = vec![0i32];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for row in &matrix.rows {
        columns.extend(row.iter().map(|entry| entry.0 as i32));
        values.extend(row.iter().map(|entry| entry.1));
        starts.push(values.len() as i32);
    }
    let buffers = [upload(gpu, &starts)?, upload(gpu, &columns)?, upload(gpu, &values)?, upload(gpu, x)?];
    let y = zeroed::<f32>(gpu, rows)?;
    let mut args = buffers.map(Arg::Ptr).to_vec();
    args.extend([Arg::Ptr(y), int(rows)]);
    gpu.launch("spmv_rows", [GRID, 1, 1], [THREADS, 1, 1], 0, &args)?;
    load(gpu, y, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_take_turns() {
        let matrix = generate(2, 1);
        let (neat, scattered) = matrix.rows.split_at(ROUND);
        assert!(neat.iter().all(|row| row.len() == 8));
        let spread = |row: &[(usize, f32)]| row.last().map_or(0, |last| last.0) - row[0].0;
        assert!(neat[100..ROUND].iter().all(|row| spread(row) == 7));
        let long = scattered.iter().filter(|row| row.len() > 20).count();
        assert!((1000..2000).contains(&long), "{long}");
        assert!(scattered.iter().filter(|row| spread(row) > 1000).count() > ROUND * 3 / 4);
    }
}
