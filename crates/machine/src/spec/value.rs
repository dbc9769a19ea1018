//! From TOML values to parameters and back to text.

use super::declare::{Declaration, Kind, Slot};
use super::error::Problem;
use super::levels::{self, VfLevel};
use super::suggest;
use toml::de::DeValue;

/// A TOML value in words, for messages.
pub(super) fn describe(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the string \"{text}\""),
        DeValue::Integer(number) => format!("the whole number {number}"),
        DeValue::Float(number) => format!("the number {number}"),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a group".to_owned(),
    }
}

fn whole(value: &DeValue<'_>) -> Option<i128> {
    let number = value.as_integer()?;
    i128::from_str_radix(number.as_str(), number.radix()).ok()
}

fn real(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(_) => whole(value).map(|number| number as f64),
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    }
}

fn level_list(value: &DeValue<'_>) -> Option<Vec<VfLevel>> {
    value
        .as_array()?
        .iter()
        .map(|item| match item.get_ref().as_array() {
            Some(pair) if pair.len() == 2 => {
                Some(VfLevel { mhz: real(pair[0].get_ref())?, volts: real(pair[1].get_ref())? })
            }
            _ => None,
        })
        .collect()
}

/// Gives a parameter a value, if it is of its type and legal.
pub(super) fn assign(slot: Slot<'_>, declared: &Declaration, value: &DeValue<'_>) -> Result<(), Problem> {
    let name = || declared.name.clone();
    let legal = || match declared.unit {
        "" => declared.kind.legal(),
        unit => format!("{} ({unit})", declared.kind.legal()),
    };
    let wrong_type = || Problem::WrongType {
        name: name(),
        expected: declared.kind.expected(),
        found: describe(value),
        legal: legal(),
    };
    let out_of_range = |value: String| Problem::OutOfRange { name: name(), value, legal: legal() };
    match (slot, &declared.kind) {
        (Slot::Integer(slot), &Kind::Integer { least, most, power_of_two }) => {
            let Some(number) = value.as_integer() else { return Err(wrong_type()) };
            let Some(number) = whole(value).and_then(|whole| u32::try_from(whole).ok()) else {
                return Err(out_of_range(number.to_string()));
            };
            if !(least..=most).contains(&number) {
                return Err(out_of_range(number.to_string()));
            }
            if power_of_two && !number.is_power_of_two() {
                return Err(Problem::NotPowerOfTwo { name: name(), value: number });
            }
            *slot = number;
        }
        (Slot::Number(slot), &Kind::Number { least, most }) => {
            let Some(number) = real(value) else { return Err(wrong_type()) };
            if !(least..=most).contains(&number) {
                // As it was written: 1e300 is no number to write out.
                let text = value.as_float().map_or(number.to_string(), |float| float.as_str().to_owned());
                return Err(out_of_range(text));
            }
            *slot = number;
        }
        (Slot::Switch(slot), _) => *slot = value.as_bool().ok_or_else(wrong_type)?,
        (Slot::Text(slot), _) => *slot = value.as_str().ok_or_else(wrong_type)?.to_owned(),
        (Slot::Choice(slot), _) => {
            let text = value.as_str().ok_or_else(wrong_type)?;
            if !slot.choose(text) {
                return Err(Problem::UnknownChoice {
                    name: name(),
                    value: text.to_owned(),
                    hint: suggest::among(text, slot.names().iter().copied(), "the choices are"),
                });
            }
        }
        (Slot::Levels(slot), _) => {
            let list = level_list(value).ok_or_else(wrong_type)?;
            if let Some(reason) = levels::fault(&list) {
                return Err(Problem::BadLevels { name: name(), reason });
            }
            *slot = list;
        }
        // A slot and its declared kind are made together, by the same type.
        (Slot::Integer(_) | Slot::Number(_), _) => return Err(wrong_type()),
    }
    Ok(())
}

/// A parameter's value as TOML.
pub(super) fn show(slot: &Slot<'_>) -> String {
    match slot {
        Slot::Integer(value) => value.to_string(),
        Slot::Number(value) => value.to_string(),
        Slot::Switch(value) => value.to_string(),
        Slot::Text(value) => format!("\"{value}\""),
        Slot::Choice(value) => format!("\"{}\"", value.name()),
        Slot::Levels(list) => {
            let pairs: Vec<String> = list.iter().map(|level| format!("[{}, {}]", level.mhz, level.volts)).collect();
            format!("[{}]", pairs.join(", "))
        }
    }
}
