//! `streamcluster`: k-median clustering of a block of a stream's points.
//!
//! Algorithm: local search for facility location (O'Callaghan, Mishra, Meyerson, Guha, Motwani, "Streaming-data algorithms
//! for high-quality clustering", ICDE 2002): for one candidate after the other, the device finds what each point would
//! gain by moving there; the host adds the gains up, closes the centres that are not worth their price any more, and opens
//! the candidate if all in all something is gained. One launch per candidate with a pass over all coordinates between two
//! copies: many short launches that stream, and blocks of sixteen warps.
//!
//! Bit-exact: distances with fused multiply-adds in the same order; the host adds in double precision.

mod reference;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, store, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "streamcluster",
    suite: "Rodinia",
    description: "clustering by local search: a launch per candidate that streams all points",
    small: "7680 points, 16 dimensions, 12 candidates",
    full: "16384 points, 48 dimensions (3 MiB), 24 candidates",
    kernels: &["streamcluster_gain"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 512;
const HEAPS: usize = 8;

struct Input {
    dimensions: usize,
    /// Dimension after dimension.
    coordinates: Vec<f32>,
    weight: Vec<f32>,
    /// Points to try as centres, in this order.
    candidates: Vec<usize>,
    /// What a centre costs.
    price: f64,
}

#[derive(Debug, PartialEq)]
struct Clusters {
    /// The gains that the last candidate would bring.
    gain: Vec<f32>,
    /// The centre of each point.
    centre: Vec<u32>,
    cost: Vec<f32>,
}

impl Input {
    fn generate(points: usize, dimensions: usize, candidates: usize) -> Self {
        let mut rng = Rng::named("streamcluster/points");
        let heaps: Vec<Vec<f32>> = (0..HEAPS).map(|_| rng.floats(dimensions, 0.0, 1.0)).collect();
        let mut coordinates = vec![0.0; points * dimensions];
        for i in 0..points {
            let heap = &heaps[rng.below(HEAPS as u32) as usize];
            for (d, middle) in heap.iter().enumerate() {
                coordinates[d * points + i] = middle + 0.1 * rng.normal();
            }
        }
        let weight = (0..points).map(|_| (1 + rng.below(3)) as f32).collect();
        let candidates = (0..candidates).map(|_| rng.below(points as u32) as usize).collect();
        // A new centre must serve about a twentieth of all points that have none near.
        Input { dimensions, coordinates, weight, candidates, price: 0.01 * (points * dimensions) as f64 }
    }

    fn points(&self) -> usize {
        self.weight.len()
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(7680, 16, 12), Input::generate(16_384, 48, 24));
    let got = drive(gpu, &input)?;
    let want = reference::cluster(&input);
    Ok(Checker::new()
        .exact("last gains", &got.gain, &want.gain)
        .exact("centres", &got.centre, &want.centre)
        .exact("costs", &got.cost, &want.cost)
        .finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Clusters, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let points = input.points();
    let coordinates = upload(gpu, &input.coordinates)?;
    let weight = upload(gpu, &input.weight)?;
    let [cost, gain] = [zeroed::<f32>(gpu, points)?, zeroed::<f32>(gpu, points)?];
    search(input, |candidate, costs| {
        store(gpu, cost, costs)?;
        let mut args = [coordinates, weight, cost, gain].map(Arg::Ptr).to_vec();
        args.extend([points, input.dimensions, candidate].map(int));
        gpu.launch("streamcluster_gain", [blocks(points, THREADS), 1, 1], [THREADS as u32, 1, 1], 0, &args)?;
        load(gpu, gain, points)
    })
}

/// The search, around whatever computes the gains. The first point begins as the centre of all.
fn search<E>(input: &Input, mut gains: impl FnMut(usize, &[f32]) -> Result<Vec<f32>, E>) -> Result<Clusters, E> {
    let points = input.points();
    let mut centre = vec![0u32; points];
    // The gain against a cost of zero is less the cost.
    let mut cost: Vec<f32> = gains(0, &vec![0.0; points])?.iter().map(|gain| -gain).collect();
    let mut gain = Vec::new();
    for &candidate in &input.candidates {
        gain = gains(candidate, &cost)?;
        let mut saved = -input.price;
        // What is saved if a centre is closed and its other points move to the candidate too.
        let mut closing = vec![None; points];
        centre.iter().for_each(|&c| closing[c as usize] = Some(input.price));
        for (&c, &gain) in centre.iter().zip(&gain) {
            if gain > 0.0 {
                saved += f64::from(gain);
            } else if let Some(closing) = &mut closing[c as usize] {
                *closing += f64::from(gain);
            }
        }
        let closes = |c: u32| closing[c as usize].is_some_and(|saved| saved > 0.0);
        saved += closing.iter().flatten().filter(|&&saved| saved > 0.0).sum::<f64>();
        if saved <= 0.0 {
            continue;
        }
        for ((c, cost), &gain) in centre.iter_mut().zip(&mut cost).zip(&gain) {
            if gain > 0.0 || closes(*c) {
                *c = candidate as u32;
                *cost -= gain;
            }
        }
    }
    Ok(Clusters { gain, centre, cost })
}
