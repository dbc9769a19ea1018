//! A run's record as a person reads it.

mod power;
mod result;

pub use result::result;
