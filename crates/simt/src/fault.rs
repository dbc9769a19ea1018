//! Every way in which a kernel can go wrong while it runs: a closed list, each with its place.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::cta::Cta;
use crate::device::Dim3;
use crate::launch::Launch;
use crate::memory::lanes_of;
use crate::opinfo::MemSpace;
use crate::warp::Warp;

/// What an access did to its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Direction {
    Read,
    Write,
    Atomic,
}

impl std::fmt::Display for Direction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Atomic => "atomic access",
        })
    }
}

/// Why a memory access is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccessProblem {
    /// No allocation holds all of its bytes.
    OutOfBounds,
    /// The address is not a multiple of the access size.
    Misaligned,
    /// The address lies in the null page.
    Null,
    /// The space cannot be accessed in this way (a store to constant memory, an atomic on local memory).
    Forbidden,
}

/// A refused access: which lane, where, why. [`Fault`] adds the place in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessError {
    /// Why.
    pub problem: AccessProblem,
    /// The first lane in lane order with a problem.
    pub lane: u32,
    /// Its address.
    pub address: u64,
}

/// Kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum FaultKind {
    /// An access outside its space's allocations.
    #[error("out-of-bounds {direction} of {bytes} bytes in {} memory at address {address:#x}", space_name(*.space))]
    OutOfBounds {
        /// Space.
        space: MemSpace,
        /// Load, store or atomic.
        direction: Direction,
        /// Address (in shared, local, constant and parameter memory an offset).
        address: u64,
        /// Size of the access.
        bytes: u32,
    },
    /// An address that is not a multiple of the access size.
    #[error("misaligned {direction} of {bytes} bytes in {} memory at address {address:#x}", space_name(*.space))]
    Misaligned {
        /// Space.
        space: MemSpace,
        /// Load, store or atomic.
        direction: Direction,
        /// Address.
        address: u64,
        /// Size of the access.
        bytes: u32,
    },
    /// An access through a null pointer.
    #[error("null-pointer {direction} of {bytes} bytes at address {address:#x}")]
    Null {
        /// Load, store or atomic.
        direction: Direction,
        /// Address.
        address: u64,
        /// Size of the access.
        bytes: u32,
    },
    /// An access that its space does not allow.
    #[error("{direction} of {bytes} bytes at address {address:#x} is not possible in {} memory", space_name(*.space))]
    Forbidden {
        /// Space.
        space: MemSpace,
        /// Load, store or atomic.
        direction: Direction,
        /// Address.
        address: u64,
        /// Size of the access.
        bytes: u32,
    },
    /// `__assertfail`.
    #[error("assertion `{message}` failed in {function} at {file}:{line}")]
    Assertion {
        /// The asserted expression.
        message: String,
        /// Source file.
        file: String,
        /// Source line.
        line: u32,
        /// Function.
        function: String,
    },
    /// `trap`.
    #[error("trap instruction")]
    Trap,
    /// Call frames need more local memory or registers than a thread may have.
    #[error("stack overflow: {depth} call frames")]
    StackOverflow {
        /// Frames on the stack, the kernel's included.
        depth: u32,
    },
    /// An indirect call to something that is no function of this program, or one with another signature.
    #[error("indirect call to address {target:#x}, which is no function that this call can reach")]
    InvalidCall {
        /// The register's value.
        target: u64,
    },
    /// An indirect branch whose index is outside its list.
    #[error("indirect branch with index {index} in a list of {targets} targets")]
    InvalidBranch {
        /// Index.
        index: u32,
        /// Length of the list.
        targets: u32,
    },
    /// A barrier operand that makes no sense, or barrier operations that do not fit each other.
    #[error("barrier {barrier}: {problem}")]
    Barrier {
        /// Barrier number as given.
        barrier: u32,
        /// What is wrong.
        problem: BarrierProblem,
    },
    /// All warps that can still run wait at barriers that can never complete.
    #[error("barrier deadlock: {}", .waiting.join("; "))]
    BarrierDeadlock {
        /// One line per waiting group of warps.
        waiting: Vec<String>,
    },
    /// A texture fetch through a handle that is no texture reference, or one that nothing is bound to.
    #[error("texture fetch: {problem}")]
    Texture {
        /// What is wrong.
        problem: String,
    },
    /// `free` of something that `malloc` did not return, or that is free already.
    #[error("free of address {address:#x}, which is not a live block of the device heap")]
    InvalidFree {
        /// The argument.
        address: u64,
    },
    /// A `vprintf` whose format string or arguments cannot be read.
    #[error("vprintf: {problem}")]
    Print {
        /// What is wrong.
        problem: String,
    },
    /// A warp-collective instruction whose mask names other lanes than those that execute it.
    #[error("member mask {mask:#010x} of a warp-synchronous instruction does not name the executing lanes")]
    MemberMask {
        /// The mask.
        mask: u32,
    },
    /// A warp-collective instruction whose mask names lanes that have diverged from those that execute it.
    #[error(
        "{instruction} without {}, which its member mask names but which diverged before: the lanes of a mask must \
         execute the instruction together here",
        lane_list(*.missing)
    )]
    Diverged {
        /// Opcode.
        instruction: String,
        /// The lanes that are elsewhere.
        missing: u32,
    },
    /// The limit on warp instructions was reached ([`crate::functional`]).
    #[error("the limit of {limit} warp instructions was reached")]
    InstructionLimit {
        /// The limit.
        limit: u64,
    },
    /// An invariant of the executor does not hold: an error of this program, not of the kernel.
    #[error("internal error: {problem}")]
    Internal {
        /// Which.
        problem: String,
    },
}

/// Misuse of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum BarrierProblem {
    /// The number is not in 0..16.
    #[error("there are 16 barriers, 0 to 15")]
    Number,
    /// The thread count is not a positive multiple of the warp size.
    #[error("the thread count {0} is not a positive multiple of the warp size")]
    Count(u32),
    /// The thread count is larger than the CTA.
    #[error("the thread count {0} is larger than the CTA")]
    TooMany(u32),
    /// Operands differ between the lanes of a warp.
    #[error("the lanes of the warp give different operands")]
    NotUniform,
    /// Another thread count than those that wait already.
    #[error("thread count {given}, but the warps that have arrived said {expected}")]
    Mismatch {
        /// In this instruction.
        given: u32,
        /// In earlier ones.
        expected: u32,
    },
    /// A warp arrives a second time before the barrier has completed.
    #[error("the warp arrives a second time before the barrier has completed")]
    Again,
    /// `bar.red` meets `bar.sync`, or another reduction.
    #[error("the operation differs from that of the warps that have arrived")]
    Operation,
    /// Lanes of the warp are elsewhere at a `barrier` without `.aligned`.
    #[error(
        "{} of the warp diverged before: without .aligned, too, the lanes of a warp must execute a barrier together here",
        lane_list(*.0)
    )]
    Diverged(u32),
    /// `bar.arrive` needs a thread count.
    #[error("bar.arrive needs a thread count")]
    NoCount,
}

impl Fault {
    /// A fault of a lane of a warp at an instruction.
    #[cold]
    pub fn new(kind: FaultKind, launch: &Launch, warp: &Warp, cta: &Cta, pc: u32, lane: u32) -> Box<Fault> {
        let program = &launch.program;
        Box::new(Fault {
            kind,
            kernel: program.kernel.clone(),
            function: program.function_of(pc).to_string(),
            pc,
            line: program.text_line(pc),
            cta: cta.index,
            thread: warp.thread(launch, lane),
        })
    }
}

/// A fault with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// The kernel.
    pub kernel: String,
    /// The function that was executing (the kernel itself, or a called function).
    pub function: String,
    /// Index of the instruction in the program.
    pub pc: u32,
    /// Line in the PTX file.
    pub line: u32,
    /// The CTA.
    pub cta: Dim3,
    /// The thread in the CTA (the first one in lane order that is to blame).
    pub thread: Dim3,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Fault { kind, kernel, function, line, cta, thread, .. } = self;
        write!(f, "{kind}, in kernel {kernel}")?;
        if function != kernel {
            write!(f, ", function {function}")?;
        }
        write!(f, ", PTX line {line}")?;
        write!(f, ", CTA ({},{},{}), thread ({},{},{})", cta[0], cta[1], cta[2], thread[0], thread[1], thread[2])
    }
}

impl std::error::Error for Fault {}

/// `lanes 0-3, 7`.
fn lane_list(lanes: u32) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for lane in lanes_of(lanes) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == lane => *last = lane,
            _ => ranges.push((lane, lane)),
        }
    }
    let range = |&(first, last): &(usize, usize)| match last - first {
        0 => format!("{first}"),
        _ => format!("{first}-{last}"),
    };
    let list: Vec<String> = ranges.iter().map(range).collect();
    format!("lane{} {}", if lanes.count_ones() == 1 { "" } else { "s" }, list.join(", "))
}

/// Lower-case name of a space, for messages.
pub fn space_name(space: MemSpace) -> &'static str {
    match space {
        MemSpace::Global => "global",
        MemSpace::Shared => "shared",
        MemSpace::Local => "local",
        MemSpace::Const => "constant",
        MemSpace::Param => "parameter",
        MemSpace::Texture => "texture",
        MemSpace::Generic => "generic",
    }
}

impl FaultKind {
    /// The fault that a refused access makes.
    pub fn access(error: AccessError, space: MemSpace, direction: Direction, bytes: u32) -> FaultKind {
        let address = error.address;
        match error.problem {
            AccessProblem::OutOfBounds => FaultKind::OutOfBounds { space, direction, address, bytes },
            AccessProblem::Misaligned => FaultKind::Misaligned { space, direction, address, bytes },
            AccessProblem::Null => FaultKind::Null { direction, address, bytes },
            AccessProblem::Forbidden => FaultKind::Forbidden { space, direction, address, bytes },
        }
    }
}
