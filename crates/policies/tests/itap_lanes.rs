//! ITAP's lanes on traces by hand and at random, without the machine.

mod common;

use common::taken_whole;
use proptest::prelude::*;
use warpwatt_machine::activity::{LaneResidency, LaneState};
use warpwatt_machine::hooks::{Ahead, Hook, LanesHook, Report, StartQuery};
use warpwatt_machine::kernel::Port;
use warpwatt_machine::spec::Spec;
use warpwatt_policies::cpg::Gate;
use warpwatt_policies::itap::counters::{Learn, Update};
use warpwatt_policies::itap::fsm::{Goal, Wake};
use warpwatt_policies::itap::ideal::Ideal;
use warpwatt_policies::itap::modes::{Mode, best};
use warpwatt_policies::itap::switch::{Rising, Switch, Waking};
use warpwatt_policies::itap::{Parameters, Pipes};
use warpwatt_policies::lanes::{Lanes, Occupancy, Scope, Setup};

fn pipes() -> Pipes {
    Pipes::new(&Spec::preset("pascal16").unwrap(), Scope::Lane, Occupancy::Issue)
}

fn switch(goal: Goal, parameters: Parameters) -> Switch {
    let wake = if goal == Goal::Performance { Wake::Mode } else { parameters.wake };
    // From 0 the counters have everything to learn.
    Switch::new(pipes(), Parameters { wake, counter_start: 0.0, ..parameters }.rules(goal))
}

fn plain() -> Parameters {
    Parameters { peek_ahead: false, ..Parameters::default() }
}

fn query(now: u64, lanes: u32) -> StartQuery {
    StartQuery { now, port: Port::Sp, unit: 0, fp: false, lanes, busy: 1, latency: 9, begins: Some(lanes) }
}

/// Asks until the instruction starts; the cycle in which it does.
fn start(lanes: &mut dyn LanesHook, mut now: u64, mask: u32) -> u64 {
    loop {
        match lanes.start(&query(now, mask)) {
            ready if ready == now => return now,
            ready => {
                assert!(ready > now);
                now += 1;
            }
        }
    }
}

/// Energy in cycles of a lane's leakage.
fn energy(r: &LaneResidency) -> f64 {
    let power = |state| match state {
        LaneState::Gated => 0.0,
        LaneState::Vs05 => Mode::Vs05.power(),
        LaneState::Vs03 => Mode::Vs03.power(),
        _ => 1.0,
    };
    use LaneState::*;
    let cycles = [On, IdleDetect, Gated, Waking, Blackout, Vs05, Vs03].map(|s| power(s) * r.cycles[s as usize] as f64);
    let wakes = Mode::ALL.map(|m| m.wake_energy() * r.wakes[m.state() as usize] as f64);
    cycles.iter().sum::<f64>() + wakes.iter().sum::<f64>()
}

/// By mode: lane-cycles of one lane and times woken up.
fn modes(r: &LaneResidency) -> [(u64, u64); 3] {
    Mode::ALL.map(|m| (r.cycles[m.state() as usize] / 32, r.wakes[m.state() as usize] / 32))
}

#[test]
fn an_instruction_that_waits_for_a_bus_keeps_its_lanes_awake() {
    let mut l = switch(Goal::Power, plain());
    assert_eq!(start(&mut l, 0, u32::MAX), 0);
    l.held_up(&query(1, 0xff));
    // Eight lanes have been wanted in cycle 1, the others have fallen asleep in it.
    assert_eq!(start(&mut l, 2, 0xff), 2);
    assert_eq!(start(&mut l, 4, 0xff00), 5);
    // Lanes that sleep wake up for it, too.
    l.held_up(&query(20, u32::MAX));
    assert_eq!(start(&mut l, 21, u32::MAX), 21);
}

#[test]
fn counters_alone_begin_with_vs05_and_wake_up_takes_a_cycle() {
    let mut l = switch(Goal::Power, plain());
    assert_eq!(start(&mut l, 0, u32::MAX), 0);
    // Cycle 1 idle; wanted in 2, starts in 3.
    assert_eq!(start(&mut l, 2, u32::MAX), 3);
    // Long periods too, as long as the counter is low.
    assert_eq!(start(&mut l, 104, u32::MAX), 105);
    let r = taken_whole(&mut l, 106);
    assert_eq!(modes(&r), [(2 + 101, 2), (0, 0), (0, 0)]);
    assert_eq!((r.cycles[LaneState::On as usize], r.busy), (32 * 3, 32 * 3));
}

/// Lanes that have had `times` idle periods of `length`; the cycle after their last work.
fn taught(l: &mut Switch, times: u32, length: u64) -> u64 {
    let mut now = start(l, 0, u32::MAX);
    for _ in 0..times {
        now = start(l, now + 1 + length, u32::MAX);
    }
    taken_whole(l, now + 1);
    now + 1
}

#[test]
fn the_mode_counter_leads_to_vs03_after_four_cycles() {
    for (times, vs03) in [(127, false), (128, true)] {
        let mut l = switch(Goal::Power, plain());
        let idle = taught(&mut l, times, 8);
        let begun = start(&mut l, idle + 10, u32::MAX);
        let expected = if vs03 { (12, [(4, 0), (8, 1), (0, 0)]) } else { (11, [(11, 1), (0, 0), (0, 0)]) };
        assert_eq!((begun - idle, modes(&taken_whole(&mut l, begun))), expected);
    }
    // Periods of 7 cycles teach it nothing.
    let mut l = switch(Goal::Power, plain());
    let idle = taught(&mut l, 300, 7);
    assert_eq!(start(&mut l, idle + 10, u32::MAX) - idle, 11);
}

#[test]
fn the_confidence_counter_leads_to_gating() {
    for (length, gates) in [(48, false), (49, true)] {
        let mut l = switch(Goal::Power, plain());
        let idle = taught(&mut l, 128, length);
        let begun = start(&mut l, idle + 60, u32::MAX);
        let (wake, expected) = if gates { (3, [(4, 0), (0, 0), (59, 1)]) } else { (2, [(4, 0), (58, 1), (0, 0)]) };
        assert_eq!((begun - idle, modes(&taken_whole(&mut l, begun))), (60 + wake, expected));
    }
}

#[test]
fn for_performance_gating_in_vain_resets_confidence() {
    for (goal, gates) in [(Goal::Power, true), (Goal::Performance, false)] {
        let mut l = switch(goal, plain());
        let idle = taught(&mut l, 140, 100);
        // A period of 20 cycles, gated in vain; then a long one.
        let idle = start(&mut l, idle + 20, u32::MAX) + 1;
        taken_whole(&mut l, idle);
        let begun = start(&mut l, idle + 100, u32::MAX);
        let [_, (vs03, _), (pg, _)] = modes(&taken_whole(&mut l, begun));
        assert_eq!((pg > 0, vs03 > 0), (gates, !gates));
    }
}

/// Feeds an instruction that the window has shown from the cycle in which it is dispatched, or earlier.
fn foreseen(l: &mut Switch, now: u64, at: u64, sight: u64) -> u64 {
    for cycle in now..at {
        let left = at - cycle;
        // The end of the cycle before `cycle`: instructions ahead of it keep the unit busy until its turn.
        let ahead = Ahead { lanes: u32::MAX, fp: false, busy: 1, soonest: 1 + left as u32 };
        if left <= sight {
            l.show(cycle, &[ahead]);
        }
    }
    start(l, at, u32::MAX)
}

#[test]
fn for_performance_what_is_foreseen_is_not_delayed() {
    for gap in 1..12 {
        let mut l = switch(Goal::Performance, Parameters::default());
        start(&mut l, 0, u32::MAX);
        assert_eq!(foreseen(&mut l, 1, 1 + gap, 3), 1 + gap, "gap {gap}");
        let r = taken_whole(&mut l, 1 + gap);
        assert_eq!(r.wakes[LaneState::Vs05 as usize], 32);
        assert_eq!(r.cycles[LaneState::Vs05 as usize], 32 * gap);
        // A cycle's notice is enough for VS0.5; without any, lanes wait to be wanted.
        for (wake, late) in [(Wake::Next, 0), (Wake::Demand, 1)] {
            let mut l = switch(Goal::Power, Parameters { wake, ..Parameters::default() });
            start(&mut l, 0, u32::MAX);
            assert_eq!(foreseen(&mut l, 1, 1 + gap, 3), 1 + gap + late);
        }
    }
}

#[test]
fn the_window_leads_to_vs03_in_the_second_idle_cycle() {
    let mut l = switch(Goal::Performance, Parameters::default());
    start(&mut l, 0, u32::MAX);
    // Lanes 16 to 31 have work ahead; none for the others.
    for now in 1..9 {
        l.show(now, &[Ahead { lanes: 0xffff_0000, fp: false, busy: 1, soonest: 4 }]);
    }
    let r = taken_whole(&mut l, 9);
    // All share VS0.5 as long as one of them is in it.
    assert_eq!((r.cycles[LaneState::Vs05 as usize], r.cycles[LaneState::Vs03 as usize]), (32 * 8, 0));
    let mut l = switch(Goal::Performance, Parameters { granularity: 16, ..Parameters::default() });
    start(&mut l, 0, u32::MAX);
    for now in 1..9 {
        l.show(now, &[Ahead { lanes: 0xffff_0000, fp: false, busy: 1, soonest: 4 }]);
    }
    let r = taken_whole(&mut l, 9);
    assert_eq!((r.cycles[LaneState::Vs05 as usize], r.cycles[LaneState::Vs03 as usize]), (16 * 8 + 16, 16 * 7));
}

#[test]
fn a_group_takes_its_new_mode_in_the_cycle_after_lanes_have_begun_to_wake_up_early() {
    let (confident, doubtful) = (0xffff_ff00, 0xff);
    let mut l = switch(Goal::Performance, Parameters::default());
    let mut now = start(&mut l, 0, u32::MAX);
    for _ in 0..140 {
        now = start(&mut l, now + 61, confident);
    }
    now = start(&mut l, now + 61, u32::MAX) + 1;
    taken_whole(&mut l, now);
    // VS0.5 for a cycle, then VS0.3 for all of them; the eight begin to wake up in the third, for an instruction that
    // comes two cycles after it. The others have selected PG, and are in it from the fourth on.
    let shown = |lanes, soonest| Ahead { lanes, fp: false, busy: 1, soonest };
    let windows = [shown(0, 4), shown(0, 4), shown(doubtful, 3), shown(doubtful, 2)];
    windows.iter().zip(now..).for_each(|(&ahead, now)| l.show(now, &[ahead]));
    assert_eq!(start(&mut l, now + 4, doubtful), now + 4);
    let r = taken_whole(&mut l, now + 5);
    let cycles = [LaneState::Vs05, LaneState::Vs03, LaneState::Gated, LaneState::On].map(|s| r.cycles[s as usize]);
    assert_eq!(cycles, [32, 2 * 24 + 3 * 8, 2 * 24, 8]);
}

#[test]
fn lanes_that_wake_up_can_be_charged_as_on() {
    let mut l = switch(Goal::Power, Parameters { waking: Waking::On, ..plain() });
    start(&mut l, 0, u32::MAX);
    assert_eq!(start(&mut l, 5, u32::MAX), 6);
    let r = taken_whole(&mut l, 6);
    assert_eq!((r.cycles[LaneState::Waking as usize], r.cycles[LaneState::Vs05 as usize]), (32, 32 * 4));
}

#[test]
fn a_lane_pays_once_for_its_deepest_mode_or_for_each_rise() {
    for (rising, vs05) in [(Rising::Once, 16), (Rising::Each, 32)] {
        let mut l = switch(Goal::Performance, Parameters { rising, ..Parameters::default() });
        start(&mut l, 0, u32::MAX);
        let show = |l: &mut Switch, now| l.show(now, &[Ahead { lanes: 0, fp: false, busy: 1, soonest: 4 }]);
        // Cycle 1: all in VS0.5; 2 to 4: in VS0.3. Then the lower half works in 7, and enters VS0.5 in 8.
        (1..5).for_each(|now| show(&mut l, now));
        assert_eq!(start(&mut l, 5, 0xffff), 7);
        let r = taken_whole(&mut l, 9);
        assert_eq!(r.wakes[LaneState::Vs03 as usize], if rising == Rising::Once { 16 } else { 32 });
        assert_eq!(start(&mut l, 9, u32::MAX), 10);
        let r = taken_whole(&mut l, 11);
        assert_eq!(r.wakes[LaneState::Vs05 as usize], vs05, "{rising:?}");
        assert_eq!(r.wakes[LaneState::Vs03 as usize], if rising == Rising::Once { 16 } else { 0 });
    }
}

#[test]
fn counters_may_learn_only_from_periods_with_a_decision() {
    for (learn, vs03) in [(Learn::All, false), (Learn::Decided, true)] {
        let mut l = switch(Goal::Power, Parameters { learn, ..plain() });
        let mut idle = taught(&mut l, 128, 8);
        // Ten periods of two cycles.
        for _ in 0..10 {
            idle = start(&mut l, idle + 2, u32::MAX) + 1;
        }
        taken_whole(&mut l, idle);
        let begun = start(&mut l, idle + 10, u32::MAX);
        assert_eq!(modes(&taken_whole(&mut l, begun))[1].1 > 0, vs03, "{learn:?}");
    }
}

#[test]
fn lanes_that_were_wanted_while_they_worked_and_work_on_learn_from_the_whole_of_the_next_idle_period() {
    let pipes = Pipes::new(&Spec::preset("pascal16").unwrap(), Scope::Lane, Occupancy::Pipeline);
    let mut l = Switch::new(pipes, Parameters { counter_start: 0.0, ..plain() }.rules(Goal::Power));
    // In the pipeline until cycle 11; behind it one that waits for a bus, and then works until 16.
    assert_eq!(start(&mut l, 1, u32::MAX), 2);
    l.held_up(&query(5, u32::MAX));
    assert_eq!(start(&mut l, 7, u32::MAX), 7);
    assert_eq!(start(&mut l, 36, u32::MAX), 37);
    let mut report = Report::default();
    l.report(38, &mut report);
    // The first cycle was a short period, as was estimated; 20 cycles are a long one.
    assert_eq!((report.count("itap.right"), report.count("itap.estimates")), (32, 64));
}

#[test]
fn the_ideal_mode_follows_from_the_length() {
    for (length, mode) in [(1, Mode::Vs05), (3, Mode::Vs05), (4, Mode::Vs03), (43, Mode::Vs03), (44, Mode::Pg)] {
        let mut l = Ideal::new(pipes());
        assert_eq!(start(&mut l, 0, u32::MAX), 0);
        assert_eq!(start(&mut l, 1 + length, u32::MAX), 1 + length);
        let r = taken_whole(&mut l, 2 + length);
        assert_eq!(r.cycles[mode.state() as usize], 32 * length);
        assert_eq!(r.wakes[mode.state() as usize], 32);
        assert!((energy(&r) - 32.0 * (2.0 + mode.energy(length))).abs() < 1e-9);
    }
}

/// A trace: cycles until the next instruction is wanted, its lanes, and for how many cycles it has been in sight.
fn traces() -> impl Strategy<Value = Vec<(u64, u32, u64)>> {
    let gap = prop_oneof![4 => 1..4u64, 3 => 4..14u64, 2 => 14..60u64, 1 => 60..300u64];
    let mask = prop::sample::select(vec![u32::MAX, u32::MAX, 1, 0xffff, 0xff00_00ff, 0x8000_0001, 0x0f0f_0f0f]);
    prop::collection::vec((gap, mask, 0..6u64), 1..300)
}

/// Drives lanes through a trace; the starts, what was counted, and idle periods. `cut`: also after so many instructions.
fn drive<H: LanesHook>(
    l: &mut H,
    trace: &[(u64, u32, u64)],
    cut: usize,
    show: impl Fn(&mut H, u64, &[Ahead]),
) -> (Vec<(u64, u32)>, LaneResidency, Report) {
    let (mut now, mut starts, mut sum) = (0, Vec::new(), LaneResidency::default());
    // At the end all lanes work, so that all periods have ended.
    for (i, &(gap, lanes, sight)) in trace.iter().chain(&[(5, u32::MAX, 2)]).enumerate() {
        let at = now + gap;
        for cycle in (now + 1).max(at.saturating_sub(sight))..at {
            show(l, cycle, &[Ahead { lanes, fp: false, busy: 1, soonest: 1 + (at - cycle) as u32 }]);
        }
        now = start(l, at, lanes);
        starts.push((now, lanes));
        if i % cut == cut - 1 {
            sum.add(&taken_whole(l, now + 1));
        }
    }
    sum.add(&taken_whole(l, now + 1));
    let mut report = Report::default();
    l.report(now + 1, &mut report);
    (starts, sum, report)
}

/// What the best modes would have left of a run's own idle periods.
fn oracle(starts: &[(u64, u32)]) -> f64 {
    let (mut idle_from, mut energy) = ([0u64; 32], 0.0);
    for &(now, lanes) in starts {
        for (_, from) in idle_from.iter_mut().enumerate().filter(|(lane, _)| lanes >> lane & 1 != 0) {
            let idle = now - *from;
            energy += 1.0 + best(idle).map_or(idle as f64, |mode| mode.energy(idle));
            *from = now + 1;
        }
    }
    energy
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn nothing_saves_more_than_the_ideal_on_the_same_lanes(
        trace in traces(), granularity in 0..6u32, update in 0..3usize, low in any::<bool>(),
    ) {
        let granularity = 1 << granularity;
        let bound = |starts: &[(u64, u32)]| {
            let mut ideal = Ideal::new(pipes());
            let mut last = 0;
            for &(now, lanes) in starts {
                assert_eq!(start(&mut ideal, now, lanes), now);
                last = now + 1;
            }
            let left = energy(&taken_whole(&mut ideal, last));
            assert!((left - oracle(starts)).abs() < 1e-6 * left.max(1.0));
            left
        };
        let update = [Update::Simple, Update::TwoWrong, Update::OneWrong][update];
        for (goal, peek_ahead) in [Goal::Power, Goal::Performance].into_iter().flat_map(|g| [(g, false), (g, true)]) {
            let choices = [(Waking::Mode, Rising::Once), (Waking::On, Rising::Once), (Waking::Mode, Rising::Each)];
            for (waking, rising) in choices {
                // Counters of a few values, so that they come to use every mode.
                let threshold = if low { 0.0 } else { 0.5 };
                let p = Parameters {
                    peek_ahead, granularity, update, waking, rising, counter_values: 4,
                    mode_threshold: threshold, confidence_threshold: threshold, ..Parameters::default()
                };
                let show = |l: &mut Switch, now, list: &[Ahead]| if peek_ahead { l.show(now, list) };
                let (starts, r, report) = drive(&mut switch(goal, p), &trace, 1000, show);
                let end = starts.last().map_or(0, |s| s.0 + 1);
                prop_assert_eq!(r.cycles.iter().sum::<u64>(), 32 * end);
                prop_assert_eq!(r.busy + report.count("idle_cycles.int"), 32 * end);
                prop_assert!(energy(&r) >= bound(&starts) - 1e-6, "{:?} {:?}", goal, p);
                // Where cycles are counted in between changes nothing.
                for cut in [1, 3] {
                    let (same, parts, again) = drive(&mut switch(goal, p), &trace, cut, show);
                    prop_assert_eq!((&same, &parts, &again), (&starts, &r, &report));
                }
            }
        }
        let setup = Setup { scope: Scope::Lane, granularity, occupancy: Occupancy::Issue, sfu: false };
        let gate = Gate { idle_detect: 5, wake_up: 3 };
        let mut cpg = Lanes::new(&Spec::preset("pascal16").unwrap(), setup, gate);
        let (starts, r, _) = drive(&mut cpg, &trace, 1000, |_, _, _| {});
        prop_assert!(energy(&r) >= bound(&starts) - 1e-6);
    }

    #[test]
    fn the_ideal_counts_the_same_wherever_it_is_cut(mut trace in traces()) {
        // What was taken for one mode is moved to another out of later periods in the first: let there be some.
        trace.extend((0..400).map(|i| (if i % 2 == 0 { 3 } else { 30 }, u32::MAX, 0)));
        let whole = drive(&mut Ideal::new(pipes()), &trace, 1000, |_, _, _| {});
        for cut in [1, 2, 7] {
            prop_assert_eq!(&drive(&mut Ideal::new(pipes()), &trace, cut, |_, _, _| {}), &whole);
        }
    }

    #[test]
    fn a_saved_state_goes_on_as_if_nothing_had_happened(trace in traces(), granularity in 0..6u32) {
        let p = Parameters { granularity: 1 << granularity, counter_values: 4, ..Parameters::default() };
        let show = |l: &mut Switch, now, list: &[Ahead]| l.show(now, list);
        let mut first = switch(Goal::Performance, p);
        drive(&mut first, &trace, 5, show);
        let mut second = switch(Goal::Performance, p);
        second.load(&first.save()).unwrap();
        let at = first.settled();
        for l in [&mut first, &mut second] {
            prop_assert_eq!(l.settled(), at);
        }
        let go_on = |l: &mut Switch| {
            let begun = start(l, at + 3, 0xffff);
            (begun, taken_whole(l, begun + 70))
        };
        prop_assert_eq!(go_on(&mut first), go_on(&mut second));
        prop_assert!(second.load(&[1, 2, 3]).is_err());
    }
}
