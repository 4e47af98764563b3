//! The files of other simulators: the HPCC family and htsim.

use super::{folder, listed};
use crate::repo::Repo;
use crate::same::case::{Case, Step};

/// The cases of all such files, in examples and in tests.
pub fn cases(repo: &Repo) -> Vec<Case> {
    let paths = repo.paths().iter();
    let configs = paths.filter(|path| path.ends_with("/config.txt") && path.contains("/hpcc/"));
    let mut cases: Vec<Case> = configs.flat_map(|config| hpcc(repo, config)).collect();
    cases.extend(HTSIM.iter().flat_map(htsim));
    cases
}

/// A configuration with and without the replica of the original, and as a scenario.
fn hpcc(repo: &Repo, config: &str) -> Vec<Case> {
    let folder = folder(config);
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let lines = [
        ("json", "run config.txt --json --out results", ""),
        ("compat", "run config.txt --json --out results --compat hpcc", ""),
        ("text", "run config.txt", "run config.txt --compat hpcc"),
        ("scenario", "convert config.txt --to scenario -o s.toml", "run s.toml --json"),
    ];
    let cases = lines.into_iter().map(|(way, first, second)| {
        let mut case = Case::new("hpcc", &format!("{name}/{way}"), first);
        if !second.is_empty() {
            case.steps.push(Step::new(second));
        }
        for step in &mut case.steps {
            step.folder = folder.to_owned();
        }
        let inputs: Vec<&str> = listed(repo, folder, "").collect();
        inputs.into_iter().fold(case, Case::with)
    });
    cases.collect()
}

/// A traffic matrix and its companions.
struct Htsim {
    name: &'static str,
    files: &'static [&'static str],
    options: &'static str,
}

fn htsim(it: &Htsim) -> Vec<Case> {
    let (files, options) = (it.files.join(" "), it.options);
    let lines = [
        ("text", format!("run {files} {options}")),
        ("json", format!("run {files} {options} --json --out out")),
        ("compat", format!("run {files} {options} --json --out out --compat htsim")),
        ("scenario", format!("convert {files} {options} --to scenario -o s.toml")),
        ("compat-scenario", format!("convert {files} {options} --to compat-scenario -o s.toml")),
    ];
    let cases = lines.into_iter().map(|(way, line)| {
        let case = Case::new("htsim", &format!("{}/{way}", it.name), &line);
        let case = it.files.iter().fold(case, |case, file| case.with(file));
        match way {
            "scenario" => case.then("run s.toml --json"),
            "compat-scenario" => case.then("explain s.toml"),
            _ => case,
        }
    });
    cases.collect()
}

/// Which files belong together is not in them.
const HTSIM: [Htsim; 4] = [
    Htsim {
        name: "incast",
        files: &["examples/htsim/incast.cm", "examples/htsim/leaf_spine.topo"],
        options: "",
    },
    Htsim {
        name: "incast-options",
        files: &["examples/htsim/leaf_spine.topo", "examples/htsim/incast.cm"],
        options: "--htsim mtu=1500,end=20000,pfc_low=12,pfc_high=15",
    },
    Htsim {
        name: "permutation",
        files: &["crates/pauseless-compat/tests/htsim/perm_128n_128c_10MB.cm"],
        options: "--htsim mtu=1500,end=200",
    },
    Htsim {
        name: "paths",
        files: &[
            "crates/pauseless-compat/tests/htsim/perm_128n_128c_10MB.cm",
            "crates/pauseless-compat/tests/htsim/A_perm128.paths",
        ],
        options: "--htsim mtu=1500,end=200",
    },
];
