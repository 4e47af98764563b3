use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::repro::compute::gfc_scale::trees::{Ties, Trees};

/// Fat trees with failed links, as the experiments of the GFC paper have them.
const TREES: &str = r#"
[scenario]
duration = "1 ms"
[scenario.topology]
kind = "fat-tree"
k = 4
rate = "10 Gbps"
delay = "1 us"
random_failures = { share = "5 %", seed = 1, sample = 0 }
[scenario.routing]
kind = "shortest"
tie_break = "seeded"
[scenario.switch]
buffer = "1 MB"
[scenario.flow_control]
kind = "pfc"
[[scenario.flow]]
source = "H1"
target = "H2"
[[axis]]
key = "switch.discipline"
values = ["output-queued", "input-queued"]
[[axis]]
name = "network"
keys = ["topology.random_failures.sample", "routing.seed"]
range = { from = 0, count = 60 }
[[axis]]
key = "seed"
seeds = 3
[filter]
cyclic = true
connected = true
"#;

fn campaign(text: &str) -> Campaign {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trees.sweep.toml");
    std::fs::write(&path, text).expect("a file");
    Campaign::read(&path, None).unwrap_or_else(|wrong| panic!("{wrong}"))
}

fn watch(_: usize, _: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The filter of campaigns and `gfc-exposure` of `repro` see the same networks.
#[test]
fn the_filter_lets_the_cyclic_networks_through() {
    let plan = Plan::new(campaign(TREES), None, &watch).expect("a plan");
    let trees = Trees::new(4, Ties::Random).screen(60);
    let mut expected = Vec::from_iter(trees.cyclic.iter().map(|it| it.sample));
    expected.sort_unstable();
    let screened = plan.screened.as_ref().expect("a filter");
    assert_eq!(screened.left, expected);
    assert!(expected.len() > 2, "{screened:?}");
    assert_eq!(plan.len(), 2 * expected.len() * 3);
    // The network is not the slowest axis, and all of its networks come for each discipline.
    let network = |index: usize| plan.task(index).labels[1].clone();
    assert_eq!(network(0), Label::Number(expected[0] as f64));
    assert_eq!(network(3), Label::Number(expected[1] as f64));
    assert_eq!(network(plan.len() / 2), network(0));
    assert_ne!(plan.task(0).labels[0], plan.task(plan.len() / 2).labels[0]);
    // Without the first question, the second one.
    let connected = campaign(&TREES.replace("cyclic = true\n", ""));
    let screened = Plan::new(connected, None, &watch).expect("a plan").screened.expect("a filter");
    assert_eq!(screened.left.len(), 60 - trees.cut);
    assert!(expected.iter().all(|network| screened.left.contains(network)));
    assert!(screened.by_connected == trees.cut as u64 && trees.cut > 0);
}

#[test]
fn what_was_found_is_kept_and_a_damaged_file_is_not_believed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("sub/networks.json");
    let looked = AtomicUsize::new(0);
    let count = |_: usize, _: usize| {
        looked.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let make = |text: &str| {
        looked.store(0, Ordering::Relaxed);
        let plan = Plan::new(campaign(text), Some(&file), &count).expect("a plan");
        (plan.names(), looked.load(Ordering::Relaxed))
    };
    let first = make(TREES);
    assert_eq!(first.1, 60);
    assert_eq!(make(TREES), (first.0.clone(), 0));
    std::fs::write(&file, "{ \"key\"").expect("a file");
    assert_eq!(make(TREES), first);
    // Other seeds are the same networks, another probability of failures is not.
    assert_eq!(make(&TREES.replace("seeds = 3", "seeds = 4")).1, 0);
    assert_eq!(make(&TREES.replace("5 %", "6 %")).1, 60);
    let left = std::fs::read_dir(folder.path().join("sub")).expect("a folder");
    assert_eq!(left.count(), 1);
}

#[test]
fn a_filter_that_leaves_nothing_says_what_it_left_out() {
    let healthy = TREES.replace("\"5 %\"", "\"0 %\"");
    let wrong = Plan::new(campaign(&healthy), None, &watch).expect_err("no cycles");
    assert_eq!(
        wrong.to_string(),
        "the filter lets none of 60 networks through: `cyclic` leaves out 60, `connected` leaves \
         out 0 of the others; widen the axes of the network, or change [filter]"
    );
    let stop = |_: usize, _: usize| ControlFlow::Break(());
    let wrong = Plan::new(campaign(TREES), None, &stop).expect_err("broken off");
    assert!(matches!(wrong, PlanError::Interrupted));
}

#[test]
fn routes_that_follow_the_general_seed_are_networks_of_their_own() {
    let text = TREES.replace(", \"routing.seed\"", "");
    let campaign = campaign(&text);
    assert_eq!(campaign.network_axes(), [1, 2]);
    let plan = Plan::new(campaign, None, &watch).expect("a plan");
    assert_eq!(plan.screened.as_ref().expect("a filter").looked_at, 180);
}

/// What the seed decides is looked at for every seed, and no oftener.
#[test]
fn the_seed_decides_networks_where_ties_are_drawn_from_it() {
    let axes = |from: &str, to: &str| campaign(&TREES.replace(from, to)).network_axes();
    let without = "tie_break = \"seeded\"\n";
    assert_eq!(axes(", \"routing.seed\"", ""), [1, 2]);
    let lowest = TREES.replace(", \"routing.seed\"", "").replace(without, "");
    assert_eq!(campaign(&lowest).network_axes(), [1]);
    // An axis that takes the routes' own seed away again.
    let case = "[[axis]]\nname = \"ties\"\n[axis.cases]\nown = {}\n\
                general = { routing = { tie_break = \"seeded\" } }\n[[axis]]\nkey = \"seed\"";
    assert_eq!(axes("[[axis]]\nkey = \"seed\"", case), [1, 2, 3]);
}
