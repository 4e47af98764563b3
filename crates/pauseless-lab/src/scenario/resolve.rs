//! The scenario as a file in which nothing is left out: reading it gives the same run.

use std::collections::BTreeMap;

use pauseless_core::flow_control::{Control, FlowControl, cbfc, gfc};
use pauseless_core::id::{NodeId, PortId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Release;
use pauseless_core::unit::Bytes;
use pauseless_fabric::path::Step;
use pauseless_fabric::topology::Topology;

use pauseless_sim::config::{DrawsFrom, Follow, Ties, Transmission};

use super::classes::ClassRule;
use super::file::{File, quote};
use super::flows::Plan;
use super::memory::{self, write_lane};
use super::mitigation;
use super::port_group::PortGroup;
use super::routing::{Rule, TableKeys};
use super::switch::RELEASES;
use super::unit::Quantity;
use super::{Parts, Rules, verdict, wire_loss};

/// Every default and every derived value, written out.
pub(crate) fn write(parts: &Parts) -> String {
    let mut file = File::default();
    let general = &parts.general;
    if let Some(title) = &general.title {
        file.text("title", title);
    }
    file.plain("seed", general.seed);
    file.quantity("duration", general.duration);
    file.quantity("mtu", general.mtu);
    file.quantity("wire_overhead", general.wire_overhead);
    parts.fabric.write(&mut file);
    write_routing(&mut file, parts);
    write_classes(&mut file, parts);
    // The most common parameters stand for all, the others for the ports that they are about.
    let groups = &parts.control.groups;
    let base = groups.iter().max_by_key(|group| group.members.len());
    if let Some(memory) = &parts.switches.memory {
        write_shared(&mut file, parts, memory);
    } else if let Some(base) = base {
        write_switch(&mut file, parts, Some(base.ingress.buffer));
        file.section("[flow_control]");
        file.text("kind", base.ingress.control.name());
        file.plain("unsafe_parameters", parts.is_unsafe);
        write_parameters(&mut file, base);
        for group in groups.iter().filter(|group| !group.is_like(base)) {
            write_others(&mut file, &parts.fabric.topology, group);
        }
    }
    parts.congestion.write(&mut file);
    parts.transport.write(&mut file);
    let mut after: BTreeMap<usize, Vec<&Follow>> = BTreeMap::new();
    let follows = parts.config.follows.iter();
    for follow in follows.filter(|follow| !parts.plans[follow.then.index()].is_made) {
        after.entry(follow.then.index()).or_default().push(follow);
    }
    for (index, plan) in parts.plans.iter().enumerate() {
        if !plan.is_made {
            write_flow(&mut file, parts, plan);
            write_after(&mut file, parts, after.get(&index));
        }
    }
    for traffic in &parts.traffic {
        traffic.write(&mut file, &parts.fabric.topology);
    }
    write_rest(&mut file, parts);
    file.text
}

fn write_routing(file: &mut File, parts: &Parts) {
    let rule = match &parts.routing {
        Rules::Rule(routing) => Rule::of(*routing, parts.config.seed),
        Rules::Tables(routes) => Rule::Tables(TableKeys::of(&parts.fabric.topology, routes)),
    };
    rule.write(file);
}

fn write_classes(file: &mut File, parts: &Parts) {
    match &parts.classes {
        ClassRule::Dateline => ClassRule::Dateline.write(file),
        _ => ClassRule::of(&parts.fabric.topology, &parts.config.classes).write(file),
    }
}

fn write_switch(file: &mut File, parts: &Parts, buffer: Option<Bytes>) {
    let switches = &parts.switches;
    file.section("[switch]");
    file.text("discipline", switches.discipline.name());
    if let Some(buffer) = buffer {
        file.quantity("buffer", buffer);
    }
    file.plain("classes", switches.class_count);
    match switches.scheduler {
        Scheduler::Strict => file.text("scheduler", "strict"),
        Scheduler::Random => file.text("scheduler", "random"),
        Scheduler::RoundRobin { .. } => file.text("scheduler", "round-robin"),
        Scheduler::Weighted(weights) => {
            file.text("scheduler", "weighted");
            let weights = &weights[..usize::from(switches.class_count)];
            file.plain("weights", format_args!("{weights:?}"));
        }
    }
    file.quantity("processing", switches.processing);
    file.quantity("processing_jitter", switches.processing_jitter);
    if switches.control_frame != Control::SIZE {
        file.quantity("control_frame", switches.control_frame);
    }
    if switches.draws == DrawsFrom::Ns3 {
        file.text("draws", "ns-3");
    }
    if switches.release != Release::LastBit {
        let release = RELEASES.iter().find(|(_, rule)| *rule == switches.release);
        file.text("release", release.map_or("", |(name, _)| name));
    }
}

/// `[switch]` and `[flow_control]` where ports share their memory. The buffers of hosts follow from
/// their links unless they were written.
fn write_shared(file: &mut File, parts: &Parts, memory: &memory::Written) {
    let buffer = parts.switches.buffer.as_ref().map(|buffer| buffer.value);
    write_switch(file, parts, buffer);
    let groups = parts.control.groups.iter();
    let groups = groups.filter_map(|group| Some((group, group.memory?)));
    let groups = Vec::from_iter(groups);
    let base = groups.iter().max_by_key(|(group, _)| group.members.len());
    let Some((base, lane)) = base else {
        return;
    };
    file.section("[switch.memory]");
    memory.write(file);
    let is_lossless = base.ingress.control != FlowControl::None;
    write_lane(file, lane, is_lossless);
    for (group, other) in groups.iter().filter(|(_, other)| other != lane) {
        for (classes, ports) in ports_by_classes(&parts.fabric.topology, group) {
            file.section("[[switch.memory.at]]");
            file.texts("ports", ports);
            file.plain("classes", format_args!("{classes:?}"));
            write_lane(file, other, is_lossless);
        }
    }
    file.section("[flow_control]");
    file.text("kind", base.ingress.control.name());
    file.plain("unsafe_parameters", parts.is_unsafe);
    if let FlowControl::Pfc(config) = &base.ingress.control {
        file.plain("pause_quanta", config.quanta);
    }
}

fn write_parameters(file: &mut File, group: &PortGroup) {
    let is_gfc = match &group.ingress.control {
        FlowControl::None => false,
        FlowControl::Pfc(config) => {
            file.quantity("xoff", config.xoff);
            file.quantity("xon", config.xon);
            file.plain("pause_quanta", config.quanta);
            false
        }
        FlowControl::Cbfc(config) => {
            file.quantity("credits", config.capacity);
            file.quantity("period", config.period);
            let counters = match config.counters {
                cbfc::Counters::Wide => "wide",
                cbfc::Counters::Iba => "iba",
            };
            file.text("counters", counters);
            false
        }
        FlowControl::GfcBuffer(config) => {
            file.quantity("bm", config.bm);
            file.quantity("b1", config.b1);
            if let Some(refresh) = config.refresh {
                file.quantity("refresh", refresh);
            }
            true
        }
        FlowControl::GfcTime(config) => {
            write_mapping(file, &config.mapping);
            file.quantity("period", config.period);
            let measure = match config.measure {
                gfc::Measure::Message => "message",
                gfc::Measure::Credit => "credit",
            };
            file.text("measure", measure);
            true
        }
        FlowControl::GfcConceptual(config) => {
            write_mapping(file, &config.mapping);
            file.quantity("tau", group.tau);
            true
        }
    };
    if is_gfc {
        file.quantity("rate_unit", group.derivation.unit);
        file.plain("guard", group.derivation.guard_frames);
    }
}

fn write_mapping(file: &mut File, mapping: &gfc::Mapping) {
    file.quantity("bm", mapping.bm);
    file.quantity("b0", mapping.b0);
}

/// `[[flow_control.at]]` for the ports of `group`, once for each set of classes.
fn write_others(file: &mut File, topology: &Topology, group: &PortGroup) {
    for (classes, ports) in ports_by_classes(topology, group) {
        file.section("[[flow_control.at]]");
        file.texts("ports", ports);
        file.plain("classes", format_args!("{classes:?}"));
        file.quantity("buffer", group.ingress.buffer);
        write_parameters(file, group);
    }
}

/// The ports of `group`, by the classes that are meant.
fn ports_by_classes(topology: &Topology, group: &PortGroup) -> BTreeMap<Vec<u8>, Vec<String>> {
    let mut classes: BTreeMap<(NodeId, PortId), Vec<u8>> = BTreeMap::new();
    for (node, port, class) in &group.members {
        classes.entry((*node, *port)).or_default().push(class.0);
    }
    let mut ports: BTreeMap<Vec<u8>, Vec<String>> = BTreeMap::new();
    for ((node, port), classes) in classes {
        let name = topology.port_name(node, port);
        ports.entry(classes).or_default().push(name);
    }
    ports
}

fn write_flow(file: &mut File, parts: &Parts, plan: &Plan) {
    let name = |node: &NodeId| parts.fabric.topology.node(*node).name.clone();
    file.section("[[flow]]");
    file.text("name", &plan.name);
    file.text("source", &name(&plan.source));
    file.text("target", &name(&plan.target));
    let step = |step: &Step| match step.link {
        1 => name(&step.node),
        number => format!("{}#{number}", name(&step.node)),
    };
    match (plan.path.as_deref(), &plan.round[..]) {
        (Some([_, switches @ .., _]), []) => file.texts("path", switches.iter().map(step)),
        (Some([_, switches @ ..]), [_, ..]) => {
            file.texts("path", switches.iter().map(step));
            file.texts("loop", plan.round.iter().map(step));
        }
        _ => {}
    }
    if let Some([_, switches @ .., _]) = plan.return_path.as_deref() {
        file.texts("return_path", switches.iter().map(step));
    }
    file.quantity("rate", plan.pace);
    if let Some(size) = plan.terms.size {
        file.quantity("size", size);
    }
    if let Some(initial) = plan.initial {
        file.quantity("initial_rate", initial);
    }
    plan.terms.write(file);
}

/// What a flow waits for; `plans` and `flows` are in the same order.
fn write_after(file: &mut File, parts: &Parts, follows: Option<&Vec<&Follow>>) {
    let Some((first, follows)) = follows.and_then(|follows| follows.first().zip(Some(follows)))
    else {
        return;
    };
    let name = |follow: &&Follow| parts.plans[follow.first.index()].name.clone();
    file.texts("after", follows.iter().map(name));
    file.quantity("delay", first.delay);
}

fn write_rest(file: &mut File, parts: &Parts) {
    file.section("[timing]");
    file.quantity("start_jitter", parts.timing.start_jitter);
    file.quantity("wire_jitter", parts.timing.wire_jitter);
    if parts.timing.wire_loss > 0.0 {
        file.number("wire_loss", parts.timing.wire_loss);
    }
    if parts.timing.transmission != Transmission::Exact {
        file.text("transmission", "whole-ns");
    }
    if parts.timing.ties == Ties::Arrivals {
        file.text("ties", "arrivals-first");
    }
    if let Some(stop) = parts.timing.sources_stop {
        file.quantity("sources_stop", stop);
    }
    let config = &parts.config;
    wire_loss::write(file, &config.topology, &config.wire_loss);
    for receiver in &config.receivers {
        file.section("[[receiver]]");
        file.text("host", &config.topology.node(receiver.host).name);
        let steps = receiver.steps.iter().map(|(time, rate)| {
            let time = quote(&time.saturating_since(Default::default()).exact());
            let rate = rate.map_or("stop".to_string(), Quantity::exact);
            format!("[{time}, {}]", quote(&rate))
        });
        let steps: Vec<String> = steps.collect();
        file.plain("steps", format_args!("[{}]", steps.join(", ")));
    }
    mitigation::write(file, &config.topology, &config.mitigation);
    let probes = &config.probes;
    if probes.resolution.as_ps() > 0 {
        file.section("[probe]");
        file.quantity("resolution", probes.resolution);
        let ports = probes.ports.iter();
        file.texts(
            "ports",
            ports.map(|(node, port)| config.topology.port_name(*node, *port)),
        );
        if let Some(probe) = &parts.probe {
            probe.write_flows(file);
        }
    }
    if config.is_tracing {
        file.section("[provenance]");
        file.plain("record", config.is_tracing);
    }
    file.section("[verdict]");
    verdict::share(file, "starvation_share", config.starvation_permille);
    verdict::write(file, &config.stop);
}
