//! Follows a packet through a forwarding table.

use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_core::table::ForwardingTable;
use thiserror::Error;

use crate::topology::Topology;

/// The fields of a packet that determine its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The host that sends it.
    pub source: NodeId,
    /// The group by which switches forward it.
    pub group: GroupId,
    /// The ECMP hash, which chooses between equal paths.
    pub hash: u64,
}

/// The egress ports that a packet passes, from that of its source to that of the last switch.
/// The peer of the last one is the host at which it arrives.
pub fn trace(
    topology: &Topology,
    table: &ForwardingTable,
    header: Header,
) -> Result<Vec<(NodeId, PortId)>, TraceError> {
    let mut path = Vec::new();
    follow(topology, table, header, |node, port| path.push((node, port)))?;
    Ok(path)
}

/// Calls `visit` for each of these ports in turn, and returns the host at which the packet arrives.
pub fn follow(
    topology: &Topology,
    table: &ForwardingTable,
    header: Header,
    mut visit: impl FnMut(NodeId, PortId),
) -> Result<NodeId, TraceError> {
    let name = |node: NodeId| topology.node(node).name.clone();
    if !topology.is_host(header.source) {
        return Err(TraceError::SourceNotHost { name: name(header.source) });
    }
    let Some(first) = topology.ports(header.source).first() else {
        return Err(TraceError::NoLink { name: name(header.source) });
    };
    visit(header.source, PortId(0));
    let mut at = first.peer;
    let mut hops = 1;
    while !topology.is_host(at) {
        if hops > topology.nodes().len() {
            // A path longer than the number of nodes has come back to where it stands.
            let round = circle(topology, table, header).map_or(Vec::new(), |circle| circle.round);
            let start = round.iter().position(|(node, _)| *node == at).unwrap_or(0);
            let switches = round[start..].iter().chain(&round[..start]);
            return Err(TraceError::Loop {
                switches: switches.map(|(node, _)| name(*node)).collect(),
            });
        }
        let Some(port) = table.next_hop(at, header.group, header.hash) else {
            return Err(TraceError::NoNextHop { at: name(at), group: header.group });
        };
        visit(at, port);
        hops += 1;
        at = topology.port(at, port).peer;
    }
    Ok(at)
}

/// A path that never ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    /// The egress ports that a packet passes once, that of its source first.
    pub lead: Vec<(NodeId, PortId)>,
    /// The egress ports that it passes again and again, from where it enters the circle.
    pub round: Vec<(NodeId, PortId)>,
}

/// The path of a packet that travels in a circle; `None` for one that does not.
pub fn circle(topology: &Topology, table: &ForwardingTable, header: Header) -> Option<Circle> {
    let first = topology.ports(header.source).first()?;
    let mut path = vec![(header.source, PortId(0))];
    let mut at = first.peer;
    while !topology.is_host(at) {
        if let Some(visit) = path.iter().position(|(node, _)| *node == at) {
            let round = path.split_off(visit);
            return Some(Circle { lead: path, round });
        }
        let port = table.next_hop(at, header.group, header.hash)?;
        path.push((at, port));
        at = topology.port(at, port).peer;
    }
    None
}

/// Why a packet does not arrive.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each message names the fields of its variant")]
pub enum TraceError {
    /// A switch was named as the source.
    #[error("{name} is a switch; name a host as the source")]
    SourceNotHost { name: String },
    /// The source has lost its link.
    #[error("host {name} has no link left")]
    NoLink { name: String },
    /// A switch has no route for the packet.
    #[error("{at} has no next hop for group {}", group.0)]
    NoNextHop { at: String, group: GroupId },
    /// The packet travels in a circle for ever.
    #[error("the packet circles through {}", switches.join(", "))]
    Loop {
        /// The switches of the loop in the order of travel, each once.
        switches: Vec<String>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{FatTree, Line, LinkSpecs, Ring, Shape};
    use crate::path::{PathError, Step};
    use crate::routing::{Multipath, RouteBuilder};
    use crate::topology::LinkSpec;
    use pauseless_core::unit::{Rate, Span};

    const LINKS: LinkSpecs = LinkSpecs::same(LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) });

    fn names(topology: &Topology, path: &[(NodeId, PortId)]) -> String {
        let names = path.iter().map(|(node, port)| topology.port_name(*node, *port));
        names.collect::<Vec<_>>().join(" ")
    }

    //= gfc19 fig 11 type=test
    #[test]
    fn the_pinned_flows_of_gfc_take_their_paths() {
        let healthy = FatTree { k: 4 }.build(LINKS).unwrap();
        let failed = [("A1", "C2"), ("A5", "C1"), ("E1", "A2")];
        let topology =
            healthy.without_links(&failed.map(|(a, b)| healthy.link_between(a, b).unwrap()));
        let flows = [
            "H0 E1 A1 C1 A3 C2 A5 E5 H8",
            "H4 E3 A3 C2 A7 E7 H12",
            "H9 E5 A5 C2 A7 C1 A1 E1 H1",
            "H13 E7 A7 C1 A3 E3 H5",
            "H4 E3 H5",
        ];
        let flows = flows.map(|names| {
            names.split(' ').map(|name| topology.node_named(name).unwrap()).collect::<Vec<_>>()
        });
        let mut routes = RouteBuilder::new(&topology, Multipath::Ecmp);
        let groups = flows.each_ref().map(|path| routes.add_path(path).unwrap());
        let routes = routes.build();
        for (flow, group) in flows.iter().zip(groups) {
            let header = Header { source: flow[0], group, hash: 0 };
            let pinned = trace(&topology, &routes.table, header).unwrap();
            let visited: Vec<NodeId> = pinned.iter().map(|(node, _)| *node).collect();
            assert_eq!(visited, flow[..flow.len() - 1]);
            let (node, port) = pinned[pinned.len() - 1];
            assert_eq!(topology.port(node, port).peer, routes.groups.target(group));
            // The paths of the figure are shortest ones after the failures.
            let group = routes.groups.of_host(flow[flow.len() - 1]);
            let shortest = trace(&topology, &routes.table, Header { group, ..header }).unwrap();
            assert_eq!(shortest.len(), pinned.len());
        }
    }

    #[test]
    fn hops_are_egress_ports_from_the_source_on() {
        let ring = Ring { switches: 3, hosts_per_switch: 1 }.build(LINKS).unwrap();
        let routes = RouteBuilder::new(&ring, Multipath::Ecmp).build();
        let source = ring.node_named("H1").unwrap();
        let group = routes.groups.of_host(ring.node_named("H3").unwrap());
        let path = trace(&ring, &routes.table, Header { source, group, hash: 7 }).unwrap();
        assert_eq!(names(&ring, &path), "H1:S1 S1:S3 S3:H3");
    }

    #[test]
    fn a_packet_that_arrives_nowhere_is_explained() {
        let line = Line { switches: 3, hosts_per_switch: 1 }.build(LINKS).unwrap();
        let id = |name| line.node_named(name).unwrap();
        let cut = ["S3", "H1"].map(|name| {
            let neighbour = if name == "S3" { "S2" } else { "S1" };
            line.link_between(name, neighbour).unwrap()
        });
        let split = line.without_links(&cut);
        let routes = RouteBuilder::new(&split, Multipath::Ecmp).build();
        let group = routes.groups.of_host(id("H3"));
        let explain = |source| {
            let header = Header { source: id(source), group, hash: 0 };
            trace(&split, &routes.table, header).unwrap_err().to_string()
        };
        assert_eq!(explain("H2"), "S2 has no next hop for group 2");
        assert_eq!(explain("H1"), "host H1 has no link left");
        assert_eq!(explain("S1"), "S1 is a switch; name a host as the source");
    }

    #[test]
    fn a_loop_is_found_and_named() {
        let line = Line { switches: 4, hosts_per_switch: 1 }.build(LINKS).unwrap();
        let id = |name| line.node_named(name).unwrap();
        let mut routes = RouteBuilder::new(&line, Multipath::Ecmp).build();
        let group = routes.groups.of_host(id("H4"));
        let back = line.port_named("S3:S2").unwrap().1;
        routes.table.set(id("S3"), group, &[back]);
        let header = Header { source: id("H1"), group, hash: 0 };
        let Err(TraceError::Loop { mut switches }) = trace(&line, &routes.table, header) else {
            panic!("S2 and S3 send it to each other");
        };
        switches.sort();
        assert_eq!(switches, ["S2", "S3"]);
        let circle = circle(&line, &routes.table, header).expect("a circle");
        assert_eq!(names(&line, &circle.lead), "H1:S1 S1:S2");
        assert_eq!(names(&line, &circle.round), "S2:S3 S3:S2");
    }

    #[test]
    fn a_loop_that_was_asked_for_is_made() {
        let ring = Ring { switches: 4, hosts_per_switch: 1 }.build(LINKS).unwrap();
        let id = |name: &str| ring.node_named(name).unwrap();
        let steps = |names: &str| {
            names.split_whitespace().map(|name| Step::from(id(name))).collect::<Vec<_>>()
        };
        let around = |lead: &str, round: &str| {
            let mut builder = RouteBuilder::new(&ring, Multipath::Ecmp);
            let group = builder.add_loop(&steps(lead), &steps(round), id("H4"))?;
            let routes = builder.build();
            assert_eq!(routes.groups.target(group), id("H4"));
            let (source, hash) = (id("H1"), 0);
            let header = Header { source, group, hash };
            let circle = circle(&ring, &routes.table, header).expect("a circle");
            Ok((names(&ring, &circle.lead), names(&ring, &circle.round)))
        };
        let found: Result<_, PathError> = around("H1", "S1 S2");
        assert_eq!(found, Ok(("H1:S1".into(), "S1:S2 S2:S1".into())));
        let found = around("H1 S1", "S2 S3");
        assert_eq!(found, Ok(("H1:S1 S1:S2".into(), "S2:S3 S3:S2".into())));
        let found = around("H1", "S1 S2 S3 S4");
        let round = "S1:S2 S2:S3 S3:S4 S4:S1";
        assert_eq!(found, Ok(("H1:S1".into(), round.into())));
        for (lead, round, message) in [
            ("H1", "S1", "the loop has 1 of the two switches"),
            ("H1", "S1 S3", "the path goes from S1 to S3, but S1 has no link"),
            ("H1", "S2 S3", "the path goes from H1 to S2, but H1 has no link"),
            ("H1 S1", "S2 S1", "the path visits S1 twice"),
            ("H1", "S1 H1", "the path passes through the host H1"),
            ("S1", "S2 S3", "the path has the switch S1 at its end"),
        ] {
            let error = around(lead, round).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
