//! Where in a TOML text a value stands, by its path; and TOML's own errors as problems.

use crate::problem::{Problem, suggestion};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One step of a path into a TOML document.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// A key of a table.
    Key(&'a str),
    /// An element of an array.
    Index(usize),
}

impl<'a> From<&'a str> for Part<'a> {
    fn from(key: &'a str) -> Self {
        Part::Key(key)
    }
}

impl From<usize> for Part<'_> {
    fn from(index: usize) -> Self {
        Part::Index(index)
    }
}

/// A TOML text with its name, to point into.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The file's name.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
}

impl Places<'_> {
    /// The bytes of the value at a path; of its nearest existing ancestor if there is none.
    pub fn find(&self, path: &[Part<'_>]) -> Range<usize> {
        let Ok(document) = DeTable::parse(self.text) else { return 0..0 };
        let mut span = document.span();
        let Some((Part::Key(first), rest)) = path.split_first() else { return self.first_line(span) };
        let Some(mut value) = lookup(document.get_ref(), first) else { return self.first_line(span) };
        span = value.span();
        for part in rest {
            let next = match (part, value.get_ref()) {
                (Part::Key(key), DeValue::Table(table)) => lookup(table, key),
                (Part::Index(index), DeValue::Array(array)) => array.get(*index),
                _ => None,
            };
            let Some(next) = next else { break };
            value = next;
            span = value.span();
        }
        self.first_line(span)
    }

    /// Cuts a span to its first line: a table's span may be its whole text.
    fn first_line(&self, span: Range<usize>) -> Range<usize> {
        let end = self.text.get(span.clone()).and_then(|t| t.find('\n')).map_or(span.end, |n| span.start + n);
        span.start..end
    }

    /// Puts the place of a path into a problem.
    pub fn mark(&self, problem: Problem, path: &[Part<'_>], label: &str) -> Problem {
        problem.at(self.name, self.text, self.find(path), label)
    }

    /// What the TOML reader says, at its place, with a suggestion for a mistyped key.
    pub fn toml_problem(&self, code: &'static str, error: &toml::de::Error) -> Problem {
        let mut message = error.message().trim().replace('\n', "; ");
        // To serde a date is a table with a key of the reader's own.
        let text = error.span().and_then(|span| self.text.get(span)).unwrap_or_default();
        if text.trim().parse::<toml::value::Datetime>().is_ok() {
            message = match message.split_once(", expected ") {
                Some((head, tail)) if head.starts_with("unknown ") => {
                    format!("found a date or time, expected a table with {tail}")
                }
                Some((_, tail)) => format!("found a date or time, expected {tail}"),
                None => "a date or time cannot stand here".to_owned(),
            };
        }
        let problem = Problem::input(code, format!("{}: {message}", self.name)).maybe_help(did_you_mean(&message));
        match error.span() {
            Some(span) => problem.at(self.name, self.text, self.first_line(span), "here"),
            None => problem,
        }
    }
}

fn lookup<'a, 'i>(table: &'a DeTable<'i>, key: &str) -> Option<&'a Spanned<DeValue<'i>>> {
    table.iter().find(|(k, _)| k.get_ref().as_ref() == key).map(|(_, value)| value)
}

/// Serde's "unknown field `x`, expected one of `a`, `b`" names what there is: the nearest is what was meant.
fn did_you_mean(message: &str) -> Option<String> {
    let (head, tail) = message.split_once(", expected ")?;
    if !head.starts_with("unknown ") {
        return None;
    }
    let quoted = |text: &str| text.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    suggestion(quoted(head).first()?, quoted(tail).iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "name = 'x'\n[[step]]\nlaunch = 'k'\nargs = [1, 'abc']\n";

    #[test]
    fn values_are_found_by_path() {
        let places = Places { name: "t", text: TEXT };
        assert_eq!(&TEXT[places.find(&["step".into(), 0.into(), "args".into(), 1.into()])], "'abc'");
        assert_eq!(&TEXT[places.find(&["name".into()])], "'x'");
        assert_eq!(&TEXT[places.find(&["step".into(), 0.into(), "grid".into()])], "[[step]]");
    }

    #[test]
    fn an_unknown_key_gets_a_suggestion() {
        let error = toml::from_str::<super::super::file::JobFile>("[[buffer]]\nnme = 'a'").unwrap_err();
        let problem = Places { name: "t", text: "[[buffer]]\nnme = 'a'" }.toml_problem("job::toml", &error);
        assert_eq!(miette::Diagnostic::help(&problem).unwrap().to_string(), "did you mean `name`?");
    }
}
