//! NVIDIA NetQ's `topologyGraph.json`: tiers of devices and bundles of cables between them.
//!
//! Cables name devices by an id; the result has their names, which people know.

use std::collections::HashMap;

use super::json::{Member, Value};
use super::quoted;
use super::wiring::{Cabling, Endpoint, WiredLink, WiredNode, Wiring};
use pauseless_text::problem::Problem;

/// Whether `text` is meant to be a topology graph of NetQ.
pub fn looks_like(text: &str) -> bool {
    text.trim_start().starts_with('[')
        && ["\"compounded_links\"", "\"compounded_nodes\""].iter().any(|name| text.contains(name))
}

/// Reads a topology graph.
pub fn parse(text: &str) -> Result<Wiring, Problem> {
    let root = Value::whole(text, "a topology graph")?;
    let mut graph = Graph { cabling: Cabling::new(text), names: HashMap::new() };
    let parts = root.items("the file")?;
    let mut parts_read = Vec::with_capacity(parts.len());
    for part in &parts {
        parts_read.push(part.members("a graph")?);
    }
    for members in &parts_read {
        for tier in list(members, "nodes")? {
            let members = tier.members("a tier")?;
            for device in list(&members, "compounded_nodes")? {
                graph.device(&device)?;
            }
        }
    }
    for members in &parts_read {
        for bundle in list(members, "links")? {
            let members = bundle.members("a bundle of links")?;
            for link in list(&members, "compounded_links")? {
                graph.link(&link)?;
            }
        }
    }
    if parts.is_empty() {
        return Err(Problem::new(root.at(), "the file has no graph").expected("[{..}]"));
    }
    Ok(graph.cabling.finish())
}

struct Graph<'t> {
    cabling: Cabling<'t>,
    /// The name of each device, by its id.
    names: HashMap<String, String>,
}

impl Graph<'_> {
    fn device(&mut self, device: &Value) -> Result<(), Problem> {
        let members = device.members("a device")?;
        let id = require(device, &members, "id")?;
        let name = require(device, &members, "name")?;
        let kind = find(&members, "device_type");
        let kind = kind.map(|kind| kind.string("device_type")).transpose()?;
        let at = device.at();
        if self.names.insert(id.clone(), name.clone()).is_some() {
            let message = format!("two devices have the id {}", quoted(&id));
            return Err(Problem::new(at, message).expected("an id of its own"));
        }
        self.cabling.node(WiredNode { name, kind: kind.map(|kind| kind.into_owned()), at })
    }

    fn link(&mut self, link: &Value) -> Result<(), Problem> {
        let members = link.members("a link")?;
        let interfaces = list(&members, "interfaces")?;
        let [first, second] = interfaces.as_slice() else {
            let message = format!("a link with {} interfaces", interfaces.len());
            return Err(Problem::new(link.at(), message).expected("two"));
        };
        let ends = [self.end(first)?, self.end(second)?];
        self.cabling.link(WiredLink { ends, at: link.at() })
    }

    fn end(&self, end: &Value) -> Result<Endpoint, Problem> {
        let members = end.members("an interface")?;
        let id = require(end, &members, "node")?;
        let interface = require(end, &members, "interface")?;
        match self.names.get(&id) {
            Some(name) => Ok(Endpoint { node: name.clone(), interface }),
            None => {
                let message = format!("no device has the id {}", quoted(&id));
                Err(Problem::new(end.at(), message).expected("an id in \"compounded_nodes\""))
            }
        }
    }
}

fn find<'m, 't>(members: &'m [Member<'t>], name: &str) -> Option<&'m Value<'t>> {
    let member = members.iter().find(|member| member.name == name);
    member.map(|member| &member.value)
}

/// The items of a member; none if it is not there, as in a tier without devices.
fn list<'t>(members: &[Member<'t>], name: &str) -> Result<Vec<Value<'t>>, Problem> {
    match find(members, name) {
        Some(value) => value.items(&quoted(name)),
        None => Ok(Vec::new()),
    }
}

fn require(parent: &Value, members: &[Member], name: &str) -> Result<String, Problem> {
    let Some(value) = find(members, name) else {
        let message = format!("{} is missing", quoted(name));
        return Err(Problem::new(parent.at(), message).expected("a name"));
    };
    let text = value.string(name)?;
    if text.is_empty() {
        Err(Problem::new(value.at(), format!("{} is empty", quoted(name))))
    } else {
        Ok(text.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_bad, never_panics, sample};
    use super::*;

    #[test]
    fn the_graph_of_a_small_fabric() {
        let wiring = parse(&sample("topograph-netq-topologyGraph.json")).unwrap();
        assert_eq!((wiring.nodes.len(), wiring.links.len()), (11, 79));
        let switches = wiring.nodes.iter().filter(|node| node.kind.as_deref() == Some("switch"));
        assert_eq!(switches.count(), 3);
        let end = |node: &str, interface: &str| Endpoint {
            node: node.to_string(),
            interface: interface.to_string(),
        };
        let first = [end("net-unit-l2", "swp17s0"), end("dgx-05", "ens4f0np0")];
        assert_eq!(wiring.links[0].ends, first);
    }

    #[test]
    fn bad_files_are_refused_with_their_line() {
        let device = |id: &str, name: &str| {
            format!("{{\"id\": \"{id}\", \"name\": \"{name}\", \"device_type\": \"switch\"}}")
        };
        let file = |devices: &str, links: &str| {
            format!(
                "[{{\"nodes\": [{{\"compounded_nodes\": [\n{devices}\n]}}],\n\
                 \"links\": [{{\"compounded_links\": [\n{links}\n]}}]}}]"
            )
        };
        let two = format!("{},{}", device("1", "a"), device("2", "b"));
        let link = |a: &str, b: &str| {
            format!(
                "{{\"interfaces\": [{{\"node\": \"{a}\", \"interface\": \"e\"}}, \
                 {{\"node\": \"{b}\", \"interface\": \"e\"}}]}}"
            )
        };
        let same_name = format!("{},\n{}", device("1", "a"), device("2", "a"));
        let same_id = format!("{},\n{}", device("1", "a"), device("1", "b"));
        let again = format!("{},\n{}", link("1", "2"), link("2", "1"));
        check_bad(
            parse,
            &[
                ("{}", 1, "the file is an object"),
                ("[]", 1, "the file has no graph"),
                ("[3]", 1, "a graph is a number"),
                ("[{\"nodes\": {}}]", 1, "\"nodes\" is an object"),
                ("[{\"nodes\": [\n{\"id\"", 2, "the file ends in the middle"),
                (&file("{}", ""), 2, "\"id\" is missing"),
                (&file("{\"id\": 1}", ""), 2, "id is a number"),
                (&file("{\"id\": \"\"}", ""), 2, "\"id\" is empty"),
                (&file(&same_name, ""), 3, "node \"a\" is also on line 2"),
                (&file(&same_id, ""), 3, "two devices have the id \"1\""),
                (&file(&two, "{}"), 5, "a link with 0 interfaces"),
                (&file(&two, &link("1", "3")), 5, "no device has the id \"3\""),
                (&file(&two, &link("1", "1")), 5, "\"a:e\" is cabled to itself"),
                (&file(&two, &again), 6, "\"b:e\" is cabled twice, on line 5"),
            ],
        );
    }

    #[test]
    fn anything_is_parsed_or_refused() {
        never_panics(parse, "topograph-netq-topologyGraph.json");
    }
}
