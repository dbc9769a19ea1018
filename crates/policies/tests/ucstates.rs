//! µC-States: Algorithm 1's branches on hand-made utilizations, Little's law on a hand-made trace, and what holds of runs.

mod common;

use common::{cycles, find, hold, model, preset, run, select, threads};
use warpwatt_machine::Gpu;
use warpwatt_machine::activity::{COMPONENTS, LaneState};
use warpwatt_machine::hooks::{DatapathQuery, Policy};
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::Counters;
use warpwatt_policies::datapath::{EX, IDOC, IFID, OC, OCEX, SCH, response_time};
use warpwatt_policies::ucstates::algorithm::{Phase, Seen, Thresholds, decide};
use warpwatt_power::{Component, LeakageSplit, PowerModel, PowerOptions};
use warpwatt_workloads::Size;

const PAPER: Thresholds = Thresholds { utilization: 0.15, scheduler: 2.0, response: 100.0 };
const UP: [bool; COMPONENTS] = [false; COMPONENTS];
const DOWN: [bool; COMPONENTS] = [true; COMPONENTS];

fn seen(utilization: &[(usize, f64)]) -> Seen {
    let mut seen = Seen::default();
    utilization.iter().for_each(|&(c, u)| seen.utilization[c] = u);
    seen
}

/// What a phase makes of what was down before.
fn after(phase: Phase, seen: &Seen, mut down: [bool; COMPONENTS]) -> [bool; COMPONENTS] {
    decide(phase, seen, &PAPER, &mut down);
    down
}

#[test]
fn phases_follow_one_another() {
    let phases = [Phase::Execute, Phase::Paths, Phase::FrontEnd];
    assert_eq!(phases.map(Phase::next), [Phase::Paths, Phase::FrontEnd, Phase::Execute]);
    assert_eq!(Phase::default(), Phase::Execute);
}

#[test]
fn phase_1_tunes_sp_and_sfu_down_below_the_threshold_and_up_at_it() {
    for (utilization, expected) in [(0.0, true), (0.149, true), (0.15, false), (0.9, false)] {
        for (path, other) in [(0, 1), (1, 0)] {
            // Whether it was tuned down before does not matter: the `else` belongs to the threshold.
            for before in [UP, DOWN] {
                let down = after(Phase::Execute, &seen(&[(EX[path], utilization), (EX[other], 0.5)]), before);
                assert_eq!((down[EX[path]], down[EX[other]]), (expected, false), "{utilization}");
            }
        }
    }
}

#[test]
fn phase_1_tunes_ldst_down_above_the_response_time() {
    for (response, expected) in [(None, false), (Some(0.0), false), (Some(100.0), false), (Some(100.1), true)] {
        for before in [UP, DOWN] {
            let seen = Seen { response, ..Seen::default() };
            assert_eq!(after(Phase::Execute, &seen, before)[EX[2]], expected, "{response:?}");
        }
    }
}

#[test]
fn phase_1_leaves_everything_else_as_it_is() {
    for before in [UP, DOWN] {
        let down = after(Phase::Execute, &seen(&[(SCH, 0.1)]), before);
        assert!((0..COMPONENTS).filter(|c| !EX.contains(c)).all(|c| down[c] == before[c]));
    }
}

#[test]
fn phase_2_compares_each_component_with_the_ex_unit_of_its_own_path() {
    for stage in [OCEX, OC, IDOC] {
        for path in 0..3 {
            for (own, ex, expected) in [(0.1, 0.2, true), (0.2, 0.2, false), (0.3, 0.2, false), (0.0, 0.0, false)] {
                for before in [UP, DOWN] {
                    // The other paths' EX units would decide otherwise.
                    let mut u = seen(&[]);
                    (0..3).filter(|p| *p != path).for_each(|p| u.utilization[EX[p]] = if expected { 0.0 } else { 1.0 });
                    (u.utilization[stage[path]], u.utilization[EX[path]]) = (own, ex);
                    assert_eq!(after(Phase::Paths, &u, before)[stage[path]], expected, "{own} {ex}");
                }
            }
        }
    }
    let down = after(Phase::Paths, &seen(&[]), DOWN);
    assert!([IFID, SCH, EX[0], EX[1], EX[2]].into_iter().all(|c| down[c]), "not of this phase");
}

#[test]
fn phase_3_tunes_the_scheduler_down_where_it_is_no_bottleneck() {
    let case = |sch: [f64; 3], ex: [f64; 3], ifid: f64| {
        let total = sch.iter().sum::<f64>();
        let mut u = seen(&[(SCH, total), (EX[0], ex[0]), (EX[1], ex[1]), (EX[2], ex[2]), (IFID, ifid)]);
        u.scheduler = sch;
        let both = [UP, DOWN].map(|before| after(Phase::FrontEnd, &u, before));
        assert_eq!(both[0][SCH], both[1][SCH]);
        assert_eq!(both[0][IFID], both[1][IFID]);
        (both[0][SCH], both[0][IFID])
    };
    // Low, and every type below its EX unit; fetch at, then below the scheduler's utilization.
    assert_eq!(case([0.1, 0.01, 0.05], [0.2, 0.08, 0.4], 0.16), (true, false));
    assert_eq!(case([0.1, 0.01, 0.05], [0.2, 0.08, 0.4], 0.15), (true, true));
    // Zero on both sides is no reason to keep it, as equality is none.
    assert_eq!(case([0.1, 0.0, 0.05], [0.2, 0.0, 0.4], 0.2), (true, false));
    assert_eq!(case([0.1, 0.0, 0.05], [0.1, 0.0, 0.05], 0.1), (true, true));
    // Higher for one type: the bottleneck, with IFID.
    assert_eq!(case([0.1, 0.0, 0.05], [0.09, 0.0, 0.4], 0.0), (false, false));
    assert_eq!(case([0.1, 0.02, 0.05], [0.2, 0.01, 0.4], 0.0), (false, false));
    assert_eq!(case([0.1, 0.0, 0.06], [0.2, 0.0, 0.05], 0.0), (false, false));
    // At 2 × th_U it stays on.
    assert_eq!(case([0.25, 0.0, 0.05], [0.9, 0.0, 0.9], 0.0), (false, false));
    assert_eq!(case([0.25, 0.0, 0.049], [0.9, 0.0, 0.9], 0.0), (true, true));
}

/// What a big core with two SPs asks after 1000 cycles in which nothing was done, all groups on.
fn idle_query() -> DatapathQuery {
    let groups = preset("kepler-big", &[("sp_units", "2")]).component_groups();
    DatapathQuery {
        now: 2048,
        cycles: 1000,
        busy: [0; COMPONENTS],
        entries: [2, 4, 2, 2, 2, 12, 16, 4, 2, 2, 2, 2, 2, 2],
        groups,
        on: groups,
        decoded: [0; 3],
        issued: [0; 3],
        entered: 0,
        outstanding: 0,
    }
}

#[test]
fn utilization_is_over_the_full_or_the_powered_width() {
    let (decoded, issued) = ([900, 100, 200], [800, 100, 100]);
    let mut query = DatapathQuery { decoded, issued, entered: 50, outstanding: 4000, ..idle_query() };
    (query.busy[EX[0]], query.busy[OC[0]], query.busy[IFID]) = (300, 600, 500);
    (query.on[EX[0]], query.on[SCH]) = (1, 2);
    let full = Seen::of(&query, false);
    assert_eq!((full.utilization[EX[0]], full.utilization[OC[0]], full.utilization[IFID]), (0.15, 0.05, 0.25));
    assert_eq!((full.utilization[SCH], full.scheduler), (0.25, [0.2, 0.025, 0.025]));
    assert_eq!(full.response, Some(80.0));
    let powered = Seen::of(&query, true);
    assert_eq!((powered.utilization[EX[0]], powered.utilization[SCH]), (0.3, 0.5));
    assert_eq!((powered.utilization[OC[0]], powered.scheduler[0]), (0.05, 0.4));
}

/// EX_SP is busy 55 % of the time; half of IDOC_SP and of the schedulers is off, and has as much to do as it can.
#[test]
fn what_has_become_the_bottleneck_is_tuned_up_again() {
    let mut query = DatapathQuery { decoded: [1200, 0, 0], issued: [1100, 0, 0], ..idle_query() };
    (query.busy[EX[0]], query.busy[IDOC[0]]) = (1100, 1000);
    (query.on[IDOC[0]], query.on[SCH]) = (1, 2);
    let (mut full, mut powered) = (UP, UP);
    (full[IDOC[0]], powered[IDOC[0]]) = (true, true);
    decide(Phase::Paths, &Seen::of(&query, false), &PAPER, &mut full);
    decide(Phase::Paths, &Seen::of(&query, true), &PAPER, &mut powered);
    assert_eq!((full[IDOC[0]], powered[IDOC[0]]), (true, false));
    // The controller: its second phase looks at the width that is on, its first one at all.
    let spec = preset("kepler-big", &[("sp_units", "2")]);
    let mut hook = select(&spec, "ucstates", &[]).sm(&spec, 0).datapath.unwrap();
    (query.busy[EX[0]], query.on[EX[0]]) = (200, 1);
    assert_eq!(hook.decide(&query)[EX[0]], 1, "0.1 of the full width is below the threshold");
    (query.busy[EX[0]], query.on[EX[0]]) = (1100, 2);
    assert_eq!(hook.decide(&query)[IDOC[0]], 2);
    assert_eq!(hook.decide(&query)[SCH], 4, "0.55 of two schedulers, 0.275 of four");
}

#[test]
fn littles_law_on_a_hand_made_trace() {
    // Warp, entered EX_LDST, complete; each warp has one instruction out at a time: J λ⁻¹ is the average response time.
    let trace = [(0, 0, 40), (1, 3, 90), (0, 50, 70), (2, 60, 160), (1, 100, 199)];
    let outstanding = (0..200).map(|t| {
        let mut warps: Vec<_> =
            trace.iter().filter(|(_, from, to)| (*from..*to).contains(&t)).map(|(w, ..)| w).collect();
        warps.sort();
        warps.dedup();
        warps.len() as u64
    });
    let average = trace.iter().map(|(_, from, to)| to - from).sum::<i32>() as f64 / trace.len() as f64;
    let response = response_time(outstanding.sum(), trace.len() as u64).unwrap();
    assert!((response - average).abs() < 1e-9, "{response} {average}");
    // Two instructions of one warp count it once: µC-States counts wavefronts, not instructions.
    assert_eq!(response_time(100, 2), Some(50.0));
    assert_eq!(response_time(0, 0), None);
}

#[test]
fn the_machine_counts_what_littles_law_needs() {
    // A chase has one load out at a time: the response time is what a step takes but for a few cycles of the pipeline.
    let spec = preset("kepler-big", &[]);
    let program = common::Program { n: 200, grid: [1, 1, 1], ..find("chase") };
    let (stats, report) = run(&program, &spec, threads(1), &select(&spec, "full-width", &["full-width.interval=1"]));
    let steps = 200.0;
    let response = response_time(report.count("ldst.outstanding"), report.count("ldst.entered")).unwrap();
    let step = cycles(&stats) as f64 / steps;
    assert!((0.85..1.0).contains(&(response / step)), "{response} of {step}");
}

#[test]
fn holds_to_what_every_policy_must() {
    let spec = preset("kepler-big", &[]);
    hold(&spec, "ucstates", &["ucstates.interval=200"]);
}

#[test]
fn shapes_hold_to_it_too() {
    let spec = preset("kepler-big", &[("sms", "4")]);
    for shape in ["c-half", "c-mem"] {
        hold(&spec, shape, &[]);
    }
}

/// Time, and L1 stall cycles per miss in all and for want of a line, of a small workload on the big core under a shape.
fn measured(workload: &str, shape: &str) -> (f64, f64, f64) {
    let spec = preset("kepler-big", &[]);
    let selection = select(&spec, shape, &[]);
    let mut gpu = Gpu::with_policy(spec, threads(1), &selection).unwrap();
    let outcome = (warpwatt_workloads::find(workload).unwrap().run)(&mut gpu, Size::Small).unwrap();
    assert!(outcome.verified, "{workload} under {shape}: {}", outcome.detail);
    let stats = gpu.stats();
    let sum = |f: fn(&Counters) -> u64| stats.launches.iter().map(|l| f(&l.counters)).sum::<u64>() as f64;
    let misses = sum(|c| c.l1d_read_misses);
    let stalls = sum(|c| c.l1d_stall_line + c.l1d_stall_mshr + c.l1d_stall_queue);
    (cycles(&stats) as f64, stalls / misses, sum(|c| c.l1d_stall_line) / misses)
}

/// §3.2.2: where memory bounds a kernel, doubling the issue width alone (c-half to c-sch) costs time, since more misses find
/// no line to reserve, and half of the core is faster than all of it. Where the cores bound it, half of them is slower.
#[test]
fn half_of_the_issue_width_helps_what_memory_bounds() {
    for workload in ["BlackScholes", "fastWalsh"] {
        let [big, half, schedulers] = ["full-width", "c-half", "c-sch"].map(|shape| measured(workload, shape));
        assert!(half.0 < 0.97 * big.0 && half.0 < 0.9 * schedulers.0, "{workload}: {half:?} {big:?} {schedulers:?}");
        assert!(schedulers.1 > 1.3 * half.1, "{workload}: stalls per miss {} {}", half.1, schedulers.1);
        assert!(schedulers.2 - half.2 > 0.75 * (schedulers.1 - half.1), "{workload}: {half:?} {schedulers:?}");
    }
    for workload in ["sad", "pathfinder"] {
        let [big, half] = ["full-width", "c-half"].map(|shape| measured(workload, shape));
        assert!(half.0 > 1.03 * big.0, "{workload}: {half:?} {big:?}");
    }
}

#[test]
fn the_observer_changes_nothing() {
    let spec = preset("kepler-big", &[]);
    for kernel in ["mm", "diverge", "compute"] {
        let (watched, _) = run(&find(kernel), &spec, threads(1), &select(&spec, "full-width", &[]));
        let (plain, _) = run(&find(kernel), &spec, threads(1), &select(&spec, "", &[]));
        assert_eq!(common::record(&watched), common::record(&plain));
    }
}

#[test]
fn composes_with_policies_of_lanes_and_of_order() {
    let spec = preset("kepler-big", &[("sms", "4")]);
    let interval = "ucstates.interval=200";
    for with in ["origami", "cpg", "itap-pow", "warped-gates"] {
        let both = select(&spec, &format!("ucstates+{with}"), &[interval]);
        for kernel in ["diverge", "compute"] {
            // The audits hold: the lanes' policy has the lanes' power, µC-States the rest.
            let (stats, _) = run(&find(kernel), &spec, threads(1), &both);
            let sum = |f: fn(&warpwatt_machine::activity::SmActivity) -> u64| -> u64 {
                stats.samples.iter().flat_map(|s| &s.sms).map(f).sum()
            };
            assert_eq!(sum(|sm| sm.component_gated[EX[0]]), 0, "{with} {kernel}");
            assert!(sum(|sm| sm.component_clock_gated[EX[1]]) > 0, "{with} {kernel}");
        }
    }
    let both = select(&spec, "ucstates+lane-clock-gating", &[interval]);
    run(&find("diverge"), &spec, threads(1), &both);
    assert!(both.power().lane_clock_gating && both.power().component_gating == Some(19.0));
    // What gating lanes costs is said by the policy that acts on them.
    let both = select(&spec, "ucstates+cpg", &["cpg.bet=14"]);
    assert_eq!(both.power().gating.map(|g| g.gate), Some(14.0));
    assert_eq!(both.power().component_gating, Some(19.0));
    assert_eq!(select(&spec, "ucstates", &["ucstates.bet=29"]).power().gating.map(|g| g.gate), Some(29.0));
}

#[test]
fn a_tuned_down_pipeline_saves_static_and_dynamic_energy() {
    let spec = preset("kepler-big", &[("sms", "4")]);
    let half = select(&spec, "c-half", &[]);
    let (stats, _) = run(&find("mm"), &spec, threads(1), &half);
    let model = model(&spec, &half);
    let savings = model.savings(&stats.samples);
    let saved = |c: Component| savings.iter().find(|s| s.component == c).map_or((0.0, 0.0), |s| (s.leakage, s.dynamic));
    let energy = model.run(&stats);
    for component in [Component::Int, Component::Fp, Component::Sfu, Component::Decode, Component::Scheduler] {
        // Half of it is off all the time.
        let left = energy.total.component(component).joules;
        assert!((saved(component).0 - left.leakage).abs() < 1e-6 * left.leakage, "{component:?}");
        assert_eq!(saved(component).1, 0.0);
    }
    let clocked = [Component::Pipeline, Component::Collectors, Component::Ldst, Component::InstructionBuffer];
    for component in clocked {
        let left = energy.total.component(component).joules;
        assert!((saved(component).1 - left.dynamic).abs() < 1e-6 * left.dynamic, "{component:?}");
        assert_eq!(saved(component).0, 0.0);
    }
    let registers = energy.total.component(Component::RegisterFile).joules;
    assert!((saved(Component::RegisterFile).1 - registers.dynamic).abs() < 1e-6 * registers.dynamic);
    let gated: u64 = stats.samples.iter().flat_map(|s| &s.sms).map(|sm| sm.int.cycles[LaneState::Gated as usize]).sum();
    assert!(gated > 0);
}

#[test]
fn absent_halves_leak_nothing_and_make_a_small_core() {
    let big = preset("kepler-big", &[]);
    let small = preset("kepler-small", &[]);
    let watts = |spec: &Spec, policy: &str, settings: &[&str]| {
        let selection = select(spec, policy, settings);
        let (stats, _) = run(&find("compute"), spec, threads(1), &selection);
        let options =
            PowerOptions { leakage_split: LeakageSplit::Area, policy: selection.power(), ..PowerOptions::default() };
        let total = PowerModel::new(spec, options).unwrap().run(&stats).total.joules;
        let seconds: f64 = stats.launches.iter().map(|l| (l.end - l.start) as f64 * 1e-15).sum();
        (total.leakage + total.overhead) / seconds
    };
    let (full, gated) = (watts(&big, "", &[]), watts(&big, "c-half", &[]));
    let (absent, built) = (watts(&big, "c-half", &["c-half.halves=absent"]), watts(&small, "", &[]));
    assert!(full > gated && gated > absent, "{full} {gated} {absent}");
    assert!((absent / built - 1.0).abs() < 0.02, "{absent} W, kepler-small {built} W");
}
