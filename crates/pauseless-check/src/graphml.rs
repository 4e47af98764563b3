//! GraphML, which other tools for graphs read.

use std::fmt::Write;

use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::topology::NodeKind;

use pauseless_fabric::fabric::Fabric;

/// The nodes and links of a fabric as an undirected graph. Rates are in bits per second, delays
/// in picoseconds, and `source_port` is the port at the node that is named first.
pub fn write(fabric: &Fabric) -> String {
    let topology = &fabric.topology;
    let mut text = String::from(HEAD);
    for (id, of, kind) in KEYS {
        let name = id.split_once('.').map_or(id, |(_, name)| name);
        line(
            &mut text,
            format_args!(
                "  <key id=\"{id}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>"
            ),
        );
    }
    line(&mut text, "  <graph edgedefault=\"undirected\">");
    for (number, node) in topology.nodes().iter().enumerate() {
        let kind = match node.kind {
            NodeKind::Switch => "switch",
            NodeKind::Host => "host",
        };
        line(&mut text, format_args!("    <node id=\"{}\">", escape(&node.name)));
        data(&mut text, "node.kind", kind);
        data(&mut text, "node.layer", &node.layer.to_string());
        if let Some(device) = fabric.names.device(NodeId(number as u32)) {
            if !device.description.is_empty() {
                data(&mut text, "node.description", &device.description);
            }
            if let Some(guid) = device.guid {
                data(&mut text, "node.guid", &format!("{guid:#018x}"));
            }
        }
        line(&mut text, "    </node>");
    }
    write_edges(&mut text, fabric);
    text.push_str("  </graph>\n</graphml>\n");
    text
}

fn write_edges(text: &mut String, fabric: &Fabric) {
    let topology = &fabric.topology;
    let mut next = vec![0; topology.nodes().len()];
    for (number, link) in topology.links().iter().enumerate() {
        let [source, target] = [link.a, link.b].map(|end| escape(&topology.node(end).name));
        let edge = format!("    <edge id=\"e{number}\" source=\"{source}\" target=\"{target}\">");
        line(text, edge);
        data(text, "edge.rate", &link.rate.as_bps().to_string());
        data(text, "edge.delay", &link.delay.as_ps().to_string());
        for (end, key) in [(link.a, "edge.source_port"), (link.b, "edge.target_port")] {
            let port = PortId(next[end.index()]);
            next[end.index()] += 1;
            if let Some(name) = fabric.names.port(end, port) {
                data(text, key, name);
            }
        }
        line(text, "    </edge>");
    }
}

fn data(text: &mut String, key: &str, value: &str) {
    let value = escape(value);
    line(text, format_args!("      <data key=\"{key}\">{value}</data>"));
}

fn line(text: &mut String, line: impl std::fmt::Display) {
    writeln!(text, "{line}").expect("writing to a String never fails");
}

/// Text of XML 1.0, which has no place for most control characters, not even escaped.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                write!(escaped, "&#{};", u32::from(c)).expect("writing to a String never fails");
            }
            c if c < ' ' || ['\u{fffe}', '\u{ffff}'].contains(&c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
    <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n";
/// What is known of nodes and edges: key, what it is of, and its type.
const KEYS: [(&str, &str, &str); 8] = [
    ("node.kind", "node", "string"),
    ("node.layer", "node", "int"),
    ("node.description", "node", "string"),
    ("node.guid", "node", "string"),
    ("edge.rate", "edge", "long"),
    ("edge.delay", "edge", "long"),
    ("edge.source_port", "edge", "string"),
    ("edge.target_port", "edge", "string"),
];
