//! A number along an axis: the middle of the runs at each place, with a band.

use std::collections::BTreeMap;

use super::super::campaign::Label;
use super::file::{Band, Kind, Middle, Take, Wanted};
use super::group::{Groups, Layout};
use super::rows::Rows;
use super::spread::{self, Spread};
use super::{Cell, Head, Part, Shown, words};
use pauseless_figures::figure::{self, Axis, Drawn, Figure, Panel, Scale, Series, Source};
use pauseless_run::metrics::bias::Doubt;
use pauseless_run::table::{Column, Table};
use pauseless_text::quantity::significant;

/// The middles with their bands, and their figure.
pub(super) fn part(wanted: &Wanted, rows: &Rows<'_>) -> Result<Part, String> {
    let Kind::Line { x, of, middle, band, is_log } = &wanted.kind else {
        return Err("not a line".to_string());
    };
    let mut axes = wanted.by.clone();
    axes.push(x.clone());
    let groups = Groups::of(rows, wanted, of, &axes)?;
    let spreads = groups.values.iter();
    let spreads = spreads.map(|(group, values)| (*group, spread::of(values, *middle, *band)));
    let lines = Lines {
        wanted,
        of,
        spreads: spreads.collect(),
        is_log: *is_log,
        middle: if *middle == Middle::Mean { "mean" } else { "median" },
        take: if *middle == Middle::Mean { Take::Mean } else { Take::Median },
        groups,
    };
    let layout = lines.layout(rows)?;
    let doubt = lines.doubt();
    let figure = lines.figure(&layout, x, *band);
    let mut notes = lines.groups.notes.clone();
    if lines.spreads.values().any(|it| !it.is_sure) {
        let few = if *middle == Middle::Mean { 2 } else { 6 };
        notes.push(format!(
            "where there are fewer than {few} runs the band is from the least to the greatest, \
             which is less than 95 % sure"
        ));
    }
    notes.extend(layout.notes);
    Ok(Part {
        name: wanted.name.clone(),
        title: lines.title(x),
        kind: "line",
        shown: lines.shown(),
        data: lines.data(),
        figures: Vec::from_iter((!figure.panels.is_empty()).then_some(figure)),
        notes,
        doubt,
    })
}

struct Lines<'a> {
    wanted: &'a Wanted,
    of: &'a str,
    groups: Groups,
    spreads: BTreeMap<u64, Spread>,
    is_log: bool,
    middle: &'static str,
    take: Take,
}

impl Lines<'_> {
    /// The curves are the groups without the axis across.
    fn layout(&self, rows: &Rows<'_>) -> Result<Layout, String> {
        let by = rows.key(&self.wanted.by)?;
        let width = self.width();
        let mut keys: Vec<u64> = self.spreads.keys().map(|group| group / width).collect();
        keys.dedup();
        Ok(Layout::of(&by, &keys))
    }

    /// How many places there are across.
    fn width(&self) -> u64 {
        self.groups.key.last_len()
    }

    /// Curves are compared at each place.
    fn doubt(&self) -> Option<Doubt> {
        let value = |group| self.spreads.get(&group).map(|it: &Spread| it.middle);
        let width = self.width();
        let Groups { left, key, .. } = &self.groups;
        left.doubt(key, |it| spread::take(it, self.take), value, |group| group % width)
    }

    fn title(&self, x: &str) -> String {
        self.wanted.title_or(|| {
            let x = words::axis(x, self.unit());
            format!("{} along {x}", words::measured(self.of))
        })
    }

    fn figure(&self, layout: &Layout, x: &str, band: Band) -> Figure {
        let scale = words::scale(self.unit(), self.greatest());
        let panels = layout.panels.iter().map(|(title, curves)| {
            let label = words::with_unit(&words::axis(x, self.unit()), scale.1);
            let x = Axis::new(label, Scale::log_if(self.is_log));
            let y = Axis::linear(words::measured(self.of));
            let series = curves.iter().flat_map(|curve| self.series(*curve, scale.0));
            Panel::new(title, x, y, series.collect())
        });
        let band = match band {
            Band::Confidence => format!("the 95 % confidence interval of the {}", self.middle),
            Band::Quartiles => "the middle half of the runs".to_string(),
            Band::Range => "all runs".to_string(),
        };
        let (title, middle) = (self.title(x), self.middle);
        let dashed = self.groups.left.caption();
        let caption = format!("{title}: the {middle} of the runs, and {band}{dashed}");
        Figure::new(&self.wanted.name, caption, panels.collect())
    }

    /// A curve, and beside it what unfinished flows could make of it.
    fn series(&self, curve: u64, scale: f64) -> Vec<Series> {
        let middle = self.middles(curve, scale);
        let ends = [0, 1].map(|end| {
            let width = self.width();
            let bound = |group: u64| {
                let bounds = self.groups.left.bounds(group)?;
                let value = spread::take(bounds[end], self.take);
                value.is_finite().then(|| (self.x(group) / scale, value))
            };
            let groups = curve * width..(curve + 1) * width;
            let mut points: Vec<(f64, f64)> = groups.filter_map(bound).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Series::new(&middle.label, Drawn::Marked, points).from_source(Source::Companion)
        });
        let ends = ends.into_iter().filter(|it| !it.points.is_empty());
        std::iter::once(middle.clone()).chain(ends).collect()
    }

    fn middles(&self, curve: u64, scale: f64) -> Series {
        let width = self.width();
        let all = self.spreads.range(curve * width..(curve + 1) * width);
        let mut all: Vec<(f64, Spread)> = all.map(|(group, it)| (self.x(*group), *it)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let points = all.iter().map(|(x, it)| (x / scale, it.middle));
        let mut words = self.groups.key.named(curve * width);
        words.pop();
        let unfinished = self.groups.left.label(curve * width..(curve + 1) * width);
        let label = words.pop().unwrap_or_default() + &unfinished;
        Series {
            spread: figure::Spread::Band(all.iter().map(|(_, it)| it.ends).collect()),
            ..Series::new(label, Drawn::Marked, points.collect())
        }
    }

    fn unit(&self) -> &'static str {
        self.groups.key.columns.last().map_or("", |it| it.unit)
    }

    fn greatest(&self) -> f64 {
        self.spreads.keys().map(|group| self.x(*group).abs()).fold(0.0, f64::max)
    }

    /// The value of the horizontal axis for a group.
    fn x(&self, group: u64) -> f64 {
        let column = self.groups.key.columns.last();
        let label = column.map(|it| &it.values[(group % self.width()) as usize]);
        match label {
            Some(Label::Number(number)) => *number,
            _ => f64::NAN,
        }
    }

    fn shown(&self) -> Shown {
        let mut heads = self.groups.key.heads();
        let middle = format!("{} {}", self.middle, words::measured(self.of));
        heads.extend(["runs", &middle, "from", "to"].map(Head::number));
        heads.extend(self.groups.left.heads());
        let rows = self.spreads.iter().map(|(group, it)| {
            let mut row = self.groups.key.words(*group);
            let [low, high] = it.ends;
            row.extend([it.count as f64, it.middle, low, high].map(significant));
            let mut row: Vec<Cell> = row.into_iter().map(Cell::Text).collect();
            row.extend(self.groups.left.cells(*group, |it| spread::take(it, self.take)));
            row
        });
        Shown { rows: rows.collect(), heads }
    }

    fn data(&self) -> Table {
        let mut columns = self.groups.key.data(&self.groups.keys());
        let mut add = |name: String, make: &dyn Fn(&Spread) -> f64| {
            let cells = self.spreads.values().map(|it| Some(make(it)));
            columns.push(Column::numbers(name, cells));
        };
        let of = self.of;
        add("runs".to_string(), &|it| it.count as f64);
        add(format!("{of}_{}", self.middle), &|it| it.middle);
        add(format!("{of}_low"), &|it| it.ends[0]);
        add(format!("{of}_high"), &|it| it.ends[1]);
        let take = |it: &[f64]| spread::take(it, self.take);
        columns.extend(self.groups.left.data(of, &self.groups.keys(), take));
        Table::new(&self.wanted.name, columns)
    }
}
