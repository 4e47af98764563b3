//! Every scenario, run in all the ways that `run` has, and explained.

use super::{scenario_files, stem};
use crate::repo::Repo;
use crate::same::case::Case;

/// The cases of all scenarios, those of the papers for a short time, and the demo.
pub fn cases(repo: &Repo) -> Vec<Case> {
    let mut cases = Vec::new();
    for file in scenario_files(repo) {
        cases.extend(short(file));
        if file.starts_with("scenarios/") {
            cases.extend(whole(file));
        }
    }
    for (name, line) in DEMOS {
        cases.push(Case::new("demo", name, line));
    }
    cases.push(Case::new("explain", "paper", "explain --paper"));
    cases.push(Case::new("explain", "paper-json", "explain --paper --json"));
    cases.push(threshold());
    cases
}

/// A scenario for as long as it says, and in each way that the command line can change it.
fn whole(file: &str) -> Vec<Case> {
    let case = |name: &str, line: &str| {
        Case::new("run", &format!("{}/{name}", stem(file)), line).with(file)
    };
    let mut cases = vec![
        case("json", &format!("run {file} --json --out out --provenance")),
        case("text", &format!("run {file}")),
    ];
    for (name, options) in VARIATIONS {
        let line = format!("run {file} --duration \"1 ms\" --json {options}");
        cases.push(case(name, &line));
    }
    for scheme in ["none", "pcn", "qcn", "dcqcn", "timely", "hpcc"] {
        let line = format!("run {file} --duration \"1 ms\" --json --congestion-control {scheme}");
        cases.push(case(scheme, &line));
    }
    cases
}

/// What every scenario stands: a short run with all files, the run of its resolved form, and what the
/// other commands make of it.
fn short(file: &str) -> Vec<Case> {
    let name = file.trim_end_matches(".toml");
    let case = |group, name: &str, line: &str| Case::new(group, name, line).with(file);
    let resolved = case("short run", name, &format!("run {file} --duration \"300 us\" --out out"));
    vec![
        resolved.then("run out/resolved.toml --json").then("explain out/resolved.toml"),
        case("explain", name, &format!("explain {file}")).then(&format!("explain {file} --json")),
        case("check", name, &format!("check {file}"))
            .then(&format!("check {file} --json --sarif found.sarif --svg found.svg")),
        case("plan", name, &format!("plan {file} --json")),
        case("convert", name, &format!("convert {file}")),
    ]
}

/// A small search for a threshold; those of the documents are cases too.
fn threshold() -> Case {
    let file = "scenarios/gfc-ring.toml";
    let line = format!(
        "threshold {file} --find deadlock --vary flow.F1.rate --from \"2 Gbps\" --to \"10 Gbps\" \
         --seeds 3 --points 3 --threads 1"
    );
    Case::new("threshold", "ring", &line)
        .then(&format!("{line} --json --html page.html"))
        .with(file)
}

/// Ways to change a run from the command line.
const VARIATIONS: [(&str, &str); 10] = [
    ("seed", "--seed 7"),
    ("cycle-aware", "--cycle-aware"),
    ("stop-on", "--stop-on deadlock,done,steady"),
    ("output-queued", "--discipline output-queued"),
    ("virtual-output-queued", "--discipline virtual-output-queued"),
    ("input-queued", "--discipline input-queued"),
    ("threads", "--threads 2"),
    ("deny", "--deny deadlock,loss,starvation"),
    ("page", "--html page.html"),
    ("pcap", "--pcap all.pcapng --pcap-snap 64"),
];

const DEMOS: [(&str, &str); 4] = [
    ("json", "demo --json"),
    ("text", "demo"),
    ("seed", "demo --json --seed 7"),
    ("input-queued", "demo --json --discipline input-queued"),
];
