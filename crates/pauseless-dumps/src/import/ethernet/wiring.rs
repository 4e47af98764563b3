//! Which interface is cabled to which.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::quoted;
use pauseless_text::lex::line_number;
use pauseless_text::problem::Problem;

/// The cables of a fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wiring {
    /// Every node, in the order of the file; each name once.
    pub nodes: Vec<WiredNode>,
    /// Every cable once; no interface has two.
    pub links: Vec<WiredLink>,
    /// What the file has and a fabric has not, such as a link to the machine that runs the lab.
    pub skipped: Vec<Skipped>,
}

/// A switch or a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WiredNode {
    /// The name of the node, unique in the file.
    pub name: String,
    /// What it is, in the words of the file.
    pub kind: Option<String>,
    /// The place at which the node is first named.
    pub at: Range<usize>,
}

/// A cable between two interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WiredLink {
    /// The two interfaces that the cable joins.
    pub ends: [Endpoint; 2],
    /// The place at which the cable is described.
    pub at: Range<usize>,
}

/// An interface of a node, as a cable ends there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The name of the node.
    pub node: String,
    /// The name of the interface, in the words of the file.
    pub interface: String,
}

impl Endpoint {
    fn quoted(&self) -> String {
        quoted(&format!("{}:{}", self.node, self.interface))
    }
}

/// Something that was left out, so that nobody takes it for read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// A description of what was left out.
    pub what: String,
    /// The place of it in the text.
    pub at: Range<usize>,
}

/// A wiring in the making, which refuses what contradicts the part that it has.
pub(super) struct Cabling<'t> {
    text: &'t str,
    wiring: Wiring,
    /// The place at which each node was first named.
    known: HashMap<String, usize>,
    /// The link that has the interface.
    used: HashMap<Endpoint, usize>,
}

impl<'t> Cabling<'t> {
    pub fn new(text: &'t str) -> Cabling<'t> {
        Cabling { text, wiring: Wiring::default(), known: HashMap::new(), used: HashMap::new() }
    }

    /// A node that the file lists, once.
    pub fn node(&mut self, node: WiredNode) -> Result<(), Problem> {
        match self.known.entry(node.name.clone()) {
            Entry::Occupied(first) => {
                let line = line_number(self.text, *first.get());
                let message = format!("node {} is also on line {line}", quoted(&node.name));
                Err(Problem::new(node.at, message).expected("a name of its own"))
            }
            Entry::Vacant(place) => {
                place.insert(node.at.start);
                self.wiring.nodes.push(node);
                Ok(())
            }
        }
    }

    /// A node that the file names only where a cable ends.
    pub fn mention(&mut self, node: WiredNode) {
        if let Entry::Vacant(place) = self.known.entry(node.name.clone()) {
            place.insert(node.at.start);
            self.wiring.nodes.push(node);
        }
    }

    pub fn knows(&self, node: &str) -> bool {
        self.known.contains_key(node)
    }

    pub fn skip(&mut self, what: String, at: Range<usize>) {
        self.wiring.skipped.push(Skipped { what, at });
    }

    /// A cable that the file lists once.
    pub fn link(&mut self, link: WiredLink) -> Result<(), Problem> {
        if link.ends[0] == link.ends[1] {
            let message = format!("{} is cabled to itself", link.ends[0].quoted());
            return Err(Problem::new(link.at, message).expected("two interfaces"));
        }
        for end in &link.ends {
            if let Some(other) = self.used.get(end) {
                return Err(self.taken(end, *other, link.at));
            }
        }
        for end in &link.ends {
            self.used.insert(end.clone(), self.wiring.links.len());
        }
        self.wiring.links.push(link);
        Ok(())
    }

    /// A cable that the file may list again, and from its other end.
    pub fn link_again(&mut self, link: WiredLink) -> Result<(), Problem> {
        let first = self.used.get(&link.ends[0]);
        if first.is_some() && first == self.used.get(&link.ends[1]) && link.ends[0] != link.ends[1]
        {
            return Ok(());
        }
        self.link(link)
    }

    pub fn finish(self) -> Wiring {
        self.wiring
    }

    fn taken(&self, end: &Endpoint, by: usize, at: Range<usize>) -> Problem {
        let other = &self.wiring.links[by];
        let line = line_number(self.text, other.at.start);
        let peer = &other.ends[usize::from(other.ends[0] == *end)];
        let (end, peer) = (end.quoted(), peer.quoted());
        let message = format!("{end} is cabled twice, on line {line} to {peer}");
        Problem::new(at, message).expected("one cable per interface")
    }
}
