//! The switch: ingress accounting, one of three queueing disciplines, scheduling, control first.
//!
//! A packet is charged to its (ingress port, class) counter from full arrival until its last bit
//! has left. It waits for the (egress port, class) that it leaves in, which may be another class:
//! that is the one on the next wire, the one that the next switch counts it in and the one whose
//! PAUSE, credit or stage holds it back. The driver decides both, as it does the egress.
//! The driver moves packets over wires; everything in between happens here:
//!
//! ```text
//!   handle_arrival / handle_signal / handle_timeout / handle_transmitted
//!        `-> while let Some(port) = poll_ready():  poll_transmit(now, port) -> onto the wire
//! ```
//!
//! Generic over a packet handle, so that the simulator and a real dataplane drive the same code.
//! Nothing is allocated per packet once the queues have grown to their working size.

mod congestion;
mod discipline;
mod drain;
mod header;
mod inspect;
mod outage;
mod plain;
mod sharing;
pub mod software;
mod turns;
pub mod watchdog;

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::congestion::{CongestionControl, Feedback, Joining};
use crate::fifo::{Fifo, Pool};
use crate::flow_control::{Control, Gate};
use crate::id::{Class, PortId, QueueId};
use crate::lanes::Lanes;
use crate::memory::MemoryConfig;
use crate::port::{Overrun, Port, PortConfig};
use crate::schedule::{ClassScheduler, Rotation, Scheduler};
use crate::unit::{Bytes, Rate, Span, Time};

use discipline::Fifos;
pub use discipline::{Arbiter, Discipline};
pub use drain::Dropped;
use drain::Taken;
use header::Header;
pub use plain::{AnyClasses, Driver, Known, OneBareClass, OneClass, OneClassOfCredit, Started};
use software::Software;
use watchdog::Watchdogs;

/// How a switch is built.
#[derive(Clone, Debug)]
pub struct SwitchConfig {
    /// Where in the switch packets wait.
    pub discipline: Discipline,
    /// How an egress chooses between classes.
    pub scheduler: Scheduler,
    /// One element per port; all have the same number of classes.
    pub ports: Vec<PortConfig>,
    /// The congestion control whose points sit at every egress.
    pub congestion: CongestionControl,
    /// Whether packets may leave in another class than they came in.
    pub changes_class: bool,
    /// The seed of its congestion points and of a random scheduler.
    pub seed: u64,
    /// How the packet memory is divided.
    pub memory: MemoryConfig,
    /// How its cores poll, if it is a software switch.
    pub polling: software::Polling,
}

/// A packet as the switch sees it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<P> {
    /// The driver's handle of the packet.
    pub packet: P,
    /// The length of the frame.
    pub size: Bytes,
    /// The class that it arrived in, whose ingress counter it is charged to.
    pub class: Class,
    /// The egress port that the forwarding table has chosen.
    pub egress: PortId,
    /// The class that it leaves in, whose egress queue it joins.
    pub leaving: Class,
}

/// A frame that a port puts on its wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmit<P> {
    /// A control frame of [`Control::SIZE`] bytes.
    Control(Control),
    /// A data frame, whose length and class the switch knows.
    Data {
        /// The driver's handle of the packet.
        packet: P,
        /// The length of the frame.
        size: Bytes,
        /// The class that it travels in.
        class: Class,
        /// Whether to set its ECN mark; an earlier mark stays.
        is_marked: bool,
    },
}

/// The switch. See the [module](self).
///
/// The order in memory is that below: what every packet needs comes first, in three cache lines.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Switch<P> {
    ports: Box<[SwitchPort]>,
    ready: Ready,
    /// Where packets wait, as `discipline` says.
    kept_in: Fifos,
    /// Whether congestion points ask if the far end holds their queue back.
    watches_release: bool,
    /// Whether the gate of any port counts credits.
    spends_credit: bool,
    /// Whether any ingress counts in whole blocks of credits.
    counts_blocks: bool,
    /// Whether every packet has to join a queue, even if it leaves at once: turns and congestion
    /// points that watch for releases need every step.
    needs_queue: bool,
    class_count: usize,
    /// The number of classes in which the packets of one ingress counter can leave by one egress.
    leaving_count: usize,
    pool: Pool<Waiting<P>>,
    /// Bytes that wait per (ingress, class, egress) and, where classes change, per class that they
    /// leave in, without the frame on the wire.
    waiting: Box<[u32]>,
    /// The congestion point of each (egress, class); empty if the scheme has none.
    points: Box<[congestion::Watched]>,
    /// The memory that the ports share, if they do.
    sharing: Option<Box<sharing::Sharing>>,
    /// The watchdogs of all egress queues, if there are any.
    watchdogs: Option<Box<Watchdogs>>,
    /// Notifications that the switch itself sends, per (egress, class); they are on no ingress
    /// counter.
    notices: Box<[Fifo]>,
    scheduler: ClassScheduler,
    /// One FIFO per (ingress, egress, leaving class) or (ingress, class); none when output-queued.
    fifos: Box<[Fifo]>,
    /// Per (egress, class), the ingresses that it can serve next, or the FIFOs where classes change
    /// in an input-queued switch; unused when output-queued.
    rotation: Rotation,
    /// Per (ingress, class), whether a packet of its FIFO is being sent; only when input-queued.
    in_service: Box<[bool]>,
    /// The FIFOs whose packet has left in this instant and that have not shown their next one, and, when
    /// slotted, the egresses that have not decided; only when input-queued.
    ended: turns::Ended,
    discipline: Discipline,
    /// The cores and the NICs, if it is a software switch.
    software: Option<Box<Software>>,
}

/// A port and the state of its egress, side by side in memory: a packet that arrives for a busy
/// egress touches the first cache line only.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct SwitchPort {
    sending: Sending,
    /// The classes that the far end has stopped, a bit each.
    stopped: u8,
    /// The classes that the far end has stopped or slowed down, a bit each; only with congestion
    /// points.
    held: u8,
    /// When the earliest closed gate opens by itself.
    wake: Time,
    queues: Lanes<Queue>,
    port: Port,
}

/// The queue of an egress and class.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// The packets that wait; empty unless output-queued.
    fifo: Fifo,
    /// The number of packets that wait for the queue, in whichever FIFO.
    packets: u32,
}

impl Queue {
    const EMPTY: Queue = Queue { fifo: Fifo::EMPTY, packets: 0 };
}

#[derive(Clone, Copy, Debug)]
enum Sending {
    Nothing,
    Control,
    Notice,
    Data {
        ingress: PortId,
        class: Class,
        /// The class that it leaves in.
        leaving: Class,
        /// The bytes that it takes of its ingress buffer.
        charge: u32,
    },
}

impl Sending {
    /// A packet of an ingress and class that leaves in `leaving`.
    #[inline(always)]
    fn data(ingress: PortId, class: Class, leaving: Class, charge: Bytes) -> Sending {
        Sending::Data { ingress, class, leaving, charge: charge.get() as u32 }
    }
}

// The state of a port fills four cache lines; what most packets need of it fills the first two.
const _: () = assert!(size_of::<SwitchPort>() == 256);

/// A packet that waits in a queue.
#[derive(Clone, Copy, Debug)]
struct Waiting<P> {
    packet: P,
    header: Header,
    ingress: PortId,
    egress: PortId,
}

/// The ports to poll, at most as many as one input can affect: the driver polls them all before the
/// next input.
#[derive(Clone, Debug, Default)]
struct Ready {
    ports: [u16; 8],
    count: u8,
}

impl<P: Copy> Switch<P> {
    /// A switch with empty queues.
    pub fn new(config: &SwitchConfig) -> Switch<P> {
        let port_count = config.ports.len();
        let class_count = config.ports.first().map_or(1, |port| port.lanes.len());
        assert!(config.ports.iter().all(|port| port.lanes.len() == class_count));
        let pairs = port_count * class_count;
        let fifo_count = match config.discipline {
            Discipline::VirtualOutputQueued => pairs * port_count,
            Discipline::InputQueued(_) | Discipline::Software => pairs,
            Discipline::OutputQueued => 0,
        };
        let ports = config.ports.iter().map(|port| SwitchPort {
            sending: Sending::Nothing,
            wake: Time::MAX,
            stopped: 0,
            held: 0,
            queues: core::iter::repeat_n(Queue::EMPTY, class_count).collect(),
            port: Port::new(port),
        });
        let ports: Box<[SwitchPort]> = ports.collect();
        let leaving_count = if config.changes_class { class_count } else { 1 };
        let (cells, schedule) = (pairs * port_count * leaving_count, config.scheduler);
        let seed = config.seed ^ 0x5c4e_d01e_4a11_d0a7;
        let spends_credit = ports.iter().any(|state| state.port.may_spend_credit());
        let notices = if config.congestion.notifies() { pairs } else { 0 };
        Switch {
            discipline: config.discipline,
            kept_in: config.discipline.fifos(),
            class_count,
            leaving_count,
            scheduler: ClassScheduler::new(schedule, port_count, class_count, seed),
            fifos: alloc::vec![Fifo::EMPTY; fifo_count].into(),
            pool: Pool::new(),
            waiting: alloc::vec![0; cells].into(),
            rotation: match schedule {
                Scheduler::Random => Rotation::random(pairs, port_count * leaving_count, seed),
                _ => Rotation::new(pairs, port_count * leaving_count),
            },
            in_service: match config.discipline {
                Discipline::InputQueued(_) => alloc::vec![false; pairs].into(),
                _ => Box::default(),
            },
            ended: turns::Ended::default(),
            software: (config.discipline == Discipline::Software).then(|| Software::new(config)),
            points: congestion::points(config, class_count),
            watches_release: config.congestion.watches_release(),
            notices: alloc::vec![Fifo::EMPTY; notices].into(),
            spends_credit,
            needs_queue: config.discipline.fifos() != Fifos::Egress
                || config.congestion.watches_release(),
            counts_blocks: (config.ports.iter().flat_map(|port| &port.lanes))
                .any(|lane| lane.ingress.charge(Bytes::new(1)) > Bytes::new(1)),
            sharing: sharing::Sharing::new(config),
            watchdogs: None,
            ready: Ready::default(),
            ports,
        }
    }

    /// Where packets wait inside the switch.
    pub fn discipline(&self) -> Discipline {
        self.discipline
    }

    /// The switch's end of one of its links.
    pub fn port(&self, port: PortId) -> &Port {
        &self.ports[port.index()].port
    }

    /// How many ports there are.
    pub fn port_count(&self) -> usize {
        self.ports.len()
    }

    /// Sends the control frames of `port` without occupying the wire, see
    /// [`Port::set_out_of_band`].
    pub fn set_out_of_band(&mut self, port: PortId, delay: Span) {
        self.ports[port.index()].port.set_out_of_band(delay);
    }

    /// Limits what leaves `port` in `class` to `rate`, see [`Port::limit`].
    pub fn limit(&mut self, port: PortId, class: Class, rate: Rate) {
        self.ports[port.index()].port.limit(class, rate);
        self.pace_nic(port);
    }

    /// Handles a packet that has fully arrived at `ingress`. Returns the notification that the
    /// egress wants to send to the packet's source, if any; the driver knows the way there and
    /// calls [`Switch::notify`].
    pub fn handle_arrival(
        &mut self,
        now: Time,
        ingress: PortId,
        arrival: Arrival<P>,
    ) -> Result<Option<Feedback>, Overrun> {
        let Arrival { packet, size, class, egress, leaving } = arrival;
        debug_assert!(self.leaving_count > 1 || class == leaving);
        let charge = self.charge(ingress, class, size);
        if self.sharing.is_some() {
            self.charge_memory(now, ingress, class, charge)?;
        }
        let port = &mut self.ports[ingress.index()].port;
        port.enqueue(now, class, charge)?;
        if port.is_talking() {
            self.mark_talking(ingress);
        }
        let from = QueueId { port: ingress, class };
        let cell = self.cell(from, QueueId { port: egress, class: leaving });
        self.waiting[cell] += charge.get() as u32;
        self.ports[egress.index()].queues[leaving.index()].packets += 1;
        let joining = self.look_at_arrival(now, egress, leaving, size);

        let waiting = Waiting {
            packet,
            header: Header::new(size, class, leaving, joining == Joining::Marked),
            ingress,
            egress,
        };
        let queue = &mut self.ports[egress.index()].queues[leaving.index()];
        let is_alone = queue.packets == 1;
        let is_exposed = match self.kept_in {
            Fifos::Egress => {
                self.pool.push_back(&mut queue.fifo, waiting);
                false
            }
            Fifos::Pair | Fifos::Ingress => self.join_turns(waiting),
            Fifos::Software => {
                self.join_turns(waiting);
                self.wake_core(now);
                false
            }
        };
        if self.spends_credit && (is_exposed || is_alone) {
            // It is not yet known whether there is credit for this packet.
            self.look_at_gate_for_credit(now, egress, leaving);
        }
        if self.watchdogs.is_some() {
            self.watch_arrival(now, egress, leaving);
        }
        if self.ports[egress.index()].stopped == 0 {
            // Behind the head of an ingress it does not matter to the egress yet.
            if is_exposed || self.kept_in != Fifos::Ingress {
                self.mark_idle_ready(egress);
            }
        } else {
            // The driver wants to know when a stopped queue grows.
            self.mark_ready(egress);
        }
        Ok(match joining {
            Joining::Notify(feedback) => Some(feedback),
            Joining::Silent | Joining::Marked => None,
        })
    }

    /// Handles a packet that has fully arrived at `ingress` and is dropped there: its TTL has run
    /// out, or its next hop has no class for it. It takes no buffer.
    pub fn handle_expired(&mut self, ingress: PortId, class: Class, size: Bytes) {
        self.ports[ingress.index()].port.discard(class, size);
    }

    /// Sends a notification of the switch itself, before the data that waits, but subject to flow
    /// control as well. It takes no ingress buffer.
    pub fn notify(&mut self, notice: Arrival<P>) {
        let waiting = Waiting {
            packet: notice.packet,
            header: Header::new(notice.size, notice.leaving, notice.leaving, false),
            ingress: notice.egress,
            egress: notice.egress,
        };
        let queue = self.queue(notice.egress, notice.leaving);
        self.pool.push_back(&mut self.notices[queue], waiting);
        self.mark_ready(notice.egress);
    }

    /// Handles a control frame that has arrived at `port`, see [`Port::handle_control`].
    pub fn handle_control(&mut self, port: PortId, control: Control) {
        self.ports[port.index()].port.handle_control(control);
    }

    /// Lets a control frame take effect at `port`.
    pub fn handle_signal(&mut self, now: Time, port: PortId, control: Control) {
        if self.watchdogs.is_some() {
            self.watch_signal(now, port, control);
        }
        self.ports[port.index()].port.handle_signal(now, control);
        self.look_at_gate(now, port, control.class);
        self.look_for_release(now, port, control.class);
        self.ask_nic(port);
        self.mark_ready(port);
    }

    /// Handles the instant that [`Switch::poll_timeout`] named for `port`.
    pub fn handle_timeout(&mut self, now: Time, port: PortId) {
        self.ports[port.index()].port.handle_timeout(now);
        if self.kept_in == Fifos::Software && port == Software::PORT {
            self.run_core(now);
        }
        if self.watchdogs.is_some() {
            self.watch_timeout(now, port);
        }
        self.mark_ready(port);
    }

    /// Handles the departure of the last bit of what `port` was sending. When all packets that end at
    /// one instant have been handled, the driver calls [`Switch::poll_ended`].
    pub fn handle_transmitted(&mut self, now: Time, port: PortId) {
        let state = &mut self.ports[port.index()];
        state.port.on_transmitted(now);
        match core::mem::replace(&mut state.sending, Sending::Nothing) {
            Sending::Nothing => panic!("port {} was not sending", port.0),
            Sending::Control | Sending::Notice => {}
            Sending::Data { .. } if self.kept_in == Fifos::Software => {}
            Sending::Data { ingress, class, charge, .. } => {
                self.release(now, ingress, class, Bytes::new(u64::from(charge)));
                if self.kept_in == Fifos::Ingress {
                    return self.end(now, port, QueueId { port: ingress, class });
                }
            }
        }
        self.decide(port);
    }

    /// A port that may have something to send; ask it with [`Switch::poll_transmit`].
    #[inline]
    pub fn poll_ready(&mut self) -> Option<PortId> {
        let Some(count) = self.ready.count.checked_sub(1) else {
            return self.sharing.as_mut()?.poll_resumed();
        };
        self.ready.count = count;
        Some(PortId(self.ready.ports[usize::from(self.ready.count)]))
    }

    /// When `port` wants [`Switch::handle_timeout`]; [`Time::MAX`] for never.
    #[inline]
    pub fn poll_timeout(&self, port: PortId) -> Time {
        let watched = match &self.watchdogs {
            None => Time::MAX,
            Some(watchdogs) => watchdogs.due(port),
        };
        let number = port;
        let SwitchPort { port, sending, wake, .. } = &self.ports[port.index()];
        let mut periodic = port.poll_timeout().min(watched);
        if self.kept_in == Fifos::Software {
            periodic = periodic.min(self.core_due(number));
        }
        match sending {
            Sending::Nothing => periodic.min(*wake),
            // A gate that opens in mid-frame is seen when the frame has left.
            Sending::Control | Sending::Notice | Sending::Data { .. } => periodic,
        }
    }

    /// The next message of `port` that does not occupy the wire, and its delay.
    pub fn poll_out_of_band(&mut self, now: Time, port: PortId) -> Option<(Control, Span)> {
        self.ports[port.index()].port.poll_out_of_band(now)
    }

    /// The next frame on the wire of `port`, if it is free and something may be sent.
    pub fn poll_transmit(&mut self, now: Time, port: PortId) -> Option<Transmit<P>> {
        if self.kept_in == Fifos::Software {
            return self.transmit_by_nic(now, port);
        }
        let index = port.index();
        let state = &mut self.ports[index];
        if !matches!(state.sending, Sending::Nothing) {
            return None;
        }
        // Control frames go before all data, but preempt none.
        if let Some(control) = state.port.poll_signal(now) {
            state.sending = Sending::Control;
            return Some(Transmit::Control(control));
        }
        state.wake = Time::MAX;
        let class = if self.notices.is_empty() {
            self.choose_class(now, port, |_| Bytes::ZERO)?
        } else {
            let notice_wake = match self.next_notice(now, port) {
                Ok(class) => return Some(self.send_notice(now, port, class)),
                Err(time) => time,
            };
            let class = self.choose_class(now, port, |_| Bytes::ZERO);
            let wake = &mut self.ports[index].wake;
            *wake = notice_wake.min(*wake);
            class?
        };
        self.look_for_release(now, port, class);
        let Taken { slot, charge, is_marked } = self.take(now, port, class);
        let (size, came_in) = (slot.header.size(), slot.header.class());
        if self.watchdogs.is_some() {
            self.watch_departure(port, class);
        }
        let state = &mut self.ports[index];
        state.port.on_transmit(now, class, size);
        state.sending = Sending::data(slot.ingress, came_in, class, charge);
        if self.spends_credit {
            self.look_at_gate_for_credit(now, port, class);
        }
        self.scheduler.on_transmit(port, class, size);
        Some(Transmit::Data { packet: slot.packet, size, class, is_marked })
    }

    /// The class that may send and whose turn it is, with bytes that are ahead of each; also notes when a
    /// closed gate opens by itself.
    #[inline(always)]
    fn choose_class(
        &mut self,
        now: Time,
        port: PortId,
        ahead: impl Fn(Class) -> Bytes,
    ) -> Option<Class> {
        if self.class_count > 1 {
            return self.choose_among_classes(now, port, ahead);
        }
        let class = Class(0);
        let size = self.head(port, class)? + ahead(class);
        let state = &mut self.ports[port.index()];
        match state.port.gate(now, class, size) {
            Gate::Open => return Some(class),
            Gate::At(time) => state.wake = time,
            Gate::Closed => {}
        }
        None
    }

    fn choose_among_classes(
        &mut self,
        now: Time,
        port: PortId,
        ahead: impl Fn(Class) -> Bytes,
    ) -> Option<Class> {
        let (mut open, mut wake) = (0u8, Time::MAX);
        let mut heads = [Bytes::ZERO; Class::COUNT_MAX];
        for class in (0..self.class_count as u8).map(Class) {
            let Some(size) = self.head(port, class) else {
                continue;
            };
            heads[class.index()] = size;
            let gate = self.ports[port.index()].port.gate(now, class, size + ahead(class));
            match gate {
                Gate::Open => open |= 1 << class.0,
                Gate::At(time) => wake = wake.min(time),
                Gate::Closed => {}
            }
        }
        self.ports[port.index()].wake = wake;
        self.scheduler.choose(port, open, &heads)
    }

    /// The length of the frame that (`egress`, `class`) would send next.
    #[inline(always)]
    fn head(&self, egress: PortId, class: Class) -> Option<Bytes> {
        let queue = &self.ports[egress.index()].queues[class.index()];
        if queue.packets == 0 {
            return None;
        }
        let head = match self.kept_in {
            Fifos::Egress | Fifos::Software => self.pool.front(&queue.fifo),
            Fifos::Pair | Fifos::Ingress => {
                let member = self.rotation.peek(self.queue(egress, class))?;
                let fifo = self.fifo(member, egress, class);
                self.pool.front(&self.fifos[fifo])
            }
        };
        Some(head?.header.size())
    }

    /// As [`Switch::look_at_gate`], for changes of the queue itself, which matter only to gates
    /// that count credits.
    #[inline]
    fn look_at_gate_for_credit(&mut self, now: Time, port: PortId, class: Class) {
        let state = &self.ports[port.index()];
        if self.kept_in == Fifos::Egress && state.stopped & 1 << class.0 == 0 {
            let head = self.pool.front(&state.queues[class.index()].fifo);
            let size = head.map_or(Bytes::new(64), |head| head.header.size());
            if state.port.has_credit(class, size) {
                return;
            }
        }
        if state.port.spends_credit(class) {
            self.look_at_gate(now, port, class);
        }
    }

    /// Notes whether the far end has stopped (`port`, `class`).
    #[inline(never)]
    fn look_at_gate(&mut self, now: Time, port: PortId, class: Class) {
        let queue = self.queue(port, class);
        self.reconsider_turn(port, class);
        let size = self.head(port, class).unwrap_or(Bytes::new(64));
        let state = &mut self.ports[port.index()];
        let is_stopped = state.port.is_stopped(now, class, size);
        let stopped = &mut state.stopped;
        *stopped = (*stopped & !(1 << class.0)) | u8::from(is_stopped) << class.0;
        let is_pinned = match self.kept_in {
            Fifos::Pair => true,
            Fifos::Ingress => state.port.spends_credit(class),
            Fifos::Egress | Fifos::Software => false,
        };
        if is_stopped && is_pinned {
            // A smaller packet that arrives later must not overtake the one that lacks credit.
            self.rotation.pin(queue);
        }
        if is_stopped {
            state.held |= 1 << class.0;
        }
    }

    /// Marks a port that has a message to send.
    #[inline]
    fn mark_talking(&mut self, port: PortId) {
        if self.ports[port.index()].port.is_out_of_band() {
            self.mark_ready(port)
        } else {
            self.mark_idle_ready(port)
        }
    }

    /// Marks an idle port that can send now; a busy one is polled when its frame has left.
    #[inline]
    fn mark_idle_ready(&mut self, port: PortId) {
        if matches!(self.ports[port.index()].sending, Sending::Nothing) {
            self.mark_ready(port);
        }
    }

    #[inline]
    fn mark_ready(&mut self, port: PortId) {
        let Ready { ports, count } = &mut self.ready;
        if !ports[..usize::from(*count)].contains(&port.0) {
            ports[usize::from(*count)] = port.0;
            *count += 1;
        }
    }

    #[inline]
    fn queue(&self, egress: PortId, class: Class) -> usize {
        egress.index() * self.class_count + class.index()
    }

    /// The index in `waiting` of what arrived by `from` and leaves by `to`.
    #[inline]
    fn cell(&self, from: QueueId, to: QueueId) -> usize {
        let pair = self.queue(from.port, from.class) * self.ports.len() + to.port.index();
        match self.leaving_count {
            1 => pair,
            count => pair * count + to.class.index(),
        }
    }
}
