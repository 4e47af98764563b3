//! Campaigns: that of the papers, and campaigns among the programs of others: those that read their
//! results, and the one that runs them on a cluster.

mod readers;
mod slurm;
mod table1;

use std::{io, thread};

use crate::Outcome;

/// Runs all of these checks on the program. The cluster's, which mostly waits, goes on beside the
/// others.
pub fn run() -> io::Result<Outcome> {
    thread::scope(|scope| {
        let cluster = scope.spawn(|| named("Slurm", slurm::run));
        let mut outcomes = Vec::new();
        for (name, check) in CHECKS {
            outcomes.push(named(name, check)?);
        }
        outcomes.push(cluster.join().expect("it does not panic")?);
        if outcomes.contains(&Outcome::Found) { Ok(Outcome::Found) } else { Ok(Outcome::Clean) }
    })
}

type Check = fn() -> io::Result<Outcome>;

const CHECKS: [(&str, Check); 2] = [("Table 1", table1::run), ("readers", readers::run)];

fn named(name: &str, check: Check) -> io::Result<Outcome> {
    println!("sweep, {name}: begins");
    let outcome = check()?;
    let word = match outcome {
        Outcome::Clean => "clean",
        Outcome::Found => "FAILED",
    };
    println!("sweep, {name}: {word}");
    Ok(outcome)
}

/// Says why a check was not carried out. In continuous integration that is an error.
fn skipped(why: &str) -> Outcome {
    if std::env::var_os("CI").is_some_and(|value| !value.is_empty()) {
        println!("not checked, which CI may not pass over: {why}");
        Outcome::Found
    } else {
        println!("skipped: {why}");
        Outcome::Clean
    }
}
