//! The arguments of `switch` and `host`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pauseless_core::unit::Span;
use pauseless_dataplane::clock::Pace;
use pauseless_dataplane::link::Backend;
use pauseless_testbed::node::file::parse_clock;
use pauseless_text::quantity::parse_span;

/// The arguments of `switch` and `host`.
#[derive(Debug, Args)]
pub struct NodeArgs {
    /// The node's file: which node of which scenario, and its interfaces; see docs/switch.md
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Only check the file and say what would be done
    #[arg(long)]
    pub check: bool,
    /// End after this long on the node's clock, such as "10 s"; else at Ctrl-C or SIGTERM
    #[arg(long = "for", value_name = "T", value_parser = parse_span)]
    pub duration: Option<Span>,
    /// Take this clock instead of the file's: real, elastic or elastic:50us
    #[arg(long, value_name = "C", value_parser = parse_clock)]
    pub clock: Option<Pace>,
    /// Take this back end instead of the file's: auto, packet or xdp
    #[arg(long, value_name = "B", value_parser = parse_backend)]
    pub backend: Option<Backend>,
    /// Start the clock when CLOCK_MONOTONIC shows this, so that nodes of one machine agree
    #[arg(long, value_name = "NS")]
    pub start_at: Option<u64>,
    /// Stay on this core
    #[arg(long, value_name = "N")]
    pub core: Option<usize>,
    /// Never sleep: quicker answers for a whole core
    #[arg(long)]
    pub spin: bool,
    /// Show the node even if the output is no terminal
    #[arg(long, conflicts_with_all = ["json", "quiet"])]
    pub live: bool,
    /// Give metrics to Prometheus at this address of the loopback interface, such as
    /// 127.0.0.1:9464; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// Write every frame to this pcapng file
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Exit with status 1 if this is found
    #[arg(long, value_enum, value_name = "FINDING")]
    pub deny: Option<DenyLoss>,
    /// Print one JSON document at the end instead of text
    #[arg(long)]
    pub json: bool,
    /// Say nothing before the end
    #[arg(long, short)]
    pub quiet: bool,
    /// End when the process of this number, which has started this one, ends; for the testbed
    #[arg(long, value_name = "PID", hide = true)]
    pub with_parent: Option<u32>,
}

/// The finding that one node can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DenyLoss {
    /// A frame that was lost here, or is missing here
    Loss,
}

fn parse_backend(text: &str) -> Result<Backend, String> {
    text.parse()
}

pub const SWITCH_EXAMPLES: &str = "Examples:
  pauseless switch --config testbeds/three-machines/S1.toml --check

As root, on a machine that has the interfaces (docs/switch.md):
  # pauseless switch --config S1.toml --metrics 127.0.0.1:9464
  # pauseless switch --config S1.toml --for \"10 s\" --json --pcap S1.pcapng

Exit status: 0 done, 1 a denied finding, 2 bad usage or input.";

pub const HOST_EXAMPLES: &str = "Examples:
  pauseless host --config testbeds/three-machines/H1.toml --check

As root, on a machine that has the interface (docs/switch.md):
  # pauseless host --config H1.toml --for \"10 s\" --deny loss

Exit status: 0 done, 1 a denied finding, 2 bad usage or input.";
