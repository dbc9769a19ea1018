//! The arithmetic of PTX instructions, 32 lanes at a time; independent of registers, decoding and time.
//!
//! Models: the result bits of every arithmetic, logic, comparison, selection and conversion instruction of the PTX ISA
//! manual's chapter "Instructions" that real files use. Leaves out: moves, memory, control, votes, shuffles.
//!
//! How an executor uses it:
//!
//! 1. At load, [`select()`] finds the [`AluOp`] of an instruction (`None`: not arithmetic, or not supported), and
//!    [`AluOp::shape`] says what its operands are. An immediate operand becomes a constant window: [`immediate_bits`]
//!    with the source's type of the shape, then [`broadcast`].
//! 2. At run time, [`AluOp::execute`] reads [`Inputs`]: a [`Window`] per register source in operand order (predicate
//!    sources apart, as lane masks, complemented by the caller for `!p`), the carry flag; it computes **all** lanes into
//!    [`Output`].
//! 3. The caller takes over the lanes that execute: [`Row::merge`] into a 32-bit register, [`merge64`] into a 64-bit
//!    one, `p = p & !mask | output.preds[0] & mask` for predicates and likewise the carry flag.
//!
//! A register file is an array of [`Row`]s: a register of up to 32 bits has one row, a 64-bit register two consecutive
//! rows seen as `[u64; 32]`. 8- and 16-bit values lie zero-extended. A window of a register is `rows[i..].first_chunk()`,
//! whatever its width, so the file has a spare row at its end. As results go to scratch space first, destination and
//! source may be the same register.
//!
//! A predicate destination (`setp`, `testp`, logic on `.pred`) comes in `preds[0]`; the second one of `p|q` in
//! `preds[1]` (always computed, only written if the instruction names it).

mod approx;
mod atomic;
mod bits;
mod carry;
mod compare;
mod convert;
mod double;
mod float;
mod half;
mod integer;
mod kernel;
mod packed;
mod round;
mod row;
mod select;
mod soft;

pub use atomic::atomic_apply;
pub use kernel::{Inputs, Level, Output};
pub use row::{Row, Window, ZERO, broadcast, immediate_bits, lanes64, lanes64_mut, merge64};
pub use select::select;

use kernel::Kernel;
use warpwatt_ptx::ir::Type;

/// What an operation writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dest {
    /// A register of up to 32 bits.
    Row32,
    /// A 64-bit register.
    Row64,
    /// A predicate, or two (`p|q`).
    Pred,
}

/// An operation's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What it writes.
    pub dest: Dest,
    /// Types of the source operands in the instruction's order, for literals and for the width of the windows that are
    /// read; [`Type::Pred`] are predicates, and an omitted optional source is simply not given. A `cvt` that reads the low
    /// bits of a 64-bit register reads that register: its source is then a 64-bit type.
    pub sources: [Option<Type>; 4],
    /// Reads the carry flag.
    pub carry_in: bool,
    /// Writes the carry flag.
    pub carry_out: bool,
}

impl Shape {
    /// At most four sources, no carry.
    const fn new(dest: Dest, types: &[Type]) -> Shape {
        let mut sources = [None; 4];
        let mut i = 0;
        while i < types.len() {
            sources[i] = Some(types[i]);
            i += 1;
        }
        Shape { dest, sources, carry_in: false, carry_out: false }
    }
}

/// An arithmetic operation: type, rounding, saturation and all other modifiers resolved.
#[derive(Clone, Copy)]
pub struct AluOp {
    kernel: Kernel,
    param: u64,
    shape: Shape,
}

impl AluOp {
    /// Computes all lanes.
    #[inline(always)]
    pub fn execute(&self, inputs: &Inputs<'_>, output: &mut Output) {
        // SAFETY: `kernel` comes from `kernel::compile`, which takes the code for an extended processor only with a
        // `Level` that says so, and such a level comes from `Level::detect` alone.
        unsafe { (self.kernel)(self.param, inputs, output) }
    }

    /// Its operands.
    #[inline]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }
}

impl std::fmt::Debug for AluOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.shape.fmt(f)
    }
}
