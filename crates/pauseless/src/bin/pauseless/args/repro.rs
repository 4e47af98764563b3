//! The arguments of `repro`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use pauseless_experiments::repro::Scale;

use super::Set;

/// The arguments of `repro`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = ArgGroup::new("what").required(true).multiple(false).args(["names", "all", "list"]))]
pub struct ReproArgs {
    /// Experiments, such as gfc-fig12
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Carry all experiments out
    #[arg(long)]
    pub all: bool,
    /// List the experiments: name, what it shows, how long it takes
    #[arg(long)]
    pub list: bool,
    /// At a size that all of them together take minutes; this is the default
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// As large as in the papers. Finished runs are kept in the folder: the same command goes on
    /// where it was stopped
    #[arg(long)]
    pub full: bool,
    /// Where figures (SVG, PNG), data (CSV, Parquet) and pages go
    #[arg(long, value_name = "DIR", default_value = "pauseless-repro")]
    pub out: PathBuf,
    /// Write the page of these results, as papers/README.md is, with its figures beside it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "settings"])]
    pub page: Option<PathBuf>,
    /// Only this reading of the paper and the claims that are judged under it, beside the
    /// experiment as it is written; --list names them
    #[arg(long, value_name = "NAME", conflicts_with_all = ["all", "list", "page"])]
    pub reading: Option<String>,
    #[command(flatten)]
    pub set: Set,
    /// Read scenarios and claims from this folder instead of those that are built in
    #[arg(long, value_name = "DIR")]
    pub papers: Option<PathBuf>,
    /// Use so many threads; by default one for each core
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true,
          value_parser = clap::value_parser!(u16).range(0..=1_024))]
    pub threads: u16,
    /// Print one JSON document with all runs and claims instead of text
    #[arg(long)]
    pub json: bool,
    /// Print one line for each experiment, and no progress
    #[arg(long, short)]
    pub quiet: bool,
}

impl ReproArgs {
    pub fn scale(&self) -> Scale {
        if self.full { Scale::Full } else { Scale::Quick }
    }
}

const EXAMPLES: &str = "Examples:
  pauseless repro --list
  pauseless repro hotnets-fig4
  pauseless repro gfc-fig12 --json --out results
  pauseless repro gfc-fig9 --set timing.clock_ppm=100
  pauseless repro pcn-fig2 --reading qcn-1500us

Exit status: 0 every claim that is marked as met is met, also under its readings, or --set
was given, 1 one is not, 2 bad usage or input, 130 interrupted.";
