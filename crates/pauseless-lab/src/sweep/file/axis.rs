//! `[[axis]]`: what is varied, and where its values were written.

use std::collections::BTreeSet;

use toml::Value;

use super::{amounts, label, taken};
use crate::scenario::reader::{At, Place, Section};
use crate::sweep::campaign::{Axis, Label, Point};
use crate::sweep::row;

/// An axis as it was written.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// Its name, without a unit.
    pub name: At<String>,
    keys: Vec<At<String>>,
    pub values: Values,
}

/// The values of an axis.
#[derive(Clone, Debug)]
pub(super) enum Values {
    /// Each with its place.
    Listed(At<Vec<At<Value>>>),
    /// All at one place.
    Counted(At<Vec<Value>>),
    /// Several keys at once, by name.
    Cases(At<Vec<Case>>),
}

/// Several keys at once, by name.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub name: At<String>,
    set: Vec<(String, Value)>,
}

/// Where an axis was written.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// Its keys, or its name if they stand in cases.
    keys: Vec<At<String>>,
    /// Of each value, or one for all.
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

/// The ways to write values.
const KINDS: [&str; 5] = ["values", "range", "seeds", "random", "cases"];
/// More values than this are the business of several axes.
pub(super) const POINTS_MAX: u64 = 1_000_000;

impl Draft {
    /// Reads all sections. Those with faults come back as their names, if they have any.
    pub(super) fn read_all(root: &mut Section<'_>) -> (Vec<Draft>, Vec<String>) {
        let is_written = root.has("axis");
        let (mut drafts, mut broken) = (Vec::new(), Vec::new());
        for section in root.tables("axis") {
            match Draft::read(section) {
                Ok(draft) => drafts.push(draft),
                Err(name) => broken.extend(name),
            }
        }
        if !is_written {
            let problem = root.place.problem("no axes: nothing is varied");
            root.report(problem.help("add [[axis]] with a key and its values"));
        }
        (drafts, broken)
    }

    /// Fails with its name, if it has one.
    fn read(mut section: Section<'_>) -> Result<Draft, Option<String>> {
        let has_cases = section.has("cases");
        let name = section.string("name");
        let keys = read_keys(&mut section);
        let name = name.or_else(|| {
            let key = keys.first()?;
            let value = key.value.replace('.', "_");
            let place = key.place.clone();
            Some(At { value, place })
        });
        let seed = name.as_ref().map_or("", |name| &name.value);
        let values = Values::read(&mut section, seed);
        match (keys.first(), has_cases) {
            (Some(key), true) => {
                let problem = key.place.problem("cases have their keys in themselves");
                section.report(problem.help("remove it, or use values"));
            }
            (None, true) if name.is_none() => {
                section.missing("name", "\"scheme\", the name of its column");
            }
            (None, false) => section.missing("key", "\"flow_control.xoff\""),
            _ => {}
        }
        section.finish();
        match (name, values) {
            (Some(name), Some(values)) => Ok(Draft { name, keys, values }),
            (name, _) => Err(name.map(|name| name.value)),
        }
    }

    /// What it is in the plan, and its places.
    pub(super) fn finish(self) -> (Axis, Places) {
        let keys = match self.keys.is_empty() {
            true => vec![self.name.clone()],
            false => self.keys.clone(),
        };
        let set = |value: &Value| {
            let keys = self.keys.iter();
            let set = keys.map(|key| (key.value.clone(), value.clone()));
            set.collect()
        };
        let (unit, points, places) = match self.values {
            Values::Cases(cases) => {
                let point = |case: &Case| Point {
                    label: Label::Text(case.name.value.clone()),
                    set: case.set.clone(),
                };
                let points = Vec::from_iter(cases.value.iter().map(point));
                let places = cases.value.into_iter().map(|case| case.name.place);
                ("", points, places.collect())
            }
            values => {
                let (values, places) = values.flat();
                let (unit, labels) = label::all(&values);
                let points = values.iter().zip(labels).map(|(value, label)| Point {
                    label,
                    set: set(value),
                });
                (unit, points.collect(), places)
            }
        };
        let axis = Axis {
            name: label::column(&self.name.value, unit),
            unit,
            points,
        };
        let points = places;
        (axis, Places { keys, points })
    }
}

/// `key`, or `keys` that all get the same value.
fn read_keys(section: &mut Section<'_>) -> Vec<At<String>> {
    let one = section.string("key");
    let many = section.strings("keys");
    if let (Some(one), Some(_)) = (&one, &many) {
        let problem = one.place.problem("both key and keys stand here");
        section.report(problem.help("keep one of them"));
    }
    let many = many.map_or(Vec::new(), |many| many.value);
    let keys = Vec::from_iter(one.into_iter().chain(many));
    for key in &keys {
        if key.value.split('.').any(str::is_empty) {
            let problem = key.place.problem(format!("{:?} is no key", key.value));
            section.report(problem.help("write for example \"flow_control.xoff\""));
        }
    }
    keys
}

impl Values {
    /// Reads one of the ways to write values; `name` is what random ones are drawn for.
    pub(super) fn read(section: &mut Section<'_>, name: &str) -> Option<Values> {
        let written = KINDS.into_iter().filter(|kind| section.has(kind));
        let written = Vec::from_iter(written);
        if let [first, second, ..] = written[..] {
            let message = format!("both {first} and {second} stand here");
            section.report(section.place.problem(message).help("keep one of them"));
        }
        if written.is_empty() {
            let problem = section.place.problem("it has no values");
            let help = "add values = [1, 2], range, seeds, random or cases";
            section.report(problem.help(help));
        }
        let listed = read_listed(section);
        let range = section.table("range").and_then(amounts::range);
        let seeds = amounts::seeds(section);
        let random = section.table("random");
        let random = random.and_then(|random| amounts::random(random, name));
        let cases = read_cases(section);
        let counted = range.or(seeds).or(random).map(Values::Counted);
        (written.len() == 1).then_some(())?;
        listed.map(Values::Listed).or(counted).or(cases)
    }

    /// All values, and their places or the one of all.
    fn flat(self) -> (Vec<Value>, Vec<Place>) {
        match self {
            Values::Listed(list) => {
                let pairs = list.value.into_iter().map(|at| (at.value, at.place));
                pairs.unzip()
            }
            Values::Counted(list) => (list.value, vec![list.place]),
            Values::Cases(_) => (Vec::new(), Vec::new()),
        }
    }
}

fn read_listed(section: &mut Section<'_>) -> Option<At<Vec<At<Value>>>> {
    let At { value, place } = section.list("values")?;
    if value.is_empty() {
        section.report(place.problem("an empty list").help("write some values"));
        return None;
    }
    let values = Vec::from_iter(value.into_iter().filter_map(|item| item.value()));
    for at in &values {
        if at.value.is_table() {
            let problem = at.place.problem("a section has no name to be shown by");
            section.report(problem.help("write it as one of [axis.cases]"));
            return None;
        }
    }
    let value = values;
    Some(At { value, place })
}

fn read_cases(section: &mut Section<'_>) -> Option<Values> {
    let mut table = section.table("cases")?;
    let place = table.place.clone();
    let mut entries = table.entries();
    // In the order of the file, which is the order of the tables of a report.
    entries.sort_by_key(|(name, _)| name.place.span.start);
    if entries.is_empty() {
        section.report(
            place
                .problem("no cases")
                .help("write NAME = { key = value }"),
        );
    }
    let cases = entries.into_iter().filter_map(|(name, item)| {
        let mut case = item.table()?.entries();
        case.sort_by_key(|(name, _)| name.place.span.start);
        let set = case.into_iter().filter_map(|(key, item)| {
            let value = item.value()?.value;
            Some((key.value, value))
        });
        let set = set.collect();
        Some(Case { name, set })
    });
    let value = Vec::from_iter(cases);
    (!value.is_empty()).then_some(Values::Cases(At { value, place }))
}

/// What the axes are in the plan, with their places. What two of them share is reported.
pub(super) fn finish(
    drafts: Vec<Draft>,
    root: &Section<'_>,
    keep: &[String],
) -> Vec<(Axis, Places)> {
    let (mut names, mut columns) = (BTreeSet::new(), BTreeSet::new());
    let mut keys = BTreeSet::new();
    let mut axes = Vec::new();
    for draft in drafts {
        let At { value: name, place } = draft.name.clone();
        let is_seed = draft.keys.len() == 1 && draft.keys[0].value == "seed";
        if is_seed && name != "seed" {
            let problem = place.problem(format!("the seed is called {name:?}"));
            root.report(problem.help("leave the name out: results have a column seed"));
        }
        for key in &draft.keys {
            if !keys.insert(key.value.clone()) {
                let problem = key.place.problem("another axis varies this key");
                root.report(problem.help("put both into one axis"));
            }
        }
        let (axis, places) = draft.finish();
        let clash = taken(&axis.name, keep).filter(|_| !is_seed);
        if let Some(why) = clash {
            let problem = place.problem(format!("no axis can be called {:?}: {why}", axis.name));
            root.report(problem.help("give it another name"));
        }
        // The same name with another unit would be another column, which only confuses.
        let is_new = names.insert(row::column(&name));
        if !columns.insert(axis.name.clone()) || !is_new {
            let problem = place.problem(format!("two axes are called {name:?}"));
            root.report(problem.help("give each a name of its own"));
        }
        refuse_twice(root, &axis, &places);
        axes.push((axis, places));
    }
    axes
}

/// Reports a value that occurs twice: its runs could not be told apart.
fn refuse_twice(root: &Section<'_>, axis: &Axis, places: &Places) {
    let mut seen = BTreeSet::new();
    for (number, point) in axis.points.iter().enumerate() {
        let label = match &point.label {
            Label::Number(value) => (value.to_bits(), ""),
            Label::Text(text) => (0, text.as_str()),
        };
        if !seen.insert(label) {
            let message = format!("{} is there twice", point.label);
            root.report(places.point(number).problem(message).help("keep one"));
            return;
        }
    }
}
