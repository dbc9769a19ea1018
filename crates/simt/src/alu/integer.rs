//! Integer arithmetic (PTX manual, "Integer Arithmetic Instructions"). Overflow wraps unless `.sat`.
//!
//! Division by zero, which the manual leaves open, is done as on hardware without a trap: the quotient has all bits
//! set, and the remainder is the dividend. The least number divided by −1 wraps.

use super::AluOp;
use super::float::by_flag;
use super::kernel::{map1, map2, map3};
use super::select::Form;
use warpwatt_ptx::ir::{MulPart, Opcode, Type};

/// The low 24 bits, sign-extended.
#[inline(always)]
fn low24(a: i32) -> i64 {
    (a << 8 >> 8) as i64
}

/// 48-bit product of the low 24 bits.
#[inline(always)]
fn product24(a: i32, b: i32) -> i64 {
    low24(a) * low24(b)
}

/// 48-bit product of the low 24 bits.
#[inline(always)]
fn product24u(a: u32, b: u32) -> u64 {
    (a & 0xff_ffff) as u64 * (b & 0xff_ffff) as u64
}

#[inline(always)]
fn mul_hi_u64(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

#[inline(always)]
fn mul_hi_i64(a: i64, b: i64) -> i64 {
    ((a as i128 * b as i128) >> 64) as i64
}

/// Unsigned 32-bit division through double precision, which vectorizes: the rounded quotient of two 32-bit numbers is
/// never a greater integer than the exact one, as that is at least 1/b below the next integer.
#[inline(always)]
fn div_u32(a: u32, b: u32) -> u32 {
    const MAGIC: f64 = (1u64 << 52) as f64;
    let q = a as f64 / b as f64;
    // Round to an integer and step back where that went up.
    let nearest = (q + MAGIC) - MAGIC;
    let floor = if nearest > q { nearest - 1.0 } else { nearest };
    let low = (floor + MAGIC).to_bits() as u32;
    if b == 0 { u32::MAX } else { low }
}

#[inline(always)]
fn rem_u32(a: u32, b: u32) -> u32 {
    let r = a.wrapping_sub(div_u32(a, b).wrapping_mul(b));
    if b == 0 { a } else { r }
}

#[inline(always)]
fn div_i32(a: i32, b: i32) -> i32 {
    let q = div_u32(a.unsigned_abs(), b.unsigned_abs()) as i32;
    let signed = if (a ^ b) < 0 { q.wrapping_neg() } else { q };
    if b == 0 { -1 } else { signed }
}

#[inline(always)]
fn rem_i32(a: i32, b: i32) -> i32 {
    let r = a.wrapping_sub(div_i32(a, b).wrapping_mul(b));
    if b == 0 { a } else { r }
}

#[inline(always)]
fn div_u64(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(u64::MAX)
}

#[inline(always)]
fn rem_u64(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(a)
}

#[inline(always)]
fn div_i64(a: i64, b: i64) -> i64 {
    if b == 0 { -1 } else { a.wrapping_div(b) }
}

#[inline(always)]
fn rem_i64(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { a.wrapping_rem(b) }
}

pub(super) fn select(form: &Form<'_>) -> Option<AluOp> {
    use Opcode::*;
    use Type::*;
    let mods = form.mods;
    if mods.cc {
        return None;
    }
    if mods.sat {
        return match (form.opcode, form.ty()?, mods.part) {
            (Add, S32, _) => form.op(map2(i32::saturating_add)),
            (Sub, S32, _) => form.op(map2(i32::saturating_sub)),
            (Mad, S32, Some(MulPart::Hi)) => {
                form.op(map3(|a: i32, b: i32, c: i32| (((a as i64 * b as i64) >> 32) as i32).saturating_add(c)))
            }
            (Mad24, S32, Some(MulPart::Hi)) => {
                form.op(map3(|a, b, c: i32| ((product24(a, b) >> 16) as i32).saturating_add(c)))
            }
            _ => None,
        };
    }
    match (form.opcode, form.ty()?) {
        (Add, U16 | S16) => form.op(map2(u16::wrapping_add)),
        (Add, U32 | S32) => form.op(map2(u32::wrapping_add)),
        (Add, U64 | S64) => form.op(map2(u64::wrapping_add)),
        (Sub, U16 | S16) => form.op(map2(u16::wrapping_sub)),
        (Sub, U32 | S32) => form.op(map2(u32::wrapping_sub)),
        (Sub, U64 | S64) => form.op(map2(u64::wrapping_sub)),
        (Mul, ty) => mul(form, ty),
        (Mad, ty) => mad(form, ty),
        (Mul24, U32) => by_flag!(mods.part == Some(MulPart::Hi), |HI| form.op(map2(|a, b| {
            let p = product24u(a, b);
            (if HI { p >> 16 } else { p }) as u32
        }))),
        (Mul24, S32) => by_flag!(mods.part == Some(MulPart::Hi), |HI| form.op(map2(|a, b| {
            let p = product24(a, b);
            (if HI { p >> 16 } else { p }) as i32
        }))),
        (Mad24, U32) => by_flag!(mods.part == Some(MulPart::Hi), |HI| form.op(map3(|a, b, c: u32| {
            let p = product24u(a, b);
            ((if HI { p >> 16 } else { p }) as u32).wrapping_add(c)
        }))),
        (Mad24, S32) => by_flag!(mods.part == Some(MulPart::Hi), |HI| form.op(map3(|a, b, c: i32| {
            let p = product24(a, b);
            ((if HI { p >> 16 } else { p }) as i32).wrapping_add(c)
        }))),
        (Sad, U16) => form.op(map3(|a: u16, b: u16, c: u16| c.wrapping_add(a.abs_diff(b)))),
        (Sad, S16) => form.op(map3(|a: i16, b: i16, c: u16| c.wrapping_add(a.abs_diff(b)))),
        (Sad, U32) => form.op(map3(|a: u32, b: u32, c: u32| c.wrapping_add(a.abs_diff(b)))),
        (Sad, S32) => form.op(map3(|a: i32, b: i32, c: u32| c.wrapping_add(a.abs_diff(b)))),
        (Sad, U64) => form.op(map3(|a: u64, b: u64, c: u64| c.wrapping_add(a.abs_diff(b)))),
        (Sad, S64) => form.op(map3(|a: i64, b: i64, c: u64| c.wrapping_add(a.abs_diff(b)))),
        (Div, U16) => form.op(map2(|a: u16, b: u16| div_u32(a as u32, b as u32) as u16)),
        (Div, S16) => form.op(map2(|a: i16, b: i16| div_i32(a as i32, b as i32) as i16)),
        (Div, U32) => form.op(map2(div_u32)),
        (Div, S32) => form.op(map2(div_i32)),
        (Div, U64) => form.op(map2(div_u64)),
        (Div, S64) => form.op(map2(div_i64)),
        (Rem, U16) => form.op(map2(|a: u16, b: u16| rem_u32(a as u32, b as u32) as u16)),
        (Rem, S16) => form.op(map2(|a: i16, b: i16| rem_i32(a as i32, b as i32) as i16)),
        (Rem, U32) => form.op(map2(rem_u32)),
        (Rem, S32) => form.op(map2(rem_i32)),
        (Rem, U64) => form.op(map2(rem_u64)),
        (Rem, S64) => form.op(map2(rem_i64)),
        (Abs, S16) => form.op(map1(i16::wrapping_abs)),
        (Abs, S32) => form.op(map1(i32::wrapping_abs)),
        (Abs, S64) => form.op(map1(i64::wrapping_abs)),
        (Neg, S16) => form.op(map1(i16::wrapping_neg)),
        (Neg, S32) => form.op(map1(i32::wrapping_neg)),
        (Neg, S64) => form.op(map1(i64::wrapping_neg)),
        (Min | Max, ty) => min_max(form, ty),
        _ => None,
    }
}

fn mul(form: &Form<'_>, ty: Type) -> Option<AluOp> {
    use MulPart::*;
    use Type::*;
    match (form.mods.part?, ty) {
        (Lo, U16 | S16) => form.op(map2(u16::wrapping_mul)),
        (Lo, U32 | S32) => form.op(map2(u32::wrapping_mul)),
        (Lo, U64 | S64) => form.op(map2(u64::wrapping_mul)),
        (Hi, U16) => form.op(map2(|a: u16, b: u16| ((a as u32 * b as u32) >> 16) as u16)),
        (Hi, S16) => form.op(map2(|a: i16, b: i16| ((a as i32 * b as i32) >> 16) as i16)),
        (Hi, U32) => form.op(map2(|a: u32, b: u32| ((a as u64 * b as u64) >> 32) as u32)),
        (Hi, S32) => form.op(map2(|a: i32, b: i32| ((a as i64 * b as i64) >> 32) as i32)),
        (Hi, U64) => form.op(map2(mul_hi_u64)),
        (Hi, S64) => form.op(map2(mul_hi_i64)),
        (Wide, U16) => form.op(map2(|a: u16, b: u16| a as u32 * b as u32)),
        (Wide, S16) => form.op(map2(|a: i16, b: i16| a as i32 * b as i32)),
        (Wide, U32) => form.op(map2(|a: u32, b: u32| a as u64 * b as u64)),
        (Wide, S32) => form.op(map2(|a: i32, b: i32| a as i64 * b as i64)),
        _ => None,
    }
}

fn mad(form: &Form<'_>, ty: Type) -> Option<AluOp> {
    use MulPart::*;
    use Type::*;
    match (form.mods.part?, ty) {
        (Lo, U16 | S16) => form.op(map3(|a: u16, b: u16, c: u16| a.wrapping_mul(b).wrapping_add(c))),
        (Lo, U32 | S32) => form.op(map3(|a: u32, b: u32, c: u32| a.wrapping_mul(b).wrapping_add(c))),
        (Lo, U64 | S64) => form.op(map3(|a: u64, b: u64, c: u64| a.wrapping_mul(b).wrapping_add(c))),
        (Hi, U16) => form.op(map3(|a: u16, b: u16, c: u16| (((a as u32 * b as u32) >> 16) as u16).wrapping_add(c))),
        (Hi, S16) => form.op(map3(|a: i16, b: i16, c: i16| (((a as i32 * b as i32) >> 16) as i16).wrapping_add(c))),
        (Hi, U32) => form.op(map3(|a: u32, b: u32, c: u32| (((a as u64 * b as u64) >> 32) as u32).wrapping_add(c))),
        (Hi, S32) => form.op(map3(|a: i32, b: i32, c: i32| (((a as i64 * b as i64) >> 32) as i32).wrapping_add(c))),
        (Hi, U64) => form.op(map3(|a: u64, b: u64, c: u64| mul_hi_u64(a, b).wrapping_add(c))),
        (Hi, S64) => form.op(map3(|a: i64, b: i64, c: i64| mul_hi_i64(a, b).wrapping_add(c))),
        (Wide, U16) => form.op(map3(|a: u16, b: u16, c: u32| (a as u32 * b as u32).wrapping_add(c))),
        (Wide, S16) => form.op(map3(|a: i16, b: i16, c: i32| (a as i32 * b as i32).wrapping_add(c))),
        (Wide, U32) => form.op(map3(|a: u32, b: u32, c: u64| (a as u64 * b as u64).wrapping_add(c))),
        (Wide, S32) => form.op(map3(|a: i32, b: i32, c: i64| (a as i64 * b as i64).wrapping_add(c))),
        _ => None,
    }
}

fn min_max(form: &Form<'_>, ty: Type) -> Option<AluOp> {
    macro_rules! either {
        ($ty:ty) => {
            if form.opcode == Opcode::Min { form.op(map2(<$ty as Ord>::min)) } else { form.op(map2(<$ty as Ord>::max)) }
        };
    }
    match ty {
        Type::S32 if form.mods.relu => {
            by_flag!(form.opcode == Opcode::Min, |MIN| form
                .op(map2(|a: i32, b: i32| { (if MIN { a.min(b) } else { a.max(b) }).max(0) })))
        }
        _ if form.mods.relu => None,
        Type::U16 => either!(u16),
        Type::S16 => either!(i16),
        Type::U32 => either!(u32),
        Type::S32 => either!(i32),
        Type::U64 => either!(u64),
        Type::S64 => either!(i64),
        _ => None,
    }
}
