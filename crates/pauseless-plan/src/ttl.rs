//! The classes that TTL-based buffer management needs: one for each place that a switch can have
//! on a path.

use pauseless_core::id::{GroupId, NodeId};
use pauseless_core::table::WayId;
use pauseless_fabric::dependency::Traffic;

use pauseless_fabric::fabric::Fabric;

/// At which hops packets can be at each switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hops {
    /// By node, a bit per hop: the first switch of a path has the lowest bit.
    places: Vec<u64>,
    /// Whether some packets never arrive, or pass more switches than can be told apart.
    pub has_loop: bool,
}

/// No path of a network that works is longer.
pub const HOPS_MAX: usize = 64;

impl Hops {
    /// Follows every packet that the routes of `fabric` allow.
    pub fn of(fabric: &Fabric) -> Hops {
        let table = &fabric.routes.table;
        let mut hops = Hops { places: vec![0; fabric.topology.nodes().len()], has_loop: false };
        let mut exits: Vec<Vec<NodeId>> = vec![Vec::new(); table.way_count()];
        for number in 0..table.group_count() {
            let group = GroupId(number as u32);
            let exits = &mut exits[table.way(group).index()];
            let exit = table.exit(group).map(|(node, _)| node);
            exits.extend(exit.filter(|node| exits.last() != Some(node)));
        }
        let entrances = Entrances::of(fabric);
        for (number, exits) in exits.iter().enumerate() {
            let way = WayId(number as u32);
            hops.follow(fabric, way, entrances.of_way(way), exits);
        }
        hops
    }

    /// All packets of a way, hop by hop.
    fn follow(&mut self, fabric: &Fabric, way: WayId, from: &[NodeId], exits: &[NodeId]) {
        let (topology, table) = (&fabric.topology, &fabric.routes.table);
        let mut here = from.to_vec();
        let mut next = Vec::new();
        for hop in 0..HOPS_MAX {
            here.sort_unstable();
            here.dedup();
            for node in here.drain(..) {
                let ports = table.next_hops_of_way(node, way);
                if ports.is_empty() && !exits.contains(&node) {
                    // No route from there: nothing is ever sent.
                    continue;
                }
                self.places[node.index()] |= 1 << hop;
                let peers = ports.iter().map(|port| topology.port(node, *port).peer);
                next.extend(peers.filter(|peer| !topology.is_host(*peer)));
            }
            std::mem::swap(&mut here, &mut next);
            if here.is_empty() {
                return;
            }
        }
        self.has_loop = true;
    }

    /// The hops at which packets can be at `node`, a bit each.
    pub fn at(&self, node: NodeId) -> u64 {
        self.places[node.index()]
    }

    /// The largest number d of switches that a packet passes; 0 without traffic.
    pub fn longest(&self) -> u32 {
        let all = self.places.iter().fold(0, |all, places| all | places);
        u64::BITS - all.leading_zeros()
    }
}

/// The switches at which packets enter.
enum Entrances {
    /// The same switches for every way.
    All(Vec<NodeId>),
    /// A list for each way.
    Listed(Vec<Vec<NodeId>>),
}

impl Entrances {
    pub fn of(fabric: &Fabric) -> Entrances {
        let table = &fabric.routes.table;
        let switch_of = |host: NodeId| fabric.topology.ports(host).first().map(|port| port.peer);
        match &fabric.traffic {
            Traffic::AllPairs(_) => {
                let hosts = fabric.topology.hosts().iter();
                let mut all = Vec::from_iter(hosts.filter_map(|host| switch_of(*host)));
                all.sort_unstable();
                all.dedup();
                Entrances::All(all)
            }
            Traffic::Demands(demands) => {
                let mut listed = vec![Vec::new(); table.way_count()];
                for demand in demands {
                    let way = table.way(demand.group);
                    listed[way.index()].extend(switch_of(demand.source));
                }
                Entrances::Listed(listed)
            }
        }
    }

    fn of_way(&self, way: WayId) -> &[NodeId] {
        match self {
            Entrances::All(all) => all,
            Entrances::Listed(listed) => &listed[way.index()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pauseless_scenario::shape;

    fn classes(spec: &str, names: &[&str]) -> Vec<Vec<u32>> {
        let fabric = shape::parse(spec).unwrap();
        let hops = Hops::of(&fabric);
        assert!(!hops.has_loop);
        let at = |name: &&str| {
            let places = hops.at(fabric.topology.node_named(name).unwrap());
            Vec::from_iter((0..64).filter(|hop| places >> hop & 1 == 1).map(|hop| hop + 1))
        };
        names.iter().map(at).collect()
    }

    /// Every other hop: the reduction for trees follows from the routes.
    #[test]
    fn a_fat_tree_needs_every_other_class_at_each_switch() {
        let found = classes("fat-tree:4,routing=ecmp", &["E1", "A1", "C1"]);
        assert_eq!(found, [vec![1, 3, 5], vec![2, 4], vec![3]]);
    }

    #[test]
    fn a_line_and_a_single_switch() {
        let found = classes("line:3,hosts_per_switch=1", &["S1", "S2", "S3"]);
        assert_eq!(found, [vec![1, 2, 3], vec![1, 2], vec![1, 2, 3]]);
        assert_eq!(classes("n-to-1:4", &["S1"]), [[1]]);
    }

    #[test]
    fn a_loop_is_told_and_not_followed_for_ever() {
        let mut fabric = shape::parse("line:3,hosts_per_switch=1").unwrap();
        let id = |name: &str| fabric.topology.node_named(name).unwrap();
        let (switch, host) = (id("S2"), id("H3"));
        let back = fabric.topology.ports_towards(switch, id("S1")).next().unwrap();
        let group = fabric.routes.groups.of_host(host);
        fabric.routes.table.set(switch, group, &[back]);
        assert!(Hops::of(&fabric).has_loop);
    }
}
