//! Approximate functions of single precision (PTX manual: `div.approx div.full rcp.approx sqrt.approx rsqrt.approx
//! sin.approx cos.approx lg2.approx ex2.approx tanh.approx`).
//!
//! The manual gives error bounds and special values, not bits. Ours are computed in double precision with polynomials
//! (Chebyshev fits, error below 2⁻³⁰) and rounded once, or from correctly rounded operations, so that they stay well
//! within the bounds and are the same bits on every machine. No table, no branch: they vectorize.

use super::AluOp;
use super::float::{by_flag, div, rcp, sqrt};
use super::kernel::{map1, map2};
use super::round::{RN, finish, flush};
use super::select::Form;
use warpwatt_ptx::ir::{Opcode, Type};

/// Adding it to a double of magnitude below 2⁵¹ rounds that to an integer, found in the low bits of the sum.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// Horner's scheme, lowest coefficient first.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut sum = coefficients[N - 1];
    for c in coefficients.into_iter().rev().skip(1) {
        sum = x.mul_add(sum, c);
    }
    sum
}

/// a if the last bit of `choice` is set, else b: in bits, so that the compiler computes both rather than branch, which
/// would keep it from vectorizing.
#[inline(always)]
fn choose(choice: u64, a: f64, b: f64) -> f64 {
    let mask = (choice & 1).wrapping_neg();
    f64::from_bits(a.to_bits() & mask | b.to_bits() & !mask)
}

/// 2ˣ for |x| below 1000.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    let shifted = x + MAGIC;
    let r = x - (shifted - MAGIC);
    // (2ʳ − 1) / r on [−½, ½].
    let p = polynomial(
        r,
        [
            std::f64::consts::LN_2,
            0.24022650922288757,
            0.055504108839096185,
            0.009618056678524637,
            0.001333350238616277,
            0.0001546144469856913,
            1.5297323760701075e-05,
        ],
    );
    let scale = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    r.mul_add(p, 1.0) * scale
}

/// 2ˣ.
#[inline(always)]
pub(super) fn ex2<const FTZ: bool>(x: f32) -> f32 {
    let x = flush::<FTZ>(x);
    let low = if x > -200.0 { x } else { -200.0 };
    let clamped = if low < 200.0 { low } else { 200.0 };
    let result = exp2(clamped as f64) as f32;
    finish::<FTZ, false>(if x.is_nan() { x } else { result })
}

/// log₂ x.
#[inline(always)]
fn lg2<const FTZ: bool>(x: f32) -> f32 {
    const ONE: u64 = 1023 << 52;
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let x = flush::<FTZ>(x);
    // x = m · 2ᵉ with m in [√½, √2); subnormal numbers are normal in double precision.
    let bits = (x as f64).to_bits();
    let field = bits.wrapping_add(ONE - SQRT_HALF) >> 52;
    let m = f64::from_bits(bits.wrapping_sub(field << 52).wrapping_add(ONE));
    let e = f64::from_bits(0x4330_0000_0000_0000 | field) - (4_503_599_627_370_496.0 + 1023.0);
    let t = m - 1.0;
    // log₂(1 + t) / t on [√½ − 1, √2 − 1].
    let p = polynomial(
        t,
        [
            1.4426950409582302,
            -0.7213475248945522,
            0.4808983110824002,
            -0.360672845348936,
            0.28854145553597715,
            -0.24050279825001172,
            0.20607165109914127,
            -0.17905123203322462,
            0.15931300522348446,
            -0.15722652971153048,
            0.1534528693745451,
            -0.08433521045800585,
        ],
    );
    let result = t.mul_add(p, e) as f32;
    let result = if x == f32::INFINITY { x } else { result };
    let result = if x == 0.0 { f32::NEG_INFINITY } else { result };
    finish::<FTZ, false>(if x < 0.0 || x.is_nan() { f32::NAN } else { result })
}

/// sin x, or cos x with `COS`. The manual defines no error beyond |x| = 100π; here it is small up to 2⁴⁸, and beyond
/// that x is taken for a multiple of 2π.
#[inline(always)]
fn sin_cos<const COS: bool, const FTZ: bool>(x: f32) -> f32 {
    // π/2 in two parts (Cody and Waite).
    const HIGH: f64 = std::f64::consts::FRAC_PI_2;
    const LOW: f64 = 6.123233995736766e-17;
    let x = flush::<FTZ>(x) as f64;
    // Times zero: NaN of an infinity.
    let x = if x.abs() < (1u64 << 48) as f64 { x } else { x * 0.0 };
    let shifted = x.mul_add(std::f64::consts::FRAC_2_PI, MAGIC);
    let k = shifted - MAGIC;
    let r = (-k).mul_add(LOW, (-k).mul_add(HIGH, x));
    let z = r * r;
    // (sin r / r − 1) / r² and (cos r − 1) / r² on |r| ≤ π/4.
    let s = polynomial(z, [-0.1666666666385529, 0.008333331874710208, -0.00019840086735384846, 2.724992580305979e-06]);
    let c = polynomial(z, [-0.49999999969119313, 0.04166665064451703, -0.0013887589155600576, 2.4463788293265746e-05]);
    let (sine, cosine) = (r * z.mul_add(s, 1.0), z.mul_add(c, 1.0));
    let quadrant = shifted.to_bits().wrapping_add(COS as u64);
    let magnitude = choose(quadrant, cosine, sine);
    let signed = f64::from_bits(magnitude.to_bits() ^ (quadrant & 2) << 62);
    finish::<FTZ, false>(signed as f32)
}

/// tanh x.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    let a = x.abs() as f64;
    let clamped = if a < 20.0 { a } else { 20.0 };
    let e = exp2(clamped * (2.0 * std::f64::consts::LOG2_E));
    let large = (e - 1.0) / (e + 1.0);
    // The difference cancels near zero: two terms of the series there.
    let small = a * (a * a).mul_add(-1.0 / 3.0, 1.0);
    let magnitude = choose((a < 1e-3) as u64, small, large) as f32;
    finish::<false, false>(if x.is_nan() { x } else { magnitude.copysign(x) })
}

/// 1/√x.
#[inline(always)]
fn rsqrt<const FTZ: bool>(x: f32) -> f32 {
    // Two roundings: within 2⁻²³, where 2⁻²²·⁹ is allowed.
    finish::<FTZ, false>(1.0 / flush::<FTZ>(x).sqrt())
}

/// a · (1/b), where 1/b is flushed to zero if subnormal.
#[inline(always)]
fn div_approx<const FTZ: bool>(a: f32, b: f32) -> f32 {
    let inverse = flush::<true>(1.0 / flush::<FTZ>(b));
    finish::<FTZ, false>(flush::<FTZ>(a) * inverse)
}

pub(super) fn select(form: &Form<'_>) -> Option<AluOp> {
    let mods = form.mods;
    if form.ty()? != Type::F32 || mods.rounding.is_some() || mods.sat {
        return None;
    }
    // Without any modifier (PTX 1.0 to 1.3) these are `.approx.ftz`.
    let ftz = mods.ftz || !(mods.approx || mods.full);
    match form.opcode {
        Opcode::Div if mods.full => by_flag!(ftz, |FTZ| form.op(map2(div::<RN, FTZ>))),
        Opcode::Div => by_flag!(ftz, |FTZ| form.op(map2(div_approx::<FTZ>))),
        Opcode::Rcp => by_flag!(ftz, |FTZ| form.op(map1(rcp::<RN, FTZ>))),
        Opcode::Sqrt => by_flag!(ftz, |FTZ| form.op(map1(sqrt::<RN, FTZ>))),
        Opcode::Rsqrt => by_flag!(ftz, |FTZ| form.op(map1(rsqrt::<FTZ>))),
        Opcode::Sin => by_flag!(ftz, |FTZ| form.op(map1(sin_cos::<false, FTZ>))),
        Opcode::Cos => by_flag!(ftz, |FTZ| form.op(map1(sin_cos::<true, FTZ>))),
        Opcode::Lg2 => by_flag!(ftz, |FTZ| form.op(map1(lg2::<FTZ>))),
        Opcode::Ex2 => by_flag!(ftz, |FTZ| form.op(map1(ex2::<FTZ>))),
        Opcode::Tanh => form.op(map1(tanh)),
        _ => None,
    }
}
