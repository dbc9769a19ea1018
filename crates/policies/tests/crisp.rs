//! CRISP's observers and controllers on the timed GPU.

mod common;

use common::{PROGRAMS, Program, checkpoint, cycles, find, model, preset, record, run, select, threads};
use warpwatt_machine::Options;
use warpwatt_machine::hooks::{Event, Hook, Interest, ObserverHook, Policy, Report, SmHooks};
use warpwatt_machine::spec::Spec;
use warpwatt_policies::crisp::MODELS;
use warpwatt_policies::crisp::objective::{DynamicEnergy, Energies, Objective, Outlook, PState};
use warpwatt_policies::{PolicyError, Selection};

const ALL: &str = "crisp+crisp-l+lead+crit+stall+miss";

fn crisp() -> Spec {
    preset("gtx480-crisp", &[])
}

fn long() -> Program {
    Program { n: 40, ..find("sums") }
}

#[test]
fn all_models_in_one_run_count_what_they_count_alone() {
    let spec = crisp();
    for program in PROGRAMS.iter().filter(|p| ["sums", "locals", "chase"].contains(&p.kernel)) {
        let (plain, _) = run(program, &spec, threads(1), &Selection::default());
        let (stats, together) = run(program, &spec, threads(1), &select(&spec, ALL, &[]));
        assert!(record(&plain) == record(&stats), "{}: observers change something", program.kernel);
        for name in MODELS {
            let (_, alone) = run(program, &spec, threads(1), &select(&spec, name, &[]));
            assert!(!alone.histograms.is_empty());
            for (key, bins) in &alone.histograms {
                assert_eq!(together.histogram(key), bins, "{}: {key}", program.kernel);
            }
        }
    }
}

#[test]
fn counters_are_in_their_bounds() {
    let spec = crisp();
    for program in PROGRAMS {
        let (stats, report) = run(program, &spec, threads(1), &select(&spec, ALL, &[]));
        let of = |model: &str, counter: &str| report.histogram(&format!("{model}.{counter}")).to_vec();
        let active: u64 = stats.launches.iter().map(|l| l.counters.active_sm_cycles).sum();
        for name in MODELS {
            assert_eq!(of(name, "cycles").len(), stats.launches.len());
            assert_eq!(of(name, "cycles").iter().sum::<u64>(), active, "{}", program.kernel);
        }
        for i in 0..stats.launches.len() {
            let all = of("crisp", "cycles")[i];
            let at = |model: &str| of(model, "memory")[i];
            let (load, store) = (of("crisp", "load_stall")[i], of("crisp", "store_stall")[i]);
            // A path is no longer than the time with something outstanding, and no shorter than its stalls.
            assert!(at("crisp-l") <= all && at("crisp") <= at("crisp-l"), "{}", program.kernel);
            assert!(at("crit") <= at("crisp") && load <= at("crisp"), "{}", program.kernel);
            // STALL has those of CRISP's load stalls that have no other cause beside them.
            assert!(at("lead") <= at("crisp-l") && at("stall") <= load, "{}", program.kernel);
            assert!(at("crisp") + store <= all, "{}", program.kernel);
        }
    }
}

#[test]
fn they_hold_what_every_policy_is_held_to() {
    let spec = crisp();
    common::hold_whole(&spec, ALL, &[]);
    // Decisions every microsecond, so that short programs have some.
    common::hold_whole(&spec, "crisp-edp", &["crisp-edp.interval_us=1", "crisp-edp.software_cycles=20"]);
    common::hold_whole(&spec, "lead-energy", &["lead-energy.interval_us=1", "lead-energy.loss=0.5"]);
}

#[test]
fn origami_and_a_controller_run_together() {
    let spec = preset("gtx480-crisp", &[("scheduler", "two-level-active")]);
    let settings = ["crisp-edp.interval_us=1"];
    for program in PROGRAMS.iter().filter(|p| ["sums", "diverge"].contains(&p.kernel)) {
        let (_, report) = run(program, &spec, threads(1), &select(&spec, "origami+crisp-edp", &settings));
        assert!(report.count("dvfs.decisions") > 0);
    }
    checkpoint(&spec, &select(&spec, "origami+crisp-edp", &settings));
    checkpoint(&spec, &select(&spec, "oracle-edp", &["oracle-edp.interval_us=2"]));
}

#[test]
fn a_controller_that_never_changes_the_clock_costs_its_software_alone() {
    // STALL with no loss allowed stays at the highest clock.
    let spec = crisp();
    let (plain, _) = run(&long(), &spec, threads(1), &Selection::default());
    let free = ["stall-energy.loss=0", "stall-energy.software_cycles=0", "stall-energy.interval_us=2"];
    let (stats, report) = run(&long(), &spec, threads(1), &select(&spec, "stall-energy", &free));
    assert_eq!(report.count("dvfs.switches"), 0);
    assert!(report.count("dvfs.decisions") > 3);
    assert_eq!(cycles(&stats), cycles(&plain));
    let charged = ["stall-energy.loss=0", "stall-energy.software_cycles=100", "stall-energy.interval_us=2"];
    let (stats, report) = run(&long(), &spec, threads(1), &select(&spec, "stall-energy", &charged));
    let longer = cycles(&stats) - cycles(&plain);
    let most = 100 * report.count("dvfs.decisions");
    assert!(longer > 0 && longer <= most + most / 5, "{longer} of {most}");
}

#[test]
fn it_stays_on_legal_p_states_and_changes_are_counted() {
    let spec = crisp();
    for policy in ["crisp-edp", "lead-ed2p", "crit-energy", "miss-edp", "crisp-l-energy"] {
        let settings = [format!("{policy}.interval_us=1")];
        let selection = select(&spec, policy, &[&settings[0]]);
        let (_, stats, mut gpu) = long().run(&spec, threads(1), Some(&selection));
        let report = gpu.report();
        assert!(stats.samples.iter().all(|s| spec.dvfs.core_levels.iter().any(|l| l.mhz == s.core_mhz)));
        let ordered = report.count("dvfs.switches");
        // The last one ordered may not have taken effect when the run ended.
        assert!(gpu.transitions() == ordered || gpu.transitions() + 1 == ordered, "{policy}");
        let changed = stats.samples.windows(2).filter(|s| s[0].core_mhz != s[1].core_mhz).count() as u64;
        assert_eq!(changed, gpu.transitions(), "{policy}");
    }
}

#[test]
fn a_memory_bound_kernel_is_slowed_down_and_saves_energy() {
    let spec = crisp();
    let selection = select(&spec, "crisp-edp", &["crisp-edp.interval_us=2"]);
    let program = find("chase");
    let energy = |stats| model(&spec, &Selection::default()).run(stats).total.joules.total();
    let (plain, _) = run(&program, &spec, threads(1), &Selection::default());
    let (stats, report) = run(&program, &spec, threads(1), &selection);
    assert!(report.count("dvfs.switches") > 0);
    assert!(energy(&stats) < energy(&plain));
    assert!(stats.samples.iter().any(|s| s.core_mhz < 700.0 && s.core_volts < 1.0));
}

#[test]
fn an_oracle_loses_next_to_nothing_by_being_greedy() {
    let spec = crisp();
    let selection = select(&spec, "oracle-edp", &["oracle-edp.interval_us=5"]);
    for program in [Program { n: 60, ..find("chase") }, long()] {
        let edp = |stats| {
            let energy = model(&spec, &Selection::default()).run(stats).total.joules.total();
            energy * launch_time(stats) as f64
        };
        let (plain, _) = run(&program, &spec, threads(1), &Selection::default());
        let (stats, report) = run(&program, &spec, threads(1), &selection);
        assert!(report.count("dvfs.decisions") > 0);
        assert!(edp(&stats) <= 1.01 * edp(&plain), "{}: {}", program.kernel, edp(&stats) / edp(&plain));
    }
}

#[test]
fn an_oracle_that_may_lose_nothing_stays_and_one_that_may_lose_much_saves() {
    let spec = crisp();
    let run_with =
        |settings: &[&str]| run(&find("chase"), &spec, threads(1), &select(&spec, "oracle-energy", settings));
    let (careful, _) = run_with(&["oracle-energy.interval_us=2", "oracle-energy.loss=0.001"]);
    let (generous, report) = run_with(&["oracle-energy.interval_us=2", "oracle-energy.loss=1"]);
    let energy = |stats| model(&spec, &Selection::default()).run(stats).total.joules.total();
    assert!(report.count("dvfs.switches") > 0);
    assert!(energy(&generous) < energy(&careful));
    assert!(launch_time(&generous) >= launch_time(&careful));
}

/// Time of all launches, fs.
fn launch_time(stats: &warpwatt_machine::stats::RunStats) -> u64 {
    stats.launches.iter().map(|l| l.end - l.start).sum()
}

#[test]
fn intervals_are_of_time_at_any_clock() {
    let spec = crisp();
    let selection = select(&spec, "crisp-edp", &["crisp-edp.interval_us=3"]);
    let (stats, report) = run(&long(), &spec, threads(1), &selection);
    let us = stats.launches.iter().map(|l| l.end - l.start).sum::<u64>() as f64 * 1e-9;
    let asked = report.count("dvfs.ns") as f64 / 1000.0;
    let decisions = report.count("dvfs.decisions") as f64;
    assert!(asked <= us && asked > us - 4.0, "{asked} of {us} µs");
    assert!((asked / decisions - 3.0).abs() < 0.15, "{} µs an interval", asked / decisions);
}

#[test]
fn a_gpu_with_one_p_state_is_refused() {
    let spec = preset("gtx480", &[("dvfs.core_levels", "[[700, 1.0]]")]);
    let error = Selection::new("crisp-edp", &[], &spec).unwrap_err();
    assert!(matches!(error, PolicyError::Inconsistent { .. }), "{error}");
    Selection::new("crisp", &[], &spec).unwrap();
}

#[test]
fn two_controllers_are_refused_and_models_go_with_one() {
    let error = Selection::new("crisp-edp+lead-edp", &[], &crisp()).unwrap_err();
    assert_eq!(error.code(), "policy::same-hook");
    Selection::new("crisp-edp+lead+crisp", &[], &crisp()).unwrap();
}

#[test]
fn energy_prediction_of_section_4() {
    let energies = Energies { sm_dynamic: 40.0, clock: 16.0, sm_static: 20.0, rest_dynamic: 14.0, rest_static: 10.0 };
    let state = |mhz, volts| PState { mhz, volts };
    let (from, to) = (state(700.0, 1.0), state(350.0, 0.75));
    let at = |longer, dynamic| energies.at(from, to, longer, dynamic);
    assert_eq!(energies.at(from, from, 1.0, DynamicEnergy::Power), 100.0);
    // (20 × 0.75 + 10) × 1.5 + (40 + 16) × 0.75² × ½ + 14; then without the ½, but for the clock tree, which ticks half as
    // often for 1.5 times as long.
    assert_eq!(at(1.5, DynamicEnergy::Power), 37.5 + 15.75 + 14.0);
    assert_eq!(at(1.5, DynamicEnergy::Work), 37.5 + 22.5 + 6.75 + 14.0);
    // Bound by its SMs it ticks as often: V² alone.
    assert_eq!(at(2.0, DynamicEnergy::Work), 50.0 + 31.5 + 14.0);
}

#[test]
fn objectives() {
    let o = |mhz, time, energy| Outlook { state: PState { mhz, volts: 1.0 }, time, energy };
    let outlooks = [o(100.0, 3.0, 40.0), o(400.0, 1.2, 75.0), o(600.0, 1.005, 95.0), o(700.0, 1.0, 100.0)];
    // Energy × delay: 120, 90, 95.5, 100; × delay²: 360, 108, 95.96, 100.
    assert_eq!(Objective::Edp.best(&outlooks), Some(1));
    assert_eq!(Objective::Ed2p.best(&outlooks), Some(2));
    assert_eq!(Objective::Energy { loss: 0.01 }.best(&outlooks), Some(2));
    assert_eq!(Objective::Energy { loss: 0.2 }.best(&outlooks), Some(1));
    assert_eq!(Objective::Energy { loss: 0.0 }.best(&outlooks), Some(3));
    // Of equals the faster.
    assert_eq!(Objective::Edp.best(&[o(100.0, 2.0, 50.0), o(700.0, 1.0, 100.0)]), Some(1));
}

/// Asked for nothing, told of nothing.
#[derive(Debug, Default)]
struct Deaf(u64);

impl Hook for Deaf {
    fn report(&self, _: u64, report: &mut Report) {
        report.add("heard", self.0);
    }
}

impl ObserverHook for Deaf {
    fn event(&mut self, _: u64, event: Event) {
        self.0 += matches!(event, Event::Cycles(_) | Event::Slot(..)) as u64;
    }
    fn interest(&self) -> Interest {
        Interest::NONE
    }
}

#[derive(Debug)]
struct Silence;

impl Policy for Silence {
    fn sm(&self, _: &Spec, _: u32) -> SmHooks {
        SmHooks { observers: vec![Box::new(Deaf(0))], ..SmHooks::default() }
    }
}

#[test]
fn cycles_are_classified_only_for_those_who_ask() {
    let (_, _, mut gpu) = find("sums").run(&crisp(), Options::default(), Some(&Silence));
    assert_eq!(gpu.report().count("heard"), 0);
}
