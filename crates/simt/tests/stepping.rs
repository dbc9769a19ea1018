//! The interface that a timing simulator drives: single steps, effects, the window's view of memory, deferred
//! operations, state that can be saved in mid-kernel.

use std::sync::Arc;

use warpwatt_simt::alu::Row;
use warpwatt_simt::cta::Cta;
use warpwatt_simt::device::Arg;
use warpwatt_simt::effect::{AtomicDest, AtomicOp, AtomicType, Effect, EffectKind};
use warpwatt_simt::exec::{Env, step};
use warpwatt_simt::launch::{Launch, parameter_block};
use warpwatt_simt::memory::{Direct, GlobalAccess, GlobalMemory, Region, StoreLog, WindowView};
use warpwatt_simt::opinfo::{Class, MemSpace, Unit};
use warpwatt_simt::program::{BuildOptions, ModuleImage, NO_PC, Program};
use warpwatt_simt::warp::Warp;

const BASE: u64 = 0xc000_0000;

fn program(ptx: &str, memory: &mut GlobalMemory) -> Arc<Program> {
    let module = warpwatt_ptx::parse("test.ptx", ptx).unwrap_or_else(|e| panic!("{e}\n{ptx}"));
    let image = ModuleImage::place(&module, memory, |_| None).unwrap();
    let kernel = module.functions.iter().position(|f| f.entry).unwrap();
    let options = BuildOptions { image: &image, registers_override: None };
    let kernel = warpwatt_ptx::ir::FuncId(kernel as u32);
    Arc::new(Program::build(&module, kernel, &options).unwrap_or_else(|e| panic!("{e}\n{ptx}")))
}

/// A kernel `k(p)` with `%rd1` = p and `%rd2` = p + 4 × tid.
fn kernel(declarations: &str, body: &str) -> String {
    format!(".version 7.8\n.target sm_80\n.address_size 64\n{declarations}\n.visible .entry k(.param .u64 p) {{
        .reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<8>; ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd2, %r1, 4; add.s64 %rd2, %rd1, %rd2;\n{body}\n ret; }}")
}

const PRELUDE: u32 = 4;

fn launch(program: Arc<Program>, threads: u32) -> Launch {
    let params = parameter_block(&program, &[Arg::Ptr(BASE)]).unwrap();
    Launch::new(program, [2, 1, 1], [threads, 1, 1], 0, params, 0).unwrap()
}

fn memory_with(bytes: u64) -> GlobalMemory {
    let mut memory = GlobalMemory::default();
    assert_eq!(memory.alloc(Region::Buffer, bytes).unwrap(), BASE);
    memory
}

/// A warp of CTA 0 with everything it needs.
struct Rig {
    launch: Launch,
    memory: GlobalMemory,
    log: StoreLog,
    cta: Cta,
    warp: Warp,
    effect: Effect,
}

impl Rig {
    fn new(declarations: &str, body: &str, threads: u32) -> Rig {
        let mut memory = memory_with(4096);
        let launch = launch(program(&kernel(declarations, body), &mut memory), threads);
        let (mut cta, mut warp) = (Cta::new(), Warp::new());
        cta.reset(&launch, 0);
        warp.reset(&launch, 0, 0);
        let mut rig = Rig { launch, memory, log: StoreLog::new(64), cta, warp, effect: Effect::default() };
        (0..PRELUDE).for_each(|_| rig.step());
        rig
    }

    fn step(&mut self) {
        let view = WindowView::new(&self.memory, &mut self.log);
        let mut print = Vec::new();
        let mut env = Env::new(&self.launch, view, &mut print);
        step(&mut self.warp, &mut self.cta, &mut env, &mut self.effect).unwrap_or_else(|e| panic!("{e}"));
    }

    /// Ends the window.
    fn end_window(&mut self) {
        self.log.apply(&mut self.memory);
        self.log.clear();
    }

    fn word(&self, index: u64) -> u32 {
        let mut bytes = [0; 4];
        self.memory.read(BASE + 4 * index, &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    }
}

#[test]
fn effects_say_lanes_and_addresses() {
    let body = "setp.lt.u32 %p1, %r1, 3; @%p1 ld.global.cg.u32 %r2, [%rd2+8]; @%p1 st.shared.v2.u32 [s+8], {%r2, %r2};
        @!%p1 bra A; add.u32 %r3, %r1, 1; A: bar.sync 0;";
    let mut rig = Rig::new(".shared .align 8 .b8 s[32];", body, 32);
    rig.step();
    rig.step();
    let e = &rig.effect;
    assert_eq!((e.kind, e.active, e.executed), (EffectKind::Load, u32::MAX, 7));
    assert_eq!((e.access.global, e.access.bytes, e.access.element, e.access.bypass_l1), (7, 4, 4, true));
    assert_eq!(e.access.address[..3], [BASE + 8, BASE + 12, BASE + 16]);
    rig.step();
    let e = &rig.effect;
    assert_eq!((e.kind, e.access.shared, e.access.global), (EffectKind::Store, 7, 0));
    assert_eq!((e.access.bytes, e.access.element, e.access.address[0]), (8, 4, 8));
    rig.step();
    assert_eq!((rig.effect.kind, rig.effect.executed), (EffectKind::Branch, !7));
    assert_eq!((rig.warp.active(), rig.warp.pc()), (7, PRELUDE + 4));
    rig.step();
    assert_eq!((rig.effect.kind, rig.effect.executed, rig.warp.active()), (EffectKind::Alu, 7, u32::MAX));
    rig.step();
    let e = &rig.effect;
    assert_eq!((e.kind, e.waits, e.released), (EffectKind::Barrier, false, 1));
    rig.step();
    assert!(rig.effect.finished && rig.warp.done());
    assert_eq!((rig.effect.kind, rig.warp.pc()), (EffectKind::Exit, NO_PC));
}

#[test]
fn a_step_without_lanes_is_arithmetic_or_a_branch() {
    let mut rig =
        Rig::new("", "setp.gt.u32 %p1, %r1, 99; @%p1 ld.global.u32 %r2, [%rd2]; @%p1 bra A; @%p1 bar.sync 0; A:", 32);
    rig.step();
    for kind in [EffectKind::Alu, EffectKind::Branch, EffectKind::Alu] {
        rig.step();
        assert_eq!((rig.effect.kind, rig.effect.executed, rig.effect.active), (kind, 0, u32::MAX));
    }
}

#[test]
fn stores_are_seen_by_their_own_sm_at_once_and_by_memory_at_the_windows_end() {
    let mut rig = Rig::new(
        "",
        "st.global.u32 [%rd2], %r1; ld.global.u32 %r2, [%rd2]; st.global.u32 [%rd2+256], %r2;
        st.global.u8 [%rd2+1], %r1; ld.global.u32 %r3, [%rd2]; st.global.u32 [%rd2+512], %r3;
        ld.global.u16 %r4, [%rd1+16]; st.global.u32 [%rd2+1024], %r4;",
        32,
    );
    (0..8).for_each(|_| rig.step());
    assert!((0..1024).all(|i| rig.word(i) == 0));
    rig.end_window();
    for t in 0..32 {
        assert_eq!(rig.word(t), t as u32 | (t as u32) << 8);
        assert_eq!(rig.word(64 + t), t as u32, "the load before the byte store");
        assert_eq!(rig.word(128 + t), t as u32 | (t as u32) << 8, "the load after it");
        assert_eq!(rig.word(256 + t), 4 | 4 << 8, "all lanes read one logged half word");
    }
}

#[test]
fn a_full_log_loses_no_store() {
    let mut memory = memory_with(4096);
    let mut log = StoreLog::new(1);
    {
        let mut view = WindowView::new(&memory, &mut log);
        let address: [u64; 32] = std::array::from_fn(|i| BASE + 4 * i as u64);
        view.store(u32::MAX, &address, &[[1; 4]; 32]).unwrap();
        view.store(u32::MAX, &address, &[[2; 4]; 32]).unwrap();
        let mut seen = [[0; 4]; 32];
        view.load(u32::MAX, &address, &mut seen).unwrap();
        assert_eq!(seen, [[2; 4]; 32], "loads see it before it reaches memory");
    }
    log.apply(&mut memory);
    assert_eq!(memory.slice(BASE, 128).unwrap(), [2; 128]);
    log.clear();
    assert!(log.is_empty());
}

#[test]
fn atomics_are_deferred_and_their_results_delivered() {
    let body = "atom.global.add.u32 %r2, [%rd1], %r1; cvt.u64.u32 %rd3, %r1; atom.global.exch.b64 %rd4, [%rd1+8], %rd3;
        red.global.max.u32 [%rd1+4], %r1; st.global.u32 [%rd2+256], %r2; st.global.u32 [%rd2+512], %rd4;";
    let mut rig = Rig::new("", body, 4);
    let perform = |rig: &mut Rig| {
        let e = rig.effect.clone();
        assert_eq!((e.kind, e.atomic.lanes, e.access.global), (EffectKind::Atomic, 0xf, 0xf));
        for lane in 0..4usize {
            let a = &e.atomic;
            let old = rig.memory.atomic(e.access.address[lane], a.op, a.ty, a.operand[lane], a.swap[lane]).unwrap();
            rig.warp.write_back(a.dest, lane as u32, old);
        }
        e.atomic
    };
    rig.step();
    let a = perform(&mut rig);
    assert_eq!((a.op, a.ty, a.reduction, a.operand[3]), (AtomicOp::Add, AtomicType::U32, false, 3));
    assert!(matches!(a.dest, AtomicDest::Row(_)));
    rig.step();
    rig.step();
    let a = perform(&mut rig);
    assert_eq!((a.op, a.ty), (AtomicOp::Exch, AtomicType::U64));
    assert!(matches!(a.dest, AtomicDest::Wide(_)));
    rig.step();
    let a = perform(&mut rig);
    assert_eq!((a.op, a.reduction, a.dest), (AtomicOp::Max, true, AtomicDest::None));
    rig.step();
    rig.step();
    rig.end_window();
    assert_eq!([rig.word(0), rig.word(1), rig.word(2)], [6, 3, 3]);
    let words = |rig: &Rig, from: u64| (from..from + 4).map(|i| rig.word(i)).collect::<Vec<_>>();
    assert_eq!(words(&rig, 64), [0, 0, 1, 3]);
    assert_eq!(words(&rig, 128), [0, 0, 1, 2]);
}

#[test]
fn atomics_on_shared_memory_are_not_deferred() {
    let body = "atom.shared.add.u32 %r2, [s], 5; cvta.shared.u64 %rd3, s; and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0;
        selp.b64 %rd4, %rd3, %rd1, %p1; atom.add.u32 %r4, [%rd4], 1;";
    let mut rig = Rig::new(".shared .align 4 .u32 s;", body, 4);
    rig.step();
    assert_eq!((rig.effect.atomic.lanes, rig.effect.access.shared), (0, 0xf));
    assert_eq!(rig.cta.shared[..4], [20, 0, 0, 0]);
    (0..5).for_each(|_| rig.step());
    let e = &rig.effect;
    assert_eq!((e.atomic.lanes, e.access.shared, e.access.global), (0b1010, 0b0101, 0b1010));
    assert_eq!(e.access.address[..2], [0, BASE]);
    assert_eq!(rig.cta.shared[..4], [22, 0, 0, 0]);
}

#[test]
fn a_deferred_atomic_is_checked_when_it_issues() {
    let mut rig = Rig::new("", "atom.global.add.u32 %r2, [%rd1+4096], 1;", 1);
    let mut print = Vec::new();
    let mut env = Env::new(&rig.launch, WindowView::new(&rig.memory, &mut rig.log), &mut print);
    let fault = step(&mut rig.warp, &mut rig.cta, &mut env, &mut rig.effect).unwrap_err();
    assert!(fault.to_string().starts_with("out-of-bounds atomic access of 4 bytes in global memory"), "{fault}");
}

#[test]
fn heap_calls_are_deferred() {
    let heap = ".extern .func (.param .b64 r) malloc(.param .b64 a); .extern .func free(.param .b64 a);";
    let body = ".param .b64 a; .param .b64 b; cvt.u64.u32 %rd3, %r1; add.s64 %rd3, %rd3, 16; st.param.b64 [a], %rd3;
        call (b), malloc, (a); ld.param.b64 %rd4, [b]; st.global.u32 [%rd2], %rd4; st.param.b64 [a], %rd4; call free, (a);";
    let mut rig = Rig::new(heap, body, 2);
    (0..4).for_each(|_| rig.step());
    let a = rig.effect.atomic.clone();
    assert_eq!((rig.effect.kind, a.malloc, a.lanes), (EffectKind::Heap, true, 3));
    assert_eq!(a.operand[..2], [16, 17]);
    let blocks = [rig.memory.malloc(a.operand[0]), rig.memory.malloc(a.operand[1])];
    (0..2).for_each(|lane| rig.warp.write_back(a.dest, lane, blocks[lane as usize]));
    (0..4).for_each(|_| rig.step());
    let a = &rig.effect.atomic;
    assert_eq!((rig.effect.kind, a.malloc, a.lanes, a.dest), (EffectKind::Heap, false, 3, AtomicDest::None));
    assert_eq!(a.operand[..2], blocks);
    assert!(rig.memory.free(blocks[0]) && rig.memory.free(blocks[1]));
    rig.end_window();
    assert_eq!([rig.word(0), rig.word(1)], [0x8000_0000, 0x8000_0010]);
}

#[test]
fn clocks_and_places_come_from_the_environment() {
    let body = "mov.u32 %r2, %smid; mov.u32 %r3, %warpid; mov.u32 %r4, %clock; mov.u64 %rd3, %globaltimer;
        mov.u32 %r5, %nsmid; mov.u32 %r6, %nwarpid; st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};
        st.global.v2.u32 [%rd1+16], {%r6, %r6}; st.global.u64 [%rd1+24], %rd3;";
    let mut rig = Rig::new("", body, 1);
    for _ in 0..9 {
        let mut print = Vec::new();
        let mut env = Env::new(&rig.launch, WindowView::new(&rig.memory, &mut rig.log), &mut print);
        (env.sm, env.sms, env.warp_slot, env.warp_slots) = (3, 15, 7, 64);
        (env.cycle, env.nanoseconds) = (1 << 32 | 5, 1 << 33);
        step(&mut rig.warp, &mut rig.cta, &mut env, &mut rig.effect).unwrap();
    }
    rig.end_window();
    assert_eq!((0..8).map(|i| rig.word(i)).collect::<Vec<_>>(), [3, 7, 5, 15, 64, 64, 0, 2]);
}

/// Runs CTA 0 to its end on memory directly, saving and restoring everything after every `every` steps.
fn run_with_restores(ptx: &str, threads: u32, every: u64) -> (Vec<u8>, u64) {
    let mut memory = memory_with(4096);
    let launch = launch(program(ptx, &mut memory), threads);
    let mut cta = Cta::new();
    cta.reset(&launch, 1);
    let mut warps: Vec<Warp> = (0..launch.warps_per_cta()).map(|_| Warp::new()).collect();
    (0..).zip(&mut warps).for_each(|(n, w)| w.reset(&launch, 1, n));
    let (mut effect, mut print, mut waiting, mut steps) = (Effect::default(), Vec::new(), 0u64, 0);
    while !cta.done() {
        for n in 0..warps.len() {
            if warps[n].done() || waiting >> n & 1 != 0 {
                continue;
            }
            let mut env = Env::new(&launch, Direct::new(&mut memory), &mut print);
            step(&mut warps[n], &mut cta, &mut env, &mut effect).unwrap_or_else(|e| panic!("{e}"));
            waiting = (waiting | (effect.waits as u64) << n) & !effect.released;
            steps += 1;
            if steps % every == 0 {
                let state = postcard::to_allocvec(&(&warps, &cta, &memory)).unwrap();
                (warps, cta, memory) = postcard::from_bytes(&state).unwrap();
            }
        }
    }
    (memory.slice(BASE, 4096).unwrap().to_vec(), steps)
}

#[test]
fn state_saved_in_mid_kernel_goes_on_to_the_same_end() {
    // Divergence, recursion, local memory, barriers with a reduction, shared atomics, the carry flag, the heap.
    let declarations = ".shared .align 4 .u32 s; .extern .func (.param .b64 r) malloc(.param .b64 a);
        .func (.param .b32 r) f(.param .b32 n) { .reg .b32 %r<6>; .reg .pred %p; .local .align 4 .b8 l[8]; .param .b32 a;
        .param .b32 b; ld.param.b32 %r1, [n]; st.local.u32 [l+4], %r1; setp.eq.u32 %p, %r1, 0; @%p bra Z; sub.u32 %r2, %r1, 1;
        st.param.b32 [a], %r2; call (b), f, (a); ld.param.b32 %r3, [b]; ld.local.u32 %r4, [l+4]; add.u32 %r3, %r3, %r4;
        st.param.b32 [r], %r3; ret; Z: st.param.b32 [r], 0; ret; }";
    let body = ".param .b32 a; .param .b32 b; .param .b64 c; .param .b64 d; and.b32 %r2, %r1, 7; st.param.b32 [a], %r2;
        call (b), f, (a); ld.param.b32 %r3, [b]; atom.shared.add.u32 %r4, [s], %r3; setp.gt.u32 %p1, %r2, 4;
        bar.red.popc.u32 %r5, 0, %p1; ld.shared.u32 %r6, [s]; add.cc.u32 %r7, %r6, -1; addc.u32 %r8, %r5, %r3;
        st.param.b64 [c], 32; call (d), malloc, (c); ld.param.b64 %rd5, [d]; st.u32 [%rd5], %r8; @%p1 bra B;
        add.u32 %r8, %r8, 1000; B: ld.u32 %r9, [%rd5]; add.u32 %r8, %r8, %r9; st.global.u32 [%rd2], %r8;";
    let ptx = kernel(declarations, body);
    let (expected, steps) = run_with_restores(&ptx, 70, u64::MAX);
    assert!(steps > 100 && expected.iter().any(|&b| b != 0));
    for every in [1, 7, 40] {
        assert_eq!(run_with_restores(&ptx, 70, every), (expected.clone(), steps));
    }
}

#[test]
fn places_are_reused_without_traces() {
    let ptx = kernel(
        "",
        ".local .align 4 .b8 l[8]; ld.local.u32 %r3, [l+4]; add.u32 %r4, %r5, %r3; mov.u32 %r5, 77;
        st.local.u32 [l+4], 9; st.global.u32 [%rd2], %r4;",
    );
    let mut memory = memory_with(4096);
    let launch = launch(program(&ptx, &mut memory), 32);
    let (mut cta, mut warp, mut effect, mut print) = (Cta::new(), Warp::new(), Effect::default(), Vec::new());
    for id in 0..2 {
        cta.reset(&launch, id);
        warp.reset(&launch, id, 0);
        while !warp.done() {
            let mut env = Env::new(&launch, Direct::new(&mut memory), &mut print);
            step(&mut warp, &mut cta, &mut env, &mut effect).unwrap();
        }
        assert_eq!(memory.slice(BASE, 128).unwrap(), [0; 128]);
    }
}

#[test]
fn programs_tell_the_pipeline_what_it_needs() {
    let body = "ld.global.f32 %f1, [%rd2]; setp.lt.u32 %p1, %r1, 5; @%p1 fma.rn.f32 %f2, %f1, %f1, 0f3F800000;
        @!%p1 sin.approx.f32 %f2, %f1; st.global.f32 [%rd2], %f2; bar.sync 0; membar.gl;";
    let mut memory = memory_with(64);
    let program = program(&kernel(".shared .align 4 .b8 s[40];", body), &mut memory);
    let op = |n: usize| &program.ops[n];
    assert_eq!((op(0).unit, op(0).class, op(0).space), (Unit::Mem, Class::Load, Some(MemSpace::Param)));
    assert_eq!((op(0).writes, op(0).reads, op(0).dests.len()), (2, 0, 2));
    let load = op(4);
    assert_eq!((load.space, load.reads, load.writes, load.sources.len()), (Some(MemSpace::Global), 2, 1, 1));
    let compare = op(5);
    assert_eq!((compare.unit, compare.reads, compare.immediates, compare.writes), (Unit::Int, 1, 1, 0));
    let guard = compare.dests[0];
    let fma = op(6);
    assert_eq!((fma.unit, fma.class, fma.reads, fma.immediates), (Unit::Fp, Class::FpFma, 1, 1));
    assert!(fma.names.contains(&guard) && !fma.sources.contains(&guard));
    assert_eq!((op(7).unit, op(7).class), (Unit::Sfu, Class::SfuSinCos));
    assert!(op(8).store && !op(8).drain && op(9).drain && op(10).drain);
    assert_eq!((op(9).class, op(10).class), (Class::Barrier, Class::Fence));
    let ret = op(11);
    assert!(ret.exit && ret.control && ret.drain);
    // The return and, behind the text, the one for falling off its end.
    assert_eq!(program.len(), 13);
    assert!(program.ops.iter().flat_map(|o| &o.names).all(|&n| (n as u32) < program.names));
    assert_eq!((program.static_shared, program.local_bytes, program.param_bytes), (0, 0, 8));
    assert_eq!(program.function_of(3), "k");
    assert!(program.registers_per_thread >= 4);
}

#[test]
fn rows_are_serialized_as_bytes() {
    let mut rig = Rig::new("", "add.u32 %r2, %r1, 1;", 32);
    rig.step();
    let bytes = postcard::to_allocvec(&rig.warp).unwrap();
    let rows = rig.launch.program.functions[0].rows as usize;
    assert!(bytes.len() < (rows + 8) * size_of::<Row>(), "{}", bytes.len());
}
