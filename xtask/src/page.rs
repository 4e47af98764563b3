//! The pages in a real browser: what the program writes is opened, clicked and read.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs, io, thread};

use crate::repo::root;
use crate::{Outcome, bundle};

/// Makes sure of what tests need, before anything is built.
pub fn tools() -> io::Result<Outcome> {
    for tool in &TOOLS {
        if !install(tool.program, tool.package)? {
            return Ok(Outcome::Found);
        }
    }
    Ok(Outcome::Clean)
}

/// Installs a package of Debian unless its program is there; whether it is there now.
pub fn install(program: &'static str, package: &'static str) -> io::Result<bool> {
    let tool = Tool { program, package };
    if tool.is_there() {
        println!("{program}: there");
        return Ok(true);
    }
    println!("{program}: missing");
    let sudo = Tool { program: "sudo", package: "sudo" };
    if !is_root() && !sudo.is_there() {
        println!("install it, as root: apt-get install {package}");
        return Ok(false);
    }
    // Lists of packages may be old or missing, so they come first.
    let install = ["install", "-y", "--no-install-recommends", package];
    for args in [&["update"][..], &install] {
        if !apt_get(args)? {
            println!("apt-get {} failed", args.join(" "));
            return Ok(false);
        }
    }
    Ok(true)
}

/// Calls apt-get; whether it succeeded. Other package managers are waited for: that is what apt-get's
/// own option does for one of its locks, and asking again for the others.
fn apt_get(args: &[&str]) -> io::Result<bool> {
    let mut waited = Duration::ZERO;
    loop {
        let mut apt = Command::new(if is_root() { "env" } else { "sudo" });
        if !is_root() {
            // A password is nobody's to type here.
            apt.args(["--non-interactive", "env"]);
        }
        // Nor is there anybody to answer what packages may ask, or to translate what is looked for below.
        apt.args(["DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "apt-get"]);
        apt.args(["-o", "DPkg::Lock::Timeout=300"]).args(args);
        let output = apt.stdout(Stdio::inherit()).stderr(Stdio::piped()).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let is_locked = said.contains("Could not get lock") || said.contains("Unable to lock");
        if output.status.success() || !is_locked || waited >= LOCK_MAX {
            print!("{said}");
            return Ok(output.status.success());
        }
        thread::sleep(LOCK_STEP);
        waited += LOCK_STEP;
    }
}

/// Builds the program as `cargo test --workspace` does. Continuous integration does not call this,
/// because its tests have built it.
pub fn build() -> io::Result<Outcome> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--locked", "--workspace", "--bin", "pauseless"]);
    // An example needs what tests need, so that dependencies have the features that they have there.
    build.args(["--example", "any_graph"]);
    Ok(if call(&mut build)? { Outcome::Clean } else { Outcome::Found })
}

/// The program, once it is built.
pub fn program() -> PathBuf {
    target_dir().join("debug/pauseless")
}

/// Checks the types of the page's sources, makes sure that the stored bundle is made of them, and
/// runs its tests on the program.
pub fn run() -> io::Result<Outcome> {
    let web = target_dir().join("page");
    if !prepare(&web)? {
        return Ok(Outcome::Found);
    }
    for check in [bundle::check, bundle::check_checksums] {
        if check(&web)? == Outcome::Found {
            return Ok(Outcome::Found);
        }
    }
    Ok(if npm(&web, &["test"])? { Outcome::Clean } else { Outcome::Found })
}

/// Stores the bundle that the page's sources give.
pub fn update() -> io::Result<Outcome> {
    let web = target_dir().join("page");
    if prepare(&web)? { bundle::update(&web) } else { Ok(Outcome::Found) }
}

/// Copies the sources to `web`, installs the libraries there and checks the types; whether all is well.
fn prepare(web: &Path) -> io::Result<bool> {
    copy(&root().join(PAGE).join("web"), web)?;
    let is_installed = npm(web, &["ci", "--ignore-scripts", "--no-audit", "--no-fund"])?;
    Ok(is_installed && npm(web, &["run", "check"])?)
}

/// Calls npm in `web`; whether it succeeded.
fn npm(web: &Path, args: &[&str]) -> io::Result<bool> {
    let mut command = Command::new("npm");
    let is_good = call(command.args(args).current_dir(web).env("PAUSELESS", program()))?;
    if !is_good {
        println!("failed: {command:?}");
    }
    Ok(is_good)
}

/// A program that comes with a package of Debian.
struct Tool {
    program: &'static str,
    package: &'static str,
}

impl Tool {
    fn is_there(&self) -> bool {
        let paths = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&paths).any(|folder| folder.join(self.program).is_file())
    }
}

/// Runs a command, in the repository unless it says otherwise; whether it succeeded.
pub fn call(command: &mut Command) -> io::Result<bool> {
    if command.get_current_dir().is_none() {
        command.current_dir(root());
    }
    Ok(command.status()?.success())
}

/// Whether packages can be installed, asked without a library.
pub fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Where cargo puts what it builds.
pub fn target_dir() -> PathBuf {
    let set = env::var_os("CARGO_TARGET_DIR");
    root().join(set.map_or_else(|| PathBuf::from("target"), PathBuf::from))
}

/// Copies a folder over another, without what npm has put into either.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        if entry.file_name() == "node_modules" {
            continue;
        }
        if entry.file_type()?.is_dir() {
            // What was taken away since the last time must not stay.
            if place.exists() {
                fs::remove_dir_all(&place)?;
            }
            copy(&entry.path(), &place)?;
        } else {
            fs::copy(entry.path(), place)?;
        }
    }
    Ok(())
}

const PAGE: &str = "crates/pauseless-page";
/// How long another package manager is waited for, and how often it is asked.
const LOCK_MAX: Duration = Duration::from_secs(300);
const LOCK_STEP: Duration = Duration::from_secs(3);

const TOOLS: [Tool; 3] = [
    Tool { program: "npm", package: "npm" },
    Tool { program: "chromium", package: "chromium" },
    // What lets the tests of the command line kill it at every operation on files.
    Tool { program: "strace", package: "strace" },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_is_not_there_is_missed() {
        let tool = |program| Tool { program, package: "" };
        assert!(tool("sh").is_there());
        assert!(!tool("no-such-program").is_there());
    }

    #[test]
    fn all_of_the_web_sources_are_copied() {
        let place = target_dir().join("xtask-page-copy");
        copy(&root().join(PAGE).join("web"), &place).expect("a copy");
        for path in ["package-lock.json", ".npmrc", "src/main.ts", "test/page.test.mjs"] {
            assert!(place.join(path).is_file(), "{path}");
        }
        assert!(!place.join("node_modules").exists());
        fs::remove_dir_all(place).expect("it can be removed");
    }
}
