//! A congestion control of the core as an outside one.

use pauseless_core::congestion::outside::{
    BoxedCongestionPoint, BoxedNotificationPoint, BoxedReactionPoint, CongestionScheme,
};
use pauseless_core::congestion::telemetry::Hop;
use pauseless_core::congestion::{
    AnyCongestionPoint, AnyNotificationPoint, AnyReactionPoint, CongestionControl, CongestionPoint,
    Feedback, Joining, NotificationPoint, QueueState, ReactionPoint, Received, Sent, Source,
};
use pauseless_core::unit::{Bytes, Rate, Time};

use super::Language;

/// `control` as a scheme of another crate.
pub fn disguised_congestion(control: CongestionControl, language: Language) -> CongestionControl {
    CongestionControl::outside(Disguised { control, language })
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Disguised {
    control: CongestionControl,
    language: Language,
}

impl CongestionScheme for Disguised {
    fn name(&self) -> &'static str {
        "disguised"
    }

    fn reaction_point(&self, source: Source) -> Box<dyn BoxedReactionPoint> {
        Box::new(Reaction { point: self.control.reaction_point(source) })
    }

    fn notification_point(&self) -> Option<Box<dyn BoxedNotificationPoint>> {
        match self.control.notification_point() {
            AnyNotificationPoint::None => None,
            point => Some(Box::new(Notification { point, language: self.language })),
        }
    }

    fn congestion_point(&self, line: Rate, seed: u64) -> Option<Box<dyn BoxedCongestionPoint>> {
        match self.control.congestion_point(line, seed) {
            AnyCongestionPoint::None | AnyCongestionPoint::Counter => None,
            point => Some(Box::new(Congestion { point, language: self.language })),
        }
    }

    fn ack_every(&self) -> u32 {
        self.control.ack_every()
    }

    fn has_telemetry(&self) -> bool {
        self.control.has_telemetry()
    }
}

impl Language {
    fn encode(self, feedback: Feedback) -> Feedback {
        match (self, feedback) {
            (Language::Own, feedback) => feedback,
            (Language::Bytes, Feedback::Cnp) => Feedback::Outside([1, 0, 0, 0, 0, 0, 0, 0]),
            (Language::Bytes, Feedback::Congestion { psi }) => {
                Feedback::Outside([2, psi, 0, 0, 0, 0, 0, 0])
            }
            (Language::Bytes, Feedback::Receiving { is_congested, rate_mbps }) => {
                let [a, b, c, d] = rate_mbps.to_be_bytes();
                Feedback::Outside([3, u8::from(is_congested), a, b, c, d, 0, 0])
            }
            (Language::Bytes, other) => unreachable!("no part makes {other:?}"),
        }
    }
}

fn decode(feedback: Feedback) -> Feedback {
    match feedback {
        Feedback::Outside([1, ..]) => Feedback::Cnp,
        Feedback::Outside([2, psi, ..]) => Feedback::Congestion { psi },
        Feedback::Outside([3, is_congested, a, b, c, d, ..]) => Feedback::Receiving {
            is_congested: is_congested != 0,
            rate_mbps: u32::from_be_bytes([a, b, c, d]),
        },
        other => other,
    }
}

#[derive(Clone, Debug)]
struct Congestion {
    point: AnyCongestionPoint,
    language: Language,
}

impl CongestionPoint for Congestion {
    fn on_enqueue(&mut self, now: Time, size: Bytes, queue: QueueState) -> Joining {
        match self.point.on_enqueue(now, size, queue) {
            Joining::Notify(feedback) => Joining::Notify(self.language.encode(feedback)),
            other => other,
        }
    }

    fn on_dequeue(&mut self, now: Time, size: Bytes, queue: QueueState) -> bool {
        self.point.on_dequeue(now, size, queue)
    }

    fn on_release(&mut self, now: Time, queue: QueueState) {
        self.point.on_release(now, queue);
    }
}

#[derive(Clone, Debug)]
struct Notification {
    point: AnyNotificationPoint,
    language: Language,
}

impl NotificationPoint for Notification {
    fn on_packet(&mut self, now: Time, packet: Received) -> Option<Feedback> {
        let feedback = self.point.on_packet(now, packet)?;
        Some(self.language.encode(feedback))
    }

    fn poll_timeout(&self) -> Time {
        self.point.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Time) -> Option<Feedback> {
        let feedback = self.point.handle_timeout(now)?;
        Some(self.language.encode(feedback))
    }
}

#[derive(Clone, Debug)]
struct Reaction {
    point: AnyReactionPoint,
}

impl ReactionPoint for Reaction {
    fn on_send(&mut self, now: Time, packet: Sent) {
        self.point.on_send(now, packet);
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback) {
        self.point.on_feedback(now, decode(feedback));
    }

    fn on_telemetry(&mut self, now: Time, feedback: Feedback, hops: &[Hop]) {
        self.point.on_telemetry(now, decode(feedback), hops);
    }

    fn rate(&self) -> Rate {
        self.point.rate()
    }

    fn poll_timeout(&self) -> Time {
        self.point.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Time) {
        self.point.handle_timeout(now);
    }
}
