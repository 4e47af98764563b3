//! The tables of the switches: by next hop the hosts that are reached by it.

use std::collections::BTreeMap;

use pauseless_core::id::{GroupId, NodeId, PortId};
use pauseless_core::table::{ForwardingTable, WayId};
use pauseless_fabric::routing::{Groups, Routes};
use pauseless_fabric::topology::Topology;

use super::super::hosts::{HostSpan, find_switch};
use super::{Context, TableKeys};
use pauseless_text::declare::{At, LongList, Map};
use pauseless_text::problem::Sink;

/// The tables of all switches.
#[derive(Clone, Debug)]
pub struct Tables {
    /// The next hops of each switch, in the order of its ports.
    switches: BTreeMap<NodeId, BTreeMap<PortId, Vec<HostSpan>>>,
}

impl TableKeys {
    /// Holds the tables against the fabric; `None` if something is wrong.
    pub(super) fn resolve(&self, context: Context<'_>) -> Option<Tables> {
        let (sink, topology) = (context.sink, &context.fabric?.topology);
        let At { value: map, place } = self.tables.given.as_ref()?;
        let mut tables = Tables { switches: BTreeMap::new() };
        let mut is_good = true;
        for (name, next_hops) in &map.0 {
            let Some(switch) = find_switch(topology, sink, name) else {
                is_good = false;
                continue;
            };
            let reader = TableReader { topology, sink, switch: &name.value };
            let table = reader.read(next_hops);
            is_good &= table.is_some();
            tables.switches.insert(switch, table.unwrap_or_default());
        }
        let switches = topology.switches().iter();
        for missing in switches.filter(|switch| !tables.switches.contains_key(switch)) {
            let name = &topology.node(*missing).name;
            let problem = place.problem(format!("switch {name} has no table"));
            let help = "leave its table empty if it forwards nothing";
            sink.push(problem.help(format!("add [routing.tables.{name}]; {help}")));
            is_good = false;
        }
        is_good.then_some(tables)
    }
}

impl Tables {
    /// All lists of hosts.
    pub fn spans(&self) -> impl Iterator<Item = HostSpan> + '_ {
        self.switches.values().flat_map(BTreeMap::values).flatten().copied()
    }

    /// The forwarding table that they make together.
    ///
    /// Hosts of one switch that all others reach alike share a way: the work of whoever follows
    /// ways is in proportion to their number.
    pub fn routes(&self, topology: &Topology, addresses: Addresses) -> Routes {
        let mut sharing = Sharing::new(topology, &addresses);
        for (switch, table) in &self.switches {
            let sets = Sets::new(table, &addresses);
            sharing.refine(*switch, &sets);
        }
        let node_count = topology.nodes().len();
        let mut table = ForwardingTable::new(node_count, topology.switches());
        let mut ways: Vec<Option<WayId>> = vec![None; sharing.count as usize];
        for (part, exit) in sharing.parts.iter().zip(&sharing.exits) {
            let way = ways[*part as usize].get_or_insert_with(|| table.add_way());
            table.add_group(*way, exit.is_used.then_some((exit.switch, exit.port)));
        }
        for (switch, next_hops) in &self.switches {
            let sets = Sets::new(next_hops, &addresses);
            let mut is_filled = vec![false; ways.len()];
            for (group, part) in sharing.parts.iter().enumerate() {
                let exit = &sharing.exits[group];
                let is_exit = exit.is_used && exit.switch == *switch;
                if !std::mem::replace(&mut is_filled[*part as usize], true) && !is_exit {
                    let way = ways[*part as usize].expect("every part has a way");
                    table.set_way(*switch, way, sets.ports(group));
                }
            }
        }
        Routes { table, groups: addresses.groups }
    }
}

/// Reads the table of one switch.
struct TableReader<'r> {
    topology: &'r Topology,
    sink: &'r Sink,
    switch: &'r str,
}

impl TableReader<'_> {
    fn read(&self, next_hops: &Map<LongList<String>>) -> Option<BTreeMap<PortId, Vec<HostSpan>>> {
        let mut table = BTreeMap::new();
        let mut names: BTreeMap<PortId, String> = BTreeMap::new();
        let mut is_good = true;
        for (next, hosts) in &next_hops.0 {
            let spans = HostSpan::find_all(self.topology, self.sink, &hosts.0);
            let port = self.topology.port_named(&format!("{}:{}", self.switch, next.value));
            let port = match port {
                Ok((_, port)) => port,
                Err(error) => {
                    self.sink.push(next.place.problem(error.to_string()));
                    is_good = false;
                    continue;
                }
            };
            if let Some(other) = names.insert(port, next.value.clone()) {
                let message = format!("{:?} is the same port as {other:?}", next.value);
                self.sink.push(next.place.problem(message).help("put all its hosts under one"));
                is_good = false;
            }
            is_good &= self.check_once(&spans);
            let spans = Vec::from_iter(spans.into_iter().map(|span| span.value));
            table.insert(port, spans);
        }
        is_good.then_some(table)
    }

    /// Whether no host stands twice under one next hop.
    fn check_once(&self, spans: &[At<HostSpan>]) -> bool {
        let mut sorted = Vec::from_iter(spans);
        sorted.sort_by_key(|span| (span.value.address, span.value.first));
        let twice = sorted.windows(2).filter(|pair| {
            let [a, b] = [pair[0].value, pair[1].value];
            a.address == b.address && b.first <= a.last
        });
        let mut is_good = true;
        for pair in twice {
            let host = self.topology.hosts()[pair[1].value.first];
            let name = &self.topology.node(host).name;
            let problem = pair[1].place.problem(format!("{name} stands here twice"));
            self.sink.push(problem.help("list every host once"));
            is_good = false;
        }
        is_good
    }
}

/// How many addresses each host has, and the group of each.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// The group of packets that each address stands for.
    pub groups: Groups,
    /// The group of the second address of each host; those after it follow.
    seconds: Vec<u32>,
}

impl Addresses {
    /// As many addresses as `spans` use.
    pub fn new(topology: &Topology, spans: impl IntoIterator<Item = HostSpan>) -> Addresses {
        let mut counts = vec![1; topology.host_count()];
        for span in spans.into_iter().filter(|span| span.address > 1) {
            for count in &mut counts[span.first..=span.last] {
                *count = span.address.max(*count);
            }
        }
        let mut groups = Groups::of_hosts(topology);
        let mut seconds = Vec::with_capacity(counts.len());
        for (&host, count) in topology.hosts().iter().zip(counts) {
            seconds.push(groups.count() as u32);
            for _ in 1..count {
                groups.add_address(host);
            }
        }
        Addresses { groups, seconds }
    }

    /// The group of packets for an address of the host at `place`.
    pub fn group(&self, place: usize, address: usize) -> GroupId {
        match address {
            1 => GroupId(place as u32),
            _ => GroupId(self.seconds[place] + address as u32 - 2),
        }
    }
}

/// The next hops of one switch for each group.
struct Sets {
    /// The first is empty.
    sets: Vec<Vec<PortId>>,
    /// Which of them, by group.
    of_group: Vec<u32>,
}

impl Sets {
    fn new(table: &BTreeMap<PortId, Vec<HostSpan>>, addresses: &Addresses) -> Sets {
        let mut sets = vec![Vec::new()];
        let mut of_group = vec![0u32; addresses.groups.count()];
        for (port, spans) in table {
            // The set that each set becomes with this port in it.
            let mut grown: BTreeMap<u32, u32> = BTreeMap::new();
            // Neighbouring hosts are mostly alike, which saves the search.
            let mut last = None;
            for span in spans {
                for place in span.places() {
                    let group = addresses.group(place, span.address);
                    let set = &mut of_group[group.index()];
                    let next = match last {
                        Some((known, next)) if known == *set => next,
                        _ => *grown.entry(*set).or_insert_with(|| {
                            let mut ports = sets[*set as usize].clone();
                            ports.push(*port);
                            sets.push(ports);
                            sets.len() as u32 - 1
                        }),
                    };
                    last = Some((*set, next));
                    *set = next;
                }
            }
        }
        Sets { sets, of_group }
    }

    fn ports(&self, group: usize) -> &[PortId] {
        &self.sets[self.of_group[group] as usize]
    }
}

/// Which groups all switches treat alike.
struct Sharing {
    /// Groups of the same part share a way.
    parts: Vec<u32>,
    count: u32,
    exits: Vec<Exit>,
}

/// How a group leaves the fabric.
#[derive(Clone, Copy)]
struct Exit {
    switch: NodeId,
    port: PortId,
    /// Whether its switch sends it there and nowhere else.
    is_used: bool,
}

impl Sharing {
    fn new(topology: &Topology, addresses: &Addresses) -> Sharing {
        let groups = (0..addresses.groups.count()).map(|group| GroupId(group as u32));
        let exits = groups.map(|group| {
            let host = addresses.groups.target(group);
            let link = topology.ports(host).first();
            link.map_or(NOWHERE, |link| Exit {
                switch: link.peer,
                port: link.peer_port,
                is_used: false,
            })
        });
        let exits = Vec::from_iter(exits);
        let parts = exits.iter().map(|exit| exit.switch.0);
        Sharing { parts: parts.collect(), count: 0, exits }
    }

    /// Parts the groups that `switch` treats differently.
    fn refine(&mut self, switch: NodeId, sets: &Sets) {
        let mut numbers: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        // Neighbouring groups are mostly alike, which saves the search.
        let mut last = None;
        for (group, part) in self.parts.iter_mut().enumerate() {
            let exit = &mut self.exits[group];
            let mut set = sets.of_group[group];
            if exit.switch == switch && sets.ports(group) == [exit.port] {
                exit.is_used = true;
                set = EXIT;
            }
            let key = (*part, set);
            let next = numbers.len() as u32;
            *part = match last {
                Some((known, number)) if known == key => number,
                _ => *numbers.entry(key).or_insert(next),
            };
            last = Some((key, *part));
        }
        self.count = numbers.len() as u32;
    }
}

/// No set of a switch has this number.
const EXIT: u32 = u32::MAX;
/// What a host without a link has.
const NOWHERE: Exit = Exit { switch: NodeId(u32::MAX), port: PortId(0), is_used: false };
