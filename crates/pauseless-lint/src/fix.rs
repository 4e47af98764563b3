//! Patches as SONiC takes them (`config apply-patch`): JSON patches of RFC 6902, made from findings and
//! proved by linting what comes of them.

use serde::Serialize;
use serde_json::{Map, Value};

use schemars::JsonSchema;

/// One operation of a JSON patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Op {
    /// What is done: `add`, `replace` or `remove`; inside this crate `add` also replaces.
    pub op: &'static str,
    /// Where, as a JSON pointer such as `/PORT_QOS_MAP/Ethernet0/pfc_enable`.
    pub path: String,
    /// What is written there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

impl Op {
    /// The operation that writes a field.
    pub fn set(table: &str, key: &str, field: &str, value: impl Into<String>) -> Op {
        let path = pointer(&[table, key, field]);
        Op { op: "add", path, value: Some(Value::String(value.into())) }
    }

    /// Writes a whole row.
    pub fn row(table: &str, key: &str, fields: &[Field]) -> Op {
        let fields = fields
            .iter()
            .map(|Field { name, value }| (name.to_string(), Value::String(value.to_string())));
        let path = pointer(&[table, key]);
        Op { op: "add", path, value: Some(Value::Object(fields.collect())) }
    }

    /// The operation that removes a field.
    pub fn unset(table: &str, key: &str, field: &str) -> Op {
        Op { op: "remove", path: pointer(&[table, key, field]), value: None }
    }

    /// The operation that removes a row.
    pub fn drop(table: &str, key: &str) -> Op {
        Op { op: "remove", path: pointer(&[table, key]), value: None }
    }
}

/// A field of a row that is written.
#[derive(Clone, Copy, Debug)]
pub struct Field<'f> {
    /// The name of the field.
    pub name: &'f str,
    /// The value that is written.
    pub value: &'f str,
}

fn pointer(parts: &[&str]) -> String {
    parts.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect()
}

/// Applies operations to a document; tables and rows that are missing are made.
///
/// # Errors
/// The operation that has nothing to remove, or leads through what is no object.
pub fn apply(document: &mut Value, ops: &[Op]) -> Result<(), String> {
    for op in ops {
        let parts = op.path.split('/').skip(1);
        let parts = Vec::from_iter(parts.map(|part| part.replace("~1", "/").replace("~0", "~")));
        let Some((last, parents)) = parts.split_last() else {
            return Err("a patch of the whole document".to_string());
        };
        let mut at = &mut *document;
        for part in parents {
            let object = at.as_object_mut().ok_or_else(|| format!("{} leads nowhere", op.path))?;
            at = object.entry(part.clone()).or_insert_with(|| Value::Object(Map::new()));
        }
        let object = at.as_object_mut().ok_or_else(|| format!("{} leads nowhere", op.path))?;
        match &op.value {
            Some(value) => {
                object.insert(last.clone(), value.clone());
            }
            None => {
                let removed = object.remove(last);
                removed.ok_or_else(|| format!("{} is not there to be removed", op.path))?;
            }
        }
    }
    Ok(())
}

/// A document with a line for each row of a table, as an operator likes to read it.
pub fn to_rows(document: &Value) -> String {
    let Some(tables) = document.as_object() else {
        return format!("{document}\n");
    };
    let tables = tables.iter().map(|(table, rows)| {
        let Some(rows) = rows.as_object() else {
            return format!("  {}: {rows}", Value::from(table.as_str()));
        };
        let rows =
            rows.iter().map(|(key, row)| format!("    {}: {row}", Value::from(key.as_str())));
        let rows = Vec::from_iter(rows).join(",\n");
        format!("  {}: {{\n{rows}\n  }}", Value::from(table.as_str()))
    });
    format!("{{\n{}\n}}\n", Vec::from_iter(tables).join(",\n"))
}

/// The operations that make `new` of `old`, as `config apply-patch` takes them: rows and tables that
/// are missing are added whole, and what is left empty is removed.
pub fn difference(old: &Value, new: &Value) -> Vec<Op> {
    let mut ops = Vec::new();
    compare(old, new, &mut Vec::new(), &mut ops);
    ops
}

fn compare(old: &Value, new: &Value, path: &mut Vec<String>, ops: &mut Vec<Op>) {
    let here = |path: &[String]| pointer(&Vec::from_iter(path.iter().map(String::as_str)));
    let (Some(before), Some(after)) = (old.as_object(), new.as_object()) else {
        if old != new {
            ops.push(Op { op: "replace", path: here(path), value: Some(new.clone()) });
        }
        return;
    };
    for (name, value) in before {
        path.push(name.clone());
        match after.get(name) {
            Some(other) => compare(value, other, path, ops),
            None => ops.push(Op { op: "remove", path: here(path), value: None }),
        }
        path.pop();
    }
    for (name, value) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        path.push(name.clone());
        ops.push(Op { op: "add", path: here(path), value: Some(value.clone()) });
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_patch_is_what_it_was_made_from() {
        let old = json!({"PORT": {"Ethernet0": {"mtu": "1500", "fec": "rs"}}, "OLD": {"a": {}}});
        let mut new = old.clone();
        let ops = [
            Op::set("PORT", "Ethernet0", "mtu", "9100"),
            Op::unset("PORT", "Ethernet0", "fec"),
            Op::row("BUFFER_PG", "Ethernet0|3-4", &[Field { name: "profile", value: "p" }]),
            Op::drop("OLD", "a"),
        ];
        apply(&mut new, &ops).unwrap();
        let mut again = old.clone();
        let difference = difference(&old, &new);
        apply(&mut again, &difference).unwrap();
        assert_eq!(again, new);
        let paths = Vec::from_iter(difference.iter().map(|op| (op.op, op.path.as_str())));
        let expected = [
            ("remove", "/OLD/a"),
            ("remove", "/PORT/Ethernet0/fec"),
            ("replace", "/PORT/Ethernet0/mtu"),
            ("add", "/BUFFER_PG"),
        ];
        assert_eq!(paths, expected);
        assert!(apply(&mut new, &[Op::drop("OLD", "b")]).is_err());
    }

    #[test]
    fn slashes_in_keys_are_written_as_pointers_want() {
        let op = Op::set("MUX_CABLE", "a/b~c", "x", "1");
        assert_eq!(op.path, "/MUX_CABLE/a~1b~0c/x");
        let mut document = json!({});
        apply(&mut document, &[op]).unwrap();
        assert_eq!(document, json!({"MUX_CABLE": {"a/b~c": {"x": "1"}}}));
    }
}
