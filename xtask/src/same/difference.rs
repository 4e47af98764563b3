//! The lines in which two results differ.

use std::collections::BTreeMap;

use super::case::{Part, Result};
use super::{json, mask};

/// The differing lines of two results, each as `PART: -old text` or `PART: +new text`.
pub fn between(old: &Result, new: &Result) -> Vec<String> {
    let (before, after) = (by_name(old), by_name(new));
    let mut found = Vec::new();
    for (name, old) in &before {
        match after.get(name) {
            Some(new) => found.extend(of_parts(name, old, new)),
            None => found.push(format!("{name}: -this file was written")),
        }
    }
    for name in after.keys().filter(|name| !before.contains_key(*name)) {
        found.push(format!("{name}: +this file was written"));
    }
    found
}

/// A line that is short enough to be read, and without control characters.
pub fn shortened(line: &str) -> String {
    let short: String = line.chars().take(LETTERS_SHOWN).collect();
    let short = short.replace(char::is_control, "?");
    if short.len() < line.len() { format!("{short}..") } else { short }
}

/// Parts by their names. Of names that are equal once they are masked, all but the first get a number.
fn by_name(result: &Result) -> BTreeMap<String, &Part> {
    let mut parts = BTreeMap::new();
    for part in &result.parts {
        let mut name = part.name.clone();
        let mut count = 1;
        while parts.contains_key(&name) {
            count += 1;
            name = format!("{} ({count})", part.name);
        }
        parts.insert(name, part);
    }
    parts
}

fn of_parts(name: &str, old: &Part, new: &Part) -> Vec<String> {
    if old.content == new.content || mask::is_of_builds(name, &old.content, &new.content) {
        return Vec::new();
    }
    let (Ok(before), Ok(after)) =
        (std::str::from_utf8(&old.content), std::str::from_utf8(&new.content))
    else {
        return of_bytes(name, &old.content, &new.content);
    };
    let (before, after) = (readable(before), readable(after));
    let changes = of_lines(&before, &after);
    changes.map(|change| format!("{name}: {change}")).collect()
}

/// Masked lines: of a JSON document one for each value, else those of the text.
fn readable(text: &str) -> Vec<String> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    match is_json.then(|| json::lines(text)).flatten() {
        Some(values) => values.iter().map(|line| mask::value(line)).collect(),
        None => mask::lines(text),
    }
}

fn of_bytes(name: &str, old: &[u8], new: &[u8]) -> Vec<String> {
    let (old, new) = (mask::bytes(old), mask::bytes(new));
    if old == new {
        return Vec::new();
    }
    let place = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    vec![
        format!("{name}: -{} bytes", old.len()),
        format!("{name}: +{} bytes, other ones from {place}", new.len()),
    ]
}

/// What is to be taken away from old lines and what to be added to make new ones of them.
fn of_lines(old: &[String], new: &[String]) -> impl Iterator<Item = String> {
    let same = |(a, b): &(&String, &String)| a == b;
    let head = old.iter().zip(new).take_while(same).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = (old.iter().rev().zip(new.iter().rev())).take_while(same).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let common = if old.len().saturating_mul(new.len()) <= TABLE_MAX {
        common_subsequence(old, new)
    } else {
        // Too much to be aligned: all of it is different.
        Vec::new()
    };
    let mut changes = Vec::new();
    let (mut i, mut j) = (0, 0);
    for (a, b) in common.into_iter().chain([(old.len(), new.len())]) {
        changes.extend(old[i..a].iter().map(|line| format!("-{line}")));
        changes.extend(new[j..b].iter().map(|line| format!("+{line}")));
        (i, j) = (a + 1, b + 1);
    }
    changes.into_iter()
}

/// The places of a longest common subsequence, by the textbook's table.
fn common_subsequence(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut longest = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            longest[i * width + j] = if old[i] == new[j] {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let mut places = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            places.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    places
}

/// How many letters of a differing line are printed.
const LETTERS_SHOWN: usize = 240;
/// The largest table of line pairs that is worth its memory, 64 MB.
const TABLE_MAX: usize = 16_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn result(parts: &[(&str, &str)]) -> Result {
        let parts = parts.iter().map(|(name, content)| Part {
            name: (*name).to_owned(),
            content: content.as_bytes().to_vec(),
        });
        Result { parts: parts.collect() }
    }

    #[test]
    fn one_changed_number_is_one_line_on_each_side() {
        let old = result(&[("1.stdout", "a\nrate 5\nb\n"), ("1.status", "ended with 0")]);
        let new = result(&[("1.stdout", "a\nrate 6\nb\n"), ("1.status", "ended with 1")]);
        let expected = [
            "1.status: -ended with 0",
            "1.status: +ended with 1",
            "1.stdout: -rate 5",
            "1.stdout: +rate 6",
        ];
        assert_eq!(between(&old, &new), expected);
        assert!(between(&old, &old).is_empty());
    }

    #[test]
    fn json_is_compared_value_by_value_without_the_clock() {
        let old = result(&[("1.stdout", r#"{"wall_s": 1.5, "runs": [{"x": 1}]}"#)]);
        let new = result(&[("1.stdout", "{\n\"wall_s\": 2.5, \"runs\": [{\"x\": 2}]}")]);
        let expected = ["1.stdout: -.runs[0].x = 1", "1.stdout: +.runs[0].x = 2"];
        assert_eq!(between(&old, &new), expected);
    }

    #[test]
    fn lines_in_another_order_differ() {
        let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let changes: Vec<_> = of_lines(&lines("a b c d"), &lines("a c b d")).collect();
        assert_eq!(changes, ["-b", "+b"]);
        let changes: Vec<_> = of_lines(&lines("a"), &lines("a a x")).collect();
        assert_eq!(changes, ["+a", "+x"]);
    }

    #[test]
    fn files_of_one_side_only_are_named() {
        let old = result(&[("out/flows.csv", "x")]);
        let new = result(&[("out/flow.csv", "x")]);
        let expected =
            ["out/flows.csv: -this file was written", "out/flow.csv: +this file was written"];
        assert_eq!(between(&old, &new), expected);
    }
}
