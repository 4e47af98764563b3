//! The host: a port whose egress is fed by paced flows, served round robin, and by feedback to the
//! sources of the flows that it receives.

mod index;
mod listener;
mod minima;
mod sender;
#[cfg(test)]
mod tests;
mod turns;

use alloc::collections::VecDeque;
use alloc::collections::binary_heap::{BinaryHeap, PeekMut};
use core::cmp::Reverse;

pub use listener::{Listener, Taken};
pub use sender::{Duty, Sender};

use crate::congestion::telemetry::{Echo, Hop};
use crate::congestion::{Feedback, Received, Sequence};
use crate::entropy::{Entropy, PathNews};
use crate::flow_control::{AnyUpstream, Control, Gate, Signal};
use crate::id::{Class, FlowId};
use crate::port::{Overrun, Port, PortConfig};
use crate::switch::Transmit;
use crate::transport::AnswerSizes;
use crate::unit::{Bytes, Rate, Span, Time};
use listener::{Effect, Listeners};
use turns::{Departure, Turns};

/// A packet that a host sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// The next packet of a flow.
    Data {
        /// The flow that the packet belongs to.
        flow: FlowId,
        /// The number of the packet in its flow.
        sequence: Sequence,
        /// What switches hash together with the flow, where that differs from packet to packet.
        entropy: Entropy,
    },
    /// A feedback packet to the source of a flow.
    Answer {
        /// The flow whose source is told.
        flow: FlowId,
        /// The acknowledgement or congestion notification that it carries.
        feedback: Feedback,
    },
}

/// The NIC of a host. See the [module](self).
#[derive(Clone, Debug)]
pub struct Host {
    port: Port,
    senders: Turns,
    /// The flows that arrive here.
    listeners: Listeners,
    /// Feedback packets that wait to be sent, per class.
    answers: [VecDeque<(FlowId, Feedback)>; Class::COUNT_MAX],
    /// The number of feedback packets in `answers`.
    answer_count: usize,
    /// When reaction and notification points want to be called. An entry is stale if its flow has
    /// set another timer since.
    timers: BinaryHeap<Reverse<(Time, Timer)>>,
    busy: bool,
    /// The earliest instant at which something can be sent if nothing happens until then.
    wake: Time,
    /// Whether anything has happened since `wake` was computed.
    is_stale: bool,
    /// Frame bytes of data and feedback that this host has put on the wire.
    sent: Bytes,
    /// The lengths of feedback packets.
    sizes: AnswerSizes,
}

/// The kind of timer, and the flow that has set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    Reaction(FlowId),
    Notification(FlowId),
}

impl Host {
    /// A host with nothing to send.
    pub fn new(config: &PortConfig) -> Host {
        Host {
            port: Port::new(config),
            senders: Turns::new(),
            listeners: Listeners::new(),
            answers: Default::default(),
            answer_count: 0,
            timers: BinaryHeap::new(),
            busy: false,
            wake: Time::MAX,
            is_stale: false,
            sent: Bytes::ZERO,
            sizes: AnswerSizes::default(),
        }
    }

    /// The host's end of its link.
    pub fn port(&self) -> &Port {
        &self.port
    }

    /// Sends control frames without occupying the wire, see [`Port::set_out_of_band`].
    pub fn set_out_of_band(&mut self, delay: Span) {
        self.port.set_out_of_band(delay);
    }

    /// Limits what leaves in `class` to `rate`, see [`Port::limit`].
    pub fn limit(&mut self, class: Class, rate: Rate) {
        self.port.limit(class, rate);
    }

    /// Sets the lengths of the feedback packets that it sends from now on.
    pub fn set_answer_sizes(&mut self, sizes: AnswerSizes) {
        self.sizes = sizes;
    }

    /// Frame bytes of data and answers sent so far.
    pub fn sent(&self) -> Bytes {
        self.sent
    }

    /// Starts a flow, which sends from [`Sender::start`] on.
    pub fn start(&mut self, sender: Sender) {
        self.senders.start(sender);
        self.is_stale = true;
    }

    /// Starts to receive a flow: its source gets feedback about its packets.
    pub fn listen(&mut self, listener: Listener) {
        self.listeners.insert(listener);
    }

    /// Ceases to give feedback about a flow that is complete.
    pub fn forget(&mut self, flow: FlowId) {
        self.listeners.remove(flow);
    }

    /// The rate at which `flow` may send; `None` if it has nothing left to send.
    pub fn rate(&self, flow: FlowId) -> Option<Rate> {
        Some(self.senders.get(flow)?.rate())
    }

    /// A packet has fully arrived; it stays on the counter until [`Host::consume`].
    #[inline]
    pub fn handle_arrival(&mut self, now: Time, class: Class, size: Bytes) -> Result<(), Overrun> {
        let charge = self.port.charge(class, size);
        self.port.enqueue(now, class, charge)
    }

    /// The host has taken a packet out of its ingress buffer.
    #[inline]
    pub fn consume(&mut self, now: Time, class: Class, size: Bytes) {
        let charge = self.port.charge(class, size);
        self.port.dequeue(now, class, charge);
    }

    /// As [`Host::handle_arrival`] and [`Host::consume`], for a packet that the host takes out of its
    /// ingress buffer at once.
    #[inline(always)]
    pub fn handle_passage(&mut self, now: Time, class: Class, size: Bytes) -> Result<(), Overrun> {
        let charge = self.port.charge(class, size);
        self.port.pass(now, class, charge)
    }

    /// Handles data of `flow` that was taken out of the ingress buffer; `None`, without any effect,
    /// if no such flow is received here.
    pub fn handle_data(&mut self, now: Time, flow: FlowId, packet: Received) -> Option<Taken> {
        let listening = self.listeners.get_mut(flow)?;
        let Effect { feedback, is_new, delivered } = listening.on_packet(now, packet);
        let class = listening.class();
        if let Some(due) = listening.poll_armed() {
            self.timers.push(Reverse((due, Timer::Notification(flow))));
        }
        let mut is_echoed = false;
        for feedback in feedback.into_iter().flatten() {
            is_echoed |= feedback.echo() != Echo::NONE;
            self.answer(class, flow, feedback);
        }
        Some(Taken { is_new, is_echoed, delivered })
    }

    /// Handles feedback that has arrived for `flow`, which is sent from here; returns whether this
    /// completes the flow.
    pub fn handle_feedback(&mut self, now: Time, flow: FlowId, feedback: Feedback) -> bool {
        self.handle_telemetry(now, flow, feedback, &[])
    }

    /// As [`Host::handle_feedback`], with the telemetry that the acknowledged packet has collected.
    pub fn handle_telemetry(
        &mut self,
        now: Time,
        flow: FlowId,
        feedback: Feedback,
        hops: &[Hop],
    ) -> bool {
        // A flow that has sent everything does not react any more.
        let Some(place) = self.senders.find(flow) else {
            return false;
        };
        let armed = self.senders.update(now, place, |sending| {
            sending.on_feedback(now, feedback, hops);
            (!sending.is_complete()).then(|| (sending.next(), sending.poll_armed()))
        });
        match armed {
            None => self.senders.remove(place),
            Some((next, due)) => {
                self.wake = self.wake.min(next);
                if let Some(due) = due {
                    self.timers.push(Reverse((due, Timer::Reaction(flow))));
                }
            }
        }
        armed.is_none()
    }

    /// Handles what the source of `flow`, which is sent from here, learns of the path of one of its
    /// packets; feedback about that packet is handled apart.
    pub fn handle_path(&mut self, now: Time, flow: FlowId, entropy: Entropy, news: PathNews) {
        if let Some(place) = self.senders.find(flow) {
            self.senders.update(now, place, |sending| sending.on_path(now, entropy, news));
        }
    }

    /// A control frame has arrived on the wire, see [`Port::handle_control`].
    pub fn handle_control(&mut self, control: Control) {
        self.port.handle_control(control);
    }

    /// A control frame takes effect.
    pub fn handle_signal(&mut self, now: Time, control: Control) {
        self.port.handle_signal(now, control);
        self.is_stale = true;
    }

    /// Handles the failure of the link, see [`Port::fail`]: flows and their timers go on, and what they
    /// would send waits.
    pub fn fail_link(&mut self) {
        self.port.fail();
        self.is_stale = true;
    }

    /// Handles the return of the link, whose port is built like `config`; see [`Port::restore`].
    pub fn restore_link(&mut self, now: Time, config: &PortConfig) {
        self.port.restore(now, config);
        self.is_stale = true;
    }

    /// What the host tells the far end while the link comes up, see [`Port::introduce`].
    pub fn introduce(&mut self, now: Time, class: Class) -> Option<Signal> {
        self.port.introduce(now, class)
    }

    /// The instant that [`Host::poll_timeout`] named has come.
    pub fn handle_timeout(&mut self, now: Time) {
        self.port.handle_timeout(now);
        while let Some(Reverse((due, timer))) = self.timers.peek().copied()
            && due <= now
        {
            let again = match timer {
                Timer::Reaction(flow) => self.handle_reaction(now, flow, due),
                Timer::Notification(flow) => self.handle_notification(now, flow, due),
            };
            // Nothing was added meanwhile, so the first one is still that timer.
            let mut first = self.timers.peek_mut().expect("there is a timer");
            match again {
                Some(again) => *first = Reverse((again, timer)),
                None => drop(PeekMut::pop(first)),
            }
        }
    }

    /// Handles the timer of a flow that is sent; returns when it wants to be called again.
    fn handle_reaction(&mut self, now: Time, flow: FlowId, due: Time) -> Option<Time> {
        let place = self.senders.find(flow)?;
        let (next, again) = self.senders.update(now, place, |sending| {
            sending.handle_timeout(now, due);
            (sending.next(), sending.poll_armed())
        });
        self.wake = self.wake.min(next);
        again
    }

    /// Handles the timer of a flow that is received; returns when it wants to be called again.
    fn handle_notification(&mut self, now: Time, flow: FlowId, due: Time) -> Option<Time> {
        let listening = self.listeners.get_mut(flow)?;
        let feedback = listening.handle_timeout(now, due);
        let (class, again) = (listening.class(), listening.poll_armed());
        if let Some(feedback) = feedback {
            self.answer(class, flow, feedback);
        }
        again
    }

    /// Queues a feedback packet for the source of `flow`, in `class`.
    pub fn answer(&mut self, class: Class, flow: FlowId, feedback: Feedback) {
        self.answers[class.index()].push_back((flow, feedback));
        self.answer_count += 1;
    }

    /// The last bit of what was being sent has left.
    #[inline]
    pub fn handle_transmitted(&mut self, now: Time) {
        assert!(self.busy, "the host was not sending");
        self.busy = false;
        self.port.on_transmitted(now);
    }

    /// When [`Host::handle_timeout`] wants to be called; [`Time::MAX`] for never.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        let points = self.timers.peek().map_or(Time::MAX, |Reverse((due, _))| *due);
        let timers = self.port.poll_timeout().min(points);
        // A gate that opens in mid-frame is seen when the frame has left.
        if self.busy { timers } else { self.wake.min(timers) }
    }

    /// The next control message that does not occupy the wire, and its delay.
    pub fn poll_out_of_band(&mut self, now: Time) -> Option<(Control, Span)> {
        self.port.poll_out_of_band(now)
    }

    /// The next frame, if the wire is free and something may be sent: control frames first, then
    /// feedback packets by descending class, then the flows round robin.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit<Outgoing>> {
        if self.busy { None } else { self.next_frame(now) }
    }

    fn next_frame(&mut self, now: Time) -> Option<Transmit<Outgoing>> {
        if let Some(control) = self.port.poll_signal(now) {
            self.busy = true;
            return Some(Transmit::Control(control));
        }
        let answer_gate = match self.next_answer(now) {
            Ok((class, flow, feedback)) => {
                self.answers[class.index()].pop_front();
                self.answer_count -= 1;
                let packet = Outgoing::Answer { flow, feedback };
                return Some(self.transmit(now, packet, class, self.sizes.of(feedback)));
            }
            Err(time) => time,
        };
        if now < self.wake && !self.is_stale {
            self.wake = self.wake.min(answer_gate);
            return None;
        }
        self.is_stale = false;
        self.wake = answer_gate;
        self.next_data(now)
    }

    /// The feedback packet to send next, or the instant at which one may be sent.
    #[inline]
    fn next_answer(&self, now: Time) -> Result<(Class, FlowId, Feedback), Time> {
        let mut wake = Time::MAX;
        if self.answer_count == 0 {
            return Err(wake);
        }
        for class in (0..self.port.class_count()).rev() {
            let class = Class(class as u8);
            let Some((flow, feedback)) = self.answers[class.index()].front() else {
                continue;
            };
            match self.port.gate(now, class, self.sizes.of(*feedback)) {
                Gate::Open => return Ok((class, *flow, *feedback)),
                Gate::At(time) => wake = wake.min(time),
                Gate::Closed => {}
            }
        }
        Err(wake)
    }

    #[inline]
    fn next_data(&mut self, now: Time) -> Option<Transmit<Outgoing>> {
        self.senders.retire(now);
        let place = self.next_place(now)?;
        let Departure { packet, flow, class, size, timer } = self.senders.send(now, place);
        if let Some(due) = timer {
            self.timers.push(Reverse((due, Timer::Reaction(flow))));
        }
        Some(self.transmit(now, packet, class, size))
    }

    /// The place of the flow whose turn it is; if nobody may send, `wake` is when somebody may.
    #[inline]
    fn next_place(&mut self, now: Time) -> Option<usize> {
        let (mut next, mut wake) = (None, self.wake);
        for class in 0..self.senders.class_count() {
            let class = Class(class as u8);
            let Some(sizes) = self.senders.sizes(class) else {
                continue;
            };
            match self.gate_of_all(now, class, sizes.0, sizes.1) {
                Some(Gate::Open) => match self.senders.next(now, class) {
                    Ok(place) => {
                        let is_before =
                            |it| self.senders.distance(it) < self.senders.distance(place);
                        next = next.filter(|it| is_before(*it)).or(Some(place));
                    }
                    Err(time) => wake = wake.min(time),
                },
                Some(Gate::At(time)) => wake = wake.min(time),
                Some(Gate::Closed) => {}
                None => return self.ask_each(now),
            }
        }
        self.wake = wake;
        next
    }

    /// The gate of all packets of `class`, whose smallest and largest ones have so many bytes; `None` if it
    /// depends on the packet, as where few credits are left.
    #[inline]
    fn gate_of_all(&self, now: Time, class: Class, least: Bytes, most: Bytes) -> Option<Gate> {
        let gate = self.port.gate(now, class, most);
        // What is so for the smallest and for the largest packet is so for all in between; of the schemes
        // of others that is not known.
        let is_same = least == most
            || self.port.gate(now, class, least) == gate
                && !matches!(self.port.upstream(class), AnyUpstream::Outside(_));
        is_same.then_some(gate)
    }

    /// As [`Host::next_place`], where the port has to be asked about every packet.
    #[cold]
    fn ask_each(&mut self, now: Time) -> Option<usize> {
        let mut wake = self.wake;
        let may_send = |place: &usize| {
            let sending = self.senders.at(*place);
            let gate = self.port.gate(now, sending.class(), sending.size());
            match gate.and(sending.gate(now)) {
                Gate::Open => return true,
                Gate::At(time) => wake = wake.min(time),
                Gate::Closed => {}
            }
            false
        };
        let place = self.senders.round().find(may_send);
        self.wake = wake;
        place
    }

    #[inline]
    fn transmit(
        &mut self,
        now: Time,
        packet: Outgoing,
        class: Class,
        size: Bytes,
    ) -> Transmit<Outgoing> {
        self.busy = true;
        self.is_stale = true;
        self.sent += size;
        self.port.on_transmit(now, class, size);
        Transmit::Data { packet, size, class, is_marked: false }
    }
}
