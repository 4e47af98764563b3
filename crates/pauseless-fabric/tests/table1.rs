//! The filter of GFC's Table 1 with random paths drawn per target switch instead of per target host,
//! which is what a minimal model written independently of this one seems to do; see
//! `docs/check.md`.

use pauseless_core::class_map::ClassMap;
use pauseless_core::table::WayId;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::dependency::{Checker, Lane, Lossy, Network, Traffic};
use pauseless_fabric::failure::{Draw, Failures};
use pauseless_fabric::generate::{FatTree, LinkSpecs, Shape};
use pauseless_fabric::rng::{Purpose, Stream};
use pauseless_fabric::routing::{Multipath, RouteBuilder, Routes};
use pauseless_fabric::topology::{LinkSpec, Topology};

/// All shortest paths, of which one is drawn for each switch and way; the hosts of a switch share
/// theirs.
fn random_routes(topology: &Topology, failures: &Failures, sample: u64) -> Routes {
    let builder = RouteBuilder::new(topology, Multipath::Ecmp);
    let mut routes = builder.without_links(failures.links()).build();
    let mut stream = Stream::new(77, Purpose::TieBreak, sample);
    for way in (0..routes.table.way_count()).map(|way| WayId(way as u32)) {
        for &switch in topology.switches() {
            let hops = routes.table.next_hops_of_way(switch, way).to_vec();
            if hops.len() > 1 {
                let drawn = hops[stream.below(hops.len() as u64) as usize];
                routes.table.set_way(switch, way, &[drawn]);
            }
        }
    }
    routes
}

#[test]
fn drawn_per_target_switch_about_one_network_in_twenty_has_a_cycle() {
    let spec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
    let shape = FatTree { k: 4 };
    let topology = shape.build(LinkSpecs::same(spec)).unwrap();
    let mut checker = Checker::new(&topology, 1);
    let nobody = vec![false; topology.nodes().len()];
    let is_cyclic = |sample: &u64| {
        let draw = Draw { seed: 1, sample: *sample };
        let failures = Failures::random_links(&topology, 50_000, draw);
        let network = Network {
            topology: &topology,
            routes: &random_routes(&topology, &failures, *sample),
            classes: &ClassMap::Same,
            traffic: &Traffic::AllPairs(vec![Lane::ONLY]),
            lossy: &Lossy::nothing(),
        };
        checker.graph(network, &nobody).is_cyclic()
    };
    // The reference has 503; per target host it is 840.
    assert_eq!((0..10_000).filter(is_cyclic).count(), 458);
}
