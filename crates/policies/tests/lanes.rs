//! The trajectory of lanes, cycle by cycle, on hand-made traces.

mod common;

use common::taken;
use warpwatt_machine::activity::{LaneResidency, LaneState};
use warpwatt_machine::hooks::{IssueQuery, LanesHook, StartQuery};
use warpwatt_machine::kernel::Port;
use warpwatt_machine::spec::Spec;
use warpwatt_policies::cpg::Gate;
use warpwatt_policies::lanes::{Demand, Lanes, Occupancy, Scope, Setup};

const SETUP: Setup = Setup { scope: Scope::Type, granularity: 1, occupancy: Occupancy::Issue, sfu: false };

fn lanes(setup: Setup, idle_detect: u64, wake_up: u64) -> Lanes<Gate> {
    Lanes::new(&Spec::preset("gtx480").unwrap(), setup, Gate { idle_detect, wake_up })
}

fn query(now: u64, fp: bool, lanes: u32) -> StartQuery {
    StartQuery { now, port: Port::Sp, unit: 0, fp, lanes, busy: 1, latency: 6, begins: Some(lanes) }
}

/// Asks until the instruction has started; gives that cycle.
fn start(lanes: &mut impl LanesHook, query: StartQuery) -> u64 {
    (query.now..).find(|&now| lanes.start(&StartQuery { now, ..query }) == now).unwrap()
}

fn of(r: &LaneResidency, state: LaneState) -> u64 {
    r.cycles[state as usize]
}

#[test]
fn a_hand_made_idle_trace() {
    // All 32 lanes of unit 0 work in cycle 0 and want to again in cycle 30; unit 1 never does.
    let mut l = lanes(SETUP, 5, 3);
    assert_eq!(start(&mut l, query(0, false, u32::MAX)), 0);
    assert_eq!(start(&mut l, query(30, false, u32::MAX)), 33);
    let [int, fp, sfu] = taken(&mut l, 40);
    // Unit 0: on 0, idle-detect 1–5, gated 6–29, waking 30–32, on 33, idle-detect 34–38, gated 39.
    // Unit 1: idle-detect 0–4, gated 5–39.
    assert_eq!(of(&int, LaneState::On), 32 * 2);
    assert_eq!(of(&int, LaneState::IdleDetect), 32 * (5 + 5 + 5));
    assert_eq!(of(&int, LaneState::Gated), 32 * (24 + 1 + 35));
    assert_eq!(of(&int, LaneState::Waking), 32 * 3);
    assert_eq!(int.cycles.iter().sum::<u64>(), 64 * 40);
    assert_eq!((int.entries[LaneState::Gated as usize], int.wakes[LaneState::Gated as usize]), (32 * 3, 32));
    assert_eq!(int.busy, 32 * 2);
    // FP lanes idle all along, SFU lanes are on.
    assert_eq!((of(&fp, LaneState::Gated), of(&fp, LaneState::IdleDetect)), (64 * 35, 64 * 5));
    assert_eq!(of(&sfu, LaneState::On), 4 * 40);
}

#[test]
fn an_instruction_in_the_cycle_of_a_change_comes_first() {
    // Idle for exactly the window: not gated. One cycle more: gated for one cycle.
    for (again, gated) in [(6, 0), (7, 1)] {
        let mut l = lanes(SETUP, 5, 0);
        start(&mut l, query(0, false, u32::MAX));
        assert_eq!(start(&mut l, query(again, false, u32::MAX)), again);
        let [int, ..] = taken(&mut l, again + 1);
        assert_eq!(of(&int, LaneState::Gated), 32 * (gated + again + 1 - 5));
    }
    // Without a window a lane is gated in its first idle cycle, and not between two cycles of work.
    let mut l = lanes(SETUP, 0, 0);
    for now in [0, 1, 3] {
        assert_eq!(start(&mut l, query(now, false, u32::MAX)), now);
    }
    let [int, ..] = taken(&mut l, 4);
    assert_eq!((of(&int, LaneState::Gated), int.entries[LaneState::Gated as usize]), (32 * (1 + 4), 64));
}

#[test]
fn lanes_that_are_awake_wait_for_those_that_wake_up() {
    let mut l = lanes(SETUP, 5, 9);
    start(&mut l, query(0, false, u32::MAX));
    start(&mut l, query(4, false, 0xffff));
    // The upper half is gated from 6 on; the lower half would be gated from 10 on, but is wanted from 8 on.
    assert_eq!(start(&mut l, query(8, false, u32::MAX)), 17);
    let [int, ..] = taken(&mut l, 18);
    let other = 32 * (18 - 5);
    assert_eq!(of(&int, LaneState::Gated), 16 * 2 + other);
    assert_eq!(of(&int, LaneState::Waking), 16 * 9);
    assert_eq!(of(&int, LaneState::IdleDetect), 16 * 5 + 16 * (3 + 3) + 32 * 5);
    assert_eq!(of(&int, LaneState::On), 16 * 2 + 16 * (1 + 1 + 9 + 1));
    assert_eq!(int.busy, 16 * 2 + 16 * 3);
}

#[test]
fn int_and_fp_are_switched_apart_or_together() {
    for (scope, gated) in [(Scope::Type, 64 * 15 - 32), (Scope::Lane, 32 * (15 + 14))] {
        let mut l = lanes(Setup { scope, ..SETUP }, 5, 0);
        start(&mut l, query(10, true, u32::MAX));
        let [int, fp, _] = taken(&mut l, 20);
        if scope == Scope::Lane {
            assert_eq!(int, fp);
        } else {
            assert_eq!(of(&int, LaneState::Gated), 64 * 15);
        }
        // Of 20 cycles unit 1 sleeps 15; unit 0 sleeps 5–9 and 16–19.
        assert_eq!(of(&fp, LaneState::Gated), 32 * 15 + 32 * (5 + 4), "{gated}");
    }
}

#[test]
fn adjacent_lanes_are_switched_together() {
    for (granularity, awake) in [(1, 2), (2, 4), (4, 8), (8, 16), (16, 32), (32, 32)] {
        let mut l = lanes(Setup { granularity, ..SETUP }, 0, 2);
        assert_eq!(start(&mut l, query(100, false, 1 | 1 << 17)), 102);
        let [int, ..] = taken(&mut l, 103);
        assert_eq!(of(&int, LaneState::Waking), 2 * awake);
        assert_eq!(int.cycles.iter().sum::<u64>(), 64 * 103);
    }
}

#[test]
fn lanes_may_work_until_the_result_leaves() {
    let mut l = lanes(Setup { occupancy: Occupancy::Pipeline, ..SETUP }, 0, 0);
    start(&mut l, query(0, false, u32::MAX));
    start(&mut l, query(2, false, u32::MAX));
    let [int, ..] = taken(&mut l, 10);
    // Results leave after 6 cycles: the lanes work from 0 to 7.
    assert_eq!((of(&int, LaneState::On), int.busy), (32 * 8, 32 * 8));
}

#[test]
fn lanes_that_woke_up_for_nothing_fall_asleep_again() {
    let mut l = lanes(SETUP, 5, 3);
    assert_eq!(l.start(&query(10, false, u32::MAX)), 13);
    // The instruction has gone to another unit. Awake at 13, gated at 18.
    assert_eq!(l.ready(&query(17, false, u32::MAX)), 17);
    assert_eq!(l.ready(&query(18, false, u32::MAX)), 18);
    assert_eq!(l.ready(&query(19, false, u32::MAX)), 22);
    assert_eq!(start(&mut l, query(30, false, u32::MAX)), 33);
    let [int, ..] = taken(&mut l, 34);
    assert_eq!((int.entries[LaneState::Gated as usize], int.wakes[LaneState::Gated as usize]), (32 * 3, 64));
    assert_eq!(of(&int, LaneState::Waking), 32 * 6);
}

#[test]
fn where_residency_is_cut_changes_nothing() {
    let trace = [(3, 0xff), (9, 0xff00_00ff), (14, 1), (40, u32::MAX), (45, 0xf0f0), (60, 0xffff), (97, 2)];
    let total = |every: u64| {
        let mut l = lanes(SETUP, 4, 3);
        let mut sum = LaneResidency::default();
        let mut last = 0;
        for (now, mask) in trace {
            for cut in (last + 1..=now).filter(|c| c % every == 0) {
                sum.add(&taken(&mut l, cut)[0]);
            }
            last = start(&mut l, query(now, false, mask));
            assert!(last <= now + 3);
        }
        sum.add(&taken(&mut l, 120)[0]);
        sum
    };
    let whole = total(1000);
    assert_eq!(whole.cycles.iter().sum::<u64>(), 64 * 120);
    for every in [1, 2, 3, 7, 40] {
        assert_eq!(total(every), whole, "every {every}");
    }
}

#[test]
fn lanes_may_be_demanded_at_issue() {
    let issue = |l: &mut Lanes<Gate>, now, lanes| l.issued(&IssueQuery { now, warp: 0, lanes, fp: false }, (lanes, 0));
    for (demand, awake) in [(Demand::Issue, 23), (Demand::Unit, 25)] {
        // All lanes sleep from 5 on. An instruction issues in 20 and stands in front of the unit in 22.
        let mut l = lanes(SETUP, 5, 3).demanded_at(demand);
        issue(&mut l, 20, 0xff);
        assert_eq!(start(&mut l, query(22, false, 0xff)), awake);
        let [int, ..] = taken(&mut l, 26);
        assert_eq!((of(&int, LaneState::Waking), int.wakes[LaneState::Gated as usize]), (8 * 3, 8));
        // Lanes that no instruction wants sleep on.
        assert_eq!(int.cycles.iter().sum::<u64>(), 64 * 26);
        assert_eq!(of(&int, LaneState::Gated), 56 * 21 + 8 * (awake - 3 - 5));
        // Lanes that work in 0 are gated from 6 on, unless an instruction is known to come.
        let mut l = lanes(SETUP, 5, 3).demanded_at(demand);
        start(&mut l, query(0, false, 0xff));
        issue(&mut l, 4, 0xff);
        assert_eq!(start(&mut l, query(7, false, 0xff)), if demand == Demand::Issue { 7 } else { 10 });
    }
    // One that does not come after all is not waited for: awake at 8, gated 5 cycles later.
    let mut l = lanes(SETUP, 5, 3).demanded_at(Demand::Issue);
    start(&mut l, query(0, false, 0xff));
    issue(&mut l, 4, 0xff);
    assert_eq!(l.ready(&query(13, false, 0xff)), 13);
    assert_eq!(l.ready(&query(14, false, 0xff)), 17);
}

#[test]
fn the_unit_that_is_awake_is_demanded() {
    let mut l = lanes(SETUP, 5, 3).demanded_at(Demand::Issue);
    start(&mut l, StartQuery { unit: 1, ..query(20, false, 0xff) });
    l.issued(&IssueQuery { now: 24, warp: 0, lanes: 0xff, fp: false }, (0xff, 0));
    // Unit 0 sleeps on, unit 1 stays awake.
    assert_eq!(l.ready(&query(26, false, 0xff)), 29);
    assert_eq!(l.ready(&StartQuery { unit: 1, ..query(28, false, 0xff) }), 28);
}

#[test]
fn lanes_stay_awake_for_the_instruction_behind_the_one_that_starts() {
    let issue = |l: &mut Lanes<Gate>, now, lanes| l.issued(&IssueQuery { now, warp: 0, lanes, fp: false }, (lanes, 0));
    for first in [0xff, 0xffff, 0xf] {
        let mut l = lanes(SETUP, 1, 3).demanded_at(Demand::Issue);
        issue(&mut l, 0, first);
        issue(&mut l, 3, 0xff);
        assert_eq!(start(&mut l, query(4, false, first)), 4, "{first:x}");
        assert_eq!(start(&mut l, query(7, false, 0xff)), 7, "{first:x}");
    }
}

#[test]
fn a_folded_instruction_takes_two_cycles_of_its_unit() {
    for (masks, other) in [((0xff, 0), 8), ((0x33, 0x33), 5)] {
        // The first takes unit 0 from 4 on. The second arrives in 5: unit 0 is free again, or is not.
        let mut l = lanes(SETUP, 2, 3).demanded_at(Demand::Issue);
        l.issued(&IssueQuery { now: 0, warp: 0, lanes: 0xff, fp: false }, masks);
        l.issued(&IssueQuery { now: 1, warp: 1, lanes: 0xff, fp: false }, (0xff, 0));
        assert_eq!(l.ready(&StartQuery { unit: 1, ..query(5, false, 0xff) }), other);
    }
}
