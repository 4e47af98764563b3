//! The parameters of the ports that are alike: derived where nothing was written, then checked.

use std::cell::Cell;
use std::collections::BTreeMap;

use pauseless_core::derive::{Derivation, Latency, Violation};
use pauseless_core::flow_control::Control;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::memory::LaneMemory;
use pauseless_core::unit::{Bytes, Span};
use pauseless_fabric::topology::Topology;
use pauseless_sim::config::Ingress;

use super::flow_control::Scheme;
use super::pattern::ClassNumber;
use pauseless_text::declare::Key;
use pauseless_text::problem::{Problem, Sink};
use pauseless_text::reader::Place;
use pauseless_text::unit::Quantity;

/// Ingress queues that are all configured alike, and why they are as they are.
#[derive(Clone, Debug)]
pub struct PortGroup {
    /// The queues, in order.
    pub members: Vec<(NodeId, PortId, Class)>,
    /// The link and what the parameters were derived with.
    pub derivation: Derivation,
    /// The feedback latency that they were checked with: that of the link, or the one written.
    pub tau: Span,
    /// The buffer and the parameters of flow control.
    pub ingress: Ingress,
    /// What they may have of a memory that is shared, if it is.
    pub memory: Option<LaneMemory>,
}

impl PortGroup {
    pub(crate) fn is_like(&self, other: &PortGroup) -> bool {
        let facts = |group: &PortGroup| (group.derivation, group.tau, group.ingress, group.memory);
        facts(self) == facts(other)
    }

    /// The names of the ports, by the classes that are meant.
    pub(crate) fn ports_by_classes(
        &self,
        topology: &Topology,
    ) -> BTreeMap<Vec<ClassNumber>, Vec<String>> {
        let mut classes: BTreeMap<(NodeId, PortId), Vec<ClassNumber>> = BTreeMap::new();
        for (node, port, class) in &self.members {
            classes.entry((*node, *port)).or_default().push(ClassNumber(class.0.into()));
        }
        let mut ports: BTreeMap<Vec<ClassNumber>, Vec<String>> = BTreeMap::new();
        for ((node, port), classes) in classes {
            let name = topology.port_name(node, port);
            ports.entry(classes).or_default().push(name);
        }
        ports
    }
}

/// What was written for some ports, on its way to be complete.
pub struct Draft<'d> {
    /// What parameters are derived with.
    pub derivation: Derivation,
    scheme: &'d dyn Scheme,
    buffer: &'d Key<Bytes>,
    sink: &'d Sink,
    is_good: Cell<bool>,
}

impl<'d> Draft<'d> {
    pub(crate) fn new(
        scheme: &'d dyn Scheme,
        buffer: &'d Key<Bytes>,
        latency: Latency,
        sink: &'d Sink,
    ) -> Draft<'d> {
        // Without flow control the buffer only decides what is lost.
        let mut derivation = Derivation::new(latency, buffer.or(Bytes::mb(1)));
        scheme.adjust(&mut derivation);
        Draft { derivation, scheme, buffer, sink, is_good: Cell::new(true) }
    }

    /// The complete parameters; `None` if what was written makes no sense on any link.
    pub(crate) fn group(&self, members: Vec<(NodeId, PortId, Class)>) -> Option<PortGroup> {
        let Derivation { buffer, latency, .. } = self.derivation;
        self.at_least("buffer", buffer, latency.mtu, "mtu");
        let control = self.scheme.control(self)?;
        self.is_good.get().then_some(PortGroup {
            members,
            derivation: self.derivation,
            tau: self.scheme.tau(&latency),
            ingress: Ingress { control, buffer },
            memory: None,
        })
    }

    /// B_m, if the thresholds of a GFC scheme are in order.
    pub(crate) fn check_gfc(
        &self,
        bm: Option<Bytes>,
        name: &'static str,
        threshold: Option<Bytes>,
    ) -> Option<Bytes> {
        let Derivation { unit, latency, buffer, .. } = self.derivation;
        self.at_most("rate_unit", unit, latency.line, "the rate of the link");
        let bm = bm.unwrap_or(self.derivation.bm());
        self.at_most("bm", bm, buffer, "the buffer");
        self.at_most(name, threshold.unwrap_or(Bytes::ZERO), bm, "bm");
        self.is_good.get().then_some(bm)
    }

    /// Messages that come faster than the link can carry them would never end.
    pub(crate) fn check_period(&self, name: &str, period: Span) {
        let Latency { line, classes, .. } = self.derivation.latency;
        let frames = line.tx_span(Control::SIZE * u64::from(classes));
        self.at_least(name, period, frames, "one message of each class on the link");
    }

    pub(crate) fn at_least<Q: Quantity + PartialOrd>(
        &self,
        name: &str,
        value: Q,
        limit: Q,
        what: &str,
    ) {
        if value < limit {
            let problem = self.refuse(name, value, "below", what);
            let limit = limit.exact();
            let problem = problem.expected(format!("at least {limit}"));
            self.sink.push(problem.help(format!("set {name} = \"{limit}\" or more")));
        }
    }

    fn at_most<Q: Quantity + PartialOrd>(&self, name: &str, value: Q, limit: Q, what: &str) {
        if value > limit {
            let problem = self.refuse(name, value, "above", what);
            let limit = limit.exact();
            let problem = problem.expected(format!("at most {limit}"));
            self.sink.push(problem.help(format!("set {name} = \"{limit}\" or less")));
        }
    }

    /// The problem that a value is on the wrong side of a limit.
    fn refuse(&self, name: &str, value: impl Quantity, side: &str, what: &str) -> Problem {
        self.is_good.set(false);
        self.place(name).problem(format!("{name} = {} is {side} {what}", value.exact()))
    }

    fn place(&self, name: &str) -> Place {
        self.scheme.place_of(name).or(self.buffer.place()).cloned().unwrap_or_default()
    }

    /// Holds the parameters against the bounds of their scheme.
    /// What is violated is reported, or comes back as a warning if it was wanted.
    pub(crate) fn check(&self, group: &PortGroup, port: &str, is_unsafe: bool) -> Option<String> {
        let derivation = with_tau(group.derivation, group.tau);
        let violation = derivation.check(&group.ingress.control).err()?;
        let place = self.place(violation.name());
        if is_unsafe {
            return Some(format!("{}: {violation} (at {port})", place.key));
        }
        self.sink.push(violation_problem(&place, &violation, port));
        None
    }
}

/// The same derivation with another feedback latency: all of it that is not frames counts as
/// processing, so that equation 6 gives `tau`.
pub(crate) fn with_tau(mut derivation: Derivation, tau: Span) -> Derivation {
    let latency = &mut derivation.latency;
    if latency.tau() != tau {
        let frames = latency.line.tx_span(latency.mtu * 2);
        latency.wire = Span::ZERO;
        latency.processing = tau.saturating_sub(frames);
    }
    derivation
}

/// A violated bound with its value and its fix.
pub(crate) fn violation_problem(place: &Place, violation: &Violation, port: &str) -> Problem {
    let anyway = "or unsafe_parameters = true in [flow_control] to run it all the same";
    match *violation {
        Violation::AboveBound { name, value, bound, rule } => {
            let (value, bound) = (value.exact(), bound.exact());
            let message = format!("{name} = {value} is not safe at {port}");
            let problem = place.problem(message).expected(format!("at most {bound} = {rule}"));
            problem.help(format!("set {name} = \"{bound}\" or less, {anyway}"))
        }
        Violation::BelowBound { name, value, bound, rule } => {
            let (value, bound) = (value.exact(), bound.exact());
            let message = format!("{name} = {value} is not safe at {port}");
            let problem = place.problem(message).expected(format!("at least {bound} = {rule}"));
            problem.help(format!("set {name} = \"{bound}\" or more, {anyway}"))
        }
        Violation::NoRoom { name, base, margin, rule } => {
            let short = margin.saturating_sub(base).exact();
            let problem = place.problem(format!("no {name} is safe at {port}"));
            let problem = problem.expected(format!("a buffer that is {short} larger"));
            problem.help(format!("the bound is {rule}, and that would be below zero; {anyway}"))
        }
        Violation::Quanta { quanta, least } => {
            let message = format!("pause_quanta = {quanta} is not safe at {port}");
            let problem = place.problem(message).expected(format!("at least {least}"));
            problem.help(format!(
                "the pause can expire before its refresh arrives, which may wait behind a full \
                 frame; set pause_quanta = {least} or more, {anyway}"
            ))
        }
    }
}
