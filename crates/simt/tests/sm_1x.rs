//! Code for `sm_1x` flushes subnormal numbers in single precision without saying `.ftz` (PTX ISA manual, "Subnormal
//! numbers" of each instruction); code for later targets flushes only where it says so.

mod harness;
use harness::*;

/// 2⁻¹²⁷: subnormal.
const TINY: u64 = 0x0040_0000;
/// −2⁻¹²⁷.
const MINUS_TINY: u64 = 0x8040_0000;
/// 2⁻¹²⁶, the smallest normal number.
const LEAST: u64 = 0x0080_0000;

/// Runs a body with an input in `%f1` for a target; the word in `%r1`, or the two of `%rd1`, come out.
fn run_for(header: &str, body: &str, input: u64) -> u64 {
    let ptx = module("", &format!("ld.global.f32 %f1, [%in]; {body}"));
    let (_, rest) = ptx.split_once(".address_size").unwrap();
    run_module(&format!("{header}\n.address_size{rest}"), 1, &[input])[0]
}

/// Results of a body for `sm_13` and for `sm_20`.
fn both(body: &str, input: u64) -> [u64; 2] {
    [".version 1.4\n.target sm_13", ".version 2.3\n.target sm_20"].map(|header| run_for(header, body, input))
}

const STORE: &str = "st.global.f32 [%out], %f2;";

#[test]
fn arithmetic() {
    let minus_zero = 0x8000_0000;
    let half = "0f3F000000";
    for (operation, input, old, new) in [
        ("add.f32 %f2, %f1, %f1", TINY, 0, LEAST),
        ("sub.f32 %f2, %f1, 0f00000000", MINUS_TINY, minus_zero, MINUS_TINY),
        // The result is flushed too.
        (&format!("mul.f32 %f2, %f1, {half}"), LEAST, 0, TINY),
        (&format!("mul.rn.f32 %f2, %f1, {half}"), LEAST, 0, TINY),
        (&format!("mad.f32 %f2, %f1, {half}, 0f00000000"), LEAST, 0, TINY),
        ("abs.f32 %f2, %f1", MINUS_TINY, 0, TINY),
        ("neg.f32 %f2, %f1", TINY, minus_zero, MINUS_TINY),
        ("min.f32 %f2, %f1, 0f3F800000", TINY, 0, TINY),
        ("max.f32 %f2, %f1, 0fBF800000", MINUS_TINY, minus_zero, MINUS_TINY),
        ("sqrt.approx.f32 %f2, %f1", TINY, 0, 0x1fb5_04f3),
        ("add.ftz.f32 %f2, %f1, %f1", TINY, 0, 0),
        // A move is no arithmetic.
        ("mov.f32 %f2, %f1", TINY, TINY, TINY),
    ] {
        let [is_old, is_new] = both(&format!("{operation}; {STORE}"), input);
        assert_eq!((is_old, is_new), (old, new), "{operation}: {is_old:#x} {is_new:#x}");
    }
}

#[test]
fn comparisons() {
    let body = "setp.gt.f32 %p1, %f1, 0f00000000; selp.u32 %r1, 1, 0, %p1; st.global.u32 [%out], %r1;";
    assert_eq!(both(body, TINY), [0, 1]);
    let body = "set.gt.u32.f32 %r1, %f1, 0f00000000; st.global.u32 [%out], %r1;";
    assert_eq!(both(body, TINY), [0, 0xffff_ffff]);
    let body = "slct.u32.f32 %r1, 1, 2, %f1; st.global.u32 [%out], %r1;";
    assert_eq!(both(body, MINUS_TINY), [1, 2]);
}

#[test]
fn conversions() {
    let to_single = "cvt.f64.f32 %fd1, 0f3F800000; mul.f64 %fd1, %fd1, 0d3800000000000000; cvt.rn.f32.f64 %f2, %fd1;";
    assert_eq!(both(&format!("{to_single} {STORE}"), 0), [0, TINY]);
    assert_eq!(both("cvt.rpi.s32.f32 %r1, %f1; st.global.u32 [%out], %r1;", TINY), [0, 1]);
    // To 64 bits nothing is flushed up to PTX 1.4, but later.
    let to_double = "cvt.f64.f32 %fd1, %f1; st.global.f64 [%out], %fd1;";
    let exact = 0x3800_0000_0000_0000;
    assert_eq!(both(to_double, TINY), [exact, exact]);
    assert_eq!(run_for(".version 2.0\n.target sm_13", to_double, TINY), 0);
}

#[test]
fn virtual_targets_are_their_real_ones() {
    let body = format!("add.f32 %f2, %f1, %f1; {STORE}");
    for (target, result) in [("compute_10", 0), ("compute_13", 0), ("compute_20", LEAST), ("sm_100", LEAST)] {
        assert_eq!(run_for(&format!(".version 8.7\n.target {target}"), &body, TINY), result, "{target}");
    }
}

#[test]
fn double_precision_keeps_its_subnormal_numbers() {
    let body = "ld.global.f64 %fd1, [%in]; add.f64 %fd1, %fd1, %fd1; st.global.f64 [%out], %fd1;";
    assert_eq!(both(body, 1), [2, 2]);
}
