//! Where finished runs are kept: those of a campaign ([`Store`]) and those of the experiments of a
//! paper ([`Samples`]), in the same form.
//!
//! ```text
//!   run --append--> journal/PROCESS.jsonl --seal--> parts/HASH.parquet --merge--> results.parquet
//!   its flows ----> flows/TASK.parquet -------------------------------- --merge--> flows.parquet
//! ```
//!
//! Curves and flows of a run are on the disk before its row is in a journal, in files named by its
//! task: a row that lacks them counts as none, and a run that is made twice writes the same file.
//! A row is safe as soon as it is in a journal. Journals are sealed as parts, and a journal is
//! deleted only when its part is on the disk; so a row may be in both, but never in neither. Rows
//! are known by the names of their tasks, and what is there twice counts once. Parts are never
//! changed and never deleted. Any number of processes may work in one folder at once: each has
//! journals of its own, and readers look into journals first and into parts afterwards, so that no
//! row that is sealed in the meantime escapes them.

mod adopt;
mod columns;
mod disk;
mod failure;
mod flows;
mod index;
mod journal;
mod merge;
mod part;
mod record;
mod results;
mod samples;
mod writer;

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) use columns::Identity;
pub use columns::{Columns, axis_column};
pub use failure::Failure;
pub use index::Findings;
pub use merge::{Merge, Merged};
pub use results::Results;
pub use samples::Samples;
pub use writer::{Tables, Writer};

pub(super) use columns::FIXED;

use super::campaign::Campaign;
use super::plan::Plan;
use super::row::Name;
use index::Index;
use journal::Journal;

/// The results of a campaign.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    columns: Columns,
    curves: Vec<String>,
    keeps_flows: bool,
    part_rows: usize,
    warnings: Vec<String>,
}

impl Store {
    /// Opens the folder to work in it. Makes it if there is none, and seals what processes that
    /// are dead have left behind.
    pub fn open(folder: &Path, campaign: &Campaign) -> Result<Store, Failure> {
        let store = Store::of(folder, campaign)?;
        Ok(Store { warnings: recover(folder)?, ..store })
    }

    /// Opens the folder to look into it. Changes nothing, but for results that are merged.
    pub fn read_only(folder: &Path, campaign: &Campaign) -> Result<Store, Failure> {
        if !folder.is_dir() {
            let message = "there is no such folder";
            let help = "`pauseless sweep FILE` makes it, and --out says where";
            return Err(Failure::new(folder, message, help));
        }
        Store::of(folder, campaign)
    }

    pub(crate) fn of(folder: &Path, campaign: &Campaign) -> Result<Store, Failure> {
        Ok(Store {
            folder: folder.to_path_buf(),
            columns: Columns::of(campaign, folder)?,
            curves: campaign.curves.clone(),
            keeps_flows: campaign.keeps_flows,
            part_rows: PART_ROWS,
            warnings: Vec::new(),
        })
    }

    /// The same store with parts of another size, for tests that have few rows.
    #[doc(hidden)]
    pub fn with_part_rows(mut self, part_rows: usize) -> Store {
        self.part_rows = part_rows;
        self
    }

    /// The folder of the store.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The columns of its results.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Damage that was found when the store was opened, and that costs no more than a few runs.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// All tasks that have a row with what the campaign keeps.
    pub fn finished(&self) -> Result<Finished, Failure> {
        let mut index = Index::build(&[self])?;
        if !self.curves.is_empty() {
            index = index.with_tables(&self.folder.join(SERIES), &self.curves)?;
        }
        if self.keeps_flows {
            index = index.with_tables(&self.folder.join(FLOWS), &flows::columns())?;
        }
        index.forget_rows();
        Ok(Finished { index })
    }

    /// Begins to keep rows.
    pub fn writer(&self) -> Result<Writer, Failure> {
        let writer = Writer::new(&self.folder, self.columns.clone())?;
        Ok(Writer { part_rows: self.part_rows, ..writer })
    }

    /// Brings the rows and curves of another folder into this one, so that they count here from now
    /// on; how many rows came. Doing it again brings only what is new. Lines of journals that are
    /// damaged are left behind, as everywhere.
    pub fn adopt(&self, other: &Store) -> Result<usize, Failure> {
        adopt::adopt(self, other)
    }

    /// Puts all rows of a plan into one file, in the order of the plan. Its bytes depend on the
    /// rows alone.
    pub fn merge(&self, plan: &Plan, how: &Merge<'_>) -> Result<Merged, Failure> {
        merge::merge(self, plan, how)
    }

    /// Opens the merged results.
    pub fn results(&self) -> Result<Results, Failure> {
        Results::open(&self.folder)
    }
}

/// Makes the folders of rows if there are none, and seals the journals that processes that are dead
/// have left behind; what was wrong with these and does not matter.
fn recover(folder: &Path) -> Result<Vec<String>, Failure> {
    for folder in [folder.join(PARTS), folder.join(JOURNAL)] {
        fs::create_dir_all(&folder).map_err(|error| Failure::write(&folder, &error))?;
    }
    let mut warnings = Vec::new();
    for path in disk::list(&folder.join(JOURNAL), journal::EXTENSION)? {
        let Some(journal) = Journal::adopt(&path) else {
            continue;
        };
        match journal.seal(&folder.join(PARTS)) {
            Ok(lines) => warnings.extend(lines.iter().map(|line| index::damaged(&path, *line))),
            // It is read where it is.
            Err(failure) => warnings.push(failure.to_string()),
        }
    }
    Ok(warnings)
}

/// The tasks that have a row.
pub struct Finished {
    index: Index,
}

impl Finished {
    /// Whether a task is among them.
    pub fn contains(&self, task: &Name) -> bool {
        self.index.find(task).is_some()
    }

    /// The findings of a task's run, if it has a row.
    pub fn findings(&self, task: &Name) -> Option<Findings> {
        Some(self.index.find(task)?.findings)
    }

    /// How many there are, with those of other versions of the program and of the campaign.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Damage that costs no more than a few runs.
    pub fn warnings(&self) -> &[String] {
        &self.index.warnings
    }
}

const PARTS: &str = "parts";
const JOURNAL: &str = "journal";
const SERIES: &str = "series";
const FLOWS: &str = "flows";
const DOCUMENTS: &str = "documents";
const RESULTS: &str = "results.parquet";
const CHECKSUM: &str = "results.parquet.sha256";

/// How many rows a part has: few enough that sealing one takes no time that anybody notices.
const PART_ROWS: usize = 1_024;
