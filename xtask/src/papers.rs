//! The papers' claims, and whether the page that lists them is up to date.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use crate::Outcome;
use crate::page::{call, program, target_dir};
use crate::repo::root;

/// Reproduces all experiments, quick, and compares the page of the results with the one in the
/// repository.
pub fn run() -> io::Result<Outcome> {
    let out = target_dir().join("repro");
    let fresh = target_dir().join("papers");
    if fresh.exists() {
        fs::remove_dir_all(&fresh)?;
    }
    fs::create_dir_all(&fresh)?;
    let mut repro = Command::new(program());
    repro.args(["repro", "--all", "--quick", "--quiet", "--out"]);
    repro.arg(&out);
    repro.arg("--page").arg(fresh.join(PAGE));
    if !call(&mut repro)? {
        return Ok(Outcome::Found);
    }
    let kept = pictured(&root().join("papers"))?;
    let fresh = pictured(&fresh)?;
    if kept == fresh {
        return Ok(Outcome::Clean);
    }
    for name in kept.keys().filter(|name| !fresh.contains_key(*name)) {
        println!("papers/{name}: no longer made, delete it");
    }
    for (name, content) in &fresh {
        if kept.get(name) != Some(content) {
            println!("papers/{name}: out of date");
        }
    }
    println!("write them anew: cargo run -- repro --all --page papers/{PAGE}");
    Ok(Outcome::Found)
}

/// The generated files below `folder` by their names: the page and its figures.
fn pictured(folder: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let page = folder.join(PAGE);
    if page.exists() {
        found.insert(PAGE.to_string(), fs::read(page)?);
    }
    for paper in fs::read_dir(folder)? {
        let paper = paper?;
        let figures = paper.path().join("figures");
        if !figures.is_dir() {
            continue;
        }
        for figure in fs::read_dir(figures)? {
            let figure = figure?;
            let (paper, name) = (paper.file_name(), figure.file_name());
            let name = format!("{}/{}", paper.to_string_lossy(), name.to_string_lossy());
            found.insert(name, fs::read(figure.path())?);
        }
    }
    Ok(found)
}

const PAGE: &str = "README.md";
