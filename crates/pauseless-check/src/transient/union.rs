//! The routes from before a failure and those afterwards, together.

use std::collections::BTreeMap;

use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_core::table::{ForwardingTable, WayId};
use pauseless_fabric::dependency::{Checker, Component, Network, Traffic};
use pauseless_fabric::fabric::Fabric;
use pauseless_fabric::failure::Failures;
use pauseless_fabric::reroute::Reroute;
use pauseless_fabric::routing::{RouteBuilder, Routes, Routing};

use crate::sweep::traffic_after;

/// What a switch may do with a packet while it may know of a failure or not.
pub(super) struct Union {
    /// The routes before the failure.
    pub old: Routes,
    /// The routes when all switches know of it.
    pub new: Routes,
    /// Every next hop of either, over links that have not failed.
    both: Routes,
    /// Whether each switch forwards anything otherwise afterwards, by node.
    changes: Vec<bool>,
    traffic: Traffic,
}

impl Union {
    pub(super) fn new(fabric: &Fabric, routing: Routing, failures: &Failures) -> Union {
        let topology = &fabric.topology;
        let old = RouteBuilder::new(topology, routing).build();
        let new = RouteBuilder::new(topology, routing).without_links(failures.links()).build();
        let mut changes = vec![false; topology.nodes().len()];
        let mut table = ForwardingTable::new(topology.nodes().len(), topology.switches());
        let mut ways: BTreeMap<(WayId, WayId), WayId> = BTreeMap::new();
        for group in (0..new.table.group_count()).map(|number| GroupId(number as u32)) {
            let pair = (old.table.way(group), new.table.way(group));
            let way = *ways.entry(pair).or_insert_with(|| {
                let way = table.add_way();
                for &switch in topology.switches() {
                    let before = old.table.next_hops_of_way(switch, pair.0);
                    let after = new.table.next_hops_of_way(switch, pair.1);
                    changes[switch.index()] |= before != after;
                    let is_up =
                        |port: &&PortId| !failures.contains(topology.port(switch, **port).link);
                    let mut ports = Vec::from_iter(before.iter().filter(is_up).copied());
                    ports.extend(after.iter().filter(|port| !before.contains(port)));
                    ports.sort_unstable();
                    table.set_way(switch, way, &ports);
                }
                way
            });
            table.add_group(way, new.table.exit(group));
        }
        let traffic = traffic_after(fabric, Reroute::Rule(routing));
        let both = Routes { table, groups: new.groups.clone() };
        Union { old, new, both, changes, traffic }
    }

    fn network<'n>(&'n self, fabric: &'n Fabric) -> Network<'n> {
        Network { routes: &self.both, traffic: &self.traffic, ..fabric.network() }
    }

    /// How many buffers lie in cycles of both routes together.
    pub(super) fn cyclic_buffers(
        &self,
        checker: &mut Checker,
        fabric: &Fabric,
        left_out: &[bool],
    ) -> usize {
        let graph = checker.graph(self.network(fabric), left_out);
        if !graph.is_cyclic() {
            return 0;
        }
        graph.components().iter().map(Vec::len).sum()
    }

    /// The largest group of buffers that can wait for each other. There must be one.
    pub(super) fn explain(
        &self,
        checker: &mut Checker,
        fabric: &Fabric,
        left_out: &[bool],
    ) -> Component {
        let graph = checker.graph(self.network(fabric), left_out);
        let components = checker.explain(self.network(fabric), &graph, left_out, 1);
        components.into_iter().next().expect("a failure with a cycle has a component")
    }

    /// The switches whose tables change, in their order.
    pub(super) fn learners(&self, fabric: &Fabric) -> Vec<NodeId> {
        let switches = fabric.topology.switches().iter().copied();
        switches.filter(|switch| self.changes[switch.index()]).collect()
    }
}
