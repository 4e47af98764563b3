//! The buffer dependency graph on fabrics whose verdict is known.

use pauseless_core::class_map::{ClassMap, Hops};
use pauseless_core::id::{Class, NodeId};
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::dependency::{Checker, Component, Demand, Lane, Lossy, Network, Traffic};
use pauseless_fabric::generate::{FatTree, Line, LinkSpecs, Ring, Shape, Torus};
use pauseless_fabric::routing::{
    Algorithm, Dimensions, Multipath, RouteBuilder, Routes, Routing, TieBreak,
};
use pauseless_fabric::topology::{LinkSpec, Topology};

const LINKS: LinkSpecs = LinkSpecs::same(LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) });

const LOWEST: Multipath = Multipath::Single { tie_break: TieBreak::Lowest };

fn all_pairs() -> Traffic {
    Traffic::AllPairs(vec![Lane::ONLY])
}

fn components(topology: &Topology, routes: &Routes, traffic: &Traffic) -> Vec<Component> {
    let network =
        Network { topology, routes, classes: &ClassMap::Same, traffic, lossy: &Lossy::nothing() };
    let left_out = vec![false; topology.nodes().len()];
    let mut checker = Checker::of(&network);
    let graph = checker.graph(network, &left_out);
    let components = checker.explain(network, &graph, &left_out, usize::MAX);
    assert_eq!(graph.is_cyclic(), !components.is_empty());
    assert_eq!(graph.components().len(), components.len());
    components
}

fn nodes(topology: &Topology, names: &str) -> Vec<NodeId> {
    let node = |name| topology.node_named(name).unwrap();
    names.split(' ').map(node).collect()
}

//= gfc19 fig 11 type=test
#[test]
fn the_cycle_of_gfc_fig_11_is_found_from_its_four_flows() {
    let healthy = FatTree { k: 4 }.build(LINKS).unwrap();
    let failed = [("A1", "C2"), ("A5", "C1"), ("E1", "A2")];
    let topology = healthy.without_links(&failed.map(|(a, b)| healthy.link_between(a, b).unwrap()));
    let mut builder = RouteBuilder::new(&topology, Multipath::Ecmp);
    let paths = [
        "H0 E1 A1 C1 A3 C2 A5 E5 H8",
        "H4 E3 A3 C2 A7 E7 H12",
        "H9 E5 A5 C2 A7 C1 A1 E1 H1",
        "H13 E7 A7 C1 A3 E3 H5",
    ];
    let demands = paths.map(|path| {
        let path = nodes(&topology, path);
        Demand { source: path[0], group: builder.add_path(&path).unwrap(), lane: Lane::ONLY }
    });
    let routes = builder.build();
    let found = components(&topology, &routes, &Traffic::Demands(demands.to_vec()));
    let [component] = &found[..] else { panic!("one cycle, not {}", found.len()) };
    let cycle = component.cycle.hops.iter().map(|hop| hop.buffer.node);
    let names = cycle.map(|node| topology.node(node).name.as_str());
    let mut names = Vec::from_iter(names);
    let first = names.iter().position(|name| *name == "C1").unwrap();
    names.rotate_left(first);
    assert_eq!(names, ["C1", "A3", "C2", "A7"]);
    // Each flow makes one dependency, so it takes all four.
    assert_eq!(component.cycle.flows.len(), 4);
    for hop in &component.cycle.hops {
        assert_eq!((hop.sources.len(), hop.targets.len()), (1, 1));
    }
    // Any three of them close nothing.
    for left in 0..4 {
        let mut three = demands.to_vec();
        three.remove(left);
        assert_eq!(components(&topology, &routes, &Traffic::Demands(three)), []);
    }
}

/// A flow that leaves the cycle between S3 and S5 and comes back makes two parts of it, which are not next to
/// each other. It is named once, and it is not certain that no fewer flows would do.
#[test]
fn a_flow_that_comes_back_to_the_cycle_is_named_once() {
    let spec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
    let mut builder = TopologyBuilder::new();
    let ring = Vec::from_iter((1..9).map(|n| builder.add_switch(format!("S{n}"))));
    let [b, c] = ["B", "C"].map(|name| builder.add_switch(name.to_string()));
    for at in 0..8 {
        builder.connect(ring[at], ring[(at + 1) % 8], spec);
        let host = builder.add_host(format!("H{}", at + 1));
        builder.connect(ring[at], host, spec);
    }
    for (from, to) in [(ring[2], b), (b, c), (c, ring[4])] {
        builder.connect(from, to, spec);
    }
    let topology = builder.build().unwrap();
    let paths = ["H1 S1 S2 S3 B C S5 S6 S7 H7", "H2 S2 S3 S4 S5 S6 H6", "H6 S6 S7 S8 S1 S2 H2"];
    let mut builder = RouteBuilder::new(&topology, Multipath::Ecmp);
    let demands = paths.map(|path| {
        let path = nodes(&topology, path);
        Demand { source: path[0], group: builder.add_path(&path).unwrap(), lane: Lane::ONLY }
    });
    let routes = builder.build();
    let found = components(&topology, &routes, &Traffic::Demands(demands.to_vec()));
    let [component] = &found[..] else { panic!("one component, not {}", found.len()) };
    let cycle = &component.cycle;
    assert_eq!(cycle.hops.len(), 8, "round the ring, not by B and C");
    assert_eq!((cycle.flows.len(), cycle.is_fewest), (3, false));
    let counts = demands.map(|demand| {
        let mut flows = cycle.flows.iter().filter(|flow| flow.group == demand.group);
        flows.next().map_or(0, |flow| flow.hops.len())
    });
    assert_eq!(counts, [2, 3, 3]);
}

#[test]
fn rings_are_cyclic_and_lines_are_not() {
    for switches in 3..9 {
        let ring = Ring { switches, hosts_per_switch: 2 };
        let ring = ring.build(LINKS).unwrap();
        let routes = RouteBuilder::new(&ring, Multipath::Ecmp).build();
        let found = components(&ring, &routes, &all_pairs());
        // Shortest paths of three switches never take two links of the ring.
        let expected = if switches == 3 { 0 } else { 2 };
        assert_eq!(found.len(), expected, "{switches}");
        for component in &found {
            assert_eq!(component.cycle.hops.len(), switches as usize);
        }
        let line = Line { switches, hosts_per_switch: 2 };
        let line = line.build(LINKS).unwrap();
        let routes = RouteBuilder::new(&line, Multipath::Ecmp).build();
        assert_eq!(components(&line, &routes, &all_pairs()), []);
    }
}

#[test]
fn fat_trees_are_free_whatever_the_tie_break() {
    for k in [2, 4, 6, 8] {
        let tree = FatTree { k }.build(LINKS).unwrap();
        let seeded = (0..20).map(|seed| Multipath::Single { tie_break: TieBreak::Seeded(seed) });
        for multipath in seeded.chain([Multipath::Ecmp, LOWEST]) {
            let routes = RouteBuilder::new(&tree, multipath).build();
            assert_eq!(components(&tree, &routes, &all_pairs()), []);
        }
    }
}

#[test]
fn datelines_cut_the_rings_of_a_torus() {
    let dimensions = Dimensions { sizes: [5, 4, 1], wraps: true };
    let torus = Torus { dimensions: dimensions.sizes, hosts_per_switch: 1 };
    let torus = torus.build(LINKS).unwrap();
    let routing = Routing { algorithm: Algorithm::DimensionOrder(dimensions), multipath: LOWEST };
    let routes = RouteBuilder::new(&torus, routing).build();
    // Both directions of 4 rings of five; of 5 rings of four only the direction that the ties take,
    // since in the other nobody goes more than one hop.
    assert_eq!(components(&torus, &routes, &all_pairs()).len(), 13);
    let network = Network {
        topology: &torus,
        routes: &routes,
        classes: &dimensions.dateline_classes(&torus),
        traffic: &all_pairs(),
        lossy: &Lossy::nothing(),
    };
    let graph = Checker::of(&network).graph(network, &vec![false; torus.nodes().len()]);
    assert!(!graph.is_cyclic());
    // So do classes that count hops.
    let network = Network { classes: &ClassMap::Hops(Hops::each(6)), ..network };
    let graph = Checker::of(&network).graph(network, &vec![false; torus.nodes().len()]);
    assert!(!graph.is_cyclic());
}

#[test]
fn a_lossy_buffer_makes_nobody_wait() {
    let ring = Ring { switches: 5, hosts_per_switch: 1 };
    let ring = ring.build(LINKS).unwrap();
    let routes = RouteBuilder::new(&ring, Multipath::Ecmp).build();
    let mut lossy = Lossy::nothing();
    let (node, port) = ring.port_named("S2:S1").unwrap();
    lossy.add(node, port, 1 << 3);
    let lanes = [3, 4].map(|class| Lane { label: class, class: Class(class) });
    let network = Network {
        topology: &ring,
        routes: &routes,
        classes: &ClassMap::Same,
        traffic: &Traffic::AllPairs(lanes.to_vec()),
        lossy: &lossy,
    };
    let graph = Checker::of(&network).graph(network, &vec![false; ring.nodes().len()]);
    let components = graph.components();
    let mut classes = Vec::from_iter(components.iter().map(|buffers| buffers[0].class.0));
    classes.sort_unstable();
    // Class 4 both ways, class 3 only the way that does not come to S2 from S1.
    assert_eq!(classes, [3, 4, 4]);
}
