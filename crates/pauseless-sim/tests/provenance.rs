//! Where pauses come from, on networks whose story is known and on any other.

mod networks;

use networks::random::{Wildness, random_network};
use networks::{Scheme, Wanted, gfc_ring, network, port};
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::id::{Class, FlowId};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::generate::{Line, LinkSpecs, Shape};
use pauseless_fabric::topology::LinkSpec;
use pauseless_sim::config::{Ingress, Receiver};
use pauseless_sim::outcome::{EgressQueue, PauseCause, PauseTree, Provenance};
use pauseless_sim::{Config, run};

fn queue(config: &Config, name: &str) -> EgressQueue {
    let (node, port) = port(config, name);
    let class = Class(0);
    EgressQueue { node, port, class }
}

fn names(config: &Config, tree: &PauseTree) -> Vec<String> {
    let links = tree.links.iter().map(|link| {
        let EgressQueue { node, port, .. } = link.stopped;
        config.topology.port_name(node, port)
    });
    let mut names = Vec::from_iter(links);
    names.sort();
    names
}

/// Hosts of the first switch of a line send to the second: an incast, and one that only passes by.
fn line(wanted: &[(&'static str, &'static str)]) -> Config {
    let shape = Line { switches: 3, hosts_per_switch: 3 };
    let spec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
    let topology = shape.build(LinkSpecs::same(spec)).expect("a line");
    let flows = wanted.iter().map(|(source, target)| Wanted { source, target, path: &[] });
    let control = FlowControl::Pfc(pfc::Config {
        xoff: Bytes::kb(50),
        xon: Bytes::kb(47),
        quanta: pfc::QUANTA_MAX,
    });
    let buffer = Bytes::kb(100);
    let flows = Vec::from_iter(flows);
    let mut config = network(topology, &flows, Ingress { control, buffer }, 1);
    config.duration = Span::ms(3);
    config.is_tracing = true;
    // Two of them together fill no link, so that S1:S2 is not congested by itself.
    for flow in &mut config.flows {
        flow.pace = Rate::gbps(4);
    }
    config
}

#[test]
fn the_root_of_an_incast_is_the_port_of_its_sink() {
    // H1b passes by: it waits at S1:S2 because of H1a, but goes elsewhere.
    let config = line(&[("H1a", "H2a"), ("H2b", "H2a"), ("H2c", "H2a"), ("H1b", "H3b")]);
    let provenance = run(&config).provenance.expect("recorded");
    assert_eq!(provenance.trees.len(), 1, "{:?}", provenance.trees);
    let tree = &provenance.trees[0];
    assert_eq!(tree.root, queue(&config, "S2:H2a"));
    assert_eq!(names(&config, tree), ["H1a:S1", "H1b:S1", "H2b:S2", "H2c:S2", "S1:S2"]);
    let culprits = ["H1a->H2a", "H2b->H2a", "H2c->H2a"];
    let culprits = culprits.map(|name| networks::flow(&config, name));
    assert_eq!(tree.culprits, culprits);
    assert_eq!(tree.victims, [networks::flow(&config, "H1b->H3b")]);
    assert_eq!(tree.depth, 2);
    let link = |name: &str| {
        let wanted = queue(&config, name);
        let mut links = tree.links.iter();
        links.position(|link| link.stopped == wanted).expect("it was stopped")
    };
    let middle = link("S1:S2");
    assert_eq!(tree.links[middle].because, None, "the root stops it itself");
    for host in ["H1a:S1", "H1b:S1"] {
        let paused = tree.links[link(host)];
        assert_eq!(paused.because, Some(middle as u32));
        assert!(paused.first > tree.links[middle].first);
    }
    assert_eq!(provenance.cycle_count, 0);
    assert_eq!(tree.pauses, provenance.pauses);
    assert_eq!(tree.pauses, tree.links.iter().map(|link| link.pauses).sum());
}

#[test]
fn a_host_that_is_slow_is_a_root_itself() {
    let mut config = line(&[("H1a", "H3a"), ("H1b", "H3b")]);
    let host = config.flows[0].target;
    let steps = vec![(Time::ZERO, Some(Rate::gbps(1)))];
    config.receivers = vec![Receiver { host, steps }];
    let provenance = run(&config).provenance.expect("recorded");
    let tree = &provenance.trees[0];
    assert_eq!(tree.root, queue(&config, "H3a:S3"));
    assert_eq!(provenance.records[0].cause, PauseCause::Host(host));
    assert_eq!(provenance.records[0].stopped, queue(&config, "S3:H3a"));
    assert_eq!(tree.victims, [FlowId(1)]);
    assert_eq!(names(&config, tree), ["H1a:S1", "H1b:S1", "S1:S2", "S2:S3", "S3:H3a"]);
    assert_eq!(provenance.cycle_count, 0, "nobody waits for itself");
}

#[test]
fn the_deadlock_of_the_ring_is_a_circle_of_pauses() {
    for seed in 1..=5 {
        let mut config = gfc_ring(Scheme::Pfc, Discipline::OutputQueued, seed);
        config.duration = Span::ms(10);
        config.is_tracing = true;
        let outcome = run(&config);
        let provenance = outcome.provenance.expect("recorded");
        let last = provenance.cycles.last().expect("a circle");
        let mut circle = last.stopped.clone();
        let mut expected = outcome.deadlock.expect("a deadlock").cycle;
        circle.sort();
        expected.sort();
        assert_eq!(circle, expected, "seed {seed}");
    }
}

/// Follows the causes of a record to its root.
fn root_of(provenance: &Provenance, mut index: usize) -> PauseCause {
    loop {
        match provenance.records[index].cause {
            PauseCause::Pause(parent) => {
                assert!((parent as usize) < index, "a parent was recorded before");
                index = parent as usize;
            }
            root => return root,
        }
    }
}

/// Every pause has a root, no parent is later than its child, and recording changes nothing.
#[test]
fn every_pause_has_a_root_in_any_network() {
    let (mut pauses, mut deep, mut circles, mut deadlocks) = (0, 0, 0, 0);
    for seed in 0..150 {
        let wildness = Wildness { scheme: 0, slow_receivers: seed % 2 == 0 };
        let mut config = random_network(seed, wildness);
        let plain = run(&config);
        config.is_tracing = true;
        let mut outcome = run(&config);
        let provenance = outcome.provenance.take().expect("recorded");
        assert_eq!(outcome, plain, "seed {seed}");
        let told: u64 = plain.ports.iter().map(|port| port.pauses).sum();
        assert!(provenance.pauses >= told, "{} {told}", provenance.pauses);
        for (index, pause) in provenance.records.iter().enumerate() {
            if let PauseCause::Pause(parent) = pause.cause {
                assert!(provenance.records[parent as usize].time <= pause.time);
            }
            let root = match root_of(&provenance, index) {
                PauseCause::Egress(queue) => queue,
                PauseCause::Host(node) => provenance
                    .trees
                    .iter()
                    .map(|tree| tree.root)
                    .find(|root| root.node == node && root.class == pause.stopped.class)
                    .expect("a tree of that host"),
                PauseCause::Pause(_) => unreachable!("followed to the end"),
            };
            let tree = provenance.trees.iter().find(|tree| tree.root == root);
            let tree = tree.expect("a tree for every root");
            let mut links = tree.links.iter();
            assert!(links.any(|link| link.stopped == pause.stopped));
            assert!(tree.first <= pause.time);
        }
        for tree in &provenance.trees {
            for link in &tree.links {
                let Some(because) = link.because else {
                    continue;
                };
                let parent = tree.links[because as usize];
                assert!(parent.first <= link.first);
                deep += 1;
            }
        }
        pauses += provenance.pauses;
        circles += usize::from(provenance.cycle_count > 0);
        deadlocks += usize::from(plain.deadlock.is_some());
    }
    assert!(pauses > 1_000 && deep > 100, "{pauses} {deep}");
    assert!(circles * 2 > deadlocks && deadlocks > 10, "{circles} {deadlocks}");
}
