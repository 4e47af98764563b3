//! The section `[wire]`: how frames travel, and by which clock.

use std::ops::RangeInclusive;

use pauseless_core::unit::Span;
use pauseless_dataplane::clock::Pace;
use pauseless_dataplane::link::Backend;
use pauseless_wire::Envelope;

use pauseless_text::declare::{FileValue, Kind, Words};
use pauseless_text::file::quote;
use pauseless_text::reader::{At, Item, Section};
use pauseless_text::unit::{self, Quantity};
use pauseless_text::{section, words};

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
        backend: Carrier, get |wire: &Wire| Some(Carrier(wire.backend)),
            set |wire: &mut Wire, carrier: Carrier| wire.backend = carrier.0;
        /// The kind of frames that carry messages of flow control.
        envelope: Envelope;
        /// How time passes; `real`, `elastic` or `elastic:50us`.
        clock: ClockText, get |wire: &Wire| Some(ClockText(wire.pace)),
            set |wire: &mut Wire, clock: ClockText| wire.pace = clock.0;
        /// How far behind the clock a port may be and still catch up.
        slack: Span, within SLACKS;
    }
}

/// What carries frames, as files write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carrier(Backend);

words! {
    Carrier {
        "auto" => Carrier(Backend::Auto),
        "packet" => Carrier(Backend::Packet),
        "xdp" => Carrier(Backend::Xdp),
    }
}

/// How time passes, as files write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockText(Pace);

impl FileValue for ClockText {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<ClockText>> {
        let sink = item.sink();
        let At { value, place } = item.string()?;
        match parse_clock(&value) {
            Ok(pace) => Some(At { value: ClockText(pace), place }),
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
        quote(&write_clock(self.0))
    }
}

impl Wire {
    pub(crate) fn read(mut section: Section<'_>) -> Wire {
        let mut wire = Wire::default();
        WireKeys::fill(&mut section, &mut wire);
        section.finish();
        wire
    }

    /// The name of the back end in files.
    pub fn backend_name(&self) -> &'static str {
        Carrier(self.backend).word()
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
