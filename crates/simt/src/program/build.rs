//! From a module to a program.

use thiserror::Error;
use warpwatt_ptx::ir::{FuncId, Module, Span};

use super::{ModuleImage, Program};

/// What a build needs beside the module.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions<'a> {
    /// Where the module's variables are.
    pub image: &'a ModuleImage,
    /// Registers per thread, instead of the estimate from live registers.
    pub registers_override: Option<u32>,
}

/// Why a kernel cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum BuildErrorKind {
    #[error("no such kernel")]
    NoKernel,
    #[error("{0} is a function, not a kernel")]
    NotAKernel(String),
    #[error("{0} is declared but not defined")]
    Undefined(String),
    #[error("{0} is not supported")]
    Unsupported(String),
    #[error("{what} needs {bytes} bytes; at most {limit} are possible")]
    TooLarge { what: &'static str, bytes: u64, limit: u64 },
}

/// Why a kernel cannot be built, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {kind}")]
pub struct BuildError {
    /// Why.
    pub kind: BuildErrorKind,
    /// Place in the module's source.
    pub span: Span,
    /// Line of the place, 1-based.
    pub line: u32,
}

pub(super) fn build(module: &Module, kernel: FuncId, _options: &BuildOptions<'_>) -> Result<Program, BuildError> {
    let Some(function) = module.functions.get(kernel.0 as usize) else {
        return Err(BuildError { kind: BuildErrorKind::NoKernel, span: Span::default(), line: 0 });
    };
    Err(BuildError { kind: BuildErrorKind::Unsupported(function.name.clone()), span: function.span, line: 0 })
}
