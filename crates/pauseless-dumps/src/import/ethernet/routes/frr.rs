//! FRR's `show ip route json`, also of IPv6, of one protocol (`show ip route bgp json`) and of all
//! VRFs: an object of all, or one object after the other as older releases print them.

use super::super::json::{Member, Value};
use super::super::wiring::Skipped;
use super::super::{after_mark, quoted};
use super::fields::{Fields, prefix, weight};
use super::{DEFAULT_VRF, NextHop, Prefix, Route, RouteTable, Target, table_of};
use pauseless_text::problem::Problem;

/// Whether `text` is meant to be routes of FRR: its first key is a prefix, or a VRF that has one.
pub fn looks_like(text: &str) -> bool {
    let first_key = |text: &str| -> Option<(String, usize)> {
        let inside = text.trim_start().strip_prefix('{')?.trim_start().strip_prefix('"')?;
        let end = inside.find('"')?;
        let behind = inside[end + 1..].trim_start().strip_prefix(':')?;
        Some((inside[..end].to_string(), text.len() - behind.len()))
    };
    let is_table = |text: &str| {
        let key = first_key(text);
        key.is_some_and(|(key, value)| {
            Prefix::parse(&key).is_some() && text[value..].trim_start().starts_with('[')
        })
    };
    let text = after_mark(text);
    is_table(text) || first_key(text).is_some_and(|(_, value)| is_table(&text[value..]))
}

/// Reads the routes that are installed.
pub fn parse(text: &str) -> Result<Vec<RouteTable>, Problem> {
    let mut tables = Vec::new();
    for root in Value::several(text, "a routing table")? {
        for member in root.members("the file")? {
            if member.value.is_object() {
                for route in member.value.members(&quoted(&member.name))? {
                    read_prefix(&route, &member.name, &mut tables)?;
                }
            } else {
                read_prefix(&member, DEFAULT_VRF, &mut tables)?;
            }
        }
    }
    Ok(tables)
}

/// Takes the route of a prefix that packets follow: several protocols may know one.
fn read_prefix(member: &Member, vrf: &str, tables: &mut Vec<RouteTable>) -> Result<(), Problem> {
    let prefix = prefix(&member.name, member.name_at.clone())?;
    for item in member.value.items(&quoted(&member.name))? {
        let fields = Fields::of(&item, "a route")?;
        let vrf = fields.text("vrfName")?.unwrap_or(vrf.into());
        if !fields.is("selected")? {
            continue;
        }
        let table = table_of(tables, None, &vrf);
        let at = member.name_at.start..item.at().end;
        if !fields.is("installed")? {
            let what = format!("{prefix} is selected but not installed");
            table.skipped.push(Skipped { what, at });
            continue;
        }
        let target = read_target(&fields)?;
        match table.routes.last_mut().filter(|last| last.prefix == prefix) {
            // Link-local prefixes are connected once per interface.
            Some(_) if prefix.is_local() => {}
            Some(last) if last.at.start == at.start => {
                let message = format!("{prefix} has two routes that are selected and installed");
                return Err(Problem::new(item.at(), message).expected("one of them"));
            }
            _ => table.routes.push(Route { prefix, target, at }),
        }
    }
    Ok(())
}

fn read_target(fields: &Fields) -> Result<Target, Problem> {
    let protocol = fields.text("protocol")?.unwrap_or_default();
    if protocol == "local" {
        return Ok(Target::Local);
    }
    let mut hops = Vec::new();
    let mut drops = false;
    let nexthops = fields.get("nexthops").map(|it| it.items("\"nexthops\"")).transpose()?;
    for item in nexthops.unwrap_or_default() {
        let hop = Fields::of(&item, "a next hop")?;
        // What a recursive next hop resolves to follows it.
        if hop.is("recursive")? || hop.is("duplicate")? || !hop.is("fib")? {
            continue;
        }
        let interface = hop.text("interfaceName")?.map(|name| name.into_owned());
        if hop.is("blackhole")? || hop.is("reject")? || hop.is("unreachable")? {
            drops = true;
            continue;
        }
        let address = hop.address("ip")?;
        if protocol == "connected" && address.is_none() {
            return Ok(Target::Connected(interface));
        }
        hops.push(NextHop { address, interface, weight: weight(&hop)? });
    }
    Ok(if !hops.is_empty() {
        Target::Hops(hops)
    } else if drops || protocol != "connected" {
        Target::Discard
    } else {
        Target::Connected(None)
    })
}
