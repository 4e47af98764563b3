//! Whose results a folder has, and how those of other folders come into it.

mod sweep_made;

use std::fs;
use std::path::Path;

use pauseless_experiments::sweep::campaign::{Campaign, Label};
use pauseless_experiments::sweep::plan::Task;
use pauseless_experiments::sweep::store::{Failure, Store, Tables, Writer};
use pauseless_run::table::read::Book;
use pauseless_run::table::{Cells, Column, Table};
use sweep_made::{TASKS, campaign, files, filled, merge, merged, plan_of, row, tasks, tasks_of};

fn said<T>(result: Result<T, Failure>) -> String {
    result.err().expect("a failure").to_string()
}

/// The campaign with something changed.
fn changes() -> Vec<(&'static str, Campaign)> {
    let change = |with: fn(&mut Campaign)| {
        let mut campaign = campaign();
        with(&mut campaign);
        campaign
    };
    let base = |it: &mut Campaign| {
        it.base.insert("mtu".to_string(), toml::Value::Integer(9));
    };
    vec![
        ("the scenario", change(base)),
        ("a value", change(|it| it.axes[0].points[1].set.clear())),
        ("a label", change(|it| it.axes[0].points[1].label = Label::Number(7.0))),
        ("an axis", change(|it| it.axes[0].name = "b".to_string())),
        ("fewer values", change(|it| it.axes[2].points.truncate(2))),
        ("a number", change(|it| it.keep[1] = "rate.max".to_string())),
        ("flows", change(|it| it.keeps_flows = true)),
    ]
}

#[test]
fn results_say_whether_the_campaign_was_changed_since() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), &campaign(), tasks());
    merged(&store, false);
    let results = store.results().unwrap();
    for (what, changed) in changes() {
        assert!(!results.are_of(&changed), "{what}");
    }
    let mut same = campaign();
    same.title = "Another title".to_string();
    assert!(results.are_of(&same));
}

#[test]
fn results_of_another_campaign_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), &campaign(), tasks());
    let before = merged(&store, false).bytes;
    let mut other = campaign();
    other.name = "other".to_string();
    let wrong = said(merge(&store, &plan_of(other), &[], true));
    assert!(wrong.contains("has the results of made, not of other"));
    assert!(wrong.contains("another --out"), "{wrong}");
    let file = folder.path().join("results.parquet");
    assert!(fs::read(&file).unwrap() == before);
    // What nobody can read is nobody's.
    fs::write(&file, "not a table").unwrap();
    assert!(merged(&store, false).bytes == before);
}

#[test]
fn without_a_row_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), &campaign(), tasks());
    let before = merged(&store, false).bytes;
    let mut changed = campaign();
    changed.base.insert("mtu".to_string(), 9.into());
    let merged = merge(&store, &plan_of(changed), &[], true).unwrap();
    assert_eq!((merged.rows, merged.missing), (0, TASKS));
    assert_eq!(merged.file, None);
    let file = folder.path().join("results.parquet");
    assert!(fs::read(file).unwrap() == before);
}

/// The campaign with a curve.
fn curved(curve: &str) -> Campaign {
    let mut campaign = campaign();
    campaign.curves.push(curve.to_string());
    campaign
}

fn column(name: &str, cells: Cells) -> Column {
    Column { name: name.to_string(), cells }
}

/// One more flow than the run before has; none if it could not be made.
fn flows(task: &Task) -> Option<Table> {
    let names = (0..=task.index).map(|flow| format!("F{flow}"));
    let bytes = (0..=task.index as u64).map(|flow| (flow % 2 == 0).then_some(flow));
    row(task).error.is_none().then(|| Table {
        name: "flows".to_string(),
        columns: vec![
            column("name", Cells::Texts(names.collect())),
            column("bytes", Cells::Wholes(bytes.collect())),
        ],
    })
}

fn append(store: &Store, tasks: impl Iterator<Item = Task>) -> Writer {
    let curve = column("queue.A", Cells::Numbers(vec![Some(0.0), Some(1.0)]));
    let curves = Table { name: "series".to_string(), columns: vec![curve] };
    let writer = store.writer().unwrap();
    for task in tasks {
        let flows = flows(&task);
        let tables = Tables { curves: Some(&curves), flows: flows.as_ref() };
        writer.append(&task, &row(&task), tables).unwrap();
    }
    writer
}

/// Every flow of every run is there once, in the order of the plan, however often it was made.
#[test]
fn flows_are_merged_and_a_row_without_them_counts_as_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut campaign = campaign();
    // Rows that were made before flows were kept.
    let before = filled(folder.path(), &campaign, tasks());
    assert_eq!(before.finished().unwrap().len(), TASKS);
    campaign.keeps_flows = true;
    let plan = plan_of(campaign.clone());
    let store = Store::open(folder.path(), &campaign).unwrap();
    let broken = tasks().filter(|task| row(task).error.is_some()).count();
    assert_eq!(store.finished().unwrap().len(), broken);
    let merged = merge(&store, &plan, &[], false).unwrap();
    assert_eq!((merged.missing, merged.file), (TASKS - broken, None));
    append(&store, tasks()).seal().unwrap();
    drop(append(&store, tasks().take(5)));
    assert_eq!(store.finished().unwrap().len(), TASKS);
    assert_eq!(merge(&store, &plan, &[], false).unwrap().rows, TASKS);
    let file = fs::File::open(folder.path().join("flows.parquet")).unwrap();
    let found = Book::open(file).unwrap();
    let columns = found.read(0, &["task", "name", "bytes"]).unwrap();
    let made = Vec::from_iter(tasks().filter_map(|task| Some((flows(&task)?, task))));
    let names = made
        .iter()
        .flat_map(|(flows, task)| vec![task.name.to_string(); flows.columns[0].cells.len()]);
    assert_eq!(columns[0].cells, Cells::Texts(names.collect()));
    let Cells::Wholes(bytes) = &columns[2].cells else {
        panic!("{columns:?}");
    };
    let expected = made.iter().map(|(_, task)| task.index + 1);
    assert_eq!((found.rows(), bytes.len()), (expected.clone().sum(), expected.sum()));
    assert_eq!(&bytes[..4], [Some(0), Some(0), None, Some(0)]);
}

/// One folder today and the other tomorrow: the second is in parts, the first in a journal.
#[test]
fn what_other_folders_have_comes_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut campaign = curved("queue.A");
    campaign.keeps_flows = true;
    let plan = plan_of(campaign.clone());
    let open = |name: &str| Store::open(&folder.path().join(name), &campaign).unwrap();
    let of = |part: usize| tasks_of(plan.clone()).filter(move |it| it.index % 3 == part);
    let whole = open("whole");
    append(&whole, tasks_of(plan.clone())).seal().unwrap();
    merge(&whole, &plan, &[], false).unwrap();
    let (here, first, second) = (open("here"), open("first"), open("second"));
    append(&here, of(0)).seal().unwrap();
    let running = append(&first, of(1));
    append(&second, of(2)).seal().unwrap();
    assert_eq!(here.adopt(&first).unwrap(), TASKS / 3);
    assert_eq!(here.adopt(&first).unwrap(), 0);
    let merged = merge(&here, &plan, &[], true).unwrap();
    assert_eq!((merged.rows, merged.missing), (TASKS / 3 * 2, TASKS / 3));
    drop(running);
    fs::remove_dir_all(first.folder()).unwrap();
    assert_eq!(here.adopt(&second).unwrap(), TASKS / 3);
    assert_eq!(here.adopt(&second).unwrap(), 0);
    assert_eq!(here.finished().unwrap().len(), TASKS, "with their curves");
    let file = merge(&here, &plan, &[], false).unwrap().file;
    let expected = fs::read(whole.folder().join("results.parquet")).unwrap();
    assert!(fs::read(file.unwrap()).unwrap() == expected);
    let flows = |store: &Store| fs::read(store.folder().join("flows.parquet")).unwrap();
    assert!(flows(&here) == flows(&whole));
    for sub in ["parts", "series", "flows"] {
        assert_eq!(files(&here.folder().join(sub), "new"), [] as [&Path; 0]);
    }
}

#[test]
fn a_damaged_part_of_another_folder_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let other = filled(&folder.path().join("other"), &campaign(), tasks());
    let here = Store::open(&folder.path().join("here"), &campaign()).unwrap();
    let part = files(&other.folder().join("parts"), "parquet").remove(0);
    let mut bytes = fs::read(&part).unwrap();
    bytes[100] ^= 1;
    fs::write(&part, bytes).unwrap();
    let wrong = said(here.adopt(&other));
    assert!(wrong.starts_with(&part.display().to_string()), "{wrong}");
    assert!(wrong.contains("is damaged"), "{wrong}");
    assert!(here.finished().unwrap().is_empty());
}
