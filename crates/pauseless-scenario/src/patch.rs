//! Values of a scenario file, replaced by their paths.

use toml::{Table, Value};

/// `text` with the value at each path of `set` replaced, or added where there was none. A path
/// leads through sections by their keys and through lists by the name, the kind or the position
/// (from 1) of an element.
pub fn patch(text: &str, set: &Table) -> Result<String, String> {
    if set.is_empty() {
        return Ok(text.to_string());
    }
    let mut root: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    for (path, value) in set {
        put(&mut root, path, value)?;
    }
    toml::to_string(&root).map_err(|error| error.to_string())
}

/// Sets one value of a file that was parsed.
pub fn put(root: &mut Table, path: &str, value: &Value) -> Result<(), String> {
    let keys: Vec<&str> = path.split('.').collect();
    replace(root, &keys, value).map_err(|key| format!("{path}: there is no {key:?}"))
}

/// Fails with the key that leads nowhere.
fn replace(table: &mut Table, keys: &[&str], value: &Value) -> Result<(), String> {
    match keys {
        [] => Ok(()),
        [last] => {
            table.insert((*last).to_string(), value.clone());
            Ok(())
        }
        [first, rest @ ..] => {
            let inner = table.entry(*first).or_insert_with(|| Value::Table(Table::new()));
            descend(inner, first, rest, value)
        }
    }
}

fn descend(at: &mut Value, key: &str, rest: &[&str], value: &Value) -> Result<(), String> {
    match at {
        Value::Table(table) => replace(table, rest, value),
        Value::Array(list) => {
            let [name, more @ ..] = rest else {
                return Err(key.to_string());
            };
            let element = position(list, name).ok_or_else(|| (*name).to_string())?;
            match more {
                [] => {
                    list[element] = value.clone();
                    Ok(())
                }
                more => descend(&mut list[element], name, more, value),
            }
        }
        _ => Err(key.to_string()),
    }
}

fn position(list: &[Value], name: &str) -> Option<usize> {
    let is = |element: &Value, key: &str| {
        let found = element.get(key).and_then(Value::as_str);
        found == Some(name)
    };
    let named = list.iter().position(|element| is(element, "name"));
    let number = || {
        let number: usize = name.parse().ok()?;
        number.checked_sub(1).filter(|index| *index < list.len())
    };
    named.or_else(|| list.iter().position(|element| is(element, "kind"))).or_else(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        duration = "1 s"
        [switch]
        buffer = "1 MB"
        [flow_control]
        kind = "pfc"
        xoff = "10 KB"
        [[flow]]
        name = "F1"
        [[flow]]
        name = "F2"
        rate = "1 Gbps"
        [[traffic]]
        kind = "poisson"
    "#;

    fn patched(set: &str) -> Result<Table, String> {
        let set: Table = toml::from_str(set).expect("a table");
        let text = patch(FILE, &set)?;
        Ok(toml::from_str(&text).expect("still a file"))
    }

    #[test]
    fn values_sections_and_elements_are_replaced_or_added() {
        let set = r#"
            duration = "2 s"
            "switch.buffer" = "3 MB"
            "switch.memory.total" = "9 MB"
            flow_control = { kind = "cbfc" }
            "flow.F1.rate" = "5 Gbps"
            "flow.2.rate" = "6 Gbps"
            "traffic.poisson.load" = "10 %"
            "probe.resolution" = "1 us"
        "#;
        let table = patched(set).expect("all paths lead somewhere");
        assert_eq!(table["duration"].as_str(), Some("2 s"));
        assert_eq!(table["switch"]["buffer"].as_str(), Some("3 MB"));
        assert_eq!(table["switch"]["memory"]["total"].as_str(), Some("9 MB"));
        assert_eq!(table["flow_control"].get("xoff"), None, "the whole section");
        assert_eq!(table["flow"][0]["rate"].as_str(), Some("5 Gbps"));
        assert_eq!(table["flow"][1]["rate"].as_str(), Some("6 Gbps"));
        assert_eq!(table["traffic"][0]["load"].as_str(), Some("10 %"));
        assert_eq!(table["probe"]["resolution"].as_str(), Some("1 us"));
    }

    #[test]
    fn a_path_that_leads_nowhere_is_named() {
        let wrong = patched("\"flow.F9.rate\" = 1").expect_err("no F9");
        assert_eq!(wrong, "flow.F9.rate: there is no \"F9\"");
        let wrong = patched("\"duration.x\" = 1").expect_err("a value");
        assert_eq!(wrong, "duration.x: there is no \"duration\"");
    }
}
