//! A policy's parameters, each declared once: key, type, default, unit, legal range, meaning, source. Reading, error
//! messages, `warpwatt policies` and a run's record come from the declaration.

use crate::error::PolicyError;
use warpwatt_machine::spec::Kind;

/// A parameter's declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Key, without the policy's name.
    pub key: &'static str,
    /// Type and legal values.
    pub kind: Kind,
    /// Unit, empty for a pure name.
    pub unit: &'static str,
    /// Default.
    pub default: String,
    /// What it means.
    pub meaning: String,
    /// Where the default comes from.
    pub source: &'static str,
}

/// What a declaration says besides key, type, default and meaning.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    unit: &'static str,
    least: f64,
    most: f64,
    power_of_two: bool,
    source: &'static str,
}

impl Facts {
    /// Only powers of two are legal.
    pub const fn power_of_two(mut self) -> Facts {
        self.power_of_two = true;
        self
    }

    /// Where the default comes from.
    pub const fn from(mut self, source: &'static str) -> Facts {
        self.source = source;
        self
    }
}

/// A number in `unit`, from `least` to `most`.
pub const fn number(unit: &'static str, least: f64, most: f64) -> Facts {
    Facts { unit, least, most, power_of_two: false, source: "" }
}

/// A name or a switch.
pub const fn plain() -> Facts {
    number("", 0.0, 0.0)
}

/// A type that a parameter may have.
pub trait Setting {
    /// Type and legal values.
    fn kind(&self, facts: &Facts) -> Kind;

    /// Takes a value given as text; false if it is not legal.
    fn assign(&mut self, text: &str, facts: &Facts) -> bool;

    /// The value as text.
    fn show(&self) -> String;
}

impl Setting for u32 {
    fn kind(&self, facts: &Facts) -> Kind {
        Kind::Integer { least: facts.least as u32, most: facts.most as u32, power_of_two: facts.power_of_two }
    }

    fn assign(&mut self, text: &str, facts: &Facts) -> bool {
        let Ok(value) = text.replace('_', "").parse::<u32>() else { return false };
        *self = value;
        (facts.least..=facts.most).contains(&f64::from(value)) && (!facts.power_of_two || value.is_power_of_two())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting for f64 {
    fn kind(&self, facts: &Facts) -> Kind {
        Kind::Number { least: facts.least, most: facts.most }
    }

    fn assign(&mut self, text: &str, facts: &Facts) -> bool {
        let Ok(value) = text.replace('_', "").parse::<f64>() else { return false };
        *self = value;
        (facts.least..=facts.most).contains(&value)
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Setting for bool {
    fn kind(&self, _: &Facts) -> Kind {
        Kind::Switch
    }

    fn assign(&mut self, text: &str, _: &Facts) -> bool {
        text.parse().map(|value| *self = value).is_ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// Called with each parameter of a set: key, meaning, facts, value.
pub type Visitor<'v> = dyn FnMut(&'static str, &'static str, &Facts, &mut dyn Setting) + 'v;

/// A policy's parameters: a struct that `policy_parameters!` has made.
pub trait ParameterSet: Default {
    /// Shows each parameter, in order of declaration.
    fn visit(&mut self, f: &mut Visitor<'_>);
}

/// A policy without parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoParameters;

impl ParameterSet for NoParameters {
    fn visit(&mut self, _: &mut Visitor<'_>) {}
}

/// Declares a policy's parameters: a struct with defaults.
///
/// `/// Meaning.` `key: type = default, facts;`
#[macro_export]
macro_rules! policy_parameters {
    ($(#[$meta:meta])* $name:ident { $($(#[doc = $doc:literal])* $field:ident: $ty:ty = $default:expr, $facts:expr;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name { $($(#[doc = $doc])* pub $field: $ty,)* }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl $crate::parameters::ParameterSet for $name {
            fn visit(&mut self, f: &mut $crate::parameters::Visitor<'_>) {
                $(f(stringify!($field), concat!($($doc,)*), &const { $facts }, &mut self.$field);)*
            }
        }
    };
}

/// Declares an enum whose values are chosen by name.
#[macro_export]
macro_rules! policy_choices {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $crate::parameters::Setting for $name {
            fn kind(&self, _: &$crate::parameters::Facts) -> warpwatt_machine::spec::Kind {
                warpwatt_machine::spec::Kind::Choice { names: &[$($text,)*] }
            }

            fn assign(&mut self, text: &str, _: &$crate::parameters::Facts) -> bool {
                match text {
                    $($text => *self = $name::$variant,)*
                    _ => return false,
                }
                true
            }

            fn show(&self) -> String {
                match self { $($name::$variant => $text,)* }.to_owned()
            }
        }
    };
}

/// The declarations of a set.
pub fn declared<P: ParameterSet>() -> Vec<Parameter> {
    let mut list = Vec::new();
    P::default().visit(&mut |key, meaning, facts, value| {
        list.push(Parameter {
            key,
            kind: value.kind(facts),
            unit: facts.unit,
            default: value.show(),
            meaning: meaning.trim().trim_end_matches('.').to_owned(),
            source: facts.source,
        });
    });
    list
}

/// Key and value of each parameter of a set, as text.
pub fn shown<P: ParameterSet>(set: &mut P) -> Vec<(&'static str, String)> {
    let mut list = Vec::new();
    set.visit(&mut |key, _, _, value| list.push((key, value.show())));
    list
}

/// The defaults with some values (key, text) changed.
pub fn read<P: ParameterSet>(policy: &'static str, given: &[(String, String)]) -> Result<P, PolicyError> {
    let mut set = P::default();
    for (wanted, text) in given {
        let mut outcome = None;
        set.visit(&mut |key, _, facts, value| {
            if key == wanted {
                let bare = text.trim().trim_matches('"');
                let fine = value.assign(bare, facts);
                outcome = Some(if fine { Ok(()) } else { Err((value.kind(facts).legal(), facts.unit)) });
            }
        });
        match outcome {
            Some(Ok(())) => {}
            Some(Err((legal, unit))) => {
                let legal = if unit.is_empty() { legal } else { format!("{legal} ({unit})") };
                let (key, value) = (format!("{policy}.{wanted}"), text.trim().to_owned());
                return Err(PolicyError::BadValue { key, value, legal });
            }
            None => {
                let keys: Vec<&str> = declared::<P>().into_iter().map(|p| p.key).collect();
                return Err(PolicyError::unknown_parameter(policy, wanted, &keys));
            }
        }
    }
    Ok(set)
}
