//! One link with both halves of a flow control around it, driven event by event.
#![allow(dead_code, reason = "every test binary uses some of these")]

use std::collections::VecDeque;

use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::{
    AnyDownstream, AnyUpstream, Control, Downstream, FlowControl, Gate, Signal, Upstream,
};
use pauseless_core::unit::{Bytes, Rate, Span, Time};

/// A greedy sender, a wire, a buffer that the test drains, and the way back.
pub struct LinkPair {
    pub now: Time,
    pub latency: Latency,
    pub control: FlowControl,
    pub buffer: Bytes,
    pub up: AnyUpstream,
    pub down: AnyDownstream,
    pub held: Bytes,
    pub held_max: Bytes,
    /// Packets in the buffer, first to last.
    pub queue: VecDeque<Bytes>,
    /// The size of the next packet.
    pub size: Bytes,
    /// How long a control frame waits for a frame that is just being sent the other way.
    pub reverse_wait: Span,
    pub sent: Bytes,
    pub arrived: Bytes,
    pub overrun: bool,
    /// How many copies of the next control frame arrive: none if it is lost. Both directions.
    pub copies: Box<dyn FnMut(Signal) -> usize>,
    /// The sender's own link packet, with what it has sent, follows its data this often.
    pub count_period: Option<Span>,
    count_next: Time,
    wire: VecDeque<(Time, Forward)>,
    wire_free: Time,
    signals: VecDeque<(Time, Signal)>,
    reverse_free: Time,
    reverse_start: Option<Time>,
}

/// What is on the wire to the buffer.
#[derive(Clone, Copy)]
enum Forward {
    Data(Bytes),
    /// A link packet, of which the FCTBS counts here.
    Count(Signal),
}

#[derive(Clone, Copy)]
enum Next {
    Count,
    Arrive,
    Signal,
    Report,
    Send,
}

impl LinkPair {
    pub fn new(derivation: &Derivation, control: FlowControl) -> LinkPair {
        let latency = derivation.latency;
        LinkPair {
            now: Time::ZERO,
            latency,
            control,
            buffer: derivation.buffer,
            up: control.upstream(latency.line),
            down: control.downstream(latency.line, Span::ps(1)),
            held: Bytes::ZERO,
            held_max: Bytes::ZERO,
            queue: VecDeque::new(),
            size: latency.mtu,
            reverse_wait: latency.line.tx_span(latency.mtu),
            sent: Bytes::ZERO,
            arrived: Bytes::ZERO,
            overrun: false,
            copies: Box::new(|_| 1),
            count_period: None,
            count_next: Time::ZERO,
            wire: VecDeque::new(),
            wire_free: Time::ZERO,
            signals: VecDeque::new(),
            reverse_free: Time::ZERO,
            reverse_start: None,
        }
    }

    /// Bytes on the wire.
    pub fn in_flight(&self) -> Bytes {
        let size = |forward: &Forward| match forward {
            Forward::Data(size) => *size,
            Forward::Count(_) => Bytes::ZERO,
        };
        let sizes = self.wire.iter().map(|(_, forward)| size(forward));
        sizes.sum()
    }

    /// Takes one packet out of the buffer.
    pub fn drain(&mut self) -> bool {
        let Some(size) = self.queue.pop_front() else {
            return false;
        };
        let charge = self.control.charge(size);
        self.held -= charge;
        self.down.on_dequeue(self.now, charge, self.held);
        true
    }

    /// Lets time pass until `until`.
    pub fn advance(&mut self, until: Time) {
        while let Some((time, next)) = self.next_event() {
            if time > until {
                break;
            }
            assert!(time >= self.now);
            self.now = time;
            self.handle(next);
        }
        self.now = self.now.max(until);
    }

    /// The next thing that happens by itself, at or after now.
    fn next_event(&mut self) -> Option<(Time, Next)> {
        if self.reverse_start.is_none() {
            let due = if self.down.has_signal(self.now) {
                Some(self.now.max(self.reverse_free) + self.reverse_wait)
            } else {
                self.down.poll_timeout().map(|time| time.max(self.now))
            };
            if self.down.has_signal(self.now) {
                self.reverse_start = due;
            } else if let Some(time) = due {
                // Nothing to say yet; look again when the period is over.
                return Some(self.earliest(time));
            }
        }
        let first = self.earliest(self.reverse_start.unwrap_or(Time::MAX));
        (first.0 != Time::MAX).then_some(first)
    }

    /// What happens first, if the next report is due at `report`.
    fn earliest(&self, report: Time) -> (Time, Next) {
        let mut first = (report, Next::Report);
        let arrive = self.wire.front().map(|(time, _)| (*time, Next::Arrive));
        let signal = self.signals.front().map(|(time, _)| (*time, Next::Signal));
        let ready = self.now.max(self.wire_free);
        let send = match self.up.gate(ready, self.size) {
            Gate::Open => Some((ready, Next::Send)),
            Gate::At(time) => Some((time, Next::Send)),
            Gate::Closed => None,
        };
        let count = self.count_period.map(|_| (self.count_next, Next::Count));
        for candidate in [signal, arrive, count, send].into_iter().flatten() {
            if candidate.0 < first.0 {
                first = candidate;
            }
        }
        first
    }

    fn handle(&mut self, next: Next) {
        let line = self.latency.line;
        match next {
            Next::Arrive => match self.wire.pop_front().unwrap().1 {
                Forward::Data(size) => self.arrive(size),
                Forward::Count(signal) => self.down.on_peer_signal(signal),
            },
            Next::Count => {
                self.count_next = self.now + self.count_period.unwrap();
                let signal = self.up.complete(Signal::Credit { fctbs: 0, fccl: 0 });
                // Behind the data that it counts: a frame that is being sent is counted already.
                let arrival = self.now.max(self.wire_free) + self.latency.wire;
                for _ in 0..(self.copies)(signal) {
                    self.wire.push_back((arrival, Forward::Count(signal)));
                }
            }
            Next::Signal => {
                let (_, signal) = self.signals.pop_front().unwrap();
                self.up.on_signal(self.now, signal);
            }
            Next::Report => {
                let was_waiting = self.reverse_start.take().is_some();
                if !was_waiting {
                    self.down.handle_timeout(self.now);
                    return;
                }
                if let Some(signal) = self.down.poll_signal(self.now) {
                    self.reverse_free = self.now + line.tx_span(Control::SIZE);
                    let delay = match &self.control {
                        FlowControl::GfcConceptual(config) => config.delay,
                        _ => {
                            self.latency.wire
                                + self.latency.processing
                                + line.tx_span(Control::SIZE)
                        }
                    };
                    for _ in 0..(self.copies)(signal) {
                        self.signals.push_back((self.now + delay, signal));
                    }
                }
            }
            Next::Send => {
                self.up.on_transmit(self.now, self.size);
                self.sent += self.size;
                self.wire_free = self.now + line.tx_span(self.size);
                let arrival = self.wire_free + self.latency.wire;
                self.wire.push_back((arrival, Forward::Data(self.size)));
            }
        }
    }

    fn arrive(&mut self, size: Bytes) {
        let charge = self.control.charge(size);
        self.arrived += size;
        self.held += charge;
        self.held_max = self.held_max.max(self.held);
        self.overrun |= self.held > self.buffer;
        self.queue.push_back(size);
        self.down.on_enqueue(self.now, charge, self.held);
    }
}

/// A link's numbers as a test strategy or a grid gives them.
pub fn latency(line: Rate, mtu: Bytes, wire: Span, processing: Span) -> Latency {
    Latency {
        mtu,
        line,
        wire,
        processing,
        classes: 1,
        jitter: Span::ZERO,
        overhead: Bytes::ZERO,
        clock_ppb: 0,
    }
}

/// Every scheme with derived parameters, for a buffer that has `spare` bytes beyond the minimum.
pub fn all_schemes(
    latency: Latency,
    guard_frames: u64,
    spare: Bytes,
) -> Vec<(Derivation, FlowControl)> {
    use pauseless_core::derive::{buffer_width, conceptual_width, time_width};
    use pauseless_core::flow_control::cbfc;
    let with = |width: Bytes| {
        let mut derivation = Derivation::new(latency, Bytes::ZERO);
        derivation.guard_frames = guard_frames;
        derivation.buffer = derivation.guard() + width + spare;
        derivation
    };
    let period = cbfc::default_period(latency.line);
    let pfc = with(latency.pfc_headroom());
    let cbfc = with(latency.mtu * 2);
    let buffer = with(buffer_width(&latency));
    let time = with(time_width(&latency, period));
    let conceptual = with(conceptual_width(&latency));
    vec![
        (pfc, FlowControl::Pfc(pfc.pfc())),
        (cbfc, FlowControl::Cbfc(cbfc.cbfc())),
        (buffer, FlowControl::GfcBuffer(buffer.gfc_buffer(None, None))),
        (time, FlowControl::GfcTime(time.gfc_time(None, None, None))),
        (conceptual, FlowControl::GfcConceptual(conceptual.gfc_conceptual(None, None))),
    ]
}
