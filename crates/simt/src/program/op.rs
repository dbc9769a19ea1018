//! Decoded instructions: operands resolved to rows, variables to addresses, modifiers to the few cases that execution
//! tells apart.

use warpwatt_ptx::ir::{Special, TexGeom};

use crate::alu::AluOp;
use crate::cta::BarrierOp;
use crate::effect::{AtomicOp, AtomicType};
use crate::opinfo::MemSpace;

/// A register operand: a row index with its base in the top two bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Src(u32);

impl Src {
    /// Registers of the current frame.
    pub(crate) const FRAME: usize = 0;
    /// The program's constants.
    pub(crate) const CONSTANT: usize = 1;
    /// The warp's special registers.
    pub(crate) const SPECIAL: usize = 2;
    /// A window of zeros: the first constant.
    pub(crate) const ZERO: Src = Src::new(Src::CONSTANT, 0);

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

/// A predicate source: a slot of the frame, perhaps negated, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PredSrc(u16);

impl PredSrc {
    pub(crate) const FALSE: PredSrc = PredSrc(u16::MAX - 1);
    pub(crate) const TRUE: PredSrc = PredSrc(u16::MAX);

    pub(crate) const fn new(slot: u16, negated: bool) -> PredSrc {
        PredSrc(slot << 1 | negated as u16)
    }

    /// Value of a constant.
    #[inline(always)]
    pub(crate) fn constant(self) -> Option<u32> {
        match self {
            PredSrc::FALSE => Some(0),
            PredSrc::TRUE => Some(u32::MAX),
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn slot(self) -> usize {
        (self.0 >> 1) as usize
    }

    #[inline(always)]
    pub(crate) fn negated(self) -> bool {
        self.0 & 1 != 0
    }
}

/// Most predicates of one function: what [`PredSrc`] can name.
pub(crate) const MAX_PREDS: u32 = 0x7ff0;

/// A predicate slot that no one reads.
pub(crate) const NO_PRED: u16 = u16::MAX;

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
    pub(crate) guard: Option<PredSrc>,
    /// Reads a special register that changes: index in the program's list. It is written just before.
    pub(crate) refresh: Option<u16>,
    pub(crate) kind: Kind,
}

/// What it does. Destinations are rows of the frame.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Alu(Alu),
    /// A 32-bit copy.
    Move {
        dest: u32,
        src: Src,
    },
    /// A 16-bit copy.
    Move16 {
        dest: u32,
        src: Src,
    },
    /// A 64-bit copy.
    MoveWide {
        dest: u32,
        src: Src,
    },
    MovePred {
        dest: u16,
        src: PredSrc,
    },
    /// Addition of a constant: `cvta` between a window and the generic space, addresses of local variables.
    Offset {
        dest: u32,
        wide: bool,
        src: Src,
        add: u64,
        frame: bool,
    },
    /// `mov` of a vector into a register.
    Pack(Box<Pieces>),
    /// `mov` of a register into a vector.
    Unpack(Box<Pieces>),
    IsSpace {
        dest: u16,
        wide: bool,
        src: Src,
        space: MemSpace,
    },
    Load(Mem),
    Store(Mem),
    Atomic(Box<Atomic>),
    Texture(Box<Texture>),
    Branch {
        target: u32,
    },
    BranchList {
        index: Src,
        targets: Box<[u32]>,
    },
    Call(Box<Call>),
    Ret,
    Exit,
    Trap,
    Barrier(Barrier),
    WarpSync {
        member: Src,
    },
    Fence,
    Sleep(Src),
    ActiveMask {
        dest: u32,
    },
    Vote {
        mode: Vote,
        dest: u32,
        src: PredSrc,
        member: Option<Src>,
    },
    Shuffle(Shuffle),
    Match {
        all: bool,
        wide: bool,
        dest: u32,
        pred: u16,
        src: Src,
        member: Option<Src>,
    },
    Redux {
        op: AtomicOp,
        signed: bool,
        dest: u32,
        src: Src,
        member: Option<Src>,
    },
}

/// Arithmetic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alu {
    pub(crate) op: AluOp,
    pub(crate) sources: [Src; 4],
    pub(crate) dest: Dest,
    pub(crate) pred_sources: [PredSrc; 2],
}

/// Where arithmetic goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dest {
    Row(u32),
    Wide(u32),
    Preds([u16; 2]),
}

/// A register and the parts of equal size that it is made of, lowest first.
#[derive(Clone, Debug)]
pub(crate) struct Pieces {
    /// Bits of a part.
    pub(crate) bits: u32,
    /// Parts: sources of `Pack`, destinations (rows of the frame) of `Unpack`; `None` is `_`.
    pub(crate) parts: Vec<Option<Src>>,
    /// The parts are 64-bit registers.
    pub(crate) wide_parts: bool,
    /// The whole: destination row of `Pack`, source of `Unpack`.
    pub(crate) whole: Src,
    /// The whole is a 64-bit register.
    pub(crate) wide: bool,
}

/// An address: base + offset, or with `frame` an offset in the frame's local memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Option<Src>,
    /// The base is a 64-bit register.
    pub(crate) wide: bool,
    pub(crate) frame: bool,
    pub(crate) offset: i64,
}

/// A load or store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mem {
    pub(crate) space: MemSpace,
    pub(crate) address: Address,
    /// Bytes of an element: 1, 2, 4 or 8.
    pub(crate) element: u8,
    /// Elements: 1, 2 or 4.
    pub(crate) count: u8,
    /// Loads: the element is sign-extended to its register.
    pub(crate) signed: bool,
    /// Bytes of the registers: 2, 4 or 8.
    pub(crate) register: u8,
    /// Parameter storage of called functions: no memory access as far as the machine is concerned.
    pub(crate) quiet: bool,
    pub(crate) bypass_l1: bool,
    pub(crate) read_only: bool,
    /// Loads: destination rows of the frame. Stores: sources.
    pub(crate) registers: [Src; 4],
}

/// An atomic or reduction.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub(crate) space: MemSpace,
    pub(crate) address: Address,
    pub(crate) op: AtomicOp,
    pub(crate) ty: AtomicType,
    /// `None`: `red`, or the old value goes to `_`.
    pub(crate) dest: Option<u32>,
    pub(crate) reduction: bool,
    pub(crate) operand: Src,
    pub(crate) swap: Src,
    pub(crate) bypass_l1: bool,
}

/// A texture fetch.
#[derive(Clone, Debug)]
pub(crate) struct Texture {
    /// Index in the program's textures, or a register with a handle.
    pub(crate) texture: TextureHandle,
    pub(crate) geometry: TexGeom,
    /// Coordinates are floats, else signed integers.
    pub(crate) float_coords: bool,
    /// Coordinate registers, 32 bits each.
    pub(crate) coords: [Src; 4],
    /// Result registers; `None` is `_`.
    pub(crate) dests: [Option<u32>; 4],
}

/// What a texture operand names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TextureHandle {
    Index(u32),
    Register { src: Src, wide: bool },
}

/// Where a parameter or return value lives in its function's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// `.param` storage: offset in the frame's local memory.
    Local { offset: u32, bytes: u32 },
    /// A `.reg` parameter: row of the frame.
    Row { row: u32, wide: bool },
    /// A `.reg .pred` parameter.
    Pred { slot: u16 },
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    Local {
        offset: u32,
        bytes: u32,
    },
    /// A register or immediate; the type's size is that of the callee's parameter.
    Row {
        src: Src,
        wide: bool,
    },
    Pred(PredSrc),
}

/// A call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) target: Target,
    pub(crate) arguments: Vec<Argument>,
    /// Where the caller wants the return values.
    pub(crate) returns: Vec<Slot>,
}

/// What is called.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// Index in the program's functions.
    Function(u32),
    /// A register with a function's address, and the functions that it may be.
    Indirect {
        src: Src,
        wide: bool,
        functions: Vec<u32>,
    },
    Builtin(Builtin),
}

/// Functions that the device provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    Print,
    AssertFail,
    Malloc,
    Free,
}

/// A barrier operation. `number` and `count` are registers or constants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    pub(crate) op: BarrierOp,
    /// The whole warp arrives, whichever of its lanes execute the instruction.
    pub(crate) aligned: bool,
    pub(crate) number: Src,
    pub(crate) count: Option<Src>,
    pub(crate) predicate: PredSrc,
    /// Row (`popc`) or predicate slot.
    pub(crate) dest: u32,
}

/// Vote modes; `Ballot` writes a row, the others a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    All,
    Any,
    Uni,
    Ballot,
}

/// A shuffle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shuffle {
    pub(crate) mode: warpwatt_ptx::ir::ShflMode,
    pub(crate) dest: u32,
    pub(crate) pred: u16,
    pub(crate) src: Src,
    pub(crate) lane: Src,
    pub(crate) clamp: Src,
    pub(crate) member: Option<Src>,
}
