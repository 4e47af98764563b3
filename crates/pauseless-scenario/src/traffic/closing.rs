//! `kind = "closing"`: the fewest flows that close a shortest cycle of the network's buffers.

use pauseless_core::class_map::ClassMap;
use pauseless_core::id::NodeId;
use pauseless_core::unit::Bytes;
use pauseless_fabric::dependency::{Checker, Lossy, Network, Traffic as Packets};

pub use super::super::flows::SIZES;
use super::scene::{Batch, Made, Pair, Scene};
use super::{AnyKind, Naming, TrafficKind, kind};
use pauseless_text::declare::Variant;
use pauseless_text::section;

section! {
    /// The fewest flows that close a shortest cycle of buffers, the pairs of hosts that
    /// `pauseless check` names for the network; an error where there is no cycle.
    pub struct Closing {
        /// How much each of them sends.
        size: Bytes, within SIZES, derived "without end";
        /// The beginning of their names, with a number from 1 behind it, such as `F` for `F1`.
        prefix: String, derived "their hosts are in their names";
    }
}

pub(super) static CLOSING: Variant<AnyKind> = kind::<Closing>("closing");

impl TrafficKind for Closing {
    fn flows(&self, scene: &Scene<'_>) -> Option<Batch> {
        let flows = closing(scene)?.into_iter().zip(1..).map(|((source, target), number)| {
            let name = match self.prefix.get() {
                Some(prefix) => format!("{prefix}{number}"),
                None => scene.pair_name(source, target),
            };
            Made::new(name, [source, target], self.size.copied(), scene.start)
        });
        Some(Batch::of(flows.collect()))
    }

    fn pairs(&self, scene: &Scene<'_>) -> Option<Batch> {
        let pairs = closing(scene)?;
        let size = self.size.or(Bytes::MAX);
        let count = pairs.len() as f64;
        let pairs = pairs.into_iter().map(|(source, target)| Pair::of(source, target, size));
        Some(scene.pairs(count, pairs))
    }

    fn naming(&self) -> Naming {
        if self.prefix.is_written { Naming::Own } else { Naming::Section }
    }
}

/// The pairs of hosts that `pauseless check` names when every host may send to every other;
/// `None` and a report if buffers cannot wait for each other in a circle.
fn closing(scene: &Scene<'_>) -> Option<Vec<(NodeId, NodeId)>> {
    let (topology, ways) = (scene.topology, scene.planner.ways);
    let routes = ways.routing.builder(topology, []).build();
    let rule = ways.routing.rule();
    let classes = ways.classes;
    let classes = classes.map(|classes| classes.resolve(topology, rule, scene.sink));
    let network = Network {
        topology,
        routes: &routes,
        classes: &classes.unwrap_or(ClassMap::Same),
        traffic: &Packets::AllPairs(vec![scene.traffic.terms.lane()]),
        lossy: &Lossy::nothing(),
    };
    let nobody = vec![false; topology.nodes().len()];
    let mut checker = Checker::of(&network);
    let graph = checker.graph(network, &nobody);
    let found = checker.explain(network, &graph, &nobody, 1);
    let Some(component) = found.first() else {
        let place = &scene.traffic.place;
        let problem = place.problem("there is no cycle that flows could close");
        let help = "choose other failed links or routes; `pauseless check` says which have one";
        scene.sink.push(problem.help(help));
        return None;
    };
    let flows = component.cycle.flows.iter();
    Some(flows.map(|flow| (flow.source, routes.groups.target(flow.group))).collect())
}

#[cfg(test)]
mod tests {
    use super::Bytes;
    use crate::{Overrides, Scenario};

    const TREE: &str = r#"
        duration = "1 ms"
        [topology]
        kind = "fat-tree"
        k = 4
        rate = "10 Gbps"
        delay = "1 us"
        random_failures = { share = "5 %", seed = 1, sample = 6229 }
        [routing]
        tie_break = "seeded"
        seed = 6229
        [switch]
        buffer = "312 KB"
        [flow_control]
        kind = "pfc"
        cycle_aware = true
        [[traffic]]
        kind = "closing"
    "#;

    fn read(text: &str) -> Result<Scenario, String> {
        let read = Scenario::parse("t", text, &Overrides::default());
        read.map_err(|wrong| wrong.to_string())
    }

    /// Those that `repro gfc-table1-cycles` runs, and that `pauseless check` names.
    #[test]
    fn the_flows_close_the_cycle_of_the_network() {
        let scenario = read(TREE).unwrap_or_else(|wrong| panic!("{wrong}"));
        let config = &scenario.config;
        let names = Vec::from_iter(config.flows.iter().map(|flow| flow.name.as_str()));
        let expected = ["H10->H14", "H14->H8", "H2->H4", "H6->H1"];
        assert_eq!(names, expected.map(|ends| format!("closing/{ends}")));
        assert!(config.flows.iter().all(|flow| flow.size == Bytes::MAX));
        // They are what cycle-aware thresholds are made for.
        assert!(scenario.port_groups.len() > 1, "{:?}", scenario.warnings);
        let again = read(&scenario.resolved()).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(again.resolved(), scenario.resolved());
        assert_eq!(again.config.flows, config.flows);
    }

    #[test]
    fn a_prefix_numbers_the_flows_in_the_order_of_the_cycle() {
        let text = format!("{TREE}\nprefix = \"F\"");
        let scenario = read(&text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let topology = &scenario.config.topology;
        let flows = scenario.config.flows.iter().map(|flow| {
            let [source, target] = [flow.source, flow.target].map(|it| &topology.node(it).name);
            format!("{} {source}->{target}", flow.name)
        });
        assert_eq!(Vec::from_iter(flows), ["F1 H2->H4", "F2 H14->H8", "F3 H6->H1", "F4 H10->H14"]);
        assert!(!scenario.warnings.iter().any(|it| it.to_string().contains("no flow starts")));
    }

    #[test]
    fn where_there_is_no_cycle_there_are_no_such_flows() {
        let wrong = read(&TREE.replace("5 %", "0 %")).expect_err("a healthy tree");
        assert!(wrong.contains("no cycle that flows could close"), "{wrong}");
        assert_eq!(wrong.matches("pauseless: ").count(), 1, "{wrong}");
    }
}
