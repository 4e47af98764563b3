//! The buffer dependency graph against a naive oracle, and what routings promise, on random
//! fabrics.
//!
//! `PAUSELESS_CASES` is the number of cases of each test; `PAUSELESS_SEED` runs one alone.

#[path = "dependency_laws/knot_laws.rs"]
mod knot_laws;
#[path = "dependency_laws/knots.rs"]
mod knots;
#[path = "dependency_laws/moves.rs"]
mod moves;
#[path = "dependency_laws/oracle.rs"]
mod oracle;
#[path = "dependency_laws/random.rs"]
mod random;

use std::collections::BTreeSet;

use oracle::{Oracle, components, cover_min, packets_min};
use pauseless_core::class_map::{Carried, ClassMap, Passage};
use pauseless_core::id::NodeId;
use pauseless_fabric::dependency::{
    Buffer, Checker, ClosingFlow, Component, Cycle, Demand, Graph, Lane, Lossy, Network, Suspects,
    Traffic,
};
use pauseless_fabric::generate::{FatTree, LinkSpecs, Mesh, Ring, Shape, Torus};
use pauseless_fabric::rng::{Purpose, Stream};
use pauseless_fabric::routing::{Algorithm, Dimensions, Multipath, RouteBuilder, Routes, Routing};
use pauseless_fabric::topology::Topology;
use pauseless_fabric::trace::{Header, trace};
use random::{Case, SPEC, fabric, multipath, wide_fabric, without_some};

/// Runs `check` with `count` seeds, and returns whether it was with all of them.
fn for_each_seed(test: &str, count: u64, mut check: impl FnMut(u64)) -> bool {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seeds = match number("PAUSELESS_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("PAUSELESS_CASES").unwrap_or(count),
    };
    let is_all = seeds.end - seeds.start >= count;
    for seed in seeds {
        let _replay = Replay { test, seed };
        check(seed);
    }
    is_all
}

/// Says on its way out of a failed check how to repeat it.
struct Replay<'r> {
    test: &'r str,
    seed: u64,
}

impl Drop for Replay<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Replay { test, seed } = self;
            eprintln!(
                "replay: PAUSELESS_SEED={seed} cargo test -p pauseless-fabric --test \
                 dependency_laws {test}"
            );
        }
    }
}

#[test]
fn the_graph_is_what_packets_make_of_it() {
    let (mut cases, mut cyclic) = (0, 0);
    let is_all = for_each_seed("the_graph_is_what", 6_000, |seed| {
        let mut case = Case::new(seed);
        if let ClassMap::Hops(hops) = &mut case.classes {
            hops.width = 1 + (seed / 7 % 3) as u8;
        }
        let oracle = Oracle::new(&case.network(), &case.left_out);
        let graph = check_graph(&case, &oracle);
        let expected = components(&oracle.distances());
        let found = graph.components();
        assert_eq!(graph.is_cyclic(), !expected.is_empty());
        assert!(found.is_sorted_by_key(|component| std::cmp::Reverse(component.len())));
        let found = found.into_iter().map(BTreeSet::from_iter);
        assert_eq!(found.collect::<BTreeSet<_>>(), expected);
        cases += 1;
        cyclic += u32::from(graph.is_cyclic());
    });
    eprintln!("{cyclic} of {cases} networks are cyclic");
    assert!(!is_all || cyclic > cases / 10);
}

/// The graph of a case, which has the dependencies of the oracle and no others.
fn check_graph(case: &Case, oracle: &Oracle) -> Graph {
    let network = case.network();
    let graph = Checker::of(&network).graph(network, &case.left_out);
    assert_eq!(graph.dependency_count(), oracle.edges.len());
    let plain = oracle::buffers(&network, 1).len();
    let class_count = graph.buffer_count().checked_div(plain).unwrap_or(1);
    assert!(class_count > 0 && graph.buffer_count() == plain * class_count);
    for buffer in oracle::buffers(&network, class_count as u8) {
        let next = graph.waits_for(&case.topology, buffer);
        assert_eq!(BTreeSet::from_iter(next), oracle.successors(buffer));
    }
    graph
}

/// The same where a switch has more than 64 next buffers.
#[test]
fn wide_switches_have_all_their_dependencies() {
    let mut most = 0;
    for_each_seed("wide_switches", 40, |seed| {
        let mut random = Stream::new(seed, Purpose::Workload, 5);
        let topology = wide_fabric(&mut random);
        let case = Case::of(&mut random, topology);
        let oracle = Oracle::new(&case.network(), &case.left_out);
        check_graph(&case, &oracle);
        let buffers = oracle.edges.iter().map(|(from, _)| *from);
        most = most.max(buffers.map(|it| oracle.successors(it).len()).max().unwrap_or(0));
    });
    assert!(most > 20, "a packet has many next hops: {most}");
}

#[test]
fn every_cycle_is_explained_by_those_who_make_it() {
    let (mut cycles, mut fewest) = (0, 0);
    let is_all = for_each_seed("every_cycle_is_explained", 6_000, |seed| {
        let case = Case::new(seed);
        let network = case.network();
        let mut checker = Checker::of(&network);
        let graph = checker.graph(network, &case.left_out);
        if !graph.is_cyclic() {
            return;
        }
        let oracle = Oracle::new(&network, &case.left_out);
        let found = checker.explain(network, &graph, &case.left_out, usize::MAX);
        let buffers = Vec::from_iter(found.iter().map(|component| component.buffers.clone()));
        assert_eq!(buffers, graph.components());
        for component in &found {
            check_shortest(&oracle, component);
            check_hops(&case, &oracle, &component.cycle);
            check_flows(&case, &oracle, &component.cycle);
            cycles += 1;
            fewest += usize::from(component.cycle.is_fewest);
        }
    });
    eprintln!("{cycles} cycles, of {fewest} it is certain that fewer flows do not close them");
    assert!(!is_all || cycles > 1_000 && fewest > cycles / 2);
}

/// The hosts of a switch share a way, but who sends to one of them need not send to the other.
#[test]
fn only_what_is_asked_for_is_named() {
    let ring = Ring { switches: 5, hosts_per_switch: 2 };
    let ring = ring.build(LinkSpecs::same(SPEC)).unwrap();
    let routes = RouteBuilder::new(&ring, Multipath::Ecmp).build();
    let host = |name: &str| ring.node_named(name).unwrap();
    let demand = |(source, target): (&str, &str)| Demand {
        group: routes.groups.of_host(host(target)),
        lane: Lane::ONLY,
        source: host(source),
    };
    // Five flows go round, and one makes no dependency at all.
    let pairs = [("H1a", "H3a"), ("H2a", "H4a"), ("H3a", "H5a")];
    let pairs = [&pairs[..], &[("H4a", "H1a"), ("H5a", "H2a"), ("H2b", "H3b")]].concat();
    let case = Case {
        traffic: Traffic::Demands(pairs.into_iter().map(demand).collect()),
        classes: ClassMap::Same,
        lossy: Lossy::nothing(),
        left_out: vec![false; ring.nodes().len()],
        routes: routes.clone(),
        topology: ring.clone(),
    };
    let network = case.network();
    let oracle = Oracle::new(&network, &case.left_out);
    let mut checker = Checker::of(&network);
    let graph = checker.graph(network, &case.left_out);
    let found = checker.explain(network, &graph, &case.left_out, usize::MAX);
    assert_eq!(found.len(), 1);
    check_hops(&case, &oracle, &found[0].cycle);
    check_flows(&case, &oracle, &found[0].cycle);
}

/// The cycle lies in its component, and none there is shorter.
fn check_shortest(oracle: &Oracle, component: &Component) {
    let members = BTreeSet::from_iter(component.buffers.iter().copied());
    let inside = |(from, to): &&(Buffer, Buffer)| members.contains(from) && members.contains(to);
    let inner = oracle.edges.iter().filter(inside).count();
    assert_eq!(component.dependency_count, inner);
    let distances = oracle.distances();
    let round = members.iter().map(|buffer| distances[&(*buffer, *buffer)]).min();
    assert_eq!(Some(component.cycle.hops.len()), round);
    for hop in &component.cycle.hops {
        assert!(members.contains(&hop.buffer));
    }
}

/// The dependencies of a cycle, one per hop.
fn edges(cycle: &Cycle) -> Vec<(Buffer, Buffer)> {
    let buffers = cycle.hops.iter().map(|hop| hop.buffer);
    let next = buffers.clone().cycle().skip(1);
    buffers.zip(next).collect()
}

/// Every hop is a dependency, and lists exactly who makes it.
fn check_hops(case: &Case, oracle: &Oracle, cycle: &Cycle) {
    for (hop, edge) in cycle.hops.iter().zip(edges(cycle)) {
        assert!(oracle.edges.contains(&edge));
        let port = case.topology.port(hop.buffer.node, hop.egress);
        assert_eq!((port.peer, port.peer_port), (edge.1.node, edge.1.port));
        let sources = oracle.makers(edge).map(|packet| packet.source);
        let groups = &case.routes.groups;
        let targets = oracle.makers(edge).map(|packet| groups.target(packet.group));
        let (sources, targets): (BTreeSet<_>, BTreeSet<_>) = (sources.collect(), targets.collect());
        let listed = |hosts: &[NodeId]| BTreeSet::from_iter(hosts.iter().copied());
        assert_eq!(listed(&hop.sources), sources, "sources");
        assert_eq!(listed(&hop.targets), targets, "targets");
        assert!(hop.sources.is_sorted() && hop.targets.is_sorted());
    }
}

/// The flows are such as may be sent, go where they say, close the cycle and are the fewest.
fn check_flows(case: &Case, oracle: &Oracle, cycle: &Cycle) {
    let count = cycle.hops.len();
    let edges = edges(cycle);
    let mut is_covered = vec![false; count];
    for flow in &cycle.flows {
        let packet = Demand { group: flow.group, lane: flow.lane, source: flow.source };
        assert!(oracle.packets.contains_key(&packet), "{flow:?} is not sent");
        let passed = passed(case, flow);
        for at in flow.hops.iter().copied() {
            is_covered[at] = true;
            let pair = [edges[at].0, edges[at].1];
            assert!(passed.windows(2).any(|passed| passed == pair));
        }
    }
    assert!(is_covered.iter().all(|is| *is));
    let run = |first: usize| {
        let runs = oracle.packets.values().map(|made| {
            let run = (0..count).take_while(|n| made.contains(&edges[(first + n) % count]));
            run.count()
        });
        runs.max().unwrap_or(0)
    };
    let longest = Vec::from_iter((0..count).map(run));
    assert_eq!(cycle.flows.len(), cover_min(&longest));
    let fewest = packets_min(oracle, &edges);
    assert!(cycle.flows.len() >= fewest && (!cycle.is_fewest || cycle.flows.len() == fewest));
}

/// The buffers that a flow passes on its path, having checked that the tables allow every step.
fn passed(case: &Case, flow: &ClosingFlow) -> Vec<Buffer> {
    let Case { topology, routes, .. } = case;
    let mut passed: Vec<Buffer> = Vec::new();
    for (number, &(node, egress)) in flow.path.iter().enumerate() {
        let port = topology.port(node, egress);
        let before = passed.last().copied();
        let class = match before {
            None => {
                assert_eq!((number, node), (0, flow.source));
                Some(flow.lane.class)
            }
            Some(buffer) => {
                assert_eq!(buffer.node, node);
                assert!(routes.table.next_hops(node, flow.group).contains(&egress));
                let passage = Passage { node, ingress: buffer.port, egress };
                let carried =
                    Carried { label: flow.lane.label, class: buffer.class, hops: number as u8 - 1 };
                case.classes.next(passage, carried)
            }
        };
        let Some(class) = class else {
            // Behind the cycle a switch may drop what the path shows to its end.
            break;
        };
        passed.push(Buffer { node: port.peer, port: port.peer_port, class });
    }
    passed
}

#[test]
fn without_those_to_blame_there_is_no_cycle() {
    let mut blamed = 0;
    let is_all = for_each_seed("without_those_to_blame", 3_000, |seed| {
        let case = Case::new(seed);
        let network = case.network();
        let nobody = vec![false; case.topology.nodes().len()];
        let mut checker = Checker::of(&network);
        if !checker.graph(network, &nobody).is_cyclic() {
            return;
        }
        let mut random = Stream::new(seed, Purpose::Workload, 1);
        let hosts = case.topology.hosts().iter().copied();
        let hosts = hosts.filter(|_| random.below(4) == 0).collect();
        let suspects = Suspects { name: "suspects".to_string(), hosts };
        let most = case.topology.host_count() / 2;
        let is_cyclic = |left_out: &[NodeId]| {
            let mut marks = nobody.clone();
            for host in left_out {
                marks[host.index()] = true;
            }
            !components(&Oracle::new(&network, &marks).distances()).is_empty()
        };
        let suspects_are_it = suspects.hosts.len() <= most && !is_cyclic(&suspects.hosts);
        let blame = checker.blame(network, std::slice::from_ref(&suspects));
        let Some(blame) = blame else {
            assert!(!suspects_are_it);
            return;
        };
        blamed += 1;
        assert_eq!(blame.name.is_some(), suspects_are_it);
        let needed = blame.needed.expect("small networks are worth it");
        assert!(blame.hosts.len() <= most && !needed.is_empty());
        assert!(!is_cyclic(&blame.hosts) && !is_cyclic(&needed));
        for (at, host) in needed.iter().enumerate() {
            assert!(blame.hosts.contains(host));
            let mut rest = needed.clone();
            rest.remove(at);
            assert!(is_cyclic(&rest));
        }
    });
    eprintln!("{blamed} times somebody is to blame");
    assert!(!is_all || blamed > 200);
}

fn is_cyclic(topology: &Topology, routes: &Routes, classes: &ClassMap) -> bool {
    let network = Network {
        topology,
        routes,
        classes,
        traffic: &Traffic::AllPairs(vec![Lane::ONLY]),
        lossy: &Lossy::nothing(),
    };
    let nobody = vec![false; topology.nodes().len()];
    Checker::of(&network).graph(network, &nobody).is_cyclic()
}

/// What hangs together with `start`, by spreading over links until nothing changes.
fn connected(topology: &Topology, start: NodeId) -> Vec<bool> {
    let mut reached = vec![false; topology.nodes().len()];
    reached[start.index()] = true;
    for _ in topology.nodes() {
        for link in topology.links() {
            let either = reached[link.a.index()] | reached[link.b.index()];
            (reached[link.a.index()], reached[link.b.index()]) = (either, either);
        }
    }
    reached
}

#[test]
fn up_down_is_free_of_cycles_and_reaches_everybody() {
    for_each_seed("up_down_is_free", 2_000, |seed| {
        let mut random = Stream::new(seed, Purpose::Workload, 2);
        let whole = fabric(&mut random);
        for topology in [without_some(&mut random, &whole), whole] {
            let routing =
                Routing { algorithm: Algorithm::UpDown, multipath: multipath(&mut random) };
            let routes = RouteBuilder::new(&topology, routing).build();
            assert!(!is_cyclic(&topology, &routes, &ClassMap::Same));
            let hash = random.next_u64();
            for &source in topology.hosts() {
                let reached = connected(&topology, source);
                for &target in topology.hosts().iter().filter(|t| **t != source) {
                    let group = routes.groups.of_host(target);
                    let header = Header { source, group, hash };
                    let path = trace(&topology, &routes.table, header);
                    assert_eq!(path.is_ok(), reached[target.index()], "{source:?} {target:?}");
                    let end = path.ok().and_then(|path| path.last().copied());
                    let end = end.map(|(node, port)| topology.port(node, port).peer);
                    assert!(end.is_none_or(|end| end == target));
                }
            }
        }
    });
}

#[test]
fn datelines_and_meshes_are_free_of_cycles() {
    for_each_seed("datelines_and_meshes", 300, |seed| {
        let mut random = Stream::new(seed, Purpose::Workload, 3);
        let mut sizes = [1; 3].map(|_: u32| 1 + random.below(6) as u32);
        if random.below(2) == 0 {
            sizes[random.below(3) as usize] = 1;
        }
        for wraps in [true, false] {
            let dimensions = Dimensions { sizes, wraps };
            let torus = Torus { dimensions: sizes, hosts_per_switch: 1 };
            let mesh = Mesh { dimensions: sizes, hosts_per_switch: 1 };
            let shape: &dyn Shape = if wraps { &torus } else { &mesh };
            let Ok(topology) = shape.build(LinkSpecs::same(SPEC)) else {
                continue;
            };
            let routing = Routing {
                algorithm: Algorithm::DimensionOrder(dimensions),
                multipath: multipath(&mut random),
            };
            let routes = RouteBuilder::new(&topology, routing).build();
            let classes =
                if wraps { dimensions.dateline_classes(&topology) } else { ClassMap::Same };
            assert!(!is_cyclic(&topology, &routes, &classes), "{dimensions:?}");
            // Rings of four and more are cyclic without the dateline, so it is that which helps.
            let is_ring = wraps && sizes.iter().any(|size| *size > 3);
            assert_eq!(is_cyclic(&topology, &routes, &ClassMap::Same), is_ring);
        }
    });
}

#[test]
fn healthy_fat_trees_are_free_of_cycles() {
    for_each_seed("healthy_fat_trees", 60, |seed| {
        let mut random = Stream::new(seed, Purpose::Workload, 4);
        let k = 2 * (1 + random.below(4) as u32);
        let tree = FatTree { k }.build(LinkSpecs::same(SPEC)).unwrap();
        for multipath in [multipath(&mut random), Multipath::Ecmp] {
            for algorithm in [Algorithm::Shortest, Algorithm::UpDown] {
                let routing = Routing { algorithm, multipath };
                let routes = RouteBuilder::new(&tree, routing).build();
                assert!(!is_cyclic(&tree, &routes, &ClassMap::Same));
            }
        }
    });
}
