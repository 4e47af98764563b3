//! Every crate as the package that a registry would give: made, unpacked side by side, and compiled
//! without a network and from a read-only tree.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, io};

use crate::Outcome;
use crate::examples::OUTSIDE;
use crate::page::{call, program, target_dir};
use crate::repo::root;

/// Makes all packages, compiles what is in them, and compares the version that they have, which has a
/// hash of the sources in it, with that of the program, which must have been built.
pub fn run() -> io::Result<Outcome> {
    let tree = target_dir().join("package-check");
    if !(can_be_published()? && workspace(&tree, Layout::Registry)?) {
        return Ok(Outcome::Found);
    }
    let output = compile(&tree, &["pauseless"])?.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Ok(Outcome::Found);
    }
    let asked = Command::new(program()).arg("--version").output()?;
    let said = String::from_utf8_lossy(&asked.stdout);
    let ours = said.trim().trim_start_matches("pauseless ");
    let messages = String::from_utf8_lossy(&output.stdout);
    let packed = version(&messages).unwrap_or_default();
    println!("version of the packages {packed}, of the program {ours}");
    if packed != ours {
        return Ok(Outcome::Found);
    }
    // Asks for the library without the command line.
    let mut outside = compile(&tree, &["own-scheme", "features"])?;
    let outside = outside.stderr(Stdio::inherit()).output()?;
    Ok(if outside.status.success() { Outcome::Clean } else { Outcome::Found })
}

/// Asks cargo to publish all crates in their order, up to the upload. It need not compile them: that
/// is done below, in fewer steps.
fn can_be_published() -> io::Result<bool> {
    let mut publish = cargo();
    publish.args(["publish", "--dry-run", "--quiet", "--workspace", "--exclude", "xtask"]);
    call(publish.args(["--no-verify", "--locked", "--allow-dirty"]))
}

/// Where the crates of a workspace lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Side by side, with versions in their names, as cargo unpacks packages.
    Registry,
    /// As in the repository.
    Repository,
}

impl Layout {
    fn folder(self, name: &str) -> String {
        match self {
            Layout::Registry => format!("{name}-{VERSION}"),
            Layout::Repository => format!("crates/{name}"),
        }
    }
}

/// Makes the packages of all crates, and of what is in them a workspace; whether that was possible.
pub fn workspace(tree: &Path, layout: Layout) -> io::Result<bool> {
    let mut package = cargo();
    package.args(["package", "--quiet", "--workspace", "--exclude", "xtask", "--no-verify"]);
    // What a developer has not committed yet is to be checked, too.
    if !call(package.args(["--locked", "--allow-dirty"]))? {
        return Ok(false);
    }
    let crates = unpack(tree, layout)?;
    println!("{} packages", crates.len());
    let workspace = fs::read_to_string(root().join("Cargo.toml"))?;
    let mut members = Vec::from_iter(crates.iter().map(|name| layout.folder(name)));
    if layout == Layout::Registry {
        outside(tree)?;
        members.extend(["own-scheme", "features"].map(str::to_string));
    }
    fs::write(tree.join("Cargo.toml"), manifest(&members, &crates, layout, &workspace))?;
    fs::copy(root().join("Cargo.lock"), tree.join("Cargo.lock"))?;
    // What only our tools need is taken out of the lock file before nobody may write it. To list the
    // crates of this platform asks for no others: `cargo metadata` would ask for those of all.
    let mut tree_of_crates = cargo();
    tree_of_crates.args(["tree", "--offline", "--quiet", "--workspace", "--depth", "0"]);
    call(tree_of_crates.current_dir(tree).stdout(Stdio::null()))
}

/// Copies the crate that is outside of our workspace, with a version in place of the path to us. It
/// takes the library without the command line, so a crate beside it asks for what the command line
/// needs: else dependencies would have other features, and all would be compiled once more.
fn outside(tree: &Path) -> io::Result<()> {
    let from = root().join(OUTSIDE);
    let [scheme, features] = ["own-scheme", "features"].map(|name| tree.join(name));
    for to in [&scheme, &features] {
        fs::create_dir_all(to.join("src"))?;
    }
    fs::copy(from.join("src/main.rs"), scheme.join("src/main.rs"))?;
    let manifest = fs::read_to_string(from.join("Cargo.toml"))?;
    fs::write(scheme.join("Cargo.toml"), with_version(&manifest))?;
    fs::write(features.join("src/lib.rs"), "")?;
    let facade = fs::read_to_string(root().join("crates/pauseless/Cargo.toml"))?;
    fs::write(features.join("Cargo.toml"), optional(&facade))
}

/// The manifest of a crate that needs what is optional in another one.
fn optional(manifest: &str) -> String {
    let mut text =
        "[package]\nname = \"features\"\nedition = \"2024\"\n\n[dependencies]\n".to_string();
    for line in manifest.lines().filter(|line| line.contains(", optional = true")) {
        text.push_str(&line.replace(", optional = true", ""));
        text.push('\n');
    }
    text
}

/// The manifest of a member that asks a registry for us.
fn with_version(manifest: &str) -> String {
    let version = format!("version = \"={VERSION}\"");
    manifest.replace("path = \"../../crates/pauseless\"", &version).replace("[workspace]", "")
}

/// Unpacks the packages of all our crates into `tree`; the names of the crates.
fn unpack(tree: &Path, layout: Layout) -> io::Result<Vec<String>> {
    if tree.exists() {
        fs::remove_dir_all(tree)?;
    }
    fs::create_dir_all(tree.join("crates"))?;
    let mut names = Vec::new();
    for entry in fs::read_dir(root().join("crates"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let package = target_dir().join(format!("package/{name}-{VERSION}.crate"));
        if !call(Command::new("tar").arg("-xzf").arg(&package).arg("-C").arg(tree))? {
            return Err(io::Error::other(format!("{}: cannot be unpacked", package.display())));
        }
        fs::rename(tree.join(Layout::Registry.folder(&name)), tree.join(layout.folder(&name)))?;
        names.push(name);
    }
    names.sort();
    Ok(names)
}

/// The version that the build script of the packages tells the program, from what cargo says.
fn version(messages: &str) -> Option<&str> {
    let (_, after) = messages.split_once("\"PAUSELESS_VERSION\",\"")?;
    Some(after.split_once('"')?.0)
}

/// A workspace in which every crate of ours is found in its package. It is built as ours is, so that
/// what both need is built once.
fn manifest(members: &[String], crates: &[String], layout: Layout, workspace: &str) -> String {
    let members = Vec::from_iter(members.iter().map(|folder| format!("\"{folder}\"")));
    let mut text = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{}]\n\n[patch.crates-io]\n",
        members.join(", ")
    );
    for name in crates {
        text.push_str(&format!("{name} = {{ path = \"{}\" }}\n", layout.folder(name)));
    }
    let profiles = workspace.find("\n[profile.").map_or("", |at| &workspace[at..]);
    text + profiles
}

/// Compiles crates in `tree`, which cannot be written to and has no network where the kernel allows
/// such a namespace.
fn compile(tree: &Path, names: &[&str]) -> io::Result<Command> {
    let mut args = vec!["check", "--locked", "--offline", "--message-format=json"];
    args.extend(names.iter().flat_map(|name| ["--package", name]));
    let mut command = match isolated(tree)? {
        Some(mut command) => {
            command.arg(cargo().get_program()).args(&args);
            command
        }
        None => {
            println!("no namespaces here: the tree could be written to");
            let mut command = cargo();
            command.args(&args);
            command
        }
    };
    command.current_dir(tree).env("CARGO_TARGET_DIR", target_dir());
    Ok(command)
}

/// The beginning of a command that sees `tree` read-only and no network; `None` where the kernel
/// refuses the namespaces for it.
pub fn isolated(tree: &Path) -> io::Result<Option<Command>> {
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
        let members = ["a", "own-scheme"].map(str::to_string);
        let crates = ["a", "b"].map(str::to_string);
        let text = manifest(&members, &crates, Layout::Registry, workspace);
        assert!(text.contains("members = [\"a\", \"own-scheme\"]\n"));
        assert!(text.contains(&format!("\nb = {{ path = \"b-{VERSION}\" }}\n")));
        assert!(text.ends_with("\n[profile.dev]\nopt-level = 2\n"));
    }

    #[test]
    fn the_crate_outside_asks_for_our_version_and_nothing_else_of_it_changes() {
        let path = root().join(OUTSIDE).join("Cargo.toml");
        let text = with_version(&fs::read_to_string(path).expect("the manifest"));
        assert!(text.contains("pauseless = { version = \"=0.1.0\", default-features = false }\n"));
        assert!(text.contains("name = \"own-scheme\"") && !text.contains("[workspace]"), "{text}");
    }

    #[test]
    fn what_is_optional_is_asked_for() {
        let facade = "a = \"1\"\nb = { version = \"2\", features = [\"c\"], optional = true }\n";
        let text = optional(facade);
        assert!(
            text.ends_with("[dependencies]\nb = { version = \"2\", features = [\"c\"] }\n"),
            "{text}"
        );
    }

    #[test]
    fn the_version_is_found_in_what_cargo_says() {
        let message = r#"{"reason":"build-script-executed","env":[["PAUSELESS_VERSION","1.2+a"]]}"#;
        assert_eq!(version(message), Some("1.2+a"));
        assert_eq!(version("{}"), None);
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
