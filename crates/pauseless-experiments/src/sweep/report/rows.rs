//! The rows of a campaign as a report reads them: values of axes as small numbers, in the order
//! of the campaign's file.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::rc::Rc;

use super::super::campaign::{Axis, Campaign, Label};
use super::super::row::column;
use super::file::Condition;
use super::{Head, words};
use pauseless_run::results::Reference;
use pauseless_run::table::{Cells, Column, Table};
pub use pauseless_scenario::did_you_mean;

/// The numbers of a column; `None` where a run has none.
type Numbers<'a> = Cow<'a, [Option<f64>]>;

/// The columns beside a number that only finished flows have.
pub(super) struct BesideColumns<'a> {
    pub finished: Numbers<'a>,
    pub unfinished: Numbers<'a>,
    pub best: Numbers<'a>,
    pub worst: Numbers<'a>,
}

/// The rows of a campaign.
pub struct Rows<'a> {
    campaign: &'a Campaign,
    table: &'a Table,
    /// Whether each run could be made.
    made: Vec<bool>,
    /// What was coded already, since several tables ask for the same axes.
    coded: RefCell<BTreeMap<String, Rc<Coded>>>,
}

/// A column whose values are few: each row has the place of its value in a list.
pub(super) struct Coded {
    /// The name of the axis.
    pub name: String,
    /// What its numbers are in.
    pub unit: &'static str,
    /// The values, those of the campaign first and in its order.
    pub values: Vec<Label>,
    codes: Vec<u32>,
}

/// Several coded columns together.
pub(super) struct Key {
    pub columns: Vec<Rc<Coded>>,
}

impl<'a> Rows<'a> {
    /// The rows of `table`, which has the columns of the campaign's results.
    pub fn new(campaign: &'a Campaign, table: &'a Table) -> Result<Rows<'a>, String> {
        let len = table.columns.first().map_or(0, |it| it.cells.len());
        let mut rows = Rows { campaign, table, made: vec![true; len], coded: RefCell::default() };
        let errors = texts(rows.cells("error")?);
        for (made, error) in rows.made.iter_mut().zip(errors) {
            *made = error.is_empty();
        }
        Ok(rows)
    }

    /// How many rows there are, those of failed runs among them.
    pub(super) fn len(&self) -> usize {
        self.made.len()
    }

    /// Whether the run of a row could be made.
    pub(super) fn is_made(&self, row: usize) -> bool {
        self.made[row]
    }

    /// The texts of a column.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<Cow<'a, str>>, String> {
        Ok(texts(self.cells(name)?))
    }

    /// The numbers of a column.
    pub(super) fn numbers(&self, name: &str) -> Result<Numbers<'a>, String> {
        let numbers = self.cells(&column(name))?.numbers();
        numbers.ok_or_else(|| format!("column {name} has texts, not numbers"))
    }

    /// Whether there is such a column.
    pub(super) fn has(&self, name: &str) -> bool {
        self.cells(&column(name)).is_ok()
    }

    /// A number as the campaign's file has it: `rate.min` for the column `rate_min`.
    pub(super) fn kept<'n>(&'n self, name: &'n str) -> &'n str {
        self.campaign.keep.iter().find(|it| column(it) == name).map_or(name, |it| it)
    }

    /// What stands beside a number that only finished flows have; `None` for another number, and if
    /// this was not kept.
    pub(super) fn beside(&self, name: &str) -> Option<BesideColumns<'a>> {
        let beside = Reference::parse(self.kept(name)).ok()?.beside()?;
        let numbers = |it: &Reference| self.numbers(&it.column()).ok();
        Some(BesideColumns {
            finished: numbers(&beside.finished)?,
            unfinished: numbers(&beside.unfinished)?,
            best: numbers(&beside.best)?,
            worst: numbers(&beside.worst)?,
        })
    }

    /// The values of an axis, or why a run ended, or its seed.
    pub(super) fn coded(&self, name: &str) -> Result<Rc<Coded>, String> {
        if let Some(known) = self.coded.borrow().get(name) {
            return Ok(Rc::clone(known));
        }
        let coded = Rc::new(self.code(name)?);
        let mut known = self.coded.borrow_mut();
        known.insert(name.to_string(), Rc::clone(&coded));
        Ok(coded)
    }

    fn code(&self, name: &str) -> Result<Coded, String> {
        let axis = self.campaign.axes.iter().find(|axis| axis.name == name);
        let cells = match axis {
            Some(axis) => self.cells(&axis_column(self.table, axis))?,
            None => self.cells(&column(name))?,
        };
        let points = axis.map_or(&[][..], |axis| &axis.points);
        let mut values: Vec<Label> = points.iter().map(|point| point.label.clone()).collect();
        let codes = match cells.numbers() {
            Some(numbers) => {
                let numbers = numbers.iter().map(|cell| cell.unwrap_or(f64::NAN));
                code_numbers(numbers, &mut values)
            }
            None => code_texts(texts(cells), &mut values),
        };
        Ok(Coded { name: name.to_string(), unit: axis.map_or("", |axis| axis.unit), values, codes })
    }

    /// Several coded columns together.
    pub(super) fn key(&self, names: &[String]) -> Result<Key, String> {
        let columns: Result<Vec<_>, String> = names.iter().map(|it| self.coded(it)).collect();
        Ok(Key { columns: columns? })
    }

    /// The rows of runs that could be made and meet all conditions.
    pub(super) fn select(&self, conditions: &[Condition]) -> Result<Vec<usize>, String> {
        let mut wanted = self.made.clone();
        for condition in conditions {
            let column = self.coded(&condition.axis)?;
            let is_wanted = |label| condition.values.iter().any(|it| is_same(it, label));
            let allowed: Vec<bool> = column.values.iter().map(is_wanted).collect();
            for (wanted, code) in wanted.iter_mut().zip(&column.codes) {
                *wanted &= allowed[*code as usize];
            }
        }
        Ok((0..wanted.len()).filter(|row| wanted[*row]).collect())
    }

    /// Says so if no run meets all conditions.
    pub(super) fn nothing(&self, conditions: &[Condition]) -> Result<Option<String>, String> {
        let is_empty = self.select(conditions)?.is_empty();
        let text = if conditions.is_empty() {
            "there are no runs yet"
        } else {
            "no run meets its conditions"
        };
        Ok(is_empty.then(|| text.to_string()))
    }

    /// What no run of the campaign has, in words.
    pub(super) fn unknown(&self, conditions: &[Condition]) -> Vec<String> {
        let mut notes = Vec::new();
        for Condition { axis, values } in conditions {
            let Ok(column) = self.coded(axis) else {
                continue;
            };
            let write = |label| words::label(label, column.unit);
            let known: Vec<String> = column.values.iter().map(write).collect();
            for value in values {
                if column.values.iter().any(|label| is_same(label, value)) {
                    continue;
                }
                let written = write(value);
                let near = match value {
                    // Any two numbers resemble each other.
                    Label::Number(_) => String::new(),
                    Label::Text(text) => did_you_mean(text, known.iter().map(String::as_str)),
                };
                let more = if near.is_empty() {
                    format!("there are {}", words::some(&known))
                } else {
                    near
                };
                notes.push(format!("no run has {axis} = {written}; {more}"));
            }
        }
        notes
    }

    fn cells(&self, name: &str) -> Result<&'a Cells, String> {
        let found = self.table.columns.iter().find(|it| it.name == name);
        let missing = || format!("the results have no column {name}; merge them again");
        found.map(|column: &Column| &column.cells).ok_or_else(missing)
    }
}

impl Key {
    /// The combination of values that a row has, as a number in the order of the values.
    pub fn of(&self, row: usize) -> u64 {
        let columns = self.columns.iter();
        columns.fold(0, |key, it| key * it.values.len() as u64 + u64::from(it.codes[row]))
    }

    /// Which value of each column a combination has.
    pub(super) fn places(&self, mut key: u64) -> Vec<usize> {
        let mut places = Vec::new();
        for column in self.columns.iter().rev() {
            let count = column.values.len() as u64;
            places.push((key % count) as usize);
            key /= count;
        }
        places.reverse();
        places
    }

    /// How many values the last column has; one without any column.
    pub(super) fn last_len(&self) -> u64 {
        self.columns.last().map_or(1, |it| it.values.len() as u64)
    }

    /// What stands above the columns of a table for people.
    pub(super) fn heads(&self) -> Vec<Head> {
        self.columns.iter().map(|it| Head::left(&words::axis(&it.name, it.unit))).collect()
    }

    /// The values of a combination in words.
    pub(super) fn words(&self, key: u64) -> Vec<String> {
        let places = self.places(key).into_iter().zip(&self.columns);
        places.map(|(place, it)| words::label(&it.values[place], it.unit)).collect()
    }

    /// The same, with the names of axes whose values do not speak for themselves.
    pub(super) fn named(&self, key: u64) -> Vec<String> {
        let words = self.words(key).into_iter().zip(&self.columns);
        let words = words.map(|(word, it)| {
            if matches!(it.values.first(), Some(Label::Number(_))) || starts_with_digit(&word) {
                format!("{} = {word}", words::axis(&it.name, it.unit))
            } else {
                word
            }
        });
        words.collect()
    }

    /// The values of a combination as a title, without the last `without` of them.
    pub(super) fn title(&self, key: u64, without: usize) -> String {
        let mut words = self.named(key);
        words.truncate(self.columns.len().saturating_sub(without));
        words.join(", ")
    }

    /// Columns for a file with a row for each of `keys`.
    pub(super) fn data(&self, keys: &[u64]) -> Vec<Column> {
        let columns = self.columns.iter().enumerate().map(|(index, it)| {
            let labels = keys.iter().map(|key| &it.values[self.places(*key)[index]]);
            let numbers = labels.clone().map(|label| match label {
                Label::Number(number) => Some(Some(*number)),
                Label::Text(_) => None,
            });
            let cells = match numbers.collect::<Option<Vec<_>>>() {
                Some(numbers) => Cells::Numbers(numbers),
                None => Cells::Texts(labels.map(|label| words::label(label, "")).collect()),
            };
            let name = match it.unit {
                "" => column(&it.name),
                unit => with_unit(&column(&it.name), unit),
            };
            Column { name, cells }
        });
        columns.collect()
    }
}

/// The name of an axis' column in a table of results.
pub(super) fn axis_column(table: &Table, axis: &Axis) -> String {
    let name = column(&axis.name);
    let with_unit = with_unit(&name, axis.unit);
    let has = |name: &str| table.columns.iter().any(|it| it.name == name);
    if !has(&name) && has(&with_unit) { with_unit } else { name }
}

fn with_unit(name: &str, unit: &str) -> String {
    let ending = format!("_{unit}");
    if unit.is_empty() || name.ends_with(&ending) {
        name.to_string()
    } else {
        name.to_string() + &ending
    }
}

fn code_numbers(cells: impl Iterator<Item = f64>, values: &mut Vec<Label>) -> Vec<u32> {
    let known = |label: &Label| match label {
        Label::Number(number) => Some(number.to_bits()),
        Label::Text(_) => None,
    };
    let label = |bits: &u64| Label::Number(f64::from_bits(*bits));
    code(cells.map(f64::to_bits), values, known, label)
}

fn code_texts(cells: Vec<Cow<'_, str>>, values: &mut Vec<Label>) -> Vec<u32> {
    // As the store writes them.
    let known = |label: &Label| match label {
        Label::Number(number) => Some(Cow::Owned(number.to_string())),
        Label::Text(text) => Some(Cow::Owned(text.clone())),
    };
    let label = |text: &Cow<'_, str>| Label::Text(text.to_string());
    code(cells.into_iter(), values, known, label)
}

/// The place of each cell's value in `values`, which grows by those that it does not have.
fn code<K: Clone + Hash + Eq>(
    cells: impl Iterator<Item = K>,
    values: &mut Vec<Label>,
    known: impl Fn(&Label) -> Option<K>,
    label: impl Fn(&K) -> Label,
) -> Vec<u32> {
    let mut places: HashMap<K, u32> = HashMap::new();
    for (place, value) in values.iter().enumerate() {
        if let Some(key) = known(value) {
            places.entry(key).or_insert(place as u32);
        }
    }
    // Rows are in the order of the plan, so that most have the value of the one before.
    let mut last: Option<(K, u32)> = None;
    let codes = cells.map(|key| match &last {
        Some((known, code)) if *known == key => *code,
        _ => {
            let code = *places.entry(key.clone()).or_insert_with_key(|key| {
                values.push(label(key));
                (values.len() - 1) as u32
            });
            last = Some((key, code));
            code
        }
    });
    codes.collect()
}

fn texts(cells: &Cells) -> Vec<Cow<'_, str>> {
    (0..cells.len()).map(|row| cells.text(row)).collect()
}

fn starts_with_digit(word: &str) -> bool {
    word.starts_with(|char: char| char.is_ascii_digit())
}

/// Numbers that differ in the last digits only are the same value, written in another unit.
pub(super) fn is_same(a: &Label, b: &Label) -> bool {
    match (a, b) {
        (Label::Number(a), Label::Number(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
        (Label::Text(a), Label::Text(b)) => a == b,
        // A number in a column of texts.
        (Label::Text(text), Label::Number(number)) | (Label::Number(number), Label::Text(text)) => {
            text.parse() == Ok(*number)
        }
    }
}
