//! Keeps what a process finishes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::columns::Columns;
use super::disk;
use super::failure::Failure;
use super::journal::Journal;
use super::record::Record;
use super::{FLOWS, JOURNAL, PART_ROWS, PARTS, SERIES};
use crate::sweep::plan::Task;
use crate::sweep::row::Row;
use pauseless_run::table::{Table, parquet};

/// Keeps what a process finishes. All of its threads share one. What it holds does not grow with
/// the number of runs.
pub struct Writer {
    pub(super) folder: PathBuf,
    pub(super) columns: Columns,
    /// How many rows a part has.
    pub(super) part_rows: usize,
    pub(super) state: Mutex<State>,
}

/// The tables that are kept of a run beside its row, each in a file of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tables<'a> {
    /// The curves of the run, a row for each instant.
    pub curves: Option<&'a Table>,
    /// A row for each flow.
    pub flows: Option<&'a Table>,
}

pub(super) struct State {
    pub journal: Option<Journal>,
    /// When the journal was last made durable.
    pub synced: Instant,
}

impl Writer {
    /// Begins to keep rows in a folder. The first journal is made at once, so that it is known before
    /// the first run whether anything can be kept.
    pub(super) fn new(folder: &Path, columns: Columns) -> Result<Writer, Failure> {
        let journal = Journal::create(&folder.join(JOURNAL))?;
        let state = Mutex::new(State { journal: Some(journal), synced: Instant::now() });
        Ok(Writer { folder: folder.to_path_buf(), columns, part_rows: PART_ROWS, state })
    }

    /// Keeps a finished run. When this returns, a process that is killed does not lose it; a
    /// machine that loses its power loses about a second.
    pub fn append(&self, task: &Task, row: &Row, tables: Tables<'_>) -> Result<(), Failure> {
        self.keep(&Record::new(&self.columns, task, row), tables)
    }

    /// Keeps a record as a line of the journal, after its tables.
    pub(super) fn keep(&self, record: &Record, tables: Tables<'_>) -> Result<(), Failure> {
        let line = record.line();
        // They are there before the row, so that no row lacks its tables.
        for (folder, table) in [(SERIES, tables.curves), (FLOWS, tables.flows)] {
            if let Some(table) = table {
                self.put_table(record, folder, table)?;
            }
        }
        let (full, unsynced) = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let rows = state.append(&self.folder.join(JOURNAL), &line)?;
            let full = if rows >= self.part_rows { state.journal.take() } else { None };
            let unsynced = if full.is_none() && state.synced.elapsed() >= SYNC_EVERY {
                state.journal.as_ref().map(|it| (it.file(), it.path().to_owned()))
            } else {
                None
            };
            if full.is_some() || unsynced.is_some() {
                state.synced = Instant::now();
            }
            (full, unsynced)
        };
        // What takes long, the other threads need not wait for.
        if let Some((file, path)) = unsynced {
            file.sync_data().map_err(|error| Failure::write(&path, &error))?;
        }
        if let Some(journal) = full {
            journal.seal(&self.folder.join(PARTS))?;
        }
        Ok(())
    }

    /// Puts the rows that are not in a part yet into one. Without this they stay in the journal,
    /// where they are found as well.
    pub fn seal(self) -> Result<(), Failure> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(journal) = state.journal {
            journal.seal(&self.folder.join(PARTS))?;
        }
        Ok(())
    }

    fn put_table(&self, record: &Record, folder: &str, table: &Table) -> Result<(), Failure> {
        let folder = self.folder.join(folder);
        fs::create_dir_all(&folder).map_err(|error| Failure::write(&folder, &error))?;
        let notes = [
            ("version", record.version.as_str()),
            ("scenario", &record.scenario),
            ("seed", &record.seed.to_string()),
        ];
        let target = folder.join(format!("{}.parquet", record.task));
        disk::put(&target, &parquet(table, &notes))
    }
}

impl State {
    /// Adds a line; how many there are then.
    fn append(&mut self, folder: &Path, line: &str) -> Result<usize, Failure> {
        let mut journal = match self.journal.take() {
            Some(journal) => journal,
            None => Journal::create(folder)?,
        };
        if let Err(torn) = journal.append(line) {
            if torn.is_whole {
                self.journal = Some(journal);
            }
            return Err(torn.failure);
        }
        let rows = journal.rows;
        self.journal = Some(journal);
        Ok(rows)
    }
}

/// How often a journal is made durable against a loss of power.
const SYNC_EVERY: Duration = Duration::from_secs(1);
