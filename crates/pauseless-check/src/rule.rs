//! By which rule dependencies are judged where packets may take any of several ports, in words.

use pauseless_core::table::WayId;
use pauseless_fabric::dependency::{Checker, Escape, Graph, PortChoice};
use pauseless_fabric::fabric::Fabric;
use pauseless_fabric::reroute::Reroute;
use pauseless_fabric::routing::{RouteBuilder, Routing};
use pauseless_text::quantity::counted;

use super::sweep::describe;

/// By which rule dependencies were judged where packets may take any of several ports, and what the
/// stricter one says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// When switches choose a port: the union rule or the knot rule.
    pub choice: PortChoice,
    /// How many groups of buffers can all wait for each other by the union rule, which counts every
    /// port that a packet may take.
    pub union_count: usize,
    /// Whether any switch has several ports for any packets.
    pub has_choices: bool,
    /// The class to which blocked packets may change, if there is one.
    pub escape: Option<EscapeClass>,
}

/// A class of its own to which packets may change at every switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EscapeClass {
    /// The rule by which it is routed.
    pub routing: Routing,
    /// Whether every packet gets out by it.
    pub outcome: Escape,
}

impl Rule {
    /// The rule for `fabric`, where `union` has all dependencies.
    pub(crate) fn new(fabric: &Fabric, checker: &mut Checker, union: &Graph) -> Rule {
        let escape = fabric.evidence.escape.map(|routing| {
            let routes = RouteBuilder::new(&fabric.topology, routing).build();
            EscapeClass { routing, outcome: checker.escape(fabric.network(), &routes) }
        });
        Rule {
            choice: fabric.evidence.choice,
            union_count: union.components().len(),
            has_choices: has_choices(fabric),
            escape,
        }
    }

    /// Whether every packet gets out by an escape class. Packets that are committed to an egress do
    /// not, for they can no longer change.
    pub fn escapes(&self) -> bool {
        let holds = self.escape.as_ref().is_some_and(|it| it.outcome == Escape::Holds);
        holds && self.choice == PortChoice::AtHead
    }

    /// Whether it is the rule, and nothing else, that makes a fabric with cycles free of deadlocks.
    pub(crate) fn dissolves(&self, component_count: usize) -> bool {
        self.union_count > 0 && component_count == 0
    }

    /// The rule and the reason for it; `None` where it makes no difference.
    pub(crate) fn sentence(&self, component_count: usize) -> Option<String> {
        if self.union_count == 0 || !self.has_choices && self.escape.is_none() {
            return None;
        }
        let groups = counted(self.union_count, "group");
        Some(match self.choice {
            PortChoice::WhenQueued => "Union rule: packets that may take any of several ports \
                are taken to be committed to one when they are queued, as in switches with a \
                shared memory, so a cycle of all these ports counts. For switches that choose anew \
                at the head of an input queue: --choose at-head."
                .to_string(),
            PortChoice::AtHead if self.escapes() => format!(
                "Ports are chosen anew at the head of input queues (--choose at-head), and a packet \
                 may change to an escape class there. {groups} of buffers can wait for each other in \
                 a circle, but none for ever.",
            ),
            PortChoice::AtHead if component_count == 0 => format!(
                "Knot rule: ports are chosen anew at the head of input queues (--choose at-head), so \
                 a packet waits for any of its ports. {groups} of buffers can wait for each other in \
                 a circle, but all of these dissolve. They do not where a hash chooses the port (ECMP, \
                 HBF), or where packets are committed to one when they are queued.",
            ),
            PortChoice::AtHead => format!(
                "Knot rule: ports are chosen anew at the head of input queues (--choose at-head), so \
                 only buffers count in which packets can lie whose ports all lead to others of them. \
                 By the union rule there {} of buffers.",
                match self.union_count {
                    1 => "is 1 group".to_string(),
                    count => format!("are {count} groups"),
                }
            ),
        })
    }
}

impl EscapeClass {
    /// What came of it in a sentence.
    pub(crate) fn sentence(&self, fabric: &Fabric, choice: PortChoice) -> String {
        let rule = describe(Reroute::Rule(self.routing));
        let outcome = match &self.outcome {
            Escape::Holds if choice == PortChoice::WhenQueued => {
                "it would hold, but packets that are committed to an egress can no longer change to \
                 it; it counts with --choose at-head only"
                    .to_string()
            }
            Escape::Holds => {
                "it has no cycle and a way for every packet from every switch, so whatever waits \
                 gets out by it (Duato 1993)"
                    .to_string()
            }
            Escape::Cyclic(buffers) => {
                format!("it is none, for {buffers} of its own buffers lie in cycles")
            }
            Escape::Unconnected(places) => {
                let name = |node| fabric.topology.node(node).name.clone();
                let place = places.first().map(|(switch, target)| {
                    format!(" such as from {} to {}", name(*switch), name(*target))
                });
                format!("it is none, for it lacks ways{}", place.unwrap_or_default())
            }
        };
        format!("Escape class, routed by {rule}: {outcome}.")
    }
}

/// Whether the tables leave any switch several ports for any packets.
fn has_choices(fabric: &Fabric) -> bool {
    let table = &fabric.routes.table;
    let ways = || (0..table.way_count() as u32).map(WayId);
    let switches = fabric.topology.switches().iter();
    let mut pairs = switches.flat_map(|switch| ways().map(move |way| (*switch, way)));
    pairs.any(|(switch, way)| table.next_hops_of_way(switch, way).len() > 1)
}
