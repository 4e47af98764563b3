//! The arguments of `testbed`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use pauseless_core::switch::Discipline;
use pauseless_core::unit::Span;
use pauseless_testbed::ring::parse_name;
use pauseless_testbed::wires::Backend;
use pauseless_text::quantity::parse_span;

use super::{Deny, discipline_help, parse_discipline};

/// The arguments of `testbed`.
#[derive(Debug, Args)]
#[command(after_help = TESTBED_EXAMPLES)]
pub struct TestbedArgs {
    /// Scenarios to run instead of the ring, TOML files
    pub files: Vec<PathBuf>,
    /// Of the ring only these: pfc, cbfc, gfc-buffer, gfc-time, gfc-buffer-cycle-aware,
    /// gfc-time-cycle-aware
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = parse_name)]
    #[arg(conflicts_with = "files")]
    pub only: Vec<String>,
    /// What frames travel over: packet (AF_PACKET on veth), xdp (AF_XDP on veth), memory
    #[arg(long, value_name = "B", default_value = "packet")]
    pub backend: Backend,
    #[arg(long, value_name = "D", value_parser = parse_discipline)]
    #[arg(help = discipline_help("Let frames wait in this way"))]
    pub discipline: Option<Discipline>,
    /// Use this seed for random numbers
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run for this long, in the nodes' time, such as "500 ms"
    #[arg(long, value_name = "T", value_parser = parse_span)]
    pub duration: Option<Span>,
    /// One process per node and the real clock, at a quarter of the speed
    #[arg(long)]
    pub processes: bool,
    /// Show all nodes while they run; not with --processes
    #[arg(long, conflicts_with_all = ["json", "quiet", "processes"])]
    pub live: bool,
    /// Give metrics to Prometheus at this address of the loopback interface, such as
    /// 127.0.0.1:9464; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", conflicts_with = "processes")]
    pub metrics: Option<SocketAddr>,
    /// Write every frame to this pcapng file, as it leaves a port and as it comes to one; for one
    /// scenario
    #[arg(long, value_name = "FILE", conflicts_with = "processes")]
    pub pcap: Option<PathBuf>,
    /// Exit with status 1 if one of these is found on real frames
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FINDING")]
    pub deny: Vec<Deny>,
    /// Write the page to this file; by default pauseless-testbed.html, or none with --json
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
    /// No progress, no remarks
    #[arg(long, short)]
    pub quiet: bool,
}

const TESTBED_EXAMPLES: &str = "Examples:
  pauseless testbed --backend memory
  pauseless testbed --backend memory --only pfc --duration \"100 ms\" --json

Without --backend memory frames cross veth pairs between network namespaces,
for which this needs root, capabilities or user namespaces.

Exit status: 0 done, 1 a denied finding, 2 bad usage or input, 130 interrupted.";
