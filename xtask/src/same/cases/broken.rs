//! Input with mistakes, so that messages are compared to the letter.

use std::io;

use super::mutate::{self, Density, Mutant};
use super::{folder, listed, scenario_files};
use crate::repo::{File, Repo};
use crate::same::case::Case;

/// The cases of mutated files, and of bad arguments.
pub fn cases(repo: &Repo) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for file in scenario_files(repo) {
        let density =
            if file.starts_with("scenarios/") { Density::All } else { Density::OnePerLine };
        let line = format!("explain {file}");
        cases.extend(broken(file, &line, mutate::toml(&read(file)?, density)));
    }
    cases.extend(campaigns(repo)?);
    cases.extend(claims()?);
    cases.extend(fabric_files(repo)?);
    cases.extend(simulators(repo)?);
    cases.extend(dumps(repo)?);
    for (place, line) in USAGE.iter().enumerate() {
        cases.push(Case::new("bad usage", &format!("{}", place + 1), line).with(RING));
    }
    Ok(cases)
}

/// A case for every mutant of a file, which the command reads at the file's path.
fn broken(file: &str, line: &str, mutants: Vec<Mutant>) -> Vec<Case> {
    let cases = mutants.into_iter().map(|mutant| {
        let name = format!("{file}/{}", mutant.name);
        Case::new("bad input", &name, line).with_text(file, &mutant.text)
    });
    cases.collect()
}

fn campaigns(repo: &Repo) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    let paths: Vec<&str> = listed(repo, "scenarios", ".sweep.toml").collect();
    for file in paths {
        let line = format!("sweep show {file} 1");
        let mutants = mutate::toml(&read(file)?, Density::All);
        let scenarios: Vec<&str> =
            listed(repo, folder(file), ".toml").filter(|other| *other != file).collect();
        for case in broken(file, &line, mutants) {
            cases.push(scenarios.iter().fold(case, |case, path| case.with(path)));
        }
    }
    Ok(cases)
}

/// Claims of experiments that take no time.
fn claims() -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (experiment, file, scenario) in CLAIMS {
        let line = format!("repro {experiment} --papers papers --quiet --threads 1 --out out");
        let mutants = mutate::toml(&read(file)?, Density::OnePerLine);
        for case in broken(file, &line, mutants) {
            cases.push(match scenario {
                "" => case,
                scenario => case.with(scenario),
            });
        }
    }
    Ok(cases)
}

/// The fabric files in docs/fabric.md; all but the first are parts, and are read behind it.
fn fabric_files(repo: &Repo) -> io::Result<Vec<Case>> {
    let files = repo.text_files()?;
    let document = files.iter().find(|file| file.path == "docs/fabric.md");
    let blocks = document.map(toml_blocks).unwrap_or_default();
    let Some((first, rest)) = blocks.split_first() else {
        return Ok(Vec::new());
    };
    let head = first.split("[routing]").next().unwrap_or_default();
    let mut cases =
        broken("fabric-1.toml", "check fabric-1.toml", mutate::toml(first, Density::All));
    for (place, part) in rest.iter().enumerate() {
        let file = format!("fabric-{}.toml", place + 2);
        let text = format!("{head}{part}");
        cases.push(Case::new("check", &file, &format!("check {file}")).with_text(&file, &text));
        let mutants = mutate::toml(&text, Density::OnePerLine);
        cases.extend(broken(&file, &format!("check {file}"), mutants));
    }
    Ok(cases)
}

fn toml_blocks(file: &File) -> Vec<String> {
    let pieces = file.text.split("```toml\n").skip(1);
    let blocks = pieces.filter_map(|piece| piece.split("```").next());
    blocks.map(str::to_owned).collect()
}

/// Configurations of the HPCC family and files of htsim.
fn simulators(repo: &Repo) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    let folder = "examples/hpcc/ring5_pfc";
    let names: Vec<&str> = listed(repo, folder, ".txt").collect();
    for name in &names {
        let line = format!("convert {folder}/config.txt --to scenario");
        let text = read(name)?;
        let mutants = mutate::words(&text).into_iter();
        // A configuration has a line for each key, and every one is tried.
        let mutants = if name.ends_with("config.txt") {
            mutants.chain(every_line(&text)).collect()
        } else {
            mutants.collect()
        };
        for case in broken(name, &line, mutants) {
            let others = names.iter().filter(|other| *other != name);
            cases.push(others.fold(case, |case, other| case.with(other)));
        }
    }
    let files = ["examples/htsim/incast.cm", "examples/htsim/leaf_spine.topo"];
    for (file, other) in [(files[0], files[1]), (files[1], files[0])] {
        let line = format!("convert {} {} --to scenario", files[0], files[1]);
        let text = read(file)?;
        let mutants = mutate::words(&text).into_iter().chain(every_line(&text));
        for case in broken(file, &line, mutants.collect()) {
            cases.push(case.with(other));
        }
    }
    Ok(cases)
}

/// The file without its values, one line at a time.
fn every_line(text: &str) -> Vec<Mutant> {
    let lines: Vec<&str> = text.lines().collect();
    let wrong = |place: usize| {
        let line = lines[place].split(' ').next().unwrap_or_default();
        let mut lines = lines.clone();
        let wrong = format!("{line} -x.5");
        lines[place] = &wrong;
        Mutant { name: format!("{}-value", place + 1), text: lines.join("\n") + "\n" }
    };
    (0..lines.len()).map(wrong).collect()
}

/// Dumps of an InfiniBand fabric, and files of SONiC.
fn dumps(repo: &Repo) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    let ib = "examples/ib/ring4-minhop";
    let pod = "examples/ethernet/pod";
    let sets: [&[&str]; 4] = [
        &["opensm-subnet.lst", "opensm.fdbs"],
        &["ibnetdiscover.out", "dump_lfts.out"],
        &["ibnetdiscover.out", "opensm-lfts.dump"],
        &["L0.json", "L1.json", "T0.json", "T1.json", "T2.json", "T3.json"],
    ];
    for set in sets {
        let folder = if set[0].ends_with(".json") { pod } else { ib };
        let files: Vec<String> = set.iter().map(|name| format!("{folder}/{name}")).collect();
        if !files.iter().all(|file| repo.paths().contains(file)) {
            return Err(io::Error::other(format!("{folder}: files are missing")));
        }
        let line = format!("check {}", files.join(" "));
        for file in files.iter().take(2) {
            let mutants = mutate::words(&read(file)?);
            for case in broken(file, &line, mutants) {
                let others = files.iter().filter(|other| *other != file);
                let mut case = others.fold(case, |case, other| case.with(other));
                case.name = format!("{} with {}", case.name, set[set.len() - 1]);
                cases.push(case);
            }
        }
    }
    Ok(cases)
}

fn read(path: &str) -> io::Result<String> {
    std::fs::read_to_string(crate::repo::root().join(path))
}

const RING: &str = "scenarios/gfc-ring.toml";

/// An experiment, its claims, and its scenario if it has one.
const CLAIMS: [(&str, &str, &str); 3] = [
    ("gfc-sec5.4", "papers/gfc/sec5.4.claims.toml", ""),
    ("pcn-fig10", "papers/pcn/fig10.claims.toml", ""),
    ("gfc-fig5", "papers/gfc/fig5.claims.toml", "papers/gfc/fig5.toml"),
];

/// Command lines that cannot be right.
const USAGE: [&str; 34] = [
    "",
    "no-such-command",
    "--no-such-option",
    "run",
    "run no-such-file.toml",
    "run .",
    "run scenarios/gfc-ring.toml --seed x",
    "run scenarios/gfc-ring.toml --seed -1",
    "run scenarios/gfc-ring.toml --duration 5",
    "run scenarios/gfc-ring.toml --duration \"5 parsecs\"",
    "run scenarios/gfc-ring.toml --duration \"0 ms\"",
    "run scenarios/gfc-ring.toml --discipline sideways",
    "run scenarios/gfc-ring.toml --congestion-control bbr",
    "run scenarios/gfc-ring.toml --stop-on never",
    "run scenarios/gfc-ring.toml --deny nothing",
    "run scenarios/gfc-ring.toml --threads 0",
    "run scenarios/gfc-ring.toml --pcap a.pcapng --pcap-ports S9:H9",
    "run scenarios/gfc-ring.toml --compat hpcc",
    "run scenarios/gfc-ring.toml --htsim mtu=1500",
    "run scenarios/gfc-ring.toml scenarios/gfc-ring.toml",
    "explain",
    "explain no-such-file.toml",
    "check",
    "check --generate",
    "check --generate fat-tree:3",
    "check --generate ring:4,colour=red",
    "check --generate fat-tree:4 --failures 1 --reroute backwards",
    "plan",
    "plan --generate fat-tree:4 --buffer 5",
    "convert scenarios/gfc-ring.toml --to yaml",
    "threshold scenarios/gfc-ring.toml --find deadlock --vary no.such.key --from 1 --to 2",
    "threshold scenarios/gfc-ring.toml --find peace --vary seed --from 1 --to 2",
    "sweep scenarios/gfc-ring.toml",
    "repro no-such-experiment",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_many_mistakes_and_no_two_have_one_name() {
        let repo = Repo::open().expect("a repository");
        let cases = cases(&repo).expect("the files are there");
        let names: std::collections::BTreeSet<&str> =
            cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len());
        let scenarios = names.iter().filter(|name| name.contains("/scenarios/"));
        assert!(scenarios.count() > 500);
        let hpcc = names.iter().filter(|name| name.contains("/hpcc/"));
        assert!(hpcc.count() > 60);
    }
}
