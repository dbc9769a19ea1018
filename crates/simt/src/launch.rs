//! A kernel launch: a program, a grid and its arguments, checked against each other.

use std::sync::Arc;

use thiserror::Error;

use crate::device::{Arg, Dim3, TextureBinding};
use crate::program::Program;

/// Why a launch is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum LaunchError {
    #[error("grid {0:?} has a zero dimension")]
    EmptyGrid(Dim3),
    #[error("grid {0:?} is too large (at most 2147483647 × 65535 × 65535)")]
    GridTooLarge(Dim3),
    #[error("block {0:?} has a zero dimension")]
    EmptyBlock(Dim3),
    #[error("block {0:?} has {1} threads; at most 1024 (x, y ≤ 1024, z ≤ 64)")]
    BlockTooLarge(Dim3, u64),
    #[error("kernel {kernel} has .reqntid {required:?}, the block is {block:?}")]
    Reqntid { kernel: String, required: Dim3, block: Dim3 },
    #[error("kernel {kernel} has .maxntid {max} threads, the block has {threads}")]
    Maxntid { kernel: String, max: u32, threads: u32 },
    #[error("kernel {kernel} takes {expected} arguments, {given} are given")]
    ArgumentCount { kernel: String, expected: usize, given: usize },
    #[error("argument {index} ({name}) of kernel {kernel} has {expected} bytes, {given} are given")]
    ArgumentSize { kernel: String, index: usize, name: String, expected: u32, given: u32 },
    #[error("the parameter block of kernel {kernel} has {expected} bytes, {given} are given")]
    ParameterBlock { kernel: String, expected: u32, given: usize },
    #[error("a CTA of kernel {kernel} needs {bytes} bytes of shared memory; at most {limit} are possible")]
    SharedTooLarge { kernel: String, bytes: u64, limit: u32 },
}

/// Most shared memory that any launch may ask for; a GPU's own limit is the machine's business.
pub const MAX_SHARED_BYTES: u32 = 228 << 10;

/// A launch. Immutable while it runs.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub program: Arc<Program>,
    /// CTAs in x, y, z.
    pub grid: Dim3,
    /// Threads of a CTA in x, y, z.
    pub block: Dim3,
    /// Dynamic shared memory in bytes.
    pub dynamic_shared: u32,
    /// The parameter block, laid out by [`Program::params`].
    pub params: Vec<u8>,
    /// `%gridid`.
    pub grid_id: u64,
    /// The module's constant bank as it is at launch.
    pub constants: Vec<u8>,
    /// What [`Program::textures`] are bound to, in that order.
    pub textures: Vec<Option<TextureBinding>>,
}

impl Launch {
    /// A launch with a ready parameter block; the constant bank is the module's initial one, and no textures are bound.
    pub fn new(
        program: Arc<Program>,
        grid: Dim3,
        block: Dim3,
        dynamic_shared: u32,
        params: Vec<u8>,
        grid_id: u64,
    ) -> Result<Launch, LaunchError> {
        if grid.contains(&0) {
            return Err(LaunchError::EmptyGrid(grid));
        }
        if grid[0] > i32::MAX as u32 || grid[1] > 65535 || grid[2] > 65535 {
            return Err(LaunchError::GridTooLarge(grid));
        }
        if block.contains(&0) {
            return Err(LaunchError::EmptyBlock(block));
        }
        let threads = block.iter().map(|&n| n as u64).product::<u64>();
        if threads > 1024 || block[0] > 1024 || block[1] > 1024 || block[2] > 64 {
            return Err(LaunchError::BlockTooLarge(block, threads));
        }
        if let Some(required) = program.reqntid {
            if required != block {
                return Err(LaunchError::Reqntid { kernel: program.kernel.clone(), required, block });
            }
        }
        if let Some(max) = program.maxntid {
            if threads as u32 > max {
                return Err(LaunchError::Maxntid { kernel: program.kernel.clone(), max, threads: threads as u32 });
            }
        }
        if params.len() != program.param_bytes as usize {
            return Err(LaunchError::ParameterBlock {
                kernel: program.kernel.clone(),
                expected: program.param_bytes,
                given: params.len(),
            });
        }
        let shared = program.static_shared as u64 + dynamic_shared as u64;
        if shared > MAX_SHARED_BYTES as u64 {
            let kernel = program.kernel.clone();
            return Err(LaunchError::SharedTooLarge { kernel, bytes: shared, limit: MAX_SHARED_BYTES });
        }
        let constants = program.constants.clone();
        let textures = vec![None; program.textures.len()];
        Ok(Launch { program, grid, block, dynamic_shared, params, grid_id, constants, textures })
    }

    /// Threads of a CTA.
    pub fn threads_per_cta(&self) -> u32 {
        self.block.iter().product()
    }

    /// Warps of a CTA.
    pub fn warps_per_cta(&self) -> u32 {
        self.threads_per_cta().div_ceil(32)
    }

    /// CTAs of the grid.
    pub fn ctas(&self) -> u64 {
        self.grid.iter().map(|&n| n as u64).product()
    }

    /// Shared memory of a CTA: static and dynamic.
    pub fn shared_bytes(&self) -> u32 {
        self.program.static_shared + self.dynamic_shared
    }

    /// `%ctaid` of a CTA by its linear index, x fastest.
    pub fn cta_index(&self, id: u64) -> Dim3 {
        let [x, y, _] = self.grid.map(u64::from);
        [(id % x) as u32, (id / x % y) as u32, (id / x / y) as u32]
    }

    /// `%tid` of a thread by its linear index, x fastest.
    pub fn thread_index(&self, thread: u32) -> Dim3 {
        let [x, y, _] = self.block;
        [thread % x, thread / x % y, thread / x / y]
    }
}

/// Bytes of an argument as the kernel's parameter block holds it.
pub fn argument_bytes(arg: &Arg, address_size: u8) -> Vec<u8> {
    match arg {
        Arg::U8(v) => vec![*v],
        Arg::U16(v) => v.to_le_bytes().to_vec(),
        Arg::U32(v) => v.to_le_bytes().to_vec(),
        Arg::U64(v) => v.to_le_bytes().to_vec(),
        Arg::I32(v) => v.to_le_bytes().to_vec(),
        Arg::I64(v) => v.to_le_bytes().to_vec(),
        Arg::F32(v) => v.to_le_bytes().to_vec(),
        Arg::F64(v) => v.to_le_bytes().to_vec(),
        Arg::Ptr(v) if address_size == 32 => (*v as u32).to_le_bytes().to_vec(),
        Arg::Ptr(v) => v.to_le_bytes().to_vec(),
        Arg::Bytes(v) => v.clone(),
    }
}

/// The parameter block for `args`, each checked against its parameter's size.
pub fn parameter_block(program: &Program, args: &[Arg]) -> Result<Vec<u8>, LaunchError> {
    if args.len() != program.params.len() {
        return Err(LaunchError::ArgumentCount {
            kernel: program.kernel.clone(),
            expected: program.params.len(),
            given: args.len(),
        });
    }
    let mut block = vec![0; program.param_bytes as usize];
    for (index, (param, arg)) in program.params.iter().zip(args).enumerate() {
        let bytes = argument_bytes(arg, program.address_size);
        if bytes.len() != param.bytes as usize {
            return Err(LaunchError::ArgumentSize {
                kernel: program.kernel.clone(),
                index,
                name: param.name.clone(),
                expected: param.bytes,
                given: bytes.len() as u32,
            });
        }
        block[param.offset as usize..][..bytes.len()].copy_from_slice(&bytes);
    }
    Ok(block)
}
