//! The topology files of containerlab.
//!
//! Read are the nodes with their kinds and the links between them, in the brief form
//! (`endpoints: ["leaf1:e1-1", "spine1:e1-1"]`) and the extended one (`type: veth` with a node and
//! an interface per endpoint).
//! Links that end outside the lab are no cables of the fabric and come back as skipped.

use std::ops::Range;

use super::quoted;
use super::wiring::{Cabling, Endpoint, WiredLink, WiredNode, Wiring};
use super::yaml::{Document, Value};
use pauseless_text::problem::Problem;

/// Whether `text` is meant to be a containerlab topology.
pub fn looks_like(text: &str) -> bool {
    let text = super::after_mark(text);
    if text.trim_start().starts_with('{') {
        return text.contains("\"topology\"") && text.contains("\"nodes\"");
    }
    text.lines().any(|line| line.trim_end() == "topology:" || line.starts_with("topology: "))
}

/// Reads a containerlab topology.
pub fn parse(text: &str) -> Result<Wiring, Problem> {
    let document = Document::parse(text, "a containerlab topology")?;
    let root = document.root();
    let topology = require(&root, "topology", "the file")?;
    let mut cabling = Cabling::new(text);
    let nodes = require(&topology, "nodes", "topology")?;
    let inherited = Inherited {
        defaults: topology.get("defaults", "topology")?,
        groups: topology.get("groups", "topology")?,
    };
    for (name, node) in nodes.entries("topology.nodes")? {
        let kind = inherited.kind(&node)?;
        let at = name.at();
        let name = name.string("the name of a node")?.to_string();
        if name.contains(':') || name.is_empty() {
            let message = format!("{} cannot be the name of a node", quoted(&name));
            return Err(Problem::new(at, message).expected("a name without a colon"));
        }
        cabling.node(WiredNode { name, kind, at })?;
    }
    let Some(links) = topology.get("links", "topology")? else {
        return Ok(cabling.finish());
    };
    if !links.is_null() {
        for link in links.items("topology.links")? {
            read_link(&mut cabling, &link)?;
        }
    }
    Ok(cabling.finish())
}

/// Where a node's kind comes from when it does not say it itself.
struct Inherited<'d> {
    defaults: Option<Value<'d>>,
    groups: Option<Value<'d>>,
}

impl Inherited<'_> {
    /// The node's own kind, else that of its group, else the default: containerlab's order.
    fn kind(&self, node: &Value) -> Result<Option<String>, Problem> {
        if !node.is_null() {
            if let Some(kind) = node.get("kind", "a node")? {
                return Ok(Some(kind.string("the kind")?.to_string()));
            }
            if let Some(group) = node.get("group", "a node")? {
                let name = group.string("the group")?;
                // A group may also be nothing but a label for drawings.
                if let Some(kind) = kind_in(self.entry_of_group(name)?)? {
                    return Ok(Some(kind));
                }
            }
        }
        kind_in(self.defaults)
    }

    fn entry_of_group(&self, name: &str) -> Result<Option<Value<'_>>, Problem> {
        match self.groups {
            Some(groups) if !groups.is_null() => groups.get(name, "topology.groups"),
            _ => Ok(None),
        }
    }
}

fn kind_in(settings: Option<Value>) -> Result<Option<String>, Problem> {
    let Some(settings) = settings.filter(|settings| !settings.is_null()) else {
        return Ok(None);
    };
    match settings.get("kind", "a group of settings")? {
        Some(kind) => Ok(Some(kind.string("the kind")?.to_string())),
        None => Ok(None),
    }
}

fn require<'d>(parent: &Value<'d>, key: &str, what: &str) -> Result<Value<'d>, Problem> {
    parent.get(key, what)?.ok_or_else(|| {
        let message = format!("{what} has no {}", quoted(key));
        Problem::new(parent.at(), message).expected("topology: {nodes: .., links: ..}")
    })
}

fn read_link(cabling: &mut Cabling, link: &Value) -> Result<(), Problem> {
    let at = link.at();
    if let Some(kind) = link.get("type", "a link")? {
        let name = kind.string("the type of a link")?;
        if OUTSIDE.contains(&name) {
            cabling.skip(format!("a link of type {name}"), at);
            return Ok(());
        }
        if name != "veth" {
            let message = format!("unknown type of link {}", quoted(name));
            let expected = format!("veth, {}", OUTSIDE.join(", "));
            return Err(Problem::new(kind.at(), message).expected(expected));
        }
    }
    let endpoints = require_endpoints(link)?;
    let [first, second] = endpoints.as_slice() else {
        let message = format!("a link with {} endpoints", endpoints.len());
        return Err(Problem::new(at, message).expected("two"));
    };
    let ends = [read_endpoint(first)?, read_endpoint(second)?];
    let outside = ends.iter().zip([first, second]).find(|(end, _)| !cabling.knows(&end.node));
    if let Some((end, value)) = outside {
        if !OUTSIDE.contains(&end.node.as_str()) {
            let message = format!("node {} is not in topology.nodes", quoted(&end.node));
            let problem = Problem::new(value.at(), message).expected("one of the nodes");
            return Err(problem.help("add the node, or correct its name"));
        }
        cabling.skip(format!("a link to {}", end.node), at);
        return Ok(());
    }
    // An item of a list has no brackets of its own: its endpoints show it best.
    let at = first.at().start..second.at().end.max(first.at().end);
    cabling.link(WiredLink { ends, at })
}

fn require_endpoints<'d>(link: &Value<'d>) -> Result<Vec<Value<'d>>, Problem> {
    match link.get("endpoints", "a link")? {
        Some(endpoints) => endpoints.items("endpoints"),
        None => {
            let problem = Problem::new(link.at(), "a link without endpoints");
            Err(problem.expected("endpoints: [\"node:interface\", \"node:interface\"]"))
        }
    }
}

fn read_endpoint(value: &Value) -> Result<Endpoint, Problem> {
    let at = value.at();
    let (node, interface) = if value.is_mapping() {
        let part = |key: &str| match value.get(key, "an endpoint")? {
            Some(part) => part.string(key),
            None => {
                let message = format!("an endpoint without {}", quoted(key));
                Err(Problem::new(at.clone(), message).expected("node: .. and interface: .."))
            }
        };
        (part("node")?, part("interface")?)
    } else {
        let text = value.string("an endpoint")?;
        match text.split_once(':') {
            Some(parts) => parts,
            None => return Err(bad_endpoint(text, at)),
        }
    };
    if node.is_empty() || interface.is_empty() || interface.contains(':') {
        return Err(bad_endpoint(&format!("{node}:{interface}"), at));
    }
    Ok(Endpoint { node: node.to_string(), interface: interface.to_string() })
}

fn bad_endpoint(text: &str, at: Range<usize>) -> Problem {
    Problem::new(at, format!("{} is not an endpoint", quoted(text))).expected("\"node:interface\"")
}

/// Types of link in the extended form, and names of nodes in the brief form, that end outside.
const OUTSIDE: [&str; 6] = ["host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "dummy"];

#[cfg(test)]
mod tests {
    use super::super::testing::{check_bad, check_rows, never_panics, sample};
    use super::*;
    use std::fmt::Write;

    fn ends(wiring: &Wiring) -> Vec<String> {
        let show = |end: &Endpoint| format!("{}:{}", end.node, end.interface);
        let links = wiring.links.iter();
        links.map(|link| format!("{} {}", show(&link.ends[0]), show(&link.ends[1]))).collect()
    }

    #[test]
    fn the_five_stage_clos_of_containerlab() {
        let text = sample("clos02.clab.yml");
        let wiring = parse(&text).unwrap();
        assert_eq!(wiring.nodes.len(), 14);
        assert_eq!(wiring.links.len(), 16);
        assert!(wiring.skipped.is_empty());
        let of_kind = |kind: &str| {
            let kinds = wiring.nodes.iter().filter_map(|node| node.kind.as_deref());
            kinds.filter(|k| *k == kind).count()
        };
        assert_eq!(of_kind("nokia_srlinux"), 10);
        assert_eq!(of_kind("linux"), 4);
        assert_eq!(ends(&wiring)[0], "leaf1:e1-1 spine1:e1-1");
        assert_eq!(ends(&wiring)[15], "client4:eth1 leaf4:e1-3");
        let first = &wiring.links[0];
        let shown = "\"leaf1:e1-1\", \"spine1:e1-1\"";
        assert_eq!(&text[first.at.clone()], shown);
        assert_eq!(pauseless_text::lex::line_number(&text, first.at.start), 51);
    }

    #[test]
    fn both_forms_of_links_and_all_ways_to_a_kind() {
        let text = "\
name: é
topology:
  defaults: {kind: linux}
  groups:
    leafs: {kind: ceos}
    drawn: {}
  nodes:
    a: &a {kind: sonic-vs}
    b: {group: leafs}
    c: {group: drawn}
    d:
    e: {<<: *a, image: x}
  links:
    - endpoints: [a:eth1, b:eth1]
    - type: veth
      endpoints:
        - {node: c, interface: eth1}
        - node: d
          interface: eth1
          mac: 02:00:00:00:00:01
    - endpoints: [e:eth9, host:ens1]
    - {type: macvlan, endpoint: {node: a, interface: eth2}, host-interface: eno0}
";
        let wiring = parse(text).unwrap();
        let kinds: Vec<_> = wiring.nodes.iter().map(|n| n.kind.as_deref()).collect();
        let expected = ["sonic-vs", "ceos", "linux", "linux", "sonic-vs"].map(Some);
        assert_eq!(kinds, expected);
        assert_eq!(ends(&wiring), ["a:eth1 b:eth1", "c:eth1 d:eth1"]);
        let skipped: Vec<_> = wiring.skipped.iter().map(|s| s.what.as_str()).collect();
        assert_eq!(skipped, ["a link to host", "a link of type macvlan"]);
        assert_eq!(&text[wiring.nodes[0].at.clone()], "a");
    }

    #[test]
    fn bad_files_are_refused_with_their_line() {
        let whole = r#"
            x => the file is a single value
            [] => the file is a list
            {a: b} => the file has no "topology"
            topology: {} => topology has no "nodes"
            topology: {nodes: []} => topology.nodes is a list
            topology: {nodes: } => topology.nodes is empty
            topology: {nodes: {a: 1}} => a node is a single value
            topology: {nodes: {a: {kind: []}}} => the kind is a list
            topology: {nodes: {"a:b": {}}} => "a:b" cannot be the name of a node
            topology: {nodes: {[a]: {}}} => the name of a node is a list
            topology: {nodes: {a: {}} => not YAML
            a: b: c => not YAML: mapping values are not allowed
            a: *b => not YAML: while parsing node, found unknown anchor
            {a: 1, b: 2, a: 3} => "a" is twice in the same mapping
        "#;
        check_rows(parse, |text| format!("# x\n{text}"), 2, whole);
        check_bad(
            parse,
            &[
                ("", 1, "the file is empty"),
                ("# nothing\n", 1, "the file is empty"),
                ("a: 1\n---\nb: 2\n", 2, "a second document"),
            ],
        );
    }

    #[test]
    fn bad_links_are_refused_with_their_line() {
        let start = "topology:\n  nodes: {a: {}, b: {}, c: {}}\n  links:\n";
        let file = |links: &str| format!("{start}    {links}");
        let rows = r#"
            x: 1 => topology.links is a mapping
            - x => a link is a single value
            - {} => a link without endpoints
            - endpoints: x => endpoints is a single value
            - endpoints: [a:e1] => a link with 1 endpoints
            - endpoints: [a:e1, b:e1, c:e1] => a link with 3 endpoints
            - endpoints: [a:e1, b] => "b" is not an endpoint
            - endpoints: [a:e1, "b:"] => "b:" is not an endpoint
            - endpoints: [a:e1, b:c:d] => "b:c:d" is not an endpoint
            - endpoints: [a:e1, []] => an endpoint is a list
            - endpoints: [a:e1, {node: b}] => an endpoint without "interface"
            - endpoints: [a:e1, z:e1] => node "z" is not in topology.nodes
            - endpoints: [a:e1, a:e1] => "a:e1" is cabled to itself
            - {type: rope, endpoints: [a:e1, b:e1]} => unknown type of link "rope"
        "#;
        check_rows(parse, file, 4, rows);
        let first = format!("{start}    - endpoints: [a:e1, b:e1]\n");
        let rows = r#"
            - endpoints: [c:e1, b:e1] => "b:e1" is cabled twice, on line 4 to "a:e1"
            - endpoints: [b:e1, a:e1] => "b:e1" is cabled twice
            - {type: veth, endpoints: [{node: a, interface: e1}, c:e1]} => "a:e1" is cabled twice
        "#;
        check_rows(parse, |link| format!("{first}    {link}"), 5, rows);
    }

    #[test]
    fn bombs_do_not_go_off() {
        let flow = format!("topology: {}", "[".repeat(500_000));
        check_bad(parse, &[(&flow, 1, "not YAML: recursion limit exceeded")]);
        let block = format!("topology:\n  {}", "- ".repeat(500_000));
        check_bad(parse, &[(&block, 2, "nested more than 64 levels deep")]);
        let huge = "#".repeat(9 << 20);
        check_bad(parse, &[(&huge, 1, "larger than 8 MiB, the limit for")]);

        let mut laughs = "a0: &a0 [x, x]\n".to_string();
        for level in 1..60 {
            let below = level - 1;
            let _ = writeln!(laughs, "a{level}: &a{level} [*a{below}, *a{below}]");
        }
        laughs.push_str("topology: {nodes: *a59}\n");
        check_bad(parse, &[(&laughs, 61, "topology.nodes is a list")]);

        let cycle = "topology: &t\n  nodes: *t\n";
        assert_eq!(parse(cycle).unwrap().nodes[0].name, "nodes");

        let mut quadratic = "big: &big\n".to_string();
        (0..20_000).for_each(|n| quadratic.push_str(&format!("  k{n}: x\n")));
        quadratic.push_str("topology:\n  nodes:\n");
        (0..20_000).for_each(|n| quadratic.push_str(&format!("    n{n}: *big\n")));
        let problem = parse(&quadratic).unwrap_err();
        assert!(problem.message.starts_with("aliases make this file larger"));
    }

    #[test]
    fn anything_is_parsed_or_refused() {
        never_panics(parse, "clos02.clab.yml");
    }
}
