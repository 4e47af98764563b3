//! Why the memory of switches is divided as it is, where ports share it.

use std::collections::BTreeMap;

use pauseless_core::flow_control::{Control, FlowControl, pfc};
use pauseless_core::id::NodeId;
use pauseless_core::memory::{HeadroomPool, LaneMemory, MemoryConfig, SharedConfig, Threshold};
use pauseless_core::unit::Bytes;

use super::Group;
use pauseless_scenario::steps::Steps;
use pauseless_scenario::{PortGroup, Scenario};
use pauseless_text::declare::written_alpha;
use pauseless_text::quantity;

const RULE: &str = "docs/protocols.md#pfc-headroom";

/// What one (ingress, class) may have.
pub(super) fn steps(steps: &mut Steps, group: &PortGroup, memory: &LaneMemory) {
    if let FlowControl::Pfc(config) = &group.ingress.control {
        headroom(steps, group, memory);
        let pause = pfc::pause_span(config.quanta, group.derivation.latency.line);
        let formula = format!("{} quanta of 512 bits", config.quanta);
        steps.add("pause", &formula, pause, "802.1Q 36.1.3");
    }
    if memory.reserve > Bytes::ZERO {
        steps.bytes("reserve", "its own; by default one MTU", memory.reserve, "as run");
    }
    match memory.threshold {
        Threshold::Static(bytes) => {
            steps.bytes("threshold", "of the pool; pause at it", bytes, "as run");
        }
        Threshold::Dynamic(alpha) => {
            steps.add(
                "alpha",
                "pause at alpha times what is free of the pool",
                written_alpha(alpha),
                "as run",
            );
        }
        Threshold::Partition { alpha, .. } => {
            let formula = "pause at alpha (b_i / sum b (free of the pool) + b_i - s_i)";
            steps.add("alpha", formula, written_alpha(alpha), "ttl 2.3 eq 16");
        }
    }
    steps.bytes("offset", "resume so far below; by default 2 MTU", memory.resume_offset, "as run");
}

fn headroom(steps: &mut Steps, group: &PortGroup, memory: &LaneMemory) {
    let latency = &group.derivation.latency;
    steps.bytes("crossing", "the frame that finds headroom first: one MTU", latency.mtu, RULE);
    let messages = Control::SIZE * u64::from(latency.classes);
    steps.bytes("messages", &format!("{} for each class", Control::SIZE), messages, RULE);
    steps.bytes("headroom >=", "C tau + crossing + messages", latency.pfc_headroom(), RULE);
    steps.bytes("headroom", "for what arrives after the PAUSE", memory.headroom, "as run");
}

/// How the memory of switches is divided, those that are alike once.
pub(super) fn groups(scenario: &Scenario) -> Vec<Group> {
    let config = &scenario.config;
    let mut alike: Vec<(&SharedConfig, Vec<NodeId>)> = Vec::new();
    for &switch in config.topology.switches() {
        let MemoryConfig::Shared(shared) = config.ingress.memory(switch) else {
            continue;
        };
        match alike.iter_mut().find(|(other, _)| *other == shared) {
            Some((_, switches)) => switches.push(switch),
            None => alike.push((shared, vec![switch])),
        }
    }
    let groups = alike.into_iter().map(|(shared, switches)| Group {
        title: title(scenario, &switches),
        rows: division(shared).rows,
        stages: Vec::new(),
    });
    groups.collect()
}

fn title(scenario: &Scenario, switches: &[NodeId]) -> String {
    const SHOWN: usize = 4;
    let names = switches.iter().map(|switch| &scenario.config.topology.node(*switch).name);
    format!("memory of {}", quantity::some(names, SHOWN))
}

fn division(shared: &SharedConfig) -> Steps {
    let mut steps = Steps::default();
    let lanes = shared.lanes.len();
    let ports = lanes / shared.class_count;
    let sizes = shared.sizes();
    steps.bytes("B", "memory of the switch", sizes.total, "scenario");
    let formula = match shared.headroom {
        HeadroomPool::Class => format!("of {ports} ports, {} of each", classes(shared)),
        HeadroomPool::Port(_) => format!("of {ports} ports, shared by {}", classes(shared)),
        HeadroomPool::Switch(_) => format!("shared by {ports} ports, {} of each", classes(shared)),
    };
    steps.bytes("headroom", &formula, sizes.headroom, "as run");
    let dedicated = sizes.total - sizes.headroom - sizes.pool;
    let formula = if shared.partitions.is_empty() {
        format!("reserves of {ports} ports, {} of each", classes(shared))
    } else {
        format!("partitions of {}", classes(shared))
    };
    steps.bytes("dedicated", &formula, dedicated, "as run");
    steps.bytes("pool", "B - headroom - dedicated, for all", sizes.pool, "derived here");
    let mut alphas = BTreeMap::new();
    for lane in &shared.lanes {
        if let Threshold::Dynamic(alpha) = lane.threshold {
            alphas.insert((alpha.numerator(), alpha.denominator()), alpha);
        }
    }
    for alpha in alphas.into_values() {
        for active in [1, ports as u64] {
            let whose = match active {
                1 => "one queue alone".to_string(),
                n => format!("each of {n} queues, all of which want more"),
            };
            let formula =
                format!("{whose}: a / (1 + n a) of the pool, a = {}", written_alpha(alpha));
            let bytes = alpha.fixed_point(sizes.pool, active);
            steps.bytes("may have", &formula, bytes, "Choudhury, Hahne");
        }
    }
    steps
}

fn classes(shared: &SharedConfig) -> String {
    quantity::plural(shared.class_count as u64, "class")
}
