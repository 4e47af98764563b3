//! A number over two axes, as colours.

use super::super::campaign::Label;
use super::file::{Kind, Take, Wanted};
use super::group::{self, Groups};
use super::proportion::Share;
use super::rows::{Coded, Rows};
use super::{Cell, Head, Part, Shown, spread, words};
use pauseless_figures::figure::{Axis, Figure, Heat, Panel, Scale};
use pauseless_run::metrics::bias::Doubt;
use pauseless_run::table::{Column, Table};
use pauseless_text::quantity::significant;

/// The cells and their figure.
pub(super) fn part(wanted: &Wanted, rows: &Rows<'_>) -> Result<Part, String> {
    let Kind::Heatmap { x, y, of, take } = &wanted.kind else {
        return Err("not a heat map".to_string());
    };
    let mut axes = wanted.by.clone();
    axes.extend([y.clone(), x.clone()]);
    let groups = Groups::of(rows, wanted, of, &axes)?;
    let columns = &groups.key.columns;
    let map = Map {
        wanted,
        of,
        take: *take,
        y: Side::of(&columns[columns.len() - 2], used(&groups, 1)),
        x: Side::of(&columns[columns.len() - 1], used(&groups, 0)),
        groups,
    };
    let mut panels = map.panels();
    let mut notes = map.groups.notes.clone();
    notes.extend(group::cut(&mut panels));
    let figure = Figure {
        name: wanted.name.clone(),
        caption: map.title(),
        panels: panels.into_iter().map(|outer| map.panel(outer)).collect(),
    };
    Ok(Part {
        name: wanted.name.clone(),
        title: map.title(),
        kind: "heatmap",
        shown: map.shown(),
        data: map.data(),
        figures: Vec::from_iter((!figure.panels.is_empty()).then_some(figure)),
        notes,
        doubt: map.doubt(),
    })
}

/// The values of the last axis but `before` that any group has.
fn used(groups: &Groups, before: usize) -> Vec<usize> {
    let places = groups.values.keys().map(|key| {
        let places = groups.key.places(*key);
        places[places.len() - 1 - before]
    });
    let mut used: Vec<usize> = places.collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// One axis of the map.
struct Side {
    /// The axis as it is drawn.
    axis: Axis,
    /// The places of its values among all of the axis, numbers in ascending order.
    places: Vec<usize>,
    /// The values of the axis in words.
    words: Vec<String>,
}

impl Side {
    pub fn of(column: &Coded, mut places: Vec<usize>) -> Side {
        let number = |place: usize| match column.values[place] {
            Label::Number(number) => Some(number),
            Label::Text(_) => None,
        };
        let numbers: Option<Vec<f64>> = places.iter().map(|it| number(*it)).collect();
        let name = words::axis(&column.name, column.unit);
        let write = |places: &[usize]| {
            let labels = places.iter().map(|it| words::label(&column.values[*it], column.unit));
            labels.collect::<Vec<String>>()
        };
        let Some(numbers) = numbers else {
            let words = write(&places);
            let scale = Scale::Names(words.clone());
            return Side { axis: Axis::new(name, scale), places, words };
        };
        places.sort_by(|a, b| number(*a).unwrap_or(0.0).total_cmp(&number(*b).unwrap_or(0.0)));
        let greatest = numbers.iter().fold(0.0, |most: f64, it| most.max(it.abs()));
        let (scale, unit) = words::scale(column.unit, greatest);
        let ticks = places.iter().map(|it| {
            let value = number(*it).unwrap_or(0.0) / scale;
            words::label(&Label::Number(value), "")
        });
        Side {
            axis: Axis::new(words::with_unit(&name, unit), Scale::Cells(ticks.collect())),
            words: write(&places),
            places,
        }
    }
}

struct Map<'a> {
    wanted: &'a Wanted,
    of: &'a str,
    take: Take,
    groups: Groups,
    x: Side,
    y: Side,
}

impl Map<'_> {
    /// Cells are compared with all others.
    fn doubt(&self) -> Option<Doubt> {
        let Groups { left, key, values, .. } = &self.groups;
        let value = |group| values.get(&group).map(|it: &Vec<f64>| spread::take(it, self.take));
        left.doubt(key, |it| spread::take(it, self.take), value, |_| 0)
    }

    fn title(&self) -> String {
        self.wanted.title_or(|| {
            let (x, y) = (&self.x.axis.label, &self.y.axis.label);
            format!("{} over {x} and {y}", self.label())
        })
    }

    /// What the colours measure.
    fn label(&self) -> String {
        let of = words::measured(self.of);
        match self.take {
            Take::Mean => format!("mean of {of}"),
            Take::Median => format!("median of {of}"),
            Take::Max => format!("greatest {of}"),
            Take::Proportion => format!("runs with {of} (%)"),
        }
    }

    /// How many cells a panel could have.
    fn size(&self) -> u64 {
        self.groups.key.columns.iter().rev().take(2).map(|it| it.values.len() as u64).product()
    }

    /// The combinations of all other axes.
    fn panels(&self) -> Vec<u64> {
        let size = self.size();
        let mut panels: Vec<u64> = self.groups.values.keys().map(|key| key / size).collect();
        panels.dedup();
        panels
    }

    /// The words of such a combination.
    fn words(&self, outer: u64) -> Vec<String> {
        let mut words = self.groups.key.words(outer * self.size());
        words.truncate(words.len() - 2);
        words
    }

    /// The group of runs that a cell shows.
    fn group(&self, outer: u64, row: usize, column: usize) -> u64 {
        let across = self.groups.key.last_len();
        let place = self.y.places[row] as u64 * across + self.x.places[column] as u64;
        outer * self.size() + place
    }

    fn value(&self, outer: u64, row: usize, column: usize) -> Option<f64> {
        let values = self.groups.values.get(&self.group(outer, row, column))?;
        let value = spread::take(values, self.take);
        Some(match self.take {
            Take::Proportion => value * 100.0,
            _ => value,
        })
    }

    fn panel(&self, outer: u64) -> Panel {
        let rows = 0..self.y.places.len();
        let cells = rows.flat_map(|row| {
            let columns = 0..self.x.places.len();
            columns.map(move |column| self.value(outer, row, column))
        });
        let title = self.groups.key.title(outer * self.size(), 2);
        let (x, y) = (self.x.axis.clone(), self.y.axis.clone());
        let label = self.label() + &self.groups.left.label(0..u64::MAX);
        Panel {
            heat: Some(Heat { label, cells: cells.collect() }),
            ..Panel::new(title, x, y, Vec::new())
        }
    }

    /// The map as a table, if it is narrow enough.
    fn shown(&self) -> Shown {
        let columns = &self.groups.key.columns;
        let heads = self.groups.key.heads().into_iter().take(columns.len() - 1);
        let x = &columns[columns.len() - 1];
        let x = words::axis(&x.name, x.unit);
        let across = self.x.words.iter().map(|it| Head::number(&format!("{x} = {it}")));
        let mut shown = Shown { heads: heads.chain(across).collect(), rows: Vec::new() };
        if self.x.places.len() > COLUMNS_MAX {
            shown.heads.truncate(columns.len() - 1);
            shown.heads.push(Head::number(&format!("{} at its greatest", self.label())));
        }
        for outer in self.panels() {
            for row in 0..self.y.places.len() {
                let mut line = self.words(outer);
                line.push(self.y.words[row].clone());
                let places = 0..self.x.places.len();
                let write = |it: Option<f64>| it.map_or("-".to_string(), significant);
                if self.x.places.len() > COLUMNS_MAX {
                    let values = places.filter_map(|it| self.value(outer, row, it));
                    line.push(write(values.reduce(f64::max)));
                } else {
                    line.extend(places.map(|it| {
                        let group = self.group(outer, row, it);
                        let unfinished = self.groups.left.label(group..group + 1);
                        write(self.value(outer, row, it)) + &unfinished
                    }));
                }
                shown.rows.push(line.into_iter().map(Cell::Text).collect());
            }
        }
        shown
    }

    fn data(&self) -> Table {
        let mut columns = self.groups.key.data(&self.groups.keys());
        let mut add = |name: String, make: &dyn Fn(&[f64]) -> f64| {
            let cells = self.groups.values.values().map(|it| Some(make(it)));
            columns.push(Column::numbers(name, cells));
        };
        let of = self.of;
        add("runs".to_string(), &|it| it.len() as f64);
        let name = match self.take {
            Take::Mean => "mean",
            Take::Median => "median",
            Take::Max => "max",
            Take::Proportion => "share",
        };
        add(format!("{of}_{name}"), &|it| spread::take(it, self.take));
        if self.take == Take::Proportion {
            let share = |values: &[f64]| Share {
                count: values.iter().filter(|it| **it > 0.0).count(),
                total: values.len(),
            };
            add(format!("{of}_low"), &|it| share(it).interval()[0]);
            add(format!("{of}_high"), &|it| share(it).interval()[1]);
        }
        let take = |it: &[f64]| spread::take(it, self.take);
        columns.extend(self.groups.left.data(of, &self.groups.keys(), take));
        Table::new(&self.wanted.name, columns)
    }
}

/// A wider map is for the figure.
const COLUMNS_MAX: usize = 12;
