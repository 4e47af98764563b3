//! The switch: ingress accounting, one of three queueing disciplines, scheduling, control first.
//!
//! A packet is charged to its (ingress port, class) counter from full arrival until its last bit
//! has left. The driver moves packets over wires; everything in between happens here:
//!
//! ```text
//!   handle_arrival / handle_signal / handle_timeout / handle_transmitted
//!        `-> while let Some(port) = poll_ready():  poll_transmit(now, port) -> onto the wire
//! ```
//!
//! Generic over a packet handle, so that the simulator and a real dataplane drive the same code.
//! Nothing is allocated per packet once the queues have grown to their working size.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::flow_control::{Control, Gate};
use crate::id::{Class, PortId};
use crate::port::{Overrun, Port, PortConfig};
use crate::schedule::{ClassScheduler, Rotation, Scheduler};
use crate::unit::{Bytes, Span, Time};

/// How packets wait inside the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// One FIFO per egress and class, in order of arrival: the commodity shared-memory switch.
    OutputQueued,
    /// A FIFO per ingress, egress and class; each egress serves its ingresses round robin.
    VirtualOutputQueued,
    /// One FIFO per ingress and class, so that a blocked head blocks what is behind it;
    /// each egress serves round robin the ingresses whose head wants it.
    InputQueued,
}

impl Discipline {
    /// All three.
    pub const ALL: [Discipline; 3] = [
        Discipline::OutputQueued,
        Discipline::VirtualOutputQueued,
        Discipline::InputQueued,
    ];

    /// The name in scenario files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Discipline::OutputQueued => "output-queued",
            Discipline::VirtualOutputQueued => "virtual-output-queued",
            Discipline::InputQueued => "input-queued",
        }
    }
}

/// How a switch is built.
#[derive(Clone, Debug)]
pub struct SwitchConfig {
    /// How packets wait.
    pub discipline: Discipline,
    /// How an egress chooses between classes.
    pub scheduler: Scheduler,
    /// One element per port; all have the same number of classes.
    pub ports: Vec<PortConfig>,
}

/// A packet as the switch sees it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<P> {
    /// The driver's handle.
    pub packet: P,
    /// Frame bytes.
    pub size: Bytes,
    /// The class that it is accounted and scheduled in.
    pub class: Class,
    /// Where the forwarding table sends it.
    pub egress: PortId,
}

/// What a port puts on its wire next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmit<P> {
    /// A control frame of [`Control::SIZE`] bytes.
    Control(Control),
    /// A data frame.
    Data {
        /// The driver's handle.
        packet: P,
        /// Frame bytes.
        size: Bytes,
        /// Its class.
        class: Class,
    },
}

/// The switch. See the [module](self).
#[derive(Clone, Debug)]
pub struct Switch<P> {
    discipline: Discipline,
    class_count: usize,
    ports: Vec<Port>,
    egress: Vec<Egress>,
    scheduler: ClassScheduler,
    /// One per (egress, class), (ingress, egress, class) or (ingress, class).
    fifos: Box<[Fifo]>,
    slots: Vec<Slot<P>>,
    free: u32,
    /// Bytes waiting per (ingress, class, egress), not counting the frame on the wire.
    waiting: Box<[u32]>,
    /// Packets waiting per (egress, class).
    backlog: Box<[u32]>,
    /// Per (egress, class), the ingresses that it can serve next; unused when output-queued.
    rotation: Rotation,
    ready: Vec<PortId>,
}

#[derive(Clone, Debug)]
struct Egress {
    sending: Sending,
    /// When a gate that was found closed for now will open by itself.
    wake: Time,
}

#[derive(Clone, Copy, Debug)]
enum Sending {
    Nothing,
    Control,
    Data {
        ingress: PortId,
        class: Class,
        charge: Bytes,
    },
}

const NIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Fifo {
    head: u32,
    tail: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot<P> {
    packet: P,
    size: u32,
    next: u32,
    ingress: PortId,
    egress: PortId,
    class: Class,
}

impl<P: Copy> Switch<P> {
    /// A switch with empty queues.
    pub fn new(config: &SwitchConfig) -> Switch<P> {
        let port_count = config.ports.len();
        let class_count = config.ports.first().map_or(1, |port| port.lanes.len());
        assert!(
            config
                .ports
                .iter()
                .all(|port| port.lanes.len() == class_count)
        );
        let pairs = port_count * class_count;
        let fifo_count = match config.discipline {
            Discipline::VirtualOutputQueued => pairs * port_count,
            Discipline::OutputQueued | Discipline::InputQueued => pairs,
        };
        let idle = Egress {
            sending: Sending::Nothing,
            wake: Time::MAX,
        };
        Switch {
            discipline: config.discipline,
            class_count,
            ports: config.ports.iter().map(Port::new).collect(),
            egress: alloc::vec![idle; port_count],
            scheduler: ClassScheduler::new(config.scheduler, port_count, class_count),
            fifos: alloc::vec![Fifo { head: NIL, tail: NIL }; fifo_count].into(),
            slots: Vec::new(),
            free: NIL,
            waiting: alloc::vec![0; pairs * port_count].into(),
            backlog: alloc::vec![0; pairs].into(),
            rotation: Rotation::new(pairs, port_count),
            ready: Vec::with_capacity(port_count),
        }
    }

    /// How packets wait here.
    pub fn discipline(&self) -> Discipline {
        self.discipline
    }

    /// One end of one of the links.
    pub fn port(&self, port: PortId) -> &Port {
        &self.ports[port.index()]
    }

    /// How many ports there are.
    pub fn port_count(&self) -> usize {
        self.ports.len()
    }

    /// A packet has fully arrived at `ingress`.
    pub fn handle_arrival(
        &mut self,
        now: Time,
        ingress: PortId,
        arrival: Arrival<P>,
    ) -> Result<(), Overrun> {
        let Arrival {
            packet,
            size,
            class,
            egress,
        } = arrival;
        let port = &mut self.ports[ingress.index()];
        let charge = port.charge(class, size);
        port.enqueue(now, class, charge)?;
        if port.is_talking() {
            self.mark_ready(ingress);
        }
        let cell = self.cell(ingress, class, egress);
        self.waiting[cell] += charge.get() as u32;
        let queue = self.queue(egress, class);
        self.backlog[queue] += 1;

        let size = u32::try_from(size.get()).expect("a frame is smaller than 4 GiB");
        let slot = self.allocate(Slot {
            packet,
            size,
            next: NIL,
            ingress,
            egress,
            class,
        });
        let fifo = self.fifo(ingress, class, egress);
        let was_empty = self.push_back(fifo, slot);
        if was_empty && self.discipline != Discipline::OutputQueued {
            self.rotation.insert(queue, ingress);
        }
        self.mark_ready(egress);
        Ok(())
    }

    /// A control frame has arrived on the wire of `port`, see [`Port::handle_control`].
    pub fn handle_control(&mut self, port: PortId, control: Control) {
        self.ports[port.index()].handle_control(control);
    }

    /// A control frame takes effect at `port`.
    pub fn handle_signal(&mut self, now: Time, port: PortId, control: Control) {
        self.ports[port.index()].handle_signal(now, control);
        self.mark_ready(port);
    }

    /// The instant that [`Switch::poll_timeout`] named for `port` has come.
    pub fn handle_timeout(&mut self, now: Time, port: PortId) {
        self.ports[port.index()].handle_timeout(now);
        self.mark_ready(port);
    }

    /// The last bit of what `port` was sending has left.
    pub fn handle_transmitted(&mut self, now: Time, port: PortId) {
        let sending = &mut self.egress[port.index()].sending;
        match core::mem::replace(sending, Sending::Nothing) {
            Sending::Nothing => panic!("port {} was not sending", port.0),
            Sending::Control => {}
            Sending::Data {
                ingress,
                class,
                charge,
            } => {
                let arrived_at = &mut self.ports[ingress.index()];
                arrived_at.dequeue(now, class, charge);
                if arrived_at.is_talking() {
                    self.mark_ready(ingress);
                }
            }
        }
        self.mark_ready(port);
    }

    /// A port that may have something to send; ask it with [`Switch::poll_transmit`].
    #[inline]
    pub fn poll_ready(&mut self) -> Option<PortId> {
        self.ready.pop()
    }

    /// When `port` wants [`Switch::handle_timeout`]; [`Time::MAX`] for never.
    #[inline]
    pub fn poll_timeout(&self, port: PortId) -> Time {
        self.egress[port.index()]
            .wake
            .min(self.ports[port.index()].poll_timeout())
    }

    /// The next signal of `port` that takes no place on the wire, and its delay.
    pub fn poll_out_of_band(&mut self, now: Time, port: PortId) -> Option<(Control, Span)> {
        self.ports[port.index()].poll_out_of_band(now)
    }

    /// The next frame on the wire of `port`, if it is free and something may be sent.
    pub fn poll_transmit(&mut self, now: Time, port: PortId) -> Option<Transmit<P>> {
        let index = port.index();
        if !matches!(self.egress[index].sending, Sending::Nothing) {
            return None;
        }
        // Control frames go before all data, but interrupt none.
        if let Some(control) = self.ports[index].poll_signal(now) {
            self.egress[index].sending = Sending::Control;
            return Some(Transmit::Control(control));
        }
        self.egress[index].wake = Time::MAX;
        let class = self.choose_class(now, port)?;
        let queue = self.queue(port, class);
        let fifo = match self.discipline {
            Discipline::OutputQueued => queue,
            Discipline::VirtualOutputQueued => {
                let ingress = self.rotation.next(queue).expect("there is a backlog");
                self.fifo(ingress, class, port)
            }
            Discipline::InputQueued => {
                let ingress = self.rotation.next(queue).expect("the head is here");
                self.fifo(ingress, class, port)
            }
        };
        let slot = self.pop_front(fifo);
        self.after_pop(fifo, queue, slot.ingress);
        let size = Bytes::new(u64::from(slot.size));
        let charge = self.ports[slot.ingress.index()].charge(class, size);
        let cell = self.cell(slot.ingress, class, port);
        self.waiting[cell] -= charge.get() as u32;
        self.backlog[queue] -= 1;
        self.ports[index].on_transmit(now, class, size);
        self.scheduler.on_transmit(port, class, size);
        self.egress[index].sending = Sending::Data {
            ingress: slot.ingress,
            class,
            charge,
        };
        Some(Transmit::Data {
            packet: slot.packet,
            size,
            class,
        })
    }

    /// The class that may send and whose turn it is; remembers when a gate opens by itself.
    fn choose_class(&mut self, now: Time, port: PortId) -> Option<Class> {
        let mut open = 0u8;
        let mut heads = [Bytes::ZERO; Class::COUNT_MAX];
        for (index, head) in heads.iter_mut().enumerate().take(self.class_count) {
            let class = Class(index as u8);
            let Some(size) = self.head(port, class) else {
                continue;
            };
            *head = size;
            match self.ports[port.index()].gate(now, class, size) {
                Gate::Open => open |= 1 << index,
                Gate::At(time) => {
                    let wake = &mut self.egress[port.index()].wake;
                    *wake = (*wake).min(time);
                }
                Gate::Closed => {}
            }
        }
        self.scheduler.choose(port, open, &heads)
    }

    /// Keeps the rotation of the ingresses true after a packet has left `fifo`.
    fn after_pop(&mut self, fifo: usize, queue: usize, ingress: PortId) {
        match self.discipline {
            Discipline::OutputQueued => {}
            Discipline::VirtualOutputQueued => {
                if self.fifos[fifo].head == NIL {
                    self.rotation.remove(queue, ingress);
                }
            }
            Discipline::InputQueued => {
                self.rotation.remove(queue, ingress);
                let head = self.fifos[fifo].head;
                if head != NIL {
                    let Slot { egress, class, .. } = self.slots[head as usize];
                    let next = self.queue(egress, class);
                    self.rotation.insert(next, ingress);
                    self.mark_ready(egress);
                }
            }
        }
    }

    /// The size of the frame that (`egress`, `class`) would send next.
    fn head(&self, egress: PortId, class: Class) -> Option<Bytes> {
        let queue = self.queue(egress, class);
        if self.backlog[queue] == 0 {
            return None;
        }
        let fifo = match self.discipline {
            Discipline::OutputQueued => queue,
            Discipline::VirtualOutputQueued | Discipline::InputQueued => {
                self.fifo(self.rotation.peek(queue)?, class, egress)
            }
        };
        let head = self.fifos[fifo].head;
        Some(Bytes::new(u64::from(self.slots[head as usize].size)))
    }

    #[inline]
    fn mark_ready(&mut self, port: PortId) {
        if !self.ready.contains(&port) {
            self.ready.push(port);
        }
    }

    #[inline]
    fn queue(&self, egress: PortId, class: Class) -> usize {
        egress.index() * self.class_count + class.index()
    }

    #[inline]
    fn cell(&self, ingress: PortId, class: Class, egress: PortId) -> usize {
        self.queue(ingress, class) * self.ports.len() + egress.index()
    }

    #[inline]
    fn fifo(&self, ingress: PortId, class: Class, egress: PortId) -> usize {
        match self.discipline {
            Discipline::OutputQueued => self.queue(egress, class),
            Discipline::VirtualOutputQueued => self.cell(ingress, class, egress),
            Discipline::InputQueued => self.queue(ingress, class),
        }
    }

    fn allocate(&mut self, slot: Slot<P>) -> u32 {
        if self.free == NIL {
            self.slots.push(slot);
            return (self.slots.len() - 1) as u32;
        }
        let index = self.free;
        self.free = self.slots[index as usize].next;
        self.slots[index as usize] = slot;
        index
    }

    /// Appends and says whether the queue was empty.
    fn push_back(&mut self, fifo: usize, slot: u32) -> bool {
        let queue = &mut self.fifos[fifo];
        let was_empty = queue.head == NIL;
        if was_empty {
            queue.head = slot;
        } else {
            self.slots[queue.tail as usize].next = slot;
        }
        queue.tail = slot;
        was_empty
    }

    fn pop_front(&mut self, fifo: usize) -> Slot<P> {
        let index = self.fifos[fifo].head;
        let slot = self.slots[index as usize];
        self.fifos[fifo].head = slot.next;
        self.slots[index as usize].next = self.free;
        self.free = index;
        slot
    }
}

/// What the deadlock detector asks.
impl<P: Copy> Switch<P> {
    /// Packets that wait for (`egress`, `class`), wherever they stand.
    pub fn backlog(&self, egress: PortId, class: Class) -> u32 {
        self.backlog[self.queue(egress, class)]
    }

    /// The size of the head frame of (`egress`, `class`) if its gate is not open.
    ///
    /// In an input-queued switch packets may wait for an egress behind heads that want another one;
    /// the egress then counts as blocked if it would not take the smallest frame.
    pub fn blocked(&self, now: Time, egress: PortId, class: Class) -> Option<Bytes> {
        if self.backlog(egress, class) == 0 {
            return None;
        }
        let size = self.head(egress, class).unwrap_or(Bytes::new(64));
        let gate = self.ports[egress.index()].gate(now, class, size);
        (gate != Gate::Open).then_some(size)
    }

    /// Bytes on the counter of (`ingress`, `class`) that wait for `egress`.
    #[inline]
    pub fn waiting(&self, ingress: PortId, class: Class, egress: PortId) -> Bytes {
        Bytes::new(u64::from(self.waiting[self.cell(ingress, class, egress)]))
    }

    /// Bytes on the counter of (`ingress`, `class`) that never leave if the egresses in `stuck`
    /// never send again and all others drain.
    pub fn kept(&self, ingress: PortId, class: Class, stuck: impl Fn(PortId) -> bool) -> Bytes {
        if self.discipline != Discipline::InputQueued {
            let ports = (0..self.ports.len()).map(|port| PortId(port as u16));
            let held = ports.filter(|port| stuck(*port));
            return held.fold(Bytes::ZERO, |sum, port| {
                sum + self.waiting(ingress, class, port)
            });
        }
        // What stands behind the first packet that is stuck is stuck as well.
        let mut sum = Bytes::ZERO;
        let mut found = false;
        let mut next = self.fifos[self.queue(ingress, class)].head;
        while next != NIL {
            let slot = &self.slots[next as usize];
            found |= stuck(slot.egress);
            if found {
                let size = Bytes::new(u64::from(slot.size));
                sum += self.ports[ingress.index()].charge(class, size);
            }
            next = slot.next;
        }
        sum
    }

    /// Calls `visit` with every packet that waits, in no particular order.
    pub fn for_each_waiting(&self, mut visit: impl FnMut(PortId, PortId, Class, &P)) {
        for fifo in &self.fifos {
            let mut next = fifo.head;
            while next != NIL {
                let slot = &self.slots[next as usize];
                visit(slot.ingress, slot.egress, slot.class, &slot.packet);
                next = slot.next;
            }
        }
    }

    /// Frame bytes that wait in the switch; a frame that is being sent is on its wire already.
    pub fn inside(&self) -> Bytes {
        let mut sum = Bytes::ZERO;
        for fifo in &self.fifos {
            let mut next = fifo.head;
            while next != NIL {
                let slot = &self.slots[next as usize];
                sum += Bytes::new(u64::from(slot.size));
                next = slot.next;
            }
        }
        sum
    }

    /// Bytes of heap memory in use.
    pub fn heap_bytes(&self) -> usize {
        self.ports.capacity() * size_of::<Port>()
            + self.fifos.len() * size_of::<Fifo>()
            + self.slots.capacity() * size_of::<Slot<P>>()
            + (self.waiting.len() + self.backlog.len()) * size_of::<u32>()
    }
}
