//! A finished run as a journal has it: one line of JSON that says by itself what its numbers are
//! called, with a checksum.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::columns::{Columns, ENDED, ERROR, SCENARIO, SEED, TASK, VERSION};
use crate::sweep::campaign::Label;
use crate::sweep::plan::Task;
use crate::sweep::row::{Name, Row};
use pauseless_run::table::{Cells, Column};

/// A finished run with the names of its columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub task: String,
    pub scenario: String,
    pub version: String,
    pub seed: u64,
    /// The axes' values by the names of their columns.
    pub axes: Vec<(String, Value)>,
    /// The numbers by the names of their columns.
    pub numbers: Vec<(String, Option<Value>)>,
    pub ended: String,
    pub error: Option<String>,
}

/// A value of an axis, or a number of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Value {
    Number(f64),
    /// A name; of numbers, one that JSON has no way to write, such as `inf`.
    Text(String),
}

impl Value {
    pub fn of(number: f64) -> Value {
        if number.is_finite() { Value::Number(number) } else { Value::Text(number.to_string()) }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(text) => text.parse().ok(),
        }
    }
}

impl Record {
    /// What came of a task, under the names of a campaign's columns.
    pub fn new(columns: &Columns, task: &Task, row: &Row) -> Record {
        assert_eq!(task.name, row.task, "a row of another task");
        assert_eq!(columns.numbers.len(), row.numbers.len(), "numbers kept");
        let axes = columns.axes.iter().map(|axis| {
            let value = match axis.cell(&task.labels) {
                Label::Number(number) => Value::Number(number),
                Label::Text(text) => Value::Text(text),
            };
            (axis.name.clone(), value)
        });
        let numbers = columns.numbers.iter().zip(&row.numbers);
        Record {
            task: task.name.to_string(),
            scenario: task.scenario.to_string(),
            version: pauseless_run::VERSION.to_string(),
            seed: task.seed,
            axes: axes.collect(),
            numbers: numbers.map(|(name, number)| (name.clone(), number.map(Value::of))).collect(),
            ended: row.ended.clone(),
            error: row.error.clone(),
        }
    }

    /// What came of a run that is known by its name alone, without its numbers.
    pub fn of(task: Name) -> Record {
        Record {
            task: task.to_string(),
            scenario: String::new(),
            version: pauseless_run::VERSION.to_string(),
            seed: 0,
            axes: Vec::new(),
            numbers: Vec::new(),
            ended: String::new(),
            error: None,
        }
    }

    /// The record as a line of a journal, with its end.
    pub fn line(&self) -> String {
        let row = serde_json::to_string(self).expect("plain data");
        format!("{BEGIN}{}{MIDDLE}{row}{END}\n", checksum(&row))
    }

    /// Reads a line without its end, if nothing in it is damaged.
    pub fn parse(line: &[u8]) -> Option<Record> {
        let line = std::str::from_utf8(line).ok()?;
        let (check, row) = line.strip_prefix(BEGIN)?.split_once(MIDDLE)?;
        let row = row.strip_suffix(END)?;
        if check != checksum(row) {
            return None;
        }
        serde_json::from_str(row).ok()
    }

    /// As a row of a campaign that keeps these numbers; `None` if it lacks one of them.
    pub fn row(&self, numbers: &[String]) -> Option<Row> {
        let number = |name: &String| {
            let found = self.numbers.iter().find(|(it, _)| it == name)?;
            Some(found.1.as_ref().and_then(Value::number))
        };
        Some(Row {
            task: Name::parse(&self.task)?,
            ended: self.ended.clone(),
            error: self.error.clone(),
            numbers: numbers.iter().map(number).collect::<Option<_>>()?,
        })
    }

    /// The columns of the record; records with the same columns can stand in one file.
    pub fn shape(&self) -> Vec<(String, bool)> {
        let axes = self.axes.iter();
        let axes = axes.map(|(name, value)| (name.clone(), matches!(value, Value::Number(_))));
        axes.chain(self.numbers.iter().map(|(name, _)| (name.clone(), true))).collect()
    }
}

/// Records that are all like the first of them, as the columns of a file.
pub(super) fn columns(records: &[&Record]) -> Vec<Column> {
    let texts = |of: fn(&Record) -> &String| {
        Cells::Texts(records.iter().map(|record| of(record).clone()).collect())
    };
    let mut columns = vec![
        Column::new(TASK, texts(|record| &record.task)),
        Column::new(SCENARIO, texts(|record| &record.scenario)),
        Column::new(VERSION, texts(|record| &record.version)),
        Column::new(SEED, Cells::Counts(records.iter().map(|it| it.seed).collect())),
    ];
    let first = records.first().expect("at least one");
    for (place, (name, value)) in first.axes.iter().enumerate() {
        let values = records.iter().map(|record| &record.axes[place].1);
        let cells = match value {
            Value::Number(_) => Cells::Numbers(values.map(Value::number).collect()),
            Value::Text(_) => Cells::Texts(values.map(word).collect()),
        };
        columns.push(Column::new(name, cells));
    }
    for (place, (name, _)) in first.numbers.iter().enumerate() {
        let values = records.iter().map(|record| record.numbers[place].1.as_ref());
        let cells = values.map(|value| value.and_then(Value::number));
        columns.push(Column::new(name, Cells::Numbers(cells.collect())));
    }
    columns.push(Column::new(ENDED, texts(|record| &record.ended)));
    let errors = records.iter().map(|record| record.error.clone());
    columns.push(Column::new(ERROR, Cells::Notes(errors.collect())));
    columns
}

fn word(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Text(text) => text.clone(),
    }
}

fn checksum(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

const BEGIN: &str = "{\"check\":\"";
const MIDDLE: &str = "\",\"row\":";
const END: &str = "}";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(numbers: Vec<Option<f64>>, error: Option<String>) -> Record {
        let number =
            |(place, number): (usize, Option<f64>)| (format!("n{place}"), number.map(Value::of));
        Record {
            task: Name::of(&["task"]).to_string(),
            scenario: Name::of(&["scenario"]).to_string(),
            version: "0.1.0".to_string(),
            seed: u64::MAX,
            axes: vec![("scheme".to_string(), Value::Text("PFC".to_string()))],
            numbers: numbers.into_iter().enumerate().map(number).collect(),
            ended: "duration".to_string(),
            error,
        }
    }

    proptest! {
        #[test]
        fn a_line_reads_back_to_the_last_bit(
            numbers in prop::collection::vec(prop::option::of(prop::num::f64::ANY), 0..4),
            error in prop::option::of("(?s).{0,20}"),
        ) {
            let line = record(numbers.clone(), error.clone()).line();
            let text = line.strip_suffix('\n').unwrap();
            prop_assert!(!text.contains('\n'));
            let names: Vec<String> = (0..numbers.len()).map(|place| format!("n{place}")).collect();
            let row = Record::parse(text.as_bytes()).unwrap().row(&names).unwrap();
            prop_assert_eq!(row.error, error);
            for (read, number) in row.numbers.iter().zip(numbers) {
                let bits = |it: Option<f64>| it.map(|it| if it.is_nan() { 0 } else { it.to_bits() + 1 });
                prop_assert_eq!(bits(*read), bits(number));
            }
        }

        #[test]
        fn a_line_with_a_changed_byte_is_not_read(place in 0..400_usize, bits in 1..=255_u8) {
            let line = record(vec![Some(1.0), None], None).line();
            let mut bytes = line.trim_end().as_bytes().to_vec();
            let place = place % bytes.len();
            bytes[place] ^= bits;
            prop_assert_eq!(Record::parse(&bytes), None);
        }
    }

    #[test]
    fn a_row_that_lacks_a_number_is_none() {
        let record = record(vec![Some(1.0), None], None);
        let names = |names: &[&str]| names.iter().map(|it| it.to_string()).collect::<Vec<_>>();
        let row = record.row(&names(&["n1", "n0"])).unwrap();
        assert_eq!(row.numbers, [None, Some(1.0)]);
        assert_eq!(record.row(&names(&["n0", "n2"])), None);
    }
}
