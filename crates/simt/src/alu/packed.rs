//! Operations on the bytes and halfwords of a 32-bit register: `dp4a dp2a vabsdiff4` (PTX manual, "Integer Arithmetic
//! Instructions", "SIMD Video Instructions").

use super::AluOp;
use super::float::by_flag;
use super::kernel::map3;
use super::select::Form;
use warpwatt_ptx::ir::{AtomOp, MulPart, Opcode, Type};

/// Byte `i`, sign- or zero-extended.
#[inline(always)]
fn byte<const SIGNED: bool>(a: u32, i: u32) -> i32 {
    let byte = (a >> (8 * i)) as u8;
    if SIGNED { byte as i8 as i32 } else { byte as i32 }
}

/// Halfword `i`, sign- or zero-extended.
#[inline(always)]
fn halfword<const SIGNED: bool>(a: u32, i: u32) -> i32 {
    let half = (a >> (16 * i)) as u16;
    if SIGNED { half as i16 as i32 } else { half as i32 }
}

/// c + Σ aᵢ bᵢ over four bytes.
#[inline(always)]
fn dp4a<const A: bool, const B: bool>(a: u32, b: u32, c: u32) -> u32 {
    let mut sum = c;
    for i in 0..4 {
        sum = sum.wrapping_add(byte::<A>(a, i).wrapping_mul(byte::<B>(b, i)) as u32);
    }
    sum
}

/// c + Σ aᵢ bᵢ over two halfwords of a and two bytes of b.
#[inline(always)]
fn dp2a<const A: bool, const B: bool, const HI: bool>(a: u32, b: u32, c: u32) -> u32 {
    let mut sum = c;
    for i in 0..2 {
        let factor = byte::<B>(b, i + if HI { 2 } else { 0 });
        sum = sum.wrapping_add(halfword::<A>(a, i).wrapping_mul(factor) as u32);
    }
    sum
}

/// |aᵢ − bᵢ| over four bytes: added to c with `ADD`, else side by side, cut to eight bits.
#[inline(always)]
fn vabsdiff4<const A: bool, const B: bool, const ADD: bool>(a: u32, b: u32, c: u32) -> u32 {
    let (mut sum, mut bytes) = (c, 0);
    for i in 0..4 {
        let difference = byte::<A>(a, i).abs_diff(byte::<B>(b, i));
        sum = sum.wrapping_add(difference);
        bytes |= (difference & 0xff) << (8 * i);
    }
    if ADD { sum } else { bytes }
}

pub(super) fn select(form: &Form<'_>) -> Option<AluOp> {
    let mods = form.mods;
    let signed = |i: usize| match mods.types[i] {
        Some(Type::S32) => Some(true),
        Some(Type::U32) => Some(false),
        _ => None,
    };
    match form.opcode {
        Opcode::Dp4a => {
            let (a, b) = (signed(0)?, signed(1)?);
            by_flag!(a, |A| by_flag!(b, |B| form.op(map3(dp4a::<A, B>))))
        }
        Opcode::Dp2a => {
            let (a, b, hi) = (signed(0)?, signed(1)?, mods.part? == MulPart::Hi);
            by_flag!(a, |A| by_flag!(b, |B| by_flag!(hi, |HI| form.op(map3(dp2a::<A, B, HI>)))))
        }
        Opcode::Vabsdiff4 if !mods.sat => {
            let (a, b, add) = (signed(1)?, signed(2)?, mods.atom == Some(AtomOp::Add));
            by_flag!(a, |A| by_flag!(b, |B| by_flag!(add, |ADD| form.op(map3(vabsdiff4::<A, B, ADD>)))))
        }
        _ => None,
    }
}
