//! `nw`: global alignment of two sequences.
//!
//! Algorithm: dynamic programming (Needleman, Wunsch, J. Mol. Biol. 48, 1970), the table in 16 × 16 tiles along its
//! anti-diagonals; within a tile, again anti-diagonals, one thread a column. One launch per tile diagonal, blocks of half
//! a warp of which on average half is active: little parallelism, many barriers, many launches.
//!
//! Bit-exact: integers.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{int, load, upload};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "nw",
    suite: "Rodinia",
    description: "sequence alignment along anti-diagonals: half warps, many barriers, one launch per tile diagonal",
    small: "two sequences of 176 bases",
    full: "two sequences of 960 bases (7 MiB)",
    kernels: &["nw_upper", "nw_lower"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const TILE: usize = 16;
const GAP: i32 = 4;

struct Input {
    across: Vec<u8>,
    down: Vec<u8>,
}

impl Input {
    /// A random sequence, and a copy of it with one base in five changed and one in twenty left out.
    fn generate(length: usize) -> Self {
        let mut rng = Rng::named("nw/sequences");
        let mut base = || b"ACGT"[rng.below(4) as usize];
        let across: Vec<u8> = (0..length).map(|_| base()).collect();
        let mut changes = Rng::named("nw/changes");
        let mut down = Vec::with_capacity(length);
        for &original in &across {
            match changes.below(20) {
                0..4 => down.push(b"ACGT"[changes.below(4) as usize]),
                4 => {}
                _ => down.push(original),
            }
        }
        down.resize_with(length, base);
        Input { across, down }
    }

    /// The score of every pair of bases.
    fn similarity(&self) -> Vec<i32> {
        self.down.iter().flat_map(|&a| self.across.iter().map(move |&b| score(a, b))).collect()
    }
}

/// Equal bases 5; a transition (A–G, C–T) −2; a transversion −4.
fn score(a: u8, b: u8) -> i32 {
    match (a, b) {
        _ if a == b => 5,
        (b'A', b'G') | (b'G', b'A') | (b'C', b'T') | (b'T', b'C') => -2,
        _ => -4,
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = Input::generate(size.pick(176, 960));
    let got = drive(gpu, &input)?;
    Ok(Checker::new().exact("scores", &got, &reference::table(&input)).finish())
}

/// The score table, with its row and column for the empty sequence.
fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Vec<i32>, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let n = input.across.len();
    let stride = n + 1;
    let mut table = vec![0i32; stride * stride];
    for i in 1..=n {
        table[i] = -GAP * i as i32;
        table[i * stride] = -GAP * i as i32;
    }
    let similarity = upload(gpu, &input.similarity())?;
    let buffer = upload(gpu, &table)?;
    let tiles = n / TILE;
    for diagonal in 0..2 * tiles - 1 {
        let args = [Arg::Ptr(similarity), Arg::Ptr(buffer), int(n), Arg::I32(GAP), int(diagonal)];
        let (kernel, grid) =
            if diagonal < tiles { ("nw_upper", diagonal + 1) } else { ("nw_lower", 2 * tiles - 1 - diagonal) };
        gpu.launch(kernel, [grid as u32, 1, 1], [TILE as u32, 1, 1], 0, &args)?;
    }
    load(gpu, buffer, stride * stride)
}
