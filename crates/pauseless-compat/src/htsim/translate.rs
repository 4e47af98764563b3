//! From what the files say to a scenario.

use std::sync::Arc;

use pauseless_core::transport::Finish;
use pauseless_core::unit::{Bytes, Span};
use pauseless_fabric::topology::NodeKind;
use pauseless_sim::config::Ties;

use super::matrix::{Flow, Matrix};
use super::options::Options;
use super::paths::Hops;
use super::topo::Tree;
use pauseless_scenario::congestion::{self, FeedbackClass};
use pauseless_scenario::custom::{Custom, Link, Node};
use pauseless_scenario::flow_control::{self, Pfc};
use pauseless_scenario::flows::{self, FirstAtOnce, Timing};
pub use pauseless_scenario::routing::{self, Rule};
use pauseless_scenario::switch::{self, Switch};
pub use pauseless_scenario::topology::{self, Layout, Network, Pair};
use pauseless_scenario::traffic::{self, FlowName, List, Listed, Named, OfEachFlow, Row, Rows};
use pauseless_scenario::transport;
use pauseless_scenario::{General, ScenarioFile, chosen};
use pauseless_text::declare::{Entry, Filled, Key, Place, Tables, Written};
use pauseless_text::problem::FileId;
use pauseless_text::source::Source;

/// What goes into a scenario.
pub(super) struct Parts {
    pub matrix: Matrix,
    pub tree: Tree,
    pub hops: Option<Hops>,
    pub options: Options,
}

/// Bytes that a packet has beside its payload, and an acknowledgement has at all.
const HEADER: Bytes = Bytes::new(64);
/// Packets that fit an ingress, more than PFC ever lets in.
const INGRESS_PACKETS: u64 = 2_000;

impl Parts {
    /// The scenario, every value of a file at its place there. The matrix is the first of `sources`.
    pub(super) fn scenario(&self, sources: Arc<[Source]>) -> ScenarioFile {
        let Options { mtu, end, .. } = self.options;
        let comment = "Made from files of htsim; docs/htsim.md has what is the same as there.";
        let mut file = ScenarioFile::new(comment, sources);
        file.keys(&General {
            title: Key::of("imported from a traffic matrix of htsim".to_string()),
            duration: Key::of(end),
            mtu: Filled::new(mtu + HEADER),
            ..General::default()
        });
        file.table(topology::NAME, &self.network().entries());
        let rule = Rule::Ecmp;
        file.table(routing::NAME, &rule.entries());
        file.table(switch::SECTION, &self.switch());
        file.table(flow_control::SECTION, &self.flow_control());
        file.table(congestion::SECTION, &congestion());
        file.table(
            transport::SECTION,
            &transport::Keys {
                finish: Filled::new(Finish::Source),
                ack_size: Filled::new(HEADER),
                ..transport::Keys::default()
            },
        );
        let ties = if self.options.is_compat { Ties::Arrivals } else { Ties::Control };
        file.table(
            flows::TIMING,
            &Timing {
                start_jitter: Filled::new(Span::ZERO),
                ties: Filled::new(FirstAtOnce(ties)),
                ..Timing::default()
            },
        );
        file.one_of(traffic::SECTION, &self.traffic());
        file
    }

    fn switch(&self) -> Switch {
        let mut switch = Switch {
            buffer: Key::of(self.options.mtu * INGRESS_PACKETS),
            processing: Filled::new(Span::ZERO),
            ..Switch::default()
        };
        if self.options.is_compat {
            // Pauses take no place on the wire, and wait for nothing.
            switch.control_frame = Filled::new(Bytes::ZERO);
        }
        switch
    }

    fn flow_control(&self) -> impl Written + Default + use<> {
        let Options { mtu, low, high, .. } = self.options;
        let kind = flow_control::schemes().kind(&flow_control::PFC, &Place::default());
        let common = flow_control::Common {
            unsafe_parameters: Filled::new(true),
            ..flow_control::Common::default()
        };
        let pfc = Pfc { xoff: Key::of(mtu * high), xon: Key::of(mtu * low), ..Pfc::default() };
        (vec![kind], (common, pfc))
    }

    fn traffic(&self) -> Vec<Entry> {
        let mut keys = OfEachFlow::default();
        if self.options.rate < self.tree.links[0].rate {
            keys.common.rate = Key::of(self.options.rate);
        }
        let names = names(&self.matrix.flows);
        let flows = self.matrix.flows.iter().zip(&names).zip(1..);
        let rows = flows.map(|((flow, name), number)| self.row(flow, name, number, &names));
        let rows = Rows {
            list: rows.collect(),
            hosts: (0..self.tree.hosts).map(|host| format!("H{host}")).collect(),
        };
        let name = Named { name: Key::of(FlowName("htsim".to_string())), ..Named::default() };
        let list: traffic::AnyKind = Box::new(List {
            rows: Key::of(Listed::imported(rows, FileId::default(), self.ways())),
            ..List::default()
        });
        [name.entries(), traffic::kinds().entries(&list), chosen(&keys)].concat()
    }

    fn row(&self, flow: &Flow, name: &str, number: u32, names: &[String]) -> Row {
        let Options { mtu, has_starts, .. } = self.options;
        let packets = flow.size.div_ceil(mtu.get());
        let after = Vec::from_iter(flow.after.iter().map(|first| names[*first].as_str())).join(",");
        let start = flow.start.filter(|_| has_starts).unwrap_or(0);
        let way = |from: u64, to: u64| {
            let hops = self.hops.as_ref()?;
            self.way(hops, flow.id.unwrap_or(0), [from, to])
        };
        Row {
            line: number,
            at: flow.at,
            source: flow.source as u32,
            target: flow.target as u32,
            size: Some((mtu + HEADER) * packets),
            start: Span::ps(start),
            name: Some(name.into()),
            after: Some(after).filter(|after| !after.is_empty()).map(Into::into),
            path: way(flow.source, flow.target),
            return_path: way(flow.target, flow.source),
            ..Row::default()
        }
    }

    /// Where the way of each flow was written; empty without a file of ways.
    fn ways(&self) -> Vec<Place> {
        let Some(hops) = &self.hops else {
            return Vec::new();
        };
        let ways = self.matrix.flows.iter().map(|flow| {
            let id = flow.id.unwrap_or(0);
            let way = [flow.target, flow.source].map(|to| hops.get(&(id, to)));
            let way = way.into_iter().flatten().next();
            way.map_or(Place::default(), |way| way.place.clone())
        });
        ways.collect()
    }

    /// The switches from one host to the other, if they are known.
    fn way(&self, hops: &Hops, id: u64, [from, to]: [u64; 2]) -> Option<Box<str>> {
        let [first, last] = [from, to].map(|host| host / self.tree.hosts_per_lower);
        let name = format!("LS{first}");
        match hops.get(&(id, to)) {
            Some(rest) => {
                let rest = rest.nodes.iter().map(|node| node.value.as_str());
                let rest = rest.filter(|node| !node.starts_with('H'));
                Some(Vec::from_iter(std::iter::once(name.as_str()).chain(rest)).join(",").into())
            }
            None => (first == last).then(|| name.into()),
        }
    }

    fn network(&self) -> Network {
        let tree = &self.tree;
        let hosts = (0..tree.hosts).map(|host| Node {
            name: Key::of(format!("H{host}")),
            kind: Key::of(NodeKind::Host),
            ..Node::default()
        });
        let tiers = [("LS", 1), ("US", 2), ("CS", 3)].into_iter();
        let switches = tiers.zip(tree.counts).flat_map(|((tier, layer), count)| {
            (0..count).map(move |number| Node {
                name: Key::of(format!("{tier}{number}")),
                kind: Key::of(NodeKind::Switch),
                layer: Filled::new(layer),
                ..Node::default()
            })
        });
        let mut links = Vec::new();
        for host in 0..tree.hosts {
            let lower = host / tree.hosts_per_lower;
            links.extend(self.links(0, [format!("H{host}"), format!("LS{lower}")]));
        }
        for lower in 0..tree.counts[0] {
            let pod = lower / tree.lowers_per_pod;
            for upper in pod * tree.uppers_per_pod..(pod + 1) * tree.uppers_per_pod {
                links.extend(self.links(1, [format!("LS{lower}"), format!("US{upper}")]));
            }
        }
        for upper in (0..tree.counts[1]).filter(|_| tree.counts[2] > 0) {
            for place in 0..tree.cores_per_upper {
                let core = upper % tree.uppers_per_pod + tree.uppers_per_pod * place;
                links.extend(self.links(2, [format!("US{upper}"), format!("CS{core}")]));
            }
        }
        let custom = Custom {
            node: Key::of(Tables(hosts.chain(switches).collect())),
            link: Key::of(Tables(links)),
            ..Custom::default()
        };
        Network { common: topology::Common::default(), layout: Some(Layout::Custom(custom)) }
    }

    /// The links from a node to one of the tier above, as many as the bundle says.
    fn links(&self, tier: usize, ends: [String; 2]) -> impl Iterator<Item = Link> {
        let (link, [rate, delay]) = (self.tree.links[tier], &self.tree.places[tier]);
        let link_keys = Link {
            between: Key::at(Pair::of(ends.each_ref().map(String::as_str)), rate),
            rate: Key::at(link.rate, rate),
            delay: Key::at(link.delay + self.half_latencies(tier), delay),
            place: rate.clone(),
            ..Link::default()
        };
        std::iter::repeat_n(link_keys, link.bundle as usize)
    }

    /// Half of what the switches at both ends of a link add to the way of a packet. Each has two
    /// links on every way, so that it adds all of it.
    fn half_latencies(&self, tier: usize) -> Span {
        let below = match tier {
            0 => Span::ZERO,
            tier => self.tree.latencies[tier - 1],
        };
        (below + self.tree.latencies[tier]) / 2
    }
}

/// The section `[congestion_control]`: targets acknowledge every packet, and nothing changes rates.
fn congestion() -> Vec<Entry> {
    let kind = congestion::schemes().kind(&congestion::NONE, &Place::default());
    let common = congestion::Common {
        feedback_class: Filled::new(FeedbackClass::Data),
        ack_every: Key::of(1),
        ..congestion::Common::default()
    };
    [vec![kind], common.entries()].concat()
}

/// The names of flows: their ids if all have one, else their places, with zeros in front so that
/// their order is that of the file.
fn names(flows: &[Flow]) -> Vec<String> {
    let ids = Vec::from_iter(flows.iter().filter_map(|flow| flow.id));
    let numbers = if ids.len() == flows.len() { ids } else { (1..=flows.len() as u64).collect() };
    let width = numbers.iter().max().map_or(1, |most| most.to_string().len());
    numbers.iter().map(|number| format!("{number:0width$}")).collect()
}
