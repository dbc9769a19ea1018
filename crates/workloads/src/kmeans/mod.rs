//! `kmeans`: clustering of points by Lloyd's algorithm.
//!
//! Algorithm: S. Lloyd, "Least squares quantization in PCM", IEEE Trans. Information Theory 28, 1982. The device first
//! turns the points into feature-major order (reads 34 floats apart: uncoalesced), then, again and again, assigns each
//! point to the nearest centroid; the centroids sit in constant memory, read by all lanes alike, the features stream
//! through the read-only path (`ld.global.nc`, where the published benchmark uses a texture). The host moves the
//! centroids, and stops when few points changed sides.
//!
//! Bit-exact: memberships are integers, distances are summed in the same order with fused multiply-adds.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, store_symbol, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "kmeans",
    suite: "Rodinia",
    description: "k-means clustering: uncoalesced transposition, then distance loops with centroids in constant memory",
    small: "3840 points, 34 features, 5 clusters, at most 3 rounds",
    full: "65536 points, 34 features, 5 clusters, at most 5 rounds (17 MiB)",
    kernels: &["kmeans_transpose", "kmeans_assign"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 256;
const FEATURES: usize = 34;
const CLUSTERS: usize = 5;

pub(crate) struct Input {
    /// Point-major.
    pub(crate) points: Vec<f32>,
    pub(crate) features: usize,
    pub(crate) clusters: usize,
    most_rounds: usize,
    /// Stop when no more points than this changed sides in a round.
    few: usize,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Clusters {
    membership: Vec<i32>,
    centroids: Vec<f32>,
    rounds: u32,
}

impl Input {
    /// Points around `CLUSTERS` + 2 hidden centres, so that the clusters found have to settle.
    pub(crate) fn generate(count: usize, most_rounds: usize) -> Self {
        let mut rng = Rng::named("kmeans/points");
        let centres: Vec<Vec<f32>> = (0..CLUSTERS + 2).map(|_| rng.floats(FEATURES, 0.0, 10.0)).collect();
        let mut points = Vec::with_capacity(count * FEATURES);
        for _ in 0..count {
            let centre = &centres[rng.below(centres.len() as u32) as usize];
            points.extend(centre.iter().map(|c| c + 2.0 * rng.normal()));
        }
        Input { points, features: FEATURES, clusters: CLUSTERS, most_rounds, few: count / 1000 }
    }

    pub(crate) fn count(&self) -> usize {
        self.points.len() / self.features
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(3840, 3), Input::generate(65_536, 5));
    Ok(drive(gpu, &input)?.check(&input))
}

impl Clusters {
    /// Compares with the reference's clusters.
    pub(crate) fn check(&self, input: &Input) -> Verification {
        let want = reference::cluster(input);
        Checker::new()
            .exact("rounds", &[self.rounds], &[want.rounds])
            .exact("memberships", &self.membership, &want.membership)
            .exact("centroids", &self.centroids, &want.centroids)
            .finish()
    }
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Clusters, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let count = input.count();
    let points = upload(gpu, &input.points)?;
    let by_feature = zeroed::<f32>(gpu, input.points.len())?;
    let membership = zeroed::<i32>(gpu, count)?;
    let (grid, block) = ([blocks(count, THREADS), 1, 1], [THREADS as u32, 1, 1]);
    let args = [Arg::Ptr(points), Arg::Ptr(by_feature), int(count), int(input.features)];
    gpu.launch("kmeans_transpose", grid, block, 0, &args)?;

    let args = [Arg::Ptr(by_feature), Arg::Ptr(membership), int(count), int(input.features), int(input.clusters)];
    iterate(input, |centroids| {
        store_symbol(gpu, "centroids", centroids)?;
        gpu.launch("kmeans_assign", grid, block, 0, &args)?;
        load(gpu, membership, count)
    })
}

/// Lloyd's loop around whatever assigns points to centroids. The first points are the first centroids.
pub(crate) fn iterate<E>(input: &Input, mut assign: impl FnMut(&[f32]) -> Result<Vec<i32>, E>) -> Result<Clusters, E> {
    let mut centroids = input.points[..input.clusters * input.features].to_vec();
    let mut membership = vec![-1; input.count()];
    let mut rounds = 0;
    for _ in 0..input.most_rounds {
        let new = assign(&centroids)?;
        let changed = new.iter().zip(&membership).filter(|(a, b)| a != b).count();
        membership = new;
        rounds += 1;
        move_centroids(input, &membership, &mut centroids);
        if changed <= input.few {
            break;
        }
    }
    Ok(Clusters { membership, centroids, rounds })
}

/// Each centroid to the mean of its points; one without points stays. A membership out of range (a broken device's)
/// counts for none.
fn move_centroids(input: &Input, membership: &[i32], centroids: &mut [f32]) {
    let features = input.features;
    let mut sums = vec![0.0f64; centroids.len()];
    let mut sizes = vec![0u32; input.clusters];
    for (point, &cluster) in input.points.chunks_exact(features).zip(membership) {
        let Some(size) = usize::try_from(cluster).ok().and_then(|c| sizes.get_mut(c)) else { continue };
        *size += 1;
        let sum = &mut sums[cluster as usize * features..][..features];
        sum.iter_mut().zip(point).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    for (k, centroid) in centroids.iter_mut().enumerate() {
        let size = sizes[k / features];
        if size > 0 {
            *centroid = (sums[k] / f64::from(size)) as f32;
        }
    }
}
