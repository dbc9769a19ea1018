//! Under a policy of each kind: results are those of no policy, residencies and slots add up, and the same bytes come out
//! for any number of threads, skipping on and off.

mod common;

use common::policies::{Counter, DatapathPolicy, GovernorPolicy, LanesPolicy, OrderPolicy, Shapes};
use common::{PROGRAMS, Program, find, gtx480, preset, record, threads};
use std::sync::atomic::Ordering;
use warpwatt_machine::Options;
use warpwatt_machine::activity::{COMPONENTS, LaneState};
use warpwatt_machine::hooks::{Order, Policy};
use warpwatt_machine::spec::{Spec, presets};
use warpwatt_machine::stats::{RunStats, Slot};

/// Residencies and slots add up.
fn audit(spec: &Spec, stats: &RunStats) {
    let (sp, sfu) = spec.lanes();
    let groups = spec.component_groups();
    for sm in stats.samples.iter().flat_map(|s| &s.sms) {
        for (lanes, residency) in [(sp, &sm.int), (sp, &sm.fp), (sfu, &sm.sfu)] {
            assert_eq!(residency.cycles.iter().sum::<u64>(), u64::from(lanes) * sm.cycles);
        }
        for c in 0..COMPONENTS {
            let sum = sm.component_on[c] + sm.component_gated[c] + sm.component_clock_gated[c];
            assert_eq!(sum, u64::from(groups[c]) * sm.cycles, "component {c}");
        }
    }
    for (i, launch) in stats.launches.iter().enumerate() {
        let samples = stats.samples.iter().filter(|s| s.launch == i as u32);
        let cycles: u64 = samples.flat_map(|s| &s.sms).map(|sm| sm.cycles).sum();
        assert_eq!(launch.slots.iter().sum::<u64>(), u64::from(spec.schedulers) * cycles);
    }
}

/// Runs all programs under a policy; gives the statistics.
fn check(spec: &Spec, policy: &dyn Policy) -> Vec<RunStats> {
    let mut all = Vec::new();
    for program in PROGRAMS.iter().filter(|p| p.ordered) {
        let (output, stats, _) = program.run(spec, threads(1), Some(policy));
        assert!(output == program.expected(), "{}: wrong result under {policy:?}", program.kernel);
        audit(spec, &stats);
        if ["sums", "locals", "diverge"].contains(&program.kernel) {
            let expected = record(&stats);
            for (n, no_skip) in [(2, false), (1, true)] {
                let (_, stats, _) = program.run(spec, Options { no_skip, ..threads(n) }, Some(policy));
                assert!(record(&stats) == expected, "{}: {n} threads, no_skip {no_skip}, {policy:?}", program.kernel);
            }
        }
        all.push(stats);
    }
    all
}

fn cycles(stats: &[RunStats]) -> u64 {
    stats.iter().flat_map(|s| &s.launches).map(|l| l.cycles).sum()
}

/// What all programs take without a policy.
fn plain(spec: &Spec) -> Vec<RunStats> {
    PROGRAMS.iter().filter(|p| p.ordered).map(|p| p.run(spec, threads(1), None).1).collect()
}

#[test]
fn all_presets_run_small_kernels() {
    for name in presets() {
        let spec = preset(name, &[]);
        for kernel in ["mm", "counters", "diverge", "locals"] {
            let program = find(kernel);
            let (output, stats, _) = program.run(&spec, threads(1), None);
            assert!(output == program.expected(), "{kernel} on {name}");
            audit(&spec, &stats);
        }
    }
}

#[test]
fn order() {
    let stats = check(&gtx480(), &OrderPolicy);
    assert_ne!(cycles(&stats), cycles(&plain(&gtx480())));
    let held: u64 = stats.iter().flat_map(|s| &s.launches).map(|l| l.slots[Slot::Policy as usize]).sum();
    assert!(held > 0, "loads were never held");
}

#[test]
fn issue() {
    let nominal = cycles(&plain(&gtx480()));
    let permuted = cycles(&check(&gtx480(), &Shapes { split: false, stages: 0 }));
    assert_eq!(permuted, nominal, "other lanes take the same time");
    let split = cycles(&check(&gtx480(), &Shapes { split: true, stages: 0 }));
    let longer = cycles(&check(&gtx480(), &Shapes { split: false, stages: 3 }));
    assert!(split > nominal && longer > nominal, "{nominal} {split} {longer}");
    let compute = Program { n: 100, ..find("compute") };
    let time = |policy: Option<&dyn Policy>| compute.run(&gtx480(), threads(1), policy).1.launches[0].cycles as f64;
    let ratio = time(Some(&Shapes { split: true, stages: 0 })) / time(None);
    assert!((1.2..2.1).contains(&ratio), "two passes through the SPs take {ratio} times as long");
}

#[test]
fn lanes() {
    let stats = check(&gtx480(), &LanesPolicy);
    assert!(cycles(&stats) > cycles(&plain(&gtx480())));
    let gated = |sm: &warpwatt_machine::activity::SmActivity| sm.int.cycles[LaneState::Gated as usize];
    assert!(stats.iter().flat_map(|s| &s.samples).flat_map(|s| &s.sms).map(gated).sum::<u64>() > 0);
}

#[test]
fn datapath() {
    let spec = preset("kepler-big", &[]);
    let stats = check(&spec, &DatapathPolicy);
    assert!(cycles(&stats) > cycles(&plain(&spec)));
    let sms = || stats.iter().flat_map(|s| &s.samples).flat_map(|s| &s.sms);
    // Schedulers and SPs lose power, collectors only their clock.
    assert!(sms().map(|sm| sm.component_gated[1]).sum::<u64>() > 0);
    assert!(sms().map(|sm| sm.component_gated[11]).sum::<u64>() > 0);
    assert!(sms().map(|sm| sm.component_clock_gated[5]).sum::<u64>() > 0);
}

#[test]
fn a_governor_that_changes_clocks() {
    let spec = preset("gtx480-equalizer", &[]);
    let orders = [805.0, 595.0, 700.0, 595.0]
        .iter()
        .zip([785.4, 1062.6, 924.0, 924.0])
        .map(|(&core, dram)| vec![Order::CoreMhz(core), Order::DramMhz(dram)])
        .collect();
    let policy = GovernorPolicy { interval: 400, orders, ..Default::default() };
    let stats = check(&spec, &policy);
    let levels = |f: &dyn Fn(&warpwatt_machine::activity::Sample) -> f64| {
        let mut seen: Vec<f64> = stats.iter().flat_map(|s| &s.samples).map(f).collect();
        seen.sort_by(f64::total_cmp);
        seen.dedup();
        seen
    };
    assert_eq!(levels(&|s| s.core_mhz), [595.0, 700.0, 805.0]);
    assert_eq!(levels(&|s| s.dram_mhz), [785.4, 924.0, 1062.6]);
    assert_eq!(levels(&|s| s.core_volts), [0.85, 1.0, 1.15]);
}

#[test]
fn samples_do_not_put_a_governor_off() {
    let spec = preset("gtx480-equalizer", &[]);
    let orders = [805.0, 595.0].iter().cycle().take(50).map(|&core| vec![Order::CoreMhz(core)]).collect();
    let policy = GovernorPolicy { interval: 300, orders, ..Default::default() };
    let launches = |sample_cycles| {
        let options = Options { sample_cycles, ..threads(1) };
        let (_, mut stats, gpu) = find("sums").run(&spec, options, Some(&policy));
        stats.launches.iter_mut().for_each(|l| l.stepped_sm_cycles = 0);
        (stats.launches, gpu.transitions())
    };
    let undisturbed = launches(None);
    assert!(undisturbed.1 > 10);
    // A sample is cut in the very window after which the governor is asked, and elsewhere.
    for sample_cycles in [300, 150, 211] {
        assert_eq!(launches(Some(sample_cycles)), undisturbed, "samples of {sample_cycles} cycles");
    }
}

#[test]
fn time_of_arithmetic_goes_with_the_core_clock_and_time_of_memory_does_not() {
    let spec = gtx480();
    let time = |program: &Program, policy: Option<&dyn Policy>| {
        let (_, stats, gpu) = program.run(&spec, threads(1), policy);
        ((stats.launches[0].end - stats.launches[0].start) as f64, gpu.transitions())
    };
    let slow = GovernorPolicy { interval: 50, orders: vec![vec![Order::CoreMhz(300.0)]], ..Default::default() };
    let compute = Program { n: 400, ..find("compute") };
    let ((nominal, none), (slowed, one)) = (time(&compute, None), time(&compute, Some(&slow)));
    assert_eq!((none, one), (0, 1));
    let ratio = slowed / nominal;
    assert!((ratio / (700.0 / 300.0) - 1.0).abs() < 0.03, "arithmetic takes {ratio} times as long");
    // A step of a chase in DRAM has some 70 core cycles, and three to four times as much that does not change.
    let chase = Program { n: 200, grid: [1, 1, 1], ..find("chase") };
    let ratio = time(&chase, Some(&slow)).0 / time(&chase, None).0;
    assert!((1.1..1.6).contains(&ratio), "a chase in DRAM takes {ratio} times as long");
}

#[test]
fn a_governor_that_limits_ctas() {
    let limit = |limit| (0..15).map(|sm| Order::CtaLimit { sm, limit }).collect::<Vec<_>>();
    check(&gtx480(), &GovernorPolicy { interval: 100, orders: vec![limit(1), limit(2)], ..Default::default() });
    let policy = GovernorPolicy { interval: 100, orders: vec![limit(1)], ..Default::default() };
    let program = Program { grid: [240, 1, 1], block: [64, 1, 1], words: 240 * 64, ..find("compute") };
    let (output, stats, _) = program.run(&gtx480(), threads(1), Some(&policy));
    assert!(output == program.expected());
    assert_eq!(stats.launches[0].ctas_per_sm, 8);
    let most = policy.seen.lock().unwrap();
    assert_eq!(most[0], 8);
    let (first, last) = (most.iter().position(|&m| m == 1), most.iter().rposition(|&m| m > 1));
    assert!(first > last, "once down at the limit, no SM goes above it: {most:?}");
}

#[test]
fn observers() {
    for kernel in ["mm", "sums", "chase", "locals"] {
        let (program, counter) = (find(kernel), Counter::default());
        let (output, stats, _) = program.run(&gtx480(), threads(3), Some(&counter));
        let (nominal, plain, _) = program.run(&gtx480(), threads(1), None);
        assert!(output == nominal && record(&stats) == record(&plain), "an observer changes {kernel}");
        let sum = |f: &dyn Fn(&warpwatt_machine::stats::LaunchStats) -> u64| stats.launches.iter().map(f).sum::<u64>();
        let seen: Vec<u64> = counter.0.iter().map(|n| n.load(Ordering::Relaxed) / 2).collect();
        assert_eq!(seen[0], sum(&|l| l.counters.warp_instructions));
        assert_eq!(seen[0] + seen[1], sum(&|l| l.slots.iter().sum()));
        assert_eq!(seen[2], sum(&|l| l.counters.l1d_reads - l.counters.l1d_read_misses));
        assert_eq!(seen[3], sum(&|l| l.counters.l1d_read_misses));
        assert!(seen[4] > 0);
    }
}
