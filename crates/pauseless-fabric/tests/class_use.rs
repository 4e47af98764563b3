//! How many of the classes that count hops meet at one switch: the reductions for trees of the TTL
//! paper, 2.3.

use pauseless_core::class_map::{ClassMap, Hops, LANE_COUNT};
use pauseless_core::id::NodeId;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::dependency::{ClassUse, Lane, Lossy, Network, Traffic, class_use};
use pauseless_fabric::generate::{FatTree, LinkSpecs, Shape};
use pauseless_fabric::rng::{Purpose, Stream};
use pauseless_fabric::routing::{Algorithm, Multipath, RouteBuilder, Routing};
use pauseless_fabric::topology::{LinkIndex, LinkSpec, Topology};

const LINKS: LinkSpecs = LinkSpecs::same(LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) });

fn fat_tree(k: u32) -> Topology {
    FatTree { k }.build(LINKS).expect("a fat tree")
}

/// The classes of all pairs of hosts with as many classes as there can be.
fn used(topology: &Topology, algorithm: Algorithm) -> ClassUse {
    let multipath = Multipath::Ecmp;
    let routing = Routing { algorithm, multipath };
    let routes = RouteBuilder::new(topology, routing).build();
    class_use(Network {
        topology,
        routes: &routes,
        classes: &ClassMap::Hops(Hops::each(LANE_COUNT as u8)),
        traffic: &Traffic::AllPairs(vec![Lane::ONLY]),
        lossy: &Lossy::nothing(),
    })
}

/// Edges, aggregations and cores by their names.
fn layer(topology: &Topology, node: NodeId) -> usize {
    let name = &topology.node(node).name;
    "EAC".find(&name[..1]).expect("a name of a fat tree")
}

fn in_layer(topology: &Topology, layer_wanted: usize) -> Vec<NodeId> {
    let switches = topology.switches().iter().copied();
    let found = switches.filter(|node| layer(topology, *node) == layer_wanted);
    found.collect()
}

/// What is left of a fat tree after so many links between switches have failed.
fn broken(k: u32, failures: u64, seed: u64) -> Topology {
    let healthy = fat_tree(k);
    let mut random = Stream::new(seed, Purpose::Workload, 0);
    let links = healthy.links().iter().enumerate();
    let trunks = links.filter(|(_, link)| ![link.a, link.b].iter().any(|n| healthy.is_host(*n)));
    let mut trunks = Vec::from_iter(trunks.map(|(index, _)| LinkIndex(index as u32)));
    let failed = (0..failures).map(|_| {
        let place = random.below(trunks.len() as u64) as usize;
        trunks.swap_remove(place)
    });
    let failed = Vec::from_iter(failed);
    healthy.without_links(&failed)
}

/// In a healthy tree five switches are the longest way, and every layer sees every second class:
/// at most three of five, the half of them rounded up.
//= ttl 2.3 half type=test
#[test]
fn a_fat_tree_needs_half_of_the_classes_at_each_switch() {
    for k in [4, 8] {
        let topology = fat_tree(k);
        let used = used(&topology, Algorithm::Shortest);
        assert_eq!((used.total(), used.most()), (5, 3));
        for (number, expected) in [(0, 0b10101), (1, 0b01010), (2, 0b00100)] {
            for node in in_layer(&topology, number) {
                assert_eq!(used.at(node), expected, "{}", topology.node(node).name);
            }
        }
    }
}

/// After failures packets bounce: down, up again and down, so that ways get longer. Still no two
/// consecutive classes meet at a switch, because every hop changes the layer.
#[test]
fn bounces_make_more_classes_and_each_switch_still_needs_half() {
    let mut longest = 0;
    for k in [4, 8] {
        for seed in 0..20 {
            let topology = broken(k, 6, seed);
            let used = used(&topology, Algorithm::Shortest);
            longest = longest.max(used.total());
            assert!(used.most() <= used.total().div_ceil(2), "k {k}, seed {seed}");
            for &node in topology.switches() {
                let classes = used.at(node);
                assert_eq!(classes & classes << 1, 0, "k {k}, seed {seed}");
            }
        }
    }
    eprintln!("up to {longest} classes");
    assert!(longest >= 7, "some packets bounced: {longest} classes");
}

/// Without bounces, which up*/down* routing never makes, a switch sees packets once on their way up
/// and once on their way down. Of the eight classes of Ethernet that is a quarter at an aggregation
/// and an eighth at a core. It is not a quarter at an edge: packets come down to it after one hop up
/// or after two, so it needs three; those that come down go to hosts and wait for no switch.
//= ttl 2.3 quarter type=test
#[test]
fn without_bounces_a_quarter_of_eight_is_enough_above_the_edge() {
    const CLASSES: u32 = 8;
    for k in [4, 8] {
        for failures in [0, 1] {
            for seed in 0..10 {
                let topology = broken(k, failures, seed);
                let used = used(&topology, Algorithm::UpDown);
                for (number, most) in [(0, 3), (1, CLASSES / 4), (2, CLASSES / 8)] {
                    for node in in_layer(&topology, number) {
                        let count = used.at(node).count_ones();
                        let name = &topology.node(node).name;
                        assert!(count <= most, "k {k}, {failures}, {seed}: {name} {count}");
                    }
                }
            }
        }
    }
}
