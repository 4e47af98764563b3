//! Where every task's row is.

use std::collections::BTreeSet;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::failure::Failure;
use super::{JOURNAL, PARTS, Store, disk, journal, part};
use crate::sweep::row::{Name, Row};
pub use pauseless_run::table::read::Book;

/// Where every task's row is, in a few bytes for each.
pub(super) struct Index {
    files: Vec<Source>,
    /// One entry for each task, in the order of their names.
    entries: Vec<Entry>,
    /// Damage that costs no more than a few runs.
    pub warnings: Vec<String>,
}

/// A file that has rows.
enum Source {
    Part(PathBuf),
    /// A journal may be sealed at any time, so its rows, which are few, are kept here.
    Journal(PathBuf, Vec<Row>),
}

/// Where a row is, and what it says.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub name: Name,
    file: u32,
    row: u32,
    /// Differs if the rows do.
    digest: u32,
    pub findings: Findings,
}

/// The findings of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Whether it has found a deadlock.
    pub deadlock: bool,
    /// Whether a flow starves in it.
    pub starved: bool,
    /// Whether it was too short to tell whether a flow starves.
    pub undecided: bool,
    /// Whether a packet was lost in it.
    pub lost: bool,
    /// Whether it could not be made.
    pub error: bool,
}

impl Findings {
    /// The findings of a row, in a campaign that keeps these numbers.
    pub fn of(numbers: &[String], row: &Row) -> Findings {
        let above_zero = |name: &str| {
            let number = numbers.iter().position(|it| it == name);
            let number = number.and_then(|place| row.numbers[place]);
            number.is_some_and(|number| number > 0.0)
        };
        Findings {
            deadlock: above_zero("deadlock"),
            starved: above_zero("starved"),
            undecided: above_zero("undecided"),
            lost: above_zero("lost"),
            error: row.error.is_some(),
        }
    }
}

impl Index {
    /// Finds all rows that have what the stores' campaign keeps.
    pub fn build(stores: &[&Store]) -> Result<Index, Failure> {
        let mut index = Index { files: Vec::new(), entries: Vec::new(), warnings: Vec::new() };
        for store in stores {
            let numbers = &store.columns.numbers;
            // Journals come first: what leaves one in the meantime is in a part by then.
            let journals = index.journals(store)?;
            for path in disk::list(&store.folder.join(PARTS), part::EXTENSION)? {
                if let Some(rows) = part::read(&path, numbers)? {
                    index.add(Source::Part(path), &rows, numbers);
                }
            }
            for (path, rows) in journals {
                index.add(Source::Journal(path, Vec::new()), &rows, numbers);
                if let Some(Source::Journal(_, kept)) = index.files.last_mut() {
                    *kept = rows;
                }
            }
        }
        index.sort()?;
        Ok(index)
    }

    /// Leaves out what does not have a table with all of these columns in a folder yet.
    pub fn with_tables(mut self, folder: &Path, columns: &[String]) -> Result<Index, Failure> {
        let files = disk::list(folder, "parquet")?;
        let there = files.par_iter().filter_map(|path| {
            let name = Name::parse(path.file_stem()?.to_str()?)?;
            has_columns(path, columns).then_some(name)
        });
        let there: BTreeSet<Name> = there.collect();
        let is_whole = |entry: &Entry| entry.findings.error || there.contains(&entry.name);
        self.entries.retain(is_whole);
        Ok(self)
    }

    fn journals(&mut self, store: &Store) -> Result<Vec<(PathBuf, Vec<Row>)>, Failure> {
        let mut journals = Vec::new();
        for path in disk::list(&store.folder.join(JOURNAL), journal::EXTENSION)? {
            let Some(contents) = journal::read(&path)? else {
                continue;
            };
            for line in contents.damaged {
                self.warnings.push(damaged(&path, line));
            }
            let records = contents.records.iter();
            let rows = records.filter_map(|record| record.row(&store.columns.numbers));
            journals.push((path, rows.collect()));
        }
        Ok(journals)
    }

    fn add(&mut self, file: Source, rows: &[Row], numbers: &[String]) {
        let number = self.files.len() as u32;
        self.files.push(file);
        self.entries.extend(rows.iter().enumerate().map(|(place, row)| Entry {
            name: row.task,
            file: number,
            row: place as u32,
            digest: digest(row),
            findings: Findings::of(numbers, row),
        }));
    }

    /// Brings the entries into order, and leaves one of each.
    fn sort(&mut self) -> Result<(), Failure> {
        self.entries.sort_unstable_by_key(|it| (it.name, it.file, it.row));
        for same in self.entries.chunk_by(|one, other| one.name == other.name) {
            let differs = same.iter().find(|entry| entry.digest != same[0].digest);
            if let Some(other) = differs {
                return Err(self.differ(&same[0], other));
            }
        }
        self.entries.dedup_by_key(|it| it.name);
        Ok(())
    }

    fn differ(&self, one: &Entry, other: &Entry) -> Failure {
        let (task, there) = (one.name, self.path(other).display());
        let message = format!("has a row of task {task} that differs from that in {there}");
        let help = "the same run must always give the same row: if one of the files was changed \
            or comes from a machine that is not to be trusted, move it away; if not, this is a bug \
            in pauseless, please report it";
        Failure::new(self.path(one), message, help)
    }

    fn path(&self, entry: &Entry) -> &Path {
        match &self.files[entry.file as usize] {
            Source::Part(path) | Source::Journal(path, _) => path,
        }
    }

    /// The entry of a task.
    pub fn find(&self, name: &Name) -> Option<&Entry> {
        let place = self.entries.binary_search_by_key(name, |entry| entry.name);
        Some(&self.entries[place.ok()?])
    }

    /// How many tasks have a row.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Gives up the rows that are held, so that only names are left.
    pub fn forget_rows(&mut self) {
        self.files = Vec::new();
    }

    /// The rows at these entries, each handed over with the place of its entry. Every file is read
    /// once.
    pub fn fetch(
        &self,
        entries: &[Option<Entry>],
        numbers: &[String],
    ) -> Result<Vec<Option<Row>>, Failure> {
        let mut wanted: Vec<(u32, u32, usize)> = Vec::new();
        for (place, entry) in entries.iter().enumerate() {
            wanted.extend(entry.map(|entry| (entry.file, entry.row, place)));
        }
        wanted.sort_unstable();
        let mut found = vec![None; entries.len()];
        for of_file in wanted.chunk_by(|one, other| one.0 == other.0) {
            let read;
            let rows = match &self.files[of_file[0].0 as usize] {
                Source::Journal(_, rows) => rows,
                Source::Part(path) => {
                    read = part::read(path, numbers)?.unwrap_or_default();
                    &read
                }
            };
            for (_, row, place) in of_file {
                found[*place] = rows.get(*row as usize).cloned();
            }
        }
        Ok(found)
    }
}

/// Whether a file has all of these columns. One that cannot be read is as good as none: it is written
/// anew.
pub(super) fn has_columns(path: &Path, columns: &[String]) -> bool {
    let book = File::open(path).ok().and_then(|it| Book::open(it).ok());
    let known = book.and_then(|book| book.columns().ok());
    known.is_some_and(|known| {
        let has = |name: &String| known.iter().any(|column| column.name == *name);
        columns.iter().all(has)
    })
}

/// The warning about a damaged line of a journal.
pub(super) fn damaged(path: &Path, line: usize) -> String {
    let path = path.display();
    format!("{path}:{line}: the line is damaged; its run is made again")
}

fn digest(row: &Row) -> u32 {
    let mut hasher = DefaultHasher::new();
    (&row.ended, &row.error).hash(&mut hasher);
    for number in &row.numbers {
        number.map(f64::to_bits).hash(&mut hasher);
    }
    hasher.finish() as u32
}
