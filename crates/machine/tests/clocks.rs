//! How time follows the clocks.

mod common;

use common::{Bench, find, gtx480, kernel, preset, threads};
use warpwatt_machine::Options;
use warpwatt_machine::spec::Spec;

fn at(core_mhz: f64) -> Options {
    Options { core_mhz: Some(core_mhz), ..threads(1) }
}

/// Femtoseconds of the last launch.
fn time(bench: &Bench) -> f64 {
    let stats = bench.gpu.stats();
    let launch = stats.launches.last().unwrap();
    (launch.end - launch.start) as f64
}

#[test]
fn a_compute_bound_kernel_takes_time_as_one_over_the_clock() {
    let program = common::Program { n: 600, ..find("compute") };
    let time = |mhz| {
        let (_, stats, gpu) = program.run(&gtx480(), at(mhz), None);
        assert_eq!(gpu.transitions(), 0);
        (stats.launches[0].end - stats.launches[0].start) as f64
    };
    let nominal = time(700.0);
    for mhz in [600.0, 400.0, 200.0] {
        let ratio = time(mhz) / nominal * mhz / 700.0;
        assert!((ratio - 1.0).abs() < 0.01, "at {mhz} MHz {ratio} of the time expected");
    }
}

/// Every thread adds up `n` words, a grid's width apart: DRAM's bandwidth is all that counts.
fn stream(spec: &Spec, options: Options) -> f64 {
    let body = "
    mul.wide.u32 %rd1, %g, 4; add.u64 %rd2, %a, %rd1; add.u64 %rd3, %b, %rd1;
    cvt.u32.u64 %r1, %c; mov.u32 %r2, 0; mov.u32 %r3, %nctaid.x; mul.lo.u32 %r3, %r3, %nt; mul.wide.u32 %rd4, %r3, 4;
LOOP:
    ld.global.u32 %r4, [%rd2]; add.u64 %rd2, %rd2, %rd4; ld.global.u32 %r5, [%rd2]; add.u64 %rd2, %rd2, %rd4;
    ld.global.u32 %r6, [%rd2]; add.u64 %rd2, %rd2, %rd4; ld.global.u32 %r7, [%rd2]; add.u64 %rd2, %rd2, %rd4;
    add.u32 %r2, %r2, %r4; add.u32 %r2, %r2, %r5; add.u32 %r2, %r2, %r6; add.u32 %r2, %r2, %r7;
    sub.u32 %r1, %r1, 4; setp.ne.u32 %p1, %r1, 0; @%p1 bra LOOP;
    st.global.u32 [%rd3], %r2;";
    let (ctas, block, n) = (90, 256, 80);
    let data = vec![1; (ctas * block * n * 4) as usize];
    let mut bench = Bench::new(spec, options, &kernel("", body), &data, u64::from(ctas * block * 4));
    bench.launch(ctas, block, n.into()).unwrap();
    assert_eq!(bench.words(bench.b, 8), [0x0101_0101u32.wrapping_mul(n); 8]);
    time(&bench)
}

#[test]
fn a_dram_bound_kernel_takes_the_same_time_at_400_mhz() {
    let ratio = stream(&gtx480(), at(400.0)) / stream(&gtx480(), at(700.0));
    assert!((ratio - 1.0).abs() < 0.03, "{ratio} of the time at 700 MHz");
}

#[test]
fn a_dram_bound_kernel_goes_with_the_memory_clock() {
    let spec = preset("gtx480-equalizer", &[]);
    let at = |dram_mhz| stream(&spec, Options { dram_mhz: Some(dram_mhz), ..threads(1) });
    let (low, high) = (at(785.4), at(1062.6));
    assert!((low / high / (1.15 / 0.85) - 1.0).abs() < 0.03, "{}", low / high);
}
