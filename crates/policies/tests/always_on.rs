//! Lanes that never sleep: what is counted of them, and that nothing else changes.

mod common;

use common::{PROGRAMS, find, hold, record, run, select, threads, two_level, units};
use warpwatt_machine::hooks::Report;
use warpwatt_machine::stats::RunStats;
use warpwatt_policies::Selection;

#[test]
fn it_holds_what_every_policy_is_held_to() {
    hold(&two_level(), "always-on", &[]);
    hold(&two_level(), "always-on", &["always-on.occupancy=pipeline"]);
}

#[test]
fn neither_time_nor_energy_changes() {
    let spec = two_level();
    for program in PROGRAMS {
        let (plain, _) = run(program, &spec, threads(1), &Selection::default());
        let (mut watched, _) = run(program, &spec, threads(1), &select(&spec, "always-on", &[]));
        // Nobody counts the work of lanes that no policy acts on.
        for sm in watched.samples.iter_mut().flat_map(|s| &mut s.sms) {
            (sm.int.busy, sm.fp.busy, sm.sfu.busy) = (0, 0, 0);
        }
        assert!(record(&plain) == record(&watched), "{}", program.kernel);
    }
}

fn watched(kernel: &str) -> (RunStats, Report) {
    let spec = two_level();
    run(&find(kernel), &spec, threads(1), &select(&spec, "always-on", &[]))
}

/// Lane-cycles and those of them in which an instruction entered, of INT and FP.
fn lanes(stats: &RunStats) -> [(u64, u64); 2] {
    let spec = two_level();
    let [int, fp, _] = units(&spec, &select(&spec, "always-on", &[]), stats);
    [int, fp].map(|u| (u.lane_cycles, u.busy))
}

#[test]
fn idle_periods_and_work_fill_all_lane_cycles() {
    for kernel in ["mm", "diverge", "compute"] {
        let (stats, report) = watched(kernel);
        let [int, fp] = lanes(&stats);
        assert_eq!(report.count("idle_cycles.int"), int.0 - int.1, "{kernel}");
        assert_eq!(report.count("idle_cycles.fp"), fp.0 - fp.1, "{kernel}");
        // A SIMD lane works while either pipeline does, and a unit takes one instruction at a time.
        assert_eq!(report.count("idle_cycles.lane"), int.0 - int.1 - fp.1, "{kernel}");
        for what in ["int", "fp", "lane"] {
            let bins = report.histogram(&format!("idle.{what}"));
            let short: u64 = bins[..bins.len() - 1].iter().enumerate().map(|(n, count)| n as u64 * count).sum();
            let long = report.count(&format!("idle_cycles.{what}")) - short;
            assert!(long >= 256 * bins[256] && bins[0] == 0, "{kernel} {what}");
        }
    }
}

#[test]
fn threads_add_up_to_the_lanes_work() {
    let (stats, report) = watched("diverge");
    for (what, (_, busy)) in ["int", "fp"].iter().zip(lanes(&stats)) {
        let occupied = report.histogram(&format!("occupied.{what}"));
        assert_eq!(occupied.len(), 33);
        assert_eq!(occupied.iter().enumerate().map(|(n, cycles)| n as u64 * cycles).sum::<u64>(), busy, "{what}");
    }
    // The kernel diverges: some warp instructions have fewer than 32 threads, others all.
    let threads = report.histogram("threads.int");
    assert!(threads[32] > 0 && threads[1..32].iter().sum::<u64>() > 0);
}

#[test]
fn a_sample_knows_the_resident_warps_and_ctas() {
    // CTAs of one warp: as many of the one as of the other, however samples are cut.
    let spec = two_level();
    for sample_cycles in [None, Some(137)] {
        let options = warpwatt_machine::Options { sample_cycles, ..threads(1) };
        let (stats, _) = run(&find("chase"), &spec, options, &Selection::default());
        let sms = || stats.samples.iter().flat_map(|s| &s.sms);
        assert!(sms().all(|sm| sm.warp_cycles == sm.cta_cycles && sm.warp_cycles <= 8 * sm.cycles));
        let all: u64 = stats.launches.iter().map(|l| l.counters.resident_warp_cycles).sum();
        assert_eq!(sms().map(|sm| sm.warp_cycles).sum::<u64>(), all);
        assert!(all > 0);
    }
}
