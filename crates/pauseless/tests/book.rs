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

#[test]
fn every_command_of_another_program_says_where_it_is_run_or_why_not() {
    let mut unmarked = Vec::new();
    let mut unused = BTreeSet::from_iter(OTHERS.iter().map(|it| (it.page, it.part)));
    for page in pages() {
        let text = fs::read_to_string(root().join(&page)).expect("a page");
        for line in shell_lines(&text).filter(|line| !line.starts_with("pauseless ")) {
            match OTHERS.iter().find(|it| it.page == page && line.contains(it.part)) {
                Some(marked) => drop(unused.remove(&(marked.page, marked.part))),
                None => unmarked.push(format!("{page}: {line}")),
            }
        }
    }
    assert!(unmarked.is_empty(), "in no list of this file: {unmarked:#?}");
    assert!(unused.is_empty(), "no command needs these marks any more: {unused:#?}");
}

/// Three switches and three hosts, each in a network namespace, as docs/switch.md has them. They are in
/// namespaces of this test, so that their names are nobody else's and nothing of them is left.
#[test]
fn the_ring_on_one_machine_stops_as_printed() {
    let text = fs::read_to_string(root().join("docs/switch.md")).expect("the page");
    let (_, after) = text.split_once("### The same on one machine").expect("the recipe");
    let (_, block) = after.split_once("```sh\n").expect("its commands");
    let (block, _) = block.split_once("```").expect("their end");
    let place = Place::new();
    for entry in fs::read_dir(root().join("testbeds/three-machines")).expect("the folder") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, place.path(&path.file_name().expect("a name").to_string_lossy()))
            .expect("a copy");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_pauseless")).parent().expect("a folder");
    let script = format!(
        "mount -t tmpfs none /run && PATH={}:$PATH && set -e && {block}",
        program.display()
    );
    let run = |script: &str| {
        let mut command = std::process::Command::new("unshare");
        command.args(["--net", "--mount", "--fork", "--kill-child", "bash", "-c", script]);
        place::Done::new(command.current_dir(place.folder.path()).output().expect("unshare"))
    };
    // A kernel, a container or a machine without iproute2 may refuse what this needs.
    let may = run("mount -t tmpfs none /run && ip netns add probe && ip netns exec probe true");
    if may.code != Some(0) {
        eprintln!("skipped: no network namespaces here: {}", may.stderr);
        return;
    }
    let done = run(&script);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let paused = done.stdout.lines().filter(|line| line.contains("paused"));
    assert!(paused.count() >= 3, "each switch stops its neighbour: {}", done.stdout);
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
    let lines = shell_lines(text);
    let calls = lines.filter_map(|line| Some(line.strip_prefix("pauseless ")?.to_string()));
    let commands = calls.map(|line| {
        let (line, comment) = line.split_once('#').unwrap_or((&line, ""));
        Command { line: line.trim().to_string(), comment: comment.to_string() }
    });
    commands.collect()
}

/// The commands in the shell blocks of a page, those in several lines as one. What a console answers
/// is none.
fn shell_lines(text: &str) -> impl Iterator<Item = String> {
    let mut commands = Vec::new();
    let mut language = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(next) = line.trim_start().strip_prefix("```") {
            language = if language.is_empty() && !next.is_empty() { next } else { "" };
            continue;
        }
        let line = line.trim_start();
        let typed = match language {
            "sh" => Some(line),
            "console" => line.strip_prefix("$ "),
            _ => None,
        };
        let is_command = |line: &&str| !line.is_empty() && !line.starts_with('#');
        let Some(line) = typed.filter(is_command) else { continue };
        let mut line = line.replace("cargo run --release -- ", "pauseless ");
        while let Some(begun) = line.strip_suffix('\\') {
            line = format!("{begun} {}", lines.next().unwrap_or_default().trim());
        }
        commands.push(line);
    }
    commands.into_iter()
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
        page: "docs/events.md",
        part: "--orders 2000",
        why: "takes half a minute; docs/check.md has the same with fewer orders",
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

/// Commands of other programs: where they are run, or why not.
const OTHERS: &[NotRun] = &[
    NotRun { page: "README.md", part: "cargo xtask ci", why: "is what runs this" },
    NotRun {
        page: "README.md",
        part: "cargo install",
        why: "is a build for release; cargo xtask package compiles the same crates",
    },
    NotRun {
        page: "README.md",
        part: "cargo xtask dist",
        why: "runs in CI with --tested: all but the build for release, which takes minutes",
    },
    NotRun {
        page: "docs/install.md",
        part: "cargo install",
        why: "is a build for release; cargo xtask package compiles the same crates",
    },
    NotRun {
        page: "docs/install.md",
        part: "rustup target add",
        why: "changes the toolchain of the machine",
    },
    NotRun { page: "docs/ethernet.md", part: "cd ", why: "says where the next command is called" },
    NotRun { page: "docs/hpcc.md", part: "cd ", why: "says where the next command is called" },
    NotRun { page: "docs/sweep.md", part: "parallel ", why: "stands for machines of the reader" },
    NotRun {
        page: "docs/htsim.md",
        part: "cargo test --release",
        why: "runs in CI without --release, as a test",
    },
    NotRun { page: "docs/testbed.md", part: "$bed", why: "looks at processes of the reader" },
    NotRun { page: "docs/testbed.md", part: "bed=", why: "looks at processes of the reader" },
    NotRun { page: "docs/testbed.md", part: "nsenter -t", why: "looks at processes of the reader" },
    NotRun { page: "docs/switch.md", part: "curl ", why: "tests/node.rs asks for the same page" },
    NotRun {
        page: "docs/switch.md",
        part: "eth",
        why: "real machines; the recipe with namespaces is run above",
    },
    NotRun { page: "docs/switch.md", part: "host", why: "real machines, as well" },
    NotRun { page: "docs/switch.md", part: "$port", why: "real machines, as well" },
    NotRun { page: "docs/switch.md", part: "m$i", why: "is run above" },
    NotRun { page: "docs/switch.md", part: "for ", why: "is run above" },
    NotRun { page: "docs/switch.md", part: "sysctl", why: "is run above" },
    NotRun { page: "docs/switch.md", part: "done", why: "is run above" },
    NotRun { page: "docs/switch.md", part: "sleep", why: "is run above" },
    NotRun { page: "docs/switch.md", part: "wait", why: "is run above" },
    NotRun {
        page: "docs/extending.md",
        part: "examples/own-scheme",
        why: "cargo xtask examples runs its source, cargo xtask package checks its manifest",
    },
    NotRun {
        page: "docs/extending.md",
        part: "own_congestion_control -- mine.toml",
        why: "stands for a file of the reader",
    },
    NotRun {
        page: "docs/extending.md",
        part: "own_congestion_control",
        why: "cargo xtask examples runs it",
    },
    NotRun { page: "docs/frames.md", part: "tshark", why: "cargo xtask wire runs it" },
    NotRun { page: "docs/entropy.md", part: "cargo test", why: "is a test of CI" },
    NotRun { page: "docs/ttl-model.md", part: "cargo test", why: "is a test of CI" },
    NotRun {
        page: "docs/performance.md",
        part: "cargo bench",
        why: "measures: a machine with other work would give other numbers",
    },
    NotRun {
        page: "docs/performance.md",
        part: "valgrind",
        why: "cargo xtask instructions counts with the same tool",
    },
    NotRun { page: "docs/mutants.md", part: "cargo xtask mutants", why: "takes hours" },
];
