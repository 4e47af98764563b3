//! The flow control `kind = "cbfc"`: credits, as InfiniBand has them.

use std::sync::Arc;

use pauseless_core::flow_control::FlowControl;
use pauseless_core::flow_control::cbfc::{Config, Counters};
use pauseless_core::unit::{Bytes, Span};

use super::PERIODS;
use super::scheme::{AnyScheme, Scheme, paced, variant};
use crate::port_group::{Draft, PortGroup};
use crate::steps::Steps;
use pauseless_text::declare::{Filled, Key, Variant, Written};
use pauseless_text::section;

section! {
    /// Credit-based flow control (InfiniBand 7.9): a sender sends what it was granted.
    pub struct Cbfc {
        /// The bytes that a receiver grants at most.
        credits: Bytes, derived "the buffer";
        /// A link packet is sent this often.
        period: Span, within PERIODS, derived "time of 65,535 B";
        /// How wide the counters are; `"iba"` has the 12 bits of the standard and grants at most
        /// 131,072 B.
        counters: Counters, default Counters::Wide;
    }
}

pub(super) static CBFC: Variant<Arc<AnyScheme>> = variant::<Cbfc>("cbfc");

/// The same with egresses that rest for a tick after every frame.
pub(super) static PACED: Variant<Arc<AnyScheme>> = paced::<Cbfc>("paced-cbfc");

impl Scheme for Cbfc {
    fn keys_of(&self, group: &PortGroup) -> Option<Box<dyn Written>> {
        let FlowControl::Cbfc(config) = group.ingress.control else {
            return None;
        };
        Some(Box::new(Cbfc {
            credits: Key::of(config.capacity),
            period: Key::of(config.period),
            counters: Filled::new(config.counters),
            ..Cbfc::default()
        }))
    }

    fn control(&self, draft: &Draft<'_>) -> Option<FlowControl> {
        let derived = draft.derivation.cbfc();
        let config = Config {
            capacity: self.credits.or(derived.capacity),
            period: self.period.or(derived.period),
            counters: self.counters.value,
        };
        draft.check_period("period", config.period);
        Some(FlowControl::Cbfc(config))
    }

    fn explain(&self, group: &PortGroup, steps: &mut Steps) {
        if let FlowControl::Cbfc(config) = &group.ingress.control {
            steps.cbfc(&group.derivation.latency, config);
        }
    }
}
