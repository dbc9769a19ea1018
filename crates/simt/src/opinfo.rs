//! Static facts about each instruction of a program: what the pipeline needs before it executes.

use serde::{Deserialize, Serialize};

/// Where an instruction executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// Integer pipeline of an SP (also moves, logic, conversions to integer, predicates, control).
    Int,
    /// Single-precision pipeline of an SP.
    Fp,
    /// Double precision (on the SFU port where a GPU has no FP64 unit).
    Dp,
    /// Special function unit.
    Sfu,
    /// Load/store unit: memory, atomics, textures, fences, and kernel-parameter loads.
    Mem,
    /// Branches, calls, returns, exits and barriers: issued to the INT pipeline, with no lane operation.
    Control,
}

/// Latency and energy class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Class {
    /// Moves, logic, shifts, comparisons, selections, conversions, votes, shuffles, bit fields.
    Simple,
    IntAdd,
    IntMinMax,
    IntMul,
    /// 24-bit multiply and multiply-add.
    IntMul24,
    IntMad,
    /// Division and remainder.
    IntDiv,
    FpAdd,
    FpMinMax,
    FpMul,
    /// `mad` and `fma`.
    FpFma,
    FpDiv,
    DpAdd,
    DpMinMax,
    DpMul,
    DpFma,
    /// Division and every double-precision special function.
    DpDiv,
    SfuSinCos,
    /// `sqrt`, `rsqrt`, `rcp`.
    SfuSqrt,
    /// `lg2`, `ex2`, `tanh`.
    SfuLog,
    Control,
    Barrier,
    Load,
    Store,
    Atomic,
    Texture,
    Fence,
}

/// Memory space as written; `Generic` is resolved per lane at execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum MemSpace {
    Global,
    Shared,
    Local,
    Const,
    Param,
    Texture,
    Generic,
}

/// A scoreboard name: one per 32-bit row of the allocated registers, then one per predicate. Registers that are never
/// live together share rows, so a 64-bit register may meet two others: lists for hazards hold all its rows.
pub type RegName = u16;

/// Static facts of one instruction.
#[derive(Clone, Debug)]
pub struct OpInfo {
    /// Unit.
    pub unit: Unit,
    /// Class.
    pub class: Class,
    /// Space of a memory instruction.
    pub space: Option<MemSpace>,
    /// Registers read through the operand collector, each by its first row (general registers, duplicates removed, guard
    /// excluded).
    pub sources: Vec<RegName>,
    /// Rows and predicates written.
    pub dests: Vec<RegName>,
    /// Every name that must not be pending for this to issue: sources, dests, guard.
    pub names: Vec<RegName>,
    /// 32-bit register reads per lane (a 64-bit source counts two).
    pub reads: u8,
    /// 32-bit register writes per lane.
    pub writes: u8,
    /// Immediate operands.
    pub immediates: u8,
    /// The instruction is or may be a branch, call, return or exit.
    pub control: bool,
    /// The instruction, in PTX text order, ends the thread for lanes that execute it.
    pub exit: bool,
    /// Writes memory.
    pub store: bool,
    /// Must wait for the warp's unacknowledged atomics before it issues: barriers, fences, exits, returns.
    pub drain: bool,
    /// Source line of the PTX file (1-based).
    pub line: u32,
}
