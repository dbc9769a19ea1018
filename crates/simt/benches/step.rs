//! Warp instructions per second of the functional device, one thread: small loops of one kind of instruction each, and
//! the reference kernels where their folder is present.

use divan::counter::ItemsCount;
use warpwatt_simt::device::{Arg, Device};
use warpwatt_simt::functional::FunctionalDevice;
use warpwatt_workloads::reference;

fn main() {
    divan::main();
}

/// A kernel that repeats a body 256 times.
fn kernel(body: &str) -> String {
    format!(
        ".version 7.8\n.target sm_35\n.address_size 64\n.shared .align 16 .b8 s[4096];\n.visible .entry k(.param .u64 \
         buffer) {{ .reg .pred %p<4>; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %rd<20>; .reg .f64 %fd<8>; \
         ld.param.u64 %rd1, [buffer]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.s32 %r3, %r2, 256, %r1; \
         mul.wide.u32 %rd2, %r3, 4; add.s64 %rd3, %rd1, %rd2; and.b32 %r4, %r1, 255; shl.b32 %r4, %r4, 2; \
         mov.u32 %r5, s; add.s32 %r4, %r4, %r5; mov.f32 %f1, 0f3F800001; mov.f32 %f2, 0f3F7FFFFF; \
         mov.f64 %fd1, 0d3FF0000000000001; mov.u32 %r10, 0;\nLOOP: {body}\nadd.s32 %r10, %r10, 1; \
         setp.lt.s32 %p1, %r10, 256; @%p1 bra LOOP; st.global.u32 [%rd3], %r6; ret; }}"
    )
}

const BODIES: &[(&str, &str)] = &[
    ("integer", "add.s32 %r6, %r6, %r3; xor.b32 %r7, %r6, 85; mad.lo.s32 %r6, %r7, 5, %r6; shl.b32 %r8, %r6, 3;"),
    (
        "float",
        "fma.rn.f32 %f3, %f1, %f2, %f3; add.f32 %f4, %f3, %f1; mul.f32 %f5, %f4, %f2; fma.rn.f32 %f3, %f5, %f1, %f3;",
    ),
    (
        "wide",
        "add.s64 %rd4, %rd4, %rd2; mul.wide.s32 %rd5, %r3, 4; add.s64 %rd6, %rd5, %rd1; sub.s64 %rd4, %rd6, %rd4;",
    ),
    ("double", "fma.rn.f64 %fd2, %fd1, %fd1, %fd2; add.f64 %fd3, %fd2, %fd1;"),
    ("global", "ld.global.u32 %r7, [%rd3]; add.s32 %r6, %r6, %r7; st.global.u32 [%rd3], %r6;"),
    ("shared", "st.shared.u32 [%r4], %r6; ld.shared.u32 %r7, [%r4]; ld.shared.u32 %r8, [s+64]; add.s32 %r6, %r7, %r8;"),
    (
        "divergent",
        "and.b32 %r7, %r1, 3; setp.lt.s32 %p2, %r7, 2; @%p2 bra A; add.s32 %r6, %r6, 1; bra B;
        A: add.s32 %r6, %r6, 2; B: add.s32 %r6, %r6, 3;",
    ),
];

#[divan::bench(args = BODIES.iter().map(|b| b.0))]
fn loops(bencher: divan::Bencher<'_, '_>, name: &str) {
    let Some((_, body)) = BODIES.iter().find(|b| b.0 == name) else { return };
    let mut device = FunctionalDevice::default();
    device.load_module("bench.ptx", &kernel(body)).unwrap_or_else(|e| panic!("{e}"));
    let buffer = device.alloc(32 * 256 * 4).unwrap_or_else(|e| panic!("{e}"));
    let mut run = || {
        let before = device.counts().warp_instructions;
        device.launch("k", [32, 1, 1], [256, 1, 1], 0, &[Arg::Ptr(buffer)]).unwrap_or_else(|e| panic!("{e}"));
        device.counts().warp_instructions - before
    };
    let instructions = run();
    bencher.counter(ItemsCount::new(instructions)).bench_local(run);
}

#[divan::bench(args = ["matmul", "intfp", "diverge", "banks1", "barriers", "spmv", "thrash_over", "histogram"])]
fn cases(bencher: divan::Bencher<'_, '_>, name: &str) {
    let (Some(folder), Some(case)) = (reference::folder(), reference::find(name)) else { return };
    let Ok(ptx) = std::fs::read_to_string(folder.join("kernels/kernels.ptx")) else { return };
    let run = || {
        let mut device = FunctionalDevice::default();
        case.run(&mut device, &ptx).unwrap_or_else(|e| panic!("{e}"));
        device.counts().warp_instructions
    };
    let instructions = run();
    bencher.counter(ItemsCount::new(instructions)).bench_local(run);
}
