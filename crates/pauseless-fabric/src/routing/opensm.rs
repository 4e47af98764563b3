//! The routes that the subnet manager opensm makes, as far as proposals need them.
//!
//! **Models** `-R updn` with a file of root switches: ranks by distance from the roots, a search from
//! every destination that never goes up after down, and the balancing of LIDs over ports that
//! minhop and updn share. What comes out is what opensm 3.3.23 writes, entry by entry, where each
//! switch is a system of its own; `cargo xtask opensm` compares the two.
//! **Source** The behaviour of opensm 3.3.23, as its manual page describes it and as its tables show.
//! **Deviates** Where a chassis of several switches shares a system image GUID and ports have several
//! LIDs, opensm spreads these over systems, this over switches.
//! **Not modelled** Port shifting, scattering, routing order files and hop weights.

use std::cmp::Reverse;
use std::collections::VecDeque;

use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_core::table::ForwardingTable;

use super::{Groups, Routes};
use crate::fabric::Fabric;
use crate::topology::Topology;

/// The switches of a subnet in the numbering by which opensm breaks ties.
#[derive(Clone, Debug)]
pub struct Subnet<'t> {
    topology: &'t Topology,
    /// The GUID of each switch, by row.
    guids: Vec<u64>,
    /// The row of each node in the order of the switches; `NONE` for hosts.
    rows: Vec<u32>,
    /// The links of each switch to other switches, by row, by the port number of the device.
    trunks: Vec<Vec<Trunk>>,
    /// The end nodes of each switch with the port that leads there, by the number on the device.
    ends: Vec<Vec<(NodeId, PortId)>>,
    /// The largest port number of each switch.
    port_counts: Vec<u16>,
    /// The first place of each switch in vectors that have one place per trunk.
    starts: Vec<u32>,
}

/// A link from one switch to another.
#[derive(Clone, Copy, Debug)]
struct Trunk {
    /// The port number on the device.
    number: u16,
    port: PortId,
    /// The row of the other switch.
    peer: u32,
    /// The place of the other end in vectors that have one place per trunk.
    peer_place: u32,
}

/// The direction of a step in the order of up*/down*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

impl<'t> Subnet<'t> {
    /// The subnet of a fabric whose files say the GUIDs of switches and the numbers of ports; where
    /// they do not, both follow the order of the topology.
    pub fn of(fabric: &'t Fabric) -> Subnet<'t> {
        let guid = |node: NodeId| {
            let device = fabric.names.device(node);
            device.and_then(|device| device.guid).unwrap_or(u64::from(node.0) + 1)
        };
        let number = |node: NodeId, port: PortId| {
            let label = fabric.names.port(node, port).and_then(|label| label.strip_prefix('P'));
            label.and_then(|digits| digits.parse().ok()).unwrap_or(port.0 + 1)
        };
        Subnet::new(&fabric.topology, guid, number)
    }

    /// A subnet whose switches have the GUIDs that `guid` gives, and whose ports have the numbers
    /// that `number` gives.
    pub fn new(
        topology: &'t Topology,
        guid: impl Fn(NodeId) -> u64,
        number: impl Fn(NodeId, PortId) -> u16,
    ) -> Subnet<'t> {
        let switches = topology.switches();
        let mut rows = vec![NONE; topology.nodes().len()];
        for (row, switch) in (0..).zip(switches) {
            rows[switch.index()] = row;
        }
        let mut subnet = Subnet {
            topology,
            guids: switches.iter().map(|switch| guid(*switch)).collect(),
            rows,
            trunks: Vec::new(),
            ends: Vec::new(),
            port_counts: Vec::new(),
            starts: Vec::new(),
        };
        let mut places = vec![Vec::new(); topology.nodes().len()];
        let mut place = 0;
        for &switch in switches {
            let ports = (0..).map(PortId).zip(topology.ports(switch));
            let mut ports = Vec::from_iter(ports.map(|(id, port)| (number(switch, id), id, port)));
            ports.sort_unstable_by_key(|(number, id, _)| (*number, *id));
            subnet.port_counts.push(ports.last().map_or(0, |(number, _, _)| *number));
            subnet.starts.push(place);
            places[switch.index()] = vec![NONE; ports.len()];
            let (mut trunks, mut ends) = (Vec::new(), Vec::new());
            for (number, port, facing) in ports {
                let peer = subnet.rows[facing.peer.index()];
                if peer == NONE {
                    ends.push((facing.peer, port));
                    continue;
                }
                places[switch.index()][port.index()] = place;
                place += 1;
                trunks.push(Trunk { number, port, peer, peer_place: NONE });
            }
            subnet.trunks.push(trunks);
            subnet.ends.push(ends);
        }
        for (row, &switch) in switches.iter().enumerate() {
            for trunk in &mut subnet.trunks[row] {
                let facing = topology.port(switch, trunk.port);
                trunk.peer_place = places[facing.peer.index()][facing.peer_port.index()];
            }
        }
        subnet
    }

    /// The roots that `opensm -R updn` finds by itself: switches from which more than nine tenths
    /// of all end nodes are equally far, and hardly any elsewhere. Mostly there are none if some
    /// end nodes are not on leaves; opensm then routes by minhop, without a word on the console.
    pub fn detected_roots(&self) -> Vec<NodeId> {
        let total: usize = self.ends.iter().map(Vec::len).sum();
        let mut roots = Vec::new();
        for (row, &switch) in self.topology.switches().iter().enumerate() {
            let distances = self.distances(&[row]);
            let mut histogram = [0usize; HOPS_MAX];
            for (distance, ends) in distances.iter().zip(&self.ends) {
                if let Some(bar) = histogram.get_mut(*distance as usize) {
                    *bar += ends.len();
                }
            }
            let above = |share: f64| {
                histogram.iter().filter(|bar| **bar as f64 > total as f64 * share).count()
            };
            if above(0.9) == 1 && above(0.05) == 1 {
                roots.push(switch);
            }
        }
        roots
    }

    /// The distance of every switch from the nearest of `starts`, in links, by row; `NONE` where
    /// there is no path.
    fn distances(&self, starts: &[usize]) -> Vec<u32> {
        let mut distances = vec![NONE; self.guids.len()];
        let mut queue = VecDeque::new();
        for &start in starts {
            distances[start] = 0;
            queue.push_back(start);
        }
        while let Some(row) = queue.pop_front() {
            for trunk in &self.trunks[row] {
                let peer = trunk.peer as usize;
                if distances[peer] == NONE {
                    distances[peer] = distances[row] + 1;
                    queue.push_back(peer);
                }
            }
        }
        distances
    }

    /// The routes of `opensm -R updn -a FILE` with these roots in the file, for the addresses of
    /// `groups`. Pairs that opensm leaves without a route have none here.
    pub fn up_down(&self, roots: &[NodeId], groups: &Groups) -> Routes {
        let starts = roots.iter().map(|root| self.rows[root.index()] as usize);
        let ranks = self.distances(&Vec::from_iter(starts));
        self.routes(groups, |search, target| search.up_down(self, &ranks, target))
    }

    /// The routes of opensm's minhop.
    pub fn min_hop(&self, groups: &Groups) -> Routes {
        self.routes(groups, |search, target| search.min_hop(self, target))
    }

    /// Balances addresses over the ports that `find` leaves with the fewest hops.
    fn routes(&self, groups: &Groups, mut find: impl FnMut(&mut Hops, usize)) -> Routes {
        let topology = self.topology;
        let mut table = ForwardingTable::new(topology.nodes().len(), topology.switches());
        for _ in 0..groups.count() {
            let way = table.add_way();
            table.add_group(way, None);
        }
        let mut addresses: Vec<Vec<GroupId>> = vec![Vec::new(); topology.nodes().len()];
        for group in groups.addresses() {
            addresses[groups.target(group).index()].push(group);
        }
        let most = addresses.iter().map(Vec::len).max().unwrap_or(0);
        let mut balance = Balance::new(self, most > 1);
        let mut hops = Hops::new(self);
        for offset in 0..most {
            for target in self.order_of_targets() {
                let is_asked =
                    |(host, _): &(NodeId, PortId)| addresses[host.index()].get(offset).is_some();
                if !self.ends[target].iter().any(is_asked) {
                    continue;
                }
                find(&mut hops, target);
                for &(host, port) in &self.ends[target] {
                    let Some(&group) = addresses[host.index()].get(offset) else { continue };
                    let way = table.way(group);
                    table.set_way(topology.switches()[target], way, &[port]);
                    for (row, &switch) in topology.switches().iter().enumerate() {
                        if row != target {
                            let chosen = balance.choose(self, &hops, row, host, offset);
                            if let Some(trunk) = chosen {
                                table.set_way(switch, way, &[trunk.port]);
                            }
                        }
                    }
                }
            }
        }
        Routes { table, groups: groups.clone() }
    }

    /// The switches in the order in which opensm routes to their end nodes: those with most of
    /// them first, then by GUID. opensm sorts GUIDs as they are on the wire, so on the usual
    /// little-endian machine their last byte counts most.
    fn order_of_targets(&self) -> Vec<usize> {
        let mut order = Vec::from_iter(0..self.guids.len());
        order.sort_by_key(|row| (Reverse(self.ends[*row].len()), self.guids[*row].swap_bytes()));
        order
    }
}

/// For one destination, how many hops away it is by each trunk.
struct Hops {
    /// By trunk, from the switch that the trunk leaves.
    by_trunk: Vec<u16>,
    /// The least of them, by switch.
    least: Vec<u16>,
    /// Whether each switch waits in the queue.
    is_queued: Vec<bool>,
    /// The direction in which each switch was found.
    found: Vec<Direction>,
    queue: VecDeque<u32>,
}

impl Hops {
    fn new(subnet: &Subnet<'_>) -> Hops {
        let switches = subnet.guids.len();
        Hops {
            by_trunk: vec![FAR; subnet.trunks.iter().map(Vec::len).sum()],
            least: vec![FAR; switches],
            is_queued: vec![false; switches],
            found: vec![Direction::Up; switches],
            queue: VecDeque::new(),
        }
    }

    fn begin(&mut self, target: usize) {
        self.by_trunk.fill(FAR);
        self.least.fill(FAR);
        self.least[target] = 0;
        self.found[target] = Direction::Up;
        self.queue.push_back(target as u32);
    }

    /// Searches from the target. A switch that is found by a further port searches on in the
    /// direction of that port, with the fewest hops that it has by any port: this is what opensm
    /// does, and why its tables can have a cycle where roots are neighbours.
    fn up_down(&mut self, subnet: &Subnet<'_>, ranks: &[u32], target: usize) {
        self.begin(target);
        while let Some(row) = self.queue.pop_front() {
            let row = row as usize;
            self.is_queued[row] = false;
            let came = self.found[row];
            for trunk in &subnet.trunks[row] {
                let peer = trunk.peer as usize;
                let goes =
                    direction((ranks[row], subnet.guids[row]), (ranks[peer], subnet.guids[peer]));
                let hops = self.least[row] + 1;
                let is_legal = came == Direction::Up || goes == Direction::Down;
                if !is_legal || hops >= self.by_trunk[trunk.peer_place as usize] {
                    continue;
                }
                self.by_trunk[trunk.peer_place as usize] = hops;
                self.least[peer] = self.least[peer].min(hops);
                if !self.is_queued[peer] {
                    self.is_queued[peer] = true;
                    self.found[peer] = goes;
                    self.queue.push_back(peer as u32);
                }
            }
        }
    }

    fn min_hop(&mut self, subnet: &Subnet<'_>, target: usize) {
        self.begin(target);
        while let Some(row) = self.queue.pop_front() {
            let row = row as usize;
            for trunk in &subnet.trunks[row] {
                let (peer, hops) = (trunk.peer as usize, self.least[row] + 1);
                self.by_trunk[trunk.peer_place as usize] = hops;
                if self.least[peer] == FAR {
                    self.least[peer] = hops;
                    self.queue.push_back(peer as u32);
                }
            }
        }
    }
}

/// The direction of a step between switches of these ranks and GUIDs. Between two roots every step
/// goes up.
fn direction(from: (u32, u64), to: (u32, u64)) -> Direction {
    match (from.0, to.0) {
        (0, 0) => Direction::Up,
        (here, there) if here != there => {
            if here < there {
                Direction::Down
            } else {
                Direction::Up
            }
        }
        _ if from.1 > to.1 => Direction::Up,
        _ => Direction::Down,
    }
}

/// How many addresses each trunk carries so far.
struct Balance {
    counts: Vec<u32>,
    /// By switch and end node, the neighbours that carry one of its addresses, and how many; only
    /// where end nodes have several.
    carriers: Vec<Vec<Vec<(u32, u32)>>>,
    /// By switch and end node, the number of the port of the address before.
    last: Vec<Vec<u16>>,
}

impl Balance {
    fn new(subnet: &Subnet<'_>, has_several: bool) -> Balance {
        let (switches, nodes) = match has_several {
            true => (subnet.guids.len(), subnet.rows.len()),
            false => (0, 0),
        };
        Balance {
            counts: vec![0; subnet.trunks.iter().map(Vec::len).sum()],
            carriers: vec![vec![Vec::new(); nodes]; switches],
            last: vec![vec![0; nodes]; switches],
        }
    }

    /// The trunk by which the switch `row` sends to the next address of `host`.
    fn choose(
        &mut self,
        subnet: &Subnet<'_>,
        hops: &Hops,
        row: usize,
        host: NodeId,
        offset: usize,
    ) -> Option<Trunk> {
        let start = subnet.starts[row] as usize;
        let trunks = &subnet.trunks[row];
        let least = hops.least[row];
        if least == FAR {
            return None;
        }
        let is_least = |at: &usize| hops.by_trunk[start + at] == least;
        let chosen = if self.carriers.is_empty() {
            let candidates = (0..trunks.len()).filter(is_least);
            candidates.min_by_key(|at| self.counts[start + at])?
        } else {
            // The ports are tried from the one after that of the address before.
            let from = if offset > 0 { self.last[row][host.index()] + 1 } else { 1 };
            let modulus = subnet.port_counts[row] + 1;
            let turn = |at: &usize| (trunks[*at].number + modulus - from % modulus) % modulus;
            let mut candidates = Vec::from_iter((0..trunks.len()).filter(is_least));
            candidates.sort_by_key(turn);
            let carriers = &self.carriers[row][host.index()];
            let carries = |at: &usize| {
                carriers.iter().find(|(peer, _)| *peer == trunks[*at].peer).map(|(_, count)| *count)
            };
            let unused = candidates.iter().copied().filter(|at| carries(at).is_none());
            let key = |at: &usize| self.counts[start + at];
            match unused.min_by_key(key) {
                Some(at) => at,
                None => {
                    candidates.into_iter().min_by_key(|at| (key(at), carries(at).unwrap_or(0)))?
                }
            }
        };
        self.counts[start + chosen] += 1;
        let trunk = trunks[chosen];
        if !self.carriers.is_empty() {
            self.last[row][host.index()] = trunk.number;
            let carriers = &mut self.carriers[row][host.index()];
            match carriers.iter_mut().find(|(peer, _)| *peer == trunk.peer) {
                Some((_, count)) => *count += 1,
                None => carriers.push((trunk.peer, 1)),
            }
        }
        Some(trunk)
    }
}

/// No row, no place, or no path.
const NONE: u32 = u32::MAX;
/// More hops than any path has.
const FAR: u16 = u16::MAX;
/// The longest path that opensm considers.
const HOPS_MAX: usize = 64;
