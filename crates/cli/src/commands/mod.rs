//! One file a command (or two that belong together).

pub mod bottleneck;
pub mod check;
pub mod compare;
pub mod gpu;
pub mod idle;
pub mod list;
pub mod mix;
pub mod policies;
pub mod predict;
pub mod run;
pub mod schema;
