//! What a warp instruction does: registers, SIMT stack, memory spaces, arithmetic with PTX's rounding and saturation.
//!
//! A [`Warp`](warp::Warp) executes one instruction when asked ([`exec::step`]) and gives back an
//! [`Effect`](effect::Effect): active lanes, unit, addresses. Nothing here knows about time.
//!
//! The way through: [`ModuleImage::place`](program::ModuleImage::place) puts a parsed module into
//! [`GlobalMemory`](memory::GlobalMemory), [`Program::build`](program::Program::build) decodes a kernel,
//! [`Launch`](launch::Launch) adds grid and arguments; then a [`Cta`](cta::Cta) and its warps are reset for a CTA of the
//! grid, and stepped until all are done.

pub mod alu;
pub mod cta;
pub mod device;
pub mod effect;
pub mod exec;
pub mod fault;
pub mod functional;
pub mod host;
pub mod launch;
pub mod memory;
pub mod opinfo;
pub mod program;
pub mod space;
pub mod warp;
