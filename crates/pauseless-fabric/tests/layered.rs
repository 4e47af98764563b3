//! Layered routing on all kinds of fabrics, whole and after failures: no layer has a cycle, no pair
//! is lost, and the numbers are those of a naive count.

use std::collections::BTreeMap;

use pauseless_core::class_map::ClassMap;
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::dependency::{Checker, Demand, Lane, Lossy, Network, Traffic};
use pauseless_fabric::generate::{
    Dragonfly, FatTree, HyperX, LeafSpine, LinkSpecs, Mesh, RailOptimised, RandomRegular, Ring,
    Shape, ThreeTierClos, Torus,
};
use pauseless_fabric::routing::Groups;
use pauseless_fabric::routing::layered::{Layered, Options, route};
use pauseless_fabric::topology::{LinkIndex, LinkSpec, Topology};
use proptest::prelude::*;

const SPECS: LinkSpecs = LinkSpecs::same(LinkSpec { rate: Rate::gbps(100), delay: Span::us(1) });

fn shapes() -> Vec<Box<dyn Shape>> {
    vec![
        Box::new(Ring { switches: 6, hosts_per_switch: 2 }),
        Box::new(Mesh { dimensions: [4, 3, 1], hosts_per_switch: 1 }),
        Box::new(Torus { dimensions: [5, 3, 1], hosts_per_switch: 2 }),
        Box::new(Torus { dimensions: [3, 3, 3], hosts_per_switch: 1 }),
        Box::new(FatTree { k: 4 }),
        Box::new(LeafSpine { leaves: 4, spines: 2, hosts_per_leaf: 3, links_per_pair: 2 }),
        Box::new(ThreeTierClos {
            pods: 2,
            tors_per_pod: 2,
            leaves_per_pod: 2,
            spines: 2,
            hosts_per_tor: 2,
            links_per_tor_leaf: 1,
            links_per_leaf_spine: 1,
        }),
        Box::new(RailOptimised {
            blocks: 2,
            servers_per_block: 2,
            rails: 4,
            spines: 2,
            links_per_pair: 1,
        }),
        Box::new(Dragonfly {
            groups: 5,
            routers_per_group: 4,
            hosts_per_router: 1,
            global_links_per_router: 1,
        }),
        Box::new(HyperX { dimensions: [3, 3, 1], hosts_per_switch: 1, links_per_pair: 1 }),
        Box::new(RandomRegular { switches: 10, degree: 3, hosts_per_switch: 1, seed: 1 }),
    ]
}

/// The loads, the hops of all pairs and the longest path, by following every pair on its own.
#[derive(Debug, Default, PartialEq)]
struct Count {
    loads: BTreeMap<(NodeId, PortId), u64>,
    pairs: u64,
    hops: u64,
    hops_max: u32,
    lost: u64,
}

fn count(topology: &Topology, routed: &Layered) -> Count {
    let mut count = Count::default();
    for group in routed.routes.groups.addresses() {
        let target = routed.routes.groups.target(group);
        for &source in topology.hosts().iter().filter(|source| **source != target) {
            let Some(link) = topology.ports(source).first() else { continue };
            let (mut at, mut hops) = (link.peer, 0);
            while at != target && hops <= topology.nodes().len() as u32 {
                let &[port] = routed.routes.table.next_hops(at, group) else { break };
                let peer = topology.port(at, port).peer;
                if peer != target {
                    *count.loads.entry((at, port)).or_default() += 1;
                    hops += 1;
                }
                at = peer;
            }
            if at == target {
                count.pairs += 1;
                count.hops += u64::from(hops);
                count.hops_max = count.hops_max.max(hops);
            } else {
                count.lost += 1;
            }
        }
    }
    count
}

/// The pairs that no route can serve, by searching the graph from every host.
fn cut_off(topology: &Topology, groups: &Groups) -> u64 {
    let mut lost = 0;
    for &source in topology.hosts() {
        let mut seen = vec![false; topology.nodes().len()];
        let mut open = vec![source];
        seen[source.index()] = true;
        while let Some(node) = open.pop() {
            for port in topology.ports(node) {
                if !seen[port.peer.index()] {
                    seen[port.peer.index()] = true;
                    open.push(port.peer);
                }
            }
        }
        let has_link = !topology.ports(source).is_empty();
        let missing = groups.addresses().filter(|group| !seen[groups.target(*group).index()]);
        lost += if has_link { missing.count() as u64 } else { 0 };
    }
    lost
}

/// Whether any layer has a cycle: by the check, with every pair in the lane of its layer.
fn is_cyclic(topology: &Topology, routed: &Layered) -> bool {
    let lane = |layer: u8| Lane { label: layer, class: Class(layer) };
    let groups = &routed.routes.groups;
    let demands = groups.addresses().flat_map(|group| {
        let sources = topology.hosts().iter().filter(move |host| **host != groups.target(group));
        let lane = lane(routed.layer_of[group.index()]);
        sources.map(move |source| Demand { group, lane, source: *source })
    });
    let traffic = Traffic::Demands(demands.collect());
    graph_is_cyclic(topology, &routed.routes, &traffic)
}

fn graph_is_cyclic(
    topology: &Topology,
    routes: &pauseless_fabric::routing::Routes,
    traffic: &Traffic,
) -> bool {
    let lossy = Lossy::nothing();
    let network = Network { topology, routes, classes: &ClassMap::Same, traffic, lossy: &lossy };
    let nobody = vec![false; topology.nodes().len()];
    Checker::of(&network).graph(network, &nobody).is_cyclic()
}

/// One address per host, and `more` further ones.
fn addresses(topology: &Topology, more: u32) -> Groups {
    let mut groups = Groups::of_hosts(topology);
    for _ in 0..more {
        for &host in topology.hosts() {
            groups.add_address(host);
        }
    }
    groups
}

fn check(topology: &Topology, groups: &Groups, layers: u8) -> Result<Layered, TestCaseError> {
    let options = Options { layers, ..Options::default() };
    let routed = route(topology, groups, options);
    prop_assert!(routed.layers >= 1 && routed.layers <= layers);
    prop_assert!(routed.layer_of.iter().all(|layer| *layer < routed.layers));
    let count = count(topology, &routed);
    prop_assert_eq!(count.lost, cut_off(topology, groups));
    let figures = routed.figures;
    prop_assert_eq!(figures.pairs, count.pairs);
    prop_assert_eq!(figures.load_max, count.loads.values().max().copied().unwrap_or(0));
    prop_assert_eq!(figures.hops_max, count.hops_max);
    let trunks = topology.switches().iter().flat_map(|switch| topology.ports(*switch));
    let trunks = trunks.filter(|port| !topology.is_host(port.peer)).count();
    let mean = |sum: u64, count: f64| if count == 0.0 { 0.0 } else { sum as f64 / count };
    prop_assert_eq!(figures.load_mean, mean(count.loads.values().sum(), trunks as f64));
    prop_assert_eq!(figures.hops_mean, mean(count.hops, count.pairs as f64));
    prop_assert!(figures.hops_least <= figures.hops_mean);
    prop_assert!(!is_cyclic(topology, &routed), "a layer has a cycle");
    let everybody = Traffic::AllPairs(vec![Lane::ONLY]);
    for layer in 0..routed.layers {
        prop_assert!(!graph_is_cyclic(topology, &routed.layer(layer), &everybody));
    }
    // All addresses of a host are in one layer.
    for group in groups.addresses() {
        let first = groups.of_host(groups.target(group));
        prop_assert_eq!(routed.layer_of[group.index()], routed.layer_of[first.index()]);
    }
    Ok(routed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_shape_after_failures_is_routed_without_cycles(
        shape in 0..11usize,
        failed in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        more in 0..2u32,
        layers in 1..4u8,
    ) {
        let whole = shapes()[shape].build(SPECS).expect("the shapes are possible");
        let count = whole.links().len();
        let failed = Vec::from_iter(failed.iter().map(|at| LinkIndex(at.index(count) as u32)));
        let topology = whole.without_links(&failed);
        check(&topology, &addresses(&topology, more), layers)?;
    }
}

#[test]
fn routes_are_the_same_every_time() {
    for shape in shapes() {
        let topology = shape.build(SPECS).expect("the shapes are possible");
        let groups = addresses(&topology, 0);
        let options = Options::default();
        assert_eq!(route(&topology, &groups, options), route(&topology, &groups, options));
    }
}

/// A ring of twelve cannot have all shortest paths in one layer, but can in two.
#[test]
fn a_second_layer_is_used_where_one_is_not_enough() {
    let ring = Ring { switches: 12, hosts_per_switch: 2 }.build(SPECS).expect("a ring");
    let groups = addresses(&ring, 0);
    let [one, two] = [1, 2].map(|layers| check(&ring, &groups, layers).expect("the laws hold"));
    assert_eq!((one.layers, two.layers), (1, 2));
    assert!(one.figures.hops_mean > one.figures.hops_least);
    assert_eq!(two.figures.hops_mean, two.figures.hops_least);
    assert!(two.figures.load_max < one.figures.load_max);
}

/// One layer is enough in trees, and the load is that of routes that need not avoid cycles.
#[test]
fn a_tree_needs_one_layer() {
    for k in [4, 6, 8] {
        let tree = FatTree { k }.build(SPECS).expect("a fat tree");
        let routed = check(&tree, &addresses(&tree, 0), 8).expect("the laws hold");
        assert_eq!(routed.layers, 1);
        assert_eq!(routed.figures.hops_mean, routed.figures.hops_least);
        assert!(routed.figures.load_max * 4 <= routed.figures.load_free * 5);
    }
}
