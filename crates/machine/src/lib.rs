//! When it happens: a cycle-level SIMT GPU. Clocks, SMs, caches, crossbar, L2, DRAM, CTA dispatch; the hooks for
//! policies; counts of *activity* and *residency*. Knows nothing of joules, nor of any named policy.

pub mod activity;
pub mod cache;
pub mod clock;
pub mod gpu;
pub mod hooks;
pub mod kernel;
pub mod memory;
pub mod message;
mod ring;
mod seldom;
pub mod simd;
pub mod sm;
pub mod spec;
pub mod stats;
mod table;

pub use gpu::{Control, Gpu, Options, Progress};
