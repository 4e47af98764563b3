//! The programs that show how the library is used, each of which asserts its own result.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use crate::Outcome;
use crate::page::{call, target_dir};
use crate::repo::root;

/// Runs every example of `pauseless`, and the crate outside the workspace.
pub fn run() -> io::Result<Outcome> {
    // Of the whole workspace, because the tests have built them with the features of all of it.
    let build = ["build", "--quiet", "--locked", "--workspace", "--lib", "--examples"];
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
    let is_good = match outside()? {
        Some(program) => passes("own-scheme", &mut Command::new(program))?,
        None => false,
    };
    Ok(if is_good { outcome } else { Outcome::Found })
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

/// The program of the crate outside the workspace, made with the libraries that the tests have built.
/// Cargo would build most of them again, with other features and another profile; that its manifest is
/// right too, `cargo xtask package` sees, which checks it beside our packages.
fn outside() -> io::Result<Option<PathBuf>> {
    let built = target_dir().join("debug");
    let program = built.join("own-scheme");
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc")));
    rustc.args(["--edition", "2024", "--crate-name", "own_scheme", "--extern"]);
    rustc.arg(format!("pauseless={}", built.join("libpauseless.rlib").display()));
    rustc.arg("-L").arg(format!("dependency={}", built.join("deps").display()));
    rustc.arg(root().join(OUTSIDE).join("src/main.rs")).arg("-o").arg(&program);
    Ok(call(&mut rustc)?.then_some(program))
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

/// The crate outside the workspace.
pub const OUTSIDE: &str = "examples/own-scheme";

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
