//! From a run of the simulator to the nodes of a real network that do the same.

use std::fmt;

use pauseless_core::class_map::ClassMap;
use pauseless_core::congestion::{
    AnyNotificationPoint, AnyReactionPoint, CongestionControl, Source,
};
use pauseless_core::flow_control::{FlowControl, cbfc};
use pauseless_core::id::{FlowId, NodeId, PortId};
use pauseless_core::transport::Receiver;
use pauseless_core::unit::{Bytes, Span};
use pauseless_dataplane::config::{
    Common, HostNodeConfig, ReceivedFlow, SentFlow, SwitchNodeConfig,
};
use pauseless_fabric::topology::Topology;
use pauseless_sim::config::{Flow, Reaction, Recovery, Watchdog, WireLoss};
use pauseless_sim::served::Served;
use pauseless_sim::{Config, port_config, switch_config};
use pauseless_wire::roce::Data;
use pauseless_wire::{Envelope, MacAddress};

use pauseless_text::quantity;

/// What a scenario does not say about real nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The kind of frames that carry messages of flow control.
    pub envelope: Envelope,
    /// How far behind the clock a port may be and still catch up: no less than the time between two looks
    /// at it, or it loses capacity with every look.
    pub slack: Span,
}

/// A node of a real network.
#[derive(Clone, Debug)]
pub struct NodePlan {
    /// The number of the node in the scenario.
    pub node: NodeId,
    /// The configuration of the node.
    pub config: NodeConfig,
    /// What is at the far end of each of its ports.
    pub peers: Vec<(NodeId, PortId)>,
}

impl NodePlan {
    /// Takes samples only as the probe of `config` wants them: those that a testbed judges flows by
    /// would pile up in a node that runs for days.
    pub fn sample_as_probed(&mut self, config: &Config) {
        let common = match &mut self.config {
            NodeConfig::Switch(config) => &mut config.common,
            NodeConfig::Host(config) => &mut config.common,
        };
        common.resolution = config.probes.resolution;
    }

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
                    config.refresh.get_or_insert(cbfc::default_period(port.line));
                }
            }
        }
    }
}

/// The configuration of a node.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there are a handful of them")]
pub enum NodeConfig {
    /// The configuration of a switch.
    Switch(SwitchNodeConfig),
    /// The configuration of a host.
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
    Ok((0..count).map(|node| plan(config, NodeId(node), options)).collect())
}

fn plan(config: &Config, node: NodeId, options: &Options) -> NodePlan {
    let topology = &config.topology;
    let ports = topology.ports(node);
    let port_ids = (0..ports.len()).map(|port| PortId(port as u16));
    let common = Common {
        name: topology.node(node).name.clone(),
        addresses: port_ids.map(|port| MacAddress::of_port(node, port)).collect(),
        neighbours: neighbours(topology, node),
        envelope: options.envelope,
        slack: options.slack,
        resolution: resolution(config),
    };
    NodePlan {
        node,
        config: if topology.is_host(node) {
            NodeConfig::Host(host(config, node, common))
        } else {
            NodeConfig::Switch(switch(config, node, common))
        },
        peers: ports.iter().map(|port| (port.peer, port.peer_port)).collect(),
    }
}

/// What each port of `node` is called after: its neighbour, with a number where links are parallel.
pub fn neighbours(topology: &Topology, node: NodeId) -> Vec<String> {
    let ports = (0..topology.ports(node).len()).map(|port| PortId(port as u16));
    let name = |port| {
        let name = topology.port_name(node, port);
        let facing = name.split_once(':').map(|(_, facing)| facing.to_string());
        facing.expect("names of ports have two parts")
    };
    ports.map(name).collect()
}

/// The time between two samples of a node: as the probe has it, but short enough for a replay and for
/// judging flows, whether anybody probes them or not.
pub fn resolution(config: &Config) -> Span {
    match config.probes.resolution {
        Span::ZERO => resolution_max(config),
        probed => Span::ps(probed.as_ps() / probe_parts(config)),
    }
}

/// How many samples of a node make one of the probe.
pub fn probe_parts(config: &Config) -> u64 {
    let probed = config.probes.resolution.as_ps();
    let least = probed.div_ceil(resolution_max(config).as_ps()).max(1);
    // In equal parts, so that the probe's instants are what the scenario says.
    let mut even = (least..least.saturating_mul(2)).take(PARTS_TRIED);
    even.find(|parts| probed.is_multiple_of(*parts)).unwrap_or(least)
}

const PARTS_TRIED: usize = 1_000;

/// A beat, by which flows are judged, or a 64th of a short run.
fn resolution_max(config: &Config) -> Span {
    let part = Span::ps((config.duration.as_ps() / 64).max(1));
    Served::new(config).beat().min(part)
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
        receives: receives.map(|(flow, id)| received(config, flow, id)).collect(),
    }
}

fn sent(config: &Config, flow: &Flow, id: FlowId) -> SentFlow {
    let by_clock = |rate| config.by_clock(flow.source, PortId(0), rate);
    let pace = by_clock(flow.pace);
    let control = match flow.reaction {
        Reaction::None => AnyReactionPoint::None { rate: pace },
        Reaction::Controlled { initial, round_trip, .. } => {
            config.congestion.control.reaction_point(Source {
                line: config.line(flow.source, PortId(0)),
                initial: by_clock(initial),
                round_trip,
            })
        }
    };
    SentFlow {
        flow: id,
        name: flow.name.clone(),
        target: MacAddress::of_flow(id),
        class: flow.class,
        packet: flow.packet,
        pace,
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

/// The sentences whose conditions hold.
macro_rules! reasons {
    ($($is_refused:expr => $reason:literal;)+) => {
        Vec::from_iter([$($is_refused.then(|| $reason.to_string())),+].into_iter().flatten())
    };
}

/// Everything that real nodes cannot do, a sentence each.
pub(super) fn refusals(config: &Config) -> Vec<String> {
    let control = &config.congestion.control;
    let is_conceptual = |control: &FlowControl| matches!(control, FlowControl::GfcConceptual(_));
    let is_outside = |control: &FlowControl| matches!(control, FlowControl::Outside(_));
    let is_strange = matches!(control, CongestionControl::Outside(_));
    let awaits_answers = matches!(control, CongestionControl::Timely(_));
    let mut reasons = reasons! {
        matches!(control, CongestionControl::Qcn(_)) =>
            "QCN has no frame format here; take PCN or DCQCN";
        awaits_answers || config.congestion.ack_every > 0 =>
            "hosts send no acknowledgements, which TIMELY needs; take PCN or DCQCN without `ack_every`";
        config.transport.awaits() =>
            "hosts send and forget; take `recovery`, `window` and `finish` out of `[transport]`";
        config.transport.receiver != Receiver::InOrder =>
            "hosts do not look at the order of packets; take `receiver` out of `[transport]`";
        config.transport.entropy.is_spraying() =>
            "hosts send all packets of a flow with one UDP source port; take `[entropy]` out";
        config.wire_loss != WireLoss::default() =>
            "wires lose what they lose; take `wire_loss` out";
        config.ingress.any(is_conceptual) =>
            "conceptual GFC speaks continuously, which no frame can; take gfc-buffer or gfc-time";
        config.ingress.any(is_outside) || is_strange =>
            "a scheme of another crate has no frame format here; take one of ours";
        config.classes != ClassMap::Same =>
            "switches leave every frame in its class; take `[classes]` out";
        !config.receivers.is_empty() => "hosts take every frame at once; take `[[receiver]]` out";
        !config.follows.is_empty() =>
            "flows cannot wait for flows of other machines; give each its own start";
        config.wire_overhead > Bytes::ZERO =>
            "the emulated line counts frame bytes only; take `wire_overhead` out";
        config.mitigation.recovery != Recovery::None =>
            "no node sees a deadlock of several, so none drains it; take `[recovery]` out";
        !config.mitigation.limits.is_empty() =>
            "ports have no rate limits; take `[[rate_limit]]` out";
        !config.is_by_flow_hash() =>
            "switches forward by the hash of flows; take `[[load_balancing]]` out";
        !config.changes.is_empty() =>
            "nobody takes links down or changes tables; take `[[event]]` out";
    };
    let is_counted = |flow: &Flow| flow.ttl != Flow::TTL_NONE;
    let counted = "switches count no hops; take TTLs out".to_string();
    let (min, max) = (FRAME_MIN.get(), FRAME_MAX.get());
    let odd = format!(
        "frames, the last one of a flow too, have {min} to {max} bytes; change `mtu`, `packet` or `size`"
    );
    reasons.extend(refusal_of_flows(config, is_counted, &counted));
    reasons.extend(refusal_of_flows(config, has_odd_frames, &odd));
    reasons
}

/// What real nodes cannot do about some flows, with the names of a few.
fn refusal_of_flows(
    config: &Config,
    is_refused: impl Fn(&Flow) -> bool,
    reason: &str,
) -> Option<String> {
    let refused = Vec::from_iter(config.flows.iter().filter(|flow| is_refused(flow)));
    let names = quantity::some(refused.iter().map(|flow| flow.name.as_str()), NAMES_MAX);
    match refused.len() {
        0 => None,
        1 => Some(format!("flow {names}: {reason}")),
        _ => Some(format!("flows {names}: {reason}")),
    }
}

/// The most names that a message lists.
const NAMES_MAX: usize = 4;

/// Whether a frame of a flow is too large or too small.
fn has_odd_frames(flow: &Flow) -> bool {
    let last = Bytes::new(flow.size.get() % flow.packet.get());
    let is_cut = flow.is_finite() && last > Bytes::ZERO && last < FRAME_MIN;
    flow.packet > FRAME_MAX || flow.packet < FRAME_MIN || is_cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use pauseless_scenario::{Overrides, Scenario};

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
        let text =
            if more.contains("[flow_control]") { text } else { format!("{text}\n{control}") };
        Scenario::parse("test", &text, &Overrides::default()).unwrap_or_else(|it| panic!("{it}"))
    }

    fn planned(config: &Config) -> Vec<NodePlan> {
        nodes(config, &Options::default()).unwrap_or_else(|it| panic!("{it}"))
    }

    #[test]
    fn gfc_repeats_its_stage_on_real_wires_as_the_scenario_says_or_by_default() {
        let refresh = |more: &str| {
            let control = format!(
                "[flow_control]\nkind = \"gfc-buffer\"\nbm = \"280 KB\"\nb1 = \"150 KB\"\n{more}"
            );
            let mut plan = planned(&scenario(&control).config).remove(0);
            plan.heal();
            let ports = match &plan.config {
                NodeConfig::Switch(config) => &config.switch.ports[..],
                NodeConfig::Host(config) => std::slice::from_ref(&config.port),
            };
            match &ports[0].lanes[0].ingress {
                FlowControl::GfcBuffer(config) => config.refresh,
                other => panic!("{other:?}"),
            }
        };
        // 65,535 bytes at 200 Mb/s.
        assert_eq!(refresh(""), Some(Span::ns(2_621_400)));
        assert_eq!(refresh("refresh = \"5 ms\""), Some(Span::ms(5)));
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
    fn parallel_links_have_names_of_their_own() {
        let text = r#"duration = "1 ms"
            [topology]
            kind = "custom"
            rate = "200 Mbps"
            delay = "1 us"
            node = [
                { name = "S", kind = "switch" },
                { name = "T", kind = "switch" },
                { name = "A", kind = "host" },
                { name = "B", kind = "host" },
            ]
            link = [
                { between = ["S", "A"] },
                { between = ["S", "T"] },
                { between = ["S", "T"] },
                { between = ["T", "B"] },
            ]
            [switch]
            buffer = "300 KB"
            [flow_control]
            kind = "pfc"
            xoff = "150 KB"
            xon = "147 KB"
            [[flow]]
            source = "A"
            target = "B""#;
        let scenario = Scenario::parse("test", text, &Overrides::default());
        let config = scenario.unwrap_or_else(|it| panic!("{it}")).config;
        let node = config.topology.node_named("S").unwrap();
        let common = planned(&config)[node.index()].config.common().clone();
        assert_eq!(common.neighbours, ["A", "T", "T#2"]);
    }

    #[test]
    fn samples_are_as_the_probe_wants_them_and_as_flows_are_judged() {
        let mut config = scenario("").config;
        let mut sampled = |probed: Span| {
            config.probes.resolution = probed;
            (resolution(&config), probe_parts(&config))
        };
        // A 64th of a millisecond.
        let tick = Span::ps(15_625_000);
        assert_eq!(sampled(Span::ZERO), (tick, 1));
        assert_eq!(sampled(Span::us(10)), (Span::us(10), 1));
        assert_eq!(sampled(Span::us(100)), (Span::ps(12_500_000), 8));
        assert_eq!(sampled(Span::ms(10)), (tick, 640));
    }

    #[test]
    fn answers_are_forwarded_back_where_flows_are_controlled() {
        let config = scenario("[congestion_control]\nkind = \"dcqcn\"").config;
        let answers = MacAddress::of_answers(FlowId(0));
        let switches = planned(&config).into_iter().filter_map(|plan| match plan.config {
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
        assert!(error.to_string().contains("flow F1: switches count no hops"));
        config.flows = vec![config.flows[0].clone(); 500];
        let error = nodes(&config, &Options::default()).unwrap_err();
        assert_eq!(error.reasons.len(), 3, "{error}");
        let few = "flows F1, F1, F1, F1 and 496 more: switches count no hops";
        assert!(error.to_string().contains(few), "{error}");
        config.flows[0].ttl = Flow::TTL_NONE;
        config.flows[0].packet = Bytes::new(9_000);
        let error = nodes(&config, &Options::default()).unwrap_err();
        assert!(error.to_string().contains("to 1518 bytes"), "{error}");
    }
}
