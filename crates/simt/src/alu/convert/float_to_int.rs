//! Floating point to integers: rounds to an integer, then clamps to the type's range (`.sat` or not).
//!
//! NaN gives zero from `f32` or smaller to up to 32 bits, else the number with only the top bit set, as the manual has it
//! since PTX 8 (before, it left it open).

use super::super::float::by_flag;
use super::super::half::{Binary16, Brain16, Half, bits};
use super::super::kernel::{Body, Inputs, Lane, Output, map1};
use super::super::round::{RM, RN, RP, RZ, flush};
use super::super::row::Window;
use super::super::select::Form;
use super::super::{AluOp, Shape};
use super::int_to_int::Register;
use super::{Int, Plan, widths};
use std::marker::PhantomData;
use warpwatt_ptx::ir::{Rounding, Type};

/// Rounds to an integer in direction `R`.
#[inline(always)]
pub(super) fn integral32<const R: u8>(x: f32) -> f32 {
    match R {
        RN => x.round_ties_even(),
        RZ => x.trunc(),
        RM => x.floor(),
        _ => x.ceil(),
    }
}

/// Rounds to an integer in direction `R`.
#[inline(always)]
pub(super) fn integral64<const R: u8>(x: f64) -> f64 {
    match R {
        RN => x.round_ties_even(),
        RZ => x.trunc(),
        RM => x.floor(),
        _ => x.ceil(),
    }
}

/// The constant of an integer rounding modifier; also of a floating-point one, which some old files write, and toward
/// zero without any.
macro_rules! by_direction {
    ($rounding:expr, |$R:ident| $body:expr) => {
        match $rounding {
            Some(Rounding::Rni | Rounding::Rn) => {
                const $R: u8 = RN;
                $body
            }
            None | Some(Rounding::Rzi | Rounding::Rz) => {
                const $R: u8 = RZ;
                $body
            }
            Some(Rounding::Rmi | Rounding::Rm) => {
                const $R: u8 = RM;
                $body
            }
            Some(Rounding::Rpi | Rounding::Rp) => {
                const $R: u8 = RP;
                $body
            }
            _ => None,
        }
    };
}
pub(super) use by_direction;

/// A floating-point source, widened exactly.
trait Source: Copy {
    const TYPE: Type;
    fn read(window: &Window, lane: usize) -> f64;
}

#[derive(Clone, Copy)]
struct Single<const FTZ: bool>;
#[derive(Clone, Copy)]
struct Double;
#[derive(Clone, Copy)]
struct Narrow<H>(PhantomData<H>);

impl<const FTZ: bool> Source for Single<FTZ> {
    const TYPE: Type = Type::F32;
    #[inline(always)]
    fn read(window: &Window, lane: usize) -> f64 {
        flush::<FTZ>(f32::get(window, lane)) as f64
    }
}

impl Source for Double {
    const TYPE: Type = Type::F64;
    #[inline(always)]
    fn read(window: &Window, lane: usize) -> f64 {
        f64::get(window, lane)
    }
}

impl<H: Half> Source for Narrow<H> {
    const TYPE: Type = H::TYPE;
    #[inline(always)]
    fn read(window: &Window, lane: usize) -> f64 {
        H::widen(bits(window, lane, 0)) as f64
    }
}

/// The general conversion from `S` into a row of `D`.
#[derive(Clone, Copy)]
struct Convert<S, D, const R: u8>(S, PhantomData<D>);

impl<S: Source, D: Register, const R: u8> Body for Convert<S, D, R> {
    const SHAPE: Shape = Shape::new(D::DEST, &[S::TYPE]);

    #[inline(always)]
    fn run(self, param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        let plan = Plan::decode(param);
        let zero = S::TYPE.bytes() < 8 && plan.dest.bits < 64;
        let nan = if zero { 0 } else { plan.dest.extend(1 << (plan.dest.bits - 1)) };
        for lane in 0..32 {
            let x = S::read(inputs.rows[0], lane);
            let rounded = integral64::<R>(x);
            // Rust's casts clamp to 64 bits.
            let value = if plan.dest.signed {
                (rounded as i64).clamp(plan.dest.min(), plan.dest.max() as i64) as u64
            } else {
                (rounded as u64).min(plan.dest.max())
            };
            D::put(&mut output.window, lane, D::cut(plan.cut(if x.is_nan() { nan } else { value })));
        }
    }
}

fn general<S: Source>(form: &Form<'_>, source: S, plan: Plan) -> Option<AluOp> {
    let param = plan.encode();
    by_direction!(form.mods.rounding, |R| if plan.register == 64 {
        form.rare_with(Convert::<S, u64, R>(source, PhantomData), param)
    } else {
        form.rare_with(Convert::<S, u32, R>(source, PhantomData), param)
    })
}

/// To 32 bits, of which `SIGNED` says the range; for NaN the given bits. It vectorizes, where casts do not.
#[inline(always)]
fn to_32<const R: u8, const SIGNED: bool>(x: f64, nan: u32) -> u32 {
    // Adding it rounds to the nearest integer, which is then in the low bits.
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    let (low, high) = if SIGNED { (i32::MIN as f64, i32::MAX as f64) } else { (0.0, u32::MAX as f64) };
    let rounded = if R == RN { x } else { integral64::<R>(x) };
    let above = if rounded > low { rounded } else { low };
    let clamped = if above < high { above } else { high };
    let bits = (clamped + MAGIC).to_bits() as u32;
    if x.is_nan() { nan } else { bits }
}

#[inline(always)]
fn f32_to_32<const R: u8, const FTZ: bool, const SIGNED: bool>(x: f32) -> u32 {
    to_32::<R, SIGNED>(flush::<FTZ>(x) as f64, 0)
}

/// NaN gives the top bit alone.
#[inline(always)]
fn f64_to_32<const R: u8, const SIGNED: bool>(x: f64) -> u32 {
    to_32::<R, SIGNED>(x, 1 << 31)
}

pub(super) fn select(form: &Form<'_>, to: Int, types: (Type, Type)) -> Option<AluOp> {
    let (register, source_register) = widths(form, types.0, types.1);
    if source_register > 32 && types.1 != Type::F64 {
        return None;
    }
    let ftz = form.mods.ftz;
    if to.bits == 32 && register == 32 {
        match types.1 {
            Type::F32 => {
                return by_direction!(form.mods.rounding, |R| by_flag!(ftz, |FTZ| by_flag!(to.signed, |SIGNED| form
                    .op(map1(f32_to_32::<R, FTZ, SIGNED>)))));
            }
            Type::F64 => {
                return by_direction!(form.mods.rounding, |R| by_flag!(to.signed, |SIGNED| form
                    .op(map1(f64_to_32::<R, SIGNED>))));
            }
            _ => {}
        }
    }
    let plan = Plan { source: to, source_wide: false, dest: to, register, flags: 0 };
    match types.1 {
        Type::F32 => by_flag!(ftz, |FTZ| general(form, Single::<FTZ>, plan)),
        Type::F64 => general(form, Double, plan),
        Type::F16 => general(form, Narrow::<Binary16>(PhantomData), plan),
        Type::Bf16 => general(form, Narrow::<Brain16>(PhantomData), plan),
        _ => None,
    }
}
