//! Nodes and cables, put together from lines that repeat and may contradict each other.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use super::rate::LinkRate;
use pauseless_text::lex::{line_number, nothing, quoted};
use pauseless_text::problem::Problem;

/// The nodes of a subnet and the cables between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cabling {
    /// Switches and adapters, in the order in which the file names them first.
    pub nodes: Vec<IbNode>,
    /// Cables, each once, in the order in which the file names them first.
    pub links: Vec<IbLink>,
    /// The GUIDs of ports of adapters, where the file has them; policies of a subnet manager name
    /// ports by these.
    pub port_guids: BTreeMap<IbEnd, u64>,
}

/// A switch or an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IbNode {
    /// GUID of the node. `ibnetdiscover -p` has only those of ports, so that there each port of
    /// an adapter is a node.
    pub guid: u64,
    /// Whether the node is a switch or an adapter.
    pub kind: NodeKind,
    /// Number of ports, without a switch's port 0. `ibnetdiscover -p` does not say: there it is
    /// the largest port number.
    pub port_count: u16,
    /// What the operator calls it; empty where the file does not say. Nodes may share one, and
    /// where lines differ the first counts.
    pub description: String,
    /// Its local identifiers, by port; a switch has one on port 0.
    pub lids: Vec<PortLid>,
    /// The place at which the file names the node first.
    pub at: Range<usize>,
}

/// Whether a node forwards packets or only ends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeKind {
    /// A switch, which forwards by LID.
    Switch,
    /// A channel adapter; routers count as such, since packets within the subnet end there.
    Adapter,
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NodeKind::Switch => "switch",
            NodeKind::Adapter => "adapter",
        })
    }
}

/// The local identifiers of a port: `lid` and the `2^lmc - 1` after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortLid {
    /// The port; 0 on a switch.
    pub port: u8,
    /// The base LID, 1 to [`LID_MAX`].
    pub lid: u16,
    /// The LID mask control, 0 to 7; 0 where the format has no place for it, which is all of
    /// them but `ibnetdiscover`.
    pub lmc: u8,
}

/// A port of a node, as a cable ends there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IbEnd {
    /// The index of the node in [`Cabling::nodes`].
    pub node: usize,
    /// The number of the port, from 1; 0 is a switch itself.
    pub port: u8,
}

/// A cable between two ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IbLink {
    /// The two ports that the cable joins.
    pub ends: [IbEnd; 2],
    /// Lanes and speed, where the file has both.
    pub rate: Option<LinkRate>,
    /// The place at which the file names the cable first.
    pub at: Range<usize>,
}

/// The largest unicast LID; the ones above are for multicast.
pub const LID_MAX: u16 = 0xBFFF;
/// The largest number of a port.
pub const PORT_MAX: u8 = 254;
/// The largest LID mask control.
pub(super) const LMC_MAX: u64 = 7;
/// The LID of a port that has none yet; the tools also print 0.
const LID_PERMISSIVE: u64 = 0xFFFF;

/// The LID in a cabling file, where a port that the subnet manager has not reached has none.
pub(super) fn assigned_lid(lid: u64, at: Range<usize>) -> Result<Option<u16>, Problem> {
    match u16::try_from(lid) {
        Ok(0) => Ok(None),
        Ok(lid) if lid <= LID_MAX => Ok(Some(lid)),
        _ if lid == LID_PERMISSIVE => Ok(None),
        _ => Err(Problem::new(at, format!("LID {lid:#06x} is not a unicast LID"))
            .expected("a LID from 1 to 0xBFFF, or 0 for none")),
    }
}

/// A node as one line shows it.
pub(super) struct NodeSeen<'t> {
    pub(super) guid: u64,
    pub(super) kind: NodeKind,
    /// `None` where the format does not say.
    pub(super) port_count: Option<u16>,
    pub(super) description: &'t str,
    pub(super) at: Range<usize>,
}

/// A port of a node as one line shows it.
pub(super) struct PortSeen<'t> {
    pub(super) node: NodeSeen<'t>,
    pub(super) lid: Option<u16>,
    pub(super) port: u8,
}

/// Puts a [`Cabling`] together and refuses contradictions.
pub(super) struct Builder<'t> {
    text: &'t str,
    nodes: Vec<IbNode>,
    links: Vec<IbLink>,
    by_guid: BTreeMap<u64, usize>,
    /// The cable at each end that has one.
    by_end: BTreeMap<IbEnd, usize>,
    /// Where each LID was named first, in the order of `nodes` and their `lids`.
    lid_places: BTreeMap<IbEnd, Range<usize>>,
    port_guids: BTreeMap<IbEnd, u64>,
}

impl<'t> Builder<'t> {
    pub(super) fn new(text: &'t str) -> Builder<'t> {
        Builder {
            text,
            nodes: Vec::new(),
            links: Vec::new(),
            by_guid: BTreeMap::new(),
            by_end: BTreeMap::new(),
            lid_places: BTreeMap::new(),
            port_guids: BTreeMap::new(),
        }
    }

    /// The index of a node with this GUID.
    pub(super) fn find(&self, guid: u64) -> Option<usize> {
        self.by_guid.get(&guid).copied()
    }

    pub(super) fn nodes(&self) -> &[IbNode] {
        &self.nodes
    }

    pub(super) fn links(&self) -> &[IbLink] {
        &self.links
    }

    /// The index of a node, which is new or must be what earlier lines made of it.
    pub(super) fn node(&mut self, seen: NodeSeen<'_>) -> Result<usize, Problem> {
        let Some(index) = self.find(seen.guid) else {
            self.by_guid.insert(seen.guid, self.nodes.len());
            self.nodes.push(IbNode {
                guid: seen.guid,
                kind: seen.kind,
                port_count: seen.port_count.unwrap_or(0),
                description: seen.description.to_string(),
                lids: Vec::new(),
                at: seen.at,
            });
            return Ok(self.nodes.len() - 1);
        };
        let before = &mut self.nodes[index];
        let ports = seen.port_count.unwrap_or(before.port_count);
        let contradiction = if before.kind != seen.kind {
            format!("{} here, but {}", with_article(seen.kind), with_article(before.kind))
        } else if ports != before.port_count {
            format!("one of {ports} ports here, but of {}", before.port_count)
        } else {
            if before.description.is_empty() {
                before.description = seen.description.to_string();
            }
            return Ok(index);
        };
        let line = line_number(self.text, before.at.start);
        let message = format!("node {:#018x} is {contradiction} in line {line}", seen.guid);
        Err(Problem::new(seen.at, message).help(KEEP_NEWER))
    }

    /// The end of a cable at a port, with its node and its LID. A format that does not say how many
    /// ports there are has as many as are seen.
    pub(super) fn end(&mut self, seen: PortSeen<'_>) -> Result<IbEnd, Problem> {
        let PortSeen { node: NodeSeen { kind, port_count, ref at, .. }, lid, port } = seen;
        let at = at.clone();
        let node = self.node(seen.node)?;
        if port_count.is_none() {
            self.see_port(node, port);
        }
        if let Some(lid) = lid {
            let port = if kind == NodeKind::Switch { 0 } else { port };
            self.lid(node, PortLid { port, lid, lmc: 0 }, at)?;
        }
        Ok(IbEnd { node, port })
    }

    /// A node has at least as many ports as the number of this one.
    pub(super) fn see_port(&mut self, node: usize, port: u8) {
        let count = &mut self.nodes[node].port_count;
        *count = (*count).max(u16::from(port));
    }

    /// A port of a node has this LID, if none of its own has been seen, or no other.
    pub(super) fn lid(
        &mut self,
        node: usize,
        lid: PortLid,
        at: Range<usize>,
    ) -> Result<(), Problem> {
        let size = 1_u32 << lid.lmc;
        let last = u32::from(lid.lid) + size - 1;
        if u32::from(lid.lid) % size != 0 || last > u32::from(LID_MAX) {
            let message = format!("LID {} does not fit an LMC of {}", lid.lid, lid.lmc);
            let expected =
                format!("a multiple of {size}, at most {}", u32::from(LID_MAX) + 1 - size);
            return Err(Problem::new(at, message).expected(expected));
        }
        let end = IbEnd { node, port: lid.port };
        let Some(before) = self.lid_of(node, lid.port) else {
            self.nodes[node].lids.push(lid);
            self.lid_places.insert(end, at);
            return Ok(());
        };
        if before == lid {
            return Ok(());
        }
        let place = &self.lid_places[&end];
        let message = format!(
            "{} has LID {} and LMC {} here, but LID {} and LMC {} in line {}",
            self.end_name(end),
            lid.lid,
            lid.lmc,
            before.lid,
            before.lmc,
            line_number(self.text, place.start),
        );
        Err(Problem::new(at, message).help(KEEP_NEWER))
    }

    /// Notes the GUID of a port of an adapter; a switch has one for all its ports.
    pub(super) fn port_guid(&mut self, end: IbEnd, guid: u64) {
        if self.nodes[end.node].kind == NodeKind::Adapter && guid != 0 {
            self.port_guids.entry(end).or_insert(guid);
        }
    }

    /// The LIDs of a port.
    pub(super) fn lid_of(&self, node: usize, port: u8) -> Option<PortLid> {
        let lids = &self.nodes[node].lids;
        lids.iter().find(|lid| lid.port == port).copied()
    }

    /// The index of a cable, which is new or the same as in an earlier line.
    pub(super) fn link(&mut self, link: IbLink) -> Result<usize, Problem> {
        let [a, b] = link.ends;
        for end in link.ends {
            self.check_port(end, &link.at)?;
        }
        if a == b {
            let message = format!("{} is cabled to itself", self.end_name(a));
            return Err(Problem::new(link.at, message).expected("another port"));
        }
        let known = self.by_end.get(&a).or(self.by_end.get(&b));
        let Some(&known) = known else {
            self.by_end.insert(a, self.links.len());
            self.by_end.insert(b, self.links.len());
            self.links.push(link);
            return Ok(self.links.len() - 1);
        };
        let before = &self.links[known];
        if before.ends != [a, b] && before.ends != [b, a] {
            return Err(self.two_cables(&link, before));
        }
        match (before.rate, link.rate) {
            (Some(before_rate), Some(rate)) if before_rate != rate => {
                let message = format!(
                    "this cable has {rate} here, but {before_rate} in line {}",
                    line_number(self.text, before.at.start),
                );
                return Err(Problem::new(link.at, message).help("both ends train to one rate"));
            }
            (None, Some(_)) => self.links[known].rate = link.rate,
            _ => {}
        }
        Ok(known)
    }

    /// Everything, if there is a cable at all and no two ports share a LID.
    pub(super) fn finish(mut self) -> Result<Cabling, Problem> {
        if self.links.is_empty() {
            return Err(nothing("cable", "is the file cut off, or are all ports down?"));
        }
        let mut spans = Vec::new();
        for (index, node) in self.nodes.iter_mut().enumerate() {
            node.lids.sort_unstable();
            let ports = node.lids.iter();
            spans
                .extend(ports.map(|lid| (lid.lid, lid.lmc, IbEnd { node: index, port: lid.port })));
        }
        spans.sort_unstable();
        for pair in spans.windows(2) {
            let [(lid, lmc, one), (next, _, other)] = [pair[0], pair[1]];
            if u32::from(next) >= u32::from(lid) + (1 << lmc) {
                continue;
            }
            // The later line is the one to point at.
            let mut places = [one, other].map(|end| (self.lid_places[&end].clone(), end));
            places.sort_by_key(|(at, _)| at.start);
            let [(before, first), (at, second)] = places;
            let message = format!(
                "LID {next} belongs to {} here, but to {} in line {}",
                self.end_name(second),
                self.end_name(first),
                line_number(self.text, before.start),
            );
            return Err(Problem::new(at, message)
                .expected("a LID of its own for every port")
                .help("dumps of two subnets in one file? keep them apart"));
        }
        Ok(Cabling { nodes: self.nodes, links: self.links, port_guids: self.port_guids })
    }

    /// How messages call a port.
    pub(super) fn end_name(&self, end: IbEnd) -> String {
        let node = &self.nodes[end.node];
        let name = match node.description.as_str() {
            "" => String::new(),
            description => format!(" ({})", quoted(description)),
        };
        match (node.kind, end.port) {
            (NodeKind::Switch, 0) => format!("switch {:#018x}{name}", node.guid),
            (kind, port) => format!("port {port} of {kind} {:#018x}{name}", node.guid),
        }
    }

    fn check_port(&self, end: IbEnd, at: &Range<usize>) -> Result<(), Problem> {
        let (node, port) = (&self.nodes[end.node], end.port);
        let count = node.port_count;
        if port >= 1 && u16::from(port) <= count {
            return Ok(());
        }
        let message = format!("no cable fits port {port} of {} {:#018x}", node.kind, node.guid);
        Err(Problem::new(at.clone(), message).expected(format!("a port from 1 to {count}")))
    }

    fn two_cables(&self, link: &IbLink, before: &IbLink) -> Problem {
        let here = link.ends.iter().position(|end| before.ends.contains(end)).unwrap_or(0);
        let there = usize::from(before.ends[1] == link.ends[here]);
        let message = format!(
            "{} is cabled to {} here, but to {} in line {}",
            self.end_name(link.ends[here]),
            self.end_name(link.ends[1 - here]),
            self.end_name(before.ends[1 - there]),
            line_number(self.text, before.at.start),
        );
        Problem::new(link.at.clone(), message)
            .expected("one cable per port")
            .help("was a cable moved during the dump? make it again")
    }
}

fn with_article(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Switch => "a switch",
        NodeKind::Adapter => "an adapter",
    }
}

const KEEP_NEWER: &str = "two dumps in one file? keep the newer one";
