//! The arguments of `sweep`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};

use super::Deny;

/// The arguments of `sweep`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = EXAMPLES)]
pub struct SweepArgs {
    /// What else to do.
    #[command(subcommand)]
    pub command: Option<SweepCommand>,
    #[command(flatten)]
    pub run: Option<SweepRunArgs>,
}

/// The subcommands of `sweep`, beside running a campaign.
#[derive(Debug, Subcommand)]
pub enum SweepCommand {
    /// Put all rows together into one file, results.parquet
    Merge(MergeArgs),
    /// Say how far a campaign has come, and where its jobs are
    Status(StatusArgs),
    /// Show tables and figures of what was found, and judge the campaign's claims
    Report(ReportArgs),
    /// Print the scenario of one run, to be run by itself
    Show(ShowArgs),
    /// Hand a campaign to a cluster
    Submit(SubmitArgs),
}

/// The campaign and where its results are.
#[derive(Clone, Debug, Args)]
pub struct CampaignArgs {
    /// The campaign, a TOML file; see docs/sweep.md
    pub file: PathBuf,
    /// At one of the sizes that the file has, such as quick; by default as it is written
    #[arg(long, value_name = "NAME")]
    pub size: Option<String>,
    /// The folder of its results; by default pauseless-sweep/NAME
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// The arguments of `sweep FILE`. The campaign is not flattened: clap would take the whole struct
/// for absent.
#[derive(Debug, Args)]
pub struct SweepRunArgs {
    /// The campaign, a TOML file; see docs/sweep.md
    pub file: PathBuf,
    /// At one of the sizes that the file has, such as quick; by default as it is written
    #[arg(long, value_name = "NAME")]
    pub size: Option<String>,
    /// The folder of its results; by default pauseless-sweep/NAME
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Make only the I-th of N parts of the runs; the parts are put together by `sweep merge`
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Use so many threads; by default one for each core
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true,
          value_parser = clap::value_parser!(u16).range(0..=1_024))]
    pub threads: u16,
    /// Exit with status 1 if one of these is found in any run
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FINDING")]
    pub deny: Vec<Deny>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Print the summary only, and no progress
    #[arg(long, short)]
    pub quiet: bool,
}

impl SweepRunArgs {
    pub fn campaign(&self) -> CampaignArgs {
        CampaignArgs { file: self.file.clone(), size: self.size.clone(), out: self.out.clone() }
    }
}

/// The arguments of `sweep merge`.
#[derive(Debug, Args)]
#[command(after_help = MERGE_EXAMPLES)]
pub struct MergeArgs {
    #[command(flatten)]
    pub campaign: CampaignArgs,
    /// Take rows from this folder too, where another machine has left them
    #[arg(long, value_name = "DIR")]
    pub from: Vec<PathBuf>,
    /// Write what is there although runs are missing
    #[arg(long)]
    pub partial: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `sweep status`.
#[derive(Debug, Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub campaign: CampaignArgs,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `sweep report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    #[command(flatten)]
    pub campaign: CampaignArgs,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `sweep show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    #[command(flatten)]
    pub campaign: CampaignArgs,
    /// The task, as its column says or the first letters of it, or the place of its run from 1
    pub task: String,
}

/// The arguments of `sweep submit`.
#[derive(Debug, Args)]
#[command(after_help = SUBMIT_EXAMPLES)]
pub struct SubmitArgs {
    #[command(flatten)]
    pub campaign: CampaignArgs,
    /// To Slurm: a job array, and a job that merges when all of it is over
    #[arg(long, required = true)]
    pub slurm: bool,
    /// In so many parts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub shards: u32,
    /// Cores of each part
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub cpus: u32,
    /// Write the scripts and say how they would be submitted, and no more
    #[arg(long)]
    pub dry_run: bool,
    /// Further options of sbatch, such as --partition=long
    #[arg(last = true, value_name = "SBATCH")]
    pub options: Vec<String>,
}

/// One of several parts, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of this part, from 1.
    pub part: usize,
    /// How many parts there are.
    pub parts: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let wrong = || "expected I/N with I from 1 to N, such as 1/4".to_string();
        let (part, parts) = text.split_once('/').ok_or_else(wrong)?;
        let part = part.trim().parse().map_err(|_| wrong())?;
        let parts = parts.trim().parse().map_err(|_| wrong())?;
        if part >= 1 && part <= parts { Ok(Shard { part, parts }) } else { Err(wrong()) }
    }
}

const EXAMPLES: &str = "Examples:
  pauseless sweep scenarios/xoff.sweep.toml --size tiny
  pauseless sweep status scenarios/xoff.sweep.toml --size tiny
  pauseless sweep report scenarios/xoff.sweep.toml --size tiny
  pauseless sweep show scenarios/xoff.sweep.toml 17

Table 1 of the GFC paper is papers/gfc/table1.sweep.toml; --size quick takes a
minute. Ctrl-C or a crash loses the runs in flight and no others: the same
command goes on from there.

Exit status: 0 done, 1 a denied finding, 2 bad usage or input, or a run that
could not be made, 130 interrupted.";

const MERGE_EXAMPLES: &str = "Examples:
  pauseless sweep scenarios/xoff.sweep.toml --size tiny --shard 1/2 --out shared
  pauseless sweep scenarios/xoff.sweep.toml --size tiny --shard 2/2 --out shared
  pauseless sweep merge scenarios/xoff.sweep.toml --size tiny --out shared

Exit status: 0 done, 1 runs are missing, 2 bad usage or input.";

const SUBMIT_EXAMPLES: &str = "Examples:
  pauseless sweep submit scenarios/xoff.sweep.toml --slurm --shards 8 \\
      --cpus 2 --dry-run -- --partition=long --time=2:00:00

Exit status: 0 done, 2 bad usage or input.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_count_from_one() {
        let shard = |text: &str| text.parse::<Shard>().ok().map(|it| (it.part, it.parts));
        assert_eq!(shard("1/1"), Some((1, 1)));
        assert_eq!(shard("7/7"), Some((7, 7)));
        for wrong in ["0/7", "8/7", "1", "/", "1/0", "-1/2", "a/b"] {
            assert_eq!(shard(wrong), None, "{wrong}");
        }
    }
}
