//! FRR's `show bgp json`: what BGP has chosen, which is what is installed unless another protocol
//! knows the same prefix.

use super::super::json::Value;
use super::super::{after_mark, quoted};
use super::fields::{Fields, prefix};
use super::{DEFAULT_VRF, NextHop, Route, RouteTable, Target};
use pauseless_text::problem::Problem;

/// Whether `text` is meant to be BGP's table: it begins with that of a VRF.
pub fn looks_like(text: &str) -> bool {
    let inside = after_mark(text).trim_start().strip_prefix('{').map(str::trim_start);
    // No key of the header is long, so that the first routes need not be looked at.
    let head = text.char_indices().nth(HEAD).map_or(text, |(end, _)| &text[..end]);
    inside.is_some_and(|inside| inside.starts_with("\"vrfId\""))
        && (head.contains("\"routerId\"") || head.contains("\"tableVersion\""))
}

/// Reads the best paths with their next hops.
pub fn parse(text: &str) -> Result<Vec<RouteTable>, Problem> {
    let root = Value::whole(text, "BGP's table")?;
    let fields = Fields::of(&root, "the file")?;
    let vrf = fields.text("vrfName")?.unwrap_or(DEFAULT_VRF.into());
    let mut table = RouteTable::new(None, vrf);
    let Some(routes) = fields.get("routes") else {
        let problem = Problem::new(root.at(), "BGP's table has no \"routes\"");
        return Err(problem.expected("the output of `show bgp ipv4 unicast json`"));
    };
    for member in routes.members("\"routes\"")? {
        let prefix = prefix(&member.name, member.name_at.clone())?;
        let mut hops = Vec::new();
        let mut is_own = false;
        for path in member.value.items(&quoted(&member.name))? {
            let path = Fields::of(&path, "a path")?;
            if !path.is("bestpath")? && !path.is("multipath")? {
                continue;
            }
            let nexthops = path.get("nexthops").map(|it| it.items("\"nexthops\"")).transpose()?;
            for hop in nexthops.unwrap_or_default() {
                let hop = Fields::of(&hop, "a next hop")?;
                if !hop.is("used")? {
                    continue;
                }
                match hop.address("ip")? {
                    None => is_own = true,
                    Some(ip) => {
                        let address = Some(ip);
                        hops.push(NextHop { address, interface: None, weight: 1 });
                    }
                }
            }
        }
        let target = match hops.is_empty() {
            // Its own prefixes have no next hop.
            true if is_own => Target::Connected(None),
            true => continue,
            false => Target::Hops(hops),
        };
        table.routes.push(Route { prefix, target, at: member.name_at.clone() });
    }
    Ok(vec![table])
}

/// In how many characters all keys before the routes are found.
const HEAD: usize = 400;
