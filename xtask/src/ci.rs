//! The whole continuous integration, the same on every machine.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use std::{fs, io, thread};

use crate::page::target_dir;
use crate::repo::{Repo, root};
use crate::{
    Outcome, api, book, cites, dist, examples, instructions, opensm, package, page, papers, routes,
    sweep, tidy, wire,
};

/// Runs the steps in order up to the first failure. Once everything is built, two sequences go on beside
/// each other, because tests and tools wait as often as they compute.
pub fn run() -> io::Result<Outcome> {
    let begin = Instant::now();
    let steps = steps(bare_metal_target());
    let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
    let built = names.iter().position(|name| *name == "build").map_or(names.len(), |at| at + 1);
    for name in &names[..built] {
        if !child(name, Priority::Normal).status()?.success() {
            return Ok(Outcome::Found);
        }
    }
    let (beside, rest): (Vec<&str>, Vec<&str>) =
        names[built..].iter().partition(|name| BESIDE.contains(name));
    let is_over = AtomicBool::new(false);
    let outcome = thread::scope(|scope| {
        let other = scope.spawn(|| one_by_one(&beside, &is_over, shown_at_its_end));
        let outcome =
            one_by_one(&rest, &is_over, |name| Ok(child(name, Priority::Low).status()?.success()))?;
        Ok::<_, io::Error>(outcome.and(other.join().expect("it does not panic")?))
    })?;
    let seconds = begin.elapsed().as_secs_f64();
    println!("total: {seconds:.1} s, {:.1} s of CPU", cpu_seconds());
    if outcome == Outcome::Clean {
        println!("xtask ci: all steps passed");
    }
    Ok(outcome)
}

/// Runs one step by its name, and says how long it took.
pub fn run_step(name: &str) -> io::Result<Outcome> {
    let steps = steps(bare_metal_target());
    let Some(step) = steps.iter().find(|step| step.name == name) else {
        let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
        println!("there is no step {name}; they are {}", names.join(", "));
        return Ok(Outcome::Found);
    };
    println!("==> {}: {}", step.name, step.task);
    let begin = Instant::now();
    let outcome = step.task.run()?;
    let word = if outcome == Outcome::Clean { "passed in" } else { "FAILED after" };
    let seconds = begin.elapsed().as_secs_f64();
    println!("<== {name}: {word} {seconds:.1} s, {:.1} s of CPU", cpu_seconds());
    Ok(outcome)
}

/// Runs these steps until one fails, here or in the other sequence, which `is_over` tells.
fn one_by_one(
    names: &[&str],
    is_over: &AtomicBool,
    passes: impl Fn(&str) -> io::Result<bool>,
) -> io::Result<Outcome> {
    for name in names {
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        let passed = passes(name);
        if !matches!(passed, Ok(true)) {
            is_over.store(true, Ordering::Relaxed);
        }
        if !passed? {
            return Ok(Outcome::Found);
        }
    }
    Ok(Outcome::Clean)
}

/// Runs a step and prints all that it says at its end, in one piece; whether it passed.
fn shown_at_its_end(name: &str) -> io::Result<bool> {
    let folder = target_dir().join("ci");
    fs::create_dir_all(&folder)?;
    let log = folder.join(format!("{name}.log"));
    let file = fs::File::create(&log)?;
    let mut command = child(name, Priority::Normal);
    let status = command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).status()?;
    print!("{}", String::from_utf8_lossy(&fs::read(log)?));
    Ok(status.success())
}

/// How the kernel shares its processors among steps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Priority {
    Normal,
    /// Beside steps that wait for others, some of them with a clock.
    Low,
}

/// This program, asked for one step.
fn child(name: &str, priority: Priority) -> Command {
    // As a path it may be gone: the tests may have put another program where this one was.
    let this = format!("/proc/{}/exe", std::process::id());
    let mut command = match priority {
        Priority::Normal => Command::new(this),
        Priority::Low => {
            let mut nice = Command::new("nice");
            nice.arg(this);
            nice
        }
    };
    command.args(["ci", "--step", name]);
    command
}

/// The processor time of this process and of all that it has waited for, or 0 where that is unknown.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may have spaces in it.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks as f64 / TICKS_PER_SECOND
}

/// Linux counts processor time for programs in hundredths of a second, on every machine.
const TICKS_PER_SECOND: f64 = 100.0;
/// Steps after the build that need none of the others, and much of whose time is waiting.
const BESIDE: [&str; 8] =
    ["examples", "package", "instructions", "page", "wire", "routes", "opensm", "book"];

struct Step {
    name: &'static str,
    task: Task,
}

enum Task {
    Cargo(String),
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
        let args = match self {
            Task::Own(check) => return check.run(),
            Task::Cargo(args) => args,
        };
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(args.split(' ')).current_dir(root());
        if command.status()?.success() { Ok(Outcome::Clean) } else { Ok(Outcome::Found) }
    }
}

impl std::fmt::Display for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Task::Cargo(args) => write!(f, "cargo {args}"),
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

/// The quick steps come first, but for the checks, which are worth it only on code that works. What is
/// in [`BESIDE`] goes on beside the rest once the tests are built.
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
    vec![
        own("tools", Check::Tools),
        cargo("format", "fmt --all --check"),
        cargo("lint", clippy),
        own("document", Check::Api),
        cargo("no_std", &core),
        cargo("build", "test --workspace --locked --no-run"),
        cargo("test", "test --workspace --locked"),
        own("examples", Check::Examples),
        own("package", Check::Package),
        own("dist", Check::Dist),
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
            "cargo xtask api",
            "cargo build -p pauseless-core --locked",
            "cargo test --workspace --locked --no-run",
            "cargo test --workspace --locked",
            "cargo xtask examples",
            "cargo xtask package",
            "cargo xtask dist --tested",
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
    fn steps_beside_others_come_after_the_build() {
        let names: Vec<&str> = steps(None).iter().map(|step| step.name).collect();
        let built = names.iter().position(|name| *name == "build").expect("the build");
        for name in BESIDE {
            let at = names.iter().position(|step| *step == name).expect("a step");
            assert!(at > built, "{name} needs what is built for the tests");
        }
    }

    #[test]
    fn processor_time_is_counted() {
        let begin = cpu_seconds();
        let mut child = Command::new("sh");
        child.args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]);
        assert!(child.status().expect("a shell").success());
        assert!(cpu_seconds() > begin);
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
