//! ITAP on the machine.

mod common;

use common::{PROGRAMS, cycles, find, hold, hold_whole, preset, run, select, threads, units};
use warpwatt_machine::Options;
use warpwatt_machine::activity::{LaneResidency, LaneState};
use warpwatt_machine::hooks::Report;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::RunStats;
use warpwatt_policies::Selection;
use warpwatt_policies::itap::modes::{Mode, best};

const NO_HARDWARE: &str = "hardware=0";

fn pascal() -> Spec {
    preset("pascal16", &[])
}

#[test]
fn holds_to_what_every_policy_must() {
    hold(&pascal(), "itap-pow", &["itap-pow.counter_values=4"]);
    hold(&pascal(), "itap-perf", &["itap-perf.granularity=4", "itap-perf.counter_values=4", "itap-perf.update=3"]);
    hold_whole(&pascal(), "itap-ideal", &[]);
}

#[test]
fn the_ideal_counts_nearly_the_same_in_samples() {
    let spec = pascal();
    let ideal = select(&spec, "itap-ideal", &[]);
    for program in ["sums", "locals", "diverge"].map(find) {
        let (stats, report) = run(&program, &spec, threads(1), &ideal);
        let (cut, again) = run(&program, &spec, Options { sample_cycles: Some(137), ..threads(1) }, &ideal);
        assert_eq!((cycles(&cut), again), (cycles(&stats), report));
        let (whole, parts) = (int(&stats), int(&cut));
        assert_eq!((&whole.wakes, &whole.entries, whole.busy), (&parts.wakes, &parts.entries, parts.busy));
        // Late moves between modes that the run's end has cut off: less than 44 cycles of each lane.
        let lanes = 32 * spec.sms as u64;
        let differ = whole.cycles.iter().zip(parts.cycles).map(|(a, b)| a.abs_diff(b)).sum::<u64>();
        assert!(differ <= 2 * 43 * lanes, "{differ}");
        assert_eq!(whole.cycles[LaneState::On as usize], parts.cycles[LaneState::On as usize]);
    }
}

#[test]
fn holds_without_peek_ahead_and_with_two_units() {
    hold(&pascal(), "itap-pow", &["itap-pow.peek_ahead=false", "itap-pow.granularity=1", "itap-pow.waking=on"]);
    let two = preset("pascal16", &[("sp_units", "2")]);
    hold(&two, "itap-perf", &["itap-perf.scope=type", "itap-perf.occupancy=pipeline", "itap-perf.counter_values=4"]);
}

/// INT lanes of a run.
fn int(stats: &RunStats) -> LaneResidency {
    let mut sum = LaneResidency::default();
    stats.samples.iter().flat_map(|s| &s.sms).for_each(|sm| sum.add(&sm.int));
    sum
}

/// Cycles of a lane's leakage that the best modes would have left of a run's own idle periods.
fn oracle(stats: &RunStats, report: &Report) -> f64 {
    let r = int(stats);
    let bins = report.histogram("idle.int");
    let mut saved = 0.0;
    let mut short = 0;
    for (length, &periods) in bins.iter().enumerate().take(bins.len() - 1) {
        let idle = length as u64;
        saved += periods as f64 * best(idle).map_or(0.0, |mode| idle as f64 - mode.energy(idle));
        short += periods * idle;
    }
    // Those that are longer than the histogram: power-gated.
    let long = bins.last().copied().unwrap_or(0) as f64;
    saved += (report.count("idle_cycles.int") - short) as f64 - long * Mode::Pg.wake_energy();
    // A period in which the run ends has no wake-up to pay for.
    let open = (32 * stats.samples[0].sms.len()) as f64 * Mode::Pg.wake_energy();
    r.cycles.iter().sum::<u64>() as f64 - saved - open
}

#[test]
fn nothing_saves_more_than_the_oracle_of_its_own_lanes() {
    let spec = pascal();
    for program in ["compute", "mm", "diverge", "sums"].map(find) {
        for (policy, settings) in [
            ("cpg", &["cpg.scope=lane", "cpg.energy=table-4", "cpg.granularity=1"][..]),
            ("cpg", &["cpg.scope=lane", "cpg.energy=table-4", "cpg.granularity=32"][..]),
            ("itap-pow", &["itap-pow.hardware=0", "itap-pow.counter_values=4"][..]),
            ("itap-pow", &["itap-pow.hardware=0", "itap-pow.granularity=1", "itap-pow.peek_ahead=false"][..]),
            ("itap-perf", &["itap-perf.hardware=0"][..]),
            ("itap-perf", &["itap-perf.hardware=0", "itap-perf.granularity=1", "itap-perf.counter_values=4"][..]),
            ("itap-ideal", &["itap-ideal.hardware=0"][..]),
        ] {
            let selection = select(&spec, policy, settings);
            let (stats, report) = run(&program, &spec, threads(1), &selection);
            let left = units(&spec, &selection, &stats)[0].leaked_cycles;
            let bound = oracle(&stats, &report);
            assert!(left >= bound * (1.0 - 1e-9), "{} {settings:?}: {left} under {bound}", program.kernel);
        }
    }
}

#[test]
fn the_ideal_delays_nothing_and_bounds_the_others() {
    let spec = pascal();
    for program in PROGRAMS.iter().filter(|p| p.ordered) {
        let (plain, _) = run(program, &spec, threads(1), &Selection::default());
        let ideal = select(&spec, "itap-ideal", &[]);
        let (stats, report) = run(program, &spec, threads(1), &ideal);
        assert_eq!((cycles(&stats), report.count("lanes.waits")), (cycles(&plain), 0), "{}", program.kernel);
    }
}

#[test]
fn energy_of_each_mode_reaches_what_is_saved() {
    let spec = pascal();
    for policy in ["itap-pow", "itap-perf", "itap-ideal"] {
        let selection = select(&spec, policy, &[&format!("{policy}.{NO_HARDWARE}")]);
        let (stats, _) = run(&find("compute"), &spec, threads(1), &selection);
        let r = int(&stats);
        let asleep = |mode: Mode| r.cycles[mode.state() as usize] as f64 * (1.0 - mode.power());
        let woken = |mode: Mode| r.wakes[mode.state() as usize] as f64 * mode.wake_energy();
        let saved = Mode::ALL.map(|mode| asleep(mode) - woken(mode)).iter().sum::<f64>();
        let unit = units(&spec, &selection, &stats)[0];
        assert!(r.wakes[LaneState::Vs05 as usize] > 0 && saved > 0.0);
        let (found, expected) = (unit.saved.unwrap(), saved / unit.lane_cycles as f64);
        assert!((found - expected).abs() < 1e-6, "{policy}: {found} {expected}");
    }
}

#[test]
fn the_hardware_is_charged() {
    let spec = pascal();
    let program = find("compute");
    let joules = |settings: &[&str]| {
        let selection = select(&spec, "itap-pow", settings);
        let (stats, _) = run(&program, &spec, threads(1), &selection);
        units(&spec, &selection, &stats)[0].joules
    };
    let (with, without) = (joules(&[]), joules(&["itap-pow.hardware=0"]));
    assert!((with.total() - 1.0221 * without.total()).abs() < 1e-9 * with.total());
    assert_eq!((with.dynamic, with.leakage), (without.dynamic, without.leakage));
}

#[test]
fn early_wake_up_by_mode_delays_less_than_in_the_cycle_before_and_that_less_than_none() {
    let spec = pascal();
    let program = find("mm");
    let result = |policy: &str, settings: &[&str]| {
        let (stats, report) = run(&program, &spec, threads(1), &select(&spec, policy, settings));
        (cycles(&stats), report.count("itap.early"), report.count("itap.foreseen"), report.count("lanes.waited"))
    };
    let (pow, perf) = (result("itap-pow", &[]), result("itap-perf", &[]));
    let demand = result("itap-pow", &["itap-pow.wake=demand"]);
    assert!(demand.1 == 0 && demand.2 > 0 && pow.1 > 0 && perf.1 > 0, "{demand:?} {pow:?} {perf:?}");
    assert!(perf.3 <= pow.3 && pow.3 < demand.3, "{demand:?} {pow:?} {perf:?}");
    assert!(perf.0 <= pow.0 && pow.0 <= demand.0);
    // Without the window both wait alike.
    let blind = result("itap-perf", &["itap-perf.peek_ahead=false"]);
    assert_eq!((blind.1, blind.2), (0, 0));
    assert!(blind.3 > perf.3);
}
