//! Policies on SPs with fewer lanes than a warp has threads (ITAP §6.4.3).

mod common;

use common::{PROGRAMS, cycles, find, hold, hold_whole, preset, record, run, select, taken_whole, threads, units};
use warpwatt_machine::activity::{LaneResidency, LaneState};
use warpwatt_machine::hooks::{LanesHook, StartQuery};
use warpwatt_machine::kernel::Port;
use warpwatt_machine::simd::Simd;
use warpwatt_machine::spec::Spec;
use warpwatt_policies::Selection;
use warpwatt_policies::cpg::Gate;
use warpwatt_policies::itap::fsm::Goal;
use warpwatt_policies::itap::ideal::Ideal;
use warpwatt_policies::itap::switch::Switch;
use warpwatt_policies::itap::{Parameters, Pipes};
use warpwatt_policies::lanes::{Lanes, Occupancy, Scope, Setup};

/// ITAP's GPU with a few SMs: narrow ones take long.
fn pascal(width: u32) -> Spec {
    preset("pascal16", &[("sms", "2"), ("simd_width", &width.to_string())])
}

fn pipes(width: u32) -> Pipes {
    Pipes::new(&pascal(width), Scope::Lane, Occupancy::Issue)
}

/// A warp instruction's sub-warps enter from `now` on, as on the machine. Gives the cycle of the last.
fn enter(lanes: &mut dyn LanesHook, width: u32, mut now: u64, threads: u32) -> u64 {
    let simd = Simd::of(&pascal(width));
    let (mut used, mut rest) = simd.cut(threads);
    let mut begins = Some(threads);
    loop {
        let query =
            |now| StartQuery { now, port: Port::Sp, unit: 0, fp: false, lanes: used, busy: 1, latency: 9, begins };
        while lanes.start(&query(now)) > now {
            now += 1;
        }
        if rest == 0 {
            return now;
        }
        (used, rest) = simd.cut(rest);
        begins = None;
        now += 1;
    }
}

/// Two instructions on 8 lanes: 0x0f01 as sub-warps 0x01 in cycle 10 and 0x0f in 11, 0x8000_0080 as 0x80 in 20 and in 21.
/// Up to cycle 40 lane 0 is idle for 10 and 28 cycles, lanes 1 to 3 for 11 and 28, 4 to 6 for 40, lane 7 for 20 and 18.
fn two_instructions(lanes: &mut dyn LanesHook) -> LaneResidency {
    assert_eq!(enter(lanes, 8, 10, 0x0f01), 11);
    assert_eq!(enter(lanes, 8, 20, 0x8000_0080), 21);
    let r = taken_whole(lanes, 40);
    assert_eq!(r.cycles.iter().sum::<u64>(), 8 * 40);
    r
}

const SETUP: Setup = Setup { scope: Scope::Lane, granularity: 1, occupancy: Occupancy::Issue, sfu: false };

#[test]
fn gating_of_single_lanes_by_hand() {
    let mut cpg = Lanes::new(&pascal(8), SETUP, Gate { idle_detect: 5, wake_up: 0 });
    let r = two_instructions(&mut cpg);
    // Five cycles of each idle period are awake.
    let [on, detect, gated] = [LaneState::On, LaneState::IdleDetect, LaneState::Gated].map(|s| r.cycles[s as usize]);
    assert_eq!((r.busy, on, detect, gated), (7, 7, 10 + 30 + 15 + 10, 28 + 3 * 29 + 3 * 35 + 28));
    assert_eq!(r.entries[LaneState::Gated as usize], 2 + 3 * 2 + 3 + 2);
}

#[test]
fn a_group_is_no_larger_than_the_sp() {
    for granularity in [8, 16, 32] {
        let gate = Gate { idle_detect: 5, wake_up: 0 };
        let mut cpg = Lanes::new(&pascal(8), Setup { granularity, ..SETUP }, gate);
        let r = two_instructions(&mut cpg);
        // All lanes work in 10, 11, 20 and 21; they are idle for 10, 8 and 18 cycles.
        let [on, detect, gated] =
            [LaneState::On, LaneState::IdleDetect, LaneState::Gated].map(|s| r.cycles[s as usize]);
        assert_eq!((r.busy, on, detect, gated), (32, 32, 8 * 15, 8 * (5 + 3 + 13)));
    }
}

#[test]
fn the_ideal_by_hand() {
    // Every period is long enough for VS0.3, none for gating.
    let r = two_instructions(&mut Ideal::new(pipes(8)));
    let vs03 = LaneState::Vs03 as usize;
    assert_eq!((r.busy, r.cycles[LaneState::On as usize], r.cycles[vs03]), (7, 7, 313));
    assert_eq!((r.entries[vs03], r.wakes[vs03]), (5, 5));
}

#[test]
fn itap_by_hand() {
    // Counters at 0: idle lanes are in VS0.5, and wake up in one cycle when they are wanted. The first sub-warp is wanted in
    // 10 and starts in 11; lane 0 waits with the others in 12, which the second has to wake up; it starts in 13.
    for granularity in [1, 32] {
        let parameters = Parameters { peek_ahead: false, granularity, counter_start: 0.0, ..Parameters::default() };
        let mut itap = Switch::new(pipes(8), parameters.rules(Goal::Power));
        assert_eq!(enter(&mut itap, 8, 10, 0x0f01), 13);
        let r = taken_whole(&mut itap, 40);
        let vs05 = LaneState::Vs05 as usize;
        assert_eq!((r.busy, r.cycles[LaneState::On as usize], r.cycles[vs05]), (5, 6, 8 * 40 - 6));
        assert_eq!((r.entries[vs05], r.wakes[vs05]), (8 + 4, 4));
    }
}

/// Right results, residencies of width × cycles, and the audit of energies.
fn adds_up(spec: &Spec, policy: &str, settings: &[&str]) {
    let selection = select(spec, policy, settings);
    PROGRAMS.iter().filter(|p| p.ordered).for_each(|program| drop(run(program, spec, threads(1), &selection)));
}

#[test]
fn residencies_add_up_to_width_times_cycles_under_every_itap() {
    for width in [4, 8, 16] {
        let spec = pascal(width);
        adds_up(&spec, "itap-pow", &["itap-pow.counter_values=4"]);
        adds_up(&spec, "itap-pow", &["itap-pow.peek_ahead=false", "itap-pow.granularity=1", "itap-pow.waking=on"]);
        adds_up(&spec, "itap-perf", &["itap-perf.granularity=4", "itap-perf.counter_values=4", "itap-perf.update=3"]);
        adds_up(&spec, "itap-ideal", &[]);
    }
}

#[test]
fn itap_holds_to_what_every_policy_must() {
    hold(&pascal(4), "itap-pow", &["itap-pow.counter_values=4"]);
    hold_whole(&pascal(8), "itap-ideal", &[]);
    let two = preset("pascal16", &[("sms", "2"), ("sp_units", "2"), ("simd_width", "8")]);
    hold(&two, "itap-perf", &["itap-perf.scope=type", "itap-perf.occupancy=pipeline", "itap-perf.counter_values=4"]);
}

#[test]
fn so_do_the_other_policies_of_lanes() {
    let two = preset("gtx480", &[("sms", "2"), ("scheduler", "two-level-active"), ("simd_width", "8")]);
    hold(&two, "cpg", &["cpg.granularity=1", "cpg.demand=unit", "cpg.scope=lane"]);
    hold(&two, "always-on", &["always-on.occupancy=pipeline"]);
    for policy in ["cpg", "pats", "warped-gates", "itap-pow+pats"] {
        adds_up(&two, policy, &[]);
    }
}

#[test]
fn watching_changes_nothing_and_work_is_the_same_at_every_width() {
    for program in PROGRAMS.iter().filter(|p| p.ordered) {
        let mut work = Vec::new();
        for width in [4, 8, 16, 32] {
            let spec = pascal(width);
            let always_on = select(&spec, "always-on", &[]);
            let (plain, _) = run(program, &spec, threads(1), &Selection::default());
            let (mut stats, report) = run(program, &spec, threads(1), &always_on);
            let [int, fp, _] = units(&spec, &always_on, &stats);
            for (unit, name) in [(&int, "int"), (&fp, "fp")] {
                assert_eq!(report.count(&format!("idle_cycles.{name}")), unit.lane_cycles - unit.busy);
                let occupied = report.histogram(&format!("occupied.{name}"));
                assert_eq!(occupied.iter().enumerate().map(|(n, c)| n as u64 * c).sum::<u64>(), unit.busy);
                assert!(occupied.iter().skip(width as usize + 1).all(|cycles| *cycles == 0));
            }
            work.push((
                int.busy,
                fp.busy,
                report.histogram("threads.int").to_vec(),
                report.histogram("threads.fp").to_vec(),
            ));
            for sm in stats.samples.iter_mut().flat_map(|s| &mut s.sms) {
                (sm.int.busy, sm.fp.busy, sm.sfu.busy) = (0, 0, 0);
            }
            assert!(record(&plain) == record(&stats), "{}", program.kernel);
        }
        assert!(work.windows(2).all(|w| w[0] == w[1]), "{}", program.kernel);
    }
}

#[test]
fn the_window_knows_more_of_narrower_sps() {
    // §6.4.3: "decreasing the lane size increases the accuracy of the peek-ahead window".
    let foreseen = |width| {
        let spec = pascal(width);
        let selection = select(&spec, "itap-perf", &[]);
        let (stats, report) = run(&find("compute"), &spec, threads(1), &selection);
        let (plain, _) = run(&find("compute"), &spec, threads(1), &Selection::default());
        let share = report.count("itap.foreseen") as f64 / report.count("itap.cycles") as f64;
        (share, cycles(&stats) as f64 / cycles(&plain) as f64)
    };
    let all = [32, 16, 8, 4].map(foreseen);
    assert!(all.windows(2).all(|w| w[0].0 < w[1].0), "{all:?}");
    assert!(all[3].1 < 1.01, "{all:?}");
}

#[test]
fn leakage_goes_with_the_number_of_lanes() {
    let leakage = |width| {
        let spec = pascal(width);
        let (stats, _) = run(&find("mm"), &spec, threads(1), &Selection::default());
        units(&spec, &Selection::default(), &stats).map(|unit| unit.full_leakage / cycles(&stats) as f64)
    };
    let wide = leakage(32);
    for width in [4, 8, 16] {
        let narrow = leakage(width);
        for (unit, lanes) in [(0, f64::from(width) / 32.0), (1, f64::from(width) / 32.0), (2, 1.0)] {
            // Launches' ends, when SMs are idle, are not cycles of the launch: close, not equal.
            let ratio = narrow[unit] / wide[unit] / lanes;
            assert!((ratio - 1.0).abs() < 0.05, "{width} lanes, unit {unit}: {ratio}");
        }
    }
}

#[test]
fn policies_that_move_threads_between_lanes_are_refused_by_name() {
    let spec = pascal(8);
    for (policies, name) in
        [("fold", "fold"), ("origami", "origami"), ("permute", "permute"), ("itap-pow+permute", "permute")]
    {
        let error = Selection::new(policies, &[], &spec).unwrap_err();
        assert_eq!(error.code(), "policy::narrow-simd");
        assert!(error.to_string().contains(&format!("`{name}`")) && error.to_string().contains("8 lanes"), "{error}");
        assert!(error.help().contains("simd_width=32"));
        assert!(Selection::new(policies, &[], &pascal(32)).is_ok());
    }
}
