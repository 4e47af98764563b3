//! The section `[wire]`: how frames travel, and by which clock.

use std::ops::RangeInclusive;

use pauseless_core::unit::Span;
use pauseless_core::wire::Envelope;
use pauseless_dataplane::clock::Pace;
use pauseless_dataplane::link::Backend;

use crate::declare::{FileValue, Kind, Words};
use crate::scenario::file::quote;
use crate::scenario::reader::{At, Item, Section};
use crate::scenario::unit::{self, Quantity};
use crate::{section, words};

/// How frames travel, and by which clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// The mechanism that carries frames, such as a packet socket or AF_XDP.
    pub backend: Backend,
    /// The kind of frames that carry messages of flow control.
    pub envelope: Envelope,
    /// The clock by which the node runs.
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

section! {
    /// How frames travel, and by which clock.
    pub(crate) struct WireKeys for Wire = Wire::default(), {
        /// The mechanism that carries frames.
        backend: Backend;
        /// The kind of frames that carry messages of flow control.
        envelope: Envelope;
        /// How time passes; `real`, `elastic` or `elastic:50us`.
        clock: Pace, field pace;
        /// How far behind the clock a port may be and still catch up.
        slack: Span, within SLACKS;
    }
}

words! {
    Backend { "auto" => Backend::Auto, "packet" => Backend::Packet, "xdp" => Backend::Xdp }
}
words! {
    Envelope { "mac-control" => Envelope::MacControl, "private" => Envelope::Private }
}

impl FileValue for Pace {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Pace>> {
        let sink = item.sink();
        let At { value, place } = item.string()?;
        match parse_clock(&value) {
            Ok(value) => Some(At { value, place }),
            Err(message) => {
                sink.push(place.problem(message));
                None
            }
        }
    }

    fn kind((): &()) -> Kind {
        Kind::Text("a clock")
    }

    fn show(&self) -> String {
        quote(&write_clock(*self))
    }
}

impl Wire {
    pub(super) fn read(mut section: Section<'_>) -> Wire {
        let mut wire = Wire::default();
        WireKeys::fill(&mut section, &mut wire);
        section.finish();
        wire
    }

    /// The name of the back end in files.
    pub fn backend_name(&self) -> &'static str {
        self.backend.word()
    }

    /// The name of the envelope in files.
    pub fn envelope_name(&self) -> &'static str {
        self.envelope.word()
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

/// The clock as [`parse_clock`] reads it.
pub fn write_clock(pace: Pace) -> String {
    match pace {
        Pace::Real => "real".to_string(),
        Pace::Elastic(tick) => format!("elastic:{}", tick.exact().replace(' ', "")),
    }
}

/// Longer than nearly all stalls of a machine that is not idle.
const SLACK: Span = Span::ms(20);
const SLACKS: RangeInclusive<Span> = Span::ZERO..=Span::s(1);
const TICKS: RangeInclusive<Span> = Span::us(1)..=Span::ms(10);
