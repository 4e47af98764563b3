//! The rules of this repository that rustfmt and clippy do not know.
//!
//! Each check is a pure function from files to findings, so each has a test that it
//! finds an offence and a test that it leaves good text alone.

mod document;
mod manifest;
pub mod markdown;
mod plain;
mod rust;
mod size;
mod whitespace;

use std::collections::BTreeSet;
use std::io;

use crate::repo::{File, Finding, Repo};
use crate::{Outcome, report};

/// Checks the repository and prints what was found.
pub fn run(repo: &Repo) -> io::Result<Outcome> {
    let files = repo.text_files()?;
    let findings = check(&files, repo.paths());
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    let warnings = findings.len() - errors;
    let outcome = report(findings);
    let checked = files.len();
    println!("xtask tidy: {checked} files, {errors} errors, {warnings} warnings");
    Ok(outcome)
}

/// All checks over all files; `paths` are the files of the repository.
fn check(files: &[File], paths: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        findings.extend(whitespace::check(file));
        findings.extend(document::check(file, paths));
        match file.extension() {
            "rs" => findings.extend(rust::check(file)),
            "md" => findings.extend(markdown::check(file, paths)),
            _ => {}
        }
    }
    findings.extend(markdown::check_headings(files));
    findings.extend(plain::check(files));
    findings.extend(manifest::check(files));
    findings.extend(size::check(files));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_file_reaches_its_check() {
        let files = [
            File::new("ARCHITECTURE.md", "# Architecture\n"),
            File::new("README.md", "[gone](gone.md)\n"),
            File::new("crates/pauseless/src/main.rs", "fn main() { todo!() }\n"),
            File::new("scenarios/a/scenario.toml", "a = 1 \n"),
            File::new("crates/pauseless-core/Cargo.toml", "[dependencies]\na = \"1\"\n"),
        ];
        let paths = files.iter().map(|file| file.path.clone()).collect();
        let mut findings = check(&files, &paths);
        findings.sort();
        let found: Vec<String> = findings.iter().map(Finding::to_string).collect();
        let places = [
            "README.md:1:",
            "README.md:1:",
            "crates/pauseless-core/Cargo.toml:2:",
            "crates/pauseless-core/Cargo.toml:2:",
            "crates/pauseless/src/main.rs:1:",
            "scenarios/a/scenario.toml:1:",
        ];
        assert_eq!(found.len(), places.len(), "{found:#?}");
        for (found, place) in found.iter().zip(places) {
            assert!(found.starts_with(place), "{found} is not at {place}");
        }
    }
}
