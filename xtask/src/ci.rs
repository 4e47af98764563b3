//! The whole continuous integration, the same on every machine.

use std::io;
use std::process::Command;
use std::time::Instant;

use crate::repo::{Repo, root};
use crate::{
    Outcome, api, book, cites, dist, examples, instructions, opensm, package, page, papers, routes,
    sweep, tidy, wire,
};

/// Runs the steps in order up to the first failure.
pub fn run() -> io::Result<Outcome> {
    let begin = Instant::now();
    for step in steps(bare_metal_target()) {
        println!("==> {}: {}", step.name, step.task);
        let begin = Instant::now();
        let outcome = step.task.run()?;
        let seconds = begin.elapsed().as_secs_f64();
        if outcome == Outcome::Found {
            println!("<== {}: FAILED after {seconds:.1} s", step.name);
            return Ok(Outcome::Found);
        }
        println!("<== {}: passed in {seconds:.1} s", step.name);
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!("total: {seconds:.1} s");
    println!("xtask ci: all steps passed");
    Ok(Outcome::Clean)
}

struct Step {
    name: &'static str,
    task: Task,
}

enum Task {
    Cargo(String),
    /// The same with warnings of rustdoc turned into errors.
    Rustdoc(String),
    Own(Check),
}

/// A check of this crate, run in this process.
enum Check {
    Tools,
    Examples,
    Package,
    Book,
    Dist,
    Api,
    Page,
    Wire,
    Routes,
    Opensm,
    Instructions,
    Papers,
    Sweep,
    Tidy,
    Cites,
}

impl Task {
    fn run(&self) -> io::Result<Outcome> {
        let (args, rustdoc_flags) = match self {
            Task::Own(check) => return check.run(),
            Task::Cargo(args) => (args, None),
            Task::Rustdoc(args) => (args, Some(DENY_WARNINGS)),
        };
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(args.split(' ')).current_dir(root());
        command.envs(rustdoc_flags.map(|flags| ("RUSTDOCFLAGS", flags)));
        if command.status()?.success() { Ok(Outcome::Clean) } else { Ok(Outcome::Found) }
    }
}

impl std::fmt::Display for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Task::Cargo(args) => write!(f, "cargo {args}"),
            Task::Rustdoc(args) => write!(f, "RUSTDOCFLAGS='{DENY_WARNINGS}' cargo {args}"),
            Task::Own(Check::Tools) => f.write_str("npm, chromium and strace"),
            Task::Own(Check::Examples) => f.write_str("cargo xtask examples"),
            Task::Own(Check::Package) => f.write_str("cargo xtask package"),
            Task::Own(Check::Dist) => f.write_str("cargo xtask dist --tested"),
            Task::Own(Check::Book) => f.write_str("cargo xtask book"),
            Task::Own(Check::Api) => f.write_str("cargo xtask api"),
            Task::Own(Check::Page) => f.write_str("cargo xtask page"),
            Task::Own(Check::Wire) => f.write_str("cargo xtask wire"),
            Task::Own(Check::Routes) => f.write_str("cargo xtask routes"),
            Task::Own(Check::Opensm) => f.write_str("cargo xtask opensm"),
            Task::Own(Check::Instructions) => f.write_str("cargo xtask instructions"),
            Task::Own(Check::Papers) => f.write_str("cargo xtask papers"),
            Task::Own(Check::Sweep) => f.write_str("cargo xtask sweep"),
            Task::Own(Check::Tidy) => f.write_str("cargo xtask tidy"),
            Task::Own(Check::Cites) => f.write_str("cargo xtask cites"),
        }
    }
}

impl Check {
    fn run(&self) -> io::Result<Outcome> {
        match self {
            Check::Tools => page::tools(),
            Check::Examples => examples::run(),
            Check::Package => package::run(),
            Check::Dist => dist::run(dist::Build::Tested),
            Check::Book => book::run(),
            Check::Api => api::run(),
            Check::Page => page::run(),
            Check::Wire => wire::run(),
            Check::Routes => routes::run(),
            Check::Opensm => opensm::run(),
            Check::Instructions => instructions::run(false),
            Check::Papers => papers::run(),
            Check::Sweep => sweep::run(),
            Check::Tidy => tidy::run(&Repo::open()?),
            Check::Cites => cites::run(&Repo::open()?),
        }
    }
}

/// The quick steps come first, but for the checks, which are worth it only on code that works.
fn steps(bare_metal: Option<String>) -> Vec<Step> {
    let cargo = |name, args: &str| {
        let task = Task::Cargo(args.to_owned());
        Step { name, task }
    };
    let own = |name, check| {
        let task = Task::Own(check);
        Step { name, task }
    };
    // On the host this proves little beyond `#![no_std]`, which tidy checks to be there.
    let core = "build -p pauseless-core --locked".to_owned();
    let core = match bare_metal {
        Some(target) => format!("{core} --target {target}"),
        None => core,
    };
    let clippy = "clippy --workspace --all-targets --locked -- -D warnings";
    let doc = "doc --workspace --no-deps --locked".to_owned();
    vec![
        own("tools", Check::Tools),
        cargo("format", "fmt --all --check"),
        cargo("lint", clippy),
        Step { name: "document", task: Task::Rustdoc(doc) },
        cargo("no_std", &core),
        cargo("test", "test --workspace --locked"),
        own("examples", Check::Examples),
        own("package", Check::Package),
        own("dist", Check::Dist),
        own("api", Check::Api),
        own("page", Check::Page),
        own("wire", Check::Wire),
        own("routes", Check::Routes),
        own("opensm", Check::Opensm),
        own("instructions", Check::Instructions),
        own("papers", Check::Papers),
        own("sweep", Check::Sweep),
        own("book", Check::Book),
        own("tidy", Check::Tidy),
        own("cites", Check::Cites),
    ]
}

/// An installed target without an operating system, where std cannot slip in.
fn bare_metal_target() -> Option<String> {
    let mut rustup = Command::new("rustup");
    // Without rustup, as with a distribution's toolchain, the host has to do.
    let output = rustup.args(["target", "list", "--installed"]).output().ok()?;
    let targets = String::from_utf8(output.stdout).ok()?;
    first_bare_metal(&targets)
}

fn first_bare_metal(targets: &str) -> Option<String> {
    let is_bare = |target: &&str| target.split('-').any(|part| part == "none");
    targets.lines().find(is_bare).map(str::to_owned)
}

const DENY_WARNINGS: &str = "-D warnings";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_are_these() {
        let steps: Vec<String> = steps(None).iter().map(|step| step.task.to_string()).collect();
        let expected = [
            "npm, chromium and strace",
            "cargo fmt --all --check",
            "cargo clippy --workspace --all-targets --locked -- -D warnings",
            "RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked",
            "cargo build -p pauseless-core --locked",
            "cargo test --workspace --locked",
            "cargo xtask examples",
            "cargo xtask package",
            "cargo xtask dist --tested",
            "cargo xtask api",
            "cargo xtask page",
            "cargo xtask wire",
            "cargo xtask routes",
            "cargo xtask opensm",
            "cargo xtask instructions",
            "cargo xtask papers",
            "cargo xtask sweep",
            "cargo xtask book",
            "cargo xtask tidy",
            "cargo xtask cites",
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn a_bare_metal_target_is_preferred_for_the_core() {
        let target = first_bare_metal("x86_64-unknown-linux-gnu\nx86_64-unknown-none\n");
        assert_eq!(target.as_deref(), Some("x86_64-unknown-none"));
        let steps = steps(target);
        let core = steps[4].task.to_string();
        assert!(core.ends_with("--target x86_64-unknown-none"), "{core}");
        assert_eq!(first_bare_metal("x86_64-unknown-linux-gnu\n"), None);
    }
}
