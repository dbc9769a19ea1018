//! What a warp instruction does: registers, SIMT stack, memory spaces, arithmetic with PTX's rounding and saturation.
//!
//! A [`Warp`](crate::warp) executes one instruction when asked and gives back an [`Effect`](effect::Effect): active lanes, unit,
//! addresses. Nothing here knows about time.

pub mod alu;
pub mod device;
pub mod effect;
pub mod opinfo;
