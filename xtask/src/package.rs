//! Every crate as the package that a registry would give: made, unpacked side by side, and compiled
//! without a network and from a read-only tree.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use crate::Outcome;
use crate::page::{call, target_dir};
use crate::repo::root;

/// Makes all packages, in the order in which they can be published, and compiles what is in them.
pub fn run() -> io::Result<Outcome> {
    let mut package = cargo();
    package.args(["package", "--quiet", "--workspace", "--exclude", "xtask", "--no-verify"]);
    // What a developer has not committed yet is to be checked, too.
    if !call(package.args(["--locked", "--allow-dirty"]))? {
        return Ok(Outcome::Found);
    }
    let tree = target_dir().join("package-check");
    let crates = unpack(&tree)?;
    println!("{} packages", crates.len());
    let workspace = fs::read_to_string(root().join("Cargo.toml"))?;
    fs::write(tree.join("Cargo.toml"), manifest(&crates, &workspace))?;
    fs::copy(root().join("Cargo.lock"), tree.join("Cargo.lock"))?;
    // What only our tests and tools need is taken out of the lock file before nobody may write it.
    let mut metadata = cargo();
    metadata.args(["metadata", "--offline", "--quiet", "--format-version=1"]);
    if !call(metadata.current_dir(&tree).stdout(Stdio::null()))? {
        return Ok(Outcome::Found);
    }
    Ok(if call(&mut compile(&tree)?)? { Outcome::Clean } else { Outcome::Found })
}

/// Unpacks the packages of all our crates into `tree`; their folders, with the names of the crates.
fn unpack(tree: &Path) -> io::Result<Vec<String>> {
    if tree.exists() {
        fs::remove_dir_all(tree)?;
    }
    fs::create_dir_all(tree)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("crates"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let package = target_dir().join(format!("package/{name}-{VERSION}.crate"));
        if !call(Command::new("tar").arg("-xzf").arg(&package).arg("-C").arg(tree))? {
            return Err(io::Error::other(format!("{}: cannot be unpacked", package.display())));
        }
        names.push(name);
    }
    names.sort();
    Ok(names)
}

/// A workspace in which every crate of ours is found in its package. It is built as ours is, so that
/// what both need is built once.
fn manifest(crates: &[String], workspace: &str) -> String {
    let mut text = "[workspace]\nresolver = \"3\"\n".to_string();
    let members = crates.iter().map(|name| format!("\"{name}-{VERSION}\""));
    text.push_str(&format!(
        "members = [{}]\n\n[patch.crates-io]\n",
        Vec::from_iter(members).join(", ")
    ));
    for name in crates {
        text.push_str(&format!("{name} = {{ path = \"{name}-{VERSION}\" }}\n"));
    }
    let profiles = workspace.find("\n[profile.").map_or("", |at| &workspace[at..]);
    text + profiles
}

/// Compiles the program in `tree`, which cannot be written to and has no network where the kernel
/// allows such a namespace.
fn compile(tree: &Path) -> io::Result<Command> {
    let args = ["check", "--quiet", "--package", "pauseless", "--locked", "--offline"];
    let mut command = match isolated(tree)? {
        Some(mut command) => {
            command.arg(cargo().get_program()).args(args);
            command
        }
        None => {
            println!("no namespaces here: the tree could be written to");
            let mut command = cargo();
            command.args(args);
            command
        }
    };
    command.current_dir(tree).env("CARGO_TARGET_DIR", target_dir());
    Ok(command)
}

/// The beginning of a command that sees `tree` read-only and no network; `None` where the kernel
/// refuses the namespaces for it.
fn isolated(tree: &Path) -> io::Result<Option<Command>> {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--net", "--mount"]);
        command
    };
    let is_allowed = unshare().arg("true").stderr(Stdio::null()).status();
    if !is_allowed.is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    let mut command = unshare();
    command.args(["sh", "-c", READ_ONLY]).arg(fs::canonicalize(tree)?);
    Ok(Some(command))
}

fn cargo() -> Command {
    Command::new(env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from))
}

/// Makes a folder read-only and runs a command there.
const READ_ONLY: &str = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" \
     && cd \"$0\" && ! touch \"$0/probe\" 2>/dev/null && exec \"$@\"";
const VERSION: &str = env!("CARGO_PKG_VERSION");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_found_by_its_version_and_built_with_our_profiles() {
        let workspace = "[workspace]\nmembers = []\n\n[profile.dev]\nopt-level = 2\n";
        let text = manifest(&["a".to_string(), "b".to_string()], workspace);
        assert!(text.contains(&format!("members = [\"a-{VERSION}\", \"b-{VERSION}\"]\n")));
        assert!(text.contains(&format!("\nb = {{ path = \"b-{VERSION}\" }}\n")));
        assert!(text.ends_with("\n[profile.dev]\nopt-level = 2\n"));
    }

    #[test]
    fn build_scripts_call_no_program() {
        let mut scripts = 0;
        for entry in fs::read_dir(root().join("crates")).expect("the crates") {
            let script = entry.expect("an entry").path().join("build.rs");
            let Ok(text) = fs::read_to_string(&script) else { continue };
            scripts += 1;
            assert!(!text.contains("Command"), "{}", script.display());
        }
        assert!(scripts > 0, "one tells the program its sources");
    }
}
