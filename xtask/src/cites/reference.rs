//! What a citation may name: the published sources and the headings of `docs/protocols.md`.

use std::collections::BTreeSet;

use crate::repo::{File, Finding};

/// The document that lists all sources and states every rule that no publication states.
pub const PATH: &str = "docs/protocols.md";

/// The source of a citation that names a heading of the document itself.
const OWN: &str = "protocols";

/// The heading whose table lists the sources.
const SOURCES: &str = "sources";

/// The sources and headings of the document.
#[derive(Debug, Default)]
pub struct Reference {
    /// The keys in the first column of the table of sources.
    sources: BTreeSet<String>,
    /// The names by which links reach the headings.
    anchors: BTreeSet<String>,
}

impl Reference {
    /// Reads the headings and the table of sources of the document.
    pub fn parse(text: &str) -> Reference {
        let mut reference = Reference::default();
        let mut is_fenced = false;
        let mut is_in_sources = false;
        for line in text.lines() {
            if line.starts_with("```") {
                is_fenced = !is_fenced;
            } else if is_fenced {
                continue;
            } else if line.starts_with('#') {
                let anchor = anchor_of(line.trim_start_matches('#').trim());
                is_in_sources = anchor == SOURCES;
                reference.anchors.insert(anchor);
            } else if is_in_sources && let Some(key) = key_of(line) {
                reference.sources.insert(key.to_owned());
            }
        }
        reference
    }

    /// Why the clause `SOURCE PLACE` leads nowhere, or `None` if a reader can look it up.
    pub fn objection(&self, clause: &str) -> Option<String> {
        let mut words = clause.split(' ');
        let source = words.next().unwrap_or_default();
        if source == OWN {
            let anchor = words.next().unwrap_or_default();
            return self.objection_to_anchor(anchor);
        }
        let is_known = self.sources.contains(source);
        (!is_known).then(|| format!("the table of sources in {PATH} has no `{source}`"))
    }

    /// The links in any text to headings of the document that do not exist.
    pub fn broken_links(&self, file: &File) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (index, line) in file.text.lines().enumerate() {
            for (at, link) in line.match_indices("protocols.md#") {
                let behind = &line[at + link.len()..];
                let is_outside = |char: char| !char.is_ascii_alphanumeric() && char != '-';
                let anchor = behind.split(is_outside).next().unwrap_or_default();
                let objection = self.objection_to_anchor(anchor);
                findings.extend(objection.map(|message| file.error(index + 1, message)));
            }
        }
        findings
    }

    fn objection_to_anchor(&self, anchor: &str) -> Option<String> {
        let is_known = self.anchors.contains(anchor);
        (!is_known).then(|| format!("{PATH} has no heading `{anchor}`"))
    }
}

/// The name by which a link reaches a heading: lower case, dashes for spaces, no punctuation.
fn anchor_of(heading: &str) -> String {
    let kept = heading.chars().filter_map(|char| match char {
        ' ' => Some('-'),
        '-' | '_' => Some(char),
        char => char.is_alphanumeric().then_some(char.to_ascii_lowercase()),
    });
    kept.collect()
}

/// The key in the first cell of a row such as "| `gfc19` | title | .. |".
fn key_of(row: &str) -> Option<&str> {
    let (key, _) = row.strip_prefix("| `")?.split_once('`')?;
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# Protocols\n\n### pfc-xon\n| `xon` | no source |\n```text\n# code\n```\n\
                            ## GFC: (time-based)\n## Sources\n| key | title |\n|---|---|\n\
                            | `gfc19` | Gentle |\n| `802.1Q-2022` | Bridges |\n## After\n| `late` |\n";

    #[test]
    fn published_sources_and_own_headings_resolve() {
        let reference = Reference::parse(DOCUMENT);
        for clause in [
            "gfc19 4.2 eq 5",
            "802.1Q-2022 36.1.3",
            "protocols pfc-xon",
            "protocols gfc-time-based",
        ] {
            assert_eq!(reference.objection(clause), None, "{clause}");
        }
    }

    #[test]
    fn unknown_sources_and_headings_are_refused() {
        let reference = Reference::parse(DOCUMENT);
        for (clause, message) in [
            ("gfc20 4.2", "the table of sources in docs/protocols.md has no `gfc20`"),
            ("xon 1", "the table of sources in docs/protocols.md has no `xon`"),
            ("late 1", "the table of sources in docs/protocols.md has no `late`"),
            ("protocols pfc-xoff", "docs/protocols.md has no heading `pfc-xoff`"),
            ("protocols code", "docs/protocols.md has no heading `code`"),
            ("protocols", "docs/protocols.md has no heading ``"),
        ] {
            assert_eq!(reference.objection(clause).as_deref(), Some(message), "{clause}");
        }
    }

    #[test]
    fn links_to_missing_headings_are_found() {
        let reference = Reference::parse(DOCUMENT);
        let text = "see docs/protocols.md#pfc-xon, or\n[a](protocols.md#pfc-xoff) \"protocols.md#sources\"\n";
        let found = reference.broken_links(&File::new("docs/a.md", text));
        let found: Vec<String> = found.iter().map(Finding::to_string).collect();
        assert_eq!(found, ["docs/a.md:2: docs/protocols.md has no heading `pfc-xoff`"]);
    }
}
