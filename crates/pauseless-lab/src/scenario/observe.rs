//! The sections `[[receiver]]`, `[probe]` and `[provenance]`.

use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::unit::{Rate, Span, Time};
use pauseless_fabric::topology::Topology;
use pauseless_sim::Config;
use pauseless_sim::config::{Probes, Receiver};

use super::file::File;
use super::flows::{Plan, TIMES};
use super::pattern;
use super::reader::{At, Item, Section, did_you_mean};
use super::topology::{Fabric, RATES};
use crate::problem::Sink;

/// Ports that are recorded without being asked for, at most.
const PORTS_MAX: usize = 64;
/// Comparing with more names than this takes too long.
const NAMES_MAX: usize = 10_000;
/// Numbers that a run may record: 400 MB of them.
const VALUES_MAX: u64 = 50_000_000;

/// A slow host as it was written.
#[derive(Debug)]
pub(crate) struct WrittenReceiver {
    host: At<String>,
    steps: Vec<(Time, Option<Rate>)>,
}

impl WrittenReceiver {
    /// Reads every `[[receiver]]`.
    pub(crate) fn read_all(root: &mut Section<'_>) -> Vec<WrittenReceiver> {
        let sections = root.tables("receiver").into_iter();
        sections.filter_map(WrittenReceiver::read).collect()
    }

    fn read(mut section: Section<'_>) -> Option<WrittenReceiver> {
        let is_host_written = section.has("host");
        let host = section.string("host");
        if !is_host_written {
            section.missing("host", "\"H1\"");
        }
        let is_rate_written = section.has("rate");
        let rate = section.quantity_within("rate", Rate::bps(1)..=*RATES.end());
        let steps = match (is_rate_written, section.has("steps")) {
            (true, true) => {
                let problem = section.place.problem("both rate and steps are written");
                section.report(problem.help("keep one of them"));
                section.take("steps");
                None
            }
            (false, false) => {
                section.missing(
                    "rate",
                    "\"1 Gbps\", or steps = [[\"0 ms\", \"1 Gbps\"], [\"5 ms\", \"stop\"]]",
                );
                None
            }
            (true, false) => {
                section.take("steps");
                rate.map(|rate| vec![(Time::ZERO, Some(rate.value))])
            }
            (false, true) => read_steps(&mut section),
        };
        section.finish();
        let (host, steps) = host.zip(steps)?;
        Some(WrittenReceiver { host, steps })
    }
}

fn read_steps(section: &mut Section<'_>) -> Option<Vec<(Time, Option<Rate>)>> {
    let At { value, place } = section.list("steps")?;
    let mut steps: Vec<(Time, Option<Rate>)> = Vec::new();
    let count = value.len();
    for item in value {
        let at = item.place.clone();
        let Some((time, rate)) = read_step(section, item) else {
            continue;
        };
        if steps.last().is_some_and(|(last, _)| *last >= time) {
            section.report(at.problem("steps are in order of time, and no two at once"));
        }
        steps.push((time, rate));
    }
    if steps.len() < count {
        return None;
    }
    if steps.first().is_none_or(|(time, _)| *time != Time::ZERO) {
        let problem = place.problem("nothing says how the host begins");
        section.report(problem.help("make the first step [\"0 ms\", \"10 Gbps\"]"));
        return None;
    }
    Some(steps)
}

fn read_step(section: &Section<'_>, item: Item<'_>) -> Option<(Time, Option<Rate>)> {
    let expected = "a list of a time and a rate, or \"stop\"";
    let At { value, place } = item.list(expected)?;
    let pair = <[Item<'_>; 2]>::try_from(value);
    let Ok([time, rate]) = pair else {
        section.report(place.problem("not a pair").expected(expected));
        return None;
    };
    let time = time.quantity::<Span>()?;
    if time.value > *TIMES.end() {
        section.report(time.place.problem("later than any run lasts"));
        return None;
    }
    let time = Time::ZERO + time.value;
    if rate.is_text("stop") {
        return Some((time, None));
    }
    let rate = rate.quantity::<Rate>()?;
    Some((time, Some(rate.value)))
}

/// The receivers of one fabric, in order of host.
pub(crate) fn receivers(
    fabric: &Fabric,
    written: Vec<WrittenReceiver>,
    sink: &Sink,
) -> Vec<Receiver> {
    let mut receivers: Vec<Receiver> = Vec::new();
    for one in written {
        let Some(host) = fabric.host(sink, &one.host) else {
            continue;
        };
        if receivers.iter().any(|other| other.host == host) {
            let message = format!("{} has two [[receiver]]", one.host.value);
            sink.push(
                one.host
                    .place
                    .problem(message)
                    .help("merge them with steps"),
            );
        }
        let steps = one.steps;
        receivers.push(Receiver { host, steps });
    }
    receivers.sort_by_key(|receiver| receiver.host);
    receivers
}

/// `[probe]` as it was written.
#[derive(Debug)]
pub(crate) struct WrittenProbe {
    resolution: At<Span>,
    ports: Option<Vec<At<String>>>,
    flows: WrittenFlows,
}

/// Which flows are recorded.
#[derive(Debug)]
enum WrittenFlows {
    All(bool),
    /// Names, in which `*` stands for any text.
    Named(Vec<At<String>>),
}

impl WrittenFlows {
    fn read(section: &mut Section<'_>) -> WrittenFlows {
        let expected = "true, false or a list of names";
        let flows = section.take("flows").and_then(|item| match item.is_list() {
            true => Some(WrittenFlows::Named(item.strings(expected)?.value)),
            false => Some(WrittenFlows::All(item.boolean(expected)?.value)),
        });
        flows.unwrap_or(WrittenFlows::All(true))
    }

    /// The flows among `plans`, which are in order of name, each once and in this order.
    fn resolve(&self, plans: &[Plan], sink: &Sink) -> Vec<FlowId> {
        let names = match self {
            WrittenFlows::All(false) => return Vec::new(),
            WrittenFlows::All(true) => return (0..plans.len() as u32).map(FlowId).collect(),
            WrittenFlows::Named(names) => names,
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
                let matching = all.filter(|(_, plan)| pattern::matches(name, &plan.name));
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

impl WrittenProbe {
    pub(crate) fn read(root: &mut Section<'_>) -> Option<WrittenProbe> {
        let mut section = root.table("probe")?;
        let is_written = section.has("resolution");
        let resolution = section.quantity_within("resolution", Span::ps(1)..=*TIMES.end());
        if !is_written {
            section.missing("resolution", "\"100 us\"");
        }
        let ports = section.strings("ports").map(|ports| ports.value);
        let flows = WrittenFlows::read(&mut section);
        section.finish();
        Some(WrittenProbe {
            resolution: resolution?,
            ports,
            flows,
        })
    }

    /// Writes `flows` as it was meant: what was made by a rule is not listed.
    pub(crate) fn write_flows(&self, file: &mut File) {
        match &self.flows {
            WrittenFlows::All(all) => file.plain("flows", all),
            WrittenFlows::Named(names) => {
                file.texts("flows", names.iter().map(|name| name.value.clone()));
            }
        }
    }

    /// What to record of the flows of `plans` during `duration`.
    pub(crate) fn probes(&self, topology: &Topology, sink: &Sink, run: (Span, &[Plan])) -> Probes {
        let (duration, plans) = run;
        let flows = self.flows.resolve(plans, sink);
        let ports = match &self.ports {
            Some(patterns) => pattern::ports(topology, patterns, sink),
            None => Some(host_ports(topology))
                .filter(|ports| ports.len() <= PORTS_MAX)
                .unwrap_or_default(),
        };
        let resolution = self.resolution.value;
        let samples = duration.as_ps() / resolution.as_ps();
        let columns = 4 * ports.len() as u64 + flows.len() as u64 + 1;
        let values = samples.saturating_mul(columns);
        if values > VALUES_MAX {
            let message = format!("{values} numbers would be recorded");
            let problem = self.resolution.place.problem(message);
            let help = "choose a coarser resolution, fewer ports or fewer flows";
            sink.push(problem.expected(format!("at most {VALUES_MAX}")).help(help));
        }
        Probes {
            resolution,
            ports,
            flows,
            ..Probes::default()
        }
    }
}

/// The switch ports that face hosts.
fn host_ports(topology: &Topology) -> Vec<(NodeId, PortId)> {
    let hosts = topology.hosts().iter();
    let ports = hosts.flat_map(|host| topology.ports(*host));
    let mut ports: Vec<_> = ports.map(|port| (port.peer, port.peer_port)).collect();
    ports.sort_unstable();
    ports
}

/// `[provenance]`: whether to record where pauses come from.
pub(crate) fn read_provenance(root: &mut Section<'_>) -> bool {
    let Some(mut section) = root.table("provenance") else {
        return false;
    };
    let record = section.boolean("record");
    section.finish();
    record.is_none_or(|record| record.value)
}

/// What is said where there are no pauses to look for.
pub(crate) fn provenance_warning(config: &Config) -> Option<String> {
    let classes = (0..config.ingress.class_count()).map(|class| Class(class as u8));
    let switches = config.topology.switches().iter();
    let mut controls = switches.flat_map(|switch| {
        let ports = (0..config.topology.ports(*switch).len()).map(|port| PortId(port as u16));
        let classes = classes.clone();
        ports.flat_map(move |port| {
            let classes = classes.clone();
            classes.map(move |class| config.ingress.get(*switch, port, class).control)
        })
    });
    let first = controls.next().filter(|_| config.is_tracing)?;
    let is_pfc = |control: &FlowControl| matches!(control, FlowControl::Pfc(_));
    (!is_pfc(&first) && !controls.any(|control| is_pfc(&control))).then(|| {
        format!(
            "provenance knows the pauses of PFC only, and this is {}: none will be found",
            first.name()
        )
    })
}
