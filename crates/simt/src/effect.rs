//! What executing one warp instruction did, as far as timing and power need to know.

use serde::{Deserialize, Serialize};

use crate::alu::Output;

/// The outcome of one warp instruction. Reused from step to step: its arrays are only valid where a mask says so.
#[derive(Clone, Debug)]
pub struct Effect {
    /// The instruction's index in the program.
    pub pc: u32,
    /// Lanes that the SIMT stack has active.
    pub active: u32,
    /// Lanes whose guard also holds: those that did something.
    pub executed: u32,
    /// What kind of thing happened.
    pub kind: EffectKind,
    /// Memory access of `Load`, `Store`, `Atomic` and `Texture`.
    pub access: Access,
    /// Per-lane operands of a deferred `Atomic` (global lanes only).
    pub atomic: AtomicOperands,
    /// `Barrier`: the warp must wait until a later effect of its CTA releases it.
    pub waits: bool,
    /// Warps of the CTA that waited at a barrier and may go on now: this instruction completed the barrier (arrival, or
    /// the exit of the last warp that was missing). Includes this warp if it need not wait.
    pub released: u64,
    /// The warp has no live lane left after this instruction.
    pub finished: bool,
    pub(crate) scratch: Scratch,
}

/// Results of arithmetic before they are merged into registers; kept here so that no step has to clear it.
#[derive(Clone)]
pub(crate) struct Scratch(pub(crate) Output);

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scratch")
    }
}

/// Kinds of effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectKind {
    /// Arithmetic, moves, votes, shuffles, and anything else that only touches registers.
    Alu,
    /// A branch, call or return (also one with no lane left by the guard).
    Branch,
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic or reduction. Lanes in shared memory have been done at once; global lanes are deferred if the memory
    /// defers atomics ([`crate::device`]), and then the old values come through `Warp::write_back`.
    Atomic,
    /// A texture fetch.
    Texture,
    /// Arrived at a CTA barrier; whether the warp waits is the barrier's answer.
    Barrier,
    /// `bar.warp.sync`: no wait is needed where warps execute in lockstep.
    WarpSync,
    /// A memory fence.
    Fence,
    /// Lanes exited.
    Exit,
    /// `nanosleep` for that many nanoseconds.
    Sleep(u32),
    /// A device heap call (`malloc`, `free`) that is deferred like an atomic: operands and destination are in
    /// [`Effect::atomic`]. The warp must not be stepped until all results of a `malloc` are written back.
    Heap,
}

/// Addresses of a memory instruction, by space. A generic access may touch several spaces at once.
#[derive(Clone, Debug)]
pub struct Access {
    /// Bytes per lane (element size × vector width).
    pub bytes: u32,
    /// Bytes of one element (4 for `v4.f32`).
    pub element: u32,
    /// Lanes that access global memory.
    pub global: u32,
    /// Lanes that access shared memory; addresses are offsets in the CTA's window.
    pub shared: u32,
    /// Lanes that access local memory; addresses are offsets in the thread's window.
    pub local: u32,
    /// Lanes that access constant memory; addresses are in the constant bank.
    pub constant: u32,
    /// Lanes that access kernel parameters; addresses are offsets in the parameter block.
    pub param: u32,
    /// Lanes that fetch through the texture cache; addresses are global.
    pub texture: u32,
    /// The L1 is bypassed (`.cg`, `.cv`, volatile, strong orders).
    pub bypass_l1: bool,
    /// Read-only data path (`.nc`, `ldu`).
    pub read_only: bool,
    /// Where all lanes access shared memory: the bits in which any lane's address differs from the first's, so that a small
    /// value means that all are in one aligned block. All ones where that isn't known.
    pub shared_spread: u64,
    /// Address per lane.
    pub address: [u64; 32],
}

/// Operation of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    Exch,
    Cas,
}

/// Type that an atomic computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum AtomicType {
    U32,
    S32,
    U64,
    S64,
    F32,
    F64,
    F16x2,
}

/// Per-lane operands of an atomic.
#[derive(Clone, Debug)]
pub struct AtomicOperands {
    /// Operation.
    pub op: AtomicOp,
    /// Type.
    pub ty: AtomicType,
    /// `red`: no old value is wanted.
    pub reduction: bool,
    /// Operand (`b`), zero-extended bits.
    pub operand: [u64; 32],
    /// Second operand of `cas` (`c`; `operand` is then the comparand).
    pub swap: [u64; 32],
    /// Where the old value (or `malloc`'s result) goes: an argument of `Warp::write_back`.
    pub dest: AtomicDest,
    /// Lanes that are deferred: global lanes of an atomic, or all executed lanes of a heap call.
    pub lanes: u32,
    /// `Heap`: `malloc` (operand: bytes) rather than `free` (operand: address).
    pub malloc: bool,
}

/// Where a deferred result goes. Stays valid until the frame that issued it returns, so a `ret` waits for a warp's
/// deferred operations ([`crate::opinfo::OpInfo::drain`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AtomicDest {
    /// No one wants it.
    #[default]
    None,
    /// A 32-bit register: row of the warp's register file.
    Row(u32),
    /// A 64-bit register: its first row.
    Wide(u32),
    /// A 64-bit word of local memory at this offset.
    Local(u32),
}

impl Default for Effect {
    fn default() -> Self {
        Effect {
            pc: 0,
            active: 0,
            executed: 0,
            kind: EffectKind::Alu,
            access: Access {
                bytes: 0,
                element: 0,
                global: 0,
                shared: 0,
                local: 0,
                constant: 0,
                param: 0,
                texture: 0,
                bypass_l1: false,
                read_only: false,
                shared_spread: u64::MAX,
                address: [0; 32],
            },
            atomic: AtomicOperands {
                op: AtomicOp::Add,
                ty: AtomicType::U32,
                reduction: false,
                operand: [0; 32],
                swap: [0; 32],
                dest: AtomicDest::None,
                lanes: 0,
                malloc: false,
            },
            waits: false,
            released: 0,
            finished: false,
            scratch: Scratch(Output::EMPTY),
        }
    }
}
