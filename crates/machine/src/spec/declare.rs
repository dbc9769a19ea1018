//! How a parameter is declared, once: name, unit, meaning, legal range, established alias. Reading, `--set`, listing,
//! the JSON schema and every error message come from these declarations.
//!
//! [`parameters!`] turns a list of fields into a struct and a visitor over its leaves; everything else is written
//! against the visitor. A group's alias and meaning are passed on to its leaves.

use super::levels::VfLevel;

/// A leaf parameter's declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// Dotted name, as in TOML and `--set`.
    pub name: String,
    /// Unit (empty for a pure name).
    pub unit: &'static str,
    /// What it means.
    pub meaning: String,
    /// Type and legal values.
    pub kind: Kind,
    /// The established simulator's option (GPGPU-Sim), empty if it has none.
    pub alias: &'static str,
}

/// Type and legal values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A whole number.
    Integer {
        /// Smallest legal value.
        least: u32,
        /// Largest legal value.
        most: u32,
        /// Only powers of two.
        power_of_two: bool,
    },
    /// A real number.
    Number {
        /// Smallest legal value.
        least: f64,
        /// Largest legal value.
        most: f64,
    },
    /// `true` or `false`.
    Switch,
    /// One of several names.
    Choice {
        /// The names.
        names: &'static [&'static str],
    },
    /// A string.
    Text,
    /// A list of `[MHz, volts]`.
    Levels,
}

impl Kind {
    /// The legal values in words.
    pub fn legal(&self) -> String {
        match self {
            Kind::Integer { least, most, power_of_two: false } => format!("{least} to {most}"),
            Kind::Integer { least, most, power_of_two: true } => format!("a power of two, {least} to {most}"),
            Kind::Number { least, most } => format!("{least} to {most}"),
            Kind::Switch => "true or false".to_owned(),
            Kind::Choice { names } => names.join(", "),
            Kind::Text => "a string".to_owned(),
            Kind::Levels => {
                "a list of [MHz, volts relative to nominal], ascending, such as [[600, 0.9], [700, 1.0]]".to_owned()
            }
        }
    }

    /// The type in words.
    pub(super) fn expected(&self) -> &'static str {
        match self {
            Kind::Integer { .. } => "a whole number",
            Kind::Number { .. } => "a number",
            Kind::Switch => "true or false",
            Kind::Choice { .. } | Kind::Text => "a string",
            Kind::Levels => "a list of [MHz, volts]",
        }
    }
}

/// What a field declaration says besides name, type and meaning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    unit: &'static str,
    least: f64,
    most: f64,
    power_of_two: bool,
    alias: &'static str,
}

impl Facts {
    pub(super) const fn power_of_two(mut self) -> Facts {
        self.power_of_two = true;
        self
    }

    pub(super) const fn alias(mut self, alias: &'static str) -> Facts {
        self.alias = alias;
        self
    }
}

/// A number in `unit`, from `least` to `most`.
pub(super) const fn number(unit: &'static str, least: f64, most: f64) -> Facts {
    Facts { unit, least, most, power_of_two: false, alias: "" }
}

/// A group, a name or a switch: nothing more to say.
pub(super) const fn plain() -> Facts {
    number("", 0.0, 0.0)
}

/// One of several names.
pub(super) trait Choice {
    fn names(&self) -> &'static [&'static str];
    fn name(&self) -> &'static str;
    /// Takes the value of that name; false if there is none.
    fn choose(&mut self, name: &str) -> bool;
}

/// Where a leaf's value is kept.
pub(super) enum Slot<'a> {
    Integer(&'a mut u32),
    Number(&'a mut f64),
    Switch(&'a mut bool),
    Text(&'a mut String),
    Choice(&'a mut dyn Choice),
    Levels(&'a mut Vec<VfLevel>),
}

/// Called with each leaf, in declaration order.
pub(super) type Visitor<'v> = dyn FnMut(Declaration, Slot<'_>) + 'v;

/// Where the visitor is: the declarations above a field.
#[derive(Clone, Debug, Default)]
pub(super) struct At {
    name: String,
    meaning: String,
    alias: &'static str,
}

impl At {
    pub(super) fn child(&self, field: &str, doc: &str, facts: Facts) -> At {
        let doc = doc.trim().trim_end_matches('.');
        let joined = |above: &str, separator: &str, own: &str| match above {
            "" => own.to_owned(),
            _ => format!("{above}{separator}{own}"),
        };
        At {
            name: joined(&self.name, ".", field),
            meaning: joined(&self.meaning, ": ", doc),
            alias: if facts.alias.is_empty() { self.alias } else { facts.alias },
        }
    }

    pub(super) fn declare(&self, facts: Facts, kind: Kind) -> Declaration {
        Declaration {
            name: self.name.clone(),
            unit: facts.unit,
            meaning: self.meaning.clone(),
            kind,
            alias: self.alias,
        }
    }
}

/// A parameter or a group of parameters.
pub(super) trait Node {
    fn visit(&mut self, at: &At, facts: Facts, f: &mut Visitor<'_>);
}

impl Node for u32 {
    fn visit(&mut self, at: &At, facts: Facts, f: &mut Visitor<'_>) {
        let kind =
            Kind::Integer { least: facts.least as u32, most: facts.most as u32, power_of_two: facts.power_of_two };
        f(at.declare(facts, kind), Slot::Integer(self));
    }
}

impl Node for f64 {
    fn visit(&mut self, at: &At, facts: Facts, f: &mut Visitor<'_>) {
        f(at.declare(facts, Kind::Number { least: facts.least, most: facts.most }), Slot::Number(self));
    }
}

impl Node for bool {
    fn visit(&mut self, at: &At, facts: Facts, f: &mut Visitor<'_>) {
        f(at.declare(facts, Kind::Switch), Slot::Switch(self));
    }
}

impl Node for String {
    fn visit(&mut self, at: &At, facts: Facts, f: &mut Visitor<'_>) {
        f(at.declare(facts, Kind::Text), Slot::Text(self));
    }
}

impl Node for Vec<VfLevel> {
    fn visit(&mut self, at: &At, facts: Facts, f: &mut Visitor<'_>) {
        f(at.declare(facts, Kind::Levels), Slot::Levels(self));
    }
}

/// Declares a struct of parameters.
macro_rules! parameters {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $doc:literal])* $field:ident: $ty:ty = $facts:expr;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct $name { $($(#[doc = $doc])* pub $field: $ty,)* }

        impl Node for $name {
            fn visit(&mut self, at: &At, _: Facts, f: &mut Visitor<'_>) {
                $(
                    let facts = const { $facts };
                    self.$field.visit(&at.child(stringify!($field), concat!($($doc,)*), facts), facts, f);
                )*
            }
        }
    };
}
pub(super) use parameters;

/// Declares an enum whose values are chosen by name.
macro_rules! choices {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $text)] $variant,)* }

        impl Choice for $name {
            fn names(&self) -> &'static [&'static str] { &[$($text,)*] }
            fn name(&self) -> &'static str { match self { $($name::$variant => $text,)* } }
            fn choose(&mut self, name: &str) -> bool {
                match name {
                    $($text => *self = $name::$variant,)*
                    _ => return false,
                }
                true
            }
        }

        impl Node for $name {
            fn visit(&mut self, at: &At, facts: Facts, f: &mut Visitor<'_>) {
                let names = self.names();
                f(at.declare(facts, Kind::Choice { names }), Slot::Choice(self));
            }
        }
    };
}
pub(super) use choices;
