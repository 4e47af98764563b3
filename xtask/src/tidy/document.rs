//! Every document, scenario and source that a comment or a text names is in the repository.

use std::collections::BTreeSet;

use crate::repo::{File, Finding};

/// Checks one file; `paths` are the files of the repository.
///
/// Of a document its name without the folder is enough, and documents on other hosts are left alone.
/// Other files and folders are found by their paths, as they are written or, in the short form of
/// `ARCHITECTURE.md`, below a crate. The tests of this program name what does not exist.
pub fn check(file: &File, paths: &BTreeSet<String>) -> Vec<Finding> {
    if file.path.starts_with("xtask/") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let documents = documents(line).filter(|name| !is_file(paths, name));
        let others = words(line).filter(|path| is_cited(paths, path) && !exists(paths, path));
        for name in documents.chain(others) {
            let message = format!("`{name}` is not in the repository: say what the reader needs");
            findings.push(file.error(index + 1, message));
        }
    }
    findings
}

/// The names in a line that end in `.md`, without their folders.
fn documents(line: &str) -> impl Iterator<Item = &str> {
    words(line).filter_map(|path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_document = name.strip_suffix(".md").is_some_and(|stem| !stem.is_empty());
        is_document.then_some(name)
    })
}

/// Whether this is the path of a file of ours: it begins with such a folder, or is a source below a
/// crate. What is left of a pattern is none, nor the `NAME` of something that is yet to be written.
fn is_cited(paths: &BTreeSet<String>, path: &str) -> bool {
    let Some((folder, rest)) = path.split_once('/') else { return false };
    let is_source = path.ends_with(".rs") && has(paths, &home(folder));
    let is_ours = FOLDERS.contains(&folder) || is_source;
    is_ours && !rest.is_empty() && !rest.contains("NAME") && !path.ends_with(".md")
}

/// The words of a line that may be paths, without what ends a sentence.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |char: char| char.is_ascii_alphanumeric() || "-_./:*{}$<>".contains(char);
    let words = line.split(move |char| !is_part(char));
    let plain = words.filter(|word| !word.contains("://") && !word.contains(['*', '{', '$', '<']));
    plain.map(|word| word.trim_end_matches(['.', ':', '}', '>', '/']))
}

/// The folder of a crate that has this short name.
fn home(short: &str) -> String {
    match short {
        "pauseless" => "crates/pauseless".to_string(),
        _ => format!("crates/pauseless-{short}"),
    }
}

/// Whether there is such a file or folder, below a crate if that is how the path begins.
fn exists(paths: &BTreeSet<String>, cited: &str) -> bool {
    let (folder, rest) = cited.split_once('/').unwrap_or((cited, ""));
    let home = home(folder);
    has(paths, cited)
        || has(paths, &format!("{home}/{rest}"))
        || has(paths, &format!("{home}/src/{rest}"))
}

fn has(paths: &BTreeSet<String>, path: &str) -> bool {
    let below = format!("{path}/");
    let next = paths.range(below.clone()..).next();
    paths.contains(path) || next.is_some_and(|path| path.starts_with(&below))
}

/// The folders whose files texts may name.
const FOLDERS: [&str; 6] = ["docs", "papers", "scenarios", "examples", "testbeds", "crates"];

fn is_file(paths: &BTreeSet<String>, name: &str) -> bool {
    paths.iter().any(|path| path.rsplit('/').next() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        let paths = ["README.md", "docs/gfc-guard.md", "crates/pauseless-core/src/a.rs"];
        let paths = paths.map(str::to_owned).into();
        let findings = check(&File::new(path, text), &paths);
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn documents_of_the_repository_pass() {
        for text in [
            "//! `docs/gfc-guard.md` has more.\n",
            "// See gfc-guard.md: it says why (README.md).\n",
            "<https://example.org/docs/other.md> and *.md and a.mdx\n",
            "`core/a.rs`, `core/src/a.rs`, crates/pauseless-core/; core/NAME.rs, docs/*.svg, a/b.rs\n",
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
        let text = "papers/gone.toml, `core/gone.rs`: see docs/gone/";
        assert_eq!(messages("docs/a.md", text).len(), 3);
    }
}
