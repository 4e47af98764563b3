//! The sections `[[receiver]]`, `[probe]` and `[provenance]`.

use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::unit::{Rate, Span, Time};
use pauseless_fabric::topology::Topology;
use pauseless_sim::Config;
use pauseless_sim::config::{Probes, Receiver};

use super::flows::{Plan, TIMES};
use super::pattern;
use super::topology::BuiltTopology;
use pauseless_text::declare::{
    Counted, Declared, Each, FileValue, Key, Kind, List, Within, WordOr, list,
};
use pauseless_text::file::File;
use pauseless_text::problem::Sink;
use pauseless_text::quantity::RATES;
use pauseless_text::reader::{At, Item, Section, did_you_mean};
use pauseless_text::{section, words};

/// Ports that are recorded without being asked for, at most.
const PORTS_MAX: usize = 64;
/// Comparing with more names than this takes too long.
const NAMES_MAX: usize = 10_000;
/// Numbers that a run may record: 400 MB of them.
const VALUES_MAX: u64 = 50_000_000;

/// The names of the sections.
pub(crate) const RECEIVER: &str = "receiver";
pub(crate) const PROBE: &str = "probe";
pub(crate) const PROVENANCE: &str = "provenance";

section! {
    /// A host that does not take every packet at once.
    pub struct ReceiverKeys {
        /// The name of the host; one `[[receiver]]` for each.
        host: String, within "the name of a host", required "\"H1\"";
        /// The pace at which it takes packets out of its buffer.
        rate: Rate, within Rate::bps(1)..=*RATES.end(), derived "this or `steps`";
        /// The pace from a time on: `[["0 ms", "2 Gbps"], ["5 ms", "stop"], ["8 ms", "10 Gbps"]]`, from
        /// time 0 on and in order.
        steps: Counted<Step>, derived "this or `rate`";
    }
}

section! {
    /// What is recorded over time; without this section nothing is.
    pub struct Probe {
        /// The time between two samples.
        resolution: Span, within Span::ps(1)..=*TIMES.end(), required "\"100 us\"";
        /// Port names with `*`, whose ingress and egress are recorded.
        ports: List<String>, within "a list of strings",
            derived "the switch ports that face hosts, if they are at most 64";
        /// Whether the goodput of every flow is recorded, and its allowed rate if it obeys a congestion
        /// control; or a list of names with `*`, such as `["F0", "burst/*"]`.
        flows: ProbedFlows, default ProbedFlows::All(true);
    }
}

section! {
    /// Records where the pauses of PFC come from, for text, JSON and page.
    pub struct Provenance {
        /// Whether the origin of every pause is recorded.
        record: bool, default true;
    }
}

/// Instead of a rate: the receiver stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop;

words! { Stop { "stop" => Stop } }

/// The pace of a receiver from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    time: Span,
    rate: WordOr<Stop, Rate>,
}

impl FileValue for Step {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Step>> {
        let (place, sink) = (item.place.clone(), item.sink());
        let [time, rate] = item.pair("a list of a time and a rate, or \"stop\"")?;
        let time = time.quantity::<Span>()?;
        if time.value > *TIMES.end() {
            sink.push(time.place.problem("later than any run lasts"));
            return None;
        }
        let value = Step { time: time.value, rate: WordOr::take(rate, &Within::default())?.value };
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        let time = Span::kind(&TIMES.into());
        let rate = WordOr::<Stop, Rate>::kind(&Within::default());
        Kind::List { of: Box::new(Kind::Either(vec![time, rate])), least: 2, most: Some(2) }
    }

    fn show(&self) -> String {
        format!("[{}, {}]", self.time.show(), self.rate.show())
    }
}

impl ReceiverKeys {
    pub(crate) fn read_all(root: &mut Section<'_>) -> Vec<ReceiverKeys> {
        let receivers = root.tables(RECEIVER).map(|mut section| {
            let keys = ReceiverKeys::read(&mut section);
            keys.check(&section);
            section.finish();
            keys
        });
        receivers.collect()
    }

    fn check(&self, section: &Section<'_>) {
        if self.rate.is_written && self.steps.is_written {
            let problem = self.place.problem("both rate and steps are written");
            section.report(problem.help("keep one of them"));
        } else if !self.rate.is_written && !self.steps.is_written {
            let steps = "steps = [[\"0 ms\", \"1 Gbps\"], [\"5 ms\", \"stop\"]]";
            section.missing("rate", &format!("\"1 Gbps\", or {steps}"));
        }
        let Some(At { value, place }) = &self.steps.given else {
            return;
        };
        for pair in value.good.windows(2) {
            if pair[0].value.time >= pair[1].value.time {
                let place = &pair[1].place;
                section.report(place.problem("steps are in order of time, and no two at once"));
            }
        }
        let begins =
            |steps: &List<Step>| steps.first().is_some_and(|it| it.value.time == Span::ZERO);
        if value.all().is_some_and(|steps| !begins(steps)) {
            let problem = place.problem("nothing says how the host begins");
            section.report(problem.help("make the first step [\"0 ms\", \"10 Gbps\"]"));
        }
    }

    fn steps(&self) -> Vec<(Time, Option<Rate>)> {
        let steps = self.steps.get().into_iter().flat_map(|steps| &steps.good);
        let steps = steps.map(|At { value, .. }| match value.rate {
            WordOr::Word(Stop) => (Time::ZERO + value.time, None),
            WordOr::Value(rate) => (Time::ZERO + value.time, Some(rate)),
        });
        let always = self.rate.copied().map(|rate| (Time::ZERO, Some(rate)));
        steps.chain(always).collect()
    }
}

pub(crate) fn write_receivers(file: &mut File, config: &Config) {
    for receiver in &config.receivers {
        let steps = receiver.steps.iter().map(|(time, rate)| Step {
            time: time.saturating_since(Time::ZERO),
            rate: rate.map_or(WordOr::Word(Stop), WordOr::Value),
        });
        let keys = ReceiverKeys {
            host: Key::of(config.topology.node(receiver.host).name.to_string()),
            steps: Key::of(Counted::of(steps)),
            ..ReceiverKeys::default()
        };
        file.one_of(RECEIVER, &keys);
    }
}

/// The receivers of one fabric, in order of host.
pub(crate) fn receivers(
    fabric: &BuiltTopology,
    written: &[ReceiverKeys],
    sink: &Sink,
) -> Vec<Receiver> {
    let mut receivers: Vec<Receiver> = Vec::new();
    for keys in written {
        let Some(name) = &keys.host.given else {
            continue;
        };
        let Some(host) = fabric.host(sink, name) else {
            continue;
        };
        if receivers.iter().any(|other| other.host == host) {
            let message = format!("{} has two [[receiver]]", name.value);
            sink.push(name.place.problem(message).help("merge them with steps"));
        }
        let steps = keys.steps();
        receivers.push(Receiver { host, steps });
    }
    receivers.sort_by_key(|receiver| receiver.host);
    receivers
}

/// Which flows are recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbedFlows {
    /// Every flow, or none at all.
    All(bool),
    /// Names, in which `*` stands for any text.
    Named(List<String>),
}

impl FileValue for ProbedFlows {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<ProbedFlows>> {
        let expected = "true, false or a list of names";
        let place = item.place.clone();
        let value = if item.is_list() {
            ProbedFlows::Named(item.strings(expected)?.value)
        } else {
            ProbedFlows::All(item.boolean(expected)?.value)
        };
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::Either(vec![Kind::Flag, List::<String>::kind(&Each::default())])
    }

    fn show(&self) -> String {
        match self {
            ProbedFlows::All(all) => all.show(),
            ProbedFlows::Named(names) => names.show(),
        }
    }
}

impl ProbedFlows {
    /// The flows among `plans`, which are in order of name, each once and in this order.
    fn resolve(&self, plans: &[Plan], sink: &Sink) -> Vec<FlowId> {
        let names = match self {
            ProbedFlows::All(false) => return Vec::new(),
            ProbedFlows::All(true) => return (0..plans.len() as u32).map(FlowId).collect(),
            ProbedFlows::Named(names) => names,
        };
        // A flow with a problem of its own is not among them.
        let is_whole = sink.is_empty();
        let mut found = Vec::new();
        for At { value: name, place } in names {
            // A name may have a star of its own.
            let one = plans.binary_search_by(|plan| plan.name.as_str().cmp(name));
            if let Ok(one) = one {
                found.push(one);
                continue;
            }
            let before = found.len();
            if name.contains('*') {
                let all = plans.iter().enumerate();
                let matching =
                    all.filter(|(_, plan)| pauseless_fabric::pattern::matches(name, &plan.name));
                found.extend(matching.map(|(place, _)| place));
            }
            if found.len() == before && is_whole {
                let problem = place.problem(format!("no flow is called {name:?}"));
                // Those that were written are few.
                let written = plans.iter().filter(|plan| !plan.is_made);
                let written = written.map(|plan| plan.name.as_str()).take(NAMES_MAX);
                sink.push(problem.help(did_you_mean(name, written)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().map(|flow| FlowId(flow as u32)).collect()
    }
}

impl Probe {
    pub(crate) fn read_from(root: &mut Section<'_>) -> Option<Probe> {
        let mut section = root.table(PROBE)?;
        let keys = Probe::read(&mut section);
        section.finish();
        Some(keys)
    }

    /// Writes the section with the ports that are recorded. Flows are as they were meant: what was
    /// made by a rule is not listed.
    pub(crate) fn write_resolved(&self, file: &mut File, config: &Config) {
        let ports = config.probes.ports.iter();
        let ports = ports.map(|(node, port)| config.topology.port_name(*node, *port));
        let keys = Probe {
            resolution: Key::of(config.probes.resolution),
            ports: Key::of(list(ports)),
            ..self.clone()
        };
        file.table(PROBE, &keys);
    }

    /// What to record of the flows of `plans` during `duration`.
    pub(crate) fn probes(
        &self,
        topology: &Topology,
        sink: &Sink,
        duration: Span,
        plans: &[Plan],
    ) -> Probes {
        let flows = self.flows.value.resolve(plans, sink);
        let ports = match self.ports.get() {
            Some(patterns) => pattern::ports(topology, patterns, sink),
            None => Some(host_ports(topology))
                .filter(|ports| ports.len() <= PORTS_MAX)
                .unwrap_or_default(),
        };
        let Some(resolution) = &self.resolution.given else {
            return Probes::default();
        };
        let place = &resolution.place;
        let resolution = resolution.value;
        let samples = duration.as_ps() / resolution.as_ps();
        let columns = 4 * ports.len() as u64 + flows.len() as u64 + 1;
        let values = samples.saturating_mul(columns);
        if values > VALUES_MAX {
            let problem = place.problem(format!("{values} numbers would be recorded"));
            let help = "choose a coarser resolution, fewer ports or fewer flows";
            sink.push(problem.expected(format!("at most {VALUES_MAX}")).help(help));
        }
        Probes { resolution, ports, flows, ..Probes::default() }
    }
}

/// The switch ports that face hosts.
fn host_ports(topology: &Topology) -> Vec<(NodeId, PortId)> {
    let ports = topology.hosts().iter().flat_map(|host| topology.ports(*host));
    let mut ports: Vec<_> = ports.map(|port| (port.peer, port.peer_port)).collect();
    ports.sort_unstable();
    ports
}

/// `[provenance]`: whether to record where pauses come from.
pub(crate) fn read_provenance(root: &mut Section<'_>) -> bool {
    let Some(mut section) = root.table(PROVENANCE) else {
        return false;
    };
    let keys = Provenance::read(&mut section);
    section.finish();
    keys.record.value
}

/// Writes `[provenance]`, if anything is recorded.
pub(crate) fn write_provenance(file: &mut File, is_tracing: bool) {
    if is_tracing {
        file.table(PROVENANCE, &Provenance::default());
    }
}

/// The flow control of every port and class of every switch.
pub(crate) fn controls(config: &Config) -> impl Iterator<Item = FlowControl> {
    let classes = (0..config.ingress.class_count()).map(|class| Class(class as u8));
    config.topology.switches().iter().flat_map(move |switch| {
        let ports = (0..config.topology.ports(*switch).len()).map(|port| PortId(port as u16));
        let classes = classes.clone();
        ports.flat_map(move |port| {
            classes.clone().map(move |class| config.ingress.get(*switch, port, class).control)
        })
    })
}

/// What is said where there are no pauses to look for.
pub(crate) fn provenance_warning(config: &Config) -> Option<String> {
    let mut controls = controls(config);
    let first = controls.next().filter(|_| config.is_tracing)?;
    let is_pfc = |control: &FlowControl| matches!(control, FlowControl::Pfc(_));
    (!is_pfc(&first) && !controls.any(|control| is_pfc(&control))).then(|| {
        format!(
            "provenance knows the pauses of PFC only, and this is {}: none will be found",
            first.name()
        )
    })
}
