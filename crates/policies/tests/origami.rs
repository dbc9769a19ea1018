//! Warp Folding, the Origami scheduler and ideal permutation: the papers' figures, each rule, and whole runs.

mod common;

use common::{PROGRAMS, cycles, find, hold, model, preset, run, select, threads, two_level, units};
use proptest::prelude::*;
use std::sync::Arc;
use warpwatt_machine::activity::{LaneResidency, LaneState, MEM_EVENTS, SM_EVENTS, Sample, SmActivity};
use warpwatt_machine::hooks::{Hook, IssueHook, IssueQuery, Shape};
use warpwatt_machine::spec::Spec;
use warpwatt_policies::cpg::Gate;
use warpwatt_policies::lanes::{Occupancy, Scope, Setup, Tracker};
use warpwatt_policies::origami::folding::{Folder, Signals, Window};
use warpwatt_policies::origami::gate::FoldGate;
use warpwatt_policies::origami::order::Turn;
use warpwatt_policies::origami::shape::{LOWER, UPPER, halves, shift};
use warpwatt_policies::origami::{Folding, Most};
use warpwatt_policies::permute::compact;
use warpwatt_policies::{PolicyError, Selection};
use warpwatt_power::UnitPower;

/// A mask as the figures draw it: lane 0 on the left.
fn mask(drawn: &str) -> u32 {
    drawn.bytes().filter(|b| *b != b' ').enumerate().fold(0, |m, (lane, b)| m | u32::from(b == b'1') << lane)
}

#[test]
fn figure_8_a_full_warp_is_folded() {
    let (first, second) = halves(mask("1111 1111"));
    assert_eq!((first, second), (mask("1100 1100"), mask("0011 0011")));
    assert_eq!((shift(first), shift(second)), (mask("1100 1100"), mask("1100 1100")));
}

#[test]
fn figure_7_threads_move_to_the_left_of_their_cluster() {
    // Lane 3 to lane 2 in the first cluster, lane 5 to lane 4 in the second.
    assert_eq!(shift(mask("1101 0000")), mask("1110 0000"));
    assert_eq!(shift(mask("0000 0100")), mask("0000 1000"));
}

#[test]
fn shifting_stays_in_the_cluster_and_keeps_every_thread() {
    for cluster in 0..16u32 {
        for at in 0..8 {
            let packed = (1 << cluster.count_ones()) - 1;
            assert_eq!(shift(cluster << (4 * at)), packed << (4 * at));
        }
    }
    assert_eq!(shift(0x8421_8421), 0x1111_1111);
}

proptest! {
    #[test]
    fn halves_hold_every_thread_once_on_the_lower_lanes(lanes in any::<u32>()) {
        let (first, second) = halves(lanes);
        prop_assert_eq!((first | second, first & second), (lanes, 0));
        prop_assert_eq!((shift(first) | shift(second)) & UPPER, 0);
        prop_assert_eq!(shift(first).count_ones() + shift(second).count_ones(), lanes.count_ones());
        prop_assert_eq!(compact(lanes).count_ones(), lanes.count_ones());
        prop_assert_eq!(u64::from(compact(lanes)) + 1, 1u64 << lanes.count_ones());
    }
}

#[test]
fn permutation_makes_masks_with_as_many_threads_the_same() {
    assert_eq!(compact(mask("11001010")), mask("11110000"));
    assert_eq!(compact(mask("00010111")), mask("11110000"));
}

#[test]
fn the_shortest_folding_is_38_cycles() {
    let p = Folding { pipe_flush: 19, idle_detect: 5, bet: 14, ..Folding::default() };
    assert_eq!((p.n_fold(), p.share(p.aggressive), p.share(p.conservative)), (38, 210, 120));
}

#[test]
fn shares_shorter_than_that_are_refused() {
    let gpu = Spec::preset("gtx480").unwrap();
    for policy in ["fold", "origami"] {
        let with = |set: &[&str]| {
            let set: Vec<String> = set.iter().map(|s| format!("{policy}.{s}")).collect();
            Selection::new(policy, &set.iter().map(String::as_str).collect::<Vec<_>>(), &gpu)
        };
        let error = with(&["phase=90"]).unwrap_err();
        assert!(matches!(error, PolicyError::Inconsistent { .. }));
        assert!(error.to_string().contains("90 leaves 36 cycles") && error.to_string().contains("= 38"), "{error}");
        assert!(error.help().contains("from 95 on"), "{}", error.help());
        assert!(with(&["phase=95"]).is_ok() && with(&["phase=94"]).is_err());
        // The aggressive share too; none at all is no share.
        assert!(with(&["aggressive=12"]).is_err() && with(&["aggressive=13"]).is_ok());
        assert!(with(&["phase=90", "conservative=0"]).is_ok());
        assert!(with(&["bet=101"]).is_err());
        for bad in ["phase=0", "aggressive=101", "cutoff=-1", "stages=17", "granularity=3", "logic_power=-1"] {
            assert_eq!(with(&[bad]).unwrap_err().code(), "policy::bad-value", "{bad}");
        }
        assert!(with(&["granularity=32", "eager=false"]).is_ok());
        assert!(with(&["granularity=4", "eager=true"]).is_err());
    }
    assert!(Selection::new("origami", &["origami.forced=0"], &gpu).is_err());
    assert!(Selection::new("fold+permute", &[], &gpu).is_err());
    assert!(Selection::new("origami+cpg", &[], &gpu).is_err());
    assert!(Selection::new("cpg+permute", &[], &gpu).is_ok());
}

fn folder(parameters: Folding) -> (Folder, Arc<Signals>) {
    let signals = Arc::new(Signals::default());
    (Folder::new(parameters, &Spec::preset("gtx480").unwrap(), signals.clone()), signals)
}

#[test]
fn the_type_with_more_warps_is_folded_for_the_smaller_share() {
    for (int, fp, until) in [(9, 4, [120, 210]), (4, 9, [210, 120]), (5, 5, [120, 120]), (7, 0, [120, 210])] {
        let (mut f, signals) = folder(Folding::default());
        let window = f.begin(1000, int, fp, [0; 3]);
        assert_eq!(window, Window { from: 1000, until: until.map(|u| 1000 + u) });
        assert_eq!(signals.window(), window);
        assert_eq!(f.next_event(1000), 1300);
    }
}

#[test]
fn no_folding_after_a_phase_that_issued_nearly_all_it_could() {
    // Two schedulers issue 600 in 300 cycles; 90 % are 540. Two SPs take 300 folded warps; 90 % are 270.
    for (cutoff_of, adaptive, issued, folds) in [
        (Most::Issue, true, [300, 39, 200], true),
        (Most::Issue, true, [300, 40, 200], false),
        (Most::Issue, false, [600, 0, 0], true),
        (Most::Folded, true, [269, 50, 281], true),
        (Most::Folded, true, [270, 0, 0], false),
        (Most::Folded, false, [600, 0, 0], true),
    ] {
        let (mut f, _) = folder(Folding { adaptive, cutoff_of, ..Folding::default() });
        f.begin(0, 8, 2, [0; 3]);
        let expected = if folds { [420, 510] } else { [300, 300] };
        assert_eq!(f.begin(300, 8, 2, issued).until, expected, "{cutoff_of:?} {adaptive} {issued:?}");
    }
    // The last phase counts, not all that came before.
    let (mut f, _) = folder(Folding { adaptive: true, ..Folding::default() });
    f.begin(0, 8, 2, [5000, 0, 0]);
    assert_eq!(f.begin(300, 8, 2, [5100, 0, 0]).until, [420, 510]);
    assert_eq!(f.begin(600, 8, 2, [5400, 0, 0]).until, [600, 600]);
    assert_eq!(f.begin(900, 8, 2, [5401, 0, 0]).until, [1020, 1110]);
}

#[test]
fn warps_are_folded_in_the_first_part_of_the_phase_unless_a_half_is_empty() {
    let shape = |f: &mut Folder, now, fp, lanes| f.shape(&IssueQuery { now, warp: 0, lanes, fp });
    let full = Shape::Split(LOWER, LOWER);
    for (shifting, ragged) in [(false, Shape::Whole), (true, Shape::Permuted(mask("1110 1000")))] {
        let (mut f, _) = folder(Folding { shift: shifting, ..Folding::default() });
        f.begin(0, 9, 4, [0; 3]);
        assert_eq!(shape(&mut f, 0, false, u32::MAX), full);
        assert_eq!(shape(&mut f, 119, false, u32::MAX), full);
        assert_eq!(shape(&mut f, 120, true, u32::MAX), full);
        assert_eq!(shape(&mut f, 209, true, u32::MAX), full);
        let open = if shifting { Shape::Permuted(u32::MAX) } else { Shape::Whole };
        assert_eq!(shape(&mut f, 120, false, u32::MAX), open);
        assert_eq!(shape(&mut f, 210, true, u32::MAX), open);
        assert_eq!(shape(&mut f, 250, true, mask("1101 0001")), ragged);
        // Judged before packing: threads 0 and 2 are in different halves, 2 and 3 in one.
        assert_eq!(shape(&mut f, 5, false, mask("1010")), Shape::Split(mask("1000"), mask("1000")));
        assert_eq!(shape(&mut f, 5, false, mask("0011 0010")), Shape::Permuted(mask("1100 1000")));
        assert_eq!(shape(&mut f, 5, false, mask("1100 0100")), Shape::Permuted(mask("1100 1000")));
        assert_eq!(f.extra_stages(), 2);
    }
}

#[test]
fn a_saved_folder_goes_on_where_it_was() {
    let (mut f, _) = folder(Folding::default());
    f.begin(0, 9, 4, [0; 3]);
    let (mut again, signals) = folder(Folding::default());
    again.load(&f.save()).unwrap();
    assert_eq!(signals.window(), Window { from: 0, until: [120, 210] });
    assert_eq!((again.next_event(7), again.begin(300, 1, 1, [540; 3])), (300, f.begin(300, 1, 1, [540; 3])));
    assert!(again.load(&[]).is_err());
}

/// The lanes of one SP under folding.
struct Sp {
    spec: Spec,
    tracker: Tracker,
    gate: FoldGate,
}

impl Sp {
    fn new(eager: bool) -> Sp {
        let mut spec = Spec::preset("gtx480").unwrap();
        spec.sp_units = 1;
        let setup = Setup { scope: Scope::Type, granularity: 1, occupancy: Occupancy::Issue, sfu: false };
        let gate = FoldGate::new(Gate { idle_detect: 5, wake_up: 3 }, eager, Arc::default());
        Sp { tracker: Tracker::new(&spec, &setup, &gate), gate, spec }
    }

    fn enter(&mut self, from: u64, int: u64, fp: u64) {
        self.gate.enter(&mut self.tracker, from, Window { from, until: [int, fp] });
    }

    /// Asks until an INT instruction has started; gives that cycle.
    fn start(&mut self, now: u64, lanes: u32, busy: u64) -> u64 {
        (now..).find(|&now| self.tracker.start(0, &mut self.gate, now, lanes, busy) == now).unwrap()
    }

    fn int(&mut self, now: u64) -> LaneResidency {
        self.tracker.take_residency(&self.gate, now)[0].clone()
    }

    /// What the power model makes of the INT lanes.
    fn power(&self, int: LaneResidency) -> UnitPower {
        let cycles = int.cycles.iter().sum::<u64>() / 32;
        let sm = SmActivity { events: vec![0; SM_EVENTS], cycles, int, ..SmActivity::default() };
        let sample = Sample {
            start: 0,
            end: cycles * 1_000_000_000 / 700,
            launch: 0,
            core_mhz: 700.0,
            core_volts: 1.0,
            noc_mhz: 700.0,
            dram_mhz: 924.0,
            mem_volts: 1.0,
            sms: vec![sm],
            mem: vec![0; MEM_EVENTS],
            transitions: 0,
        };
        model(&self.spec, &select(&self.spec, "fold", &[])).unit_power(&[sample])[0]
    }
}

fn of(r: &LaneResidency, state: LaneState) -> u64 {
    r.cycles[state as usize]
}

#[test]
fn the_energy_of_a_hand_made_idle_trace() {
    // INT is folded until 120. Folded warps start in 0, 2 and 8, an unfolded one in 130.
    for (eager, window) in [(true, 0), (false, 5)] {
        let mut sp = Sp::new(eager);
        sp.enter(0, 120, 210);
        for now in [0, 2, 8] {
            assert_eq!(sp.start(now, LOWER, 2), now);
        }
        assert_eq!(sp.start(130, u32::MAX, 1), 133);
        let r = sp.int(135);
        // The lower half: on 0–3, idle-detect 4–7 (shorter than the window), on 8–9, idle-detect 10–14, gated 15–129.
        // The upper half: gated to 129, from 0 on eagerly, from 5 on after the window. Both: waking 130–132, on 133, and
        // in 134 idle-detect, for folding is over.
        assert_eq!(of(&r, LaneState::Gated), 16 * 115 + 16 * (130 - window));
        assert_eq!(of(&r, LaneState::Waking), 32 * 3);
        assert_eq!(of(&r, LaneState::On), 16 * 6 + 32);
        assert_eq!(of(&r, LaneState::IdleDetect), 16 * 9 + 16 * window + 32);
        assert_eq!(r.cycles.iter().sum::<u64>(), 32 * 135);
        assert_eq!((r.entries[LaneState::Gated as usize], r.wakes[LaneState::Gated as usize]), (32, 32));
        // What is left: on-cycles, waking cycles, and 14 for each gating event.
        let left = 16 * (6 + 9 + window) + 32 * (1 + 1 + 3) + 14 * 32;
        let unit = sp.power(r);
        assert_eq!(unit.lane_cycles, 32 * 135);
        assert!((unit.leaked_cycles - left as f64).abs() < 1e-6, "{} {left}", unit.leaked_cycles);
    }
}

#[test]
fn eager_gating_is_of_the_upper_half_while_its_type_is_folded() {
    let mut sp = Sp::new(true);
    sp.enter(0, 50, 0);
    // A warp that was issued unfolded wakes the upper half, which is gated again in its first idle cycle.
    assert_eq!(sp.start(10, u32::MAX, 1), 13);
    let r = sp.int(15);
    // Upper: gated 0–9, waking 10–12, on 13, gated 14. Lower: idle-detect 0–4, gated 5–9, waking, on 13, idle-detect 14.
    assert_eq!((of(&r, LaneState::Gated), of(&r, LaneState::IdleDetect)), (16 * (10 + 1 + 5), 16 * (5 + 1)));
    // After the window both halves are alike.
    assert_eq!(sp.start(60, u32::MAX, 1), 63);
    let before = sp.int(64);
    assert_eq!(before.entries[LaneState::Gated as usize], 16);
    let r = sp.int(70);
    assert_eq!((of(&r, LaneState::IdleDetect), of(&r, LaneState::Gated)), (32 * 5, 32));
    // FP lanes were never folded: gated after the usual window.
    let mut sp = Sp::new(true);
    sp.enter(0, 50, 0);
    let fp = sp.tracker.take_residency(&sp.gate, 8)[1].clone();
    assert_eq!((of(&fp, LaneState::IdleDetect), of(&fp, LaneState::Gated)), (32 * 5, 32 * 3));
}

#[test]
fn a_phase_gates_the_upper_half_that_already_idles() {
    let mut sp = Sp::new(true);
    sp.enter(0, 0, 50);
    assert_eq!(sp.start(0, u32::MAX, 10), 0);
    // Idle from 10 on; folding begins in 12.
    sp.enter(12, 132, 132);
    let r = sp.int(15);
    assert_eq!((of(&r, LaneState::IdleDetect), of(&r, LaneState::Gated)), (32 * 2 + 16 * 3, 16 * 3));
    // Folding that begins while it works waits for its first idle cycle.
    let mut sp = Sp::new(true);
    sp.enter(0, 0, 50);
    assert_eq!(sp.start(0, u32::MAX, 10), 0);
    sp.enter(7, 127, 127);
    let r = sp.int(15);
    assert_eq!((of(&r, LaneState::IdleDetect), of(&r, LaneState::Gated)), (16 * 5, 16 * 5));
    assert_eq!(of(&r, LaneState::On), 32 * 10);
}

/// The warps that come first, in the order in which they are chosen when none issues twice.
fn order(turn: &mut Turn, mut available: u64, set: u64, int: u64, fp: u64, full: u64) -> Vec<usize> {
    let mut order = Vec::new();
    while let Some(w) = turn.choose(available, set, [int, fp], 63, |w| full >> w & 1 != 0) {
        order.push(w);
        available &= !(1 << w);
    }
    order
}

#[test]
fn the_type_whose_turn_it_is_comes_first_then_memory_then_the_other() {
    let (int, fp, mem) = (0b0011, 0b1100, 0b11_0000);
    let set = int | fp | mem;
    let mut turn = Turn::default();
    assert_eq!(order(&mut turn, set, set, int, fp, 0), [0, 1, 4, 5, 2, 3]);
    assert!(!turn.fp, "INT warps are in the active set, though none can issue");
    // In turn after the one that issued last.
    assert_eq!(turn.choose(set, set, [int, fp], 0, |_| false), Some(1));
    assert_eq!(turn.choose(set, set, [int, fp], 1, |_| false), Some(0));
    // Only the active set counts.
    assert_eq!(order(&mut turn, set, int & 1 | mem, int, fp, 0), [0, 4, 5]);
    assert_eq!(order(&mut turn, fp, int | mem, int, fp, 0), [0; 0]);
    // None of the type is left in it: the other's turn, which stays when the first comes back.
    assert_eq!(order(&mut turn, set, fp | mem, int, fp, 0), [2, 3, 4, 5]);
    assert!(turn.fp);
    assert_eq!(order(&mut turn, set, set, int, fp, 0), [2, 3, 4, 5, 0, 1]);
    // Memory alone ends no turn.
    assert_eq!(order(&mut turn, mem, mem, int, fp, 0), [4, 5]);
    assert!(turn.fp);
}

#[test]
fn within_a_type_the_larger_group_comes_first() {
    let (int, mem, full) = (0b1111, 0b11_0000, 0b01_0101);
    let mut turn = Turn::default();
    turn.begin(2, false, 1, 3);
    assert!(turn.full);
    // Groups are of warps for the SPs; if none of the group can issue, any ready one of the type does.
    assert_eq!(order(&mut turn, int | mem, u64::MAX, int, 0, full), [0, 2, 1, 3, 4, 5]);
    turn.begin(2, false, 3, 1);
    assert!(!turn.full);
    assert_eq!(order(&mut turn, int | mem, u64::MAX, int, 0, full), [1, 3, 0, 2, 4, 5]);
    // Equally many: as before.
    turn.begin(2, false, 2, 2);
    assert!(!turn.full);
}

#[test]
fn after_two_phases_a_turn_is_forced_to_end() {
    let mut turn = Turn::default();
    // The first phase of a group of full warps, the second, and the forced switch.
    assert_eq!(turn.begin(2, false, 1, 9), 0);
    assert_eq!((turn.begin(2, false, 1, 9), turn.full), (0, true));
    assert_eq!((turn.begin(2, false, 1, 9), turn.full), (1, false));
    assert_eq!((turn.begin(2, false, 1, 9), turn.full), (0, true));
    // There is nobody to switch to.
    assert_eq!((turn.begin(2, false, 0, 9), turn.full), (0, true));
    assert_eq!((turn.begin(2, false, 0, 9), turn.full), (0, true));
    // Types alike.
    let mut turn = Turn::default();
    let types: Vec<bool> = (0..8).map(|_| (turn.begin(2, true, 0, 0), turn.fp).1).collect();
    assert_eq!(types, [false, false, true, true, false, false, true, true]);
    let mut turn = Turn::default();
    assert!((0..5).all(|_| turn.begin(2, false, 0, 0) == 0 && !turn.fp));
    // A turn that ended by itself starts the count anew.
    let mut turn = Turn::default();
    turn.begin(2, true, 0, 0);
    turn.begin(2, true, 0, 0);
    turn.choose(0b10, 0b10, [0b01, 0b10], 0, |_| false);
    assert!(turn.fp);
    assert_eq!((turn.begin(2, true, 0, 0), turn.fp), (0, true));
    assert_eq!((turn.begin(2, true, 0, 0), turn.fp), (1, false));
}

#[test]
fn folding_holds_to_what_every_policy_must() {
    hold(&two_level(), "fold", &["fold.phase=130"]);
}

#[test]
fn origami_holds_to_what_every_policy_must() {
    hold(&two_level(), "origami", &["origami.phase=130"]);
}

#[test]
fn origami_holds_with_other_lanes() {
    let settings = ["origami.scope=lane", "origami.granularity=2", "origami.occupancy=pipeline", "origami.sfu=true"];
    hold(&preset("pascal16", &[]), "origami", &settings);
}

#[test]
fn permutation_holds_to_what_every_policy_must() {
    hold(&preset("pascal16", &[]), "cpg+permute", &[]);
}

#[test]
fn permutation_costs_nothing_and_leaves_upper_lanes_idle() {
    let spec = two_level();
    let program = find("diverge");
    let with = |policies: &str| {
        let policy = select(&spec, policies, &["cpg.wake_up=0", "cpg.granularity=1"]);
        let (stats, _) = run(&program, &spec, threads(1), &policy);
        (cycles(&stats), units(&spec, &policy, &stats)[0])
    };
    let ((time, plain), (same, packed)) = (with("cpg"), with("cpg+permute"));
    assert_eq!((time, plain.busy), (same, packed.busy));
    assert!(packed.saved.unwrap() > plain.saved.unwrap());
}

#[test]
fn what_is_reported() {
    let spec = two_level();
    for policy in ["fold", "origami"] {
        let selection = select(&spec, policy, &[]);
        let mut folded = 0;
        for program in PROGRAMS.iter().filter(|p| p.ordered) {
            let (_, report) = run(program, &spec, threads(1), &selection);
            let value = |name: &str| {
                let mut metrics = selection.chosen()[0].metrics(&report);
                metrics.find(|(m, _)| m.name == name).unwrap().1
            };
            let (parts, on) = (value("warps_folded").unwrap(), value("folding_on").unwrap());
            assert!((0.0..=on).contains(&parts) && on <= 1.0, "{}", program.kernel);
            assert!((0.0..=1.0).contains(&value("phases_folded").unwrap()));
            folded += report.count("fold.folded.int") + report.count("fold.folded.fp");
            let kinds = ["int", "fp"].map(|k| report.count(&format!("fold.warps.{k}")));
            assert!(kinds.iter().sum::<u64>() > 0 && report.count("fold.phases") > 0);
        }
        assert!(folded > 0);
    }
}

#[test]
fn without_folding_and_stages_it_is_conventional_gating() {
    let spec = two_level();
    let never = ["fold.aggressive=0", "fold.conservative=0", "fold.stages=0"];
    let with = |kernel: &str, policies: &str, settings: &[&str]| {
        let policy = select(&spec, policies, settings);
        let (stats, report) = run(&find(kernel), &spec, threads(1), &policy);
        (cycles(&stats), units(&spec, &policy, &stats), report)
    };
    let (time, cpg, _) = with("compute", "cpg", &["cpg.granularity=1"]);
    let (same, off, report) = with("compute", "fold", &never);
    // Folding that never folds and has no stages is conventional gating, lane by lane.
    assert_eq!((time, cpg[0].by_state, cpg[1].by_state), (same, off[0].by_state, off[1].by_state));
    assert_eq!((report.count("fold.folded.int"), report.count("fold.phases.folded")), (0, 0));
    assert!(off[0].joules.overhead > cpg[0].joules.overhead, "the added logic");
    // Two stages lengthen every result's way: seen where a warp is alone.
    let (short, long) = (with("chase", "fold", &never).0, with("chase", "fold", &never[..2]).0);
    assert!(long > short, "{long} {short}");
}
