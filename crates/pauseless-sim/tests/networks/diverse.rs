//! Networks of many shapes and routings, small enough to be simulated by the thousand, with flows
//! that may or may not close a cycle.

use pauseless_core::class_map::ClassMap;
use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::{FlowControl, cbfc};
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, GroupId, NodeId, PortId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Discipline;
use pauseless_core::transport::Transport;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::dependency::{Demand, Lane};
use pauseless_fabric::failure::{Draw, Failures};
use pauseless_fabric::generate::{FatTree, Line, LinkSpecs, RandomRegular, Ring, Shape, Torus};
use pauseless_fabric::routing::{Algorithm, Multipath, RouteBuilder, Routes, Routing, TieBreak};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_fabric::trace::{Header, trace};
use pauseless_sim::Config;
use pauseless_sim::config::{
    Congestion, Flow, Ingress, IngressTable, Mitigation, Probes, Reaction, Replay, Stop, WireLoss,
    canonical_order,
};
use pauseless_sim::rng::{Purpose, Stream};

use super::{MTU, Scheme};

/// The egress ports that a packet passes, from that of its source on.
pub type Path = Vec<(NodeId, PortId)>;

/// A fabric, its tables and its flows.
pub struct Diverse {
    pub topology: Topology,
    pub routes: Routes,
    pub flows: Vec<Flow>,
    pub class_count: usize,
    seed: u64,
}

impl Diverse {
    /// All from `seed`: a fabric of any kind, routes of any kind, and flows along them or along
    /// paths of their own.
    pub fn new(seed: u64) -> Diverse {
        let mut random = Stream::new(seed, Purpose::Workload, 10);
        let topology = fabric(&mut random);
        let routes = RouteBuilder::new(&topology, routing(&mut random)).build();
        let mut network = Diverse {
            class_count: 1 + random.below(2) as usize,
            topology,
            routes,
            flows: Vec::new(),
            seed,
        };
        // All along the routes, all along their own paths, or some.
        let wandering_in_four = [0, 2, 4, 4][random.below(4) as usize];
        for number in 0..6 + random.below(14) {
            let wanders = random.below(4) < wandering_in_four;
            let found =
                if wanders { network.wander(&mut random) } else { network.ask(&mut random) };
            if let Some((source, group)) = found {
                network.add_flow(&mut random, number, source, group);
            }
        }
        canonical_order(&mut network.flows);
        network
    }

    /// The flows of this list, each pinned to its path, on the fabric and the routes of another.
    pub fn of_paths(topology: Topology, routes: Routes, paths: &[Path], seed: u64) -> Diverse {
        let mut random = Stream::new(seed, Purpose::FlowStart, 10);
        let mut network = Diverse { topology, routes, flows: Vec::new(), class_count: 1, seed };
        for (number, path) in (0..).zip(paths) {
            let group = pin(&network.topology, &mut network.routes, path);
            network.add_flow(&mut random, number, path[0].0, group);
        }
        for flow in &mut network.flows {
            flow.pace = network.topology.port(flow.source, PortId(0)).rate;
        }
        canonical_order(&mut network.flows);
        network
    }

    /// What the flows ask of the fabric.
    pub fn demands(&self) -> Vec<Demand> {
        let demand = |flow: &Flow| Demand {
            group: flow.group,
            lane: Lane { label: 0, class: flow.class },
            source: flow.source,
        };
        self.flows.iter().map(demand).collect()
    }

    /// The one path that each flow takes by its hash.
    pub fn paths(&self) -> Vec<Path> {
        let path = |flow: &Flow| {
            let header = Header { source: flow.source, group: flow.group, hash: flow.hash };
            trace(&self.topology, &self.routes.table, header).expect("flows arrive")
        };
        self.flows.iter().map(path).collect()
    }

    /// A run of it, which ends with the first deadlock or when buffers have long been full.
    pub fn config(&self, scheme: Scheme, discipline: Discipline) -> Config {
        let mut random = Stream::new(self.seed, Purpose::Processing, 10);
        let processing = Span::ns(random.below(1_000));
        let ingress = self.ingress(&mut random, scheme, processing);
        Config {
            ingress: IngressTable::uniform(&self.topology, self.class_count, ingress),
            topology: self.topology.clone(),
            table: self.routes.table.clone(),
            discipline,
            polling: Default::default(),
            classes: ClassMap::Same,
            scheduler: Scheduler::Strict,
            processing,
            processing_jitter: Span::ZERO,
            wire_jitter: Span::ZERO,
            wire_overhead: Bytes::ZERO,
            hardware: pauseless_sim::config::Hardware::default(),
            flows: self.flows.clone(),
            congestion: Congestion::NONE,
            transport: Transport::default(),
            wire_loss: WireLoss::default(),
            load_balancing: Vec::new(),
            follows: Vec::new(),
            receivers: Vec::new(),
            duration: Span::us(300),
            stop: Stop::DEADLOCK,
            starvation_permille: 100,
            mitigation: Mitigation::default(),
            changes: Default::default(),
            is_tracing: false,
            replay: Replay::Off,
            probes: Probes::default(),
            seed: self.seed,
        }
    }

    /// The smallest buffers that lose nothing, and a few frames, so that they fill at once.
    fn ingress(&self, random: &mut Stream, scheme: Scheme, processing: Span) -> Ingress {
        let latency = Latency {
            mtu: MTU,
            line: SPEC.rate,
            wire: SPEC.delay,
            processing,
            classes: self.class_count as u8,
            jitter: Span::ZERO,
            overhead: Bytes::ZERO,
            clock_ppb: 0,
        };
        let mut derivation = Derivation::new(latency, Bytes::ZERO);
        let least = match scheme {
            Scheme::Pfc => latency.pfc_headroom() + MTU * 4,
            _ => MTU * 2,
        };
        derivation.buffer = least + MTU * random.below(6);
        let control = match scheme {
            Scheme::Pfc => FlowControl::Pfc(derivation.pfc()),
            Scheme::Cbfc => FlowControl::Cbfc(cbfc::Config {
                period: Span::us(2 + random.below(4)),
                ..derivation.cbfc()
            }),
            _ => unreachable!("only these two deadlock"),
        };
        assert_eq!(derivation.check(&control), Ok(()));
        Ingress { control, buffer: derivation.buffer }
    }

    fn add_flow(&mut self, random: &mut Stream, number: u64, source: NodeId, group: GroupId) {
        self.flows.push(Flow {
            name: format!("F{number:02}"),
            source,
            target: self.routes.groups.target(group),
            group,
            class: Class(random.below(self.class_count as u64) as u8),
            packet: Bytes::new(MTU.get() - random.below(1_000)),
            pace: match random.below(8) {
                0 => Rate::mbps(2_000 + random.below(8_000)),
                _ => SPEC.rate,
            },
            size: Bytes::MAX,
            start: Time::from_ps(random.below(20_000_000)),
            stop: Time::MAX,
            hash: random.next_u64(),
            duty: Duty::ALWAYS,
            reaction: Reaction::None,
            label: 0,
            ttl: Flow::TTL_NONE,
        });
    }

    /// A pair of hosts with a route; `None` if the pair that was drawn has none.
    fn ask(&mut self, random: &mut Stream) -> Option<(NodeId, GroupId)> {
        let [source, target] = [(); 2].map(|()| pick(random, self.topology.hosts()));
        let group = self.routes.groups.of_host(target);
        let is_reached = self.routes.reachable(&self.topology, source, target);
        (source != target && is_reached).then_some((source, group))
    }

    /// A pinned path from a host over switches, none twice, to another host.
    fn wander(&mut self, random: &mut Stream) -> Option<(NodeId, GroupId)> {
        let source = pick(random, self.topology.hosts());
        let mut path = vec![(source, PortId(0))];
        let mut visited = vec![source];
        let mut at = self.topology.ports(source).first()?.peer;
        while !self.topology.is_host(at) {
            visited.push(at);
            let ports = (0..).map(PortId).zip(self.topology.ports(at));
            let ports = ports.filter(|(_, port)| !visited.contains(&port.peer));
            let is_exit = |port: &PortId| self.topology.is_host(self.topology.port(at, *port).peer);
            let (exits, trunks): (Vec<_>, Vec<_>) = ports.map(|(port, _)| port).partition(is_exit);
            // Far more often on than out: it is long paths that close cycles.
            let choices = match random.below(8) {
                0 if !exits.is_empty() => exits,
                _ if trunks.is_empty() => exits,
                _ => trunks,
            };
            let port = *choices.get(random.below(choices.len() as u64) as usize)?;
            path.push((at, port));
            at = self.topology.port(at, port).peer;
        }
        let group = pin(&self.topology, &mut self.routes, &path);
        Some((source, group))
    }
}

/// Adds a group that is forwarded along `path`, which visits no switch twice.
pub fn pin(topology: &Topology, routes: &mut Routes, path: &[(NodeId, PortId)]) -> GroupId {
    let way = routes.table.add_way();
    let group = routes.table.add_group(way, None);
    for (switch, port) in &path[1..] {
        let before = routes.table.next_hops_of_way(*switch, way);
        assert!(before.is_empty(), "a pinned path goes in a circle");
        routes.table.set_way(*switch, way, &[*port]);
    }
    let (last, port) = path[path.len() - 1];
    let target = topology.port(last, port).peer;
    assert_eq!(routes.groups.add_path(target), group);
    group
}

/// A ring, a line, a random graph, a torus, a fat tree with failed links, a tree, or any of these
/// with links doubled.
pub fn fabric(random: &mut Stream) -> Topology {
    let hosts_per_switch = 1 + random.below(2) as u32;
    let shape: Box<dyn Shape> = match random.below(8) {
        0 | 1 => Box::new(Ring { switches: 3 + random.below(5) as u32, hosts_per_switch }),
        2 => Box::new(Line { switches: 2 + random.below(4) as u32, hosts_per_switch }),
        3 => Box::new(RandomRegular {
            switches: 4 + 2 * random.below(3) as u32,
            degree: 2 + random.below(2) as u32,
            hosts_per_switch: 1,
            seed: random.next_u64(),
        }),
        4 => Box::new(Torus {
            dimensions: [3 + random.below(3) as u32, 1 + random.below(3) as u32, 1],
            hosts_per_switch: 1,
        }),
        5 => return failed_tree(random),
        6 => return tree(random, 0),
        _ => {
            let extra = 1 + random.below(5);
            return tree(random, extra);
        }
    };
    shape.build(LinkSpecs::same(SPEC)).expect("a small fabric")
}

/// A fat tree with failed links.
fn failed_tree(random: &mut Stream) -> Topology {
    let tree = FatTree { k: 4 }.build(LinkSpecs::same(SPEC));
    let tree = tree.expect("a small fabric");
    let draw = Draw { seed: random.next_u64(), sample: 0 };
    let count = 1 + random.below(7) as usize;
    let failures = Failures::random_count(&tree, count, draw);
    failures.expect("32 links").apply(&tree)
}

/// Any routing, the usual one more often.
pub fn routing(random: &mut Stream) -> Routing {
    Routing {
        algorithm: match random.below(4) {
            0 => Algorithm::UpDown,
            _ => Algorithm::Shortest,
        },
        multipath: match random.below(3) {
            0 => Multipath::Ecmp,
            1 => Multipath::Single { tie_break: TieBreak::Lowest },
            _ => Multipath::Single { tie_break: TieBreak::Seeded(random.next_u64()) },
        },
    }
}

/// A random tree of switches, each with a host, and some more links, parallel ones among them.
fn tree(random: &mut Stream, extra: u64) -> Topology {
    let mut builder = TopologyBuilder::new();
    let count = 3 + random.below(4);
    let switches = Vec::from_iter((0..count).map(|n| builder.add_switch(format!("S{n}"))));
    for (n, switch) in switches.iter().enumerate().skip(1) {
        builder.connect(*switch, pick(random, &switches[..n]), SPEC);
    }
    for _ in 0..extra {
        let [a, b] = [(); 2].map(|()| pick(random, &switches));
        if a != b {
            builder.connect(a, b, SPEC);
        }
    }
    for (n, switch) in switches.iter().enumerate() {
        let host = builder.add_host(format!("H{n}"));
        builder.connect(*switch, host, SPEC);
    }
    builder.build().expect("a tree")
}

fn pick<T: Copy>(random: &mut Stream, items: &[T]) -> T {
    items[random.below(items.len() as u64) as usize]
}

const SPEC: LinkSpec = LinkSpec { rate: Rate::gbps(10), delay: Span::ns(200) };
