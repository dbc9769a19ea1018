//! Conventional power gating on the machine.

mod common;

use common::{PROGRAMS, cycles, find, hold, preset, run, select, threads, two_level, units};
use warpwatt_machine::activity::LaneState;
use warpwatt_policies::Selection;

#[test]
fn holds_to_what_every_policy_must() {
    hold(&two_level(), "cpg", &[]);
}

#[test]
fn holds_for_whole_lanes_on_another_machine() {
    let settings = ["cpg.scope=lane", "cpg.granularity=32", "cpg.energy=table-4", "cpg.sfu=true"];
    hold(&preset("pascal16", &[]), "cpg", &settings);
}

#[test]
fn without_wake_up_it_costs_no_time() {
    let spec = two_level();
    let free = select(&spec, "cpg", &["cpg.bet=0", "cpg.wake_up=0"]);
    for program in PROGRAMS.iter().filter(|p| p.ordered) {
        let (plain, _) = run(program, &spec, threads(1), &Selection::default());
        let (gated, report) = run(program, &spec, threads(1), &free);
        assert_eq!(cycles(&gated), cycles(&plain), "{}", program.kernel);
        assert_eq!(report.count("lanes.waits"), 0);
        let [int, ..] = units(&spec, &free, &gated);
        // What is not saved are the cycles awake: no overhead.
        let awake = int.by_state[LaneState::On as usize] + int.by_state[LaneState::IdleDetect as usize];
        assert_eq!(int.joules.overhead, 0.0);
        assert!((int.saved.unwrap() - (1.0 - awake as f64 / int.lane_cycles as f64)).abs() < 1e-9);
    }
}

#[test]
fn saving_is_on_and_waking_cycles_and_break_even_time_for_each_event() {
    let spec = two_level();
    let program = find("compute");
    for bet in [9.0, 14.0, 19.0] {
        let policy = select(&spec, "cpg", &[&format!("cpg.bet={bet}")]);
        let (stats, _) = run(&program, &spec, threads(1), &policy);
        for unit in &units(&spec, &policy, &stats)[..2] {
            let of = |s: LaneState| unit.by_state[s as usize] as f64;
            let awake = of(LaneState::On) + of(LaneState::IdleDetect) + of(LaneState::Waking);
            let left = awake + bet * unit.gatings as f64;
            assert!((unit.leaked_cycles - left).abs() < 1e-6 * left);
            assert!((unit.saved.unwrap() - (1.0 - left / unit.lane_cycles as f64)).abs() < 1e-6);
            assert!(unit.gatings >= unit.wakes && unit.gatings > 0);
        }
    }
}

#[test]
fn what_lanes_leak_is_counted_at_the_voltage_that_they_have() {
    let spec = preset("gtx480-crisp", &[]);
    let leaks = ["cpg", "cpg+sm-low"].map(|name| {
        let policy = select(&spec, name, &[]);
        let (stats, _) = run(&find("compute"), &spec, threads(1), &policy);
        let [int, ..] = units(&spec, &policy, &stats);
        // It adds no hardware: overhead is transitions alone. Time is not a whole number of cycles.
        let joules = int.joules.leakage + int.joules.overhead;
        assert!((int.leaked - joules).abs() < 1e-4 * joules, "{name} {} {joules}", int.leaked);
        int.leaked / (int.leaked_cycles / stats.samples[0].core_mhz)
    });
    assert!(leaks[1] < 0.95 * leaks[0], "{leaks:?}");
}

#[test]
fn the_break_even_time_changes_energy_only_and_the_wake_up_time_both() {
    let spec = two_level();
    let program = find("mm");
    let result = |settings: &[&str]| {
        let policy = select(&spec, "cpg", settings);
        let (stats, _) = run(&program, &spec, threads(1), &policy);
        (cycles(&stats), units(&spec, &policy, &stats)[0])
    };
    let (time, unit) = result(&[]);
    let (same, dearer) = result(&["cpg.bet=19"]);
    assert_eq!((time, unit.by_state, unit.gatings), (same, dearer.by_state, dearer.gatings));
    assert!(dearer.joules.overhead > unit.joules.overhead);
    assert!(result(&["cpg.wake_up=30"]).0 > time);
    // A window that never ends gates nothing.
    let (_, never) = result(&["cpg.idle_detect=100000"]);
    assert!(never.gatings == 0 && never.saved.unwrap().abs() < 1e-9, "{never:?}");
}

#[test]
fn idle_periods_are_counted() {
    let spec = two_level();
    let (stats, report) = run(&find("compute"), &spec, threads(1), &select(&spec, "cpg", &[]));
    let [int, fp, _] = units(&spec, &select(&spec, "cpg", &[]), &stats);
    for (name, unit) in [("int", int), ("fp", fp)] {
        // Whatever lanes do not work they are idle.
        assert_eq!(report.count(&format!("idle_cycles.{name}")), unit.lane_cycles - unit.busy);
        let bins = report.histogram(&format!("idle.{name}"));
        assert!(bins.iter().sum::<u64>() > 0 && bins[0] == 0);
    }
}
