//! Approximate functions: special values, and the manual's error bounds on dense samples of all inputs.
//!
//! The reference is the standard library's double precision, whose errors are nine orders of magnitude smaller.

use crate::harness::{Bits, cases, op};
use std::f32::consts::PI;

const NAN: u32 = 0x7fff_ffff;
const INF: f32 = f32::INFINITY;
const TINY: f32 = f32::from_bits(1);

cases! {
    rcp_approx_f32: "rcp.approx.f32" {
        [-INF] => -0f32, [-0f32] => -INF, [0f32] => INF, [INF] => 0f32, [f32::NAN] => NAN, [4f32] => 0.25f32,
    }
    rcp_approx_ftz_f32: "rcp.approx.ftz.f32" { [TINY] => INF, [-TINY] => -INF, [f32::MAX] => 0f32, [4f32] => 0.25f32, }
    sqrt_approx_f32: "sqrt.approx.f32" {
        [-INF] => NAN, [-1f32] => NAN, [-0f32] => -0f32, [0f32] => 0f32, [INF] => INF, [f32::NAN] => NAN,
        [9f32] => 3f32,
    }
    sqrt_approx_ftz_f32: "sqrt.approx.ftz.f32" { [TINY] => 0f32, [-TINY] => -0f32, [9f32] => 3f32, }
    rsqrt_approx_f32: "rsqrt.approx.f32" {
        [-INF] => NAN, [-1f32] => NAN, [-0f32] => -INF, [0f32] => INF, [INF] => 0f32, [f32::NAN] => NAN,
        [4f32] => 0.5f32,
    }
    rsqrt_approx_ftz_f32: "rsqrt.approx.ftz.f32" { [TINY] => INF, [-TINY] => -INF, [4f32] => 0.5f32, }
    sin_approx_f32: "sin.approx.f32" {
        [-INF] => NAN, [-0f32] => -0f32, [0f32] => 0f32, [INF] => NAN, [f32::NAN] => NAN, [TINY] => TINY,
        [-TINY] => -TINY,
    }
    sin_approx_ftz_f32: "sin.approx.ftz.f32" { [TINY] => 0f32, [-TINY] => -0f32, [INF] => NAN, }
    cos_approx_f32: "cos.approx.f32" {
        [-INF] => NAN, [-0f32] => 1f32, [0f32] => 1f32, [INF] => NAN, [f32::NAN] => NAN, [TINY] => 1f32,
    }
    cos_approx_ftz_f32: "cos.approx.ftz.f32" { [TINY] => 1f32, [f32::NAN] => NAN, }
    lg2_approx_f32: "lg2.approx.f32" {
        [-INF] => NAN, [-1f32] => NAN, [-0f32] => -INF, [0f32] => -INF, [INF] => INF, [f32::NAN] => NAN,
        [1f32] => 0f32, [8f32] => 3f32, [TINY] => -149f32, [0.5f32] => -1f32,
    }
    lg2_approx_ftz_f32: "lg2.approx.ftz.f32" { [TINY] => -INF, [-TINY] => -INF, [8f32] => 3f32, }
    ex2_approx_f32: "ex2.approx.f32" {
        [-INF] => 0f32, [-0f32] => 1f32, [0f32] => 1f32, [INF] => INF, [f32::NAN] => NAN, [3f32] => 8f32,
        [-149f32] => TINY, [128f32] => INF, [-1000f32] => 0f32, [TINY] => 1f32,
    }
    ex2_approx_ftz_f32: "ex2.approx.ftz.f32" {
        [-127f32] => 0f32, [-126f32] => f32::MIN_POSITIVE, [TINY] => 1f32, [f32::NAN] => NAN,
    }
    tanh_approx_f32: "tanh.approx.f32" {
        [-INF] => -1f32, [-0f32] => -0f32, [0f32] => 0f32, [INF] => 1f32, [f32::NAN] => NAN, [TINY] => TINY,
        [100f32] => 1f32,
    }
    div_approx_f32: "div.approx.f32" {
        [6f32, 2f32] => 3f32, [1f32, 0f32] => INF, [0f32, 0f32] => NAN, [1f32, INF] => 0f32,
        // A divisor beyond 2¹²⁶: zero, of an infinity NaN.
        [1e38f32, 2e38f32] => 0f32, [-1e38f32, 2e38f32] => -0f32, [INF, 2e38f32] => NAN,
    }
    div_approx_ftz_f32: "div.approx.ftz.f32" {
        [6f32, 2f32] => 3f32, [TINY, 1e-30f32] => 0f32, [1f32, TINY] => INF, [1e38f32, 2e38f32] => 0f32,
    }
    div_full_f32: "div.full.f32" {
        [6f32, 2f32] => 3f32, [1e38f32, 2e38f32] => 0.5f32, [1f32, 0f32] => INF, [0f32, 0f32] => NAN,
    }
    div_full_ftz_f32: "div.full.ftz.f32" { [TINY, 1f32] => 0f32, [6f32, 2f32] => 3f32, }
    /// Without a modifier, as in PTX 1.0 to 1.3: `.approx.ftz`.
    sin_f32: "sin.f32" { [-TINY] => -0f32, }
    rcp_f32: "rcp.f32" { [TINY] => INF, [4f32] => 0.25f32, }
    div_f32: "div.f32" { [TINY, 1f32] => 0f32, [6f32, 2f32] => 3f32, }
    sqrt_f32: "sqrt.f32" { [TINY] => 0f32, [9f32] => 3f32, }
}

/// Calls `check(x, result)` for about 2¹⁸ inputs evenly spread over the bit patterns between two positive ones, and for
/// their negatives if `negative`.
fn sample(form: &str, low: f32, high: f32, negative: bool, mut check: impl FnMut(f32, f32)) {
    let op = op(form, 1);
    let (low, high) = (low.to_bits(), high.to_bits());
    let step = ((high - low) >> 18 | 1) as usize;
    let bits: Vec<u32> = (low..=high).step_by(step).chain([high]).collect();
    for chunk in bits.chunks(32) {
        for sign in [0, 0x8000_0000u32] {
            if sign != 0 && !negative {
                continue;
            }
            let inputs: [u64; 32] = std::array::from_fn(|i| (chunk[i % chunk.len()] | sign) as u64);
            let results = op.lanes(&[inputs], 0).lanes;
            for (x, y) in inputs.into_iter().zip(results) {
                check(f32::from_bits(x as u32), f32::from_bits(y as u32));
            }
        }
    }
}

/// Distance of `y` from `exact` in units of the last place of the correctly rounded result.
fn ulps(y: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if rounded.is_infinite() {
        return if y == rounded { 0.0 } else { f64::INFINITY };
    }
    let exponent = ((rounded.to_bits() >> 23 & 0xff) as i32).max(1);
    (y as f64 - rounded as f64).abs() / 2f64.powi(exponent - 150)
}

#[test]
fn rcp_within_one_ulp() {
    sample("rcp.approx.f32", TINY, f32::MAX, true, |x, y| assert!(ulps(y, 1.0 / x as f64) <= 1.0, "{x:e} {y:e}"));
}

#[test]
fn sqrt_within_2_to_the_minus_23() {
    sample("sqrt.approx.f32", TINY, f32::MAX, false, |x, y| {
        let exact = (x as f64).sqrt();
        assert!((y as f64 - exact).abs() <= exact * 2f64.powi(-23), "{x:e} {y:e}");
    });
}

#[test]
fn rsqrt_within_2_to_the_minus_22_9() {
    sample("rsqrt.approx.f32", TINY, f32::MAX, false, |x, y| {
        let exact = 1.0 / (x as f64).sqrt();
        assert!((y as f64 - exact).abs() <= exact * 2f64.powf(-22.9), "{x:e} {y:e}");
    });
}

/// The manual allows 2⁻²⁰·⁵ up to 2π and 2⁻¹⁴·⁷ up to 100π; ours is as good everywhere.
#[test]
fn sin_and_cos_within_the_bounds() {
    for (high, bound) in [(2.0 * PI, -20.5), (100.0 * PI, -14.7)] {
        sample("sin.approx.f32", 1e-6, high, true, |x, y| {
            assert!((y as f64 - (x as f64).sin()).abs() <= 2f64.powf(bound), "sin {x:e} {y:e}");
        });
        sample("cos.approx.f32", 1e-6, high, true, |x, y| {
            assert!((y as f64 - (x as f64).cos()).abs() <= 2f64.powf(bound), "cos {x:e} {y:e}");
        });
    }
    // Best effort beyond: good up to 2⁴⁸, never outside of [−1, 1].
    sample("sin.approx.f32", 1.0, 2.8e14, true, |x, y| {
        assert!((y as f64 - (x as f64).sin()).abs() <= 2f64.powi(-22), "sin {x:e} {y:e}");
    });
    sample("cos.approx.f32", 1.0, f32::MAX, true, |x, y| assert!(y.abs() <= 1.0, "cos {x:e} {y:e}"));
}

/// Absolute error up to 2⁻²² between ½ and 2, relative error up to 2⁻²² outside.
#[test]
fn lg2_within_the_bounds() {
    sample("lg2.approx.f32", 0.5, 2.0, false, |x, y| {
        assert!((y as f64 - (x as f64).log2()).abs() <= 2f64.powi(-22), "{x:e} {y:e}");
    });
    sample("lg2.approx.f32", TINY, f32::MAX, false, |x, y| {
        let exact = (x as f64).log2();
        let bound = 2f64.powi(-22) * if (0.5..2.0).contains(&x) { 1.0 } else { exact.abs() };
        assert!((y as f64 - exact).abs() <= bound, "{x:e} {y:e}");
    });
}

#[test]
fn ex2_within_two_ulps() {
    sample("ex2.approx.f32", TINY, 160.0, true, |x, y| assert!(ulps(y, (x as f64).exp2()) <= 2.0, "{x:e} {y:e}"));
    sample("ex2.approx.f32", 0.01, 130.0, true, |x, y| assert!(ulps(y, (x as f64).exp2()) <= 1.0, "{x:e} {y:e}"));
}

#[test]
fn tanh_within_2_to_the_minus_11() {
    sample("tanh.approx.f32", TINY, f32::MAX, true, |x, y| {
        let exact = (x as f64).tanh();
        assert!((y as f64 - exact).abs() <= exact.abs() * 2f64.powi(-11), "{x:e} {y:e}");
    });
}

/// At most two units in the last place for divisors of magnitude 2⁻¹²⁶ to 2¹²⁶ (`.full`: for all).
#[test]
fn div_within_two_ulps() {
    for (form, low, high) in [("div.approx.f32", 2f32.powi(-126), 2f32.powi(126)), ("div.full.f32", TINY, f32::MAX)] {
        let op = op(form, 2);
        for k in 0..4096u32 {
            let spread = |seed: u32, low: f32, high: f32| -> [f32; 32] {
                std::array::from_fn(|i| {
                    let r = (k * 32 + i as u32).wrapping_mul(seed) as u64;
                    f32::from_bits(low.to_bits() + ((r * (high.to_bits() - low.to_bits()) as u64) >> 32) as u32)
                })
            };
            let (a, b) = (spread(0x9e37_79b1, 1e-6, 1e6), spread(0x85eb_ca6b, low, high));
            let results = op.lanes(&[a.map(Bits::bits), b.map(Bits::bits)], 0).lanes;
            for lane in 0..32 {
                let (exact, y) = (a[lane] as f64 / b[lane] as f64, f32::from_bits(results[lane] as u32));
                assert!(ulps(y, exact) <= 2.0, "{form}: {:e} / {:e} = {y:e}", a[lane], b[lane]);
            }
        }
    }
}

/// Half precision: relative error up to 2⁻⁹·⁹ of `ex2`, absolute error up to 2⁻¹⁰·⁹⁸⁷ of `tanh`, for every number.
#[test]
fn half_precision_within_the_bounds() {
    let (widen, ex2, tanh) = (op("cvt.f32.f16", 1), op("ex2.approx.f16", 1), op("tanh.approx.f16", 1));
    for block in 0..2048u64 {
        let inputs: [u64; 32] = std::array::from_fn(|i| block * 32 + i as u64);
        let value = |bits: [u64; 32]| widen.lanes(&[bits], 0).lanes.map(|x| f32::from_bits(x as u32) as f64);
        let x = value(inputs);
        let (e, t) = (value(ex2.lanes(&[inputs], 0).lanes), value(tanh.lanes(&[inputs], 0).lanes));
        for lane in 0..32 {
            if !x[lane].is_finite() {
                continue;
            }
            let exact = x[lane].exp2();
            // Normal results only: a subnormal one has no relative precision to speak of.
            if (6.2e-5..65_504.0).contains(&exact) {
                assert!((e[lane] - exact).abs() <= exact * 2f64.powf(-9.9), "ex2 {}", x[lane]);
            }
            assert!((t[lane] - x[lane].tanh()).abs() <= 2f64.powf(-10.987), "tanh {}", x[lane]);
        }
    }
}
