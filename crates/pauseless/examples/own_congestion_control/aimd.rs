//! Additive increase, multiplicative decrease: acknowledgements say whether a packet was marked.

use pauseless::core::congestion::outside::{
    BoxedCongestionPoint, BoxedReactionPoint, CongestionScheme,
};
use pauseless::core::congestion::{
    CongestionControl, CongestionPoint, Feedback, QueueState, ReactionPoint, Source,
};
use pauseless::core::unit::{Bytes, Rate, Time};
use pauseless::scenario::outside::Chosen;
use pauseless::text::declare::Variant;
use pauseless::text::section;

/// Additive increase, multiplicative decrease.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Aimd {
    threshold: Bytes,
    step: Rate,
}

impl Default for Aimd {
    fn default() -> Aimd {
        Aimd { threshold: Bytes::kb(50), step: Rate::mbps(10) }
    }
}

impl CongestionScheme for Aimd {
    fn name(&self) -> &'static str {
        "aimd"
    }

    fn ack_every(&self) -> u32 {
        1
    }

    fn congestion_point(&self, _line: Rate, _seed: u64) -> Option<Box<dyn BoxedCongestionPoint>> {
        let threshold = self.threshold;
        Some(Box::new(Marker { threshold }))
    }

    fn reaction_point(&self, source: Source) -> Box<dyn BoxedReactionPoint> {
        Box::new(Sender { step: self.step, line: source.line, rate: source.initial })
    }
}

/// Marks what leaves a long queue.
#[derive(Clone, Debug)]
struct Marker {
    threshold: Bytes,
}

impl CongestionPoint for Marker {
    fn on_dequeue(&mut self, _now: Time, _size: Bytes, queue: QueueState) -> bool {
        queue.bytes > self.threshold
    }
}

/// Halves its rate when a packet was marked, and raises it by a step when not.
#[derive(Clone, Debug)]
struct Sender {
    step: Rate,
    line: Rate,
    rate: Rate,
}

impl ReactionPoint for Sender {
    fn on_feedback(&mut self, _now: Time, feedback: Feedback) {
        let bps = self.rate.as_bps();
        self.rate = match feedback {
            Feedback::Ack { is_marked: true, .. } => Rate::bps((bps / 2).max(1_000_000)),
            Feedback::Ack { .. } => Rate::bps(bps + self.step.as_bps()).min(self.line),
            _ => return,
        };
    }

    fn rate(&self) -> Rate {
        self.rate
    }
}

section! {
    /// Additive increase, multiplicative decrease.
    struct AimdKeys for Aimd = Aimd::default(), {
        /// Packets that leave a longer queue behind are marked.
        threshold: Bytes, within Bytes::new(1)..=Bytes::mb(10), source "this example";
        /// The rate grows by this with every acknowledgement.
        step: Rate, within Rate::bps(1_000)..=Rate::gbps(1), source "this example";
    }
}

pub static AIMD: Variant<Chosen> = Variant {
    name: "aimd",
    info: AimdKeys::info,
    read: |section| {
        let mut aimd = Aimd::default();
        AimdKeys::fill(section, &mut aimd);
        Some(Chosen::new(CongestionControl::outside(aimd)))
    },
    keys_of: |chosen| match &chosen.control {
        CongestionControl::Outside(scheme) => {
            let aimd = scheme.as_any().downcast_ref::<Aimd>()?;
            Some(Box::new(AimdKeys::of(aimd)))
        }
        _ => None,
    },
};
