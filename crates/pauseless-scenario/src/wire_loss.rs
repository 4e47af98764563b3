//! `[[wire_loss]]`: ports whose wires lose frames by themselves.

use pauseless_fabric::topology::Topology;
use pauseless_sim::config::WireLoss;

use super::pattern;
use pauseless_text::declare::{Declared, Key, List, list};
use pauseless_text::file::File;
use pauseless_text::problem::Sink;
use pauseless_text::reader::Section;
use pauseless_text::section;

/// The name of the section.
pub(crate) const SECTION: &str = "wire_loss";

section! {
    /// Wires with a loss of their own.
    pub struct LossyPorts {
        /// Port names with `*`, such as `["S1:H1", "S2:*"]`.
        ports: List<String>, within "a list of strings", required "[\"S1:H1\"]";
        /// The share of what arrives there that is lost, instead of `timing.wire_loss`.
        share: f64, within 0.0..=0.5, required "0.001";
    }
}

impl LossyPorts {
    pub(crate) fn read_all(root: &mut Section<'_>) -> Vec<LossyPorts> {
        let read = root.tables(SECTION).map(|mut section| {
            let keys = LossyPorts::read(&mut section);
            section.finish();
            keys
        });
        read.collect()
    }
}

/// As the simulator wants it: `share` everywhere else.
pub(crate) fn resolve(
    share: f64,
    written: &[LossyPorts],
    topology: &Topology,
    sink: &Sink,
) -> WireLoss {
    let mut each = Vec::new();
    for keys in written {
        if let (Some(ports), Some(share)) = (keys.ports.get(), keys.share.copied()) {
            let ports = pattern::ports(topology, ports, sink).into_iter();
            each.extend(ports.map(|(node, port)| (node, port, share)));
        }
    }
    WireLoss { share, ports: each }
}

/// Writes what differs from the rest.
pub(crate) fn write(file: &mut File, topology: &Topology, wire_loss: &WireLoss) {
    for (node, port, share) in &wire_loss.ports {
        let keys = LossyPorts {
            ports: Key::of(list([topology.port_name(*node, *port)])),
            share: Key::of(*share),
            ..LossyPorts::default()
        };
        file.one_of(SECTION, &keys);
    }
}
