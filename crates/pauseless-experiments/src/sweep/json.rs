//! The JSON documents of campaigns: of a call that made runs, of how far they are, and of a merge.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use super::execute::Tally;
use super::slurm::Job;
use pauseless_text::records;

/// What a call of `sweep` has done.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SweepDocument {
    /// The version of the format of this document.
    pub schema: u32,
    /// The name of the campaign.
    pub campaign: String,
    /// What the campaign shows, as its file says.
    pub title: String,
    /// The version of the program that made the runs.
    pub version: &'static str,
    /// The folder of its results.
    pub folder: PathBuf,
    /// How many runs the campaign has.
    pub tasks: usize,
    /// The part that this call was to make, such as `2/8`; null for all of it.
    pub shard: Option<String>,
    /// What was found in all runs of this part that are done.
    #[serde(flatten)]
    pub found: TallyRecord,
    /// Runs that earlier calls have made.
    pub kept: usize,
    /// Runs that this call has made.
    pub made: usize,
    /// Whether it was stopped before all were made.
    pub interrupted: bool,
    /// How long it took, in seconds.
    pub wall_s: f64,
    /// The file with all rows; null while runs are missing, and for a part.
    pub results: Option<PathBuf>,
}

/// How far a campaign has come.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StatusDocument {
    /// The version of the format of this document.
    pub schema: u32,
    /// The name of the campaign.
    pub campaign: String,
    /// The version of the program that asks.
    pub version: &'static str,
    /// The folder of its results.
    pub folder: PathBuf,
    /// How many runs the campaign has.
    pub tasks: usize,
    /// What was found in the runs that are done.
    #[serde(flatten)]
    pub found: TallyRecord,
    /// Whether one file has the rows of all runs.
    pub merged: bool,
    /// Its jobs on a cluster; null if it was not submitted to one.
    pub slurm: Option<SlurmRecord>,
}

/// What a merge has put together.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MergeDocument {
    /// The version of the format of this document.
    pub schema: u32,
    /// The name of the campaign.
    pub campaign: String,
    /// How many runs the campaign has.
    pub tasks: usize,
    /// The rows in the file.
    pub rows: usize,
    /// Runs that have no row yet.
    pub missing: usize,
    /// The file with these rows; null if none was written because runs are missing.
    pub results: Option<PathBuf>,
}

/// The jobs of a campaign on a Slurm cluster.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SlurmRecord {
    /// The number of the job array.
    pub array: u32,
    /// Its jobs, each of which makes a part of the runs.
    pub shards: Vec<ShardRecord>,
    /// The number of the job that merges; null if there is none.
    pub merge_job: Option<u32>,
    /// The state of that job.
    pub merge: Option<JobRecord>,
}

/// A job that makes a part of the runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ShardRecord {
    /// The state of the job.
    #[serde(flatten)]
    pub job: JobRecord,
    /// Runs of this part that are done.
    pub done: usize,
    /// Runs of this part.
    pub tasks: usize,
}

records! {
    /// What was found in how many runs.
    #[derive(Copy)]
    pub struct TallyRecord(tally: Tally) {
        /// Runs that are done.
        done: usize = tally.runs;
        /// Runs with a deadlock.
        deadlocks: usize = tally.deadlocks;
        /// Runs in which a flow starved.
        starved: usize = tally.starved;
        /// Runs that were too short to tell whether a flow starves.
        undecided: usize = tally.undecided;
        /// Runs in which a packet was lost.
        lost: usize = tally.lost;
        /// Runs that could not be made.
        errors: usize = tally.errors;
    }

    /// The state of a job.
    pub struct JobRecord(job: &Job) {
        /// The state in one word.
        state: &'static str = job.state.name();
        /// The state in words of the cluster.
        detail: String = job.state.to_string();
        /// How often it was started again.
        requeued: u32 = job.requeued;
    }
}
