//! Reading a GPU: a preset, a file on top of it, `--set` on top of both; every value remembers where it came from.

use super::check;
use super::declare::{At, Declaration, Node, Slot, plain};
use super::error::{Place, Problem, SpecError};
use super::parameters::Spec;
use super::presets::{preset_text, presets};
use super::{suggest, value};
use miette::NamedSource;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where a value came from.
#[derive(Clone, Debug)]
struct Origin {
    place: Place,
    /// The comment on its line: the value's source, in the presets.
    note: String,
}

/// A GPU being configured.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    spec: Spec,
    origins: BTreeMap<String, Origin>,
}

/// A parameter with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its declaration.
    pub declaration: Declaration,
    /// Value, as TOML.
    pub value: String,
    /// Where the value comes from: paper, data sheet, `assumed`, the user's file and line, `--set`.
    pub source: String,
}

/// Calls `f` with every parameter of `spec`, in declaration order.
fn visit(spec: &mut Spec, f: &mut dyn FnMut(Declaration, Slot<'_>)) {
    spec.visit(&At::default(), plain(), f);
}

/// All parameters, in order.
pub fn declarations() -> Vec<Declaration> {
    let mut list = Vec::new();
    visit(&mut Spec::default(), &mut |declaration, _| list.push(declaration));
    list
}

/// Gives `name` a value in `spec`.
fn assign(spec: &mut Spec, name: &str, given: &DeValue<'_>) -> Result<(), Problem> {
    let mut outcome = None;
    visit(spec, &mut |declaration, slot| {
        if declaration.name == name {
            outcome = Some(value::assign(slot, &declaration, given));
        }
    });
    outcome.unwrap_or_else(|| Err(unknown(name, given)))
}

/// Why `name` is no parameter.
fn unknown(name: &str, given: &DeValue<'_>) -> Problem {
    let all = declarations();
    let group = format!("{name}.");
    let members: Vec<&str> = all.iter().filter_map(|declared| declared.name.strip_prefix(&group)).collect();
    if !members.is_empty() {
        return Problem::Group { name: name.to_owned(), found: value::describe(given), members: members.join(", ") };
    }
    let option = name.trim_start_matches('-');
    let known = all.iter().find(|declared| !declared.alias.is_empty() && &declared.alias[1..] == option);
    let hint = match known {
        Some(declared) => format!("that is GPGPU-Sim's name; here it is `{}`", declared.name),
        None => match suggest::nearest(name, all.iter().map(|declared| declared.name.as_str())) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`warpwatt show gtx480` lists all parameters".to_owned(),
        },
    };
    Problem::UnknownParameter { name: name.to_owned(), hint }
}

impl Configuration {
    /// A preset.
    pub fn preset(name: &str) -> Result<Configuration, SpecError> {
        let Some(text) = preset_text(name) else { return Err(SpecError::new(unknown_preset(name), None)) };
        Configuration::from_toml(name, text)
    }

    /// A GPU file: `base = "preset"` and the values that differ from it, or all values. `file` names it in messages;
    /// its stem is the GPU's name unless the text gives one.
    pub fn from_toml(file: &str, text: &str) -> Result<Configuration, SpecError> {
        let source = Arc::new(NamedSource::new(file, text.to_owned()).with_language("toml"));
        let place = |span: Range<usize>| Place { text: Arc::clone(&source), span: span.into() };
        let table = DeTable::parse(text).map_err(|error| {
            let problem = Problem::Syntax { message: error.message().to_owned() };
            SpecError::new(problem, Some(place(error.span().unwrap_or(0..0))))
        })?;
        let table = table.get_ref();

        let mut configuration = match table.get("base") {
            None => Configuration::default(),
            Some(base) => {
                let refused = |problem| SpecError::new(problem, Some(place(base.span())));
                let name = base.get_ref().as_str().ok_or_else(|| {
                    refused(Problem::WrongType {
                        name: "base".to_owned(),
                        expected: "a preset's name",
                        found: value::describe(base.get_ref()),
                        legal: presets().collect::<Vec<_>>().join(", "),
                    })
                })?;
                // A preset's base stands before it in the list, so this ends.
                if preset_text(name).is_none() {
                    return Err(refused(unknown_preset(name)));
                }
                Configuration::preset(name)?
            }
        };
        let stem = file.rsplit(['/', '\\']).next().unwrap_or(file);
        configuration.spec.name = stem.strip_suffix(".toml").unwrap_or(stem).to_owned();
        configuration.read_table(table, text, &place)?;
        if table.get("base").is_none() {
            configuration.complete()?;
        }
        configuration.check()?;
        Ok(configuration)
    }

    /// Gives the parameters in `table` their values. Of several errors the first in the text is reported.
    fn read_table(
        &mut self,
        table: &DeTable<'_>,
        text: &str,
        place: &dyn Fn(Range<usize>) -> Place,
    ) -> Result<(), SpecError> {
        let names: BTreeSet<String> = declarations().into_iter().map(|declared| declared.name).collect();
        let mut given = BTreeMap::new();
        flatten("", table, &names, &mut given);
        given.remove("base");

        let mut errors = Vec::new();
        let origins = &mut self.origins;
        visit(&mut self.spec, &mut |declaration, slot| {
            let Some((_, found)) = given.remove(&declaration.name) else { return };
            match value::assign(slot, &declaration, found.get_ref()) {
                Ok(()) => {
                    let origin = Origin { place: place(found.span()), note: comment(text, found) };
                    origins.insert(declaration.name, origin);
                }
                Err(problem) => errors.push((found.span(), problem)),
            }
        });
        for (name, (key, found)) in given {
            let problem = unknown(&name, found.get_ref());
            let span = if matches!(problem, Problem::Group { .. }) { found.span() } else { key };
            errors.push((span, problem));
        }
        match errors.into_iter().min_by_key(|(span, _)| span.start) {
            Some((span, problem)) => Err(SpecError::new(problem, Some(place(span)))),
            None => Ok(()),
        }
    }

    /// Without a base every parameter must be given, but for the name.
    fn complete(&self) -> Result<(), SpecError> {
        let given = |declared: &Declaration| declared.name == "name" || self.origins.contains_key(&declared.name);
        let names: Vec<String> =
            declarations().into_iter().filter(|declared| !given(declared)).map(|declared| declared.name).collect();
        if names.is_empty() { Ok(()) } else { Err(SpecError::new(Problem::Missing { names }, None)) }
    }

    /// One `--set NAME=VALUE`. Parameters are held against each other only by [`Configuration::finish`], so that two
    /// settings may depend on each other.
    pub fn set(&mut self, assignment: &str) -> Result<(), SpecError> {
        let end = assignment.find('=').unwrap_or(assignment.len());
        let value = assignment.len().min(end + 1)..assignment.len();
        self.set_at(assignment, ("--set", assignment), 0..end, value)
    }

    /// A `NAME=VALUE` that stands in a file: messages point to its place there.
    pub fn set_in(&mut self, assignment: &str, file: &str, text: &str, span: Range<usize>) -> Result<(), SpecError> {
        self.set_at(assignment, (file, text), span.clone(), span)
    }

    fn set_at(
        &mut self,
        assignment: &str,
        (file, text): (&str, &str),
        name_span: Range<usize>,
        value_span: Range<usize>,
    ) -> Result<(), SpecError> {
        let source = Arc::new(NamedSource::new(file, text.to_owned()));
        let place = |span: Range<usize>| Place { text: Arc::clone(&source), span: span.into() };
        let Some((name, given)) = assignment.split_once('=') else {
            let problem = Problem::BadAssignment { text: assignment.to_owned() };
            return Err(SpecError::new(problem, Some(place(name_span))));
        };
        self.spec.set(name, given).map_err(|error| {
            let span = match *error.problem {
                Problem::UnknownParameter { .. } => name_span,
                _ => value_span.clone(),
            };
            SpecError::new(*error.problem, Some(place(span)))
        })?;
        self.origins.insert(name.trim().to_owned(), Origin { place: place(value_span), note: String::new() });
        Ok(())
    }

    /// The finished description, if its parameters agree with each other.
    pub fn finish(self) -> Result<Spec, SpecError> {
        self.check()?;
        Ok(self.spec)
    }

    /// Points at the last-named parameter of a broken rule that the user gave.
    fn check(&self) -> Result<(), SpecError> {
        check::check(&self.spec).map_err(|broken| {
            let origin = |name: &&str| self.origins.get(*name).map(|origin| origin.place.clone());
            let own = |place: &Place| preset_text(place.text.name()).is_none();
            let places: Vec<Place> = broken.names.iter().filter_map(origin).collect();
            let place = places.iter().find(|place| own(place)).or(places.first()).cloned();
            SpecError::new(broken.problem, place)
        })
    }

    /// Every parameter with value and source, in order.
    pub fn list(&self) -> Vec<Listed> {
        let mut list = Vec::new();
        visit(&mut self.spec.clone(), &mut |declaration, slot| {
            let source = self.origins.get(&declaration.name).map_or_else(String::new, Origin::describe);
            list.push(Listed { value: value::show(&slot), source, declaration });
        });
        list
    }
}

impl Origin {
    fn describe(&self) -> String {
        let name = self.place.text.name();
        if preset_text(name).is_some() || name == "--set" {
            return if self.note.is_empty() { name.to_owned() } else { self.note.clone() };
        }
        let line = self.place.text.inner()[..self.place.span.offset()].matches('\n').count() + 1;
        match self.note.as_str() {
            "" => format!("{name}:{line}"),
            note => format!("{name}:{line}, {note}"),
        }
    }
}

impl Spec {
    /// A preset by name.
    pub fn preset(name: &str) -> Result<Spec, SpecError> {
        Configuration::preset(name)?.finish()
    }

    /// Sets one parameter by its dotted name. The value is TOML; a bare word is a string. Only its own range is
    /// checked: call [`Spec::validate`] when all are set.
    pub fn set(&mut self, name: &str, given: &str) -> Result<(), SpecError> {
        let given = given.trim();
        let parsed = DeValue::parse(given).map(Spanned::into_inner);
        let parsed = parsed.unwrap_or_else(|_| DeValue::String(given.into()));
        assign(self, name.trim(), &parsed).map_err(|problem| SpecError::new(problem, None))
    }

    /// Holds the parameters against each other.
    pub fn validate(&self) -> Result<(), SpecError> {
        check::check(self).map_err(|broken| SpecError::new(broken.problem, None))
    }

    /// All parameters as `name = value` lines, in declaration order: the text that identifies the GPU.
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        visit(&mut self.clone(), &mut |declaration, slot| {
            text.push_str(&format!("{} = {}\n", declaration.name, value::show(&slot)));
        });
        text
    }

    /// FNV-1a (64 bit) of [`Spec::canonical`]: the same on every machine.
    pub fn hash(&self) -> u64 {
        self.canonical()
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }
}

fn unknown_preset(name: &str) -> Problem {
    let hint = suggest::among(name, presets(), "the presets are");
    Problem::UnknownPreset { name: name.to_owned(), hint }
}

/// Every value of a table by its dotted name, with the span of its key. A table is taken apart only where it is a group
/// of parameters.
fn flatten<'t, 'i>(prefix: &str, table: &'t DeTable<'i>, names: &BTreeSet<String>, into: &mut Given<'t, 'i>) {
    for (key, value) in table.iter() {
        let name = format!("{prefix}{}", key.get_ref());
        let group = format!("{name}.");
        let is_group = || names.range(group.clone()..).next().is_some_and(|next| next.starts_with(&group));
        match value.get_ref() {
            DeValue::Table(members) if is_group() => flatten(&group, members, names, into),
            _ => drop(into.insert(name, (key.span(), value))),
        }
    }
}

type Given<'t, 'i> = BTreeMap<String, (Range<usize>, &'t Spanned<DeValue<'i>>)>;

/// The comment at the end of the value's line.
fn comment(text: &str, given: &Spanned<DeValue<'_>>) -> String {
    let rest = text.get(given.span().end..).unwrap_or("");
    let line = rest.lines().next().unwrap_or("");
    line.split_once('#').map_or_else(String::new, |(_, note)| note.trim().to_owned())
}
