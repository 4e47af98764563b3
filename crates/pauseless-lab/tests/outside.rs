//! A congestion control of another crate: declared and registered here, it has keys, messages,
//! documentation, schema and results like our own.

mod problems;

use std::ops::ControlFlow;

use pauseless_core::congestion::outside::{
    BoxedCongestionPoint, BoxedReactionPoint, CongestionScheme,
};
use pauseless_core::congestion::{
    CongestionControl, CongestionPoint, Feedback, Joining, QueueState, ReactionPoint, Sent, Source,
};
use pauseless_core::unit::{Bytes, Rate, Time};
use pauseless_lab::declare::{Variant, markdown};
use pauseless_lab::explain::explain;
use pauseless_lab::run::Run;
use pauseless_lab::scenario::congestion::{Chosen, OUTSIDE, Scheme};
use pauseless_lab::scenario::{Overrides, Scenario, describe};
use pauseless_lab::schema::Document;
use pauseless_lab::section;
use problems::GOOD;

/// Additive increase, multiplicative decrease.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Aimd {
    threshold: Bytes,
    step: Rate,
}

impl Default for Aimd {
    fn default() -> Aimd {
        Aimd {
            threshold: Bytes::kb(50),
            step: Rate::mbps(10),
        }
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
        Box::new(Sender {
            step: self.step,
            line: source.line,
            rate: source.initial,
        })
    }
}

/// Marks what leaves a long queue.
#[derive(Clone, Debug)]
struct Marker {
    threshold: Bytes,
}

impl CongestionPoint for Marker {
    fn on_enqueue(&mut self, _now: Time, _size: Bytes, _queue: QueueState) -> Joining {
        Joining::Silent
    }

    fn on_dequeue(&mut self, _now: Time, _size: Bytes, queue: QueueState) -> bool {
        queue.bytes > self.threshold
    }

    fn on_release(&mut self, _now: Time, _queue: QueueState) {}
}

/// Halves its rate when a packet was marked, and raises it by a step when not.
#[derive(Clone, Debug)]
struct Sender {
    step: Rate,
    line: Rate,
    rate: Rate,
}

impl ReactionPoint for Sender {
    fn on_send(&mut self, _now: Time, _packet: Sent) {}

    fn on_feedback(&mut self, _now: Time, feedback: Feedback) {
        let bps = self.rate.as_bps();
        self.rate = match feedback {
            Feedback::Ack {
                is_marked: true, ..
            } => Rate::bps((bps / 2).max(1_000_000)),
            Feedback::Ack { .. } => Rate::bps(bps + self.step.as_bps()).min(self.line),
            _ => return,
        };
    }

    fn rate(&self) -> Rate {
        self.rate
    }

    fn poll_timeout(&self) -> Time {
        Time::MAX
    }

    fn handle_timeout(&mut self, _now: Time) {}
}

section! {
    /// Additive increase, multiplicative decrease.
    struct AimdKeys for Aimd = Aimd::default(), {
        /// Packets that leave a longer queue behind are marked.
        threshold: Bytes, within Bytes::new(1)..=Bytes::mb(10), source "this test";
        /// The rate grows by this with every acknowledgement.
        step: Rate, within Rate::bps(1_000)..=Rate::gbps(1), source "this test";
    }
}

static AIMD: Variant<Chosen> = Variant {
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

fn text(keys: &str) -> String {
    format!("{GOOD}[congestion_control]\nkind = \"aimd\"\n{keys}\n")
}

#[test]
fn an_outside_scheme_is_like_our_own() {
    OUTSIDE.register(&AIMD);
    OUTSIDE.register(&AIMD);
    let names = Scheme::all().into_iter().map(|scheme| scheme.name());
    assert_eq!(names.filter(|name| *name == "aimd").count(), 1);

    // Read, with its defaults and its own values, and written out.
    let read = |keys| Scenario::parse("t.toml", &text(keys), &Overrides::default());
    let scenario = read("step = \"20 Mbps\"").unwrap_or_else(|wrong| panic!("{wrong}"));
    let resolved = scenario.resolved();
    for line in [
        "kind = \"aimd\"",
        "threshold = \"50 KB\"",
        "step = \"20 Mbps\"",
        "ack_every = 1",
    ] {
        assert!(resolved.contains(line), "{line} in {resolved}");
    }
    let again = Scenario::parse("t.toml", &resolved, &Overrides::default());
    let again = again.unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!(
        again.config.congestion.control,
        scenario.config.congestion.control
    );

    // Explained, with what is default and what is not.
    let rows = explain(&scenario).congestion.expect("a scheme").rows;
    let row = |symbol: &str| rows.iter().find(|row| row.symbol == symbol).expect("a row");
    assert_eq!(
        (row("threshold").value.as_str(), row("threshold").source),
        ("50 KB", "this test")
    );
    assert_eq!(
        (row("step").value.as_str(), row("step").source),
        ("20 Mbps", "scenario")
    );

    // Refused as ours are: the key, the range, what was meant.
    let wrong = read("stp = \"1 Mbps\"")
        .expect_err("no such key")
        .to_string();
    assert!(
        wrong.contains("unknown key with kind = \"aimd\"") && wrong.contains("did you mean step?")
    );
    let wrong = read("step = \"2 Gbps\"")
        .expect_err("too large")
        .to_string();
    assert!(wrong.contains("a rate from 1 kbps to 1 Gbps"), "{wrong}");

    // In the schema and in the documents.
    let schema = Document::named("scenario")
        .expect("a schema")
        .schema()
        .to_string();
    assert!(schema.contains("\"aimd\"") && schema.contains("The rate grows by this"));
    let table = markdown::keys(&describe::info(), "congestion_control=aimd").expect("a table");
    assert!(
        table.contains("| `threshold` | bytes, 1 B to 10 MB | `\"50 KB\"` |"),
        "{table}"
    );

    // And it runs: two flows into one port share it without a loss, and the step counts.
    let run = |keys| {
        let scenario = read(keys).unwrap_or_else(|wrong| panic!("{wrong}"));
        Run::execute(scenario, |_| ControlFlow::Continue(()))
    };
    let (slow, fast) = (run("threshold = \"1 KB\"\nstep = \"1 kbps\""), run(""));
    assert_eq!(slow.schemes(), "pfc with aimd");
    let bytes = |run: &Run| {
        run.outcome
            .flows
            .iter()
            .map(|flow| flow.delivered.get())
            .sum::<u64>()
    };
    assert!(0 < bytes(&slow) && bytes(&slow) <= bytes(&fast));
}
