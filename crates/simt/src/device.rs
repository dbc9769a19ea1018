//! The host's side: what a host program may ask of a GPU, whoever simulates it.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A grid or block shape.
pub type Dim3 = [u32; 3];

/// A kernel argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Arg {
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    I32(i32),
    I64(i64),
    F32(f32),
    F64(f64),
    /// A device pointer (32 or 64 bits by the module's address size).
    Ptr(u64),
    /// A structure by value.
    Bytes(Vec<u8>),
}

/// Why a host program could not go on.
#[derive(Debug, Error)]
pub enum DeviceError {
    /// The program is wrong in itself: unknown kernel, bad shape, wrong arguments. Exit code 2.
    #[error("{0}")]
    Invalid(String),
    /// The run failed: a fault, deadlock, limit or interruption that the device has recorded in detail. Exit code 1.
    #[error("{0}")]
    Failed(String),
    /// The host program was stopped from outside, between launches. Exit code 1.
    #[error("interrupted")]
    Interrupted,
}

/// How a texture reference reads memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextureBinding {
    /// Device address of the texels, row by row.
    pub address: u64,
    /// Width, height, depth in texels (1 where unused).
    pub size: Dim3,
    /// Bytes per row.
    pub pitch: u64,
    /// Channels per texel: 1, 2 or 4.
    pub channels: u8,
    /// Format of a channel.
    pub format: TexelFormat,
    /// Linear filtering (1.8 fixed-point weights), else nearest.
    pub linear: bool,
    /// Coordinates are in [0, 1).
    pub normalized: bool,
    /// Wrap rather than clamp (normalized coordinates only).
    pub wrap: bool,
    /// Integer texels read as floats in [0, 1] or [−1, 1].
    pub read_normalized: bool,
}

/// Texel channel formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum TexelFormat {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    F32,
}

/// A GPU as the host sees it. Calls are synchronous and in order.
pub trait Device {
    /// Parses and loads a PTX module; later launches find their kernels in it. The newest module with a name wins.
    fn load_module(&mut self, name: &str, ptx: &str) -> Result<(), DeviceError>;
    /// Reserves device memory, at the next multiple of 256 bytes. The contents are zero.
    fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceError>;
    /// Host to device.
    fn write(&mut self, address: u64, data: &[u8]) -> Result<(), DeviceError>;
    /// Device to host.
    fn read(&mut self, address: u64, data: &mut [u8]) -> Result<(), DeviceError>;
    /// Address and size of a module variable (`.global` or `.const`), to initialise it from the host.
    fn symbol(&mut self, name: &str) -> Result<(u64, u64), DeviceError>;
    /// Binds a texture reference.
    fn bind_texture(&mut self, name: &str, binding: TextureBinding) -> Result<(), DeviceError>;
    /// Runs a kernel to its end.
    fn launch(
        &mut self,
        kernel: &str,
        grid: Dim3,
        block: Dim3,
        dynamic_shared: u32,
        args: &[Arg],
    ) -> Result<(), DeviceError>;
}
