//! One end of a link: both flow-control halves of every class, and who may use the wire next.

mod exception;

use alloc::boxed::Box;

use exception::Exceptions;
pub use exception::Heed;

use crate::flow_control::{
    AnyDownstream, AnyUpstream, Control, Downstream, FlowControl, Gate, Upstream,
};
use crate::id::Class;
use crate::lanes::Lanes;
use crate::unit::{Bytes, Rate, Span, Time};

/// How a port is built.
#[derive(Clone, Debug)]
pub struct PortConfig {
    /// The link's rate, the same in both directions.
    pub line: Rate,
    /// One element per class.
    pub lanes: Box<[LaneConfig]>,
}

/// How one class of a port is built.
#[derive(Clone, Copy, Debug)]
pub struct LaneConfig {
    /// What watches this port's ingress counter.
    pub ingress: FlowControl,
    /// What the far end runs on its ingress counter, which gates our egress.
    pub egress: FlowControl,
    /// The physical ingress buffer.
    pub buffer: Bytes,
    /// When the first periodic message leaves.
    pub phase: Span,
}

/// A packet did not fit: the promise of a lossless class is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// What was held already.
    pub held: Bytes,
    /// The physical buffer, or the size of what was full.
    pub buffer: Bytes,
    /// The part of the memory that was full.
    pub pool: FullPool,
}

/// The part of a switch's memory that a packet did not fit into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullPool {
    /// The buffer of the (ingress, class).
    Buffer,
    /// What a lossy class may have of the shared pool.
    Shared,
    /// The headroom of the (ingress, class).
    Headroom,
    /// The headroom that the classes of the port share.
    PortHeadroom,
    /// The headroom that all ports of the switch share.
    SwitchHeadroom,
}

impl FullPool {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            FullPool::Buffer => "buffer",
            FullPool::Shared => "shared pool",
            FullPool::Headroom => "headroom",
            FullPool::PortHeadroom => "headroom of the port",
            FullPool::SwitchHeadroom => "headroom of the switch",
        }
    }
}

/// One end of a link.
///
/// The order in memory is that below: what an egress asks and the upstream half of the first class
/// fill one cache line, the ingress counter and its watcher the next one.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Port {
    /// The earliest [`Downstream::poll_timeout`] of all classes.
    timer: Time,
    exceptions: Exceptions,
    /// Classes whose downstream half has something to say, a bit each.
    talking: u8,
    /// Set when signals are an idealisation and take no place on the wire.
    is_out_of_band: bool,
    lanes: Lanes<Lane>,
    line: Rate,
}

/// Both halves of one class, and the ingress counter between them.
#[derive(Clone, Debug)]
#[repr(C)]
struct Lane {
    up: AnyUpstream,
    held: Bytes,
    held_max: Bytes,
    buffer: Bytes,
    /// The counter counts in multiples of this.
    cell: u32,
    down: AnyDownstream,
    /// How long an out-of-band signal takes.
    delay: Span,
}

impl Port {
    /// A port with empty buffers and open gates.
    pub fn new(config: &PortConfig) -> Port {
        let line = config.line;
        let lanes = config.lanes.iter().map(|lane| Lane {
            held: Bytes::ZERO,
            buffer: lane.buffer,
            held_max: Bytes::ZERO,
            cell: lane.ingress.cell().get() as u32,
            delay: out_of_band_delay(&lane.ingress).unwrap_or(Span::ZERO),
            down: lane.ingress.downstream(line, lane.phase),
            up: lane.egress.upstream(line),
        });
        let lanes: Lanes<Lane> = lanes.collect();
        assert!(lanes.len() <= Class::COUNT_MAX, "{} classes", lanes.len());
        let is_conceptual = |lane: &LaneConfig| out_of_band_delay(&lane.ingress).is_some();
        let is_out_of_band = config.lanes.iter().any(is_conceptual);
        assert!(
            !is_out_of_band || config.lanes.iter().all(is_conceptual),
            "conceptual GFC is for all classes of a port or for none"
        );
        let mut port =
            Port { line, lanes, talking: 0, timer: Time::MAX, is_out_of_band, exceptions: None };
        port.rearm();
        port
    }

    /// Lets what this port says reach the far end after `delay`, on no wire and waiting for nothing:
    /// as in simulators whose pauses are messages between objects.
    pub fn set_out_of_band(&mut self, delay: Span) {
        self.is_out_of_band = true;
        for class in 0..self.lanes.len() {
            self.lanes[class].delay = delay;
        }
    }

    /// The rate of the link.
    pub fn line(&self) -> Rate {
        self.line
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.lanes.len()
    }

    /// What a frame of `size` bytes takes of the ingress buffer.
    #[inline]
    pub fn charge(&self, class: Class, size: Bytes) -> Bytes {
        match self.lanes[class.index()].cell {
            1 => size,
            cell => Bytes::new(size.get().next_multiple_of(u64::from(cell))),
        }
    }

    /// Bytes on the ingress counter.
    pub fn held(&self, class: Class) -> Bytes {
        self.lanes[class.index()].held
    }

    /// The most that the ingress counter has ever shown.
    pub fn held_max(&self, class: Class) -> Bytes {
        self.lanes[class.index()].held_max
    }

    /// The physical ingress buffer.
    pub fn buffer(&self, class: Class) -> Bytes {
        self.lanes[class.index()].buffer
    }

    /// The half that watches the ingress counter.
    pub fn downstream(&self, class: Class) -> &AnyDownstream {
        &self.lanes[class.index()].down
    }

    /// The half that gates the egress.
    pub fn upstream(&self, class: Class) -> &AnyUpstream {
        &self.lanes[class.index()].up
    }

    /// A packet has fully arrived: `charge` bytes go on the counter, or it does not fit.
    #[inline]
    pub fn enqueue(&mut self, now: Time, class: Class, charge: Bytes) -> Result<(), Overrun> {
        let lane = &mut self.lanes[class.index()];
        let held = lane.held + charge;
        if held > lane.buffer {
            return Err(Overrun { held: lane.held, buffer: lane.buffer, pool: FullPool::Buffer });
        }
        lane.held = held;
        lane.held_max = lane.held_max.max(held);
        lane.down.on_enqueue(now, charge, held);
        if lane.down.has_signal(now) {
            self.talking |= 1 << class.0;
        }
        Ok(())
    }

    /// A packet has fully arrived and is dropped on aim, as when its TTL has run out: it never is
    /// on the counter.
    pub fn discard(&mut self, class: Class, size: Bytes) {
        let charge = self.charge(class, size);
        self.lanes[class.index()].down.on_discard(charge);
    }

    /// The last bit of a packet has left the node: its charge comes off the counter.
    #[inline(always)]
    pub fn dequeue(&mut self, now: Time, class: Class, charge: Bytes) {
        let lane = &mut self.lanes[class.index()];
        lane.held -= charge;
        lane.down.on_dequeue(now, charge, lane.held);
        if lane.down.has_signal(now) {
            self.talking |= 1 << class.0;
        }
    }

    /// A memory that is shared by several ports says whether the sender is to pause.
    pub fn set_pausing(&mut self, now: Time, class: Class, is_pausing: bool) {
        let lane = &mut self.lanes[class.index()];
        lane.down.set_pausing(is_pausing);
        if lane.down.has_signal(now) {
            self.talking |= 1 << class.0;
        }
    }

    /// A control frame has arrived on the wire. Its effect on the egress comes later, with
    /// [`Port::handle_signal`]; only the peer's block count is taken over at once.
    pub fn handle_control(&mut self, control: Control) {
        self.lanes[control.class.index()].down.on_peer_signal(control.signal);
    }

    /// A control frame takes effect.
    pub fn handle_signal(&mut self, now: Time, control: Control) {
        self.lanes[control.class.index()].up.on_signal(now, control.signal);
    }

    /// Whether its signals take no place on the wire, so that they need not wait for it.
    #[inline]
    pub fn is_out_of_band(&self) -> bool {
        self.is_out_of_band
    }

    /// Whether a control frame waits to be sent.
    #[inline]
    pub fn is_talking(&self) -> bool {
        self.talking != 0
    }

    /// The next control frame; lower classes first.
    #[inline]
    pub fn poll_signal(&mut self, now: Time) -> Option<Control> {
        if self.talking == 0 || self.is_out_of_band {
            return None;
        }
        self.next_signal(now)
    }

    /// The next signal that takes no place on the wire, and its delay.
    #[inline]
    pub fn poll_out_of_band(&mut self, now: Time) -> Option<(Control, Span)> {
        if !self.is_out_of_band {
            return None;
        }
        let control = self.next_signal(now)?;
        Some((control, self.lanes[control.class.index()].delay))
    }

    fn next_signal(&mut self, now: Time) -> Option<Control> {
        while self.talking != 0 {
            let class = Class(self.talking.trailing_zeros() as u8);
            self.talking &= self.talking - 1;
            let lane = &mut self.lanes[class.index()];
            if let Some(signal) = lane.down.poll_signal(now) {
                let signal = lane.up.complete(signal);
                self.rearm();
                return Some(Control { class, signal });
            }
            // It had nothing to say after all, but its timer was left out while it waited.
            self.rearm();
        }
        None
    }

    /// When [`Port::handle_timeout`] wants to be called; [`Time::MAX`] for never.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        self.timer
    }

    /// Periodic messages and refreshes that are due become signals.
    pub fn handle_timeout(&mut self, now: Time) {
        if now < self.timer {
            return;
        }
        for (class, lane) in self.lanes.iter().enumerate() {
            if lane.down.has_signal(now) {
                self.talking |= 1 << class;
            }
        }
        // A class that waits to talk is armed again when its signal has left.
        self.rearm();
    }

    /// Whether a frame may start.
    #[inline(always)]
    pub fn gate(&self, now: Time, class: Class, size: Bytes) -> Gate {
        let gate = self.lanes[class.index()].up.gate(now, size);
        match &self.exceptions {
            None => gate,
            Some(exceptions) => exceptions[class.index()].gate(now, gate),
        }
    }

    /// Whether sending can close the gate of any class by itself.
    pub fn may_spend_credit(&self) -> bool {
        self.lanes.iter().any(|lane| lane.up.spends_credit())
    }

    /// Whether sending can close the gate of `class` by itself; see [`Upstream::spends_credit`].
    #[inline]
    pub fn spends_credit(&self, class: Class) -> bool {
        self.lanes[class.index()].up.spends_credit()
    }

    /// Whether the far end has stopped `class` from sending a frame of `size` bytes.
    #[inline(always)]
    pub fn is_stopped(&self, now: Time, class: Class, size: Bytes) -> bool {
        self.lanes[class.index()].up.is_stopped(now, size)
            && match &self.exceptions {
                None => true,
                Some(exceptions) => exceptions[class.index()].obeys(),
            }
    }

    /// Whether the far end has stopped `class` from sending a frame of `size` bytes, or slowed it
    /// down below the line.
    #[inline(always)]
    pub fn is_held(&self, now: Time, class: Class, size: Bytes) -> bool {
        let is_slow = |rate| rate < self.line;
        self.is_stopped(now, class, size)
            || self.lanes[class.index()].up.rate(now).is_some_and(is_slow)
    }

    /// A data frame starts.
    #[inline(always)]
    pub fn on_transmit(&mut self, now: Time, class: Class, size: Bytes) {
        self.lanes[class.index()].up.on_transmit(now, size);
        if let Some(exceptions) = &mut self.exceptions {
            exceptions[class.index()].on_transmit(now, size);
        }
    }

    /// Bytes of heap memory in use.
    pub fn heap_bytes(&self) -> usize {
        self.lanes.heap_bytes()
    }

    /// Sets the timer to the earliest timeout of the classes that are not waiting to talk anyway.
    fn rearm(&mut self) {
        let talking = self.talking;
        let silent = self.lanes.iter().enumerate();
        let silent = silent.filter(|(class, _)| talking & (1 << class) == 0);
        let due = silent.filter_map(|(_, lane)| lane.down.poll_timeout());
        self.timer = due.min().unwrap_or(Time::MAX);
    }
}

/// How long the signals of a scheme take that are on no wire.
fn out_of_band_delay(control: &FlowControl) -> Option<Span> {
    match control {
        FlowControl::GfcConceptual(config) => Some(config.delay),
        _ => None,
    }
}
