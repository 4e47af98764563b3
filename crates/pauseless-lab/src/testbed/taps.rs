//! A capture of everything that passes the ports of a testbed.

use std::io;
use std::path::Path;
use std::time::Instant;

use pauseless_dataplane::bed::{BedNode, Machine};

use super::plan::NodePlan;
use crate::capture::{Capture, NodeCapture};
use crate::node::drive;

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
