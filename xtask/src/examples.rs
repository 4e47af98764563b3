//! The programs that show how the library is used, each of which asserts its own result.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

use crate::Outcome;
use crate::page::target_dir;
use crate::repo::root;

/// Runs every example of `pauseless`, and the crate outside the workspace.
pub fn run() -> io::Result<Outcome> {
    // Of the whole workspace, because the tests have built them with the features of all of it.
    let build = ["build", "--quiet", "--locked", "--workspace", "--examples"];
    if !cargo().args(build).current_dir(root()).status()?.success() {
        return Ok(Outcome::Found);
    }
    let mut outcome = Outcome::Clean;
    for name in names(&root().join("crates/pauseless/examples"))? {
        let program = target_dir().join("debug/examples").join(&name);
        if !passes(&name, &mut Command::new(program))? {
            outcome = Outcome::Found;
        }
    }
    if !passes("own-scheme", &mut outside()?)? {
        outcome = Outcome::Found;
    }
    Ok(outcome)
}

/// The names of the examples in `folder`, in order: files, and folders with a `main.rs`.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_file = path.extension().is_some_and(|extension| extension == "rs");
        if is_file || path.join("main.rs").is_file() {
            let stem = path.file_stem().unwrap_or_default();
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The crate outside the workspace, with the versions of our lock file and, as far as they are the
/// same, what was built for the workspace.
fn outside() -> io::Result<Command> {
    let folder = root().join(OUTSIDE);
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let mut command = cargo();
    // What it does not need is taken out of the lock file; nothing is looked up to do so.
    command.args(["run", "--quiet", "--offline", "--manifest-path"]).arg(folder.join("Cargo.toml"));
    command.env("CARGO_TARGET_DIR", target_dir());
    for (name, value) in PROFILE {
        if env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    Ok(command)
}

/// Whether an example ends well; what it printed is shown only if not.
fn passes(name: &str, command: &mut Command) -> io::Result<bool> {
    let output = command.current_dir(root()).output()?;
    if output.status.success() {
        let lines = output.stdout.iter().filter(|byte| **byte == b'\n').count();
        println!("{name}: passed, {lines} lines");
        return Ok(true);
    }
    println!("{name}: FAILED, {}", output.status);
    print!("{}", String::from_utf8_lossy(&output.stdout));
    print!("{}", String::from_utf8_lossy(&output.stderr));
    Ok(false)
}

fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

const OUTSIDE: &str = "examples/own-scheme";
/// How the workspace builds what others have written.
const PROFILE: [(&str, &str); 3] = [
    ("CARGO_PROFILE_DEV_OPT_LEVEL", "2"),
    ("CARGO_PROFILE_DEV_DEBUG", "line-tables-only"),
    ("CARGO_PROFILE_DEV_LTO", "off"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_are_found() {
        let names = names(&root().join("crates/pauseless/examples")).expect("the folder is there");
        assert!(names.len() >= 9, "{names:?}");
        assert!(names.contains(&"any_graph".to_string()));
        assert!(names.contains(&"own_congestion_control".to_string()));
    }
}
