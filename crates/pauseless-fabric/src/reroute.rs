//! Routes after links have failed.

use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_core::table::WayId;

use crate::failure::Failures;
use crate::rng::{Purpose, Stream};
use crate::routing::{Multipath, RouteBuilder, Routes, Routing, TieBreak};
use crate::topology::Topology;

/// How the routes of a fabric change after failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reroute {
    /// All routes are computed anew by a rule, once the failures are known everywhere.
    Rule(Routing),
    /// Only the switches at a failed link change their routes, as before the others have learnt of
    /// it: packets that would have crossed the link go to a neighbour that still leads to the
    /// target.
    LocalDetour,
}

impl Reroute {
    /// The same reaction in another sample of random failures: ties are broken by other draws.
    pub fn of_sample(self, sample: u64) -> Reroute {
        match self {
            Reroute::Rule(Routing {
                algorithm,
                multipath: Multipath::Single { tie_break: TieBreak::Seeded(seed) },
            }) => {
                let seed = Stream::new(seed, Purpose::TieBreak, sample).next_u64();
                let tie_break = TieBreak::Seeded(seed);
                Reroute::Rule(Routing { algorithm, multipath: Multipath::Single { tie_break } })
            }
            other => other,
        }
    }

    /// The routes of `topology` after `failures`; `healthy` are those before. Ports keep their
    /// numbers, and the first groups are again those of the hosts.
    pub fn routes(self, topology: &Topology, healthy: &Routes, failures: &Failures) -> Routes {
        match self {
            Reroute::Rule(routing) => {
                RouteBuilder::new(topology, routing).without_links(failures.links()).build()
            }
            Reroute::LocalDetour => Detours::new(topology, healthy, failures).routes(),
        }
    }
}

struct Detours<'d> {
    topology: &'d Topology,
    healthy: &'d Routes,
    failed: Vec<bool>,
    /// The switches at failed links.
    affected: Vec<NodeId>,
}

impl<'d> Detours<'d> {
    fn new(topology: &'d Topology, healthy: &'d Routes, failures: &Failures) -> Detours<'d> {
        let mut failed = vec![false; topology.links().len()];
        let mut affected = Vec::new();
        for link in failures.links() {
            failed[link.0 as usize] = true;
            let link = topology.links()[link.0 as usize];
            let ends = [link.a, link.b].into_iter();
            affected.extend(ends.filter(|end| !topology.is_host(*end)));
        }
        affected.sort_unstable();
        affected.dedup();
        Detours { topology, healthy, failed, affected }
    }

    fn routes(&self) -> Routes {
        let mut routes = self.healthy.clone();
        let table = &self.healthy.table;
        let mut is_done = vec![false; table.way_count()];
        for group in (0..table.group_count()).map(|number| GroupId(number as u32)) {
            let way = table.way(group);
            if std::mem::replace(&mut is_done[way.index()], true) {
                continue;
            }
            for &switch in &self.affected {
                let used = table.next_hops_of_way(switch, way);
                if !used.iter().any(|port| self.is_down(switch, *port)) {
                    continue;
                }
                let alive = used.iter().copied().filter(|p| !self.is_down(switch, *p));
                let alive = Vec::from_iter(alive);
                let hops = if alive.is_empty() { self.detour(switch, group, way) } else { alive };
                routes.table.set_way(switch, way, &hops);
            }
        }
        routes
    }

    fn is_down(&self, node: NodeId, port: PortId) -> bool {
        self.failed[self.topology.port(node, port).link.0 as usize]
    }

    /// The port to the neighbour from which the target is nearest, among those from which it can be
    /// reached without this switch; the lowest of several.
    fn detour(&self, switch: NodeId, group: GroupId, way: WayId) -> Vec<PortId> {
        let ports = (0..).map(PortId).zip(self.topology.ports(switch));
        let hops = ports.filter_map(|(number, port)| {
            let is_open = !self.is_down(switch, number) && !self.topology.is_host(port.peer);
            let length = self.length(port.peer, group, way)?;
            is_open.then_some((length, number))
        });
        hops.min().map(|(_, number)| number).into_iter().collect()
    }

    /// The number of hops of the healthy routes from `start` to the end of `way`; `None` if they
    /// cross a failed link.
    fn length(&self, start: NodeId, group: GroupId, way: WayId) -> Option<usize> {
        let table = &self.healthy.table;
        let exit = table.exit(group).map(|(node, _)| node);
        let mut at = start;
        for length in 0..self.topology.switches().len() {
            if exit == Some(at) || self.topology.is_host(at) {
                return Some(length);
            }
            let hops = table.next_hops_of_way(at, way).iter();
            let port = hops.copied().find(|port| !self.is_down(at, *port))?;
            at = self.topology.port(at, port).peer;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{LinkSpecs, Ring, Shape};
    use crate::topology::tests::SPEC;
    use crate::trace::{Header, trace};

    #[test]
    fn a_detour_leads_around_the_failure_and_changes_nothing_else() {
        let ring = Ring { switches: 5, hosts_per_switch: 1 };
        let ring = ring.build(LinkSpecs::same(SPEC)).unwrap();
        let healthy = RouteBuilder::new(&ring, Multipath::Ecmp).build();
        let failures = Failures::named(&ring, "S1-S2").unwrap();
        let routes = Reroute::LocalDetour.routes(&ring, &healthy, &failures);
        let id = |name: &str| ring.node_named(name).unwrap();
        let path = |routes: &Routes, from: &str, to: &str| {
            let header = Header { source: id(from), group: routes.groups.of_host(id(to)), hash: 0 };
            let path = trace(&ring, &routes.table, header).unwrap();
            Vec::from_iter(path.iter().map(|(node, _)| ring.node(*node).name.clone())).join(" ")
        };
        // S5 does not know of the failure, but it takes the other way to S3 anyhow.
        assert_eq!(path(&healthy, "H1", "H3"), "H1 S1 S2 S3");
        assert_eq!(path(&routes, "H1", "H3"), "H1 S1 S5 S4 S3");
        assert_eq!(path(&routes, "H3", "H4"), "H3 S3 S4");
        // For H2 both neighbours of S1 would send it back to S1, so it is dropped there.
        let group = routes.groups.of_host(id("H2"));
        assert!(routes.table.next_hops(id("S1"), group).is_empty());
    }
}
