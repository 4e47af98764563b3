//! All experiments, embedded: the binary reproduces the papers wherever it is installed.

use super::file::Experiment;
use crate::scenario::did_you_mean;

/// An experiment and its files.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The paper's folder, such as `gfc`.
    pub paper: &'static str,
    /// The stem of the claims file, such as `fig12`.
    pub stem: &'static str,
    /// The claims file.
    claims: &'static str,
}

impl Entry {
    /// The name on the command line, such as `gfc-fig12`.
    pub fn name(&self) -> String {
        format!("{}-{}", self.paper, self.stem)
    }

    /// What the claims file says.
    pub fn experiment(&self) -> Result<Experiment, String> {
        let read = Experiment::parse(self.claims);
        read.map_err(|wrong| format!("papers/{}/{}.claims.toml: {wrong}", self.paper, self.stem))
    }

    /// The scenario file of `experiment`, empty if it needs none.
    pub fn scenario(&self, experiment: &Experiment) -> Result<&'static str, String> {
        let file = match experiment.scenario.as_deref() {
            Some("none") => return Ok(""),
            Some(file) => file.to_string(),
            None => format!("{}.toml", self.stem),
        };
        let found = SCENARIOS
            .iter()
            .find(|(paper, name, _)| *paper == self.paper && *name == file);
        let missing = || format!("papers/{}/{file} is not embedded", self.paper);
        found.map(|(_, _, text)| *text).ok_or_else(missing)
    }
}

/// All experiments, paper by paper.
pub fn all() -> &'static [Entry] {
    EXPERIMENTS
}

/// An experiment by its name on the command line; else what to say.
pub fn find(name: &str) -> Result<Entry, String> {
    let found = EXPERIMENTS.iter().copied().find(|it| it.name() == name);
    found.ok_or_else(|| {
        let names: Vec<String> = EXPERIMENTS.iter().map(Entry::name).collect();
        let near = did_you_mean(name, names.iter().map(String::as_str));
        let near = match near.as_str() {
            "" => "pauseless repro --list names all",
            near => near,
        };
        format!("no experiment is called {name:?}; {near}")
    })
}

macro_rules! experiments {
    ($($paper:literal: $($stem:literal)*;)*) => {
        &[$($(Entry {
            paper: $paper,
            stem: $stem,
            claims: include_str!(concat!(
                "../../../../papers/", $paper, "/", $stem, ".claims.toml"
            )),
        },)*)*]
    };
}

macro_rules! scenarios {
    ($($paper:literal: $($file:literal)*;)*) => {
        &[$($((
            $paper,
            $file,
            include_str!(concat!("../../../../papers/", $paper, "/", $file)),
        ),)*)*]
    };
}

const EXPERIMENTS: &[Entry] = experiments! {
    "hotnets": "fig4";
};

/// Paper, file and text.
const SCENARIOS: &[(&str, &str, &str)] = scenarios! {
    "hotnets": "fig4.toml";
};

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::repro::compute;

    #[test]
    fn every_file_under_papers_is_embedded() {
        let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
        let mut files = Vec::new();
        for folder in std::fs::read_dir(papers).expect("the folder of papers") {
            let folder = folder.expect("an entry").path();
            let Ok(entries) = std::fs::read_dir(&folder) else {
                continue; // a file
            };
            let paper = folder
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            for entry in entries {
                let name = entry.expect("an entry").file_name();
                let name = name.to_string_lossy().into_owned();
                if name.ends_with(".toml") {
                    files.push(format!("{paper}/{name}"));
                }
            }
        }
        files.sort();
        let claims = EXPERIMENTS.iter();
        let claims = claims.map(|it| format!("{}/{}.claims.toml", it.paper, it.stem));
        let scenarios = SCENARIOS
            .iter()
            .map(|(paper, file, _)| format!("{paper}/{file}"));
        let mut embedded: Vec<String> = claims.chain(scenarios).collect();
        embedded.sort();
        assert_eq!(files, embedded);
    }

    #[test]
    fn every_claims_file_can_be_read_and_has_both_kinds_of_claims() {
        for entry in EXPERIMENTS {
            let experiment = entry.experiment().unwrap_or_else(|wrong| panic!("{wrong}"));
            let name = entry.name();
            entry
                .scenario(&experiment)
                .unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
            let claims = &experiment.claims;
            assert!(claims.iter().any(|it| it.is_numeric()), "{name}: no number");
            assert!(
                !claims.iter().all(|it| it.is_numeric()),
                "{name}: only numbers"
            );
            for hook in &experiment.compute {
                assert!(compute::compute(hook).is_some(), "{name}: {hook}");
            }
            for hook in &experiment.per_run {
                assert!(compute::per_run(hook).is_some(), "{name}: {hook}");
            }
        }
    }
}
