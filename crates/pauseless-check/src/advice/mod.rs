//! What would help against a cycle. Every proposal is tried on the fabric before it is given: are
//! all pairs routed as before, how many pairs does the busiest link carry, and is there a cycle in
//! any class. What fails is told with the number by which it fails.

mod classes;
mod layers;
mod roots;
pub mod words;

use pauseless_core::class_map::ClassMap;
use pauseless_core::id::NodeId;
use pauseless_fabric::dependency::{Checker, Lane, Network, Traffic};
use pauseless_fabric::fabric::{Fabric, Medium};
use pauseless_fabric::load::Load;
use pauseless_fabric::routing::Routes;
use pauseless_fabric::routing::layered::Layered;

use crate::Verdict;

/// What would help, and what was tried in vain.
#[derive(Clone, Debug)]
pub struct Advice {
    /// What the present routes make of the links.
    pub now: Load,
    /// The proposals: first those that help, the least intrusive one first.
    pub proposals: Vec<Proposal>,
}

impl Advice {
    /// The best proposal of a kind, whether it helps or not.
    pub fn of_kind(&self, kind: Kind) -> Option<&Proposal> {
        self.proposals.iter().find(|proposal| proposal.change.kind() == kind)
    }
}

/// The kinds of changes, which are also the words of `--fix`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Routes that never go up after down.
    UpDown,
    /// Service levels, or priorities, of their own for some end nodes.
    Class,
    /// Layered routing: each layer has a service level of its own.
    Layers,
    /// Some end nodes no longer exchange lossless packets with the others.
    LeaveOut,
}

impl Kind {
    /// The word in documents and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Kind::UpDown => "updn",
            Kind::Class => "class",
            Kind::Layers => "layers",
            Kind::LeaveOut => "leave-out",
        }
    }
}

/// A change of the fabric, and what came of trying it.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The change that was tried.
    pub change: Change,
    /// What came of it.
    pub outcome: Outcome,
    /// Whether it removes all cycles, loses no pair, and gives up no more than half of them.
    pub helps: bool,
}

/// A change of a fabric.
#[derive(Clone, Debug)]
pub enum Change {
    /// Up*/down* routing from these roots. Without roots it is what the subnet manager does when it
    /// is given none and finds none, or on Ethernet a policy by tiers.
    UpDown {
        /// The switches at the top of the order.
        roots: Vec<NodeId>,
        /// How these roots were chosen.
        choice: Choice,
    },
    /// Packets from or to these end nodes get a service level, or priority, of their own: those of
    /// the first list level 1, of the others those of the second list level 2, and so on.
    Class {
        /// The end nodes of each further level.
        lanes: Vec<Vec<NodeId>>,
    },
    /// Layered routing of our own.
    Layers(Box<Layered>),
    /// These end nodes no longer exchange lossless packets with the others.
    LeaveOut {
        /// The end nodes that are left out.
        nodes: Vec<NodeId>,
    },
}

/// How the roots of up*/down* routing were chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// opensm finds them by itself, or none.
    Detected,
    /// All switches that are farthest from the end nodes.
    Top,
    /// The best that a search found.
    Searched,
    /// On Ethernet: by the tiers of the fabric.
    Tiers,
}

impl Change {
    /// The kind of this change.
    pub fn kind(&self) -> Kind {
        match self {
            Change::UpDown { .. } => Kind::UpDown,
            Change::Class { .. } => Kind::Class,
            Change::Layers(_) => Kind::Layers,
            Change::LeaveOut { .. } => Kind::LeaveOut,
        }
    }
}

/// What came of trying a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Pairs without a route.
    pub lost: u64,
    /// Pairs that are given up on purpose: those of end nodes that are left out.
    pub given_up: u64,
    /// The largest number of pairs over one direction of a link between switches.
    pub load: f64,
    /// The classes in which there is a cycle.
    pub cyclic_classes: u8,
    /// How many classes there are.
    pub classes: u8,
}

/// Tries what would help against the cycles of `verdict`. `None` if there is none. This takes much
/// longer than a check; `tell` is told what is being tried.
pub fn advise(fabric: &Fabric, verdict: &Verdict, tell: &mut dyn FnMut(&str)) -> Option<Advice> {
    if !verdict.is_cyclic() {
        return None;
    }
    let marks = fabric.marks(&verdict.left_out);
    tell("counting the pairs on each link");
    let now = Load::of(fabric.network(), &marks);
    let trial = Trial { fabric, marks, now };
    tell("looking for roots of up*/down* routing");
    let mut proposals = roots::proposals(&trial);
    if let Some(blame) = verdict.blame.as_ref() {
        tell("trying a class of their own for the end nodes to blame");
        proposals.extend(classes::own_class(&trial, blame));
        proposals.push(classes::leave_out(&trial, blame));
    }
    if fabric.medium == Medium::InfiniBand {
        tell("trying layered routing");
        proposals.push(layers::proposal(&trial));
    }
    let kept = proposals.iter().filter(|proposal| proposal.helps && proposal.outcome.given_up == 0);
    let least = kept.map(|proposal| proposal.outcome.load).fold(trial.now.largest, f64::min);
    let rank = |proposal: &Proposal| {
        let is_dear = proposal.outcome.load > DEAR * least;
        let given_up = proposal.outcome.given_up > 0;
        (!proposal.helps, given_up, is_dear, proposal.change.kind())
    };
    proposals.sort_by_key(rank);
    Some(Advice { now: trial.now, proposals })
}

/// A fabric on which changes are tried.
struct Trial<'f> {
    fabric: &'f Fabric,
    /// By node, whether it is left out of everything.
    marks: Vec<bool>,
    now: Load,
}

impl Trial<'_> {
    /// The lanes by which packets enter the fabric, each once.
    fn lanes(&self) -> Vec<Lane> {
        match &self.fabric.traffic {
            Traffic::AllPairs(lanes) => lanes.clone(),
            Traffic::Demands(demands) => {
                let mut lanes = Vec::from_iter(demands.iter().map(|demand| demand.lane));
                lanes.sort_unstable();
                lanes.dedup();
                lanes
            }
        }
    }

    /// What these routes make of all pairs in one class.
    fn in_one_class(&self, routes: &Routes) -> Outcome {
        let traffic = Traffic::AllPairs(vec![Lane::ONLY]);
        let network = self.network(routes, &traffic);
        let load = Load::of(network, &self.marks);
        let cyclic = is_cyclic(network, &self.marks);
        Outcome {
            lost: load.lost,
            given_up: 0,
            load: load.largest,
            cyclic_classes: u8::from(cyclic),
            classes: 1,
        }
    }

    /// The fabric with other routes and traffic, its classes as they enter.
    fn network<'n>(&'n self, routes: &'n Routes, traffic: &'n Traffic) -> Network<'n> {
        Network { routes, traffic, classes: &ClassMap::Same, ..self.fabric.network() }
    }

    /// Whether a change with this outcome is worth giving.
    fn helps(&self, outcome: &Outcome) -> bool {
        let gives_up_most = outcome.given_up * 2 > self.now.pairs;
        outcome.cyclic_classes == 0 && outcome.lost <= self.now.lost && !gives_up_most
    }

    fn proposal(&self, change: Change, outcome: Outcome) -> Proposal {
        Proposal { change, helps: self.helps(&outcome), outcome }
    }
}

/// Whether buffers of `network` can wait for each other in a circle.
fn is_cyclic(network: Network<'_>, marks: &[bool]) -> bool {
    Checker::of(&network).graph(network, marks).is_cyclic()
}

/// A proposal whose busiest link is this much busier than now, or than with another proposal that
/// gives up no pair, comes after those for which that is not so.
const DEAR: f64 = 1.34;
