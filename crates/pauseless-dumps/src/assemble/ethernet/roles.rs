//! Who forwards and who sends.
//!
//! A node with a configuration is a switch, and so is one whose kind says so. Where the files do
//! not say, a node that is cabled to one other node only is a host: even if it is a switch it
//! forwards nothing, so that it can be part of no cycle. All others are switches.

use pauseless_text::quantity::counted;
use std::collections::BTreeSet;

use super::site::{Site, SiteNode};
use super::some;

/// What a node does with packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Switch,
    Host,
}

/// What is known of a node before cables are looked at.
pub(super) fn known(node: &SiteNode) -> Option<Role> {
    if node.config.is_some() {
        return Some(Role::Switch);
    }
    match node.kind.as_deref()?.to_ascii_lowercase().as_str() {
        silent if SILENT.contains(&silent) => None,
        host if HOSTS.contains(&host) => Some(Role::Host),
        _ => Some(Role::Switch),
    }
}

/// The role of every node, and of every node whether that is a guess.
pub(super) fn assign(nodes: &[SiteNode], ends: &[[usize; 2]]) -> (Vec<Role>, Vec<bool>) {
    let mut neighbours = vec![BTreeSet::new(); nodes.len()];
    for [a, b] in ends {
        neighbours[*a].insert(*b);
        neighbours[*b].insert(*a);
    }
    let role = |(node, neighbours): (&SiteNode, &BTreeSet<usize>)| {
        let guess = match neighbours.len() {
            0 | 1 => Role::Host,
            _ => Role::Switch,
        };
        known(node).unwrap_or(guess)
    };
    let mut roles = Vec::from_iter(nodes.iter().zip(&neighbours).map(role));
    let is_guess = Vec::from_iter(nodes.iter().map(|node| known(node).is_none()));
    for [a, b] in ends {
        // Two hosts are not cabled to each other, so the guesses among them were wrong.
        if roles[*a] == Role::Host && roles[*b] == Role::Host {
            for end in [*a, *b].into_iter().filter(|end| is_guess[*end]) {
                roles[end] = Role::Switch;
            }
        }
    }
    (roles, is_guess)
}

/// Says what was guessed.
pub(super) fn take_notes(site: &Site, is_guess: &[bool], notes: &mut Vec<String>) {
    note_software(site, notes);
    for (role, what) in [(Role::Host, "host"), (Role::Switch, "switch")] {
        let nodes = site.nodes.iter().zip(is_guess);
        let guessed = nodes.filter(|(node, is)| **is && node.is_cabled && node.role == role);
        let names = Vec::from_iter(guessed.map(|(node, _)| node.name.clone()));
        if !names.is_empty() {
            notes.push(format!(
                "{} guessed from the cables alone: {}",
                counted(names.len(), what),
                some(&names)
            ));
        }
    }
}

/// Routers in software, such as FRR, are `linux` in containerlab as well as servers are. One that
/// joins several switches may be a server with several cables, or it may forward.
fn note_software(site: &Site, notes: &mut Vec<String>) {
    let mut switches = vec![BTreeSet::new(); site.nodes.len()];
    for cable in &site.cables {
        let [a, b] = [cable[0].node, cable[1].node];
        switches[a].insert(b);
        switches[b].insert(a);
    }
    let may_forward = site.nodes.iter().zip(&switches).filter(|(node, switches)| {
        let is_software = matches!(node.kind.as_deref(), Some("linux" | "generic_vm"));
        is_software && node.role == Role::Host && switches.len() > 1
    });
    let names = Vec::from_iter(may_forward.map(|(node, _)| node.name.clone()));
    if !names.is_empty() {
        notes.push(format!(
            "{} of kind linux or generic_vm with cables to several switches taken for hosts, which \
             forward nothing; if one of them is a router, give it another kind: {}",
            counted(names.len(), "node"),
            some(&names)
        ));
    }
}

/// The switches that get a host although the files have none there: those that are called ToR
/// and have none, and if there is no host anywhere, those at the edge.
pub(super) fn implied(site: &Site, notes: &mut Vec<String>) -> Vec<usize> {
    let is_host = |node: usize| site.nodes[node].role == Role::Host;
    let mut switches = vec![BTreeSet::new(); site.nodes.len()];
    let mut has_host = vec![false; site.nodes.len()];
    for [a, b] in site.cables.iter().map(|cable| [cable[0].node, cable[1].node]) {
        has_host[a] |= is_host(b);
        has_host[b] |= is_host(a);
        if !is_host(a) && !is_host(b) {
            switches[a].insert(b);
            switches[b].insert(a);
        }
    }
    let all = || (0..site.nodes.len()).filter(|node| !switches[*node].is_empty());
    let tors = Vec::from_iter(all().filter(|node| site.nodes[*node].is_tor() && !has_host[*node]));
    if !tors.is_empty() || has_host.contains(&true) {
        if all().filter(|node| has_host[*node] || tors.contains(node)).count() < 2 {
            notes.push(
                "the files have hosts at one switch only, so that nobody is taken to send from the \
                 others; add the other hosts"
                    .to_string(),
            );
        }
        note(site, &tors, "switches of type ToRRouter without a host", notes);
        return tors;
    }
    let size = |node: usize| switches[node].len();
    let edge = all().filter(|node| switches[*node].iter().all(|peer| size(*peer) > size(*node)));
    let edge = Vec::from_iter(edge);
    if edge.is_empty() {
        let every = Vec::from_iter(all());
        note(site, &every, "no hosts and no edge that can be told", notes);
        return every;
    }
    let what = "no hosts; those with fewer neighbours than each of these has count as the edge";
    note(site, &edge, what, notes);
    edge
}

fn note(site: &Site, nodes: &[usize], what: &str, notes: &mut Vec<String>) {
    if nodes.is_empty() {
        return;
    }
    let names = Vec::from_iter(nodes.iter().map(|node| site.nodes[*node].name.clone()));
    notes.push(format!(
        "the files have {what}: one host is assumed at each of {}: {}",
        counted(names.len(), "switch"),
        some(&names)
    ));
}

/// Kinds that forward nothing: containerlab's own, and what NetQ calls end nodes.
const HOSTS: [&str; 8] =
    ["linux", "ext-container", "generic_vm", "k8s-kind", "host", "server", "nic", "dpu"];
/// Kinds that say nothing: NetQ's word for whatever a switch hears of.
const SILENT: [&str; 3] = ["", "discovered_via_lldp", "unknown"];
