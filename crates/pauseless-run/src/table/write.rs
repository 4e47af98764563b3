//! Parquet files, written group of rows by group of rows.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result as Written};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::{Cells, Column};

/// A Parquet file that is being written.
pub struct Sheet<W: Write + Send> {
    file: SerializedFileWriter<W>,
}

impl<W: Write + Send> Sheet<W> {
    /// Begins a file with columns of these names and kinds, and `notes` on what it holds.
    pub fn new(out: W, columns: &[Column], notes: &[(&str, &str)]) -> io::Result<Sheet<W>> {
        Sheet::begin(out, columns, notes).map_err(plain)
    }

    fn begin(out: W, columns: &[Column], notes: &[(&str, &str)]) -> Written<Sheet<W>> {
        let fields: Written<Vec<_>> = columns.iter().map(field).collect();
        let schema = Type::group_type_builder("schema").with_fields(fields?);
        let notes = notes.iter().map(|(key, value)| KeyValue {
            key: format!("{PREFIX}{key}"),
            value: Some((*value).to_string()),
        });
        let version = concat!("pauseless ", env!("CARGO_PKG_VERSION"));
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(version.to_string())
            .set_key_value_metadata(Some(notes.collect()));
        let schema = Arc::new(schema.build()?);
        let file = SerializedFileWriter::new(out, schema, Arc::new(properties.build()))?;
        Ok(Sheet { file })
    }

    /// Adds a group of rows. Readers take a group at a time, so do not make many small ones.
    pub fn add(&mut self, columns: &[Column]) -> io::Result<()> {
        self.add_group(columns).map_err(plain)
    }

    fn add_group(&mut self, columns: &[Column]) -> Written<()> {
        let mut group = self.file.next_row_group()?;
        for column in columns {
            write_column(&mut group, &column.cells)?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes the end of the file and hands back what it was written to.
    pub fn finish(self) -> io::Result<W> {
        self.file.into_inner().map_err(plain)
    }
}

fn field(column: &Column) -> Written<Arc<Type>> {
    let builder = |physical| Type::primitive_type_builder(&column.name, physical);
    let text = || builder(Physical::BYTE_ARRAY).with_logical_type(Some(LogicalType::String));
    let unsigned = LogicalType::integer(64, false);
    let whole = || builder(Physical::INT64).with_logical_type(Some(unsigned.clone()));
    let builder = match column.cells {
        Cells::Numbers(_) => builder(Physical::DOUBLE).with_repetition(Repetition::OPTIONAL),
        Cells::Texts(_) => text().with_repetition(Repetition::REQUIRED),
        Cells::Notes(_) => text().with_repetition(Repetition::OPTIONAL),
        Cells::Counts(_) => whole().with_repetition(Repetition::REQUIRED),
        Cells::Wholes(_) => whole().with_repetition(Repetition::OPTIONAL),
    };
    Ok(Arc::new(builder.build()?))
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    cells: &Cells,
) -> Written<()> {
    let Some(mut column) = group.next_column()? else {
        return Ok(());
    };
    match cells {
        Cells::Numbers(cells) => {
            let values: Vec<f64> = cells.iter().flatten().copied().collect();
            column.typed::<DoubleType>().write_batch(&values, Some(&levels(cells)), None)?;
        }
        Cells::Texts(cells) => {
            let values: Vec<ByteArray> = cells.iter().map(|cell| cell.as_str().into()).collect();
            column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        }
        Cells::Notes(cells) => {
            let values = cells.iter().flatten().map(|cell| cell.as_str().into());
            let values: Vec<ByteArray> = values.collect();
            let writer = column.typed::<ByteArrayType>();
            writer.write_batch(&values, Some(&levels(cells)), None)?;
        }
        Cells::Counts(cells) => {
            let values: Vec<i64> = cells.iter().map(|cell| cell.cast_signed()).collect();
            column.typed::<Int64Type>().write_batch(&values, None, None)?;
        }
        Cells::Wholes(cells) => {
            let values: Vec<i64> = cells.iter().flatten().map(|cell| cell.cast_signed()).collect();
            column.typed::<Int64Type>().write_batch(&values, Some(&levels(cells)), None)?;
        }
    }
    column.close()
}

/// A level says whether there is a value.
fn levels<T>(cells: &[Option<T>]) -> Vec<i16> {
    cells.iter().map(|cell| i16::from(cell.is_some())).collect()
}

/// The error of the file below, such as a full disk, where that is what went wrong.
fn plain(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

/// What the names of all notes begin with, since other programs leave theirs there as well.
pub(super) const PREFIX: &str = "pauseless.";
