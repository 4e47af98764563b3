//! Cycles that were found, simulated.

use std::num::NonZero;
use std::ops::ControlFlow;

use pauseless_check::check;
use pauseless_check::confirm::{
    Confirmation, ConfirmationRecord, FlowSet, Options, Simulated, confirm, text,
};
use pauseless_core::class_map::{ClassMap, ClassTable, Key, Passage};
use pauseless_core::id::{NodeId, PortId};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Rate, Span, Time};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::dependency::{Component, Demand, Lane, Lossy, Traffic};
use pauseless_fabric::fabric::{Evidence, Fabric, Medium, Names, Origin};
use pauseless_fabric::generate::{FatTree, LinkSpecs, Ring, Shape};
use pauseless_fabric::path::Step;
use pauseless_fabric::routing::{Multipath, RouteBuilder, Routes, Routing, port_counts};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_run::Run;
use pauseless_scenario::{Overrides, Scenario};

const SPEC: LinkSpec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
const LINKS: LinkSpecs = LinkSpecs::same(SPEC);

/// An Ethernet fabric of one class.
fn fabric(topology: Topology, routes: Routes, traffic: Traffic) -> Fabric {
    Fabric {
        name: "test".to_string(),
        medium: Medium::Ethernet,
        topology,
        names: Names::default(),
        routes,
        origin: Origin::Rule(Routing::from(Multipath::Ecmp)),
        classes: ClassMap::Same,
        traffic,
        lossy: Lossy::nothing(),
        notes: Vec::new(),
        evidence: Evidence::default(),
    }
}

fn ring(switches: u32, medium: Medium) -> Fabric {
    let shape = Ring { switches, hosts_per_switch: 1 };
    let topology = shape.build(LINKS).unwrap();
    let routes = RouteBuilder::new(&topology, Multipath::Ecmp).build();
    let all = Traffic::AllPairs(vec![Lane::ONLY]);
    Fabric { medium, ..fabric(topology, routes, all) }
}

fn nodes(topology: &Topology, names: &str) -> Vec<NodeId> {
    let node = |name| topology.node_named(name).unwrap();
    names.split(' ').map(node).collect()
}

/// Demands along paths of their own.
fn pinned(topology: Topology, paths: &[Vec<Step>]) -> Fabric {
    let mut builder = RouteBuilder::new(&topology, Multipath::Ecmp);
    let demands = paths.iter().map(|path| Demand {
        source: path[0].node,
        group: builder.add_path(path).unwrap(),
        lane: Lane::ONLY,
    });
    let demands = demands.collect();
    let routes = builder.build();
    fabric(topology, routes, Traffic::Demands(demands))
}

/// The fat tree of GFC Fig. 11 with its four flows.
fn fig_11() -> Fabric {
    let healthy = FatTree { k: 4 }.build(LINKS).unwrap();
    let failed = [("A1", "C2"), ("A5", "C1"), ("E1", "A2")];
    let topology = healthy.without_links(&failed.map(|(a, b)| healthy.link_between(a, b).unwrap()));
    let paths = [
        "H0 E1 A1 C1 A3 C2 A5 E5 H8",
        "H4 E3 A3 C2 A7 E7 H12",
        "H9 E5 A5 C2 A7 C1 A1 E1 H1",
        "H13 E7 A7 C1 A3 E3 H5",
    ];
    let steps = |path| Vec::from_iter(nodes(&topology, path).into_iter().map(Step::from));
    let paths = paths.map(steps);
    pinned(topology, &paths)
}

fn only_cycle(fabric: &Fabric) -> Component {
    let mut components = check(fabric, &[]).components;
    assert!(!components.is_empty());
    components.swap_remove(0)
}

fn confirmed(fabric: &Fabric, options: &Options) -> Confirmation {
    let go_on = |_, _| ControlFlow::Continue(());
    confirm(fabric, &only_cycle(fabric), options, go_on).expect("nobody broke it off")
}

fn simulated(fabric: &Fabric, options: &Options) -> Simulated {
    match confirmed(fabric, options) {
        Confirmation::Simulated(simulated) => simulated,
        Confirmation::NotSimulated { reason } => panic!("{reason}"),
    }
}

/// Long enough for all cycles here, short enough for a test.
fn short() -> Options {
    Options { duration: Some(Span::ms(5)), seeds: 2, ..Options::default() }
}

/// Holds that the last attempt deadlocks output-queued with all seeds, and nothing contradicts it.
fn check_deadlock(simulated: &Simulated) {
    let last = simulated.attempts.last().expect("an attempt");
    let outcome = last.outcomes[0];
    assert_eq!(outcome.discipline, Discipline::OutputQueued);
    assert_eq!(outcome.deadlocks, outcome.seeds, "{simulated:?}");
    assert!(outcome.first <= outcome.median && outcome.first.is_some());
    assert!(simulated.is_deadlock());
    // Half a link for each of the two flows that share it, and a little that only fills buffers.
    let rate = simulated.safe_rate.expect("a deadlock has been looked into");
    let highest = rate.highest.expect("slow flows do not deadlock");
    assert!(highest < rate.deadlocking && rate.slowest == SPEC.rate);
    let shares = last.flow_count.div_ceil(simulated.attempts[0].flow_count) as u64 + 1;
    assert!(highest >= Rate::mbps(9_900 / shares), "{rate:?}");
    assert!(highest <= Rate::mbps(12_500 / shares), "{rate:?}");
}

#[test]
fn rings_deadlock_and_the_fewest_flows_are_not_always_enough() {
    for (switches, medium, sets) in [
        (4, Medium::Ethernet, &[(FlowSet::Fewest, 4)][..]),
        (4, Medium::InfiniBand, &[(FlowSet::Fewest, 4)]),
        (5, Medium::Ethernet, &[(FlowSet::Fewest, 5)]),
        (6, Medium::Ethernet, &[(FlowSet::Fewest, 3), (FlowSet::OnePerHop, 6)]),
    ] {
        let simulated = simulated(&ring(switches, medium), &short());
        let found = simulated.attempts.iter();
        let found = Vec::from_iter(found.map(|one| (one.flow_set, one.flow_count)));
        assert_eq!(found, sets);
        check_deadlock(&simulated);
        let is_fewest = sets.len() == 1;
        assert_eq!(simulated.needless, is_fewest.then_some(0));
    }
}

//= gfc19 fig 11 type=test
#[test]
fn the_cycle_of_gfc_fig_11_deadlocks_within_10_ms() {
    let simulated = simulated(&fig_11(), &short());
    assert_eq!(simulated.flow_control, "pfc");
    assert_eq!(simulated.attempts.len(), 1);
    check_deadlock(&simulated);
    let outcomes = &simulated.attempts[0].outcomes;
    assert!(outcomes[0].median < Some(Time::ZERO + Span::ms(10)));
    assert_eq!(simulated.needless, Some(0));
}

fn run(text: &str, discipline: Option<Discipline>) -> Option<Time> {
    let overrides = Overrides { discipline, ..Overrides::default() };
    let scenario = Scenario::parse("t", text, &overrides);
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    let run = Run::execute(scenario, |_| ControlFlow::Continue(()));
    run.outcome.deadlock.map(|deadlock| deadlock.time)
}

#[test]
fn the_scenario_that_is_kept_gives_the_same_and_no_flow_of_it_is_needless() {
    let simulated = simulated(&fig_11(), &short());
    let first = simulated.attempts[0].outcomes[0].first;
    assert_eq!(run(&simulated.scenario, None), first);
    let [head, flows @ ..] = &Vec::from_iter(simulated.scenario.split("\n[[flow]]\n"))[..] else {
        panic!("a scenario begins with its head");
    };
    assert_eq!(flows.len(), 4);
    for left_out in 0..flows.len() {
        let mut three = flows.to_vec();
        three.remove(left_out);
        let text = format!("{head}\n[[flow]]\n{}", three.join("\n[[flow]]\n"));
        for discipline in Discipline::COMMON {
            assert_eq!(run(&text, Some(discipline)), None);
        }
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let with = |threads| Options { threads: NonZero::new(threads), ..short() };
    let ring = ring(4, Medium::InfiniBand);
    assert_eq!(confirmed(&ring, &with(1)), confirmed(&ring, &with(3)));
}

#[test]
fn it_can_be_watched_and_broken_off() {
    let ring = ring(4, Medium::InfiniBand);
    let mut last = (0, 0);
    let watch = |done, total| {
        assert!(done <= total && done >= last.0);
        last = (done, total);
        ControlFlow::Continue(())
    };
    assert!(confirm(&ring, &only_cycle(&ring), &short(), watch).is_some());
    assert_eq!(last, (30, 30));
    let stop = |_, _| ControlFlow::Break(());
    assert_eq!(confirm(&ring, &only_cycle(&ring), &short(), stop), None);
}

#[test]
fn reports_say_what_was_found_and_that_it_is_no_proof() {
    let confirmation = confirmed(&ring(4, Medium::InfiniBand), &short());
    let told = text(&confirmation);
    for part in [
        "  Simulated for 5.00 ms, under cbfc with 131 KB per port:\n",
        "    these 4 flows, alone and at full rate\n",
        "      output-queued          deadlock in 2 of 2 runs, the first at ",
        "      virtual-output-queued  no deadlock in 2 runs\n",
        "  No deadlock was found at 5.",
        " Gb/s per flow, 5",
        " of the slowest link of the cycle; at 5.",
        "no proof",
    ] {
        assert!(told.contains(part), "{part} is not in\n{told}");
    }
    let json = serde_json::to_value(ConfirmationRecord::new(&confirmation)).unwrap();
    assert_eq!(json["not_simulated"], serde_json::Value::Null);
    let attempt = &json["simulated"]["attempts"][0];
    assert_eq!(attempt["flow_set"], "fewest");
    assert_eq!(attempt["disciplines"][0]["deadlocks"], 2);
    assert_eq!(json["simulated"]["safe_rate"]["slowest_link_bps"], 10_000_000_000u64);
}

fn reason(fabric: &Fabric) -> String {
    let confirmation = confirmed(fabric, &short());
    let told = text(&confirmation);
    match confirmation {
        Confirmation::NotSimulated { reason } => {
            assert_eq!(told, format!("  Not simulated: {reason}.\n"));
            reason
        }
        Confirmation::Simulated(_) => panic!("{told}"),
    }
}

/// A ring of four in which packets leave the switches named here in class 1, all others in 0.
fn two_classes(names: &[&str]) -> Fabric {
    let mut fabric = ring(4, Medium::Ethernet);
    let topology = &fabric.topology;
    let mut table = ClassTable::new(Key::Label, port_counts(topology));
    for &node in topology.switches() {
        let is_named = names.contains(&topology.node(node).name.as_str());
        let count = topology.ports(node).len() as u16;
        for (ingress, egress) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
            let passage = Passage { node, ingress: PortId(ingress), egress: PortId(egress) };
            table.set(passage, [u8::from(is_named); 16]);
        }
    }
    fabric.classes = ClassMap::Table(table);
    fabric
}

#[test]
fn what_the_simulator_cannot_do_is_said() {
    assert_eq!(
        reason(&two_classes(&["S1", "S2"])),
        "the cycle runs through priority 0, 1, and a confirmation lets packets travel in one only"
    );
    // One class all the way is no obstacle, whichever it is.
    let all = two_classes(&["S1", "S2", "S3", "S4"]);
    assert!(simulated(&all, &short()).is_deadlock());

    let mut circle = ring(4, Medium::Ethernet);
    let group = circle.routes.groups.of_host(circle.topology.node_named("H1").unwrap());
    for name in ["S1:S2", "S2:S3", "S3:S4", "S4:S1"] {
        let (node, port) = circle.topology.port_named(name).unwrap();
        circle.routes.table.set(node, group, &[port]);
    }
    let reason = reason(&circle);
    assert!(reason.starts_with("a single flow closes it"), "{reason}");
}

/// Four switches in a ring with two hosts each, and two links between the last and the first.
fn parallel_ring() -> Topology {
    let mut builder = TopologyBuilder::new();
    let switches = ["S1", "S2", "S3", "S4"].map(|name| builder.add_switch(name));
    for (at, switch) in switches.into_iter().enumerate() {
        builder.connect(switch, switches[(at + 1) % 4], SPEC);
        for side in ["a", "b"] {
            let host = builder.add_host(format!("H{}{side}", at + 1));
            builder.connect(host, switch, SPEC);
        }
    }
    builder.connect(switches[0], switches[3], SPEC);
    builder.build().unwrap()
}

#[test]
fn parallel_links_are_kept_apart() {
    let topology = parallel_ring();
    // The first flow enters the cycle by the second link, which is no part of it.
    let paths =
        ["H4a S4 S1#2 S2 S3 H3a", "H2a S2 S3 S4 H4a", "H3a S3 S4 S1 H1a", "H4b S4 S1 S2 H2a"];
    let step = |name: &str| {
        let (name, link) = name.split_once('#').unwrap_or((name, "1"));
        Step { node: topology.node_named(name).unwrap(), link: link.parse().unwrap() }
    };
    let paths = paths.map(|path| Vec::from_iter(path.split(' ').map(step)));
    let simulated = simulated(&pinned(topology, &paths), &short());
    let path = "path = [\"S4\", \"S1#2\", \"S2\", \"S3\"]\n";
    assert!(simulated.scenario.contains(path), "{}", simulated.scenario);
    check_deadlock(&simulated);
    // What is written out in full says the same.
    let scenario = Scenario::parse("t", &simulated.scenario, &Overrides::default()).unwrap();
    assert!(scenario.resolved().contains(path), "{}", scenario.resolved());
    assert_eq!(run(&scenario.resolved(), None), run(&simulated.scenario, None));
}

#[test]
fn wrong_numbers_of_links_are_explained() {
    let good = r#"duration = "1 ms"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 1
hosts_per_leaf = 1
links_per_pair = 3
rate = "10 Gbps"
delay = "1 us"
failed_links = [["L1", "S0"]]
[switch]
buffer = "1 MB"
[flow_control]
kind = "pfc"
[[flow]]
source = "H0"
target = "H1"
path = ["L0", "S0#3", "L1#2"]
"#;
    Scenario::parse("t", good, &Overrides::default()).unwrap();
    let cases = [
        ("S0#4", "the path goes from L0 to S0 by link number 4; there are only 3"),
        ("S0#0", "\"0\" is no number of a link"),
        ("S0#x", "\"x\" is no number of a link"),
        ("S9#2", "there is no node \"S9\""),
    ];
    for (step, expected) in cases {
        let problems = Scenario::parse("t", &good.replace("S0#3", step), &Overrides::default());
        let message = problems.unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let problems = Scenario::parse("t", &good.replace("L1#2", "L1#3"), &Overrides::default());
    let message = problems.unwrap_err().to_string();
    for part in [
        "the path goes from S0 to L1 by link number 3; there are only 2",
        "numbers are those of the links that are left; S0-L1 is one of topology.failed_links",
    ] {
        assert!(message.contains(part), "{message}");
    }
}
