//! Equalizer and what it is measured against, on small kernels.

mod common;

use common::{Program, cycles, find, hold, hold_whole, model, preset, run, select, threads};
use warpwatt_machine::Options;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::{Decision, RunStats};
use warpwatt_power::Component;

fn gpu() -> Spec {
    preset("gtx480-equalizer", &[])
}

/// Settings with which something happens in small kernels.
fn hasty(policy: &str) -> Vec<String> {
    ["epoch=512", "sample=64", "hysteresis=1"].map(|s| format!("{policy}.{s}")).to_vec()
}

fn hasty_run(program: &Program, policy: &str, more: &[&str]) -> (RunStats, warpwatt_machine::hooks::Report) {
    let settings = hasty(policy);
    let settings: Vec<&str> = settings.iter().map(String::as_str).chain(more.iter().copied()).collect();
    run(program, &gpu(), threads(1), &select(&gpu(), policy, &settings))
}

/// Compute-bound: CTAs of two warps with independent arithmetic.
fn compute() -> Program {
    Program { grid: [480, 1, 1], block: [64, 1, 1], words: 480 * 64, n: 400, ..find("compute") }
}

#[test]
fn what_every_policy_is_held_to() {
    for policy in ["equalizer-energy", "equalizer-performance"] {
        let settings = hasty(policy);
        hold(&gpu(), policy, &settings.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn so_are_its_rivals() {
    hold_whole(&gpu(), "dyncta", &["dyncta.interval=256"]);
    hold_whole(&gpu(), "ccws", &["ccws.settle=8"]);
    hold_whole(&gpu(), "ctas", &["ctas.count=2"]);
    hold_whole(&gpu(), "mem-high", &[]);
}

#[test]
fn beside_a_policy_on_another_hook() {
    let settings = hasty("equalizer-energy");
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    hold(&preset("pascal16", &[("scheduler", "two-level-fetch")]), "itap-pow+equalizer-energy", &settings);
}

/// Consecutive decisions are at most one level apart in each domain, and all at levels of the GPU.
fn steps_are_legal(decisions: &[Decision]) {
    let place = |levels: &[f64], mhz: f64| levels.iter().position(|l| *l == mhz).expect("a level of the GPU") as i32;
    let place = |d: &Decision| [place(&[595.0, 700.0, 805.0], d.core_mhz), place(&[785.4, 924.0, 1062.6], d.dram_mhz)];
    let mut before = [1, 1];
    for decision in decisions {
        let now = place(decision);
        assert!(
            now.iter().zip(before).all(|(now, before)| (now - before).abs() <= 1),
            "more than a step: {decision:?}"
        );
        before = now;
    }
}

#[test]
fn a_compute_bound_kernel_gets_faster_sms_or_slower_memory() {
    let (nominal, _) = run(&compute(), &gpu(), threads(1), &select(&gpu(), "", &[]));
    let time = |s: &RunStats| (s.launches[0].end - s.launches[0].start) as f64;
    let (fast, report) = hasty_run(&compute(), "equalizer-performance", &[]);
    steps_are_legal(&fast.decisions);
    assert!(fast.decisions.iter().any(|d| d.core_mhz == 805.0));
    let of = |stats: &RunStats, holds: &dyn Fn(&Decision) -> bool| {
        stats.decisions.iter().filter(|d| holds(d)).count() as f64 / stats.decisions.len() as f64
    };
    // The first epoch loads and the last one stores.
    assert!(of(&fast, &|d| d.core_mhz == 805.0) > 0.7 && of(&fast, &|d| d.dram_mhz == 924.0) > 0.7);
    let gain = time(&nominal) / time(&fast);
    assert!((1.08..1.15).contains(&gain), "{gain} times as fast");
    assert!(report.count("equalizer.compute") > report.count("equalizer.memory"));
    let (frugal, _) = hasty_run(&compute(), "equalizer-energy", &[]);
    steps_are_legal(&frugal.decisions);
    assert!(frugal.decisions.iter().any(|d| d.dram_mhz == 785.4));
    assert!(of(&frugal, &|d| d.dram_mhz == 785.4) > 0.7 && of(&frugal, &|d| d.core_mhz == 700.0) > 0.7);
    assert!((time(&frugal) / time(&nominal) - 1.0).abs() < 0.02);
    let joules =
        |policy: &str, stats: &RunStats| model(&gpu(), &select(&gpu(), policy, &[])).run(stats).total.joules.total();
    assert!(joules("equalizer-energy", &frugal) < joules("", &nominal));
    assert!(joules("equalizer-performance", &fast) > joules("", &nominal));
}

#[test]
fn with_nothing_to_change_it_costs_nothing() {
    for program in [compute(), find("sums")] {
        let (nominal, _) = run(&program, &gpu(), threads(1), &select(&gpu(), "", &[]));
        let off = ["equalizer-energy.frequency=false", "equalizer-energy.blocks=false"];
        let (same, _) = hasty_run(&program, "equalizer-energy", &off);
        assert_eq!(cycles(&same), cycles(&nominal));
        assert!(!same.decisions.is_empty());
    }
}

#[test]
fn transitions_are_counted_and_charged() {
    let (stats, report) = hasty_run(&compute(), "equalizer-performance", &[]);
    let selection = select(&gpu(), "equalizer-performance", &[]);
    let transitions: u32 = stats.samples.iter().map(|s| s.transitions).sum();
    let steps = report.count("equalizer.sm_steps") + report.count("equalizer.memory_steps");
    // The last step may be under way at the end.
    assert!(transitions > 0 && (steps - u64::from(transitions)) <= 2, "{transitions} of {steps}");
    let overhead = model(&gpu(), &selection).run(&stats).total.component(Component::Other).joules.overhead;
    assert!((overhead / (f64::from(transitions) * 30e-9) - 1.0).abs() < 1e-9, "{overhead} J");
}

#[test]
fn static_points_hold_from_the_first_cycle_on() {
    let levels = |policy: &str| {
        let (stats, _) = run(&find("sums"), &gpu(), threads(1), &select(&gpu(), policy, &[]));
        assert!(stats.samples.iter().all(|s| s.transitions == 0));
        let mut levels: Vec<(f64, f64)> = stats.samples.iter().map(|s| (s.core_mhz, s.dram_mhz)).collect();
        levels.dedup();
        levels
    };
    assert_eq!(levels("sm-high"), [(805.0, 924.0)]);
    assert_eq!(levels("sm-low"), [(595.0, 924.0)]);
    assert_eq!(levels("mem-high"), [(700.0, 1062.6)]);
    assert_eq!(levels("mem-low"), [(700.0, 785.4)]);
    let error = warpwatt_policies::Selection::new("mem-high", &[], &preset("gtx480", &[])).unwrap_err();
    assert!(error.to_string().contains("gtx480 has no such V/f level"), "{error}");
}

#[test]
fn energy_rises_with_voltage_at_the_same_clock() {
    let joules = |volts: &str| {
        let spec =
            preset("gtx480-equalizer", &[("dvfs.core_levels", &format!("[[595, 0.85], [700, 1.0], [805, {volts}]]"))]);
        let (_, stats, _) = find("sums").run(&spec, Options { core_mhz: Some(805.0), ..threads(1) }, None);
        let total = model(&spec, &select(&spec, "", &[])).run(&stats).total.joules;
        (total.dynamic, total.leakage, cycles(&stats))
    };
    let (low, high) = (joules("1.0"), joules("1.15"));
    assert_eq!(low.2, high.2);
    assert!(high.0 > low.0 * 1.05 && high.0 < low.0 * 1.3225, "{low:?} {high:?}");
    assert_eq!(high.1, low.1, "in Equalizer's model leakage does not go with the SM level");
}

#[test]
fn a_fixed_number_of_ctas() {
    let (stats, _) = run(&compute(), &gpu(), threads(1), &select(&gpu(), "ctas", &["ctas.count=3"]));
    let most = stats.samples.iter().flat_map(|s| &s.sms).map(|sm| sm.cta_cycles as f64 / sm.cycles as f64);
    assert!(most.fold(0.0, f64::max) <= 3.0);
    let (free, _) = run(&compute(), &gpu(), threads(1), &select(&gpu(), "ctas", &["ctas.count=64"]));
    let (nominal, _) = run(&compute(), &gpu(), threads(1), &select(&gpu(), "", &[]));
    assert_eq!(cycles(&free), cycles(&nominal));
    assert!(cycles(&stats) > cycles(&nominal));
}
