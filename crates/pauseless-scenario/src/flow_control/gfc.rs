//! `kind = "gfc-buffer"`, `"gfc-time"` and `"gfc-conceptual"`.

use std::sync::Arc;

use pauseless_core::derive::{Derivation, GUARD_FRAMES, Latency};
use pauseless_core::flow_control::gfc::{Mapping, Measure};
use pauseless_core::flow_control::{FlowControl, limiter};
use pauseless_core::unit::{Bytes, Rate, Span};

use super::PERIODS;
use super::scheme::{AnyScheme, Scheme, variant};
use crate::port_group::{Draft, PortGroup, with_tau};
use crate::steps::Steps;
use pauseless_text::declare::{Filled, Key, Place, Variant, Written};
use pauseless_text::section;

section! {
    /// Gentle flow control by stages of the buffer (GFC 4.2): each halves the rate of the sender.
    pub struct GfcBuffer {
        /// B_m, which the queue is to stay below.
        bm: Bytes, derived "buffer - `guard` MTU";
        /// B_1, where stage 1 begins.
        b1: Bytes, derived "B_m - 2 C tau";
        /// The stage is said again after this time without a message, so that a lost message does no
        /// lasting harm. A loss lets up to C times `refresh` more bytes in.
        refresh: Span, within Span::ns(1)..=Span::s(1), derived "never";
        /// A slower stage is told at once, a faster one when no message has left for this time;
        /// `"0 s"`: every change at once, as in the paper.
        hold_off: Span, within Span::ZERO..=Span::s(1), derived "the least of 2 tau, 18.5 KB / C and B_1 / C - tau";
        /// The smallest step of the rate limiter.
        rate_unit: Rate, default limiter::RATE_UNIT;
        /// Frames of guard band between B_m and the buffer, of which 5 are the least.
        guard: u64, within 0..=1_000_000, default GUARD_FRAMES;
    }
}

section! {
    /// Gentle flow control by messages at equal intervals (GFC 5): the rate falls with the free
    /// space.
    pub struct GfcTime {
        /// B_m, which the queue is to stay below.
        bm: Bytes, derived "buffer - `guard` MTU";
        /// B_0, where the rate begins to fall.
        b0: Bytes, derived "B_m - (sqrt(tau/T) + 1)^2 C T";
        /// T, the time between two messages.
        period: Span, within PERIODS, derived "time of 65,535 B";
        /// What a rate is computed from; `"message"`: the free space when the message was made;
        /// `"credit"`: FCCL - FCTBS at the sender.
        measure: Measure, default Measure::Message;
        /// The smallest step of the rate limiter.
        rate_unit: Rate, default limiter::RATE_UNIT;
        /// Frames of guard band between B_m and the buffer, of which 5 are the least.
        guard: u64, within 0..=1_000_000, default GUARD_FRAMES;
    }
}

section! {
    /// Gentle flow control as the theory has it (GFC 4.1): the sender knows the queue at any time,
    /// tau later.
    pub struct GfcConceptual {
        /// B_m, which the queue is to stay below.
        bm: Bytes, derived "buffer - `guard` MTU";
        /// B_0, where the rate begins to fall.
        b0: Bytes, derived "B_m - 4 C tau";
        /// The feedback latency, exactly.
        tau: Span, within Span::ZERO..=Span::s(60), derived "2 MTU / C + 2 t_w + t_r";
        /// The smallest step of the rate limiter.
        rate_unit: Rate, default limiter::RATE_UNIT;
        /// Frames of guard band between B_m and the buffer, of which 5 are the least.
        guard: u64, within 0..=1_000_000, default GUARD_FRAMES;
    }
}

pub(super) static BUFFER: Variant<Arc<AnyScheme>> = variant::<GfcBuffer>("gfc-buffer");
pub(super) static TIME: Variant<Arc<AnyScheme>> = variant::<GfcTime>("gfc-time");
pub(super) static CONCEPTUAL: Variant<Arc<AnyScheme>> = variant::<GfcConceptual>("gfc-conceptual");

/// What is the same for all three.
macro_rules! common {
    () => {
        fn place_besides(&self, name: &str) -> Option<&Place> {
            // B_m follows from the guard band.
            self.guard.place.as_ref().filter(|_| name == "bm")
        }

        fn has_limiter(&self) -> bool {
            true
        }

        fn adjust(&self, derivation: &mut Derivation) {
            derivation.unit = self.rate_unit.value;
            derivation.guard_frames = self.guard.value;
        }
    };
}

impl Scheme for GfcBuffer {
    common!();

    fn keys_of(&self, group: &PortGroup) -> Option<Box<dyn Written>> {
        let FlowControl::GfcBuffer(config) = group.ingress.control else {
            return None;
        };
        Some(Box::new(GfcBuffer {
            bm: Key::of(config.bm),
            b1: Key::of(config.b1),
            refresh: config.refresh.map_or(Key::default(), Key::of),
            hold_off: Key::of(config.hold_off),
            rate_unit: Filled::new(group.derivation.unit),
            guard: Filled::new(group.derivation.guard_frames),
            ..GfcBuffer::default()
        }))
    }

    fn control(&self, draft: &Draft<'_>) -> Option<FlowControl> {
        let bm = draft.check_gfc(self.bm.copied(), "b1", self.b1.copied())?;
        let mut config = draft.derivation.gfc_buffer(Some(bm), self.b1.copied());
        config.refresh = self.refresh.copied();
        if let Some(span) = self.hold_off.copied() {
            config = draft.derivation.with_hold_off(config, span);
        }
        if let Some(refresh) = config.refresh {
            draft.check_period("refresh", refresh);
        }
        Some(FlowControl::GfcBuffer(config))
    }

    fn explain(&self, group: &PortGroup, steps: &mut Steps) {
        if let FlowControl::GfcBuffer(config) = &group.ingress.control {
            steps.gfc_buffer(&group.derivation, config);
        }
    }
}

impl Scheme for GfcTime {
    common!();

    fn keys_of(&self, group: &PortGroup) -> Option<Box<dyn Written>> {
        let FlowControl::GfcTime(config) = group.ingress.control else {
            return None;
        };
        let Mapping { bm, b0, .. } = config.mapping;
        Some(Box::new(GfcTime {
            bm: Key::of(bm),
            b0: Key::of(b0),
            period: Key::of(config.period),
            measure: Filled::new(config.measure),
            rate_unit: Filled::new(group.derivation.unit),
            guard: Filled::new(group.derivation.guard_frames),
            ..GfcTime::default()
        }))
    }

    fn control(&self, draft: &Draft<'_>) -> Option<FlowControl> {
        let (b0, period) = (self.b0.copied(), self.period.copied());
        let bm = draft.check_gfc(self.bm.copied(), "b0", b0)?;
        let mut config = draft.derivation.gfc_time(Some(bm), b0, period);
        config.measure = self.measure.value;
        draft.check_period("period", config.period);
        Some(FlowControl::GfcTime(config))
    }

    fn explain(&self, group: &PortGroup, steps: &mut Steps) {
        if let FlowControl::GfcTime(config) = &group.ingress.control {
            steps.gfc_time(&group.derivation, config);
        }
    }
}

impl Scheme for GfcConceptual {
    common!();

    fn keys_of(&self, group: &PortGroup) -> Option<Box<dyn Written>> {
        let FlowControl::GfcConceptual(config) = group.ingress.control else {
            return None;
        };
        let Mapping { bm, b0, .. } = config.mapping;
        Some(Box::new(GfcConceptual {
            bm: Key::of(bm),
            b0: Key::of(b0),
            tau: Key::of(group.tau),
            rate_unit: Filled::new(group.derivation.unit),
            guard: Filled::new(group.derivation.guard_frames),
            ..GfcConceptual::default()
        }))
    }

    fn control(&self, draft: &Draft<'_>) -> Option<FlowControl> {
        let latency = draft.derivation.latency;
        let tau = self.tau(&latency);
        let frames = latency.line.tx_span((latency.mtu + latency.overhead) * 2);
        draft.at_least("tau", tau, frames + latency.wire, "2 MTU / C and the wire");
        let b0 = self.b0.copied();
        let bm = draft.check_gfc(self.bm.copied(), "b0", b0)?;
        let mut config = with_tau(draft.derivation, tau).gfc_conceptual(Some(bm), b0);
        config.delay = tau.saturating_sub(latency.wire);
        Some(FlowControl::GfcConceptual(config))
    }

    fn tau(&self, latency: &Latency) -> Span {
        self.tau.or(latency.tau())
    }

    fn explain(&self, group: &PortGroup, steps: &mut Steps) {
        if let FlowControl::GfcConceptual(config) = &group.ingress.control {
            steps.gfc_conceptual(group, config);
        }
    }
}
