//! How a number is distributed over runs.

use super::file::{Kind, Wanted};
use super::group::{Groups, Layout};
use super::rows::Rows;
use super::spread::quantile;
use super::{Cell, Head, Part, Shown, words};
use crate::draw::figure::{Axis, Drawn, Figure, Panel, Scale, Series, Spread};
use crate::table::{Cells, Column, Table};

/// The quantiles and their figure.
pub(super) fn part(wanted: &Wanted, rows: &Rows<'_>) -> Result<Part, String> {
    let Kind::Cdf { of, is_log } = &wanted.kind else {
        return Err("not a CDF".to_string());
    };
    let groups = Groups::of(rows, wanted, (of, &wanted.by))?;
    let title = match wanted.title.as_str() {
        "" => format!("Distribution of {} over runs", words::measured(of)),
        title => title.to_string(),
    };
    let layout = Layout::of(&groups.key, &groups.keys());
    let panels = layout.panels.iter().map(|(title, curves)| Panel {
        title: title.clone(),
        x: Axis {
            label: words::measured(of),
            scale: if *is_log { Scale::Log } else { Scale::Linear },
        },
        y: Axis {
            label: "share of runs".to_string(),
            scale: Scale::Linear,
        },
        series: curves.iter().map(|group| series(&groups, *group)).collect(),
        marks: Vec::new(),
        heat: None,
    });
    let figure = Figure {
        name: wanted.name.clone(),
        caption: title.clone(),
        panels: panels.collect(),
    };
    let mut notes = groups.notes.clone();
    notes.extend(layout.notes);
    Ok(Part {
        name: wanted.name.clone(),
        title,
        kind: "cdf",
        shown: shown(&groups),
        data: data(&groups, (&wanted.name, of)),
        figures: Vec::from_iter((!figure.panels.is_empty()).then_some(figure)),
        notes,
    })
}

fn series(groups: &Groups, group: u64) -> Series {
    Series {
        label: groups.key.named(group).pop().unwrap_or_default(),
        mark: Drawn::Steps,
        is_paper: false,
        points: steps(&groups.values[&group]),
        spread: Spread::None,
    }
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
    let columns = groups.key.columns.iter();
    let heads = columns.map(|it| Head::left(&words::axis(&it.name, it.unit)));
    let mut heads: Vec<Head> = heads.collect();
    heads.push(Head::number("runs"));
    heads.extend(QUANTILES.map(|(name, _)| Head::number(name)));
    let rows = groups.values.iter().map(|(group, values)| {
        let mut row: Vec<String> = groups.key.words(*group);
        row.push(words::number(values.len() as f64));
        row.extend(QUANTILES.map(|(_, share)| words::number(quantile(values, share))));
        row.into_iter().map(Cell::Text).collect()
    });
    Shown {
        rows: rows.collect(),
        heads,
    }
}

/// The steps of all curves.
fn data(groups: &Groups, (name, of): (&str, &str)) -> Table {
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
    for (name, cells) in [(of, values), ("share", shares)] {
        columns.push(Column {
            name: name.to_string(),
            cells: Cells::Numbers(cells),
        });
    }
    Table {
        name: name.to_string(),
        columns,
    }
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
/// More steps than this are finer than a figure.
const STEPS_MAX: usize = 500;
