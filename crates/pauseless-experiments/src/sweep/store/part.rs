//! Parts: sealed rows as Parquet.
//!
//! A part is named by the hash of its bytes. So the same rows sealed twice are one file, and a
//! damaged one is noticed before anything is decoded.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use sha2::{Digest, Sha256};

use super::columns::{ENDED, ERROR, TASK};
use super::disk;
use super::failure::Failure;
use super::record::{Record, columns};
use crate::sweep::row::{Name, Row};
pub use pauseless_run::table::read::{Book, ReadError};
use pauseless_run::table::{Cells, Column, Table, parquet};

/// Writes a part with these records, which all have the same columns. Says how many of them were
/// not there before.
pub(super) fn write(records: &[&Record], parts: &Path) -> Result<usize, Failure> {
    let table = Table { name: "part".to_string(), columns: columns(records) };
    let bytes = parquet(&table, &[("format", FORMAT)]);
    let target = parts.join(format!("{}.{EXTENSION}", hash(&bytes)));
    let is_there = target.exists();
    disk::put(&target, &bytes)?;
    Ok(if is_there { 0 } else { records.len() })
}

/// Copies a part to a folder, unless it is there; how many rows it brings.
pub(super) fn copy(path: &Path, parts: &Path) -> Result<usize, Failure> {
    let target = parts.join(path.file_name().expect("a file"));
    if target.exists() {
        return Ok(0);
    }
    let bytes = Bytes::from(sound(path)?);
    let rows = decode(bytes.clone(), &[]).map_err(|error| foreign(path, &error))?;
    disk::put(&target, &bytes)?;
    Ok(rows.map_or(0, |rows| rows.len()))
}

/// The rows of a part with these numbers; `None` if it lacks one of them.
pub fn read(path: &Path, numbers: &[String]) -> Result<Option<Vec<Row>>, Failure> {
    let bytes = Bytes::from(sound(path)?);
    decode(bytes, numbers).map_err(|error| foreign(path, &error))
}

/// All numbers of a part by their names, and its rows.
pub(super) fn read_all(path: &Path) -> Result<(Vec<String>, Vec<Row>), Failure> {
    let bytes = Bytes::from(sound(path)?);
    let read = || {
        let columns = Book::open(bytes.clone())?.columns()?.into_iter();
        let numbers = columns.filter(|column| matches!(column.cells, Cells::Numbers(_)));
        let names = Vec::from_iter(numbers.map(|column| column.name));
        let rows = decode(bytes.clone(), &names)?;
        Ok((names, rows.unwrap_or_default()))
    };
    read().map_err(|error| foreign(path, &error))
}

/// The bytes of a part, if they are those that it was named by.
fn sound(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::read(path, &error))?;
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let Some(name) = stem.and_then(Name::parse) else {
        return Err(broken(path, "is not a part of results: its name is no hash"));
    };
    if hash(&bytes) != name {
        return Err(broken(path, "is damaged: its name is not the hash of what is in it"));
    }
    Ok(bytes)
}

fn foreign(path: &Path, error: &ReadError) -> Failure {
    broken(path, format!("is not a part of results: {error}"))
}

fn decode(bytes: Bytes, numbers: &[String]) -> Result<Option<Vec<Row>>, ReadError> {
    let book = Book::open(bytes)?;
    let known = book.columns()?;
    let mut names = vec![TASK, ENDED, ERROR];
    for name in &names {
        if !known.iter().any(|column| column.name == *name) {
            return Err(ReadError::Missing((*name).to_string()));
        }
    }
    let is_kept = |name: &String| {
        let column = known.iter().find(|column| column.name == *name);
        column.is_some_and(|column| matches!(column.cells, Cells::Numbers(_)))
    };
    if !numbers.iter().all(is_kept) {
        return Ok(None);
    }
    names.extend(numbers.iter().map(String::as_str));
    let mut rows = Vec::with_capacity(book.rows());
    for group in 0..book.groups() {
        take(book.read(group, &names)?, &mut rows)?;
    }
    Ok(Some(rows))
}

fn take(columns: Vec<Column>, rows: &mut Vec<Row>) -> Result<(), ReadError> {
    let wrong = |name: &str| ReadError::Type(name.to_string());
    let mut columns = columns.into_iter().map(|column| column.cells);
    let (Some(Cells::Texts(tasks)), Some(Cells::Texts(ended)), Some(Cells::Notes(errors))) =
        (columns.next(), columns.next(), columns.next())
    else {
        return Err(wrong(&[TASK, ENDED, ERROR].join(", ")));
    };
    let numbers: Vec<Vec<Option<f64>>> = columns
        .map(|cells| match cells {
            Cells::Numbers(cells) => cells,
            _ => unreachable!("only numbers were asked for"),
        })
        .collect();
    for (place, ((task, ended), error)) in tasks.iter().zip(ended).zip(errors).enumerate() {
        rows.push(Row {
            task: Name::parse(task).ok_or_else(|| wrong(TASK))?,
            ended,
            error,
            numbers: numbers.iter().map(|cells| cells[place]).collect(),
        });
    }
    Ok(())
}

fn broken(path: &Path, message: impl Into<String>) -> Failure {
    let help = "move it away: its runs are made again, and nothing else is touched";
    Failure::new(path, message, help)
}

fn hash(bytes: &[u8]) -> Name {
    let mut name = [0; 16];
    name.copy_from_slice(&Sha256::digest(bytes)[..16]);
    Name(name)
}

/// How the names of parts end.
pub(super) const EXTENSION: &str = "parquet";

/// The version of the layout.
const FORMAT: &str = "1";
