//! What a fabric's own tools call its nodes and ports.

use std::collections::{BTreeMap, BTreeSet};

use crate::dependency::Suspects;
use crate::topology::Topology;
use pauseless_core::id::{NodeId, PortId};

/// A node as its own tools know it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// What it calls itself; empty if that is its name.
    pub description: String,
    /// The GUID of the device, on InfiniBand.
    pub guid: Option<u64>,
    /// What its tools call each port; empty if they have no names of their own. A single empty
    /// name is that of a port without one.
    pub ports: Vec<String>,
}

/// The devices of a fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// By node; empty if nothing is known beyond the topology.
    devices: Vec<Device>,
}

impl Names {
    /// One device per node, in order.
    pub fn new(devices: Vec<Device>) -> Names {
        Names { devices }
    }

    /// The names and the GUID of a node.
    pub fn device(&self, node: NodeId) -> Option<&Device> {
        self.devices.get(node.index())
    }

    /// The name of a port on its own device.
    pub fn port(&self, node: NodeId, port: PortId) -> Option<&str> {
        let label = self.device(node)?.ports.get(port.index())?;
        Some(label.as_str()).filter(|label| !label.is_empty())
    }

    /// The end nodes that call themselves alike but for numbers, at least two of each kind, the
    /// rarest kind first.
    pub fn kinds(&self, topology: &Topology) -> Vec<Suspects> {
        let mut kinds: BTreeMap<String, Vec<NodeId>> = BTreeMap::new();
        let mut example: BTreeMap<String, String> = BTreeMap::new();
        for &host in topology.hosts() {
            let Some(device) = self.device(host) else {
                continue;
            };
            let kind = without_numbers(&device.description);
            example.entry(kind.clone()).or_insert_with(|| device.description.clone());
            kinds.entry(kind).or_default().push(host);
        }
        let named = kinds.into_iter().filter(|(_, hosts)| hosts.len() > 1).map(|(kind, hosts)| {
            let name = if kind.contains('#') {
                format!("end nodes that call themselves like {:?}", example[&kind])
            } else {
                format!("end nodes that call themselves {kind:?}")
            };
            Suspects { name, hosts }
        });
        let mut named = Vec::from_iter(named);
        named.sort_by_key(|suspects| suspects.hosts.len());
        named
    }
}

/// `text` with each run of digits replaced by a mark.
fn without_numbers(text: &str) -> String {
    let mut kind = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_ascii_digit() {
            kind.push(c);
        } else if !kind.ends_with('#') {
            kind.push('#');
        }
    }
    kind
}

/// Makes names of nodes out of what devices call themselves: letters, digits, `_`, `.` and `-`,
/// each name once.
#[derive(Debug, Default)]
pub struct Namer {
    taken: BTreeSet<String>,
}

impl Namer {
    /// A name for `description`; `distinction` is what tells devices of one description apart.
    pub fn name(&mut self, description: &str, distinction: &str) -> String {
        let plain = match plain(own_name(description)) {
            empty if empty.is_empty() => "unnamed".to_string(),
            plain => plain,
        };
        let candidates = [plain.clone(), format!("{plain}.{distinction}")];
        let numbered = (2..).map(|number| format!("{plain}.{distinction}.{number}"));
        let name = candidates.into_iter().chain(numbered).find(|name| !self.taken.contains(name));
        let name = name.expect("some number is not taken yet");
        self.taken.insert(name.clone());
        name
    }
}

/// Managed switches call themselves `MF0;HOSTNAME:MODEL/U1`; the operator calls them HOSTNAME.
fn own_name(description: &str) -> &str {
    let inner = description.strip_prefix("MF0;").and_then(|rest| rest.split_once(':'));
    inner.map_or(description, |(name, _)| name)
}

fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.trim().chars() {
        if c.is_ascii_alphanumeric() || "_.-".contains(c) {
            plain.push(c);
        } else if !plain.ends_with('_') {
            plain.push('_');
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_and_unique() {
        let mut namer = Namer::default();
        let cases = [
            ("leaf1", "a", "leaf1"),
            ("leaf1", "b", "leaf1.b"),
            ("leaf1", "b", "leaf1.b.2"),
            ("MF0;B10-P1-IBSPINE-07:MQM9701/U1", "c", "B10-P1-IBSPINE-07"),
            ("node 7  mlx5_0", "d", "node_7_mlx5_0"),
            ("", "e", "unnamed"),
            ("\u{e9}", "f", "_"),
        ];
        for (description, distinction, expected) in cases {
            assert_eq!(namer.name(description, distinction), expected);
        }
    }

    #[test]
    fn kinds_are_what_is_left_without_numbers() {
        assert_eq!(without_numbers("b06-p1-dgx-06 HCA-13"), "b#-p#-dgx-# HCA-#");
    }
}
