//! What files say of running switches: their routes, and what LLDP hears.

use std::collections::BTreeMap;

use super::configs::{Configured, NAME_IT};
use super::owners::Owners;
use super::{EthernetDumps, some};
use crate::assemble::ib::Parsed;
use crate::import::ethernet::routes::{DEFAULT_VRF, Prefix, RouteTable, Target};
use crate::import::ethernet::sonic::{Neighbour, SwitchConfig};
use pauseless_text::problem::Problems;
use pauseless_text::quantity::counted;
use pauseless_text::source::Source;

/// The route tables of each switch, by its name in lower case.
#[derive(Default)]
pub(super) struct Running<'d, 's> {
    pub switches: BTreeMap<String, Vec<Table<'d, 's>>>,
    /// Names as files write them, by the name in lower case.
    names: BTreeMap<String, (String, &'s Source)>,
    pub notes: Vec<String>,
}

/// A route table with its file.
#[derive(Clone, Copy)]
pub(super) struct Table<'d, 's> {
    pub table: &'d RouteTable,
    pub source: &'s Source,
}

impl<'d, 's> Running<'d, 's> {
    /// Sorts what the files have by switch; `named` are the configurations with their names.
    pub fn gather(
        dumps: &'d EthernetDumps<'s>,
        owners: &Owners,
        named: &[Parsed<'s, SwitchConfig>],
        configs: &mut Vec<Configured<'s>>,
    ) -> Result<Running<'d, 's>, Problems> {
        let mut running = Running::default();
        for (parsed, named) in dumps.configs.iter().zip(named) {
            let layer3 = &parsed.value.layer3;
            let only = || configs.first()?.hostname.clone();
            let name = named.value.hostname.clone().or_else(only);
            if name.is_none() && !layer3.routes.is_empty() {
                let file = &parsed.source.file;
                running.notes.push(format!("{file} does not name its switch; {NAME_IT}"));
            }
            if let Some(name) = name {
                for table in &layer3.routes {
                    running.take(&name, Table { table, source: parsed.source });
                }
                for (port, neighbour) in &layer3.heard {
                    hear(configs, &name, port, neighbour.clone(), parsed.source);
                }
            }
        }
        for parsed in &dumps.tables {
            let source = parsed.source;
            for table in &parsed.value {
                let name = match &table.node {
                    Some(name) => name.clone(),
                    None => owners.of(source)?,
                };
                running.take(&name, Table { table, source });
            }
        }
        for parsed in &dumps.heard {
            let name = owners.of(parsed.source)?;
            for heard in &parsed.value.heard {
                let (peer, port) = (heard.name.clone(), heard.peer_port.clone());
                let neighbour = Neighbour { name: peer, port, at: heard.at.clone() };
                hear(configs, &name, &heard.port, neighbour, parsed.source);
            }
        }
        for (name, source) in running.names.values() {
            let is_known = configs.iter().any(|switch| switch.is_called(name));
            let is_nameless = matches!(&configs[..], [only] if only.hostname.is_none());
            if !is_known && !is_nameless {
                configs.push(Configured::blank(name.clone(), source));
            }
        }
        running.note_disagreeing_neighbours(configs);
        Ok(running)
    }

    /// Whether any file has routes.
    pub fn has_routes(&self) -> bool {
        self.switches.values().any(|tables| !tables.is_empty())
    }

    /// The tables of a switch.
    pub fn of(&self, name: &str) -> &[Table<'d, 's>] {
        self.switches.get(&name.to_ascii_lowercase()).map_or(&[], Vec::as_slice)
    }

    fn take(&mut self, name: &str, table: Table<'d, 's>) {
        let key = name.to_ascii_lowercase();
        self.names.entry(key.clone()).or_insert_with(|| (name.to_string(), table.source));
        self.switches.entry(key).or_default().push(table);
    }

    /// Leaves the routes of the VRF that is wanted; else of the default one, or of the only one that
    /// there is.
    pub fn keep_one_vrf(&mut self, wanted: Option<&str>) -> Result<(), Problems> {
        let tables = self.switches.values().flatten();
        let mut vrfs: Vec<&str> = tables.map(|table| table.table.vrf.as_str()).collect();
        vrfs.sort_unstable();
        vrfs.dedup();
        if let Some(wanted) = wanted.filter(|wanted| !vrfs.contains(wanted)) {
            return Err(self.without_vrf(wanted, &vrfs));
        }
        let kept = match &vrfs[..] {
            [] | [_] => return Ok(()),
            vrfs => {
                wanted.unwrap_or(if vrfs.contains(&DEFAULT_VRF) { DEFAULT_VRF } else { vrfs[0] })
            }
        };
        let kept = kept.to_string();
        let others = vrfs.iter().filter(|vrf| **vrf != kept).map(|vrf| (*vrf).to_string());
        let others = Vec::from_iter(others);
        if !others.is_empty() {
            self.notes.push(format!(
                "the routes of VRF {kept} are looked at; those of {} are left out: {}",
                counted(others.len(), "other VRF"),
                some(&others)
            ));
        }
        for tables in self.switches.values_mut() {
            tables.retain(|table| table.table.vrf == kept);
        }
        Ok(())
    }

    fn without_vrf(&self, wanted: &str, vrfs: &[&str]) -> Problems {
        let mut tables = self.switches.values().flatten();
        let file = tables.next().map_or("", |table| table.source.file.as_str());
        let message = format!("no file has routes of VRF {wanted}");
        let known = Vec::from_iter(vrfs.iter().map(|vrf| (*vrf).to_string()));
        let help = match &known[..] {
            [] => "add the routes of the switches".to_string(),
            known => format!("there are: {}", some(known)),
        };
        Problems::of_file(file, message, &help)
    }

    /// Says which routes no rule here follows.
    pub fn note_skipped(&mut self) {
        let mut all = Vec::new();
        for (name, tables) in &self.switches {
            for skipped in tables.iter().flat_map(|table| &table.table.skipped) {
                all.push(format!("{name}: {}", skipped.what));
            }
        }
        if !all.is_empty() {
            let routes = counted(all.len(), "route");
            self.notes.push(format!("{routes} left out: {}", some(&all)));
        }
    }

    /// Where LLDP hears somebody else than the configuration says.
    fn note_disagreeing_neighbours(&mut self, configs: &[Configured]) {
        let mut found = Vec::new();
        for switch in configs {
            for (port, (heard, _)) in &switch.heard {
                let configured = switch.config.neighbours.get(port);
                if let Some(neighbour) = configured.filter(|it| !same_name(&it.name, &heard.name)) {
                    let name = switch.hostname.as_deref().unwrap_or_default();
                    let (one, other) = (&heard.name, &neighbour.name);
                    found.push(format!("{name} {port} hears {one}, not {other}"));
                }
            }
        }
        if !found.is_empty() {
            self.notes.push(format!(
                "LLDP hears another neighbour than DEVICE_NEIGHBOR names at {}: {}",
                counted(found.len(), "port"),
                some(&found)
            ));
        }
    }

    /// The prefixes that are connected to each switch, by interface, each with its file.
    pub fn connected(&self, configs: &[Configured<'s>]) -> Vec<Connected<'s>> {
        let mut all = Vec::new();
        for switch in configs {
            let Some(name) = &switch.hostname else {
                continue;
            };
            let mut seen = BTreeMap::new();
            for (interface, addresses) in &switch.config.layer3.addresses {
                for (_, prefix) in addresses {
                    seen.insert((interface.as_str(), *prefix), (switch.source, 0..0));
                }
            }
            for Table { table, source } in self.of(name) {
                for route in &table.routes {
                    if let Target::Connected(Some(interface)) = &route.target {
                        let place = (*source, route.at.clone());
                        seen.insert((interface.as_str(), route.prefix), place);
                    }
                }
            }
            for ((interface, prefix), (source, at)) in seen {
                let is_left_out = prefix.is_local() || is_management(interface);
                if !is_left_out && !prefix.is_single() {
                    let (switch, interface) = (name.clone(), interface.to_string());
                    all.push(Connected { switch, interface, prefix, source, at });
                }
            }
        }
        all
    }
}

/// A prefix that is connected to a switch.
pub(super) struct Connected<'s> {
    pub switch: String,
    pub interface: String,
    pub prefix: Prefix,
    pub source: &'s Source,
    pub at: std::ops::Range<usize>,
}

/// Whether an interface carries no traffic of the fabric; only those without a cable are asked.
pub(super) fn is_management(interface: &str) -> bool {
    let lower = interface.to_ascii_lowercase();
    let is_named = matches!(lower.as_str(), "eth0" | "lo" | "null0" | "tun0");
    let starts = ["mgmt", "management", "docker", "loopback", "dummy"];
    is_named || starts.iter().any(|start| lower.starts_with(start))
}

fn hear<'s>(
    configs: &mut Vec<Configured<'s>>,
    name: &str,
    port: &str,
    neighbour: Neighbour,
    source: &'s Source,
) {
    if is_management(port) {
        return;
    }
    let number = configs.iter().position(|switch| switch.is_called(name)).unwrap_or_else(|| {
        configs.push(Configured::blank(name.to_string(), source));
        configs.len() - 1
    });
    configs[number].heard.entry(port.to_string()).or_insert((neighbour, source));
}

fn same_name(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}
