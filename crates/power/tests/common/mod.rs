//! Hand-made samples.

#![allow(dead_code)]

use std::collections::BTreeMap;
use std::sync::LazyLock;
use warpwatt_machine::activity::{
    LaneResidency, LaneState, MEM_EVENTS, MemEvent, SM_EVENTS, Sample, SmActivity, SmEvent,
};
use warpwatt_machine::spec::{Spec, presets};
use warpwatt_machine::stats::{Counters, Ending, LaunchStats, RunStats, SLOTS};
use warpwatt_power::{PowerModel, PowerOptions};

/// A preset, read once.
pub fn spec(name: &str) -> Spec {
    static SPECS: LazyLock<BTreeMap<&'static str, Spec>> =
        LazyLock::new(|| presets().map(|name| (name, Spec::preset(name).unwrap())).collect());
    SPECS[name].clone()
}

pub fn model(name: &str) -> PowerModel {
    PowerModel::new(&spec(name), PowerOptions::default()).unwrap()
}

fn on(lanes: u32, cycles: u64) -> LaneResidency {
    let mut residency = LaneResidency::default();
    residency.cycles[LaneState::On as usize] = u64::from(lanes) * cycles;
    residency
}

/// An SM in which nothing happens and everything is on.
pub fn quiet_sm(spec: &Spec, cycles: u64) -> SmActivity {
    let (sp, sfu) = spec.lanes();
    SmActivity {
        events: vec![0; SM_EVENTS],
        cycles,
        int: on(sp, cycles),
        fp: on(sp, cycles),
        sfu: on(sfu, cycles),
        component_on: spec.component_groups().map(|groups| u64::from(groups) * cycles),
        ..SmActivity::default()
    }
}

/// A sample of `cycles` nominal core cycles in which nothing happens.
pub fn quiet(spec: &Spec, cycles: u64) -> Sample {
    Sample {
        start: 0,
        end: (cycles as f64 * 1e9 / spec.core_mhz).round() as u64,
        launch: 0,
        core_mhz: spec.core_mhz,
        core_volts: 1.0,
        noc_mhz: spec.noc_mhz,
        dram_mhz: spec.dram_mhz,
        mem_volts: 1.0,
        sms: vec![quiet_sm(spec, cycles); spec.sms as usize],
        mem: vec![0; MEM_EVENTS],
        transitions: 0,
    }
}

pub fn add(sample: &mut Sample, sm: usize, event: SmEvent, count: u64) {
    sample.sms[sm].events[event as usize] += count;
}

pub fn add_mem(sample: &mut Sample, event: MemEvent, count: u64) {
    sample.mem[event as usize] += count;
}

/// A run of samples; launches are all of one kernel `k`, but number 1 is of `other`.
pub fn run(samples: Vec<Sample>) -> RunStats {
    let dim = [1, 1, 1];
    let launch = |kernel: &str| LaunchStats {
        kernel: kernel.to_owned(),
        grid: dim,
        block: dim,
        registers_per_thread: 16,
        shared_bytes: 0,
        ctas_per_sm: 1,
        occupancy_limit: String::new(),
        cycles: 0,
        stepped_sm_cycles: 0,
        start: 0,
        end: 0,
        slots: vec![0; SLOTS],
        counters: Counters::default(),
    };
    RunStats {
        ending: Ending::Completed,
        launches: vec![launch("k"), launch("other"), launch("k")],
        samples,
        decisions: Vec::new(),
        printed: Vec::new(),
    }
}

/// Asserts equality up to rounding.
#[track_caller]
pub fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-15), "found {found}, expected {expected}");
}
