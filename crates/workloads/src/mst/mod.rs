//! `MST`: minimum spanning tree of a random graph.
//!
//! Algorithm: Borůvka's rounds (O jistém problému minimálním, 1926): every tree finds the lightest edge that leads out of
//! it, with atomic minima that collide more and more as trees grow; trees hook on to each other along these edges; pointers
//! are followed to the new roots. A few rounds of three launches until a flag stays 0; irregular loads everywhere, loops
//! whose length differs from lane to lane.
//!
//! Bit-exact: integers; weights are all different, so there is one minimum spanning tree.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, store, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "MST",
    suite: "LonestarGPU",
    description: "minimum spanning tree: atomic minima, pointer chasing, irregular loads, three launches a round",
    small: "4096 nodes, 12288 edges",
    full: "49152 nodes, 147456 edges (4 MiB)",
    kernels: &["mst_lightest", "mst_hook", "mst_jump"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 256;

struct Graph {
    nodes: usize,
    /// Both ends of each edge.
    ends: Vec<[i32; 2]>,
    /// Of each edge; a permutation of the edges' numbers.
    weight: Vec<u32>,
}

#[derive(Debug, PartialEq)]
struct Forest {
    /// The root's number of each node's tree is the device's choice; how many trees there are is not.
    trees: u32,
    /// 1 for the edges of the forest.
    taken: Vec<u8>,
    /// The sum of their weights, as the host adds it up.
    weight: u32,
}

impl Graph {
    /// A ring with chords, near and far, so connected.
    fn generate(nodes: usize, chords: usize) -> Self {
        let mut rng = Rng::named("MST/graph");
        let mut ends: Vec<[i32; 2]> = (0..nodes as i32).map(|v| [v, (v + 1) % nodes as i32]).collect();
        while ends.len() < nodes + chords {
            let a = rng.below(nodes as u32);
            let b = if rng.below(2) == 0 { rng.below(nodes as u32) } else { (a + 2 + rng.below(60)) % nodes as u32 };
            if a != b {
                ends.push([a as i32, b as i32]);
            }
        }
        let mut weight: Vec<u32> = (0..ends.len() as u32).collect();
        for i in (1..weight.len()).rev() {
            weight.swap(i, rng.below(i as u32 + 1) as usize);
        }
        Graph { nodes, ends, weight }
    }

    /// Each node's edges, one node after the other: where they begin, their other ends, their numbers.
    fn rows(&self) -> [Vec<i32>; 3] {
        let mut of_node = vec![Vec::new(); self.nodes];
        for (&[a, b], number) in self.ends.iter().zip(0i32..) {
            of_node[a as usize].push((b, number));
            of_node[b as usize].push((a, number));
        }
        let mut rows = [vec![0], Vec::new(), Vec::new()];
        for edges in of_node {
            rows[1].extend(edges.iter().map(|edge| edge.0));
            rows[2].extend(edges.iter().map(|edge| edge.1));
            let end = rows[1].len() as i32;
            rows[0].push(end);
        }
        rows
    }

    /// The sum of the weights of these edges.
    fn total(&self, taken: &[u8]) -> u32 {
        taken.iter().zip(&self.weight).filter(|(taken, _)| **taken != 0).fold(0, |sum, (_, w)| sum.wrapping_add(*w))
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let graph = size.pick(Graph::generate(4096, 8192), Graph::generate(49_152, 98_304));
    let got = drive(gpu, &graph)?;
    let want = reference::forest(&graph);
    Ok(Checker::new()
        .exact("trees", &[got.trees], &[want.trees])
        .exact("total weight", &[got.weight], &[want.weight])
        .exact("edges", &got.taken, &want.taken)
        .finish())
}

fn drive(gpu: &mut dyn Device, graph: &Graph) -> Result<Forest, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let (nodes, edges) = (graph.nodes, graph.ends.len());
    let mut of_weight = vec![0i32; edges];
    graph.weight.iter().zip(0..).for_each(|(&weight, number)| of_weight[weight as usize] = number);
    let [row, column, edge] = graph.rows();
    let [row, column, edge] = [upload(gpu, &row)?, upload(gpu, &column)?, upload(gpu, &edge)?];
    let weight = upload(gpu, &graph.weight)?;
    let of_weight = upload(gpu, &of_weight)?;
    let ends = upload(gpu, graph.ends.as_flattened())?;
    let parent = upload(gpu, &(0..nodes as i32).collect::<Vec<_>>())?;
    let next = zeroed::<i32>(gpu, nodes)?;
    let lightest = upload(gpu, &vec![u32::MAX; nodes])?;
    let taken = zeroed::<u8>(gpu, edges)?;
    let more = zeroed::<i32>(gpu, 1)?;

    let with_nodes = |pointers: &[u64]| -> Vec<Arg> {
        pointers.iter().map(|&pointer| Arg::Ptr(pointer)).chain([int(nodes)]).collect()
    };
    let find = with_nodes(&[row, column, edge, weight, parent, lightest]);
    let hook = with_nodes(&[parent, lightest, of_weight, ends, next, taken, more]);
    let jump = with_nodes(&[next, parent, lightest]);
    let (grid, block) = ([blocks(nodes, THREADS), 1, 1], [THREADS as u32, 1, 1]);
    // Every round at least halves the trees: a device that leaves the flag set does not hold the host.
    for _ in 0..=nodes.ilog2() {
        store(gpu, more, &[0i32])?;
        gpu.launch("mst_lightest", grid, block, 0, &find)?;
        gpu.launch("mst_hook", grid, block, 0, &hook)?;
        if load::<i32>(gpu, more, 1)? == [0] {
            break;
        }
        gpu.launch("mst_jump", grid, block, 0, &jump)?;
    }
    let parent = load::<i32>(gpu, parent, nodes)?;
    let trees = parent.iter().zip(0..).filter(|(root, v)| *root == v).count() as u32;
    let taken = load(gpu, taken, edges)?;
    Ok(Forest { trees, weight: graph.total(&taken), taken })
}
