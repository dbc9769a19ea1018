//! Warped Gates: each rule on hand-made queries and traces, and whole runs.

mod common;

use common::{PROGRAMS, cycles, find, hold, model, run, select, taken, threads, two_level, units};
use proptest::prelude::*;
use std::sync::Arc;
use warpwatt_machine::activity::{LaneState, MEM_EVENTS, SM_EVENTS, Sample, SmActivity};
use warpwatt_machine::hooks::{Hook, LanesHook, OrderHook, OrderQuery, StartQuery, Watches};
use warpwatt_machine::kernel::Port;
use warpwatt_machine::sm::warps::Warps;
use warpwatt_machine::spec::Spec;
use warpwatt_policies::lanes::{Control, Lanes, Occupancy, PipeKind, Scope, Setup, Tracker};
use warpwatt_policies::warped_gates::blackout::{Blackout, Present};
use warpwatt_policies::warped_gates::gates::{ActiveWarps, Gates};
use warpwatt_policies::warped_gates::{BlackoutKind, Parameters, Switch};
use warpwatt_policies::{PolicyError, Selection};

const SETUP: Setup = Setup { scope: Scope::Type, granularity: 32, occupancy: Occupancy::Issue, sfu: false };

/// Warps by the type of their next instruction, all of them ready.
fn warps(int: u64, fp: u64, mem: u64, sfu: u64) -> Warps {
    let mut w = Warps::new(48);
    w.resident = int | fp | mem | sfu;
    (w.buffered, w.clear, w.fp) = (w.resident, w.resident, fp);
    w.port[Port::Sp as usize] = int | fp;
    w.port[Port::Mem as usize] = mem;
    w.port[Port::Sfu as usize] = sfu;
    w
}

fn gates(active: u32, switch: Switch) -> Gates {
    Gates::new(1, active, switch, Arc::new(ActiveWarps::none()))
}

/// Asks for a warp out of `free` ones, those whose port has room.
fn pick(gates: &mut Gates, warps: &Warps, free: u64) -> Option<usize> {
    let alu = warps.buffered & warps.port[Port::Sp as usize];
    gates.pick(&OrderQuery {
        now: 0,
        scheduler: 0,
        ready: warps.ready(),
        available: warps.ready() & free,
        pool: u64::MAX >> 16,
        int: alu & !warps.fp,
        fp: alu & warps.fp,
        warps,
        threads: &[],
    })
}

#[test]
fn int_first_then_load_store_and_sfu_then_fp() {
    let mut g = gates(8, Switch::Ready);
    let w = warps(0b0000_0110, 0b0000_1001, 0b0001_0000, 0b0010_0000);
    let all = w.resident;
    // Round-robin among equals; the set is full of them all.
    assert_eq!([(); 3].map(|()| pick(&mut g, &w, all)), [Some(1), Some(2), Some(1)]);
    // INT is ready, but its port has no room: the others fill in, and INT keeps its turn.
    assert_eq!([(); 3].map(|()| pick(&mut g, &w, 0b0011_1001)), [Some(4), Some(5), Some(4)]);
    assert_eq!([(); 2].map(|()| pick(&mut g, &w, 0b0000_1001)), [Some(0), Some(3)]);
    assert!(!g.fp_first(0));
    assert_eq!(pick(&mut g, &w, all), Some(1));
    assert_eq!(pick(&mut g, &w, 0), None);
}

#[test]
fn the_type_changes_when_none_of_it_is_ready() {
    for (switch, fp) in [(Switch::Ready, true), (Switch::Present, false)] {
        let mut g = gates(8, switch);
        let mut w = warps(0b0010, 0b0001, 0b0100, 0);
        assert_eq!(pick(&mut g, &w, w.resident), Some(1));
        // The INT warp waits for an arithmetic result, and stays in the set.
        w.clear &= !0b0010;
        assert_eq!(pick(&mut g, &w, w.resident), Some(if fp { 0 } else { 2 }));
        assert_eq!(g.fp_first(0), fp);
        // Back again: whoever has the turn keeps it while a warp of it is ready.
        w.clear = w.resident;
        assert_eq!(pick(&mut g, &w, w.resident), Some(if fp { 0 } else { 1 }));
        // No INT warp is there any more.
        let w = warps(0, 0b0011, 0b0100, 0);
        assert_eq!(pick(&mut g, &w, 0b0011), Some(if fp { 1 } else { 0 }));
        assert!(g.fp_first(0));
        // Without either type there is no reason to change.
        let w = warps(0, 0, 0b0111, 0);
        assert!(pick(&mut g, &w, w.resident).is_some() && g.fp_first(0));
    }
}

#[test]
fn only_warps_of_the_active_set_issue_and_the_lanes_see_it() {
    let shared = Arc::new(ActiveWarps::none());
    let mut g = Gates::new(1, 2, Switch::Ready, shared.clone());
    let mut w = warps(0b1000, 0b0110, 0, 0);
    assert_eq!(pick(&mut g, &w, w.resident), Some(1));
    assert_eq!(shared.get(), 0b0110);
    // The INT warp is not in the set: it does not count. It comes in when another stalls on memory.
    assert!(g.fp_first(0));
    (w.clear, w.on_memory) = (0b1100, 0b0010);
    assert_eq!(pick(&mut g, &w, w.resident), Some(2));
    assert_eq!(shared.get(), 0b1100);
    // Saved and loaded, it goes on alike.
    let other = Arc::new(ActiveWarps::none());
    let mut h = Gates::new(1, 2, Switch::Ready, other.clone());
    h.load(&g.save()).unwrap();
    assert_eq!(other.get(), 0b1100);
    assert_eq!(pick(&mut h, &w, w.resident), pick(&mut g, &w, w.resident));
    assert!(Gates::new(2, 2, Switch::Ready, other).load(&g.save()).is_err());
}

/// Rules with the default figures.
fn blackout(kind: BlackoutKind) -> Blackout {
    let parameters = Parameters { blackout: kind, ..Parameters::default() };
    Blackout::new(parameters.figures(), Arc::new(ActiveWarps::all()))
}

fn query(now: u64, fp: bool) -> StartQuery {
    StartQuery { now, port: Port::Sp, unit: 0, fp, lanes: 1, busy: 1, latency: 6, begins: Some(1) }
}

/// Asks until the instruction has started; gives that cycle.
fn start(lanes: &mut impl LanesHook, query: StartQuery) -> u64 {
    (query.now..).find(|&now| lanes.start(&StartQuery { now, ..query }) == now).unwrap()
}

#[test]
fn a_unit_in_blackout_sleeps_for_the_break_even_time() {
    let spec = two_level();
    // On in 0, idle-detect 1–5, blackout 6–19, waking from 20 at the earliest for 3 cycles.
    for (wanted, started, critical) in [(6, 6, 0), (7, 23, 1), (10, 23, 1), (20, 23, 1), (21, 24, 0), (30, 33, 0)] {
        let mut l = Lanes::new(&spec, SETUP, blackout(BlackoutKind::Naive));
        assert_eq!(start(&mut l, query(0, false)), 0);
        assert_eq!(start(&mut l, query(wanted, false)), started, "wanted at {wanted}");
        assert_eq!(l.control().critical(), critical, "wanted at {wanted}");
    }
}

#[test]
fn its_energy_by_hand() {
    let spec = two_level();
    let mut l = Lanes::new(&spec, SETUP, blackout(BlackoutKind::Naive));
    start(&mut l, query(0, false));
    assert_eq!(start(&mut l, query(10, false)), 23);
    let [int, fp, _] = taken(&mut l, 24);
    let of = |s: LaneState| int.cycles[s as usize];
    // Unit 0: on 0 and 23, idle-detect 1–5, blackout 6–19, waking 20–22.
    // Unit 1: idle-detect 0–4, blackout 5–18, gated 19–23.
    assert_eq!((of(LaneState::On), of(LaneState::IdleDetect)), (32 * 2, 32 * (5 + 5)));
    assert_eq!((of(LaneState::Blackout), of(LaneState::Gated)), (32 * (14 + 14), 32 * 5));
    assert_eq!((of(LaneState::Waking), int.wakes[LaneState::Gated as usize]), (32 * 3, 32));
    // A blackout and what follows is one event.
    assert_eq!((int.entries[LaneState::Gated as usize], int.entries[LaneState::Blackout as usize]), (64, 0));
    let sm = SmActivity { events: vec![0; SM_EVENTS], cycles: 24, int, fp, ..SmActivity::default() };
    let sample = Sample {
        start: 0,
        end: 24 * 1_000_000_000 / 700,
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
    let [int, fp, _] = model(&spec, &select(&spec, "warped-gates", &[])).unit_power(&[sample]);
    // 15 lane-group cycles awake or waking, and 14 cycles of leakage for each of two events, of 48.
    assert!((int.leaked_cycles - 32.0 * (2.0 + 10.0 + 3.0 + 2.0 * 14.0)).abs() < 1e-9);
    assert!((int.saved.unwrap() - (1.0 - 43.0 / 48.0)).abs() < 1e-6);
    // FP: both units idle-detect for 5 cycles, asleep for the other 19: 5 + 14 of 24.
    assert!((fp.saved.unwrap() - (1.0 - 19.0 / 24.0)).abs() < 1e-6);
}

/// Two units of each type, stepped: instructions (cycle, pipe) start, warps of INT and FP are there or not by cycle. Gives
/// the cycles at whose beginning each pipe fell asleep.
fn coordinated(starts: &[(u64, usize)], until: u64, present: impl Fn(u64) -> (bool, bool)) -> [Vec<u64>; 4] {
    let spec = two_level();
    let mut rules = blackout(BlackoutKind::Coordinated);
    let mut tracker = Tracker::new(&spec, &SETUP, &rules);
    assert_eq!(rules.watches(), Watches::All);
    let mut fell: [Vec<u64>; 4] = Default::default();
    for now in 0..until {
        for &(_, pipe) in starts.iter().filter(|s| s.0 == now) {
            let mut at = now;
            while tracker.start(pipe, &mut rules, at, u32::MAX, 1) != at {
                assert_eq!(at, now, "wakes up in the same cycle in these traces");
                at += 100;
            }
        }
        let (int, fp) = present(now);
        let before: Vec<bool> = (0..4).map(|p| tracker.cohorts(p)[0].asleep(now)).collect();
        rules.coordinate(&mut tracker, now + 1, Present { int, fp, sfu: false });
        for pipe in (0..4).filter(|&p| !before[p] && tracker.cohorts(p)[0].asleep(now + 1)) {
            assert_eq!(tracker.cohorts(pipe)[0].sleeps_at, now);
            fell[pipe].push(now);
        }
    }
    fell
}

// Pipes in order: INT and FP of unit 0, INT and FP of unit 1.
const INT0: usize = 0;
const FP0: usize = 1;
const INT1: usize = 2;
const FP1: usize = 3;

#[test]
fn the_last_unit_stays_awake_while_a_warp_wants_it() {
    // INT warps there until 19: unit 0, idle from 1 on, gates at 6; unit 1, idle from 3 on, only when they are gone.
    let fell = coordinated(&[(0, INT0), (2, INT1)], 60, |now| (now < 20, false));
    assert_eq!((&fell[INT0], &fell[INT1]), (&vec![6], &vec![21]));
    // No FP warp: both FP units gate after the window.
    assert_eq!((&fell[FP0], &fell[FP1]), (&vec![5], &vec![5]));
    // Always there: never.
    let fell = coordinated(&[(0, INT0), (2, INT1)], 60, |_| (true, true));
    assert_eq!((&fell[INT0], &fell[INT1]), (&vec![6], &vec![]));
    // Both FP units idle alike: one stays.
    assert_eq!((&fell[FP0], &fell[FP1]), (&vec![5], &vec![]));
}

#[test]
fn the_unit_that_was_used_last_is_the_one_that_stays() {
    // Unit 1 would gate at 8; but unit 0, idle for longer and gated at 6, is not there. Used again at 7, unit 1 is later.
    let fell = coordinated(&[(0, INT0), (2, INT1), (5, INT0), (7, INT0)], 60, |_| (true, false));
    assert_eq!((&fell[INT1], &fell[INT0]), (&vec![8], &vec![]));
}

#[test]
fn a_unit_that_is_let_go_waits_for_what_has_been_announced() {
    let (spec, mut rules) = (two_level(), blackout(BlackoutKind::Coordinated));
    let mut tracker = Tracker::new(&spec, &SETUP, &rules);
    let coordinate = |rules: &mut Blackout, tracker: &mut Tracker, next, int| {
        rules.coordinate(tracker, next, Present { int, fp: false, sfu: false });
    };
    assert_eq!(tracker.start(INT1, &mut rules, 2, u32::MAX, 1), 2);
    (2..20).for_each(|now| coordinate(&mut rules, &mut tracker, now + 1, true));
    // The last INT warp issues its last instruction, which arrives in 24; lanes detect idleness from then on.
    tracker.announce(INT1, &mut rules, 20, u32::MAX, 24);
    (20..40).for_each(|now| coordinate(&mut rules, &mut tracker, now + 1, false));
    let [lanes] = tracker.cohorts(INT1) else { panic!("one history") };
    assert!(lanes.sleeps_at == 29, "{lanes:?}");
}

/// What happens in a cycle: an instruction wants a pipe for some cycles, on all lanes or on few of them.
#[derive(Clone, Copy, Debug)]
struct Wish {
    pipe: usize,
    lanes: u32,
    busy: u64,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn units_are_looked_at_only_when_it_makes_a_difference(
        cycles in prop::collection::vec(
            (
                prop::option::weighted(0.3, (0..4usize, prop::sample::select(vec![u32::MAX, 0xffff, 0xf0]), 1..4u64)),
                prop::option::weighted(0.1, any::<[bool; 2]>()),
                0..12u64,
            ),
            1..150,
        ),
        (bet, epoch) in (prop::sample::select(vec![0, 3, 14]), prop::sample::select(vec![20, 1000])),
    ) {
        let spec = two_level();
        let parameters = Parameters { bet, epoch, critical: 0, ..Parameters::default() };
        let new = || {
            let rules = Blackout::new(parameters.figures(), Arc::new(ActiveWarps::all()));
            (Tracker::new(&spec, &Setup { granularity: 1, ..SETUP }, &rules), rules)
        };
        let ((mut always, mut one), (mut seldom, mut other)) = (new(), new());
        let (mut now, mut present, mut waits) = (0, Present::default(), None);
        for (wish, change, pause) in cycles {
            waits = waits.or(wish.map(|(pipe, lanes, busy)| Wish { pipe, lanes, busy }));
            present = change.map_or(present, |[int, fp]| Present { int, fp, sfu: false });
            if let Some(Wish { pipe, lanes, busy }) = waits {
                let ready = always.start(pipe, &mut one, now, lanes, busy);
                prop_assert_eq!(seldom.start(pipe, &mut other, now, lanes, busy), ready);
                waits = if ready > now { waits } else { None };
            }
            // Sometimes the next cycles are skipped: nothing happens in them.
            let skipped = if waits.is_none() && pause > 8 { 3 * (pause - 8) } else { 0 };
            other.keep_coordinated(&mut seldom, now + 1, skipped == 0, present);
            for next in now + 1..=now + 1 + skipped {
                one.coordinate(&mut always, next, present);
            }
            now += 1 + skipped;
        }
        prop_assert_eq!(always.take_residency(&one, now), seldom.take_residency(&other, now));
        prop_assert_eq!((one.critical(), always.waits()), (other.critical(), seldom.waits()));
    }
}

#[test]
fn naive_units_do_not_look_at_each_other() {
    let spec = two_level();
    let rules = blackout(BlackoutKind::Naive);
    assert_eq!(rules.watches(), Watches::None);
    let mut l = Lanes::new(&spec, SETUP, rules);
    start(&mut l, query(0, false));
    let [int, ..] = taken(&mut l, 10);
    assert_eq!(int.entries[LaneState::Gated as usize], 64);
}

#[test]
fn critical_wake_ups_are_counted_once_each_and_epochs_asked_for() {
    let spec = two_level();
    let mut rules = blackout(BlackoutKind::Naive);
    let mut tracker = Tracker::new(&spec, &SETUP, &rules);
    assert_eq!(rules.next_event(0), 1000);
    let mut now = 0;
    for _ in 0..7 {
        // Asked every cycle until it starts, one cycle after the unit has been gated each time but the first.
        while tracker.start(INT0, &mut rules, now, 1, 1) != now {
            now += 1;
        }
        now += 7;
    }
    assert_eq!((rules.critical(), rules.window(PipeKind::Int)), (6, 5));
    let fixed = Parameters { adaptive: false, ..Parameters::default() };
    let fixed = Blackout::new(fixed.figures(), Arc::new(ActiveWarps::all()));
    assert_eq!(fixed.next_event(0), u64::MAX);
}

#[test]
fn holds_to_what_every_policy_must() {
    hold(&two_level(), "warped-gates", &[]);
}

#[test]
fn holds_for_other_rules() {
    let naive = ["warped-gates.blackout=naive", "warped-gates.gates=false", "warped-gates.adaptive=false"];
    hold(&two_level(), "warped-gates", &naive);
    let fine = [
        "warped-gates.granularity=4",
        "warped-gates.switch=present",
        "warped-gates.epoch=100",
        "warped-gates.critical=0",
        "warped-gates.sfu=true",
    ];
    hold(&two_level(), "warped-gates", &fine);
    hold(&common::preset("kepler-big", &[]), "warped-gates", &["warped-gates.scope=lane", "warped-gates.epoch=64"]);
}

#[test]
fn without_gates_a_window_that_never_ends_changes_nothing() {
    let spec = two_level();
    let never = ["warped-gates.gates=false", "warped-gates.idle_detect=100000", "warped-gates.idle_detect_most=100000"];
    let selection = select(&spec, "warped-gates", &never);
    for program in PROGRAMS.iter().filter(|p| p.ordered) {
        let (plain, _) = run(program, &spec, threads(1), &Selection::default());
        let (stats, _) = run(program, &spec, threads(1), &selection);
        assert_eq!(cycles(&stats), cycles(&plain), "{}", program.kernel);
        assert_eq!(units(&spec, &selection, &stats)[0].gatings, 0);
    }
}

#[test]
fn nobody_wakes_before_the_break_even_time() {
    let spec = two_level();
    for kind in ["naive", "coordinated"] {
        let selection = select(&spec, "warped-gates", &[&format!("warped-gates.blackout={kind}")]);
        let (stats, report) = run(&find("compute"), &spec, threads(1), &selection);
        for unit in &units(&spec, &selection, &stats)[..2] {
            let asleep = unit.by_state[LaneState::Blackout as usize];
            assert!(unit.gatings > 0 && asleep <= 14 * unit.gatings);
            // At the end some may still be in blackout.
            assert!(asleep + 14 * 64 * u64::from(spec.sms) >= 14 * unit.gatings, "{kind}: {unit:?}");
        }
        assert!(report.count("gates.switches") > 0);
    }
}

#[test]
fn windows_that_contradict_each_other_are_refused() {
    let spec = Spec::preset("gtx480").unwrap();
    let set = ["warped-gates.idle_detect=12"];
    let error = Selection::new("warped-gates", &set, &spec).unwrap_err();
    assert!(matches!(error, PolicyError::Inconsistent { .. }) && error.to_string().contains("idle_detect_most"));
    let fixed = ["warped-gates.idle_detect=12", "warped-gates.adaptive=false"];
    assert!(Selection::new("warped-gates", &fixed, &spec).is_ok());
    let error = Selection::new("warped-gates+cpg", &[], &spec).unwrap_err();
    assert!(error.to_string().contains("`warped-gates` and `cpg`"), "{error}");
}
