//! The kernel's routes: `ip -j route`, also of IPv6, whose next hops of equal cost may be rows of
//! their own.

use std::collections::HashMap;

use super::super::after_mark;
use super::super::json::Value;
use super::super::wiring::Skipped;
use super::fields::{Fields, prefix, weight};
use super::{DEFAULT_VRF, Family, NextHop, Prefix, Route, RouteTable, Target, table_of};
use pauseless_text::problem::Problem;

/// Whether `text` is meant to be routes of the kernel: a list of objects with a `dst`.
pub fn looks_like(text: &str) -> bool {
    let inside = after_mark(text).trim_start().strip_prefix('[').map(str::trim_start);
    let inside = inside.and_then(|inside| inside.strip_prefix('{')).map(str::trim_start);
    let Some(first) = inside else {
        return false;
    };
    if first.starts_with("\"dst\"") {
        return true;
    }
    let head = first.split('}').next().unwrap_or_default();
    first.starts_with("\"type\"") && head.contains("\"dst\"") && head.contains("\"flags\"")
}

/// Reads the routes with the lowest metric for each prefix.
pub fn parse(text: &str) -> Result<Vec<RouteTable>, Problem> {
    let root = Value::whole(text, "a routing table")?;
    let mut rows = Vec::new();
    for item in root.items("the file")? {
        rows.push(Fields::of(&item, "a route")?);
    }
    let mut is_v6 = false;
    for row in &rows {
        is_v6 |= row.required("dst", "a route")?.contains(':');
    }
    let family = if is_v6 { Family::V6 } else { Family::V4 };
    let mut tables = Vec::new();
    let mut metrics: HashMap<(String, Prefix), (u32, usize)> = HashMap::new();
    for row in &rows {
        let Some((vrf, route)) = read_row(row, family, &mut tables)? else {
            continue;
        };
        let metric = row.number("metric")?.unwrap_or(0);
        let table = table_of(&mut tables, None, &vrf);
        match metrics.get(&(vrf.clone(), route.prefix)).copied() {
            Some((lower, _)) if lower < metric => {}
            Some((same, number)) if same == metric => join(&mut table.routes[number], route),
            known => {
                let number = known.map_or(table.routes.len(), |(_, number)| number);
                metrics.insert((vrf, route.prefix), (metric, number));
                match table.routes.get_mut(number) {
                    Some(place) => *place = route,
                    None => table.routes.push(route),
                }
            }
        }
    }
    Ok(tables)
}

/// Two rows of one metric are two next hops.
fn join(known: &mut Route, other: Route) {
    if let (Target::Hops(hops), Target::Hops(more)) = (&mut known.target, other.target) {
        hops.extend(more.into_iter().filter(|hop| !hops.contains(hop)).collect::<Vec<_>>());
    }
}

/// A row with its VRF; `None` if packets never follow it.
fn read_row(
    row: &Fields,
    family: Family,
    tables: &mut Vec<RouteTable>,
) -> Result<Option<(String, Route)>, Problem> {
    let text = row.required("dst", "a route")?;
    let gateway = row.address("gateway")?;
    let prefix = match text.as_ref() {
        "default" | "0/0" => Prefix::everything(gateway.map_or(family, Family::of)),
        text => prefix(text, row.get("dst").map_or(0..0, Value::at))?,
    };
    // With `table all` the rows of other tables say so.
    let vrf = match row.text("table")?.as_deref() {
        None | Some("main" | "254") => DEFAULT_VRF.to_string(),
        Some("local" | "255") => return Ok(None),
        Some(other) => other.to_string(),
    };
    let target = match row.text("type")?.as_deref() {
        None | Some("unicast") => match read_hops(row)? {
            Some(target) => target,
            None => {
                let table = table_of(tables, None, &vrf);
                let what = format!("{prefix} has no next hop that is alive");
                table.skipped.push(Skipped { what, at: row.at.clone() });
                return Ok(None);
            }
        },
        Some("blackhole" | "unreachable" | "prohibit") => Target::Discard,
        Some("local") => Target::Local,
        Some(_) => return Ok(None),
    };
    Ok(Some((vrf, Route { prefix, target, at: row.at.clone() })))
}

/// The next hops of a row; `None` if all of them are dead.
fn read_hops(row: &Fields) -> Result<Option<Target>, Problem> {
    let Some(list) = row.get("nexthops") else {
        if is_dead(row)? {
            return Ok(None);
        }
        let hop = read_hop(row)?;
        let is_connected = hop.address.is_none()
            && (row.text("protocol")?.as_deref() == Some("kernel")
                || row.text("scope")?.as_deref() == Some("link"));
        let connected = || Target::Connected(hop.interface.clone());
        return Ok(Some(if is_connected { connected() } else { Target::Hops(vec![hop]) }));
    };
    let mut hops = Vec::new();
    for item in list.items("\"nexthops\"")? {
        let fields = Fields::of(&item, "a next hop")?;
        if !is_dead(&fields)? {
            hops.push(read_hop(&fields)?);
        }
    }
    Ok(Some(hops).filter(|hops| !hops.is_empty()).map(Target::Hops))
}

fn read_hop(fields: &Fields) -> Result<NextHop, Problem> {
    let mut address = fields.address("gateway")?;
    if let Some(via) = fields.get("via").filter(|via| via.is_object()) {
        address = Fields::of(via, "\"via\"")?.address("host")?;
    }
    let interface = fields.text("dev")?.map(|name| name.into_owned());
    Ok(NextHop { address, interface, weight: weight(fields)? })
}

/// Whether the kernel passes over a next hop.
fn is_dead(fields: &Fields) -> Result<bool, Problem> {
    let Some(flags) = fields.get("flags").filter(|flags| flags.is_array()) else {
        return Ok(false);
    };
    for flag in flags.items("\"flags\"")? {
        if flag.scalar("a flag")? == "dead" {
            return Ok(true);
        }
    }
    Ok(false)
}
