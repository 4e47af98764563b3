//! What opensm's dumps say, read and judged without any code of Pauseless: pairs without a route,
//! the load of links, the length of paths, lanes in use, and whether buffers can wait in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fmt, fs};

use super::path_records::Levels;

/// A line of `opensm-subnet.lst`: one direction of a link.
pub struct Link {
    pub one: End,
    pub other: End,
}

/// A port at the end of a link.
pub struct End {
    pub is_switch: bool,
    pub is_manager: bool,
    /// The GUID of the node that has this port.
    pub guid: u64,
    pub port_guid: u64,
    pub name: String,
    pub lid: u16,
    pub port: u8,
}

/// The links of `opensm-subnet.lst`.
pub fn links(text: &str) -> Result<Vec<Link>, String> {
    let mut links = Vec::new();
    for line in text.lines() {
        let bad = || format!("opensm-subnet.lst: a line without two ends: {line}");
        let (one, rest) = end(line).ok_or_else(bad)?;
        let (other, _) = end(rest).ok_or_else(bad)?;
        links.push(Link { one, other });
    }
    Ok(links)
}

/// Reads `{ SW Ports:24 .. NodeGUID:00aa .. {name} LID:0003 PN:05 }`, and gives what is behind it.
fn end(text: &str) -> Option<(End, &str)> {
    let text = text.trim_start().strip_prefix("{ ")?;
    let (kind, rest) = text.split_once(' ')?;
    let guid = |key: &str| {
        let digits = rest.split_once(key)?.1.split(' ').next()?;
        u64::from_str_radix(digits, 16).ok()
    };
    let (guid, port_guid) = (guid("NodeGUID:")?, guid("PortGUID:")?);
    let (_, rest) = rest.split_once('{')?;
    let (name, rest) = rest.split_once("} LID:")?;
    let (lid, rest) = rest.split_once(" PN:")?;
    let (port, rest) = rest.split_once(" }")?;
    let end = End {
        is_switch: kind.starts_with("SW"),
        is_manager: kind.ends_with("-SM"),
        guid,
        port_guid,
        name: name.to_string(),
        lid: u16::from_str_radix(lid, 16).ok()?,
        port: u8::from_str_radix(port, 16).ok()?,
    };
    Some((end, rest))
}

/// The ports of adapters and their addresses.
pub struct Adapters {
    /// The number of the port by each of its addresses.
    owners: BTreeMap<u16, usize>,
    /// The address of the port from which opensm sees the fabric.
    pub manager: u16,
    ports: Vec<AdapterPort>,
}

struct AdapterPort {
    /// The GUID of the adapter that has this port.
    guid: u64,
    port_guid: u64,
    /// The first address (LID) of the port.
    lid: u16,
    /// The switch and its port.
    at: (u64, u8),
}

impl Adapters {
    /// The adapters in a list of the subnet whose ports have 2^`lmc` addresses.
    pub fn read(list: &str, lmc: u8) -> Result<Adapters, String> {
        let mut adapters = Adapters { owners: BTreeMap::new(), manager: 0, ports: Vec::new() };
        for Link { one, other } in links(list)? {
            if one.is_manager {
                adapters.manager = one.lid;
            }
            if one.is_switch || !other.is_switch {
                continue;
            }
            for lid in one.lid..one.lid + (1 << lmc) {
                adapters.owners.insert(lid, adapters.ports.len());
            }
            let at = (other.guid, other.port);
            let End { guid, port_guid, lid, .. } = one;
            adapters.ports.push(AdapterPort { guid, port_guid, lid, at });
        }
        Ok(adapters)
    }

    /// The node identifier, for ibsim, of an adapter all of whose ports are among these: that of the
    /// manager if it is one. With ibsim, opensm uses the first port of its node, whichever that is.
    pub fn node_with(&self, ports: &BTreeSet<u64>) -> Option<String> {
        let stays = |guid: u64| {
            let mut of_node = self.ports.iter().filter(|port| port.guid == guid);
            of_node.all(|port| ports.contains(&port.port_guid))
        };
        let mut with = self.ports.iter().filter(|port| stays(port.guid));
        let manager = with.clone().find(|port| port.lid == self.manager);
        let port = manager.or_else(|| with.next())?;
        Some(format!("H-{:016x}", port.guid))
    }

    /// Takes away the paths between the manager and ports that are not among these.
    pub fn without_management(&self, levels: &mut Levels, ports: &BTreeSet<u64>) {
        let stays = |lid: &u16| ports.contains(&self.ports[self.owners[lid]].port_guid);
        let is_manager = |lid: &u16| self.owners.get(lid) == self.owners.get(&self.manager);
        levels.retain(|(source, target), _| {
            (!is_manager(source) || stays(target)) && (!is_manager(target) || stays(source))
        });
    }

    /// Source and target address of all paths between different ports. A port sends from its first
    /// address.
    pub fn paths(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        self.ports.iter().enumerate().flat_map(move |(own, port)| {
            let others = self.owners.iter().filter(move |&(_, &owner)| owner != own);
            others.map(move |(&target, _)| (port.lid, target))
        })
    }
}

/// The file `psl` of ibdmchk: the service level by the GUID of the adapter and the target address;
/// `None` if the ports of an adapter have different ones, because it cannot tell them apart.
pub fn psl(levels: &Levels, adapters: &Adapters) -> Option<String> {
    let mut by_adapter = BTreeMap::new();
    for (&(source, target), &level) in levels {
        let guid = adapters.ports[adapters.owners[&source]].guid;
        if *by_adapter.entry((guid, target)).or_insert(level) != level {
            return None;
        }
    }
    let line = |((guid, target), level)| format!("0x{guid:016x} {target} {level}\n");
    Some(by_adapter.into_iter().map(line).collect())
}

/// The same by the GUIDs of ports, which `pauseless check` takes, too.
pub fn psl_by_port(levels: &Levels, adapters: &Adapters) -> String {
    let line = |(&(source, target), level): (&(u16, u16), &u8)| {
        let guid = adapters.ports[adapters.owners[&source]].port_guid;
        format!("0x{guid:016x} {target} {level}\n")
    };
    levels.iter().map(line).collect()
}

/// The file `slvl` of ibdmchk, from `opensm-sl2vl.dump`: two service levels in a byte.
pub fn slvl(dump: &str) -> String {
    let mut text = String::new();
    for ((guid, ingress, egress), lanes) in sl2vl(dump) {
        text += &format!("0x{guid:016x} {ingress} {egress}");
        for pair in lanes.chunks(2) {
            text += &format!(" 0x{:x}{:x}", pair[0], pair[1]);
        }
        text += "\n";
    }
    text
}

type LaneTable = BTreeMap<(u64, u8, u8), [u8; 16]>;

/// The virtual lanes of `opensm-sl2vl.dump` by switch, ingress and egress.
fn sl2vl(dump: &str) -> LaneTable {
    let mut table = LaneTable::new();
    let mut switch = None;
    for line in dump.lines() {
        if let Some(rest) = line.strip_prefix("Switch 0x") {
            let digits = rest.split(',').next().unwrap_or_default();
            switch = u64::from_str_radix(digits, 16).ok();
        } else if line.starts_with("Channel Adapter") {
            switch = None;
        }
        let Some((ports, lanes)) = line.split_once(':') else { continue };
        let numbers = |text: &str| {
            let words = text.split_whitespace();
            words.map(|word| word.parse::<u8>().ok()).collect::<Option<Vec<u8>>>()
        };
        let (Some(guid), Some(ports), Some(lanes)) = (switch, numbers(ports), numbers(lanes))
        else {
            continue;
        };
        if let ([ingress, egress], Ok(lanes)) = (&ports[..], <[u8; 16]>::try_from(lanes)) {
            table.insert((guid, *ingress, *egress), lanes);
        }
    }
    table
}

/// What opensm said when it was asked for all paths.
pub struct Paths {
    pub levels: Levels,
    /// Whether pairs without a path share no partition, so that they send nothing; else they are lost.
    pub has_partitions: bool,
}

/// What the tables come to.
pub struct Tables {
    /// Pairs of a source port and a target address, and how many of them have no route.
    pub pairs: u64,
    pub lost: u64,
    /// The largest number of pairs over one direction of a cable between switches.
    pub largest_load: u64,
    /// The mean over all directions of all cables between switches.
    pub mean_load: f64,
    /// Cables between switches that a path takes: the mean of all pairs, the most, and by how much
    /// the mean is above that of shortest paths.
    pub mean_length: f64,
    pub longest: usize,
    pub stretch: f64,
    /// Virtual lanes in use between switches.
    pub lanes: usize,
    /// Whether buffers can wait for each other in a circle.
    pub is_cyclic: bool,
    /// Whether they could if there were one lane.
    pub is_cyclic_on_one_lane: bool,
}

impl Tables {
    /// Reads the dumps in a folder, and follows every packet. Without paths, all have service level 0;
    /// without `opensm-sl2vl.dump`, a level is the lane of the same number.
    pub fn read(folder: &Path, lmc: u8, paths: Option<Paths>) -> Result<Tables, String> {
        let text = |name: &str| {
            let bytes = fs::read(folder.join(name)).map_err(|error| format!("{name}: {error}"))?;
            String::from_utf8(bytes).map_err(|error| format!("{name}: {error}"))
        };
        let list = text("opensm-subnet.lst")?;
        let network = Network {
            adapters: Adapters::read(&list, lmc)?,
            cables: cables(&list)?,
            next: forwarding(&text("opensm.fdbs")?)?,
            lanes: text("opensm-sl2vl.dump").map_or_else(|_| LaneTable::new(), |dump| sl2vl(&dump)),
            paths,
        };
        Ok(network.judge())
    }
}

impl fmt::Display for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} lanes, {} of {} pairs lost, load {} (mean {:.1}), {:.2} hops (at most {}, {:.2} of \
             the shortest)",
            self.lanes,
            self.lost,
            self.pairs,
            self.largest_load,
            self.mean_load,
            self.mean_length,
            self.longest,
            self.stretch
        )
    }
}

/// Where the cable at a switch's port ends: at a switch and its port.
type Cables = BTreeMap<(u64, u8), (u64, u8)>;

struct Network {
    adapters: Adapters,
    /// The cables between switches.
    cables: Cables,
    /// The egress by switch and address.
    next: BTreeMap<u64, BTreeMap<u16, u8>>,
    lanes: LaneTable,
    paths: Option<Paths>,
}

/// An ingress buffer: switch, port and lane.
type Buffer = (u64, u8, u8);

/// Packets of one switch and service level for one address.
struct Packets {
    switch: u64,
    /// The port by which they come into the switch.
    ingress: u8,
    target: u16,
    /// The switch and its port at which the target is.
    end: (u64, u8),
    level: u8,
    /// How many ports send them.
    count: u64,
}

#[derive(Default)]
struct Sums {
    pairs: u64,
    lost: u64,
    loads: BTreeMap<(u64, u8), u64>,
    hops: u64,
    shortest_hops: u64,
    longest: usize,
    waits: BTreeMap<Buffer, Vec<Buffer>>,
}

impl Network {
    fn judge(&self) -> Tables {
        let mut sums = Sums::default();
        for (&target, &owner) in &self.adapters.owners {
            let end = self.adapters.ports[owner].at;
            let far = self.distances(end.0);
            // Packets of one switch and level go the same way.
            let mut sources: BTreeMap<(u64, u8, u8), u64> = BTreeMap::new();
            for (_, port) in self.adapters.ports.iter().enumerate().filter(|&(at, _)| at != owner) {
                let level = match &self.paths {
                    None => 0,
                    Some(paths) => match paths.levels.get(&(port.lid, target)) {
                        Some(&level) => level,
                        None if paths.has_partitions => continue,
                        None => {
                            sums.pairs += 1;
                            sums.lost += 1;
                            continue;
                        }
                    },
                };
                // The lane of the first hop may depend on the ingress, too.
                let ingress = if self.lanes.is_empty() { 0 } else { port.at.1 };
                *sources.entry((port.at.0, ingress, level)).or_default() += 1;
            }
            for ((switch, ingress, level), count) in sources {
                let packets = Packets { switch, ingress, target, end, level, count };
                if self.follow(&mut sums, packets) {
                    sums.shortest_hops += count * far.get(&switch).copied().unwrap_or(0);
                }
            }
        }
        let is_cyclic = has_cycle(&sums.waits);
        let mut on_one_lane: BTreeMap<Buffer, Vec<Buffer>> = BTreeMap::new();
        for (&(switch, port, _), others) in &sums.waits {
            let waits = on_one_lane.entry((switch, port, 0)).or_default();
            waits.extend(others.iter().map(|&(switch, port, _)| (switch, port, 0)));
        }
        for waits in on_one_lane.values_mut() {
            waits.sort_unstable();
            waits.dedup();
        }
        let routed = (sums.pairs - sums.lost).max(1) as f64;
        let lanes: Vec<u8> = {
            let mut lanes = Vec::from_iter(sums.waits.keys().map(|&(_, _, lane)| lane));
            lanes.sort_unstable();
            lanes.dedup();
            lanes
        };
        Tables {
            pairs: sums.pairs,
            lost: sums.lost,
            largest_load: sums.loads.values().copied().max().unwrap_or(0),
            mean_load: sums.hops as f64 / self.cables.len().max(1) as f64,
            mean_length: sums.hops as f64 / routed,
            longest: sums.longest,
            stretch: sums.hops as f64 / sums.shortest_hops.max(1) as f64,
            lanes: lanes.len(),
            is_cyclic,
            is_cyclic_on_one_lane: has_cycle(&on_one_lane),
        }
    }

    /// Follows packets from the ingress of a switch, and says whether they arrive.
    fn follow(&self, sums: &mut Sums, packets: Packets) -> bool {
        let Packets { mut switch, mut ingress, target, end, level, count } = packets;
        let mut way = Vec::new();
        let mut buffer: Option<Buffer> = None;
        let mut arrives = false;
        // A way with more hops than there are switches is a circle.
        while way.len() <= self.next.len() {
            let egress = self.next.get(&switch).and_then(|table| table.get(&target)).copied();
            let Some(egress) = egress else { break };
            let Some(&(far, far_port)) = self.cables.get(&(switch, egress)) else {
                arrives = (switch, egress) == end;
                break;
            };
            let lane = match self.lanes.get(&(switch, ingress, egress)) {
                Some(lanes) => lanes[usize::from(level)],
                None => level,
            };
            // What is sent into lane 15 is dropped.
            if lane == 15 {
                break;
            }
            let next = (far, far_port, lane);
            // What is lost further on waits here all the same.
            if let Some(buffer) = buffer {
                let waits = sums.waits.entry(buffer).or_default();
                if !waits.contains(&next) {
                    waits.push(next);
                }
            }
            sums.waits.entry(next).or_default();
            way.push((switch, egress));
            (switch, ingress, buffer) = (far, far_port, Some(next));
        }
        sums.pairs += count;
        if arrives {
            sums.longest = sums.longest.max(way.len());
            sums.hops += count * way.len() as u64;
            for link in way {
                *sums.loads.entry(link).or_default() += count;
            }
        } else {
            sums.lost += count;
        }
        arrives
    }

    /// How many cables there are at least from each switch to one of them.
    fn distances(&self, end: u64) -> BTreeMap<u64, u64> {
        let mut far = BTreeMap::new();
        let mut open = vec![end];
        let mut distance = 0;
        while !open.is_empty() {
            let mut beyond = Vec::new();
            for switch in open {
                if far.contains_key(&switch) {
                    continue;
                }
                far.insert(switch, distance);
                let cables = self.cables.range((switch, 0)..=(switch, u8::MAX));
                beyond.extend(cables.map(|(_, &(next, _))| next));
            }
            open = beyond;
            distance += 1;
        }
        far
    }
}

/// Takes away buffers that wait for none, until none is left or those left wait in circles.
fn has_cycle(waits: &BTreeMap<Buffer, Vec<Buffer>>) -> bool {
    let mut count: BTreeMap<Buffer, usize> = BTreeMap::new();
    let mut waiting_for: BTreeMap<Buffer, Vec<Buffer>> = BTreeMap::new();
    for (&one, others) in waits {
        count.insert(one, others.len());
        for &other in others {
            waiting_for.entry(other).or_default().push(one);
        }
    }
    let free = count.iter().filter(|&(_, &count)| count == 0);
    let mut free = Vec::from_iter(free.map(|(&buffer, _)| buffer));
    let mut left = count.len();
    while let Some(buffer) = free.pop() {
        left -= 1;
        for one in waiting_for.remove(&buffer).unwrap_or_default() {
            let count = count.get_mut(&one).expect("every buffer is counted");
            *count -= 1;
            if *count == 0 {
                free.push(one);
            }
        }
    }
    left > 0
}

fn cables(list: &str) -> Result<Cables, String> {
    let links = links(list)?;
    let between = links.iter().filter(|link| link.one.is_switch && link.other.is_switch);
    let end = |end: &End| (end.guid, end.port);
    Ok(between.map(|link| (end(&link.one), end(&link.other))).collect())
}

/// Reads the forwarding tables in `opensm.fdbs`, by switch and address.
fn forwarding(text: &str) -> Result<BTreeMap<u64, BTreeMap<u16, u8>>, String> {
    let mut next: BTreeMap<u64, BTreeMap<u16, u8>> = BTreeMap::new();
    let mut switch = None;
    for line in text.lines() {
        if let Some((_, guid)) = line.split_once("Switch 0x") {
            let guid = u64::from_str_radix(guid.trim(), 16);
            switch = Some(guid.map_err(|_| format!("opensm.fdbs: {line}"))?);
        }
        let Some(row) = line.strip_prefix("0x") else { continue };
        let mut words = row.split(':').map(str::trim);
        let lid = words.next().and_then(|word| u16::from_str_radix(word, 16).ok());
        let port = words.next().and_then(|word| word.parse::<u8>().ok());
        if let (Some(switch), Some(lid), Some(port)) = (switch, lid, port) {
            next.entry(switch).or_default().insert(lid, port);
        } else if !row.contains("UNREACHABLE") {
            return Err(format!("opensm.fdbs: {line}"));
        }
    }
    Ok(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four switches in a ring with an adapter each.
    fn ring() -> std::path::PathBuf {
        crate::repo::root().join("examples/ib/ring4-minhop")
    }

    fn adapters() -> Adapters {
        let list = fs::read_to_string(ring().join("opensm-subnet.lst")).unwrap();
        Adapters::read(&list, 0).unwrap()
    }

    fn read(name: &str, change: impl Fn(&str) -> String, paths: Option<Paths>) -> Tables {
        let folder =
            std::env::temp_dir().join(format!("xtask-tables-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::copy(ring().join("opensm-subnet.lst"), folder.join("opensm-subnet.lst")).unwrap();
        let tables = fs::read_to_string(ring().join("opensm.fdbs")).unwrap();
        fs::write(folder.join("opensm.fdbs"), change(&tables)).unwrap();
        let tables = Tables::read(&folder, 0, paths);
        fs::remove_dir_all(&folder).unwrap();
        tables.unwrap()
    }

    #[test]
    fn a_ring_by_minhop_is_cyclic_and_loses_nothing() {
        let tables = read("whole", str::to_string, None);
        assert!(tables.is_cyclic && tables.is_cyclic_on_one_lane);
        assert_eq!((tables.pairs, tables.lost, tables.lanes, tables.longest), (12, 0, 1, 2));
        // Eight pairs are neighbours, four are opposite, and there are eight directions.
        assert_eq!((tables.mean_load, tables.stretch), (2.0, 1.0));
    }

    #[test]
    fn levels_decide_between_lanes_and_pairs_without_a_path_count_as_lost() {
        let level = |&(source, target): &(u16, u16)| ((source, target), u8::from(source < target));
        let levels: Levels = adapters().paths().map(|path| level(&path)).collect();
        assert_eq!(levels.len(), 12);
        let has_partitions = false;
        let paths = Paths { levels: levels.clone(), has_partitions };
        let tables = read("levels", str::to_string, Some(paths));
        assert_eq!((tables.lanes, tables.is_cyclic), (2, false));
        assert!(tables.is_cyclic_on_one_lane);
        let mut fewer = levels;
        fewer.pop_first();
        let paths = |has_partitions| Some(Paths { levels: fewer.clone(), has_partitions });
        assert_eq!(read("fewer", str::to_string, paths(false)).lost, 1);
        let apart = read("apart", str::to_string, paths(true));
        assert_eq!((apart.pairs, apart.lost), (11, 0));
    }

    #[test]
    fn entries_that_are_missing_or_wrong_lose_pairs() {
        let lid = adapters().ports[0].lid;
        let row = format!("0x{lid:04X} : ");
        let without = |text: &str| {
            let rows = text.lines().filter(|line| !line.starts_with(&row));
            rows.map(|line| format!("{line}\n")).collect()
        };
        assert_eq!(read("missing", without, None).lost, 3);
        // A port without a cable is no way to anybody.
        let wrong = |text: &str| {
            let line = |line: &str| {
                let line = if line.starts_with(&row) {
                    row.clone() + "008  : 00   : yes"
                } else {
                    line.into()
                };
                line + "\n"
            };
            text.lines().map(line).collect()
        };
        assert_eq!(read("wrong", wrong, None).lost, 3);
    }

    #[test]
    fn ports_of_an_adapter_with_different_levels_have_no_psl() {
        let list = "\
{ CA Ports:02 SystemGUID:10 NodeGUID:10 PortGUID:11 VenID:0 DevID:0 Rev:0 {n} LID:0001 PN:01 } \
{ SW Ports:08 SystemGUID:20 NodeGUID:20 PortGUID:20 VenID:0 DevID:0 Rev:0 {s} LID:0009 PN:01 } PHY=4x
{ CA Ports:02 SystemGUID:10 NodeGUID:10 PortGUID:12 VenID:0 DevID:0 Rev:0 {n} LID:0002 PN:02 } \
{ SW Ports:08 SystemGUID:20 NodeGUID:20 PortGUID:20 VenID:0 DevID:0 Rev:0 {s} LID:0009 PN:02 } PHY=4x
{ CA Ports:01 SystemGUID:30 NodeGUID:30 PortGUID:31 VenID:0 DevID:0 Rev:0 {m} LID:0003 PN:01 } \
{ SW Ports:08 SystemGUID:20 NodeGUID:20 PortGUID:20 VenID:0 DevID:0 Rev:0 {s} LID:0009 PN:03 } PHY=4x
";
        let adapters = Adapters::read(list, 0).unwrap();
        let same = Levels::from([((1, 3), 2), ((2, 3), 2)]);
        let line = "0x0000000000000010 3 2\n";
        assert_eq!(psl(&same, &adapters).as_deref(), Some(line));
        let different = Levels::from([((1, 3), 2), ((2, 3), 1)]);
        assert_eq!(psl(&different, &adapters), None);
        let by_port = "0x0000000000000011 3 2\n0x0000000000000012 3 1\n";
        assert_eq!(psl_by_port(&different, &adapters), by_port);
    }

    #[test]
    fn lanes_are_two_to_a_byte() {
        let dump = "Switch 0x00aa, base LID 3, \"leaf1\"\n#in out : 0  1 ..\n \
                    1   2   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7\n";
        let expected = "0x00000000000000aa 1 2 0x01 0x23 0x45 0x67 0x01 0x23 0x45 0x67\n";
        assert_eq!(slvl(dump), expected);
    }
}
