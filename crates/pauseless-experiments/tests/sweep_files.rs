//! The campaigns of the repository: every one can be read at every size, and has the runs that its
//! notes promise.

use std::ops::ControlFlow;
use std::path::Path;

use pauseless_experiments::sweep::campaign::Campaign;
use pauseless_experiments::sweep::plan::Plan;

/// File, size, and how many runs it has; of those with a filter how many networks are left.
const CAMPAIGNS: [(&str, Option<&str>, usize, Option<usize>); 16] = [
    ("papers/gfc/fragile-ring.sweep.toml", Some("fragile"), 2000, None),
    ("papers/gfc/fragile-tree.sweep.toml", Some("switches"), 480, None),
    ("scenarios/xoff.sweep.toml", None, 72, None),
    ("scenarios/xoff.sweep.toml", Some("tiny"), 8, None),
    ("scenarios/leaf-spine-loop.sweep.toml", None, 3_200, None),
    ("scenarios/leaf-spine-loop.sweep.toml", Some("tiny"), 8, None),
    ("scenarios/paced.sweep.toml", None, 8_640, None),
    ("scenarios/paced.sweep.toml", Some("quick"), 72, None),
    ("scenarios/paced-trees.sweep.toml", Some("quick"), 288, Some(12)),
    ("scenarios/paced-trees.sweep.toml", Some("closing"), 10_800, Some(200)),
    ("scenarios/paced-trees.sweep.toml", Some("permutation"), 1_200, Some(60)),
    ("scenarios/paced-trees.sweep.toml", Some("noise"), 360, Some(60)),
    ("papers/gfc/table1.sweep.toml", Some("quick"), 288, Some(9)),
    ("papers/gfc/table1.sweep.toml", Some("exposed"), 1200, Some(1)),
    ("papers/gfc/table1.sweep.toml", Some("exposed-k8"), 12, Some(2)),
    ("papers/gfc/table1-cycles.sweep.toml", Some("quick"), 576, Some(12)),
];

fn read(file: &str, size: Option<&str>) -> Campaign {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = Campaign::read(&root.join(file), size);
    read.unwrap_or_else(|wrong| panic!("{wrong}"))
}

#[test]
fn campaigns_have_the_runs_that_they_promise() {
    for (file, size, runs, networks) in CAMPAIGNS {
        let watch = |_: usize, _: usize| ControlFlow::Continue(());
        let plan = Plan::new(read(file, size), None, &watch).expect(file);
        let left = plan.screened.as_ref().map(|screened| screened.left.len());
        assert_eq!((plan.len(), left), (runs, networks), "{file} {size:?}");
    }
}

/// The paper's size is one command; here it is only read, which tries every kind of value.
#[test]
fn table_1_is_there_at_the_size_of_the_paper() {
    let campaign = read("papers/gfc/table1.sweep.toml", None);
    let counts = campaign.axes.iter().map(|axis| axis.points.len());
    assert_eq!(Vec::from_iter(counts), [3, 10_000, 2, 6, 4, 2, 100]);
}
