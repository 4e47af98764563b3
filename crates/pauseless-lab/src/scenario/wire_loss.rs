//! `[[wire_loss]]`: ports whose wires lose frames by themselves.

use pauseless_fabric::topology::Topology;
use pauseless_sim::config::WireLoss;

use super::congestion::number;
use super::file::File;
use super::pattern;
use super::reader::{At, Section};
use crate::problem::Sink;

/// What arrives at some ports, as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    ports: Vec<At<String>>,
    share: f64,
}

impl Written {
    pub(crate) fn read_all(root: &mut Section<'_>) -> Vec<Written> {
        let sections = root.tables("wire_loss").into_iter();
        let written = sections.filter_map(|mut section| {
            let ports = section.strings("ports");
            if ports.is_none() && !section.has("ports") {
                section.missing("ports", "[\"S1:H1\"]");
            }
            let is_written = section.has("share");
            let share = number(&mut section, "share", 0.0..=0.5);
            if !is_written {
                section.missing("share", "0.001");
            }
            section.finish();
            Some(Written {
                ports: ports?.value,
                share: share?.value,
            })
        });
        written.collect()
    }
}

/// As the simulator wants it: `share` everywhere else.
pub(crate) fn resolve(
    share: f64,
    written: &[Written],
    (topology, sink): (&Topology, &Sink),
) -> WireLoss {
    let each = written.iter().flat_map(|written| {
        let ports = pattern::ports(topology, &written.ports, sink);
        let share = written.share;
        ports
            .into_iter()
            .map(move |(node, port)| (node, port, share))
    });
    WireLoss {
        share,
        ports: each.collect(),
    }
}

/// Writes what differs from the rest.
pub(crate) fn write(file: &mut File, topology: &Topology, wire_loss: &WireLoss) {
    for (node, port, share) in &wire_loss.ports {
        file.section("[[wire_loss]]");
        file.texts("ports", [topology.port_name(*node, *port)]);
        file.number("share", *share);
    }
}
