//! From a graph to the forwarding table: by a rule for all hosts, and along explicit paths.
//!
//! Each host has a group, in the order of [`Topology::hosts`]; each explicit path has a group
//! of its own, after those of the hosts.

mod dimension_order;
pub mod layered;
pub mod opensm;
mod search;
mod up_down;

use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_core::table::{ForwardingTable, WayId};

pub use dimension_order::{Dimensions, port_counts};

use crate::path::{self, PathError, Step};
use crate::rng::{Purpose, Stream};
use crate::topology::{LinkIndex, Topology};
use search::View;
use search::{Rule, Search};
use up_down::Order;

/// The rule by which paths are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The paths with the fewest hops.
    Shortest,
    /// The paths that never go up after down, in the order of a tree; see the module of that name.
    UpDown,
    /// The paths that follow one dimension after the other, on a mesh or torus.
    DimensionOrder(Dimensions),
}

/// How many of the paths that the rule allows are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Multipath {
    /// One next hop per switch and target host.
    Single {
        /// Which one, if several are equally good.
        tie_break: TieBreak,
    },
    /// All next hops that are equally good; the hash of a flow chooses.
    Ecmp,
}

/// Which of several equally good next hops is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TieBreak {
    /// The one with the lowest port number.
    Lowest,
    /// A random one for each switch and target host, which this seed determines.
    Seeded(u64),
}

/// How paths are found, and how many of them are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Routing {
    /// By which rule paths are found.
    pub algorithm: Algorithm,
    /// What is done with equally good next hops.
    pub multipath: Multipath,
}

impl From<Multipath> for Routing {
    /// Uses the shortest paths.
    fn from(multipath: Multipath) -> Routing {
        Routing { algorithm: Algorithm::Shortest, multipath }
    }
}

/// A forwarding table and the meaning of its groups. Only switches have entries: a host has only
/// one port to send by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routes {
    /// The table that switches forward by.
    pub table: ForwardingTable,
    /// The target of each group.
    pub groups: Groups,
}

impl Routes {
    /// Whether the switch of `source` knows a way to the host `target`.
    pub fn reachable(&self, topology: &Topology, source: NodeId, target: NodeId) -> bool {
        match topology.ports(source).first() {
            Some(port) => !self.table.next_hops(port.peer, self.groups.of_host(target)).is_empty(),
            None => false,
        }
    }
}

/// The destinations that a forwarding table tells apart. A group is all packets that are forwarded
/// alike to one host: first one per host, then one per explicit path or further address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    of_node: Vec<Option<GroupId>>,
    targets: Vec<NodeId>,
    is_address: Vec<bool>,
}

impl Groups {
    /// One group per host, in their order.
    pub fn of_hosts(topology: &Topology) -> Groups {
        let mut of_node = vec![None; topology.nodes().len()];
        for (number, host) in (0..).zip(topology.hosts()) {
            of_node[host.index()] = Some(GroupId(number));
        }
        Groups {
            of_node,
            targets: topology.hosts().to_vec(),
            is_address: vec![true; topology.host_count()],
        }
    }

    /// Adds a group of packets for this host: those of an explicit path.
    pub fn add_path(&mut self, target: NodeId) -> GroupId {
        self.targets.push(target);
        self.is_address.push(false);
        GroupId((self.targets.len() - 1) as u32)
    }

    /// Adds an address of this host, to which every host may send.
    pub fn add_address(&mut self, target: NodeId) -> GroupId {
        let group = self.add_path(target);
        self.is_address[group.index()] = true;
        group
    }

    /// The groups to which every host may send.
    pub fn addresses(&self) -> impl Iterator<Item = GroupId> + '_ {
        let groups = (0..).map(GroupId).zip(&self.is_address);
        groups.filter(|(_, is)| **is).map(|(group, _)| group)
    }

    /// Leaves only those groups addresses of which `is_kept` says so; others stay groups.
    pub fn keep_addresses(&mut self, is_kept: impl Fn(GroupId) -> bool) {
        for (group, is_address) in (0..).map(GroupId).zip(&mut self.is_address) {
            *is_address &= is_kept(group);
        }
    }

    /// The group of packets for this host without an explicit path. Panics on a switch.
    pub fn of_host(&self, host: NodeId) -> GroupId {
        self.of_node[host.index()].expect("only hosts have groups")
    }

    /// The host at which packets of this group arrive.
    pub fn target(&self, group: GroupId) -> NodeId {
        self.targets[group.index()]
    }

    /// How many groups there are.
    pub fn count(&self) -> usize {
        self.targets.len()
    }
}

/// Collects explicit paths, and compiles them with the ways to all hosts.
#[derive(Clone, Debug)]
pub struct RouteBuilder<'t> {
    topology: &'t Topology,
    base: Base,
    failed: Vec<bool>,
    groups: Groups,
    /// The switches of each explicit path with their next hops.
    paths: Vec<Vec<(NodeId, PortId)>>,
}

/// The routes that explicit paths are added to.
#[derive(Clone, Debug)]
enum Base {
    Rule(Routing),
    Table(ForwardingTable),
}

impl<'t> RouteBuilder<'t> {
    /// Routes to all hosts of the fabric, without explicit paths.
    pub fn new(topology: &'t Topology, routing: impl Into<Routing>) -> RouteBuilder<'t> {
        RouteBuilder {
            topology,
            base: Base::Rule(routing.into()),
            failed: vec![false; topology.links().len()],
            groups: Groups::of_hosts(topology),
            paths: Vec::new(),
        }
    }

    /// Existing routes, to which explicit paths can be added.
    pub fn from_routes(topology: &'t Topology, routes: Routes) -> RouteBuilder<'t> {
        RouteBuilder {
            topology,
            base: Base::Table(routes.table),
            failed: vec![false; topology.links().len()],
            groups: routes.groups,
            paths: Vec::new(),
        }
    }

    /// The same fabric after these links have failed, its ports numbered as before. Existing routes
    /// do not change.
    pub fn without_links(mut self, failed: &[LinkIndex]) -> RouteBuilder<'t> {
        for link in failed {
            self.failed[link.0 as usize] = true;
        }
        self
    }

    /// Adds a group that is forwarded exactly along `path`, from the source host to the target
    /// host. A node alone stands for the first of parallel links; a [`Step`] may name another.
    pub fn add_path<S: Copy + Into<Step>>(&mut self, path: &[S]) -> Result<GroupId, PathError> {
        let steps = Vec::from_iter(path.iter().map(|step| (*step).into()));
        let ports = path::ports_along(self.topology, &steps)?;
        let nodes = steps.iter().map(|step| step.node);
        self.paths.push(nodes.zip(ports).skip(1).collect());
        Ok(self.groups.add_path(steps[steps.len() - 1].node))
    }

    /// Adds a group whose packets, addressed to `target`, never arrive: from the source host, which
    /// `lead` begins with, they go to the first switch of `round` and then around for ever.
    pub fn add_loop(
        &mut self,
        lead: &[Step],
        round: &[Step],
        target: NodeId,
    ) -> Result<GroupId, PathError> {
        let ports = path::ports_around(self.topology, lead, round)?;
        self.paths.push(ports);
        Ok(self.groups.add_path(target))
    }

    /// Compiles the table.
    ///
    /// The hosts of one switch share a search, so the work is one pass over the links per switch
    /// that has hosts, and one table entry per switch and way.
    pub fn build(self) -> Routes {
        let view = View::new(self.topology, &self.failed);
        let mut table = match self.base {
            Base::Rule(routing) => build_table(&view, routing),
            Base::Table(table) => table,
        };
        for path in &self.paths {
            let way = table.add_way();
            table.add_group(way, None);
            for (switch, port) in path {
                table.set_way(*switch, way, &[*port]);
            }
        }
        Routes { table, groups: self.groups }
    }
}

/// The routes to all hosts, one group per host.
pub(crate) fn build_table(view: &View<'_>, routing: Routing) -> ForwardingTable {
    let rule = match routing.algorithm {
        Algorithm::Shortest => Rule::Shortest,
        Algorithm::DimensionOrder(dimensions) => Rule::DimensionOrder(dimensions),
        Algorithm::UpDown => {
            let natural = Rule::UpDown(Order::of_many_roots(view));
            if reaches_all(view, &natural) {
                natural
            } else {
                Rule::UpDown(Order::of_one_root(view))
            }
        }
    };
    let mut filler = Filler::new(view, routing.multipath);
    let mut search = Search::new(view.topology.nodes().len());
    for &target in view.topology.switches() {
        let hosts = Vec::from_iter(view.hosts(target).map(|(_, host)| host));
        if !hosts.is_empty() {
            search.run(view, &rule, target);
            filler.fill(&search, &hosts);
        }
    }
    filler.table
}

/// Whether the rule finds a path wherever there is one between two switches that have hosts.
fn reaches_all(view: &View<'_>, rule: &Rule) -> bool {
    let switches = view.topology.switches().iter().copied();
    let with_hosts = Vec::from_iter(switches.filter(|s| view.hosts(*s).next().is_some()));
    let node_count = view.topology.nodes().len();
    let (mut legal, mut any) = (Search::new(node_count), Search::new(node_count));
    let count = |search: &Search| {
        search.reached.iter().filter(|s| view.hosts(**s).next().is_some()).count()
    };
    with_hosts.iter().all(|&target| {
        legal.run(view, rule, target);
        any.run(view, &Rule::Shortest, target);
        count(&legal) == count(&any)
    })
}

/// Enters the results of searches into the table.
struct Filler {
    table: ForwardingTable,
    multipath: Multipath,
    /// The way of each host, by node.
    ways: Vec<Option<WayId>>,
}

impl Filler {
    /// One group per host. The hosts of a switch share a way unless each has its own tie-breaks.
    fn new(view: &View<'_>, multipath: Multipath) -> Filler {
        let topology = view.topology;
        let mut table = ForwardingTable::new(topology.nodes().len(), topology.switches());
        let is_own = matches!(multipath, Multipath::Single { tie_break: TieBreak::Seeded(_) });
        let mut ways = vec![None; topology.nodes().len()];
        for &host in topology.hosts() {
            let link = topology.ports(host).first();
            let link = link.filter(|port| !view.failed[port.link.0 as usize]);
            let shared = link.and_then(|port| ways[port.peer.index()]);
            let way = match shared {
                Some(way) if !is_own => way,
                _ => table.add_way(),
            };
            table.add_group(way, link.map(|port| (port.peer, port.peer_port)));
            ways[host.index()] = Some(way);
            if let Some(port) = link {
                ways[port.peer.index()] = Some(way);
            }
        }
        Filler { table, multipath, ways }
    }

    /// Enters the next hops of every switch that the search has reached, towards each of `hosts`,
    /// all of which are on the switch where the search began.
    fn fill(&mut self, search: &Search, hosts: &[NodeId]) {
        for (at, &switch) in search.reached.iter().enumerate() {
            let choices = search.next_hops(at);
            let (used, seed) = match self.multipath {
                Multipath::Ecmp => (choices, None),
                Multipath::Single { tie_break: TieBreak::Lowest } => (&choices[..1], None),
                Multipath::Single { tie_break: TieBreak::Seeded(seed) } => (choices, Some(seed)),
            };
            let Some(seed) = seed else {
                self.table.set_way(switch, self.way(hosts[0]), used);
                continue;
            };
            for &host in hosts {
                let draw = draw(seed, switch, host, choices.len());
                self.table.set_way(switch, self.way(host), &choices[draw..=draw]);
            }
        }
    }

    fn way(&self, host: NodeId) -> WayId {
        self.ways[host.index()].expect("every host has a way")
    }
}

/// An index below `count` that depends on the seed, this switch and this host alone, neither on the
/// order of the work nor on the rest of the fabric.
fn draw(seed: u64, switch: NodeId, host: NodeId, count: usize) -> usize {
    let place = u64::from(switch.0) << 32 | u64::from(host.0);
    Stream::new(seed, Purpose::TieBreak, place).below(count as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::TopologyBuilder;
    use crate::generate::{FatTree, Line, LinkSpecs, Shape};
    use crate::topology::LinkSpec;
    use pauseless_core::unit::{Rate, Span};

    const SPEC: LinkSpec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };

    fn fat_tree(k: u32) -> Topology {
        FatTree { k }.build(LinkSpecs::same(SPEC)).unwrap()
    }

    fn nodes(topology: &Topology, names: &str) -> Vec<NodeId> {
        names.split(' ').map(|name| topology.node_named(name).unwrap()).collect()
    }

    /// The neighbours that `at` sends packets for `target` to.
    fn next_names(topology: &Topology, routes: &Routes, at: &str, target: &str) -> String {
        let [at, target] = nodes(topology, &format!("{at} {target}"))[..] else { unreachable!() };
        let ports = routes.table.next_hops(at, routes.groups.of_host(target)).iter();
        let names = ports.map(|port| topology.node(topology.port(at, *port).peer).name.as_str());
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ecmp_uses_every_shortest_path_of_a_fat_tree() {
        let topology = fat_tree(4);
        let routes = RouteBuilder::new(&topology, Multipath::Ecmp).build();
        let cases = [
            ("E1", "H0", "H0"),
            ("E1", "H2", "A1 A2"),
            ("E1", "H15", "A1 A2"),
            ("A1", "H2", "E2"),
            ("A1", "H15", "C1 C2"),
            ("A2", "H15", "C3 C4"),
            ("C1", "H15", "A7"),
            ("C4", "H0", "A2"),
            ("A7", "H15", "E8"),
            ("E8", "H0", "A7 A8"),
            // Hosts have no entries, not even for themselves.
            ("H3", "H0", ""),
        ];
        for (at, target, expected) in cases {
            assert_eq!(next_names(&topology, &routes, at, target), expected, "{at} to {target}");
        }
    }

    #[test]
    fn parallel_links_are_equal_paths() {
        let mut builder = TopologyBuilder::new();
        let (a, b) = (builder.add_switch("A"), builder.add_switch("B"));
        let (source, target) = (builder.add_host("X"), builder.add_host("Y"));
        for (from, to) in [(a, b), (a, source), (a, b), (b, target)] {
            builder.connect(from, to, SPEC);
        }
        let topology = builder.build().unwrap();
        let group = GroupId(1);
        let lowest = Multipath::Single { tie_break: TieBreak::Lowest };
        for (multipath, expected) in [(Multipath::Ecmp, &[0, 2][..]), (lowest, &[0])] {
            let mut routes = RouteBuilder::new(&topology, multipath);
            let path = routes.add_path(&[source, a, b, target]).unwrap();
            let routes = routes.build();
            let hops: Vec<u16> = routes.table.next_hops(a, group).iter().map(|p| p.0).collect();
            assert_eq!(hops, expected);
            assert_eq!(routes.table.next_hops(a, path), [PortId(0)]);
        }
    }

    #[test]
    fn single_paths_are_chosen_by_the_seed_alone() {
        let topology = fat_tree(8);
        let single =
            |tie_break| RouteBuilder::new(&topology, Multipath::Single { tie_break }).build();
        let ecmp = RouteBuilder::new(&topology, Multipath::Ecmp).build();
        let lowest = single(TieBreak::Lowest);
        let (one, two) = (single(TieBreak::Seeded(1)), single(TieBreak::Seeded(2)));
        assert_eq!(one, single(TieBreak::Seeded(1)));
        let mut counts = [0; 4];
        let mut differing = 0;
        for &switch in topology.switches() {
            for group in topology.hosts().iter().map(|host| ecmp.groups.of_host(*host)) {
                let choices = ecmp.table.next_hops(switch, group);
                assert_eq!(lowest.table.next_hops(switch, group), &choices[..1]);
                let [chosen] = one.table.next_hops(switch, group) else { panic!("one next hop") };
                let rank = choices.iter().position(|port| port == chosen).unwrap();
                if choices.len() == 4 {
                    counts[rank] += 1;
                    differing += u32::from(two.table.next_hops(switch, group) != [*chosen]);
                }
            }
        }
        // Of 7,552 choices among four ports a quarter goes to each, and two seeds agree on as many.
        let total: u32 = counts.iter().sum();
        assert_eq!(total, 32 * 124 + 32 * 112);
        assert!(
            counts.iter().all(|n| (total * 23 / 100..total * 27 / 100).contains(n)),
            "{counts:?}"
        );
        assert!((total * 73 / 100..total * 77 / 100).contains(&differing), "{differing}");
    }

    #[test]
    fn groups_follow_the_order_of_hosts_then_of_paths() {
        let topology = fat_tree(4);
        let mut routes = RouteBuilder::new(&topology, Multipath::Ecmp);
        let path = nodes(&topology, "H0 E1 A1 E2 H2");
        assert_eq!(routes.add_path(&path), Ok(GroupId(16)));
        assert!(routes.add_path(&path[..2]).is_err());
        assert_eq!(routes.add_path(&path), Ok(GroupId(17)));
        let routes = routes.build();
        assert_eq!((routes.groups.count(), routes.table.group_count()), (18, 18));
        for (number, host) in (0..).zip(topology.hosts()) {
            assert_eq!(routes.groups.of_host(*host), GroupId(number));
            assert_eq!(routes.groups.target(GroupId(number)), *host);
        }
        assert_eq!(routes.groups.target(GroupId(17)), path[4]);
        // The path leaves no trace outside itself, nor in the group of its target.
        let entered = topology.switches().iter();
        let entered = entered.filter(|s| !routes.table.next_hops(**s, GroupId(16)).is_empty());
        assert_eq!(entered.copied().collect::<Vec<_>>(), nodes(&topology, "E1 E2 A1"));
        assert_eq!(next_names(&topology, &routes, "E1", "H2"), "A1 A2");
    }

    #[test]
    fn what_failures_cut_off_is_not_reachable() {
        let line = Line { switches: 3, hosts_per_switch: 1 };
        let whole = line.build(LinkSpecs::same(SPEC)).unwrap();
        let cut =
            [whole.link_between("S2", "S3").unwrap(), whole.link_between("H1", "S1").unwrap()];
        let split = whole.without_links(&cut);
        let routes = [&whole, &split].map(|t| RouteBuilder::new(t, Multipath::Ecmp).build());
        let hosts = whole.hosts();
        for (from, source) in hosts.iter().enumerate() {
            for (to, target) in hosts.iter().enumerate() {
                assert!(routes[0].reachable(&whole, *source, *target));
                // Hosts 2 and 3 still reach themselves; all else is cut.
                let expected = from == to && from != 0;
                assert_eq!(routes[1].reachable(&split, *source, *target), expected, "{from} {to}");
            }
        }
        assert_eq!(next_names(&split, &routes[1], "S1", "H2"), "S2");
        assert_eq!(next_names(&split, &routes[1], "S1", "H3"), "");
    }
}
