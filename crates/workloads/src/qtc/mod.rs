//! `QTC`: quality-threshold clustering of points in a plane.
//!
//! Algorithm: Heyer, Kruglyak, Yooseph, "Exploring expression data: identification and analysis of coexpressed genes", Genome
//! Research 9, 1999: from every free point a candidate cluster grows, always by the point that keeps it narrowest, until it
//! would be wider than a threshold; the largest is taken away, and everything begins again with the points that are left. A
//! block per seed goes over a row of distances at each step and finds a minimum by a tree: many loads, barriers, and blocks
//! of two warps of which one works only at the top of the tree.
//!
//! Bit-exact: distances rounded correctly, comparisons, ties by the lower number.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "QTC",
    suite: "SHOC",
    description: "quality-threshold clustering: a block a seed, loads of distances, minima by trees",
    small: "96 points, 2 clusters",
    full: "320 points, 3 clusters",
    kernels: &["qtc_distances", "qtc_grow"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: u32 = 64;
const FREE: i32 = -1;
const WIDEST: f32 = 0.2;

struct Input {
    x: Vec<f32>,
    y: Vec<f32>,
    clusters: usize,
}

#[derive(Debug, PartialEq)]
struct Clusters {
    /// Of the candidates from each seed, round after round.
    sizes: Vec<i32>,
    /// The cluster of each point, in the order in which they were taken; −1 for those that are left.
    owner: Vec<i32>,
}

impl Input {
    /// Points in heaps of different density, within a square of edge 1.
    fn generate(points: usize, clusters: usize) -> Self {
        let mut rng = Rng::named("QTC/points");
        let heaps: Vec<[f32; 2]> = (0..6).map(|_| [rng.range(0.15, 0.85), rng.range(0.15, 0.85)]).collect();
        let place = |rng: &mut Rng| {
            let heap = heaps[rng.below(6).min(rng.below(6)) as usize];
            heap.map(|c| (c + 0.07 * rng.normal()).clamp(0.0, 1.0))
        };
        let (x, y) = (0..points).map(|_| place(&mut rng)).map(|[x, y]| (x, y)).unzip();
        Input { x, y, clusters }
    }

    fn points(&self) -> usize {
        self.x.len()
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(96, 2), Input::generate(320, 3));
    let got = drive(gpu, &input)?;
    let want = reference::clusters(&input);
    Ok(Checker::new().exact("sizes", &got.sizes, &want.sizes).exact("clusters", &got.owner, &want.owner).finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Clusters, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let points = input.points();
    let (x, y) = (upload(gpu, &input.x)?, upload(gpu, &input.y)?);
    let distance = zeroed::<f32>(gpu, points * points)?;
    let owner = upload(gpu, &vec![FREE; points])?;
    let sizes = zeroed::<i32>(gpu, points)?;
    let block = [THREADS, 1, 1];
    let grid = [blocks(points, THREADS as usize), points as u32, 1];
    gpu.launch("qtc_distances", grid, block, 0, &[Arg::Ptr(x), Arg::Ptr(y), Arg::Ptr(distance), int(points)])?;
    let grow = |first: usize, cluster: i32| {
        let mut args = [distance, owner, sizes].map(Arg::Ptr).to_vec();
        args.extend([int(points), int(first), Arg::F32(WIDEST), Arg::I32(cluster)]);
        args
    };
    let mut all_sizes = Vec::new();
    for cluster in 0..input.clusters {
        gpu.launch("qtc_grow", [points as u32, 1, 1], block, 0, &grow(0, FREE))?;
        let round = load::<i32>(gpu, sizes, points)?;
        let seed = largest(&round);
        all_sizes.extend(round);
        gpu.launch("qtc_grow", [1, 1, 1], block, 0, &grow(seed, cluster as i32))?;
    }
    Ok(Clusters { sizes: all_sizes, owner: load(gpu, owner, points)? })
}

/// The first of the largest.
fn largest(sizes: &[i32]) -> usize {
    (0..sizes.len()).rev().max_by_key(|&seed| sizes[seed]).unwrap_or(0)
}
