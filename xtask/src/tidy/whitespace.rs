//! Tabs, trailing whitespace, the newline at the end, and marks of unfinished work.

use crate::repo::{File, Finding};
use crate::source::{Class, Source, has_word};

/// Checks one file of any kind.
pub fn check(file: &File) -> Vec<Finding> {
    let mut findings = whitespace(file);
    findings.extend(final_newline(file));
    findings.extend(unfinished(file));
    findings
}

/// In Rust, a literal may hold any whitespace: some formats that we read need it.
fn whitespace(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let source = (file.extension() == "rs").then(|| Source::parse(&file.text));
    let is_ours = |offset: usize| match &source {
        Some(source) => source.class(offset) != Class::Literal,
        None => true,
    };
    let mut is_fenced = false;
    let mut offset = 0;
    for (index, line) in file.text.split('\n').enumerate() {
        let is_fence = file.extension() == "md" && line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        let tab = line.find('\t').filter(|at| is_ours(offset + at));
        // A fenced block may quote a format that is made of tabs.
        if tab.is_some() && !is_fenced {
            findings.push(file.error(index + 1, "tab; indent with spaces"));
        }
        if line.ends_with([' ', '\t', '\r']) && is_ours(offset + line.len() - 1) {
            findings.push(file.error(index + 1, "trailing whitespace"));
        }
        offset += line.len() + 1;
    }
    findings
}

fn final_newline(file: &File) -> Option<Finding> {
    let line = file.text.lines().count();
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        Some(file.error(line, "no newline at the end of the file"))
    } else if file.text.ends_with("\n\n") {
        Some(file.error(line, "blank line at the end of the file"))
    } else {
        None
    }
}

/// Work left for later belongs in an issue, where it is seen.
fn unfinished(file: &File) -> Vec<Finding> {
    let text = match file.extension() {
        "rs" => Source::parse(&file.text).only(Class::Comment),
        // Documents may speak of the marks.
        "md" => return Vec::new(),
        _ => file.text.clone(),
    };
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for mark in MARKS.iter().filter(|mark| has_word(line, mark)) {
            findings.push(file.error(index + 1, format!("`{mark}`; do it or file an issue")));
        }
    }
    findings
}

const MARKS: [&str; 2] = ["FIXME", "XXX"];

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        let findings = check(&File::new(path, text));
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn good_text_passes() {
        assert!(messages("a.rs", "").is_empty());
        assert!(messages("a.rs", "fn f() {}\n\nfn g() {}\n").is_empty());
        assert!(messages("a.toml", "a = 1\n").is_empty());
    }

    #[test]
    fn tabs_and_trailing_whitespace_are_found() {
        assert_eq!(messages("a.rs", "\tf();\n"), ["a.rs:1: tab; indent with spaces"]);
        assert_eq!(messages("a.md", "a\nb  \n"), ["a.md:2: trailing whitespace"]);
        assert_eq!(messages("a.toml", "a = 1\r\n"), ["a.toml:1: trailing whitespace"]);
    }

    #[test]
    fn literals_and_fenced_blocks_may_hold_tabs() {
        assert!(messages("a.rs", "const A: &str = \"\n\ta \n\";\n").is_empty());
        assert!(messages("a.md", "```\na\tb\n```\n").is_empty());
        assert_eq!(messages("a.md", "```\n```\na\tb\n").len(), 1);
    }

    #[test]
    fn the_file_ends_with_one_newline() {
        let missing = "a.rs:2: no newline at the end of the file";
        assert_eq!(messages("a.rs", "a\nb"), [missing]);
        let blank = "a.rs:2: blank line at the end of the file";
        assert_eq!(messages("a.rs", "a\n\n"), [blank]);
    }

    #[test]
    fn unfinished_work_is_found_in_comments_only() {
        let found = messages("a.rs", "// FIXME: wrong\nf(); // XXX\n");
        assert_eq!(found.len(), 2);
        assert_eq!(messages("a.toml", "# FIXME\n").len(), 1);
        assert!(messages("a.rs", "f(\"FIXME\");\n// XXXL\n").is_empty());
        assert!(messages("a.md", "No XXX here.\n").is_empty());
    }
}
