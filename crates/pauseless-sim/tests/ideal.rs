//! A flow alone in an empty network takes exactly as long as the closed form says.

mod networks;

use networks::{Wanted, network};
use pauseless_core::flow_control::FlowControl;
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::generate::{FatTree, LinkSpecs, Shape};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::config::Ingress;
use pauseless_sim::ideal::ideal_of;
use pauseless_sim::{Config, run};

const OPEN: Ingress = Ingress { control: FlowControl::None, buffer: Bytes::MAX };

/// A line of hosts and switches whose links have these rates in Gb/s and delays in ns.
fn line(links: &[(u64, u64)]) -> Topology {
    let mut builder = TopologyBuilder::new();
    let mut from = builder.add_host("A");
    for (index, &(rate, delay)) in links.iter().enumerate() {
        let to = if index + 1 == links.len() {
            builder.add_host("B")
        } else {
            builder.add_switch(format!("S{index}"))
        };
        let spec = LinkSpec { rate: Rate::gbps(rate), delay: Span::ns(delay) };
        builder.connect(from, to, spec);
        from = to;
    }
    builder.build().expect("a line")
}

fn alone(topology: Topology, source: &'static str, target: &'static str) -> Config {
    let wanted = [Wanted { source, target, path: &[] }];
    network(topology, &wanted, OPEN, 7)
}

/// Flows of all sizes and paces, one run each.
fn check(mut config: Config) {
    let line = config.flows[0].pace;
    let paces = [line, Rate::mbps(3_333), Rate::mbps(700), Rate::gbps(1_000)];
    let sizes = [1, 64, 1_499, 1_500, 1_501, 10_000, 150_000, 151_024];
    for pace in paces {
        for size in sizes {
            for overhead in [0, 20] {
                config.wire_overhead = Bytes::new(overhead);
                config.flows[0].pace = pace;
                config.flows[0].size = Bytes::new(size);
                let outcome = run(&config);
                let flow = outcome.flows[0];
                let finish = flow.finish.expect("it is alone");
                let ideal = ideal_of(&config, &config.flows[0]);
                let what = format!("{size} B at {pace:?}, overhead {overhead}");
                let start = flow.start.expect("it has started");
                assert_eq!(finish - start, ideal, "{what}");
            }
        }
    }
}

#[test]
fn links_of_one_rate() {
    check(alone(line(&[(10, 1_000), (10, 500), (10, 0)]), "A", "B"));
}

#[test]
fn a_bottleneck_at_every_place() {
    check(alone(line(&[(1, 1_000), (10, 500), (40, 10)]), "A", "B"));
    check(alone(line(&[(25, 1_000), (1, 500), (40, 10)]), "A", "B"));
    check(alone(line(&[(40, 10), (10, 0), (25, 3), (3, 77)]), "A", "B"));
    check(alone(line(&[(7, 5), (3, 5), (2, 5), (9, 5)]), "A", "B"));
}

#[test]
fn every_discipline_of_a_switch() {
    for discipline in Discipline::COMMON {
        let mut config = alone(line(&[(40, 10), (10, 1_000), (25, 3)]), "A", "B");
        config.discipline = discipline;
        check(config);
    }
}

#[test]
fn across_a_fat_tree() {
    let spec = |rate, delay| LinkSpec { rate: Rate::gbps(rate), delay: Span::ns(delay) };
    let links = LinkSpecs { host: spec(40, 200), switch: spec(100, 1_500) };
    let topology = FatTree { k: 4 }.build(links).expect("a fat tree");
    check(alone(topology, "H0", "H15"));
}
