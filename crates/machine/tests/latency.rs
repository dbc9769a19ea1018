//! Latencies and throughputs from first principles: what a probe kernel measures is the sum of the documented stages.
//!
//! A dependent memory instruction issues at cycle 0 into the IDOC register, takes a collector unit at 1, reads its operand
//! at 2, moves to the OCEX register at 3, to the load/store unit at 4, and makes its transaction at 5. The next instruction
//! of the chain issues in the cycle in which the result is released.

mod common;

use common::{Bench, gtx480, kernel, preset, threads};
use warpwatt_machine::spec::Spec;
use warpwatt_simt::device::Device;

/// From issue to the transaction.
const TO_TRANSACTION: f64 = 5.0;

/// Loads in the body of a chain's loop.
const UNROLL: u64 = 16;

/// A kernel that makes `c` × 16 dependent loads (`load` is the instruction). The loop's own instructions run in the shadow
/// of the loads.
fn chain(load: &str, setup: &str) -> String {
    let loads = format!("    {load};\n").repeat(UNROLL as usize);
    kernel(
        ".shared .align 4 .b8 s[4096];",
        &format!(
            "{setup}
    mov.u64 %rd2, 0;
LOOP:
    add.s64 %rd2, %rd2, 1; setp.lt.u64 %p1, %rd2, %c;
{loads}
    @%p1 bra LOOP;
    st.global.u64 [%b], %rd1; st.global.u32 [%b+8], %r1;"
        ),
    )
}

/// Cycles per load of a chain through `lines` places that are `stride` bytes apart, once all of them have been visited.
fn chase(spec: &Spec, load: &str, lines: u64, stride: u64) -> f64 {
    let ptx = chain(load, "mov.u64 %rd1, %a; mov.u32 %r1, 0;");
    let data = vec![0; (lines * stride) as usize];
    let cycles = |rounds| {
        let mut bench = Bench::new(spec, threads(1), &ptx, &data, 64);
        for i in 0..lines {
            let next = bench.a + (i + 1) % lines * stride;
            bench.gpu.write(bench.a + i * stride, &next.to_le_bytes()).unwrap();
        }
        bench.cycles(1, 1, rounds)
    };
    let pass = lines.div_ceil(UNROLL);
    (cycles(4 * pass) - cycles(2 * pass)) as f64 / (2 * pass * UNROLL) as f64
}

#[test]
fn a_chase_in_the_l1() {
    // The delay line is as long as the hit latency; a hit is released at its end.
    for latency in ["35", "50"] {
        let spec = preset("gtx480", &[("l1_latency_cycles", latency)]);
        let step = chase(&spec, "ld.global.u64 %rd1, [%rd1]", 32, 128);
        assert_eq!(step, TO_TRANSACTION + f64::from(spec.l1_latency_cycles));
    }
}

#[test]
fn a_chase_in_the_l2() {
    // 512 lines: four times the L1. The miss enters the miss queue at the end of the delay line and leaves in the next
    // cycle; four sectors come back one a cycle, so the last of them three cycles after the first; it is handed on in the
    // cycle after it came, and written back in two more.
    for (noc, rop) in [("8", "120"), ("12", "60")] {
        let spec = preset("gtx480", &[("noc_latency_cycles", noc), ("rop_latency_cycles", rop)]);
        let step = chase(&spec, "ld.global.u64 %rd1, [%rd1]", 512, 128);
        let path = 2 * spec.noc_latency_cycles + spec.rop_latency_cycles;
        assert_eq!(step, TO_TRANSACTION + f64::from(spec.l1_latency_cycles + 1 + path + 3 + 1 + 2));
        // A load that bypasses the L1 goes to the crossbar at once and wants one sector.
        let step = chase(&spec, "ld.global.cg.u64 %rd1, [%rd1]", 512, 128);
        assert_eq!(step, TO_TRANSACTION + f64::from(path + 1 + 2));
    }
}

#[test]
fn a_chase_in_dram() {
    // 32 lines in one bank of one channel, each in a row of its own (64 KiB of channel-local addresses are a row of all
    // banks; six channels), and all in one set of the L2, which has eight ways: every load closes a row and opens one.
    let spec = gtx480();
    let step = chase(&spec, "ld.global.cg.u64 %rd1, [%rd1]", 32, 6 * 65536);
    let t = &spec.dram;
    let clock = spec.core_mhz / spec.dram_mhz;
    let clocks = f64::from(t.rp + t.rcd + t.cl + spec.dram_burst / spec.dram_beats_per_clock);
    let path = 2 * spec.noc_latency_cycles + spec.rop_latency_cycles + spec.dram_latency_cycles;
    let least = TO_TRANSACTION + f64::from(path + 1 + 2) + clocks * clock;
    // Two domain crossings: to the next DRAM clock, and to the next L2 cycle.
    assert!(step >= least && step < least + clock + 1.0, "{step}, not {least} to {}", least + clock + 1.0);
}

#[test]
fn shared_memory_conflicts() {
    // Each lane follows a pointer to itself. The array takes a cycle per way; a result leaves the shared pipe after its
    // latency and is released in the cycle after.
    let spec = gtx480();
    let mut steps = Vec::new();
    for ways in [1, 2, 4, 32] {
        let setup = format!(
            "    mov.u32 %r1, s; mul.lo.u32 %r2, %t, {}; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], %r1; bar.sync 0;
    mov.u64 %rd1, 0;",
            4 * ways
        );
        let ptx = chain("ld.shared.u32 %r1, [%r1]", &setup);
        let cycles = |rounds| Bench::new(&spec, threads(1), &ptx, &[0; 8], 64).cycles(1, 32, rounds);
        let step = (cycles(20) - cycles(10)) as f64 / (10 * UNROLL) as f64;
        assert_eq!(step, TO_TRANSACTION + f64::from(spec.shared_latency_cycles + 1 + ways - 1), "{ways} ways");
        steps.push(step);
    }
    assert_eq!((steps[1] - steps[0], steps[3] - steps[0]), (1.0, 31.0));
}

/// Warp instructions per cycle of an SM full of warps with independent instructions.
fn issue_rate(spec: &Spec, instruction: impl Fn(u32) -> String) -> f64 {
    let body: String = (0..200).map(|i| format!("    {};\n", instruction(10 + i % 48))).collect();
    let ptx = kernel(
        "",
        &format!(
            "    mov.u64 %rd2, 0; cvt.rn.f32.u32 %f1, %t;
LOOP:
{body}    add.s64 %rd2, %rd2, 1; setp.lt.u64 %p1, %rd2, %c; @%p1 bra LOOP;
    st.global.u32 [%b], %r10; st.global.f32 [%b+4], %f10;"
        ),
    );
    let run = |rounds| {
        let mut bench = Bench::new(spec, threads(1), &ptx, &[0; 8], 64);
        let cycles = bench.cycles(6, 256, rounds);
        (cycles, bench.gpu.stats().launches[0].counters.warp_instructions)
    };
    let ((c1, w1), (c2, w2)) = (run(10), run(30));
    (w2 - w1) as f64 / (c2 - c1) as f64
}

#[test]
fn peak_issue_rate() {
    // Two schedulers, two SP ports that start an instruction each cycle, two results a cycle: 2. Fetch brings just as many,
    // for one warp; a branch in two hundred instructions costs a group of two.
    let spec = preset("gtx480", &[("sms", "1")]);
    let peak = f64::from(spec.schedulers);
    let rate = issue_rate(&spec, |i| format!("mov.u32 %r{i}, {i}"));
    assert!(rate >= 0.95 * peak && rate <= peak, "{rate}");
    // With a register operand, six collector units of three cycles are just enough, and every conflict of a register bank
    // is felt.
    for instruction in ["add.u32 %r{i}, %t, 5", "add.rn.f32 %f{i}, %f1, 0f3F800000"] {
        let rate = issue_rate(&spec, |i| instruction.replace("{i}", &i.to_string()));
        assert!(rate >= 0.9 * peak && rate <= peak, "{rate}");
    }
    // A multiplication occupies its port for two cycles; there are two ports.
    let rate = issue_rate(&spec, |i| format!("mul.lo.u32 %r{i}, %t, {i}"));
    assert!((0.95..=1.1).contains(&rate), "{rate}");
    // One SFU port, eight cycles.
    let rate = issue_rate(&spec, |i| format!("rsqrt.approx.f32 %f{i}, %f1"));
    assert!((rate * 8.0 - 1.0).abs() < 0.1, "{rate}");
}

/// Bytes per core cycle of a kernel in which all SMs read one stream: `c` times 120 × 192 × 8 words.
fn stream(spec: &Spec) -> f64 {
    let ptx = kernel(
        "",
        "    shr.u32 %r1, %g, 5; mul.wide.u32 %rd1, %r1, 1024; add.s64 %rd1, %a, %rd1;
    and.b32 %r1, %g, 31; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd1, %rd1, %rd3; mov.u64 %rd2, 0; mov.u32 %r9, 0;
LOOP:
    ld.global.u32 %r1, [%rd1]; ld.global.u32 %r2, [%rd1+128]; ld.global.u32 %r3, [%rd1+256];
    ld.global.u32 %r4, [%rd1+384]; ld.global.u32 %r5, [%rd1+512]; ld.global.u32 %r6, [%rd1+640];
    ld.global.u32 %r7, [%rd1+768]; ld.global.u32 %r8, [%rd1+896];
    add.s64 %rd1, %rd1, 737280; add.s64 %rd2, %rd2, 1; setp.lt.u64 %p1, %rd2, %c;
    add.u32 %r9, %r9, %r1; add.u32 %r9, %r9, %r2; add.u32 %r9, %r9, %r3; add.u32 %r9, %r9, %r4;
    add.u32 %r9, %r9, %r5; add.u32 %r9, %r9, %r6; add.u32 %r9, %r9, %r7; add.u32 %r9, %r9, %r8;
    @%p1 bra LOOP;
    st.global.u32 [%b], %r9;",
    );
    let run = |rounds: u64| {
        let mut bench = Bench::new(spec, threads(1), &ptx, &vec![0; 737_280 * rounds as usize], 64);
        bench.cycles(120, 192, rounds)
    };
    (6 * 737_280) as f64 / (run(10) - run(4)) as f64
}

#[test]
fn a_stream_gets_the_bandwidth_that_the_timing_table_allows() {
    // At twice the bandwidth the reply crossbar would be the limit, at 88 %: it carries a sector per packet from twelve
    // first-in-first-out inputs at two thirds of their rate, more than random destinations leave them (Karol et al., 1987).
    // A crossbar of twice the clock lets DRAM be the limit, and a larger L1 keeps enough lines under way.
    let wide = [("noc_mhz", "1400"), ("noc_max_mhz", "1400"), ("noc_latency_cycles", "16"), ("l1d.sets", "256")];
    for (merge, bytes, more) in [("false", 32, &[][..]), ("true", 64, &wide[..])] {
        let settings: Vec<_> = [("dram_merge_sectors", merge)].iter().chain(more).copied().collect();
        let spec = preset("gtx480", &settings);
        assert_eq!(spec.burst_bytes(), 64);
        // Column commands to different bank groups follow each other at CCD, which is a burst's length; sectors that do
        // not share a burst use half of it.
        let clocks = spec.dram.ccd.max(spec.dram_burst / spec.dram_beats_per_clock);
        let bound = f64::from(spec.channels * bytes) / f64::from(clocks) * spec.dram_mhz / spec.core_mhz;
        let rate = stream(&spec);
        assert!(rate > 0.95 * bound && rate <= 1.02 * bound, "merge {merge}: {rate:.1} of {bound:.1} bytes a cycle");
    }
}
