//! Flow controls of other crates.

use std::fmt;
use std::sync::Arc;

use pauseless_core::derive::Derivation;
use pauseless_core::flow_control::FlowControl;
use pauseless_core::flow_control::outside::FlowControlScheme;

use super::scheme::{AnyScheme, Scheme, variant};
use crate::port_group::{Draft, PortGroup};
use pauseless_text::declare::{Overlay, Registry, Written};

/// The keys of a flow control of another crate, a section that [`section!`](pauseless_text::section) declares.
/// Every key needs a default or a derived value, since `[[flow_control.at]]` may leave out any of them.
pub trait FlowControlKeys: Overlay + Written + Default + Clone + fmt::Debug + 'static {
    /// The parameters that the keys stand for. Its name must be the one that the kind is registered with,
    /// and [`FlowControlScheme::check`] refuses what is not safe on a link.
    type Scheme: FlowControlScheme;

    /// The parameters at the receiving end of a link. What was left out may follow from the link and the
    /// buffer of `derivation`.
    fn scheme(&self, derivation: &Derivation) -> Self::Scheme;

    /// The keys with nothing left out, for the resolved scenario.
    fn of(scheme: &Self::Scheme) -> Self;
}

/// The flow controls of other crates.
pub(super) static OUTSIDE: Registry<Arc<AnyScheme>> = Registry::new();

/// Makes `kind = "NAME"` known in `[flow_control]`.
///
/// An outside flow control is lossless as far as its own `check` says. It cannot have `[switch.memory]`,
/// `[watchdog]`, `cycle_aware` or a testbed, which are refused.
pub fn register_flow_control<K: FlowControlKeys>(name: &'static str) {
    OUTSIDE.register(Box::leak(Box::new(variant::<K>(name))));
}

impl<K: FlowControlKeys> Scheme for K {
    fn keys_of(&self, group: &PortGroup) -> Option<Box<dyn Written>> {
        let FlowControl::Outside(scheme) = &group.ingress.control else {
            return None;
        };
        let scheme = scheme.as_any().downcast_ref()?;
        Some(Box::new(K::of(scheme)))
    }

    fn control(&self, draft: &Draft<'_>) -> Option<FlowControl> {
        Some(FlowControl::outside(self.scheme(&draft.derivation)))
    }

    fn has_thresholds(&self) -> bool {
        false
    }
}
