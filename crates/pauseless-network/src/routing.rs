//! The section `[routing]`: a rule, or the tables of the switches.

mod tables;
mod write;

use pauseless_fabric::routing::{
    Algorithm, Dimensions, Multipath, RouteBuilder, Routing, TieBreak,
};
use pauseless_fabric::topology::Topology;

use super::hosts::HostSpan;
use super::topology::BuiltTopology;
use pauseless_text::declare::{
    At, Choice, Declared, Entry, Filled, Info, Key, LongList, Map, Place, Section, Variant, Written,
};
use pauseless_text::problem::Sink;
use pauseless_text::variant;
use pauseless_text::{section, words};

pub use tables::{Addresses, Tables};
pub use write::{Address, addresses, facing, spans};

/// The name of the section.
pub const NAME: &str = "routing";

/// `[routing]` as it was written.
#[derive(Clone, Debug)]
pub enum Rule {
    /// Packets take one of the shortest paths.
    Shortest(SinglePath),
    /// Flows are spread over all shortest paths by a hash.
    /// All of them, by a hash of the flow.
    Ecmp,
    /// Packets take one of the paths that go up, then down.
    UpDown(SinglePath),
    /// Flows are spread over all paths that go up, then down.
    UpDownEcmp,
    /// Packets of a torus or mesh correct one dimension after the other.
    DimensionOrder,
    /// The file has the forwarding table of every switch.
    Tables(TableKeys),
}

/// How many equally good next hops are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathCount {
    /// One, which [`Tie`] chooses.
    Single,
    /// All of them, by a hash of the flow.
    Ecmp,
}

/// Which of equally good next hops is the single one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// The one with the lowest port number.
    Lowest,
    /// A random one, drawn from the seed of the routing.
    Seeded,
}

words! { PathCount { "single" => PathCount::Single, "ecmp" => PathCount::Ecmp } }
words! { Tie { "lowest" => Tie::Lowest, "seeded" => Tie::Seeded } }

section! {
    /// Up*/down*: never up again after down, in the order of a tree, so that no cycle can form.
    pub struct Paths {
        /// Whether one of equally good next hops is used, or with `"ecmp"` all of them.
        multipath: PathCount, default PathCount::Single;
    }
}

section! {
    /// One shortest path for each switch and target.
    pub struct SinglePath {
        /// Which of equally good next hops is used; the `"lowest"` port number, or `"seeded"`, a random
        /// one for each switch and target.
        tie_break: Tie, default Tie::Lowest;
        /// What seeded paths are drawn from, so that the routes can stay while flows and jitter vary.
        seed: u64, derived "the general `seed`", when |keys| keys.tie_break.value == Tie::Seeded;
    }
}

section! {
    /// By the switches' own tables; see [fabric.md](fabric.md).
    pub struct TableKeys {
        /// For each switch by next hop the hosts that are reached by it; `[routing.tables.S1]` with
        /// `S2 = ["H5..H9"]`.
        tables: Map<Map<LongList<String>>>,
            within "a list of hosts, such as [\"H1\", \"H3..H5\"]";
    }
}

impl Default for Rule {
    fn default() -> Rule {
        Rule::Shortest(SinglePath::default())
    }
}

/// All kinds, in the order of the documents.
pub fn kinds() -> Choice<Rule> {
    Choice { key: "kind", default: Some(KINDS[0].name), variants: KINDS.iter().collect() }
}

static KINDS: [Variant<Rule>; 5] = [
    variant!("shortest": Rule::Shortest[SinglePath]),
    variant!(
        "ecmp": Rule::Ecmp,
        "All shortest paths, chosen by the hash of the flow's name."
    ),
    Variant {
        name: "up-down",
        info: || Info { keys: [Paths::keys(), SinglePath::keys()].concat(), ..Paths::info() },
        read: |section| match Paths::read(section).multipath.value {
            PathCount::Single => Some(Rule::UpDown(SinglePath::read(section))),
            PathCount::Ecmp => {
                let context = " with kind = \"up-down\" and multipath = \"ecmp\"";
                section.set_context(context.to_string());
                Some(Rule::UpDownEcmp)
            }
        },
        keys_of: |rule| match rule {
            Rule::UpDown(keys) => Some(Box::new((Paths::of(PathCount::Single), keys.clone()))),
            Rule::UpDownEcmp => Some(Box::new(Paths::of(PathCount::Ecmp))),
            _ => None,
        },
    },
    variant!(
        "dimension-order": Rule::DimensionOrder,
        "Along x, then y, then z, the shorter way round; only on a `torus` or `mesh`."
    ),
    variant!("tables": Rule::Tables[TableKeys]),
];

impl Paths {
    fn of(count: PathCount) -> Paths {
        Paths { multipath: Filled::new(count), ..Paths::default() }
    }
}

/// The whole section, for documents and schemas.
pub fn info() -> Info {
    Info { variants: Some(kinds().describe()), ..Info::without_keys("Where packets go.") }
}

/// What `[routing]` says, held against a topology.
#[derive(Clone, Debug)]
pub enum Forwarding {
    /// A routing rule that gives every path.
    Rule(Routing),
    /// The forwarding tables that were written for each switch.
    Tables(Tables),
}

/// What `[routing]` is held against.
#[derive(Clone, Copy)]
pub struct Context<'c> {
    /// The seed of the scenario, for rules that have none of their own.
    pub seed: u64,
    /// `None` if something is wrong with it.
    pub fabric: Option<&'c BuiltTopology>,
    /// Takes what is wrong with the section.
    pub sink: &'c Sink,
}

impl Written for Rule {
    fn entries(&self) -> Vec<Entry> {
        kinds().entries(self)
    }
}

impl Rule {
    /// Reads `[routing]`; the place is that of its kind.
    pub fn read(root: &mut Section<'_>) -> At<Rule> {
        let Some(mut section) = root.table(NAME) else {
            return At::of(Rule::default());
        };
        let Some(At { value: kind, place }) = kinds().take(&mut section) else {
            return At::of(Rule::default());
        };
        let rule = (kind.read)(&mut section);
        if let Some(Rule::Tables(keys)) = &rule
            && !keys.tables.is_written
        {
            let problem = section.place.problem("there are no tables");
            section.report(problem.help("add [routing.tables.SWITCH] for each switch"));
        }
        section.finish();
        let value = rule.unwrap_or_default();
        At { value, place }
    }

    /// The keys that say the same as a rule that can be read back on any fabric, in a file with this
    /// general seed.
    pub fn of(routing: Routing, general_seed: u64) -> Rule {
        let single = match routing.multipath {
            Multipath::Ecmp => None,
            Multipath::Single { tie_break } => Some(SinglePath::of(tie_break, general_seed)),
        };
        match (routing.algorithm, single) {
            (Algorithm::Shortest, None) => Rule::Ecmp,
            (Algorithm::Shortest, Some(single)) => Rule::Shortest(single),
            (Algorithm::UpDown, None) => Rule::UpDownEcmp,
            (Algorithm::UpDown, Some(single)) => Rule::UpDown(single),
            (Algorithm::DimensionOrder(_), _) => Rule::DimensionOrder,
        }
    }

    /// Holds the rule against the fabric; `place` is that of its kind. What is wrong is reported, and
    /// then paths are shortest ones.
    pub fn resolve(&self, place: &Place, context: Context<'_>) -> Forwarding {
        let forwarding = match self {
            Rule::Tables(keys) => keys.resolve(context).map(Forwarding::Tables),
            rule => rule.routing(place, context).map(Forwarding::Rule),
        };
        forwarding.unwrap_or(Forwarding::Rule(DEFAULT))
    }

    fn routing(&self, place: &Place, context: Context<'_>) -> Option<Routing> {
        let algorithm = match self {
            Rule::Shortest(_) | Rule::Ecmp => Algorithm::Shortest,
            Rule::UpDown(_) | Rule::UpDownEcmp => Algorithm::UpDown,
            Rule::DimensionOrder => Algorithm::DimensionOrder(context.dimensions(place)?),
            Rule::Tables(_) => return None,
        };
        let multipath = match self {
            Rule::Shortest(keys) | Rule::UpDown(keys) => keys.multipath(context.seed),
            Rule::Ecmp | Rule::UpDownEcmp => Multipath::Ecmp,
            Rule::DimensionOrder | Rule::Tables(_) => LOWEST,
        };
        Some(Routing { algorithm, multipath })
    }
}

impl SinglePath {
    fn of(tie_break: TieBreak, general_seed: u64) -> SinglePath {
        let (tie, seed) = match tie_break {
            TieBreak::Lowest => (Tie::Lowest, None),
            TieBreak::Seeded(seed) => (Tie::Seeded, Some(seed)),
        };
        let seed = seed.filter(|seed| *seed != general_seed);
        SinglePath {
            tie_break: Filled::new(tie),
            seed: seed.map_or(Key::default(), Key::of),
            ..SinglePath::default()
        }
    }

    fn multipath(&self, general_seed: u64) -> Multipath {
        let tie_break = match self.tie_break.value {
            Tie::Lowest => TieBreak::Lowest,
            Tie::Seeded => TieBreak::Seeded(self.seed.or(general_seed)),
        };
        Multipath::Single { tie_break }
    }
}

impl Context<'_> {
    fn dimensions(self, place: &Place) -> Option<Dimensions> {
        let shape = self.fabric?.shape.as_ref();
        let dimensions = shape.and_then(|(shape, _)| shape.dimensions());
        if dimensions.is_none() {
            let message = "only a torus or mesh has dimensions to route by";
            let help = "choose another kind of routing, or topology.kind = \"torus\"";
            self.sink.push(place.problem(message).help(help));
        }
        dimensions
    }
}

impl Forwarding {
    /// The rule, if it is one.
    pub fn rule(&self) -> Option<Routing> {
        match self {
            Forwarding::Rule(rule) => Some(*rule),
            Forwarding::Tables(_) => None,
        }
    }

    /// Whether packets arrive wherever their first switch has a next hop, because every next hop is
    /// closer to their target. Tables and failures on a torus may say anything.
    pub fn leads_closer(&self) -> bool {
        self.rule().is_some_and(|rule| match rule.algorithm {
            Algorithm::Shortest | Algorithm::UpDown => true,
            Algorithm::DimensionOrder(_) => false,
        })
    }

    /// All lists of hosts in the tables.
    pub fn spans(&self) -> impl Iterator<Item = HostSpan> + '_ {
        let tables = match self {
            Forwarding::Rule(_) => None,
            Forwarding::Tables(tables) => Some(tables),
        };
        tables.into_iter().flat_map(Tables::spans)
    }

    /// What the paths of flows are added to. Hosts have as many addresses as the tables and
    /// `others` use.
    pub fn builder<'t>(
        &self,
        topology: &'t Topology,
        others: impl IntoIterator<Item = HostSpan>,
    ) -> RouteBuilder<'t> {
        match self {
            Forwarding::Rule(routing) => RouteBuilder::new(topology, *routing),
            Forwarding::Tables(tables) => {
                let addresses = Addresses::new(topology, self.spans().chain(others));
                RouteBuilder::from_routes(topology, tables.routes(topology, addresses))
            }
        }
    }
}

/// What is used where nothing is written.
const DEFAULT: Routing = Routing { algorithm: Algorithm::Shortest, multipath: LOWEST };
const LOWEST: Multipath = Multipath::Single { tie_break: TieBreak::Lowest };
