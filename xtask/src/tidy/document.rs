//! Every document that a comment or a text names is in the repository.

use std::collections::BTreeSet;

use crate::repo::{File, Finding};

/// Checks one file; `paths` are the files of the repository.
///
/// A name without its folder is enough, and documents on other hosts are left alone. The tests
/// of this program name documents that do not exist.
pub fn check(file: &File, paths: &BTreeSet<String>) -> Vec<Finding> {
    if file.path.starts_with("xtask/") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for name in documents(line).filter(|name| !is_file(paths, name)) {
            let message = format!("`{name}` is not in the repository: say what the reader needs");
            findings.push(file.error(index + 1, message));
        }
    }
    findings
}

/// The names in a line that end in `.md`, without their folders.
fn documents(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || "-_./:".contains(char);
    let words = line.split(move |char| !is_part(char));
    let local = words.filter(|word| !word.contains("://"));
    local.filter_map(|word| {
        let path = word.trim_end_matches(['.', ':']);
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_document = name.strip_suffix(".md").is_some_and(|stem| !stem.is_empty());
        is_document.then_some(name)
    })
}

fn is_file(paths: &BTreeSet<String>, name: &str) -> bool {
    paths.iter().any(|path| path.rsplit('/').next() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        let paths = ["README.md", "docs/gfc-guard.md"].map(str::to_owned).into();
        let findings = check(&File::new(path, text), &paths);
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn documents_of_the_repository_pass() {
        for text in [
            "//! `docs/gfc-guard.md` has more.\n",
            "// See gfc-guard.md: it says why (README.md).\n",
            "<https://example.org/docs/other.md> and *.md and a.mdx\n",
        ] {
            assert_eq!(messages("crates/a/src/a.rs", text), [""; 0], "{text}");
        }
        assert_eq!(messages("xtask/src/a.rs", "gone.md"), [""; 0]);
    }

    #[test]
    fn other_documents_are_found() {
        let found = messages("clippy.toml", "a = 1\n# As in NOTES.md, section 2.\n");
        let message = "`NOTES.md` is not in the repository: say what the reader needs";
        assert_eq!(found, [format!("clippy.toml:2: {message}")]);
        assert_eq!(messages("docs/a.md", "in guard.md: and `../shared/NOTES.md`").len(), 2);
    }
}
