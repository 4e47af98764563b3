//! Whether a cycle on one lane is one in fact, where no file says on which lanes packets travel.
//!
//! Routing engines such as DFSSSP, LASH, Nue and Torus-2QoS make tables that have a cycle on one
//! lane and break it with service levels. Their forwarding tables look like any others. Those of
//! opensm's own minhop, which uses one level, can be told: it goes through the adapters in a fixed
//! order and gives each one, at every switch, the shortest way that has the fewest adapters so far.
//! Tables in which every choice follows that rule are taken for minhop's.

use std::cmp::Reverse;
use std::collections::VecDeque;

use pauseless_core::id::{NodeId, PortId};
use pauseless_fabric::fabric::{Fabric, LaneEvidence, Origin};

/// Why it cannot be told whether a fabric with a cycle on one lane has one in fact; `None` if it has.
pub(crate) fn doubt(fabric: &Fabric) -> Option<String> {
    let LaneEvidence::Assumed { engine } = &fabric.evidence.lanes else {
        return None;
    };
    if fabric.origin != Origin::Tables {
        return None;
    }
    if let Some(engine) = engine {
        return doubt_of(engine);
    }
    let choices = Choices::of(fabric);
    if choices.are_those_of_minhop() {
        return None;
    }
    let Choices { all, followed, detours } = choices;
    Some(if detours > 0 {
        format!(
            "these are not the tables of opensm's minhop: {detours} entries lead no shortest way"
        )
    } else if all < CHOICES_MIN {
        "the switches have too few equally short ways to tell from the tables which routing engine \
         made them"
            .to_string()
    } else {
        let others = all - followed;
        format!(
            "these are not the tables of opensm's minhop, which uses one service level: {others} of \
             {all} choices among equally short ways are others"
        )
    })
}

/// The doubt that remains when the subnet manager itself names its routing engine.
fn doubt_of(engine: &str) -> Option<String> {
    let is_single = |one: &str| SINGLE_LANE.iter().any(|known| one.eq_ignore_ascii_case(known));
    let are_single = engine.split(',').all(|one| is_single(one.trim()));
    (!are_single)
        .then(|| format!("routing engine {engine} may lay packets out on several virtual lanes"))
}

/// How often tables choose among several shortest ways, and how often as minhop would.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Choices {
    all: u64,
    followed: u64,
    /// Entries that lead no shortest way.
    detours: u64,
}

impl Choices {
    fn are_those_of_minhop(self) -> bool {
        self.detours == 0 && self.all >= CHOICES_MIN && self.followed == self.all
    }

    fn of(fabric: &Fabric) -> Choices {
        let neighbours = neighbours(fabric);
        let mut choices = Choices::default();
        let mut paths = Vec::from_iter(neighbours.iter().map(|ends| vec![0u32; ends.len()]));
        // Adapters of one switch follow each other, so that its distances are needed once.
        let order = adapters_in_order(fabric);
        for of_switch in order.chunk_by(|(one, _), (other, _)| one == other) {
            let target = of_switch[0].0;
            let hops = hops_to(target, &neighbours);
            for &switch in fabric.topology.switches().iter().filter(|it| **it != target) {
                let neighbours = &neighbours[switch.index()];
                let paths = &mut paths[switch.index()];
                let Some(own) = hops[switch.index()] else { continue };
                let is_short = |at: &usize| hops[neighbours[*at].switch.index()] == Some(own - 1);
                let shortest = Vec::from_iter((0..neighbours.len()).filter(is_short));
                for &(_, adapter) in of_switch {
                    let group = fabric.routes.groups.of_host(adapter);
                    let &[taken] = fabric.routes.table.next_hops(switch, group) else { continue };
                    let taken = shortest.iter().copied().find(|at| neighbours[*at].port == taken);
                    let least = shortest.iter().copied().min_by_key(|at| paths[*at]);
                    choices.detours += u64::from(taken.is_none());
                    choices.all += u64::from(shortest.len() > 1);
                    choices.followed += u64::from(shortest.len() > 1 && taken == least);
                    if let Some(taken) = taken {
                        paths[taken] += 1;
                    }
                }
            }
        }
        choices
    }
}

/// A switch behind a port of another one.
struct Neighbour {
    /// The number of the port on its device.
    number: u32,
    port: PortId,
    switch: NodeId,
}

/// The switches next to each node, in the order of the ports to them.
fn neighbours(fabric: &Fabric) -> Vec<Vec<Neighbour>> {
    let topology = &fabric.topology;
    let mut all = Vec::from_iter(topology.nodes().iter().map(|_| Vec::new()));
    for &switch in topology.switches() {
        let ends = (0..).map(PortId).zip(topology.ports(switch));
        let ends = ends.filter(|(_, end)| !topology.is_host(end.peer)).map(|(port, end)| {
            let number = number(fabric, switch, port);
            Neighbour { number, port, switch: end.peer }
        });
        let neighbours = &mut all[switch.index()];
        neighbours.extend(ends);
        neighbours.sort_by_key(|neighbour| neighbour.number);
    }
    all
}

/// The adapters with their switches as opensm goes through them: the switches with most adapters
/// first, of equal ones by their GUIDs in the byte order of this machine, which opensm takes for a
/// number; then by port.
fn adapters_in_order(fabric: &Fabric) -> Vec<(NodeId, NodeId)> {
    let topology = &fabric.topology;
    let mut switches = Vec::new();
    for &switch in topology.switches() {
        let guid = fabric.names.device(switch).and_then(|device| device.guid).unwrap_or(0);
        let ends = (0..).map(PortId).zip(topology.ports(switch));
        let mut adapters = Vec::from_iter(
            ends.filter(|(_, end)| topology.is_host(end.peer))
                .map(|(port, end)| (number(fabric, switch, port), end.peer)),
        );
        adapters.sort_unstable();
        switches.push((Reverse(adapters.len()), guid.swap_bytes(), switch, adapters));
    }
    switches.sort_unstable();
    let switches = switches.into_iter();
    Vec::from_iter(switches.flat_map(|(_, _, switch, adapters)| {
        adapters.into_iter().map(move |(_, adapter)| (switch, adapter))
    }))
}

/// How many links it is to `target` from each node, of those that are switches.
fn hops_to(target: NodeId, neighbours: &[Vec<Neighbour>]) -> Vec<Option<u32>> {
    let mut hops = vec![None; neighbours.len()];
    hops[target.index()] = Some(0);
    let mut queue = VecDeque::from([(target, 0)]);
    while let Some((switch, count)) = queue.pop_front() {
        for neighbour in &neighbours[switch.index()] {
            let hops = &mut hops[neighbour.switch.index()];
            if hops.is_none() {
                *hops = Some(count + 1);
                queue.push_back((neighbour.switch, count + 1));
            }
        }
    }
    hops
}

/// The number of a port on its device, such as 12 of `P12`.
fn number(fabric: &Fabric, switch: NodeId, port: PortId) -> u32 {
    let label = fabric.names.port(switch, port).and_then(|label| label.strip_prefix('P'));
    label.and_then(|number| number.parse().ok()).unwrap_or(u32::from(port.0))
}

/// Fewer choices may follow minhop's rule by chance.
const CHOICES_MIN: u64 = 4;
/// The engines of opensm that use one service level for all paths, and what its configuration has
/// in place of `minhop`. Which engine made the tables of `file` is not known.
const SINGLE_LANE: [&str; 10] =
    ["minhop", "updn", "dnup", "dor", "ftree", "sssp", "(null)", "null", "no_fallback", ""];
