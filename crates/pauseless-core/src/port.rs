//! One end of a link: both flow-control halves of every class, and which of them may send next.

mod exception;
mod outage;

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
    /// The flow control that watches this port's ingress counter.
    pub ingress: FlowControl,
    /// The flow control that the far end runs on its ingress counter, which gates our egress.
    pub egress: FlowControl,
    /// The physical ingress buffer.
    pub buffer: Bytes,
    /// When the first periodic message leaves.
    pub phase: Span,
    /// The time for which the egress rests after every frame of the class: one tick of a rate limiter,
    /// or nothing.
    pub tick: Span,
}

impl LaneConfig {
    /// The same flow control at both ends, and nothing that paces the egress.
    pub fn new(control: FlowControl, buffer: Bytes) -> LaneConfig {
        let (phase, tick) = (Span::ZERO, Span::ZERO);
        LaneConfig { ingress: control, egress: control, buffer, phase, tick }
    }
}

/// A packet did not fit: the promise of a lossless class is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// The bytes that were held already.
    pub held: Bytes,
    /// The physical buffer, or the size of the pool that was full.
    pub buffer: Bytes,
    /// The part of the memory that was full.
    pub pool: FullPool,
}

/// The part of a switch's memory that a packet did not fit into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullPool {
    /// The buffer of the (ingress, class).
    Buffer,
    /// The share of a lossy class of the shared pool.
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
/// The order in memory is that below: what most packets need of the first class fills one cache line,
/// the halves of its flow control come after it.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Port {
    /// The earliest [`Downstream::poll_timeout`] of all classes.
    timer: Time,
    /// The classes whose downstream half has a message to send, a bit each.
    talking: u8,
    /// Whether control messages are an idealisation that does not occupy the wire.
    is_out_of_band: bool,
    lanes: Lanes<Lane>,
    exceptions: Exceptions,
    line: Rate,
}

/// Both halves of one class, and the ingress counter between them.
///
/// Most packets change nothing but the counter: `opens_at` and `quiet` say for which of them the
/// halves need not be asked. [`Port::note_halves`] sets them after every call of a half.
#[derive(Clone, Debug)]
#[repr(C)]
struct Lane {
    /// The instant from which on any frame may start, see [`AnyUpstream::opens_at`]; [`Time::MAX`]
    /// where there are exceptions.
    opens_at: Time,
    held: Bytes,
    held_max: Bytes,
    /// The least and the most that the counter may show without the downstream half being told.
    quiet: (Bytes, Bytes),
    /// The unit in which the counter counts, in bytes: a block of credits, or 1.
    cell: u32,
    buffer: Bytes,
    up: AnyUpstream,
    down: AnyDownstream,
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
            opens_at: Time::MAX,
            quiet: AnyDownstream::LOUD,
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
        for (class, lane) in config.lanes.iter().enumerate() {
            if let Some(delay) = out_of_band_delay(&lane.ingress) {
                port.exception(Class(class as u8)).delay = delay;
            }
        }
        for class in 0..port.lanes.len() {
            port.note_halves(Class(class as u8));
        }
        for (class, lane) in config.lanes.iter().enumerate().filter(|(_, it)| it.tick > Span::ZERO)
        {
            port.pace(Class(class as u8), lane.tick);
        }
        port
    }

    /// Delivers the messages of this port after `delay` without occupying a wire, as in simulators
    /// whose pauses are messages between objects.
    pub fn set_out_of_band(&mut self, delay: Span) {
        self.is_out_of_band = true;
        for class in 0..self.lanes.len() {
            self.exception(Class(class as u8)).delay = delay;
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

    /// The bytes that a frame of `size` bytes takes of the ingress buffer.
    #[inline]
    pub fn charge(&self, class: Class, size: Bytes) -> Bytes {
        match self.lanes[class.index()].cell {
            1 => size,
            64 => Bytes::new(size.get().next_multiple_of(64)),
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

    /// Handles a packet that has fully arrived: `charge` bytes go on the counter, unless they do
    /// not fit.
    #[inline(always)]
    pub fn enqueue(&mut self, now: Time, class: Class, charge: Bytes) -> Result<(), Overrun> {
        let lane = &mut self.lanes[class.index()];
        let held = lane.held + charge;
        if held > lane.quiet.1 || now >= self.timer {
            return self.enqueue_loudly(now, class, charge);
        }
        lane.held = held;
        lane.held_max = lane.held_max.max(held);
        Ok(())
    }

    /// As [`Port::enqueue`], for a packet that the downstream half has to know of, or that does not fit.
    #[inline(never)]
    fn enqueue_loudly(&mut self, now: Time, class: Class, charge: Bytes) -> Result<(), Overrun> {
        let lane = &mut self.lanes[class.index()];
        let held = lane.held + charge;
        if held > lane.buffer {
            return Err(Overrun { held: lane.held, buffer: lane.buffer, pool: FullPool::Buffer });
        }
        lane.held = held;
        lane.held_max = lane.held_max.max(held);
        if lane.down.enqueue(now, charge, held) {
            self.talking |= 1 << class.0;
        }
        if lane.down.may_be_quiet() {
            self.note_halves(class);
        }
        Ok(())
    }

    /// Handles a packet that has fully arrived and is dropped on purpose, as when its TTL has run
    /// out: it is never counted.
    pub fn discard(&mut self, class: Class, size: Bytes) {
        let charge = self.charge(class, size);
        self.lanes[class.index()].down.on_discard(charge);
        self.note_halves(class);
    }

    /// Handles a packet whose last bit has left the node: its charge comes off the counter.
    #[inline(always)]
    pub fn dequeue(&mut self, now: Time, class: Class, charge: Bytes) {
        let lane = &mut self.lanes[class.index()];
        lane.held -= charge;
        if lane.held < lane.quiet.0 || now >= self.timer {
            self.dequeue_loudly(now, class, charge);
        }
    }

    /// As [`Port::enqueue`] and [`Port::dequeue`], for a packet that leaves the buffer in the instant in
    /// which it has arrived.
    #[inline(always)]
    pub fn pass(&mut self, now: Time, class: Class, charge: Bytes) -> Result<(), Overrun> {
        let lane = &mut self.lanes[class.index()];
        let held = lane.held + charge;
        if held > lane.quiet.1 || lane.held < lane.quiet.0 || now >= self.timer {
            return self.pass_loudly(now, class, charge);
        }
        lane.held_max = lane.held_max.max(held);
        Ok(())
    }

    /// As [`Port::pass`], for a packet that the downstream half has to know of, or that does not fit.
    #[inline(never)]
    fn pass_loudly(&mut self, now: Time, class: Class, charge: Bytes) -> Result<(), Overrun> {
        self.enqueue(now, class, charge)?;
        self.dequeue(now, class, charge);
        Ok(())
    }

    /// Informs the downstream half of a packet that has come off the counter.
    #[inline(never)]
    fn dequeue_loudly(&mut self, now: Time, class: Class, charge: Bytes) {
        let lane = &mut self.lanes[class.index()];
        if lane.down.dequeue(now, charge, lane.held) {
            self.talking |= 1 << class.0;
        }
        if lane.down.may_be_quiet() {
            self.note_halves(class);
        }
    }

    /// Notes which packets the halves of a class, one of which may have changed, need not know of.
    #[inline]
    fn note_halves(&mut self, class: Class) {
        let lane = &mut self.lanes[class.index()];
        let (least, most) = lane.down.quiet();
        lane.quiet = (least, most.min(lane.buffer));
        lane.opens_at = if self.exceptions.is_none() { lane.up.opens_at() } else { Time::MAX };
    }

    /// Takes over the decision of a shared memory whether the sender is to pause.
    pub fn set_pausing(&mut self, now: Time, class: Class, is_pausing: bool) {
        let lane = &mut self.lanes[class.index()];
        lane.down.set_pausing(is_pausing);
        if lane.down.has_signal(now) {
            self.talking |= 1 << class.0;
        }
        self.note_halves(class);
    }

    /// Handles a control frame that has arrived. Its effect on the egress comes later, with
    /// [`Port::handle_signal`]; only the peer's block count is taken over at once.
    pub fn handle_control(&mut self, control: Control) {
        self.lanes[control.class.index()].down.on_peer_signal(control.signal);
        self.note_halves(control.class);
    }

    /// Lets a control frame take effect.
    pub fn handle_signal(&mut self, now: Time, control: Control) {
        self.lanes[control.class.index()].up.on_signal(now, control.signal);
        self.note_halves(control.class);
    }

    /// Whether the messages of the port do not occupy the wire, so that they need not wait for it.
    #[inline]
    pub fn is_out_of_band(&self) -> bool {
        self.is_out_of_band
    }

    /// Whether its classes are limited by flow control alone, and its messages use the wire.
    pub(crate) fn is_plain(&self) -> bool {
        self.exceptions.is_none() && !self.is_out_of_band
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

    /// The next message that does not occupy the wire, and its delay.
    #[inline]
    pub fn poll_out_of_band(&mut self, now: Time) -> Option<(Control, Span)> {
        if !self.is_out_of_band {
            return None;
        }
        let control = self.next_signal(now)?;
        Some((control, self.exception(control.class).delay))
    }

    fn next_signal(&mut self, now: Time) -> Option<Control> {
        while self.talking != 0 {
            let class = Class(self.talking.trailing_zeros() as u8);
            self.talking &= self.talking - 1;
            let lane = &mut self.lanes[class.index()];
            if let Some(signal) = lane.down.poll_signal(now) {
                let signal = lane.up.complete(signal);
                self.rearm();
                self.note_halves(class);
                return Some(Control { class, signal });
            }
            // There was no message after all, but the timer of the class was left out while one
            // seemed to wait, and may be over.
            lane.down.handle_timeout(now);
            self.rearm();
            self.note_halves(class);
        }
        None
    }

    /// When [`Port::handle_timeout`] wants to be called; [`Time::MAX`] for never.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        self.timer
    }

    /// Turns periodic messages, refreshes and messages that were held off into signals that are due.
    pub fn handle_timeout(&mut self, now: Time) {
        if now < self.timer {
            return;
        }
        for class in 0..self.lanes.len() {
            let lane = &mut self.lanes[class];
            lane.down.handle_timeout(now);
            if lane.down.has_signal(now) {
                self.talking |= 1 << class;
            }
            self.note_halves(Class(class as u8));
        }
        // The timer of a class with a waiting message is set again when the message has left.
        self.rearm();
    }

    /// Whether a frame may start.
    #[inline(always)]
    pub fn gate(&self, now: Time, class: Class, size: Bytes) -> Gate {
        let lane = &self.lanes[class.index()];
        if self.is_open(now, class) {
            return Gate::Open;
        }
        let gate = lane.up.gate(now, size);
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

    /// Whether `class` needs credits, and has them for a frame of `size` bytes.
    #[inline(always)]
    pub(crate) fn has_credit(&self, class: Class, size: Bytes) -> bool {
        self.lanes[class.index()].up.has_credit(size)
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
    /// down below the line rate.
    #[inline(always)]
    pub fn is_held(&self, now: Time, class: Class, size: Bytes) -> bool {
        if self.is_open(now, class) || self.has_credit(class, size) {
            return false;
        }
        let is_slow = |rate| rate < self.line;
        self.is_stopped(now, class, size)
            || self.lanes[class.index()].up.rate(now).is_some_and(is_slow)
    }

    /// Whether frames of any size may start at the rate of the link; if not, the half is to be asked.
    #[inline(always)]
    pub(crate) fn is_open(&self, now: Time, class: Class) -> bool {
        now >= self.lanes[class.index()].opens_at
    }

    /// Accounts for a data frame that starts to leave.
    #[inline(always)]
    pub fn on_transmit(&mut self, now: Time, class: Class, size: Bytes) {
        let lane = &mut self.lanes[class.index()];
        if now >= lane.opens_at {
            return;
        }
        lane.up.on_transmit(now, size);
        if let Some(exceptions) = &mut self.exceptions {
            exceptions[class.index()].on_transmit(now, size);
        }
    }

    /// Accounts for a frame whose last bit has left.
    #[inline(always)]
    pub fn on_transmitted(&mut self, now: Time) {
        if let Some(exceptions) = &mut self.exceptions {
            exceptions.iter_mut().for_each(|exception| exception.on_transmitted(now));
        }
    }

    /// Bytes of heap memory in use.
    pub fn heap_bytes(&self) -> usize {
        self.lanes.heap_bytes()
    }

    /// Sets the timer to the earliest timeout of the classes without a waiting message.
    fn rearm(&mut self) {
        let talking = self.talking;
        let silent = self.lanes.iter().enumerate().filter(|(class, _)| talking & (1 << class) == 0);
        let due = silent.filter_map(|(_, lane)| lane.down.poll_timeout());
        self.timer = due.min().unwrap_or(Time::MAX);
    }
}

/// The delay of the messages of a scheme that does not use the wire; `None` for all others.
fn out_of_band_delay(control: &FlowControl) -> Option<Span> {
    match control {
        FlowControl::GfcConceptual(config) => Some(config.delay),
        _ => None,
    }
}
