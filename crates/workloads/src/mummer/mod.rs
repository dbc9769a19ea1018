//! `mummer`: exact matching of many short reads against a reference sequence (MUM in some papers).
//!
//! Algorithm: matching statistics over a suffix tree with suffix links (Chang, Lawler, "Sublinear approximate string
//! matching and biological applications", Algorithmica 12, 1994), the core of finding maximal matches. One thread per read
//! follows pointers through a tree that is larger than the caches; how many nodes, how long the edges and when a match
//! ends differ from lane to lane in three nested loops, so most instructions have few active lanes.
//!
//! Bit-exact: integers. Places are those of the first occurrence, which the construction of the tree guarantees.

mod reference;
mod tree;

use warpwatt_simt::device::{Arg, Device, DeviceError};

use crate::host::{blocks, int, load, upload, zeroed};
use crate::rng::Rng;
use crate::verify::{Checker, Verification};
use crate::{Size, Workload};

/// The suite's entry.
pub const WORKLOAD: Workload = Workload {
    name: "mummer",
    suite: "ISPASS 2009",
    description: "reads matched against a suffix tree: pointer chasing, three nested loops that diverge",
    small: "8192 bases, 1024 reads of 20 to 30",
    full: "131072 bases (tree of 7 MiB), 12288 reads of 20 to 30",
    kernels: &["mummer_match"],
    ptx: include_str!("kernel.ptx"),
    cuda: include_str!("kernel.cu"),
    run,
};

const THREADS: usize = 64;

/// Bases are 0 to 3.
struct Input {
    text: Vec<u8>,
    /// The reads, end to end.
    bases: Vec<u8>,
    /// Where each read begins, and where the last one ends.
    begin: Vec<i32>,
}

#[derive(Debug, PartialEq)]
struct Matches {
    /// The longest match that begins at each base of each read and does not go beyond the read.
    lengths: Vec<i32>,
    /// Where it is first found in the text (0 if it is empty).
    places: Vec<i32>,
}

impl Input {
    /// A text with repeated stretches, as genomes have; most reads are copies of stretches of it with an error in forty
    /// bases, one in four is foreign.
    fn generate(length: usize, reads: usize) -> Self {
        let mut rng = Rng::named("mummer/text");
        let mut text: Vec<u8> = Vec::with_capacity(length);
        while text.len() < length {
            if text.len() > 1000 && rng.below(20) == 0 {
                let from = rng.below(text.len() as u32 - 200) as usize;
                let repeat = text[from..from + 20 + rng.below(180) as usize].to_vec();
                text.extend(repeat);
            } else {
                text.extend((0..50).map(|_| rng.below(4) as u8));
            }
        }
        text.truncate(length);
        let mut rng = Rng::named("mummer/reads");
        let (mut bases, mut begin) = (Vec::new(), vec![0]);
        for _ in 0..reads {
            let count = 20 + rng.below(11) as usize;
            let from = rng.below((length - count) as u32) as usize;
            let foreign = rng.below(4) == 0;
            for &base in &text[from..from + count] {
                let other = rng.below(4) as u8;
                bases.push(if foreign || rng.below(40) == 0 { other } else { base });
            }
            begin.push(bases.len() as i32);
        }
        Input { text, bases, begin }
    }
}

fn run(gpu: &mut dyn Device, size: Size) -> Result<Verification, DeviceError> {
    let input = size.pick(Input::generate(8192, 1024), Input::generate(131_072, 12_288));
    let got = drive(gpu, &input)?;
    let want = reference::matches(&input);
    Ok(Checker::new().exact("lengths", &got.lengths, &want.lengths).exact("places", &got.places, &want.places).finish())
}

fn drive(gpu: &mut dyn Device, input: &Input) -> Result<Matches, DeviceError> {
    gpu.load_module(WORKLOAD.name, WORKLOAD.ptx)?;
    let reads = input.begin.len() - 1;
    let nodes = upload(gpu, &tree::SuffixTree::new(&input.text).flat())?;
    let text = upload(gpu, &input.text)?;
    let bases = upload(gpu, &input.bases)?;
    let begin = upload(gpu, &input.begin)?;
    let lengths = zeroed::<i32>(gpu, input.bases.len())?;
    let places = zeroed::<i32>(gpu, input.bases.len())?;
    let mut args = [nodes, text, bases, begin, lengths, places].map(Arg::Ptr).to_vec();
    args.push(int(reads));
    gpu.launch("mummer_match", [blocks(reads, THREADS), 1, 1], [THREADS as u32, 1, 1], 0, &args)?;
    Ok(Matches { lengths: load(gpu, lengths, input.bases.len())?, places: load(gpu, places, input.bases.len())? })
}
