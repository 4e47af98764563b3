//! The events of a node that is being handled, at hand in the loops over them.

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::Time;

use super::{Event, EventQueue, KIND_BITS, Kind, Limit, NEVER, NodeEvents, Place, Tree};

/// A node whose arrivals and departures are being handled, see [`EventQueue::open`]. Ports fit into keys.
#[derive(Debug)]
pub(crate) struct Opened {
    node: NodeId,
    tree: Tree,
    ports: u32,
    /// The first arrival or departure.
    root: u64,
    /// The first of all other events.
    other: u64,
    /// The bits of a port in a key, and the instant from which on events have no number.
    port_bits: u32,
    horizon: Time,
}

/// The event of a node that comes first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    pub time: Time,
    pub port: PortId,
    /// The number of its [`Kind`].
    kind: u32,
}

impl Next {
    /// Whether it is of this kind.
    #[inline(always)]
    pub(crate) fn is(self, kind: Kind) -> bool {
        self.kind == kind as u32
    }

    /// The same event, of a port with this number.
    #[cold]
    pub(crate) fn at(self, index: usize) -> Event {
        Event::new(self.time, Kind::from_number(self.kind), index as u32)
    }
}

/// A node of one port, whose events are being handled, see [`EventQueue::open_host`]: few enough to be
/// compared without a tree.
#[derive(Debug)]
pub(crate) struct OpenedHost {
    node: NodeId,
    arrival: u64,
    departure: u64,
    timeout: u64,
    /// The effect of a control frame, and the first event of the agenda, which are handled elsewhere.
    signal: u64,
    agenda: u64,
    /// The bits of kind and port in a key, and the instant from which on events have no number.
    low_bits: u32,
    horizon: Time,
}

/// What is due at a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    Arrival,
    Departure,
    Timeout,
    /// The effect of a control frame, or what is on the agenda.
    Other,
}

impl EventQueue {
    /// Begins to handle the arrivals and departures of a node, where ports fit into keys;
    /// [`EventQueue::close`] ends that.
    #[inline(always)]
    pub(crate) fn open(&self, node: NodeId) -> Opened {
        let NodeEvents { roots, trees, ports, .. } = &self.nodes[node.index()];
        Opened {
            node,
            tree: trees[0],
            ports: *ports,
            root: roots[0],
            other: roots[1].min(roots[2]),
            port_bits: self.port_bits,
            horizon: self.horizon,
        }
    }

    /// Makes the first arrival or departure of a node known to all others.
    #[inline(always)]
    pub(crate) fn close(&mut self, opened: &Opened) {
        self.nodes[opened.node.index()].roots[0] = opened.root;
    }

    /// Begins to handle the events of a node of one port; [`EventQueue::close_host`] ends that.
    #[inline(always)]
    pub(crate) fn open_host(&self, node: NodeId) -> OpenedHost {
        let NodeEvents { roots, trees, ports, .. } = &self.nodes[node.index()];
        assert_eq!(*ports, 1, "a host has one port");
        let [often, rarely] = trees.map(|tree| [0, 1].map(|leaf| tree.get(&self.keys, leaf)));
        OpenedHost {
            node,
            arrival: often[0],
            departure: often[1],
            signal: rarely[0],
            timeout: rarely[1],
            agenda: roots[2],
            low_bits: KIND_BITS + self.port_bits,
            horizon: self.horizon,
        }
    }

    /// Puts the events of a node of one port back.
    #[inline(always)]
    pub(crate) fn close_host(&mut self, opened: &OpenedHost) {
        let OpenedHost { arrival, departure, signal, timeout, .. } = *opened;
        let node = &mut self.nodes[opened.node.index()];
        for (number, leaves) in [[arrival, departure], [signal, timeout]].into_iter().enumerate() {
            let tree = node.trees[number];
            self.keys[(tree.base + tree.leaves) as usize..][..2].copy_from_slice(&leaves);
            node.roots[number] = leaves[0].min(leaves[1]);
        }
    }

    /// Sets the timeout of a port of the node.
    #[inline(never)]
    pub(crate) fn set_timeout(&mut self, opened: &mut Opened, port: PortId, time: Time) {
        let place = Place { node: opened.node, port };
        self.push_here(place, Kind::Timeout, time);
        let roots = self.nodes[opened.node.index()].roots;
        opened.other = roots[1].min(roots[2]);
    }

    /// Sets the next arrival at a port of the node.
    #[inline(always)]
    pub(crate) fn set_arrival(&mut self, opened: &mut Opened, port: PortId, time: Time) {
        let key = opened.key(port, Kind::Arrive, time);
        opened.root = opened.tree.climb(&mut self.keys, u32::from(port.0), key);
    }

    /// Sets the end of the transmission of a port of the node; [`Time::MAX`] if it sends nothing.
    #[inline(always)]
    pub(crate) fn set_departure(&mut self, opened: &mut Opened, port: PortId, time: Time) {
        let key = opened.key(port, Kind::Transmitted, time);
        let leaf = opened.ports + u32::from(port.0);
        opened.root = opened.tree.climb(&mut self.keys, leaf, key);
    }

    /// Removes the end of a transmission that was handled at `now`, unless the port sends again.
    #[inline(always)]
    pub(crate) fn retire_departure(&mut self, opened: &mut Opened, port: PortId, now: Time) {
        let leaf = opened.ports + u32::from(port.0);
        let key = opened.key(port, Kind::Transmitted, now);
        if opened.tree.get(&self.keys, leaf) == key {
            opened.root = opened.tree.climb(&mut self.keys, leaf, NEVER);
        }
    }
}

impl Opened {
    /// The first event of the node before `limit`.
    #[inline(always)]
    pub(crate) fn first(&self, limit: Limit) -> Option<Next> {
        let key = self.root.min(self.other);
        if key >= limit.0 {
            return None;
        }
        let rank = key >> self.port_bits;
        let port = key as u32 & ((1 << self.port_bits) - 1);
        Some(Next {
            time: Time::from_ps(rank >> KIND_BITS),
            port: PortId(port as u16),
            kind: rank as u32 & ((1 << KIND_BITS) - 1),
        })
    }

    #[inline(always)]
    fn key(&self, port: PortId, kind: Kind, time: Time) -> u64 {
        if time >= self.horizon {
            return NEVER;
        }
        (time.as_ps() << KIND_BITS | kind as u64) << self.port_bits | u64::from(port.0)
    }
}

impl OpenedHost {
    /// When the first event before `limit` is, and what it is.
    #[inline(always)]
    pub(crate) fn first(&self, limit: Limit) -> Option<(Time, Due)> {
        let other = self.signal.min(self.agenda);
        let often = self.arrival.min(self.departure);
        let key = often.min(self.timeout).min(other);
        if key >= limit.0 {
            return None;
        }
        let due = if key == self.arrival {
            Due::Arrival
        } else if key == self.departure {
            Due::Departure
        } else if key == self.timeout {
            Due::Timeout
        } else {
            Due::Other
        };
        Some((Time::from_ps(key >> self.low_bits), due))
    }

    /// Sets the next arrival.
    #[inline(always)]
    pub(crate) fn set_arrival(&mut self, time: Time) {
        self.arrival = self.key(Kind::Arrive, time);
    }

    /// Sets the end of the transmission; [`Time::MAX`] if nothing is sent.
    #[inline(always)]
    pub(crate) fn set_departure(&mut self, time: Time) {
        self.departure = self.key(Kind::Transmitted, time);
    }

    /// Sets the timeout; [`Time::MAX`] if there is none.
    #[inline(always)]
    pub(crate) fn set_timeout(&mut self, time: Time) {
        self.timeout = self.key(Kind::Timeout, time);
    }

    /// The key of an event; the number of the only port is 0.
    #[inline(always)]
    fn key(&self, kind: Kind, time: Time) -> u64 {
        if time >= self.horizon {
            return NEVER;
        }
        (time.as_ps() << KIND_BITS | kind as u64) << (self.low_bits - KIND_BITS)
    }
}
