//! How a number is distributed over runs.

use super::file::{Kind, Wanted};
use super::group::{Groups, Layout};
use super::rows::Rows;
use super::spread::quantile;
use super::{Cell, Head, Part, Shown, words};
use pauseless_figures::figure::{Axis, Drawn, Figure, Panel, Scale, Series, Source};
use pauseless_run::metrics::bias::Doubt;
use pauseless_run::table::{Column, Table};
use pauseless_text::quantity::significant;

/// The quantiles and their figure.
pub(super) fn part(wanted: &Wanted, rows: &Rows<'_>) -> Result<Part, String> {
    let Kind::Cdf { of, is_log } = &wanted.kind else {
        return Err("not a CDF".to_string());
    };
    let groups = Groups::of(rows, wanted, of, &wanted.by)?;
    let usual = || format!("Distribution of {} over runs", words::measured(of));
    let title = wanted.title_or(usual);
    let layout = Layout::of(&groups.key, &groups.keys());
    let panels = layout.panels.iter().map(|(title, curves)| {
        let x = Axis::new(words::measured(of), Scale::log_if(*is_log));
        let series = curves.iter().flat_map(|group| series(&groups, *group));
        Panel::new(title, x, Axis::linear("share of runs"), series.collect())
    });
    let caption = format!("{title}{}", groups.left.caption());
    let figure = Figure::new(&wanted.name, &caption, panels.collect());
    let mut notes = groups.notes.clone();
    notes.extend(layout.notes);
    Ok(Part {
        name: wanted.name.clone(),
        title,
        kind: "cdf",
        shown: shown(&groups),
        data: data(&groups, &wanted.name, of),
        figures: Vec::from_iter((!figure.panels.is_empty()).then_some(figure)),
        notes,
        doubt: doubt(&groups),
    })
}

/// Distributions are compared by their medians.
fn doubt(groups: &Groups) -> Option<Doubt> {
    let value = |group| groups.values.get(&group).map(|it: &Vec<f64>| quantile(it, 0.5));
    groups.left.doubt(&groups.key, |it| quantile(it, 0.5), value, |_| 0)
}

/// A curve, and beside it that of the runs at best and at worst if unfinished flows leave it open.
fn series(groups: &Groups, group: u64) -> Vec<Series> {
    let label = groups.key.named(group).pop().unwrap_or_default();
    let label = label + &groups.left.label(group..group + 1);
    let bounds = groups.left.bounds(group).into_iter().flatten();
    let ends = bounds.map(|sorted| {
        let points = steps(sorted).into_iter().filter(|(value, _)| value.is_finite());
        Series::new(&label, Drawn::Steps, points.collect()).from_source(Source::Companion)
    });
    let ends = ends.filter(|it| !it.points.is_empty());
    let values = Series::new(&label, Drawn::Steps, steps(&groups.values[&group]));
    std::iter::once(values).chain(ends).collect()
}

/// The share of values that are not above each of them, of many values as many as can be seen.
fn steps(sorted: &[f64]) -> Vec<(f64, f64)> {
    let count = sorted.len();
    let mut points = vec![(sorted[0], 0.0)];
    let stride = count.div_ceil(STEPS_MAX);
    let places = (0..count).filter(|place| (place + 1) % stride == 0 || place + 1 == count);
    points.extend(places.map(|place| (sorted[place], (place + 1) as f64 / count as f64)));
    points
}

fn shown(groups: &Groups) -> Shown {
    let mut heads = groups.key.heads();
    heads.push(Head::number("runs"));
    heads.extend(QUANTILES.map(|(name, _)| Head::number(name)));
    heads.extend(groups.left.heads());
    let rows = groups.values.iter().map(|(group, values)| {
        let mut row: Vec<String> = groups.key.words(*group);
        row.push(significant(values.len() as f64));
        row.extend(QUANTILES.map(|(_, share)| significant(quantile(values, share))));
        let mut row: Vec<Cell> = row.into_iter().map(Cell::Text).collect();
        // The median over runs, as in its column.
        row.extend(groups.left.cells(*group, |it| quantile(it, 0.5)));
        row
    });
    Shown { rows: rows.collect(), heads }
}

/// The steps of all curves.
fn data(groups: &Groups, name: &str, of: &str) -> Table {
    let mut keys = Vec::new();
    let (mut values, mut shares) = (Vec::new(), Vec::new());
    for (group, sorted) in &groups.values {
        for (value, share) in &steps(sorted)[1..] {
            keys.push(*group);
            values.push(Some(*value));
            shares.push(Some(*share));
        }
    }
    let mut columns = groups.key.data(&keys);
    columns.push(Column::numbers(of, values));
    columns.push(Column::numbers("share", shares));
    Table::new(name, columns)
}

const QUANTILES: [(&str, f64); 7] = [
    ("least", 0.0),
    ("5 %", 0.05),
    ("25 %", 0.25),
    ("median", 0.5),
    ("75 %", 0.75),
    ("95 %", 0.95),
    ("greatest", 1.0),
];
/// The most steps of a curve; more could not be seen.
const STEPS_MAX: usize = 500;
