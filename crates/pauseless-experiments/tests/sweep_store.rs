//! What was finished is never lost and never counted twice, whatever happens to the processes.

mod sweep_made;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use pauseless_experiments::sweep::store::{Store, Tables, Writer};
use proptest::prelude::*;
use sweep_made::{campaign, files, filled, merged, plan, row, tasks};

/// Something that happens to one of the processes, or to the disk.
#[derive(Clone, Debug)]
enum Op {
    /// A process starts, and seals what dead ones have left behind.
    Start(usize),
    /// A process finishes a task, which another may have done as well.
    Append(usize, usize),
    /// A process ends as it should.
    Seal(usize),
    /// A process is killed.
    Kill(usize),
    /// A process is killed when so many bytes of a line were written.
    KillInLine(usize, usize),
    /// A process is killed when its part was written and its journal not yet deleted.
    KillInSeal(usize),
    /// A journal loses what lies behind a place, as after a loss of power.
    LosePower(usize, usize),
    /// Results are merged as far as they go.
    Merge,
}

fn op() -> impl Strategy<Value = Op> {
    let process = 0..PROCESSES;
    prop_oneof![
        3 => process.clone().prop_map(Op::Start),
        12 => (process.clone(), 0..TASKS).prop_map(|(process, task)| Op::Append(process, task)),
        1 => process.clone().prop_map(Op::Seal),
        1 => process.clone().prop_map(Op::Kill),
        1 => (process.clone(), 1..600_usize).prop_map(|(it, bytes)| Op::KillInLine(it, bytes)),
        1 => process.clone().prop_map(Op::KillInSeal),
        1 => (process, 0..3000_usize).prop_map(|(it, length)| Op::LosePower(it, length)),
        1 => Just(Op::Merge),
    ]
}

/// Processes that work in one folder, and what must be there.
struct World {
    folder: PathBuf,
    part_rows: usize,
    processes: Vec<Option<Writer>>,
    finished: BTreeSet<usize>,
}

impl World {
    fn open(&self) -> Store {
        let store = Store::open(&self.folder, &campaign()).expect("a folder of ours");
        store.with_part_rows(self.part_rows)
    }

    /// Opens it without sealing anything.
    fn look(&self) -> Store {
        Store::read_only(&self.folder, &campaign()).expect("a folder of ours")
    }

    fn journals(&self) -> Vec<PathBuf> {
        files(&self.folder.join("journal"), "jsonl")
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Start(process) => {
                self.processes[process] = None;
                self.processes[process] = Some(self.open().writer().expect("a journal"));
            }
            Op::Append(process, task) => {
                if let Some(writer) = &self.processes[process] {
                    let task = plan().task(task);
                    writer.append(&task, &row(&task), Tables::default()).expect("room");
                    self.finished.insert(task.index);
                }
            }
            Op::Seal(process) => {
                if let Some(writer) = self.processes[process].take() {
                    writer.seal().expect("room");
                }
            }
            Op::Kill(process) => self.processes[process] = None,
            Op::KillInLine(process, bytes) => self.kill_in_line(process, bytes),
            Op::KillInSeal(process) => self.kill_in_seal(process),
            Op::LosePower(journal, length) => self.lose_power(journal, length),
            Op::Merge => {
                let merged = merged(&self.look(), true);
                assert_eq!(merged.rows, self.finished.len());
            }
        }
    }

    fn kill_in_line(&mut self, process: usize, bytes: usize) {
        self.processes[process] = None;
        for journal in self.journals() {
            let mut file = fs::File::options();
            let mut file = file.read(true).append(true).open(&journal).unwrap();
            let line = fs::read(&journal).unwrap();
            let end = line.iter().position(|byte| *byte == b'\n');
            // Those of processes that live are locked.
            if let (Some(end), Ok(())) = (end, file.try_lock()) {
                file.write_all(&line[..bytes.min(end)]).expect("room");
            }
        }
    }

    fn kill_in_seal(&mut self, process: usize) {
        let before = self.journals();
        let kept: Vec<Vec<u8>> = before.iter().map(|it| fs::read(it).unwrap()).collect();
        let Some(writer) = self.processes[process].take() else {
            return;
        };
        writer.seal().expect("room");
        for (journal, bytes) in before.iter().zip(kept) {
            if !journal.exists() {
                fs::write(journal, bytes).expect("room");
            }
        }
    }

    fn lose_power(&mut self, journal: usize, length: usize) {
        self.processes.iter_mut().for_each(|it| *it = None);
        let journals = self.journals();
        let Some(journal) = journals.get(journal) else {
            return;
        };
        let file = fs::File::options().write(true).open(journal).expect("a journal");
        let before = file.metadata().expect("a size").len();
        file.set_len(before.min(length as u64)).expect("a cut");
        let left = self.look().finished().expect("readable");
        let is_left = |task: &usize| left.contains(&plan().task(*task).name);
        self.finished.retain(is_left);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn nothing_is_lost_and_nothing_counts_twice(
        ops in prop::collection::vec(op(), 0..60),
        part_rows in 1..9_usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World {
            folder: folder.path().join("disturbed"),
            part_rows,
            processes: (0..PROCESSES).map(|_| None).collect(),
            finished: BTreeSet::new(),
        };
        world.open();
        for op in &ops {
            world.apply(op);
            let finished = world.look().finished().unwrap();
            for task in tasks() {
                let is_finished = world.finished.contains(&task.index);
                prop_assert_eq!(finished.contains(&task.name), is_finished, "{}", task.index);
            }
        }
        let store = world.open();
        let writer = store.writer().unwrap();
        let finished = store.finished().unwrap();
        for task in tasks().filter(|task| !finished.contains(&task.name)) {
            writer.append(&task, &row(&task), Tables::default()).unwrap();
        }
        writer.seal().unwrap();
        let disturbed = merged(&store, false);
        prop_assert_eq!(disturbed.rows, TASKS);
        prop_assert!(disturbed.bytes == undisturbed(&folder.path().join("undisturbed")));
    }
}

/// The bytes of a campaign that nothing happened to.
fn undisturbed(folder: &Path) -> Vec<u8> {
    let store = filled(folder, &campaign(), tasks());
    merged(&store, false).bytes
}

#[test]
fn shards_in_folders_of_their_own_merge_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let whole = undisturbed(&folder.path().join("whole"));
    for shards in [1, 2, 7] {
        let mut stores = Vec::new();
        for shard in 0..shards {
            let folder = folder.path().join(format!("{shard} of {shards}"));
            let store = Store::open(&folder, &campaign()).unwrap();
            let writer = store.writer().unwrap();
            // Backwards, since the order in which runs end must not show.
            let tasks: Vec<_> = tasks().filter(|task| task.index % shards == shard).collect();
            for task in tasks.iter().rev() {
                writer.append(task, &row(task), Tables::default()).unwrap();
            }
            writer.seal().unwrap();
            stores.push(store);
        }
        let first = stores.remove(0);
        let merged = sweep_made::merged_with(&first, &stores, false);
        assert!(merged.bytes == whole, "{shards} shards");
    }
}

#[test]
fn threads_share_a_writer() {
    let folder = tempfile::tempdir().unwrap();
    let whole = undisturbed(&folder.path().join("whole"));
    let store = Store::open(&folder.path().join("threads"), &campaign()).unwrap();
    let writer = store.clone().with_part_rows(3).writer().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let writer = &writer;
            scope.spawn(move || {
                for task in tasks().filter(|task| task.index % 4 == thread) {
                    writer.append(&task, &row(&task), Tables::default()).unwrap();
                }
            });
        }
    });
    writer.seal().unwrap();
    assert!(files(&store.folder().join("journal"), "jsonl").is_empty());
    let parts = files(&store.folder().join("parts"), "parquet");
    assert_eq!(parts.len(), TASKS.div_ceil(3));
    assert!(merged(&store, false).bytes == whole);
}

/// Others look, and seal what they take for left behind, while rows are appended and sealed. Short
/// rounds in memory, where all of that is fast, make it likely that they meet.
#[test]
fn a_row_is_found_at_every_moment_after_it_was_appended() {
    let memory = Path::new("/dev/shm");
    for round in 0..40 {
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory).unwrap()
        } else {
            tempfile::tempdir().unwrap()
        };
        look_while_appending(&folder.path().join(round.to_string()));
    }
}

fn look_while_appending(folder: &Path) {
    let tasks: Vec<_> = tasks().collect();
    let store = Store::open(folder, &campaign()).unwrap();
    let appended = AtomicUsize::new(0);
    let is_over = || appended.load(Ordering::SeqCst) == tasks.len();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for some in tasks.chunks(8) {
                let writer = store.clone().with_part_rows(3).writer().unwrap();
                for task in some {
                    writer.append(task, &row(task), Tables::default()).unwrap();
                    appended.fetch_add(1, Ordering::SeqCst);
                }
                // The last two rows of every eight are left behind in a journal.
            }
        });
        for opens in [true, false, false] {
            let (store, tasks, appended, is_over) = (&store, &tasks, &appended, &is_over);
            scope.spawn(move || {
                while !is_over() {
                    if opens {
                        Store::open(store.folder(), &campaign()).unwrap();
                    }
                    let count = appended.load(Ordering::SeqCst);
                    let finished = store.finished().unwrap();
                    for task in &tasks[..count] {
                        assert!(finished.contains(&task.name), "{}", task.index);
                    }
                }
            });
        }
    });
    assert_eq!(store.finished().unwrap().len(), tasks.len());
}

const PROCESSES: usize = 3;
const TASKS: usize = sweep_made::TASKS;
