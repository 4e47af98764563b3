//! The section `[congestion_control]`.

mod marks;
mod telemetry;

use std::ops::RangeInclusive;

use pauseless_core::congestion::{CongestionControl, dcqcn, hpcc, pcn, qcn, timely};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::trace::{Header, trace};
use pauseless_sim::config::{Congestion, Flow, Reaction};

use super::file::File;
use super::flows::{Plan, Planner};
use super::reader::{At, Item, Place, Section};
use super::routes::Routing;
use super::switch::Switches;
use super::topology::RATES;
use super::transport::{self, WindowSize};
use super::unit::Quantity;

/// What end hosts and switches do about congestion, as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub control: CongestionControl,
    pub ack_every: u32,
    /// Whether the file says so.
    pub is_ack_written: bool,
    pub feedback: FeedbackClass,
    /// Whether TIMELY's smallest round-trip time is to be found in the fabric.
    pub is_min_rtt_open: bool,
    /// Where the section begins, or the file.
    place: Place,
}

/// In which class sources are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeedbackClass {
    /// One of its own, above those of the switches.
    Own,
    /// That of the data.
    Data,
}

/// The schemes by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only flow control holds anybody back.
    None,
    /// Photonic congestion notification.
    Pcn,
    /// IEEE 802.1Qau.
    Qcn,
    /// ECN marks and CNPs.
    Dcqcn,
    /// Round-trip times.
    Timely,
    /// In-band telemetry.
    Hpcc,
}

impl Kind {
    /// All of them, with their names in scenario files.
    pub const ALL: [(&'static str, Kind); 6] = [
        ("none", Kind::None),
        ("pcn", Kind::Pcn),
        ("qcn", Kind::Qcn),
        ("dcqcn", Kind::Dcqcn),
        ("timely", Kind::Timely),
        ("hpcc", Kind::Hpcc),
    ];
}

const SPANS: RangeInclusive<Span> = Span::ns(1)..=Span::s(10);
const BYTES: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::mb(1_000_000);
/// What a notification can name at the most, and no product of them overflows.
const RATES_ANY: RangeInclusive<Rate> = Rate::bps(1)..=*RATES.end();
const SHARES: RangeInclusive<f64> = 1e-9..=1.0;

impl Written {
    /// Reads `[congestion_control]`. With `instead`, that scheme with its defaults is meant and
    /// what the section says of another one does not count.
    pub(crate) fn read(root: &mut Section<'_>, instead: Option<Kind>) -> Written {
        let mut written = Written {
            control: CongestionControl::None,
            ack_every: 0,
            is_ack_written: false,
            feedback: FeedbackClass::Own,
            is_min_rtt_open: false,
            place: root.place.clone(),
        };
        let section = root.table("congestion_control");
        let Some(mut section) = section else {
            written.choose(instead.unwrap_or(Kind::None));
            return written;
        };
        written.place = section.place.clone();
        let has_kind = section.has("kind");
        let kind = section.choice("kind", &Kind::ALL);
        if !has_kind && instead.is_none() {
            let words = "\"none\", \"pcn\", \"qcn\", \"dcqcn\", \"timely\" or \"hpcc\"";
            section.missing("kind", words);
        }
        let places = [("own", FeedbackClass::Own), ("data", FeedbackClass::Data)];
        if let Some(feedback) = section.choice("feedback_class", &places) {
            written.feedback = feedback.value;
        }
        let acks = section.integer("ack_every", 0..=10_000);
        let kind = kind.map(|kind| kind.value);
        let is_other = instead.is_some() && instead != kind;
        // How often it acknowledges was written for the other scheme, too.
        let acks = acks.filter(|_| !is_other);
        let Some(kind) = instead.or(kind) else {
            section.discard();
            return written;
        };
        written.choose(kind);
        if is_other {
            section.discard();
        }
        section.set_context(format!(" with kind = {:?}", written.control.name()));
        written.fill(&mut section);
        written.ack_every = written.control.ack_every();
        if let Some(acks) = acks {
            if acks.value == 0 && written.ack_every > 0 {
                let name = match written.control {
                    CongestionControl::Timely(_) => "TIMELY",
                    CongestionControl::Hpcc(_) => "HPCC",
                    _ => "DCQCN in the style of NICs",
                };
                let message = format!("{name} lives on acknowledgements");
                section.report(acks.place.problem(message).expected("at least 1"));
            }
            written.ack_every = acks.value as u32;
            written.is_ack_written = true;
        }
        section.finish();
        written
    }

    fn choose(&mut self, kind: Kind) {
        self.control = match kind {
            Kind::None => CongestionControl::None,
            Kind::Pcn => CongestionControl::Pcn(pcn::Config::default()),
            Kind::Qcn => CongestionControl::Qcn(qcn::Config::default()),
            Kind::Dcqcn => CongestionControl::Dcqcn(dcqcn::Config::default()),
            Kind::Timely => CongestionControl::Timely(timely::Config::per_packet(Span::us(20))),
            Kind::Hpcc => CongestionControl::Hpcc(hpcc::Config::default()),
        };
        self.ack_every = self.control.ack_every();
        self.is_min_rtt_open = kind == Kind::Timely;
    }

    fn fill(&mut self, section: &mut Section<'_>) {
        match &mut self.control {
            CongestionControl::None | CongestionControl::Outside(_) => {}
            CongestionControl::Pcn(config) => fill_pcn(config, section),
            CongestionControl::Qcn(config) => fill_qcn(config, section),
            CongestionControl::Dcqcn(config) => fill_dcqcn(config, section),
            CongestionControl::Timely(config) => {
                self.is_min_rtt_open = !section.has("min_rtt");
                fill_timely(config, section);
            }
            CongestionControl::Hpcc(config) => telemetry::fill(config, section),
        }
    }

    /// Whether anybody is told anything.
    pub(crate) fn is_answering(&self) -> bool {
        self.control != CongestionControl::None || self.ack_every > 0
    }

    /// Whether targets tell sources anything; QCN's switches do it themselves.
    pub(crate) fn are_targets_answering(&self) -> bool {
        let is_qcn = matches!(self.control, CongestionControl::Qcn(_));
        self.is_answering() && (!is_qcn || self.ack_every > 0)
    }

    /// What whoever reads a verdict of `check` must know about the traffic that it looked at.
    pub(crate) fn notes(&self, has_flows: bool) -> Vec<String> {
        let mut notes = Vec::new();
        if has_flows && self.are_targets_answering() && self.feedback == FeedbackClass::Data {
            notes.push(
                "among the flows is what targets tell sources, from target to source in the \
                 data's class; feedback_class = \"own\" takes it out of that class, and --confirm \
                 sends it as if it were data"
                    .to_string(),
            );
        }
        if has_flows && matches!(self.control, CongestionControl::Qcn(_)) {
            // A demand starts at a host.
            notes.push("what QCN's switches tell sources is not looked at".to_string());
        }
        notes
    }

    /// Makes room for the class of its own, if there is to be one.
    pub(crate) fn claim_class(&self, switches: &mut Switches, root: &Section<'_>) {
        if !self.is_answering() || self.feedback == FeedbackClass::Data {
            return;
        }
        if usize::from(switches.class_count) == Class::COUNT_MAX {
            let mut place = self.place.clone();
            place.key = "congestion_control.feedback_class".to_string();
            let problem = place.problem("no class is left for what sources are told");
            let help = "write feedback_class = \"data\", or switch.classes = 7";
            root.report(problem.help(help));
            return;
        }
        switches.has_feedback_class = true;
        let own = usize::from(switches.class_count);
        match &mut switches.scheduler {
            Scheduler::Weighted(weights) => {
                weights[own] = weights[..own].iter().copied().max().unwrap_or(1);
            }
            Scheduler::RoundRobin { express } => *express |= 1 << own,
            Scheduler::Strict | Scheduler::Random => {}
        }
    }

    /// Whether what sources are told has a class of its own.
    pub(crate) fn has_own_class(&self) -> bool {
        self.is_answering() && self.feedback == FeedbackClass::Own
    }

    /// The class in which the source of `plan` is told.
    pub(crate) fn class(&self, switches: &Switches, plan: &Plan) -> Class {
        match self.feedback {
            FeedbackClass::Own => Class(switches.class_count),
            FeedbackClass::Data => Class(plan.terms.class),
        }
    }

    /// As the simulator wants it.
    pub(crate) fn resolved(&self) -> Congestion {
        Congestion {
            control: self.control,
            ack_every: self.ack_every,
        }
    }

    /// Writes the section with nothing left out.
    pub(crate) fn write(&self, file: &mut File) {
        file.section("[congestion_control]");
        file.text("kind", self.control.name());
        let feedback = match self.feedback {
            FeedbackClass::Own => "own",
            FeedbackClass::Data => "data",
        };
        file.text("feedback_class", feedback);
        file.plain("ack_every", self.ack_every);
        match &self.control {
            CongestionControl::None | CongestionControl::Outside(_) => {}
            CongestionControl::Pcn(config) => {
                file.quantity("period", config.period);
                file.number("w_min", config.w_min);
                file.number("w_max", config.w_max);
                file.quantity("rate_min", config.rate_min);
            }
            CongestionControl::Qcn(config) => write_qcn(config, file),
            CongestionControl::Dcqcn(config) => write_dcqcn(config, file),
            CongestionControl::Timely(config) => write_timely(config, file),
            CongestionControl::Hpcc(config) => telemetry::write(config, file),
        }
    }
}

/// Arranges how sources are told.
pub(crate) struct Answers<'a> {
    pub written: &'a mut Written,
    pub transport: &'a transport::Written,
    pub switches: &'a Switches,
    pub planner: &'a Planner<'a>,
    pub routing: &'a Routing,
}

impl Answers<'_> {
    /// Gives every flow that is to be controlled its part; both are in the order of names.
    pub(crate) fn arrange(&mut self, plans: &[Plan], flows: &mut [Flow]) -> Option<()> {
        if !self.written.is_answering() {
            return Some(());
        }
        let mut trips = Vec::new();
        let mut is_sound = true;
        for (number, (plan, flow)) in plans.iter().zip(flows.iter_mut()).enumerate() {
            if !plan.terms.is_controlled {
                continue;
            }
            // A source does not know at which pace it will be asked to send.
            let line = self.planner.fabric.topology.ports(plan.source)[0].rate;
            flow.reaction = Reaction::Controlled {
                initial: plan.initial.unwrap_or(line),
                group: self.routing.return_group(number, plan),
                class: self.written.class(self.switches, plan),
                window: Bytes::MAX,
                round_trip: Span::ZERO,
            };
            // All of them are looked at, so that every one without a way back is reported.
            match self.round_trip(plan, flow) {
                Some(trip) => trips.push(trip),
                None => is_sound = false,
            }
        }
        if !is_sound {
            return None;
        }
        let longest = trips.iter().map(|trip| trip.delays).max();
        if let CongestionControl::Timely(config) = &mut self.written.control
            && self.written.is_min_rtt_open
            && let Some(longest) = longest
            && longest > Span::ZERO
        {
            config.min_rtt = longest;
        }
        self.size_windows(&trips, flows);
        Some(())
    }

    /// Gives every controlled flow its window; `trips` has an element for each of them.
    fn size_windows(&self, trips: &[Trip], flows: &mut [Flow]) {
        let size = self.transport.window;
        let largest = trips.iter().map(|trip| trip.held()).max();
        let longest = trips.iter().map(|trip| trip.whole).max();
        let mut trips = trips.iter();
        for flow in flows {
            let Reaction::Controlled {
                window, round_trip, ..
            } = &mut flow.reaction
            else {
                continue;
            };
            let trip = trips.next().expect("every controlled flow has a way");
            let is_largest = size == WindowSize::LargestBdp;
            *round_trip = longest.filter(|_| is_largest).unwrap_or(trip.whole);
            *window = match size {
                WindowSize::None => Bytes::MAX,
                WindowSize::Bdp => trip.held(),
                WindowSize::LargestBdp => largest.unwrap_or(Bytes::MAX),
                WindowSize::Bytes(bytes) => bytes,
            };
        }
    }

    /// The way of a flow there and back; `None` if there is no way back.
    fn round_trip(&self, plan: &Plan, flow: &Flow) -> Option<Trip> {
        let topology = &self.planner.fabric.topology;
        let there = Header {
            source: flow.source,
            group: flow.group,
            hash: flow.hash,
        };
        let back = Header {
            source: flow.target,
            group: match flow.reaction {
                Reaction::Controlled { group, .. } => group,
                Reaction::None => self.routing.routes.groups.of_host(flow.source),
            },
            hash: self.routing.routes.table.answer_hash(flow.hash),
        };
        let follow = |header| {
            let path = trace(topology, &self.routing.routes.table, header).ok()?;
            let ports = path.iter().map(|(node, port)| topology.port(*node, *port));
            let end = ports.clone().next_back()?.peer;
            let delay = ports.fold(Span::ZERO, |sum, port| sum + port.delay);
            Some((path, end, delay))
        };
        let (path, _, there) = follow(there)?;
        let lost = match follow(back) {
            Some((_, end, back)) if end == flow.source => {
                // QCN's switches tell the source themselves.
                let tells = |control| matches!(control, CongestionControl::Qcn(_));
                let switches = path.iter().map(|(node, _)| *node).skip(1);
                let mut switches = switches.filter(|_| tells(self.written.control));
                match switches.find(|switch| !self.reaches_source(*switch, flow)) {
                    None => return Some(self.trip(&path, there + back, flow)),
                    Some(switch) => switch,
                }
            }
            _ => flow.target,
        };
        let [source, lost] = [flow.source, lost].map(|node| &topology.node(node).name);
        let message = format!("there is no way back from {lost} to {source}");
        let problem = plan.place.problem(message);
        let help = "what the source is told needs one; mend routing.tables";
        self.planner.sink.push(problem.help(help));
        None
    }

    fn trip(&self, path: &[(NodeId, PortId)], delays: Span, flow: &Flow) -> Trip {
        let topology = &self.planner.fabric.topology;
        let rates = path
            .iter()
            .map(|(node, port)| topology.port(*node, *port).rate);
        let lines = rates.clone().map(|rate| rate.tx_span(flow.packet));
        Trip {
            delays,
            whole: lines.fold(delays, |sum, span| sum + span),
            rate: rates.min().unwrap_or(flow.pace),
        }
    }

    /// Whether what `switch` says to the source of `flow` arrives there.
    fn reaches_source(&self, switch: NodeId, flow: &Flow) -> bool {
        let topology = &self.planner.fabric.topology;
        let routes = &self.routing.routes;
        let group = routes.groups.of_host(flow.source);
        let mut at = switch;
        for _ in topology.nodes() {
            if topology.is_host(at) {
                break;
            }
            let hash = routes.table.answer_hash(flow.hash);
            let Some(port) = routes.table.next_hop(at, group, hash) else {
                return false;
            };
            at = topology.port(at, port).peer;
        }
        at == flow.source
    }
}

/// A way there and back.
#[derive(Clone, Copy, Debug)]
struct Trip {
    /// The delays of all links.
    delays: Span,
    /// With the time that a full packet takes on every link there: the round-trip time of an empty
    /// network but for the acknowledgement's own size.
    whole: Span,
    /// The lowest rate there.
    rate: Rate,
}

impl Trip {
    /// The bytes that fit on it.
    fn held(&self) -> Bytes {
        self.rate.bytes_in(self.whole)
    }
}

fn span(section: &mut Section<'_>, key: &'static str, value: &mut Span) {
    if let Some(found) = section.quantity_within(key, SPANS) {
        *value = found.value;
    }
}

fn bytes(section: &mut Section<'_>, key: &'static str, value: &mut Bytes) {
    if let Some(found) = section.quantity_within(key, BYTES) {
        *value = found.value;
    }
}

fn rate(section: &mut Section<'_>, key: &'static str, value: &mut Rate) {
    if let Some(found) = section.quantity_within(key, RATES_ANY) {
        *value = found.value;
    }
}

fn count(section: &mut Section<'_>, key: &'static str, value: &mut u32) {
    if let Some(found) = section.integer(key, 1..=1_000) {
        *value = found.value as u32;
    }
}

/// A plain number within `range`.
pub(super) fn number(
    section: &mut Section<'_>,
    key: &'static str,
    range: RangeInclusive<f64>,
) -> Option<At<f64>> {
    let found = section.take(key).and_then(Item::number)?;
    if range.contains(&found.value) {
        return Some(found);
    }
    let problem = found
        .place
        .problem(format!("{} is out of range", found.value));
    section.report(problem.expected(format!(
        "a number from {} to {}",
        range.start(),
        range.end()
    )));
    None
}

fn share(section: &mut Section<'_>, key: &'static str, value: &mut f64) {
    if let Some(found) = number(section, key, SHARES) {
        *value = found.value;
    }
}

/// Reports a lower end that was written without the upper one, and is above what that is then.
fn refuse_alone(section: &Section<'_>, place: Place, upper: (&str, String)) {
    let (name, value) = upper;
    let problem = place.problem(format!("more than {name}, which is {value} if not written"));
    let problem = problem.expected(format!("at most {value}"));
    section.report(problem.help(format!("write {name}, too")));
}

/// Whether parameters grow with the speed of the link; they are meant for `reference` then.
fn scale(section: &mut Section<'_>, reference: &mut Option<Rate>, speed: Rate) {
    if let Some(is_scaled) = section.boolean("scale_with_speed") {
        *reference = is_scaled.value.then_some(speed);
    }
}

fn fill_pcn(config: &mut pcn::Config, section: &mut Section<'_>) {
    span(section, "period", &mut config.period);
    let low = number(section, "w_min", SHARES);
    if let Some(low) = &low {
        config.w_min = low.value;
    }
    let is_alone = !section.has("w_max");
    if let Some(found) = number(section, "w_max", SHARES) {
        config.w_max = found.value;
        if found.value < config.w_min {
            let problem = found.place.problem("w_max is less than w_min");
            section.report(problem.expected(format!("at least {}", config.w_min)));
        }
    } else if let Some(low) = low.filter(|low| is_alone && low.value > config.w_max) {
        refuse_alone(section, low.place, ("w_max", config.w_max.to_string()));
    }
    rate(section, "rate_min", &mut config.rate_min);
}

fn fill_qcn(config: &mut qcn::Config, section: &mut Section<'_>) {
    bytes(section, "queue_set_point", &mut config.queue_set_point);
    if let Some(weight) = number(section, "weight", 0.0..=64.0) {
        config.weight = weight.value;
    }
    bytes(section, "sample_base", &mut config.sample_base);
    share(section, "gd", &mut config.gd);
    let factor = &mut config.decrease_factor_min;
    share(section, "decrease_factor_min", factor);
    bytes(section, "byte_reset", &mut config.byte_reset);
    span(section, "time_reset", &mut config.time_reset);
    count(section, "threshold", &mut config.threshold);
    rate(section, "rate_ai", &mut config.rate_ai);
    rate(section, "rate_hai", &mut config.rate_hai);
    rate(section, "rate_min", &mut config.rate_min);
    scale(section, &mut config.reference, QCN_SPEED);
}

/// The speeds that the schemes' defaults are for.
const QCN_SPEED: Rate = Rate::gbps(10);
const DCQCN_SPEED: Rate = Rate::gbps(40);
const TIMELY_SPEED: Rate = Rate::gbps(10);

const CLAMPS: [(&str, dcqcn::Clamp); 3] = [
    ("always", dcqcn::Clamp::Always),
    ("after-stage", dcqcn::Clamp::AfterStage),
    ("after-byte-stage", dcqcn::Clamp::AfterByteStage),
];

const STYLES: [(&str, dcqcn::Style); 2] =
    [("paper", dcqcn::Style::Paper), ("nic", dcqcn::Style::Nic)];

const UPDATES: [(&str, timely::Update); 2] = [
    ("per-ack", timely::Update::PerAck),
    ("per-round-trip", timely::Update::PerRoundTrip),
];

fn fill_dcqcn(config: &mut dcqcn::Config, section: &mut Section<'_>) {
    if let Some(style) = section.choice("style", &STYLES) {
        config.style = style.value;
    }
    marks::fill(&mut config.marking, section);
    span(section, "cnp_interval", &mut config.cnp_interval);
    span(section, "alpha_timer", &mut config.alpha_timer);
    let is_paper = config.style == dcqcn::Style::Paper;
    if is_paper {
        share(section, "alpha_initial", &mut config.alpha_initial);
        bytes(section, "byte_counter", &mut config.byte_counter);
    } else {
        config.clamp = dcqcn::Clamp::AfterStage;
        section.set_context(" with style = \"nic\"".to_string());
    }
    share(section, "g", &mut config.g);
    span(section, "increase_timer", &mut config.increase_timer);
    count(section, "threshold", &mut config.threshold);
    rate(section, "rate_ai", &mut config.rate_ai);
    rate(section, "rate_hai", &mut config.rate_hai);
    rate(section, "rate_min", &mut config.rate_min);
    // Without bytes there are no stages of bytes.
    let clamps = &CLAMPS[..if is_paper { 3 } else { 2 }];
    if let Some(clamp) = section.choice("clamp", clamps) {
        config.clamp = clamp.value;
    }
    scale(section, &mut config.reference, DCQCN_SPEED);
    config.marking.reference = config.reference;
}

fn fill_timely(config: &mut timely::Config, section: &mut Section<'_>) {
    share(section, "ewma_weight", &mut config.ewma_weight);
    share(section, "beta", &mut config.beta);
    let low = section.quantity_within("t_low", Span::ZERO..=*SPANS.end());
    if let Some(low) = &low {
        config.t_low = low.value;
    }
    let is_alone = !section.has("t_high");
    if let Some(high) = section.quantity_within("t_high", SPANS) {
        config.t_high = high.value;
        if high.value < config.t_low {
            let problem = high.place.problem("t_high is less than t_low");
            section.report(problem.expected(format!("at least {}", config.t_low.exact())));
        }
    } else if let Some(low) = low.filter(|low| is_alone && low.value > config.t_high) {
        refuse_alone(section, low.place, ("t_high", config.t_high.exact()));
    }
    rate(section, "delta", &mut config.delta);
    span(section, "min_rtt", &mut config.min_rtt);
    count(section, "hai_threshold", &mut config.hai_threshold);
    if let Some(factor) = number(section, "hai_factor", 1.0..=1_000.0) {
        config.hai_factor = factor.value;
    }
    rate(section, "rate_min", &mut config.rate_min);
    if let Some(is_patched) = section.boolean("patched") {
        config.is_patched = is_patched.value;
        if config.is_patched && config.t_low == Span::ZERO {
            let problem = is_patched.place.problem("patched TIMELY divides by t_low");
            section.report(problem.help("add t_low = \"50 us\""));
        }
    }
    if let Some(update) = section.choice("update", &UPDATES) {
        config.update = update.value;
    }
    scale(section, &mut config.reference, TIMELY_SPEED);
}

fn write_qcn(config: &qcn::Config, file: &mut File) {
    file.quantity("queue_set_point", config.queue_set_point);
    file.number("weight", config.weight);
    file.quantity("sample_base", config.sample_base);
    file.number("gd", config.gd);
    file.number("decrease_factor_min", config.decrease_factor_min);
    file.quantity("byte_reset", config.byte_reset);
    file.quantity("time_reset", config.time_reset);
    file.plain("threshold", config.threshold);
    file.quantity("rate_ai", config.rate_ai);
    file.quantity("rate_hai", config.rate_hai);
    file.quantity("rate_min", config.rate_min);
    file.plain("scale_with_speed", config.reference.is_some());
}

fn write_dcqcn(config: &dcqcn::Config, file: &mut File) {
    let is_paper = config.style == dcqcn::Style::Paper;
    if !is_paper {
        file.text("style", "nic");
    }
    marks::write(&config.marking, file);
    file.quantity("cnp_interval", config.cnp_interval);
    file.quantity("alpha_timer", config.alpha_timer);
    if is_paper {
        file.number("alpha_initial", config.alpha_initial);
    }
    file.number("g", config.g);
    file.quantity("increase_timer", config.increase_timer);
    if is_paper {
        file.quantity("byte_counter", config.byte_counter);
    }
    file.plain("threshold", config.threshold);
    file.quantity("rate_ai", config.rate_ai);
    file.quantity("rate_hai", config.rate_hai);
    file.quantity("rate_min", config.rate_min);
    let clamp = CLAMPS.iter().find(|(_, clamp)| *clamp == config.clamp);
    file.text("clamp", clamp.expect("every clamp has a name").0);
    file.plain("scale_with_speed", config.reference.is_some());
    marks::write_levels(&config.marking, file);
}

fn write_timely(config: &timely::Config, file: &mut File) {
    file.number("ewma_weight", config.ewma_weight);
    file.number("beta", config.beta);
    file.quantity("t_low", config.t_low);
    file.quantity("t_high", config.t_high);
    file.quantity("delta", config.delta);
    file.quantity("min_rtt", config.min_rtt);
    file.plain("hai_threshold", config.hai_threshold);
    file.number("hai_factor", config.hai_factor);
    file.quantity("rate_min", config.rate_min);
    file.plain("patched", config.is_patched);
    if config.update == timely::Update::PerRoundTrip {
        file.text("update", "per-round-trip");
    }
    file.plain("scale_with_speed", config.reference.is_some());
}
