//! Instructions per packet-hop, counted by valgrind, against the numbers in `docs/instructions.txt`.
//!
//! A count is the same on every run, which no time is on a machine that others use, so a change that
//! makes the path of a packet longer is noticed when it is made. The program is that of
//! `cargo bench -p pauseless-compat --bench speed`, in the profile of the tests, whose libraries
//! are there by then: to build it takes 4 s, where linking alone takes a minute for the profile of
//! the benchmark. Assertions and checks for overflow are counted, too, a sixth of the whole, so
//! these numbers are to be compared with each other only.

use std::collections::BTreeMap;
use std::process::{Command, Output};
use std::{env, fmt, fs, io};

use crate::Outcome;
use crate::page::install;
use crate::repo::root;

/// Counts all cases, and compares them with the stored numbers or, with `is_update`, stores them.
pub fn run(is_update: bool) -> io::Result<Outcome> {
    if env::consts::ARCH != "x86_64" || !install("valgrind", "valgrind")? {
        println!("NOT MEASURED: the numbers in {FILE} are for x86-64, counted by valgrind");
        return Ok(Outcome::Clean);
    }
    let Some(program) = build()? else {
        return Ok(Outcome::Found);
    };
    let mut found = Counts { rustc: rustc_version()?, per_hop: BTreeMap::new() };
    for case in &CASES {
        match case.count(&program)? {
            Count::PerHop(instructions) => {
                println!("{:<16} {instructions:>5}", case.name);
                found.per_hop.insert(case.name.to_string(), instructions);
            }
            Count::NotMeasured => {
                println!("NOT MEASURED: {} runs, but not in this valgrind", case.name);
                return Ok(Outcome::Clean);
            }
            Count::Failed => return Ok(Outcome::Found),
        }
    }
    let path = root().join(FILE);
    if is_update {
        fs::write(path, found.to_string())?;
        return Ok(Outcome::Clean);
    }
    Ok(compare(&Counts::parse(&fs::read_to_string(path)?), &found))
}

/// A case of the benchmark, run twice. The difference has neither the setup of the run in it nor the
/// time until the network is full.
struct Case {
    name: &'static str,
    /// The parts of the whole case that are run, the shorter one first: 100 for a hundredth.
    parts: [u64; 2],
}

/// One for each way that packets can take through the program.
const CASES: [Case; 7] = [
    Case { name: "htsim-perm128", parts: [200, 80] },
    Case { name: "hpcc-incast", parts: [40, 12] },
    Case { name: "k8-pfc", parts: [200, 120] },
    Case { name: "k8-voq", parts: [200, 120] },
    Case { name: "k8-cbfc", parts: [200, 120] },
    Case { name: "k8-gfc", parts: [200, 120] },
    Case { name: "k8-dcqcn-ack", parts: [200, 120] },
];

/// What became of a case.
enum Count {
    /// So many instructions for a packet-hop.
    PerHop(u64),
    /// The program runs, but not in this valgrind, which may not know an instruction of the machine.
    NotMeasured,
    /// The program itself failed.
    Failed,
}

impl Case {
    fn count(&self, program: &str) -> io::Result<Count> {
        let mut runs = Vec::new();
        for part in self.parts {
            let part = part.to_string();
            let arguments = ["--hops", self.name, &part];
            let mut valgrind = Command::new("valgrind");
            valgrind.args(["--tool=cachegrind", "--cache-sim=no"]);
            valgrind.args(["--cachegrind-out-file=/dev/null", program]);
            let output = valgrind.args(arguments).output()?;
            let Some(run) = read(&output) else {
                println!("{}", String::from_utf8_lossy(&output.stderr));
                let is_sound = Command::new(program).args(arguments).status()?.success();
                return Ok(if is_sound { Count::NotMeasured } else { Count::Failed });
            };
            runs.push(run);
        }
        let [(instructions, hops), (more_instructions, more_hops)] = [runs[0], runs[1]];
        Ok(Count::PerHop((more_instructions - instructions) / (more_hops - hops)))
    }
}

/// Instructions and packet-hops of one run.
fn read(output: &Output) -> Option<(u64, u64)> {
    let said = String::from_utf8_lossy(&output.stderr);
    let (_, instructions) = said.lines().find_map(|line| line.split_once("refs:"))?;
    let instructions = instructions.trim().replace(',', "").parse().ok()?;
    let hops = String::from_utf8_lossy(&output.stdout).trim().parse().ok()?;
    output.status.success().then_some((instructions, hops))
}

/// Instructions per packet-hop, and the compiler that they were counted with.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    rustc: String,
    per_hop: BTreeMap<String, u64>,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# Instructions per packet-hop in the profile of the tests, by case of the")?;
        writeln!(f, "# benchmark; written by `cargo xtask instructions --update`.")?;
        writeln!(f, "{}", self.rustc)?;
        for (case, instructions) in &self.per_hop {
            writeln!(f, "{case} {instructions}")?;
        }
        Ok(())
    }
}

impl Counts {
    fn parse(text: &str) -> Counts {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let rustc = lines.next().unwrap_or_default().to_string();
        let per_hop = lines.filter_map(|line| {
            let (case, instructions) = line.split_once(' ')?;
            Some((case.to_string(), instructions.parse().ok()?))
        });
        Counts { rustc, per_hop: per_hop.collect() }
    }
}

/// Fails if a case takes over 5 % more instructions than are stored, or is not stored at all. With
/// another compiler than the stored one it only says so.
fn compare(stored: &Counts, found: &Counts) -> Outcome {
    let is_same = stored.rustc == found.rustc;
    let mut outcome = Outcome::Clean;
    for (case, now) in &found.per_hop {
        let Some(before) = stored.per_hop.get(case) else {
            println!("{case}: not in {FILE}; {UPDATE}");
            outcome = Outcome::Found;
            continue;
        };
        let percent = (*now as f64 / *before as f64 - 1.0) * 100.0;
        if *now * 100 > *before * (100 + LIMIT_PERCENT) {
            println!("{case}: {now} instructions per hop, {percent:.1} % more than {before}");
            outcome = Outcome::Found;
        } else if *now * 100 < *before * (100 - LIMIT_PERCENT) {
            println!("{case}: {now} instructions per hop, {percent:.1} % from {before}; {UPDATE}");
        }
    }
    if !is_same {
        println!("warning: {FILE} is of {}, and this is {}", stored.rustc, found.rustc);
        return Outcome::Clean;
    }
    if outcome == Outcome::Found {
        println!("if that is worth it, say why in the commit; {UPDATE}");
    }
    outcome
}

/// Builds the benchmark as tests are built, and returns where it is.
fn build() -> io::Result<Option<String>> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    // The whole workspace, so that libraries have the features that they have in its tests.
    build.args(["test", "--workspace", "--bench", "speed", "--no-run", "--locked"]);
    build.args(["--message-format", "json-render-diagnostics"]).current_dir(root());
    // As in `.ci/run`: incremental builds are cut into other units, which have other instructions.
    build.envs([("CARGO_INCREMENTAL", "0"), ("CARGO_PROFILE_DEV_DEBUG", "0")]);
    let output = build.stderr(std::process::Stdio::inherit()).output()?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let program = messages.lines().filter(|line| line.contains(BENCH)).find_map(executable);
    Ok(program.filter(|_| output.status.success()))
}

/// The program that a message of cargo names.
fn executable(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("\"executable\":\"")?;
    rest.split_once('"').map(|(path, _)| path.to_string())
}

fn rustc_version() -> io::Result<String> {
    let output = Command::new("rustc").arg("--version").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

const FILE: &str = "docs/instructions.txt";
const BENCH: &str = "benches/speed/main.rs";
const UPDATE: &str = "cargo xtask instructions --update stores the new numbers";
const LIMIT_PERCENT: u64 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rustc: &str, per_hop: &[(&str, u64)]) -> Counts {
        let per_hop = per_hop.iter().map(|(case, count)| (case.to_string(), *count));
        Counts { rustc: rustc.to_string(), per_hop: per_hop.collect() }
    }

    #[test]
    fn counts_are_read_as_they_are_written() {
        let counts = counts("rustc 1.95.0", &[("k8-pfc", 1_031), ("k8-voq", 1_500)]);
        assert_eq!(Counts::parse(&counts.to_string()), counts);
    }

    #[test]
    fn over_five_percent_more_is_a_finding() {
        let stored = counts("a", &[("k8-pfc", 1_000)]);
        let of = |rustc, count| compare(&stored, &counts(rustc, &[("k8-pfc", count)]));
        assert_eq!(of("a", 1_050), Outcome::Clean);
        assert_eq!(of("a", 1_051), Outcome::Found);
        assert_eq!(of("a", 500), Outcome::Clean);
        // Another compiler makes other instructions.
        assert_eq!(of("b", 1_051), Outcome::Clean);
    }

    #[test]
    fn a_case_that_is_not_stored_is_a_finding() {
        let found = counts("a", &[("k8-voq", 1_000)]);
        assert_eq!(compare(&counts("a", &[]), &found), Outcome::Found);
    }

    #[test]
    fn the_program_is_the_one_that_cargo_names() {
        let message = r#"{"reason":"compiler-artifact","executable":"/t/speed-1","fresh":true}"#;
        assert_eq!(executable(message).as_deref(), Some("/t/speed-1"));
        assert_eq!(executable(r#"{"executable":null}"#), None);
    }
}
