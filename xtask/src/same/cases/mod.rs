//! All cases, found by listing the repository.

mod broken;
mod campaigns;
mod commands;
mod fabrics;
mod mutate;
mod scenarios;
mod simulators;

use std::io;
use std::path::Path;

use super::Scope;
use super::case::Case;
use crate::repo::Repo;

/// Lists the cases, long ones first so that no worker is left alone with one at the end. `old` is asked
/// for its commands and experiments.
pub fn all(repo: &Repo, old: &Path, scope: Scope) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    cases.extend(campaigns::reproductions(old, scope)?);
    cases.extend(campaigns::sweeps(repo, scope));
    cases.extend(simulators::cases(repo));
    cases.extend(scenarios::cases(repo));
    cases.extend(commands::documents(repo)?);
    cases.extend(commands::help(repo, old)?);
    cases.extend(fabrics::cases(repo));
    cases.extend(broken::cases(repo)?);
    Ok(cases)
}

/// The paths of the repository directly in a folder whose names end so.
fn listed<'a>(repo: &'a Repo, folder: &'a str, ending: &'a str) -> impl Iterator<Item = &'a str> {
    let paths = repo.paths().iter().map(String::as_str);
    paths.filter(move |path| {
        let name = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
        name.is_some_and(|name| !name.contains('/') && name.ends_with(ending))
    })
}

/// The scenarios of the repository: those to try, and those of the papers.
fn scenario_files(repo: &Repo) -> Vec<&str> {
    let paths = repo.paths().iter().map(String::as_str);
    let folders = ["scenarios/", "papers/", "testbeds/three-machines/ring"];
    paths
        .filter(|path| folders.iter().any(|folder| path.starts_with(folder)))
        .filter(|path| path.ends_with(".toml"))
        .filter(|path| !path.ends_with(".claims.toml") && !path.ends_with(".sweep.toml"))
        .collect()
}

/// The folder of a path, without a slash at the end; empty for a file in the root.
fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A path without its folder and its last extension.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
