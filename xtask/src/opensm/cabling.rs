//! Switches, adapters and cables, written as the netfile that ibsim reads.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

/// A fabric that ibsim can be.
pub struct Fabric {
    pub name: &'static str,
    /// The file for ibsim.
    pub netfile: String,
    /// How many switches and adapters the file has.
    pub nodes: usize,
    /// The node identifier of the adapter from which opensm sees the fabric.
    pub manager: String,
    /// Every adapter port has 2^lmc addresses.
    pub lmc: u8,
    /// What torus-2QoS has to be told, if the fabric is a torus.
    pub torus: Option<String>,
}

impl Fabric {
    /// Whether the questions for all its service levels take long.
    pub fn is_large(&self) -> bool {
        self.nodes > 300
    }
}

/// A fabric under construction. Nodes are numbered in the order in which they are made.
#[derive(Default)]
pub struct Cabling {
    nodes: Vec<Node>,
}

struct Node {
    is_switch: bool,
    guid: u64,
    name: String,
    /// The far node and its port, by the number of the own port.
    ports: BTreeMap<u8, (usize, u8)>,
    lid: Option<u16>,
}

impl Cabling {
    /// As many switches as wanted, named `PREFIX0` and so on; gives their numbers.
    pub fn switches(&mut self, prefix: &str, count: usize) -> Vec<usize> {
        (0..count).map(|at| self.switch(format!("{prefix}{at}"))).collect()
    }

    pub fn switch(&mut self, name: String) -> usize {
        self.node(true, name)
    }

    /// An adapter with a port at each of the switches.
    pub fn adapter(&mut self, name: String, switches: &[usize]) -> usize {
        let adapter = self.node(false, name);
        for &switch in switches {
            self.cable(adapter, switch);
        }
        adapter
    }

    /// Adapters with one port each, as many as wanted at each of the switches.
    pub fn hosts(&mut self, switches: &[usize], count: usize) {
        for &switch in switches {
            for at in 0..count {
                let name = format!("{}-n{at}", self.nodes[switch].name);
                self.adapter(name, &[switch]);
            }
        }
    }

    /// A cable between the lowest ports that are free.
    pub fn cable(&mut self, one: usize, other: usize) {
        let port = |node: &Node| (1..=u8::MAX).find(|port| !node.ports.contains_key(port));
        let near = port(&self.nodes[one]).expect("a node has a free port");
        let far = port(&self.nodes[other]).expect("a node has a free port");
        self.nodes[one].ports.insert(near, (other, far));
        self.nodes[other].ports.insert(far, (one, near));
    }

    /// Takes cables between switches away, in a random order that depends on the seed, but none
    /// without which the switches fall apart; gives how many went.
    pub fn fail(&mut self, count: usize, seed: u64) -> usize {
        let mut cables = Vec::new();
        for (one, node) in self.nodes.iter().enumerate() {
            for (&port, &(other, _)) in &node.ports {
                if one < other && node.is_switch && self.nodes[other].is_switch {
                    cables.push((one, port));
                }
            }
        }
        shuffle(&mut cables, seed);
        let mut gone = 0;
        for (one, near) in cables {
            if gone == count {
                break;
            }
            let Some((other, far)) = self.nodes[one].ports.remove(&near) else { continue };
            self.nodes[other].ports.remove(&far);
            if self.is_connected() {
                gone += 1;
            } else {
                self.nodes[one].ports.insert(near, (other, far));
                self.nodes[other].ports.insert(far, (one, near));
            }
        }
        gone
    }

    /// The GUID of a node.
    pub fn guid(&self, node: usize) -> u64 {
        self.nodes[node].guid
    }

    /// The fabric, with opensm at its first adapter.
    pub fn finish(self, name: &'static str) -> Fabric {
        let manager = self.nodes.iter().position(|node| !node.is_switch);
        self.finish_at(name, manager.expect("a fabric has an adapter"))
    }

    fn finish_at(self, name: &'static str, manager: usize) -> Fabric {
        let netfile = self.netfile();
        let manager = self.id(manager);
        Fabric { name, netfile, nodes: self.nodes.len(), manager, lmc: 0, torus: None }
    }

    fn node(&mut self, is_switch: bool, name: String) -> usize {
        // ibsim numbers the ports of an adapter from its GUID on, so GUIDs leave room.
        let at = self.nodes.len() as u64;
        let guid = if is_switch { 0x20_0000 + at } else { 0x10_0000 + 16 * at };
        self.nodes.push(Node { is_switch, guid, name, ports: BTreeMap::new(), lid: None });
        self.nodes.len() - 1
    }

    pub fn is_connected(&self) -> bool {
        let mut seen = vec![false; self.nodes.len()];
        let mut open = vec![0];
        seen[0] = true;
        while let Some(at) = open.pop() {
            for &(far, _) in self.nodes[at].ports.values() {
                if !seen[far] {
                    seen[far] = true;
                    open.push(far);
                }
            }
        }
        !seen.contains(&false)
    }

    fn id(&self, node: usize) -> String {
        let node = &self.nodes[node];
        format!("{}-{:016x}", if node.is_switch { "S" } else { "H" }, node.guid)
    }

    fn netfile(&self) -> String {
        let mut text = String::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let ports = node.ports.keys().next_back().map_or(1, |&port| usize::from(port));
            let (own, kind, ports) = if node.is_switch {
                ("switchguid", "Switch", ports.max(SWITCH_PORTS))
            } else {
                ("caguid", "Ca", ports)
            };
            let (guid, id, name) = (node.guid, self.id(at), &node.name);
            text += &format!("{own}=0x{guid:x}\n{kind}\t{ports} \"{id}\"\t\t# \"{name}\"");
            let lid = node.lid.map(|lid| format!(" lid {lid} lmc 0"));
            if let (true, Some(lid)) = (node.is_switch, &lid) {
                text += &format!(" enhanced port 0{lid}");
            }
            text += "\n";
            for (port, &(far, far_port)) in &node.ports {
                text += &format!("[{port}]\t\"{}\"[{far_port}]", self.id(far));
                let far = &self.nodes[far];
                if let (false, Some(lid), Some(far_lid)) = (node.is_switch, &lid, far.lid) {
                    text += &format!("\t\t#{lid} \"{}\" lid {far_lid} 4xQDR", far.name);
                }
                text += "\n";
            }
            text += "\n";
        }
        text
    }
}

/// The cables, names and addresses of a gzipped `opensm-subnet.lst`, with opensm where it was, if the
/// list says that.
pub fn of_subnet_list(name: &'static str, file: &Path) -> io::Result<Fabric> {
    let text = unzipped(file)?;
    let mut cabling = Cabling::default();
    let mut numbers = BTreeMap::new();
    let mut manager = None;
    for link in super::tables::links(&text).map_err(io::Error::other)? {
        let mut ends = [0; 2];
        for (number, end) in ends.iter_mut().zip([&link.one, &link.other]) {
            *number = *numbers.entry(end.guid).or_insert_with(|| {
                let name = end.name.clone();
                let node = cabling.node(end.is_switch, name);
                cabling.nodes[node].guid = end.guid;
                cabling.nodes[node].lid = Some(end.lid);
                node
            });
            if end.is_manager {
                manager = Some(*number);
            }
        }
        cabling.nodes[ends[0]].ports.insert(link.one.port, (ends[1], link.other.port));
    }
    Ok(match manager {
        Some(manager) => cabling.finish_at(name, manager),
        None => cabling.finish(name),
    })
}

/// A gzipped output of `ibnetdiscover`, which is a netfile already.
pub fn of_discovery(name: &'static str, file: &Path) -> io::Result<Fabric> {
    let netfile = unzipped(file)?;
    let mut adapters = netfile.lines().filter_map(|line| line.strip_prefix("Ca\t"));
    let manager = adapters.next().and_then(|line| line.split('"').nth(1));
    let manager = manager.ok_or_else(|| io::Error::other("no adapter"))?.to_string();
    let is_node = |line: &&str| line.starts_with("Ca\t") || line.starts_with("Switch\t");
    let nodes = netfile.lines().filter(is_node).count();
    Ok(Fabric { name, netfile, nodes, manager, lmc: 0, torus: None })
}

fn unzipped(file: &Path) -> io::Result<String> {
    let output = Command::new("gzip").arg("-dc").stdin(fs::File::open(file)?).output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("gzip cannot unpack {}", file.display())));
    }
    String::from_utf8(output.stdout).map_err(io::Error::other)
}

/// Fisher and Yates with an xorshift generator, so that a seed gives the same order everywhere.
pub fn shuffle<T>(items: &mut [T], seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for last in (1..items.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        items.swap(last, (state % (last as u64 + 1)) as usize);
    }
}

/// Switches have at least as many ports as a common one.
const SWITCH_PORTS: usize = 36;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_netfile_has_both_ends_of_every_cable() {
        let mut cabling = Cabling::default();
        let switches = cabling.switches("s", 2);
        cabling.cable(switches[0], switches[1]);
        cabling.hosts(&switches[..1], 1);
        let fabric = cabling.finish("pair");
        let expected = "\
switchguid=0x200000
Switch\t36 \"S-0000000000200000\"\t\t# \"s0\"
[1]\t\"S-0000000000200001\"[1]
[2]\t\"H-0000000000100020\"[1]

switchguid=0x200001
Switch\t36 \"S-0000000000200001\"\t\t# \"s1\"
[1]\t\"S-0000000000200000\"[1]

caguid=0x100020
Ca\t1 \"H-0000000000100020\"\t\t# \"s0-n0\"
[1]\t\"S-0000000000200000\"[2]

";
        assert_eq!(fabric.netfile, expected);
        assert_eq!((fabric.nodes, fabric.manager.as_str()), (3, "H-0000000000100020"));
    }

    #[test]
    fn failures_leave_the_switches_connected() {
        let mut cabling = Cabling::default();
        let switches = cabling.switches("s", 6);
        for at in 0..6 {
            cabling.cable(switches[at], switches[(at + 1) % 6]);
        }
        // A ring can lose one cable.
        assert_eq!(cabling.fail(3, 7), 1);
        assert!(cabling.is_connected());
    }

    #[test]
    fn the_fabric_of_the_readme_keeps_its_names_addresses_and_manager() {
        let file = crate::repo::root().join("examples/ib/dgx-minhop/opensm-subnet.lst.gz");
        let fabric = of_subnet_list("dgx", &file).unwrap();
        assert_eq!((fabric.nodes, fabric.manager.as_str()), (622, "S-2c5eab0300b87b40"));
        let adapter = "\"S-2c5eab0300b87b40\"[12]\t\t# lid 652 lmc 0 \
                       \"MF0;A09-P1-IBLEAF-04-04:MQM9701/U1\" lid 73 4xQDR";
        assert!(fabric.netfile.contains(adapter));
    }
}
