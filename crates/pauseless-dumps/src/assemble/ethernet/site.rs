//! Cables and configurations joined: every node with its role, every end with its port.

use pauseless_core::id::{NodeId, PortId};
use pauseless_text::quantity::counted;

use super::configs::{Configured, NAME_IT};
use super::ports::{self, Found};
use super::roles::{self, Role};
use super::some;
use super::wires::{WireEnd, Wires};
use crate::assemble::ib::Parsed;
use crate::import::ethernet::pg_profile::{self, PgProfile};
use crate::import::ethernet::sonic::{Port, SwitchConfig};
use pauseless_text::problem::{Problem, Problems};

/// A fabric before its nodes have numbers.
pub(super) struct Site<'d> {
    pub nodes: Vec<SiteNode<'d>>,
    /// The cables that are in use.
    pub cables: Vec<[SiteEnd; 2]>,
    /// The switches that get a host although no file has one.
    pub implied: Vec<usize>,
}

/// A switch or a host.
pub(super) struct SiteNode<'d> {
    pub name: String,
    pub kind: Option<String>,
    pub config: Option<&'d SwitchConfig>,
    pub role: Role,
    pub is_cabled: bool,
}

/// One end of a cable.
#[derive(Clone)]
pub(super) struct SiteEnd {
    pub node: usize,
    pub interface: String,
    /// Its name in the configuration of its switch, if there is one and it can be told.
    pub port: Option<String>,
}

/// The numbers of both ends of each cable.
pub(super) type Ends = [[(NodeId, PortId); 2]];

impl SiteNode<'_> {
    /// Whether its configuration calls it a switch that servers are cabled to.
    pub fn is_tor(&self) -> bool {
        let kind = self.config.and_then(|config| config.device_type.as_deref());
        kind.is_some_and(|kind| kind.to_ascii_lowercase().contains("torrouter"))
    }

    /// Whether its configuration says which priorities are lossless.
    pub fn says_lossless(&self) -> bool {
        let says = |config: &SwitchConfig| !config.port_qos.is_empty() || !config.groups.is_empty();
        self.config.is_some_and(says)
    }
}

impl<'d> Site<'d> {
    /// Joins each configuration to its node, and each end of a cable to its port.
    pub fn new(
        wires: Wires,
        configs: &'d [Configured],
        notes: &mut Vec<String>,
    ) -> Result<Site<'d>, Problems> {
        let nodes = wires.nodes.iter().map(|node| SiteNode {
            name: node.name.clone(),
            kind: node.kind.clone(),
            config: None,
            role: Role::Switch,
            is_cabled: false,
        });
        let mut site = Site { nodes: nodes.collect(), cables: Vec::new(), implied: Vec::new() };
        for end in wires.cables.iter().flat_map(|cable| &cable.ends) {
            site.nodes[end.node].is_cabled = true;
        }
        let ends = wires.cables.iter();
        let ends = Vec::from_iter(ends.map(|cable| cable.ends.each_ref().map(|end| end.node)));
        for config in configs {
            let node = site.node_of(config, &ends)?;
            site.nodes[node].config = Some(&config.config);
        }
        let (assigned, is_guess) = roles::assign(&site.nodes, &ends);
        for (node, role) in site.nodes.iter_mut().zip(&assigned) {
            node.role = *role;
        }
        for cable in &wires.cables {
            let both = cable.ends.iter().all(|end| assigned[end.node] == Role::Host);
            if both {
                let problem = Problem::new(cable.at.clone(), "a cable joins two hosts");
                let problem = problem.expected("a switch at one end");
                let help = "if one of them forwards packets, give it the kind of a switch";
                return Err(cable.source.refuse(problem.help(help)));
            }
        }
        roles::take_notes(&site, &is_guess, notes);
        site.take_cables(&wires, notes);
        site.implied = roles::implied(&site, notes);
        Ok(site)
    }

    /// The port of an end in the configuration of its switch.
    pub fn port(&self, end: &SiteEnd) -> Option<&'d Port> {
        self.nodes[end.node].config?.ports.get(end.port.as_deref()?)
    }

    /// The length of the cable at an end.
    pub fn metres(&self, end: &SiteEnd) -> Option<u32> {
        Some(self.nodes[end.node].config?.cables.get(end.port.as_deref()?)?.metres)
    }

    /// The priorities that an ingress does not lose, a bit each; `None` if no file says.
    pub fn lossless(&self, end: &SiteEnd) -> Option<u8> {
        let node = &self.nodes[end.node];
        Some(node.config.filter(|_| node.says_lossless())?.lossless_classes(end.port.as_deref()?))
    }

    /// The name of an end in notes: its node and its port.
    pub fn end_name(&self, end: &SiteEnd) -> String {
        let label = end.port.as_ref().unwrap_or(&end.interface);
        format!("{} {label}", self.nodes[end.node].name)
    }

    /// Lossless ports whose speed and cable none of the tables has: SONiC makes no headroom there.
    pub fn take_notes_of_profiles(
        &self,
        tables: &[Parsed<Vec<PgProfile>>],
        notes: &mut Vec<String>,
    ) {
        if tables.is_empty() {
            return;
        }
        let has_row = |end: &&SiteEnd| {
            let speed = self.port(end).and_then(|port| port.speed_mbps);
            let (Some(speed), Some(metres)) = (speed, self.metres(end)) else {
                return true;
            };
            tables.iter().any(|table| pg_profile::lookup(&table.value, speed, metres).is_some())
        };
        let ends = self.cables.iter().flatten();
        let lossless = ends.filter(|end| self.lossless(end).is_some_and(|classes| classes != 0));
        let without = lossless.filter(|end| !has_row(end));
        let names = Vec::from_iter(without.map(|end| self.end_name(end)));
        if !names.is_empty() {
            notes.push(format!(
                "pg_profile_lookup.ini has no row for the speed and cable of {}, so that SONiC \
                 makes no headroom there: {}",
                counted(names.len(), "lossless port"),
                some(&names)
            ));
        }
    }

    /// The node that a configuration is of.
    fn node_of(&self, config: &Configured, ends: &[[usize; 2]]) -> Result<usize, Problems> {
        let Some(name) = &config.hostname else {
            let (assigned, _) = roles::assign(&self.nodes, ends);
            let nodes = assigned.iter().enumerate();
            let switches =
                nodes.filter(|(node, role)| self.nodes[*node].is_cabled && **role == Role::Switch);
            let switches = Vec::from_iter(switches.map(|(node, _)| node));
            let [only] = switches[..] else {
                let message = format!(
                    "the file has no hostname, and the wiring has {}",
                    counted(switches.len(), "switch")
                );
                return Err(Problems::of_file(&config.source.file, message, NAME_IT));
            };
            return Ok(only);
        };
        let nodes = || self.nodes.iter().enumerate().filter(|(_, node)| node.is_cabled);
        let exact = nodes().find(|(_, node)| node.name == *name);
        let found = exact.or_else(|| nodes().find(|(_, node)| config.is_called(&node.name)));
        found.map(|(number, _)| number).ok_or_else(|| {
            let message = format!("no cable ends at switch \"{name}\"");
            let problem = Problem::new(config.config.hostname_at.clone(), message);
            let names = nodes().map(|(_, node)| node.name.clone());
            let expected = format!("one of {}", some(&Vec::from_iter(names)));
            let help = "add its cables, correct the name, or leave the file out";
            config.source.refuse(problem.expected(expected).help(help))
        })
    }

    /// The cables that are in use, each end with its port.
    fn take_cables(&mut self, wires: &Wires, notes: &mut Vec<String>) {
        let (mut down, mut unknown, mut in_order) = (Vec::new(), Vec::new(), Vec::new());
        for cable in &wires.cables {
            let ends = cable.ends.clone().map(|WireEnd { node, interface }| {
                let SiteNode { config, kind, .. } = &self.nodes[node];
                let config = config.filter(|config| **config != SwitchConfig::default());
                let found = config.map(|config| ports::find(config, kind.as_deref(), &interface));
                let named = || format!("{} {interface}", self.nodes[node].name);
                let port = match found {
                    None => None,
                    Some(Found::Named(port)) => Some(port),
                    Some(Found::InOrder(port)) => {
                        in_order.push(format!("{} is {port}", named()));
                        Some(port)
                    }
                    Some(Found::Unknown) => {
                        unknown.push(named());
                        None
                    }
                };
                SiteEnd { node, interface, port }
            });
            let is_down = |end: &&SiteEnd| {
                let port = self.port(end);
                port.is_some_and(|port| port.admin_up == Some(false))
            };
            match ends.iter().find(is_down) {
                Some(end) => down.push(self.end_name(end)),
                None => self.cables.push(ends),
            }
        }
        let lists = [
            (down, "cable", "left out because of admin_status down"),
            (in_order, "interface", "taken for SONiC's ports in order"),
            (unknown, "interface", UNKNOWN),
        ];
        for (names, what, why) in lists.iter().filter(|(names, _, _)| !names.is_empty()) {
            notes.push(format!("{} {why}: {}", counted(names.len(), what), some(names)));
        }
    }
}

const UNKNOWN: &str = "that no configuration knows by name or alias, taken for lossless";
