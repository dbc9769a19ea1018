//! `kmeans-thrash`: the clustering of `kmeans` on rows as they are, which wants fewer warps than fit.
//!
//! Algorithm: as [`kmeans`](crate::kmeans), but each thread reads its point's features one after the other where they lie,
//! and the centroids through the same L1. A warp's 32 rows are 32 lines (34 features, 136 bytes) that serve the warp for 30
//! loads if they stay; four warps fill an L1 of 16 KiB, and with more of them every load misses. The classic victim of too
//! much concurrency.
//!
//! Bit-exact, as `kmeans`.

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, store, upload, zeroed};
use crate::kmeans::{Clusters, Input, iterate};
use crate::verify::Verification;
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "kmeans-thrash",
    suite: "Rodinia",
    description: "k-means clustering on rows as they are: 32 lines a load, an L1 that thrashes with more than a few warps",
    small: "3840 points, 34 features, 5 clusters, 2 rounds",
    full: "15360 points, 34 features, 5 clusters, 2 rounds (2 MiB)",
    kernels: &["kmeans_assign_rows"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 64;

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(3840, 2), Input::generate(15_360, 2));
    Ok(drive(gpu, &input)?.check(&input))
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Clusters, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let count = input.count();
    let points = upload(gpu, &input.points)?;
    let centroids = zeroed::<f32>(gpu, input.clusters * input.features)?;
    let membership = zeroed::<i32>(gpu, count)?;
    let (grid, block) = ([blocks(count, THREADS), 1, 1], [THREADS as u32, 1, 1]);
    let mut args = [points, centroids, membership].map(Arg::Ptr).to_vec();
    args.extend([count, input.features, input.clusters].map(int));
    iterate(input, |moved| {
        store(gpu, centroids, moved)?;
        gpu.launch("kmeans_assign_rows", grid, block, 0, &args)?;
        load(gpu, membership, count)
    })
}
