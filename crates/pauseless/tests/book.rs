//! The commands of the README and of the book, run as they are printed.

mod place;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use place::Place;

#[test]
fn every_command_of_readme_and_book_works_as_printed() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    // `cargo run` must know which program is meant.
    assert!(manifest.contains("default-members = [\"crates/pauseless\"]"));
    let mut wrong = Vec::new();
    let mut unused = BTreeSet::from_iter(NOT_RUN.iter().map(|it| (it.page, it.part)));
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(root().join(&page)).expect("a page");
        // The files that a command leaves are there for the next one of the page.
        let place = Place::new();
        for command in commands(&text) {
            let exempt =
                NOT_RUN.iter().find(|it| it.page == page && command.line.contains(it.part));
            if let Some(exempt) = exempt {
                unused.remove(&(exempt.page, exempt.part));
                continue;
            }
            count += 1;
            wrong.extend(command.problem(&place).map(|problem| format!("{page}: {problem}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(unused.is_empty(), "no command needs these exemptions any more: {unused:#?}");
    assert!(count >= 60, "{count} commands");
}

/// A command line, with what is said behind it.
struct Command {
    line: String,
    comment: String,
}

impl Command {
    /// What is wrong with it, if it does not do what the page says.
    fn problem(&self, place: &Place) -> Option<String> {
        let args = place.words(self.line.split(['>', '|']).next().unwrap_or_default());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let done = place.run(&args);
        let says = |status: &str| self.comment.contains(&format!("exit status {status}"));
        let expected = if says("1") {
            1
        } else if says("2") {
            2
        } else {
            0
        };
        // What looks for something has done its work if it finds that; pages may say which it is.
        let looks = ["check", "lint", "plan", "threshold"].contains(&args[0]);
        let may_find = looks && !self.comment.contains("exit status");
        if done.code == Some(expected) || may_find && done.code == Some(1) {
            return None;
        }
        if self.comment.contains("as root") && done.stderr.contains("CAP_NET_ADMIN") {
            eprintln!("skipped: {}\n{}", self.line, done.stderr);
            return None;
        }
        Some(format!("pauseless {}: {:?}\n{}", self.line, done.code, done.stderr))
    }
}

/// The calls of the program in the shell blocks of a page.
fn commands(text: &str) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut is_shell = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            is_shell = !is_shell && ["sh", "console"].contains(&language);
            continue;
        }
        let line = line.trim_start().trim_start_matches("$ ");
        let line = line.replace("cargo run --release -- ", "pauseless ");
        let Some(line) = line.strip_prefix("pauseless ").filter(|_| is_shell) else { continue };
        let mut line = line.to_string();
        while let Some(begun) = line.strip_suffix('\\') {
            line = format!("{begun} {}", lines.next().unwrap_or_default().trim());
        }
        let (line, comment) = line.split_once('#').unwrap_or((&line, ""));
        commands.push(Command { line: line.trim().to_string(), comment: comment.to_string() });
    }
    commands
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README.md and the pages that the book lists.
fn pages() -> Vec<String> {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).expect("the summary");
    let listed = summary.split("](").skip(1).map(|rest| rest.split(')').next().unwrap_or_default());
    let pages = listed.map(|page| format!("docs/{page}"));
    std::iter::once("README.md".to_string()).chain(pages).collect()
}

/// A command that is not run, and why.
struct NotRun {
    page: &'static str,
    /// What the command line contains.
    part: &'static str,
    /// The reason, for readers of this list.
    #[allow(dead_code, reason = "it is for readers")]
    why: &'static str,
}

const NOT_RUN: &[NotRun] = &[
    NotRun {
        page: "docs/plan.md",
        part: "L0.json",
        why: "stands for files of the reader; plan/tests/plan.rs reads real ones",
    },
    NotRun {
        page: "docs/plan.md",
        part: "config_db.json",
        why: "stands for a file of the reader; the next command has a real one",
    },
    NotRun {
        page: "docs/htsim.md",
        part: "perm_128n_128c_10MB",
        why: "compat/tests/htsim.rs compares this run with htsim's",
    },
    NotRun {
        page: "docs/check.md",
        part: "--samples 10000",
        why: "takes minutes; the same with fewer samples is run",
    },
    NotRun {
        page: "docs/ethernet.md",
        part: "pod/L0.json",
        why: "is called in examples/ethernet, see check_ethernet.rs",
    },
    NotRun {
        page: "docs/ethernet.md",
        part: "pod-*.json",
        why: "is called in examples/ethernet/sonic-pod, see check_ethernet/routes.rs",
    },
    NotRun {
        page: "docs/lint.md",
        part: "*/config_db.json",
        why: "stands for files of the reader; lint/tests/data.rs reads real ones",
    },
    NotRun {
        page: "docs/sweep.md",
        part: "scenarios/xoff.sweep.toml",
        why: "72 runs; the tutorial makes 8 of them",
    },
    NotRun {
        page: "docs/sweep.md",
        part: "big.sweep.toml",
        why: "stands for a campaign of the reader",
    },
    NotRun {
        page: "docs/sweep.md",
        part: "papers/gfc/table1.sweep.toml",
        why: "takes a minute or more; cargo xtask sweep runs a part",
    },
    NotRun { page: "docs/disciplines.md", part: "fragile-ring", why: "takes minutes" },
    NotRun {
        page: "docs/disciplines.md",
        part: "repro gfc-fig9",
        why: "cargo xtask papers runs all experiments",
    },
    NotRun {
        page: "docs/hpcc.md",
        part: "config.txt",
        why: "stands for a file of the reader; tests/hpcc.rs runs real ones",
    },
    NotRun { page: "docs/switch.md", part: "S1.toml", why: "needs interfaces; tests/node.rs" },
    NotRun {
        page: "docs/how-to/researcher.md",
        part: "repro hotnets-fig4",
        why: "cargo xtask papers runs all experiments",
    },
];
