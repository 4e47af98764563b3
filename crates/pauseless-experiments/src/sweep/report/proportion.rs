//! Shares of runs, each with its count, its total and how sure that makes us.

use std::collections::{BTreeMap, HashMap};

use super::file::{Condition, Kind, Wanted};
use super::rows::{Key, Rows};
use super::{Cell, Head, Part, Shown, group, words};
use pauseless_figures::figure::{Axis, Drawn, Figure, Panel, Scale, Series, Spread};
use pauseless_run::metrics::statistics::wilson;
use pauseless_run::table::{Column, Table};
use pauseless_text::quantity;

/// How many of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// In how many it was so.
    pub count: usize,
    /// How many were looked at.
    pub total: usize,
}

impl Share {
    /// The share, if anything was looked at.
    pub fn value(self) -> Option<f64> {
        (self.total > 0).then(|| self.count as f64 / self.total as f64)
    }

    /// The 95 % confidence interval of the share (Wilson).
    pub fn interval(self) -> [f64; 2] {
        wilson(self.count, self.total)
    }
}

/// The things that are counted.
#[derive(Clone, Copy)]
pub(super) struct Count<'a> {
    /// Conditions on the runs that are looked at.
    pub select: &'a [Condition],
    /// The numbers that count if they are above zero.
    pub of: &'a [String],
    /// What is counted instead of runs, if anything is.
    pub per: &'a [String],
}

/// The shares that were counted.
pub(super) struct Counted {
    /// Of each combination, a share for each number.
    pub shares: BTreeMap<u64, Vec<Share>>,
    /// How many runs were looked at.
    runs: usize,
    /// How many of those do not have each number.
    without: Vec<usize>,
}

/// What one run, or all runs of one thing, say: a bit for each number.
#[derive(Clone, Copy, Default)]
struct Bits {
    /// The numbers that the runs have.
    known: u64,
    /// The numbers that are above zero.
    above: u64,
}

/// How many runs of each combination of `key` have each number above zero. A run that does not
/// have the number says nothing about it, and is not counted.
pub(super) fn count(rows: &Rows<'_>, wanted: Count<'_>, key: &Key) -> Result<Counted, String> {
    let numbers: Result<Vec<_>, String> = wanted.of.iter().map(|it| rows.numbers(it)).collect();
    let numbers = numbers?;
    let per = rows.key(wanted.per)?;
    // Any run of what is counted will do.
    let mut seen: HashMap<(u64, u64), Bits> = HashMap::new();
    let selected = rows.select(wanted.select)?;
    let mut counted =
        Counted { shares: BTreeMap::new(), runs: selected.len(), without: vec![0; numbers.len()] };
    for row in selected {
        let mut bits = Bits::default();
        for (index, cells) in numbers.iter().enumerate() {
            counted.without[index] += usize::from(cells[row].is_none());
            bits.known |= u64::from(cells[row].is_some()) << index;
            bits.above |= u64::from(cells[row].is_some_and(|it| it > 0.0)) << index;
        }
        let group = key.of(row);
        if wanted.per.is_empty() {
            counted.add(group, bits);
            continue;
        }
        let all = seen.entry((group, per.of(row))).or_default();
        all.known |= bits.known;
        all.above |= bits.above;
    }
    for ((group, _), bits) in seen {
        counted.add(group, bits);
    }
    Ok(counted)
}

impl Counted {
    fn add(&mut self, group: u64, bits: Bits) {
        let numbers = self.without.len();
        let shares = self.shares.entry(group).or_insert_with(|| vec![Share::default(); numbers]);
        for (index, share) in shares.iter_mut().enumerate() {
            share.count += (bits.above >> index & 1) as usize;
            share.total += (bits.known >> index & 1) as usize;
        }
    }

    /// What the reader must know: which numbers some runs do not have.
    pub(super) fn notes(&self, rows: &Rows<'_>, of: &[String]) -> Vec<String> {
        let notes = self.without.iter().zip(of).filter(|(runs, _)| **runs > 0).map(|(runs, of)| {
            let [runs, all] = [*runs, self.runs].map(|it| quantity::count(it as u64));
            let of = rows.kept(of);
            format!("{runs} of {all} runs have no {of} and are not counted")
        });
        notes.collect()
    }
}

/// What is counted, in the plural: `runs`, or `networks` where `per` names the network. An axis that
/// has one value in each share (`fixed`) is not what is counted there.
pub(super) fn units(
    rows: &Rows<'_>,
    per: &[String],
    fixed: impl Fn(&str) -> bool,
) -> Result<String, String> {
    let Some(name) = per.iter().rfind(|it| !fixed(it)).or(per.last()) else {
        return Ok("runs".to_string());
    };
    let unit = rows.coded(name)?.unit;
    Ok(quantity::plural_of(&words::axis(name, unit)))
}

/// The shares of a campaign with an axis across, if there is one.
struct Shares<'a> {
    wanted: &'a Wanted,
    of: &'a [String],
    units: String,
    /// The combinations of `by`, and how many of them there are values across for.
    key: Key,
    across: Option<Key>,
    /// By combination and value across.
    cells: BTreeMap<(u64, u64), Vec<Share>>,
}

/// The table of shares and their figures.
pub(super) fn part(wanted: &Wanted, rows: &Rows<'_>) -> Result<Part, String> {
    let Kind::Proportion { of, columns, per } = &wanted.kind else {
        return Err("not a proportion".to_string());
    };
    let mut all = wanted.by.clone();
    all.extend(columns.clone().filter(|it| !wanted.by.contains(it)));
    let count_of = Count { select: &wanted.select, of, per };
    let both = rows.key(&all)?;
    let counted = count(rows, count_of, &both)?;
    let across =
        if all.len() > wanted.by.len() { Some(rows.key(&all[wanted.by.len()..])?) } else { None };
    let width = across.as_ref().map_or(1, |it| it.columns[0].values.len() as u64);
    let place = |key: u64| (key / width, key % width);
    let shares = Shares {
        wanted,
        of,
        units: units(rows, per, |it| all.iter().any(|axis| axis == it))?,
        key: rows.key(&wanted.by)?,
        across,
        cells: counted.shares.iter().map(|(key, it)| (place(*key), it.clone())).collect(),
    };
    let mut figures = shares.figures();
    let cuts = figures.iter_mut().map(|it| group::cut(&mut it.panels));
    let mut notes: Vec<String> = cuts.flatten().collect();
    notes.dedup();
    notes.extend(counted.notes(rows, of));
    let drawn = shares.drawn();
    let hidden = of.iter().enumerate().filter(|(index, _)| !drawn.contains(index));
    let hidden: Vec<&str> = hidden.map(|(_, of)| of.as_str()).collect();
    if !hidden.is_empty() {
        let hidden = hidden.join(", ");
        notes.push(format!("not drawn, because it is nowhere above zero: {hidden}"));
    }
    Ok(Part {
        name: wanted.name.clone(),
        title: shares.title(),
        kind: "proportion",
        shown: shares.shown(),
        data: data(&wanted.name, &both, of, &counted.shares),
        figures,
        notes,
        doubt: None,
    })
}

/// The table with one line for each combination.
fn data(name: &str, key: &Key, of: &[String], counted: &BTreeMap<u64, Vec<Share>>) -> Table {
    let keys: Vec<u64> = counted.keys().copied().collect();
    let mut columns = key.data(&keys);
    for (index, of) in of.iter().enumerate() {
        let mut add = |name: &str, make: &dyn Fn(Share) -> Option<f64>| {
            let cells = counted.values().map(|shares| make(shares[index]));
            columns.push(Column::numbers(format!("{of}_{name}"), cells));
        };
        let end = |share: Share, end: usize| share.value().map(|_| share.interval()[end]);
        add("count", &|share| Some(share.count as f64));
        add("total", &|share| Some(share.total as f64));
        add("share", &Share::value);
        add("low", &|share| end(share, 0));
        add("high", &|share| end(share, 1));
    }
    Table::new(name, columns)
}

impl Shares<'_> {
    fn title(&self) -> String {
        let usual = || format!("Share of {} with {}", self.units, self.of.join(", "));
        self.wanted.title_or(usual)
    }

    /// The combinations, each once.
    fn groups(&self) -> Vec<u64> {
        let mut groups: Vec<u64> = self.cells.keys().map(|(group, _)| *group).collect();
        groups.dedup();
        groups
    }

    /// The values across that any run has, with their words.
    fn values(&self) -> Vec<(u64, String)> {
        let Some(across) = &self.across else {
            return vec![(0, String::new())];
        };
        let is_used = |value: &u64| self.cells.keys().any(|(_, it)| it == value);
        let values = (0..across.columns[0].values.len() as u64).filter(is_used);
        values.map(|value| (value, across.named(value).join(" "))).collect()
    }

    fn shown(&self) -> Shown {
        let mut heads = self.key.heads();
        let values = self.values();
        for of in self.of {
            for (_, value) in &values {
                let text = match value.as_str() {
                    "" => of.clone(),
                    value => format!("{of}, {value}"),
                };
                heads.push(Head::finding(&text, of));
            }
        }
        let rows = self.groups().into_iter().map(|group| {
            let mut row: Vec<Cell> = self.key.words(group).into_iter().map(Cell::Text).collect();
            for index in 0..self.of.len() {
                for (value, _) in &values {
                    let shares = self.cells.get(&(group, *value));
                    row.push(Cell::Share(shares.map_or(Share::default(), |it| it[index])));
                }
            }
            row
        });
        Shown { rows: rows.collect(), heads }
    }

    /// The numbers that are above zero anywhere, or the first: bars that are all nothing only hide
    /// the others.
    fn drawn(&self) -> Vec<usize> {
        let is_seen = |index: &usize| self.cells.values().any(|it| it[*index].count > 0);
        let seen: Vec<usize> = (0..self.of.len()).filter(is_seen).collect();
        if seen.is_empty() { vec![0] } else { seen }
    }

    /// One figure, or one for each number where an axis goes across.
    fn figures(&self) -> Vec<Figure> {
        let name = &self.wanted.name;
        if self.cells.is_empty() {
            return Vec::new();
        }
        let numbers = self.drawn();
        if self.across.is_none() || self.of.len() == 1 {
            let panels = self.panels(&numbers);
            return vec![Figure::new(name, self.title(), panels)];
        }
        let figures = numbers.iter().map(|index| {
            let of = &self.of[*index];
            let caption = format!("{}: {of}", self.title());
            Figure::new(&format!("{name}-{of}"), caption, self.panels(&[*index]))
        });
        figures.collect()
    }

    /// A panel for each combination of all but the last column, which has its bars side by side.
    fn panels(&self, numbers: &[usize]) -> Vec<Panel> {
        let last = self.key.last_len();
        let groups = self.groups();
        let mut outer: Vec<u64> = groups.iter().map(|group| group / last).collect();
        outer.dedup();
        // The same bars in every panel, so that they can be compared.
        let is_used = |place: &u64| groups.iter().any(|group| group % last == *place);
        let inner: Vec<u64> = (0..last).filter(is_used).collect();
        let panel = |outer: u64| {
            let group = |place: u64| outer * last + place;
            let names = inner.iter().map(|place| self.key.words(group(*place)).pop());
            let names = names.map(|it| it.unwrap_or(self.units.clone()));
            let label = self.key.columns.last();
            let label = label.map_or(String::new(), |it| words::axis(&it.name, it.unit));
            let x = Axis::new(label, Scale::Names(names.collect()));
            let y = Axis::linear(format!("{} (%)", self.units));
            let series = self.series(numbers, &inner, &group);
            Panel::new(self.key.title(group(0), 1), x, y, series)
        };
        outer.into_iter().map(panel).collect()
    }

    fn series(&self, numbers: &[usize], inner: &[u64], group: &dyn Fn(u64) -> u64) -> Vec<Series> {
        let mut all = Vec::new();
        for (value, word) in self.values() {
            for index in numbers {
                let shares = inner.iter().enumerate().filter_map(|(at, place)| {
                    let shares = self.cells.get(&(group(*place), value))?;
                    let share = shares[*index];
                    (share.total > 0).then_some((at as f64, share))
                });
                let percent = |(at, share): (f64, Share)| Some((at, share.value()? * 100.0));
                let interval = |(_, share): (f64, Share)| share.interval().map(|it| it * 100.0);
                let label = match (word.as_str(), numbers.len()) {
                    ("", _) => self.of[*index].clone(),
                    (word, 1) => word.to_string(),
                    (word, _) => format!("{}, {word}", self.of[*index]),
                };
                let points = shares.clone().filter_map(percent).collect();
                all.push(Series {
                    spread: Spread::Whiskers(shares.map(interval).collect()),
                    ..Series::new(label, Drawn::Bars, points)
                });
            }
        }
        all
    }
}
