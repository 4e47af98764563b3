//! Whose results a folder has, and how those of other folders come into it.

mod sweep_made;

use std::fs;
use std::path::Path;

use pauseless_lab::sweep::campaign::{Campaign, Label};
use pauseless_lab::sweep::plan::Task;
use pauseless_lab::sweep::store::{Failure, Store};
use pauseless_lab::table::{Cells, Column, Table};
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
        (
            "a label",
            change(|it| it.axes[0].points[1].label = Label::Number(7.0)),
        ),
        ("an axis", change(|it| it.axes[0].name = "b".to_string())),
        ("fewer values", change(|it| it.axes[2].points.truncate(2))),
        ("a number", change(|it| it.keep[1] = "rate.max".to_string())),
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

fn append(store: &Store, tasks: impl Iterator<Item = Task>) -> pauseless_lab::sweep::store::Writer {
    let curves = Table {
        name: "series".to_string(),
        columns: vec![Column {
            name: "queue.A".to_string(),
            cells: Cells::Numbers(vec![Some(0.0), Some(1.0)]),
        }],
    };
    let writer = store.writer().unwrap();
    for task in tasks {
        writer.append(&task, &row(&task), Some(&curves)).unwrap();
    }
    writer
}

/// One folder today and the other tomorrow: the second is in parts, the first in a journal.
#[test]
fn what_other_folders_have_comes_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let campaign = curved("queue.A");
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
    for sub in ["parts", "series"] {
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
