//! The sections `[[traffic]]`: flows that are made by a rule.
//!
//! A section and the seed decide its flows, and nothing else does: not the other sections, not
//! the order of the file, not where a distribution was read from. The resolved scenario therefore
//! has the sections, and not what they made.

mod cdf;
mod chain;
mod closing;
mod collective;
mod list;
mod make;
mod open;
mod pool;
mod random;
mod sizes;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::topology::Topology;
use pauseless_sim::config::Flow;

use super::flows::{Limits, Wanted, check_name};
use super::reader::{At, Place, Section};
use crate::problem::Sink;
pub(crate) use list::inline_rows;
pub(crate) use make::MadePlans;
pub(crate) use sizes::inline;

use chain::ClosedLoop;
use collective::{Collective, Pattern};
use list::List;
use open::{Incast, Poisson};
use sizes::{ClassesBySize, Sizes};

/// `[[traffic]]` as it was written.
#[derive(Debug)]
pub(crate) struct Traffic {
    /// What its flows' names begin with.
    name: String,
    /// Where the name was written, if it was.
    name_place: Option<Place>,
    kind: Kind,
    wanted: Wanted,
    classes: ClassesBySize,
    place: Arc<Place>,
}

#[derive(Debug)]
enum Kind {
    Permutation,
    Closing,
    Poisson(Poisson),
    Incast(Incast),
    ClosedLoop(ClosedLoop),
    Collective(Collective),
    List(List),
}

/// The words for the kinds, before their keys are read.
#[derive(Clone, Copy)]
enum Word {
    Permutation,
    Closing,
    Poisson,
    Incast,
    ClosedLoop,
    Collective(Pattern),
    List,
}

const WORDS: [(&str, Word); 9] = [
    ("permutation", Word::Permutation),
    ("closing", Word::Closing),
    ("poisson", Word::Poisson),
    ("incast", Word::Incast),
    ("closed-loop", Word::ClosedLoop),
    (
        "all-to-all",
        Word::Collective(Pattern::AllToAll { is_shifted: false }),
    ),
    ("ring-all-reduce", Word::Collective(Pattern::Ring)),
    (
        "tree-all-reduce",
        Word::Collective(Pattern::Tree { chunks: 1 }),
    ),
    ("list", Word::List),
];

impl Kind {
    fn word(&self) -> &'static str {
        match self {
            Kind::Permutation => "permutation",
            Kind::Closing => "closing",
            Kind::Poisson(_) => "poisson",
            Kind::Incast(_) => "incast",
            Kind::ClosedLoop(_) => "closed-loop",
            Kind::Collective(collective) => match collective.pattern {
                Pattern::AllToAll { .. } => "all-to-all",
                Pattern::Ring => "ring-all-reduce",
                Pattern::Tree { .. } => "tree-all-reduce",
            },
            Kind::List(_) => "list",
        }
    }
}

impl Traffic {
    /// Reads all sections. Two of one name are reported: a number that told them apart would
    /// depend on their order, or on each other.
    pub(crate) fn read_all(root: &mut Section<'_>, limits: Limits<'_>) -> Vec<Traffic> {
        let sections = root.tables_or_one("traffic").into_iter();
        let traffic = sections.filter_map(|section| Traffic::read(section, limits));
        let mut named: BTreeMap<String, Traffic> = BTreeMap::new();
        for one in traffic {
            if named.contains_key(&one.name) {
                let place = one.name_place.as_ref().unwrap_or(&one.place);
                let problem = place.problem(format!("two [[traffic]] are called {:?}", one.name));
                root.report(problem.help("give each a name of its own"));
                continue;
            }
            named.insert(one.name.clone(), one);
        }
        named.into_values().collect()
    }

    fn read(mut section: Section<'_>, limits: Limits<'_>) -> Option<Traffic> {
        let has_kind = section.has("kind");
        let word = section.choice("kind", &WORDS);
        if !has_kind {
            section.missing("kind", "\"permutation\"");
        }
        let Some(word) = word.map(|word| word.value) else {
            section.discard();
            return None;
        };
        let name = section.string("name");
        let name = name.filter(|name| check_name(&section, name));
        let has_size = section.has("size");
        let wanted = Wanted::read(&mut section, limits);
        let size = (has_size, wanted.terms.size);
        let kind = match word {
            Word::Permutation => Some(Kind::Permutation),
            Word::Closing => Some(Kind::Closing),
            Word::Collective(pattern) => {
                Collective::read(&mut section, pattern, size).map(Kind::Collective)
            }
            Word::List => List::read(&mut section, size.1, limits).map(Kind::List),
            word => {
                let sizes = Sizes::read(&mut section, size, limits.folder);
                match word {
                    Word::Poisson => Poisson::read(&mut section, sizes).map(Kind::Poisson),
                    Word::Incast => Incast::read(&mut section, sizes).map(Kind::Incast),
                    _ => ClosedLoop::read(&mut section, sizes).map(Kind::ClosedLoop),
                }
            }
        };
        let classes = ClassesBySize::read(&mut section, limits);
        let place = Arc::new(section.place.clone());
        if let Some(kind) = &kind {
            section.set_context(format!(" with kind = {:?}", kind.word()));
        }
        section.finish();
        let kind = kind?;
        let (name, name_place) = match name {
            Some(At { value, place }) => (value, Some(place)),
            None => (kind.word().to_string(), None),
        };
        Some(Traffic {
            name,
            name_place,
            kind,
            wanted,
            classes,
            place,
        })
    }

    /// Whether its flows are named after it. Those of a permutation without a name are called
    /// by their ends, as flows without a name are.
    fn is_prefixed(&self) -> bool {
        self.name_place.is_some() || !matches!(self.kind, Kind::Permutation)
    }

    /// Whether its flows may send for ever, which those of the other kinds never do.
    fn is_endless(&self) -> bool {
        let may_be = matches!(self.kind, Kind::Permutation | Kind::Closing);
        may_be && self.wanted.terms.size.is_none()
    }

    /// What to say if none of `flows`, which are in order of name, is of this section.
    pub(crate) fn warning(&self, flows: &[Flow]) -> Option<String> {
        let prefix = format!("{}/", self.name);
        let place = flows.partition_point(|flow| flow.name < prefix);
        let first = flows.get(place);
        let has_flows = first.is_some_and(|flow| flow.name.starts_with(&prefix));
        // The flows of a list may have names of their own, and there always are some.
        let is_list = matches!(self.kind, Kind::List(_));
        let is_idle = self.is_prefixed() && !has_flows && !is_list;
        let name = &self.name;
        is_idle.then(|| format!("traffic {name}: no flow starts before the end of the run"))
    }

    /// Whether flows may begin late because of `timing.start_jitter`: not where instants are what
    /// the section is about.
    fn is_exact(&self) -> bool {
        matches!(self.kind, Kind::Poisson(_) | Kind::Incast(_))
    }

    /// When flows stop although they are not finished. Where flows wait for others, nobody
    /// can know beforehand which of them would start after `stop`, so that it cuts them off.
    fn cut(&self) -> Option<Span> {
        match self.kind {
            Kind::Poisson(_) | Kind::Incast(_) => None,
            _ => self.wanted.terms.stop,
        }
    }
}

/// A flow that was made.
struct Made {
    name: String,
    source: NodeId,
    target: NodeId,
    size: Bytes,
    start: Span,
}

/// One flow waits for another; both by their place in a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub first: u32,
    pub then: u32,
    pub delay: Span,
}

/// What a section made.
#[derive(Default)]
struct Batch {
    flows: Vec<Made>,
    follows: Vec<Link>,
}

/// Where and when a section makes its flows.
struct Scene<'s> {
    topology: &'s Topology,
    seed: u64,
    sink: &'s Sink,
    name: &'s str,
    rate: Option<Rate>,
    packet: Bytes,
    start: Span,
    /// No flow starts then or later.
    end: Span,
}

impl Scene<'_> {
    /// The rate of a host's link.
    fn link(&self, host: NodeId) -> Rate {
        self.topology.ports(host)[0].rate
    }

    /// The pace of a host's flows.
    fn pace(&self, host: NodeId) -> Rate {
        self.rate.unwrap_or(self.link(host))
    }

    /// The last packet of a flow of `size`.
    fn last_packet(&self, size: Bytes) -> Bytes {
        match size.get() % self.packet.get() {
            0 => size.min(self.packet),
            rest => Bytes::new(rest),
        }
    }

    /// How long a flow of `host` lasts at least. The pace is that of the packets' starts, so that
    /// the last one, which may be the only one, leaves as fast as the link can.
    fn lasts(&self, host: NodeId, size: Bytes) -> Span {
        let (pace, link) = (self.pace(host), self.link(host));
        if pace == link {
            return link.tx_span(size);
        }
        let last = self.last_packet(size);
        let paced = pace.tx_span(size - last);
        Span::ps(paced.as_ps().saturating_add(link.tx_span(last).as_ps()))
    }

    /// `NAME/SOURCE->TARGET`.
    fn pair_name(&self, source: NodeId, target: NodeId) -> String {
        let [source, target] = [source, target].map(|node| &self.topology.node(node).name);
        format!("{}/{source}->{target}", self.name)
    }

    /// `NAME/SOURCE->TARGET#NUMBER`.
    fn flow_name(&self, source: NodeId, target: NodeId, number: fmt::Arguments<'_>) -> String {
        format!("{}#{number}", self.pair_name(source, target))
    }
}

/// Above this, neither a run nor its report fits the memory of a workstation.
const FLOWS_MAX: usize = 5_000_000;
/// The same for what flows wait for.
const FOLLOWS_MAX: usize = 20_000_000;
/// The same for the pairs of hosts that `check` looks at.
const PAIRS_MAX: usize = 2_000_000;
