//! All experiments: embedded, so that the binary reproduces the papers wherever it is installed, or
//! read from a folder of the same shape.

use std::fs;
use std::path::Path;

use super::file::{CampaignUse, Experiment};
use crate::sweep::campaign::Campaign;
use pauseless_scenario::{FILE_MAX, did_you_mean};
use pauseless_text::problem::Problems;
use pauseless_text::source::Source;

/// An experiment and its files.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The paper's folder, such as `gfc`.
    pub paper: String,
    /// The stem of the claims file, such as `fig12`.
    pub stem: String,
    /// The text of the claims file.
    claims: String,
    /// The scenarios and campaigns beside it, by the names of their files.
    scenarios: Vec<(String, String)>,
}

impl Entry {
    /// The name on the command line, such as `gfc-fig12`.
    pub fn name(&self) -> String {
        format!("{}-{}", self.paper, self.stem)
    }

    /// Reads the claims file.
    pub fn experiment(&self) -> Result<Experiment, Problems> {
        Experiment::parse(&self.file(), &self.claims)
    }

    /// The claims file, as messages call it.
    fn file(&self) -> String {
        format!("{}/{}{CLAIMS}", self.paper, self.stem)
    }

    /// The scenario file of `experiment`, empty if it needs none.
    pub fn scenario(&self, experiment: &Experiment) -> Result<&str, Problems> {
        let file = match experiment.scenario.get().map(String::as_str) {
            Some("none") => return Ok(""),
            Some(file) => file.to_string(),
            None => format!("{}.toml", self.stem),
        };
        let found = self.scenarios.iter().find(|(name, _)| *name == file);
        let missing = || {
            let place = experiment.scenario.place().unwrap_or(&experiment.place);
            let problem = place.problem(format!("there is no {file}"));
            let problem = problem.help("add it to the folder, or write scenario = \"none\"");
            Problems::new(&self.file(), &self.claims, vec![problem])
        };
        found.map(|(_, text)| text.as_str()).ok_or_else(missing)
    }

    /// A campaign that the claims file names.
    pub(super) fn campaign(&self, named: &CampaignUse) -> Result<Campaign, Problems> {
        let file = &named.file.value;
        let Some((_, text)) = self.scenarios.iter().find(|(name, _)| name == file) else {
            let place = named.file.place.as_ref().unwrap_or(&named.place);
            let problem = place.problem(format!("there is no {file}")).help("add it to the folder");
            return Err(Problems::new(&self.file(), &self.claims, vec![problem]));
        };
        let source = Source { file: format!("{}/{file}", self.paper), text: text.clone() };
        Campaign::parse(&source, named.size.get().map(String::as_str), &self.scenarios)
    }
}

/// The embedded experiments, paper by paper.
pub fn embedded() -> Vec<Entry> {
    let entry = |(paper, stem, claims): &(&str, &str, &str)| {
        let beside = SCENARIOS.iter().filter(|(of, _, _)| of == paper);
        let scenarios = beside.map(|(_, name, text)| (name.to_string(), text.to_string()));
        Entry {
            paper: paper.to_string(),
            stem: stem.to_string(),
            claims: claims.to_string(),
            scenarios: scenarios.collect(),
        }
    };
    EXPERIMENTS.iter().map(entry).collect()
}

/// The experiments under `folder`: one folder per paper, with scenario and claims files.
pub fn read(folder: &Path) -> Result<Vec<Entry>, Problems> {
    let mut entries = Vec::new();
    for paper in listed(folder)? {
        if !paper.is_dir() {
            continue;
        }
        let mut files = Vec::new();
        for file in listed(&paper)? {
            let name = file_name(&file);
            if name.ends_with(".toml") {
                files.push((name, Source::read_within(&file, FILE_MAX)?.text));
            }
        }
        for (name, claims) in &files {
            if let Some(stem) = name.strip_suffix(CLAIMS) {
                entries.push(Entry {
                    paper: file_name(&paper),
                    stem: stem.to_string(),
                    claims: claims.clone(),
                    scenarios: files.clone(),
                });
            }
        }
    }
    if entries.is_empty() {
        let message = "no experiments: expected PAPER/NAME.claims.toml in it".to_string();
        let folder = folder.display().to_string();
        Err(Problems::of_file(&folder, message, "see docs/repro.md"))
    } else {
        Ok(entries)
    }
}

/// The files and folders of a folder, in the order of their names.
fn listed(folder: &Path) -> Result<Vec<std::path::PathBuf>, Problems> {
    let entries = fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()
    });
    let mut paths = entries.map_err(|error| unreadable(folder, &error))?;
    paths.sort();
    Ok(paths)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problems {
    Problems::of_file(&path.display().to_string(), format!("cannot be read: {error}"), "")
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The experiment of that name on the command line; else what to say.
pub fn find(entries: &[Entry], name: &str) -> Result<Entry, String> {
    entries.iter().find(|it| it.name() == name).cloned().ok_or_else(|| {
        let names: Vec<String> = entries.iter().map(Entry::name).collect();
        let near = did_you_mean(name, names.iter().map(String::as_str));
        // Two papers have a Fig. 9.
        let same = names.iter().filter(|it| it.ends_with(&format!("-{name}")));
        let same = Vec::from_iter(same.map(String::as_str)).join(" or ");
        let near = match near.as_str() {
            _ if !same.is_empty() => {
                return format!("no experiment is called {name:?}; did you mean {same}?");
            }
            "" => "pauseless repro --list names all",
            near => near,
        };
        format!("no experiment is called {name:?}; {near}")
    })
}

/// How the names of claims files end.
const CLAIMS: &str = ".claims.toml";

/// Files under `papers/`, each with its paper and its name before the common ending.
macro_rules! embedded {
    ($ending:literal; $($paper:literal: $($stem:literal)*;)*) => {
        &[$($((
            $paper,
            $stem,
            include_str!(concat!("../../papers/", $paper, "/", $stem, $ending)),
        ),)*)*]
    };
}

/// Paper, stem and claims file, in the order of the papers.
const EXPERIMENTS: &[(&str, &str, &str)] = embedded! {
    ".claims.toml";
    "gfc": "sec4.2" "fig5" "sec5.4" "fig9" "fig10" "fig12" "fig13" "fig14" "table1" "table1-cycles"
        "fig16" "fig17" "fig18" "fig19" "fig20";
    "pcn": "fig2" "fig3" "fig5" "fig10" "fig11" "fig12" "fig13" "table1" "fig14" "fig14-w2" "fig17"
        "fig18" "fig18-on-off" "fig19" "table3" "fig20" "fig21";
    "hotnets": "fig2" "fig3" "fig4" "fig5" "loop";
    "ttl": "proof" "headroom" "buffer";
};

/// Paper, file and text.
const SCENARIOS: &[(&str, &str, &str)] = embedded! {
    "";
    "gfc": "sec4.2.toml" "fig5.toml" "fig9.toml" "fig10.toml" "fig12.toml" "fig13.toml" "fig14.toml"
        "table1.toml" "table1.sweep.toml" "table1-lowest.sweep.toml" "table1-cycles.toml"
        "table1-cycles.sweep.toml" "fig16.toml" "fig16.sweep.toml" "fig18.sweep.toml"
        "fragile-ring.sweep.toml" "fragile-tree.sweep.toml" "fig19.toml" "fig19.sweep.toml" "fig20.toml";
    "pcn": "fig2.toml" "fig5.toml" "fig11.toml" "fig12.toml" "table1.toml" "fig14.toml" "fig17.toml"
        "fig18.toml" "fig18-on-off.toml" "fig19.toml" "table3.toml" "fig21.toml";
    "hotnets": "fig2.toml" "fig3.toml" "fig4.toml" "fig5.toml" "loop.toml";
    "ttl": "proof.toml" "headroom.toml";
};

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_under_papers_is_embedded() {
        let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
        let folder = read(&papers).unwrap_or_else(|it| panic!("{it}"));
        let mut embedded = embedded();
        embedded.sort_by_key(|it| (it.paper.clone(), format!("{}{CLAIMS}", it.stem)));
        let names = |list: &[Entry]| Vec::from_iter(list.iter().map(Entry::name));
        assert_eq!(names(&folder), names(&embedded));
        for (read, embedded) in folder.iter().zip(&embedded) {
            for (name, text) in &read.scenarios {
                let found = embedded.scenarios.iter().any(|it| it.0 == *name && it.1 == *text);
                assert!(name.ends_with(CLAIMS) || found, "{}/{name}", read.paper);
            }
        }
    }

    #[test]
    fn a_figure_without_its_paper_is_known() {
        let wrong = |name: &str| find(&embedded(), name).expect_err("no such name");
        let expected = "no experiment is called \"fig9\"; did you mean gfc-fig9?";
        assert_eq!(wrong("fig9"), expected);
        let expected = "no experiment is called \"table1\"; did you mean gfc-table1 or pcn-table1?";
        assert_eq!(wrong("table1"), expected);
        assert!(wrong("gfc-fg9").ends_with("did you mean gfc-fig9?"));
        assert!(wrong("nothing").ends_with("pauseless repro --list names all"));
    }

    #[test]
    fn every_claims_file_can_be_read_and_has_both_kinds_of_claims() {
        for entry in embedded() {
            let experiment = entry.experiment().unwrap_or_else(|wrong| panic!("{wrong}"));
            let name = entry.name();
            entry.scenario(&experiment).unwrap_or_else(|wrong| panic!("{wrong}"));
            let claims = &experiment.claims;
            assert!(claims.iter().any(|it| it.is_numeric()), "{name}: no number");
            assert!(!claims.iter().all(|it| it.is_numeric()), "{name}: only numbers");
        }
    }
}
