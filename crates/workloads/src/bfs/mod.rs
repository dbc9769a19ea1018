//! `bfs`: breadth-first search from one node of a random directed graph.
//!
//! Algorithm: level-synchronous search with one thread per node (Harish, Narayanan, HiPC 2007): `bfs_expand` visits the
//! frontier's neighbours, `bfs_commit` makes the newly reached nodes the frontier, until a flag stays 0. Few lanes are in
//! the frontier, each follows its own edge list: divergence, scattered loads, two launches and a flag read per level.
//!
//! Bit-exact: integers, and racing stores write the same value.

mod reference;
mod waves;

pub use waves::WORKLOAD as WAVES;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, store, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "bfs",
    suite: "Rodinia",
    description: "breadth-first search by levels: divergence, scattered loads, two launches per level until a flag is 0",
    small: "16384 nodes, about 98 thousand edges",
    full: "262144 nodes, about 1.6 million edges (9 MiB)",
    kernels: &["bfs_expand", "bfs_commit"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 256;

/// A directed graph: node v's edges lead to `column[row[v]..row[v + 1]]`.
struct Graph {
    row: Vec<i32>,
    column: Vec<i32>,
    source: usize,
}

impl Graph {
    /// 2 to 10 edges a node, to anywhere.
    fn generate(nodes: usize) -> Self {
        let mut rng = Rng::named("bfs/graph");
        let (mut row, mut column) = (vec![0], Vec::new());
        for _ in 0..nodes {
            for _ in 0..2 + rng.below(9) {
                column.push(rng.below(nodes as u32) as i32);
            }
            row.push(column.len() as i32);
        }
        Graph { row, column, source: 0 }
    }

    fn nodes(&self) -> usize {
        self.row.len() - 1
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let graph = Graph::generate(size.pick(16_384, 262_144));
    search(gpu, WORKLOAD.name, &graph)
}

/// Searches, and compares with the reference.
fn search(gpu: &mut dyn Device, name: &str, graph: &Graph) -> Result<Verification, DeviceError> {
    let got = drive(gpu, name, graph)?;
    Ok(Checker::new().exact("levels", &got, &reference::levels(graph)).finish())
}

/// The level of each node, −1 where it cannot be reached.
fn drive(gpu: &mut dyn Device, name: &str, graph: &Graph) -> Result<Vec<i32>, DeviceError> {
    gpu.load_module(name, WORKLOAD.ptx)?;
    let nodes = graph.nodes();
    let mut start = vec![0u8; nodes];
    start[graph.source] = 1;
    let mut levels = vec![-1i32; nodes];
    levels[graph.source] = 0;

    let row = upload(gpu, &graph.row)?;
    let column = upload(gpu, &graph.column)?;
    let frontier = upload(gpu, &start)?;
    let next = zeroed::<u8>(gpu, nodes)?;
    let visited = upload(gpu, &start)?;
    let level = upload(gpu, &levels)?;
    let more = zeroed::<i32>(gpu, 1)?;
    let expand = [row, column, frontier, next, visited, level].map(Arg::Ptr).into_iter().chain([int(nodes)]);
    let expand: Vec<Arg> = expand.collect();
    let commit = [frontier, next, visited, more].map(Arg::Ptr).into_iter().chain([int(nodes)]);
    let commit: Vec<Arg> = commit.collect();

    let (grid, block) = ([blocks(nodes, THREADS), 1, 1], [THREADS as u32, 1, 1]);
    // No search needs more levels than there are nodes: a device that leaves the flag set does not hold the host.
    for _ in 0..nodes {
        store(gpu, more, &[0i32])?;
        gpu.launch("bfs_expand", grid, block, 0, &expand)?;
        gpu.launch("bfs_commit", grid, block, 0, &commit)?;
        if load::<i32>(gpu, more, 1)? == [0] {
            break;
        }
    }
    load(gpu, level, nodes)
}
