//! Addresses, bundles of ports, routes and neighbours, from both databases.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::config::{Layer3, Neighbour};
use super::table::{Entry, Table, Tables};
use crate::import::ethernet::quoted;
use crate::import::ethernet::routes::{
    DEFAULT_VRF, NextHop, Prefix, Route, RouteTable, Target, prefix,
};
use crate::import::ethernet::wiring::Skipped;
use pauseless_text::problem::Problem;

/// Reads all tables that say how packets are routed.
pub(super) fn read(tables: &Tables) -> Result<Layer3, Problem> {
    let mut layer3 = Layer3::default();
    for entry in tables.of(Table::Interface) {
        read_address(entry, &mut layer3)?;
    }
    for table in [Table::LagMember, Table::VlanMember] {
        for entry in tables.of(table) {
            read_member(entry, &mut layer3)?;
        }
    }
    for entry in tables.of(Table::Neighbour) {
        let address = entry.key.split_once([':', '|']);
        let address = address.and_then(|(name, ip)| Some((name, ip.parse().ok()?)));
        if let (Some((name, address)), Some(hardware)) = (address, entry.owned("neigh")?) {
            let hardware = hardware.to_ascii_lowercase();
            layer3.hardware.insert((name.to_string(), address), hardware);
        }
    }
    for entry in tables.of(Table::Learned) {
        if let (Some((vlan, hardware)), Some(port)) =
            (entry.key.split_once([':', '|']), entry.owned("port")?)
        {
            let key = (vlan.to_string(), hardware.to_ascii_lowercase());
            layer3.learned.insert(key, port);
        }
    }
    for entry in tables.of(Table::Lldp) {
        let (name, port) = (entry.owned("lldp_rem_sys_name")?, entry.owned("lldp_rem_port_id")?);
        if let (Some(name), Some(port)) = (name, port) {
            let neighbour = Neighbour { name, port, at: entry.key_at.clone() };
            layer3.heard.insert(entry.key.clone(), neighbour);
        }
    }
    read_routes(tables, &mut layer3)?;
    Ok(layer3)
}

/// `PortChannel1|10.0.0.0/31`, or with a colon in APPL_DB; a key without address is the interface.
fn read_address(entry: &Entry, layer3: &mut Layer3) -> Result<(), Problem> {
    let Some((interface, text)) = entry.key.split_once(['|', ':']) else {
        return Ok(());
    };
    let connected = prefix(text, entry.key_at.clone())?;
    let address: Option<IpAddr> = text.split('/').next().and_then(|ip| ip.parse().ok());
    if let Some(address) = address {
        let addresses = layer3.addresses.entry(interface.to_string()).or_default();
        addresses.insert((address, connected));
    }
    Ok(())
}

fn read_member(entry: &Entry, layer3: &mut Layer3) -> Result<(), Problem> {
    let Some((bundle, port)) = entry.key.split_once('|') else {
        let problem = entry.problem(entry.key_at.clone(), "a member without its port");
        return Err(problem.expected("such as PortChannel1|Ethernet0"));
    };
    layer3.members.entry(bundle.to_string()).or_default().insert(port.to_string());
    if entry.text("status")?.as_deref() == Some("disabled") {
        layer3.idle.insert(port.to_string());
    }
    Ok(())
}

fn read_routes(tables: &Tables, layer3: &mut Layer3) -> Result<(), Problem> {
    let groups = tables.of(Table::NextHopGroup).iter().map(|entry| (entry.key.as_str(), entry));
    let groups: BTreeMap<&str, &Entry> = groups.collect();
    for entry in tables.of(Table::Route) {
        let (vrf, text) = split_vrf(&entry.key);
        let prefix = prefix(text, entry.key_at.clone())?;
        let numbered = layer3.routes.iter().position(|table| table.vrf == vrf);
        let number = numbered.unwrap_or_else(|| {
            layer3.routes.push(RouteTable::new(None, vrf));
            layer3.routes.len() - 1
        });
        let table = &mut layer3.routes[number];
        let group = entry.text("nexthop_group")?;
        let from = match &group {
            None => Some(entry),
            Some(name) => groups.get(name.as_ref()).copied(),
        };
        let Some(from) = from else {
            let group = quoted(group.as_deref().unwrap_or_default());
            let what = format!("{prefix}: the file has no next-hop group {group}");
            table.skipped.push(Skipped { what, at: entry.key_at.clone() });
            continue;
        };
        let target = match entry.text("blackhole")?.as_deref() {
            Some("true") => Target::Discard,
            _ => read_target(from)?,
        };
        table.routes.push(Route { prefix, target, at: entry.key_at.clone() });
    }
    Ok(())
}

/// `Vrf1:10.0.0.0/8`, or a prefix alone, which may have colons too.
fn split_vrf(key: &str) -> (&str, &str) {
    let named = key.split_once([':', '|']).filter(|_| Prefix::parse(key).is_none());
    named.unwrap_or((DEFAULT_VRF, key))
}

/// The parallel lists of an entry as next hops.
fn read_target(entry: &Entry) -> Result<Target, Problem> {
    let list = |name: &str| -> Result<Vec<String>, Problem> {
        let text = entry.text(name)?.unwrap_or_default();
        Ok(text.split(',').map(str::trim).filter(|it| !it.is_empty()).map(str::to_string).collect())
    };
    let (addresses, interfaces) = (list("nexthop")?, list("ifname")?);
    let weights = list("weight")?;
    let count = addresses.len().max(interfaces.len());
    let fits = |list: &[String]| list.is_empty() || list.len() == count;
    if !fits(&addresses) || !fits(&interfaces) || !fits(&weights) {
        let message = format!(
            "{} next hops, {} interfaces and {} weights",
            addresses.len(),
            interfaces.len(),
            weights.len()
        );
        let problem = entry.problem(entry.key_at.clone(), message);
        return Err(problem.expected("lists of one length"));
    }
    let mut hops = Vec::new();
    for number in 0..count {
        let address = match addresses.get(number) {
            None => None,
            Some(text) => {
                let address: IpAddr = text.parse().map_err(|_| {
                    let message = format!("a next hop of {}", quoted(text));
                    entry.problem(entry.key_at.clone(), message).expected("an IP address")
                })?;
                Some(address).filter(|address| !address.is_unspecified())
            }
        };
        let weight = weights.get(number).and_then(|text| text.parse().ok()).unwrap_or(1).max(1);
        hops.push(NextHop { address, interface: interfaces.get(number).cloned(), weight });
    }
    Ok(match &mut hops[..] {
        [] => Target::Discard,
        [NextHop { address: None, interface, .. }] => Target::Connected(interface.take()),
        _ => Target::Hops(hops),
    })
}
