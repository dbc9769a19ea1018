//! Decoded instructions.

use warpwatt_ptx::ir::Special;

use crate::alu::AluOp;

/// A register operand: a row index with its base in the top two bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Src(u32);

impl Src {
    pub(crate) const FRAME: usize = 0;
    pub(crate) const CONSTANT: usize = 1;
    pub(crate) const SPECIAL: usize = 2;

    pub(crate) const fn new(base: usize, row: u32) -> Src {
        Src((base as u32) << 30 | row)
    }

    #[inline(always)]
    pub(crate) fn base(self) -> usize {
        (self.0 >> 30) as usize
    }

    #[inline(always)]
    pub(crate) fn row(self) -> usize {
        (self.0 & 0x3fff_ffff) as usize
    }
}

/// A guard: a predicate slot of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guard {
    slot: u16,
    negated: bool,
}

/// Rows that a warp keeps for a special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpecialRow {
    pub(crate) special: Special,
    pub(crate) wide: bool,
    pub(crate) row: u32,
}

/// A decoded instruction.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) guard: Option<Guard>,
    pub(crate) kind: Kind,
}

/// What it does.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Alu(Alu),
}

/// Arithmetic.
#[derive(Clone, Debug)]
pub(crate) struct Alu {
    pub(crate) op: AluOp,
}
