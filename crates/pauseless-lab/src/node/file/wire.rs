//! The section `[wire]`: how frames travel, and by which clock.

use std::ops::RangeInclusive;

use pauseless_core::unit::Span;
use pauseless_core::wire::Envelope;
use pauseless_dataplane::clock::Pace;
use pauseless_dataplane::link::Backend;

use crate::scenario::reader::Section;
use crate::scenario::unit::{self, Quantity};

/// How frames travel, and by which clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// What carries frames.
    pub backend: Backend,
    /// What control frames travel in.
    pub envelope: Envelope,
    /// How time passes.
    pub pace: Pace,
    /// How far behind the clock a port may be and still catch up.
    pub slack: Span,
}

impl Default for Wire {
    fn default() -> Wire {
        Wire {
            backend: Backend::Auto,
            envelope: Envelope::MacControl,
            pace: Pace::Real,
            slack: SLACK,
        }
    }
}

impl Wire {
    pub(super) fn read(mut section: Section<'_>) -> Wire {
        let backend = section.choice("backend", &BACKENDS);
        let envelope = section.choice("envelope", &ENVELOPES);
        let clock = section.string("clock");
        let pace = clock.and_then(|at| match parse_clock(&at.value) {
            Ok(pace) => Some(pace),
            Err(message) => {
                section.report(at.place.problem(message));
                None
            }
        });
        let slack = section.quantity_within("slack", SLACKS);
        section.finish();
        let default = Wire::default();
        Wire {
            backend: backend.map_or(default.backend, |at| at.value),
            envelope: envelope.map_or(default.envelope, |at| at.value),
            pace: pace.unwrap_or(default.pace),
            slack: slack.map_or(default.slack, |at| at.value),
        }
    }

    /// The name of the back end in files.
    pub fn backend_name(&self) -> &'static str {
        let found = BACKENDS.iter().find(|(_, it)| *it == self.backend);
        found.expect("all are listed").0
    }

    /// The name of the envelope in files.
    pub fn envelope_name(&self) -> &'static str {
        let found = ENVELOPES.iter().find(|(_, it)| *it == self.envelope);
        found.expect("all are listed").0
    }
}

/// A clock as it is written: `real`, `elastic` or `elastic:50us`.
pub fn parse_clock(text: &str) -> Result<Pace, String> {
    let wrong = |why: &str| format!("{text:?} is no clock: {why}");
    match text.split_once(':') {
        None if text == "real" => Ok(Pace::Real),
        None if text == "elastic" => Ok(Pace::Elastic(Pace::TICK)),
        Some(("elastic", tick)) => match unit::parse::<Span>(tick) {
            Ok(tick) if TICKS.contains(&tick) => Ok(Pace::Elastic(tick)),
            Ok(_) => Err(wrong("ticks last from 1 us to 10 ms")),
            Err(refused) => Err(wrong(&refused.message)),
        },
        _ => Err(wrong("take real, elastic or elastic:50us")),
    }
}

/// The same clock as [`parse_clock`] reads it.
pub fn write_clock(pace: Pace) -> String {
    match pace {
        Pace::Real => "real".to_string(),
        Pace::Elastic(tick) => format!("elastic:{}", tick.exact().replace(' ', "")),
    }
}

const BACKENDS: [(&str, Backend); 3] = [
    ("auto", Backend::Auto),
    ("packet", Backend::Packet),
    ("xdp", Backend::Xdp),
];
const ENVELOPES: [(&str, Envelope); 2] = [
    ("mac-control", Envelope::MacControl),
    ("private", Envelope::Private),
];
/// Longer than nearly all stalls of a machine that is not idle.
const SLACK: Span = Span::ms(20);
const SLACKS: RangeInclusive<Span> = Span::ZERO..=Span::s(1);
const TICKS: RangeInclusive<Span> = Span::us(1)..=Span::ms(10);
