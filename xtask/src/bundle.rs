//! The script of pages, made from TypeScript and two libraries, and stored in the repository.
//!
//! It is stored so that a build needs no npm and no network. Continuous integration makes it anew,
//! and fails unless that gives the same bytes.

use std::path::Path;
use std::process::Command;
use std::{fs, io};

use crate::Outcome;
use crate::page::call;
use crate::repo::root;

/// Makes the bundle in `web`, where npm has installed what it needs, and compares it with the stored one.
pub fn check(web: &Path) -> io::Result<Outcome> {
    let Some(made) = make(web)? else { return Ok(Outcome::Found) };
    let mut outcome = Outcome::Clean;
    for Made { name, bytes } in &made {
        let stored = root().join(BUNDLE).join(name);
        if fs::read(&stored).ok().as_ref() != Some(bytes) {
            println!("{BUNDLE}/{name} is not what web/ gives: run cargo xtask page --update");
            outcome = Outcome::Found;
        }
    }
    Ok(outcome)
}

/// Makes the bundle in `web`, where npm has installed what it needs, and stores it.
pub fn update(web: &Path) -> io::Result<Outcome> {
    let Some(made) = make(web)? else { return Ok(Outcome::Found) };
    fs::create_dir_all(root().join(BUNDLE))?;
    for Made { name, bytes } in made {
        fs::write(root().join(BUNDLE).join(name), bytes)?;
    }
    Ok(Outcome::Clean)
}

/// Installs the libraries into `web` with another checksum for one of them, which has to fail.
pub fn check_checksums(web: &Path) -> io::Result<Outcome> {
    let folder = web.join("wrong");
    fs::create_dir_all(&folder)?;
    for name in ["package.json", ".npmrc"] {
        fs::copy(web.join(name), folder.join(name))?;
    }
    let lock = fs::read_to_string(web.join("package-lock.json"))?;
    let wrong = with_wrong_checksum(&lock, LIBRARIES[1]);
    let wrong = wrong.ok_or_else(|| io::Error::other("package-lock.json names no checksum"))?;
    fs::write(folder.join("package-lock.json"), wrong)?;
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--omit=dev"]).current_dir(&folder);
    let output = npm.output()?;
    let is_refused = !output.status.success();
    if is_refused && String::from_utf8_lossy(&output.stderr).contains("EINTEGRITY") {
        println!("a wrong checksum: refused");
        return Ok(Outcome::Clean);
    }
    println!("npm did not refuse a wrong checksum: {}", output.status);
    println!("{}", String::from_utf8_lossy(&output.stderr));
    Ok(Outcome::Found)
}

/// A file of the bundle, as it was just made.
struct Made {
    name: &'static str,
    bytes: Vec<u8>,
}

/// The files of the bundle with their names, or `None` if esbuild fails, which says why itself.
fn make(web: &Path) -> io::Result<Option<[Made; 3]>> {
    let mut esbuild = Command::new("npm");
    if !call(esbuild.args(["run", "--ignore-scripts", "build"]).current_dir(web))? {
        return Ok(None);
    }
    let licences = licences(web)?.into_bytes();
    let (script, style) = (fs::read(web.join("page.js"))?, fs::read(web.join("page.css"))?);
    Ok(Some([
        Made { name: "page.js", bytes: script },
        Made { name: "page.css", bytes: style },
        Made { name: "licences.txt", bytes: licences },
    ]))
}

/// The terms of the libraries, and of what they contain themselves.
fn licences(web: &Path) -> io::Result<String> {
    let mut licences = fs::read_to_string(root().join(NOTICES))?;
    licences.push('\n');
    for library in LIBRARIES {
        let text = fs::read_to_string(web.join("node_modules").join(library).join("LICENSE"))?;
        let lines: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
        licences.push_str(&format!("{library}\n\n{}\n\n", lines.join("\n")));
    }
    Ok(licences)
}

/// The lock file with one letter of the checksum of `library` exchanged.
fn with_wrong_checksum(lock: &str, library: &str) -> Option<String> {
    let entry = lock.find(&format!("\"node_modules/{library}\""))?;
    let checksum = entry + lock[entry..].find(CHECKSUM)? + CHECKSUM.len();
    let letter = if lock[checksum..].starts_with('A') { "B" } else { "A" };
    Some(format!("{}{letter}{}", &lock[..checksum], &lock[checksum + 1..]))
}

const CHECKSUM: &str = "\"integrity\": \"sha512-";
const BUNDLE: &str = "crates/pauseless-page/bundle";
/// The licences of what these libraries contain themselves.
const NOTICES: &str = "crates/pauseless-page/notices.txt";
/// What is in the bundle, as opposed to what makes it.
const LIBRARIES: [&str; 2] = ["cytoscape", "uplot"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_letter_of_one_checksum_is_exchanged() {
        let path = root().join("crates/pauseless-page/web/package-lock.json");
        let lock = fs::read_to_string(path).expect("the lock file");
        let wrong = with_wrong_checksum(&lock, "uplot").expect("uplot is in it");
        let changed = lock.bytes().zip(wrong.bytes()).filter(|(old, new)| old != new);
        assert_eq!((changed.count(), wrong.len()), (1, lock.len()));
        assert_eq!(with_wrong_checksum(&lock, "no-such-library"), None);
    }
}
