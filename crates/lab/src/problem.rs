//! What can be wrong with what the user gave, or with the surroundings: a message, its place, and the remedy.
//!
//! One type for all of it, drawn by `miette`. Which of the two it is decides the exit code; how a *run* ended is not
//! a problem but a result ([`warpwatt_machine::stats::Ending`]).

use crate::compare::Search;
use miette::{Diagnostic, LabeledSpan, NamedSource, Severity, SourceCode};
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use warpwatt_machine::spec::SpecError;
use warpwatt_policies::PolicyError;

/// Shorthand for results that fail with a [`Problem`].
pub type Outcome<T> = Result<T, Problem>;

/// Whose fault a problem is; the exit code follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The input was wrong: exit code 2.
    Input,
    /// The input was fine, but the run could not be carried out (disk full, broken checkpoint): exit code 1.
    Run,
}

/// A problem with its place and remedy.
#[derive(Clone)]
pub struct Problem(Box<Inner>);

#[derive(Clone)]
struct Inner {
    blame: Blame,
    code: &'static str,
    message: String,
    help: Option<String>,
    source: Option<NamedSource<String>>,
    labels: Vec<LabeledSpan>,
    also: Vec<Problem>,
    /// A diagnostic of another crate that has the help and the place.
    shown: Option<Arc<dyn Diagnostic + Send + Sync>>,
}

impl Problem {
    /// The input is wrong. `code` names the kind of mistake (`job::unknown-buffer`).
    pub fn input(code: &'static str, message: impl Into<String>) -> Problem {
        Problem::new(Blame::Input, code, message.into())
    }

    /// The run could not be carried out.
    pub fn run(code: &'static str, message: impl Into<String>) -> Problem {
        Problem::new(Blame::Run, code, message.into())
    }

    fn new(blame: Blame, code: &'static str, message: String) -> Problem {
        let (help, source, labels, also, shown) = (None, None, Vec::new(), Vec::new(), None);
        Problem(Box::new(Inner { blame, code, message, help, source, labels, also, shown }))
    }

    /// A mistake in a GPU's parameters.
    pub fn from_spec(error: SpecError) -> Problem {
        let mut problem = Problem::input(error.problem.code(), error.to_string());
        problem.0.shown = Some(Arc::new(error));
        problem
    }

    /// A mistake in the choice of policies or their parameters.
    pub fn from_policy(error: &PolicyError) -> Problem {
        if let PolicyError::Unknown { name, .. } = error
            && Search::named(name).is_some()
        {
            let problem = Problem::input("policy::search", format!("`{name}` is a search of `compare`, not a policy"));
            return problem.help(format!("by itself: warpwatt compare … --policies {name}"));
        }
        Problem::input(error.code(), error.to_string()).help(error.help())
    }

    /// Says what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.0.help = Some(help.into());
        self
    }

    /// Says what to do about it, if anything is known.
    pub fn maybe_help(mut self, help: Option<String>) -> Problem {
        self.0.help = help.or(self.0.help);
        self
    }

    /// Adds a line to what is said about the remedy.
    pub fn also_help(mut self, help: &str) -> Problem {
        let before = self.0.help.take().map_or_else(String::new, |h| h + "\n");
        self.0.help = Some(before + help);
        self
    }

    /// Shows the place: the file's name, its text, the bytes meant and a word on them. A range beyond the text is
    /// cut to it.
    pub fn at(mut self, name: &str, text: &str, range: Range<usize>, label: impl Into<String>) -> Problem {
        let end = range.end.min(text.len());
        let start = range.start.min(end);
        self.0.source = Some(NamedSource::new(name, text.to_owned()));
        self.0.labels = vec![LabeledSpan::new_primary_with_span(Some(label.into()), (start, end - start))];
        self
    }

    /// Shows a 1-based line of a text.
    pub fn at_line(self, name: &str, text: &str, line: u32, label: impl Into<String>) -> Problem {
        self.at(name, text, line_range(text, line), label)
    }

    /// Adds further problems, told after this one.
    pub fn and(mut self, others: impl IntoIterator<Item = Problem>) -> Problem {
        self.0.also.extend(others);
        self
    }

    /// It, and what is told after it, one by one: they are drawn alike.
    pub fn apart(mut self) -> Vec<Problem> {
        let also = std::mem::take(&mut self.0.also);
        [self].into_iter().chain(also).collect()
    }

    /// Whose fault it is.
    pub fn blame(&self) -> Blame {
        self.0.blame
    }

    /// The kind of mistake.
    pub fn code(&self) -> &'static str {
        self.0.code
    }

    /// 2 if the input is wrong, 1 if the run failed.
    pub fn exit_code(&self) -> u8 {
        match self.0.blame {
            Blame::Input => 2,
            Blame::Run => 1,
        }
    }

    /// A file could not be read.
    pub fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
        Problem::input("file::unreadable", format!("cannot read `{}`: {error}", path.display()))
    }

    /// A file or directory could not be written.
    pub fn unwritable(path: &Path, error: &std::io::Error) -> Problem {
        Problem::run("file::unwritable", format!("cannot write `{}`: {error}", path.display()))
    }

    /// `what` has no entry `name`; suggests near ones, or lists them if there are few.
    pub fn unknown<'a>(
        code: &'static str,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Problem {
        Problem::input(code, format!("unknown {what} `{name}`")).maybe_help(suggestion(name, known))
    }
}

/// Bytes of a place's line and its neighbours up to which it is drawn. What is drawn beyond column 65,535 ends in a panic.
const WIDEST: usize = 16 << 10;

impl Problem {
    fn given_source(&self) -> Option<&dyn SourceCode> {
        let own = self.0.source.as_ref().map(|s| s as &dyn SourceCode);
        own.or_else(|| self.0.shown.as_ref()?.source_code())
    }

    fn given_labels(&self) -> Vec<LabeledSpan> {
        match self.0.labels.is_empty() {
            true => self.0.shown.as_ref().and_then(|d| d.labels()).map_or_else(Vec::new, Iterator::collect),
            false => self.0.labels.clone(),
        }
    }

    /// In words, the place on a line that is too long to be drawn.
    fn far_place(&self) -> Option<String> {
        let (source, labels) = (self.given_source()?, self.given_labels());
        let span = labels.first()?.inner();
        let around = source.read_span(span, 1, 1).ok()?;
        if around.data().len() <= WIDEST {
            return None;
        }
        let before = span.offset() - around.span().offset();
        let line = &around.data()[..before.min(around.data().len())];
        let breaks = line.iter().filter(|&&b| b == b'\n').count();
        let column = line.iter().rev().take_while(|&&b| b != b'\n').count();
        let name = around.name().map_or_else(String::new, |name| format!(" of `{name}`"));
        Some(format!("in line {}{name}, after {column} bytes", around.line() + breaks + 1))
    }
}

/// "did you mean …?", or the list of what there is if it is short.
pub fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    let distance = |other: &str| strsim::damerau_levenshtein(&name.to_lowercase(), &other.to_lowercase());
    let near = known.iter().map(|k| (distance(k), *k)).min().filter(|(d, k)| *d <= 1.max(k.len() / 3) && *d < k.len());
    match near {
        Some((_, best)) => Some(format!("did you mean `{best}`?")),
        None if known.is_empty() => None,
        None if known.len() <= 24 => Some(format!("there is: {}", known.join(", "))),
        None => None,
    }
}

/// The bytes of a 1-based line, without its line break and indentation.
pub fn line_range(text: &str, line: u32) -> Range<usize> {
    let mut start = 0;
    for (number, content) in text.split_inclusive('\n').enumerate() {
        if number + 1 == line as usize {
            let indent = content.len() - content.trim_start().len();
            return start + indent.min(content.trim_end().len())..start + content.trim_end().len();
        }
        start += content.len();
    }
    text.len()..text.len()
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.0.code))
    }

    fn severity(&self) -> Option<Severity> {
        Some(Severity::Error)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let given = self.0.help.clone().or_else(|| Some(self.0.shown.as_ref()?.help()?.to_string()));
        let help = [self.far_place(), given].into_iter().flatten().collect::<Vec<_>>().join("\n");
        (!help.is_empty()).then(|| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.given_source().filter(|_| self.far_place().is_none())
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let labels = self.given_labels();
        (!labels.is_empty() && self.far_place().is_none())
            .then(|| Box::new(labels.into_iter()) as Box<dyn Iterator<Item = _>>)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_listed() {
        assert_eq!(suggestion("sgem", ["sgemm", "lud"]).unwrap(), "did you mean `sgemm`?");
        assert_eq!(suggestion("GTX480", ["gtx480"]).unwrap(), "did you mean `gtx480`?");
        assert_eq!(suggestion("zzzzzz", ["sgemm", "lud"]).unwrap(), "there is: sgemm, lud");
        assert_eq!(suggestion("x", []), None);
    }

    #[test]
    fn a_line_is_found_without_its_indentation() {
        let text = "a\n  bc \n\nd";
        assert_eq!(&text[line_range(text, 2)], "bc");
        assert_eq!(&text[line_range(text, 3)], "");
        assert_eq!(&text[line_range(text, 4)], "d");
        assert_eq!(line_range(text, 99), text.len()..text.len());
    }

    #[test]
    fn a_place_on_a_very_long_line_is_told_in_words() {
        let text = format!("first\n{}wrong{}\nlast", "x ".repeat(40_000), " y".repeat(9));
        let at = text.find("wrong").unwrap();
        let problem = Problem::input("t", "m").help("do this").at("f.ptx", &text, at..at + 5, "here");
        assert!(problem.labels().is_none() && problem.source_code().is_none());
        assert_eq!(Diagnostic::help(&problem).unwrap().to_string(), "in line 2 of `f.ptx`, after 80000 bytes\ndo this");
        let drawn = format!("{:?}", miette::Report::new(problem));
        assert!(drawn.contains("after 80000 bytes") && drawn.len() < 1000, "{drawn}");
        assert!(Problem::input("t", "m").at("f", "wrong", 0..5, "here").labels().is_some());
    }

    #[test]
    fn a_place_beyond_the_text_is_cut() {
        let p = Problem::input("t", "m").at("f", "abc", 2..99, "here");
        assert_eq!(p.labels().unwrap().next().unwrap().len(), 1);
    }
}
