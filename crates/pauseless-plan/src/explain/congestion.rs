//! The parameters of the congestion control, with their units and where they come from.

use std::collections::BTreeSet;

use pauseless_core::congestion::marking::Thresholds;
use pauseless_core::congestion::{CongestionControl, scaled};
use pauseless_core::id::NodeId;
use pauseless_core::unit::{Bytes, Rate};
use pauseless_fabric::topology::Topology;
use pauseless_sim::config::Reaction;

use super::Group;
use pauseless_scenario::Scenario;
use pauseless_scenario::congestion::{Chosen, schemes};
use pauseless_scenario::steps::Steps;

/// The parameters of hosts and switches for congestion control; `None` if there is none.
pub(super) fn group(scenario: &Scenario) -> Option<Group> {
    let congestion = &scenario.config.congestion;
    if congestion.control == CongestionControl::None && congestion.ack_every == 0 {
        return None;
    }
    let mut steps = Steps::default();
    common(&mut steps, scenario);
    parameters(&mut steps, congestion.control);
    in_force(&mut steps, scenario);
    let flows = &scenario.config.flows;
    let told = flows.iter().filter(|flow| flow.reaction != Reaction::None);
    let name = congestion.control.name();
    let title = format!("congestion control {name} for {} of {} flows", told.count(), flows.len());
    Some(Group { title, rows: steps.rows, stages: Vec::new() })
}

/// The origin of a value that may have been written in the file.
fn origin(is_default: bool, default: &'static str) -> &'static str {
    if is_default { default } else { "scenario" }
}

fn common(steps: &mut Steps, scenario: &Scenario) {
    let congestion = &scenario.config.congestion;
    let class = scenario.config.flows.iter().find_map(|flow| match flow.reaction {
        Reaction::Controlled { class, .. } if class != flow.class => Some(class.0),
        _ => None,
    });
    let class = class.map_or("that of the data".to_string(), |class| class.to_string());
    steps.add("class", "in which sources are told", class, "as run");
    let every = match congestion.ack_every {
        0 => "never".to_string(),
        1 => "every packet".to_string(),
        n => format!("every {n} packets"),
    };
    let is_default = congestion.ack_every == congestion.control.ack_every();
    steps.add("ack_every", "the target acknowledges", every, origin(is_default, "default"));
}

/// A row for each key of the scheme, with its sentence.
fn parameters(steps: &mut Steps, control: CongestionControl) {
    let schemes = schemes();
    let chosen = Chosen::new(control);
    let Some((name, keys)) = schemes.keys_of(&chosen) else {
        return;
    };
    let variant = schemes.named(name).expect("a kind that has keys has a name");
    steps.declared((variant.info)(), &*keys);
}

/// The values that are not used as they are written, for each speed of a link that they have.
fn in_force(steps: &mut Steps, scenario: &Scenario) {
    let topology = &scenario.config.topology;
    let (control, hosts) = (scenario.config.congestion.control, speeds(topology, topology.hosts()));
    let (reference, rates) = match control {
        CongestionControl::Dcqcn(it) => {
            (it.reference, vec![("rate_ai", it.rate_ai), ("rate_hai", it.rate_hai)])
        }
        CongestionControl::Qcn(it) => {
            (it.reference, vec![("rate_ai", it.rate_ai), ("rate_hai", it.rate_hai)])
        }
        CongestionControl::Timely(it) => (it.reference, vec![("delta", it.delta)]),
        _ => return,
    };
    if let CongestionControl::Dcqcn(config) = control {
        let marking = config.marking;
        let written = Thresholds {
            kmin: marking.kmin.get() as f64,
            kmax: marking.kmax.get() as f64,
            pmax: marking.pmax,
        };
        for line in speeds(topology, topology.switches()) {
            let at = marking.at(line);
            if at == written {
                continue;
            }
            for (name, bytes) in [("kmin", at.kmin), ("kmax", at.kmax)] {
                let bytes = Bytes::new(bytes.round() as u64);
                steps.bytes(name, &format!("in force at an egress of {line}"), bytes, "as run");
            }
        }
    }
    let Some(reference) = reference else {
        return;
    };
    for line in hosts.into_iter().filter(|line| *line != reference) {
        for (name, rate) in &rates {
            let rate = Rate::bps(scaled(*rate, line, Some(reference)).round().max(1.0) as u64);
            steps.add(name, &format!("in force at a host's link of {line}"), rate, "as run");
        }
    }
}

/// The speeds of the ports of these nodes, each once.
fn speeds(topology: &Topology, nodes: &[NodeId]) -> BTreeSet<Rate> {
    let ports = nodes.iter().flat_map(|node| topology.ports(*node));
    ports.map(|port| port.rate).collect()
}
