//! A flow control that is implemented in another crate.
//!
//! Its parameters are a type that implements [`FlowControlScheme`] and makes the two halves: machines
//! that implement [`Upstream`] and [`Downstream`], as those of the schemes in this crate do. What one
//! half says to the other is any [`Signal`]: one that exists, or the eight bytes of [`Signal::Outside`].
//! A scheme that stops its sender and lets it go on should say so with [`Signal::Pause`], with a time of
//! its choice or of [`super::pfc::QUANTA_MAX`]: then its pauses are counted, and traced to their origin,
//! as those of PFC are.
//!
//! Deadlocks are found as exactly as the halves answer [`Upstream::is_stopped`], both `resumes` and
//! [`Downstream::keeps_blocked`]; what these must mean is said there. `tests/laws.rs` of this crate holds
//! any scheme against the promises that all flow controls make.
//!
//! Outside schemes do without what is PFC's alone: watchdogs, and a memory that the ports of a switch
//! share. On real wires, where only known frames travel, they cannot run.
//!
//! [`Signal`]: super::Signal
//! [`Signal::Outside`]: super::Signal::Outside
//! [`Signal::Pause`]: super::Signal::Pause
//!
//! # Example
//!
//! A window: the sender may be ahead of the receiver by so many bytes, and every packet that leaves the
//! receiver's buffer is reported.
//!
//! ```
//! use pauseless_core::flow_control::outside::{BoxedDownstream, BoxedUpstream, FlowControlScheme};
//! use pauseless_core::flow_control::{Downstream, FlowControl, Gate, Signal, Upstream};
//! use pauseless_core::unit::{Bytes, Rate, Span, Time};
//!
//! /// The parameters.
//! #[derive(Clone, Copy, Debug, PartialEq)]
//! struct Window(Bytes);
//!
//! impl FlowControlScheme for Window {
//!     fn name(&self) -> &'static str {
//!         "window"
//!     }
//!
//!     fn upstream(&self, line: Rate) -> Box<dyn BoxedUpstream> {
//!         Box::new(Sender { window: self.0, line, sent: 0, freed: 0 })
//!     }
//!
//!     fn downstream(&self, _line: Rate, _phase: Span) -> Box<dyn BoxedDownstream> {
//!         Box::new(Receiver { window: self.0, freed: 0, announced: 0 })
//!     }
//! }
//!
//! /// The egress side: counts what it has sent, and what of that it knows to have left the far buffer.
//! #[derive(Clone, Debug)]
//! struct Sender {
//!     window: Bytes,
//!     line: Rate,
//!     sent: u64,
//!     freed: u64,
//! }
//!
//! impl Upstream for Sender {
//!     fn on_signal(&mut self, _now: Time, signal: Signal) {
//!         if let Signal::Outside(freed) = signal {
//!             self.freed = u64::from_be_bytes(freed);
//!         }
//!     }
//!
//!     fn on_transmit(&mut self, _now: Time, size: Bytes) {
//!         self.sent += size.get();
//!     }
//!
//!     fn gate(&self, _now: Time, size: Bytes) -> Gate {
//!         match self.sent - self.freed + size.get() <= self.window.get() {
//!             true => Gate::Open,
//!             false => Gate::Closed,
//!         }
//!     }
//!
//!     fn is_stopped(&self, now: Time, size: Bytes) -> bool {
//!         self.gate(now, size) == Gate::Closed
//!     }
//!
//!     fn rate(&self, now: Time) -> Option<Rate> {
//!         (!self.is_stopped(now, Bytes::new(64))).then_some(self.line)
//!     }
//!
//!     // Every message says all anew, so none is waited for by number.
//!     fn resumes(&self) -> u32 {
//!         0
//!     }
//!
//!     fn spends_credit(&self) -> bool {
//!         true
//!     }
//! }
//!
//! /// The ingress side: counts what has left its buffer.
//! #[derive(Clone, Debug)]
//! struct Receiver {
//!     window: Bytes,
//!     freed: u64,
//!     announced: u64,
//! }
//!
//! impl Downstream for Receiver {
//!     fn on_enqueue(&mut self, _now: Time, _size: Bytes, _held: Bytes) {}
//!
//!     fn on_dequeue(&mut self, _now: Time, size: Bytes, _held: Bytes) {
//!         self.freed += size.get();
//!     }
//!
//!     fn has_signal(&self, _now: Time) -> bool {
//!         self.freed != self.announced
//!     }
//!
//!     fn poll_signal(&mut self, now: Time) -> Option<Signal> {
//!         self.has_signal(now).then(|| {
//!             self.announced = self.freed;
//!             Signal::Outside(self.freed.to_be_bytes())
//!         })
//!     }
//!
//!     fn poll_timeout(&self) -> Option<Time> {
//!         None
//!     }
//!
//!     // If all but `kept` leaves, the rest of the window is what can still be sent.
//!     fn keeps_blocked(&self, kept: Bytes, head: Bytes) -> bool {
//!         kept + head > self.window
//!     }
//!
//!     fn resumes(&self) -> u32 {
//!         0
//!     }
//!
//!     fn resumed_at(&self) -> Time {
//!         Time::ZERO
//!     }
//!
//!     fn on_discard(&mut self, size: Bytes) {
//!         self.freed += size.get();
//!     }
//! }
//!
//! // From here on it is a flow control like any other.
//! let control = FlowControl::outside(Window(Bytes::kb(64)));
//! assert_eq!(control.name(), "window");
//! assert_eq!(control, FlowControl::outside(Window(Bytes::kb(64))));
//! let mut up = control.upstream(Rate::gbps(10));
//! up.on_transmit(Time::ZERO, Bytes::kb(63));
//! assert_eq!(up.gate(Time::ZERO, Bytes::kb(1)), Gate::Open);
//! assert_eq!(up.gate(Time::ZERO, Bytes::new(1_500)), Gate::Closed);
//! ```

use alloc::boxed::Box;

use super::{Downstream, Upstream};
use crate::derive::{Derivation, Violation};
use crate::outside::{Parameters, boxed};
use crate::unit::{Bytes, Rate, Span};

/// The parameters of an outside flow control of one (ingress port, class), which make its halves.
///
/// A type that derives `Debug` and `PartialEq` has all that [`Parameters`] asks for.
pub trait FlowControlScheme: Parameters {
    /// The name in scenario files and reports.
    fn name(&self) -> &'static str;

    /// The half at the sending end of a link of rate `line`, whose far end has these parameters. Its
    /// gate must be open until a signal, or its own sending, closes it.
    fn upstream(&self, line: Rate) -> Box<dyn BoxedUpstream>;

    /// The half at the receiving end of a link of rate `line`. If it sends periodically, its first
    /// message leaves after `phase`, so that not all links send at once.
    fn downstream(&self, line: Rate, phase: Span) -> Box<dyn BoxedDownstream>;

    /// The time between two messages of a half that sends periodically: `phase` is a random part of
    /// it.
    fn period(&self) -> Option<Span> {
        None
    }

    /// The unit in which the buffer is counted: [`Downstream`] and the buffer's size are in whole
    /// cells, [`Upstream`] gets frame bytes. At most 4 GB.
    fn cell(&self) -> Bytes {
        Bytes::new(1)
    }

    /// Refuses parameters that could lose packets on the link and with the buffer of `derivation`.
    fn check(&self, derivation: &Derivation) -> Result<(), Violation> {
        let _ = derivation;
        Ok(())
    }
}

boxed! {
    /// An [`Upstream`] half that can be boxed: all that derive `Clone` and `Debug`.
    BoxedUpstream: Upstream
}

boxed! {
    /// A [`Downstream`] half that can be boxed: all that derive `Clone` and `Debug`.
    BoxedDownstream: Downstream
}
