//! Double-precision arithmetic (PTX manual, "Floating-Point Instructions").
//!
//! A NaN result keeps the payload of the first NaN operand, quieted; an invalid operation gives CUDA's
//! `CUDART_NAN`, 0xfff8000000000000 (the manual promises payloads and does not say which operand's, nor the default).

use super::AluOp;
use super::float::{by_flag, by_rounding};
use super::kernel::{map1, map2, map3};
use super::round::{RM, RN, RP, RZ};
use super::select::Form;
use super::soft;
use warpwatt_ptx::ir::{Opcode, Rounding, Type};

/// NaN of an invalid operation.
pub(super) const NAN64: u64 = 0xfff8_0000_0000_0000;

/// Whether these are the bits of a NaN ([`canonical`](super::round::canonical) says why in bits).
#[inline(always)]
pub(super) fn is_nan(bits: u64) -> bool {
    bits & (u64::MAX >> 1) > 0x7ff << 52
}

/// `result`, or if that is NaN, the NaN that the operands call for.
#[inline(always)]
fn payload<const N: usize>(result: f64, operands: [f64; N]) -> f64 {
    let mut nan = NAN64;
    for operand in operands.into_iter().rev() {
        let bits = operand.to_bits();
        nan = if is_nan(bits) { bits | 1 << 51 } else { nan };
    }
    let bits = result.to_bits();
    f64::from_bits(if is_nan(bits) { nan } else { bits })
}

#[inline(always)]
fn add<const R: u8>(a: f64, b: f64) -> f64 {
    payload(if R == RN { a + b } else { soft::add::<R>(a, b) }, [a, b])
}

/// a + b to nearest.
pub(super) fn add_nearest(a: f64, b: f64) -> f64 {
    add::<RN>(a, b)
}

#[inline(always)]
fn sub<const R: u8>(a: f64, b: f64) -> f64 {
    payload(if R == RN { a - b } else { soft::add::<R>(a, -b) }, [a, b])
}

#[inline(always)]
fn mul<const R: u8>(a: f64, b: f64) -> f64 {
    payload(if R == RN { a * b } else { soft::mul::<R>(a, b) }, [a, b])
}

#[inline(always)]
fn fma<const R: u8>(a: f64, b: f64, c: f64) -> f64 {
    payload(if R == RN { a.mul_add(b, c) } else { soft::fma::<R>(a, b, c) }, [a, b, c])
}

#[inline(always)]
fn div<const R: u8>(a: f64, b: f64) -> f64 {
    payload(if R == RN { a / b } else { soft::div::<R>(a, b) }, [a, b])
}

#[inline(always)]
fn rcp<const R: u8>(a: f64) -> f64 {
    payload(if R == RN { 1.0 / a } else { soft::div::<R>(1.0, a) }, [a])
}

#[inline(always)]
fn sqrt<const R: u8>(a: f64) -> f64 {
    payload(if R == RN { a.sqrt() } else { soft::sqrt::<R>(a) }, [a])
}

/// The lesser (`MAX`: greater) number; −0 is less than +0; of a NaN and a number the number.
#[inline(always)]
fn min_max<const MAX: bool>(a: f64, b: f64) -> f64 {
    let first = if MAX { a > b } else { a < b };
    let chosen = if first { a } else { b };
    let (x, y) = (a.to_bits(), b.to_bits());
    let equal = f64::from_bits(if MAX { x & y } else { x | y });
    let number = if a == b { equal } else { chosen };
    payload(if b.is_nan() { a } else { number }, [a, b])
}

/// The upper word of a double as the "1.11.20" format of the gross approximations, subnormals flushed.
#[inline(always)]
fn upper(a: f64) -> f64 {
    let bits = a.to_bits() & 0xffff_ffff_0000_0000;
    f64::from_bits(if bits & 0x7ff0_0000_0000_0000 == 0 { bits & 1 << 63 } else { bits })
}

/// Result of a gross approximation: upper word only, subnormals flushed, canonical NaN.
#[inline(always)]
fn gross(result: f64) -> f64 {
    let bits = result.to_bits();
    f64::from_bits(if is_nan(bits) { 0x7fff_ffff_0000_0000 } else { upper(result).to_bits() })
}

pub(super) fn select(form: &Form<'_>) -> Option<AluOp> {
    let mods = form.mods;
    if form.ty()? != Type::F64 {
        return None;
    }
    match form.opcode {
        Opcode::Rcp if mods.approx => return form.op(map1(|a: f64| gross(1.0 / upper(a)))),
        Opcode::Rsqrt if mods.ftz => return form.op(map1(|a: f64| gross(1.0 / upper(a).sqrt()))),
        Opcode::Rsqrt => return form.op(map1(|a: f64| payload(1.0 / a.sqrt(), [a]))),
        Opcode::Div | Opcode::Sqrt if mods.approx => return None,
        _ if mods.ftz || mods.sat || mods.nan || mods.relu || mods.xorsign_abs => return None,
        _ => {}
    }
    macro_rules! rounded {
        ($map:ident, $f:ident) => {
            by_rounding!(mods.rounding, |R| if R == RN { form.op($map($f::<RN>)) } else { form.rare($map($f::<R>)) })
        };
    }
    match form.opcode {
        Opcode::Add => rounded!(map2, add),
        Opcode::Sub => rounded!(map2, sub),
        Opcode::Mul => rounded!(map2, mul),
        Opcode::Fma | Opcode::Mad => rounded!(map3, fma),
        Opcode::Div => rounded!(map2, div),
        Opcode::Rcp => rounded!(map1, rcp),
        Opcode::Sqrt => rounded!(map1, sqrt),
        Opcode::Min | Opcode::Max => {
            by_flag!(form.opcode == Opcode::Max, |MAX| form.op(map2(min_max::<MAX>)))
        }
        // A NaN passes unchanged.
        Opcode::Abs => form.op(map1(|a: u64| if is_nan(a) { a } else { a & (u64::MAX >> 1) })),
        Opcode::Neg => form.op(map1(|a: f64| -a)),
        Opcode::Copysign => form.op(map2(|a: f64, b: f64| b.copysign(a))),
        _ => None,
    }
}
