//! What is damaged, foreign, incomplete or does not fit onto the disk is said, and costs nothing
//! that was finished.

mod sweep_made;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pauseless_experiments::sweep::campaign::{Axis, Campaign, Label, Point};
use pauseless_experiments::sweep::store::{Failure, Store, Tables};
use pauseless_run::table::{Cells, Column, Table, parquet};
use sweep_made::{
    TASKS, campaign, campaign_of, files, filled, merge, merged, plan, plan_of, row, tasks, tasks_of,
};

/// The file that a failure names, what it says, and what it advises.
fn said<T>(result: Result<T, Failure>) -> (PathBuf, String, String) {
    match result {
        Err(Failure::File { file, message, help }) => (file, message, help),
        Err(Failure::Interrupted) => panic!("nobody has interrupted it"),
        Ok(_) => panic!("it should have failed"),
    }
}

fn part(store: &Store) -> PathBuf {
    files(&store.folder().join("parts"), "parquet").remove(0)
}

#[test]
fn a_damaged_part_is_named_and_can_be_moved_away() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), &campaign(), tasks().take(10));
    let damaged = part(&store);
    let whole = fs::read(&damaged).unwrap();
    for place in (0..whole.len()).step_by(97).chain([whole.len() - 1]) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x10;
        fs::write(&damaged, bytes).unwrap();
        let (file, message, help) = said(store.finished());
        assert_eq!(file, damaged);
        assert!(message.starts_with("is damaged"), "{message}");
        assert!(help.starts_with("move it away"), "{help}");
    }
    fs::write(&damaged, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(said(merge(&store, &plan(), &[], true)).0, damaged);
    assert!(damaged.exists(), "it is not ours to delete");
    fs::remove_file(&damaged).unwrap();
    assert!(store.finished().unwrap().is_empty());
}

#[test]
fn a_file_that_is_no_part_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), &campaign(), tasks().take(3));
    let foreign = store.folder().join("parts/foreign.parquet");
    fs::copy(part(&store), &foreign).unwrap();
    let (file, message, _) = said(store.finished());
    assert_eq!(file, foreign);
    assert!(message.contains("its name is no hash"), "{message}");
    fs::remove_file(foreign).unwrap();

    // One of another layout, under the right name.
    let table = Table {
        name: String::new(),
        columns: vec![Column {
            name: "deadlock".to_string(),
            cells: Cells::Numbers(vec![Some(1.0)]),
        }],
    };
    let bytes = parquet(&table, &[]);
    let foreign = named_by_hash(&store, &bytes);
    let (file, message, _) = said(store.finished());
    assert_eq!(file, foreign);
    assert!(message.contains("it has no column"), "{message}");
}

/// Puts a file among the parts, under the name that its bytes ask for.
fn named_by_hash(store: &Store, bytes: &[u8]) -> PathBuf {
    let unnamed = store.folder().join("unnamed");
    fs::write(&unnamed, bytes).unwrap();
    let output = Command::new("sha256sum").arg(&unnamed).output();
    let output = output.expect("sha256sum");
    let hash = String::from_utf8_lossy(&output.stdout)[..32].to_string();
    let named = store.folder().join(format!("parts/{hash}.parquet"));
    fs::rename(unnamed, &named).unwrap();
    named
}

#[test]
fn a_damaged_line_costs_its_run_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &campaign()).unwrap();
    let writer = store.writer().unwrap();
    for task in tasks().take(5) {
        writer.append(&task, &row(&task), Tables::default()).unwrap();
    }
    drop(writer);
    let journal = files(&folder.path().join("journal"), "jsonl").remove(0);
    let text = fs::read_to_string(&journal).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    lines[2] = lines[2].replace("duration", "deadlock");
    fs::write(&journal, lines.join("\n") + "\n").unwrap();

    let finished = store.finished().unwrap();
    assert_eq!(finished.len(), 4);
    let place = format!("{}:3: ", journal.display());
    assert!(finished.warnings()[0].starts_with(&place));
    // It is said when the journal is sealed, and not again.
    let opened = Store::open(folder.path(), &campaign()).unwrap();
    assert!(opened.warnings()[0].starts_with(&place));
    assert!(journal.with_extension("damaged").exists());
    let again = Store::open(folder.path(), &campaign()).unwrap();
    assert!(again.warnings().is_empty());
    assert_eq!(again.finished().unwrap().len(), 4);
}

/// Whether a process on another machine lives, nobody here can know.
#[test]
fn a_journal_of_another_machine_is_read_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), &campaign()).unwrap();
    let writer = store.writer().unwrap();
    let task = plan().task(0);
    writer.append(&task, &row(&task), Tables::default()).unwrap();
    drop(writer);
    let journal = files(&folder.path().join("journal"), "jsonl").remove(0);
    let elsewhere = journal.with_file_name("elsewhere.1.1.1.jsonl");
    fs::rename(journal, &elsewhere).unwrap();
    let store = Store::open(folder.path(), &campaign()).unwrap();
    assert!(store.finished().unwrap().contains(&task.name));
    assert!(elsewhere.exists());
}

#[test]
fn a_merge_that_was_killed_leaves_nothing_for_long() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), &campaign(), tasks());
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim().replace(|it: char| !it.is_ascii_alphanumeric(), "-");
    let names = [("no-such-process", false), ("self", true)].map(|(process, stays)| {
        let name = format!(".results.parquet.{host}.{process}.0.new");
        (folder.path().join(name), stays)
    });
    for (name, _) in &names {
        fs::write(name, "half of it").unwrap();
    }
    merged(&store, false);
    for (name, stays) in &names {
        assert_eq!(name.exists(), *stays, "{}", name.display());
    }
}

#[test]
fn two_rows_of_a_task_that_differ_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), &campaign(), tasks().take(4));
    let writer = store.writer().unwrap();
    let task = plan().task(2);
    let mut other = row(&task);
    writer.append(&task, &other, Tables::default()).unwrap();
    assert_eq!(store.finished().unwrap().len(), 4, "the same row counts once");
    other.numbers[1] = Some(0.2 + 1e-16);
    writer.append(&task, &other, Tables::default()).unwrap();
    for (file, message, _) in [said(store.finished()), said(merge(&store, &plan(), &[], true))] {
        let journal = files(&folder.path().join("journal"), "jsonl").remove(0);
        assert_eq!(file, part(&store));
        let what = format!("task {} that differs from that in {}", task.name, journal.display());
        assert!(message.contains(&what), "{message}");
    }
}

#[test]
fn rows_that_lack_a_number_are_made_again_and_others_are_used() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), &campaign(), tasks());
    let mut more = campaign();
    more.keep.push("lost".to_string());
    let store = Store::open(folder.path(), &more).unwrap();
    assert!(store.finished().unwrap().is_empty());
    let mut fewer = campaign();
    fewer.keep.remove(0);
    let store = Store::open(folder.path(), &fewer).unwrap();
    assert_eq!(store.finished().unwrap().len(), TASKS);
    let results = merge(&store, &plan_of(fewer), &[], false).unwrap();
    assert_eq!(results.rows, TASKS);
    let columns = ["task", "scenario", "version", "seed", "buffer_bytes", "scheme"];
    let columns: Vec<&str> = columns.into_iter().chain(["rate_min", "ended", "error"]).collect();
    assert_eq!(store.columns().names(), columns);
    let table = store.results().unwrap().table(&columns).unwrap();
    assert!(table.columns.iter().all(|column| column.cells.len() == TASKS));
}

/// An axis in front of all others, whose first value changes nothing.
fn with_another_axis() -> Campaign {
    let mut campaign = campaign();
    let point = |name: &str, set| Point { label: Label::Text(name.to_string()), set };
    let value = toml::Value::Boolean(true);
    let points =
        vec![point("plain", Vec::new()), point("aware", vec![("cycle_aware".to_string(), value)])];
    let axis = Axis { name: "thresholds".to_string(), unit: "", points };
    campaign.axes.insert(0, axis);
    campaign
}

#[test]
fn an_axis_that_is_added_keeps_what_was_finished() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), &campaign(), tasks());
    let campaign = with_another_axis();
    let store = Store::open(folder.path(), &campaign).unwrap();
    let plan = plan_of(campaign);
    let merged = merge(&store, &plan, &[], false).unwrap();
    assert_eq!((merged.rows, merged.missing), (TASKS, TASKS));
    assert_eq!(merged.first_missing, [24, 25, 26, 27, 28]);
    assert_eq!(merged.file, None, "nothing is written unless a part of it will do");
    merge(&store, &plan, &[], true).unwrap();
    let results = store.results().unwrap();
    assert_eq!((results.rows(), results.tasks()), (TASKS, 2 * TASKS));
    let table = results.table(&["thresholds", "seed"]).unwrap();
    assert_eq!(table.columns[0].cells, Cells::Texts(vec!["plain".to_string(); TASKS]));
    let seeds: Vec<u64> = tasks().map(|task| task.seed).collect();
    assert_eq!(table.columns[1].cells, Cells::Counts(seeds));
}

#[test]
fn what_is_merged_is_what_was_appended() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), &campaign(), tasks());
    assert_eq!(merged(&store, false).missing, 0);
    let names = ["deadlock", "rate_min", "ended", "error", "buffer_bytes"];
    let table = store.results().unwrap().table(&names).unwrap();
    let rows: Vec<_> = tasks().map(|task| row(&task)).collect();
    let number = |place: usize| Cells::Numbers(rows.iter().map(|row| row.numbers[place]).collect());
    let buffers = tasks().map(|task| Some(100.0 * (task.index / 6 + 1) as f64));
    let expected = [
        number(0),
        number(1),
        Cells::Texts(rows.iter().map(|row| row.ended.clone()).collect()),
        Cells::Notes(rows.iter().map(|row| row.error.clone()).collect()),
        Cells::Numbers(buffers.collect()),
    ];
    for (column, expected) in table.columns.iter().zip(expected) {
        assert_eq!(column.cells, expected, "{}", column.name);
    }
    let finished = store.finished().unwrap();
    let findings = tasks().map(|task| finished.findings(&task.name).unwrap());
    let findings: Vec<_> = findings.collect();
    assert_eq!(findings.iter().filter(|it| it.deadlock).count(), 5);
    assert_eq!(findings.iter().filter(|it| it.error).count(), 2);
}

#[test]
fn results_that_were_changed_or_are_not_there_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), &campaign(), tasks());
    let (file, message, help) = said(store.results());
    assert_eq!(file, folder.path().join("results.parquet"));
    assert_eq!(message, "there are no merged results");
    assert!(help.contains("pauseless sweep merge"), "{help}");
    let bytes = merged(&store, false).bytes;
    fs::write(&file, &bytes[..bytes.len() - 1]).unwrap();
    assert!(said(store.results()).1.starts_with("is damaged"));
    assert!(merged(&store, false).bytes == bytes);
    assert_eq!(store.results().unwrap().rows(), TASKS);
}

#[test]
fn curves_are_there_before_their_row_and_are_missed() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), &campaign(), tasks().take(2));
    let mut campaign = campaign();
    campaign.curves.push("queue.S1:H1".to_string());
    let store = Store::open(folder.path(), &campaign).unwrap();
    assert!(store.finished().unwrap().is_empty(), "they have no curves");
    let writer = store.writer().unwrap();
    let task = plan().task(0);
    // Threads that make the same run must not get into each other's way.
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let curves = series(&["time_ms", "queue.S1:H1"]);
                let tables = Tables { curves: Some(&curves), flows: None };
                writer.append(&task, &row(&task), tables).unwrap();
            });
        }
    });
    assert!(store.finished().unwrap().contains(&task.name));
    let series = files(&folder.path().join("series"), "parquet");
    assert_eq!(series, [folder.path().join(format!("series/{}.parquet", task.name))]);
    // A curve that was added later is not in them, and one that cannot be read is none.
    campaign.curves.push("queue.S2:H2".to_string());
    let wanting = Store::open(folder.path(), &campaign).unwrap();
    assert!(wanting.finished().unwrap().is_empty());
    fs::write(&series[0], b"PAR1").unwrap();
    assert!(store.finished().unwrap().is_empty());
}

fn series(names: &[&str]) -> Table {
    let columns = names.iter().map(|name| Column {
        name: name.to_string(),
        cells: Cells::Numbers(vec![Some(0.0), Some(1.0)]),
    });
    Table { name: "series".to_string(), columns: columns.collect() }
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut campaign = campaign();
    campaign.keep.push("rate_min".to_string());
    let (_, message, _) = said(Store::open(folder.path(), &campaign));
    assert_eq!(message, "would have two columns named rate_min");
}

/// Fills a disk of 400 KB for real, in a name space where we may mount one.
#[test]
fn a_full_disk_loses_nothing() {
    if let Some(disk) = std::env::var_os(DISK) {
        return fill(Path::new(&disk));
    }
    let folder = tempfile::tempdir().unwrap();
    let mount = "mount -t tmpfs -o size=400k none \"$1\"";
    let unshare = |script: String| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"]);
        command.arg(folder.path()).arg(std::env::current_exe().unwrap());
        command.env(DISK, folder.path());
        command.output()
    };
    let is_allowed = unshare(mount.to_string());
    if !is_allowed.is_ok_and(|output| output.status.success()) {
        println!("skipped: the kernel lets nobody but root mount a file system");
        return;
    }
    let test = "exec \"$2\" --exact a_full_disk_loses_nothing --nocapture";
    let output = unshare(format!("{mount} && {test}")).unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 passed"), "{text}");
}

fn fill(disk: &Path) {
    let campaign = campaign_of(60);
    let tasks: Vec<_> = tasks_of(plan_of(campaign.clone())).collect();
    let plan = plan_of(campaign.clone());
    let elsewhere = tempfile::Builder::new().tempdir_in(std::env::temp_dir()).unwrap();
    let whole = filled(elsewhere.path(), &campaign, tasks.iter().cloned());
    let whole = merge(&whole, &plan, &[], false).unwrap().file.unwrap();
    // With this much room it is now a journal, now a part that does not fit.
    for room in (4..60).step_by(5) {
        let ballast = disk.join("ballast");
        fs::write(&ballast, vec![1; (380 - room) * 1024]).unwrap();
        let folder = disk.join("results");
        let mut kept = 0;
        let opened = Store::open(&folder, &campaign).map(|store| store.with_part_rows(32));
        let failed = opened.and_then(|store| {
            let writer = store.writer()?;
            for task in &tasks {
                writer.append(task, &row(task), Tables::default())?;
                kept += 1;
            }
            Ok(())
        });
        let (_, message, help) = said(failed);
        assert!(message.contains("No space left on device"), "{message}");
        assert!(help.starts_with("make room"), "{help}");
        if kept > 0 {
            let store = Store::read_only(&folder, &campaign).unwrap();
            let finished = store.finished().unwrap();
            assert!(finished.warnings().is_empty(), "{:?}", finished.warnings());
            assert!(tasks[..kept].iter().all(|task| finished.contains(&task.name)));
            assert!(finished.len() <= kept + 1);
        }
        fs::remove_file(ballast).unwrap();
        let store = Store::open(&folder, &campaign).unwrap();
        let finished = store.finished().unwrap();
        let left = tasks.iter().filter(|task| !finished.contains(&task.name));
        filled(&folder, &campaign, left.cloned());
        let file = merge(&store, &plan, &[], false).unwrap().file.unwrap();
        assert!(fs::read(file).unwrap() == fs::read(&whole).unwrap(), "with {room} KB");
        fs::remove_dir_all(folder).unwrap();
    }
}

const DISK: &str = "PAUSELESS_TEST_DISK";
