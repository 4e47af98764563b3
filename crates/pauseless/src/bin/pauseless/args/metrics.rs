//! The arguments of `metrics`.

use clap::Args;

/// The arguments of `metrics`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MetricsArgs {
    /// List only what has this word in its name, its scope or what it says
    pub word: Option<String>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  pauseless metrics
  pauseless metrics slowdown
  pauseless metrics --json

Where the names are used:
  --find \"queue_max{port=S1:S2} > 100\"             of pauseless threshold
  keep = [\"slowdown{p=99.9, size=10KB..100KB}\"]    in a campaign
  value = \"PFC/fct_us{p=99}\"                       in a claims file";
