//! Where and when a section of traffic makes its flows, and what it made.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::path::Step;
use pauseless_fabric::topology::Topology;

use super::super::flows::Planner;
use super::Traffic;
use super::pool::Cast;
use pauseless_text::problem::Sink;
use pauseless_text::reader::Place;

/// Above this, neither a run nor its report fits the memory of a workstation.
pub(super) const FLOWS_MAX: usize = 5_000_000;
/// The most waits of flows for others; more do not fit the memory of a workstation.
pub(super) const FOLLOWS_MAX: usize = 20_000_000;
/// The most pairs of hosts that `check` looks at.
pub(super) const PAIRS_MAX: usize = 2_000_000;

/// A flow that was made.
pub struct Made {
    /// The name of the flow.
    pub name: String,
    /// The host that sends.
    pub source: NodeId,
    /// The host that receives.
    pub target: NodeId,
    /// How much it sends; `None` for a flow without end.
    pub size: Option<Bytes>,
    /// The time at which the flow starts.
    pub start: Span,
    /// The class of the flow; `None` for that of the section.
    pub class: Option<u8>,
    /// How it goes; `None` for as the routing says.
    pub(super) way: Option<Box<Way>>,
}

/// How a flow goes if the routing is not to say so.
pub struct Way {
    /// The nodes from source to target.
    pub path: Option<Vec<Step>>,
    /// The nodes from target to source, for acknowledgements and notifications.
    pub return_path: Option<Vec<Step>>,
    /// The place at which the path was written.
    pub place: Arc<Place>,
}

impl Made {
    /// A flow from the first to the second host, in the class and by the way that others have.
    pub fn new(
        name: String,
        [source, target]: [NodeId; 2],
        size: impl Into<Option<Bytes>>,
        start: Span,
    ) -> Made {
        Made { name, source, target, size: size.into(), start, class: None, way: None }
    }

    /// There and back, for comparisons.
    pub(super) fn ways(&self) -> [Option<Vec<Step>>; 2] {
        let way = self.way.as_deref();
        way.map_or([None, None], |way| [way.path.clone(), way.return_path.clone()])
    }
}

/// One flow waits for another; both by their place in a list.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The flow that must be finished.
    pub first: u32,
    /// The flow that waits.
    pub then: u32,
    /// The time between the end of the first and the start of the second.
    pub delay: Span,
}

/// The flows that one section made.
#[derive(Default)]
pub struct Batch {
    /// How many flows there are, or about how many there would be if they were not too many.
    pub count: f64,
    /// The flows, if they are not too many.
    pub flows: Vec<Made>,
    /// The flows that wait for others.
    pub follows: Vec<Link>,
}

impl Batch {
    /// Flows that wait for nothing.
    pub fn of(flows: Vec<Made>) -> Batch {
        Batch { count: flows.len() as f64, flows, follows: Vec::new() }
    }

    /// What `make` makes, unless about `count` flows are too many.
    pub fn about(count: f64, make: impl FnOnce() -> Batch) -> Batch {
        let mut batch = if count <= FLOWS_MAX as f64 { make() } else { Batch::default() };
        // Sections that are fine on their own may be too many together.
        batch.count = match batch.flows.len() {
            0 => count,
            made => made as f64,
        };
        batch
    }
}

/// Two hosts of which one may send to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The host that sends.
    pub source: NodeId,
    /// The host that receives.
    pub target: NodeId,
    /// The smallest size of a flow.
    pub size_min: Bytes,
    /// The largest size of a flow; [`Bytes::MAX`] for one without end.
    pub size_max: Bytes,
}

impl Pair {
    /// All flows from the first to the second host have the same size.
    pub fn of(source: NodeId, target: NodeId, size: Bytes) -> Pair {
        Pair { source, target, size_min: size, size_max: size }
    }
}

/// Where and when a section makes its flows.
pub struct Scene<'s> {
    /// The network, without what is down.
    pub topology: &'s Topology,
    /// The seed of the scenario.
    pub seed: u64,
    pub(super) sink: &'s Sink,
    /// What the names of its flows begin with, and those of its random streams.
    pub name: &'s str,
    /// The pace of its flows, if the section says it.
    pub rate: Option<Rate>,
    /// The size of their packets.
    pub packet: Bytes,
    /// No flow starts before this instant.
    pub start: Span,
    /// No flow starts then or later; zero where pairs of hosts are asked for.
    pub end: Span,
    pub(super) traffic: &'s Traffic,
    pub(super) planner: &'s Planner<'s>,
}

impl fmt::Debug for Scene<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scene").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Scene<'_> {
    /// Where the section begins, for problems that no key is to blame for.
    pub fn place(&self) -> &Place {
        &self.traffic.place
    }

    /// The rate of a host's link.
    pub fn link(&self, host: NodeId) -> Rate {
        self.topology.ports(host)[0].rate
    }

    /// The pace of a host's flows.
    pub fn pace(&self, host: NodeId) -> Rate {
        self.rate.unwrap_or(self.link(host))
    }

    /// The last packet of a flow of `size`.
    pub fn last_packet(&self, size: Bytes) -> Bytes {
        match size.get() % self.packet.get() {
            0 => size.min(self.packet),
            rest => Bytes::new(rest),
        }
    }

    /// How long a flow of `host` lasts at least. The pace is that of the packets' starts, so that
    /// the last one, which may be the only one, leaves as fast as the link can.
    pub fn lasts(&self, host: NodeId, size: Bytes) -> Span {
        let (pace, link) = (self.pace(host), self.link(host));
        if pace == link {
            return link.tx_span(size);
        }
        let last = self.last_packet(size);
        let paced = pace.tx_span(size - last);
        Span::ps(paced.as_ps().saturating_add(link.tx_span(last).as_ps()))
    }

    /// The name of the flows between two hosts: `NAME/SOURCE->TARGET`.
    pub fn pair_name(&self, source: NodeId, target: NodeId) -> String {
        let [source, target] = [source, target].map(|node| &self.topology.node(node).name);
        format!("{}/{source}->{target}", self.name)
    }

    /// The name of one flow between two hosts: `NAME/SOURCE->TARGET#NUMBER`.
    pub fn flow_name(&self, source: NodeId, target: NodeId, number: fmt::Arguments<'_>) -> String {
        format!("{}#{number}", self.pair_name(source, target))
    }

    /// One flow for each of `pairs` and each class of its sizes; about `count` of them.
    pub(super) fn pairs(&self, count: f64, pairs: impl IntoIterator<Item = Pair>) -> Batch {
        let classes = &self.traffic.keys.classes_by_size.value;
        let pairs = pairs.into_iter().flat_map(|pair| {
            let sizes = pair.size_min..=pair.size_max;
            let classes = classes.classes(&sizes, self.traffic.terms.class).into_iter();
            classes.map(move |class| (pair.source, pair.target, class))
        });
        let mut pairs = Vec::from_iter(pairs);
        pairs.sort_unstable();
        pairs.dedup();
        let flows = pairs.into_iter().map(|(source, target, class)| {
            let name = self.flow_name(source, target, format_args!("{class}"));
            let class = Some(class);
            Made { class, ..Made::new(name, [source, target], None, self.start) }
        });
        Batch { count, ..Batch::of(flows.collect()) }
    }

    /// One flow for every source and each of its targets, unless they are too many.
    pub(super) fn pairs_of(&self, cast: &Cast<'_>, sizes: RangeInclusive<Bytes>) -> Batch {
        let count = cast.sources.len() as f64 * cast.targets.len() as f64;
        let (size_min, size_max) = sizes.into_inner();
        let sources = cast.sources.hosts().take_while(|_| count <= PAIRS_MAX as f64);
        let pairs = sources.flat_map(|source| {
            let targets = cast.targets.partners(source);
            targets.map(move |target| Pair { source, target, size_min, size_max })
        });
        self.pairs(count, pairs)
    }
}
