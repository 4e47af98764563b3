//! The host: a port whose egress is fed by paced flows, served round robin.

use alloc::vec::Vec;

use crate::flow_control::{Control, Gate};
use crate::id::{Class, FlowId};
use crate::port::{Overrun, Port, PortConfig};
use crate::switch::Transmit;
use crate::unit::{Bytes, Rate, Span, Time};

/// A flow's own rhythm: it sends for a while, is silent for a while, and so on from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duty {
    /// How long it sends.
    pub on: Span,
    /// How long it is silent.
    pub off: Span,
}

impl Duty {
    /// Never silent.
    pub const ALWAYS: Duty = Duty {
        on: Span::MAX,
        off: Span::ZERO,
    };
}

/// A flow that a host sends.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    /// Whose packets these are.
    pub flow: FlowId,
    /// The class that they travel in.
    pub class: Class,
    /// Frame bytes of a full packet.
    pub packet: Bytes,
    /// The pace: frames start no closer together than this rate allows.
    pub pace: Rate,
    /// Frame bytes still to be sent; [`Bytes::MAX`] for a flow without end.
    pub left: Bytes,
    /// The next frame starts no earlier.
    pub next: Time,
    /// No frame starts at or after this instant.
    pub stop: Time,
}

/// A host NIC. See the [module](self).
#[derive(Clone, Debug)]
pub struct Host {
    port: Port,
    senders: Vec<Sender>,
    cursor: usize,
    busy: bool,
    wake: Time,
    /// Frame bytes that this host has put on the wire.
    sent: Bytes,
}

impl Host {
    /// A host with nothing to send.
    pub fn new(config: &PortConfig) -> Host {
        Host {
            port: Port::new(config),
            senders: Vec::new(),
            cursor: 0,
            busy: false,
            wake: Time::MAX,
            sent: Bytes::ZERO,
        }
    }

    /// Its end of its link.
    pub fn port(&self) -> &Port {
        &self.port
    }

    /// Frame bytes of data sent so far.
    pub fn sent(&self) -> Bytes {
        self.sent
    }

    /// Starts a flow.
    pub fn start(&mut self, sender: Sender) {
        self.senders.push(sender);
    }

    /// Whether `flow` still has something to send at `now`.
    pub fn is_sending(&self, now: Time, flow: FlowId) -> bool {
        self.senders
            .iter()
            .any(|sender| sender.flow == flow && now < sender.stop)
    }

    /// A packet has fully arrived; it stays on the counter until [`Host::consume`].
    pub fn handle_arrival(&mut self, now: Time, class: Class, size: Bytes) -> Result<(), Overrun> {
        let charge = self.port.charge(class, size);
        self.port.enqueue(now, class, charge)
    }

    /// The host has taken a packet out of its ingress buffer.
    pub fn consume(&mut self, now: Time, class: Class, size: Bytes) {
        let charge = self.port.charge(class, size);
        self.port.dequeue(now, class, charge);
    }

    /// A control frame has arrived on the wire, see [`Port::handle_control`].
    pub fn handle_control(&mut self, control: Control) {
        self.port.handle_control(control);
    }

    /// A control frame takes effect.
    pub fn handle_signal(&mut self, now: Time, control: Control) {
        self.port.handle_signal(now, control);
    }

    /// The instant that [`Host::poll_timeout`] named has come.
    pub fn handle_timeout(&mut self, now: Time) {
        self.port.handle_timeout(now);
    }

    /// The last bit of what was being sent has left.
    pub fn handle_transmitted(&mut self) {
        assert!(self.busy, "the host was not sending");
        self.busy = false;
    }

    /// When [`Host::handle_timeout`] wants to be called; [`Time::MAX`] for never.
    pub fn poll_timeout(&self) -> Time {
        let periodic = self.port.poll_timeout();
        // A gate that opens in mid-frame is seen when the frame has left.
        if self.busy {
            periodic
        } else {
            self.wake.min(periodic)
        }
    }

    /// The next signal that takes no place on the wire, and its delay.
    pub fn poll_out_of_band(&mut self, now: Time) -> Option<(Control, Span)> {
        self.port.poll_out_of_band(now)
    }

    /// The next frame, if the wire is free and something may be sent.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit<FlowId>> {
        if self.busy {
            return None;
        }
        if let Some(control) = self.port.poll_signal(now) {
            self.busy = true;
            return Some(Transmit::Control(control));
        }
        self.senders
            .retain(|sender| now < sender.stop && sender.left > Bytes::ZERO);
        self.wake = Time::MAX;
        let count = self.senders.len();
        for step in 0..count {
            let index = (self.cursor + step) % count;
            let sender = &mut self.senders[index];
            let size = sender.packet.min(sender.left);
            let gate = match self.port.gate(now, sender.class, size) {
                Gate::Open if now < sender.next => Gate::At(sender.next),
                other => other,
            };
            match gate {
                Gate::Open => {}
                Gate::At(time) => {
                    self.wake = self.wake.min(time);
                    continue;
                }
                Gate::Closed => continue,
            }
            if sender.left != Bytes::MAX {
                sender.left -= size;
            }
            let span = sender.pace.tx_span(size);
            // A frame that had to wait its turn makes up for that, but for one frame at the most.
            let earliest = Time::from_ps(now.as_ps().saturating_sub(span.as_ps()));
            sender.next = sender.next.max(earliest) + span;
            let (flow, class) = (sender.flow, sender.class);
            self.cursor = index + 1;
            self.busy = true;
            self.sent += size;
            self.port.on_transmit(now, class, size);
            return Some(Transmit::Data {
                packet: flow,
                size,
                class,
            });
        }
        None
    }
}
