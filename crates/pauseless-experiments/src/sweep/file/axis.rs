//! `[[axis]]`: what is varied, and where its values were written.

use std::collections::BTreeSet;

use toml::Value;

use super::amounts::{Random, Range, Seeds};
use super::{label, taken};
use crate::sweep::campaign::{Axis, Label, Point};
use crate::sweep::row;
use pauseless_text::declare::{Declared, Each, FileValue, Kind, List, Named};
use pauseless_text::problem::Sink;
use pauseless_text::reader::{At, Item, Place};
use pauseless_text::section;

section! {
    /// What is varied; axes are nested in the order of the file, the last one is the fastest.
    pub(super) struct AxisFile {
        /// The name of its column of results, without a unit; needed with `cases`.
        name: String, derived "`key`, with underscores for points";
        /// The key of the scenario that is varied, such as `flow.F1.rate`; elements of lists are found
        /// by their name, their kind or their position from 1.
        key: String;
        /// Several keys that get the same value, instead of `key`.
        keys: List<String>, within "a list of strings";
        /// The values that the axis takes.
        values: ValueKeys, keys inline;
    }
}

section! {
    /// The values of an axis, in one of several ways.
    pub(super) struct ValueKeys {
        /// These values, in this order.
        values: List<Plain>, within Each::some();
        /// Evenly spaced values, linear or by a factor.
        range: Range;
        /// So many seeds from 1 on, or `{ first = 7, count = 20 }`.
        seeds: Seeds;
        /// Values that are drawn once from the seed and the axis' name, in ascending order.
        random: Random;
        /// Several keys at once under a name. A section replaces the whole section; a key such as
        /// `"flow_control.cycle_aware"` beside it is set afterwards.
        cases: Named<Named<Value>>;
    }
}

/// A value of a scenario that is no section, as it is written.
#[derive(Clone, Debug)]
pub(super) struct Plain(Value);

impl FileValue for Plain {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Plain>> {
        if item.is_table() {
            let problem = item.place.problem("a section has no name to be shown by");
            item.sink().push(problem.help("write it as one of [axis.cases]"));
            return None;
        }
        let At { value, place } = item.value()?;
        let value = Plain(value);
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        let list = Kind::List { of: Box::new(Kind::Any), least: 0, most: None };
        let number = f64::kind(&Default::default());
        Kind::Either(vec![Kind::Text("a value of the key"), number, Kind::Flag, list])
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// An axis that can be varied.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// The name of the axis, without a unit.
    pub name: At<String>,
    keys: Vec<At<String>>,
    pub values: Values,
}

/// The values of an axis.
#[derive(Clone, Debug)]
pub(super) enum Values {
    /// Each with its place.
    Listed(List<Plain>),
    /// Values by rule, all at one place.
    Counted(At<Vec<Value>>),
    /// Named cases, each of which sets several keys.
    Cases(Vec<Case>),
}

/// A named case, which sets several keys.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub name: At<String>,
    set: Vec<(String, Value)>,
}

/// Where an axis was written.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The keys of the axis, or its name if the keys stand in cases.
    keys: Vec<At<String>>,
    /// The place of each value, or one for all.
    points: Vec<Place>,
}

impl Places {
    /// Where a key was written, or where the axis was.
    pub(super) fn key(&self, key: &str) -> &Place {
        let is_about = |it: &&At<String>| it.value.starts_with(key) || key.starts_with(&it.value);
        let found = self.keys.iter().find(is_about);
        &found.unwrap_or(&self.keys[0]).place
    }

    /// Where a value was written.
    pub(super) fn point(&self, number: usize) -> &Place {
        self.points.get(number).unwrap_or(&self.points[0])
    }
}

/// The most values that an axis may have.
pub(super) const POINTS_MAX: u64 = 1_000_000;

impl Draft {
    /// Makes what can be varied of what was written; fails with its name, if it has one.
    pub fn new(written: &AxisFile, sink: &Sink) -> Result<Draft, Option<String>> {
        let keys = written.all_keys(sink);
        let name = written.name.given.clone().or_else(|| {
            let key = keys.first()?;
            let value = key.value.replace('.', "_");
            let place = key.place.clone();
            Some(At { value, place })
        });
        let missing = |key: &str, example: &str| {
            let problem = written.place.inner(key).problem("missing");
            sink.push(problem.help(format!("add {key} = {example}")));
        };
        match (keys.first(), written.values.cases.is_written) {
            (Some(key), true) => {
                let problem = key.place.problem("cases have their keys in themselves");
                sink.push(problem.help("remove it, or use values"));
            }
            (None, true) if name.is_none() => {
                missing("name", "\"scheme\", the name of its column");
            }
            (None, false) => missing("key", "\"flow_control.xoff\""),
            _ => {}
        }
        let seed = name.as_ref().map_or("", |name| &name.value);
        let values = Values::new(&written.values, seed, sink);
        match (name, values) {
            (Some(name), Some(values)) => Ok(Draft { name, keys, values }),
            (name, _) => Err(name.map(|name| name.value)),
        }
    }

    /// The axis as the plan has it, and where it was written.
    pub(super) fn finish(self) -> (Axis, Places) {
        let keys = if self.keys.is_empty() { vec![self.name.clone()] } else { self.keys.clone() };
        let set = |value: &Value| {
            self.keys.iter().map(|key| (key.value.clone(), value.clone())).collect()
        };
        let (unit, points, places) = match self.values {
            Values::Cases(cases) => {
                let point = |case: &Case| Point {
                    label: Label::Text(case.name.value.clone()),
                    set: case.set.clone(),
                };
                let points = Vec::from_iter(cases.iter().map(point));
                ("", points, cases.into_iter().map(|case| case.name.place).collect())
            }
            values => {
                let (values, places) = values.flat();
                let (unit, labels) = label::all(&values);
                let points = values
                    .iter()
                    .zip(labels)
                    .map(|(value, label)| Point { label, set: set(value) });
                (unit, points.collect(), places)
            }
        };
        let axis = Axis { name: label::column(&self.name.value, unit), unit, points };
        let points = places;
        (axis, Places { keys, points })
    }
}

impl AxisFile {
    /// `key`, or `keys` that all get the same value.
    fn all_keys(&self, sink: &Sink) -> Vec<At<String>> {
        let (one, many) = (self.key.given.as_ref(), self.keys.get());
        if let (Some(one), Some(_)) = (one, many) {
            sink.push(one.place.problem("both key and keys stand here").help("keep one of them"));
        }
        let keys = Vec::from_iter(one.into_iter().chain(many.into_iter().flatten()).cloned());
        for key in &keys {
            if key.value.split('.').any(str::is_empty) {
                let problem = key.place.problem(format!("{:?} is no key", key.value));
                sink.push(problem.help("write for example \"flow_control.xoff\""));
            }
        }
        keys
    }
}

impl ValueKeys {
    /// The ways to write values that the file has.
    fn written(&self) -> Vec<&'static str> {
        let is_written = [
            self.values.is_written,
            self.range.is_written,
            self.seeds.is_written,
            self.random.is_written,
            self.cases.is_written,
        ];
        let keys = ValueKeys::keys().into_iter().zip(is_written);
        keys.filter(|(_, is_written)| *is_written).map(|(key, _)| key.name).collect()
    }
}

impl Values {
    /// The values that were written; `name` is what random ones are drawn for.
    pub fn new(written: &ValueKeys, name: &str, sink: &Sink) -> Option<Values> {
        match written.written()[..] {
            [_] => {}
            [] => {
                let problem = written.place.problem("it has no values");
                sink.push(problem.help("add values = [1, 2], range, seeds, random or cases"));
            }
            [first, second, ..] => {
                let message = format!("both {first} and {second} stand here");
                sink.push(written.place.problem(message).help("keep one of them"));
                return None;
            }
        }
        if let Some(list) = written.values.get() {
            return (!list.is_empty()).then(|| Values::Listed(list.clone()));
        }
        if let Some(cases) = &written.cases.given {
            return read_cases(cases, sink).map(Values::Cases);
        }
        let range = written.range.given.as_ref().map(|it| (it.value.values(sink), &it.place));
        let seeds = written.seeds.given.as_ref().map(|it| (Some(it.value.values()), &it.place));
        let random = written.random.given.as_ref();
        let random = random.map(|it| (it.value.values(name, sink), &it.place));
        let (value, place) = range.or(seeds).or(random)?;
        let (value, place) = (value?, place.clone());
        Some(Values::Counted(At { value, place }))
    }

    /// All values, and their places or one place for all.
    fn flat(self) -> (Vec<Value>, Vec<Place>) {
        match self {
            Values::Listed(list) => list.into_iter().map(|at| (at.value.0, at.place)).unzip(),
            Values::Counted(list) => (list.value, vec![list.place]),
            Values::Cases(_) => (Vec::new(), Vec::new()),
        }
    }
}

/// All cases, in the order of the file, which is the order of the tables of a report.
fn read_cases(cases: &At<Named<Named<Value>>>, sink: &Sink) -> Option<Vec<Case>> {
    let mut entries = Vec::from_iter(&cases.value.0);
    entries.sort_by_key(|(name, _)| name.place.span.start);
    if entries.is_empty() {
        // Unless there are some that something is wrong with.
        if sink.is_empty() {
            sink.push(cases.place.problem("no cases").help("write NAME = { key = value }"));
        }
        return None;
    }
    let cases = entries.into_iter().map(|(name, set)| {
        let mut set = set.value.0.clone();
        set.sort_by_key(|(key, _)| key.place.span.start);
        let set = set.into_iter().map(|(key, at)| (key.value, at.value));
        Case { name: name.clone(), set: set.collect() }
    });
    Some(cases.collect())
}

/// What the axes are in the plan, with their places. What two of them share is reported.
pub(super) fn finish(drafts: Vec<Draft>, sink: &Sink, keep: &[String]) -> Vec<(Axis, Places)> {
    let (mut names, mut columns) = (BTreeSet::new(), BTreeSet::new());
    let mut keys = BTreeSet::new();
    let mut axes = Vec::new();
    for draft in drafts {
        let At { value: name, place } = draft.name.clone();
        let is_seed = draft.keys.len() == 1 && draft.keys[0].value == "seed";
        if is_seed && name != "seed" {
            let problem = place.problem(format!("the seed is called {name:?}"));
            sink.push(problem.help("leave the name out: results have a column seed"));
        }
        for key in &draft.keys {
            if !keys.insert(key.value.clone()) {
                let problem = key.place.problem("another axis varies this key");
                sink.push(problem.help("put both into one axis"));
            }
        }
        let (axis, places) = draft.finish();
        let clash = taken(&axis.name, keep).filter(|_| !is_seed);
        if let Some(why) = clash {
            let problem = place.problem(format!("no axis can be called {:?}: {why}", axis.name));
            sink.push(problem.help("give it another name"));
        }
        // The same name with another unit would be another column, which only confuses.
        let is_new = names.insert(row::column(&name));
        if !columns.insert(axis.name.clone()) || !is_new {
            let problem = place.problem(format!("two axes are called {name:?}"));
            sink.push(problem.help("give each a name of its own"));
        }
        refuse_twice(sink, &axis, &places);
        axes.push((axis, places));
    }
    axes
}

/// Reports a value that occurs twice: its runs could not be told apart.
fn refuse_twice(sink: &Sink, axis: &Axis, places: &Places) {
    let mut seen = BTreeSet::new();
    for (number, point) in axis.points.iter().enumerate() {
        let label = match &point.label {
            Label::Number(value) => (value.to_bits(), ""),
            Label::Text(text) => (0, text.as_str()),
        };
        if !seen.insert(label) {
            let message = format!("{} is there twice", point.label);
            sink.push(places.point(number).problem(message).help("keep one"));
            return;
        }
    }
}
