//! A run's record as a person reads it.

mod policy;
mod power;
mod result;

pub use result::result;
