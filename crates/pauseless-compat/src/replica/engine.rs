//! The run: events in the order of time, and of insertion at equal times.

mod hosts;
mod ports;
mod switches;

use super::memory::Memory;
use super::random::{Stream, Streams};
use super::schedule::{Due, Event, Schedule};
use super::slots::{self, Frame, Slots, What};
use super::source::{Scheme, Source, Terms};
use super::turns::Turns;
use super::ways::Ways;
use ports::PortState;

/// The headers of data without telemetry, and of everything.
const HEADERS: u32 = 48;
const CONTROL_FRAME: u32 = 43;
const NACK_INTERVAL: u64 = 500_000;

/// A row of the flow file.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The host that sends.
    pub source: u32,
    /// The host that receives.
    pub target: u32,
    /// Those of the source and of the target.
    pub ports: [u16; 2],
    /// The priority group of its packets.
    pub group: u8,
    /// The payload bytes of the whole flow.
    pub size: u32,
    /// When it begins, in nanoseconds.
    pub start: u64,
    /// Payload bytes that may be unacknowledged; 0 for any number.
    pub window: u64,
    /// The round trip without queues, for HPCC.
    pub base_rtt: u64,
}

/// When packets are marked at a port.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marking {
    /// Nothing is marked up to this many bytes.
    pub kmin: u32,
    /// Everything is beyond this many.
    pub kmax: u32,
    /// The chance just below that.
    pub pmax: f64,
}

/// One end of a link.
#[derive(Clone, Debug)]
pub struct Port {
    /// The node that the port belongs to.
    pub node: u32,
    /// From 1 on, as files number them.
    pub interface: u32,
    /// The other end, as a place in [`Setup::ports`].
    pub peer: u32,
    /// The rate of the link in bit/s.
    pub rate: u64,
    /// The propagation delay in nanoseconds.
    pub delay: u64,
    /// The thresholds of its ECN marking.
    pub marking: Marking,
    /// Which of the losses it has, if any.
    pub loss: Option<usize>,
}

impl Port {
    /// A port without a peer yet.
    pub fn new(node: u32, interface: u32, rate: u64, delay: u64) -> Port {
        Port { node, interface, peer: 0, rate, delay, marking: Marking::default(), loss: None }
    }
}

/// A switch or a host.
#[derive(Clone, Debug)]
pub struct Node {
    /// By interface, from 1 on.
    pub ports: Vec<u32>,
    /// The packet memory of a switch; `None` at hosts.
    pub memory: Option<Memory>,
    /// At switches: towards each [`Entry::edge`] the interfaces, in the order of the search.
    pub routes: Vec<Vec<u32>>,
}

/// Where a host is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    /// The switch that the host is on.
    pub switch: u32,
    /// The interface of that switch, from 1 on.
    pub interface: u32,
    /// The place of that switch among those that have hosts.
    pub edge: u32,
}

/// Everything that a run is made of.
#[derive(Clone, Debug)]
pub struct Setup {
    /// All nodes, by the number that files give them.
    pub nodes: Vec<Node>,
    /// All ends of all links.
    pub ports: Vec<Port>,
    /// For each host where it is.
    pub entries: Vec<Entry>,
    /// In the order of their starts.
    pub flows: Vec<Flow>,
    /// What sources have in common.
    pub terms: Terms,
    /// Whether switches mark packets with ECN.
    pub marks: bool,
    /// The end, in nanoseconds.
    pub stop: u64,
    /// Nothing is acknowledged before so many bytes.
    pub ack_interval: u32,
    /// Whether hosts send answers first and whatever is paused.
    pub answers_first: bool,
    /// Where marks are drawn.
    pub streams: Streams,
    /// Shares of frames that are lost, and where that is drawn.
    pub losses: Vec<(f64, Stream)>,
    /// Where queues are looked at, from and to.
    pub monitor: (u64, u64),
}

impl Setup {
    /// The port of a host: of several only the last carries anything.
    pub(super) fn port_of(&self, host: u32) -> u32 {
        let ports = &self.nodes[host as usize].ports;
        ports.last().copied().unwrap_or(0)
    }
}

/// What files say, as far as it has happened since the last time.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Flows in the order in which they finished.
    pub completions: Vec<Completion>,
    /// PFC frames in the order in which they arrived.
    pub heard: Vec<Heard>,
    /// Lengths of queues so far.
    pub dumps: Vec<Dump>,
}

/// The end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// As a place in [`Setup::flows`].
    pub flow: u32,
    /// When it began, in nanoseconds.
    pub start: u64,
    /// When its source heard that all had arrived, in nanoseconds.
    pub finish: u64,
}

/// A PFC frame that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heard {
    /// When it arrived, in nanoseconds.
    pub time: u64,
    /// The node that it arrived at.
    pub node: u32,
    /// The interface that it arrived at, from 1 on.
    pub interface: u32,
    /// The priority group that it is about.
    pub group: u8,
    /// A PAUSE, not a RESUME.
    pub is_pause: bool,
}

/// How often queues were found to have each length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// When this was written, in nanoseconds.
    pub time: u64,
    /// Node, interface, and how often there were so many whole kilobytes.
    pub rows: Vec<(u32, u32, Vec<u32>)>,
}

/// What a target keeps.
#[derive(Clone, Copy, Debug, Default)]
struct Target {
    expected: u32,
    quiet_until: u64,
    refused: u32,
}

/// A run under way.
pub struct Engine {
    setup: Setup,
    schedule: Schedule,
    /// By their places in [`Setup::ports`].
    ports: Vec<PortState>,
    /// By port; those of switches have no flows.
    turns: Vec<Turns>,
    sources: Vec<Source>,
    targets: Vec<Target>,
    ways: Ways,
    slots: Slots,
    next_row: usize,
    /// How often queues have been looked at.
    samples: u64,
    /// For each port how often it had so many whole kilobytes.
    lengths: Vec<Vec<u32>>,
    findings: Findings,
    stamps: u32,
    /// Frames that left a switch.
    pub hops: u64,
    /// Frames that found no place.
    pub drops: u64,
}

impl Engine {
    /// A run that has not begun.
    pub fn new(setup: Setup) -> Engine {
        let sources = setup.flows.iter().map(|flow| {
            let port = setup.port_of(flow.source);
            Source::new(flow, port, setup.ports[port as usize].rate)
        });
        let is_switch = |port: &Port| setup.nodes[port.node as usize].memory.is_some();
        let ports = setup.ports.iter().map(|port| PortState::new(port, is_switch(port)));
        let stamps = match setup.terms.scheme {
            Scheme::Hpcc => 42,
            Scheme::Timely => 8,
            _ => 0,
        };
        let mut engine = Engine {
            schedule: Schedule::new(),
            ports: ports.collect(),
            turns: vec![Turns::default(); setup.ports.len()],
            sources: sources.collect(),
            targets: vec![Target::default(); setup.flows.len()],
            ways: Ways::default(),
            slots: Slots::new(setup.ports.len(), stamps > 0),
            next_row: 0,
            samples: 0,
            lengths: vec![Vec::new(); setup.ports.len()],
            findings: Findings::default(),
            stamps,
            hops: 0,
            drops: 0,
            setup,
        };
        engine.begin();
        engine
    }

    fn begin(&mut self) {
        if let Some(first) = self.setup.flows.first() {
            self.insert(first.start, Event::Rows);
        }
        self.insert(self.setup.monitor.0, Event::Sample);
        self.insert(self.setup.stop, Event::Stop);
    }

    /// So many nanoseconds have passed.
    pub fn now(&self) -> u64 {
        self.schedule.now()
    }

    /// Handles so many events at most; whether there are more.
    pub fn advance(&mut self, count: usize) -> bool {
        for _ in 0..count {
            match self.schedule.pop(&mut self.slots) {
                None | Some((Event::Stop, _)) => {
                    self.schedule.clear();
                    return false;
                }
                Some((event, slot)) => self.handle(event, slot),
            }
        }
        true
    }

    /// What has happened since the last time.
    pub fn take(&mut self) -> Findings {
        std::mem::take(&mut self.findings)
    }

    fn handle(&mut self, event: Event, slot: u32) {
        match event {
            Event::Arrive(port) => return self.arrive(port, slot),
            Event::Free(port) => {
                self.ports[port as usize].is_awaited = false;
                return self.send(port);
            }
            Event::Timer(timer, flow) => self.on_timer(timer, flow),
            Event::Wake(port) => self.wake(port),
            Event::Rows => self.read_rows(),
            Event::Prepare(flow) => {
                self.insert(0, Event::Start(flow));
            }
            Event::Start(flow) => self.start(flow),
            Event::Sample => self.sample(),
            Event::Stop => {}
        }
        if slot != slots::NONE {
            self.slots.remove(slot);
        }
    }

    fn insert(&mut self, delay: u64, event: Event) -> Due {
        self.schedule.insert(&mut self.slots, delay, event)
    }

    fn read_rows(&mut self) {
        let now = self.now();
        while let Some(flow) = self.setup.flows.get(self.next_row)
            && flow.start == now
        {
            self.insert(0, Event::Prepare(self.next_row as u32));
            self.next_row += 1;
        }
        if let Some(flow) = self.setup.flows.get(self.next_row) {
            self.insert(flow.start.saturating_sub(now), Event::Rows);
        }
    }

    /// Sends the next frame, if there is one and the port is free.
    fn send(&mut self, port: u32) {
        let at = &mut self.ports[port as usize];
        if self.schedule.current() < at.free {
            if !at.is_awaited {
                at.is_awaited = true;
                self.schedule.insert_late(&mut self.slots, port, at.free, Event::Free(port));
            }
        } else if at.is_switch {
            self.send_of_switch(port);
        } else {
            self.send_of_host(port);
        }
    }

    fn put_on_wire(&mut self, port: u32, frame: u32) {
        let size = self.slots[frame].frame.size;
        let at = &mut self.ports[port as usize];
        let span = at.sending(size);
        let (delay, peer) = (at.delay, at.peer);
        let slots = &mut self.slots;
        // With empty queues nothing happens when the port is free again, unless a frame comes
        // before: `send` inserts the event then.
        at.is_awaited = !at.is_switch || at.is_occupied();
        at.free = if at.is_awaited {
            self.schedule.insert_at(slots, port, span, Event::Free(port))
        } else {
            self.schedule.due(span)
        };
        self.schedule.insert_at(slots, frame, span + delay, Event::Arrive(peer));
    }

    fn arrive(&mut self, port: u32, frame: u32) {
        let at = &self.ports[port as usize];
        if let Some(loss) = at.loss {
            let (share, stream) = &mut self.setup.losses[loss as usize];
            if stream.draw() < *share {
                self.slots.remove(frame);
                return;
            }
        }
        let Frame { what, group, .. } = self.slots[frame].frame;
        match what {
            What::Pause | What::Resume => {
                self.slots.remove(frame);
                self.obey(port, group, what == What::Pause);
            }
            _ if at.is_switch => self.forward(port, frame),
            What::Data => self.receive(port, frame),
            What::Ack | What::Nack => self.hear(frame),
        }
    }

    /// A neighbour says to wait or to go on.
    fn obey(&mut self, port: u32, group: u8, is_pause: bool) {
        let at = &mut self.ports[port as usize];
        let (node, interface) = (at.node, at.interface);
        let time = self.schedule.now();
        self.findings.heard.push(Heard { time, node, interface, group, is_pause });
        if is_pause {
            at.paused |= 1 << group;
        } else {
            at.paused &= !(1 << group);
            self.send(port);
        }
    }
}
