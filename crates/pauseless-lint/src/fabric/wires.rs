//! Which port is cabled to which: a wiring file says it, else LLDP, else DEVICE_NEIGHBOR.

use std::collections::HashMap;

use pauseless_dumps::import::ethernet::wiring::Endpoint;

use super::read::{FileOf, Loaded};
use super::{Claim, Fabric};
use crate::cable::{Cable, End};
use crate::finding::Place;
use crate::json::{self, Span};
use crate::switch::Switch;

impl Loaded<'_> {
    /// Everything that is said about cables, the most reliable first.
    pub(super) fn claims(&self, switches: &[Switch]) -> Vec<Claim> {
        let mut claims = Vec::new();
        for FileOf { file, content } in &self.wirings {
            for link in &content.links {
                let at = Span { start: link.at.start as u32, end: link.at.end as u32 };
                let [a, b] = link.ends.clone();
                for (near, far) in [(a.clone(), b.clone()), (b, a)] {
                    let place = Place::in_file(*file, at);
                    claims.push(Claim { near, far, source: "the wiring file", place });
                }
            }
        }
        for FileOf { file, content } in &self.lldp {
            if let Some(owner) = self.owner(switches, *file) {
                self.lldpctl(&switches[owner].name, *file, content, &mut claims);
            }
        }
        for switch in switches {
            for row in switch.applied.iter().flat_map(|applied| applied.rows("LLDP_ENTRY")) {
                let (Some(name), Some(port)) =
                    (row.get("lldp_rem_sys_name"), row.get("lldp_rem_port_id"))
                else {
                    continue;
                };
                let near = endpoint(&switch.name, row.key().text);
                let far = endpoint(name.text, port.text);
                let place = Place::of(row, "lldp_rem_sys_name");
                claims.push(Claim { near, far, source: "LLDP", place });
            }
        }
        for switch in switches {
            for port in &switch.ports {
                let Some(neighbour) = port.neighbour else {
                    continue;
                };
                let near = endpoint(&switch.name, port.name);
                let far = endpoint(neighbour.name.text, neighbour.port.text);
                let place = Place::of(neighbour.row, "name");
                claims.push(Claim { near, far, source: "DEVICE_NEIGHBOR", place });
            }
        }
        claims
    }

    /// `lldpctl -f json`: a list of interfaces, or one object if there is one neighbour.
    fn lldpctl(&self, owner: &str, file: usize, root: &json::Value, claims: &mut Vec<Claim>) {
        let text = self.text(file);
        let string = |value: &json::Value| text[value.at.range()].to_string();
        let Some(list) = root.get(text, "lldp").and_then(|lldp| lldp.get(text, "interface")) else {
            return;
        };
        let entries = match list.items() {
            [] => Vec::from([list]),
            items => items.iter().collect(),
        };
        for member in entries.into_iter().flat_map(json::Value::members) {
            let chassis = member.value.get(text, "chassis").map_or(&[][..], |c| c.members());
            let id = member.value.get(text, "port").and_then(|port| port.get(text, "id"));
            let port = id.and_then(|id| id.get(text, "value"));
            let (Some(chassis), Some(port)) = (chassis.first(), port) else {
                continue;
            };
            let near = endpoint(owner, &text[member.name.range()]);
            let far = endpoint(&text[chassis.name.range()], &string(port));
            let place = Place::in_file(file, port.at);
            claims.push(Claim { near, far, source: "LLDP", place });
        }
    }
}

impl<'d> Fabric<'d> {
    /// Makes cables of what is said, and notes who disagrees.
    pub(super) fn join(&mut self, claims: &[Claim]) {
        let names = self.switches.iter().enumerate().map(|(at, one)| (one.name.as_str(), at));
        let names: HashMap<&str, usize> = names.collect();
        let end = |end: &Endpoint| -> Option<End<'d>> {
            let switch = &self.switches[*names.get(end.node.as_str())?];
            Some(End { switch, port: switch.port_or_alias(&end.interface)? })
        };
        // What LLDP calls by its alias is the same port.
        let known = |one: &Endpoint| match end(one) {
            Some(found) => endpoint(&found.switch.name, found.port.name),
            None => one.clone(),
        };
        let mut far: HashMap<Endpoint, (Endpoint, &Claim)> = HashMap::new();
        let mut disputes = Vec::new();
        for claim in claims {
            let (near, other) = (known(&claim.near), known(&claim.far));
            let same = |a: &Endpoint, b: &Endpoint| {
                a.node == b.node
                    && (a.interface == b.interface || !names.contains_key(a.node.as_str()))
            };
            for (from, to) in [(&near, &other), (&other, &near)] {
                if !names.contains_key(from.node.as_str()) {
                    // A server may have a cable to each of two ToRs.
                    continue;
                }
                match far.get(from) {
                    Some((said, first)) if !same(said, to) => {
                        disputes.push([(*first).clone(), claim.clone()]);
                        break;
                    }
                    Some(_) => {}
                    None => {
                        far.insert(from.clone(), (to.clone(), claim));
                    }
                }
            }
        }
        let mut cables = Vec::new();
        for switch in self.switches {
            for port in &switch.ports {
                let near = endpoint(&switch.name, port.name);
                let Some((other, _)) = far.get(&near) else {
                    continue;
                };
                let Some(b) = end(other) else {
                    continue;
                };
                let a = End { switch, port };
                let is_first = (names[switch.name.as_str()], port.name)
                    < (names[b.switch.name.as_str()], b.port.name);
                if is_first {
                    cables.push(Cable { a, b });
                }
            }
        }
        self.cables = cables;
        self.disputes = disputes;
    }
}

fn endpoint(node: &str, interface: &str) -> Endpoint {
    Endpoint { node: node.to_string(), interface: interface.to_string() }
}
