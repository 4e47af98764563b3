//! Cycle-aware thresholds: ports on a cycle throttle late, ports that feed one throttle early, so
//! that traffic that enters a cycle yields to traffic already in it.
//!
//! How early, in short; `docs/cycle-aware.md` has the argument, the experiments and the limits.
//! Of a cycle, let no packet use more than s links in a row, and let m ports feed each of its
//! links from outside. Summed over the links, what passes is at most s times what enters, so on some
//! link the transit is at most rho = s - 1 times what enters there. Behind an output FIFO bytes wait in the
//! ratio of their rates, so there the transit holds at most rho m L bytes, L being what one of the
//! feeding ports holds at most. Where that is less than the threshold K of the buffers on the cycle,
//! no steady state stops all links of it. A sequence of events still can, such as a receiver that
//! stands still for a while: the document has one.

mod tune;

use std::collections::{BTreeMap, BTreeSet};

use crate::dependency::{Buffer, Crossing};
use pauseless_core::derive::Derivation;
use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::NodeId;
use pauseless_core::unit::Bytes;

pub use tune::late;
use tune::{early, least};

/// The room that is left between rho m L and K by default: L = K / (rho m MARGIN).
pub const MARGIN: f64 = 1.25;

/// What a buffer has to do with cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// It lies on one, and throttles late.
    OnCycle,
    /// It feeds some, and throttles early: at each of these it must leave room.
    Feeding(Vec<Joint>),
}

/// Where a port feeds a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joint {
    /// rho m, or `None` where packets travel in a circle.
    pub factor: Option<u64>,
    /// (n - 1) (s - 2) m, what a standstill of a receiver took in rings of n; measured, not proved.
    pub stall_factor: Option<u64>,
    /// The buffers on the cycle that share the egress.
    pub inside: Vec<Buffer>,
}

/// What of a cyclic component matters for its thresholds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// How many buffers it has.
    pub buffers: usize,
    /// s, the most links of it that a packet passes in a row; `None` for a routing loop.
    pub stretch: Option<usize>,
    /// m, the most ports that feed one of its links from outside.
    pub feeding: usize,
    /// Whether it is one simple cycle. Where several cycles share links, a port on one of them feeds another one
    /// although it throttles late, and the argument does not hold.
    pub is_simple: bool,
    /// Whether some port that feeds it lies on another cycle.
    pub is_fed_by_cycle: bool,
}

impl Component {
    /// Whether the argument for cycle-aware thresholds covers it.
    pub fn is_covered(&self) -> bool {
        self.is_simple && !self.is_fed_by_cycle && self.stretch.is_some()
    }

    /// (n - 1) (s - 2): what K / (m L) took in rings to survive a receiver that stands still while
    /// flows begin; `None` where it is no ring.
    pub fn stall_rho(&self) -> Option<u64> {
        let stretch = self.stretch.filter(|_| self.is_simple)? as u64;
        Some((self.buffers as u64 - 1) * stretch.saturating_sub(2))
    }

    /// rho, the most transit per byte that enters, on the best of its links.
    pub fn rho(&self) -> Option<u64> {
        self.stretch.map(|stretch| stretch as u64 - 1)
    }
}

/// The roles of all buffers that have one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// The role of each buffer.
    pub roles: BTreeMap<Buffer, Role>,
    /// The groups of buffers that can wait for each other in a circle.
    pub components: Vec<Component>,
    /// The switches around which packets travel in a circle.
    pub looping: BTreeSet<NodeId>,
}

impl Roles {
    /// Those that follow from the cycles of a fabric, or from all that it can have under several
    /// circumstances, such as failures: what is on a cycle once is on it in the plan.
    pub fn of(crossings: &[Crossing]) -> Roles {
        let mut roles = Roles::default();
        let junctions = crossings.iter().flat_map(|crossing| &crossing.junctions);
        let on = junctions.map(|junction| (junction.buffer, Role::OnCycle));
        roles.roles.extend(on);
        let loops = crossings.iter().filter(|crossing| crossing.stretch.is_none());
        let junctions = loops.flat_map(|crossing| &crossing.junctions);
        roles.looping.extend(junctions.map(|junction| junction.buffer.node));
        roles.feed(crossings);
        roles
    }

    fn feed(&mut self, crossings: &[Crossing]) {
        for crossing in crossings {
            let component = self.component(crossing);
            for junction in &crossing.junctions {
                let joint = Joint {
                    factor: component.rho().map(|rho| rho.max(1) * junction.entering.len() as u64),
                    stall_factor: component
                        .stall_rho()
                        .map(|rho| rho * junction.entering.len() as u64),
                    inside: junction.inside.clone(),
                };
                for buffer in &junction.entering {
                    let role = self.roles.entry(*buffer);
                    if let Role::Feeding(joints) = role.or_insert(Role::Feeding(Vec::new())) {
                        joints.push(joint.clone());
                    }
                }
            }
            self.components.push(component);
        }
    }

    fn component(&self, crossing: &Crossing) -> Component {
        let junctions = &crossing.junctions;
        let mut uses: BTreeMap<Buffer, usize> = BTreeMap::new();
        for buffer in junctions.iter().flat_map(|junction| &junction.inside) {
            *uses.entry(*buffer).or_default() += 1;
        }
        let feeding = junctions.iter().map(|junction| junction.entering.len());
        let entering = junctions.iter().flat_map(|junction| &junction.entering);
        let entering: BTreeSet<&Buffer> = entering.collect();
        Component {
            buffers: junctions.len(),
            stretch: crossing.stretch,
            feeding: feeding.max().unwrap_or(0),
            is_simple: junctions.iter().all(|junction| junction.inside.len() == 1)
                && uses.values().all(|count| *count == 1),
            is_fed_by_cycle: entering
                .iter()
                .any(|buffer| self.roles.get(buffer) == Some(&Role::OnCycle)),
        }
    }

    /// What a feeding port may hold at most, if the thresholds of those on the cycle are `late`;
    /// `None` where there is no bound that helps.
    pub fn room(
        &self,
        joints: &[Joint],
        margin: f64,
        late: impl Fn(Buffer) -> Bytes,
    ) -> Option<Bytes> {
        let rooms = joints.iter().map(|joint| {
            let factor = joint.factor?;
            let threshold = joint.inside.iter().map(|buffer| late(*buffer)).min()?;
            Some(Bytes::new((threshold.get() as f64 / (factor as f64 * margin)) as u64))
        });
        rooms.min_by_key(|room| room.unwrap_or(Bytes::ZERO)).flatten()
    }
}

/// The thresholds of one buffer, and what they come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuned {
    /// The flow control with its thresholds.
    pub control: FlowControl,
    /// What it can hold at most with `control`.
    pub most: Bytes,
}

/// The flow control of a feeding port, derived from that of an ordinary one: as early as the bound
/// wants it, but not earlier than the scheme can work on this link.
pub fn tune(control: &FlowControl, derivation: &Derivation, room: Option<Bytes>) -> Tuned {
    let least = least(control, derivation);
    let most = room.unwrap_or(Bytes::ZERO).max(least);
    let (control, most) = early(control, derivation, most);
    Tuned { control, most }
}
