//! The address map: where each state space lies in the generic address space, and where the host's allocations go.
//!
//! Everything but large host allocations lies below 4 GiB, so that 32-bit modules work unchanged. The first host
//! buffer is at `0xc000_0000`, each next one at the following multiple of 256 bytes.

/// Addresses below this are null-pointer accesses.
pub const NULL_END: u64 = 0x1_0000;
/// Size of each generic window.
pub const WINDOW: u64 = 0x0100_0000;
/// Generic window of shared memory.
pub const SHARED_WINDOW: u64 = 0x0100_0000;
/// Generic window of local memory.
pub const LOCAL_WINDOW: u64 = 0x0200_0000;
/// Generic window of the kernel parameters (`cvta.param`).
pub const PARAM_WINDOW: u64 = 0x0300_0000;
/// Constant banks of modules: `.const` variables have ordinary addresses here, the host writes them like memory.
pub const CONST_BASE: u64 = 0x0400_0000;
/// One past the constant region.
pub const CONST_END: u64 = 0x0800_0000;
/// Function addresses: this plus 16 × the function's index.
pub const FUNCTION_BASE: u64 = 0x0800_0000;
/// Handles of texture references: this plus 16 × the index of the module's variable.
pub const TEXTURE_BASE: u64 = 0x0c00_0000;
/// `.global` variables of modules.
pub const MODULE_BASE: u64 = 0x1000_0000;
/// One past the module region.
pub const MODULE_END: u64 = 0x8000_0000;
/// The device heap.
pub const HEAP_BASE: u64 = 0x8000_0000;
/// Host allocations.
pub const BUFFER_BASE: u64 = 0xc000_0000;
/// Alignment of every allocation.
pub const ALLOCATION_ALIGN: u64 = 256;

/// Most local memory that one thread may use, call frames included (512 KiB, compute capability 2.0 and later).
pub const MAX_LOCAL_BYTES: u32 = 512 << 10;
/// Largest alignment of local memory.
pub const MAX_LOCAL_ALIGN: u32 = 4096;
/// Most kernel parameter bytes that are accepted (the oldest limit is 256, the newest 32764).
pub const MAX_PARAM_BYTES: u32 = 32764;
/// Most constant bytes of one module.
pub const MAX_CONST_BYTES: u32 = 64 << 10;
