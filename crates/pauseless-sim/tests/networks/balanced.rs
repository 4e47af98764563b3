//! Networks in which switches choose among several next hops.

use pauseless_core::id::{Class, PortId};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::routing::{Multipath, RouteBuilder};
use pauseless_fabric::topology::LinkSpec;
use pauseless_sim::Config;
use pauseless_sim::balance::{Compare, Drill, Flowlet, FlowletChoice, LeastQueue, Rule};
use pauseless_sim::config::{Flow, Ingress, LoadBalancing};
use pauseless_sim::rng::{Purpose, Stream};

/// One rule of each kind but the hash.
pub const RULES: [Rule; 7] = [
    Rule::Random,
    Rule::RoundRobin,
    Rule::Flowlet(Flowlet { gap: Span::us(2), choice: FlowletChoice::Random }),
    Rule::Flowlet(Flowlet { gap: Span::us(2), choice: FlowletChoice::LeastLoaded }),
    Rule::Drill(Drill { samples: 2, memory: 1 }),
    Rule::LeastQueue(LeastQueue {
        full: Bytes::kb(20),
        read_every: Span::ns(100),
        compare: Compare::Queue,
    }),
    Rule::LeastQueue(LeastQueue {
        full: Bytes::kb(20),
        read_every: Span::ZERO,
        compare: Compare::PauseQueueLoad,
    }),
];

/// Lets every switch choose by `rule` in every class.
pub fn balance(config: &mut Config, rule: Rule, hash_below: Bytes) {
    let classes = (0..config.ingress.class_count() as u8).map(Class);
    let both = config.topology.switches().iter().flat_map(|node| {
        classes.clone().map(|class| LoadBalancing { node: *node, class, rule, hash_below })
    });
    config.load_balancing = both.collect();
}

/// Gives switches further next hops, towards any neighbour and some with more weight, so that packets
/// wander until they happen to come to their host.
pub fn let_wander(config: &mut Config, seed: u64) {
    let mut random = Stream::new(seed, Purpose::Workload, 3_100);
    let routes = RouteBuilder::new(&config.topology, Multipath::Ecmp).build();
    for node in config.topology.switches().to_vec() {
        let ports = (0..config.topology.ports(node).len() as u16).map(PortId);
        let is_inner =
            |port: &PortId| !config.topology.is_host(config.topology.port(node, *port).peer);
        let inner = Vec::from_iter(ports.filter(is_inner));
        for flow in &config.flows {
            let mut hops = config.table.next_hops(node, flow.group).to_vec();
            if hops.is_empty() {
                // Not on the path of the flow, but packets may come there now.
                let group = routes.groups.of_host(flow.target);
                hops = routes.table.next_hops(node, group).to_vec();
            }
            let is_last = hops.iter().any(|port| !is_inner(port));
            for _ in 0..random.below(4) {
                if !is_last && !inner.is_empty() {
                    hops.push(inner[random.below(inner.len() as u64) as usize]);
                }
            }
            config.table.set(node, flow.group, &hops);
        }
    }
}

/// One host sends at `rate` to another one, over two switches with `links` of 10 Gb/s between them; the
/// hosts' links are fast enough. Packets have 1,000 bytes.
pub fn parallel_links(links: u16, rate: Rate, seed: u64) -> Config {
    let mut builder = TopologyBuilder::new();
    let (from, to) = (builder.add_switch("S1"), builder.add_switch("S2"));
    let spec = |rate| LinkSpec { rate, delay: Span::us(1) };
    for _ in 0..links {
        builder.connect(from, to, spec(Rate::gbps(10)));
    }
    for (name, switch, rate) in [("H1", from, rate), ("H2", to, Rate::gbps(1_600))] {
        let host = builder.add_host(name);
        builder.connect(switch, host, spec(rate));
    }
    let topology = builder.build().expect("two switches");
    let routes = RouteBuilder::new(&topology, Multipath::Ecmp).build();
    let [source, target] =
        ["H1", "H2"].map(|name| topology.node_named(name).expect("a node of that name"));
    let flow = Flow::greedy(&topology, source, target, routes.groups.of_host(target));
    let flow = Flow { packet: Bytes::new(1_000), start: Time::ZERO, ..flow };
    let control = pauseless_core::flow_control::FlowControl::None;
    let ingress = Ingress { control, buffer: Bytes::mb(100) };
    Config { seed, ..Config::new(topology, routes.table, ingress, vec![flow]) }
}
