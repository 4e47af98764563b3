//! Links and switches that fail and return, and tables that change, during a run.

use pauseless_core::flow_control::{Control, Signal};
use pauseless_core::id::{Class, GroupId, NodeId, PortId};
use pauseless_core::table::ForwardingTable;
use pauseless_core::unit::Bytes;

use super::Simulator;
use super::mitigate::Cause;
use crate::change::{Change, NewTable, What};
use crate::config::Config;
use crate::event::{Event, Kind};
use crate::fabric::{End, Fabric, Frame, Node, Packet, port_config};
use crate::outcome::EgressQueue;

/// What has changed so far.
#[derive(Debug)]
pub(crate) struct Changing {
    /// Whether the link of each end has failed by itself.
    is_cut: Vec<bool>,
    /// Whether each node has failed.
    is_off: Vec<bool>,
    /// The table of each node.
    tables: Vec<NewTable>,
}

impl Changing {
    pub(super) fn new(config: &Config, fabric: &Fabric) -> Option<Box<Changing>> {
        let changes = &config.changes;
        if changes.is_empty() {
            return None;
        }
        assert!(changes.list.is_sorted_by_key(|change| change.time), "changes are in order");
        assert!(changes.list.len() < Event::INDEX_MAX, "too many changes");
        Some(Box::new(Changing {
            is_cut: vec![false; fabric.ends.len()],
            is_off: vec![false; fabric.nodes.len()],
            tables: vec![NewTable::First; fabric.nodes.len()],
        }))
    }

    /// Whether the link of an end is down, for whatever reason.
    fn is_down(&self, fabric: &Fabric, index: usize) -> bool {
        let end = &fabric.ends[index];
        let peer = &fabric.ends[end.peer as usize];
        self.is_cut[index] || self.is_off[end.node.index()] || self.is_off[peer.node.index()]
    }
}

/// Why a packet cannot go on.
pub(super) enum NoWay {
    /// The switch knows no next hop.
    NoRoute,
    /// The link to the next hop is down.
    LinkDown,
}

impl<'c> Simulator<'c> {
    /// The egress by which a switch forwards a packet of a group.
    #[inline]
    pub(super) fn next_hop(
        &self,
        node: NodeId,
        group: GroupId,
        hash: u64,
    ) -> Result<PortId, NoWay> {
        match &self.changing {
            None => self.config.table.next_hop(node, group, hash).ok_or(NoWay::NoRoute),
            Some(_) => self.next_hop_now(node, group, hash),
        }
    }

    /// As [`Simulator::next_hop`], where tables and links change.
    #[inline(never)]
    fn next_hop_now(&self, node: NodeId, group: GroupId, hash: u64) -> Result<PortId, NoWay> {
        let table = self.table_now(node).ok_or(NoWay::NoRoute)?;
        let egress = table.next_hop(node, group, hash).ok_or(NoWay::NoRoute)?;
        self.check_link(node, egress)
    }

    /// The table by which a switch forwards at present, if it has one.
    pub(super) fn table_now(&self, node: NodeId) -> Option<&'c ForwardingTable> {
        let Some(changing) = &self.changing else {
            return Some(&self.config.table);
        };
        match changing.tables[node.index()] {
            NewTable::First => Some(&self.config.table),
            NewTable::Other(number) => Some(&self.config.changes.tables[number as usize]),
            NewTable::Nothing => None,
        }
    }

    /// An egress, if its link is up.
    pub(super) fn check_link(&self, node: NodeId, egress: PortId) -> Result<PortId, NoWay> {
        match &self.changing {
            Some(changing)
                if changing.is_down(&self.fabric, self.fabric.end_index(node, egress)) =>
            {
                Err(NoWay::LinkDown)
            }
            _ => Ok(egress),
        }
    }

    /// Whether the link of an end is down.
    #[cfg(test)]
    pub(crate) fn is_down(&self, index: usize) -> bool {
        self.changing.as_ref().is_some_and(|changing| changing.is_down(&self.fabric, index))
    }

    pub(super) fn schedule_changes(&mut self) {
        if let Some(first) = self.config.changes.list.first() {
            self.queue.push_whole(Event::new(first.time, Kind::Change, 0));
        }
    }

    /// Handles a change of the network, and schedules the next one.
    #[cold]
    pub(super) fn on_change(&mut self, number: usize) {
        let list = &self.config.changes.list;
        if let Some(next) = list.get(number + 1) {
            self.queue.push_whole(Event::new(next.time, Kind::Change, number as u32 + 1));
        }
        let Change { event, what, .. } = list[number];
        self.mitigating.note_change(event);
        match what {
            What::LinkDown(node, port) => self.turn_link(node, port, true),
            What::LinkUp(node, port) => self.turn_link(node, port, false),
            What::SwitchDown(node) => self.turn_switch(node, true),
            What::SwitchUp(node) => self.turn_switch(node, false),
            What::Table(node, table) => self.changing().tables[node.index()] = table,
            What::Noise(node, port, noise) => {
                let index = self.fabric.end_index(node, port);
                for index in [index, self.fabric.ends[index].peer as usize] {
                    self.wire_losses.set(index, noise);
                }
            }
        }
    }

    fn changing(&mut self) -> &mut Changing {
        self.changing.as_mut().expect("only called in runs with changes")
    }

    fn turn_link(&mut self, node: NodeId, port: PortId, is_cut: bool) {
        let index = self.fabric.end_index(node, port);
        let ends = [index, self.fabric.ends[index].peer as usize];
        self.turn(&[index], |changing| {
            for end in ends {
                changing.is_cut[end] = is_cut;
            }
        });
    }

    fn turn_switch(&mut self, node: NodeId, is_off: bool) {
        let ends = Vec::from_iter(self.fabric.ends_of(node));
        self.turn(&ends, |changing| changing.is_off[node.index()] = is_off);
    }

    /// Changes what is known to be down, of which the links of `ends` are the ones that may follow.
    fn turn(&mut self, ends: &[usize], change: impl FnOnce(&mut Changing)) {
        let is_down = |run: &Self, end: usize| {
            run.changing.as_ref().is_some_and(|it| it.is_down(&run.fabric, end))
        };
        let before = Vec::from_iter(ends.iter().map(|end| is_down(self, *end)));
        change(self.changing());
        let changed = ends.iter().zip(before).filter(|(end, was)| is_down(self, **end) != *was);
        let changed = Vec::from_iter(changed.map(|(end, was)| (*end, was)));
        let both = |run: &Self, end: usize| [end, run.fabric.ends[end].peer as usize];
        let links = |wanted: bool| changed.iter().filter(move |(_, was)| *was == wanted);
        let down = links(false).flat_map(|(end, _)| both(self, *end));
        let down = Vec::from_iter(down);
        let up = Vec::from_iter(links(true).map(|(end, _)| *end));
        self.take_down(&down);
        for end in up {
            self.bring_up(end);
        }
        self.review_deadlocks(&down);
    }

    /// Lets the links of these ends fail; both ends of each are among them.
    fn take_down(&mut self, ends: &[usize]) {
        // All of them fail before any of them can use what another one has released.
        for index in ends {
            self.clear_wire(*index);
        }
        for index in ends {
            let End { node, port, .. } = self.fabric.ends[*index];
            match &mut self.fabric.nodes[node.index()] {
                Node::Switch(switch) => switch.fail_link(self.now, port),
                Node::Host(host) => host.fail_link(),
            }
            if self.mitigating.is_watching
                && matches!(self.fabric.nodes[node.index()], Node::Switch(_))
            {
                self.note_trips(node);
            }
            self.serve(node);
            self.look_at_link(*index);
        }
        for index in ends {
            self.drop_waiting(*index);
        }
    }

    /// Drops the frames on the wire to an end, and forgets the control frames that have arrived there
    /// without an effect yet.
    fn clear_wire(&mut self, index: usize) {
        let place = self.fabric.ends[index].place();
        loop {
            let Fabric { ends, sky, .. } = &mut self.fabric;
            let Some((frame, _)) = sky.land(&mut ends[index]) else {
                break;
            };
            if let Frame::Data(packet) = frame {
                self.lose_to_event(packet, Cause::Event);
            }
        }
        let Fabric { ends, controls, .. } = &mut self.fabric;
        while controls.pop_front(&mut ends[index].signals).is_some() {}
        self.queue.clear(place, Kind::Arrive);
        self.queue.clear(place, self.config.hardware.ties.signal());
        self.queue.leave(place.node);
        if let Some(tracer) = &mut self.tracer {
            for class in (0..self.config.ingress.class_count()).map(|class| Class(class as u8)) {
                tracer.handle_failure(self.now, index, class);
            }
        }
    }

    /// Drops what waits to leave by an end.
    fn drop_waiting(&mut self, index: usize) {
        let End { node, port, .. } = self.fabric.ends[index];
        loop {
            let Node::Switch(switch) = &mut self.fabric.nodes[node.index()] else {
                return;
            };
            let Some(dropped) = switch.drop_waiting(self.now, port) else {
                return;
            };
            self.account(node, dropped, Cause::Event);
            self.serve(node);
        }
    }

    /// Lets the link of an end return.
    fn bring_up(&mut self, index: usize) {
        let ends = [index, self.fabric.ends[index].peer as usize];
        for index in ends {
            let End { node, port, .. } = self.fabric.ends[index];
            let config = port_config(self.config, node, port);
            match &mut self.fabric.nodes[node.index()] {
                Node::Switch(switch) => switch.restore_link(self.now, port, &config),
                Node::Host(host) => host.restore_link(self.now, &config),
            }
        }
        for class in (0..self.config.ingress.class_count()).map(|class| Class(class as u8)) {
            for [from, to] in [ends, [ends[1], ends[0]]] {
                self.introduce(from, to, class);
            }
        }
        for index in ends {
            let End { node, port, .. } = self.fabric.ends[index];
            match &mut self.fabric.nodes[node.index()] {
                Node::Switch(switch) => switch.handle_timeout(self.now, port),
                Node::Host(host) => host.handle_timeout(self.now),
            }
            self.serve(node);
            self.look_at_link(index);
        }
    }

    /// Tells one end of a link that comes up the state of the other one.
    fn introduce(&mut self, from: usize, to: usize, class: Class) {
        let End { node, port, .. } = self.fabric.ends[from];
        let signal: Option<Signal> = match &mut self.fabric.nodes[node.index()] {
            Node::Switch(switch) => switch.introduce(self.now, port, class),
            Node::Host(host) => host.introduce(self.now, class),
        };
        let Some(signal) = signal else {
            return;
        };
        let control = Control { class, signal };
        let End { node, port, .. } = self.fabric.ends[to];
        match &mut self.fabric.nodes[node.index()] {
            Node::Switch(switch) => {
                switch.handle_control(port, control);
                switch.handle_signal(self.now, port, control);
            }
            Node::Host(host) => {
                host.handle_control(control);
                host.handle_signal(self.now, control);
            }
        }
    }

    fn serve(&mut self, node: NodeId) {
        self.drain(node);
        self.queue.leave(node);
    }

    /// Records that the far end of a link has ceased to hold this one back.
    fn look_at_link(&mut self, index: usize) {
        for class in (0..self.config.ingress.class_count()).map(|class| Class(class as u8)) {
            self.look_at_spread(index, class);
        }
    }

    /// Drops a packet that has arrived at a switch and cannot go on.
    #[cold]
    pub(super) fn drop_at_switch(&mut self, index: usize, packet: Packet, why: NoWay) {
        let End { node, port, .. } = self.fabric.ends[index];
        if let Node::Switch(switch) = &mut self.fabric.nodes[node.index()] {
            switch.handle_expired(port, packet.class, packet.size());
        }
        let cause = match why {
            NoWay::NoRoute => Cause::NoRoute,
            NoWay::LinkDown => Cause::Event,
        };
        self.lose_to_event(packet, cause);
        if self.config.ingress.is_sharing() {
            // Until it arrived, it might have let its sender continue.
            self.look_for_deadlock_around(node);
        }
    }

    fn lose_to_event(&mut self, packet: Packet, cause: Cause) {
        let size: Bytes = packet.size();
        self.forget(packet.tag, size);
        self.tally.losses.add(cause, size);
    }

    /// Closes the deadlocks that the failure of these ends has broken, and looks for those that a change
    /// has closed: both follow from the definition, at this instant.
    fn review_deadlocks(&mut self, down: &[usize]) {
        let classes = self.config.ingress.class_count() as u8;
        for index in down {
            let End { node, port, .. } = self.fabric.ends[*index];
            for class in (0..classes).map(Class) {
                self.break_episodes(EgressQueue { node, port, class });
            }
        }
        for cycle in self.mitigating.open_cycles() {
            let (now, fabric) = (self.now, &self.fabric);
            let detector = &mut self.detector;
            let mut queues = cycle.iter();
            if !queues.any(|queue| detector.check(now, fabric, *queue).is_some()) {
                self.break_episodes(cycle[0]);
            }
        }
        for index in 0..self.fabric.ends.len() {
            let End { node, port, .. } = self.fabric.ends[index];
            if let Node::Switch(switch) = &self.fabric.nodes[node.index()] {
                let stopped = switch.stopped(port);
                self.look_for_deadlock_at(node, port, stopped);
            }
        }
    }
}
