//! How much the links carried, and how they were held back.

use std::collections::BTreeMap;

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_sim::{Config, Outcome};

/// A port, which stands for the direction of its link in which it sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortUse {
    /// The node that sends.
    pub node: NodeId,
    /// The port of the node that sends.
    pub port: PortId,
    /// Bytes of data and answers that it sent.
    pub sent: Bytes,
    /// Frames for which load balancing chose it among several next hops; `None` where nothing but the
    /// hash of flows chooses.
    pub balanced: Option<u64>,
    /// Their share of what the link could have carried.
    pub utilisation: f64,
    /// How often it was told to stop although it was not stopped.
    pub pauses: u64,
    /// How long it was stopped, or slowed down by GFC.
    pub held: Span,
    /// The first time at which it was held.
    pub held_first: Option<Time>,
    /// The last time at which it was held.
    pub held_last: Option<Time>,
}

/// The ports of the nodes of one layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerUse {
    /// The layer: 0 for hosts, 1 for the switches next to them, and so on.
    pub layer: u8,
    /// How many ports there are.
    pub links: usize,
    /// The mean of their utilisations.
    pub utilisation_mean: f64,
    /// The largest of their utilisations.
    pub utilisation_max: f64,
    /// How often they were told to stop, in all.
    pub pauses: u64,
    /// The pauses per port and millisecond of simulated time.
    pub pause_per_ms_per_link: f64,
    /// How many of them were ever held.
    pub links_held: usize,
}

/// Every port of a run.
pub fn ports(config: &Config, outcome: &Outcome) -> Vec<PortUse> {
    let seconds = (outcome.end - Time::ZERO).as_secs_f64();
    let ports = outcome.ports.iter().map(|port| {
        let rate = config.topology.port(port.node, port.port).rate;
        let capacity = rate.as_bps() as f64 * seconds;
        PortUse {
            node: port.node,
            port: port.port,
            sent: port.sent,
            balanced: (!config.is_by_flow_hash()).then_some(port.balanced),
            utilisation: match capacity {
                0.0 => 0.0,
                capacity => port.sent.get() as f64 * 8.0 / capacity,
            },
            pauses: port.pauses,
            held: port.held,
            held_first: port.held_first,
            held_last: port.held_last,
        }
    });
    ports.collect()
}

/// The use of each layer, without layers that have no port.
pub(super) fn layers(config: &Config, outcome: &Outcome, ports: &[PortUse]) -> Vec<LayerUse> {
    let mut layers: BTreeMap<u8, Vec<&PortUse>> = BTreeMap::new();
    for port in ports {
        let layer = config.topology.node(port.node).layer;
        layers.entry(layer).or_default().push(port);
    }
    let ms = (outcome.end - Time::ZERO).as_secs_f64() * 1e3;
    let layers = layers.into_iter().map(|(layer, ports)| {
        let links = ports.len();
        let utilisations = ports.iter().map(|port| port.utilisation);
        let pauses: u64 = ports.iter().map(|port| port.pauses).sum();
        LayerUse {
            layer,
            links,
            utilisation_mean: utilisations.clone().sum::<f64>() / links as f64,
            utilisation_max: utilisations.fold(0.0, f64::max),
            pauses,
            pause_per_ms_per_link: match ms {
                0.0 => 0.0,
                ms => pauses as f64 / ms / links as f64,
            },
            links_held: ports.iter().filter(|port| port.held_first.is_some()).count(),
        }
    });
    layers.collect()
}
