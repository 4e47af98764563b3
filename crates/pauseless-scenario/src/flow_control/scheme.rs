//! What every flow control scheme declares: its keys, what follows from them on a link, and why.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::FlowControl;
use pauseless_core::unit::Span;

use super::outside::OUTSIDE;
use super::{AT, CycleAware, PortValues, cbfc, gfc, none, pfc};
use crate::port_group::{Draft, PortGroup};
use crate::steps::Steps;
use pauseless_text::declare::{
    Choice, Declared, Fallback, Filled, Info, KeyInfo, Kind, Overlay, Place, Section, Variant,
    Written,
};
use pauseless_text::problem::Sink;

/// A scheme with its keys as far as they were written. A new one is a file like `pfc.rs`, which
/// declares the keys and implements this, and a line in [`schemes`].
pub trait Scheme: SchemeKeys + Written + fmt::Debug {
    /// The keys that say what the ports of `group` have, which have this scheme.
    fn keys_of(&self, group: &PortGroup) -> Option<Box<dyn Written>>;

    /// The parameters on a link; `None` if the keys make no sense there, which is reported.
    fn control(&self, draft: &Draft<'_>) -> Option<FlowControl>;

    /// The feedback latency that the parameters are derived and checked with.
    fn tau(&self, latency: &Latency) -> Span {
        latency.tau()
    }

    /// Puts keys that a derivation depends on into it.
    fn adjust(&self, _: &mut Derivation) {}

    /// Whether senders are held back, so that no packet need be lost.
    fn is_lossless(&self) -> bool {
        true
    }

    /// Whether its senders have a rate limiter.
    fn has_limiter(&self) -> bool {
        false
    }

    /// Whether ports on and before a cycle of buffers can have other thresholds than the rest.
    fn has_thresholds(&self) -> bool {
        self.is_lossless()
    }

    /// The same scheme where ports share their memory, without the thresholds that have no meaning
    /// then, which are reported; `None` if it needs a buffer of each port and class.
    fn sharing_memory(&self, _: &Section<'_>) -> Option<Arc<AnyScheme>> {
        None
    }

    /// The pause that is asked for where a shared memory decides when to pause.
    fn pause_quanta(&self) -> Option<&Filled<u16>> {
        None
    }

    /// Where the value that a message calls `name` was written, if it is no key that was.
    fn place_besides(&self, _: &str) -> Option<&Place> {
        None
    }

    /// Adds to `steps` why the parameters of `group` are as they are; by default each key with its
    /// sentence.
    fn explain(&self, group: &PortGroup, steps: &mut Steps) {
        let variant = schemes().named(group.ingress.control.name());
        if let Some((variant, keys)) = variant.zip(self.keys_of(group)) {
            steps.declared((variant.info)(), &*keys);
        }
    }
}

pub(crate) type AnyScheme = dyn Scheme;

/// The flow controls that a scenario can choose, those of other crates included.
pub fn schemes() -> Choice<Arc<AnyScheme>> {
    Choice {
        key: "kind",
        default: None,
        variants: OUTSIDE.with(&[
            &pfc::PFC,
            &pfc::PACED,
            &cbfc::CBFC,
            &cbfc::PACED,
            &gfc::BUFFER,
            &gfc::TIME,
            &gfc::CONCEPTUAL,
            &none::NONE,
        ]),
    }
}

/// The scheme of some ports, without any key.
pub fn scheme_of(control: &FlowControl) -> Arc<AnyScheme> {
    let name = control.name();
    let variant = schemes().named(name);
    let variant = variant.unwrap_or_else(|| panic!("no flow control is declared as {name:?}"));
    let sink = Sink::default();
    (variant.read)(&mut Section::empty(&sink)).expect("no key of a scheme is required")
}

/// Declares the scheme whose keys are `S`.
pub(super) const fn variant<S>(name: &'static str) -> Variant<Arc<AnyScheme>>
where
    S: Scheme + Overlay + Default + Clone,
{
    Variant {
        name,
        info: info::<S>,
        read: |section| Some(Arc::new(S::read(section))),
        keys_of: |scheme| Some(Box::new(typed::<S>(&**scheme)?.clone())),
    }
}

/// Declares the same scheme with egresses that rest for a tick after each frame.
pub(super) const fn paced<S>(name: &'static str) -> Variant<Arc<AnyScheme>>
where
    S: Scheme + Overlay + Default + Clone,
{
    Variant { info: paced_info::<S>, ..variant::<S>(name) }
}

fn paced_info<S: Scheme + Overlay + Default>() -> Info {
    let info = info::<S>();
    let rest = "Paced: an egress rests for `tick` after each frame ([paced.md](paced.md)). \
                With a tick of zero it is the plain one, and the plain one with a tick is this.";
    Info { about: format!("{} {rest}", info.about), ..info }
}

/// What the declaration of its keys gives every scheme.
pub trait SchemeKeys: Any {
    /// The keys, with those of `base` where they are left out.
    fn over(&self, base: &AnyScheme) -> Arc<AnyScheme>;

    /// Where the value that a message calls `name` was written.
    fn place_of(&self, name: &str) -> Option<&Place>;
}

impl<S: Scheme + Overlay> SchemeKeys for S {
    fn over(&self, base: &AnyScheme) -> Arc<AnyScheme> {
        let base = typed::<S>(base).expect("all ports have one scheme");
        Arc::new(Overlay::over(self, base))
    }

    fn place_of(&self, name: &str) -> Option<&Place> {
        Overlay::place_of(self, name).or(self.place_besides(name))
    }
}

fn typed<S: Scheme>(scheme: &AnyScheme) -> Option<&S> {
    (scheme as &dyn Any).downcast_ref()
}

/// What a section of this scheme can have, and its `[[flow_control.at]]`.
fn info<S: Scheme + Overlay + Default>() -> Info {
    let own = S::info();
    let at = PortValues::info().with(S::info());
    let at = KeyInfo {
        name: AT,
        about: at.about.clone(),
        kind: Kind::Tables(Box::new(at)),
        fallback: Fallback::Absent,
        source: "",
    };
    let mut info = own;
    if S::default().has_thresholds() {
        info = info.with(CycleAware::info());
    }
    info.keys.push(at);
    info
}
