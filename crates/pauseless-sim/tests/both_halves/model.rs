//! A model of its own of the ring and of Fig. 11, which shares no code with the simulator: one heap of
//! events in the order in which they were made, links, FIFOs, rings and cores.
//!
//! It says which switches show both halves of the GFC paper's figures, and the simulator has to agree with
//! it packet by packet. A packet is (flow, hop).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

/// Bits per second of every link.
pub const LINE: u64 = 10_000_000_000;
/// The stages of buffer-based GFC.
const STAGES: u32 = 16;

/// How an egress that becomes free and the FIFO of its last packet take turns, or what is there
/// instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The egress takes the next head that can be seen, then the FIFO shows its next packet.
    EgressFirst,
    /// The FIFO shows its next packet, then all egresses of the switch look.
    FifoFirst,
    /// All packets that end in an instant are taken off, then all egresses look.
    Slotted,
    /// An rx FIFO, a forwarding core, a tx ring, a tx core and a NIC.
    Software,
}

/// How senders are held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    Pfc,
    Credit,
    GfcBuffer,
    GfcTime,
}

/// What a model is made from; times are in picoseconds, lengths in bytes.
pub struct Setting {
    pub kind: Kind,
    pub control: Control,
    /// The nodes on the way of each flow.
    pub paths: Vec<Vec<String>>,
    /// The neighbours of each switch, in the order of its ports.
    pub ports: BTreeMap<String, Vec<String>>,
    pub starts: BTreeMap<String, u64>,
    /// When each link sends its first periodic message.
    pub phases: BTreeMap<(String, String), u64>,
    /// The states of the random sequences of forwarding cores.
    pub dice: BTreeMap<String, u64>,
    pub packet: u64,
    pub buffer: u64,
    pub xoff: u64,
    pub xon: u64,
    pub b1: u64,
    pub b0: u64,
    /// From a message to its effect.
    pub feedback: u64,
    pub period: u64,
    pub wire: u64,
    /// The rest of an egress that is paced; `None` if it is not.
    pub tick: Option<u64>,
    pub burst: usize,
    pub ring: usize,
    pub visit: u64,
    pub per_packet: u64,
}

type Packet = (usize, usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Pause(bool),
    Limit(u64),
    Rate(u64),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Hear(usize, Word),
    Tell(usize),
    Serve(usize),
    Alarm(usize, u64),
    Ended(usize, Packet),
    Show(usize),
    Look(usize),
    Arrive(usize, Packet),
    Visit(String, usize),
}

/// A directed link: the egress of its sender and the ingress FIFO of its receiver.
struct Link {
    sender: String,
    receiver: String,
    is_busy: bool,
    /// When its packet ends.
    end: u64,
    is_paused: bool,
    rate: u64,
    /// When the countdown is over.
    ready: u64,
    /// When the rest after the last packet is over.
    rest: u64,
    sent: u64,
    limit: u64,
    turn: usize,
    timer: Option<u64>,
    ring: VecDeque<Packet>,
    nic: VecDeque<Packet>,
    fifo: VecDeque<Packet>,
    held: u64,
    arrived: u64,
    is_pausing: bool,
    stage: u32,
    is_leaving: bool,
}

/// A run of the model.
pub struct Model {
    set: Setting,
    links: Vec<Link>,
    number: BTreeMap<(String, String), usize>,
    flows: BTreeMap<String, VecDeque<usize>>,
    /// The visits in a row that have moved nothing, of the cores that are awake.
    cores: BTreeMap<String, usize>,
    /// The switches whose core was called since it last moved a packet.
    called: BTreeSet<String>,
    events: BinaryHeap<Reverse<(u64, u8, u64, Event)>>,
    serial: u64,
    now: u64,
    /// The instant and flow of every packet that has arrived.
    pub delivered: Vec<(u64, usize)>,
}

fn is_host(name: &str) -> bool {
    name.starts_with('H')
}

impl Model {
    pub fn new(set: Setting) -> Model {
        let mut model = Model {
            links: Vec::new(),
            number: BTreeMap::new(),
            flows: BTreeMap::new(),
            cores: BTreeMap::new(),
            called: BTreeSet::new(),
            events: BinaryHeap::new(),
            serial: 0,
            now: 0,
            delivered: Vec::new(),
            set,
        };
        for (flow, path) in model.set.paths.iter().enumerate() {
            model.flows.entry(path[0].clone()).or_default().push_front(flow);
            for pair in path.windows(2) {
                let key = (pair[0].clone(), pair[1].clone());
                if !model.number.contains_key(&key) {
                    model.number.insert(key, model.links.len());
                    model.links.push(Link::new(&pair[0], &pair[1], model.set.buffer));
                }
            }
        }
        for index in 0..model.links.len() {
            let Link { sender, receiver, .. } = &model.links[index];
            let (sender, receiver) = (sender.clone(), receiver.clone());
            let is_periodic = matches!(model.set.control, Control::Credit | Control::GfcTime);
            if is_periodic && !is_host(&receiver) {
                let phase = model.set.phases[&(sender.clone(), receiver)];
                model.at(phase, Event::Tell(index));
            }
            if is_host(&sender) {
                model.at(model.set.starts[&sender], Event::Serve(index));
            }
        }
        model
    }

    /// Lets everything happen until `end`.
    pub fn run(&mut self, end: u64) {
        while let Some(Reverse((time, _, _, event))) = self.events.pop()
            && time <= end
        {
            self.now = time;
            match event {
                Event::Hear(link, word) => self.hear(link, word),
                Event::Tell(link) => self.tell_again(link),
                Event::Serve(link) | Event::Look(link) => self.serve(link),
                Event::Alarm(link, due) => {
                    if self.links[link].timer == Some(due) {
                        self.links[link].timer = None;
                        self.serve(link);
                    }
                }
                Event::Show(link) => self.show(link),
                Event::Ended(link, packet) => self.ended(link, packet),
                Event::Arrive(link, packet) => self.arrive(link, packet),
                Event::Visit(switch, place) => self.visit(&switch, place),
            }
        }
    }

    /// What happens at one instant: messages, arrivals, ends of packets, slots, everything else; of each
    /// kind first what was made first.
    fn at(&mut self, time: u64, event: Event) {
        self.serial += 1;
        let rank = match event {
            Event::Hear(..) => 0,
            Event::Arrive(..) => 1,
            Event::Ended(..) => 2,
            Event::Look(_) | Event::Show(_) => 3,
            Event::Tell(_) | Event::Serve(_) | Event::Alarm(..) | Event::Visit(..) => 4,
        };
        self.events.push(Reverse((time, rank, self.serial, event)));
    }

    fn link_after(&self, packet: Packet) -> usize {
        let path = &self.set.paths[packet.0];
        self.number[&(path[packet.1].clone(), path[packet.1 + 1].clone())]
    }

    fn link_before(&self, packet: Packet) -> usize {
        self.link_after((packet.0, packet.1 - 1))
    }

    /// The links into a switch, in the order of its ports.
    fn links_to(&self, switch: &str) -> Vec<usize> {
        let ports = self.set.ports[switch].iter();
        ports.filter_map(|from| self.number.get(&(from.clone(), switch.into())).copied()).collect()
    }

    // What an ingress tells, and what the egress before it then may do.

    fn tell(&mut self, index: usize) {
        let set = &self.set;
        let link = &mut self.links[index];
        let word = match set.control {
            Control::Pfc if !link.is_pausing && link.held >= set.xoff => {
                link.is_pausing = true;
                Word::Pause(true)
            }
            Control::Pfc if link.is_pausing && link.held <= set.xon => {
                link.is_pausing = false;
                Word::Pause(false)
            }
            Control::GfcBuffer => {
                // B_k = B_m - (B_m - B_1) / 2^(k - 1), R_k = C / 2^k.
                let left = set.buffer.saturating_sub(link.held);
                let is_above = |k: &u32| left << k <= set.buffer - set.b1;
                let stage = (0..STAGES).take_while(is_above).count() as u32;
                if stage == link.stage {
                    return;
                }
                link.stage = stage;
                Word::Rate(LINE >> stage)
            }
            _ => return,
        };
        let due = self.now + set.feedback;
        self.at(due, Event::Hear(index, word));
    }

    fn tell_again(&mut self, index: usize) {
        let (set, link) = (&self.set, &self.links[index]);
        let word = if set.control == Control::Credit {
            Word::Limit(link.arrived + set.buffer - link.held)
        } else if link.held <= set.b0 {
            Word::Rate(LINE)
        } else {
            let left = u128::from(set.buffer - link.held);
            let rate = u128::from(LINE) * left / u128::from(set.buffer - set.b0);
            Word::Rate((rate as u64).max(LINE >> STAGES))
        };
        let (due, again) = (self.now + set.feedback, self.now + set.period);
        self.at(due, Event::Hear(index, word));
        self.at(again, Event::Tell(index));
    }

    fn hear(&mut self, index: usize, word: Word) {
        let now = self.now;
        let link = &mut self.links[index];
        match word {
            Word::Pause(is_paused) => link.is_paused = is_paused,
            Word::Limit(limit) => link.limit = link.limit.max(limit),
            Word::Rate(rate) => {
                let old = std::mem::replace(&mut link.rate, rate);
                if now < link.end {
                    link.count_down(self.set.packet);
                } else if link.ready > now {
                    // What is left of a countdown takes as long as the new rate says.
                    let left = u128::from(link.ready - now) * u128::from(old);
                    link.ready = now + left.div_ceil(u128::from(rate)) as u64;
                }
            }
        }
        link.timer = None;
        self.serve(index);
    }

    /// Whether a packet may start, or when; `waiting` packets are ahead of it.
    fn gate(&self, index: usize, waiting: usize) -> Result<(), Option<u64>> {
        let (set, link) = (&self.set, &self.links[index]);
        if is_host(&link.receiver) {
            return Ok(());
        }
        let spent = link.sent + (waiting as u64 + 1) * set.packet;
        let is_stopped = match set.control {
            Control::Pfc => link.is_paused,
            Control::Credit => link.limit < spent,
            Control::GfcBuffer | Control::GfcTime => false,
        };
        let ready = match set.control {
            Control::Pfc | Control::Credit => link.rest,
            Control::GfcBuffer | Control::GfcTime => link.ready.max(link.rest),
        };
        if is_stopped {
            Err(None)
        } else if ready > self.now {
            Err(Some(ready))
        } else {
            Ok(())
        }
    }

    // What an egress sends next, and when.

    fn next_packet(&mut self, index: usize) -> Option<Packet> {
        let sender = self.links[index].sender.clone();
        if let Some(flows) = self.flows.get_mut(&sender) {
            // The second flow of a host joins when the first has sent a packet, behind it.
            if self.links[index].sent > self.set.packet {
                flows.rotate_left(1);
            }
            return flows.back().map(|flow| (*flow, 0));
        }
        if self.set.kind == Kind::Software {
            return self.links[index].ring.pop_front();
        }
        let ports = self.links_to(&sender);
        for step in 0..ports.len() {
            let place = (self.links[index].turn + step) % ports.len();
            let port = &self.links[ports[place]];
            if let Some(head) = port.fifo.front().copied().filter(|_| !port.is_leaving)
                && self.link_after(head) == index
            {
                self.links[ports[place]].is_leaving = true;
                self.links[index].turn = (place + 1) % ports.len();
                return Some(head);
            }
        }
        None
    }

    fn serve(&mut self, index: usize) {
        let link = &self.links[index];
        let is_paced = self.set.tick.is_some() && !is_host(&link.receiver);
        let is_bursting = self.set.kind == Kind::Software && !is_paced && !is_host(&link.sender);
        let burst = if is_bursting { self.set.burst } else { 1 };
        if link.nic.is_empty() && (burst > 1 || !link.is_busy) {
            while self.links[index].nic.len() < burst {
                let link = &self.links[index];
                let waiting = link.nic.len() + usize::from(link.is_busy);
                if let Err(when) = self.gate(index, waiting) {
                    if let Some(due) = when.filter(|due| self.links[index].timer != Some(*due)) {
                        self.links[index].timer = Some(due);
                        self.at(due, Event::Alarm(index, due));
                    }
                    break;
                }
                let Some(packet) = self.next_packet(index) else { break };
                self.links[index].nic.push_back(packet);
            }
            if !self.links[index].nic.is_empty() {
                let sender = self.links[index].sender.clone();
                self.wake(&sender);
            }
        }
        if !self.links[index].is_busy
            && let Some(packet) = self.links[index].nic.pop_front()
        {
            let end = self.now + span_of(self.set.packet);
            self.links[index].is_busy = true;
            self.links[index].end = end;
            self.links[index].count_down(self.set.packet);
            self.at(end, Event::Ended(index, packet));
        }
    }

    fn ended(&mut self, index: usize, packet: Packet) {
        let link = &mut self.links[index];
        link.is_busy = false;
        link.sent += self.set.packet;
        link.timer = None;
        link.rest = self.now + self.set.tick.unwrap_or(0);
        self.at(self.now + self.set.wire, Event::Arrive(index, (packet.0, packet.1 + 1)));
        let is_crossbar = self.set.kind != Kind::Software;
        if is_host(&self.links[index].sender) || !is_crossbar {
            return self.look(index);
        }
        let port = self.link_before(packet);
        self.links[port].fifo.pop_front();
        self.release(packet);
        let next = self.links[port].fifo.front().map(|head| self.link_after(*head));
        let is_own = next == Some(index);
        match self.set.kind {
            Kind::EgressFirst => {
                self.serve(index);
                if is_own {
                    self.show(port);
                }
            }
            _ => {
                if is_own || self.set.kind == Kind::Slotted {
                    self.links[port].is_leaving = false;
                }
                self.look(index);
            }
        }
        if !is_own {
            self.at(self.now, Event::Show(port));
        }
    }

    /// Lets the egress that the next packet of a FIFO wants see it.
    fn show(&mut self, port: usize) {
        self.links[port].is_leaving = false;
        if let Some(head) = self.links[port].fifo.front().copied() {
            self.serve(self.link_after(head));
        }
    }

    /// Lets an egress look at once, or with all others in a slot.
    fn look(&mut self, index: usize) {
        match self.set.kind {
            Kind::Slotted => self.at(self.now, Event::Look(index)),
            _ => self.serve(index),
        }
    }

    /// Takes a packet off the account of its ingress.
    fn release(&mut self, packet: Packet) {
        let index = self.link_before(packet);
        self.links[index].held -= self.set.packet;
        self.tell(index);
    }

    fn arrive(&mut self, index: usize, packet: Packet) {
        let receiver = self.links[index].receiver.clone();
        if is_host(&receiver) {
            return self.delivered.push((self.now, packet.0));
        }
        let link = &mut self.links[index];
        link.held += self.set.packet;
        link.arrived += self.set.packet;
        link.fifo.push_back(packet);
        self.tell(index);
        match self.set.kind {
            Kind::Software => self.wake(&receiver),
            _ => self.serve(self.link_after(packet)),
        }
    }

    // How the forwarding core of a software switch moves packets to the rings.

    fn wake(&mut self, switch: &str) {
        if self.set.kind != Kind::Software || is_host(switch) {
            return;
        }
        if self.cores.contains_key(switch) {
            self.called.insert(switch.into());
        } else {
            self.cores.insert(switch.into(), 0);
            self.at(self.now + self.set.visit, Event::Visit(switch.into(), 0));
        }
    }

    fn visit(&mut self, switch: &str, place: usize) {
        let neighbours = self.set.ports[switch].clone();
        let egress = (switch.to_string(), neighbours[place % neighbours.len()].clone());
        let index = self.number.get(&egress).copied();
        let moved = index.map_or(0, |index| self.fill(switch, index));
        let mut idle = self.cores[switch] + 1;
        if moved > 0 || idle >= neighbours.len() && self.called.contains(switch) {
            idle = 0;
            self.called.remove(switch);
        }
        if let Some(index) = index.filter(|_| moved > 0) {
            self.serve(index);
        }
        if idle >= neighbours.len() {
            self.cores.remove(switch);
            return;
        }
        self.cores.insert(switch.into(), idle);
        let bound = self.set.visit / 2;
        let dice = self.set.dice.get_mut(switch).expect("every switch has a sequence");
        let extra = ((draw(dice) >> 32) * bound) >> 32;
        let due = self.now + self.set.visit + extra + self.set.per_packet * moved as u64;
        self.at(due, Event::Visit(switch.into(), place + 1));
    }

    fn fill(&mut self, switch: &str, index: usize) -> usize {
        let ports = self.links_to(switch);
        for step in 0..ports.len() {
            let place = (self.links[index].turn + step) % ports.len();
            let mut moved = 0;
            while moved < self.set.burst
                && self.links[index].ring.len() < self.set.ring
                && let Some(head) = self.links[ports[place]].fifo.front().copied()
                && self.link_after(head) == index
            {
                self.links[ports[place]].fifo.pop_front();
                self.links[index].ring.push_back(head);
                self.release(head);
                moved += 1;
            }
            if moved > 0 {
                self.links[index].turn = (place + 1) % ports.len();
                return moved;
            }
        }
        0
    }
}

impl Link {
    fn new(sender: &str, receiver: &str, buffer: u64) -> Link {
        Link {
            sender: sender.into(),
            receiver: receiver.into(),
            is_busy: false,
            end: 0,
            is_paused: false,
            rate: LINE,
            ready: 0,
            rest: 0,
            sent: 0,
            limit: buffer,
            turn: 0,
            timer: None,
            ring: VecDeque::new(),
            nic: VecDeque::new(),
            fifo: VecDeque::new(),
            held: 0,
            arrived: 0,
            is_pausing: false,
            stage: 0,
            is_leaving: false,
        }
    }

    /// Sets the countdown that follows the end of a packet.
    fn count_down(&mut self, packet: u64) {
        let missing = u128::from(LINE - self.rate) * u128::from(span_of(packet));
        self.ready = self.end + missing.div_ceil(u128::from(self.rate)) as u64;
    }
}

/// The time that a packet of so many bytes takes.
fn span_of(packet: u64) -> u64 {
    packet * 8 * 100
}

/// The next number of SplitMix64.
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut x = *state;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
