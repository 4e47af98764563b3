//! The merged results of a campaign.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::disk::Hashing;
use super::failure::Failure;
use super::{CHECKSUM, RESULTS};
use crate::sweep::campaign::Campaign;
use pauseless_run::table::Table;
use pauseless_run::table::read::{Book, ReadError};

/// The merged results of a campaign.
pub struct Results {
    path: PathBuf,
    book: Book<File>,
}

impl Results {
    pub(super) fn open(folder: &Path) -> Result<Results, Failure> {
        let path = folder.join(RESULTS);
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Failure::new(&path, "there are no merged results", MERGE));
            }
            other => other.map_err(|error| Failure::read(&path, &error))?,
        };
        let mut hashing = Hashing::new(io::sink());
        io::copy(&mut &file, &mut hashing).map_err(|error| Failure::read(&path, &error))?;
        let (_, hash) = hashing.finish();
        let expected = fs::read_to_string(folder.join(CHECKSUM)).unwrap_or_default();
        if expected.split_whitespace().next() != Some(hash.as_str()) {
            let message = format!("is damaged: {CHECKSUM} beside it has another hash");
            return Err(Failure::new(&path, message, MERGE));
        }
        let book = Book::open(file).map_err(|error| wrong(&path, &error))?;
        Ok(Results { path, book })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.book.rows()
    }

    /// How many tasks the campaign had. If these are more than the rows, the results are partial.
    pub fn tasks(&self) -> usize {
        self.book.note("tasks").and_then(|text| text.parse().ok()).unwrap_or(self.rows())
    }

    /// The version of the program that made the results.
    pub fn version(&self) -> &str {
        self.book.note("version").unwrap_or_default()
    }

    /// Whether they are those of this campaign as its file is now, whichever version of the program
    /// has made them.
    pub fn are_of(&self, campaign: &Campaign) -> bool {
        self.book.note("digest") == Some(&*campaign.digest())
    }

    /// Whether no run is missing.
    pub fn are_whole(&self) -> bool {
        self.rows() == self.tasks()
    }

    /// How many groups of rows there are; each can be taken by itself.
    pub fn groups(&self) -> usize {
        self.book.groups()
    }

    /// The columns of these names in a group of rows.
    pub fn group(&self, group: usize, columns: &[&str]) -> Result<Table, Failure> {
        let columns = self.book.read(group, columns);
        Ok(Table {
            name: NAME.to_string(),
            columns: columns.map_err(|error| wrong(&self.path, &error))?,
        })
    }

    /// The columns of these names in all rows.
    pub fn table(&self, columns: &[&str]) -> Result<Table, Failure> {
        let known = self.book.columns().map_err(|error| wrong(&self.path, &error))?;
        let mut all = Vec::new();
        for name in columns {
            let column = known.iter().find(|column| column.name == *name);
            let missing = || wrong(&self.path, &ReadError::Missing((*name).to_string()));
            all.push(column.ok_or_else(missing)?.clone());
        }
        for group in 0..self.groups() {
            let more = self.group(group, columns)?;
            for (column, more) in all.iter_mut().zip(more.columns) {
                column.cells.extend(more.cells);
            }
        }
        Ok(Table::new(NAME.to_string(), all))
    }
}

/// Refuses to replace results that are another campaign's. What cannot be read is nobody's.
pub(super) fn refuse_other(path: &Path, campaign: &str) -> Result<(), Failure> {
    let book = File::open(path).ok().and_then(|it| Book::open(it).ok());
    match book.as_ref().and_then(|book| book.note("campaign")) {
        Some(other) if other != campaign => {
            let message = format!("has the results of {other}, not of {campaign}");
            let help = "use another --out; if nobody needs it any more, delete it";
            Err(Failure::new(path, message, help))
        }
        _ => Ok(()),
    }
}

fn wrong(path: &Path, error: &ReadError) -> Failure {
    Failure::new(path, format!("does not have what is needed: {error}"), MERGE)
}

const NAME: &str = "results";
const MERGE: &str = "`pauseless sweep merge FILE` writes it anew, from the parts";
