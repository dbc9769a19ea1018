//! Half precision: `f16` and `bf16`, alone and in pairs (PTX manual, "Half Precision Floating-Point Instructions").
//!
//! Operations widen to single or double precision, round to odd there, and round once to the format
//! ([`round`](super::round) says why that is correct). A NaN result is 0x7fff.

use super::approx::{ex2, tanh};
use super::float::min_max;
use super::kernel::{Body, Inputs, Lane, Output};
use super::round::{RM, RN, RP, RZ, narrow_odd, saturate, sum_odd};
use super::row::Window;
use super::select::Form;
use super::{AluOp, Dest, Shape};
use std::marker::PhantomData;
use warpwatt_ptx::ir::{Opcode, Rounding, Type};

/// A 16-bit format.
pub(super) trait Half: Copy {
    /// The type of a single value.
    const TYPE: Type;
    /// First bit of the exponent.
    const EXPONENT: u32;
    /// Its value, exactly.
    fn widen(bits: u32) -> f32;
    /// The nearest value to an exact or odd-rounded number.
    fn nearest(x: f32) -> u32;
}

/// IEEE 754 binary16.
#[derive(Clone, Copy)]
pub(super) struct Binary16;

/// The upper half of binary32.
#[derive(Clone, Copy)]
pub(super) struct Brain16;

impl Half for Binary16 {
    const TYPE: Type = Type::F16;
    const EXPONENT: u32 = 0x7c00;

    #[inline(always)]
    fn widen(bits: u32) -> f32 {
        let (sign, magnitude) = (bits << 16 & 0x8000_0000, bits & 0x7fff);
        // Rebias by a multiplication, which takes care of subnormal numbers too.
        let finite = (f32::from_bits(magnitude << 13) * f32::from_bits(0x7780_0000)).to_bits();
        let special = 0x7f80_0000 | magnitude << 13;
        f32::from_bits(sign | if magnitude >= 0x7c00 { special } else { finite })
    }

    #[inline(always)]
    fn nearest(x: f32) -> u32 {
        let bits = x.to_bits();
        let (sign, magnitude) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
        let rounded = magnitude.wrapping_add(0xfff + (magnitude >> 13 & 1));
        let normal = rounded.wrapping_sub(112 << 23) >> 13;
        // Below 2⁻¹⁴: adding ½ aligns the last bit with the format's last bit, 2⁻²⁴.
        let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0x3f00_0000);
        let finite = if magnitude < 0x3880_0000 { subnormal } else { normal };
        let result = if rounded >= 0x4780_0000 { 0x7c00 } else { finite };
        if x.is_nan() { 0x7fff } else { sign | result }
    }
}

impl Half for Brain16 {
    const TYPE: Type = Type::Bf16;
    const EXPONENT: u32 = 0x7f80;

    #[inline(always)]
    fn widen(bits: u32) -> f32 {
        f32::from_bits(bits << 16)
    }

    #[inline(always)]
    fn nearest(x: f32) -> u32 {
        let bits = x.to_bits();
        let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
        if x.is_nan() { 0x7fff } else { rounded }
    }
}

/// Rounds an exact or odd-rounded number to a format in direction `R`.
#[inline(always)]
pub(super) fn to_half<H: Half, const R: u8>(x: f32) -> u32 {
    let bits = H::nearest(x);
    let back = H::widen(bits);
    let (above, below) = (back > x, back < x);
    let negative = bits >> 15 != 0;
    let (step, away) = match R {
        RZ => (if negative { below } else { above }, false),
        RM => (above, negative),
        RP => (below, !negative),
        _ => (false, false),
    };
    let moved = if away { bits + 1 } else { bits.wrapping_sub(1) };
    if step { moved } else { bits }
}

/// Replaces a subnormal number by zero of its sign.
#[inline(always)]
fn flush<H: Half>(bits: u32) -> u32 {
    if bits & H::EXPONENT == 0 { bits & 0x8000 } else { bits }
}

/// Modifiers, as bits of a kernel's parameter.
pub(super) const FTZ: u64 = 1;
/// `.sat`.
pub(super) const SAT: u64 = 2;
/// `.relu`.
pub(super) const RELU: u64 = 4;
/// `.NaN`.
const NAN: u64 = 8;
/// `.xorsign.abs`.
const XORSIGN: u64 = 16;

/// The modifiers of an instruction.
pub(super) fn flags(form: &Form<'_>) -> u64 {
    let mods = form.mods;
    let bit = |set: bool, flag: u64| if set { flag } else { 0 };
    bit(mods.ftz, FTZ) | bit(mods.sat, SAT) | bit(mods.relu, RELU) | bit(mods.nan, NAN) | bit(mods.xorsign_abs, XORSIGN)
}

/// `.sat` and `.relu` on a number that is yet to be rounded.
#[inline(always)]
pub(super) fn clamp(x: f32, flags: u64) -> f32 {
    let x = if flags & SAT != 0 { saturate(x) } else { x };
    if flags & RELU != 0 && x < 0.0 { 0.0 } else { x }
}

/// One value (`N` = 1) or a pair in each lane, `SOURCES` operands; the function gives an exact or odd-rounded result.
struct Op<H, F, const N: usize, const SOURCES: usize>(F, PhantomData<H>);

impl<H, F: Copy, const N: usize, const SOURCES: usize> Clone for Op<H, F, N, SOURCES> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H, F: Copy, const N: usize, const SOURCES: usize> Copy for Op<H, F, N, SOURCES> {}

impl<H: Half, F: Fn([f32; 3], u64) -> f32 + Copy, const N: usize, const SOURCES: usize> Body for Op<H, F, N, SOURCES> {
    const SHAPE: Shape = {
        let ty = if N == 1 { H::TYPE } else { Type::B32 };
        let types: &[Type] = match SOURCES {
            1 => &[ty],
            2 => &[ty, ty],
            _ => &[ty, ty, ty],
        };
        Shape::new(Dest::Row32, types)
    };

    #[inline(always)]
    fn run(self, param: u64, inputs: &Inputs<'_>, output: &mut Output) {
        for lane in 0..32 {
            let mut result = 0;
            for part in 0..N {
                let mut operands = [0.0; 3];
                for (operand, window) in operands.iter_mut().zip(inputs.rows).take(SOURCES) {
                    let bits = bits(window, lane, part);
                    *operand = H::widen(if param & FTZ != 0 { flush::<H>(bits) } else { bits });
                }
                let bits = H::nearest(clamp((self.0)(operands, param), param));
                result |= (if param & FTZ != 0 { flush::<H>(bits) } else { bits }) << (16 * part);
            }
            u32::put(&mut output.window, lane, result);
        }
    }
}

fn op<H: Half, const SOURCES: usize>(
    form: &Form<'_>,
    pair: bool,
    f: impl Fn([f32; 3], u64) -> f32 + Copy,
) -> Option<AluOp> {
    let flags = flags(form);
    if pair {
        form.rare_with(Op::<H, _, 2, SOURCES>(f, PhantomData), flags)
    } else {
        form.rare_with(Op::<H, _, 1, SOURCES>(f, PhantomData), flags)
    }
}

#[inline(always)]
fn min_max_flags<const MAX: bool>(a: f32, b: f32, flags: u64) -> f32 {
    let sign = (a.to_bits() ^ b.to_bits()) & 0x8000_0000;
    let (x, y) = if flags & XORSIGN != 0 { (a.abs(), b.abs()) } else { (a, b) };
    let d = if flags & NAN != 0 { min_max::<MAX, false, true>(x, y) } else { min_max::<MAX, false, false>(x, y) };
    if flags & XORSIGN != 0 && !d.is_nan() { f32::from_bits(d.to_bits() | sign) } else { d }
}

fn select_format<H: Half>(form: &Form<'_>, pair: bool) -> Option<AluOp> {
    if !matches!(form.mods.rounding, None | Some(Rounding::Rn)) {
        return None;
    }
    match form.opcode {
        Opcode::Add => op::<H, 2>(form, pair, |[a, b, _], _| narrow_odd(sum_odd::<RN>(a as f64, b as f64))),
        Opcode::Sub => op::<H, 2>(form, pair, |[a, b, _], _| narrow_odd(sum_odd::<RN>(a as f64, -b as f64))),
        Opcode::Mul => op::<H, 2>(form, pair, |[a, b, _], _| narrow_odd(a as f64 * b as f64)),
        Opcode::Fma => op::<H, 3>(form, pair, |[a, b, c], _| narrow_odd(sum_odd::<RN>(a as f64 * b as f64, c as f64))),
        Opcode::Min => op::<H, 2>(form, pair, |[a, b, _], flags| min_max_flags::<false>(a, b, flags)),
        Opcode::Max => op::<H, 2>(form, pair, |[a, b, _], flags| min_max_flags::<true>(a, b, flags)),
        Opcode::Abs => op::<H, 1>(form, pair, |[a, ..], _| a.abs()),
        Opcode::Neg => op::<H, 1>(form, pair, |[a, ..], _| -a),
        Opcode::Ex2 => op::<H, 1>(form, pair, |[a, ..], _| ex2::<false>(a)),
        Opcode::Tanh => op::<H, 1>(form, pair, |[a, ..], _| tanh(a)),
        _ => None,
    }
}

pub(super) fn select(form: &Form<'_>) -> Option<AluOp> {
    match form.ty()? {
        Type::F16 => select_format::<Binary16>(form, false),
        Type::F16x2 => select_format::<Binary16>(form, true),
        Type::Bf16 => select_format::<Brain16>(form, false),
        Type::Bf16x2 => select_format::<Brain16>(form, true),
        _ => None,
    }
}

/// Bits of a half-precision value in lane `lane`.
#[inline(always)]
pub(super) fn bits(window: &Window, lane: usize, part: usize) -> u32 {
    u32::get(window, lane) >> (16 * part) & 0xffff
}
