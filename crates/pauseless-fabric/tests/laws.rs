//! What must hold on any fabric: packets take shortest paths, and arrive when there is a way.

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::routing::{Multipath, RouteBuilder, TieBreak};
use pauseless_fabric::topology::{LinkIndex, LinkSpec, Topology};
use pauseless_fabric::trace::{Header, trace};
use proptest::prelude::*;

/// A connected fabric: every node but the first is joined to an earlier switch, and some links
/// are added, parallel ones among them. Hosts and switches are numbered in any order.
fn connected() -> impl Strategy<Value = Topology> {
    let nodes = prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 2..24);
    let extra = any::<(prop::sample::Index, prop::sample::Index)>();
    (nodes, prop::collection::vec(extra, 0..12)).prop_map(|(nodes, extra)| {
        let spec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
        let mut builder = TopologyBuilder::new();
        let mut switches = vec![builder.add_switch("S0")];
        let first = builder.add_host("H0");
        builder.connect(first, switches[0], spec);
        for (number, (is_host, at)) in (1..).zip(nodes) {
            let parent = *at.get(&switches);
            if is_host {
                let host = builder.add_host(format!("H{number}"));
                builder.connect(host, parent, spec);
            } else {
                let switch = builder.add_switch(format!("S{number}"));
                builder.connect(switch, parent, spec);
                switches.push(switch);
            }
        }
        for (a, b) in extra {
            let (a, b) = (*a.get(&switches), *b.get(&switches));
            if a != b {
                builder.connect(a, b, spec);
            }
        }
        builder.build().expect("a valid fabric")
    })
}

/// The number of links from `source` to every node, by relaxing all links until nothing changes.
/// It shares no code with the crate's search. Hosts are leaves, so no path passes one.
fn distances(topology: &Topology, source: NodeId) -> Vec<Option<usize>> {
    let mut distances = vec![None; topology.nodes().len()];
    distances[source.index()] = Some(0);
    loop {
        let before = distances.clone();
        for link in topology.links() {
            for (from, to) in [(link.a, link.b), (link.b, link.a)] {
                let via = distances[from.index()].map(|n: usize| n + 1);
                let known = distances[to.index()];
                distances[to.index()] = known.into_iter().chain(via).min();
            }
        }
        if distances == before {
            return distances;
        }
    }
}

/// Checks every pair of hosts: traced when there is a way, as long as the distance, and refused
/// when there is none.
fn check(topology: &Topology, multipath: Multipath, hash: u64) -> Result<(), TestCaseError> {
    let routes = RouteBuilder::new(topology, multipath).build();
    for &source in topology.hosts() {
        let distances = distances(topology, source);
        for &target in topology.hosts().iter().filter(|target| **target != source) {
            let header = Header { source, group: routes.groups.of_host(target), hash };
            let path = trace(topology, &routes.table, header);
            let expected = distances[target.index()];
            prop_assert_eq!(path.as_ref().ok().map(Vec::len), expected);
            prop_assert_eq!(routes.reachable(topology, source, target), expected.is_some());
            let Ok(path) = path else { continue };
            for hop in path.windows(2) {
                let (node, port) = hop[0];
                prop_assert_eq!(topology.port(node, port).peer, hop[1].0);
            }
            let (node, port) = path[path.len() - 1];
            prop_assert_eq!(topology.port(node, port).peer, target);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn ecmp_takes_shortest_paths_under_any_hash(topology in connected(), hash: u64) {
        check(&topology, Multipath::Ecmp, hash)?;
    }

    #[test]
    fn seeded_single_paths_are_shortest(topology in connected(), seed: u64) {
        check(&topology, Multipath::Single { tie_break: TieBreak::Seeded(seed) }, 0)?;
        check(&topology, Multipath::Single { tie_break: TieBreak::Lowest }, 0)?;
    }

    #[test]
    fn after_failures_what_is_left_is_routed(
        topology in connected(),
        failed in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        hash: u64,
    ) {
        let count = topology.links().len();
        let failed: Vec<LinkIndex> =
            failed.iter().map(|index| LinkIndex(index.index(count) as u32)).collect();
        check(&topology.without_links(&failed), Multipath::Ecmp, hash)?;
    }

    #[test]
    fn a_traced_path_can_be_pinned(topology in connected(), hash: u64) {
        let routes = RouteBuilder::new(&topology, Multipath::Ecmp).build();
        let (source, target) = (topology.hosts()[0], topology.hosts()[topology.host_count() - 1]);
        prop_assume!(source != target);
        let header = Header { source, group: routes.groups.of_host(target), hash };
        let path = trace(&topology, &routes.table, header).unwrap();
        let mut nodes: Vec<NodeId> = path.iter().map(|(node, _)| *node).collect();
        nodes.push(target);
        let mut pinned = RouteBuilder::new(&topology, Multipath::Ecmp);
        let group = pinned.add_path(&nodes).unwrap();
        let again = trace(&topology, &pinned.build().table, Header { group, ..header }).unwrap();
        let visited: Vec<NodeId> = again.iter().map(|(node, _)| *node).collect();
        prop_assert_eq!(&visited[..], &nodes[..nodes.len() - 1]);
    }
}
