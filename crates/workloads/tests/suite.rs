//! The whole suite on the functional device.

mod common;

use common::{Recorder, Replayer, Tampering};
use warpwatt_simt::functional::FunctionalDevice;
use warpwatt_simt::memory::GlobalMemory;
use warpwatt_workloads::{Size, all};

fn device() -> FunctionalDevice {
    FunctionalDevice::new(GlobalMemory::default())
}

#[test]
fn every_workload_is_verified_and_small_is_small() {
    for workload in all() {
        let mut gpu = device();
        let outcome = (workload.run)(&mut gpu, Size::Small).unwrap_or_else(|e| panic!("{}: {e}", workload.name));
        let counts = gpu.counts();
        println!("{}: {counts:?}, {outcome:?}", workload.name);
        assert!(outcome.verified, "{}: {}", workload.name, outcome.detail);
        assert!(outcome.max_error <= outcome.tolerance);
        assert!((50_000..1_100_000).contains(&counts.warp_instructions), "{}: {counts:?}", workload.name);
    }
}

#[test]
fn one_wrong_element_is_found() {
    for workload in all() {
        let mut counting = Recorder::new(device());
        (workload.run)(&mut counting, Size::Small).unwrap();
        // The last read is one of the results.
        let mut gpu = Tampering::new(device(), counting.reads() - 1);
        let outcome = (workload.run)(&mut gpu, Size::Small).unwrap();
        assert!(!outcome.verified, "{}: {}", workload.name, outcome.detail);
        assert!(outcome.detail.contains("(1 of"), "{}: {}", workload.name, outcome.detail);
    }
}

#[test]
fn a_driver_can_be_replayed_from_its_transcript() {
    for workload in all() {
        let mut gpu = Recorder::new(device());
        let outcome = (workload.run)(&mut gpu, Size::Small).unwrap();
        let mut replayer = Replayer::new(gpu.into_transcript());
        assert_eq!((workload.run)(&mut replayer, Size::Small).unwrap(), outcome, "{}", workload.name);
        assert!(replayer.finished(), "{}", workload.name);
    }
}
