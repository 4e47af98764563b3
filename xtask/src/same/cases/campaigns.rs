//! Campaigns, and the reproductions of the papers.

use std::io;
use std::path::Path;
use std::process::Command;

use super::{folder, listed, stem};
use crate::repo::Repo;
use crate::same::Scope;
use crate::same::case::{Case, Input};

/// The experiments that the old binary lists, at their quick size; those of more than seconds only if
/// that is wanted.
pub fn reproductions(old: &Path, scope: Scope) -> io::Result<Vec<Case>> {
    let output = Command::new(old).args(["repro", "--list"]).output()?;
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut cases = vec![Case::new("repro", "list", "repro --list")];
    let wanted = |experiment: &Experiment| match scope {
        Scope::Quick => false,
        Scope::Usual => experiment.seconds <= SECONDS_USUAL,
        Scope::Thorough => true,
    };
    let mut experiments: Vec<Experiment> = listing.lines().filter_map(Experiment::read).collect();
    experiments.sort_by_key(|experiment| std::cmp::Reverse(experiment.seconds));
    for experiment in experiments.iter().filter(|it| wanted(it)) {
        let name = experiment.name;
        let line = format!("repro {name} --json --threads 1 --out out");
        // The second call finds the runs of the first one and prints them as text.
        let page = format!("repro {name} --quiet --threads 1 --out out --page page.md");
        let case = Case::new("repro", name, &line);
        let is_short = experiment.seconds <= SECONDS_TWICE;
        cases.push(if is_short { case.then(&page) } else { case });
    }
    Ok(cases)
}

/// A line of `repro --list`.
#[derive(Debug, PartialEq, Eq)]
struct Experiment<'a> {
    name: &'a str,
    /// How long it takes at its quick size, on one core.
    seconds: u32,
}

impl Experiment<'_> {
    fn read(line: &str) -> Option<Experiment<'_>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        // .. claims, quick, its unit, full, its unit.
        let [name, .., quick, unit, _, _] = words[..] else {
            return None;
        };
        let seconds = match unit {
            "s" => quick.parse().ok()?,
            "min" => 60 * quick.parse::<u32>().ok()?,
            _ => return None,
        };
        Some(Experiment { name, seconds })
    }
}

/// The campaigns of the repository at their smallest size, and one over most columns.
pub fn sweeps(repo: &Repo, scope: Scope) -> Vec<Case> {
    let mut cases = vec![columns(repo), documented(repo)];
    let paths = repo.paths().iter().map(String::as_str);
    for file in paths.filter(|path| path.ends_with(".sweep.toml")) {
        let size = match file {
            "scenarios/xoff.sweep.toml" => "tiny",
            // It takes a minute.
            _ if scope == Scope::Thorough => "quick",
            _ => continue,
        };
        let options = format!("--size {size}");
        let mut case = sweep(stem(file), file, &options);
        case.inputs.extend(beside(repo, file));
        cases.push(case);
    }
    cases
}

/// Makes a campaign, twice, of which the second time makes no runs; merges, reports and shows it.
fn sweep(name: &str, file: &str, options: &str) -> Case {
    let line = |command: &str, more: &str| {
        let options = format!("{options} --out out {more}");
        format!("sweep {command} {file} {options}")
    };
    Case::new("sweep", name, &line("", "--threads 1"))
        .then(&line("", "--threads 1 --json"))
        .then(&line("status", ""))
        .then(&line("status", "--json"))
        .then(&line("merge", "--json"))
        .then(&line("report", ""))
        .then(&line("report", "--json"))
        .then(&line("show", "3"))
}

/// A campaign that keeps as many columns as there are, each of them reported run by run.
fn columns(repo: &Repo) -> Case {
    let mut text = COLUMNS_HEAD.to_owned();
    let quoted: Vec<String> = COLUMNS.iter().map(|name| format!("\"{name}\"")).collect();
    text += &format!("keep = [{}]\n", quoted.join(", "));
    text += COLUMNS_AXES;
    for column in COLUMNS {
        let of = column.replace('.', "_");
        let name = of.replace(':', "-");
        text += &format!(
            "\n[[report]]\nkind = \"line\"\nname = \"{name}\"\ntitle = \"{of}\"\nx = \"load\"\n\
             of = \"{of}\"\nby = [\"scheme\", \"seed\"]\n"
        );
    }
    let file = "scenarios/columns.sweep.toml";
    let mut case = sweep("columns", file, "").with_text(file, &text);
    case.inputs.extend(beside(repo, file));
    case
}

/// A campaign without sections of its own, whose report shows everything.
fn documented(repo: &Repo) -> Case {
    let file = "scenarios/ring.sweep.toml";
    let mut case = sweep("ring", file, "").with_text(file, RING);
    case.inputs.extend(beside(repo, file));
    case
}

/// The other files of a campaign's folder, among which its scenario is.
fn beside(repo: &Repo, file: &str) -> Vec<Input> {
    let paths = listed(repo, folder(file), ".toml");
    let inputs = paths.map(|path| Input { path: path.to_owned(), text: None });
    inputs.collect()
}

/// The times in the list are of a slower build; these experiments take up to eight seconds.
const SECONDS_USUAL: u32 = 19;
/// Experiments up to this are carried out a second time, as text and as a page.
const SECONDS_TWICE: u32 = 4;

const RING: &str = r#"
title = "When does the ring deadlock?"
scenario = "gfc-ring.toml"
stop = ["deadlock"]

[[axis]]
key = "flow.F1.rate"
range = { from = "4 Gbps", to = "10 Gbps", count = 3 }

[[axis]]
key = "switch.discipline"
values = ["output-queued", "input-queued"]

[[axis]]
key = "seed"
seeds = 2
"#;

const COLUMNS_HEAD: &str = r#"
title = "Most columns that a run has"
scenario = "websearch-leaf-spine.toml"
"#;

const COLUMNS_AXES: &str = r#"
[[axis]]
name = "load"
key = "traffic.poisson.load"
values = ["20 %", "60 %"]

[[axis]]
name = "scheme"
[axis.cases]
PFC = { flow_control = { kind = "pfc" }, duration = "2 ms" }
credits = { flow_control = { kind = "cbfc" }, duration = "2 ms" }

[[axis]]
key = "seed"
seeds = 2
"#;

/// The names of docs/repro.md that the campaign's scenario has.
const COLUMNS: [&str; 44] = [
    "stuck",
    "deadlock_ms",
    "deadlock_ports",
    "held_kb",
    "end_ms",
    "hops",
    "last_arrival_ms",
    "pauses",
    "pauses.class0",
    "feedback_percent",
    "answers_percent",
    "rate.min",
    "rate.max",
    "rate.mean",
    "rate.sum",
    "queue_max",
    "finished",
    "unfinished",
    "flows_per_s",
    "fct_mean_us",
    "fct_p50_us",
    "fct_p99_us",
    "slowdown_mean",
    "slowdown_p99",
    "finished.S",
    "unfinished.M",
    "fct_mean_us.L",
    "fct_p50_us.S",
    "fct_p99_us.M",
    "slowdown_mean.S",
    "slowdown_p99.L",
    "slowdown_p99.XL",
    "slowdown_mean.class0",
    "fct_p99_us.class0",
    "jain",
    "tree_ms",
    "tree_links",
    "tree_hosts",
    "share_min",
    "share_mean",
    "utilisation.L0:H0",
    "queue_max.L0:H0",
    "pauses.L0:H0",
    "held_ms.L0:H0",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_experiment_has_a_name_and_a_time() {
        let line = "  gfc-fig12  GFC, section 6.2.2, Fig. 12   A fat tree   19   9 s   3 min";
        let expected = Experiment { name: "gfc-fig12", seconds: 9 };
        assert_eq!(Experiment::read(line), Some(expected));
        let line = "  gfc-table1  GFC  Random  5  2 min  9 days";
        assert_eq!(Experiment::read(line).expect("good").seconds, 120);
        let head = "  name  paper  shows  claims  quick  full";
        assert_eq!(Experiment::read(head), None);
        assert_eq!(Experiment::read("Times are of one core, measured on ours."), None);
    }
}
