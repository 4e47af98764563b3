//! From a run of the simulator to the nodes of a real network that do the same.

use std::fmt;

use pauseless_core::class_map::ClassMap;
use pauseless_core::congestion::{AnyNotificationPoint, AnyReactionPoint, CongestionControl};
use pauseless_core::flow_control::{FlowControl, cbfc};
use pauseless_core::id::{FlowId, NodeId, PortId};
use pauseless_core::unit::{Bytes, Span};
use pauseless_core::wire::roce::Data;
use pauseless_core::wire::{Envelope, MacAddress};
use pauseless_dataplane::config::{
    Common, HostNodeConfig, ReceivedFlow, SentFlow, SwitchNodeConfig,
};
use pauseless_sim::config::{Flow, Reaction, Recovery, Watchdog};
use pauseless_sim::{Config, port_config, switch_config};

/// What a scenario does not say about real nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What control frames travel in.
    pub envelope: Envelope,
    /// How far behind the clock a port may be and still catch up: no less than the time between two looks
    /// at it, or it loses capacity with every look.
    pub slack: Span,
}

/// A node of a real network.
#[derive(Clone, Debug)]
pub struct NodePlan {
    /// Its number in the scenario.
    pub node: NodeId,
    /// What it is told.
    pub config: NodeConfig,
    /// What is at the far end of each of its ports.
    pub peers: Vec<(NodeId, PortId)>,
}

impl NodePlan {
    /// Lets buffer-based GFC say its stage again every so often where the scenario does not: neighbours
    /// of a machine that starts anew, or behind a cable that was unplugged, would keep a stage that
    /// nobody takes back. As often as credits are said, for a thousandth of the line.
    pub fn heal(&mut self) {
        let ports = match &mut self.config {
            NodeConfig::Switch(config) => config.switch.ports.iter_mut(),
            NodeConfig::Host(config) => std::slice::from_mut(&mut config.port).iter_mut(),
        };
        for port in ports {
            for lane in &mut port.lanes {
                if let FlowControl::GfcBuffer(config) = &mut lane.ingress {
                    config
                        .refresh
                        .get_or_insert(cbfc::default_period(port.line));
                }
            }
        }
    }
}

/// What a node is told.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there are a handful of them")]
pub enum NodeConfig {
    /// A switch.
    Switch(SwitchNodeConfig),
    /// A host.
    Host(HostNodeConfig),
}

impl NodeConfig {
    /// What both kinds have in common.
    pub fn common(&self) -> &Common {
        match self {
            NodeConfig::Switch(config) => &config.common,
            NodeConfig::Host(config) => &config.common,
        }
    }
}

/// What of a scenario the real wire cannot do, everything at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// One sentence for each, with what to do about it.
    pub reasons: Vec<String>,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not on a real wire: {}", self.reasons.join("; "))
    }
}

impl std::error::Error for Unsupported {}

/// The nodes of `config`, in the order of its topology.
pub fn nodes(config: &Config, options: &Options) -> Result<Vec<NodePlan>, Unsupported> {
    let reasons = refusals(config);
    if !reasons.is_empty() {
        return Err(Unsupported { reasons });
    }
    let count = config.topology.nodes().len() as u32;
    Ok((0..count)
        .map(|node| plan(config, NodeId(node), options))
        .collect())
}

fn plan(config: &Config, node: NodeId, options: &Options) -> NodePlan {
    let topology = &config.topology;
    let ports = topology.ports(node);
    let port_ids = (0..ports.len()).map(|port| PortId(port as u16));
    let common = Common {
        name: topology.node(node).name.clone(),
        addresses: port_ids
            .map(|port| MacAddress::of_port(node, port))
            .collect(),
        neighbours: ports
            .iter()
            .map(|port| topology.node(port.peer).name.clone())
            .collect(),
        envelope: options.envelope,
        slack: options.slack,
        resolution: config.probes.resolution,
    };
    NodePlan {
        node,
        config: match topology.is_host(node) {
            true => NodeConfig::Host(host(config, node, common)),
            false => NodeConfig::Switch(switch(config, node, common)),
        },
        peers: ports
            .iter()
            .map(|port| (port.peer, port.peer_port))
            .collect(),
    }
}

fn switch(config: &Config, node: NodeId, common: Common) -> SwitchNodeConfig {
    let mut forwarding = Vec::new();
    for (flow, id) in numbered(config) {
        let data = config.table.next_hop(node, flow.group, flow.hash);
        forwarding.extend(data.map(|port| (MacAddress::of_flow(id), port)));
        if let Reaction::Controlled { group, .. } = flow.reaction {
            let answers = config.table.next_hop(node, group, flow.hash);
            forwarding.extend(answers.map(|port| (MacAddress::of_answers(id), port)));
        }
    }
    SwitchNodeConfig {
        common,
        switch: switch_config(config, node),
        forwarding,
        watchdog: match &config.mitigation.watchdog {
            Watchdog::Off => None,
            Watchdog::On(watchdog) => Some(*watchdog),
        },
    }
}

fn host(config: &Config, node: NodeId, common: Common) -> HostNodeConfig {
    let sends = numbered(config).filter(|(flow, _)| flow.source == node);
    let receives = numbered(config).filter(|(flow, _)| flow.target == node);
    HostNodeConfig {
        common,
        port: port_config(config, node, PortId(0)),
        sends: sends.map(|(flow, id)| sent(config, flow, id)).collect(),
        receives: receives
            .map(|(flow, id)| received(config, flow, id))
            .collect(),
    }
}

fn sent(config: &Config, flow: &Flow, id: FlowId) -> SentFlow {
    let control = match flow.reaction {
        Reaction::None => AnyReactionPoint::None { rate: flow.pace },
        Reaction::Controlled { initial, .. } => {
            let line = config.topology.port(flow.source, PortId(0)).rate;
            config.congestion.control.reaction_point(line, initial)
        }
    };
    SentFlow {
        flow: id,
        name: flow.name.clone(),
        target: MacAddress::of_flow(id),
        class: flow.class,
        packet: flow.packet,
        pace: flow.pace,
        size: flow.size,
        start: flow.start,
        stop: flow.stop,
        duty: flow.duty,
        control,
    }
}

fn received(config: &Config, flow: &Flow, id: FlowId) -> ReceivedFlow {
    let (answer_class, point) = match flow.reaction {
        Reaction::None => (flow.class, AnyNotificationPoint::None),
        Reaction::Controlled { class, .. } => {
            (class, config.congestion.control.notification_point())
        }
    };
    ReceivedFlow {
        flow: id,
        name: flow.name.clone(),
        address: MacAddress::of_flow(id),
        answers_to: MacAddress::of_answers(id),
        answer_class,
        point,
    }
}

fn numbered(config: &Config) -> impl Iterator<Item = (&Flow, FlowId)> {
    config.flows.iter().zip((0..).map(FlowId))
}

/// The largest frame that an interface with the usual MTU carries, FCS included.
pub const FRAME_MAX: Bytes = Bytes::new(1_518);

/// The smallest data frame: all headers, the number and the time stamp of its payload, FCS included.
pub const FRAME_MIN: Bytes = Data::SIZE_MIN;

/// Everything that real nodes cannot do, a sentence each.
fn refusals(config: &Config) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut refuse = |is_refused: bool, reason: &str| {
        if is_refused {
            reasons.push(reason.to_string());
        }
    };
    let control = &config.congestion.control;
    refuse(
        matches!(control, CongestionControl::Qcn(_)),
        "QCN has no frame format here; take PCN or DCQCN",
    );
    refuse(
        matches!(control, CongestionControl::Timely(_)) || config.congestion.ack_every > 0,
        "hosts send no acknowledgements, which TIMELY needs; take PCN or DCQCN without `ack_every`",
    );
    let is_conceptual = |control: &FlowControl| matches!(control, FlowControl::GfcConceptual(_));
    refuse(
        config.ingress.any(is_conceptual),
        "conceptual GFC speaks continuously, which no frame can; take gfc-buffer or gfc-time",
    );
    refuse(
        config.classes != ClassMap::Same,
        "switches leave every frame in its class; take `[classes]` out",
    );
    refuse(
        !config.receivers.is_empty(),
        "hosts take every frame at once; take `[[receiver]]` out",
    );
    refuse(
        !config.follows.is_empty(),
        "flows cannot wait for flows of other machines; give each its own start",
    );
    refuse(
        config.wire_overhead > Bytes::ZERO,
        "the emulated line counts frame bytes only; take `wire_overhead` out",
    );
    refuse(
        config.mitigation.recovery != Recovery::None,
        "no node sees a deadlock of several, so none drains it; take `[recovery]` out",
    );
    refuse(
        !config.mitigation.limits.is_empty(),
        "ports have no rate limits; take `[[rate_limit]]` out",
    );
    reasons.extend(config.flows.iter().filter_map(refusal_of_flow));
    reasons
}

/// What of a flow real nodes cannot do.
fn refusal_of_flow(flow: &Flow) -> Option<String> {
    let name = &flow.name;
    if flow.ttl != Flow::TTL_NONE {
        return Some(format!(
            "flow {name}: switches count no hops; take its TTL out"
        ));
    }
    let last = Bytes::new(flow.size.get() % flow.packet.get());
    let is_cut = flow.is_finite() && last > Bytes::ZERO && last < FRAME_MIN;
    if flow.packet > FRAME_MAX || flow.packet < FRAME_MIN || is_cut {
        let (min, max) = (FRAME_MIN.get(), FRAME_MAX.get());
        return Some(format!(
            "flow {name}: frames, its last one too, have {min} to {max} bytes; change `mtu`, `packet` or `size`"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Overrides, Scenario};

    fn scenario(more: &str) -> Scenario {
        let text = format!(
            r#"duration = "1 ms"
            {more}
            [topology]
            kind = "ring"
            switches = 3
            hosts_per_switch = 1
            rate = "200 Mbps"
            delay = "1 us"
            [switch]
            buffer = "300 KB"
            [[flow]]
            name = "F1"
            source = "H1"
            target = "H3"
            path = ["S1", "S2", "S3"]"#
        );
        let control = "[flow_control]\nkind = \"pfc\"\nxoff = \"150 KB\"\nxon = \"147 KB\"\n";
        let text = match more.contains("[flow_control]") {
            true => text,
            false => format!("{text}\n{control}"),
        };
        Scenario::parse("test", &text, &Overrides::default()).unwrap_or_else(|it| panic!("{it}"))
    }

    fn planned(config: &Config) -> Vec<NodePlan> {
        nodes(config, &Options::default()).unwrap_or_else(|it| panic!("{it}"))
    }

    #[test]
    fn a_frame_of_a_flow_finds_its_way_hop_by_hop_and_a_host_knows_it() {
        let config = scenario("").config;
        let plans = planned(&config);
        let (mut node, mut port) = (config.topology.node_named("H1").unwrap(), PortId(0));
        let mut way = Vec::new();
        loop {
            let (next, _) = plans[node.index()].peers[port.index()];
            way.push(plans[next.index()].config.common().name.as_str());
            node = next;
            let NodeConfig::Switch(switch) = &plans[node.index()].config else {
                break;
            };
            let address = MacAddress::of_flow(FlowId(0));
            let entry = switch.forwarding.iter().find(|(to, _)| *to == address);
            port = entry.expect("the way goes on").1;
        }
        assert_eq!(way, ["S1", "S2", "S3", "H3"]);
        let NodeConfig::Host(target) = &plans[node.index()].config else {
            panic!("ends at a host");
        };
        assert_eq!(target.receives[0].address, MacAddress::of_flow(FlowId(0)));
        assert!(target.sends.is_empty());
    }

    #[test]
    fn both_ends_of_a_link_name_each_other() {
        for (index, plan) in planned(&scenario("").config).iter().enumerate() {
            let plans = planned(&scenario("").config);
            for (port, (peer, peer_port)) in plan.peers.iter().enumerate() {
                let back = plans[peer.index()].peers[peer_port.index()];
                assert_eq!(back, (NodeId(index as u32), PortId(port as u16)));
            }
        }
    }

    #[test]
    fn answers_are_forwarded_back_where_flows_are_controlled() {
        let config = scenario("[congestion_control]\nkind = \"dcqcn\"").config;
        let answers = MacAddress::of_answers(FlowId(0));
        let switches = planned(&config)
            .into_iter()
            .filter_map(|plan| match plan.config {
                NodeConfig::Switch(switch) => Some(switch),
                NodeConfig::Host(_) => None,
            });
        let way = switches.filter(|it| it.forwarding.iter().any(|(to, _)| *to == answers));
        assert!(way.count() >= 2);
    }

    #[test]
    fn what_the_wire_cannot_do_is_refused_all_at_once() {
        let mut config = scenario("[congestion_control]\nkind = \"timely\"").config;
        config.flows[0].ttl = 16;
        config.wire_overhead = Bytes::new(20);
        let error = nodes(&config, &Options::default()).unwrap_err();
        assert_eq!(error.reasons.len(), 3, "{error}");
        assert!(
            error
                .to_string()
                .contains("flow F1: switches count no hops")
        );
        config.flows[0].ttl = Flow::TTL_NONE;
        config.flows[0].packet = Bytes::new(9_000);
        let error = nodes(&config, &Options::default()).unwrap_err();
        assert!(error.to_string().contains("to 1518 bytes"), "{error}");
    }
}
