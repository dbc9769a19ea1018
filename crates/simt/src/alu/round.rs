//! Roundings, flushing and saturation of single precision, without touching the processor's rounding mode.
//!
//! `.rn` is the processor's own. For `.rz .rm .rp` an operation is done in double precision, *rounded to odd*: if the
//! result is inexact, its last bit is one. An odd result keeps on which side of every single-precision number (and of
//! every half-way point) the exact value lies, so narrowing it in the wanted direction is a correct single rounding
//! (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008). Everything is free of branches.

/// Rounding modes as constants, for use as generic arguments.
pub(super) const RN: u8 = 0;
/// Toward zero.
pub(super) const RZ: u8 = 1;
/// Toward −∞.
pub(super) const RM: u8 = 2;
/// Toward +∞.
pub(super) const RP: u8 = 3;

/// NaN that single-precision instructions give.
pub(super) const NAN32: u32 = 0x7fff_ffff;

/// `NAN32` for any NaN.
///
/// In integers, here and wherever a NaN's bits matter: the compiler takes the NaN of an operation to be any NaN, and
/// removes a floating-point selection between that and a NaN constant.
#[inline(always)]
pub(super) fn canonical(x: f32) -> f32 {
    let bits = x.to_bits();
    f32::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { NAN32 } else { bits })
}

/// With `FTZ`, replaces subnormal numbers by zero of their sign.
#[inline(always)]
pub(super) fn flush<const FTZ: bool>(x: f32) -> f32 {
    let bits = x.to_bits();
    if FTZ && bits & 0x7f80_0000 == 0 { f32::from_bits(bits & 0x8000_0000) } else { x }
}

/// `.sat`: clamps to [0, 1]; NaN and −0 give +0.
#[inline(always)]
pub(super) fn saturate(x: f32) -> f32 {
    let low = if x > 0.0 { x } else { 0.0 };
    if low < 1.0 { low } else { 1.0 }
}

/// What happens to every single-precision result: flushing, saturation, canonical NaN.
#[inline(always)]
pub(super) fn finish<const FTZ: bool, const SAT: bool>(x: f32) -> f32 {
    let x = flush::<FTZ>(x);
    if SAT { saturate(x) } else { canonical(x) }
}

/// Rounds a double-precision number, exact or rounded to odd, to single precision.
#[inline(always)]
pub(super) fn narrow<const R: u8>(x: f64) -> f32 {
    let nearest = x as f32;
    let back = nearest as f64;
    let (above, below) = (back > x, back < x);
    let bits = nearest.to_bits();
    let negative = bits >> 31 != 0;
    let (step, away) = match R {
        RZ => (if negative { below } else { above }, false),
        RM => (above, negative),
        RP => (below, !negative),
        _ => (false, false),
    };
    let moved = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f32::from_bits(if step { moved } else { bits })
}

/// Rounds a double-precision number, exact or rounded to odd, to single precision, rounding to odd.
#[inline(always)]
pub(super) fn narrow_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let back = nearest as f64;
    let (above, below) = (back > x, back < x);
    let bits = nearest.to_bits();
    let away = above == (bits >> 31 != 0);
    let moved = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f32::from_bits(if (above | below) & (bits & 1 == 0) { moved } else { bits })
}

/// `s` rounded to odd, if `s` is the nearest number to an exact value that lies in the direction of `error` from it.
#[inline(always)]
fn odd(s: f64, error: f64) -> f64 {
    let bits = s.to_bits();
    let inexact = (error > 0.0) | (error < 0.0);
    let moved = if (error > 0.0) == (s > 0.0) { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f64::from_bits(if inexact & (bits & 1 == 0) { moved } else { bits })
}

/// x + y rounded to odd; an exact zero has the sign that rounding mode `R` gives it. The operands' exponents must be
/// far from overflow.
#[inline(always)]
pub(super) fn sum_odd<const R: u8>(x: f64, y: f64) -> f64 {
    // Knuth's TwoSum: `error` is exact.
    let s = x + y;
    let b = s - x;
    let error = (x - (s - b)) + (y - b);
    let s = odd(s, error);
    // x − x is −0 when rounding down, +0 else.
    let minus = R == RM && s == 0.0 && (x.is_sign_negative() | y.is_sign_negative());
    if minus { -0.0 } else { s }
}

/// x / y rounded to odd, for operands of single precision.
#[inline(always)]
pub(super) fn quotient_odd(x: f64, y: f64) -> f64 {
    let q = x / y;
    let remainder = (-q).mul_add(y, x);
    odd(q, if y < 0.0 { -remainder } else { remainder })
}

/// √x rounded to odd, for an operand of single precision.
#[inline(always)]
pub(super) fn root_odd(x: f64) -> f64 {
    let s = x.sqrt();
    odd(s, (-s).mul_add(s, x))
}
