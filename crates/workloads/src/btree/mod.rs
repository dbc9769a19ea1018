//! `b+tree`: look-ups in a B+ tree: by key, and by range of keys.
//!
//! Algorithm: Comer, "The ubiquitous B-tree", ACM Computing Surveys 11, 1979. A block takes one query and goes down level
//! by level: each thread compares the query with one key of the node, and the one thread whose key it is writes down the
//! child, between two barriers. Nodes are read side by side but lie anywhere; most of the time one lane of one warp works.
//!
//! Bit-exact: integers.

mod reference;
mod tree;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "b+tree",
    suite: "Rodinia",
    description: "look-ups in a B+ tree: a block a query, scattered nodes, barriers, one lane decides",
    small: "32768 keys, 1000 queries, 400 ranges",
    full: "524288 keys (8 MiB), 12000 queries, 6000 ranges",
    kernels: &["btree_find", "btree_range"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

/// Keys a node holds, and threads a block has.
const ORDER: usize = 128;

struct Input {
    /// Ascending, without repetitions.
    keys: Vec<i32>,
    /// One a key.
    records: Vec<i32>,
    queries: Vec<i32>,
    /// Lowest and highest key of each range, both included.
    lows: Vec<i32>,
    highs: Vec<i32>,
}

#[derive(Debug, PartialEq)]
struct Answers {
    /// The record of each query's key, −1 where there is no such key.
    found: Vec<i32>,
    /// For each range the place of the first key that is not below it, and how many keys are in it.
    firsts: Vec<i32>,
    counts: Vec<i32>,
}

impl Input {
    /// Two keys in five numbers; half of the queries ask for a key that there is.
    fn generate(keys: usize, queries: usize, ranges: usize) -> Self {
        let mut rng = Rng::named("b+tree/keys");
        let mut last = 0;
        let keys: Vec<i32> = (0..keys)
            .map(|_| {
                last += 1 + rng.below(4) as i32;
                last
            })
            .collect();
        let records = keys.iter().map(|_| rng.below(1 << 30) as i32).collect();
        let mut rng = Rng::named("b+tree/queries");
        let any = |rng: &mut Rng| rng.below(last as u32 + 2) as i32;
        let queries = (0..queries)
            .map(|i| if i % 2 == 0 { keys[rng.below(keys.len() as u32) as usize] } else { any(&mut rng) })
            .collect();
        let lows: Vec<i32> = (0..ranges).map(|_| any(&mut rng)).collect();
        let highs = lows.iter().map(|low| low + rng.below(2000) as i32).collect();
        Input { keys, records, queries, lows, highs }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(32_768, 1000, 400), Input::generate(524_288, 12_000, 6000));
    let got = drive(gpu, &input)?;
    let want = reference::answers(&input);
    Ok(Checker::new()
        .exact("records", &got.found, &want.found)
        .exact("first places", &got.firsts, &want.firsts)
        .exact("counts", &got.counts, &want.counts)
        .finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Answers, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let tree = tree::Tree::new(&input.keys);
    let (finds, ranges) = (input.queries.len(), input.lows.len());
    let nodes = upload(gpu, &tree.nodes)?;
    let records = upload(gpu, &input.records)?;
    let queries = upload(gpu, &input.queries)?;
    let found = zeroed::<i32>(gpu, finds)?;
    let block = [ORDER as u32, 1, 1];
    let args = [Arg::Ptr(nodes), int(tree.height), Arg::Ptr(queries), Arg::Ptr(records), Arg::Ptr(found)];
    gpu.launch("btree_find", [finds as u32, 1, 1], block, 0, &args)?;

    let lows = upload(gpu, &input.lows)?;
    let highs = upload(gpu, &input.highs)?;
    let firsts = zeroed::<i32>(gpu, ranges)?;
    let counts = zeroed::<i32>(gpu, ranges)?;
    let mut args = vec![Arg::Ptr(nodes), int(tree.height)];
    args.extend([lows, highs, firsts, counts].map(Arg::Ptr));
    gpu.launch("btree_range", [ranges as u32, 1, 1], block, 0, &args)?;
    Ok(Answers {
        found: load(gpu, found, finds)?,
        firsts: load(gpu, firsts, ranges)?,
        counts: load(gpu, counts, ranges)?,
    })
}
