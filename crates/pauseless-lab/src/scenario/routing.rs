//! The section `[routing]`: a rule, or the tables of the switches.

mod tables;
mod write;

use pauseless_core::table::Hashing;
use pauseless_fabric::routing::{
    Algorithm, Dimensions, HopOrder, Multipath, RouteBuilder, Routing, Spread, TieBreak,
};
use pauseless_fabric::topology::Topology;

use super::hosts::HostSpan;
use super::reader::{Place, Section};
use super::topology::Fabric;
use crate::problem::Sink;

pub(crate) use tables::{Addresses, Tables};
pub(crate) use write::{Address, addresses, facing, spans, write_tables};

/// Where packets go.
#[derive(Clone, Debug)]
pub(crate) enum Written {
    /// By a rule.
    Rule(Routing),
    /// By what each switch was told.
    Tables(Tables),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Shortest,
    Ecmp,
    UpDown,
    DimensionOrder,
    Tables,
}

/// In the order of the variants.
const KINDS: [(&str, Kind); 5] = [
    ("shortest", Kind::Shortest),
    ("ecmp", Kind::Ecmp),
    ("up-down", Kind::UpDown),
    ("dimension-order", Kind::DimensionOrder),
    ("tables", Kind::Tables),
];

/// What `[routing]` is read against.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    pub seed: u64,
    /// `None` if something is wrong with it.
    pub fabric: Option<&'c Fabric>,
    pub sink: &'c Sink,
}

/// What is used where nothing is written.
const DEFAULT: Routing = Routing {
    algorithm: Algorithm::Shortest,
    multipath: LOWEST,
    spread: Spread {
        hashing: Hashing::Mixed,
        order: HopOrder::Port,
    },
};
/// What hashes may be made of.
const HASHES: [(&str, Hashing); 2] = [("name", Hashing::Mixed), ("five-tuple", Hashing::FiveTuple)];
/// How next hops may stand.
const ORDERS: [(&str, HopOrder); 2] = [("port", HopOrder::Port), ("search", HopOrder::Search)];
const LOWEST: Multipath = Multipath::Single {
    tie_break: TieBreak::Lowest,
};

impl Written {
    /// Reads `[routing]`.
    pub(crate) fn read(root: &mut Section<'_>, context: Context<'_>) -> Written {
        let Some(mut section) = root.table("routing") else {
            return Written::Rule(DEFAULT);
        };
        let has_kind = section.has("kind");
        let kind = match section.choice("kind", &KINDS) {
            None if has_kind => {
                section.discard();
                return Written::Rule(DEFAULT);
            }
            found => found,
        };
        let place = kind.as_ref().map_or(&section.place, |kind| &kind.place);
        let place = place.clone();
        let kind = kind.map_or(Kind::Shortest, |kind| kind.value);
        if kind != Kind::Shortest {
            let (name, _) = KINDS[kind as usize];
            section.set_context(format!(" with kind = {name:?}"));
        }
        let written = context.read(&mut section, (kind, &place));
        section.finish();
        written.unwrap_or(Written::Rule(DEFAULT))
    }
}

impl Written {
    /// All lists of hosts in the tables.
    pub(crate) fn spans(&self) -> impl Iterator<Item = HostSpan> + '_ {
        let tables = match self {
            Written::Rule(_) => None,
            Written::Tables(tables) => Some(tables),
        };
        tables.into_iter().flat_map(Tables::spans)
    }

    /// What the paths of flows are added to. Hosts have as many addresses as the tables and
    /// `others` use.
    pub(crate) fn builder<'t>(
        &self,
        topology: &'t Topology,
        others: impl IntoIterator<Item = HostSpan>,
    ) -> RouteBuilder<'t> {
        match self {
            Written::Rule(routing) => RouteBuilder::new(topology, *routing),
            Written::Tables(tables) => {
                let addresses = Addresses::new(topology, self.spans().chain(others));
                RouteBuilder::from_routes(topology, tables.routes(topology, addresses))
            }
        }
    }
}

impl Context<'_> {
    fn read(self, section: &mut Section<'_>, kind: (Kind, &Place)) -> Option<Written> {
        let (algorithm, multipath) = match kind.0 {
            Kind::Shortest => (Algorithm::Shortest, self.single(section)),
            Kind::Ecmp => (Algorithm::Shortest, Multipath::Ecmp),
            Kind::UpDown => {
                let choice = section.choice("multipath", &[("single", false), ("ecmp", true)]);
                let multipath = match choice.is_some_and(|choice| choice.value) {
                    true => {
                        let context = " with kind = \"up-down\" and multipath = \"ecmp\"";
                        section.set_context(context.to_string());
                        Multipath::Ecmp
                    }
                    false => self.single(section),
                };
                (Algorithm::UpDown, multipath)
            }
            Kind::DimensionOrder => {
                let dimensions = self.dimensions(kind.1)?;
                (Algorithm::DimensionOrder(dimensions), LOWEST)
            }
            Kind::Tables => return self.tables(section).map(Written::Tables),
        };
        let spread = match multipath {
            Multipath::Ecmp => read_spread(section),
            Multipath::Single { .. } => Spread::default(),
        };
        Some(Written::Rule(Routing {
            algorithm,
            multipath,
            spread,
        }))
    }

    fn single(self, section: &mut Section<'_>) -> Multipath {
        let choice = section.choice("tie_break", &[("lowest", false), ("seeded", true)]);
        let tie_break = match choice.is_some_and(|choice| choice.value) {
            true => {
                let seed = section.integer("seed", 0..=u64::MAX);
                TieBreak::Seeded(seed.map_or(self.seed, |seed| seed.value))
            }
            false => TieBreak::Lowest,
        };
        Multipath::Single { tie_break }
    }

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

    fn tables(self, section: &mut Section<'_>) -> Option<Tables> {
        let is_written = section.has("tables");
        let Some(mut tables) = section.table("tables") else {
            if !is_written {
                let problem = section.place.problem("there are no tables");
                let help = "add [routing.tables.SWITCH] for each switch";
                section.report(problem.help(help));
            }
            return None;
        };
        match self.fabric {
            Some(fabric) => Tables::read(tables, &fabric.topology, self.sink),
            None => {
                tables.discard();
                None
            }
        }
    }
}

/// Reads how flows are spread over equal next hops.
fn read_spread(section: &mut Section<'_>) -> Spread {
    let hashing = section.choice("hash", &HASHES);
    let order = section.choice("next_hops", &ORDERS);
    Spread {
        hashing: hashing.map_or(Hashing::Mixed, |hashing| hashing.value),
        order: order.map_or(HopOrder::Port, |order| order.value),
    }
}

/// The keys of `[routing]` that say the same as a rule that can be read back on any fabric.
pub(crate) fn written_rule(routing: Routing) -> Vec<(&'static str, &'static str)> {
    let tie_break = match routing.multipath {
        Multipath::Ecmp => None,
        Multipath::Single {
            tie_break: TieBreak::Lowest,
        } => Some("lowest"),
        Multipath::Single {
            tie_break: TieBreak::Seeded(_),
        } => Some("seeded"),
    };
    let mut keys = match (routing.algorithm, tie_break) {
        (Algorithm::Shortest, None) => vec![("kind", "ecmp")],
        (Algorithm::Shortest, Some(tie_break)) => {
            vec![("kind", "shortest"), ("tie_break", tie_break)]
        }
        (Algorithm::UpDown, None) => vec![("kind", "up-down"), ("multipath", "ecmp")],
        (Algorithm::UpDown, Some(tie_break)) => vec![
            ("kind", "up-down"),
            ("multipath", "single"),
            ("tie_break", tie_break),
        ],
        (Algorithm::DimensionOrder(_), _) => vec![("kind", "dimension-order")],
    };
    let Spread { hashing, order } = routing.spread;
    let hash = HASHES.iter().find(|(_, other)| *other == hashing);
    keys.extend(
        hash.filter(|_| hashing != Hashing::Mixed)
            .map(|(name, _)| ("hash", *name)),
    );
    let next_hops = ORDERS.iter().find(|(_, other)| *other == order);
    let next_hops = next_hops.filter(|_| order != HopOrder::Port);
    keys.extend(next_hops.map(|(name, _)| ("next_hops", *name)));
    keys
}
