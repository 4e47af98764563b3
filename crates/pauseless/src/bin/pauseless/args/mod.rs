//! What can be typed.

mod check;
mod lint;
mod metrics;
#[cfg(target_os = "linux")]
mod node;
mod plan;
mod repro;
mod sweep;
#[cfg(target_os = "linux")]
mod testbed;
mod threshold;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use pauseless::schema::Document;
use pauseless_compat::htsim::Options;
use pauseless_core::switch::Discipline;
use pauseless_core::unit::Span;
use pauseless_report::verdict::Finding;
use pauseless_scenario::congestion::Scheme;
use pauseless_scenario::vary::Changed;
use pauseless_scenario::{Problems, StopOn};
use pauseless_text::quantity::parse_span;
use pauseless_text::source::Source;

pub use check::{CheckArgs, Choose, ConvertArgs, ConvertFormat, DenyFault, Failing, Fix};
pub use lint::LintArgs;
pub use metrics::MetricsArgs;
#[cfg(target_os = "linux")]
pub use node::NodeArgs;
pub use plan::PlanArgs;
pub use repro::ReproArgs;
pub use sweep::{
    CampaignArgs, MergeArgs, ReportArgs, Shard, ShowArgs, StatusArgs, SubmitArgs, SweepArgs,
    SweepCommand, SweepRunArgs,
};
#[cfg(target_os = "linux")]
pub use testbed::TestbedArgs;
pub use threshold::ThresholdArgs;

/// A workbench for lossless networks: PFC, InfiniBand credits and Gentle Flow Control, simulated
/// packet by packet, with deadlocks decided exactly.
#[derive(Debug, Parser)]
#[command(version = pauseless_run::VERSION, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Even if the output is no terminal
    Always,
    /// Not even on a terminal
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say from a fabric's own dumps whether it can deadlock, because of whom, and what would help
    Check(CheckArgs),
    /// Say what a SONiC fabric loses, stalls or hides as it is configured, and how to repair it
    Lint(Box<LintArgs>),
    /// Derive the buffer plan of a fabric: headroom, thresholds, credits, classes, and whether it fits
    Plan(Box<PlanArgs>),
    /// Turn the dumps of a fabric into one fabric file, or into GraphML
    Convert(ConvertArgs),
    /// Write a commented scenario to start from
    New(NewArgs),
    /// Simulate a scenario and say what was found
    Run(RunArgs),
    /// Show one ring under six flow controls: who deadlocks, who starves, who flows
    Demo(DemoArgs),
    /// Make all runs of a campaign: one scenario over many values, seeds and networks
    Sweep(Box<SweepArgs>),
    /// Repeat the papers' experiments and judge their claims
    Repro(ReproArgs),
    /// Show the parameters that a scenario would use, derived line by line
    Explain(ExplainArgs),
    /// Print the JSON Schema of a kind of file, or of a document that --json prints
    Schema(SchemaArgs),
    /// List the numbers and curves that a run has: name, unit, whose it is, what it means
    Metrics(MetricsArgs),
    /// Run the ring, or scenarios, on real frames between namespaces, beside the simulator
    #[cfg(target_os = "linux")]
    Testbed(TestbedArgs),
    /// Print the completions of a shell
    #[command(hide = true)]
    Complete(CompleteArgs),
    /// Write the man pages into a folder
    #[command(hide = true)]
    Man(ManArgs),
    /// Find the value of one quantity of a scenario at which a property flips, over seeds
    Threshold(ThresholdArgs),
    /// Be one switch of a scenario on real interfaces
    #[cfg(target_os = "linux")]
    #[command(after_help = node::SWITCH_EXAMPLES)]
    Switch(Box<NodeArgs>),
    /// Be one host of a scenario on a real interface: send its flows and receive those for it
    #[cfg(target_os = "linux")]
    #[command(after_help = node::HOST_EXAMPLES)]
    Host(Box<NodeArgs>),
}

/// The arguments of `new`.
#[derive(Debug, Args)]
#[command(after_help = NEW_EXAMPLES)]
pub struct NewArgs {
    /// The kind of network, such as leaf-spine; without it, all are listed
    pub kind: Option<String>,
    /// Write to this file; by default to KIND.toml, and never over a file that is there
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The arguments of `complete`.
#[derive(Debug, Args)]
pub struct CompleteArgs {
    /// The shell, such as bash
    pub shell: Shell,
}

/// The arguments of `man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The folder, which is made if it is not there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// The arguments of `schema`.
#[derive(Debug, Args)]
#[command(after_help = SCHEMA_EXAMPLES)]
pub struct SchemaArgs {
    /// Which one; without it, all are listed
    #[arg(value_name = "NAME", value_parser = parse_document)]
    pub document: Option<Document>,
}

/// The arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// The scenario, a TOML file, or the config.txt of an ns-3 simulator of the HPCC family, or a
    /// traffic matrix (.cm) of htsim
    pub file: PathBuf,
    /// Beside a traffic matrix: the tree (.topo) and the paths of a run, in any order
    pub more: Vec<PathBuf>,
    /// What htsim_roce is told on its command line, such as mtu=1500,end=20000: mtu, linkspeed,
    /// hop_latency, switch_latency, pfc_low, pfc_high, end, tiers, q and start=file, see docs/htsim.md
    #[arg(long, value_name = "KEY=VALUE,..")]
    pub htsim: Option<Options>,
    /// Compare with that simulator; by default wires and switches work as real ones do
    #[arg(long, value_enum, value_name = "SIMULATOR")]
    pub compat: Option<CompatWith>,
    #[command(flatten)]
    pub set: Set,
    /// Use this seed instead of the scenario's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Simulate this long instead, such as "20 ms"
    #[arg(long, value_name = "T", value_parser = parse_span)]
    pub duration: Option<Span>,
    #[arg(long, value_name = "D", value_parser = parse_discipline)]
    #[arg(help = discipline_help("Let packets wait in this way instead"))]
    pub discipline: Option<Discipline>,
    #[arg(long, value_name = "CC", value_parser = parse_congestion, help = congestion_help())]
    pub congestion_control: Option<Scheme>,
    /// Give ports on and before a cycle thresholds of their own, see docs/cycle-aware.md
    #[arg(long)]
    pub cycle_aware: bool,
    /// End the run as soon as one of these is so: deadlock, done, steady; instead of what the
    /// scenario says
    #[arg(long, value_delimiter = ',', value_name = "WHEN", value_parser = StopOn::NAMES)]
    pub stop_on: Vec<String>,
    /// Record where pauses come from: the first port to fill, the links that stopped because of it,
    /// and the flows that had nothing to do with it
    #[arg(long)]
    pub provenance: bool,
    /// Use so many threads, with the same results; by default as many as there are cores and the
    /// network keeps busy, see docs/parallel.md
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_024))]
    pub threads: Option<u16>,
    /// Exit with status 1 if one of these is found
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FINDING")]
    pub deny: Vec<Deny>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Write result.json, flows.csv, resolved.toml, report.html and, if something was probed,
    /// series.csv; of a config.txt also the files that it names, instead of where it says
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write over the output files that a config.txt names, even if this program did not write them
    #[arg(long)]
    pub force: bool,
    /// Write tables for pandas, DuckDB and their like: results.parquet with one row, flows.parquet,
    /// ports.parquet and, if something was probed, series.parquet
    #[arg(long, value_name = "DIR")]
    pub parquet: Option<PathBuf>,
    /// Write the same tables into this folder in the format that --format names
    #[arg(long, value_name = "DIR")]
    pub tables: Option<PathBuf>,
    /// The format of --tables
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Parquet,
          requires = "tables")]
    pub format: TableFormat,
    /// Write the page with the figures to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write what happened until the deadlock, or until the end, as an animated picture: SVG that
    /// plays in browsers and on pages without a script
    #[arg(long, value_name = "FILE")]
    pub animation: Option<PathBuf>,
    /// Write the frames that every port sends to this file, for Wireshark and its like: pcapng with an
    /// interface per port
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Write only the frames of these ports, what they send and what they receive, such as
    /// "S1:H1,S2:*"
    #[arg(long, value_delimiter = ',', value_name = "PORTS", requires = "pcap")]
    pub pcap_ports: Vec<String>,
    /// Write only so many bytes of each frame: 96 have all headers, but Wireshark calls the data cut
    #[arg(long, value_name = "BYTES", requires = "pcap")]
    pub pcap_snap: Option<usize>,
    /// Print the verdict only, and no progress or warnings
    #[arg(long, short)]
    pub quiet: bool,
}

/// The values of a scenario that the command line sets.
#[derive(Debug, Args)]
pub struct Set {
    /// Set a key of the scenario, written or not: switch.buffer=2MB, flow.F1.rate=1Gbps; may be given
    /// several times
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, String)>,
}

impl Set {
    /// The source with these values set.
    pub fn apply(&self, source: Source) -> Result<Changed, Problems> {
        let mut changed = Changed::new(source);
        for (key, value) in &self.settings {
            changed.set(key, value)?;
        }
        Ok(changed)
    }
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    Ok((key.trim().to_string(), value.trim().to_string()))
}

/// The arguments of `demo`.
#[derive(Debug, Args)]
#[command(after_help = DEMO_EXAMPLES)]
pub struct DemoArgs {
    /// Use this seed for random numbers
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[arg(long, value_name = "D", value_parser = parse_discipline)]
    #[arg(help = discipline_help("Let packets wait in this way"))]
    pub discipline: Option<Discipline>,
    /// Write the page to this file; by default pauseless-demo.html, or none with --json
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// The arguments of `explain`.
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub struct ExplainArgs {
    /// The scenario, a TOML file
    #[arg(required_unless_present = "paper", conflicts_with = "paper")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub set: Set,
    /// Recompute the numbers of the GFC paper, section 5.4, beside the printed ones
    #[arg(long)]
    pub paper: bool,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

impl RunArgs {
    /// Whether the run is to follow the rules of htsim.
    pub fn is_compat_htsim(&self) -> bool {
        self.compat == Some(CompatWith::Htsim)
    }
}

/// The simulators that a run can be compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompatWith {
    /// Run a replica of the HPCC authors' ns-3 simulator, which writes the files, and this engine
    /// beside it, see docs/hpcc.md
    Hpcc,
    /// Run this engine with the rules of htsim_roce, see docs/htsim.md
    Htsim,
}

/// The formats of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Text with commas, for spreadsheets and scripts
    Csv,
    /// Typed and compressed columns, for pandas, DuckDB and their like
    Parquet,
}

/// A finding that makes a run fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Deny {
    /// Queues that can never move again
    Deadlock,
    /// A packet that did not fit or was dropped to let others move; of `run`, also one lost on a wire
    Loss,
    /// A flow far below its fair rate for long, or a run that is too short to tell
    Starvation,
}

impl From<Deny> for Finding {
    fn from(deny: Deny) -> Finding {
        match deny {
            Deny::Deadlock => Finding::Deadlock,
            Deny::Loss => Finding::Loss,
            Deny::Starvation => Finding::Starvation,
        }
    }
}

fn discipline_help(what: &str) -> String {
    format!("{what}: {}", Discipline::ALL.map(Discipline::name).join(", "))
}

fn parse_discipline(text: &str) -> Result<Discipline, String> {
    Discipline::ALL.into_iter().find(|it| it.name() == text).ok_or_else(|| {
        let names = Discipline::ALL.map(Discipline::name);
        format!("expected {}", names.join(", "))
    })
}

fn parse_document(text: &str) -> Result<Document, String> {
    Document::named(text).ok_or_else(|| {
        let names = Document::ALL.iter().map(Document::name);
        format!("expected {}", Vec::from_iter(names).join(", "))
    })
}

fn parse_congestion(text: &str) -> Result<Scheme, String> {
    Scheme::named(text).ok_or_else(|| format!("expected {}", congestion_names()))
}

fn congestion_help() -> String {
    format!("Use this scheme with its defaults instead: {}", congestion_names())
}

fn congestion_names() -> String {
    Vec::from_iter(Scheme::all().into_iter().map(|scheme| scheme.name())).join(", ")
}

const EXAMPLES: &str = "Examples:
  pauseless check --generate ring:4,hosts_per_switch=1,routing=ecmp
  pauseless demo
  pauseless run scenarios/gfc-ring.toml
  pauseless repro --list
  pauseless explain --paper

Exit status: 0 done, 1 a finding, 2 bad usage or input, 130 interrupted.";

const SCHEMA_EXAMPLES: &str = "Examples:
  pauseless schema
  pauseless schema scenario

Editors with a TOML language server complete and check a scenario that begins
with #:schema ./scenario.schema.json if the schema is in that file.";

const NEW_EXAMPLES: &str = "Examples:
  pauseless new
  pauseless new leaf-spine
  pauseless new torus --out small-torus.toml

Exit status: 0 done, 2 bad usage or input.";

const RUN_EXAMPLES: &str = "Examples:
  pauseless run scenarios/gfc-ring.toml
  pauseless run scenarios/gfc-ring.toml --discipline input-queued --deny loss
  pauseless run scenarios/gfc-ring.toml --set switch.buffer=2MB
  pauseless run scenarios/pcn-fig1.toml --congestion-control dcqcn
  pauseless run scenarios/pcn-fig1.toml --congestion-control none --provenance
  pauseless run scenarios/gfc-ring-buffer.toml --duration \"20 ms\" --out results
  pauseless run scenarios/incast-shared.toml --parquet tables
  pauseless run scenarios/incast-shared.toml --tables tables --format csv
  pauseless run scenarios/gfc-ring.toml --stop-on deadlock,done,steady
  pauseless run scenarios/gfc-ring.toml --animation ring.svg
  pauseless run scenarios/gfc-ring.toml --pcap ring.pcapng
  pauseless run examples/hpcc/ring5_pfc/config.txt --compat hpcc
  pauseless run examples/htsim/incast.cm examples/htsim/leaf_spine.topo

Exit status: 0 done, 1 a denied finding, 2 bad usage or input, 130 interrupted.";

const DEMO_EXAMPLES: &str = "Examples:
  pauseless demo
  pauseless demo --seed 7 --discipline input-queued --out input-queued.html";

const EXPLAIN_EXAMPLES: &str = "Examples:
  pauseless explain scenarios/gfc-ring-buffer.toml
  pauseless explain --paper";
