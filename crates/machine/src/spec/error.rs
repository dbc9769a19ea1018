//! What can be wrong with a GPU's parameters, where, and what would be right.

use super::check::Rule;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode, SourceSpan};
use std::fmt::{self, Display};
use std::sync::Arc;
use thiserror::Error;

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Problem {
    /// Not TOML.
    #[error("not valid TOML: {message}")]
    Syntax {
        /// The parser's words.
        message: String,
    },
    /// No such parameter.
    #[error("unknown parameter `{name}`")]
    UnknownParameter {
        /// The name given.
        name: String,
        /// What may have been meant, or where to look.
        hint: String,
    },
    /// A value of the wrong type.
    #[error("`{name}` must be {expected}, not {found}")]
    WrongType {
        /// Parameter.
        name: String,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: String,
        /// The legal values.
        legal: String,
    },
    /// A number outside its legal range.
    #[error("`{name}` = {value} is out of range")]
    OutOfRange {
        /// Parameter.
        name: String,
        /// Value.
        value: String,
        /// The legal values and their unit.
        legal: String,
    },
    /// A number that must be a power of two.
    #[error("`{name}` = {value} is not a power of two")]
    NotPowerOfTwo {
        /// Parameter.
        name: String,
        /// Value.
        value: u32,
    },
    /// A name that is not among the choices.
    #[error("`{name}` has no choice `{value}`")]
    UnknownChoice {
        /// Parameter.
        name: String,
        /// The name given.
        value: String,
        /// What may have been meant, or the choices.
        hint: String,
    },
    /// A list of V/f levels that makes no sense.
    #[error("`{name}`: {reason}")]
    BadLevels {
        /// Parameter.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A group was given a value.
    #[error("`{name}` is a group of parameters, not {found}")]
    Group {
        /// The group.
        name: String,
        /// What it was given.
        found: String,
        /// Its members.
        members: String,
    },
    /// No such preset.
    #[error("unknown GPU `{name}`")]
    UnknownPreset {
        /// The name given.
        name: String,
        /// What may have been meant, or the presets.
        hint: String,
    },
    /// A file without `base` that leaves parameters out.
    #[error("{} parameters are missing, the first is `{}`", names.len(), names.first().map_or("", String::as_str))]
    Missing {
        /// Their names.
        names: Vec<String>,
    },
    /// `--set` without `=`.
    #[error("`{text}` is not of the form NAME=VALUE")]
    BadAssignment {
        /// The text.
        text: String,
    },
    /// Parameters that contradict each other.
    #[error("{message}")]
    Inconsistent {
        /// The rule that they break.
        rule: Rule,
        /// How.
        message: String,
        /// What would be right.
        help: String,
    },
}

impl Problem {
    /// A short name for the kind of problem, one per diagnostic.
    pub fn code(&self) -> &'static str {
        match self {
            Problem::Syntax { .. } => "gpu::syntax",
            Problem::UnknownParameter { .. } => "gpu::unknown-parameter",
            Problem::WrongType { .. } => "gpu::wrong-type",
            Problem::OutOfRange { .. } => "gpu::out-of-range",
            Problem::NotPowerOfTwo { .. } => "gpu::not-a-power-of-two",
            Problem::UnknownChoice { .. } => "gpu::unknown-choice",
            Problem::BadLevels { .. } => "gpu::bad-levels",
            Problem::Group { .. } => "gpu::group",
            Problem::UnknownPreset { .. } => "gpu::unknown-preset",
            Problem::Missing { .. } => "gpu::missing",
            Problem::BadAssignment { .. } => "gpu::bad-assignment",
            Problem::Inconsistent { rule, .. } => rule.code(),
        }
    }

    fn remedy(&self) -> Option<String> {
        Some(match self {
            Problem::Syntax { .. } => return None,
            Problem::UnknownParameter { hint, .. }
            | Problem::UnknownChoice { hint, .. }
            | Problem::UnknownPreset { hint, .. } => hint.clone(),
            Problem::WrongType { legal, .. } => format!("legal: {legal}"),
            Problem::OutOfRange { legal, .. } => format!("legal: {legal}"),
            Problem::NotPowerOfTwo { value, .. } => {
                let below = 1u64 << (31 - value.max(&1).leading_zeros());
                format!("the nearest are {} and {}", below, below * 2)
            }
            Problem::BadLevels { .. } => super::declare::Kind::Levels.legal(),
            Problem::Group { name, members, .. } => format!("give its members under [{name}]: {members}"),
            Problem::Missing { names } => {
                let some = names.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(", ");
                format!("start from a preset with `base = \"gtx480\"`, or give them all: {some}, …")
            }
            Problem::BadAssignment { .. } => "for example --set core_mhz=600 or --set l1d.sets=64".to_owned(),
            Problem::Inconsistent { help, .. } => help.clone(),
        })
    }
}

/// Where in a text the problem is.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) text: Arc<NamedSource<String>>,
    pub(super) span: SourceSpan,
}

/// An error in a GPU's parameters, with its place.
#[derive(Debug, Error)]
pub struct SpecError {
    /// What is wrong.
    pub problem: Box<Problem>,
    place: Option<Place>,
}

impl SpecError {
    pub(super) fn new(problem: Problem, place: Option<Place>) -> SpecError {
        SpecError { problem: Box::new(problem), place }
    }

    /// Line and column (from 1) in the text it was read from.
    pub fn position(&self) -> Option<(usize, usize)> {
        let place = self.place.as_ref()?;
        let contents = place.text.read_span(&place.span, 0, 0).ok()?;
        Some((contents.line() + 1, contents.column() + 1))
    }
}

impl Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl Diagnostic for SpecError {
    fn code(&self) -> Option<Box<dyn Display + '_>> {
        Some(Box::new(self.problem.code()))
    }

    fn help(&self) -> Option<Box<dyn Display + '_>> {
        self.problem.remedy().map(|text| Box::new(text) as Box<dyn Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|place| &*place.text as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.place.as_ref()?;
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(Some("here".to_owned()), place.span))))
    }
}
