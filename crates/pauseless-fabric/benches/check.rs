//! How long the static check takes: `cargo bench -p pauseless-fabric --bench check -- K [ecmp|single]`.

use std::time::Instant;

use pauseless_core::class_map::ClassMap;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::dependency::{Checker, Lane, Lossy, Network, Traffic};
use pauseless_fabric::generate::{LinkSpecs, Shape};
use pauseless_fabric::routing::{Multipath, RouteBuilder, TieBreak};
use pauseless_fabric::topology::LinkSpec;

fn main() {
    let words = Vec::from_iter(std::env::args().skip(1).filter(|word| word != "--bench"));
    let k = words
        .first()
        .map_or(48, |word| word.parse().expect("K is a number"));
    let multipath = match words.get(1).map(String::as_str) {
        Some("single") => Multipath::Single {
            tie_break: TieBreak::Seeded(1),
        },
        _ => Multipath::Ecmp,
    };
    let begin = Instant::now();
    let lap = |what: &str| println!("{:8.3} s  {what}", begin.elapsed().as_secs_f64());
    let spec = LinkSpec {
        rate: Rate::gbps(100),
        delay: Span::us(1),
    };
    let topology = Shape::FatTree { k }
        .build(LinkSpecs::same(spec))
        .expect("a legal size");
    lap("generated");
    let routes = RouteBuilder::new(&topology, multipath).build();
    lap("routed");
    let network = Network {
        topology: &topology,
        routes: &routes,
        classes: &ClassMap::Same,
        traffic: &Traffic::AllPairs(vec![Lane::ONLY]),
        lossy: &Lossy::nothing(),
    };
    let mut checker = Checker::of(&network);
    let graph = checker.graph(network, &vec![false; topology.nodes().len()]);
    lap("graph");
    println!(
        "           {} hosts, {} buffers, {} dependencies, cyclic: {}",
        topology.host_count(),
        graph.buffer_count(),
        graph.dependency_count(),
        graph.is_cyclic()
    );
    lap("checked");
}
