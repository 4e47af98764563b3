//! The scenario as a file in which nothing is left out: reading it gives the same run.

use std::collections::BTreeMap;

use pauseless_core::id::FlowId;

use pauseless_sim::config::Follow;

use super::classes::ClassRule;
use super::flows::{FLOW, Flow, Plan, TIMING};
use super::port_group::PortGroup;
use super::routing::{Rule, TableKeys};
use super::{
    At, Rules, Scenario, flow_control, mitigation, observe, routing, switch, topology, verdict,
    wire_loss,
};
use pauseless_text::declare::{Key, Written};
use pauseless_text::file::File;

/// Every default and every derived value, written out.
pub(crate) fn write(scenario: &Scenario) -> String {
    let Scenario { parts, config, .. } = scenario;
    let mut file = File::default();
    parts.general.write(&mut file);
    topology::write(&mut file, parts.shape.as_ref(), &parts.healthy, &parts.failed);
    write_routing(&mut file, scenario);
    write_classes(&mut file, scenario);
    // The most common parameters stand for all, the others for the ports that they are about.
    let groups = &scenario.port_groups;
    let base = groups.iter().max_by_key(|group| group.members.len());
    if let Some(base) = base {
        write_switch(&mut file, scenario, base);
    }
    parts.congestion.write(&mut file);
    parts.transport.write(&mut file);
    let mut after: BTreeMap<FlowId, Vec<&Follow>> = BTreeMap::new();
    for follow in &config.follows {
        after.entry(follow.then).or_default().push(follow);
    }
    for (flow, plan) in &parts.plans {
        let follows = after.get(flow).map_or(&[][..], Vec::as_slice);
        write_flow(&mut file, scenario, plan, follows);
    }
    for traffic in &parts.traffic {
        traffic.write(&mut file);
    }
    write_rest(&mut file, scenario);
    file.text
}

fn write_routing(file: &mut File, scenario: &Scenario) {
    let config = &scenario.config;
    let rule = match &scenario.parts.routing {
        Rules::Rule(routing) => Rule::of(*routing, config.seed),
        Rules::Tables(groups) => {
            Rule::Tables(TableKeys::of(&config.topology, &config.table, groups))
        }
    };
    file.table(routing::NAME, &rule);
}

fn write_classes(file: &mut File, scenario: &Scenario) {
    let config = &scenario.config;
    match &scenario.parts.classes {
        ClassRule::Dateline => ClassRule::Dateline.write(file),
        _ => ClassRule::of(&config.topology, &config.classes).write(file),
    }
}

/// `[switch]` and `[flow_control]`. The parameters of `base` stand for all ports, but those of switches
/// do where ports share their memory: the buffers of hosts follow from their links then, unless they
/// were written.
fn write_switch(file: &mut File, scenario: &Scenario, base: &PortGroup) {
    let parts = &scenario.parts;
    let switches = &parts.switches;
    let (groups, topology) = (&scenario.port_groups, &scenario.config.topology);
    let memory = switches.memory.as_ref();
    let shared = memory.map(|memory| memory.resolved(groups, topology));
    let mut keys = switches.keys();
    keys.buffer = match shared {
        None => Key::of(base.ingress.buffer),
        Some(_) => switches.buffer.clone(),
    };
    keys.memory = shared.flatten().map_or(Key::default(), Key::of);
    file.table(switch::SECTION, &keys);
    let sharing = groups.iter().filter(|group| group.memory.is_some());
    let sharing = sharing.max_by_key(|group| group.members.len());
    let besides = flow_control::Besides { is_unsafe: parts.is_unsafe, switches };
    flow_control::write(file, sharing.unwrap_or(base), &scenario.config.ingress, besides);
    if sharing.is_none() {
        for group in groups.iter().filter(|group| !group.is_like(base)) {
            flow_control::write_at(file, topology, group);
        }
    }
}

/// A flow and what it waits for, all after the same delay.
fn write_flow(file: &mut File, scenario: &Scenario, plan: &Plan, follows: &[&Follow]) {
    let config = &scenario.config;
    let mut flow = Flow::of(plan, &config.topology);
    if let [first, ..] = follows {
        let firsts = follows.iter().map(|follow| follow.first.index());
        let names = firsts.map(|first| At::of(config.flows[first].name.clone()));
        flow.after = Key::of(names.collect());
        flow.delay = Key::of(first.delay);
    }
    file.one_of(FLOW, &flow);
}

fn write_rest(file: &mut File, scenario: &Scenario) {
    let Scenario { parts, config, .. } = scenario;
    file.table(TIMING, &parts.timing);
    wire_loss::write(file, &config.topology, &config.wire_loss);
    observe::write_receivers(file, config);
    mitigation::write(file, &config.topology, &config.mitigation);
    parts.load_balancing.write(file);
    parts.weights.write(file);
    parts.events.write(file);
    if let Some(probe) = &parts.probe {
        probe.write_resolved(file, config);
    }
    observe::write_provenance(file, config.is_tracing);
    verdict::write(file, config);
}
