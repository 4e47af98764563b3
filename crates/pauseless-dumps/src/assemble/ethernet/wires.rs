//! The cables, out of files that list them or out of what switches know of their neighbours.

use pauseless_text::quantity::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::configs::{Configured, NAME_IT};
use super::running::Connected;
use super::{ports, some};
use crate::assemble::ib::Parsed;
use crate::import::ethernet::routes::Prefix;
use crate::import::ethernet::wiring::{Endpoint, Wiring};
use pauseless_text::problem::{Problem, Problems};
use pauseless_text::source::Source;

/// Nodes and cables, each once.
#[derive(Default)]
pub(super) struct Wires<'s> {
    pub nodes: Vec<WireNode>,
    pub cables: Vec<Wire<'s>>,
    pub notes: Vec<String>,
    numbers: BTreeMap<String, usize>,
    used: BTreeMap<WireEnd, usize>,
    loopbacks: usize,
}

/// A switch or a host.
pub(super) struct WireNode {
    pub name: String,
    pub kind: Option<String>,
}

/// A cable between two nodes.
pub(super) struct Wire<'s> {
    pub ends: [WireEnd; 2],
    pub source: &'s Source,
    pub at: Range<usize>,
}

/// The end of a cable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WireEnd {
    /// The number of the node.
    pub node: usize,
    /// The name of the interface.
    pub interface: String,
}

/// What became of a cable.
enum Laid {
    /// The cable was not known before.
    New,
    /// It is known, most often from its other end.
    Known(usize),
    /// It joins a node to itself.
    Loopback,
}

impl<'s> Wires<'s> {
    /// The cables of files that list them; several files may say the same.
    pub fn from_files(files: &[Parsed<'s, Wiring>]) -> Result<Wires<'s>, Problems> {
        let mut wires = Wires::default();
        for file in files {
            for node in &file.value.nodes {
                let number = wires.node(&node.name);
                let kind = &mut wires.nodes[number].kind;
                *kind = kind.take().or_else(|| node.kind.clone());
            }
            for link in &file.value.links {
                let ends = link.ends.clone().map(|Endpoint { node, interface }| WireEnd {
                    node: wires.node(&node),
                    interface,
                });
                wires.lay(Wire { ends, source: file.source, at: link.at.clone() })?;
            }
            if !file.value.skipped.is_empty() {
                let links = counted(file.value.skipped.len(), "link");
                let file = &file.source.file;
                let note = format!("{links} of {file} lead out of the fabric and are left out");
                wires.notes.push(note);
            }
        }
        wires.finish()
    }

    /// The cables that switches know of; where both ends do, both must say the same.
    pub fn from_neighbours(switches: &[Configured<'s>]) -> Result<Wires<'s>, Problems> {
        let mut wires = Wires::default();
        // Neighbours may spell a name in another way than its owner.
        let mut spellings: BTreeMap<String, String> = BTreeMap::new();
        for name in switches.iter().filter_map(|switch| switch.hostname.clone()) {
            spellings.insert(name.to_ascii_lowercase(), name);
        }
        let mut confirmed = BTreeSet::new();
        for switch in switches {
            let neighbours = switch.neighbours();
            if neighbours.is_empty() {
                continue;
            }
            let Some(name) = &switch.hostname else {
                return Err(without_name(switch));
            };
            let own = wires.node(name);
            wires.nodes[own].kind.clone_from(&switch.config.device_type);
            for (port, (neighbour, source)) in neighbours {
                let key = neighbour.name.to_ascii_lowercase();
                let spelling = spellings.entry(key).or_insert_with(|| neighbour.name.clone());
                let peer = switches.iter().find(|other| other.is_called(spelling));
                let peer_port = peer.and_then(|peer| ports::named(&peer.config, &neighbour.port));
                let peer_port = peer_port.unwrap_or_else(|| neighbour.port.clone());
                let near = WireEnd { node: wires.node(name), interface: port.to_string() };
                let far = WireEnd { node: wires.node(spelling), interface: peer_port };
                let ends = [near, far];
                let laid = wires.lay(Wire { ends, source, at: neighbour.at.clone() })?;
                if let Laid::Known(cable) = laid {
                    confirmed.insert(cable);
                }
            }
        }
        wires.note_halves(switches, &confirmed);
        wires.finish()
    }

    /// The cables between interfaces whose prefix has room for two only, and a host behind every
    /// other prefix that is connected.
    pub fn from_addresses(connected: &[Connected<'s>]) -> Result<Wires<'s>, Problems> {
        let mut wires = Wires::default();
        let mut by_prefix: BTreeMap<Prefix, Vec<&Connected<'s>>> = BTreeMap::new();
        for one in connected {
            by_prefix.entry(one.prefix).or_default().push(one);
        }
        let mut joined = BTreeSet::new();
        let is_link = |prefix: &Prefix| prefix.family().width() - prefix.length() <= 2;
        for (_, ends) in by_prefix.iter().filter(|(prefix, _)| is_link(prefix)) {
            if let [one, other] = ends[..]
                && one.switch != other.switch
            {
                let keys = [one, other].map(|end| (&end.switch, &end.interface));
                // IPv4 and IPv6 are of one cable.
                if keys.iter().all(|key| joined.insert(*key)) {
                    let ends = [one, other].map(|end| WireEnd {
                        node: wires.node(&end.switch),
                        interface: end.interface.clone(),
                    });
                    wires.lay(Wire { ends, source: one.source, at: one.at.clone() })?;
                }
            }
        }
        let cables = wires.cables.len();
        for one in connected.iter().filter(|one| !is_link(&one.prefix)) {
            if joined.insert((&one.switch, &one.interface)) {
                let host = wires.node(&format!("{}.{}.host", one.switch, one.interface));
                wires.nodes[host].kind = Some("host".to_string());
                let near =
                    WireEnd { node: wires.node(&one.switch), interface: one.interface.clone() };
                let far = WireEnd { node: host, interface: "eth0".to_string() };
                wires.lay(Wire { ends: [near, far], source: one.source, at: one.at.clone() })?;
            }
        }
        if cables > 0 {
            wires.notes.push(format!(
                "no file lists cables: {} found from addresses in one prefix of two, and {} assumed \
                 behind other connected prefixes",
                counted(cables, "cable"),
                counted(wires.cables.len() - cables, "host"),
            ));
        }
        wires.finish()
    }

    /// What to call an end of a cable.
    pub fn end_name(&self, end: &WireEnd) -> String {
        format!("{} {}", self.nodes[end.node].name, end.interface)
    }

    fn node(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.nodes.len();
        self.numbers.insert(name.to_string(), number);
        self.nodes.push(WireNode { name: name.to_string(), kind: None });
        number
    }

    fn lay(&mut self, wire: Wire<'s>) -> Result<Laid, Problems> {
        if wire.ends[0].node == wire.ends[1].node {
            self.loopbacks += 1;
            return Ok(Laid::Loopback);
        }
        let known = wire.ends.each_ref().map(|end| self.used.get(end).copied());
        match known {
            [Some(one), Some(other)] if one == other => return Ok(Laid::Known(one)),
            [None, None] => {}
            [Some(cable), _] => return Err(self.taken(&wire, 0, cable)),
            [None, Some(cable)] => return Err(self.taken(&wire, 1, cable)),
        }
        let number = self.cables.len();
        for end in &wire.ends {
            self.used.insert(end.clone(), number);
        }
        self.cables.push(wire);
        Ok(Laid::New)
    }

    fn taken(&self, wire: &Wire, side: usize, cable: usize) -> Problems {
        let end = &wire.ends[side];
        let peer = self.end_name(&wire.ends[1 - side]);
        let other = &self.cables[cable];
        let other_peer = self.end_name(&other.ends[usize::from(other.ends[0] == *end)]);
        let (end, file) = (self.end_name(end), &other.source.file);
        let message = format!("{end} is cabled to {peer} here and to {other_peer} in {file}");
        let problem = Problem::new(wire.at.clone(), message).expected("one cable per interface");
        let help = "take all files at the same time, or correct the one that is wrong";
        wire.source.refuse(problem.help(help))
    }

    fn note_halves(&mut self, switches: &[Configured], confirmed: &BTreeSet<usize>) {
        let has_config = |node: usize| {
            let name = &self.nodes[node].name;
            switches.iter().any(|switch| switch.is_called(name))
        };
        let halves = self.cables.iter().enumerate().filter(|(number, cable)| {
            !confirmed.contains(number) && cable.ends.iter().all(|end| has_config(end.node))
        });
        let names = Vec::from_iter(halves.map(|(_, cable)| self.end_name(&cable.ends[0])));
        if !names.is_empty() {
            self.notes.push(format!(
                "DEVICE_NEIGHBOR of one end only has {}: {}",
                counted(names.len(), "cable"),
                some(&names)
            ));
        }
    }

    fn finish(mut self) -> Result<Wires<'s>, Problems> {
        if self.loopbacks > 0 {
            self.notes.push(format!(
                "{} from a node to itself left out",
                counted(self.loopbacks, "cable")
            ));
        }
        let mut is_cabled = vec![false; self.nodes.len()];
        for end in self.cables.iter().flat_map(|cable| &cable.ends) {
            is_cabled[end.node] = true;
        }
        let nodes = self.nodes.iter().zip(&is_cabled);
        let names = nodes.filter(|(_, is)| !**is).map(|(node, _)| node.name.clone());
        let names = Vec::from_iter(names);
        if !names.is_empty() {
            let nodes = counted(names.len(), "node");
            self.notes.push(format!("{nodes} without a cable left out: {}", some(&names)));
        }
        Ok(self)
    }
}

fn without_name(switch: &Configured) -> Problems {
    let message = "the file has no hostname, so that nobody knows whose cables it lists";
    Problems::of_file(&switch.source.file, message.to_string(), NAME_IT)
}
