//! The search for the next hops towards one target switch, by the rule of the routing.

use std::collections::VecDeque;

use pauseless_core::id::{NodeId, PortId};

use super::Dimensions;
use super::up_down::Order;
use crate::topology::Topology;

/// A fabric some of whose links have failed. Ports keep their numbers.
#[derive(Clone, Debug)]
pub(crate) struct View<'t> {
    pub topology: &'t Topology,
    /// Whether each link has failed, by its number.
    pub failed: &'t [bool],
    /// The index in `trunks` of the first port of each node.
    starts: Vec<u32>,
    /// The ports that face switches over links that work, each with its peer, node after node:
    /// searches do little else than read them.
    trunks: Vec<(PortId, NodeId)>,
}

impl<'t> View<'t> {
    pub(crate) fn new(topology: &'t Topology, failed: &'t [bool]) -> View<'t> {
        let mut view = View { topology, failed, starts: vec![0], trunks: Vec::new() };
        for node in (0..topology.nodes().len()).map(|node| NodeId(node as u32)) {
            let ports = (0..).map(PortId).zip(topology.ports(node));
            let trunks = ports.filter(|(_, port)| {
                !failed[port.link.0 as usize]
                    && !topology.is_host(port.peer)
                    && !topology.is_host(node)
            });
            view.trunks.extend(trunks.map(|(number, port)| (number, port.peer)));
            view.starts.push(view.trunks.len() as u32);
        }
        view
    }

    /// The ports of `switch` that face switches over links that work, with their peers.
    #[inline]
    pub(crate) fn trunks(&self, switch: NodeId) -> &[(PortId, NodeId)] {
        let starts = &self.starts[switch.index()..switch.index() + 2];
        &self.trunks[starts[0] as usize..starts[1] as usize]
    }

    /// The hosts of `switch` whose links work, with their ports.
    pub(crate) fn hosts(&self, switch: NodeId) -> impl Iterator<Item = (PortId, NodeId)> {
        let ports = (0..).map(PortId).zip(self.topology.ports(switch));
        let hosts = ports.filter(move |(_, port)| {
            !self.failed[port.link.0 as usize] && self.topology.is_host(port.peer)
        });
        hosts.map(|(number, port)| (number, port.peer))
    }
}

/// The rule, with the working memory that it needs.
pub(crate) enum Rule {
    /// The paths with the fewest hops.
    Shortest,
    /// Paths that go up first and then down.
    UpDown(Order),
    /// One dimension after the other.
    DimensionOrder(Dimensions),
}

/// The next hops towards one target switch. It keeps its vectors from one target to the next.
#[derive(Debug)]
pub(crate) struct Search {
    /// The number of hops to the target on the path that is used.
    distances: Vec<u32>,
    /// The switches that reach the target, the target left out.
    pub reached: Vec<NodeId>,
    /// The index in `ports` of the next hops of each switch of `reached`.
    starts: Vec<u32>,
    ports: Vec<PortId>,
    queue: VecDeque<NodeId>,
}

impl Search {
    pub(crate) fn new(node_count: usize) -> Search {
        Search {
            distances: vec![UNREACHED; node_count],
            reached: Vec::new(),
            starts: Vec::new(),
            ports: Vec::new(),
            queue: VecDeque::new(),
        }
    }

    /// Finds the next hops of all switches towards `target`.
    pub(crate) fn run(&mut self, view: &View<'_>, rule: &Rule, target: NodeId) {
        self.reached.clear();
        self.starts.clear();
        self.ports.clear();
        match rule {
            Rule::Shortest => self.shortest(view, target),
            Rule::UpDown(order) => self.up_down(view, order, target),
            Rule::DimensionOrder(dimensions) => self.dimension_order(view, *dimensions, target),
        }
        self.starts.push(self.ports.len() as u32);
    }

    /// The next hops of the `at`-th switch of `reached`, at least one, lowest first.
    pub(crate) fn next_hops(&self, at: usize) -> &[PortId] {
        &self.ports[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    fn shortest(&mut self, view: &View<'_>, target: NodeId) {
        self.measure(view, target, |_, _| true);
        let order = std::mem::take(&mut self.reached);
        for &switch in order.iter().skip(1) {
            let closer = self.distance(switch) - 1;
            self.starts.push(self.ports.len() as u32);
            for (number, peer) in view.trunks(switch) {
                if self.distances[peer.index()] == closer {
                    self.ports.push(*number);
                }
            }
        }
        self.reached = order;
        self.reached.remove(0);
    }

    /// Breadth-first distances to `target` over moves that `is_legal(from, to)` allows; the
    /// switches reached, nearest first, are left in `reached`.
    fn measure(
        &mut self,
        view: &View<'_>,
        target: NodeId,
        is_legal: impl Fn(NodeId, NodeId) -> bool,
    ) {
        self.distances.fill(UNREACHED);
        self.distances[target.index()] = 0;
        self.queue.push_back(target);
        while let Some(switch) = self.queue.pop_front() {
            self.reached.push(switch);
            let next = self.distance(switch) + 1;
            for &(_, peer) in view.trunks(switch) {
                if self.distance(peer) == UNREACHED && is_legal(peer, switch) {
                    self.distances[peer.index()] = next;
                    self.queue.push_back(peer);
                }
            }
        }
    }

    /// Finds paths that go down all the way where there are any, else up first: a packet that has
    /// gone down never goes up again.
    fn up_down(&mut self, view: &View<'_>, order: &Order, target: NodeId) {
        self.measure(view, target, |from, to| order.is_up(to, from));
        self.reached.clear();
        // A switch above has its distance before those below it need it.
        for &switch in order.descending() {
            if switch == target {
                continue;
            }
            let goes_down = self.distance(switch) != UNREACHED;
            let is_legal = |peer| order.is_up(switch, peer) != goes_down;
            let legal = view.trunks(switch).iter().filter(|(_, peer)| is_legal(*peer));
            let peers = Vec::from_iter(legal.map(|(number, peer)| (self.distance(*peer), *number)));
            let closest = peers.iter().map(|(distance, _)| *distance).min();
            let Some(closest) = closest.filter(|closest| *closest != UNREACHED) else {
                continue;
            };
            self.starts.push(self.ports.len() as u32);
            let chosen = peers.iter().filter(|(distance, _)| *distance == closest);
            self.ports.extend(chosen.map(|(_, number)| *number));
            self.reached.push(switch);
            self.distances[switch.index()] = closest + 1;
        }
    }

    fn dimension_order(&mut self, view: &View<'_>, dimensions: Dimensions, target: NodeId) {
        for &switch in view.topology.switches() {
            let Some(next) = dimensions.next(switch, target) else {
                continue;
            };
            if let Some((number, _)) = view.trunks(switch).iter().find(|(_, peer)| *peer == next) {
                self.starts.push(self.ports.len() as u32);
                self.ports.push(*number);
                self.reached.push(switch);
            }
        }
    }

    fn distance(&self, node: NodeId) -> u32 {
        self.distances[node.index()]
    }
}

/// The distance of nodes that a search has not reached, which includes all hosts.
const UNREACHED: u32 = u32::MAX;
