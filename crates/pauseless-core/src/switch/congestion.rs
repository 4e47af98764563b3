//! The congestion points of a switch, and the notifications that it sends on their behalf.

use alloc::boxed::Box;

use super::{Sending, Switch, SwitchConfig, SwitchPort, Transmit};
use crate::congestion::{
    AnyCongestionPoint, CongestionControl, CongestionPoint, Joining, QueueState,
};
use crate::flow_control::Gate;
use crate::id::{Class, PortId};
use crate::unit::{Bytes, Time};

/// A queue with its congestion point, in a cache line of its own.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Watched {
    point: AnyCongestionPoint,
    /// The bytes that wait for the egress in this class, in whichever FIFO.
    bytes: u32,
    /// The length of the queue from which on the point has to know of packets that come and go.
    loud_from: u32,
}

const _: () = assert!(size_of::<Watched>() == 64);

impl Watched {
    /// Whether the point has to know of packets in a queue of `size` bytes.
    #[inline(always)]
    pub(super) fn is_loud_at(&self, size: Bytes) -> bool {
        size.get() >= u64::from(self.loud_from)
    }

    fn bytes(&self) -> Bytes {
        Bytes::new(u64::from(self.bytes))
    }
}

impl<P: Copy> Switch<P> {
    /// Bytes of all classes that wait for `egress`, as telemetry reports them; zero without
    /// congestion points.
    pub fn counted(&self, egress: PortId) -> Bytes {
        if self.points.is_empty() {
            return Bytes::ZERO;
        }
        let first = self.queue(egress, Class(0));
        self.points[first..first + self.class_count].iter().map(Watched::bytes).sum()
    }

    /// Accounts for a packet that has joined the queue of (`egress`, `class`), and says whether it
    /// is marked.
    #[inline(always)]
    pub(super) fn look_at_arrival(
        &mut self,
        now: Time,
        egress: PortId,
        class: Class,
        size: Bytes,
    ) -> Joining {
        if self.points.is_empty() {
            return Joining::Silent;
        }
        let queue = self.queue(egress, class);
        let watched = &mut self.points[queue];
        watched.bytes += size.get() as u32;
        if watched.bytes < watched.loud_from {
            return Joining::Silent;
        }
        self.tell_arrival(now, egress, class, size)
    }

    /// Informs a congestion point of a packet that has joined its queue.
    #[inline(never)]
    fn tell_arrival(&mut self, now: Time, egress: PortId, class: Class, size: Bytes) -> Joining {
        let queue = self.queue(egress, class);
        let state = self.queue_state(now, egress, class);
        self.points[queue].point.on_enqueue(now, size, state)
    }

    /// Accounts for a packet that leaves the queue of (`egress`, `class`); returns whether to mark
    /// it.
    #[inline(always)]
    pub(super) fn look_at_departure(
        &mut self,
        now: Time,
        egress: PortId,
        class: Class,
        size: Bytes,
    ) -> bool {
        if self.points.is_empty() {
            return false;
        }
        let queue = self.queue(egress, class);
        let watched = &mut self.points[queue];
        watched.bytes -= size.get() as u32;
        if watched.bytes < watched.loud_from {
            return false;
        }
        self.tell_departure(now, egress, class, size)
    }

    /// Informs a congestion point of a packet that has left its queue; returns whether to mark it.
    #[inline(never)]
    fn tell_departure(&mut self, now: Time, egress: PortId, class: Class, size: Bytes) -> bool {
        let queue = self.queue(egress, class);
        let state = self.queue_state(now, egress, class);
        self.points[queue].point.on_dequeue(now, size, state)
    }

    /// Informs the congestion point of (`egress`, `class`) if the far end no longer holds it back:
    /// when a signal takes effect, or when it is noticed that a pause has expired.
    #[inline(always)]
    pub(super) fn look_for_release(&mut self, now: Time, egress: PortId, class: Class) {
        if !self.watches_release {
            return;
        }
        let SwitchPort { port, held, .. } = &self.ports[egress.index()];
        if *held & 1 << class.0 != 0 || !port.is_open(now, class) {
            self.note_release(now, egress, class);
        }
    }

    #[inline(never)]
    fn note_release(&mut self, now: Time, egress: PortId, class: Class) {
        let state = self.queue_state(now, egress, class);
        let bit = 1 << class.0;
        let held = &mut self.ports[egress.index()].held;
        let was_held = *held & bit != 0;
        *held = if state.is_held { *held | bit } else { *held & !bit };
        if was_held && !state.is_held {
            let queue = self.queue(egress, class);
            self.points[queue].point.on_release(now, state);
        }
    }

    /// The state of a queue; whether it is held back is only said to those points that ask for it.
    #[inline(always)]
    fn queue_state(&self, now: Time, egress: PortId, class: Class) -> QueueState {
        let SwitchPort { port, queues, .. } = &self.ports[egress.index()];
        let is_held = self.watches_release
            && !port.is_open(now, class)
            && self.is_queue_held(now, egress, class);
        let bytes = self.points[self.queue(egress, class)].bytes();
        QueueState { packets: queues[class.index()].packets, bytes, is_held }
    }

    #[inline(never)]
    fn is_queue_held(&self, now: Time, egress: PortId, class: Class) -> bool {
        let head = self.head(egress, class).unwrap_or(Bytes::new(64));
        self.ports[egress.index()].port.is_held(now, class, head)
    }

    /// The class of the notification that may leave `egress`, the highest first, or the instant at
    /// which one may.
    #[inline]
    pub(super) fn next_notice(&self, now: Time, egress: PortId) -> Result<Class, Time> {
        let mut wake = Time::MAX;
        if self.notices.is_empty() {
            return Err(wake);
        }
        for class in (0..self.class_count).rev() {
            let class = Class(class as u8);
            let fifo = &self.notices[self.queue(egress, class)];
            let Some(notice) = self.pool.front(fifo) else {
                continue;
            };
            let port = &self.ports[egress.index()].port;
            match port.gate(now, class, notice.header.size()) {
                Gate::Open => return Ok(class),
                Gate::At(time) => wake = wake.min(time),
                Gate::Closed => {}
            }
        }
        Err(wake)
    }

    /// Sends the first waiting notification of a class.
    pub(super) fn send_notice(&mut self, now: Time, egress: PortId, class: Class) -> Transmit<P> {
        let queue = self.queue(egress, class);
        let next = self.pool.pop_front(&mut self.notices[queue]);
        let notice = next.expect("next_notice has found a notification");
        let size = notice.header.size();
        self.ports[egress.index()].port.on_transmit(now, class, size);
        self.look_at_gate_for_credit(now, egress, class);
        self.ports[egress.index()].sending = Sending::Notice;
        Transmit::Data { packet: notice.packet, size, class, is_marked: false }
    }
}

/// The congestion points of a switch; empty if the scheme has none.
pub(super) fn points(config: &SwitchConfig, class_count: usize) -> Box<[Watched]> {
    let ports = (0u64..).zip(&config.ports);
    let points = ports.flat_map(|(port, lanes)| {
        (0..class_count as u64).map(move |class| {
            let seed = config.seed ^ (port << 8 | class).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let point = config.congestion.congestion_point(lanes.line, seed);
            Watched { bytes: 0, loud_from: point.loud_from(), point }
        })
    });
    match config.congestion {
        CongestionControl::None | CongestionControl::Timely(_) => Box::default(),
        _ => points.collect(),
    }
}
