//! PTX text to a typed, resolved module: instructions, symbols, control flow with reconvergence points, live registers.
//!
//! The parser ([`parse`]) accepts what real files contain, modifiers in any order; [`support`](crate::support) says which
//! forms execute. Nothing here knows how an instruction executes.

pub mod ir;
