//! The flow control `kind = "none"`: whatever exceeds a buffer is lost.

use std::sync::Arc;

use pauseless_core::flow_control::FlowControl;

use super::scheme::{AnyScheme, Scheme, variant};
use crate::port_group::{Draft, PortGroup};
use crate::steps::Steps;
use pauseless_text::declare::{Section, Variant, Written};
use pauseless_text::section;

section! {
    /// No sender is held back: whatever exceeds a buffer is lost.
    pub struct Nothing {}
}

pub(super) static NONE: Variant<Arc<AnyScheme>> = variant::<Nothing>("none");

impl Scheme for Nothing {
    fn keys_of(&self, _: &PortGroup) -> Option<Box<dyn Written>> {
        None
    }

    fn control(&self, _: &Draft<'_>) -> Option<FlowControl> {
        Some(FlowControl::None)
    }

    fn is_lossless(&self) -> bool {
        false
    }

    fn sharing_memory(&self, _: &Section<'_>) -> Option<Arc<AnyScheme>> {
        Some(Arc::new(self.clone()))
    }

    fn explain(&self, _: &PortGroup, steps: &mut Steps) {
        steps.add("loss", "whatever exceeds the buffer", "expected", "scenario");
    }
}
