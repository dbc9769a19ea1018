//! `cvt` (PTX manual, "Data Movement and Conversion Instructions: cvt").
//!
//! A source register may be wider than its type: the low bits count. A destination register may be wider: the result is
//! sign-extended to it for signed integer types, zero-extended else. Frequent forms have kernels of their own; the
//! others share kernels that read their widths from a parameter ([`Plan`]).

mod float_to_float;
mod float_to_int;
mod int_to_float;
mod int_to_int;

use super::AluOp;
use super::kernel::Lane;
use super::row::Window;
use super::select::Form;
use warpwatt_ptx::ir::{Opcode, Type};

/// An integer type of 8 to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Int {
    bits: u32,
    signed: bool,
}

impl Int {
    fn of(ty: Type) -> Option<Int> {
        use Type::*;
        match ty {
            B8 | U8 | S8 | B16 | U16 | S16 | B32 | U32 | S32 | B64 | U64 | S64 => {
                Some(Int { bits: 8 * ty.bytes(), signed: ty.is_signed() })
            }
            _ => None,
        }
    }

    /// Least value.
    #[inline(always)]
    fn min(self) -> i64 {
        if self.signed { i64::MIN >> (64 - self.bits) } else { 0 }
    }

    /// Greatest value as 64 bits.
    #[inline(always)]
    fn max(self) -> u64 {
        u64::MAX >> (64 - self.bits + self.signed as u32)
    }

    /// The low bits of a register, extended to 64 bits.
    #[inline(always)]
    fn extend(self, register: u64) -> u64 {
        let shift = 64 - self.bits;
        if self.signed { ((register << shift) as i64 >> shift) as u64 } else { register << shift >> shift }
    }
}

/// The integers of a conversion, as a kernel's parameter.
#[derive(Clone, Copy)]
struct Plan {
    /// The integer type read.
    source: Int,
    /// The source is a 64-bit register.
    source_wide: bool,
    /// The integer type written.
    dest: Int,
    /// Bits of the destination register: 16, 32 or 64.
    register: u32,
    /// Other modifiers, as in [`half`](super::half).
    flags: u64,
}

impl Plan {
    fn encode(self) -> u64 {
        let int = |int: Int| (int.bits as u64) << 1 | int.signed as u64;
        int(self.source)
            | (self.source_wide as u64) << 8
            | int(self.dest) << 16
            | (self.register as u64) << 24
            | self.flags << 32
    }

    #[inline(always)]
    fn decode(param: u64) -> Plan {
        let int = |field: u64| Int { bits: (field >> 1 & 0x7f) as u32, signed: field & 1 != 0 };
        Plan {
            source: int(param),
            source_wide: param >> 8 & 1 != 0,
            dest: int(param >> 16),
            register: (param >> 24 & 0x7f) as u32,
            flags: param >> 32,
        }
    }

    /// Reads the source of lane `lane`, extended.
    #[inline(always)]
    fn read(self, window: &Window, lane: usize) -> u64 {
        let register = if self.source_wide { u64::get(window, lane) } else { u32::get(window, lane) as u64 };
        self.source.extend(register)
    }

    /// Cuts an extended result to the destination register.
    #[inline(always)]
    fn cut(self, result: u64) -> u64 {
        result & (u64::MAX >> (64 - self.register))
    }
}

/// Register widths in bits of destination and source: 16, 32 or 64. An operand that is not a register is as wide as its
/// type.
fn widths(form: &Form<'_>, dest: Type, source: Type) -> (u32, u32) {
    let of = |index: usize, ty: Type| 8 * form.register_bytes(index).unwrap_or(ty.bytes()).max(2);
    (of(0, dest), of(1, source))
}

/// `op`, with its source read as type `ty`, or as 64 bits if that is what its register has.
fn reading(form: &Form<'_>, op: Option<AluOp>, ty: Type) -> Option<AluOp> {
    let mut op = op?;
    let wide = form.register_bytes(1) == Some(8) && ty.bytes() < 8;
    op.shape.sources[0] = Some(if wide { Type::U64 } else { ty });
    Some(op)
}

pub(super) fn select(form: &Form<'_>) -> Option<AluOp> {
    if form.opcode != Opcode::Cvt {
        return None;
    }
    let (dest, source) = (form.mods.types[0]?, form.mods.types[1]?);
    match (Int::of(dest), Int::of(source)) {
        (Some(to), Some(from)) => reading(form, int_to_int::select(form, to, from, (dest, source)), source),
        (None, Some(from)) => reading(form, int_to_float::select(form, from, (dest, source)), source),
        (Some(to), None) => float_to_int::select(form, to, (dest, source)),
        (None, None) => float_to_float::select(form, (dest, source)),
    }
}
