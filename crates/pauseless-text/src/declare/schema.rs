//! A description as a JSON Schema, so that editors complete and check files.
//!
//! A schema says less than the reader knows: not the range of a quantity, which is a text for it,
//! and nothing that depends on several keys. What it refuses, the reader refuses, too.

use serde_json::{Map, Value, json};

use super::describe::{Fallback, Info, KeyInfo, Kind};

/// The dialect of all schemas.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of a whole file.
pub fn document(title: &str, info: &Info) -> Value {
    let Value::Object(mut schema) = table(info) else {
        unreachable!("a table is an object");
    };
    schema.insert("$schema".to_string(), json!(DIALECT));
    schema.insert("title".to_string(), json!(title));
    Value::Object(schema)
}

/// A table: its own keys, and those that depend on its kind.
fn table(info: &Info) -> Value {
    let Some(variants) = &info.variants else {
        return keys(&info.about, info.keys.iter());
    };
    let abouts = variants.list.iter();
    let abouts = abouts.map(|(name, info)| json!({"const": name, "description": info.about}));
    let mut kind = json!({"type": "string", "oneOf": Vec::from_iter(abouts)});
    if let Some(default) = variants.default {
        kind["default"] = json!(default);
    }
    // Every kind has the common keys and its own; which it is decides which keys are known.
    let cases = variants.list.iter().map(|(name, own)| {
        let mut case = keys("", info.keys.iter().chain(&own.keys));
        case["properties"][variants.key] = json!({"const": name});
        let mut condition = json!({"properties": {(variants.key): {"const": name}}});
        if variants.default != Some(name) {
            condition["required"] = json!([variants.key]);
        }
        json!({"if": condition, "then": case})
    });
    let mut schema = json!({
        "type": "object",
        "description": info.about,
        "properties": {(variants.key): kind},
        "allOf": Vec::from_iter(cases),
    });
    if variants.default.is_none() {
        schema["required"] = json!([variants.key]);
    }
    schema
}

fn keys<'k>(about: &str, keys: impl Iterator<Item = &'k KeyInfo> + Clone) -> Value {
    let properties = keys.clone().map(|key| (key.name.to_string(), property(key)));
    let required = keys.filter(|key| key.is_required()).map(|key| key.name);
    let mut schema = json!({
        "type": "object",
        "properties": Map::from_iter(properties),
        "additionalProperties": false,
    });
    let required = Vec::from_iter(required);
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if !about.is_empty() {
        schema["description"] = json!(about);
    }
    schema
}

fn property(key: &KeyInfo) -> Value {
    let mut schema = value(&key.kind);
    schema["description"] = json!(key.about);
    if let Fallback::Value(default) = &key.fallback
        && let Some(default) = plain(default)
    {
        schema["default"] = default;
    }
    schema
}

fn value(kind: &Kind) -> Value {
    match kind {
        Kind::Quantity { noun, units, range } => {
            let pattern = format!(r"^\s*[0-9]+(\.[0-9]+)?\s*({})\s*$", units.join("|"));
            let comment = match range {
                Some([low, high]) => format!("{noun} from {low} to {high}"),
                None => (*noun).to_string(),
            };
            json!({"type": "string", "pattern": pattern, "$comment": comment})
        }
        Kind::Integer { low, high } => match high {
            // A number of TOML has 63 bits.
            high if *high > i64::MAX as u64 => json!({"type": "integer", "minimum": low}),
            high => json!({"type": "integer", "minimum": low, "maximum": high}),
        },
        Kind::Number { low, high } => {
            let mut schema = json!({"type": "number"});
            if *low > f64::MIN {
                schema["minimum"] = json!(low);
            }
            if *high < f64::MAX {
                schema["maximum"] = json!(high);
            }
            schema
        }
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Text(what) => json!({"type": "string", "$comment": what}),
        Kind::Word(words) => json!({"type": "string", "enum": words}),
        Kind::List { of, least, most } => {
            let mut schema = json!({"type": "array", "items": value(of)});
            if *least > 0 {
                schema["minItems"] = json!(least);
            }
            if let Some(most) = most {
                schema["maxItems"] = json!(most);
            }
            schema
        }
        Kind::Either(kinds) => json!({"anyOf": Vec::from_iter(kinds.iter().map(value))}),
        Kind::Table(info) => table(info),
        Kind::Tables(info) => json!({"type": "array", "items": table(info)}),
        Kind::TablesOrOne(info) => {
            let one = table(info);
            json!({"anyOf": [{"type": "array", "items": one.clone()}, one]})
        }
        Kind::Map(of) => json!({"type": "object", "additionalProperties": value(of)}),
        Kind::Rows(_) => json!({"type": "string"}),
        Kind::Any => json!({}),
    }
}

/// A value of TOML as one of JSON.
fn plain(text: &str) -> Option<Value> {
    let table: toml::Table = toml::from_str(&format!("value = {text}")).ok()?;
    serde_json::to_value(&table["value"]).ok()
}
