//! SPs with fewer lanes than a warp has threads (ITAP §6.4.3): what enters them when, and that everything adds up.

mod common;

use common::policies::{AlwaysOn, DatapathPolicy, LanesPolicy, Shapes};
use common::{Bench, PROGRAMS, kernel, preset, record, threads};
use std::sync::{Arc, Mutex};
use warpwatt_machine::activity::{LaneResidency, SmActivity, SmEvent};
use warpwatt_machine::hooks::{Ahead, Hook, LanesHook, Policy, SmHooks, SmState, StartQuery, Watches};
use warpwatt_machine::kernel::Port;
use warpwatt_machine::simd::Simd;
use warpwatt_machine::sm::groups::EX_SP;
use warpwatt_machine::spec::Spec;
use warpwatt_machine::stats::RunStats;
use warpwatt_machine::{Gpu, Options};
use warpwatt_simt::device::{Arg, Device};

const WIDTHS: [&str; 4] = ["4", "8", "16", "32"];

fn pascal(width: &str) -> Spec {
    preset("pascal16", &[("simd_width", width)])
}

fn sms(stats: &RunStats) -> impl Iterator<Item = &SmActivity> {
    stats.samples.iter().flat_map(|s| &s.sms)
}

fn event(stats: &RunStats, event: SmEvent) -> u64 {
    sms(stats).map(|sm| sm.events[event as usize]).sum()
}

/// Right results, lanes × cycles, the same bytes for two threads and without skipping.
fn hold(spec: &Spec, policy: Option<&dyn Policy>) {
    let (sp, sfu) = spec.lanes();
    for program in PROGRAMS.iter().filter(|p| p.ordered) {
        let (output, stats, _) = program.run(spec, threads(1), policy);
        assert!(output == program.expected(), "{}: wrong result under {policy:?}", program.kernel);
        for sm in sms(&stats) {
            for (lanes, residency) in [(sp, &sm.int), (sp, &sm.fp), (sfu, &sm.sfu)] {
                assert_eq!(residency.cycles.iter().sum::<u64>(), u64::from(lanes) * sm.cycles);
            }
        }
        if ["sums", "locals", "diverge"].contains(&program.kernel) {
            for (n, no_skip) in [(2, false), (1, true)] {
                let (_, again, _) = program.run(spec, Options { no_skip, ..threads(n) }, policy);
                assert!(record(&again) == record(&stats), "{}: {n} threads, no_skip {no_skip}", program.kernel);
            }
        }
    }
}

#[test]
fn everything_adds_up_at_every_width() {
    for width in WIDTHS {
        hold(&pascal(width), None);
        // Sub-warps enter in every fourth cycle only.
        hold(&preset("gtx480", &[("simd_width", width)]), Some(&LanesPolicy));
    }
}

#[test]
fn groups_are_tuned_down_and_halves_split_at_any_width() {
    for width in ["4", "16"] {
        hold(&preset("kepler-big", &[("simd_width", width)]), Some(&DatapathPolicy));
        for split in [false, true] {
            hold(&preset("gtx480", &[("simd_width", width)]), Some(&Shapes { split, stages: 2 }));
        }
    }
}

/// Lanes that are always on; keeps what starts in the SPs, and checks it against what was shown before.
#[derive(Debug)]
struct Kept {
    on: AlwaysOn,
    simd: Simd,
    /// From when on what is next may start, its lanes, and for how many cycles.
    next: Option<(u64, u32, u32)>,
    starts: Arc<Mutex<Vec<StartQuery>>>,
}

impl Hook for Kept {}

impl LanesHook for Kept {
    fn start(&mut self, query: &StartQuery) -> u64 {
        if query.port == Port::Sp {
            if let Some((soonest, lanes, busy)) = self.next.take() {
                assert!(query.now >= soonest && query.lanes == lanes, "{query:?}, shown: {lanes:x} from {soonest} on");
                assert_eq!(query.busy, busy);
            }
            self.starts.lock().unwrap().push(*query);
        }
        query.now
    }
    fn residency(&mut self, now: u64, int: &mut LaneResidency, fp: &mut LaneResidency, sfu: &mut LaneResidency) {
        self.on.take(now, int, fp, sfu);
    }
    fn watches(&self) -> Watches {
        Watches::All
    }
    fn watch(&mut self, state: &SmState<'_>) {
        let mut first: Option<Ahead> = None;
        state.under_way(|unit, op| {
            assert_eq!(unit, 0, "the GPU has one SP");
            first = Some(op);
        });
        state.ahead(|op| {
            first.get_or_insert(op);
            false
        });
        assert_eq!(first.is_some(), state.any_ahead());
        self.next = first.map(|op| (state.now + u64::from(op.soonest), self.simd.cut(op.lanes).0, op.busy));
    }
}

#[derive(Debug, Default)]
struct Keep(Arc<Mutex<Vec<StartQuery>>>);

impl Policy for Keep {
    fn sm(&self, spec: &Spec, sm: u32) -> SmHooks {
        let starts = if sm == 0 { self.0.clone() } else { Arc::default() };
        let lanes = Kept { on: AlwaysOn::of(spec), simd: Simd::of(spec), next: None, starts };
        SmHooks { lanes: Some(Box::new(lanes)), ..SmHooks::default() }
    }
}

/// Starts of one warp's instruction with this guard, of those that follow too: cycles since the first, lanes.
fn starts(width: &str, instruction: &str, mask: u32) -> Vec<(u64, u32)> {
    let body = format!(
        "mov.u32 %r1, {mask}; shr.u32 %r1, %r1, %t; and.b32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0;
    mov.u32 %r2, 3; mov.f32 %f1, 0f40000000;
    @%p1 {instruction};
    st.global.u32 [%b], %r2;"
    );
    let spec = pascal(width);
    let policy = Keep::default();
    let mut gpu = Gpu::with_policy(spec, threads(1), &policy).unwrap();
    gpu.load_module("k.ptx", &kernel("", &body)).unwrap();
    let b = gpu.alloc(64).unwrap();
    gpu.launch("k", [1; 3], [32, 1, 1], 0, &[Arg::Ptr(b), Arg::Ptr(b), Arg::U64(0)]).unwrap();
    let all = policy.0.lock().unwrap();
    let at = all.iter().position(|q| q.begins == Some(mask)).unwrap();
    let own = 1 + all[at + 1..].iter().take_while(|q| q.begins.is_none()).count();
    all[at..at + own].iter().map(|q| (q.now - all[at].now, q.lanes)).collect()
}

#[test]
fn sub_warps_enter_one_after_the_other_and_empty_ones_are_skipped() {
    let add = "add.u32 %r2, %r2, 1";
    // The paper's examples.
    assert_eq!(starts("32", add, 0x0000_ffff), [(0, 0xffff)]);
    assert_eq!(starts("4", add, 0x0000_ffff), [(0, 0xf), (1, 0xf), (2, 0xf), (3, 0xf)]);
    assert_eq!(starts("4", add, 0x8888_8888), (0..8).map(|k| (k, 8)).collect::<Vec<_>>());
    assert_eq!(starts("8", add, 0xff00_0301), [(0, 1), (1, 3), (2, 0xff)]);
    assert_eq!(starts("16", add, 0x8000_0000), [(0, 0x8000)]);
    assert_eq!(starts("8", add, 0), [(0, 0)]);
}

#[test]
fn an_initiation_interval_is_a_lane_s() {
    // 32-bit multiplications enter every second cycle, minima of floats too (GPGPU-Sim's GTX 480).
    assert_eq!(starts("16", "mul.lo.u32 %r2, %r2, %r2", 0x7fff_ffff), [(0, 0xffff), (2, 0x7fff)]);
    assert_eq!(starts("8", "min.f32 %f1, %f1, %f1", 0xff00_0301), [(0, 1), (2, 3), (4, 0xff)]);
}

#[test]
fn full_warps_take_as_many_cycles_as_they_have_sub_warps() {
    let body = format!("mov.u32 %r2, 3;{} st.global.u32 [%b], %r2;", " add.u32 %r2, %r2, %t;".repeat(100));
    // Cycles for which SPs were taken, and all cycles.
    let taken = |width| {
        let mut bench = Bench::new(&pascal(width), threads(1), &kernel("", &body), &[], 4);
        let cycles = bench.cycles(16, 1024, 0);
        (sms(&bench.gpu.stats()).map(|sm| sm.component_busy[EX_SP]).sum::<u64>(), cycles)
    };
    let (work, wide) = taken("32");
    for (width, times) in [("16", 2), ("8", 4), ("4", 8)] {
        let (own, cycles) = taken(width);
        assert_eq!(own, times * work, "{width} lanes");
        assert!(cycles <= times * wide && 10 * cycles > 7 * times * wide, "{width} lanes: {cycles}, 32: {wide}");
    }
}

/// Inactive lanes of INT instructions, of a CTA with so many threads.
fn inactive(width: &str, threads_per_cta: u32) -> u64 {
    let body = "mov.u32 %r2, 3; add.u32 %r2, %r2, %t; add.u32 %r2, %r2, 7; st.global.u32 [%b], %r2;";
    let mut gpu = Gpu::new(pascal(width), threads(1)).unwrap();
    gpu.load_module("k.ptx", &kernel("", body)).unwrap();
    let b = gpu.alloc(64).unwrap();
    gpu.launch("k", [1; 3], [threads_per_cta, 1, 1], 0, &[Arg::Ptr(b), Arg::Ptr(b), Arg::U64(0)]).unwrap();
    event(&gpu.stats(), SmEvent::IntInactive)
}

#[test]
fn inactive_lanes_are_those_of_the_sub_warps_that_enter() {
    let operations = inactive("32", 31);
    assert!(operations > 5);
    assert_eq!(WIDTHS.map(|width| inactive(width, 16)), [0, 0, 0, 16 * operations]);
    assert_eq!(WIDTHS.map(|width| inactive(width, 17)), [3, 7, 15, 15].map(|lanes| lanes * operations));
    assert_eq!(WIDTHS.map(|width| inactive(width, 32)), [0; 4]);
}
