//! Single-precision arithmetic (PTX manual, "Floating-Point Instructions"): everything that IEEE 754 defines.
//!
//! Subnormal numbers are supported, with `.ftz` they are flushed on the way in and out. Every NaN result is 0x7fffffff;
//! the manual leaves it open, and says so of `abs` and `neg` too.

use super::AluOp;
use super::kernel::{map1, map2, map3};
use super::round::{RM, RN, RP, RZ, canonical, finish, flush, narrow, quotient_odd, root_odd, sum_odd};
use super::select::Form;
use warpwatt_ptx::ir::{Opcode, Rounding, Type};

#[inline(always)]
pub(super) fn add<const R: u8, const FTZ: bool, const SAT: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (flush::<FTZ>(a), flush::<FTZ>(b));
    finish::<FTZ, SAT>(if R == RN { a + b } else { narrow::<R>(sum_odd::<R>(a as f64, b as f64)) })
}

#[inline(always)]
fn sub<const R: u8, const FTZ: bool, const SAT: bool>(a: f32, b: f32) -> f32 {
    add::<R, FTZ, SAT>(a, -b)
}

#[inline(always)]
fn mul<const R: u8, const FTZ: bool, const SAT: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (flush::<FTZ>(a), flush::<FTZ>(b));
    // The double-precision product is exact.
    finish::<FTZ, SAT>(if R == RN { a * b } else { narrow::<R>(a as f64 * b as f64) })
}

#[inline(always)]
fn fma<const R: u8, const FTZ: bool, const SAT: bool>(a: f32, b: f32, c: f32) -> f32 {
    let (a, b, c) = (flush::<FTZ>(a), flush::<FTZ>(b), flush::<FTZ>(c));
    finish::<FTZ, SAT>(if R == RN { a.mul_add(b, c) } else { narrow::<R>(sum_odd::<R>(a as f64 * b as f64, c as f64)) })
}

#[inline(always)]
pub(super) fn div<const R: u8, const FTZ: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (flush::<FTZ>(a), flush::<FTZ>(b));
    finish::<FTZ, false>(if R == RN { a / b } else { narrow::<R>(quotient_odd(a as f64, b as f64)) })
}

#[inline(always)]
pub(super) fn rcp<const R: u8, const FTZ: bool>(a: f32) -> f32 {
    div::<R, FTZ>(1.0, a)
}

#[inline(always)]
pub(super) fn sqrt<const R: u8, const FTZ: bool>(a: f32) -> f32 {
    let a = flush::<FTZ>(a);
    finish::<FTZ, false>(if R == RN { a.sqrt() } else { narrow::<R>(root_odd(a as f64)) })
}

/// The lesser (`MAX`: greater) number; −0 is less than +0; of a NaN and a number the number, unless `NAN`.
#[inline(always)]
pub(super) fn min_max<const MAX: bool, const FTZ: bool, const NAN: bool>(a: f32, b: f32) -> f32 {
    let (a, b) = (flush::<FTZ>(a), flush::<FTZ>(b));
    let first = if MAX { a > b } else { a < b };
    let chosen = if first { a } else { b };
    // Equal numbers differ in the sign of zero at most.
    let (x, y) = (a.to_bits(), b.to_bits());
    let equal = f32::from_bits(if MAX { x & y } else { x | y });
    let number = if a == b { equal } else { chosen };
    let number = if b.is_nan() { a } else { number };
    canonical(if NAN && a.is_nan() {
        a
    } else if NAN && b.is_nan() {
        b
    } else {
        number
    })
}

/// `.xorsign.abs`: magnitude of the lesser (greater) magnitude, sign the product's.
#[inline(always)]
fn min_max_xorsign<const MAX: bool, const FTZ: bool, const NAN: bool>(a: f32, b: f32) -> f32 {
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    let d = min_max::<MAX, FTZ, NAN>(a.abs(), b.abs());
    if d.is_nan() { d } else { f32::from_bits(d.to_bits() | sign) }
}

/// The rounding constant of a floating-point rounding modifier; without one, `.rn`.
macro_rules! by_rounding {
    ($rounding:expr, |$R:ident| $body:expr) => {
        match $rounding {
            None | Some(Rounding::Rn) => {
                const $R: u8 = RN;
                $body
            }
            Some(Rounding::Rz) => {
                const $R: u8 = RZ;
                $body
            }
            Some(Rounding::Rm) => {
                const $R: u8 = RM;
                $body
            }
            Some(Rounding::Rp) => {
                const $R: u8 = RP;
                $body
            }
            _ => None,
        }
    };
}
pub(super) use by_rounding;

/// A flag as a constant.
macro_rules! by_flag {
    ($flag:expr, |$F:ident| $body:expr) => {
        if $flag {
            const $F: bool = true;
            $body
        } else {
            const $F: bool = false;
            $body
        }
    };
}
pub(super) use by_flag;

pub(super) fn select(form: &Form<'_>) -> Option<AluOp> {
    let mods = form.mods;
    if form.ty()? != Type::F32 || mods.approx || mods.full || mods.relu {
        return None;
    }
    let rounding = mods.rounding;
    macro_rules! by_modes {
        ($map:ident, $f:ident) => {
            by_rounding!(rounding, |R| by_flag!(mods.ftz, |FTZ| by_flag!(mods.sat, |SAT| if R == RN {
                form.op($map($f::<RN, FTZ, SAT>))
            } else if SAT {
                form.rare($map($f::<R, FTZ, true>))
            } else {
                form.op($map($f::<R, FTZ, false>))
            })))
        };
    }
    match form.opcode {
        Opcode::Add => by_modes!(map2, add),
        Opcode::Sub => by_modes!(map2, sub),
        Opcode::Mul => by_modes!(map2, mul),
        Opcode::Fma | Opcode::Mad => by_modes!(map3, fma),
        // Without a modifier these are `.approx` (PTX 1.0 to 1.3).
        Opcode::Div if rounding.is_some() => {
            by_rounding!(rounding, |R| by_flag!(mods.ftz, |FTZ| if R == RN {
                form.op(map2(div::<RN, FTZ>))
            } else {
                form.rare(map2(div::<R, FTZ>))
            }))
        }
        Opcode::Rcp if rounding.is_some() => {
            by_rounding!(rounding, |R| by_flag!(mods.ftz, |FTZ| if R == RN {
                form.op(map1(rcp::<RN, FTZ>))
            } else {
                form.rare(map1(rcp::<R, FTZ>))
            }))
        }
        Opcode::Sqrt if rounding.is_some() => {
            by_rounding!(rounding, |R| by_flag!(mods.ftz, |FTZ| if R == RN {
                form.op(map1(sqrt::<RN, FTZ>))
            } else {
                form.rare(map1(sqrt::<R, FTZ>))
            }))
        }
        Opcode::Min | Opcode::Max => {
            by_flag!(form.opcode == Opcode::Max, |MAX| by_flag!(mods.ftz, |FTZ| by_flag!(mods.nan, |NAN| if mods
                .xorsign_abs
            {
                form.rare(map2(min_max_xorsign::<MAX, FTZ, NAN>))
            } else {
                form.op(map2(min_max::<MAX, FTZ, NAN>))
            })))
        }
        Opcode::Abs => {
            by_flag!(mods.ftz, |FTZ| form.op(map1(|a: f32| canonical(flush::<FTZ>(a).abs()))))
        }
        Opcode::Neg => by_flag!(mods.ftz, |FTZ| form.op(map1(|a: f32| canonical(-flush::<FTZ>(a))))),
        Opcode::Copysign => form.op(map2(|a: f32, b: f32| b.copysign(a))),
        _ => None,
    }
}
