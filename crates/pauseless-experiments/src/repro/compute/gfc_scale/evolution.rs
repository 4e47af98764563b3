//! Fig. 18: the throughput of all servers around the instant of a deadlock.

use super::super::super::scope::{Failure, Scope};
use crate::repro::data::{Measured, Values};
use pauseless_figures::figure::{Axis, Drawn, Figure, Mark, Panel, Series};
use pauseless_run::sample::Sample;
use pauseless_run::table::{Column, Table};

/// `compute`: one network and repetition that deadlocks under PFC, under all schemes.
pub fn evolution(scope: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    let mut panels = Vec::new();
    let mut table = Rows::default();
    for discipline in scope.experiment().disciplines.iter() {
        let runs = SCHEMES.into_iter().filter_map(|scheme| {
            let prefix = format!("{scheme}/{}", discipline.name());
            let (_, sample) = measured.curves.iter().find(|(name, _)| *name == prefix)?;
            Some((scheme, prefix, sample))
        });
        let runs = Vec::from_iter(runs);
        // The first scheme is PFC.
        let onset = runs.first().and_then(|(_, _, sample)| sample.metric("deadlock_ms"));
        let mut series = Vec::new();
        for (scheme, prefix, sample) in runs {
            describe(&mut measured.values, &prefix, sample, onset);
            table.add(&prefix, sample);
            let points = points(sample).collect();
            series.push(Series::new(scheme, Drawn::Line, points));
        }
        let mark = onset.map(|x| Mark::alarm("deadlock under PFC", x));
        let (x, y) = (Axis::linear("time (ms)"), Axis::linear("all servers (Gb/s)"));
        panels.push(Panel {
            marks: mark.into_iter().collect(),
            ..Panel::new(discipline.name(), x, y, series)
        });
    }
    let caption = "Throughput of all servers in 100 us bins; + is with cycle-aware thresholds";
    measured.figures.push(Figure::new("evolution", caption, panels));
    measured.tables.push(table.finish());
    Ok(())
}

const SCHEMES: [&str; 5] = ["PFC", "GFC buffer", "GFC time", "PFC+", "GFC buffer+"];

fn points(sample: &Sample) -> impl Iterator<Item = (f64, f64)> + '_ {
    let curve = sample.curves.values().next().into_iter().flatten();
    sample.times_ms.iter().copied().zip(curve.copied())
}

/// What happens before and after `onset`; without a deadlock, in the two halves of the run.
fn describe(values: &mut Values, prefix: &str, sample: &Sample, onset: Option<f64>) {
    let mut add = |name: &str, value: f64| values.push(format!("{prefix}/{name}"), value);
    let end = sample.times_ms.last().copied().unwrap_or(0.0);
    let onset = onset.unwrap_or(end / 2.0);
    // All hosts begin at once, and flows are short at first.
    let before = mean(points(sample).filter(|(time, _)| *time > 0.5 && *time <= onset));
    let after = mean(points(sample).filter(|(time, _)| *time > onset));
    let last = mean(points(sample).filter(|(time, _)| *time > end - 5.0));
    for (name, value) in [("before", before), ("after", after), ("last", last)] {
        value.into_iter().for_each(|value| add(name, value));
    }
    if let (Some(before), Some(last)) = (before, last) {
        add("last_percent", 100.0 * last / before);
    }
    if let (Some(before), Some(after)) = (before, after) {
        add("after_percent", 100.0 * after / before);
        let mut later = points(sample).filter(|(time, _)| *time > onset);
        let fallen = later.find(|(_, rate)| *rate < 0.1 * before);
        fallen.into_iter().for_each(|(time, _)| add("fall_ms", time - onset));
    }
}

fn mean(points: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (count, sum) = points.fold((0.0, 0.0), |(count, sum), (_, rate)| (count + 1.0, sum + rate));
    (count > 0.0).then_some(sum / count)
}

/// All curves, a row for each instant.
#[derive(Default)]
pub struct Rows {
    cases: Vec<String>,
    times: Vec<Option<f64>>,
    rates: Vec<Option<f64>>,
}

impl Rows {
    fn add(&mut self, case: &str, sample: &Sample) {
        for (time, rate) in points(sample) {
            self.cases.push(case.to_string());
            self.times.push(Some(time));
            self.rates.push(Some(rate));
        }
    }

    fn finish(self) -> Table {
        let columns = vec![
            Column::texts("case", self.cases),
            Column::numbers("time_ms", self.times),
            Column::numbers("all_servers_gbps", self.rates),
        ];
        Table::new("evolution", columns)
    }
}
