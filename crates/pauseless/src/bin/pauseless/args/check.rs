//! The arguments of `check` and `convert`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use pauseless_check::advice::Kind;
use pauseless_check::sweep::Amount;
use pauseless_check::transient::Options as Transient;
use pauseless_compat::htsim::Options;
use pauseless_fabric::dependency::PortChoice;
use pauseless_fabric::reroute::Reroute;
use pauseless_fabric::routing::{Algorithm, Multipath, Routing, TieBreak};

/// The arguments of `check`.
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// The files of one fabric, recognised by their content, packed or not; folders and tar archives
    /// of them; - for the standard input
    #[arg(value_name = "FILE", required_unless_present = "generate")]
    pub files: Vec<PathBuf>,
    /// Check a generated fabric instead, such as fat-tree:4 or ring:switches=4,hosts_per_switch=1; repeatable
    #[arg(long, value_name = "SHAPE", conflicts_with = "files")]
    pub generate: Vec<String>,
    /// Route by this rule instead of the fabric's own tables or rule
    #[arg(long, value_enum, value_name = "RULE")]
    pub routing: Option<Rule>,
    /// When switches choose among several ports that a packet may take (adaptive routing, ECMP): this
    /// decides which cycles can deadlock
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Choose::WhenQueued)]
    pub choose: Choose,
    /// Blocked packets may change to a further class, an escape class, which is routed by this rule
    #[arg(long, value_enum, value_name = "RULE", conflicts_with = "failures")]
    pub escape: Option<Rule>,
    /// Leave out these end nodes: names, with * for any text; repeatable
    #[arg(long, value_name = "NAME")]
    pub leave_out: Vec<String>,
    /// Look at these end nodes only; repeatable
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Look at these flows only, SOURCE:TARGET; repeatable
    #[arg(long, value_name = "FLOW")]
    pub flow: Vec<String>,
    /// Check after failures: 1 for every single link and switch; with --samples, a number of
    /// links or a share such as 5%
    #[arg(long, value_name = "N", value_parser = parse_failing)]
    pub failures: Option<Failing>,
    /// How many random sets of failures to try
    #[arg(long, value_name = "M", requires = "failures",
          value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub samples: Option<u64>,
    /// How the fabric routes after failures; by default by its own rule, or ecmp if it has tables
    #[arg(long, value_enum, value_name = "RULE", requires = "failures")]
    pub reroute: Option<Rule>,
    /// The seed of random failures and of random tie-breaks
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Of SONiC dual-ToR pairs, leave out packets that bounce through the tunnel to the other ToR;
    /// --routing and --failures leave them out, too
    #[arg(long)]
    pub no_tunnels: bool,
    /// Take the routes of this VRF, if the files have several; by default those of `default`
    #[arg(long, value_name = "NAME")]
    pub vrf: Option<String>,
    /// All packets of this InfiniBand fabric use one service level, though no file says so
    #[arg(long, conflicts_with = "generate")]
    pub one_lane: bool,
    /// What makes the check exit with 1
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',',
          default_values_t = DenyFault::USUAL)]
    pub deny: Vec<DenyFault>,
    /// What does not make it exit with 1, though --deny says so
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub allow: Vec<DenyFault>,
    /// Simulate the fewest flows that close each cycle: does it deadlock in fact?
    #[arg(long)]
    pub confirm: bool,
    /// With --failures 1: simulate each failure while switches learn of it one after the other, in
    /// several orders
    #[arg(long, requires = "confirm", requires = "failures")]
    pub transient: bool,
    /// How many orders of each failure --transient tries
    #[arg(long, value_name = "N", requires = "transient", default_value_t = Transient::default().orders,
          value_parser = parse_orders)]
    pub orders: usize,
    /// How many failures --transient simulates at most, those with most buffers in cycles
    #[arg(long, value_name = "N", requires = "transient",
          default_value_t = Transient::default().failures_max)]
    pub transient_failures: usize,
    /// Write the scenario that was simulated to this file, for `run`
    #[arg(long, value_name = "FILE", requires = "confirm")]
    pub confirm_out: Option<PathBuf>,
    /// Write the files with which opensm carries out this proposal of the report to the folder of
    /// --out, if it helps
    #[arg(long, value_enum, value_name = "KIND", requires = "out", conflicts_with_all = ["failures", "generate"])]
    pub fix: Option<Fix>,
    /// The folder for the files of --fix
    #[arg(long, value_name = "DIR", requires = "fix")]
    pub out: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
    /// Write the findings to this file as SARIF 2.1.0
    #[arg(long, value_name = "FILE", conflicts_with = "failures")]
    pub sarif: Option<PathBuf>,
    /// Draw the fabric with its first cycle to this file, as SVG
    #[arg(long, value_name = "FILE", conflicts_with = "failures")]
    pub svg: Option<PathBuf>,
    /// Print the verdict only
    #[arg(long, short)]
    pub quiet: bool,
}

/// When a switch chooses among the ports that a packet may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Choose {
    /// When the packet is put into an egress queue: any cycle counts (union rule)
    WhenQueued,
    /// Whenever it is at the head of an input queue: only a knot counts (knot rule)
    AtHead,
}

impl Choose {
    /// The choice as the library knows it.
    pub fn choice(self) -> PortChoice {
        match self {
            Choose::WhenQueued => PortChoice::WhenQueued,
            Choose::AtHead => PortChoice::AtHead,
        }
    }
}

/// A finding that makes a check fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DenyFault {
    /// A cyclic buffer dependency
    Cycle,
    /// A cyclic buffer dependency on one lane, in tables that may have been made for several, without
    /// the service levels of paths
    Undecided,
    /// Routes that send packets in a circle
    Loop,
    /// Packets that get to a switch without a route for them
    BlackHole,
    /// Packets that come down to a switch and go up again
    Valley,
    /// Packets whose priority changes on the way
    ClassChange,
    /// Packets of a lossless class that come into a buffer that drops
    Lossy,
    /// Pairs of end nodes without a route
    Unroutable,
    /// The former name of `unroutable`
    #[value(hide = true)]
    Unrouted,
    /// A failure that deadlocks in some order in which switches learn of it
    Transient,
    /// Packets that go where no file says what becomes of them
    Unknown,
}

/// The kinds of proposals for which there are files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fix {
    /// Up*/down* routing from the best roots: a root_guid_file
    Updn,
    /// Service levels of their own for the end nodes to blame: a QoS policy
    Class,
    /// The end nodes to blame in a partition apart: partitions.conf
    LeaveOut,
    /// Layered routing of our own: forwarding tables and a QoS policy
    Layers,
}

impl Fix {
    /// The kind as the library knows it.
    pub fn kind(self) -> Kind {
        match self {
            Fix::Updn => Kind::UpDown,
            Fix::Class => Kind::Class,
            Fix::LeaveOut => Kind::LeaveOut,
            Fix::Layers => Kind::Layers,
        }
    }
}

impl DenyFault {
    /// The name by which this is called today.
    pub fn today(self) -> DenyFault {
        match self {
            DenyFault::Unrouted => DenyFault::Unroutable,
            other => other,
        }
    }

    /// What makes a check fail unless the user says otherwise.
    pub const USUAL: [DenyFault; 9] = [
        DenyFault::Cycle,
        DenyFault::Undecided,
        DenyFault::Loop,
        DenyFault::BlackHole,
        DenyFault::Valley,
        DenyFault::ClassChange,
        DenyFault::Lossy,
        DenyFault::Unroutable,
        DenyFault::Transient,
    ];
}

/// The arguments of `convert`.
#[derive(Debug, Args)]
#[command(after_help = CONVERT_EXAMPLES)]
pub struct ConvertArgs {
    /// The files of one fabric, recognised by their content, packed or not; folders and tar archives
    /// of them; - for the standard input
    #[arg(value_name = "FILE", required_unless_present = "generate")]
    pub files: Vec<PathBuf>,
    /// Convert a generated fabric instead, such as fat-tree:4
    #[arg(long, value_name = "SHAPE", conflicts_with = "files")]
    pub generate: Option<String>,
    /// The rule by which the fabric routes, where the files have no routes
    #[arg(long, value_enum, value_name = "RULE")]
    pub routing: Option<Rule>,
    /// Take the routes of this VRF, if the files have several; by default those of `default`
    #[arg(long, value_name = "NAME")]
    pub vrf: Option<String>,
    /// What htsim_roce is told on its command line, see docs/htsim.md
    #[arg(long, value_name = "KEY=VALUE,..")]
    pub htsim: Option<Options>,
    /// The format to write
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ConvertFormat::Fabric)]
    pub to: ConvertFormat,
    /// Write to this file instead of the standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The formats that a fabric can be converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConvertFormat {
    /// Our own fabric file, TOML
    Fabric,
    /// GraphML, for graph tools
    Graphml,
    /// The scenario that `run` makes of the config.txt of an ns-3 simulator of the HPCC family, or of
    /// the files of htsim
    Scenario,
    /// The same as `run --compat htsim` makes it, for files of htsim only
    CompatScenario,
}

/// The number or share of links that fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failing(pub Amount);

/// The rules by which a fabric can route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Rule {
    /// One shortest path, of equal ones a random one per switch and target
    Shortest,
    /// One shortest path, of equal ones that with the lowest port
    Lowest,
    /// All shortest paths, chosen by the hash of a flow
    Ecmp,
    /// Never up after down, all such paths
    UpDown,
    /// Only the switches next to a failure change anything
    Detour,
}

impl Rule {
    /// The rule as the fabric crate knows it; `None` for detours, which apply only at failures.
    pub fn routing(self, seed: u64) -> Option<Routing> {
        let single = |tie_break| Routing::from(Multipath::Single { tie_break });
        match self {
            Rule::Shortest => Some(single(TieBreak::Seeded(seed))),
            Rule::Lowest => Some(single(TieBreak::Lowest)),
            Rule::Ecmp => Some(Routing::from(Multipath::Ecmp)),
            Rule::UpDown => {
                Some(Routing { algorithm: Algorithm::UpDown, multipath: Multipath::Ecmp })
            }
            Rule::Detour => None,
        }
    }

    /// The reaction to failures that this rule stands for.
    pub fn reroute(self, seed: u64) -> Reroute {
        match self.routing(seed) {
            Some(routing) => Reroute::Rule(routing),
            None => Reroute::LocalDetour,
        }
    }
}

fn parse_orders(text: &str) -> Result<usize, String> {
    let count = text.trim().parse().ok().filter(|count| (2..=100_000).contains(count));
    count.ok_or_else(|| format!("{text:?} is not a number of orders from 2 to 100000"))
}

fn parse_failing(text: &str) -> Result<Failing, String> {
    let wrong = || format!("{text:?} is neither a number of links nor a share such as 5%");
    let Some(share) = text.trim().strip_suffix('%') else {
        let count = text.trim().parse().ok().filter(|count| *count > 0);
        return Ok(Failing(Amount::Count(count.ok_or_else(wrong)?)));
    };
    let percent: f64 = share.trim().parse().map_err(|_| wrong())?;
    if !(percent > 0.0 && percent <= 100.0) {
        return Err(format!("{text:?} is not a share above 0 % and up to 100 %"));
    }
    Ok(Failing(Amount::Share((percent * 1e4).round().max(1.0) as u32)))
}

const CHECK_EXAMPLES: &str = "Examples:
  pauseless check examples/ib/dgx-minhop/opensm-subnet.lst.gz \\
      examples/ib/dgx-minhop/opensm.fdbs.gz
  pauseless check papers/gfc/fig14.toml --confirm --sarif fig11.sarif
  pauseless check --generate ring:6,hosts_per_switch=1,routing=ecmp --svg r.svg
  pauseless check examples/ib/ring4-minhop/opensm-subnet.lst \\
      examples/ib/ring4-minhop/opensm.fdbs --fix updn --out fix
  pauseless check --generate fat-tree:8 --failures 1 --reroute ecmp
  pauseless check --generate fat-tree:4 --failures 5% --samples 1000
  pauseless check --generate leaf-spine:4,spines=2,hosts_per_leaf=2 \\
      --routing ecmp --failures 1 --confirm --transient --confirm-out loop.toml
  tar c /var/tmp/ibdiagnet2 | pauseless check -
  pauseless check examples/ethernet/sonic-pod/pod-*.json \\
      examples/ethernet/sonic-pod/routes-valley/*.json

Files: ibnetdiscover (also -p), iblinkinfo, opensm-subnet.lst, .fdbs, .far,
  ibdiagnet2.db_csv, dump_lfts, ibroute, opensm-lfts.dump, opensm-sl2vl.dump,
  psl, slvl, saquery -p, saquery SL2VL, smpquery sl2vl, opensm.log; folders
  (such as ibdiagnet's) and tar archives (gzip, xz, zstd); SONiC
  config_db.json and pg_profile_lookup.ini with containerlab, Batfish layer-1 or
  NetQ wiring, lldpctl -f json or show lldp table; routes as FRR (show ip
  route json, show bgp json), SONiC's APPL_DB, ip -j route and Batfish write
  them, each file named after its switch (leaf1.json) where it does not say so
  itself; fabric files and scenarios of our own. See docs/check.md.

Exit status: 0 nothing of --deny was found, 1 something was, 2 bad usage or
  input, 130 interrupted.";

const CONVERT_EXAMPLES: &str = "Examples:
  pauseless convert examples/ib/dgx-minhop/opensm-subnet.lst.gz \\
      examples/ib/dgx-minhop/opensm.fdbs.gz -o dgx.toml
  pauseless convert --generate fat-tree:4 --to graphml

Exit status: 0 done, 2 bad usage or input.";
