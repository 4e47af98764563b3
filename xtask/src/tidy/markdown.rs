//! Links in documents lead to files that exist, and the architecture stays short.

use std::collections::{BTreeMap, BTreeSet};

use crate::repo::{File, Finding};

/// Checks one document; `paths` are the files that a link may lead to.
pub fn check(file: &File, paths: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = file.text.lines().count();
    if file.path == "ARCHITECTURE.md" && lines > ARCHITECTURE_LINES_MAX {
        let message = format!("{lines} lines, limit {ARCHITECTURE_LINES_MAX}; say less");
        findings.push(file.error(lines, message));
    }
    for (line, target) in links(&file.text) {
        let Some(path) = local_path(&file.path, &target) else {
            continue;
        };
        if !exists(paths, &path) {
            findings.push(file.error(line, format!("the link to `{target}` leads nowhere")));
        }
    }
    findings
}

/// Finds links to headings that are not there.
pub fn check_headings(files: &[File]) -> Vec<Finding> {
    let documents = files.iter().filter(|file| file.extension() == "md");
    let headings = documents.clone().map(|file| (file.path.as_str(), headings(&file.text)));
    let headings: BTreeMap<&str, BTreeSet<String>> = headings.collect();
    let mut findings = Vec::new();
    for file in documents {
        for (line, target) in links(&file.text) {
            let Some((path, heading)) = target.split_once('#') else { continue };
            let path = if path.is_empty() {
                Some(file.path.clone())
            } else {
                local_path(&file.path, path)
            };
            let there = path.and_then(|path| headings.get(path.as_str()));
            if there.is_some_and(|there| !there.contains(heading)) {
                let message = format!("the link to `{target}` leads to no heading");
                findings.push(file.error(line, message));
            }
        }
    }
    findings
}

/// The headings of a document as links name them.
fn headings(text: &str) -> BTreeSet<String> {
    let mut is_fenced = false;
    let lines = text.lines().filter(|line| {
        is_fenced ^= line.trim_start().starts_with("```");
        !is_fenced && line.starts_with('#')
    });
    let name = |line: &str| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|char| char.is_alphanumeric() || " -_".contains(*char));
        kept.map(|char| if char == ' ' { '-' } else { char }).collect()
    };
    lines.map(name).collect()
}

/// The targets of inline links, images and reference definitions, with their lines.
pub fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    let mut is_fenced = false;
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            is_fenced = !is_fenced;
            continue;
        }
        if is_fenced {
            continue;
        }
        let prose = without_code_spans(line);
        let targets = inline_targets(&prose).into_iter().chain(reference_target(&prose));
        links.extend(targets.map(|target| (index + 1, target)));
    }
    links
}

/// A code span opens with some backticks and closes with as many.
fn without_code_spans(line: &str) -> String {
    let mut prose = String::new();
    let mut rest = line;
    while let Some(open) = rest.find('`') {
        prose.push_str(&rest[..open]);
        let behind = rest[open..].trim_start_matches('`');
        let ticks = &rest[open..rest.len() - behind.len()];
        rest = match behind.find(ticks) {
            Some(close) => &behind[close + ticks.len()..],
            None => behind,
        };
        prose.push('`');
    }
    prose + rest
}

fn inline_targets(prose: &str) -> Vec<String> {
    let opened = prose.match_indices("](").map(|(at, open)| at + open.len());
    opened
        .filter_map(|start| {
            let mut depth = 1;
            let end = prose[start..].find(|char| {
                match char {
                    '(' => depth += 1,
                    ')' => depth -= 1,
                    _ => {}
                }
                depth == 0
            })?;
            destination(&prose[start..start + end])
        })
        .collect()
}

/// `[name]: target` alone on its line.
fn reference_target(prose: &str) -> Option<String> {
    let (name, target) = prose.trim_start().strip_prefix('[')?.split_once("]:")?;
    // A footnote's text is prose, and `[a][b]: c` is no definition.
    if name.starts_with('^') || name.contains(']') {
        return None;
    }
    destination(target)
}

/// The target without its title and without angle brackets.
fn destination(text: &str) -> Option<String> {
    let text = text.trim();
    let target = match text.strip_prefix('<') {
        Some(bracketed) => bracketed.split('>').next(),
        None => text.split_whitespace().next(),
    };
    target.map(str::to_owned)
}

/// The path within the repository that a target names, unless it leads elsewhere.
pub fn local_path(from: &str, target: &str) -> Option<String> {
    let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
    let target = target.split(['#', '?']).next().unwrap_or_default();
    if is_elsewhere || target.is_empty() {
        return None;
    }
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let target = target.replace("%20", " ");
    let joined = match target.strip_prefix('/') {
        Some(absolute) => absolute.to_owned(),
        None => format!("{folder}/{target}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            // Above the root nothing is ours: the part stays and matches no file.
            ".." if parts.last().is_some_and(|&last| last != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Whether there is such a file, or a folder with files in it.
fn exists(paths: &BTreeSet<String>, path: &str) -> bool {
    let folder = format!("{path}/");
    let first = paths.range(folder.clone()..).next();
    let is_folder = first.is_some_and(|first| first.starts_with(&folder));
    path.is_empty() || paths.contains(path) || is_folder
}

const ARCHITECTURE_LINES_MAX: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        let paths = ["README.md", "docs/gfc.md", "docs/a (b).svg", "crates/a/src/lib.rs"];
        let paths = paths.map(str::to_owned).into();
        let findings = check(&File::new(path, text), &paths);
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn links_lead_to_headings_that_are_there() {
        let a = File::new(
            "docs/a.md",
            "# How `fast`, and why?\n```\n# no heading\n```\n[x](#how-fast-and-why)\n",
        );
        let b =
            File::new("docs/b.md", "[x](a.md#how-fast-and-why) [y](a.md#no-heading) [z](#gone)\n");
        let found = check_headings(&[a, b]);
        let found: Vec<String> = found.iter().map(Finding::to_string).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("a.md#no-heading") && found[1].contains("#gone"), "{found:?}");
    }

    #[test]
    fn links_to_files_and_folders_pass() {
        for (path, text) in [
            ("README.md", "[a](docs/gfc.md#top), ![b](./docs/gfc.md \"title\")"),
            ("README.md", "[a](docs) and [b](docs/) and [c](crates/a)"),
            ("README.md", "![a](<docs/a (b).svg>) ![b](docs/a%20(b).svg)"),
            ("docs/gfc.md", "[a](../README.md), [b](/README.md), [c](gfc.md), [d](..)"),
            ("docs/gfc.md", "[a]\n\n[a]: ../README.md\n[^1]: See nowhere.md"),
        ] {
            assert_eq!(messages(path, text), [""; 0], "{text}");
        }
    }

    #[test]
    fn links_to_nowhere_are_found() {
        let found = messages("README.md", "a\n[a](docs/gfc.md) [b](docs/pfc.md)");
        assert_eq!(found, ["README.md:2: the link to `docs/pfc.md` leads nowhere"]);
        for text in ["[a](gfc.md)", "[a](doc)", "[a]: gfc.md", "[a](../../README.md)"] {
            assert_eq!(messages("README.md", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn links_elsewhere_and_code_are_left_alone() {
        for text in [
            "[a](https://example.org/a.md) [b](#top) [c](mailto:a@example.org)",
            "```\n[a](gone.md)\n```",
            "`[a](gone.md)` and ``b ` [c](gone.md)``",
            "[0, 1](not closed",
        ] {
            assert_eq!(messages("README.md", text), [""; 0], "{text}");
        }
    }

    #[test]
    fn the_architecture_is_short() {
        assert!(messages("ARCHITECTURE.md", &"a\n".repeat(200)).is_empty());
        assert_eq!(messages("ARCHITECTURE.md", &"a\n".repeat(201)).len(), 1);
        assert!(messages("docs/gfc.md", &"a\n".repeat(201)).is_empty());
    }
}
