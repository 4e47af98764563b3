use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;

use super::*;

/// Four rings of a tenth of a millisecond, of which the last has no such host.
const RINGS: &str = r#"
[scenario]
duration = "100 us"
[scenario.topology]
kind = "ring"
switches = 3
hosts_per_switch = 1
rate = "10 Gbps"
delay = "1 us"
[scenario.switch]
buffer = "1 MB"
[scenario.flow_control]
kind = "pfc"
[[scenario.flow]]
name = "F1"
source = "H1"
target = "H2"

[[axis]]
key = "seed"
seeds = 4
"#;

fn plan() -> Plan {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("rings.sweep.toml");
    std::fs::write(&file, RINGS).expect("a file");
    let campaign = super::super::campaign::Campaign::read(&file, None);
    let mut campaign = campaign.unwrap_or_else(|wrong| panic!("{wrong}"));
    // Every value was tried when the file was read, so this one comes afterwards.
    let wrong = ("flow.F1.target".to_string(), toml::Value::from("H9"));
    campaign.axes[0].points[3].set.push(wrong);
    Plan::new(campaign, None, &|_, _| ControlFlow::Continue(())).expect("a plan")
}

type Kept = Mutex<BTreeMap<usize, Row>>;

fn put(kept: &Kept) -> impl Fn(&Task, &Row, Made<'_>) -> Result<(), String> + Sync {
    |task, row, tables| {
        tables?;
        locked(kept, |kept| kept.insert(task.index, row.clone()));
        Ok(())
    }
}

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).expect("at least one")
}

#[test]
fn rows_are_the_same_on_any_number_of_threads_and_an_error_is_one_of_them() {
    let plan = plan();
    let runs = |count| {
        let kept = Kept::default();
        let hooks = Hooks { keep: &put(&kept), watch: &|_| ControlFlow::Continue(()) };
        let executed = execute(&plan, &[0, 1, 2, 3], threads(count), &hooks).expect("kept");
        assert_eq!((executed.progress.total, executed.interrupted), (4, false));
        assert_eq!(executed.progress.tally.runs, 4);
        assert_eq!(executed.progress.tally.errors, 1);
        locked(&kept, std::mem::take)
    };
    let rows = runs(1);
    assert_eq!(rows, runs(3));
    let error = rows[&3].error.as_deref().expect("no such host");
    assert!(error.contains("H9"), "{error}");
    assert!(rows[&3].numbers.iter().all(Option::is_none));
    let deadlock = plan.campaign.keep.iter().position(|it| it == "deadlock");
    assert_eq!(rows[&0].numbers[deadlock.expect("kept")], Some(0.0));
    assert_eq!(rows[&0].ended, "duration");
}

#[test]
fn a_panic_costs_the_run_it_happens_in() {
    let plan = plan();
    let kept = Kept::default();
    let calls = AtomicUsize::new(0);
    let hooks = Hooks {
        keep: &put(&kept),
        watch: &|_| {
            // The first call comes from within the first run.
            assert_ne!(calls.fetch_add(1, Ordering::Relaxed), 0, "a bug");
            ControlFlow::Continue(())
        },
    };
    let executed = execute(&plan, &[0, 1, 2], threads(1), &hooks).expect("kept");
    assert_eq!(executed.progress.tally.errors, 1);
    let rows = locked(&kept, std::mem::take);
    let error = rows[&0].error.as_deref().expect("it panicked");
    assert!(error.contains("panicked") && error.contains("a bug"), "{error}");
    assert!(rows[&1].error.is_none() && rows[&2].error.is_none());
}

#[test]
fn what_cannot_be_kept_ends_the_campaign() {
    let plan = plan();
    let hooks =
        Hooks { keep: &|_, _, _| Err("the disk is full"), watch: &|_| ControlFlow::Continue(()) };
    let failed = execute(&plan, &[0, 1, 2], threads(2), &hooks);
    assert_eq!(failed, Err("the disk is full"));
}

#[test]
fn a_run_in_flight_is_given_up_and_leaves_no_row() {
    let plan = plan();
    let kept = Kept::default();
    let hooks = Hooks { keep: &put(&kept), watch: &|_| ControlFlow::Break(()) };
    let executed = execute(&plan, &[0, 1, 2], threads(1), &hooks).expect("nothing to keep");
    assert!(executed.interrupted);
    assert_eq!(locked(&kept, std::mem::take), BTreeMap::new());
}

/// A task's name does not depend on what is kept of it, so a row with that error would stay when
/// the campaign's file was put right.
#[test]
fn a_curve_that_is_not_there_ends_the_campaign_and_leaves_no_row() {
    let mut plan = plan();
    plan.campaign.curves.push("queue.S1:H9".to_string());
    let kept = Kept::default();
    let hooks = Hooks { keep: &put(&kept), watch: &|_| ControlFlow::Continue(()) };
    let failed = execute(&plan, &[0, 1, 2], threads(1), &hooks).expect_err("no such curve");
    assert!(failed.contains("queue.S1:H9"), "{failed}");
    assert_eq!(locked(&kept, std::mem::take), BTreeMap::new());
}
