//! The flow control `kind = "pfc"`: PAUSE frames per priority.

use std::sync::Arc;

use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::unit::Bytes;

use super::scheme::{AnyScheme, Scheme, paced, variant};
use crate::port_group::{Draft, PortGroup};
use crate::steps::Steps;
use pauseless_text::declare::{Filled, Key, Section, Variant, Written};
use pauseless_text::section;

section! {
    /// Priority flow control (IEEE 802.1Q 36): a receiver pauses its sender.
    pub struct Pfc {
        /// Pause the sender above this; the default is the largest safe value.
        xoff: Bytes, derived "buffer - (C tau + MTU + 64 B per class)";
        /// Let the sender go on below this; `0 B` for never: a pause then runs out, and is asked for
        /// again by every packet that arrives above `xoff` and every half of its time.
        xon: Bytes, derived "`xoff` - 2 MTU";
        /// The pause that is asked for, in quanta of 512 bit times; `0` for one that lasts until a
        /// resume and is not repeated, as in public simulators.
        pause_quanta: u16, default pfc::QUANTA_MAX;
    }
}

/// Priority flow control as a kind of `[flow_control]`.
pub static PFC: Variant<Arc<AnyScheme>> = variant::<Pfc>("pfc");

/// The same with egresses that rest for a tick after every frame.
pub(super) static PACED: Variant<Arc<AnyScheme>> = paced::<Pfc>("paced-pfc");

impl Scheme for Pfc {
    fn keys_of(&self, group: &PortGroup) -> Option<Box<dyn Written>> {
        let FlowControl::Pfc(config) = group.ingress.control else {
            return None;
        };
        // A shared memory has thresholds of its own.
        let threshold = |bytes| match group.memory {
            None => Key::of(bytes),
            Some(_) => Key::default(),
        };
        Some(Box::new(Pfc {
            xoff: threshold(config.xoff),
            xon: threshold(config.xon),
            pause_quanta: Filled::new(config.quanta),
            ..Pfc::default()
        }))
    }

    fn control(&self, draft: &Draft<'_>) -> Option<FlowControl> {
        let derived = draft.derivation.pfc();
        let xoff = self.xoff.or(derived.xoff);
        let xon = pfc::default_xon(xoff, draft.derivation.latency.mtu);
        Some(FlowControl::Pfc(pfc::Config {
            xoff,
            xon: self.xon.or(xon),
            quanta: self.pause_quanta.value,
        }))
    }

    fn sharing_memory(&self, section: &Section<'_>) -> Option<Arc<AnyScheme>> {
        let written =
            [(self.xoff.place(), "alpha or threshold"), (self.xon.place(), "resume_offset")];
        for (place, instead) in written {
            if let Some(place) = place {
                let problem = place.problem("the shared memory decides when to pause");
                section.report(problem.help(format!("use {instead} in [switch.memory] instead")));
            }
        }
        // What is refused is not held against any bound: that would be a second error for it.
        Some(Arc::new(Pfc { pause_quanta: self.pause_quanta.clone(), ..Pfc::default() }))
    }

    fn pause_quanta(&self) -> Option<&Filled<u16>> {
        Some(&self.pause_quanta)
    }

    fn explain(&self, group: &PortGroup, steps: &mut Steps) {
        if let FlowControl::Pfc(config) = &group.ingress.control {
            steps.pfc(&group.derivation, config);
        }
    }
}
