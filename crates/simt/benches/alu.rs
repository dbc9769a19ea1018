//! Time of one warp instruction (32 lanes) per class of operation: `cargo bench -p warpwatt-simt --bench alu`.

use divan::{Bencher, black_box};
use warpwatt_ptx::{ir::Instruction, ir::Register, parse};
use warpwatt_simt::alu::{Inputs, Level, Output, Row, Window, select};

fn main() {
    divan::main();
}

/// An instruction on registers `%s` (16 bits), `%r` (32), `%d` (64), `%p` (predicates).
fn instruction(text: &str) -> (Instruction, Vec<Register>) {
    let module = parse(
        "bench",
        &format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {{ .reg .pred %p<4>; .reg .b16 %s<8>; \
             .reg .b32 %r<8>; .reg .b64 %d<8>; {text}; ret; }}"
        ),
    )
    .expect("a valid instruction");
    let body = module.functions[0].body.clone().expect("a body");
    (body.instructions[0].clone(), body.registers)
}

const FORMS: &[&str] = &[
    "add.s32 %r0, %r1, %r2",
    "add.s64 %d0, %d1, %d2",
    "mul.lo.s32 %r0, %r1, %r2",
    "mul.hi.u32 %r0, %r1, %r2",
    "mul.wide.s32 %d0, %r1, %r2",
    "mad.lo.s32 %r0, %r1, %r2, %r3",
    "mul.lo.s64 %d0, %d1, %d2",
    "add.cc.u32 %r0, %r1, %r2",
    "madc.hi.cc.u32 %r0, %r1, %r2, %r3",
    "div.u32 %r0, %r1, %r2",
    "div.s32 %r0, %r1, %r2",
    "rem.s32 %r0, %r1, %r2",
    "div.s64 %d0, %d1, %d2",
    "and.b32 %r0, %r1, %r2",
    "shl.b32 %r0, %r1, %r2",
    "shr.s64 %d0, %d1, %r2",
    "bfe.u32 %r0, %r1, %r2, %r3",
    "bfi.b32 %r0, %r1, %r2, %r3, %r4",
    "prmt.b32 %r0, %r1, %r2, %r3",
    "lop3.b32 %r0, %r1, %r2, %r3, %r4",
    "popc.b32 %r0, %r1",
    "clz.b32 %r0, %r1",
    "brev.b32 %r0, %r1",
    "add.f32 %r0, %r1, %r2",
    "add.ftz.sat.f32 %r0, %r1, %r2",
    "mul.f32 %r0, %r1, %r2",
    "fma.rn.f32 %r0, %r1, %r2, %r3",
    "fma.rn.ftz.f32 %r0, %r1, %r2, %r3",
    "fma.rm.f32 %r0, %r1, %r2, %r3",
    "add.rz.f32 %r0, %r1, %r2",
    "max.f32 %r0, %r1, %r2",
    "neg.f32 %r0, %r1",
    "div.rn.f32 %r0, %r1, %r2",
    "div.approx.f32 %r0, %r1, %r2",
    "rcp.rn.f32 %r0, %r1",
    "sqrt.rn.f32 %r0, %r1",
    "rsqrt.approx.f32 %r0, %r1",
    "sin.approx.f32 %r0, %r1",
    "cos.approx.f32 %r0, %r1",
    "ex2.approx.f32 %r0, %r1",
    "lg2.approx.f32 %r0, %r1",
    "tanh.approx.f32 %r0, %r1",
    "add.f64 %d0, %d1, %d2",
    "fma.rn.f64 %d0, %d1, %d2, %d3",
    "fma.rz.f64 %d0, %d1, %d2, %d3",
    "div.rn.f64 %d0, %d1, %d2",
    "fma.rn.f16x2 %r0, %r1, %r2, %r3",
    "setp.lt.s32 %p0, %r1, %r2",
    "setp.lt.s64 %p0, %d1, %d2",
    "setp.ltu.f32 %p0, %r1, %r2",
    "setp.gt.f64 %p0, %d1, %d2",
    "set.gt.u32.f32 %r0, %r1, %r2",
    "selp.b32 %r0, %r1, %r2, %p1",
    "selp.f64 %d0, %d1, %d2, %p1",
    "slct.f32.s32 %r0, %r1, %r2, %r3",
    "and.pred %p0, %p1, %p2",
    "cvt.s64.s32 %d0, %r1",
    "cvt.u32.u64 %r0, %d1",
    "cvt.u16.u32 %s0, %r1",
    "cvt.s8.s32 %r0, %r1",
    "cvt.rn.f32.s32 %r0, %r1",
    "cvt.rn.f32.u32 %r0, %r1",
    "cvt.rn.f32.u64 %r0, %d1",
    "cvt.rn.f64.s32 %d0, %r1",
    "cvt.rn.f64.s64 %d0, %d1",
    "cvt.rzi.s32.f32 %r0, %r1",
    "cvt.rzi.u32.f32 %r0, %r1",
    "cvt.rzi.u16.f32 %s0, %r1",
    "cvt.rzi.s32.f64 %r0, %d1",
    "cvt.rzi.s64.f64 %d0, %d1",
    "cvt.rmi.f32.f32 %r0, %r1",
    "cvt.f64.f32 %d0, %r1",
    "cvt.rn.f32.f64 %r0, %d1",
    "cvt.sat.f32.f32 %r0, %r1",
    "cvt.f32.f16 %r0, %s1",
    "cvt.rn.f16.f32 %s0, %r1",
];

/// Sources that are ordinary numbers both as integers and as floats.
fn windows(wide: bool) -> [Window; 4] {
    std::array::from_fn(|source| {
        let value = |lane: usize| 1.5 + source as f64 + 0.37 * lane as f64;
        if wide {
            bytemuck::cast::<[u64; 32], Window>(std::array::from_fn(|lane| value(lane).to_bits()))
        } else {
            [Row(std::array::from_fn(|lane| (value(lane) as f32).to_bits())), Row::ZERO]
        }
    })
}

#[divan::bench(args = FORMS, sample_size = 2000)]
fn vector(bencher: Bencher, form: &str) {
    run(bencher, form, Level::detect());
}

#[divan::bench(args = ["add.f32 %r0, %r1, %r2", "fma.rn.f32 %r0, %r1, %r2, %r3", "div.s32 %r0, %r1, %r2",
    "sin.approx.f32 %r0, %r1"], sample_size = 2000)]
fn portable(bencher: Bencher, form: &str) {
    run(bencher, form, Level::portable());
}

/// Executes one operation over and over.
fn run(bencher: Bencher, form: &str, level: Level) {
    let (instruction, registers) = instruction(form);
    let op = select(&instruction, &registers, level).expect("a supported form");
    let windows = windows(op.shape().sources[0].is_some_and(|ty| ty.bytes() == 8));
    let [a, b, c, d] = &windows;
    let inputs = Inputs { rows: [a, b, c, d], preds: [0x0f0f_1234, 0x5555_ffff], carry: 0x1234_5678 };
    let mut output = Output::EMPTY;
    bencher.bench_local(|| {
        op.execute(black_box(&inputs), black_box(&mut output));
    });
}
