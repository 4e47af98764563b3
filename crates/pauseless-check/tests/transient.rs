//! What happens while switches learn of a failure: the proof from both routes, and the simulations.

use std::ops::ControlFlow;

use pauseless_check::transient::{Options, Transient, TransientRecord, examine, text};
use pauseless_fabric::fabric::Fabric;
use pauseless_fabric::failure::Failures;
use pauseless_fabric::routing::{Multipath, Routing};
use pauseless_run::Run;
use pauseless_scenario::{Overrides, Scenario, fabric_file, shape};
use pauseless_text::terminal::Paint;

fn fabric(spec: &str) -> Fabric {
    shape::parse(spec).unwrap_or_else(|problems| panic!("{problems}"))
}

fn few(orders: usize, failures_max: usize) -> Options {
    Options { orders, failures_max, seed: 1 }
}

fn examined(spec: &str, options: &Options) -> Transient {
    let found = examine(&fabric(spec), &[], options, |_, _, _| ControlFlow::Continue(()));
    found.unwrap_or_else(|reason| panic!("{spec}: {reason}"))
}

fn deadlock(scenario: &str) -> Option<u64> {
    let scenario = Scenario::parse("t", scenario, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    let run = Run::execute(scenario, |_| ControlFlow::Continue(()));
    run.outcome.deadlock.map(|deadlock| deadlock.time.as_ps())
}

const LEAF_SPINE: &str = "leaf-spine:leaves=4,spines=2,hosts_per_leaf=2,routing=ecmp,rate=40 Gbps";

/// A spine that has learnt of its failed link sends packets to another leaf, which sends them back until it
/// has learnt of it as well: so the order in which the spine is last has no loop, all others have one.
#[test]
fn a_leaf_spine_deadlocks_unless_the_spine_learns_last() {
    let found = examined(LEAF_SPINE, &few(10, 1));
    // Of switches nothing is left that could be a detour.
    assert_eq!((found.failure_count, found.safe, found.is_complete), (14, 6, true));
    let [one] = &found.examined[..] else {
        panic!("{found:?}");
    };
    assert_eq!((one.failed.as_str(), one.learners.len(), one.trials.len()), ("L0-S0", 5, 10));
    let fabric = fabric(LEAF_SPINE);
    let id = |name: &str| fabric.topology.node_named(name).expect("a switch");
    let (leaf, spine) = (id("L0"), id("S0"));
    for trial in &one.trials {
        // L0 does not send to S0 any more, whenever it learns, so that its place does not matter.
        let mut others = trial.order.iter().filter(|node| **node != leaf);
        let is_last = others.next_back() == Some(&spine);
        assert_eq!(trial.found.is_none(), is_last, "{:?}", trial);
    }
    let setting = one.setting.expect("it was simulated");
    assert!(setting.circling > 0 && setting.circling <= setting.flow_count, "{setting:?}");
    let (_, earliest) = one.earliest().expect("a deadlock");
    assert!(earliest.after_failure.is_some() && earliest.cycle.len() == 2, "{earliest:?}");
    // The file shows the same as was found.
    let scenario = found.scenario().expect("a scenario");
    assert_eq!(deadlock(scenario), Some(earliest.time.as_ps()));
    let lines = text(&fabric, &found, Paint::Plain);
    for line in
        ["deadlock while switches learn", "After 6 of 14 failures", "order: ", "L0-S0 fails"]
    {
        assert!(lines.contains(line), "{line}\n{lines}");
    }
    let record = serde_json::to_value(TransientRecord::new(&fabric, &found)).expect("a document");
    assert_eq!(record["examined"][0]["deadlocks"], one.deadlocks());
    assert_eq!(record["safe_count"], 6);
}

/// Whoever never goes up after down has no detour that could lead back.
#[test]
fn no_order_deadlocks_where_both_routes_have_no_cycle() {
    for spec in [
        "leaf-spine:leaves=4,spines=2,hosts_per_leaf=1,routing=up-down,multipath=ecmp",
        "line:switches=4,hosts_per_switch=1,routing=ecmp",
    ] {
        let found = examined(spec, &few(4, 8));
        assert_eq!(found.safe, found.failure_count, "{spec}");
        assert!(found.examined.is_empty() && !found.is_deadlock(), "{spec}");
        assert!(text(&fabric(spec), &found, Paint::Plain).contains("in any order"));
    }
}

/// The proof against the simulator: after a failure for which both routes together have no cycle, nothing
/// deadlocks, whenever each switch learns of it. That it is not for want of traffic shows that others do.
#[test]
fn what_is_proven_safe_never_deadlocks_at_random_times() {
    let (mut safe, mut deadlocks) = (0, 0);
    for shape in [
        "random-regular:switches=8,degree=3,hosts_per_switch=1,seed=1",
        "random-regular:switches=8,degree=3,hosts_per_switch=1,seed=2",
        "leaf-spine:leaves=4,spines=2,hosts_per_leaf=2",
        "fat-tree:4",
    ] {
        for (routing, section) in [
            ("up-down,multipath=ecmp", "kind = \"up-down\"\nmultipath = \"ecmp\""),
            ("ecmp", "kind = \"ecmp\""),
        ] {
            let fabric = fabric(&format!("{shape},routing={routing},rate=40 Gbps"));
            let go_on = |_, _, _| ControlFlow::Continue(());
            let found = examine(&fabric, &[], &few(2, 0), go_on).expect("a rule");
            assert_eq!(found.safe + found.cyclic.len(), found.failure_count);
            let mut links = Failures::single_links(&fabric.topology);
            let links = links.by_ref().map(|failure| failure.names(&fabric.topology).join(""));
            for (name, seed) in links.zip(0..) {
                let is_safe = !found.cyclic.contains(&name);
                let time = deadlock(&at_random_times(&fabric, section, &name, seed));
                assert!(time.is_none() || !is_safe, "{shape}, {routing}, {name}: {time:?}");
                safe += usize::from(is_safe);
                deadlocks += usize::from(time.is_some());
            }
        }
    }
    assert!(safe > 40 && deadlocks > 20, "{safe} safe failures, {deadlocks} deadlocks");
}

/// A link of the fabric fails while every host sends to three others, and each switch learns of it at a
/// random time.
fn at_random_times(fabric: &Fabric, section: &str, link: &str, seed: u64) -> String {
    let Some((a, b)) = link.split_once('-') else {
        panic!("{link} is a link");
    };
    let routing = Routing::from(Multipath::Ecmp);
    let network = fabric_file::network(fabric, routing, seed);
    let network = network.replace("kind = \"ecmp\"", section);
    let flows = (1..=3).map(|number| {
        format!("[[traffic]]\nkind = \"permutation\"\nname = \"p{number}\"\nttl = 64\n")
    });
    format!(
        "seed = {seed}\nduration = \"600 us\"\nmtu = \"1000 B\"\n{network}\n\
         [switch]\nbuffer = \"100 KB\"\nprocessing = \"0 us\"\n\
         [flow_control]\nkind = \"pfc\"\nxoff = \"30 KB\"\nxon = \"28 KB\"\n\
         [verdict]\nstop_on_deadlock = true\n{}\
         [[event]]\nkind = \"link-down\"\nat = \"100 us\"\nlink = [\"{a}\", \"{b}\"]\n\
         [converge]\nspread = \"400 us\"\n",
        String::from_iter(flows)
    )
}

#[test]
fn the_seed_decides_the_orders_and_nothing_else_does() {
    let orders = |seed| {
        let found = examined(LEAF_SPINE, &Options { orders: 4, failures_max: 1, seed });
        found.examined[0].trials.clone()
    };
    assert_eq!(orders(1), orders(1));
    assert_ne!(orders(1), orders(2));
}

#[test]
fn it_can_be_broken_off() {
    let stop = |_, _, _| ControlFlow::Break(());
    let found = examine(&fabric(LEAF_SPINE), &[], &few(4, 1), stop).expect("a fabric");
    assert!(!found.is_complete && found.examined.is_empty());
}

#[test]
fn what_cannot_be_simulated_is_said_with_a_way_out() {
    for (spec, expected) in [
        ("torus:3x3,hosts_per_switch=1,routing=dimension-order", "--routing ecmp"),
        (
            "torus:3x3,hosts_per_switch=1,routing=dimension-order,classes=dateline",
            "dimension order",
        ),
    ] {
        let found = examine(&fabric(spec), &[], &few(4, 1), |_, _, _| ControlFlow::Continue(()));
        let reason = found.expect_err(spec);
        assert!(reason.contains(expected), "{spec}: {reason}");
    }
    let mut tables = fabric(LEAF_SPINE);
    tables.origin = pauseless_fabric::fabric::Origin::Tables;
    let found = examine(&tables, &[], &few(4, 1), |_, _, _| ControlFlow::Continue(()));
    assert!(found.expect_err("tables").contains("--routing"));
}
