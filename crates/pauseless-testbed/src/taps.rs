//! A capture of everything that passes the ports of a testbed.

use std::io;
use std::path::Path;
use std::time::Instant;

use pauseless_core::id::PortId;
use pauseless_core::unit::Time;
use pauseless_dataplane::bed::{BedNode, Machine};
use pauseless_dataplane::tap::{Direction as Way, Tap};

use super::plan::NodePlan;
use crate::node::drive;
use pauseless_run::capture::Capture;
use pauseless_sim::tap::Direction;

/// Lets `nodes` write every frame to the file at `path`, which has an interface for each of their ports.
/// So a frame is there twice: as it leaves and as it comes.
pub(super) fn lay(nodes: &mut [BedNode], plans: &[NodePlan], path: &Path) -> io::Result<Capture> {
    let mut names = Vec::new();
    let mut firsts = Vec::new();
    for plan in plans {
        firsts.push(names.len() as u32);
        let common = plan.config.common();
        let ports = common.neighbours.iter();
        names.extend(ports.map(|neighbour| format!("{}:{neighbour}", common.name)));
    }
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let capture = Capture::create(path, &names, drive::epoch(Instant::now())).map_err(named)?;
    for (node, first) in nodes.iter_mut().zip(firsts) {
        let tap = Box::new(NodeCapture::new(&capture, first));
        match &mut node.machine {
            Machine::Switch(switch) => switch.set_tap(tap),
            Machine::Host(host) => host.set_tap(tap),
        }
    }
    Ok(capture)
}

/// Writes what passes one real node.
#[derive(Clone, Debug)]
pub struct NodeCapture {
    capture: Capture,
    /// The interface of its first port.
    first: u32,
}

impl NodeCapture {
    /// For a node whose ports are the interfaces of `capture` from number `first` on.
    pub fn new(capture: &Capture, first: u32) -> NodeCapture {
        NodeCapture { capture: capture.clone(), first }
    }
}

impl Tap for NodeCapture {
    fn see(&mut self, time: Time, port: PortId, way: Way, frame: &[u8]) {
        let direction = match way {
            Way::In => Direction::In,
            Way::Out => Direction::Out,
        };
        let interface = self.first + u32::from(port.0);
        self.capture.write(time, interface, direction, frame, frame.len());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pauseless_core::id::{Class, FlowId, NodeId};
    use pauseless_wire::{MacAddress, cnp::Cnp};

    use super::*;

    /// A real node's frames keep their bytes, and its ports their place among the interfaces.
    #[test]
    fn a_node_writes_what_it_sees() {
        let cnp = Cnp {
            source: MacAddress::of_port(NodeId(3), PortId(0)),
            target: MacAddress::of_answers(FlowId(5)),
            class: Class(6),
            flow: FlowId(5),
            rate_mbps: Some(400),
            is_congested: false,
        };
        let mut frame = [0; Cnp::LEN];
        cnp.emit(&mut frame);
        let place = tempfile::tempdir().expect("a place for the test");
        let path = place.path().join("node.pcapng");
        let names = ["S1:H1", "S2:H2", "S2:S1"].map(String::from);
        let capture = Capture::create(&path, &names, Duration::ZERO).expect("a new file");
        let mut node = NodeCapture::new(&capture, 1);
        node.see(Time::ZERO, PortId(1), Way::Out, &frame);
        assert_eq!(capture.finish().expect("there is room"), 1);
        let bytes = std::fs::read(&path).expect("it was written");
        let at = bytes.windows(frame.len()).position(|part| part == frame);
        let at = at.expect("the frame is in the file");
        assert_eq!(bytes[at - 20..at - 16], 2u32.to_le_bytes(), "the third interface");
    }
}
