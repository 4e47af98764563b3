//! Batfish's layer-1 topology: a set of edges between interfaces.
//!
//! Tools write each cable once or, as Batfish's own examples do, once from either end; in the
//! result it is there once.

use std::ops::Range;

use super::json::Value;
use super::quoted;
use super::wiring::{Cabling, Endpoint, WiredLink, WiredNode, Wiring};
use pauseless_text::problem::Problem;

/// Whether `text` is meant to be a layer-1 topology.
pub fn looks_like(text: &str) -> bool {
    let inside = text.trim_start().strip_prefix('{');
    inside.is_some_and(|inside| inside.trim_start().starts_with("\"edges\""))
}

/// Reads a layer-1 topology.
pub fn parse(text: &str) -> Result<Wiring, Problem> {
    let root = Value::whole(text, "a layer-1 topology")?;
    let mut edges = None;
    for member in root.members("the file")? {
        if member.name != "edges" {
            let message = format!("unknown key {}", quoted(&member.name));
            return Err(Problem::new(member.name_at, message).expected("\"edges\""));
        }
        edges = Some(member.value);
    }
    let Some(edges) = edges else {
        let problem = Problem::new(root.at(), "the file has no \"edges\"");
        return Err(problem.expected("{\"edges\": [..]}"));
    };
    let mut cabling = Cabling::new(text);
    for edge in edges.items("\"edges\"")? {
        let ends = read_edge(&edge, &mut cabling)?;
        cabling.link_again(WiredLink { ends, at: edge.at() })?;
    }
    Ok(cabling.finish())
}

fn read_edge(edge: &Value, cabling: &mut Cabling) -> Result<[Endpoint; 2], Problem> {
    let (mut first, mut second) = (None, None);
    for member in edge.members("an edge")? {
        let end = match member.name.as_ref() {
            "node1" => &mut first,
            "node2" => &mut second,
            name => return Err(unknown(name, member.name_at, "\"node1\" and \"node2\"")),
        };
        *end = Some((read_end(&member.value)?, member.value.at()));
    }
    let ends = first.zip(second).map(|(first, second)| [first, second]).ok_or_else(|| {
        Problem::new(edge.at(), "an edge with one end").expected("node1 and node2")
    })?;
    Ok(ends.map(|(end, at)| {
        cabling.mention(WiredNode { name: end.node.clone(), kind: None, at });
        end
    }))
}

fn read_end(end: &Value) -> Result<Endpoint, Problem> {
    let expected = "\"hostname\" and \"interfaceName\"";
    let (mut node, mut interface) = (None, None);
    for member in end.members("an end of an edge")? {
        let name = member.name.as_ref();
        let place = match name {
            "hostname" => &mut node,
            "interfaceName" => &mut interface,
            name => return Err(unknown(name, member.name_at, expected)),
        };
        let text = member.value.string(name)?;
        if text.is_empty() {
            let message = format!("{} is empty", quoted(name));
            return Err(Problem::new(member.value.at(), message).expected("a name"));
        }
        *place = Some(text.into_owned());
    }
    match (node, interface) {
        (Some(node), Some(interface)) => Ok(Endpoint { node, interface }),
        _ => {
            let problem = Problem::new(end.at(), "an end without its node or interface");
            Err(problem.expected(expected))
        }
    }
}

fn unknown(name: &str, at: Range<usize>, expected: &str) -> Problem {
    Problem::new(at, format!("unknown key {}", quoted(name))).expected(expected)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check_bad, never_panics, sample};
    use super::*;

    #[test]
    fn the_example_network_of_batfish() {
        let text = sample("batfish-example_layer1_topology.json");
        let wiring = parse(&text).unwrap();
        // 40 edges, each cable from both ends.
        assert_eq!((wiring.nodes.len(), wiring.links.len()), (15, 20));
        let end = |node: &str, interface: &str| Endpoint {
            node: node.to_string(),
            interface: interface.to_string(),
        };
        let first =
            [end("as1border1", "GigabitEthernet0/0"), end("as1core1", "GigabitEthernet1/0")];
        assert_eq!(wiring.links[0].ends, first);
        assert!(text[wiring.links[0].at.clone()].starts_with("{\n      \"node1\""));
    }

    #[test]
    fn bad_files_are_refused_with_their_line() {
        let end = |name: &str| format!("{{\"hostname\": \"{name}\", \"interfaceName\": \"e\"}}");
        let edge = |a: &str, b: &str| format!("{{\"node1\": {}, \"node2\": {}}}", end(a), end(b));
        let edges = |edges: &str| format!("{{\n\"edges\": [\n{edges}]}}");
        let twice = format!("{},\n{}", edge("a", "b"), edge("c", "b"));
        check_bad(
            parse,
            &[
                ("", 1, "the file is empty"),
                ("\n\n", 1, "the file is empty"),
                ("[]", 1, "the file is an array"),
                ("{}", 1, "the file has no \"edges\""),
                ("{\"edges\": 1}", 1, "\"edges\" is a number"),
                ("{\"edges\": [],\n \"x\": 1}", 2, "unknown key \"x\""),
                ("{\"edges\": [],\n\"edges\": []}", 2, "\"edges\" is twice in"),
                ("{\"edges\": [\n{\"node1\"", 2, "the file ends in the middle"),
                ("{\"edges\": [\n\n1 2]}", 3, "not JSON: expected `,` or `]`"),
                ("{\"edges\": []} x", 1, "not JSON: trailing characters"),
                (&edges("null"), 3, "an edge is null"),
                (&edges("{\"node1\": 3}"), 3, "an end of an edge is a number"),
                (&edges("{\"node3\": {}}"), 3, "unknown key \"node3\""),
                (&edges(&format!("{{\"node1\": {}}}", end("a"))), 3, "an edge with one end"),
                (&edges("{\"node1\": {}}"), 3, "an end without its node"),
                (&edges("{\"node1\": {\"hostname\": true}}"), 3, "hostname is a truth value"),
                (&edges("{\"node1\": {\"hostname\": \"\"}}"), 3, "\"hostname\" is empty"),
                (&edges("{\"node1\": {\"hostname\": \"\\ud800\"}}"), 3, "not JSON: "),
                (&edges(&edge("a", "a")), 3, "\"a:e\" is cabled to itself"),
                (&edges(&twice), 4, "\"b:e\" is cabled twice, on line 3 to \"a:e\""),
            ],
        );
        let deep = format!("{{\"edges\": {}", "[".repeat(1_000_000));
        check_bad(parse, &[(&deep, 1, "the file ends in the middle")]);
        let deep = format!("{{\"edges\": {}{}}}", "[".repeat(1 << 20), "]".repeat(1 << 20));
        check_bad(parse, &[(&deep, 1, "an edge is an array")]);
    }

    #[test]
    fn anything_is_parsed_or_refused() {
        never_panics(parse, "batfish-example_layer1_topology.json");
    }
}
