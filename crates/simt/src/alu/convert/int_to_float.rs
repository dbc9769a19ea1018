//! Integers to floating point.

use super::super::float::by_rounding;
use super::super::half::{Binary16, Brain16, Half, SAT, clamp, flags, to_half};
use super::super::kernel::{Body, Inputs, Lane, Output, map1};
use super::super::round::{RM, RN, RP, RZ, narrow, narrow_odd};
use super::super::select::Form;
use super::super::{AluOp, Shape, soft};
use super::{Int, Plan, widths};
use warpwatt_ptx::ir::{Rounding, Type};

/// The magnitude in double precision, rounded to odd: bits beyond 53 are gathered in the last one.
#[inline(always)]
fn to_f64_odd(magnitude: u64) -> f64 {
    let cut = magnitude >> 11 | (magnitude & 0x7ff != 0) as u64;
    let large = cut as f64 * 2048.0;
    if magnitude >> 53 == 0 { magnitude as f64 } else { large }
}

#[inline(always)]
fn signed(negative: bool, magnitude: f64) -> f64 {
    if negative { -magnitude } else { magnitude }
}

#[inline(always)]
fn u64_to_f32<const R: u8>(a: u64) -> f32 {
    if R == RN { a as f32 } else { narrow::<R>(to_f64_odd(a)) }
}

#[inline(always)]
fn i64_to_f32<const R: u8>(a: i64) -> f32 {
    if R == RN { a as f32 } else { narrow::<R>(signed(a < 0, to_f64_odd(a.unsigned_abs()))) }
}

#[inline(always)]
fn u64_to_f64<const R: u8>(a: u64) -> f64 {
    if R == RN { a as f64 } else { soft::from_u64::<R>(false, a) }
}

#[inline(always)]
fn i64_to_f64<const R: u8>(a: i64) -> f64 {
    if R == RN { a as f64 } else { soft::from_u64::<R>(a < 0, a.unsigned_abs()) }
}

/// Where a number goes.
trait Target: Copy {
    /// The row it lies in.
    type Register: Lane;
    /// Rounds.
    fn convert<const R: u8>(negative: bool, magnitude: u64, flags: u64) -> Self::Register;
}

#[derive(Clone, Copy)]
struct Single;
#[derive(Clone, Copy)]
struct Double;
#[derive(Clone, Copy)]
struct Narrow<H>(H);

impl Target for Single {
    type Register = f32;
    #[inline(always)]
    fn convert<const R: u8>(negative: bool, magnitude: u64, flags: u64) -> f32 {
        clamp(narrow::<R>(signed(negative, to_f64_odd(magnitude))), flags)
    }
}

impl Target for Double {
    type Register = f64;
    #[inline(always)]
    fn convert<const R: u8>(negative: bool, magnitude: u64, flags: u64) -> f64 {
        let x = soft::from_u64::<R>(negative, magnitude);
        if flags & SAT != 0 { x.clamp(0.0, 1.0) } else { x }
    }
}

impl<H: Half> Target for Narrow<H> {
    type Register = u32;
    #[inline(always)]
    fn convert<const R: u8>(negative: bool, magnitude: u64, flags: u64) -> u32 {
        to_half::<H, R>(clamp(narrow_odd(signed(negative, to_f64_odd(magnitude))), flags))
    }
}

/// The general conversion.
#[derive(Clone, Copy)]
struct Convert<T, const R: u8>(T);

impl<T: Target, const R: u8> Body for Convert<T, R> {
    const SHAPE: Shape = Shape::new(T::Register::DEST, &[Type::U32]);

    #[inline(always)]
    fn run(self, param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        let plan = Plan::decode(param);
        for lane in 0..32 {
            let value = plan.read(inputs.rows[0], lane);
            let negative = plan.source.signed && (value as i64) < 0;
            let magnitude = if negative { value.wrapping_neg() } else { value };
            T::Register::put(&mut output.window, lane, T::convert::<R>(negative, magnitude, plan.flags));
        }
    }
}

pub(super) fn select(form: &Form<'_>, from: Int, types: (Type, Type)) -> Option<AluOp> {
    let (register, source_register) = widths(form, types.0, types.1);
    let rounding = form.mods.rounding;
    let plain = !form.mods.sat && !form.mods.relu;
    // Up to 32 bits are exact in double precision.
    if plain && (source_register == 64) == (from.bits == 64) {
        match (types.0, from.bits, from.signed) {
            (Type::F32, 8, false) => return form.op(map1(|a: u8| a as f32)),
            (Type::F32, 8, true) => return form.op(map1(|a: i8| a as f32)),
            (Type::F32, 16, false) => return form.op(map1(|a: u16| a as f32)),
            (Type::F32, 16, true) => return form.op(map1(|a: i16| a as f32)),
            (Type::F32, 32, false) if matches!(rounding, None | Some(Rounding::Rn)) => {
                return form.op(map1(|a: u32| a as f32));
            }
            (Type::F32, 32, true) if matches!(rounding, None | Some(Rounding::Rn)) => {
                return form.op(map1(|a: i32| a as f32));
            }
            (Type::F32, 32, false) => {
                return by_rounding!(rounding, |R| form.rare(map1(|a: u32| narrow::<R>(a as f64))));
            }
            (Type::F32, 32, true) => {
                return by_rounding!(rounding, |R| form.rare(map1(|a: i32| narrow::<R>(a as f64))));
            }
            (Type::F32, _, false) => {
                return by_rounding!(rounding, |R| if R == RN {
                    form.op(map1(u64_to_f32::<RN>))
                } else {
                    form.rare(map1(u64_to_f32::<R>))
                });
            }
            (Type::F32, _, true) => {
                return by_rounding!(rounding, |R| if R == RN {
                    form.op(map1(i64_to_f32::<RN>))
                } else {
                    form.rare(map1(i64_to_f32::<R>))
                });
            }
            (Type::F64, 8, false) => return form.op(map1(|a: u8| a as f64)),
            (Type::F64, 8, true) => return form.op(map1(|a: i8| a as f64)),
            (Type::F64, 16, false) => return form.op(map1(|a: u16| a as f64)),
            (Type::F64, 16, true) => return form.op(map1(|a: i16| a as f64)),
            (Type::F64, 32, false) => return form.op(map1(|a: u32| a as f64)),
            (Type::F64, 32, true) => return form.op(map1(|a: i32| a as f64)),
            (Type::F64, _, false) => {
                return by_rounding!(rounding, |R| if R == RN {
                    form.op(map1(u64_to_f64::<RN>))
                } else {
                    form.rare(map1(u64_to_f64::<R>))
                });
            }
            (Type::F64, _, true) => {
                return by_rounding!(rounding, |R| if R == RN {
                    form.op(map1(i64_to_f64::<RN>))
                } else {
                    form.rare(map1(i64_to_f64::<R>))
                });
            }
            _ => {}
        }
    }
    let plan = Plan { source: from, source_wide: source_register == 64, dest: from, register, flags: flags(form) };
    let param = plan.encode();
    match types.0 {
        Type::F32 => by_rounding!(rounding, |R| form.rare_with(Convert::<_, R>(Single), param)),
        Type::F64 => by_rounding!(rounding, |R| form.rare_with(Convert::<_, R>(Double), param)),
        Type::F16 => by_rounding!(rounding, |R| form.rare_with(Convert::<_, R>(Narrow(Binary16)), param)),
        Type::Bf16 => by_rounding!(rounding, |R| form.rare_with(Convert::<_, R>(Narrow(Brain16)), param)),
        _ => None,
    }
}
