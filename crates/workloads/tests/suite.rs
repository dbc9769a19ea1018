//! The whole suite on the functional device.

mod common;

use std::sync::LazyLock;

use common::{Call, Recorder, Replayer};
use warpwatt_simt::functional::{Counts, FunctionalDevice};
use warpwatt_simt::memory::GlobalMemory;
use warpwatt_workloads::{Size, Verification, Workload, all};

struct Run {
    workload: &'static Workload,
    outcome: Verification,
    counts: Counts,
    transcript: Vec<Call>,
}

/// Each workload's small run, written down.
static RUNS: LazyLock<Vec<Run>> = LazyLock::new(|| all().iter().map(run).collect());

fn run(workload: &'static Workload) -> Run {
    let mut gpu = Recorder::new(FunctionalDevice::new(GlobalMemory::default()));
    let outcome = (workload.run)(&mut gpu, Size::Small).unwrap_or_else(|e| panic!("{}: {e}", workload.name));
    let (device, transcript) = gpu.into_parts();
    Run { workload, outcome, counts: device.counts(), transcript }
}

#[test]
fn every_workload_is_verified_and_small_is_small() {
    for Run { workload, outcome, counts, .. } in RUNS.iter() {
        println!("{}: {counts:?}, {outcome:?}", workload.name);
        assert!(outcome.verified, "{}: {}", workload.name, outcome.detail);
        assert!(outcome.max_error <= outcome.tolerance);
        assert!((50_000..1_000_000).contains(&counts.warp_instructions), "{}: {counts:?}", workload.name);
    }
}

#[test]
fn kernels_are_launched_in_the_order_listed() {
    for Run { workload, transcript, .. } in RUNS.iter() {
        let mut launched: Vec<&str> = Vec::new();
        for call in transcript {
            match call {
                Call::Launch(kernel, ..) if !launched.contains(&kernel.as_str()) => launched.push(kernel),
                _ => {}
            }
        }
        assert_eq!(launched, workload.kernels, "{}", workload.name);
    }
}

#[test]
fn a_driver_can_be_replayed_from_its_transcript() {
    for Run { workload, outcome, transcript, .. } in RUNS.iter() {
        let mut replayer = Replayer::new(transcript.clone());
        assert_eq!(&(workload.run)(&mut replayer, Size::Small).unwrap(), outcome, "{}", workload.name);
        assert!(replayer.finished(), "{}", workload.name);
    }
}

#[test]
fn one_wrong_element_is_found() {
    for Run { workload, transcript, .. } in RUNS.iter() {
        let mut transcript = transcript.clone();
        // Every driver's last read is one of its results. Spoil an element in the middle: a float's exponent.
        let Some(Call::Read(_, data)) = transcript.last_mut() else { panic!("{}: no last read", workload.name) };
        let middle = data.len() / 8 * 4 + 3;
        data[middle] ^= 0x40;
        let outcome = (workload.run)(&mut Replayer::new(transcript), Size::Small).unwrap();
        assert!(!outcome.verified, "{}: {}", workload.name, outcome.detail);
        assert!(outcome.detail.contains("(1 of"), "{}: {}", workload.name, outcome.detail);
    }
}
