//! PTX text to a typed, resolved module: instructions, symbols, control flow with reconvergence points, live registers.
//!
//! The parser ([`parse`]) accepts what real files contain, modifiers in any order; [`support`] says which
//! forms execute. Nothing here knows how an instruction executes.

pub mod access;
pub mod cfg;
mod error;
pub mod ir;
mod lex;
mod lines;
pub mod liveness;
mod parse;
pub mod support;
mod words;

pub use error::{ParseError, ParseErrors, line_column};
pub use lines::Lines;
pub use parse::{parse, parse_bytes};
