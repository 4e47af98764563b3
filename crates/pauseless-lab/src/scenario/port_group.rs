//! The parameters of the ports that are alike: derived where nothing was written, then checked.

use std::cell::Cell;

use pauseless_core::derive::{self, Derivation, Latency, Violation};
use pauseless_core::flow_control::{Control, FlowControl, limiter};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::memory::LaneMemory;
use pauseless_core::unit::{Bytes, Span};
use pauseless_sim::config::Ingress;

use super::parameters::{Kind, Params, value};
use super::reader::Place;
use super::unit::Quantity;
use crate::problem::{Problem, Sink};

/// Ingress queues that are all configured alike, and why they are as they are.
#[derive(Clone, Debug)]
pub struct PortGroup {
    /// The queues, in order.
    pub members: Vec<(NodeId, PortId, Class)>,
    /// The link and what the parameters were derived with.
    pub derivation: Derivation,
    /// The feedback latency that they were checked with: that of the link, or the one written.
    pub tau: Span,
    /// The parameters.
    pub ingress: Ingress,
    /// What they may have of a memory that is shared, if it is.
    pub memory: Option<LaneMemory>,
}

impl PortGroup {
    pub(crate) fn is_like(&self, other: &PortGroup) -> bool {
        let facts = |group: &PortGroup| (group.derivation, group.tau, group.ingress, group.memory);
        facts(self) == facts(other)
    }
}

/// What was written for some ports, on its way to be complete.
pub(crate) struct Draft<'d> {
    params: &'d Params,
    derivation: Derivation,
    sink: &'d Sink,
    is_good: Cell<bool>,
}

impl<'d> Draft<'d> {
    pub(crate) fn new(params: &'d Params, latency: Latency, sink: &'d Sink) -> Draft<'d> {
        let derivation = Derivation {
            latency,
            // Without flow control the buffer only decides what is lost.
            buffer: value(&params.buffer).unwrap_or(Bytes::mb(1)),
            guard_frames: value(&params.guard).unwrap_or(derive::GUARD_FRAMES),
            unit: value(&params.rate_unit).unwrap_or(limiter::RATE_UNIT),
        };
        Draft {
            params,
            derivation,
            sink,
            is_good: Cell::new(true),
        }
    }

    /// The complete parameters; `None` if what was written makes no sense on any link.
    pub(crate) fn group(
        &self,
        kind: Kind,
        members: Vec<(NodeId, PortId, Class)>,
    ) -> Option<PortGroup> {
        let Derivation {
            buffer, latency, ..
        } = self.derivation;
        self.at_least("buffer", buffer, (latency.mtu, "mtu"));
        let (control, tau) = match kind {
            Kind::None => (FlowControl::None, latency.tau()),
            Kind::Pfc => (self.pfc(), latency.tau()),
            Kind::Cbfc => (self.cbfc(), latency.tau()),
            Kind::GfcBuffer => (self.gfc_buffer()?, latency.tau()),
            Kind::GfcTime => (self.gfc_time()?, latency.tau()),
            Kind::GfcConceptual => self.gfc_conceptual()?,
        };
        self.is_good.get().then_some(PortGroup {
            members,
            derivation: self.derivation,
            tau,
            ingress: Ingress { control, buffer },
            memory: None,
        })
    }

    fn pfc(&self) -> FlowControl {
        use pauseless_core::flow_control::pfc;
        let derived = self.derivation.pfc();
        let xoff = value(&self.params.xoff).unwrap_or(derived.xoff);
        let xon = pfc::default_xon(xoff, self.derivation.latency.mtu);
        let quanta = value(&self.params.pause_quanta).map(|quanta| quanta as u16);
        FlowControl::Pfc(pfc::Config {
            xoff,
            xon: value(&self.params.xon).unwrap_or(xon),
            quanta: quanta.unwrap_or(derived.quanta),
        })
    }

    fn cbfc(&self) -> FlowControl {
        let mut config = self.derivation.cbfc();
        let params = self.params;
        config.capacity = value(&params.credits).unwrap_or(config.capacity);
        config.period = value(&params.period).unwrap_or(config.period);
        config.counters = value(&params.counters).unwrap_or(config.counters);
        self.check_period("period", config.period);
        FlowControl::Cbfc(config)
    }

    fn gfc_buffer(&self) -> Option<FlowControl> {
        let bm = self.check_gfc("b1", value(&self.params.b1))?;
        let mut config = self.derivation.gfc_buffer(Some(bm), value(&self.params.b1));
        config.refresh = value(&self.params.refresh);
        if let Some(refresh) = config.refresh {
            self.check_period("refresh", refresh);
        }
        Some(FlowControl::GfcBuffer(config))
    }

    fn gfc_time(&self) -> Option<FlowControl> {
        let params = self.params;
        let bm = self.check_gfc("b0", value(&params.b0))?;
        let (b0, period) = (value(&params.b0), value(&params.period));
        let mut config = self.derivation.gfc_time(Some(bm), b0, period);
        config.measure = value(&params.measure).unwrap_or(config.measure);
        self.check_period("period", config.period);
        Some(FlowControl::GfcTime(config))
    }

    fn gfc_conceptual(&self) -> Option<(FlowControl, Span)> {
        let latency = self.derivation.latency;
        let tau = value(&self.params.tau).unwrap_or(latency.tau());
        let frames = latency.line.tx_span((latency.mtu + latency.overhead) * 2);
        self.at_least(
            "tau",
            tau,
            (frames + latency.wire, "2 MTU / C and the wire"),
        );
        let bm = self.check_gfc("b0", value(&self.params.b0))?;
        let derivation = with_tau(self.derivation, tau);
        let mut config = derivation.gfc_conceptual(Some(bm), value(&self.params.b0));
        config.delay = tau.saturating_sub(latency.wire);
        Some((FlowControl::GfcConceptual(config), tau))
    }

    /// B_m, if the thresholds of a GFC scheme are in order.
    fn check_gfc(&self, name: &'static str, threshold: Option<Bytes>) -> Option<Bytes> {
        let Derivation {
            unit,
            latency,
            buffer,
            ..
        } = self.derivation;
        self.at_most("rate_unit", unit, (latency.line, "the rate of the link"));
        let bm = value(&self.params.bm).unwrap_or(self.derivation.bm());
        self.at_most("bm", bm, (buffer, "the buffer"));
        self.at_most(name, threshold.unwrap_or(Bytes::ZERO), (bm, "bm"));
        self.is_good.get().then_some(bm)
    }

    /// Messages that come faster than the link can carry them would never end.
    fn check_period(&self, name: &str, period: Span) {
        let Latency { line, classes, .. } = self.derivation.latency;
        let frames = line.tx_span(Control::SIZE * u64::from(classes));
        self.at_least(
            name,
            period,
            (frames, "one message of each class on the link"),
        );
    }

    fn at_least<Q: Quantity + PartialOrd>(&self, name: &str, value: Q, limit: (Q, &str)) {
        if value < limit.0 {
            self.refuse(name, value, ("below", limit));
        }
    }

    fn at_most<Q: Quantity + PartialOrd>(&self, name: &str, value: Q, limit: (Q, &str)) {
        if value > limit.0 {
            self.refuse(name, value, ("above", limit));
        }
    }

    fn refuse<Q: Quantity>(&self, name: &str, value: Q, side: (&str, (Q, &str))) {
        let (side, (limit, what)) = side;
        let (value, limit) = (value.exact(), limit.exact());
        self.is_good.set(false);
        let problem = self
            .place(name)
            .problem(format!("{name} = {value} is {side} {what}"));
        let (least, more) = match side {
            "below" => ("at least", "more"),
            _ => ("at most", "less"),
        };
        let problem = problem.expected(format!("{least} {limit}"));
        self.sink
            .push(problem.help(format!("set {name} = \"{limit}\" or {more}")));
    }

    fn place(&self, name: &str) -> Place {
        self.params.place(name).cloned().unwrap_or_default()
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
fn with_tau(mut derivation: Derivation, tau: Span) -> Derivation {
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
        Violation::AboveBound {
            name,
            value,
            bound,
            rule,
        } => {
            let (value, bound) = (value.exact(), bound.exact());
            let message = format!("{name} = {value} is not safe at {port}");
            let problem = place
                .problem(message)
                .expected(format!("at most {bound} = {rule}"));
            problem.help(format!("set {name} = \"{bound}\" or less, {anyway}"))
        }
        Violation::BelowBound {
            name,
            value,
            bound,
            rule,
        } => {
            let (value, bound) = (value.exact(), bound.exact());
            let message = format!("{name} = {value} is not safe at {port}");
            let problem = place
                .problem(message)
                .expected(format!("at least {bound} = {rule}"));
            problem.help(format!("set {name} = \"{bound}\" or more, {anyway}"))
        }
        Violation::NoRoom {
            name,
            base,
            margin,
            rule,
        } => {
            let short = margin.saturating_sub(base).exact();
            let problem = place.problem(format!("no {name} is safe at {port}"));
            let problem = problem.expected(format!("a buffer that is {short} larger"));
            problem.help(format!(
                "the bound is {rule}, and that would be below zero; {anyway}"
            ))
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
