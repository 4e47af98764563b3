//! Plain English and plain Rust: a doc comment is a sentence, and a tuple does not stand for
//! arguments.

use crate::repo::{File, Finding};
use crate::source::{Class, Source};

/// Checks all Rust files.
pub fn check(files: &[File]) -> Vec<Finding> {
    let files = files.iter().filter(|file| file.extension() == "rs");
    files
        .flat_map(|file| {
            let source = Source::parse(&file.text);
            let mut findings = short_docs(file, &source.only(Class::Comment));
            findings.extend(tuple_parameters(file, &source.only(Class::Code)));
            findings
        })
        .collect()
}

/// Doc comments of fewer than [`WORDS_MIN`] words; `comments` is the file without anything else.
fn short_docs(file: &File, comments: &str) -> Vec<Finding> {
    let lines = Vec::from_iter(comments.lines().map(|line| doc_line(line.trim())));
    let mut findings = Vec::new();
    let mut first = 0;
    for block in lines.chunk_by(|a, b| a.map(|(marker, _)| marker) == b.map(|(marker, _)| marker)) {
        let texts = block.iter().flatten().flat_map(|(_, text)| text.split_whitespace());
        let words = texts.filter(|word| word.contains(char::is_alphanumeric)).count();
        if block[0].is_some() && words < WORDS_MIN {
            let problem = format!("a doc comment of {words} words");
            let help = "write a sentence with a subject, or delete it where the name says all";
            findings.push(file.error(first + 1, format!("{problem}; {help}")));
        }
        first += block.len();
    }
    findings
}

/// The marker and the text of a line of documentation.
fn doc_line(line: &str) -> Option<(&str, &str)> {
    let is_doc = line.starts_with("//!") || line.starts_with("///") && !line.starts_with("////");
    is_doc.then(|| line.split_at(3))
}

/// Parameters of functions whose type is a tuple or a reference to one.
fn tuple_parameters(file: &File, code: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if code[..at].ends_with(|char: char| char.is_alphanumeric() || char == '_') {
            continue;
        }
        for parameter in parameters(&code[at + 3..]) {
            if let Some((_, kind)) = split_at_depth_zero(parameter, ':')
                && is_tuple(kind)
            {
                let line = code[..at].matches('\n').count() + 1;
                let name = code[at + 3..].split(['(', '<']).next().unwrap_or_default();
                let problem = format!("`{}` takes a tuple", name.trim());
                let help = "pass arguments, or a struct with a name";
                findings.push(file.error(line, format!("{problem}; {help}")));
            }
        }
    }
    findings
}

/// The parameters of a function whose name comes first in `code`.
fn parameters(code: &str) -> Vec<&str> {
    let name_end = code.find(|char: char| !char.is_alphanumeric() && char != '_');
    let mut rest = &code[name_end.unwrap_or(code.len())..];
    if rest.starts_with('<') {
        rest = &rest[group_length(rest)..];
    }
    if !rest.starts_with('(') {
        return Vec::new();
    }
    let mut inside = rest.get(1..group_length(rest).saturating_sub(1)).unwrap_or_default();
    let mut parameters = Vec::new();
    while let Some((first, others)) = split_at_depth_zero(inside, ',') {
        parameters.push(first);
        inside = others;
    }
    parameters.push(inside);
    parameters
}

fn is_tuple(kind: &str) -> bool {
    let mut kind = kind.trim_start();
    if let Some(referred) = kind.strip_prefix('&') {
        kind = referred.trim_start();
        if kind.starts_with('\'') {
            kind = kind.split_once(' ').map_or("", |(_, rest)| rest);
        }
        kind = kind.trim_start().strip_prefix("mut ").unwrap_or(kind).trim_start();
    }
    let inside = kind.strip_prefix('(').map(|_| &kind[1..group_length(kind).max(2) - 1]);
    inside.is_some_and(|inside| split_at_depth_zero(inside, ',').is_some())
}

/// The bytes from the bracket that `code` begins with to the one that closes it.
fn group_length(code: &str) -> usize {
    let mut depth = Depth::default();
    let end = code.char_indices().find(|(_, char)| depth.enter(*char) == 0);
    end.map_or(code.len(), |(at, char)| at + char.len_utf8())
}

/// The text before and behind the first `separator` that stands in no brackets; `::` is none.
fn split_at_depth_zero(code: &str, separator: char) -> Option<(&str, &str)> {
    let mut depth = Depth::default();
    for (at, char) in code.char_indices() {
        let is_path =
            separator == ':' && (code[at + 1..].starts_with(':') || code[..at].ends_with(':'));
        if depth.enter(char) == 0 && char == separator && !is_path {
            return Some((&code[..at], &code[at + separator.len_utf8()..]));
        }
    }
    None
}

/// How many brackets are open. The `>` of an arrow closes none.
#[derive(Default)]
struct Depth {
    open: usize,
    previous: char,
}

impl Depth {
    /// Counts a character; the brackets that are open behind it.
    fn enter(&mut self, char: char) -> usize {
        let is_arrow = char == '>' && matches!(self.previous, '-' | '=');
        match char {
            '(' | '[' | '{' | '<' => self.open += 1,
            ')' | ']' | '}' | '>' if !is_arrow => self.open = self.open.saturating_sub(1),
            _ => {}
        }
        self.previous = char;
        self.open
    }
}

const WORDS_MIN: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        check(&[File::new("crates/pauseless-core/src/a.rs", text)]).len()
    }

    #[test]
    fn doc_comments_of_fewer_than_four_words_are_found() {
        for (text, found) in [
            ("/// What.\nstruct A;\n", 1),
            ("//! The rule.\n", 1),
            ("struct A {\n    /// The rule.\n    a: u8,\n    /// Its class.\n    b: u8,\n}\n", 2),
            ("/// C / N.\nfn a() {}\n", 1),
            ("//! A file about something.\n\n/// Three short words.\nstruct A;\n", 1),
        ] {
            assert_eq!(count(text), found, "{text}");
        }
    }

    #[test]
    fn sentences_and_plain_comments_pass() {
        for text in [
            "/// The class of its packets.\nstruct A;\n",
            "/// Two lines that are\n/// one sentence.\nstruct A;\n",
            "//! # Title\n//!\n//! And what it is about.\n",
            "// Short.\n//// Not a doc.\nf(\"/// What.\");\n",
            "//= 802.1Q-2022 36.1.3\nconst A: u8 = 1;\n",
        ] {
            assert_eq!(count(text), 0, "{text}");
        }
    }

    #[test]
    fn tuple_parameters_are_found() {
        for text in [
            "fn a((b, c): (u8, u8)) {}",
            "fn a(at: (PortId, Class)) {}",
            "fn a(&self, at: &(u8, u8)) {}",
            "fn a<'a, T: Into<Vec<u8>>>(b: T, at: &'a mut (u8, &'a str)) -> u8 {}",
            "fn a(b: impl Fn(u8) -> u8, c: (Vec<u8>, u8)) {}",
            "pub(super) fn a(\n    b: u8,\n    (c, d): (u8, &[u8]),\n) {}",
        ] {
            assert_eq!(count(text), 1, "{text}");
        }
        assert_eq!(count("fn a(b: (u8, u8), c: (u8, u8)) {}"), 2);
    }

    #[test]
    fn arguments_structs_and_tuples_inside_other_types_pass() {
        for text in [
            "fn a(b: u8, c: u8) -> (u8, u8) {}",
            "fn a(Load { busy, seconds }: Load) {}",
            "fn a(b: &[(u8, u8)], c: Option<(u8, u8)>, d: ()) {}",
            "fn a(b: &(dyn Fn(u8, u8) -> u8 + Sync), c: impl Fn((u8, u8))) {}",
            "let a = |(b, c): (u8, u8)| b + c;",
            "type A = fn(u8, (u8, u8));",
            "// fn a(b: (u8, u8)) {}",
        ] {
            assert_eq!(count(text), 0, "{text}");
        }
    }
}
