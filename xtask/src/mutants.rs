//! Mutation testing: small changes of the code that decides verdicts, each of which a test should notice.
//!
//! The files and the way to test them are in `.cargo/mutants.toml`, the results in `docs/mutants.md`.

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use crate::Outcome;
use crate::page::target_dir;
use crate::repo::root;

/// Tests every Nth mutant, beginning with number K; `part` is `K/N`. Fails if the tests catch fewer than
/// nine of ten, without those that `docs/mutants.md` argues about.
pub fn run(part: &str) -> io::Result<Outcome> {
    let out = target_dir().join("mutants");
    fs::create_dir_all(&out)?;
    let mut mutants = Command::new("cargo");
    mutants.current_dir(root()).args([
        "mutants",
        "--workspace",
        "--shard",
        part,
        "--sharding",
        "round-robin",
    ]);
    // The unchanged tree is what CI tests; no test of these crates takes a minute.
    mutants.args(["--baseline", "skip", "--timeout", "60", "--output"]).arg(&out);
    // What a law finds with one mutant says nothing about the next.
    mutants.env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1");
    // Its exit status is an error as soon as one mutant is missed.
    if mutants.status()?.code().is_none() {
        return Ok(Outcome::Found);
    }
    let results = out.join("mutants.out");
    let caught = read(&results, "caught.txt")?.len() + read(&results, "timeout.txt")?.len();
    let argued = fs::read_to_string(root().join(DOCUMENT))?;
    let missed = read(&results, "missed.txt")?;
    let (argued, missed): (Vec<_>, Vec<_>) =
        missed.iter().partition(|mutant| argued.contains(&place_free(mutant)));
    for mutant in &missed {
        println!("{mutant}: no test notices, and {DOCUMENT} does not say why");
    }
    println!("{caught} caught, {} missed, {} argued in {DOCUMENT}", missed.len(), argued.len());
    let is_enough = caught > 0 && missed.len() * 9 <= caught;
    Ok(if is_enough { Outcome::Clean } else { Outcome::Found })
}

/// The mutants of one kind, a line each.
fn read(results: &Path, name: &str) -> io::Result<Vec<String>> {
    let text = fs::read_to_string(results.join(name))?;
    Ok(text.lines().map(str::to_string).collect())
}

/// A mutant as the document lists it: with its file, and without line and column, which change.
fn place_free(mutant: &str) -> String {
    let mut parts = mutant.splitn(4, ':');
    let file = parts.next().unwrap_or_default();
    let what = parts.nth(2).unwrap_or_default();
    let (_, file) = file.split_once("crates/pauseless-").unwrap_or(("", file));
    format!("`{}`: {}", file.replace("/src/", "/"), what.trim())
}

const DOCUMENT: &str = "docs/mutants.md";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_is_known_by_its_file_and_its_change() {
        let listed =
            "crates/pauseless-core/src/switch/turns.rs:30:9: replace Switch<P>::a -> b with c";
        assert_eq!(place_free(listed), "`core/switch/turns.rs`: replace Switch<P>::a -> b with c");
    }
}
