//! A window per link: a sender may be ahead of its receiver by so many bytes.

use pauseless_core::derive::{Derivation, Violation};
use pauseless_core::flow_control::outside::{BoxedDownstream, BoxedUpstream, FlowControlScheme};
use pauseless_core::flow_control::{Downstream, Gate, Signal, Upstream};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_scenario::outside::FlowControlKeys;
use pauseless_text::declare::Key;
use pauseless_text::section;

/// The parameters of an ingress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    window: Bytes,
}

impl FlowControlScheme for Window {
    fn name(&self) -> &'static str {
        "window"
    }

    fn upstream(&self, line: Rate) -> Box<dyn BoxedUpstream> {
        Box::new(Sender { window: self.window.get(), line, sent: 0, freed: 0 })
    }

    fn downstream(&self, _line: Rate, _phase: Span) -> Box<dyn BoxedDownstream> {
        Box::new(Receiver { window: self.window, freed: 0, said: 0 })
    }

    fn check(&self, derivation: &Derivation) -> Result<(), Violation> {
        if self.window <= derivation.buffer {
            return Ok(());
        }
        Err(Violation::AboveBound {
            name: "window",
            value: self.window,
            bound: derivation.buffer,
            rule: "the buffer",
        })
    }
}

/// Counts what it has sent, and what of that it knows to have left the far buffer.
#[derive(Clone, Debug)]
struct Sender {
    window: u64,
    line: Rate,
    sent: u64,
    freed: u64,
}

impl Upstream for Sender {
    fn on_signal(&mut self, _now: Time, signal: Signal) {
        if let Signal::Outside(freed) = signal {
            self.freed = u64::from_be_bytes(freed);
        }
    }

    fn on_transmit(&mut self, _now: Time, size: Bytes) {
        self.sent += size.get();
    }

    fn gate(&self, _now: Time, size: Bytes) -> Gate {
        if self.sent - self.freed + size.get() <= self.window { Gate::Open } else { Gate::Closed }
    }

    fn is_stopped(&self, now: Time, size: Bytes) -> bool {
        self.gate(now, size) == Gate::Closed
    }

    fn rate(&self, now: Time) -> Option<Rate> {
        (!self.is_stopped(now, Bytes::new(64))).then_some(self.line)
    }

    fn resumes(&self) -> u32 {
        0
    }

    fn spends_credit(&self) -> bool {
        true
    }
}

/// Counts what has left its buffer, and says so.
#[derive(Clone, Debug)]
struct Receiver {
    window: Bytes,
    freed: u64,
    said: u64,
}

impl Downstream for Receiver {
    fn on_enqueue(&mut self, _now: Time, _size: Bytes, _held: Bytes) {}

    fn on_dequeue(&mut self, _now: Time, size: Bytes, _held: Bytes) {
        self.freed += size.get();
    }

    fn has_signal(&self, _now: Time) -> bool {
        self.freed != self.said
    }

    fn poll_signal(&mut self, now: Time) -> Option<Signal> {
        self.has_signal(now).then(|| {
            self.said = self.freed;
            Signal::Outside(self.freed.to_be_bytes())
        })
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    fn keeps_blocked(&self, kept: Bytes, head: Bytes) -> bool {
        kept + head > self.window
    }

    fn resumes(&self) -> u32 {
        0
    }

    fn resumed_at(&self) -> Time {
        Time::ZERO
    }

    fn on_discard(&mut self, size: Bytes) {
        self.freed += size.get();
    }
}

section! {
    /// A sender may be ahead of its receiver by a window.
    pub struct WindowKeys {
        /// How many bytes may be under way and in the buffer.
        window: Bytes, within Bytes::kb(2)..=Bytes::mb(100), derived "the buffer";
    }
}

impl FlowControlKeys for WindowKeys {
    type Scheme = Window;

    fn scheme(&self, derivation: &Derivation) -> Window {
        Window { window: self.window.or(derivation.buffer) }
    }

    fn of(scheme: &Window) -> WindowKeys {
        WindowKeys { window: Key::of(scheme.window), ..WindowKeys::default() }
    }
}
