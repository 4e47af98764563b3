//! The public interface of every library, held against what is stored in `docs/api/`.
//!
//! Rustdoc writes the interface as JSON and `public-api`, the library below `cargo public-api`, makes
//! lines of it. That format is not stable, so that rustdoc has to be asked as if it were nightly:
//! this program stands in for rustdoc and passes the call on with the one variable that does so. For
//! all of cargo the variable would build half of the dependencies again.
//!
//! Rustdoc looks for broken links and the like whatever it writes, so its warnings are errors here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

use public_api::{Builder, Error};

use crate::Outcome;
use crate::page::target_dir;
use crate::repo::root;

/// Compares all interfaces with the stored ones, or stores them if `UPDATE_EXPECT` is set. A warning of
/// rustdoc is a finding.
pub fn run() -> io::Result<Outcome> {
    if !document()? {
        return Ok(Outcome::Found);
    }
    let is_update = env::var_os("UPDATE_EXPECT").is_some();
    let mut outcome = Outcome::Clean;
    for name in crates()? {
        let json = target_dir().join(format!("doc/{}.json", name.replace('-', "_")));
        let fresh = match interface(&json) {
            Ok(lines) => lines,
            Err(Error::SerdeJsonError(error)) => {
                println!("NOT COMPARED: rustdoc of this toolchain has another format: {error}");
                println!("take the version of `public-api` that goes with it in xtask/Cargo.toml");
                return Ok(Outcome::Clean);
            }
            Err(error) => return Err(io::Error::other(format!("{name}: {error}"))),
        };
        let stored = root().join(format!("docs/api/{name}.txt"));
        if is_update {
            fs::write(&stored, fresh)?;
        } else if !is_same(&name, &stored, &fresh)? {
            outcome = Outcome::Found;
        }
    }
    if outcome == Outcome::Found {
        println!("if that is meant, store it: UPDATE_EXPECT=1 cargo xtask api");
    }
    Ok(outcome)
}

/// The call of rustdoc that cargo wants made, if this process stands in for rustdoc.
pub fn stand_in() -> Option<ExitCode> {
    let rustdoc = env::var_os(RUSTDOC)?;
    let mut command = Command::new(rustdoc);
    command.args(env::args_os().skip(1)).env("RUSTC_BOOTSTRAP", "1");
    let is_good = command.status().is_ok_and(|status| status.success());
    Some(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes the JSON of all libraries of the workspace, and of xtask; whether that went well.
fn document() -> io::Result<bool> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["doc", "--quiet", "--workspace", "--no-deps", "--locked"]);
    // An example needs what tests need, so that dependencies have the features that clippy has checked
    // them with, and are not checked again.
    command.args(["--lib", "--bin", "xtask", "--example", "any_graph"]);
    command.env("RUSTDOC", env::current_exe()?).env(RUSTDOC, "rustdoc");
    command.env("RUSTDOCFLAGS", "-D warnings -Z unstable-options --output-format json");
    Ok(command.current_dir(root()).status()?.success())
}

/// The libraries of the workspace, in order.
fn crates() -> io::Result<Vec<String>> {
    let folders = fs::read_dir(root().join("crates"))?;
    let folders = folders.collect::<io::Result<Vec<_>>>()?;
    let paths = folders.iter().map(|entry| entry.path());
    let libraries = paths.filter(|path: &PathBuf| path.join("src/lib.rs").is_file());
    let names = libraries.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    let mut names = Vec::from_iter(names);
    names.sort();
    Ok(names)
}

/// One line for each public item, without what every type has or derives.
fn interface(json: &Path) -> Result<String, Error> {
    let builder = Builder::from_rustdoc_json(json).sorted(true);
    let builder = builder.omit_blanket_impls(true).omit_auto_trait_impls(true);
    let api = builder.omit_auto_derived_impls(true).build()?;
    Ok(api.items().map(|item| format!("{item}\n")).collect())
}

/// Whether the stored interface is the fresh one; what differs is printed.
fn is_same(name: &str, stored: &Path, fresh: &str) -> io::Result<bool> {
    let stored = match fs::read_to_string(stored) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error),
    };
    let difference = difference(&stored, fresh);
    if !difference.is_empty() {
        println!("the interface of {name} differs from docs/api/{name}.txt:");
        difference.iter().for_each(|line| println!("{line}"));
    }
    Ok(difference.is_empty())
}

/// Lines that went with `-` and lines that came with `+`. Their order says nothing.
fn difference(old: &str, new: &str) -> Vec<String> {
    let [old, new] = [old, new].map(|text| text.lines().collect::<BTreeSet<&str>>());
    let gone = old.difference(&new).map(|line| format!("-{line}"));
    let added = new.difference(&old).map(|line| format!("+{line}"));
    gone.chain(added).collect()
}

/// The rustdoc that this program stands in for.
const RUSTDOC: &str = "XTASK_RUSTDOC";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_is_found() {
        let names = crates().expect("the folder is there");
        assert!(names.contains(&"pauseless".to_string()), "{names:?}");
        assert!(names.contains(&"pauseless-core".to_string()), "{names:?}");
    }

    #[test]
    fn only_lines_that_went_or_came_differ() {
        assert_eq!(difference("a\nb\n", "b\na\n"), Vec::<String>::new());
        assert_eq!(difference("a\nb\n", "b\nc\n"), ["-a", "+c"]);
    }
}
