//! A program: a kernel and every function it can reach, decoded into one flat table of instructions.

mod build;
mod decode;
mod facts;
mod image;
mod layout;
pub(crate) mod op;
mod storage;

pub use build::{BuildError, BuildErrorKind, BuildOptions};
pub use image::ModuleImage;

use warpwatt_ptx::ir::{FuncId, Module};

use crate::alu::{Level, Row};
use crate::device::Dim3;
use crate::opinfo::OpInfo;
use op::{Op, Slot, SpecialRow};

/// A kernel parameter in the parameter block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Name.
    pub name: String,
    /// Offset in the parameter block.
    pub offset: u32,
    /// Size.
    pub bytes: u32,
}

/// A function of the program.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name.
    pub name: String,
    /// Its index in the module.
    pub id: FuncId,
    /// First instruction.
    pub entry: u32,
    /// One past the last instruction.
    pub end: u32,
    /// Register rows of a frame.
    pub rows: u32,
    /// Predicates of a frame.
    pub preds: u32,
    /// Local memory of a frame: `.local` variables and `.param` storage.
    pub local_bytes: u32,
    /// Alignment of that.
    pub(crate) local_align: u32,
    pub(crate) params: Vec<Slot>,
    pub(crate) returns: Vec<Slot>,
}

/// A decoded program. Immutable; shared by all warps that run it.
#[derive(Clone, Debug)]
pub struct Program {
    /// The kernel's name.
    pub kernel: String,
    /// Static facts, one per instruction.
    pub ops: Vec<OpInfo>,
    pub(crate) code: Vec<Op>,
    /// The instruction where lanes that part at a branch meet again ([`warpwatt_ptx::cfg`]), one per instruction;
    /// [`NO_PC`] for instructions that are no branch.
    pub reconvergence: Vec<u32>,
    /// Number of scoreboard names: registers of all functions, then predicates.
    pub names: u32,
    /// Registers per thread, for occupancy: live registers, or the override.
    pub registers_per_thread: u32,
    /// The kernel first.
    pub functions: Vec<Function>,
    /// Kernel parameters.
    pub params: Vec<Param>,
    /// Size of the parameter block.
    pub param_bytes: u32,
    /// Bytes of a pointer argument × 8.
    pub address_size: u8,
    /// Static shared memory of a CTA.
    pub static_shared: u32,
    /// Local memory per thread: the deepest chain of calls without recursion.
    pub local_bytes: u32,
    /// The module's constant bank, initialised.
    pub constants: Vec<u8>,
    /// Device address of the constant bank.
    pub constant_base: u64,
    /// Names of the module's texture references, in handle order.
    pub textures: Vec<String>,
    /// `.reqntid`.
    pub reqntid: Option<Dim3>,
    /// `.maxntid`, product.
    pub maxntid: Option<u32>,
    /// Register rows that the deepest chain of calls without recursion needs.
    pub(crate) rows: u32,
    pub(crate) preds: u32,
    pub(crate) specials: Vec<SpecialRow>,
    pub(crate) special_rows: u32,
    pub(crate) constant_rows: Vec<Row>,
    /// The processor's level that it was decoded for.
    pub level: Level,
}

/// No instruction: in [`Program::reconvergence`], and the pc of a finished warp.
pub const NO_PC: u32 = u32::MAX;

impl Program {
    /// Decodes `kernel` and all functions that it can reach. The module must have been placed in memory
    /// ([`ModuleImage::place`]), as instructions hold variables' addresses.
    pub fn build(module: &Module, kernel: FuncId, options: &BuildOptions<'_>) -> Result<Program, BuildError> {
        build::build(module, kernel, options)
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// There are no instructions.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Line of an instruction in the PTX file (1-based); 0 if there is no such instruction.
    pub fn text_line(&self, pc: u32) -> u32 {
        self.ops.get(pc as usize).map_or(0, |op| op.line)
    }

    /// The function that an instruction belongs to.
    pub fn function_of(&self, pc: u32) -> &str {
        self.functions.iter().find(|f| (f.entry..f.end).contains(&pc)).map_or(&self.kernel, |f| &f.name)
    }
}
