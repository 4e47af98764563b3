//! The arguments of `plan`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::cycle_aware::MARGIN;
use pauseless_plan::against::Bound;
use pauseless_plan::headroom::{Cells, Reaction, cable};
use pauseless_plan::{Request, Scheme};
use pauseless_text::quantity::{parse_bytes, parse_delay, parse_rate, parse_round_trip};

use super::check::Rule;

/// The arguments of `plan`.
#[derive(Debug, Args)]
#[command(after_help = PLAN_EXAMPLES)]
pub struct PlanArgs {
    /// The files of one fabric, recognised by their content, gzipped or not
    #[arg(value_name = "FILE", required_unless_present_any = ["generate", "paper", "against"])]
    pub files: Vec<PathBuf>,
    /// Plan for a generated fabric instead, such as fat-tree:4 or leaf-spine:leaves=4,spines=2,hosts_per_leaf=8
    #[arg(long, value_name = "SHAPE", conflicts_with = "files")]
    pub generate: Option<String>,
    /// Route by this rule instead of the fabric's own tables or rule
    #[arg(long, value_enum, value_name = "RULE")]
    pub routing: Option<Rule>,
    /// Recompute the numbers of the TTL note, section 2, beside the printed ones
    #[arg(long, conflicts_with_all = ["files", "generate", "against", "prove", "out"])]
    pub paper: bool,
    /// The largest frame; by default the largest MTU of the ports of SONiC files or that of a scenario,
    /// else 1500 B, on InfiniBand 4096 B, and with --against what a port is configured for
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub mtu: Option<Bytes>,
    /// The buffer of each switch
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes, default_value = "32 MB")]
    pub buffer: Bytes,
    /// Another buffer at the switches of this name, such as "spine*=64 MB"; repeatable
    #[arg(long, value_name = "NAME=BYTES", value_parser = parse_buffer_at)]
    pub buffer_at: Vec<(String, Bytes)>,
    /// Lossless classes at every port, instead of what the fabric says; at most 8, on InfiniBand 16
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    pub classes: Option<u8>,
    /// The rate of every link, such as "100 Gbps", instead of what the files say; with --against, only
    /// where they do not say it
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    pub rate: Option<Rate>,
    /// The length of every cable at 5 ns/m, instead of what the fabric says; with --against, only where
    /// the files do not say it
    #[arg(long, value_name = "METRES", value_parser = parse_metres)]
    pub cable: Option<Span>,
    /// The delay of every link, in the same places as --cable
    #[arg(long, value_name = "T", value_parser = parse_delay, conflicts_with = "cable")]
    pub delay: Option<Span>,
    /// How long a sender takes to obey, instead of the limit of 802.3, or SONiC's, at its speed
    #[arg(long, value_name = "T", value_parser = parse_delay)]
    pub processing: Option<Span>,
    /// The same in quanta of 512 bits; the TTL note has 60
    #[arg(long, value_name = "N", conflicts_with = "processing",
          value_parser = clap::value_parser!(u32).range(0..=65_535))]
    pub quanta: Option<u32>,
    /// Show SONiC's form of the headroom too, for cells of this size
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub cell: Option<Bytes>,
    /// The round trip from end to end, for work conservation
    #[arg(long, value_name = "T", value_parser = parse_round_trip, default_value = "50 us")]
    pub rtt: Span,
    /// alpha of dynamic thresholds is 2 to this, as SONiC's dynamic_th
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0,
          value_parser = clap::value_parser!(i8).range(-8..=8))]
    pub dynamic_th: i8,
    /// Fail if one of these does not fit; by default pfc on Ethernet, cbfc on InfiniBand
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SCHEME")]
    pub scheme: Vec<SchemeName>,
    /// Hold deployed values against the plan: SONiC's config_db.json and other dumps, and
    /// pg_profile_lookup.ini, in any mix; needs no fabric
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub against: Vec<PathBuf>,
    /// The bound by which deployed values make the plan exit with 1
    #[arg(long, value_enum, value_name = "BOUND", requires = "against",
          default_value_t = BoundName::WorstCase)]
    pub bound: BoundName,
    /// Other thresholds for the ports on a cycle and for those that feed one: docs/cycle-aware.md
    #[arg(long, conflicts_with = "paper")]
    pub cycle_aware: bool,
    /// With --cycle-aware, plan for the cycles after every single failure too; after it the
    /// fabric routes by this rule
    #[arg(long, value_enum, value_name = "RULE", requires = "cycle_aware", num_args = 0..=1,
          default_missing_value = "ecmp")]
    pub failures: Option<Rule>,
    /// With --cycle-aware, the room to leave: K is to be this many times rho m L
    #[arg(long, value_name = "X", requires = "cycle_aware", default_value_t = MARGIN,
          value_parser = parse_margin)]
    pub margin: f64,
    /// Run the worst case of every port packet by packet and show the buffer's high-water mark
    #[arg(long)]
    pub prove: bool,
    /// Write plan.json and, for each scheme, the sections that `run` takes to this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// The flow controls that can be planned for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemeName {
    /// Priority flow control, IEEE 802.1Qbb
    Pfc,
    /// Credit-based flow control of InfiniBand
    Cbfc,
    /// Buffer-based gentle flow control
    GfcBuffer,
    /// Time-based gentle flow control
    GfcTime,
    /// Conceptual gentle flow control
    GfcConceptual,
}

impl From<SchemeName> for Scheme {
    fn from(name: SchemeName) -> Scheme {
        match name {
            SchemeName::Pfc => Scheme::Pfc,
            SchemeName::Cbfc => Scheme::Cbfc,
            SchemeName::GfcBuffer => Scheme::GfcBuffer,
            SchemeName::GfcTime => Scheme::GfcTime,
            SchemeName::GfcConceptual => Scheme::GfcConceptual,
        }
    }
}

/// The bound by which `plan --against` judges deployed headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BoundName {
    /// The worst case of 802.1Q
    WorstCase,
    /// SONiC's dynamic buffer model, on chips that it knows; 802.1Q's worst case on others
    Sonic,
    /// What the cable alone holds there and back
    Wire,
}

impl From<BoundName> for Bound {
    fn from(name: BoundName) -> Bound {
        match name {
            BoundName::WorstCase => Bound::WorstCase,
            BoundName::Sonic => Bound::Sonic,
            BoundName::Wire => Bound::Wire,
        }
    }
}

impl PlanArgs {
    /// The request that these arguments stand for.
    pub fn request(&self) -> Request {
        let mtu = self.mtu.unwrap_or(Request::default().mtu);
        let reaction = match (self.processing, self.quanta) {
            (Some(span), _) => Reaction::Fixed(span),
            (None, Some(quanta)) => Reaction::Quanta(quanta),
            (None, None) => Reaction::Standard,
        };
        Request {
            mtu,
            buffer: self.buffer,
            buffers: self.buffer_at.clone(),
            classes: self.classes,
            rate: self.rate,
            wire: self.cable.or(self.delay),
            reaction,
            cells: self.cell.map(|cell| Cells { cell, mtu_lossless: mtu, small_percent: 100 }),
            rtt: self.rtt,
            alpha_exponent: self.dynamic_th,
        }
    }
}

fn parse_buffer_at(text: &str) -> Result<(String, Bytes), String> {
    let (name, bytes) = text
        .split_once('=')
        .ok_or_else(|| format!("{text:?} is not NAME=BYTES, such as \"spine*=64 MB\""))?;
    Ok((name.trim().to_string(), parse_bytes(bytes)?))
}

fn parse_margin(text: &str) -> Result<f64, String> {
    let margin = text.trim().parse().ok();
    let margin = margin.filter(|margin| (1.0..=100.0).contains(margin));
    margin.ok_or_else(|| format!("{text:?} is not a number from 1 to 100"))
}

fn parse_metres(text: &str) -> Result<Span, String> {
    let metres = text.trim().strip_suffix('m').map(str::trim_end);
    let metres = metres.and_then(|digits| digits.parse::<u64>().ok());
    let metres = metres.filter(|metres| *metres <= METRES_MAX);
    metres
        .map(cable)
        .ok_or_else(|| format!("{text:?} is not a length in whole metres up to {METRES_MAX} m; write the unit too, such as 300m"))
}

/// The length of the equator in metres, the longest cable.
const METRES_MAX: u64 = 40_000_000;

const PLAN_EXAMPLES: &str = "Examples:
  pauseless plan --generate fat-tree:8 --buffer \"32 MB\" --classes 2 --cable 100m
  pauseless plan --generate line:1,hosts_per_switch=64,rate=400Gbps \\
      --cable 40m --mtu \"9216 B\" --buffer \"64 MB\" --classes 2    # one switch
  pauseless plan examples/ib/dgx-minhop/opensm-subnet.lst.gz \\
      examples/ib/dgx-minhop/opensm.fdbs.gz --rate \"200 Gbps\" --buffer \"64 MB\"
  pauseless plan --generate n-to-1:4,rate=40Gbps --cable 300m --prove --out plan
  pauseless plan --against examples/ethernet/config_db-acs-msn4700-t1.json.gz \\
      examples/ethernet/pg_profile_lookup.ACS-MSN4700.ini
  pauseless plan papers/gfc/fig14.toml --buffer \"2 MB\" --cycle-aware
  pauseless plan --paper

Exit status: 0 it fits, 1 it does not fit, a deployed value can lose packets, or
  cycle-aware thresholds do not hold or say nothing about some cycle, 2 bad
  usage or input, or nothing deployed could be judged.";
