//! Campaigns: that of the papers, and campaigns among the programs of others: those that read their
//! results, and the one that runs them on a cluster.

mod readers;
mod slurm;
mod table1;

use std::io;

use crate::Outcome;

/// Runs all of these checks on the program, up to the first failure.
pub fn run() -> io::Result<Outcome> {
    for (name, check) in CHECKS {
        println!("sweep, {name}:");
        if check()? == Outcome::Found {
            return Ok(Outcome::Found);
        }
    }
    Ok(Outcome::Clean)
}

type Check = fn() -> io::Result<Outcome>;

const CHECKS: [(&str, Check); 3] = [
    ("Table 1", table1::run),
    ("readers", readers::run),
    ("Slurm", slurm::run),
];

/// Says why a check was not carried out. In continuous integration that is an error.
fn skipped(why: &str) -> Outcome {
    match std::env::var_os("CI").is_some_and(|value| !value.is_empty()) {
        true => {
            println!("not checked, which CI may not pass over: {why}");
            Outcome::Found
        }
        false => {
            println!("skipped: {why}");
            Outcome::Clean
        }
    }
}
