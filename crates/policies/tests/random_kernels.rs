//! Properties of every policy over random kernels without races: loops and branches that diverge by data, integer and
//! floating-point chains, special functions, divisions, memory, barriers, warps that are not full.

mod common;

use common::{cycles, model, preset, select, threads, units};
use proptest::prelude::*;
use proptest::sample::select as one_of;
use warpwatt_machine::Gpu;
use warpwatt_machine::activity::{LaneResidency, LaneState};
use warpwatt_machine::hooks::Report;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::{Ending, RunStats};
use warpwatt_policies::itap::modes::{Mode, best};
use warpwatt_policies::registry::POLICIES;
use warpwatt_policies::{HookKind, Selection};
use warpwatt_simt::device::{Arg, Device};
use warpwatt_simt::functional::FunctionalDevice;

/// What a thread does, on its integers `%r0` … `%r3` and floats `%f0` … `%f3`.
#[derive(Clone, Debug)]
enum Step {
    Int(&'static str, usize, usize),
    Float(&'static str, usize, usize),
    Special(&'static str, usize),
    Load(usize),
    Store(usize),
    Barrier,
    /// Only threads whose lane, or whose data, has this bit.
    If(bool, u32, Vec<Step>),
    /// Once, and again for each of the register's two low bits.
    Loop(usize, Vec<Step>),
}

/// A kernel with its launch.
#[derive(Clone, Debug)]
struct Kernel {
    steps: Vec<Step>,
    ctas: u32,
    threads: u32,
}

fn step() -> impl Strategy<Value = Step> {
    let ints = one_of(vec!["add.s32", "xor.b32", "mul.lo.s32", "max.s32", "div.u32"]);
    let floats = one_of(vec!["add.f32", "mul.f32", "fma.rn.f32", "min.f32", "div.rn.f32"]);
    let special = one_of(vec!["sqrt.approx.f32", "ex2.approx.f32", "sin.approx.f32"]);
    let leaf = prop_oneof![
        6 => (ints, 0..4usize, 0..4usize).prop_map(|(op, to, by)| Step::Int(op, to, by)),
        6 => (floats, 0..4usize, 0..4usize).prop_map(|(op, to, by)| Step::Float(op, to, by)),
        1 => (special, 0..4usize).prop_map(|(op, on)| Step::Special(op, on)),
        1 => (0..4usize).prop_map(Step::Load),
        1 => (0..4usize).prop_map(Step::Store),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let some = prop::collection::vec(inner, 1..6);
        prop_oneof![
            (any::<bool>(), 0..5u32, some.clone()).prop_map(|(lane, bit, steps)| Step::If(lane, bit, steps)),
            (0..4usize, some).prop_map(|(register, steps)| Step::Loop(register, steps)),
        ]
    })
}

fn kernel() -> impl Strategy<Value = Kernel> {
    // Barriers stand where all threads come by.
    let top = prop_oneof![8 => step(), 1 => Just(Step::Barrier)];
    let threads = one_of(vec![1, 17, 32, 80, 128, 256]);
    (prop::collection::vec(top, 3..14), 1..7u32, threads).prop_map(|(steps, ctas, threads)| Kernel {
        steps,
        ctas,
        threads,
    })
}

fn write(steps: &[Step], text: &mut String, labels: &mut u32, depth: usize) {
    for step in steps {
        let line = match step {
            Step::Int("div.u32", to, by) => format!("or.b32 %r9, %r{by}, 1; div.u32 %r{to}, %r{to}, %r9;\n"),
            Step::Int(op, to, by) => format!("{op} %r{to}, %r{to}, %r{by};\n"),
            Step::Float("fma.rn.f32", to, by) => format!("fma.rn.f32 %f{to}, %f{to}, %f{by}, %f0;\n"),
            Step::Float(op, to, by) => format!("{op} %f{to}, %f{to}, %f{by};\n"),
            Step::Special(op, on) => format!("{op} %f{on}, %f{on};\n"),
            Step::Load(to) => format!("ld.global.u32 %r{to}, [%rd1];\n"),
            Step::Store(from) => format!("st.global.u32 [%rd2], %r{from};\n"),
            Step::Barrier => "bar.sync 0;\n".to_owned(),
            Step::If(lane, bit, steps) => {
                *labels += 1;
                let label = *labels;
                let of = if *lane { "%r8" } else { "%r1" };
                *text += &format!("and.b32 %r9, {of}, {}; setp.eq.u32 %p1, %r9, 0; @%p1 bra L{label};\n", 1 << bit);
                write(steps, text, labels, depth);
                format!("L{label}:\n")
            }
            Step::Loop(register, steps) => {
                *labels += 1;
                let (label, counter) = (*labels, 10 + depth);
                *text +=
                    &format!("and.b32 %r{counter}, %r{register}, 3; popc.b32 %r{counter}, %r{counter};\nL{label}:\n");
                write(steps, text, labels, depth + 1);
                format!("sub.s32 %r{counter}, %r{counter}, 1; setp.ge.s32 %p1, %r{counter}, 0; @%p1 bra L{label};\n")
            }
        };
        *text += &line;
    }
}

impl Kernel {
    fn ptx(&self) -> String {
        let mut body = String::new();
        write(&self.steps, &mut body, &mut 0, 0);
        format!(
            ".version 7.8\n.target sm_35\n.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .pred %p<2>; .reg .b32 %r<16>; .reg .f32 %f<4>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
    mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r8, %laneid;
    mad.lo.s32 %r3, %r1, %r2, %r0; mul.wide.u32 %rd3, %r3, 8;
    add.s64 %rd1, %rd1, %rd3; add.s64 %rd2, %rd2, %rd3;
    ld.global.u32 %r1, [%rd1]; cvt.rn.f32.u32 %f0, %r1; cvt.rn.f32.u32 %f1, %r3;
    mov.f32 %f2, 0f3F800000; mov.f32 %f3, 0f40400000;
{body}
    add.s32 %r0, %r0, %r1; add.s32 %r2, %r2, %r3; xor.b32 %r0, %r0, %r2; st.global.u32 [%rd2], %r0;
    add.f32 %f0, %f0, %f1; add.f32 %f2, %f2, %f3; add.f32 %f0, %f0, %f2; st.global.f32 [%rd2+4], %f0;
    ret;
}}
"
        )
    }

    fn drive(&self, d: &mut dyn Device) -> Vec<u8> {
        let bytes = self.ctas as usize * self.threads as usize * 8;
        d.load_module("random.ptx", &self.ptx()).unwrap_or_else(|e| panic!("{e}\n{}", self.ptx()));
        let data: Vec<u8> = (0..bytes).map(|i| (i as u32).wrapping_mul(2_654_435_761).to_le_bytes()[2]).collect();
        let (input, output) = (d.alloc(bytes as u64).unwrap(), d.alloc(bytes as u64).unwrap());
        d.write(input, &data).unwrap();
        d.launch("k", [self.ctas, 1, 1], [self.threads, 1, 1], 0, &[Arg::Ptr(input), Arg::Ptr(output)]).unwrap();
        let mut out = vec![0; bytes];
        d.read(output, &mut out).unwrap();
        out
    }

    fn run(&self, spec: &Spec, selection: &Selection) -> (Vec<u8>, RunStats, Report) {
        let mut gpu = Gpu::with_policy(spec.clone(), threads(1), selection).unwrap();
        let out = self.drive(&mut gpu);
        let stats = gpu.stats();
        assert_eq!(stats.ending, Ending::Completed);
        (out, stats, gpu.report())
    }
}

/// A small GPU as a policy's paper has it.
fn machine(gpu: &str, set: &[&str]) -> Spec {
    let settings: Vec<(&str, &str)> = set.iter().filter_map(|s| s.split_once('=')).collect();
    let mut spec = preset(gpu, &settings);
    spec.set("sms", "2").unwrap();
    spec
}

/// All policies by themselves, on their papers' machines, and those beside which others leave their hooks.
fn everything() -> Vec<(&'static str, Spec, Vec<String>)> {
    let alone =
        POLICIES.iter().map(|d| (d.about.name, machine(d.about.baseline.gpu, d.about.baseline.set), Vec::new()));
    let pascal = || machine("pascal16", &["scheduler=two-level-fetch"]);
    let narrow = |width: &str| machine("pascal16", &["scheduler=two-level-fetch", &format!("simd_width={width}")]);
    let fermi = || machine("gtx480", &["scheduler=two-level-active"]);
    let set = |settings: &[&str]| settings.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let others = [
        ("itap-pow+pats", pascal(), set(&[])),
        ("itap-pow", pascal(), set(&["itap-pow.peek_ahead=false", "itap-pow.counter_values=4"])),
        ("itap-perf", pascal(), set(&["itap-perf.granularity=1", "itap-perf.counter_values=4"])),
        ("cpg", pascal(), set(&["cpg.scope=lane", "cpg.energy=table-4", "cpg.demand=unit"])),
        ("warped-gates", fermi(), set(&["warped-gates.demand=unit"])),
        ("cpg+permute+lane-clock-gating", fermi(), set(&["cpg.granularity=1"])),
        ("itap-pow", narrow("4"), set(&["itap-pow.counter_values=4"])),
        ("itap-pow", narrow("8"), set(&["itap-pow.peek_ahead=false", "itap-pow.granularity=2"])),
        ("itap-perf", narrow("16"), set(&["itap-perf.counter_values=4"])),
        ("itap-perf", narrow("4"), set(&["itap-perf.granularity=1", "itap-perf.scope=type"])),
        ("itap-ideal", narrow("8"), set(&[])),
        ("itap-ideal", narrow("4"), set(&["itap-ideal.scope=type"])),
        ("cpg", narrow("8"), set(&["cpg.granularity=1"])),
        ("warped-gates", narrow("4"), set(&[])),
    ];
    alone.chain(others).collect()
}

fn sum(stats: &RunStats, of: fn(&warpwatt_machine::activity::SmActivity) -> &LaneResidency) -> LaneResidency {
    let mut sum = LaneResidency::default();
    stats.samples.iter().flat_map(|s| &s.sms).for_each(|sm| sum.add(of(sm)));
    sum
}

/// Cycles of a lane's leakage that are left at least of a run's own idle periods: what `saves` gives for a period of so many
/// cycles, and for each lane as much again as `free`, for the period in which the run ends may have its waking up ahead.
fn bound(lane_cycles: u64, report: &Report, unit: &str, free: f64, saves: impl Fn(u64) -> f64) -> f64 {
    let bins = report.histogram(&format!("idle.{unit}"));
    let last = bins.len().saturating_sub(1);
    let short: u64 = bins.iter().enumerate().take(last).map(|(length, n)| length as u64 * n).sum();
    let saved: f64 = bins.iter().enumerate().take(last).map(|(length, n)| *n as f64 * saves(length as u64)).sum();
    // All longer periods are so long that what they save is their length but for a constant.
    let (long, cycles) = (bins.last().copied().unwrap_or(0), report.count(&format!("idle_cycles.{unit}")) - short);
    let longest = last as u64;
    let long_saved = cycles as f64 - long as f64 * (longest as f64 - saves(longest));
    lane_cycles as f64 - saved - long_saved - free
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 40, ..ProptestConfig::with_cases(10) })]

    #[test]
    fn under_every_policy_results_are_the_same_and_both_audits_hold(kernel in kernel()) {
        let expected = kernel.drive(&mut FunctionalDevice::default());
        for (policy, spec, settings) in everything() {
            let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
            let selection = select(&spec, policy, &settings);
            let (out, stats, report) = kernel.run(&spec, &selection);
            prop_assert!(out == expected, "{policy}: other results");
            // Lanes × cycles, by state; and the sum of energies.
            let model = model(&spec, &selection);
            prop_assert!(model.audit(&stats, &model.run(&stats)).is_ok(), "{policy}");
            let sm_cycles: u64 = stats.samples.iter().flat_map(|s| &s.sms).map(|sm| sm.cycles).sum();
            prop_assert!(sm_cycles >= u64::from(spec.sms) * cycles(&stats));
            let (sp, sfu) = spec.lanes();
            for (lanes, residency) in [(sp, sum(&stats, |sm| &sm.int)), (sp, sum(&stats, |sm| &sm.fp)), (sfu, sum(&stats, |sm| &sm.sfu))] {
                prop_assert_eq!(residency.cycles.iter().sum::<u64>(), u64::from(lanes) * sm_cycles, "{}", policy);
            }
            // Nobody saves more than an oracle of its own lanes.
            let modes = policy.starts_with("itap");
            let switches = selection.chosen().iter().any(|c| c.definition.about.hooks.contains(&HookKind::Lanes));
            let gating = selection.power().gating;
            for (unit, at) in [("int", 0), ("fp", 1)].into_iter().filter(|_| switches) {
                let unit_power = &units(&spec, &selection, &stats)[at];
                let pg = gating.map_or(0.0, |g| g.gate + g.wake);
                let free = f64::from(sp * spec.sms) * gating.map_or(0.0, |g| g.wake);
                let least = bound(unit_power.lane_cycles, &report, unit, free, |idle| match modes {
                    true => best(idle).map_or(0.0, |mode| idle as f64 - mode.energy(idle)),
                    false => (idle as f64 - pg).max(0.0),
                });
                let left = unit_power.leaked_cycles;
                prop_assert!(left >= least * (1.0 - 1e-9) - 1e-6, "{policy}, {unit}: {left} under {least}");
            }
        }
        prop_assert_eq!(Mode::Pg.wake_energy(), 13.0);
    }

    #[test]
    fn gating_without_wake_up_and_break_even_time_costs_no_time(kernel in kernel(), lane in any::<bool>(), g in 0..6u32) {
        let spec = machine("gtx480", &["scheduler=two-level-active"]);
        let (scope, granularity) = (if lane { "lane" } else { "type" }, 1 << g);
        let (scope, granularity) = (format!("cpg.scope={scope}"), format!("cpg.granularity={granularity}"));
        let (_, plain, _) = kernel.run(&spec, &Selection::default());
        for idle_detect in ["cpg.idle_detect=0", "cpg.idle_detect=5"] {
            let set = ["cpg.bet=0", "cpg.wake_up=0", &scope, &granularity, idle_detect];
            let free = select(&spec, "cpg", &set);
            let (_, gated, report) = kernel.run(&spec, &free);
            prop_assert_eq!((cycles(&gated), report.count("lanes.waits")), (cycles(&plain), 0));
            let awake = |r: LaneResidency| r.cycles[LaneState::On as usize] + r.cycles[LaneState::IdleDetect as usize];
            let int = &units(&spec, &free, &gated)[0];
            let saved = 1.0 - awake(sum(&gated, |sm| &sm.int)) as f64 / int.lane_cycles as f64;
            prop_assert!((int.saved.unwrap() - saved).abs() < 1e-9);
        }
    }
}
