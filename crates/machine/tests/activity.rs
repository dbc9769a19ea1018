//! Counts that power is computed from, where they can be checked against something else.

mod common;

use common::{Program, find, preset, threads};
use warpwatt_machine::activity::{MemEvent, SmEvent};
use warpwatt_machine::stats::{Counters, RunStats};

/// An event's count over all SMs.
fn events(stats: &RunStats, event: SmEvent) -> u64 {
    stats.samples.iter().flat_map(|s| &s.sms).map(|sm| sm.events[event as usize]).sum()
}

fn counters(stats: &RunStats) -> Counters {
    let mut all = Counters::default();
    stats.launches.iter().for_each(|l| all.add(&l.counters));
    all
}

#[test]
fn flits_are_counted_alike_at_both_ends() {
    // A sector and its header have 40 bytes.
    for (bytes, sector_flits) in [("16", 3), ("32", 2), ("40", 1), ("256", 1)] {
        let spec = preset("gtx480", &[("noc_flit_bytes", bytes)]);
        for kernel in ["mm", "counters", "sums", "locals"] {
            let (_, stats, _) = find(kernel).run(&spec, threads(1), None);
            let (all, what) = (counters(&stats), format!("{kernel}, flits of {bytes} bytes"));
            assert_eq!(events(&stats, SmEvent::FlitIn), all.flits_to_sm, "{what}");
            assert_eq!(events(&stats, SmEvent::FlitOut), all.flits_to_memory, "{what}");
            let flits: u64 = stats.samples.iter().map(|s| s.mem[MemEvent::Flit as usize]).sum();
            assert_eq!(flits, all.flits_to_sm + all.flits_to_memory, "{what}");
        }
        // One thread a CTA reads a word at a time and writes one at the end: of replies only sectors and as many
        // acknowledgements as there are CTAs. A request is a header.
        let (_, stats, _) = find("chase").run(&spec, threads(1), None);
        let (all, writes) = (counters(&stats), 17);
        let reads = (all.flits_to_sm - writes) / sector_flits;
        assert_eq!(all.flits_to_sm, reads * sector_flits + writes, "flits of {bytes} bytes");
        assert!(reads > 100, "{reads}");
    }
}

#[test]
fn the_duty_of_the_pipeline_registers_goes_with_the_width_of_the_sm() {
    // A CTA of two warps on each SM, so that as a rule 64 lanes are committed in a cycle: 51.2 count on two result buses, all
    // on four, but for the few cycles in which more come together.
    let share = |name| {
        let spec = preset(name, &[]);
        let (grid, words) = ([spec.sms, 1, 1], spec.sms * 64);
        let program = Program { grid, block: [64, 1, 1], words, n: 100, ..find("compute") };
        let (_, stats, _) = program.run(&spec, threads(1), None);
        events(&stats, SmEvent::PipelineDuty) as f64 / (10 * events(&stats, SmEvent::CommittedLanes)) as f64
    };
    let (two, four) = (share("gtx480"), share("kepler-big"));
    assert!((0.8..0.95).contains(&two), "{two}");
    assert!((0.95..=1.0).contains(&four), "{four}");
}
