//! A JSON schema of GPU files, for editors: written from the declarations.

use super::declare::Kind;
use super::levels::{MHZ, VOLTS};
use super::presets::presets;
use super::read::{Configuration, Listed};
use serde_json::{Map, Value, json};

/// The JSON schema (draft 2020-12) of a GPU file. Defaults are those of `gtx480`.
pub fn schema() -> Value {
    let mut root = Map::new();
    root.insert(
        "base".to_owned(),
        json!({ "description": "Preset that this GPU starts from", "enum": presets().collect::<Vec<_>>() }),
    );
    let listed = Configuration::preset("gtx480").map(|gtx480| gtx480.list()).unwrap_or_default();
    for parameter in &listed {
        insert(&mut root, &parameter.declaration.name, leaf(parameter));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A GPU simulated by warpwatt",
        "type": "object",
        "additionalProperties": false,
        "properties": root,
    })
}

/// Puts a leaf under its dotted name, making the groups on the way.
fn insert(properties: &mut Map<String, Value>, name: &str, leaf: Value) {
    let Some((group, rest)) = name.split_once('.') else {
        properties.insert(name.to_owned(), leaf);
        return;
    };
    let group = properties
        .entry(group)
        .or_insert_with(|| json!({ "type": "object", "additionalProperties": false, "properties": {} }));
    if let Some(members) = group.get_mut("properties").and_then(Value::as_object_mut) {
        insert(members, rest, leaf);
    }
}

fn leaf(parameter: &Listed) -> Value {
    let declared = &parameter.declaration;
    let mut leaf = match &declared.kind {
        Kind::Integer { least, most, .. } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Number { least, most } => json!({ "type": "number", "minimum": least, "maximum": most }),
        Kind::Switch => json!({ "type": "boolean" }),
        Kind::Choice { names } => json!({ "enum": names }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Levels => json!({
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "array",
                "prefixItems": [
                    { "type": "number", "minimum": MHZ.0, "maximum": MHZ.1 },
                    { "type": "number", "minimum": VOLTS.0, "maximum": VOLTS.1 },
                ],
                "minItems": 2,
                "maxItems": 2,
            },
        }),
    };
    let unit = match declared.unit {
        "" => String::new(),
        unit => format!(" [{unit}]"),
    };
    leaf["description"] = json!(format!("{}{unit}", declared.meaning));
    // Values are shown as TOML, which for all these kinds is JSON as well.
    if let Ok(value) = serde_json::from_str::<Value>(&parameter.value) {
        leaf["default"] = value;
    }
    leaf
}
