//! A description as tables of a document.

use std::fmt::Write;

use super::describe::{Fallback, Info, KeyInfo, Kind};

/// The keys of `info` at `path`, such as `switch.memory` or `congestion_control=pcn`, as a table;
/// `None` where the path leads nowhere.
pub fn keys(info: &Info, path: &str) -> Option<String> {
    let info = find(info, path)?;
    let kind = info.variants.as_ref().map(|variants| {
        let names = Vec::from_iter(variants.list.iter().map(|(name, _)| *name));
        let default = match variants.default {
            Some(default) => format!("`\"{default}\"`"),
            None => "required".to_string(),
        };
        [
            format!("`{}`", variants.key),
            words(&names),
            default,
            "Which keys there are beside these.".to_string(),
        ]
    });
    let rows = kind.into_iter().chain(info.keys.iter().map(row));
    Some(table(["key", "value", "default", "meaning"], rows))
}

/// The kinds of `info` at `path`, each with its sentence and its keys.
pub fn kinds(info: &Info, path: &str) -> Option<String> {
    let variants = find(info, path)?.variants?;
    let rows = variants.list.iter().flat_map(|(name, own)| {
        let mut first = [const { String::new() }; 5];
        first[0] = format!("`\"{name}\"`");
        first[4] = own.about.clone();
        let keys = own.keys.iter().map(|key| {
            let [name, value, default, meaning] = row(key);
            [String::new(), name, value, default, meaning]
        });
        Vec::from_iter([first].into_iter().chain(keys))
    });
    Some(table([variants.key, "key", "value", "default", "meaning"], rows))
}

/// The part of a description that `path` leads to.
fn find(info: &Info, path: &str) -> Option<Info> {
    let mut at = info.clone();
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let (key, kind) = step.split_once('=').unwrap_or((step, ""));
        if !key.is_empty() {
            let variants = at.variants.iter().flat_map(|variants| &variants.list);
            let own = variants.flat_map(|(_, own)| &own.keys);
            let mut keys = at.keys.iter().chain(own);
            at = keys.find(|own| own.name == key)?.kind.table()?.clone();
        }
        if !kind.is_empty() {
            let variants = at.variants?.list.into_iter();
            at = variants.into_iter().find(|(name, _)| *name == kind)?.1;
        }
    }
    Some(at)
}

/// The section that stands behind a key, or under every name behind it.
fn row(key: &KeyInfo) -> [String; 4] {
    let name = match &key.kind {
        Kind::Table(_) => format!("`[{}]`", key.name),
        Kind::Map(of) if of.table().is_some() => format!("`[{}.NAME]`", key.name),
        Kind::Tables(_) | Kind::TablesOrOne(_) => format!("`[[{}]]`", key.name),
        _ => format!("`{}`", key.name),
    };
    let default = match &key.fallback {
        Fallback::Required(_) => "required".to_string(),
        Fallback::Value(value) => format!("`{value}`"),
        Fallback::Derived(formula) => (*formula).to_string(),
        Fallback::Absent => "none".to_string(),
    };
    [name, values(&key.kind), default, key.about.clone()]
}

/// What can be written, in a few words.
fn values(kind: &Kind) -> String {
    match kind {
        Kind::Quantity { noun, range, .. } => {
            let noun = noun.trim_start_matches("a ").trim_start_matches("an amount of ");
            match range {
                Some([low, high]) => format!("{noun}, {low} to {high}"),
                None => noun.to_string(),
            }
        }
        Kind::Integer { low, high } if *high < u64::from(u32::MAX) => format!("{low} to {high}"),
        Kind::Integer { low: 0, .. } => "whole number".to_string(),
        Kind::Integer { low, .. } => format!("whole number from {low}"),
        Kind::Number { low, high } if *high < f64::MAX && *low < 1e-6 && *low > 0.0 => {
            format!("above 0, to {high}")
        }
        Kind::Number { low, high } if *high < f64::MAX => format!("{low} to {high}"),
        Kind::Number { .. } => "number".to_string(),
        Kind::Flag => "`true` or `false`".to_string(),
        Kind::Text(what) => what.trim_start_matches("a ").to_string(),
        Kind::Word(all) => words(all),
        Kind::List { of, least: 2, most: Some(2) } => format!("list of two: {}", values(of)),
        Kind::List { of, .. } => format!("list of: {}", values(of)),
        Kind::Either(kinds) => Vec::from_iter(kinds.iter().map(values)).join("; or "),
        Kind::Table(_) => "section".to_string(),
        Kind::Tables(_) | Kind::TablesOrOne(_) => "sections".to_string(),
        Kind::Map(of) if of.table().is_some() => "sections".to_string(),
        Kind::Map(of) => format!("table of: {}", values(of)),
        Kind::Rows(_) => "rows of words".to_string(),
        Kind::Any => "anything".to_string(),
    }
}

fn words(words: &[&str]) -> String {
    Vec::from_iter(words.iter().map(|word| format!("`\"{word}\"`"))).join(", ")
}

fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(N));
    for row in rows {
        let row = row.map(|cell| cell.replace('|', "\\|"));
        writeln!(text, "| {} |", row.join(" | ")).expect("writing to a String never fails");
    }
    text
}
