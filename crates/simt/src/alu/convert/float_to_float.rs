//! Floating point to floating point, and rounding to integers in floating point.

use super::super::AluOp;
use super::super::double::{NAN64, is_nan};
use super::super::float::{by_flag, by_rounding};
use super::super::half::{self, Binary16, Brain16, Half, bits, clamp, to_half};
use super::super::kernel::{Body, Inputs, Lane, Output, map1};
use super::super::round::{NAN32, RM, RN, RP, RZ, canonical, finish, flush, narrow, narrow_odd};
use super::super::row::Window;
use super::super::select::Form;
use super::super::{Dest, Shape};
use super::float_to_int::{by_direction, integral32, integral64};
use super::{reading, widths};
use std::marker::PhantomData;
use warpwatt_ptx::ir::{Rounding, Type};

/// Widens; a NaN keeps its payload's bits at the top.
#[inline(always)]
fn widen<const FTZ: bool>(x: f32) -> f64 {
    let bits = x.to_bits() as u64;
    let nan = (bits & 0x8000_0000) << 32 | 0x7ff8 << 48 | (bits & 0x7f_ffff) << 29;
    let number = (flush::<FTZ>(x) as f64).to_bits();
    f64::from_bits(if bits & 0x7fff_ffff > 0x7f80_0000 { nan } else { number })
}

/// Clamps to [0, 1]; NaN gives +0.
#[inline(always)]
fn saturate64(x: f64) -> f64 {
    let low = if x > 0.0 { x } else { 0.0 };
    if low < 1.0 { low } else { 1.0 }
}

/// A single value of half precision in, single precision out.
#[derive(Clone, Copy)]
struct FromHalf<H>(PhantomData<H>);

impl<H: Half> Body for FromHalf<H> {
    const SHAPE: Shape = Shape::new(Dest::Row32, &[H::TYPE]);

    #[inline(always)]
    fn run(self, param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        for lane in 0..32 {
            let x = H::widen(bits(inputs.rows[0], lane, 0));
            let x = if param & half::FTZ != 0 { flush::<true>(x) } else { x };
            f32::put(&mut output.window, lane, canonical(clamp(x, param)));
        }
    }
}

/// A floating-point source narrowed to single precision, rounded to odd.
trait Wide: Copy {
    const TYPE: Type;
    fn read(window: &Window, lane: usize, flags: u64) -> f32;
}

#[derive(Clone, Copy)]
struct Single;
#[derive(Clone, Copy)]
struct Double;
#[derive(Clone, Copy)]
struct Small<H>(PhantomData<H>);

impl Wide for Single {
    const TYPE: Type = Type::F32;
    #[inline(always)]
    fn read(window: &Window, lane: usize, flags: u64) -> f32 {
        let x = f32::get(window, lane);
        if flags & half::FTZ != 0 { flush::<true>(x) } else { x }
    }
}

impl Wide for Double {
    const TYPE: Type = Type::F64;
    #[inline(always)]
    fn read(window: &Window, lane: usize, _flags: u64) -> f32 {
        narrow_odd(f64::get(window, lane))
    }
}

impl<H: Half> Wide for Small<H> {
    const TYPE: Type = H::TYPE;
    #[inline(always)]
    fn read(window: &Window, lane: usize, _flags: u64) -> f32 {
        H::widen(bits(window, lane, 0))
    }
}

/// To a single value of half precision, or with `INTEGRAL` to an integer in it.
#[derive(Clone, Copy)]
struct ToHalf<S, H, const R: u8, const INTEGRAL: bool>(S, PhantomData<H>);

impl<S: Wide, H: Half, const R: u8, const INTEGRAL: bool> Body for ToHalf<S, H, R, INTEGRAL> {
    const SHAPE: Shape = Shape::new(Dest::Row32, &[S::TYPE]);

    #[inline(always)]
    fn run(self, param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        for lane in 0..32 {
            let x = S::read(inputs.rows[0], lane, param);
            let x = if INTEGRAL { integral32::<R>(x) } else { x };
            u32::put(&mut output.window, lane, to_half::<H, R>(clamp(x, param)));
        }
    }
}

/// Two singles to a pair: the first operand goes to the upper half.
#[derive(Clone, Copy)]
struct Pack<H, const R: u8>(PhantomData<H>);

impl<H: Half, const R: u8> Body for Pack<H, R> {
    const SHAPE: Shape = Shape::new(Dest::Row32, &[Type::F32, Type::F32]);

    #[inline(always)]
    fn run(self, param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        for lane in 0..32 {
            let part = |i: usize| to_half::<H, R>(clamp(Single::read(inputs.rows[i], lane, param), param));
            u32::put(&mut output.window, lane, part(0) << 16 | part(1));
        }
    }
}

/// To `tf32`: single precision with the last 13 bits zero.
#[inline(always)]
fn tf32<const TIES_AWAY: bool, const ZERO: bool, const RELU: bool>(x: f32) -> u32 {
    let x = if RELU && x < 0.0 { 0.0 } else { x };
    let bits = x.to_bits();
    let half = if ZERO {
        0
    } else if TIES_AWAY {
        0x1000
    } else {
        0xfff + (bits >> 13 & 1)
    };
    if x.is_nan() { NAN32 } else { bits.wrapping_add(half) & !0x1fff }
}

fn is_integral(rounding: Option<Rounding>) -> bool {
    use Rounding::*;
    matches!(rounding, Some(Rni | Rzi | Rmi | Rpi))
}

/// To the half-precision format `H`.
fn select_to_half<H: Half>(form: &Form<'_>, source: Type) -> Option<AluOp> {
    let (rounding, flags) = (form.mods.rounding, half::flags(form));
    if is_integral(rounding) {
        if source != H::TYPE {
            return None;
        }
        return by_direction!(rounding, |R| form
            .rare_with(ToHalf::<_, H, R, true>(Small::<H>(PhantomData), PhantomData), flags));
    }
    macro_rules! from {
        ($source:expr) => {
            by_rounding!(rounding, |R| form.rare_with(ToHalf::<_, H, R, false>($source, PhantomData), flags))
        };
    }
    match source {
        Type::F32 => from!(Single),
        Type::F64 => from!(Double),
        Type::F16 => from!(Small::<Binary16>(PhantomData)),
        Type::Bf16 => from!(Small::<Brain16>(PhantomData)),
        _ => None,
    }
}

fn select_single(form: &Form<'_>) -> Option<AluOp> {
    let mods = form.mods;
    if is_integral(mods.rounding) {
        by_direction!(mods.rounding, |R| by_flag!(mods.ftz, |FTZ| by_flag!(mods.sat, |SAT| form
            .op(map1(|x: f32| finish::<FTZ, SAT>(integral32::<R>(flush::<FTZ>(x))))))))
    } else {
        by_flag!(mods.ftz, |FTZ| by_flag!(mods.sat, |SAT| form.op(map1(|x: f32| finish::<FTZ, SAT>(x)))))
    }
}

fn select_double(form: &Form<'_>) -> Option<AluOp> {
    let mods = form.mods;
    // A NaN passes through, quieted.
    if is_integral(mods.rounding) {
        by_direction!(mods.rounding, |R| by_flag!(mods.sat, |SAT| form.op(map1(|x: f64| {
            let y = integral64::<R>(x);
            let quiet = x.to_bits() | 1 << 51;
            if SAT { saturate64(y) } else { f64::from_bits(if is_nan(x.to_bits()) { quiet } else { y.to_bits() }) }
        }))))
    } else {
        by_flag!(mods.sat, |SAT| form.op(map1(|x: f64| if SAT { saturate64(x) } else { x })))
    }
}

pub(super) fn select(form: &Form<'_>, types: (Type, Type)) -> Option<AluOp> {
    use Type::*;
    let mods = form.mods;
    let (register, source_register) = widths(form, types.0, types.1);
    if (register > 32 && types.0 != F64) || (source_register > 32 && types.1 != F64) {
        return None;
    }
    let integral = is_integral(mods.rounding);
    match types {
        (F32, F32) => select_single(form),
        (F64, F64) => select_double(form),
        (F16, F32) if half::flags(form) == 0 && matches!(mods.rounding, None | Some(Rounding::Rn)) => {
            form.op(map1(|x: f32| to_half::<Binary16, RN>(x) as u16))
        }
        (F16, source) => select_to_half::<Binary16>(form, source),
        (Bf16, source) => select_to_half::<Brain16>(form, source),
        (F16x2, F32) => {
            by_rounding!(mods.rounding, |R| form.rare_with(Pack::<Binary16, R>(PhantomData), half::flags(form)))
        }
        (Bf16x2, F32) => {
            by_rounding!(mods.rounding, |R| form.rare_with(Pack::<Brain16, R>(PhantomData), half::flags(form)))
        }
        (Tf32, F32) => by_flag!(mods.relu, |RELU| match mods.rounding {
            Some(Rounding::Rna) => form.rare(map1(tf32::<true, false, RELU>)),
            Some(Rounding::Rn) => form.rare(map1(tf32::<false, false, RELU>)),
            Some(Rounding::Rz) => form.rare(map1(tf32::<false, true, RELU>)),
            _ => None,
        }),
        _ if integral => None,
        (F64, F32) => by_flag!(mods.ftz, |FTZ| by_flag!(mods.sat, |SAT| form.op(map1(|x: f32| {
            let x = widen::<FTZ>(x);
            if SAT { saturate64(x) } else { x }
        })))),
        (F32, F64) => by_rounding!(mods.rounding, |R| by_flag!(mods.ftz, |FTZ| by_flag!(mods.sat, |SAT| form
            .op(map1(|x: f64| finish::<FTZ, SAT>(narrow::<R>(x))))))),
        (F32, F16) if half::flags(form) == 0 => reading(form, form.op(map1(single_of::<Binary16>)), F16),
        (F32, F16) => form.rare_with(FromHalf::<Binary16>(PhantomData), half::flags(form)),
        (F32, Bf16) => form.rare_with(FromHalf::<Brain16>(PhantomData), half::flags(form)),
        (F64, F16) if mods.sat => reading(form, form.rare(map1(|a: u16| saturate64(double_of::<Binary16>(a)))), F16),
        (F64, F16) => reading(form, form.rare(map1(double_of::<Binary16>)), F16),
        (F64, Bf16) => reading(form, form.rare(map1(double_of::<Brain16>)), Bf16),
        _ => None,
    }
}

/// A half-precision value in single precision.
#[inline(always)]
fn single_of<H: Half>(a: u16) -> f32 {
    canonical(H::widen(a as u32))
}

/// A half-precision value in double precision.
#[inline(always)]
fn double_of<H: Half>(a: u16) -> f64 {
    let bits = (H::widen(a as u32) as f64).to_bits();
    f64::from_bits(if is_nan(bits) { NAN64 } else { bits })
}
