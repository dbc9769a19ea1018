//! `bfs-waves`: the same search through a deep graph, so with many launches, whose frontiers swell and shrink.
//!
//! The graph is made of layers; an edge leads into the next layer, its own, or one before. The layers' sizes rise and fall
//! by powers of two, so that neighbouring launches want different things of the GPU: a handful of nodes, or thousands that
//! fight for the caches. Bit-exact, as `bfs`.

use warpwatt_simt::device::{Device, DeviceError};

use super::{Graph, search};
use crate::rng::Rng;
use crate::verify::Verification;
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "bfs-waves",
    suite: "Rodinia",
    description: "breadth-first search of a deep graph: many launches, frontiers that swell and shrink",
    small: "8188 nodes in 44 layers",
    full: "98298 nodes in 84 layers",
    kernels: super::WORKLOAD.kernels,
    ptx: super::WORKLOAD.ptx,
    cuda: super::WORKLOAD.cuda,
    run,
};

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    // Waves, and the binary logarithm of the widest layer.
    let (waves, crest) = size.pick((2, 10), (3, 13));
    search(gpu, WORKLOAD.name, &generate(waves, crest))
}

fn generate(waves: usize, crest: u32) -> Graph {
    let mut rng = Rng::named("bfs-waves/graph");
    // One node, then up to the crest and down again; crests last for a few layers.
    let wave = || (0..crest).chain([crest; 2]).chain((0..crest).rev()).map(|log2| 1usize << log2);
    let sizes: Vec<usize> = (0..waves).flat_map(|_| wave()).collect();
    // Nodes are numbered anyhow, so that a frontier is spread over all blocks.
    let nodes: usize = sizes.iter().sum();
    let mut number: Vec<usize> = (0..nodes).collect();
    for i in (1..nodes).rev() {
        number.swap(i, rng.below(i as u32 + 1) as usize);
    }
    let mut edges: Vec<Vec<i32>> = vec![Vec::new(); nodes];
    let mut start = 0;
    for (layer, &size) in sizes.iter().enumerate() {
        let next = sizes.get(layer + 1).copied().unwrap_or(0);
        for i in 0..size {
            // Two edges that between them reach all of the next layer, and up to six more.
            let forwards = [2 * i, 2 * i + 1, i].map(|to| to % next.max(1));
            let known = start + size;
            let to = &mut edges[number[start + i]];
            if next > 0 {
                to.extend(forwards.map(|to| number[known + to] as i32));
            }
            for _ in 0..rng.below(6) {
                to.push(number[rng.below((known + next) as u32) as usize] as i32);
            }
        }
        start += size;
    }
    let mut row = vec![0];
    row.extend(edges.iter().scan(0, |sum, to| {
        *sum += to.len() as i32;
        Some(*sum)
    }));
    Graph { row, column: edges.concat(), source: number[0] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bfs::reference::levels;

    #[test]
    fn levels_are_the_layers() {
        let graph = generate(2, 10);
        let level = levels(&graph);
        let mut sizes = vec![0; 1 + *level.iter().max().unwrap() as usize];
        level.iter().for_each(|&l| sizes[usize::try_from(l).unwrap()] += 1);
        let up: Vec<usize> = (0..=10).map(|log2| 1 << log2).collect();
        let wave: Vec<usize> = up.iter().chain(up.iter().rev()).copied().collect();
        assert_eq!(sizes, wave.repeat(2));
    }
}
