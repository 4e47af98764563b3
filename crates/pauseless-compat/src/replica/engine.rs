//! The run: events in the order of time, and of insertion at equal times.

mod hosts;
pub(super) mod switches;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::clock;
use super::memory::Memory;
use super::random::{Stream, Streams};
use super::source::{Scheme, Source, Terms, Trail};

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
    is_busy: bool,
    is_paused: [bool; 8],
    queues: [VecDeque<u32>; 8],
    waiting: u64,
    sent: u64,
    turn: usize,
    /// At hosts: answers, flows in turn, and the pending call.
    answers: VecDeque<u32>,
    flows: Vec<u32>,
    wake: Option<(u64, u64)>,
}

impl Port {
    /// An idle port without a peer yet.
    pub fn new(node: u32, interface: u32, rate: u64, delay: u64) -> Port {
        Port {
            node,
            interface,
            peer: 0,
            rate,
            delay,
            marking: Marking::default(),
            loss: None,
            is_busy: false,
            is_paused: [false; 8],
            queues: Default::default(),
            waiting: 0,
            sent: 0,
            turn: 0,
            answers: VecDeque::new(),
            flows: Vec::new(),
            wake: None,
        }
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
    fn port_of(&self, host: u32) -> u32 {
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

/// What looks at the queues of a port have found.
#[derive(Clone, Debug, Default)]
struct Lengths {
    counts: Vec<u32>,
    /// The looks that are in it.
    seen: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Data,
    Ack,
    Nack,
    Pause,
    Resume,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    what: What,
    size: u32,
    group: u8,
    flow: u32,
    sequence: u32,
    payload: u32,
    is_marked: bool,
    ingress: u32,
    trail: Trail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrive { port: u32, frame: u32 },
    Free(u32),
    Wake(u32),
    Alpha(u32),
    Look(u32),
    Raise(u32),
    Rows,
    Prepare(u32),
    Start(u32),
    Sample,
    Stop,
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
    sources: Vec<Source>,
    targets: Vec<Target>,
    frames: Vec<Frame>,
    unused: Vec<u32>,
    queue: BinaryHeap<Reverse<(u64, u64, Event)>>,
    now: u64,
    inserted: u64,
    current: u64,
    next_row: usize,
    lengths: Vec<Lengths>,
    samples: u64,
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
            let line = setup.ports[setup.port_of(flow.source) as usize].rate;
            Source::new(flow, line)
        });
        let stamps = match setup.terms.scheme {
            Scheme::Hpcc => 42,
            Scheme::Timely => 8,
            _ => 0,
        };
        let mut engine = Engine {
            sources: sources.collect(),
            targets: vec![Target::default(); setup.flows.len()],
            frames: Vec::new(),
            unused: Vec::new(),
            queue: BinaryHeap::new(),
            now: 0,
            inserted: 1,
            current: 0,
            next_row: 0,
            lengths: vec![Lengths::default(); setup.ports.len()],
            samples: 0,
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
        self.now
    }

    /// Handles so many events at most; whether there are more.
    pub fn advance(&mut self, count: usize) -> bool {
        for _ in 0..count {
            match self.queue.pop() {
                None | Some(Reverse((_, _, Event::Stop))) => {
                    self.queue.clear();
                    return false;
                }
                Some(Reverse((time, number, event))) => {
                    (self.now, self.current) = (time, number);
                    self.handle(event);
                }
            }
        }
        true
    }

    /// What has happened since the last time.
    pub fn take(&mut self) -> Findings {
        std::mem::take(&mut self.findings)
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Stop => {}
            Event::Arrive { port, frame } => self.arrive(port, frame),
            Event::Free(port) => {
                self.port(port).is_busy = false;
                self.send(port);
            }
            Event::Wake(port) => {
                let wake = Some((self.now, self.current));
                if self.port(port).wake == wake {
                    self.send(port);
                }
            }
            Event::Alpha(flow) | Event::Look(flow) | Event::Raise(flow) => {
                self.on_timer(event, flow);
            }
            Event::Rows => self.read_rows(),
            Event::Prepare(flow) => {
                self.insert(0, Event::Start(flow));
            }
            Event::Start(flow) => self.start(flow),
            Event::Sample => self.sample(),
        }
    }

    fn insert(&mut self, delay: u64, event: Event) -> u64 {
        let number = self.inserted;
        self.inserted += 1;
        let time = self.now.saturating_add(delay);
        self.queue.push(Reverse((time, number, event)));
        number
    }

    fn port(&mut self, port: u32) -> &mut Port {
        &mut self.setup.ports[port as usize]
    }

    fn read_rows(&mut self) {
        while let Some(flow) = self.setup.flows.get(self.next_row)
            && flow.start == self.now
        {
            self.insert(0, Event::Prepare(self.next_row as u32));
            self.next_row += 1;
        }
        if let Some(flow) = self.setup.flows.get(self.next_row) {
            let delay = flow.start.saturating_sub(self.now);
            self.insert(delay, Event::Rows);
        }
    }

    /// Sends the next frame, if there is one and the port is free.
    fn send(&mut self, port: u32) {
        if self.setup.ports[port as usize].is_busy {
            return;
        }
        let node = self.setup.ports[port as usize].node;
        if self.setup.nodes[node as usize].memory.is_some() {
            self.send_of_switch(port)
        } else {
            self.send_of_host(port)
        }
    }

    fn put_on_wire(&mut self, port: u32, frame: u32) {
        let size = self.frames[frame as usize].size;
        let at = self.port(port);
        at.is_busy = true;
        let (span, delay, peer) = (clock::sending(size, at.rate), at.delay, at.peer);
        self.insert(span, Event::Free(port));
        self.insert(span + delay, Event::Arrive { port: peer, frame });
    }

    fn new_frame(&mut self, frame: Frame) -> u32 {
        match self.unused.pop() {
            Some(place) => {
                self.frames[place as usize] = frame;
                place
            }
            None => {
                self.frames.push(frame);
                self.frames.len() as u32 - 1
            }
        }
    }

    fn arrive(&mut self, port: u32, place: u32) {
        if let Some(loss) = self.setup.ports[port as usize].loss {
            let (share, stream) = &mut self.setup.losses[loss];
            if stream.draw() < *share {
                self.unused.push(place);
                return;
            }
        }
        let frame = self.frames[place as usize];
        let node = self.setup.ports[port as usize].node as usize;
        if let What::Pause | What::Resume = frame.what {
            self.obey(port, &frame);
            self.unused.push(place);
        } else if self.setup.nodes[node].memory.is_some() {
            self.forward(port, place);
        } else {
            self.unused.push(place);
            match frame.what {
                What::Data => self.receive(port, &frame),
                _ => self.hear(&frame),
            }
        }
    }

    /// A neighbour says to wait or to go on.
    fn obey(&mut self, port: u32, frame: &Frame) {
        let is_pause = frame.what == What::Pause;
        let at = &mut self.setup.ports[port as usize];
        self.findings.heard.push(Heard {
            time: self.now,
            node: at.node,
            interface: at.interface,
            group: frame.group,
            is_pause,
        });
        at.is_paused[usize::from(frame.group)] = is_pause;
        if !is_pause {
            self.send(port);
        }
    }
}
