//! The scenario as a file in which nothing is left out: reading it gives the same run.

use std::collections::BTreeMap;

use pauseless_core::id::NodeId;
use pauseless_fabric::generate::{LinkSpecs, Shape};
use pauseless_fabric::path::Step;
use pauseless_fabric::routing::{Multipath, TieBreak};
use pauseless_fabric::topology::NodeKind;

use pauseless_sim::config::{Follow, Ties, Transmission};

use super::file::{File, quote};
use super::flows::Plan;
use super::port_group::PortGroup;
use super::routing::{write_tables, written_rule};
use super::topology::written_shape;
use super::{Parts, Rules, classes, flow_control, mitigation, observe, switch, verdict, wire_loss};
use crate::declare::{Declared, Key};
use crate::fabric::toml::write_classes;

/// Every default and every derived value, written out.
pub(crate) fn write(parts: &Parts) -> String {
    let mut file = File::default();
    parts.general.write(&mut file);
    write_topology(&mut file, parts);
    write_routing(&mut file, parts);
    write_class_map(&mut file, parts);
    // The most common parameters stand for all, the others for the ports that they are about.
    let groups = &parts.control.groups;
    let base = groups.iter().max_by_key(|group| group.members.len());
    if let Some(base) = base {
        write_switch(&mut file, parts, base);
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

/// `[switch]` and `[flow_control]`. The parameters of `base` stand for all ports, but those of switches
/// do where ports share their memory: the buffers of hosts follow from their links then, unless they
/// were written.
fn write_switch(file: &mut File, parts: &Parts, base: &PortGroup) {
    let switches = &parts.switches;
    let (groups, topology) = (&parts.control.groups, &parts.fabric.topology);
    let memory = switches.memory.as_ref();
    let shared = memory.map(|memory| memory.resolved(groups, topology));
    let mut keys = switches.keys();
    keys.buffer = match shared {
        None => Key::of(base.ingress.buffer),
        Some(_) => switches.buffer.clone(),
    };
    keys.memory = shared.flatten().map_or(Key::default(), Key::of);
    file.section(&format!("[{}]", switch::SECTION));
    keys.write(file);
    let sharing = groups.iter().filter(|group| group.memory.is_some());
    let sharing = sharing.max_by_key(|group| group.members.len());
    flow_control::write(file, sharing.unwrap_or(base), parts.is_unsafe);
    if sharing.is_none() {
        for group in groups.iter().filter(|group| !group.is_like(base)) {
            flow_control::write_at(file, topology, group);
        }
    }
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
    observe::write_receivers(file, config);
    mitigation::write(file, &config.topology, &config.mitigation);
    if let Some(probe) = &parts.probe {
        probe.write_resolved(file, config);
    }
    observe::write_provenance(file, config.is_tracing);
    verdict::write(file, config);
}
