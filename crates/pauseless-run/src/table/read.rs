//! Parquet files, read group of rows by group of rows.
//!
//! Only files that [`super::write`] has written are read, so only the types that it writes are
//! known. The library that decodes them may panic at damaged bytes: whoever reads a file that may
//! be damaged compares its checksum first.

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};

use super::write::PREFIX;
use super::{Cells, Column};

/// All columns of a file.
pub fn all<R: ChunkReader + 'static>(file: R) -> Result<Vec<Column>, ReadError> {
    let book = Book::open(file)?;
    let mut all = book.columns()?;
    let names = Vec::from_iter(all.iter().map(|column| column.name.clone()));
    let names = Vec::from_iter(names.iter().map(String::as_str));
    for group in 0..book.groups() {
        for (all, more) in all.iter_mut().zip(book.read(group, &names)?) {
            all.cells.extend(more.cells);
        }
    }
    Ok(all)
}

/// A Parquet file that is read.
pub struct Book<R: ChunkReader + 'static> {
    file: SerializedFileReader<R>,
}

impl<R: ChunkReader + 'static> Book<R> {
    /// Reads what the file says about itself.
    pub fn open(file: R) -> Result<Book<R>, ReadError> {
        let file = SerializedFileReader::new(file)?;
        Ok(Book { file })
    }

    /// What the file holds, as it was noted when it was written.
    pub fn note(&self, key: &str) -> Option<&str> {
        let notes = self.file.metadata().file_metadata().key_value_metadata()?;
        let is_it = |name: &str| name.strip_prefix(PREFIX) == Some(key);
        notes.iter().find(|note| is_it(&note.key))?.value.as_deref()
    }

    /// The columns without their cells.
    pub fn columns(&self) -> Result<Vec<Column>, ReadError> {
        let schema = self.file.metadata().file_metadata().schema_descr();
        let mut columns = Vec::new();
        for column in schema.columns() {
            let is_required =
                column.self_type().get_basic_info().repetition() == Repetition::REQUIRED;
            let text = Some(&LogicalType::String);
            let unsigned = Some(LogicalType::integer(64, false));
            let logical = column.logical_type_ref();
            let cells = match (column.physical_type(), is_required) {
                (Physical::DOUBLE, false) => Cells::Numbers(Vec::new()),
                (Physical::BYTE_ARRAY, true) if logical == text => Cells::Texts(Vec::new()),
                (Physical::BYTE_ARRAY, false) if logical == text => Cells::Notes(Vec::new()),
                (Physical::INT64, true) if logical == unsigned.as_ref() => {
                    Cells::Counts(Vec::new())
                }
                (Physical::INT64, false) if logical == unsigned.as_ref() => {
                    Cells::Wholes(Vec::new())
                }
                _ => return Err(ReadError::Type(column.name().to_string())),
            };
            columns.push(Column { name: column.name().to_string(), cells });
        }
        Ok(columns)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.file.metadata().file_metadata().num_rows() as usize
    }

    /// How many groups of rows there are.
    pub fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    /// The columns of these names in a group of rows.
    pub fn read(&self, group: usize, names: &[&str]) -> Result<Vec<Column>, ReadError> {
        let known = self.columns()?;
        let group = self.file.get_row_group(group)?;
        let mut columns = Vec::new();
        for name in names {
            let place = known.iter().position(|column| column.name == *name);
            let place = place.ok_or_else(|| ReadError::Missing((*name).to_string()))?;
            let cells = read_column(group.as_ref(), place, &known[place].cells)?;
            columns.push(Column { name: (*name).to_string(), cells });
        }
        Ok(columns)
    }
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file has no such column.
    #[error("it has no column {0}")]
    Missing(String),
    /// A column is of a type that is never written.
    #[error("its column {0} is of a type that pauseless does not write")]
    Type(String),
    /// The file is damaged, or is no Parquet file.
    #[error("{0}")]
    Parquet(#[from] ParquetError),
    /// A text is none.
    #[error("a text in it is not UTF-8")]
    Text,
}

fn read_column(group: &dyn RowGroupReader, place: usize, kind: &Cells) -> Result<Cells, ReadError> {
    let rows = group.metadata().num_rows() as usize;
    let reader = group.get_column_reader(place)?;
    Ok(match (kind, reader) {
        (Cells::Numbers(_), ColumnReader::DoubleColumnReader(reader)) => {
            Cells::Numbers(optional(reader, rows)?)
        }
        (Cells::Texts(_), ColumnReader::ByteArrayColumnReader(reader)) => {
            let cells = required(reader, rows)?;
            Cells::Texts(cells.iter().map(text).collect::<Result<_, _>>()?)
        }
        (Cells::Notes(_), ColumnReader::ByteArrayColumnReader(reader)) => {
            let cells = optional(reader, rows)?;
            let texts = cells.iter().map(|cell| cell.as_ref().map(text).transpose());
            Cells::Notes(texts.collect::<Result<_, _>>()?)
        }
        (Cells::Counts(_), ColumnReader::Int64ColumnReader(reader)) => {
            let cells = required(reader, rows)?;
            Cells::Counts(cells.into_iter().map(i64::cast_unsigned).collect())
        }
        (Cells::Wholes(_), ColumnReader::Int64ColumnReader(reader)) => {
            let cells = optional(reader, rows)?.into_iter();
            Cells::Wholes(cells.map(|cell| cell.map(i64::cast_unsigned)).collect())
        }
        _ => unreachable!("the kind follows from the type"),
    })
}

fn text(bytes: &ByteArray) -> Result<String, ReadError> {
    Ok(std::str::from_utf8(bytes.data()).map_err(|_| ReadError::Text)?.to_string())
}

fn required<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
) -> Result<Vec<T::T>, ParquetError> {
    let mut values = Vec::with_capacity(rows);
    while values.len() < rows {
        let (records, ..) = reader.read_records(rows - values.len(), None, None, &mut values)?;
        if records == 0 {
            return Err(short(values.len(), rows));
        }
    }
    Ok(values)
}

fn optional<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
) -> Result<Vec<Option<T::T>>, ParquetError> {
    let mut values = Vec::new();
    let mut levels = Vec::with_capacity(rows);
    while levels.len() < rows {
        let left = rows - levels.len();
        let (records, ..) = reader.read_records(left, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Err(short(levels.len(), rows));
        }
    }
    let mut values = values.into_iter();
    let cells = levels.iter().map(|level| match level {
        0 => None,
        _ => values.next(),
    });
    Ok(cells.collect())
}

fn short(found: usize, rows: usize) -> ParquetError {
    ParquetError::General(format!("a column ends after {found} of {rows} rows"))
}
