//! Where pauses come from.
//!
//! When an ingress tells its sender to stop, the egress that holds most of its bytes is to blame.
//! If that egress is stopped itself, by a pause in force, or has not yet sent what had piled up
//! while it was, this pause is the other one's child. If not, more comes for that egress than it can
//! send, and it is a root: the first port to fill.
//! So pauses form trees, one for each root, however often it fills. A parent is never later than
//! its child, and a chain of present causes that comes back to itself is a circle.
//!
//! What is kept is proportional to the links of the trees, not to pauses: of these only the first
//! are kept one by one. Flows are looked at when a link is stopped for the first time, the
//! second, the fourth, and so on.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::flow_control::{Control, Signal};
use pauseless_core::id::{Class, FlowId, NodeId, QueueId};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_fabric::trace::{Circle, Header, circle, trace};

use crate::config::Config;
use crate::fabric::{End, Fabric, Node};
use crate::outcome::{
    EgressQueue, Pause, PauseCause, PauseCycle, PauseTree, PausedLink, Provenance,
};
use crate::progress::FlowState;

/// The most pauses that are recorded one by one.
const RECORDS_MAX: usize = 1_000;
/// The most trees that are reported.
const TREES_MAX: usize = 1_000;
/// The most links of all trees together; further ones are only counted.
const LINKS_MAX: usize = 100_000;
/// The most cycles that are recorded.
const CYCLES_MAX: usize = 10;

const NONE: u32 = u32::MAX;

/// The state of the run when a pause is sent.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'r> {
    pub now: Time,
    pub config: &'r Config,
    pub fabric: &'r Fabric,
    pub flows: &'r [FlowState],
}

/// Watches all pauses of a run and finds the cause of each.
#[derive(Debug)]
pub(crate) struct Tracer {
    class_count: usize,
    /// The newest pause of every (ingress, class), by global port number.
    latest: Vec<Latest>,
    /// The instant until which the egress of the same number sends the backlog of its last pause.
    piled: Vec<Time>,
    trees: Vec<Tree>,
    /// The tree that begins at each root.
    roots: BTreeMap<EgressQueue, u32>,
    /// The index of every link in its tree, by tree and (ingress, class).
    places: BTreeMap<(u32, u32), u32>,
    /// The flows that start at each host.
    sources: BTreeMap<NodeId, Vec<u32>>,
    records: Vec<Pause>,
    pauses: u64,
    cycle_count: u64,
    cycles: Vec<PauseCycle>,
}

/// The newest pause of an ingress.
#[derive(Clone, Copy, Debug)]
struct Latest {
    is_active: bool,
    since: Time,
    /// The (ingress, class) that can stop the egress to blame.
    beyond: u32,
    tree: u32,
    /// The index in the tree, the depth and the record of the pause, or [`NONE`].
    link: u32,
    depth: u32,
    record: u32,
}

/// A tree while it grows.
#[derive(Debug)]
struct Tree {
    shown: PauseTree,
    /// The flows that waited at a stopped link.
    waiting: BTreeSet<FlowId>,
    culprits: BTreeSet<FlowId>,
}

/// The egress to blame for a pause.
#[derive(Clone, Copy, Debug)]
struct Blamed {
    queue: EgressQueue,
    /// The (ingress, class) at its far end.
    beyond: u32,
    /// Whether its far end has stopped it, now or so recently that the backlog is still there.
    is_stopped: bool,
}

impl Tracer {
    pub(crate) fn new(config: &Config, port_count: usize) -> Tracer {
        let class_count = config.ingress.class_count();
        let latest = Latest {
            is_active: false,
            since: Time::ZERO,
            beyond: NONE,
            tree: NONE,
            link: NONE,
            depth: 0,
            record: NONE,
        };
        let mut sources: BTreeMap<NodeId, Vec<u32>> = BTreeMap::new();
        for (index, flow) in (0..).zip(&config.flows) {
            sources.entry(flow.source).or_default().push(index);
        }
        Tracer {
            class_count,
            latest: vec![latest; port_count * class_count],
            piled: vec![Time::ZERO; port_count * class_count],
            trees: Vec::new(),
            roots: BTreeMap::new(),
            places: BTreeMap::new(),
            sources,
            records: Vec::new(),
            pauses: 0,
            cycle_count: 0,
            cycles: Vec::new(),
        }
    }

    /// Handles a control frame that the port of global number `index` has sent.
    #[cold]
    pub(crate) fn handle_control(&mut self, seen: Seen<'_>, index: usize, control: Control) {
        let Signal::Pause { quanta } = control.signal else {
            return;
        };
        let slot = self.slot(index, control.class);
        match (quanta, self.latest[slot].is_active) {
            (1.., false) => self.begin(seen, index, control.class),
            (0, true) => self.end(seen.now, slot),
            // A refresh of the pause is none of its own.
            _ => {}
        }
    }

    /// Handles the failure of the link of the port of global number `index`: the pause that it has asked
    /// for is over.
    #[cold]
    pub(crate) fn handle_failure(&mut self, now: Time, index: usize, class: Class) {
        let slot = self.slot(index, class);
        if self.latest[slot].is_active {
            self.end(now, slot);
        }
    }

    /// Handles the release of the port of global number `index`.
    #[cold]
    pub(crate) fn handle_release(&mut self, seen: Seen<'_>, index: usize, class: Class) {
        let end = &seen.fabric.ends[index];
        if let Node::Switch(switch) = &seen.fabric.nodes[end.node.index()] {
            let piled = switch.queued_in(end.port, class);
            let slot = self.slot(index, class);
            self.piled[slot] = seen.now + end.line.tx_span(piled);
        }
    }

    fn begin(&mut self, seen: Seen<'_>, index: usize, class: Class) {
        let slot = self.slot(index, class);
        let end = &seen.fabric.ends[index];
        let stopped = queue_at(&seen.fabric.ends[end.peer as usize], class);
        let blamed = self.blame(seen, index, class);
        // The egress to blame was stopped itself, or it is a root.
        let parent = Some(blamed.beyond as usize)
            .filter(|beyond| blamed.is_stopped && self.latest[*beyond].tree != NONE)
            .map(|beyond| self.latest[beyond]);
        let (tree, depth, cause) = match parent {
            Some(parent) => (parent.tree, parent.depth + 1, PauseCause::Pause(parent.record)),
            None => {
                let tree = self.root(seen.now, blamed.queue);
                let cause = match seen.fabric.nodes[end.node.index()] {
                    Node::Switch(_) => PauseCause::Egress(blamed.queue),
                    Node::Host(_) => PauseCause::Host(end.node),
                };
                (tree, 1, cause)
            }
        };
        self.pauses += 1;
        let record = self.record(Pause { stopped, time: seen.now, end: None, cause });
        let link = self.link(
            tree,
            slot,
            PausedLink {
                stopped,
                because: parent.map(|parent| parent.link).filter(|link| *link != NONE),
                depth,
                first: seen.now,
                pauses: 0,
                span: Span::ZERO,
            },
        );
        self.latest[slot] = Latest {
            is_active: true,
            since: seen.now,
            beyond: blamed.beyond,
            tree,
            link,
            depth,
            record,
        };
        let state = &mut self.trees[tree as usize];
        state.shown.pauses += 1;
        state.shown.depth = state.shown.depth.max(depth);
        if link != NONE {
            let paused = &mut state.shown.links[link as usize];
            paused.pauses += 1;
            if paused.pauses.is_power_of_two() {
                self.look_at_flows(seen, tree, stopped);
                if parent.is_none() {
                    self.look_at_root(seen, tree, blamed.queue);
                }
            }
        }
        self.look_for_cycle(seen, slot);
    }

    fn end(&mut self, now: Time, slot: usize) {
        let latest = &mut self.latest[slot];
        latest.is_active = false;
        let Latest { since, tree, link, record, .. } = *latest;
        let state = &mut self.trees[tree as usize];
        state.shown.last = now;
        if let Some(paused) = state.shown.links.get_mut(link as usize) {
            paused.span = paused.span + (now - since);
        }
        if let Some(record) = self.records.get_mut(record as usize) {
            record.end = Some(now);
        }
    }

    /// The egress that holds most of the bytes of an ingress; of a host, the ingress itself.
    fn blame(&self, seen: Seen<'_>, index: usize, class: Class) -> Blamed {
        let Seen { now, fabric, .. } = seen;
        let end = &fabric.ends[index];
        let itself = Blamed {
            queue: queue_at(end, class),
            beyond: self.slot(index, class) as u32,
            is_stopped: false,
        };
        let Node::Switch(switch) = &fabric.nodes[end.node.index()] else {
            return itself;
        };
        let Some(QueueId { port: egress, class }) = switch.holder(end.port, class) else {
            return itself;
        };
        let number = fabric.end_index(end.node, egress);
        let peer = fabric.ends[number].peer;
        let is_stopped = switch.port(egress).is_stopped(now, class, Bytes::new(64));
        Blamed {
            queue: EgressQueue { node: end.node, port: egress, class },
            beyond: self.slot(peer as usize, class) as u32,
            is_stopped: is_stopped || now < self.piled[self.slot(number, class)],
        }
    }

    /// The tree that begins at `root`.
    fn root(&mut self, now: Time, root: EgressQueue) -> u32 {
        let next = self.trees.len() as u32;
        let tree = *self.roots.entry(root).or_insert(next);
        if tree == next {
            self.trees.push(Tree {
                shown: PauseTree {
                    root,
                    first: now,
                    last: now,
                    pauses: 0,
                    depth: 0,
                    links: Vec::new(),
                    culprits: Vec::new(),
                    victims: Vec::new(),
                },
                waiting: BTreeSet::new(),
                culprits: BTreeSet::new(),
            });
        }
        tree
    }

    fn record(&mut self, pause: Pause) -> u32 {
        if self.records.len() == RECORDS_MAX {
            return NONE;
        }
        self.records.push(pause);
        self.records.len() as u32 - 1
    }

    /// The index of a link in its tree, to which it is added if it is new.
    fn link(&mut self, tree: u32, slot: usize, link: PausedLink) -> u32 {
        let key = (tree, slot as u32);
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        if self.places.len() == LINKS_MAX {
            return NONE;
        }
        let links = &mut self.trees[tree as usize].shown.links;
        links.push(link);
        let place = links.len() as u32 - 1;
        self.places.insert(key, place);
        place
    }

    /// Records the flows that wait at a stopped link, or would if they could send.
    fn look_at_flows(&mut self, seen: Seen<'_>, tree: u32, stopped: EgressQueue) {
        let waiting = &mut self.trees[tree as usize].waiting;
        match &seen.fabric.nodes[stopped.node.index()] {
            Node::Switch(switch) => {
                switch.for_each_waiting_for(stopped.port, stopped.class, |packet| {
                    if !packet.is_answer() {
                        waiting.insert(packet.flow());
                    }
                });
            }
            Node::Host(_) => {
                let flows = self.sources.get(&stopped.node).into_iter().flatten();
                let sending = flows.filter(|index| {
                    let flow = &seen.config.flows[**index as usize];
                    let state = &seen.flows[**index as usize];
                    let is_open = state.start.is_some() && state.finish.is_none();
                    is_open && flow.stop > seen.now && flow.class == stopped.class
                });
                waiting.extend(sending.map(|index| FlowId(*index)));
            }
        }
    }

    /// Records the flows that wait for the root of a tree.
    fn look_at_root(&mut self, seen: Seen<'_>, tree: u32, root: EgressQueue) {
        let culprits = &mut self.trees[tree as usize].culprits;
        if let Node::Switch(switch) = &seen.fabric.nodes[root.node.index()] {
            switch.for_each_waiting_for(root.port, root.class, |packet| {
                if !packet.is_answer() {
                    culprits.insert(packet.flow());
                }
            });
        }
    }

    /// Follows the causes of a new pause through pauses that are still in force.
    fn look_for_cycle(&mut self, seen: Seen<'_>, start: usize) {
        let mut slots = vec![start];
        let mut at = self.latest[start].beyond as usize;
        while at != start {
            // What waits for a cycle is not on it, and that cycle was found before.
            if !self.latest[at].is_active || slots.contains(&at) {
                return;
            }
            slots.push(at);
            at = self.latest[at].beyond as usize;
        }
        if slots.len() == 1 {
            // A slow host is to blame itself.
            return;
        }
        self.cycle_count += 1;
        if self.cycles.len() < CYCLES_MAX {
            let stopped = slots.into_iter().map(|slot| {
                let end = &seen.fabric.ends[slot / self.class_count];
                let peer = &seen.fabric.ends[end.peer as usize];
                queue_at(peer, Class((slot % self.class_count) as u8))
            });
            self.cycles.push(PauseCycle { time: seen.now, stopped: stopped.collect() });
        }
    }

    /// The pauses and trees until `now`.
    pub(crate) fn finish(mut self, now: Time, config: &Config) -> Provenance {
        for slot in 0..self.latest.len() {
            let latest = self.latest[slot];
            if latest.is_active {
                self.end(now, slot);
                if let Some(record) = self.records.get_mut(latest.record as usize) {
                    record.end = None;
                }
            }
        }
        let mut trees = self.trees;
        trees.sort_by_key(|tree| {
            let shown = &tree.shown;
            let size = std::cmp::Reverse((shown.links.len(), shown.pauses));
            (size, shown.first, shown.root)
        });
        let left_out = trees.len().saturating_sub(TREES_MAX);
        trees.truncate(TREES_MAX);
        let shown = trees.into_iter().map(|tree| {
            let passes = |flow: &FlowId| passes(config, *flow, tree.shown.root);
            let waiting = tree.waiting.into_iter();
            PauseTree {
                victims: waiting.filter(|flow| !passes(flow)).collect(),
                culprits: tree.culprits.into_iter().collect(),
                ..tree.shown
            }
        });
        Provenance {
            pauses: self.pauses,
            records: self.records,
            trees: shown.collect(),
            trees_left_out: left_out as u64,
            cycle_count: self.cycle_count,
            cycles: self.cycles,
        }
    }

    fn slot(&self, index: usize, class: Class) -> usize {
        index * self.class_count + class.index()
    }
}

fn queue_at(end: &End, class: Class) -> EgressQueue {
    EgressQueue { node: end.node, port: end.port, class }
}

/// Whether the path of a flow leads through `root`: an egress, or the port of the host at its end.
fn passes(config: &Config, flow: FlowId, root: EgressQueue) -> bool {
    let flow = &config.flows[flow.index()];
    let header = Header { source: flow.source, group: flow.group, hash: flow.hash };
    let (topology, table) = (&config.topology, &config.table);
    let path = trace(topology, table, header).unwrap_or_else(|_| {
        let circle = circle(topology, table, header);
        circle.map_or(Vec::new(), |Circle { lead, round }| [lead, round].concat())
    });
    path.contains(&(root.node, root.port)) || flow.target == root.node
}
