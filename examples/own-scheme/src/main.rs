//! A congestion control from a crate of its own, beside DCQCN: sources watch the round-trip time of
//! their packets and keep it near a target, without any help from switches.
//!
//! Run it with `cargo run --manifest-path examples/own-scheme/Cargo.toml`.

use std::error::Error;

use pauseless::core::congestion::outside::{BoxedReactionPoint, CongestionScheme};
use pauseless::core::congestion::{
    CongestionControl, Feedback, ReactionPoint, Sent, Sequence, Source,
};
use pauseless::core::unit::{Rate, Span, Time};
use pauseless::scenario::outside::{Chosen, OUTSIDE};
use pauseless::text::declare::Variant;
use pauseless::text::section;
use pauseless::{Overrides, Run, Scenario};

/// The parameters of the scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
struct KeepDelay {
    target: Span,
    step: Rate,
}

impl Default for KeepDelay {
    fn default() -> KeepDelay {
        KeepDelay { target: Span::us(40), step: Rate::mbps(100) }
    }
}

section! {
    /// Keeps the round-trip time near a target.
    struct KeepDelayKeys for KeepDelay = KeepDelay::default(), {
        /// The round-trip time above which a source slows down.
        target: Span, within Span::us(1)..=Span::ms(10), source "this example";
        /// The rate grows by this with every round trip below the target.
        step: Rate, within Rate::bps(1_000)..=Rate::gbps(10), source "this example";
    }
}

/// What `kind = "keep-delay"` means in `[congestion_control]`.
static KEEP_DELAY: Variant<Chosen> = Variant {
    name: "keep-delay",
    info: KeepDelayKeys::info,
    read: |section| {
        let mut scheme = KeepDelay::default();
        KeepDelayKeys::fill(section, &mut scheme);
        Some(Chosen::new(CongestionControl::outside(scheme)))
    },
    keys_of: |chosen| match &chosen.control {
        CongestionControl::Outside(scheme) => {
            let scheme = scheme.as_any().downcast_ref::<KeepDelay>()?;
            Some(Box::new(KeepDelayKeys::of(scheme)))
        }
        _ => None,
    },
};

impl CongestionScheme for KeepDelay {
    fn name(&self) -> &'static str {
        "keep-delay"
    }

    fn ack_every(&self) -> u32 {
        1
    }

    fn reaction_point(&self, source: Source) -> Box<dyn BoxedReactionPoint> {
        Box::new(Sender { scheme: *self, line: source.line, rate: source.initial, timed: None })
    }
}

/// The state of one flow: it times one packet per round trip.
#[derive(Clone, Debug)]
struct Sender {
    scheme: KeepDelay,
    line: Rate,
    rate: Rate,
    timed: Option<(Sequence, Time)>,
}

impl ReactionPoint for Sender {
    fn on_send(&mut self, now: Time, packet: Sent) {
        self.timed.get_or_insert((packet.sequence, now));
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback) {
        let (Feedback::Ack { sequence, .. }, Some((timed, sent))) = (feedback, self.timed) else {
            return;
        };
        if sequence != timed {
            return;
        }
        self.timed = None;
        let bps = if now - sent > self.scheme.target {
            self.rate.as_bps() / 5 * 4
        } else {
            self.rate.as_bps() + self.scheme.step.as_bps()
        };
        self.rate = Rate::bps(bps.max(10_000_000)).min(self.line);
    }

    fn rate(&self) -> Rate {
        self.rate
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Before the first scenario is read, so that its `kind` is known.
    OUTSIDE.register(&KEEP_DELAY);
    let own = run(r#"kind = "keep-delay", target = "30 us""#)?;
    let dcqcn = run(r#"kind = "dcqcn""#)?;
    assert_eq!(own.schemes(), "pfc with keep-delay");
    for run in [&own, &dcqcn] {
        let goodputs = run.outcome.flows.iter().map(|flow| flow.goodput_late_bps / 1e9);
        let sum = goodputs.sum::<f64>();
        let pauses = run.outcome.pause_frames;
        let queue = run.queue_max();
        println!("{}: {sum:.1} of 10 Gb/s late, {pauses} pauses, queue {queue}", run.schemes());
        assert_eq!(run.outcome.lost_packets, 0);
        assert!(sum > 5.0, "the link is used");
    }

    // Keys of the scheme are checked as our own are.
    let wrong = run(r#"kind = "keep-delay", targte = "30 us""#);
    let problems = wrong.expect_err("a slip of the pen").to_string();
    println!("\n{problems}");
    assert!(problems.contains("did you mean target?"));
    Ok(())
}

/// Four senders into one port under a congestion control.
fn run(congestion_control: &str) -> Result<Run, pauseless::Problems> {
    let text = format!(
        r#"
        duration = "10 ms"
        topology = {{ kind = "n-to-1", senders = 4, rate = "10 Gbps", delay = "1 us" }}
        switch = {{ buffer = "1 MB" }}
        flow_control = {{ kind = "pfc" }}
        congestion_control = {{ {congestion_control} }}
        flow = [
            {{ source = "H1", target = "R" }},
            {{ source = "H2", target = "R" }},
            {{ source = "H3", target = "R" }},
            {{ source = "H4", target = "R" }},
        ]
        "#
    );
    Ok(pauseless::run(Scenario::parse("incast", &text, &Overrides::default())?))
}
