//! A campaign made by hand, and rows that stand for its runs.

#![allow(dead_code)]

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pauseless_experiments::sweep::campaign::{Axis, Campaign, Filter, Label, Point};
use pauseless_experiments::sweep::plan::{Plan, Task};
use pauseless_experiments::sweep::row::Row;
use pauseless_experiments::sweep::store::{Failure, Merge, Merged, Store, Tables};
use toml::{Table, Value};

/// Four buffers, two schemes and three seeds.
pub fn campaign() -> Campaign {
    campaign_of(3)
}

/// The same with as many seeds as are wanted.
pub fn campaign_of(seeds: i64) -> Campaign {
    let number = |path: &str, number: i64| Point {
        label: Label::Number(number as f64),
        set: vec![(path.to_string(), Value::Integer(number))],
    };
    let scheme = |name: &str| Point {
        label: Label::Text(name.to_string()),
        set: vec![("scheme".to_string(), Value::String(name.to_string()))],
    };
    let axis = |name: &str, unit, points| Axis { name: name.to_string(), unit, points };
    let buffers = [100, 200, 300, 400].map(|it| number("buffer", it));
    Campaign {
        name: "made".to_string(),
        title: "A campaign made by hand".to_string(),
        note: String::new(),
        base: Table::from_iter([("buffer".to_string(), Value::Integer(0))]),
        folder: PathBuf::from("."),
        axes: vec![
            axis("buffer_bytes", "bytes", buffers.to_vec()),
            axis("scheme", "", vec![scheme("PFC"), scheme("GFC, time-based")]),
            axis("seed", "", (1..=seeds).map(|it| number("seed", it)).collect()),
        ],
        filter: Filter::default(),
        keeps_flows: false,
        keep: vec!["deadlock".to_string(), "rate.min".to_string()],
        curves: Vec::new(),
        distributions: BTreeMap::new(),
        reports: Vec::new(),
        claims: Vec::new(),
    }
}

pub fn plan_of(campaign: Campaign) -> Plan {
    Plan::of(campaign, 0, vec![0])
}

pub fn plan() -> Plan {
    plan_of(campaign())
}

pub fn tasks() -> impl Iterator<Item = Task> {
    tasks_of(plan())
}

pub fn tasks_of(plan: Plan) -> impl Iterator<Item = Task> {
    (0..plan.len()).map(move |index| plan.task(index))
}

/// What comes of a task: the same whenever it is run.
pub fn row(task: &Task) -> Row {
    let is_broken = task.index % 11 == 5;
    let deadlock = f64::from(u8::from(task.index % 4 == 1));
    let rate = (!task.index.is_multiple_of(3)).then_some(0.1 * task.index as f64);
    Row {
        task: task.name,
        ended: if is_broken { "" } else { "duration" }.to_string(),
        error: is_broken.then(|| "no \"way\"\nto run it".to_string()),
        numbers: if is_broken { vec![None, None] } else { vec![Some(deadlock), rate] },
    }
}

pub struct Bytes {
    pub rows: usize,
    pub missing: usize,
    pub bytes: Vec<u8>,
}

pub fn merged(store: &Store, is_partial: bool) -> Bytes {
    merged_with(store, &[], is_partial)
}

pub fn merged_with(store: &Store, others: &[Store], is_partial: bool) -> Bytes {
    let merged = merge(store, &plan(), others, is_partial).expect("rows of ours");
    let bytes = merged.file.map(|file| fs::read(file).expect("it was written"));
    Bytes { rows: merged.rows, missing: merged.missing, bytes: bytes.unwrap_or_default() }
}

pub fn merge(
    store: &Store,
    plan: &Plan,
    others: &[Store],
    is_partial: bool,
) -> Result<Merged, Failure> {
    for other in others {
        store.adopt(other)?;
    }
    let how = Merge { is_partial, watch: &|_| ControlFlow::Continue(()) };
    store.merge(plan, &how)
}

/// A store with a row for each of these tasks, all in parts.
pub fn filled(folder: &Path, campaign: &Campaign, tasks: impl Iterator<Item = Task>) -> Store {
    let store = Store::open(folder, campaign).expect("a folder");
    let writer = store.writer().expect("a journal");
    for task in tasks {
        writer.append(&task, &row(&task), Tables::default()).expect("room");
    }
    writer.seal().expect("room");
    store
}

pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == extension));
    files.sort();
    files
}

pub const TASKS: usize = 24;
