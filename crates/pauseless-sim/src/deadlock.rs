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
//! [`Switch::keeps_paused`](pauseless_core::switch::Switch::keeps_paused) says whether the memory with
//! nothing in it but what the members keep would let it go on. The argument holds with these edges, but
//! an arrival changes the prospects of all queues that the switch has paused, not of one: all
//! of them are looked at. A departure changes nobody's: it was expected already. Frames that are still
//! on their way to a paused queue may yet let it go on, by passing, so with them the answer is no until
//! they are there, or have expired there.

use pauseless_core::flow_control::Downstream;
use pauseless_core::id::{Class, FlowId, PortId};
use pauseless_core::switch::Switch;
use pauseless_core::unit::{Bytes, Time};

use crate::fabric::{Fabric, Node};
use crate::outcome::{Deadlock, EgressQueue};
use crate::tag::Tag;

/// The detector's scratch memory.
#[derive(Debug, Default)]
pub(crate) struct Detector {
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
    /// Still a candidate for the fixed point.
    alive: bool,
}

impl Detector {
    pub(crate) fn new(fabric: &Fabric) -> Detector {
        Detector {
            found: Vec::new(),
            number: vec![0; fabric.port_count() * fabric.class_count()],
        }
    }

    /// Looks for a deadlock through `queue`, which has just been blocked or has just grown.
    pub(crate) fn check(
        &mut self,
        now: Time,
        fabric: &Fabric,
        queue: EgressQueue,
    ) -> Option<Deadlock> {
        self.check_any(now, fabric, std::iter::once(queue))
    }

    /// Looks for a deadlock through any of `queues`, which all wait for the same others: so one search
    /// finds the cycles through all of them.
    pub(crate) fn check_any(
        &mut self,
        now: Time,
        fabric: &Fabric,
        queues: impl Iterator<Item = EgressQueue> + Clone,
    ) -> Option<Deadlock> {
        let heads = queues
            .clone()
            .map(|queue| (queue, blocked(now, fabric, queue)));
        let (start, head) = heads
            .filter_map(|(queue, head)| Some((queue, head?)))
            .next()?;
        let is_on_cycle = self.explore(
            now,
            fabric,
            Vertex {
                queue: start,
                head,
                alive: true,
            },
        );
        let is_candidate = |detector: &Detector, queue: EgressQueue| match queue == start {
            true => is_on_cycle,
            false => detector.number[fabric.queue_index(queue)] > 0,
        };
        let mut deadlock = None;
        if queues.clone().any(|queue| is_candidate(self, queue)) {
            self.shrink(fabric);
            let cycle = queues
                .filter(|queue| is_candidate(self, *queue) && self.is_alive(fabric, *queue))
                .find_map(|queue| self.shortest_cycle(fabric, queue));
            deadlock = cycle.map(|cycle| self.conclude(now, fabric, cycle));
        }
        self.forget(fabric);
        deadlock
    }

    /// All that is to be said about a deadlock.
    fn conclude(&mut self, now: Time, fabric: &Fabric, cycle: Vec<EgressQueue>) -> Deadlock {
        // The members are all that wait for the cycle too, wherever they are.
        for queue in fabric.egress_queues() {
            if self.number[fabric.queue_index(queue)] == 0
                && let Some(head) = blocked(now, fabric, queue)
            {
                self.add(
                    fabric,
                    Vertex {
                        queue,
                        head,
                        alive: true,
                    },
                );
            }
        }
        self.shrink(fabric);
        let alive = self.found.iter().filter(|vertex| vertex.alive);
        let mut members: Vec<EgressQueue> = alive.map(|vertex| vertex.queue).collect();
        members.sort();
        let flows = self.flows_on(fabric, &cycle);
        Deadlock {
            time: now,
            members,
            cycle,
            flows,
        }
    }

    /// Breadth-first search over blocked queues from `start`; whether it comes back to it.
    fn explore(&mut self, now: Time, fabric: &Fabric, start: Vertex) -> bool {
        self.add(fabric, start);
        let mut is_on_cycle = false;
        let mut next = 0;
        while next < self.found.len() {
            let vertex = self.found[next];
            next += 1;
            for_each_awaited(fabric, vertex.queue, |queue| {
                if queue == start.queue {
                    is_on_cycle = true;
                } else if self.number[fabric.queue_index(queue)] == 0
                    && let Some(head) = blocked(now, fabric, queue)
                {
                    self.add(
                        fabric,
                        Vertex {
                            queue,
                            head,
                            alive: true,
                        },
                    );
                }
            });
        }
        is_on_cycle
    }

    fn add(&mut self, fabric: &Fabric, vertex: Vertex) {
        self.found.push(vertex);
        self.number[fabric.queue_index(vertex.queue)] = self.found.len() as u32;
    }

    fn forget(&mut self, fabric: &Fabric) {
        for vertex in self.found.drain(..) {
            self.number[fabric.queue_index(vertex.queue)] = 0;
        }
    }

    fn is_alive(&self, fabric: &Fabric, queue: EgressQueue) -> bool {
        match self.number[fabric.queue_index(queue)] {
            0 => false,
            number => self.found[number as usize - 1].alive,
        }
    }

    /// The greatest fixed point: drops whatever would be released, until nothing more is.
    fn shrink(&mut self, fabric: &Fabric) {
        loop {
            let mut changed = false;
            for index in 0..self.found.len() {
                let Vertex { queue, head, alive } = self.found[index];
                if alive && !self.is_kept_blocked(fabric, queue, head) {
                    self.found[index].alive = false;
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn is_kept_blocked(&self, fabric: &Fabric, queue: EgressQueue, head: Bytes) -> bool {
        let Some((switch, ingress)) = fabric.far_switch(queue) else {
            return false;
        };
        let (node, class) = (fabric.far_node(queue), queue.class);
        let stuck = |port, class| self.is_alive(fabric, EgressQueue { node, port, class });
        if switch.memory().is_some() {
            return switch.keeps_paused((ingress, class), fabric.in_flight(queue), stuck);
        }
        let kept = switch.kept(ingress, class, stuck);
        let charge = switch.port(ingress).charge(class, head);
        switch
            .port(ingress)
            .downstream(class)
            .keeps_blocked(kept, charge)
    }

    /// Breadth-first from `start` back to it, among the queues that are alive. There is no way back
    /// if `start` only waits for a deadlock that another queue closes in the same event.
    fn shortest_cycle(&self, fabric: &Fabric, start: EgressQueue) -> Option<Vec<EgressQueue>> {
        let mut order = vec![(start, usize::MAX)];
        let mut next = 0;
        while next < order.len() {
            let mut is_back = false;
            for_each_awaited(fabric, order[next].0, |to| {
                is_back |= to == start;
                let is_new = || order.iter().all(|(seen, _)| *seen != to);
                if self.is_alive(fabric, to) && is_new() {
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

    /// Flows with packets that wait along the cycle: from where one queue sends to the next queue.
    fn flows_on(&self, fabric: &Fabric, cycle: &[EgressQueue]) -> Vec<FlowId> {
        let mut flows = Vec::new();
        for (index, queue) in cycle.iter().enumerate() {
            let next = cycle[(index + 1) % cycle.len()];
            let (switch, ingress) = fabric
                .far_switch(*queue)
                .expect("a kept queue faces a switch");
            let is_shared = switch.memory().is_some();
            switch.for_each_waiting(|from, to, packet| {
                let is_from = from == (ingress, queue.class) || is_shared;
                if is_from && to == (next.port, next.class) {
                    flows.push(packet.flow());
                }
            });
        }
        flows.sort();
        flows.dedup();
        flows
    }
}

/// The ports and classes that packets which came in `class` may wait for.
fn queues_after(switch: &Switch<Tag>, class: Class) -> impl Iterator<Item = (PortId, Class)> + '_ {
    let ports = (0..switch.port_count()).map(|port| PortId(port as u16));
    ports.flat_map(move |port| {
        switch
            .leaving_classes(class)
            .map(move |class| (port, class))
    })
}

/// Calls `visit` with every queue that keeps bytes on the strength of which `queue` may be blocked.
fn for_each_awaited(fabric: &Fabric, queue: EgressQueue, mut visit: impl FnMut(EgressQueue)) {
    let Some((switch, ingress)) = fabric.far_switch(queue) else {
        return;
    };
    let node = fabric.far_node(queue);
    if switch.memory().is_none() {
        let from = (ingress, queue.class);
        for (port, class) in queues_after(switch, queue.class) {
            if switch.waiting(from, (port, class)) > Bytes::ZERO {
                visit(EgressQueue { node, port, class });
            }
        }
        return;
    }
    for port in (0..switch.port_count()).map(|port| PortId(port as u16)) {
        for class in (0..fabric.class_count()).map(|class| Class(class as u8)) {
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

/// The head frame of `queue` if it is blocked by what a switch at the far end holds, for good as
/// far as the far end's present state goes, and with no resume on its way.
fn blocked(now: Time, fabric: &Fabric, queue: EgressQueue) -> Option<Bytes> {
    let EgressQueue { node, port, class } = queue;
    let Node::Switch(switch) = &fabric.nodes[node.index()] else {
        return None;
    };
    let head = switch.blocked(now, port, class)?;
    let (far, ingress) = fabric.far_switch(queue)?;
    let far_port = far.port(ingress);
    let down = far_port.downstream(class);
    let heard = switch.port(port).upstream(class).resumes();
    let charge = far_port.charge(class, head);
    let kept_at_most = far_port.held(class);
    (heard == down.resumes() && down.keeps_blocked(kept_at_most, charge)).then_some(head)
}

#[cfg(test)]
mod tests;
