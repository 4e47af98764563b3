//! The keys of `[flow_control]` and `[[flow_control.at]]`, as far as they were written.

use pauseless_core::flow_control::{cbfc, gfc};
use pauseless_core::unit::{Bytes, Rate, Span};

use super::reader::{At, Place, Section};

/// A scheme, before its parameters are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Pfc,
    Cbfc,
    GfcBuffer,
    GfcTime,
    GfcConceptual,
    None,
}

pub(crate) const KINDS: [(&str, Kind); 6] = [
    ("pfc", Kind::Pfc),
    ("cbfc", Kind::Cbfc),
    ("gfc-buffer", Kind::GfcBuffer),
    ("gfc-time", Kind::GfcTime),
    ("gfc-conceptual", Kind::GfcConceptual),
    ("none", Kind::None),
];

/// Parameters as far as they were written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Params {
    pub buffer: Option<At<Bytes>>,
    pub xoff: Option<At<Bytes>>,
    pub xon: Option<At<Bytes>>,
    pub pause_quanta: Option<At<u64>>,
    pub credits: Option<At<Bytes>>,
    pub period: Option<At<Span>>,
    pub counters: Option<At<cbfc::Counters>>,
    pub bm: Option<At<Bytes>>,
    pub b1: Option<At<Bytes>>,
    pub b0: Option<At<Bytes>>,
    pub tau: Option<At<Span>>,
    pub measure: Option<At<gfc::Measure>>,
    pub rate_unit: Option<At<Rate>>,
    pub guard: Option<At<u64>>,
    pub refresh: Option<At<Span>>,
}

impl Params {
    /// Reads the keys that a scheme has.
    pub(crate) fn read(section: &mut Section<'_>, kind: Kind) -> Params {
        let mut params = Params::default();
        match kind {
            Kind::None => {}
            Kind::Pfc => {
                params.xoff = section.quantity("xoff");
                params.xon = section.quantity("xon");
                params.pause_quanta = section.integer("pause_quanta", 0..=u64::from(u16::MAX));
            }
            Kind::Cbfc => {
                params.credits = section.quantity("credits");
                params.period = read_period(section);
                let counters = [("wide", cbfc::Counters::Wide), ("iba", cbfc::Counters::Iba)];
                params.counters = section.choice("counters", &counters);
            }
            Kind::GfcBuffer => {
                params.b1 = section.quantity("b1");
                params.refresh = section.quantity_within("refresh", Span::ns(1)..=Span::s(1));
            }
            Kind::GfcTime => {
                params.b0 = section.quantity("b0");
                params.period = read_period(section);
                let measures = [
                    ("message", gfc::Measure::Message),
                    ("credit", gfc::Measure::Credit),
                ];
                params.measure = section.choice("measure", &measures);
            }
            Kind::GfcConceptual => {
                params.b0 = section.quantity("b0");
                params.tau = section.quantity_within("tau", Span::ZERO..=Span::s(60));
            }
        }
        if let Kind::GfcBuffer | Kind::GfcTime | Kind::GfcConceptual = kind {
            params.bm = section.quantity("bm");
            params.rate_unit = section.quantity("rate_unit");
            params.guard = section.integer("guard", 0..=1_000_000);
        }
        params
    }

    /// `self`, with what `other` has written instead.
    pub(crate) fn overlaid(&self, other: &Params) -> Params {
        fn pick<T: Clone>(base: &Option<T>, other: &Option<T>) -> Option<T> {
            other.as_ref().or(base.as_ref()).cloned()
        }
        Params {
            buffer: pick(&self.buffer, &other.buffer),
            xoff: pick(&self.xoff, &other.xoff),
            xon: pick(&self.xon, &other.xon),
            pause_quanta: pick(&self.pause_quanta, &other.pause_quanta),
            credits: pick(&self.credits, &other.credits),
            period: pick(&self.period, &other.period),
            counters: pick(&self.counters, &other.counters),
            bm: pick(&self.bm, &other.bm),
            b1: pick(&self.b1, &other.b1),
            b0: pick(&self.b0, &other.b0),
            tau: pick(&self.tau, &other.tau),
            measure: pick(&self.measure, &other.measure),
            rate_unit: pick(&self.rate_unit, &other.rate_unit),
            guard: pick(&self.guard, &other.guard),
            refresh: pick(&self.refresh, &other.refresh),
        }
    }

    /// Where the value that a message is about was written.
    pub(crate) fn place(&self, name: &str) -> Option<&Place> {
        fn place<T>(value: &Option<At<T>>) -> Option<&Place> {
            value.as_ref().map(|value| &value.place)
        }
        match name {
            "xoff" => place(&self.xoff),
            "xon" => place(&self.xon),
            "pause_quanta" => place(&self.pause_quanta),
            "credits" => place(&self.credits),
            "period" => place(&self.period),
            "refresh" => place(&self.refresh),
            "bm" => place(&self.bm).or(place(&self.guard)),
            "b1" => place(&self.b1),
            "b0" => place(&self.b0),
            "tau" => place(&self.tau),
            "rate_unit" => place(&self.rate_unit),
            _ => None,
        }
        .or(place(&self.buffer))
    }
}

fn read_period(section: &mut Section<'_>) -> Option<At<Span>> {
    section.quantity_within("period", Span::ps(1)..=Span::s(1))
}

/// What was written, without its place.
pub(crate) fn value<T: Copy>(written: &Option<At<T>>) -> Option<T> {
    written.as_ref().map(|written| written.value)
}
