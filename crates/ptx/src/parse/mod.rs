//! The parser: recursive descent over the token array, in two passes (module level, then bodies), so that a body may
//! mention what is declared behind it.
//!
//! Source: the PTX ISA manual's syntax chapters, and what compilers from nvopencc to clang really wrote (modifiers in any
//! order, prototypes without `;`, sections without braces). What a modifier combination means is left to
//! [`support`](crate::support).

pub(crate) mod body;
pub(crate) mod cursor;
mod decl;
mod expression;
mod function;
mod init;
mod instruction;
pub(crate) mod modifiers;
mod module;
mod operand;
mod scope;

use std::sync::Arc;

use crate::error::{Fault, ParseError, ParseErrors};
use crate::ir::{Module, Span};
use crate::lex;
use cursor::Cursor;

/// Parses a PTX text. `name` is the file's name for messages.
///
/// # Errors
///
/// All that is wrong with the text, up to 20 errors, in the order of the text.
pub fn parse(name: &str, text: &str) -> Result<Module, ParseErrors> {
    let source: Arc<str> = text.into();
    if u32::try_from(source.len()).is_err() {
        let fault = Fault::new(Span::default(), "the file is longer than 4 GiB");
        return Err(ParseErrors { errors: vec![ParseError::new(name, &source, *fault)] });
    }
    let tokens = lex::lex(&source);
    module::parse(name, &source, Cursor { text: &source, tokens: &tokens, position: 0 })
        .map_err(|errors| ParseErrors { errors })
}

/// Parses bytes that should be a PTX text.
///
/// # Errors
///
/// As [`parse`]; bytes that are not UTF-8 are an error with their place.
pub fn parse_bytes(name: &str, bytes: &[u8]) -> Result<Module, ParseErrors> {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return parse(name, text),
        Err(error) => error,
    };
    let source: Arc<str> = String::from_utf8_lossy(bytes).into();
    let at = u32::try_from(error.valid_up_to()).unwrap_or(u32::MAX);
    let span = Span { start: at, end: at.saturating_add(1) };
    let fault =
        Fault::new(span, "this byte is not text (UTF-8)").help("is this a cubin or fatbin rather than PTX text?");
    Err(ParseErrors { errors: vec![ParseError::new(name, &source, *fault)] })
}
