//! Tables as files: CSV for eyes and spreadsheets, Parquet for pandas and DuckDB.

pub mod read;
pub mod write;

use std::borrow::Cow;

/// A table of data, column by column.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The stem of its files, such as `series`.
    pub name: String,
    /// The columns of the table, all of one length.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name with the unit, such as `time_ms`.
    pub name: String,
    /// The values of the column, one per row.
    pub cells: Cells,
}

impl Table {
    /// A table of these columns.
    pub fn new(name: impl Into<String>, columns: Vec<Column>) -> Table {
        let name = name.into();
        Table { name, columns }
    }
}

impl Column {
    /// A column of these cells.
    pub fn new(name: impl Into<String>, cells: Cells) -> Column {
        let name = name.into();
        Column { name, cells }
    }

    /// A column of numbers.
    pub fn numbers(
        name: impl Into<String>,
        cells: impl IntoIterator<Item = Option<f64>>,
    ) -> Column {
        Column::new(name, Cells::Numbers(cells.into_iter().collect()))
    }

    /// A column of texts.
    pub fn texts(name: impl Into<String>, cells: impl IntoIterator<Item = String>) -> Column {
        Column::new(name, Cells::Texts(cells.into_iter().collect()))
    }
}

/// The cells of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Numbers; `None` where nothing was measured.
    Numbers(Vec<Option<f64>>),
    /// Texts that every row has, such as names.
    Texts(Vec<String>),
    /// Texts that are there only in some rows, such as messages.
    Notes(Vec<Option<String>>),
    /// Whole numbers of 64 bits, which doubles would round, such as seeds.
    Counts(Vec<u64>),
    /// Whole numbers of 64 bits; `None` where nothing was measured.
    Wholes(Vec<Option<u64>>),
}

impl Cells {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Cells::Numbers(cells) => cells.len(),
            Cells::Texts(cells) => cells.len(),
            Cells::Notes(cells) => cells.len(),
            Cells::Counts(cells) => cells.len(),
            Cells::Wholes(cells) => cells.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts more cells of the same kind behind these.
    pub fn extend(&mut self, more: Cells) {
        match (self, more) {
            (Cells::Numbers(all), Cells::Numbers(more)) => all.extend(more),
            (Cells::Texts(all), Cells::Texts(more)) => all.extend(more),
            (Cells::Notes(all), Cells::Notes(more)) => all.extend(more),
            (Cells::Counts(all), Cells::Counts(more)) => all.extend(more),
            (Cells::Wholes(all), Cells::Wholes(more)) => all.extend(more),
            _ => unreachable!("all groups of a file have the same columns"),
        }
    }

    /// What stands in all rows, as numbers; nothing if it is texts.
    pub fn numbers(&self) -> Option<Cow<'_, [Option<f64>]>> {
        match self {
            Cells::Numbers(cells) => Some(Cow::Borrowed(cells)),
            Cells::Counts(cells) => Some(cells.iter().map(|it| Some(*it as f64)).collect()),
            Cells::Wholes(cells) => Some(cells.iter().map(|it| it.map(|it| it as f64)).collect()),
            Cells::Texts(_) | Cells::Notes(_) => None,
        }
    }

    /// What stands in a row, as text; empty for what was not measured.
    pub fn text(&self, row: usize) -> Cow<'_, str> {
        match self {
            Cells::Texts(cells) => cells[row].as_str().into(),
            Cells::Notes(cells) => cells[row].as_deref().unwrap_or_default().into(),
            Cells::Counts(cells) => cells[row].to_string().into(),
            Cells::Wholes(cells) => cells[row].map_or("".into(), |cell| cell.to_string().into()),
            Cells::Numbers(cells) => cells[row].map_or("".into(), |cell| cell.to_string().into()),
        }
    }
}

/// The table as CSV; what was not measured is empty.
//= rfc4180 2
pub fn csv(table: &Table) -> String {
    let names = table.columns.iter().map(|column| quoted(&column.name));
    let mut text = names.collect::<Vec<_>>().join(",") + "\n";
    for row in 0..rows(table) {
        let cells = table.columns.iter().map(|column| quoted(&column.cells.text(row)));
        text.push_str(&cells.collect::<Vec<_>>().join(","));
        text.push('\n');
    }
    text
}

/// The table as a Parquet file, with `notes` on what it holds among its metadata.
///
/// Numbers are doubles that may be null, texts are UTF-8. Nothing in the file depends on when or
/// where it is written.
pub fn parquet(table: &Table, notes: &[(&str, &str)]) -> Vec<u8> {
    let written = write::Sheet::new(Vec::new(), &table.columns, notes).and_then(|mut sheet| {
        sheet.add(&table.columns)?;
        sheet.finish()
    });
    written.expect("writing into memory has no way to fail")
}

/// How many rows a table has: all of its columns are of one length.
fn rows(table: &Table) -> usize {
    let rows = table.columns.first().map_or(0, |column| column.cells.len());
    for column in &table.columns {
        assert_eq!(column.cells.len(), rows, "column {}", column.name);
    }
    rows
}

/// A field in quotation marks where it needs them.
//= rfc4180 2
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_string()
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::*;

    fn table() -> Table {
        let column = |name: &str, cells| Column { name: name.to_string(), cells };
        let cases = ["PFC", "GFC, \"buffer\"", "größer"].map(str::to_string);
        Table {
            name: "values".to_string(),
            columns: vec![
                column("case", Cells::Texts(cases.to_vec())),
                column("time_ms", Cells::Numbers(vec![Some(0.5), None, Some(1e-9)])),
            ],
        }
    }

    //= rfc4180 2 type=test
    #[test]
    fn a_table_as_csv() {
        let expected = "case,time_ms\nPFC,0.5\n\"GFC, \"\"buffer\"\"\",\ngrößer,0.000000001\n";
        assert_eq!(csv(&table()), expected);
    }

    #[test]
    fn a_parquet_file_reads_back() {
        let bytes = super::parquet(&table(), &[("experiment", "gfc-fig9"), ("scale", "quick")]);
        assert_eq!(
            bytes,
            super::parquet(&table(), &[("experiment", "gfc-fig9"), ("scale", "quick")])
        );
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let metadata = reader.metadata().file_metadata();
        let notes = metadata.key_value_metadata().unwrap();
        let notes: Vec<_> = notes.iter().map(|it| (it.key.as_str(), it.value.as_deref())).collect();
        assert_eq!(
            notes,
            [("pauseless.experiment", Some("gfc-fig9")), ("pauseless.scale", Some("quick"))]
        );
        let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
        let rows: Vec<Vec<Field>> = rows
            .map(|row| row.get_column_iter().map(|(_, field)| field.clone()).collect())
            .collect();
        let text = |text: &str| Field::Str(text.to_string());
        assert_eq!(
            rows,
            [
                vec![text("PFC"), Field::Double(0.5)],
                vec![text("GFC, \"buffer\""), Field::Null],
                vec![text("größer"), Field::Double(1e-9)],
            ]
        );
    }

    #[test]
    fn groups_of_rows_read_back_one_by_one() {
        let column = |name: &str, cells| Column { name: name.to_string(), cells };
        let note = |text: &str| Some(text.to_string());
        let group = |notes, counts| {
            let mut columns = table().columns;
            columns.push(column("error", Cells::Notes(notes)));
            columns.push(column("seed", Cells::Counts(counts)));
            columns
        };
        let groups = [
            group(vec![None, note(""), note("größer")], vec![0, u64::MAX, 1 << 63]),
            group(vec![None, None, None], vec![1, 2, 3]),
        ];
        let mut sheet = write::Sheet::new(Vec::new(), &groups[0], &[("tasks", "6")]).unwrap();
        for group in &groups {
            sheet.add(group).unwrap();
        }
        let book = read::Book::open(bytes::Bytes::from(sheet.finish().unwrap())).unwrap();
        assert_eq!((book.rows(), book.groups()), (6, 2));
        assert_eq!((book.note("tasks"), book.note("version")), (Some("6"), None));
        let names = ["case", "time_ms", "error", "seed"];
        for (place, group) in groups.iter().enumerate() {
            assert_eq!(book.read(place, &names).unwrap(), *group);
            assert_eq!(book.read(place, &names[3..]).unwrap(), group[3..]);
        }
        let missing = book.read(0, &["sed"]).unwrap_err();
        assert_eq!(missing.to_string(), "it has no column sed");
        let table = Table { name: String::new(), columns: groups[0][2..].to_vec() };
        let text = "error,seed\n,0\n,18446744073709551615\ngrößer,9223372036854775808\n";
        assert_eq!(csv(&table), text);
    }

    #[test]
    fn a_table_without_rows_is_a_file_too() {
        let mut table = table();
        table.columns[0].cells = Cells::Texts(Vec::new());
        table.columns[1].cells = Cells::Numbers(Vec::new());
        let bytes = super::parquet(&table, &[]);
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
        assert_eq!(csv(&table), "case,time_ms\n");
    }

    //= rfc4180 2 type=test
    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("F1 goodput_bps"), "F1 goodput_bps");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"hi\""), "\"say \"\"hi\"\"\"");
    }
}
