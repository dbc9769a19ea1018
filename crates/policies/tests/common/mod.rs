//! Small kernels on the timed GPU under policies, and what must hold of every run.
#![allow(dead_code)]

#[path = "../../../machine/tests/common/mod.rs"]
mod machine;

pub use machine::{PROGRAMS, Program, find, preset, record, threads};

use std::sync::{Arc, Mutex};
use warpwatt_machine::activity::LaneResidency;
use warpwatt_machine::hooks::{LanesHook, Report};
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::RunStats;
use warpwatt_machine::{Control, Gpu, Options};
use warpwatt_policies::Selection;
use warpwatt_power::{PowerModel, PowerOptions, UnitPower};

/// Policies with settings.
pub fn select(spec: &Spec, policies: &str, settings: &[&str]) -> Selection {
    Selection::new(policies, settings, spec).unwrap()
}

/// A GPU with Origami's two-level scheduler.
pub fn two_level() -> Spec {
    preset("gtx480", &[("scheduler", "two-level-active")])
}

/// The power model of a run under a selection.
pub fn model(spec: &Spec, selection: &Selection) -> PowerModel {
    PowerModel::new(spec, PowerOptions { policy: selection.power(), ..PowerOptions::default() }).unwrap()
}

/// Runs a program, checks its results and both audits, and gives what was counted.
pub fn run(program: &Program, spec: &Spec, options: Options, selection: &Selection) -> (RunStats, Report) {
    let (output, stats, mut gpu) = program.run(spec, options, Some(selection));
    assert!(
        !program.ordered || output == program.expected(),
        "{}: wrong result under {}",
        program.kernel,
        selection.name()
    );
    let model = model(spec, selection);
    model
        .audit(&stats, &model.run(&stats))
        .unwrap_or_else(|e| panic!("{} under {}: {e}", program.kernel, selection.name()));
    (stats, gpu.report())
}

/// Lanes of INT, FP and SFU over a run.
pub fn units(spec: &Spec, selection: &Selection, stats: &RunStats) -> [UnitPower; 3] {
    model(spec, selection).unit_power(&stats.samples)
}

/// INT, FP and SFU lanes up to `now`.
pub fn taken(lanes: &mut dyn LanesHook, now: u64) -> [LaneResidency; 3] {
    let mut r: [LaneResidency; 3] = Default::default();
    let [int, fp, sfu] = &mut r;
    lanes.residency(now, int, fp, sfu);
    r
}

/// Lanes up to `now` that are switched whole, INT and FP together.
pub fn taken_whole(lanes: &mut dyn LanesHook, now: u64) -> LaneResidency {
    let [int, fp, _] = taken(lanes, now);
    assert_eq!(int, fp, "a SIMD lane is switched whole");
    int
}

/// Core cycles of all launches.
pub fn cycles(stats: &RunStats) -> u64 {
    stats.launches.iter().map(|l| l.cycles).sum()
}

/// Programs that are run under all circumstances.
fn varied() -> impl Iterator<Item = &'static Program> {
    PROGRAMS.iter().filter(|p| ["sums", "locals", "diverge"].contains(&p.kernel))
}

/// What every policy is held to: right results, audits, the same bytes for any number of threads, skipping on or off,
/// with and without samples cut on the way, and across a checkpoint.
pub fn hold(spec: &Spec, policies: &str, settings: &[&str]) {
    hold_whole(spec, policies, settings);
    let selection = select(spec, policies, settings);
    for program in varied() {
        let (stats, report) = run(program, spec, threads(1), &selection);
        let (cut, again) = run(program, spec, Options { sample_cycles: Some(137), ..threads(1) }, &selection);
        assert_eq!(cycles(&cut), cycles(&stats));
        assert!(cut.samples.len() > stats.samples.len());
        assert_eq!(again, report);
        let (whole, parts) = (units(spec, &selection, &stats), units(spec, &selection, &cut));
        for (whole, part) in whole.iter().zip(&parts) {
            assert_eq!((whole.by_state, whole.gatings, whole.wakes), (part.by_state, part.gatings, part.wakes));
        }
    }
}

/// All of this but the samples.
pub fn hold_whole(spec: &Spec, policies: &str, settings: &[&str]) {
    let selection = select(spec, policies, settings);
    for program in PROGRAMS.iter().filter(|p| p.ordered) {
        let (stats, report) = run(program, spec, threads(1), &selection);
        if !varied().any(|p| p.kernel == program.kernel) {
            continue;
        }
        let expected = (record(&stats), report);
        for (n, no_skip) in [(2, false), (3, true), (1, true)] {
            let (stats, report) = run(program, spec, Options { no_skip, ..threads(n) }, &selection);
            assert!((record(&stats), report) == expected, "{}: {n} threads, no_skip {no_skip}", program.kernel);
        }
    }
    checkpoint(spec, &selection);
}

/// A run that is interrupted and goes on ends as the one that is not.
pub fn checkpoint(spec: &Spec, selection: &Selection) {
    let program = Program { n: 12, ..find("sums") };
    let (stats, report) = run(&program, spec, threads(1), selection);
    let saved = Arc::new(Mutex::new(Vec::new()));
    let keep = saved.clone();
    let mut gpu = Gpu::with_policy(spec.clone(), threads(1), selection).unwrap();
    gpu.set_observer(Box::new(|_| Control::Checkpoint));
    gpu.set_checkpoint(Box::new(move |bytes| {
        keep.lock().unwrap().push(bytes);
        Ok(())
    }));
    program.drive(&mut gpu).unwrap();
    let states = saved.lock().unwrap();
    assert!(!states.is_empty());
    for state in [states.first(), states.last()].into_iter().flatten() {
        let mut gpu = Gpu::restore_with_policy(spec.clone(), threads(2), selection, state).unwrap();
        assert!(program.drive(&mut gpu).unwrap() == program.expected());
        assert_eq!(record(&gpu.stats()), record(&stats));
        assert_eq!(gpu.report(), report);
    }
}
