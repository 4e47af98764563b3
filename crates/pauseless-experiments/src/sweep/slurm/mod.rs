//! Campaigns on a cluster that Slurm runs: a job array that makes the runs, one job that merges
//! them, and what became of both.
//!
//! A job of the array makes one shard. If its node fails, Slurm requeues it; the job that takes its
//! place finds what is finished and goes on from there. The old one may still be alive on a node
//! that only seemed to have failed. That does no harm: rows are told apart by the names of tasks.

mod script;
mod state;
mod status;

use std::env;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pauseless_text::output;
use serde::{Deserialize, Serialize};

pub use state::State;
pub use status::{Job, Status, status};

/// What is to be submitted.
#[derive(Clone, Debug)]
pub struct Request {
    /// The path of this program.
    pub program: PathBuf,
    /// The path of the campaign's file.
    pub file: PathBuf,
    /// Its size, if one was asked for.
    pub size: Option<String>,
    /// The folder of its results, which all nodes must see.
    pub folder: PathBuf,
    /// The name of the campaign.
    pub name: String,
    /// How many tasks it has.
    pub tasks: usize,
    /// In how many parts it is made.
    pub shards: u32,
    /// Cores of each part.
    pub cpus: u32,
    /// Further options for `sbatch`, for both jobs.
    pub options: Vec<String>,
}

/// The scripts of a campaign, before or after they were submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scripts {
    /// That of the job array.
    pub array: PathBuf,
    /// That of the job that merges.
    pub merge: PathBuf,
    /// How both are submitted, to be read by people.
    pub commands: [String; 2],
}

/// The jobs of a campaign, kept in `slurm/jobs.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jobs {
    /// The job array, as `sbatch` has named it.
    pub array: u32,
    /// The job that merges; none if it could not be submitted.
    pub merge: Option<u32>,
    /// How many parts the array has.
    pub shards: u32,
    /// The cluster, where there are several.
    pub cluster: Option<String>,
}

/// Why a campaign could not be submitted, or nothing is known of its jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong, in a sentence.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure { message: message.into(), help: help.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  = help: {}", self.message, self.help)
    }
}

impl std::error::Error for Failure {}

/// Writes the scripts of a campaign into `slurm/` of its folder.
pub fn write(request: &Request) -> Result<Scripts, Failure> {
    let Request { shards, tasks, .. } = request;
    if *shards as usize > *tasks {
        let message = format!("{shards} parts for {tasks} runs: some would have nothing to do");
        return Err(Failure::new(message, format!("--shards {tasks} at the most")));
    }
    let folder = request.folder.join(FOLDER);
    fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    let request = &absolute(request)?;
    let folder = &request.folder.join(FOLDER);
    let (array, merge) = (folder.join("array.sh"), folder.join("merge.sh"));
    let texts = [(&array, script::array(request)?), (&merge, script::merge(request)?)];
    for (file, text) in texts {
        output::write(file, text).map_err(|error| unwritable(file, &error))?;
    }
    let commands = [(&array, None), (&merge, Some("ARRAY_JOB"))].map(|(file, after)| {
        let mut words = arguments(&request.options, after);
        words.push(file.display().to_string());
        let words = Vec::from_iter(words.iter().map(|word| script::quoted(word)));
        format!("sbatch {}", words.join(" "))
    });
    Ok(Scripts { array, merge, commands })
}

/// Submits what [`write()`] has written, and keeps the numbers of the jobs.
pub fn submit(request: &Request, scripts: &Scripts) -> Result<Jobs, Failure> {
    let file = request.folder.join(FOLDER).join(JOBS);
    check_array_size(request.shards)?;
    let (array, cluster) = sbatch(&request.options, &scripts.array, None)?;
    let mut jobs = Jobs { array, merge: None, shards: request.shards, cluster };
    // Before the next job: whatever happens to that, somebody has to find this one again.
    jobs.keep(&file)?;
    let (merge, _) = sbatch(&request.options, &scripts.merge, Some(array)).map_err(|failure| {
        let why = failure.message;
        let message = format!("job array {array} was submitted, the merge was not: {why}");
        let help = "let the array run and merge with `pauseless sweep merge`, or scancel it";
        Failure::new(message, help)
    })?;
    jobs.merge = Some(merge);
    jobs.keep(&file)?;
    Ok(jobs)
}

impl Jobs {
    /// The jobs of the campaign in `folder`; none if it was not submitted.
    pub fn read(folder: &Path) -> Result<Option<Jobs>, Failure> {
        let file = folder.join(FOLDER).join(JOBS);
        let help = "move it away; the jobs are in squeue all the same";
        match fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| {
                Failure::new(format!("{}: damaged: {error}", file.display()), help)
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::new(format!("{}: {error}", file.display()), help)),
        }
    }

    fn keep(&self, file: &Path) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self).expect("plain keys, no I/O");
        output::write(file, text + "\n").map_err(|error| unwritable(file, &error))
    }
}

/// The folder of scripts, logs and numbers of jobs, in that of the results.
const FOLDER: &str = "slurm";
const JOBS: &str = "jobs.json";
/// The merge starts when every job of the array is over, however it ended, and not only if all went
/// well (`afterok`): with one part failed it would wait for ever and say nothing, while now it says
/// which runs are missing.
const AFTER: &str = "--dependency=afterany:";

/// The same request with paths that hold wherever a job starts.
fn absolute(request: &Request) -> Result<Request, Failure> {
    let found = |path: &Path| {
        fs::canonicalize(path).map_err(|error| {
            let message = format!("{}: {error}", path.display());
            Failure::new(message, "jobs need it by its full path, so it has to be there")
        })
    };
    Ok(Request {
        program: found(&request.program)?,
        file: found(&request.file)?,
        folder: found(&request.folder)?,
        ..request.clone()
    })
}

fn unwritable(file: &Path, error: &io::Error) -> Failure {
    Failure::new(
        format!("{}: cannot be written: {error}", file.display()),
        "make room or choose another folder with --out",
    )
}

/// What `sbatch` is told before the name of the script. Of two dependencies it takes the last: one
/// among the options is that of the array, and the merge waits for the array.
fn arguments(options: &[String], after: Option<&str>) -> Vec<String> {
    let mut words = vec!["--parsable".to_string()];
    words.extend_from_slice(options);
    words.extend(after.map(|job| format!("{AFTER}{job}")));
    words
}

/// Submits one script; the number of the job and the cluster that it is on.
fn sbatch(
    options: &[String],
    script: &Path,
    after: Option<u32>,
) -> Result<(u32, Option<String>), Failure> {
    let after = after.map(|job| job.to_string());
    let mut command = Command::new("sbatch");
    command.args(arguments(options, after.as_deref())).arg(script);
    let output = call(&mut command)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(Failure::new(
            format!("sbatch refused {}: {}", script.display(), said.trim_ascii_end()),
            "options behind -- go to sbatch: --partition=.., --account=.., --time=..",
        ));
    }
    state::parsable(&text).ok_or_else(|| {
        let message = format!("sbatch said {:?} instead of a job's number", text.trim());
        Failure::new(message, "look at squeue; is another sbatch in PATH?")
    })
}

/// Refuses more parts than Slurm lets an array have. Where it does not say, sbatch will.
fn check_array_size(shards: u32) -> Result<(), Failure> {
    let output = call(Command::new("scontrol").args(["show", "config"]))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match state::max_array_size(&text) {
        // Numbers in an array are smaller than this, and ours begin at 1.
        Some(max) if shards >= max => Err(Failure::new(
            format!(
                "{shards} parts are more than Slurm lets an array have here (MaxArraySize {max})"
            ),
            format!(
                "--shards {} at the most, with more --cpus each; or raise MaxArraySize in slurm.conf",
                max.saturating_sub(1)
            ),
        )),
        _ => Ok(()),
    }
}

/// Runs a program of Slurm.
fn call(command: &mut Command) -> Result<Output, Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    // Formats and messages are those that are parsed here, whatever a user has set.
    for (key, _) in env::vars_os() {
        if let Some("SQUEUE_FORMAT" | "SQUEUE_FORMAT2" | "SQUEUE_STATES" | "SQUEUE_SORT") =
            key.to_str()
        {
            command.env_remove(key);
        }
    }
    command.output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::new(
            format!("{name} is not in PATH"),
            "run this where Slurm is installed, or with --dry-run to write the scripts only",
        ),
        _ => Failure::new(format!("{name} cannot be run: {error}"), "is it installed?"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A user may let a campaign wait for a job of his own. The merge waits for the campaign.
    #[test]
    fn the_merge_waits_for_the_array_whatever_the_options() {
        let options = ["--dependency=afterok:7".to_string()];
        let last = |after| arguments(&options, after).pop();
        assert_eq!(last(None).as_deref(), Some("--dependency=afterok:7"));
        assert_eq!(last(Some("8")).as_deref(), Some("--dependency=afterany:8"));
    }
}
