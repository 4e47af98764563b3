//! Load balancing: which of the allowed next hops a switch takes for a packet.
//!
//! **Models** the choice at the moment at which a packet is put into an egress queue; from then on it
//! is committed to that egress. The driver asks for every packet that has more than one next hop, and
//! answers what a rule wants to know of the egresses ([`Egresses`]).
//!
//! **Source** htsim (`ecmp_rr`, `ecmp_ar`) for round robin and the least queue; the papers for DRILL,
//! LetFlow and CONGA.
//!
//! **Deviates** A flowlet is known by its flow and not by a hash of it, so that two never share an
//! entry. CONGA's least loaded path is here the least loaded port of this switch. Loads are measured
//! when they are asked for: what was sent since the last time counts for the last period.
//!
//! **States** of a flowlet:
//! ```text
//!   none --packet--> on its port --packets, each within the gap of the last--> on its port
//!   on its port --gap without a packet, or port no longer allowed--> none
//! ```
//!
//! **Not modelled** CONGA's feedback from the far leaf, grades of port groups in NVIDIA's switches,
//! limits of the tables in which chips keep flowlets.

mod load;

use std::collections::BTreeMap;

use pauseless_core::congestion::dither::Dither;
use pauseless_core::id::{FlowId, GroupId, PortId};
use pauseless_core::unit::{Bytes, Rate, Span, Time};

use load::Loads;

/// How a switch chooses among the next hops of a packet.
///
/// A next hop that stands several times in a set has so much more weight under the flow hash, under
/// [`Rule::Random`] and under [`Rule::RoundRobin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// One next hop for all packets of a flow, by its hash.
    FlowHash,
    /// A random next hop for every packet.
    Random,
    /// One next hop of a set after the other, in a random order that is drawn anew after each round;
    /// destinations with the same set share it.
    RoundRobin,
    /// One next hop for packets of a flow that follow each other closely.
    Flowlet(Flowlet),
    /// The shortest queue among a few random next hops and the best ones of last time.
    Drill(Drill),
    /// Any of the next hops whose queues are in the lowest grade.
    LeastQueue(LeastQueue),
}

/// The parameters of [`Rule::Flowlet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flowlet {
    /// A flow that was silent for so long may change to another next hop.
    pub gap: Span,
    /// What a flowlet begins with.
    pub choice: FlowletChoice,
}

/// The next hop with which a flowlet begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowletChoice {
    /// A random one, as in LetFlow.
    Random,
    /// The one that has carried the smallest share of its rate lately, as in CONGA; any of several.
    LeastLoaded,
}

impl Default for Flowlet {
    fn default() -> Flowlet {
        Flowlet { gap: Span::us(100), choice: FlowletChoice::Random }
    }
}

/// The parameters of [`Rule::Drill`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drill {
    /// How many random next hops are looked at, d.
    pub samples: u8,
    /// How many of the best ones are remembered for the next packet to the same destination, m.
    pub memory: u8,
}

impl Default for Drill {
    fn default() -> Drill {
        Drill { samples: 2, memory: 1 }
    }
}

/// The parameters of [`Rule::LeastQueue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastQueue {
    /// The length that grades are shares of: below 5, 10 and 20 % of it, and above.
    pub full: Bytes,
    /// How old the known grade of a queue may be; zero for always up to date.
    pub read_every: Span,
    /// What else is compared.
    pub compare: Compare,
}

/// What [`Rule::LeastQueue`] compares to find the best next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// The grade of the queue alone.
    Queue,
    /// Whether the far end has stopped the egress, then the grade of the queue, then that of the load
    /// in the last 30 us: none, below 15 %, below 50 %, or above.
    PauseQueueLoad,
}

impl Rule {
    /// Whether packets of a flow that follow each other closely may take different ways, and overtake
    /// each other.
    pub fn is_per_packet(&self) -> bool {
        match self {
            Rule::FlowHash | Rule::Flowlet(_) => false,
            Rule::Random | Rule::RoundRobin | Rule::Drill(_) | Rule::LeastQueue(_) => true,
        }
    }
}

/// What a rule may ask about the egresses of its switch.
pub trait Egresses {
    /// What waits for a port.
    fn backlog(&self, port: PortId) -> Backlog;
    /// Whether the far end of a port has stopped it.
    fn is_stopped(&self, port: PortId) -> bool;
    /// The bytes that a port has begun to send since the beginning.
    fn sent(&self, port: PortId) -> Bytes;
    /// The rate of a port's link.
    fn line(&self, port: PortId) -> Rate;
}

/// What waits for an egress. Of two that are equally long, the one that sends nothing is shorter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Backlog {
    /// The bytes that wait, without the frame that is being sent.
    pub waiting: Bytes,
    /// Whether a frame is being sent.
    pub is_sending: bool,
}

/// A packet for which a next hop is to be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choosing {
    /// The destination that it is forwarded to.
    pub group: GroupId,
    /// The flow that the packet belongs to, or is feedback about.
    pub flow: FlowId,
    /// Whether it is feedback to the source of the flow.
    pub is_answer: bool,
}

/// The state of a rule at one switch, for one class.
#[derive(Clone, Debug)]
pub struct Balancer {
    rule: Rule,
    dither: Dither,
    /// The present round of each set of next hops.
    rounds: BTreeMap<Vec<PortId>, Round>,
    flowlets: BTreeMap<(FlowId, bool), Sticky>,
    /// The best next hops of last time to each destination.
    best: BTreeMap<GroupId, Vec<PortId>>,
    /// What is known of the queue of each port.
    readings: Vec<Option<Reading>>,
    loads: Loads,
    /// The next hops that are being compared.
    candidates: Vec<(Backlog, PortId)>,
    marks: Vec<Mark>,
}

/// A round of [`Rule::RoundRobin`].
#[derive(Clone, Debug)]
struct Round {
    /// The next hops in the order of their turns.
    order: Vec<PortId>,
    /// How many of them have had their turn.
    done: usize,
}

/// The present flowlet of a flow.
#[derive(Clone, Copy, Debug)]
struct Sticky {
    port: PortId,
    /// When its last packet came.
    last: Time,
}

/// The grade of a queue when it was read last.
#[derive(Clone, Copy, Debug)]
struct Reading {
    time: Time,
    grade: u8,
}

/// How good a next hop is, the lower the better; what comes first decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Mark {
    is_stopped: bool,
    /// The grade of its queue.
    queue: u8,
    /// The grade of its load.
    load: u8,
}

impl Balancer {
    /// The state before the first packet. Whatever is random follows from `seed`.
    pub fn new(rule: Rule, seed: u64) -> Balancer {
        Balancer {
            rule,
            dither: Dither::new(seed),
            rounds: BTreeMap::new(),
            flowlets: BTreeMap::new(),
            best: BTreeMap::new(),
            readings: Vec::new(),
            loads: Loads::default(),
            candidates: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// The next hop, of `ports`, for a packet; `None` if it goes by the hash of its flow.
    //= protocols load-balancing-rules
    pub fn choose(
        &mut self,
        now: Time,
        packet: Choosing,
        ports: &[PortId],
        egresses: &impl Egresses,
    ) -> Option<PortId> {
        if ports.len() < 2 {
            return ports.first().copied();
        }
        match self.rule {
            Rule::FlowHash => None,
            Rule::Random => Some(ports[self.draw(ports.len())]),
            Rule::RoundRobin => Some(self.next_in_round(ports)),
            Rule::Flowlet(rule) => {
                let kept = self.flowlet_port(now, packet, rule.gap, ports);
                let port = kept.unwrap_or_else(|| self.begin(now, rule.choice, ports, egresses));
                let last = Sticky { port, last: now };
                self.flowlets.insert((packet.flow, packet.is_answer), last);
                Some(port)
            }
            Rule::Drill(rule) => Some(self.drill(rule, packet.group, ports, egresses)),
            Rule::LeastQueue(rule) => {
                self.marks.clear();
                for port in ports {
                    let mark = self.mark(now, rule, *port, egresses);
                    self.marks.push(mark);
                }
                Some(self.any_of_the_best(ports))
            }
        }
    }

    /// A random number below `count`.
    fn draw(&mut self, count: usize) -> usize {
        let index = self.dither.choice(count as u32);
        self.dither.advance();
        index as usize
    }

    fn next_in_round(&mut self, ports: &[PortId]) -> PortId {
        if !self.rounds.contains_key(ports) {
            let round = Round { order: ports.to_vec(), done: ports.len() };
            self.rounds.insert(ports.to_vec(), round);
        }
        let round = self.rounds.get_mut(ports).expect("it was inserted");
        if round.done == ports.len() {
            round.done = 0;
            for last in (1..ports.len()).rev() {
                round.order.swap(last, self.dither.choice(last as u32 + 1) as usize);
                self.dither.advance();
            }
        }
        round.done += 1;
        round.order[round.done - 1]
    }

    /// The port of the present flowlet, if it lasts.
    fn flowlet_port(
        &self,
        now: Time,
        packet: Choosing,
        gap: Span,
        ports: &[PortId],
    ) -> Option<PortId> {
        let sticky = self.flowlets.get(&(packet.flow, packet.is_answer))?;
        let lasts = now - sticky.last < gap && ports.contains(&sticky.port);
        lasts.then_some(sticky.port)
    }

    /// The port that a new flowlet begins with.
    fn begin(
        &mut self,
        now: Time,
        choice: FlowletChoice,
        ports: &[PortId],
        egresses: &impl Egresses,
    ) -> PortId {
        match choice {
            FlowletChoice::Random => ports[self.draw(ports.len())],
            FlowletChoice::LeastLoaded => {
                self.marks.clear();
                for port in ports {
                    let load = self.loads.discounted(now, *port, egresses);
                    self.marks.push(Mark { load, ..Mark::default() });
                }
                self.any_of_the_best(ports)
            }
        }
    }

    fn drill(
        &mut self,
        rule: Drill,
        group: GroupId,
        ports: &[PortId],
        egresses: &impl Egresses,
    ) -> PortId {
        self.candidates.clear();
        self.candidates.extend(ports.iter().map(|port| (Backlog::default(), *port)));
        let samples = usize::from(rule.samples).min(ports.len());
        for place in 0..samples {
            let other = place + self.draw(ports.len() - place);
            self.candidates.swap(place, other);
        }
        self.candidates.truncate(samples);
        let best = self.best.entry(group).or_default();
        let remembered = best.iter().filter(|port| ports.contains(port));
        self.candidates.extend(remembered.map(|port| (Backlog::default(), *port)));
        for (backlog, port) in &mut self.candidates {
            *backlog = egresses.backlog(*port);
        }
        // Of equally short queues the one that was drawn first comes first.
        self.candidates.sort_by_key(|(backlog, _)| *backlog);
        best.clear();
        for (_, port) in &self.candidates {
            if best.len() < usize::from(rule.memory) && !best.contains(port) {
                best.push(*port);
            }
        }
        self.candidates[0].1
    }

    /// How good a next hop is.
    fn mark(
        &mut self,
        now: Time,
        rule: LeastQueue,
        port: PortId,
        egresses: &impl Egresses,
    ) -> Mark {
        let queue = self.read(now, rule, port, egresses);
        match rule.compare {
            Compare::Queue => Mark { queue, ..Mark::default() },
            Compare::PauseQueueLoad => Mark {
                is_stopped: egresses.is_stopped(port),
                queue,
                load: self.loads.recent(now, port, egresses),
            },
        }
    }

    /// The grade of a queue, as old as it may be.
    fn read(&mut self, now: Time, rule: LeastQueue, port: PortId, egresses: &impl Egresses) -> u8 {
        if self.readings.len() <= port.index() {
            self.readings.resize(port.index() + 1, None);
        }
        if let Some(reading) = self.readings[port.index()]
            && now - reading.time < rule.read_every
        {
            return reading.grade;
        }
        let waiting = u128::from(egresses.backlog(port).waiting.get()) * 100;
        let is_above =
            |percent: &&u64| waiting >= u128::from(rule.full.get()) * u128::from(**percent);
        let grade = GRADES.iter().filter(is_above).count() as u8;
        self.readings[port.index()] = Some(Reading { time: now, grade });
        grade
    }

    /// One of the next hops with the lowest mark, of which `marks` has that of each.
    fn any_of_the_best(&mut self, ports: &[PortId]) -> PortId {
        let least = self.marks.iter().min().copied().unwrap_or_default();
        let count = self.marks.iter().filter(|mark| **mark == least).count();
        let place = if count > 1 { self.draw(count) } else { 0 };
        let marked = ports.iter().zip(&self.marks);
        let mut best = marked.filter(|(_, mark)| **mark == least);
        best.nth(place).map_or(ports[0], |(port, _)| *port)
    }
}

/// The shares of a full queue, in percent, at which a higher grade begins.
const GRADES: [u64; 3] = [5, 10, 20];

#[cfg(test)]
mod tests;
