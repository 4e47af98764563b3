//! A congestion control that is implemented in another crate.
//!
//! Its parameters are a type that implements [`CongestionScheme`] and makes the parts: machines that
//! implement [`CongestionPoint`], [`NotificationPoint`] and [`ReactionPoint`], as those of the schemes
//! in this crate do. What one part says to another is any [`Feedback`]: one that exists, or the eight
//! bytes of [`Feedback::Outside`], which no switch and no other scheme looks into. On the wire these
//! take as much as a CNP, unless a scenario sets the size of a CNP.
//!
//! The driver keeps the contract that all machines here rely on: `now` never goes back, and after every
//! call it asks for the next timeout.
//!
//! [`Feedback`]: super::Feedback
//! [`Feedback::Outside`]: super::Feedback::Outside
//!
//! # Example
//!
//! AIMD: the target acknowledges every packet; the source halves its rate when one was marked, and
//! raises it by a step when none was.
//!
//! ```
//! use pauseless_core::congestion::outside::{
//!     BoxedCongestionPoint, BoxedReactionPoint, CongestionScheme,
//! };
//! use pauseless_core::congestion::{
//!     CongestionControl, CongestionPoint, Feedback, QueueState, ReactionPoint, Source,
//! };
//! use pauseless_core::unit::{Bytes, Rate, Time};
//!
//! /// The parameters.
//! #[derive(Clone, Copy, Debug, PartialEq)]
//! struct Aimd {
//!     threshold: Bytes,
//!     step: Rate,
//! }
//!
//! impl CongestionScheme for Aimd {
//!     fn name(&self) -> &'static str {
//!         "aimd"
//!     }
//!
//!     fn ack_every(&self) -> u32 {
//!         1
//!     }
//!
//!     fn congestion_point(&self, _line: Rate, _seed: u64) -> Option<Box<dyn BoxedCongestionPoint>> {
//!         Some(Box::new(Marker { threshold: self.threshold }))
//!     }
//!
//!     fn reaction_point(&self, source: Source) -> Box<dyn BoxedReactionPoint> {
//!         Box::new(Sender { step: self.step, line: source.line, rate: source.initial })
//!     }
//! }
//!
//! /// In a switch: marks what leaves a long queue.
//! #[derive(Clone, Debug)]
//! struct Marker {
//!     threshold: Bytes,
//! }
//!
//! impl CongestionPoint for Marker {
//!     fn on_dequeue(&mut self, _now: Time, _size: Bytes, queue: QueueState) -> bool {
//!         queue.bytes > self.threshold
//!     }
//! }
//!
//! /// At the source.
//! #[derive(Clone, Debug)]
//! struct Sender {
//!     step: Rate,
//!     line: Rate,
//!     rate: Rate,
//! }
//!
//! impl ReactionPoint for Sender {
//!     fn on_feedback(&mut self, _now: Time, feedback: Feedback) {
//!         let bps = self.rate.as_bps();
//!         self.rate = match feedback {
//!             Feedback::Ack { is_marked: true, .. } => Rate::bps((bps / 2).max(1)),
//!             Feedback::Ack { .. } => Rate::bps(bps + self.step.as_bps()).min(self.line),
//!             _ => return,
//!         };
//!     }
//!
//!     fn rate(&self) -> Rate {
//!         self.rate
//!     }
//! }
//!
//! // From here on it is a congestion control like any other.
//! let aimd = Aimd { threshold: Bytes::kb(50), step: Rate::mbps(10) };
//! let control = CongestionControl::outside(aimd);
//! assert_eq!((control.name(), control.ack_every()), ("aimd", 1));
//! assert_eq!(control, CongestionControl::outside(aimd));
//! let point = control.reaction_point(Source::at_line(Rate::gbps(10)));
//! assert_eq!(point.rate(), Rate::gbps(10));
//! ```

use alloc::boxed::Box;

use super::{CongestionPoint, NotificationPoint, ReactionPoint, Source};
use crate::outside::{Parameters, boxed};
use crate::unit::{Rate, Span};

/// The parameters of an outside congestion control, which make its parts.
///
/// A type that derives `Debug` and `PartialEq` has all that [`Parameters`] asks for.
pub trait CongestionScheme: Parameters {
    /// The name in scenario files and reports.
    fn name(&self) -> &'static str;

    /// The part at a flow's source, one for every flow when it starts.
    fn reaction_point(&self, source: Source) -> Box<dyn BoxedReactionPoint>;

    /// The part at a flow's target, one for every flow; `None` if acknowledgements are all the
    /// feedback that the scheme needs.
    fn notification_point(&self) -> Option<Box<dyn BoxedNotificationPoint>> {
        None
    }

    /// The part in a switch, one for every (egress, class), for an egress of rate `line`; `None` if
    /// switches do nothing. Its random sequence must depend on `seed` alone.
    fn congestion_point(&self, line: Rate, seed: u64) -> Option<Box<dyn BoxedCongestionPoint>> {
        let _ = (line, seed);
        None
    }

    /// Every how many packets the target must acknowledge for the scheme to work; 0 for never.
    fn ack_every(&self) -> u32 {
        0
    }

    /// The longest time between two steps in which a source corrects its rate, beyond its round-trip
    /// time.
    fn period(&self) -> Span {
        Span::ZERO
    }

    /// Whether sources have a window of one round trip that follows their rate, unless a scenario says
    /// otherwise: see [`crate::transport::Window::FollowsRate`].
    fn has_window(&self) -> bool {
        false
    }

    /// Whether switches write a [`super::telemetry::Hop`] into every packet, which comes back with its
    /// acknowledgement in [`ReactionPoint::on_telemetry`].
    fn has_telemetry(&self) -> bool {
        false
    }
}

boxed! {
    /// A [`CongestionPoint`] that can be boxed: all that derive `Clone` and `Debug`.
    BoxedCongestionPoint: CongestionPoint
}

boxed! {
    /// A [`NotificationPoint`] that can be boxed: all that derive `Clone` and `Debug`.
    BoxedNotificationPoint: NotificationPoint
}

boxed! {
    /// A [`ReactionPoint`] that can be boxed: all that derive `Clone` and `Debug`.
    BoxedReactionPoint: ReactionPoint
}
