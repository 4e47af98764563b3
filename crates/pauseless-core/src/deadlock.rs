//! Exact deadlock detection.
//!
//! A set D of blocked egress queues is deadlocked when no member can ever be released even if
//! everything outside D drains: the far end keeps each of them blocked on the strength of bytes
//! that wait for members of D alone (in an input-queued switch also of those behind them).
//! D is the greatest fixed point of that condition, so no timeout is involved.
//!
//! When can a new one arise? If D is not empty, a strongly connected component of "waits for" from
//! which no edge leaves is a deadlock by itself. If there was none before the last event, that
//! component contains the queue that the event has just blocked, or given a packet. So it is enough to
//! look for a cycle through that queue, and only if there is one to compute the fixed point, over
//! what can be reached from it. Where nothing is paused nothing is looked at.
//!
//! Packets may change their class in a switch. A queue (egress, class c) is then kept blocked by the
//! far end's counter of class c, and that by what its packets wait for: (port, class c') there.
//!
//! Where the ports of a switch share its memory, a queue that sends to it may be kept blocked by any
//! byte that is stuck there, whichever way it came and in whichever class, since every one of them
//! lowers the threshold. So such a queue "waits for" all queues of that switch that have a backlog, and
//! [`Switch::keeps_paused`] says whether the memory with
//! nothing in it but what the members keep would let it go on. The argument holds with these edges, but
//! an arrival changes the prospects of all queues that the switch has paused, not of one: all
//! of them are looked at. A departure changes nobody's: it was expected already. Frames that are still
//! on their way to a paused queue may yet let it go on, by passing, so with them the answer is no until
//! they are there, or have expired there.
//!
//! The detector reads switches, be they simulated or real: [`Network`] is all that it asks for.

use alloc::vec::Vec;

use crate::flow_control::Downstream;
use crate::id::{Class, FlowId, NodeId, PortId, QueueId};
use crate::switch::Switch;
use crate::unit::{Bytes, Time};

/// One class of an egress port: the queue that a far end can pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EgressQueue {
    /// The switch that the queue is in.
    pub node: NodeId,
    /// The egress port that the queue feeds.
    pub port: PortId,
    /// The class of its packets.
    pub class: Class,
}

/// A set of egress queues that can never send again, found as the greatest fixed point over blocked
/// queues, never by a timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// The first event after which all members are blocked for good.
    pub time: Time,
    /// All egress queues that can never send again.
    pub members: Vec<EgressQueue>,
    /// A shortest cycle among them: each waits for the next, the last for the first.
    pub cycle: Vec<EgressQueue>,
    /// The flows whose packets close the cycle.
    pub flows: Vec<FlowId>,
}

/// The switches and links that the detector reads.
pub trait Network {
    /// The handle by which switches know a packet.
    type Packet: Copy;

    /// The switch of this number; `None` for a host.
    fn switch(&self, node: NodeId) -> Option<&Switch<Self::Packet>>;

    /// The other end of a link.
    fn far_end(&self, node: NodeId, port: PortId) -> (NodeId, PortId);

    /// The number of ports of all nodes together.
    fn port_count(&self) -> usize;

    /// The number of a port among those of all nodes.
    fn port_index(&self, node: NodeId, port: PortId) -> usize;

    /// How many classes every port has.
    fn class_count(&self) -> usize;

    /// Every egress queue of every switch.
    fn egress_queues(&self) -> impl Iterator<Item = EgressQueue>;

    /// Bytes of data of the class of `queue` that are on the wire behind it.
    fn in_flight(&self, queue: EgressQueue) -> Bytes;

    /// The instant before which every message sent on any link has arrived or was lost. Where
    /// messages can be lost, the detector waits no longer for one than this.
    fn settled(&self, _now: Time) -> Time {
        Time::ZERO
    }

    /// The flow that a packet belongs to; `None` for packets that belong to none.
    fn flow(&self, node: NodeId, packet: Self::Packet) -> Option<FlowId>;
}

/// The position of an egress queue in a vector that has one element for each.
#[inline]
fn queue_index(network: &impl Network, queue: EgressQueue) -> usize {
    network.port_index(queue.node, queue.port) * network.class_count() + queue.class.index()
}

/// The node that `queue` sends to.
fn far_node(network: &impl Network, queue: EgressQueue) -> NodeId {
    network.far_end(queue.node, queue.port).0
}

/// The switch that `queue` sends to, and the ingress port there; `None` for a host.
fn far_switch<N: Network>(network: &N, queue: EgressQueue) -> Option<(&Switch<N::Packet>, PortId)> {
    let (node, port) = network.far_end(queue.node, queue.port);
    Some((network.switch(node)?, port))
}

/// Searches for deadlocks; the fields are scratch memory, kept from search to search.
#[derive(Debug, Default)]
pub struct Detector {
    /// Vertices by number, in the order in which the search found them.
    found: Vec<Vertex>,
    /// The number of a vertex plus one, per (global port, class); 0 when not found.
    number: Vec<u32>,
}

/// A blocked egress queue.
#[derive(Clone, Copy, Debug)]
struct Vertex {
    queue: EgressQueue,
    /// The size of the frame that cannot leave.
    head: Bytes,
    /// Whether the queue is still a candidate for the fixed point.
    alive: bool,
}

impl Detector {
    /// A detector for `network`, and for no other.
    pub fn new(network: &impl Network) -> Detector {
        Detector {
            found: Vec::new(),
            number: alloc::vec![0; network.port_count() * network.class_count()],
        }
    }

    /// Looks for a deadlock through `queue`, which has just been blocked or has just grown.
    pub fn check(
        &mut self,
        now: Time,
        network: &impl Network,
        queue: EgressQueue,
    ) -> Option<Deadlock> {
        self.check_any(now, network, core::iter::once(queue))
    }

    /// Looks for a deadlock through any of `queues`, which all wait for the same others: so one search
    /// finds the cycles through all of them.
    pub fn check_any(
        &mut self,
        now: Time,
        network: &impl Network,
        queues: impl Iterator<Item = EgressQueue> + Clone,
    ) -> Option<Deadlock> {
        let heads = queues.clone().map(|queue| (queue, blocked(now, network, queue)));
        let (start, head) = heads.filter_map(|(queue, head)| Some((queue, head?))).next()?;
        let is_start_on_cycle =
            self.explore(now, network, Vertex { queue: start, head, alive: true });
        let is_found = |queue| queue != start && self.number[queue_index(network, queue)] > 0;
        let mut deadlock = None;
        if is_start_on_cycle || queues.clone().any(is_found) {
            self.shrink(network);
            let cycle = queues
                .filter(|queue| self.is_alive(network, *queue))
                .find_map(|queue| self.shortest_cycle(network, queue));
            deadlock = cycle.map(|cycle| self.conclude(now, network, cycle));
        }
        self.forget(network);
        deadlock
    }

    /// Looks for a deadlock through every queue, for callers that do not follow every event.
    pub fn look(&mut self, now: Time, network: &impl Network) -> Option<Deadlock> {
        let mut queues = network.egress_queues();
        queues.find_map(|queue| self.check(now, network, queue))
    }

    /// Computes all members of a deadlock and the flows that close `cycle`.
    fn conclude(&mut self, now: Time, network: &impl Network, cycle: Vec<EgressQueue>) -> Deadlock {
        // Queues anywhere that wait for the cycle are members too.
        for queue in network.egress_queues() {
            if self.number[queue_index(network, queue)] == 0
                && let Some(head) = blocked(now, network, queue)
            {
                self.add(network, Vertex { queue, head, alive: true });
            }
        }
        self.shrink(network);
        let alive = self.found.iter().filter(|vertex| vertex.alive);
        let mut members: Vec<EgressQueue> = alive.map(|vertex| vertex.queue).collect();
        members.sort();
        let flows = self.flows_on(network, &cycle);
        Deadlock { time: now, members, cycle, flows }
    }

    /// Searches the blocked queues breadth first from `start`; returns whether the search comes
    /// back to it.
    fn explore(&mut self, now: Time, network: &impl Network, start: Vertex) -> bool {
        self.add(network, start);
        let mut is_on_cycle = false;
        let mut next = 0;
        while next < self.found.len() {
            let vertex = self.found[next];
            next += 1;
            for_each_awaited(network, vertex.queue, |queue| {
                if queue == start.queue {
                    is_on_cycle = true;
                } else if self.number[queue_index(network, queue)] == 0
                    && let Some(head) = blocked(now, network, queue)
                {
                    self.add(network, Vertex { queue, head, alive: true });
                }
            });
        }
        is_on_cycle
    }

    fn add(&mut self, network: &impl Network, vertex: Vertex) {
        self.found.push(vertex);
        self.number[queue_index(network, vertex.queue)] = self.found.len() as u32;
    }

    fn forget(&mut self, network: &impl Network) {
        for vertex in self.found.drain(..) {
            self.number[queue_index(network, vertex.queue)] = 0;
        }
    }

    fn is_alive(&self, network: &impl Network, queue: EgressQueue) -> bool {
        match self.number[queue_index(network, queue)] {
            0 => false,
            number => self.found[number as usize - 1].alive,
        }
    }

    /// Computes the greatest fixed point: removes every queue that would be released, until none
    /// is.
    fn shrink(&mut self, network: &impl Network) {
        loop {
            let mut changed = false;
            for index in 0..self.found.len() {
                let Vertex { queue, head, alive } = self.found[index];
                if alive && !self.is_kept_blocked(network, queue, head) {
                    self.found[index].alive = false;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn is_kept_blocked(&self, network: &impl Network, queue: EgressQueue, head: Bytes) -> bool {
        let Some((switch, ingress)) = far_switch(network, queue) else {
            return false;
        };
        let (node, class) = (far_node(network, queue), queue.class);
        let stuck = |port, class| self.is_alive(network, EgressQueue { node, port, class });
        if switch.memory().is_some() {
            return switch.keeps_paused(ingress, class, network.in_flight(queue), stuck);
        }
        let kept = switch.kept(ingress, class, stuck);
        let charge = switch.port(ingress).charge(class, head);
        switch.port(ingress).downstream(class).keeps_blocked(kept, charge)
    }

    /// Searches breadth first from `start` back to it, among the queues that are alive. There is no
    /// way back if `start` only waits for a deadlock that another queue closes in the same event.
    fn shortest_cycle(
        &self,
        network: &impl Network,
        start: EgressQueue,
    ) -> Option<Vec<EgressQueue>> {
        let mut order = alloc::vec![(start, usize::MAX)];
        let mut next = 0;
        while next < order.len() {
            let mut is_back = false;
            for_each_awaited(network, order[next].0, |to| {
                is_back |= to == start;
                let is_new = || order.iter().all(|(seen, _)| *seen != to);
                if self.is_alive(network, to) && is_new() {
                    order.push((to, next));
                }
            });
            if is_back {
                return Some(unwind(&order, next));
            }
            next += 1;
        }
        None
    }

    /// The flows whose packets wait along the cycle, from each queue for the next.
    fn flows_on(&self, network: &impl Network, cycle: &[EgressQueue]) -> Vec<FlowId> {
        let mut flows = Vec::new();
        for (index, queue) in cycle.iter().enumerate() {
            let next = cycle[(index + 1) % cycle.len()];
            let (switch, ingress) =
                far_switch(network, *queue).expect("only a switch can keep a queue blocked");
            let is_shared = switch.memory().is_some();
            switch.for_each_waiting(|from, to, packet| {
                let is_from = from == QueueId { port: ingress, class: queue.class } || is_shared;
                if is_from && (to.port, to.class) == (next.port, next.class) {
                    flows.extend(network.flow(far_node(network, *queue), *packet));
                }
            });
        }
        flows.sort();
        flows.dedup();
        flows
    }
}

/// Decides from the definition, over all queues at once, whether a set of them can never send
/// again. Tests compare [`Detector::check`], which looks through one queue at a time, with this.
pub fn is_deadlocked(now: Time, network: &impl Network) -> bool {
    let mut detector = Detector::new(network);
    for queue in network.egress_queues() {
        if let Some(head) = blocked(now, network, queue) {
            let alive = true;
            detector.add(network, Vertex { queue, head, alive });
        }
    }
    detector.shrink(network);
    detector.found.iter().any(|vertex| vertex.alive)
}

/// Calls `visit` with every queue whose bytes may be what keeps `queue` blocked.
fn for_each_awaited(
    network: &impl Network,
    queue: EgressQueue,
    mut visit: impl FnMut(EgressQueue),
) {
    let Some((switch, ingress)) = far_switch(network, queue) else {
        return;
    };
    let node = far_node(network, queue);
    if switch.memory().is_none() {
        let from = QueueId { port: ingress, class: queue.class };
        for to in switch.queues_after(queue.class) {
            if switch.waiting(from, to) > Bytes::ZERO {
                visit(EgressQueue { node, port: to.port, class: to.class });
            }
        }
        return;
    }
    for port in (0..switch.port_count()).map(|port| PortId(port as u16)) {
        for class in (0..network.class_count()).map(|class| Class(class as u8)) {
            if switch.backlog(port, class) > 0 {
                visit(EgressQueue { node, port, class });
            }
        }
    }
}

fn unwind(order: &[(EgressQueue, usize)], last: usize) -> Vec<EgressQueue> {
    let mut cycle = Vec::new();
    let mut at = last;
    while at != usize::MAX {
        cycle.push(order[at].0);
        at = order[at].1;
    }
    cycle.reverse();
    cycle
}

/// The size of the head frame of `queue` if the far end has stopped it, would keep it stopped in
/// its present state, and has no resume on its way; `None` otherwise.
pub fn blocked(now: Time, network: &impl Network, queue: EgressQueue) -> Option<Bytes> {
    let EgressQueue { node, port, class } = queue;
    let switch = network.switch(node)?;
    let head = switch.blocked(now, port, class)?;
    let (far, ingress) = far_switch(network, queue)?;
    let far_port = far.port(ingress);
    let down = far_port.downstream(class);
    let up = switch.port(port).upstream(class);
    let is_resuming = down.is_resume_on_its_way(up, network.settled(now));
    let charge = far_port.charge(class, head);
    let kept_at_most = far_port.held(class);
    (!is_resuming && down.keeps_blocked(kept_at_most, charge)).then_some(head)
}
