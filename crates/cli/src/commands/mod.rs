//! One file a command (or two that belong together).

pub mod check;
pub mod gpu;
pub mod list;
pub mod policies;
pub mod run;
pub mod schema;
