//! The section `[congestion_control]`: the scheme that changes rates, and its acknowledgements.

mod dcqcn;
mod dctcp;
mod hpcc;
mod pcn;
mod qcn;
mod timely;

use std::fmt;
use std::ops::RangeInclusive;

use pauseless_core::congestion::CongestionControl;
use pauseless_core::id::{Class, NodeId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::trace::{Header, follow};
use pauseless_sim::config::{Congestion, Flow, Reaction};

use super::flows::{Plan, Planner};
use super::routes::Routing;
use super::switch::Switches;
use super::transport::{self, WindowRule};
pub use dcqcn::{AtRate, DCQCN, Dcqcn};
pub use hpcc::{HPCC, Hpcc};
use pauseless_text::declare::{
    Choice, Declared, Entry, Filled, Info, Key, Registry, Variant, WordOr, Written as _,
};
use pauseless_text::file::File;
use pauseless_text::problem::Sink;
use pauseless_text::quantity::RATES;
use pauseless_text::reader::{At, Place, Section};
use pauseless_text::{section, words};
pub use timely::{TIMELY, Timely};

/// What end hosts and switches do about congestion, as it was written.
#[derive(Clone, Debug)]
pub struct Written {
    pub(crate) control: CongestionControl,
    pub(crate) ack_every: u32,
    /// Whether the file says so.
    pub is_ack_written: bool,
    pub(crate) feedback: FeedbackClass,
    /// Whether TIMELY's smallest round-trip time is to be found in the fabric.
    pub is_min_rtt_open: bool,
    /// Where the section begins, or the file.
    place: Place,
}

/// The class in which sources are told of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedbackClass {
    /// One of its own, above those of the switches.
    Own,
    /// The class of the data itself.
    Data,
}

/// The name of the section.
pub const SECTION: &str = "congestion_control";

words! { FeedbackClass { "own" => FeedbackClass::Own, "data" => FeedbackClass::Data } }

section! {
    /// What hosts and switches do about congestion from end to end, above the flow control.
    pub struct Common {
        /// The class of what sources are told: `"own"`, one above those of `[switch]`, or `"data"`, that
        /// of the flow.
        feedback_class: FeedbackClass, default FeedbackClass::Own;
        /// The target acknowledges every so many packets; 0 for never.
        ack_every: u32, within 0..=10_000,
            derived "`0`; `1` where the congestion control, `[transport]` or `[entropy]` needs it";
    }
}

/// A congestion control that was chosen, with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    /// The congestion control with its parameters.
    pub control: CongestionControl,
    /// Whether TIMELY's smallest round-trip time is to be found in the fabric.
    pub is_min_rtt_open: bool,
}

impl Chosen {
    /// One that needs nothing of the fabric.
    pub fn new(control: CongestionControl) -> Chosen {
        Chosen { control, is_min_rtt_open: false }
    }
}

/// Declares a congestion control: its name, its keys, and how they are read.
macro_rules! scheme {
    (
        $vis:vis static $static:ident = $name:literal:
        $keys:ident in $arm:path, |$section:ident| $read:expr
    ) => {
        #[doc = concat!("The congestion control `", $name, "` with its keys.")]
        $vis static $static: pauseless_text::declare::Variant<$crate::congestion::Chosen> =
            pauseless_text::declare::Variant {
                name: $name,
                info: $keys::info,
                read: |$section| $read,
                keys_of: |chosen| match &chosen.control {
                    $arm(config) => Some(Box::new($keys::of(config))),
                    _ => None,
                },
            };
    };
}
use scheme;

/// The scheme without any congestion control.
pub static NONE: Variant<Chosen> = Variant {
    name: "none",
    info: || Info {
        about: "Only flow control slows flows down.".to_string(),
        keys: Vec::new(),
        variants: None,
    },
    read: |_| Some(Chosen::new(CongestionControl::None)),
    keys_of: |_| None,
};

/// A congestion control by its name.
#[derive(Clone, Copy)]
pub struct Scheme(&'static Variant<Chosen>);

impl Scheme {
    /// All of them, in the order of the documents.
    pub fn all() -> Vec<Scheme> {
        schemes().variants.into_iter().map(Scheme).collect()
    }

    /// The congestion control called `name`, if there is one.
    pub fn named(name: &str) -> Option<Scheme> {
        schemes().named(name).map(Scheme)
    }

    /// The name of the congestion control in scenario files.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// The scheme with its defaults.
    fn defaults(self) -> Chosen {
        let sink = Sink::default();
        let chosen = (self.0.read)(&mut Section::empty(&sink));
        chosen.expect("no key of a congestion control is required")
    }
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The congestion controls that a scenario can choose, those of other crates included.
pub fn schemes() -> Choice<Chosen> {
    Choice {
        key: "kind",
        default: None,
        variants: OUTSIDE.with(&[
            &NONE,
            &pcn::PCN,
            &qcn::QCN,
            &DCQCN,
            &TIMELY,
            &HPCC,
            &dctcp::DCTCP,
        ]),
    }
}

/// The congestion controls of other crates.
pub static OUTSIDE: Registry<Chosen> = Registry::new();

/// The whole section, for documents and schemas.
pub(crate) fn info() -> Info {
    Info { variants: Some(schemes().describe()), ..Common::info() }
}

const SPANS: RangeInclusive<Span> = Span::ns(1)..=Span::s(10);
const BYTES: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::mb(1_000_000);
/// What a notification can name at the most, and no product of them overflows.
const RATES_ANY: RangeInclusive<Rate> = Rate::bps(1)..=*RATES.end();
const SHARES: RangeInclusive<f64> = 1e-9..=1.0;
const COUNTS: RangeInclusive<u64> = 1..=1_000;

impl Written {
    /// Reads `[congestion_control]`. With `instead`, that scheme with its defaults is meant and
    /// what the section says of another one does not count.
    pub(crate) fn read(root: &mut Section<'_>, instead: Option<Scheme>) -> Written {
        let none = Written {
            control: CongestionControl::None,
            ack_every: 0,
            is_ack_written: false,
            feedback: FeedbackClass::Own,
            is_min_rtt_open: false,
            place: root.place.clone(),
        };
        let Some(mut section) = root.table(SECTION) else {
            return none.chosen(instead.map(Scheme::defaults));
        };
        let none = Written { place: section.place.clone(), ..none };
        let common = Common::read(&mut section);
        let none = Written { feedback: common.feedback_class.value, ..none };
        let schemes = schemes();
        if let Some(instead) = instead
            && !section.has_text(schemes.key, instead.name())
        {
            // How often it acknowledges was written for the other scheme, too.
            if section.has(schemes.key) {
                schemes.take(&mut section);
            }
            section.discard();
            return none.chosen(Some(instead.defaults()));
        }
        let Some(kind) = schemes.take(&mut section) else {
            return none;
        };
        let mut written = none.chosen((kind.value.read)(&mut section));
        if let Some(acks) = &common.ack_every.given {
            written.acknowledge(&section, acks);
        }
        section.finish();
        written
    }

    fn chosen(self, chosen: Option<Chosen>) -> Written {
        let chosen = chosen.unwrap_or(Chosen::new(CongestionControl::None));
        Written {
            control: chosen.control,
            is_min_rtt_open: chosen.is_min_rtt_open,
            ack_every: chosen.control.ack_every(),
            ..self
        }
    }

    fn acknowledge(&mut self, section: &Section<'_>, acks: &At<u32>) {
        if acks.value == 0 && self.ack_every > 0 {
            let name = match self.control {
                CongestionControl::Dcqcn(_) => "DCQCN in the style of NICs".to_string(),
                control => control.name().to_uppercase(),
            };
            let message = format!("{name} lives on acknowledgements");
            section.report(acks.place.problem(message).expected("at least 1"));
        }
        self.ack_every = acks.value;
        self.is_ack_written = true;
    }

    /// Whether there is a congestion control or any acknowledgement.
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
            place.key = format!("{SECTION}.feedback_class");
            let problem = place.problem("no class is left for what sources are told");
            root.report(problem.help("write feedback_class = \"data\", or switch.classes = 7"));
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

    /// The class of acknowledgements and notifications for the source of `plan`.
    pub(crate) fn class(&self, switches: &Switches, plan: &Plan) -> Class {
        match self.feedback {
            FeedbackClass::Own => Class(switches.class_count),
            FeedbackClass::Data => Class(plan.terms.class),
        }
    }

    /// The configuration that the simulator takes.
    pub(crate) fn resolved(&self) -> Congestion {
        Congestion { control: self.control, ack_every: self.ack_every }
    }

    /// Writes the section with nothing left out.
    pub(crate) fn write(&self, file: &mut File) {
        let schemes = schemes();
        let kind = Entry::text(schemes.key, self.control.name());
        let common = Common {
            feedback_class: Filled::new(self.feedback),
            ack_every: Key::of(self.ack_every),
            ..Common::default()
        };
        let mut entries = [vec![kind], common.entries()].concat();
        if let Some((_, keys)) = schemes.keys_of(&Chosen::new(self.control)) {
            entries.extend(keys.entries());
        }
        file.table(SECTION, &entries);
    }
}

/// Arranges how sources are told.
pub struct Answers<'a> {
    pub(crate) written: &'a mut Written,
    pub(crate) transport: &'a transport::Setting,
    pub(crate) switches: &'a Switches,
    pub(crate) planner: &'a Planner<'a>,
    pub(crate) routing: &'a Routing,
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
            let Reaction::Controlled { window, round_trip, .. } = &mut flow.reaction else {
                continue;
            };
            let trip = trips.next().expect("every controlled flow has a round-trip path");
            let is_largest = size == WordOr::Word(WindowRule::LargestBdp);
            *round_trip = longest.filter(|_| is_largest).unwrap_or(trip.whole);
            *window = match size {
                WordOr::Word(WindowRule::None) => Bytes::MAX,
                WordOr::Word(WindowRule::Bdp) => trip.held(),
                WordOr::Word(WindowRule::LargestBdp) => largest.unwrap_or(Bytes::MAX),
                WordOr::Value(bytes) => bytes,
            };
        }
    }

    /// The way of a flow there and back; `None` if there is no way back.
    fn round_trip(&self, plan: &Plan, flow: &Flow) -> Option<Trip> {
        let topology = &self.planner.fabric.topology;
        let there = Header { source: flow.source, group: flow.group, hash: flow.hash };
        let back = Header {
            source: flow.target,
            group: match flow.reaction {
                Reaction::Controlled { group, .. } => group,
                Reaction::None => self.routing.routes.groups.of_host(flow.source),
            },
            hash: flow.hash,
        };
        let table = &self.routing.routes.table;
        let line = topology.ports(flow.source)[0].rate;
        let mut trip = Trip { delays: Span::ZERO, whole: Span::ZERO, rate: line };
        // QCN's switches tell the source themselves; this one cannot.
        let is_qcn = matches!(self.written.control, CongestionControl::Qcn(_));
        let mut mute = None;
        let there = follow(topology, table, there, |node, port| {
            let link = topology.port(node, port);
            trip.delays = trip.delays + link.delay;
            trip.whole = trip.whole + link.delay + link.rate.tx_span(flow.packet);
            trip.rate = trip.rate.min(link.rate);
            if is_qcn && mute.is_none() && !topology.is_host(node) {
                mute = Some(node).filter(|switch| !self.reaches_source(*switch, flow));
            }
        });
        there.ok()?;
        let back = follow(topology, table, back, |node, port| {
            let delay = topology.port(node, port).delay;
            trip.delays = trip.delays + delay;
            trip.whole = trip.whole + delay;
        });
        let lost = match back {
            Ok(end) if end == flow.source => match mute {
                None => return Some(trip),
                Some(switch) => switch,
            },
            _ => flow.target,
        };
        let [source, lost] = [flow.source, lost].map(|node| &topology.node(node).name);
        let problem = plan.place.problem(format!("there is no way back from {lost} to {source}"));
        let help = "what the source is told needs one; mend routing.tables";
        self.planner.sink.push(problem.help(help));
        None
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
            let Some(port) = routes.table.next_hop(at, group, flow.hash) else {
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

/// Reports a lower end that was written without the upper one, and is above what that is then.
fn refuse_alone(section: &Section<'_>, place: &Place, name: &str, value: String) {
    let problem = place.problem(format!("more than {name}, which is {value} if not written"));
    section.report(problem.expected(format!("at most {value}")).help(format!("write {name}, too")));
}
