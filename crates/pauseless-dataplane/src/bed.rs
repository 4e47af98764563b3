//! A whole network of nodes in one thread, in lockstep.
//!
//! All nodes share one clock, which goes on by one tick when every frame that was sent has been
//! received: a machine that stalls slows the experiment down and breaks nothing, and a hop never takes
//! longer than a tick of emulated time. After every tick the deadlock detector of the core looks at the
//! switches as they are.

use std::time::{Duration, Instant};

use pauseless_core::deadlock::{self, Deadlock, Detector, EgressQueue, Network};
use pauseless_core::flow_control::{Control, Upstream};
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::port::Port;
use pauseless_core::switch::Switch;
use pauseless_core::unit::{Bytes, Span, Time};

use crate::clock::{Clock, Pace};
use crate::departures::Departures;
use crate::host::HostNode;
use crate::report::NodeReport;
use crate::store::Slot;
use crate::switch::SwitchNode;

/// A node and the far ends of its wires.
pub struct BedNode {
    /// The switch or host itself.
    pub machine: Machine,
    /// The far end of each port.
    pub peers: Vec<(NodeId, PortId)>,
}

/// A switch or a host.
pub enum Machine {
    /// A switch that forwards frames.
    Switch(SwitchNode),
    /// A host that sends and receives.
    Host(HostNode),
}

/// A deadlock and how it ended, if it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Episode {
    /// The queues and flows that are in it.
    pub deadlock: Deadlock,
    /// When a queue of its cycle could move again, if it did.
    pub broken: Option<Time>,
}

impl Episode {
    fn is_open_on(&self, queue: &EgressQueue) -> bool {
        self.broken.is_none() && self.deadlock.cycle.contains(queue)
    }
}

/// A network of nodes in one thread. See the [module](self).
pub struct Bed {
    nodes: Vec<BedNode>,
    /// The index of each node's first port among those of all nodes.
    starts: Vec<usize>,
    port_count: usize,
    class_count: usize,
    pace: Pace,
    clock: Clock,
    now: Time,
    /// The longest transmission time of a control frame on any line.
    control_span: Span,
    detector: Option<Detector>,
    /// All deadlocks; at most one unless watchdogs break them.
    episodes: Vec<Episode>,
    is_watching: bool,
    /// The frames on the wires, one element per direction.
    departures: Vec<Departures>,
    /// The number of frames that were sent and never arrived.
    vanished: u64,
    /// The first port whose frame never arrived.
    vanished_from: Option<(NodeId, PortId)>,
}

/// How long a frame may take on a wire before it counts as lost, in real time.
const PATIENCE: Duration = Duration::from_secs(2);
/// The same once a wire has lost one: a broken network is not waited for at every tick.
const PATIENCE_LOST: Duration = Duration::from_millis(1);

impl Bed {
    /// A network at time zero. With an elastic pace, its tick is the step of the lockstep; in real
    /// time no node waits for another.
    pub fn new(nodes: Vec<BedNode>, pace: Pace) -> Bed {
        let mut starts = Vec::new();
        let mut port_count = 0;
        for node in &nodes {
            starts.push(port_count);
            port_count += node.peers.len();
        }
        let switches = nodes.iter().filter_map(|node| match &node.machine {
            Machine::Switch(switch) => Some(switch),
            Machine::Host(_) => None,
        });
        let (mut class_count, mut control_span) = (1, Span::ZERO);
        let mut is_watching = false;
        for switch in switches {
            is_watching |= switch.is_watching();
            let switch = switch.core();
            for port in (0..switch.port_count()).map(|port| switch.port(PortId(port as u16))) {
                class_count = class_count.max(port.class_count());
                control_span = control_span.max(port.line().tx_span(Control::SIZE));
            }
        }
        let mut bed = Bed {
            nodes,
            starts,
            port_count,
            class_count,
            pace,
            clock: Clock::new(pace, Instant::now()),
            now: Time::ZERO,
            control_span,
            detector: None,
            episodes: Vec::new(),
            is_watching,
            departures: Vec::new(),
            vanished: 0,
            vanished_from: None,
        };
        bed.connect();
        bed.detector = Some(Detector::new(&bed));
        bed
    }

    /// Lets every node know when the frames that arrive at it left their sender.
    fn connect(&mut self) {
        for index in 0..self.nodes.len() {
            for port in 0..self.nodes[index].peers.len() {
                let (peer, peer_port) = self.nodes[index].peers[port];
                let port = PortId(port as u16);
                let departures = match &mut self.nodes[index].machine {
                    Machine::Switch(switch) => switch.departures(port),
                    Machine::Host(host) => host.departures(),
                };
                self.departures.push(departures.clone());
                match &mut self.nodes[peer.index()].machine {
                    Machine::Switch(switch) => switch.set_arrivals(peer_port, departures),
                    Machine::Host(host) => host.set_arrivals(departures),
                }
            }
        }
    }

    /// The time of all nodes.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The first deadlock that was found, as soon as it was.
    pub fn deadlock(&self) -> Option<&Deadlock> {
        self.episodes.first().map(|episode| &episode.deadlock)
    }

    /// All deadlocks that were found, in order of time.
    pub fn episodes(&self) -> &[Episode] {
        &self.episodes
    }

    /// The number of frames that wires have lost.
    pub fn vanished(&self) -> u64 {
        self.vanished
    }

    /// The first port whose frame a wire has lost.
    pub fn vanished_from(&self) -> Option<(NodeId, PortId)> {
        self.vanished_from
    }

    /// The reports of all nodes, in their order.
    pub fn reports(&mut self) -> Vec<NodeReport> {
        let now = self.now;
        let reports = self.nodes.iter_mut().map(|node| match &mut node.machine {
            Machine::Switch(switch) => switch.report(now),
            Machine::Host(host) => host.report(now),
        });
        reports.collect()
    }

    /// The messages of nodes for the user, each with the node's name.
    pub fn take_messages(&mut self) -> Vec<String> {
        let messages = self.nodes.iter_mut().flat_map(|node| match &mut node.machine {
            Machine::Switch(switch) => switch.take_messages(),
            Machine::Host(host) => host.take_messages(),
        });
        messages.collect()
    }

    /// Whether no host has anything left to send, no frame is on its way, and no port is held back.
    pub fn is_done(&self) -> bool {
        let now = self.now;
        self.nodes.iter().all(|node| match &node.machine {
            Machine::Host(host) => host.is_done(now) && is_free(now, host.core().port()),
            Machine::Switch(switch) => {
                let core = switch.core();
                let mut ports = (0..core.port_count()).map(|port| PortId(port as u16));
                switch.frames_inside() == 0 && ports.all(|port| is_free(now, core.port(port)))
            }
        })
    }

    /// The nodes, to read their state.
    pub fn nodes(&self) -> impl Iterator<Item = &Machine> {
        self.nodes.iter().map(|node| &node.machine)
    }

    /// The nodes, to read or change their state.
    pub fn nodes_mut(&mut self) -> impl Iterator<Item = &mut Machine> {
        self.nodes.iter_mut().map(|node| &mut node.machine)
    }

    /// Advances by one tick, or to the present real time.
    pub fn step(&mut self) {
        self.now = match self.pace {
            Pace::Real => self.clock.look(),
            Pace::Elastic(tick) => self.now + tick,
        };
        let now = self.now;
        for node in &mut self.nodes {
            match &mut node.machine {
                Machine::Switch(switch) => switch.advance(now),
                Machine::Host(host) => host.advance(now),
            }
        }
        self.exchange();
        if matches!(self.pace, Pace::Elastic(_)) && self.in_flight_count() > 0 {
            self.wait();
        }
        self.look();
    }

    /// Lets every node hand over what it has sent and take what has arrived.
    fn exchange(&mut self) {
        let now = self.now;
        for node in &mut self.nodes {
            match &mut node.machine {
                Machine::Switch(switch) => switch.flush(),
                Machine::Host(host) => host.flush(),
            }
        }
        for node in &mut self.nodes {
            match &mut node.machine {
                Machine::Switch(switch) => switch.receive(now),
                Machine::Host(host) => host.receive(now),
            };
        }
    }

    /// Waits for frames that the kernel still has.
    #[cold]
    fn wait(&mut self) {
        let start = Instant::now();
        let patience = match self.vanished {
            0 => PATIENCE,
            _ => PATIENCE_LOST,
        };
        while self.in_flight_count() > 0 {
            if start.elapsed() > patience {
                self.vanished += self.in_flight_count() as u64;
                self.note_vanished();
                self.departures.iter().for_each(Departures::clear);
                return;
            }
            std::thread::yield_now();
            self.exchange();
        }
    }

    fn in_flight_count(&self) -> usize {
        self.departures.iter().map(Departures::len).sum()
    }

    /// Records which port sent the first frame that never arrived.
    #[cold]
    fn note_vanished(&mut self) {
        let index = self.departures.iter().position(|wire| wire.len() > 0);
        let from = index.map(|index| {
            let node = self.starts.partition_point(|start| *start <= index) - 1;
            let port = index - self.starts[node];
            (NodeId(node as u32), PortId(port as u16))
        });
        self.vanished_from = self.vanished_from.or(from);
    }

    /// Looks for deadlocks, and for movement in known ones.
    fn look(&mut self) {
        if self.episodes.iter().any(|it| it.broken.is_none()) {
            self.close_episodes();
        }
        // Only a watchdog ends a deadlock.
        let is_wanted = self.episodes.is_empty() || self.is_watching;
        if !is_wanted || !self.is_any_stopped() {
            return;
        }
        let mut detector =
            self.detector.take().expect("the detector is put back after each search");
        if let Some(deadlock) = self.find_deadlock(&mut detector) {
            self.episodes.push(Episode { deadlock, broken: None });
        }
        self.detector = Some(detector);
    }

    /// A deadlock that shares no queue with the cycle of a known one, which would be that one,
    /// grown.
    fn find_deadlock(&self, detector: &mut Detector) -> Option<Deadlock> {
        let is_known = |queue: &EgressQueue| self.episodes.iter().any(|it| it.is_open_on(queue));
        self.egress_queues()
            .filter(|queue| !is_known(queue))
            .filter_map(|queue| detector.check(self.now, self, queue))
            .find(|deadlock| !deadlock.cycle.iter().any(is_known))
    }

    /// Closes deadlocks of which a queue of the cycle does not wait any more.
    #[cold]
    fn close_episodes(&mut self) {
        let mut episodes = std::mem::take(&mut self.episodes);
        for episode in episodes.iter_mut().filter(|it| it.broken.is_none()) {
            let mut cycle = episode.deadlock.cycle.iter();
            if cycle.any(|queue| deadlock::blocked(self.now, self, *queue).is_none()) {
                episode.broken = Some(self.now);
            }
        }
        self.episodes = episodes;
    }

    fn is_any_stopped(&self) -> bool {
        self.nodes.iter().any(|node| match &node.machine {
            Machine::Host(_) => false,
            Machine::Switch(switch) => {
                let core = switch.core();
                (0..core.port_count()).any(|port| core.stopped(PortId(port as u16)) != 0)
            }
        })
    }
}

/// Whether the far end lets all classes of a port send at the rate of its line.
fn is_free(now: Time, port: &Port) -> bool {
    let mut classes = (0..port.class_count()).map(|class| Class(class as u8));
    classes.all(|class| port.upstream(class).rate(now).is_some_and(|rate| rate >= port.line()))
}

/// The network as the deadlock detector sees it. In lockstep no frame is between two nodes when it
/// looks.
impl Network for Bed {
    type Packet = Slot;

    fn switch(&self, node: NodeId) -> Option<&Switch<Slot>> {
        match &self.nodes[node.index()].machine {
            Machine::Switch(switch) => Some(switch.core()),
            Machine::Host(_) => None,
        }
    }

    fn far_end(&self, node: NodeId, port: PortId) -> (NodeId, PortId) {
        self.nodes[node.index()].peers[port.index()]
    }

    fn port_count(&self) -> usize {
        self.port_count
    }

    fn port_index(&self, node: NodeId, port: PortId) -> usize {
        self.starts[node.index()] + port.index()
    }

    fn class_count(&self) -> usize {
        self.class_count
    }

    fn egress_queues(&self) -> impl Iterator<Item = EgressQueue> {
        (0..self.nodes.len()).flat_map(move |node| {
            let node = NodeId(node as u32);
            let ports = self.switch(node).map_or(0, Switch::port_count);
            (0..ports).flat_map(move |port| {
                (0..self.class_count).map(move |class| EgressQueue {
                    node,
                    port: PortId(port as u16),
                    class: Class(class as u8),
                })
            })
        })
    }

    fn in_flight(&self, queue: EgressQueue) -> Bytes {
        match &self.nodes[queue.node.index()].machine {
            Machine::Switch(switch) => switch.on_line(queue.port, queue.class),
            Machine::Host(_) => Bytes::ZERO,
        }
    }

    /// The instant before which every message has arrived: one is sent when its frame starts, and
    /// in lockstep it arrives in the tick in which its frame ends, or is lost.
    fn settled(&self, now: Time) -> Time {
        match self.pace {
            Pace::Real => Time::ZERO,
            Pace::Elastic(tick) => {
                let heard = self.control_span + tick + tick;
                Time::from_ps(now.as_ps().saturating_sub(heard.as_ps()))
            }
        }
    }

    fn flow(&self, node: NodeId, packet: Slot) -> Option<FlowId> {
        match &self.nodes[node.index()].machine {
            Machine::Switch(switch) => switch.flow_of(packet),
            Machine::Host(_) => None,
        }
    }
}
