//! The program of a release, built once more from a copy of the sources and from the packages of all
//! crates: each is read-only, without a network and without npm, and must give the same bytes.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs};

use super::{Build, TARGETS, compile_command};
use crate::Outcome;
use crate::package::{self, isolated};
use crate::page::{call, target_dir};
use crate::repo::{Repo, root};

/// Builds the program here, and then in both other places; `Found` unless all three are equal.
pub fn run(how: Build) -> io::Result<Outcome> {
    let begin = Instant::now();
    let Some(here) = super::compile(how, &TARGETS[0])? else { return Ok(Outcome::Found) };
    let expected = fs::read(&here)?;
    println!("here: {} bytes, after {} s", expected.len(), begin.elapsed().as_secs());
    let mut outcome = Outcome::Clean;
    for place in [Place::Copy, Place::Packages] {
        let begin = Instant::now();
        let tree = tree();
        let is_equal = place.make(&tree)? && {
            let program = build(&tree, how)?;
            program.is_some_and(|program| program == expected)
        };
        let word = if is_equal { "the same bytes" } else { "DIFFERENT" };
        println!("{}: {word}, after {} s", place.name(), begin.elapsed().as_secs());
        outcome = outcome.and(if is_equal { Outcome::Clean } else { Outcome::Found });
        fs::remove_dir_all(tree)?;
    }
    Ok(outcome)
}

/// Where the sources are that are not those of the repository.
fn tree() -> PathBuf {
    target_dir().join("same-tree")
}

/// What the sources of a program come from.
#[derive(Clone, Copy)]
enum Place {
    /// The files of the repository.
    Copy,
    /// What `cargo package` makes of each crate. They are laid out as the repository is, because the
    /// names that a compiler gives to functions depend on where a crate lies in its workspace.
    Packages,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::Copy => "a copy of the sources, read-only, without network and npm",
            Place::Packages => "the packages of all crates, read-only, without network and npm",
        }
    }

    /// Makes the sources in `tree`; whether that was possible.
    fn make(self, tree: &Path) -> io::Result<bool> {
        if tree.exists() {
            fs::remove_dir_all(tree)?;
        }
        match self {
            Place::Copy => {
                for path in Repo::open()?.paths() {
                    let to = tree.join(path);
                    fs::create_dir_all(to.parent().unwrap_or(tree))?;
                    let from = root().join(path);
                    // Some crates have folders of the repository by a link.
                    if from.is_symlink() {
                        symlink(fs::read_link(&from)?, to)?;
                    } else {
                        fs::copy(from, to)?;
                    }
                }
                Ok(true)
            }
            Place::Packages => package::workspace(tree, package::Layout::Repository),
        }
    }
}

/// The program that the sources in `tree` give; `None` if it cannot be built, which was said. What was
/// built of other people's crates is used again, nothing of ours.
fn build(tree: &Path, how: Build) -> io::Result<Option<Vec<u8>>> {
    let Some(mut command) = isolated(tree)? else {
        println!("NOT TRIED: the kernel refuses namespaces here");
        return Ok(None);
    };
    let profile = if how == Build::Quick { "debug" } else { "release" };
    let built = target_dir().join(TARGETS[0].triple).join(profile);
    for folder in [built.clone(), built.join("deps"), built.join("build")] {
        remove_ours(&folder)?;
    }
    remove_ours(&built.join(".fingerprint"))?;
    let cargo = compile_command(how, &TARGETS[0])?;
    command.args(["sh", "-c", WITHOUT_NPM, "sh"]).arg(cargo.get_program()).args(cargo.get_args());
    command.arg("--offline").current_dir(tree).env("CARGO_TARGET_DIR", target_dir());
    command.envs(cargo.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let is_built = call(&mut command)?;
    is_built.then(|| fs::read(built.join("pauseless"))).transpose()
}

/// Removes what was built of our crates from a folder.
fn remove_ours(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().contains("pauseless") {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Options of the compiler that keep folders of this machine out of the program, which names the
/// places of its sources when it panics. Those of our crates are relative to the workspace anyhow.
pub fn without_folders() -> io::Result<String> {
    let mut options = Vec::new();
    let mut map = |from: &Path, to: &str| {
        options.push(format!("--remap-path-prefix={}={to}", from.display()));
    };
    map(&root(), "/pauseless");
    map(&target_dir(), "/target");
    // Every tree has the same name, and every build the same options: else other people's crates would
    // be built again for each.
    map(&tree(), "/pauseless");
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    for sources in fs::read_dir(home.unwrap_or_default().join("registry/src"))? {
        map(&sources?.path(), "/registry");
    }
    // What separates options here may be part of none of them.
    Ok(options.join("\x1f"))
}

/// Makes npm and node of no use for a command.
const WITHOUT_NPM: &str = "for tool in npm node; do \
     if place=$(command -v $tool); then mount --bind /dev/null \"$(readlink -f \"$place\")\"; fi; \
     done; ! npm --version >/dev/null 2>&1 && exec \"$@\"";
