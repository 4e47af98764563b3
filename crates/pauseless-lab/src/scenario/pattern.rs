//! Port names with `*`, such as `S*:H*`.

use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::topology::Topology;

use super::reader::At;
use crate::problem::Sink;

/// The ports that any of `patterns` names, each once, in order.
/// A pattern that names none is reported.
pub(crate) fn ports(
    topology: &Topology,
    patterns: &[At<String>],
    sink: &Sink,
) -> Vec<(NodeId, PortId)> {
    let mut found = Vec::new();
    let mut names: Option<Vec<(String, (NodeId, PortId))>> = None;
    for pattern in patterns {
        let text = &pattern.value;
        if !text.contains('*') {
            match topology.port_named(text) {
                Ok(port) => found.push(port),
                Err(error) => sink.push(pattern.place.problem(error.to_string())),
            }
            continue;
        }
        let names = names.get_or_insert_with(|| all_names(topology));
        let before = found.len();
        let matching = names.iter().filter(|(name, _)| matches(text, name));
        found.extend(matching.map(|(_, port)| *port));
        if found.len() == before {
            let problem = pattern.place.problem(format!("no port is called {text:?}"));
            let example = names.first().map_or("", |(name, _)| name);
            let help = format!("ports are called NODE:NEIGHBOUR, for example {example}");
            sink.push(problem.help(help));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn all_names(topology: &Topology) -> Vec<(String, (NodeId, PortId))> {
    let mut names = Vec::new();
    for node in (0..topology.nodes().len()).map(|node| NodeId(node as u32)) {
        for port in (0..topology.ports(node).len()).map(|port| PortId(port as u16)) {
            names.push((topology.port_name(node, port), (node, port)));
        }
    }
    names
}

/// Whether `name` is `pattern` with any text for each `*`.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    // Where the last `*` was, and how much of the name it has taken so far.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            star = Some((p, n));
            p += 1;
        } else if p < pattern.len() && pattern[p] == name[n] {
            p += 1;
            n += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            p = at + 1;
            n = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        let cases = [
            ("S*:H*", "S1:H1", true),
            ("S*:H*", "S1:S2", false),
            ("*", "", true),
            ("*", "A1:C2", true),
            ("*:C*", "A1:C2", true),
            ("A*1:C*", "A11:C2", true),
            ("A*1:C*", "A12:C2", false),
            ("**a*", "bba", true),
            ("a*b*c", "abcbc", true),
            ("a*b*c", "abcb", false),
            ("S1:S2", "S1:S2#2", false),
            ("S1:S2*", "S1:S2#2", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
