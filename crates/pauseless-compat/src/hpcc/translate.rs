//! From what the files say to a scenario.

mod build;
mod keys;
mod memory;
mod replica;

use std::sync::Arc;

use crate::replica::clock;

use super::config::Config;
use super::flow::Flow;
use super::topology::Topology;
use super::ways::Ways;
use super::{Case, Compat, FlowLine, Foreign, Monitor, Outputs};
use keys::Settings;
use pauseless_text::problem::{FileId, Problem, Sink};
use pauseless_text::quantity::plural;
use pauseless_text::source::Source;

/// Everything that was read; `None` where something is wrong with it.
#[derive(Clone, Copy)]
pub(super) struct Input<'i> {
    pub config: &'i Config<'i>,
    pub topology: Option<&'i Topology>,
    pub flows: Option<&'i [Flow]>,
    /// The file of the flows.
    pub flow_file: FileId,
    pub compat: Compat,
    pub is_conweave: bool,
    pub sink: &'i Sink,
}

/// What was read and found valid, from which the scenario is built.
struct Parts<'p> {
    config: &'p Config<'p>,
    topology: &'p Topology,
    flows: &'p [Flow],
    flow_file: FileId,
    lines: &'p [FlowLine],
    ways: &'p Ways,
    settings: &'p Settings,
    is_conweave: bool,
}

/// The headers of every data frame: 14 of the link, 20 of IP, 8 of UDP, 6 of sequence and group.
pub(super) const HEADERS: u64 = 48;

/// What is said where `--compat hpcc` cannot do what it is for.
const NO_REPLICA: &str = "there is no replica of conweave's simulator: --compat hpcc changes nothing \
                          here, and the run has the rules of real switches";

/// A scenario and what goes with it; `None` if something is wrong.
pub(super) fn translate(
    input: Input<'_>,
    notes: Vec<String>,
    sources: Arc<[Source]>,
) -> Option<Case> {
    let settings = Settings::read(input);
    let (topology, flows) = input.topology.zip(input.flows)?;
    if flows.is_empty() {
        let problem = Problem::new(0..0, "there are no flows: nothing would happen");
        let problem = problem.help("the first line says how many there are");
        input.sink.push(problem.in_file(input.flow_file));
        return None;
    }
    let settings = settings?;
    check_buffer(input, topology, &settings);
    let ways = Ways::new(topology, settings.payload);
    let lines = lines(input, flows, &ways, &settings)?;
    let mut notes = notes;
    notes.extend(settings.notes.iter().cloned());
    let outputs = outputs(input, topology, lines);
    if !input.sink.is_empty() {
        return None;
    }
    let parts = Parts {
        config: input.config,
        topology,
        flows,
        flow_file: input.flow_file,
        lines: &outputs.flows,
        ways: &ways,
        settings: &settings,
        is_conweave: input.is_conweave,
    };
    let scenario = parts.scenario(sources);
    let replica = match input.compat {
        Compat::None => None,
        Compat::Hpcc if input.is_conweave => {
            notes.push(NO_REPLICA.to_string());
            None
        }
        Compat::Hpcc => Some(replica::setup(&parts, outputs.qlen.as_ref())),
    };
    Some(Case { replica, scenario, notes, outputs })
}

/// The memory of a switch must have room for what its ports have for themselves, and one frame.
fn check_buffer(input: Input<'_>, topology: &Topology, settings: &Settings) {
    let Some((node, [headroom, reserves])) = memory::most_set_aside(topology) else {
        return;
    };
    let aside = headroom.saturating_add(reserves);
    let needed = aside.saturating_add(settings.payload + HEADERS);
    if needed <= settings.buffer {
        return;
    }
    let message = format!(
        "{} B are too few for switch {node}, which sets {headroom} B aside for headroom and \
         {reserves} B for reserves",
        settings.buffer
    );
    let problem = match input.config.entry("BUFFER_SIZE") {
        Some(entry) => entry.problem(message),
        None => Problem::new(0..0, format!("BUFFER_SIZE: {message}")),
    };
    input.sink.push(problem.help(format!(
        "BUFFER_SIZE {} or more; that simulator subtracts in 32 bits, so that its thresholds become \
         gigabytes and nothing is ever paused",
        needed.div_ceil(1 << 20)
    )));
}

/// The name and the time alone of every flow.
fn lines(
    input: Input<'_>,
    flows: &[Flow],
    ways: &Ways,
    settings: &Settings,
) -> Option<Vec<FlowLine>> {
    let mut apart = flows.iter().filter(|flow| ways.get(flow.source, flow.target).is_none());
    if let Some(flow) = apart.next() {
        let mut message = format!("there is no way from {} to {}", flow.source, flow.target);
        let others = apart.count();
        if others > 0 {
            message += &format!(", nor for {}", plural(others as u64, "other flow"));
        }
        let (start, end) = flow.at;
        let problem = Problem::new(start as usize..end as usize, message).help(
            "no links of TOPOLOGY_FILE join them; is the number of links in its first line right?",
        );
        input.sink.push(problem.in_file(input.flow_file));
        return None;
    }
    let width = flows.len().to_string().len();
    let lines = flows.iter().enumerate().map(|(number, flow)| {
        let way = ways.get(flow.source, flow.target)?;
        let packets = (flow.size - 1) / settings.payload as u32 + 1;
        // It has 32 bits there.
        let bytes = flow.size.wrapping_add(packets.wrapping_mul(HEADERS as u32));
        let sending = u128::from(bytes) * 8_000_000_000 / u128::from(way.rate);
        let Flow { source, target, source_port, target_port, .. } = flow;
        Some(FlowLine {
            name: format!("{number:0width$}/{source}:{source_port}->{target}:{target_port}"),
            source: *source,
            target: *target,
            ports: [*source_port, *target_port],
            size: flow.size,
            start: flow.start,
            standalone: way.round_trip() + sending as u64,
        })
    });
    lines.collect()
}

fn outputs(input: Input<'_>, topology: &Topology, flows: Vec<FlowLine>) -> Outputs {
    let Input { config, sink, .. } = input;
    let path = |key: &str, usual: &str| config.text(key).unwrap_or(usual).into();
    let start = config.long("QLEN_MON_START", 2_000_000_000, sink);
    let end = config.long("QLEN_MON_END", 2_100_000_000, sink);
    let file = config.text("QLEN_MON_FILE").filter(|_| !input.is_conweave);
    let mut interfaces = vec![Vec::new(); topology.is_switch.len()];
    for link in &topology.links {
        for (end, interface) in link.ends.into_iter().zip(link.interfaces) {
            interfaces[end].push(interface);
        }
    }
    Outputs {
        fct: path("FCT_OUTPUT_FILE", "fct.txt"),
        pfc: path("PFC_OUTPUT_FILE", "pfc.txt"),
        qlen: file.map(|file| Monitor { file: file.into(), start, end }),
        has_numbers: input.is_conweave,
        flows,
        interfaces,
        is_host: Vec::from_iter(topology.is_switch.iter().map(|is_switch| !is_switch)),
        inputs: Vec::new(),
        foreign: Foreign::default(),
    }
}

/// The end of the run, in nanoseconds.
pub(super) fn stop_time(input: Input<'_>) -> u64 {
    let Input { config, sink, .. } = input;
    let (key, usual) = if input.is_conweave {
        // It goes on for ten seconds after the last flow was made, or until all are done.
        ("FLOWGEN_STOP_TIME", 2.5)
    } else {
        ("SIMULATOR_STOP_TIME", 3.01)
    };
    let seconds = config.number(key, usual, sink);
    let extra = if input.is_conweave { 10.0 } else { 0.0 };
    let is_good = seconds > 0.0 && seconds + extra <= 86_400.0;
    if let Some(entry) = config.entry(key).filter(|_| !is_good) {
        let problem = entry.problem(format!("{seconds} s is no length of a run"));
        sink.push(problem.expected("more than nothing, and at most a day"));
    }
    clock::seconds((seconds + extra).min(86_400.0)).max(1)
}
