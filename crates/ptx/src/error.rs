//! What is wrong with a PTX file, and where.

use std::cmp::Reverse;
use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};
use thiserror::Error;

use crate::ir::Span;

/// One error in a PTX text, with its place and what was expected.
#[derive(Clone, Debug, Error, Diagnostic)]
#[error("{file}:{line}:{column}: {message}")]
pub struct ParseError {
    /// What is wrong.
    pub message: String,
    /// What was expected, or what to do.
    #[help]
    pub help: Option<String>,
    /// The file's name as the caller gave it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The offending text; always within the source.
    pub span: Span,
    /// The text of [`ParseError::span`], cut at 60 characters.
    pub text: String,
    #[source_code]
    code: NamedSource<Arc<str>>,
    #[label("{label}")]
    at: SourceSpan,
    label: &'static str,
}

impl ParseError {
    pub(crate) fn new(file: &str, source: &Arc<str>, fault: Fault) -> ParseError {
        let Fault { span, message, help } = fault;
        let (span, line, column) = place(source, span);
        let range = span.start as usize..span.end as usize;
        let text: String = source[range.clone()].chars().take(60).collect();
        ParseError {
            message,
            help,
            file: file.to_owned(),
            line,
            column,
            span,
            text,
            code: NamedSource::new(file, source.clone()),
            at: (range.start, range.len()).into(),
            label: "here",
        }
    }
}

/// Clamps a span to character boundaries of the source and gives its line and column.
fn place(source: &str, span: Span) -> (Span, u32, u32) {
    let start = boundary(source, span.start as usize);
    let end = boundary(source, (span.end as usize).max(start));
    let (line, column) = line_column(source, start);
    (Span { start: start as u32, end: end as u32 }, line, column)
}

/// The last character boundary at or before an offset.
fn boundary(source: &str, offset: usize) -> usize {
    let mut offset = offset.min(source.len());
    while !source.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// Line and column (both from 1, the column in characters) of a byte offset.
pub fn line_column(source: &str, offset: usize) -> (u32, u32) {
    let before = &source[..boundary(source, offset)];
    let line = before.bytes().filter(|&b| b == b'\n').count() as u32 + 1;
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (line, before[line_start..].chars().count() as u32 + 1)
}

/// All errors found in a file, in the order of the text; never empty.
#[derive(Clone, Debug, Error, Diagnostic)]
#[error("{}", self.summary())]
pub struct ParseErrors {
    /// The errors.
    #[related]
    pub errors: Vec<ParseError>,
}

impl ParseErrors {
    fn summary(&self) -> String {
        match self.errors.as_slice() {
            [] => "no error".to_owned(),
            [only] => only.to_string(),
            [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
        }
    }
}

/// An error on its way up: place and words, not yet tied to the source.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub span: Span,
    pub message: String,
    pub help: Option<String>,
}

impl Fault {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault { span, message: message.into(), help: None })
    }

    pub(crate) fn help(mut self: Box<Self>, help: impl Into<String>) -> Box<Fault> {
        self.help = Some(help.into());
        self
    }

    /// Adds "did you mean …" if one of the candidates is close.
    pub(crate) fn suggest<'n>(self: Box<Self>, name: &str, candidates: impl Iterator<Item = &'n str>) -> Box<Fault> {
        match nearest(name, candidates) {
            Some(best) => self.help(format!("did you mean `{best}`?")),
            None => self,
        }
    }

    /// As [`Fault::suggest`], for words that are written with a dot.
    pub(crate) fn suggest_dotted<'n>(
        self: Box<Self>,
        name: &str,
        candidates: impl Iterator<Item = &'n str>,
    ) -> Box<Fault> {
        match nearest(name, candidates) {
            Some(best) => self.help(format!("did you mean `.{best}`?")),
            None => self,
        }
    }
}

/// The candidate closest to `name`, if it is within a third of its length. Of several the one with the longest common
/// beginning counts, then the first in alphabetical order, whatever order the candidates come in.
fn nearest<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = name.len().div_ceil(3).min(4);
    if name.len() < 2 {
        return None;
    }
    let common = |c: &str| name.bytes().zip(c.bytes()).take_while(|(a, b)| a == b).count();
    candidates
        .filter(|c| c.len().abs_diff(name.len()) <= limit && *c != name)
        .map(|c| (strsim::osa_distance(name, c), Reverse(common(c)), c))
        .filter(|&(distance, Reverse(common), _)| distance <= limit && common > 0)
        .min()
        .map(|(.., c)| c)
}
