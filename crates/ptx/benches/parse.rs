//! Speed of the parser and of the analyses behind it, in bytes of PTX text per second.
//!
//! `cargo bench -p warpwatt-ptx`. The reference kernels are read if the reference folder is there; otherwise, and besides,
//! a text is made up.

use std::fmt::Write;

use divan::counter::BytesCount;
use warpwatt_ptx::cfg::Cfg;
use warpwatt_ptx::liveness::{Liveness, allocate_rows};
use warpwatt_ptx::{parse, support};

fn main() {
    divan::main();
}

/// Kernels with loops, guards, memory and calls, of about `bytes` in all.
fn made_up(bytes: usize) -> String {
    let mut text = String::from(".version 7.8\n.target sm_70\n.address_size 64\n");
    text.push_str(".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n");
    let mut k = 0;
    while text.len() < bytes {
        let _ = write!(
            text,
            "// kernel {k}\n.visible .entry kernel_with_a_long_name_{k}(\n\t.param .u64 kernel_{k}_param_0,\n\t.param .u32 \
             kernel_{k}_param_1\n)\n{{\n\t.reg .pred \t%p<99>;\n\t.reg .b32 \t%r<999>;\n\t.reg .f32 \t%f<999>;\n\t.reg .b64 \
             \t%rd<999>;\n\n\tld.param.u64 \t%rd1, [kernel_{k}_param_0];\n\tld.param.u32 \t%r1, [kernel_{k}_param_1];\n\
             \tcvta.to.global.u64 \t%rd2, %rd1;\n\tmov.u32 \t%r2, %ctaid.x;\n"
        );
        for i in 3..60 {
            let _ = write!(
                text,
                "$L__BB{k}_{i}:\n\tmad.lo.s32 \t%r{i}, %r{p}, %r2, %r1;\n\tmul.wide.s32 \t%rd{i}, %r{i}, 4;\n\tadd.s64 \
                 \t%rd{i}, %rd2, %rd{i};\n\tld.global.nc.v4.f32 \t{{%f{i}, %f{a}, %f{b}, %f{c}}}, [%rd{i}+{i}];\n\t\
                 fma.rn.ftz.f32 \t%f{i}, %f{a}, 0f3F800000, %f{b};\n\tst.shared.f32 \t[%r{i}+-16], %f{i};\n\t\
                 setp.lt.s32 \t%p{i}, %r{i}, %r1;\n\t@%p{i} bra \t$L__BB{k}_{t};\n\n",
                p = i - 1,
                a = i + 100,
                b = i + 200,
                c = i + 300,
                t = if i % 3 == 0 { i } else { i + 1 }
            );
        }
        let _ = write!(text, "$L__BB{k}_60:\n\tret;\n\n}}\n");
        k += 1;
    }
    text
}

/// The reference kernels over and over, renamed so that they make one file; `None` without the reference folder.
fn reference(bytes: usize) -> Option<String> {
    let folder = warpwatt_workloads::reference::folder()?;
    let text = std::fs::read_to_string(folder.join("kernels/kernels.ptx")).ok()?;
    let (header, rest) = text.split_at(text.find(".visible")?);
    let mut all = header.to_owned();
    let mut copy = 0;
    while all.len() < bytes {
        for line in rest.lines() {
            match line.strip_prefix(".visible .entry ") {
                Some(name) => _ = writeln!(all, ".visible .entry c{copy}_{name}"),
                None => _ = writeln!(all, "{line}"),
            }
        }
        copy += 1;
    }
    Some(all)
}

const BYTES: usize = 4 << 20;

#[divan::bench]
fn parse_made_up(bencher: divan::Bencher) {
    let text = made_up(BYTES);
    bencher.counter(BytesCount::of_str(&text)).bench(|| parse("made-up", &text).is_ok());
    assert!(parse("made-up", &text).is_ok());
}

#[divan::bench]
fn parse_reference(bencher: divan::Bencher) {
    if let Some(text) = reference(BYTES) {
        assert!(parse("reference", &text).is_ok());
        bencher.counter(BytesCount::of_str(&text)).bench(|| parse("reference", &text).is_ok());
    }
}

/// Everything that loading a module does: forms, control flow, liveness, rows.
#[divan::bench]
fn analyse_made_up(bencher: divan::Bencher) {
    let text = made_up(BYTES);
    let Ok(module) = parse("made-up", &text) else { return };
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut rows = 0;
        for (i, function) in module.functions.iter().enumerate() {
            let cfg = Cfg::new(function);
            let live = Liveness::new(function, &cfg);
            rows += allocate_rows(function, &cfg, &live).rows;
            rows += support::kernel_report(&module, warpwatt_ptx::ir::FuncId(i as u32)).len() as u32;
        }
        rows
    });
}
