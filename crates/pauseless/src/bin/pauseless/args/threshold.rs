//! The arguments of `threshold`.

use std::path::PathBuf;

use clap::Args;
use pauseless_core::unit::Span;
use pauseless_experiments::threshold::Property;
use pauseless_text::quantity::parse_span;

/// The arguments of `threshold`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ThresholdArgs {
    /// The scenario, a TOML file
    pub file: PathBuf,
    /// What to vary: a key of the scenario, such as flow_control.xoff, switch.processing,
    /// flow.NAME.rate or flow.2.rate; one that is not written is added
    #[arg(long, value_name = "KEY")]
    pub vary: String,
    /// One end of the range, such as "2 Gbps", "40 KB", "5 us" or 16
    #[arg(long, value_name = "A")]
    pub from: String,
    /// The other end of the range
    #[arg(long, value_name = "B")]
    pub to: String,
    /// What is to flip in between: deadlock, loss, starvation, pause, pause:PORT, or a number with a
    /// limit such as "queue_max{port=S1:S2} > 100"; `pauseless metrics` lists all numbers
    #[arg(long, value_name = "PROPERTY", value_parser = Property::parse)]
    pub find: Property,
    /// Try seeds 1 to this
    #[arg(long, value_name = "N", default_value_t = 20,
          value_parser = clap::value_parser!(u64).range(1..=1_000))]
    pub seeds: u64,
    /// Bisect each seed to this; by default about a thousandth of the range
    #[arg(long, value_name = "P")]
    pub precision: Option<String>,
    /// Halve by equal factors instead of equal distances
    #[arg(long)]
    pub log: bool,
    /// At how many values, evenly spread, every seed is tried: 2, 3, 5, 9, 17, 33 or 65
    #[arg(long, value_name = "N", default_value = "9", value_parser = parse_points)]
    pub points: Points,
    /// Simulate this long instead, such as "20 ms"
    #[arg(long, value_name = "T", value_parser = parse_span)]
    pub duration: Option<Span>,
    /// Use so many threads; by default one for each core
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true,
          value_parser = clap::value_parser!(u16).range(0..=1_024))]
    pub threads: u16,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Write a page with the share of seeds against the value to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the verdict only, and no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// How often the range is halved to get the values at which every seed is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Points(pub u32);

fn parse_points(text: &str) -> Result<Points, String> {
    let mut depths = 0..=6;
    depths.find(|depth| text == ((1 << depth) + 1).to_string()).map(Points).ok_or_else(|| {
        "expected 2, 3, 5, 9, 17, 33 or 65, so that bisection can use them".to_string()
    })
}

const EXAMPLES: &str = "Examples:
  pauseless threshold papers/pcn/fig5.toml --find pause:S0:S1 --seeds 5 \\
    --vary flow.F1.rate --from \"8 Gbps\" --to \"12 Gbps\"
  pauseless threshold papers/hotnets/fig5.toml --find deadlock --log \\
    --vary \"flow.flow 3.rate\" --from \"0.25 Gbps\" --to \"8 Gbps\"
  pauseless threshold papers/hotnets/fig3.toml --find pause:A:B --seeds 5 \\
    --vary switch.processing --from \"0 us\" --to \"3 us\"

Exit status: 0 more than half of the seeds flip, 1 they do not, 2 bad usage or input, 130
interrupted.";
