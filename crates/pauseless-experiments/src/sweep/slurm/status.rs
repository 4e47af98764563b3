//! What became of a campaign's jobs.

use std::path::Path;
use std::process::Command;

use super::state::{Record, State, accounts, jobs};
use super::{Failure, Jobs, call};

/// One job, or one task of a job array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// Where the job stands now.
    pub state: State,
    /// How often it was put back into the queue, because its node had failed or somebody did so.
    pub requeued: u32,
}

/// What became of a campaign's jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The numbers of the jobs.
    pub jobs: Jobs,
    /// One for each part, the first is part 1.
    pub shards: Vec<Job>,
    /// The job that merges, if it was submitted.
    pub merge: Option<Job>,
}

/// What Slurm knows about the jobs of the campaign in `folder`; none if it was not submitted.
///
/// `scontrol` knows everything about jobs that are not over, and for some minutes about those that
/// are; `squeue` knows less of them. What it has forgotten is asked of `sacct`, which answers where
/// jobs are accounted for.
pub fn status(folder: &Path) -> Result<Option<Status>, Failure> {
    let Some(numbers) = Jobs::read(folder)? else {
        return Ok(None);
    };
    let mut array = control(&numbers, numbers.array)?;
    let mut merge = match numbers.merge {
        Some(job) => control(&numbers, job)?,
        None => Vec::new(),
    };
    let is_known = |task: &u32| array.iter().any(|record| record.has(*task));
    if !(1..=numbers.shards).all(|task| is_known(&task)) {
        array.extend(account(&numbers, numbers.array));
    }
    if let (Some(job), true) = (numbers.merge, merge.is_empty()) {
        merge.extend(account(&numbers, job));
    }
    let shard = |task| {
        let found = array.iter().find(|record| record.has(task));
        found.map_or_else(Job::default, |record| record.job.clone())
    };
    let merged = merge.first().map(|record| record.job.clone());
    Ok(Some(Status {
        shards: (1..=numbers.shards).map(shard).collect(),
        merge: numbers.merge.map(|_| merged.unwrap_or_default()),
        jobs: numbers,
    }))
}

/// What the controller knows about a job; nothing if it has forgotten it.
fn control(numbers: &Jobs, job: u32) -> Result<Vec<Record>, Failure> {
    let mut command = Command::new("scontrol");
    command.arg("--oneliner");
    command.args(numbers.cluster.iter().map(|it| format!("--cluster={it}")));
    command.args(["show", "job", &job.to_string()]);
    let output = call(&mut command)?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && !said.contains("Invalid job id") {
        return Err(Failure::new(
            format!("scontrol does not answer: {}", said.trim_ascii_end()),
            "is the controller up? The runs that are done are counted without it",
        ));
    }
    Ok(jobs(&String::from_utf8_lossy(&output.stdout)))
}

/// What was accounted for; nothing where nobody does.
fn account(numbers: &Jobs, job: u32) -> Vec<Record> {
    let mut command = Command::new("sacct");
    command.args(["--noheader", "--parsable2", "--allocations"]);
    command.arg("--format=JobID,State,ExitCode,NodeList");
    command.args(numbers.cluster.iter().map(|it| format!("--clusters={it}")));
    command.arg(format!("--jobs={job}"));
    match call(&mut command) {
        Ok(output) if output.status.success() => accounts(&String::from_utf8_lossy(&output.stdout)),
        _ => Vec::new(),
    }
}
