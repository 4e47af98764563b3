//! The scenario as a file in which nothing is left out: reading it gives the same run.

use std::collections::BTreeMap;

use pauseless_core::flow_control::{Control, FlowControl, cbfc, gfc};
use pauseless_core::id::{NodeId, PortId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Release;
use pauseless_core::unit::Bytes;
use pauseless_fabric::generate::{LinkSpecs, Shape};
use pauseless_fabric::routing::{Multipath, TieBreak};
use pauseless_fabric::topology::{NodeKind, Topology};

use pauseless_sim::config::{DrawsFrom, Follow};

use super::file::{File, quote};
use super::flows::{Flow, Plan};
use super::memory::{self, write_lane};
use super::mitigation;
use super::port_group::PortGroup;
use super::routing::{write_tables, written_rule};
use super::switch::RELEASES;
use super::topology::written_shape;
use super::unit::Quantity;
use super::{At, Parts, Rules, classes, verdict, wire_loss};
use crate::declare::{Declared, Key};
use crate::fabric::toml::write_classes;

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
    write_topology(&mut file, parts);
    write_routing(&mut file, parts);
    write_class_map(&mut file, parts);
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
            let follows = after.get(&index).map_or(&[][..], Vec::as_slice);
            write_flow(&mut file, parts, plan, follows);
        }
    }
    for traffic in &parts.traffic {
        traffic.write(&mut file);
    }
    write_rest(&mut file, parts);
    file.text
}

fn write_topology(file: &mut File, parts: &Parts) {
    let fabric = &parts.fabric;
    file.section("[topology]");
    match fabric.shape {
        Some((shape, links)) => write_shape(file, shape, links),
        None => file.text("kind", "custom"),
    }
    let pairs = fabric.failed.ends(&fabric.healthy);
    let pairs = pairs.map(|([a, b], number)| match number {
        1 => format!("[{}, {}]", quote(a), quote(b)),
        _ => format!("[{}, {}]", quote(a), quote(&format!("{b}#{number}"))),
    });
    let pairs: Vec<String> = pairs.collect();
    file.plain("failed_links", format_args!("[{}]", pairs.join(", ")));
    if fabric.shape.is_some() {
        return;
    }
    for node in fabric.healthy.nodes() {
        file.section("[[topology.node]]");
        file.text("name", &node.name);
        let kind = match node.kind {
            NodeKind::Switch => "switch",
            NodeKind::Host => "host",
        };
        file.text("kind", kind);
        if node.layer > 1 {
            file.plain("layer", node.layer);
        }
    }
    for link in fabric.healthy.links() {
        file.section("[[topology.link]]");
        let ends = [link.a, link.b].map(|end| fabric.healthy.node(end).name.clone());
        file.texts("between", ends);
        file.quantity("rate", link.rate);
        file.quantity("delay", link.delay);
    }
}

fn write_shape(file: &mut File, shape: Shape, links: LinkSpecs) {
    let (kind, keys) = written_shape(shape);
    file.text("kind", kind);
    for (key, value) in keys {
        file.plain(key, value);
    }
    file.quantity("rate", links.switch.rate);
    file.quantity("delay", links.switch.delay);
    file.quantity("host_rate", links.host.rate);
    file.quantity("host_delay", links.host.delay);
}

fn write_routing(file: &mut File, parts: &Parts) {
    file.section("[routing]");
    match &parts.routing {
        Rules::Rule(routing) => {
            for (key, word) in written_rule(*routing) {
                file.text(key, word);
            }
            if let Multipath::Single {
                tie_break: TieBreak::Seeded(seed),
            } = routing.multipath
                && seed != parts.config.seed
            {
                file.plain("seed", seed);
            }
        }
        Rules::Tables(routes) => {
            file.text("kind", "tables");
            write_tables(file, &parts.fabric.topology, routes);
        }
    }
}

fn write_class_map(file: &mut File, parts: &Parts) {
    let topology = &parts.fabric.topology;
    match &parts.classes {
        classes::Written::Dateline(_) => {
            file.section("[classes]");
            file.text("kind", "dateline");
        }
        _ => write_classes(file, topology, &parts.config.classes),
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

/// A flow and what it waits for.
fn write_flow(file: &mut File, parts: &Parts, plan: &Plan, follows: &[&Follow]) {
    let mut flow = Flow::of(plan, &parts.fabric.topology);
    if let [first, ..] = follows {
        let firsts = follows.iter().map(|follow| follow.first.index());
        let names = firsts.map(|first| At::of(parts.plans[first].name.clone()));
        flow.after = Key::of(names.collect());
        flow.delay = Key::of(first.delay);
    }
    file.section("[[flow]]");
    flow.write(file);
}

fn write_rest(file: &mut File, parts: &Parts) {
    file.section("[timing]");
    parts.timing.write(file);
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
