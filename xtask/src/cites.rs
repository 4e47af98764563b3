//! Citations of papers and standards: whether each can be looked up, and whether each has a test.
//!
//! The code that implements a clause has `//= SOURCE CLAUSE` above it, and the test of
//! that clause has the same line with `type=test` behind it.
//! SOURCE is a key in the table of sources of `docs/protocols.md`; `//= protocols HEADING` cites
//! a heading of that document.

mod reference;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::repo::{File, Finding, Repo};
use crate::source::{Class, Source};
use crate::{Outcome, report};
use reference::Reference;

/// Checks the repository and prints what was found.
pub fn run(repo: &Repo) -> io::Result<Outcome> {
    let ledger = Ledger::of(&repo.text_files()?);
    let uncovered = ledger.uncovered().len();
    let outcome = report(ledger.findings());
    println!(
        "xtask cites: {} clauses cited in {} places, {uncovered} without a test",
        ledger.implemented.len(),
        ledger.implemented.values().map(Vec::len).sum::<usize>(),
    );
    Ok(outcome)
}

/// Every citation in the crates.
#[derive(Default)]
struct Ledger {
    /// Where each clause is implemented: what to print if no test cites it.
    implemented: BTreeMap<Clause, Vec<Finding>>,
    /// Where each clause is tested: what to print if no code cites it.
    tested: BTreeMap<Clause, Vec<Finding>>,
    /// Citations that cannot be read or looked up.
    malformed: Vec<Finding>,
    reference: Reference,
}

impl Ledger {
    fn of(files: &[File]) -> Ledger {
        let mut ledger = Ledger::default();
        match files.iter().find(|file| file.path == reference::PATH) {
            Some(document) => ledger.reference = Reference::parse(&document.text),
            None => ledger.malformed.push(Finding::missing(reference::PATH)),
        }
        // The sources of this program quote such links as examples.
        for file in files.iter().filter(|file| !file.path.starts_with("xtask/")) {
            ledger.malformed.extend(ledger.reference.broken_links(file));
        }
        let is_rust = |file: &&File| file.extension() == "rs";
        for file in files.iter().filter(is_rust) {
            match Place::of(file) {
                Some(place) => ledger.read(file, place),
                None => continue,
            }
        }
        ledger
    }

    fn read(&mut self, file: &File, place: Place) {
        let comments = Source::parse(&file.text).only(Class::Comment);
        for (index, line) in comments.lines().enumerate() {
            let Some(text) = line.trim().strip_prefix("//=") else {
                continue;
            };
            let line = index + 1;
            match Citation::parse(text) {
                Ok(Citation { clause, role }) => {
                    if let Some(message) = self.reference.objection(&clause.0) {
                        self.malformed.push(file.error(line, message));
                    }
                    match (role, place) {
                        (Role::Test, _) => {
                            let message = format!("no code cites `{clause}`, only this test");
                            let places = self.tested.entry(clause).or_default();
                            places.push(file.warning(line, message));
                        }
                        (Role::Code, Place::Sources) => {
                            let message = format!("no test cites `{clause}`");
                            let places = self.implemented.entry(clause).or_default();
                            places.push(file.error(line, message));
                        }
                        (Role::Code, Place::Tests) => {
                            let message = "a citation in a test ends with `type=test`";
                            self.malformed.push(file.error(line, message));
                        }
                    }
                }
                Err(message) => self.malformed.push(file.error(line, message)),
            }
        }
    }

    /// The clauses that code cites and no test does.
    fn uncovered(&self) -> BTreeSet<&Clause> {
        let cited = self.implemented.keys();
        cited.filter(|clause| !self.tested.contains_key(clause)).collect()
    }

    fn findings(&self) -> Vec<Finding> {
        let mut findings = self.malformed.clone();
        for clause in self.uncovered() {
            findings.extend(self.implemented[clause].iter().cloned());
        }
        for (clause, places) in &self.tested {
            if !self.implemented.contains_key(clause) {
                findings.extend(places.iter().cloned());
            }
        }
        findings
    }
}

/// Which part of a crate a file belongs to.
#[derive(Clone, Copy)]
enum Place {
    Sources,
    Tests,
}

impl Place {
    fn of(file: &File) -> Option<Place> {
        file.crate_name()?;
        match file.path.split('/').nth(2) {
            Some("src") => Some(Place::Sources),
            Some("tests") => Some(Place::Tests),
            _ => None,
        }
    }
}

/// A source and a place in it, such as `gfc19` and `4.2 eq 5`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Clause(String);

impl std::fmt::Display for Clause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A clause as a comment cites it behind `//=`.
#[derive(Debug, PartialEq, Eq)]
struct Citation {
    clause: Clause,
    role: Role,
}

#[derive(Debug, PartialEq, Eq)]
enum Role {
    Code,
    Test,
}

impl Citation {
    fn parse(text: &str) -> Result<Citation, &'static str> {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let role = match words.last().and_then(|word| word.strip_prefix("type=")) {
            None => Role::Code,
            Some("test") => Role::Test,
            Some(_) => return Err("the only type of a citation is `type=test`"),
        };
        if role == Role::Test {
            words.pop();
        }
        if words.len() < 2 {
            return Err("a citation is a source and a clause, as in `//= 802.1Q-2022 36.1.3`");
        }
        if words.iter().any(|word| word.starts_with("type=")) {
            return Err("`type=test` ends a citation");
        }
        let clause = Clause(words.join(" "));
        Ok(Citation { clause, role })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: (&str, &str) =
        (reference::PATH, "### pfc-xon\n## Sources\n| `gfc19` | Gentle |\n| `pfc` | Pause |\n");

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        let files = files.iter().chain([&DOCUMENT]);
        let files: Vec<File> = files.map(|(path, text)| File::new(path, *text)).collect();
        let findings = Ledger::of(&files).findings();
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_clause_with_a_test_is_covered() {
        let code = "//= gfc19 4.2 eq 5\nfn f() {}\n";
        let test = "    //=  gfc19 4.2  eq 5 type=test\n";
        let both = format!("{code}{test}");
        assert!(messages(&[("crates/a/src/a.rs", &both)]).is_empty());
        let apart = [("crates/a/src/a.rs", code), ("crates/b/tests/b.rs", test)];
        assert!(messages(&apart).is_empty());
    }

    #[test]
    fn a_clause_without_a_test_is_found() {
        let text = "//= gfc19 4.2 eq 5\n//= gfc19 4.2 eq 6\n//= gfc19 4.2 eq 5 type=test\n";
        let found = messages(&[("crates/a/src/a.rs", text)]);
        assert_eq!(found, ["crates/a/src/a.rs:2: no test cites `gfc19 4.2 eq 6`"]);
        let unrelated = [
            ("crates/a/src/a.rs", "//= pfc 1\n"),
            ("crates/a/src/b.rs", "f(\"\n//= pfc 1 type=test\n\");\n"),
        ];
        assert_eq!(messages(&unrelated).len(), 1);
    }

    #[test]
    fn a_test_without_a_clause_is_a_warning() {
        let found = messages(&[("crates/a/src/a.rs", "//= pfc 1 type=test\n")]);
        assert!(found[0].contains("warning: no code cites `pfc 1`"), "{found:?}");
    }

    #[test]
    fn a_citation_that_cannot_be_looked_up_is_found() {
        let test = |clause: &str| format!("//= {clause}\n//= {clause} type=test\n");
        assert!(messages(&[("crates/a/src/a.rs", &test("protocols pfc-xon"))]).is_empty());
        for (clause, message) in [
            ("gfc20 4.2", "the table of sources in docs/protocols.md has no `gfc20`"),
            ("protocols xon", "docs/protocols.md has no heading `xon`"),
        ] {
            let found = messages(&[("crates/a/src/a.rs", &test(clause))]);
            let places = [1, 2].map(|line| format!("crates/a/src/a.rs:{line}: {message}"));
            assert_eq!(found, places);
        }
        let linked = ("docs/a.md", "a\n[b](protocols.md#xon)\n");
        assert_eq!(messages(&[linked]), ["docs/a.md:2: docs/protocols.md has no heading `xon`"]);
        let nothing = Ledger::of(&[]).findings();
        assert_eq!(nothing, [Finding::missing("docs/protocols.md")]);
    }

    #[test]
    fn malformed_citations_are_found() {
        for text in ["//= pfc\n", "//=\n", "//= pfc 1 type=spec\n", "//= pfc type=test 1\n"] {
            assert_eq!(messages(&[("crates/a/src/a.rs", text)]).len(), 1, "{text}");
        }
        assert_eq!(messages(&[("crates/a/tests/a.rs", "//= pfc 1\n")]).len(), 1);
    }

    #[test]
    fn other_comments_and_places_are_left_alone() {
        let text = "// = pfc 1\n// see //= pfc 1\n///= pfc 1\n";
        assert!(messages(&[("crates/a/src/a.rs", text)]).is_empty());
        assert!(messages(&[("xtask/src/a.rs", "//= pfc 1\n")]).is_empty());
        assert!(messages(&[("crates/a/benches/a.rs", "//= pfc 1\n")]).is_empty());
    }
}
