//! The model of the TTL paper, section 1, as a transition system.
//!
//! Packets are of unit size. A packet is in a virtual ingress queue (VIQ) from its arrival until it
//! has been sent, and in a virtual egress queue (VEQ) as well from when it was forwarded. Any packet
//! of a VIQ may be forwarded next, any packet of a VEQ whose class is not paused may be sent next,
//! and sources may inject at any time or never: so every scheduler is among the paths, and every
//! order of arrival. What pauses is the real machine of `flow_control::pfc`.

use pauseless_core::class_map::{Carried, ClassMap, Passage};
use pauseless_core::flow_control::pfc::{Config, PfcDownstream, PfcUpstream, QUANTA_MAX};
use pauseless_core::flow_control::{Downstream, Gate, Signal, Upstream};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::unit::{Bytes, Rate, Time};
use stateright::{Model, Property};

/// A flow: the nodes that its packets visit, source first, and how many packets it has.
#[derive(Clone, Debug)]
pub struct Flow {
    pub path: Vec<u8>,
    pub packets: u8,
}

/// How queues are numbered and who is paused.
#[derive(Clone, Debug)]
pub enum Labels {
    /// As the paper has it: a packet's class is ttl_0 - ttl in both queues of a switch, a VIQ of
    /// class j pauses class j - 1 of the switch before it, and TTL 0 is dropped.
    Paper { ttl: u8 },
    /// As switches do it: the class is that on the wire, PFC pauses the class that has filled, and
    /// the class changes between ingress and egress. What the map drops is dropped.
    Wire(ClassMap),
    /// The same without any change of class, with packets dropped after so many hops.
    Plain { ttl: u8 },
}

/// How long a PAUSE and a packet take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// A PAUSE takes effect at once, as in the paper's assumption 6.
    None,
    /// Both take any time between switches: each is a step of its own, and packets sent meanwhile
    /// use headroom. So that there are not too many states, hosts are near, and forwarding inside a
    /// switch is no step of its own.
    Any,
}

/// A network, and everything that can happen in it.
#[derive(Clone, Debug)]
pub struct Network {
    flows: Vec<Flow>,
    delay: Delay,
    /// Packets that a VIQ may hold before it pauses; the paper needs one, the MTU.
    threshold: u64,
    /// By flow and hop.
    places: Vec<Vec<Place>>,
    /// The slots that each session counts: those of one VIQ.
    counted: Vec<Vec<usize>>,
    /// The slots of packets on each link.
    wires: Vec<Vec<usize>>,
    /// The sessions of links to and from hosts.
    near: Vec<bool>,
    slot_count: usize,
}

/// One hop of a flow.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The slot of its packets on the wire to it; then follow ingress and egress.
    slot: usize,
    /// The session that watches its VIQ; none in a source.
    below: Option<usize>,
    /// Where its VEQ leads; `None` where packets are dropped instead, and at the target.
    above: Option<Above>,
    is_target: bool,
}

/// What a VEQ sends by.
#[derive(Clone, Copy, Debug)]
struct Above {
    session: usize,
    link: usize,
}

/// How many packets of each flow are where, and what each PFC session knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State {
    slots: Vec<u8>,
    sessions: Vec<Session>,
}

/// PFC on one link and class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Session {
    /// Whether the VIQ wants a pause.
    is_pausing: bool,
    /// What it has said last.
    is_told: bool,
    /// What is on its way.
    message: Option<bool>,
    /// Whether the VEQ upstream is paused.
    is_paused: bool,
}

/// One step that the model can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A packet gets to its VEQ, or is taken by its target: f_fwd.
    Forward { flow: usize, hop: usize },
    /// A packet is sent to the next hop, or dropped because it may go no further: f_trans.
    Send { flow: usize, hop: usize },
    /// A packet arrives at the next switch.
    Arrive { flow: usize, hop: usize },
    /// A PAUSE or RESUME takes effect.
    Hear { session: usize },
}

/// Hosts are numbered from here on, switches below.
pub const HOST: u8 = 100;
/// Slots of a hop, from that of the wire on.
const INGRESS: usize = 1;
const EGRESS: usize = 2;
const STAGES: usize = 3;
/// Every packet has this size.
const SIZE: Bytes = Bytes::new(64);
const LINE: Rate = Rate::gbps(10);
/// There is no time here: pauses last until they are taken back.
const NOW: Time = Time::ZERO;
/// More packets than are in any network here.
const MANY: Bytes = Bytes::new(1 << 20);

impl Network {
    pub fn new(flows: Vec<Flow>, labels: &Labels) -> Network {
        let mut network = Network {
            delay: Delay::None,
            threshold: 1,
            places: Vec::new(),
            counted: Vec::new(),
            wires: Vec::new(),
            near: Vec::new(),
            slot_count: 0,
            flows,
        };
        // Sessions and links are numbered as the flows meet them, whatever their labels are.
        let (mut sessions, mut links) = (Vec::new(), Vec::new());
        for flow in &network.flows {
            let mut places: Vec<Place> = Vec::new();
            for hop in 0..flow.path.len() {
                let slot = network.slot_count;
                network.slot_count += STAGES;
                let before = places.last().and_then(|place| place.above);
                let below = before.map(|above| above.session);
                if let Some(above) = before {
                    network.counted[above.session].extend([slot + INGRESS, slot + EGRESS]);
                    network.wires[above.link].push(slot);
                    let paused = labels.paused_by(labels.ingress(flow, hop));
                    assert_eq!(Some(paused), labels.egress(flow, hop - 1), "who is asked is meant");
                }
                let is_target = hop + 1 == flow.path.len();
                let class = (!is_target).then(|| labels.egress(flow, hop)).flatten();
                let above = class.map(|class| {
                    let link = (flow.path[hop], flow.path[hop + 1]);
                    let session = number(&mut sessions, (link, class));
                    network.counted.resize(sessions.len(), Vec::new());
                    network.near.resize(sessions.len(), link.0 >= HOST || link.1 >= HOST);
                    let link = number(&mut links, link);
                    network.wires.resize(links.len(), Vec::new());
                    Above { session, link }
                });
                places.push(Place { slot, below, above, is_target });
            }
            network.places.push(places);
        }
        network
    }

    pub fn with_delay(self) -> Network {
        Network { delay: Delay::Any, ..self }
    }

    fn delay(&self, session: usize) -> Delay {
        if self.near[session] { Delay::None } else { self.delay }
    }

    fn held(&self, state: &State, session: usize) -> u64 {
        let slots = self.counted[session].iter();
        slots.map(|slot| u64::from(state.slots[*slot])).sum()
    }

    /// The most packets that any VIQ holds.
    pub fn fullest(&self, state: &State) -> u64 {
        let held = (0..self.counted.len()).map(|session| self.held(state, session));
        held.max().unwrap_or(0)
    }

    /// Whether everything was sent, and has left the network.
    pub fn is_done(&self, state: &State) -> bool {
        state.slots.iter().all(|count| *count == 0)
    }

    /// The paper's definition 14: nothing can ever happen without new packets, and some are left.
    pub fn is_deadlocked(&self, state: &State) -> bool {
        let is_injection = |step: &Step| matches!(step, Step::Send { hop: 0, .. });
        let inside = self.places.iter().any(|places| {
            let slots = places[0].slot + STAGES..places[0].slot + STAGES * places.len();
            state.slots[slots].iter().any(|count| *count > 0)
        });
        inside && self.steps(state).iter().all(is_injection)
    }

    /// Everything that can happen.
    pub fn steps(&self, state: &State) -> Vec<Step> {
        let mut steps = Vec::new();
        for (flow, places) in self.places.iter().enumerate() {
            for (hop, place) in places.iter().enumerate() {
                let has = |stage: usize| state.slots[place.slot + stage] > 0;
                if has(0) {
                    steps.push(Step::Arrive { flow, hop });
                }
                if has(INGRESS) {
                    steps.push(Step::Forward { flow, hop });
                }
                if has(EGRESS) && self.may_send(state, place) {
                    steps.push(Step::Send { flow, hop });
                }
            }
        }
        for (session, it) in state.sessions.iter().enumerate() {
            if it.message.is_some() {
                steps.push(Step::Hear { session });
            }
        }
        steps
    }

    fn may_send(&self, state: &State, place: &Place) -> bool {
        let Some(Above { session, link }) = place.above else {
            return true;
        };
        // One packet at a time on a wire.
        let is_free = self.wires[link].iter().all(|slot| state.slots[*slot] == 0);
        is_free && !state.sessions[session].is_paused
    }

    /// The state after a step that can happen.
    pub fn after(&self, state: &State, step: Step) -> State {
        let mut next = state.clone();
        match step {
            Step::Forward { flow, hop } => {
                let place = self.places[flow][hop];
                next.slots[place.slot + INGRESS] -= 1;
                if place.is_target {
                    self.update(&mut next, place)
                } else {
                    next.slots[place.slot + EGRESS] += 1
                }
            }
            Step::Send { flow, hop } => {
                let place = self.places[flow][hop];
                next.slots[place.slot + EGRESS] -= 1;
                if let Some(Above { session, .. }) = place.above {
                    match self.delay(session) {
                        Delay::None => self.arrive(&mut next, self.places[flow][hop + 1]),
                        Delay::Any => next.slots[self.places[flow][hop + 1].slot] += 1,
                    }
                }
                self.update(&mut next, place);
            }
            Step::Arrive { flow, hop } => {
                let place = self.places[flow][hop];
                next.slots[place.slot] -= 1;
                self.arrive(&mut next, place);
            }
            Step::Hear { session } => {
                let delay = self.delay(session);
                let session = &mut next.sessions[session];
                let message = session.message.take();
                session.hear(message.expect("one is on its way"));
                session.speak(delay);
            }
        }
        next
    }

    fn arrive(&self, next: &mut State, place: Place) {
        let is_forwarded = self.delay == Delay::Any && !place.is_target;
        let stage = if is_forwarded { EGRESS } else { INGRESS };
        next.slots[place.slot + stage] += 1;
        self.update(next, place);
    }

    /// Lets PFC look at the VIQ of a packet that has come or gone.
    fn update(&self, next: &mut State, place: Place) {
        if let Some(session) = place.below {
            let held = SIZE * self.held(next, session);
            next.sessions[session].look(held, SIZE * self.threshold);
            next.sessions[session].speak(self.delay(session));
        }
    }
}

/// The position of `wanted`, which is added if it is new.
fn number<T: PartialEq>(list: &mut Vec<T>, wanted: T) -> usize {
    let found = list.iter().position(|it| *it == wanted);
    found.unwrap_or_else(|| {
        list.push(wanted);
        list.len() - 1
    })
}

impl Labels {
    /// The class on the wire to `hop`, by the map; `None` if the switch before it drops the packet.
    fn on_wire(map: &ClassMap, flow: &Flow, hop: usize) -> Option<u8> {
        let mut class = Class(0);
        for (hops, at) in (0..).zip(&flow.path[1..hop]) {
            let passage = Passage {
                node: NodeId(u32::from(*at)),
                // The maps of the model are the same for all ports.
                ingress: PortId(0),
                egress: PortId(0),
            };
            let label = 0;
            class = map.next(passage, Carried { label, class, hops })?;
        }
        Some(class.0)
    }

    /// The class of the VIQ at `hop`.
    fn ingress(&self, flow: &Flow, hop: usize) -> u8 {
        match self {
            Labels::Paper { .. } => hop as u8,
            Labels::Plain { .. } => 0,
            Labels::Wire(map) => Labels::on_wire(map, flow, hop).expect("it has come that far"),
        }
    }

    /// The class of the VEQ at `hop`, which is what a PAUSE names; `None` where packets are dropped.
    fn egress(&self, flow: &Flow, hop: usize) -> Option<u8> {
        match self {
            // What would arrive with a TTL of 0 goes no further.
            Labels::Paper { ttl } | Labels::Plain { ttl } if hop + 1 >= usize::from(*ttl) => None,
            Labels::Paper { .. } => Some(hop as u8),
            Labels::Plain { .. } => Some(0),
            Labels::Wire(map) => Labels::on_wire(map, flow, hop + 1),
        }
    }

    /// The class that a full VIQ pauses.
    fn paused_by(&self, ingress: u8) -> u8 {
        match self {
            Labels::Paper { .. } => ingress - 1,
            Labels::Plain { .. } | Labels::Wire(_) => ingress,
        }
    }
}

impl Session {
    /// The real downstream half in this state.
    fn downstream(self, threshold: Bytes) -> PfcDownstream {
        // The threshold is reached and not exceeded when it takes effect.
        let level = threshold.saturating_sub(Bytes::new(1));
        let config = Config { xoff: level, xon: level, quanta: QUANTA_MAX };
        let mut down = PfcDownstream::new(&config, LINE);
        if self.is_told {
            down.on_enqueue(NOW, SIZE, MANY);
            down.poll_signal(NOW);
        }
        if self.is_pausing {
            down.on_enqueue(NOW, SIZE, MANY)
        } else {
            down.on_dequeue(NOW, SIZE, Bytes::ZERO)
        }
        down
    }

    fn look(&mut self, held: Bytes, threshold: Bytes) {
        let mut down = self.downstream(threshold);
        down.on_enqueue(NOW, SIZE, held);
        down.on_dequeue(NOW, SIZE, held);
        let is_other = down.has_signal(NOW);
        self.is_pausing = self.is_told != is_other;
    }

    /// Sends what there is to say, if the last message has arrived.
    fn speak(&mut self, delay: Delay) {
        if self.message.is_some() {
            return;
        }
        let mut down = self.downstream(SIZE);
        let Some(Signal::Pause { quanta }) = down.poll_signal(NOW) else {
            return;
        };
        self.is_told = self.is_pausing;
        match delay {
            Delay::None => self.hear(quanta > 0),
            Delay::Any => self.message = Some(quanta > 0),
        }
    }

    fn hear(&mut self, is_pause: bool) {
        let mut up = PfcUpstream::new(LINE);
        let quanta = if is_pause { QUANTA_MAX } else { 0 };
        up.on_signal(NOW, Signal::Pause { quanta });
        self.is_paused = up.gate(NOW, SIZE) != Gate::Open;
    }
}

impl Model for Network {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let mut slots = vec![0; self.slot_count];
        for (flow, places) in self.flows.iter().zip(&self.places) {
            slots[places[0].slot + EGRESS] = flow.packets;
        }
        let sessions = vec![Session::default(); self.counted.len()];
        vec![State { slots, sessions }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Step>) {
        actions.extend(self.steps(state));
    }

    fn next_state(&self, state: &State, step: Step) -> Option<State> {
        Some(self.after(state, step))
    }

    fn properties(&self) -> Vec<Property<Network>> {
        vec![
            Property::always(NO_DEADLOCK, |network, state| !network.is_deadlocked(state)),
            Property::always(WITHIN, |network: &Network, state| {
                network.delay == Delay::Any || network.fullest(state) <= network.threshold
            }),
            Property::sometimes(DONE, |network, state| network.is_done(state)),
        ]
    }
}

/// No packet waits for ever.
pub const NO_DEADLOCK: &str = "no deadlock";
/// Where PAUSE acts at once, no VIQ holds more than its threshold: the paper's equation 12.
pub const WITHIN: &str = "every VIQ within its threshold";
/// All packets can be sent and be gone.
pub const DONE: &str = "all done";
