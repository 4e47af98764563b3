//! Figures of a claims file, filled with what was measured.

use std::collections::BTreeMap;

use pauseless_core::switch::Discipline;

use super::file::{Experiment, FigureFile, FigureKind};
use crate::repro::data::Values;
use pauseless_figures::figure::{Axis, Drawn, Figure, Mark, Panel, Scale, Series, Source};
use pauseless_run::metrics::bias::{Case, Doubt};
use pauseless_run::sample::Sample;
use pauseless_text::reader::At;

/// A run of a case, and what was kept of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The position of the case.
    pub case: usize,
    /// The discipline, if the case was tried in several.
    pub discipline: Option<Discipline>,
    /// The seed of the run.
    pub seed: u64,
    /// What was kept of the run.
    pub sample: Sample,
}

/// All that figures are made from.
pub(super) struct Filler<'a> {
    pub experiment: &'a Experiment,
    pub values: &'a Values,
    pub outcomes: &'a [Outcome],
}

impl FigureFile {
    /// Whether a case is shown in it.
    pub(super) fn is_about(&self, case: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|it| it.value == case)
    }

    fn x_axis(&self) -> Axis {
        Axis::new(&*self.x, Scale::log_if(*self.x_log))
    }

    fn y_axis(&self) -> Axis {
        Axis::new(&*self.y, Scale::log_if(*self.y_log))
    }
}

impl Filler<'_> {
    /// The figure that `file` describes.
    pub(super) fn figure(&self, file: &FigureFile) -> Result<Figure, String> {
        let (panels, cases) = match file.kind.value {
            FigureKind::Time => (self.time(file)?, Vec::new()),
            FigureKind::Bars => self.bars(file),
            FigureKind::Lines => self.lines(file),
            FigureKind::Cdf => self.cdf(file),
        };
        let mut caption = file.caption.value.clone();
        // What the caption says of flows that did not finish does not hang on an order.
        if let Some(Doubt { shares, .. }) = Doubt::of(&cases, true) {
            caption += &format!("; {shares} of the flows did not finish");
        }
        Ok(Figure { name: file.name.value.clone(), caption, panels })
    }

    /// The cases that a value is computed from, if unfinished flows leave something of it open.
    fn cases(&self, value: &str) -> Vec<Case> {
        self.values.bounds(value).map_or(Vec::new(), |it| it.cases)
    }

    /// The first run of each case and discipline of `file`.
    fn first_runs<'s>(&'s self, file: &'s FigureFile) -> impl Iterator<Item = &'s Outcome> {
        self.outcomes.iter().filter(|it| {
            let name = &self.experiment.cases[it.case].name;
            let is_case = file.is_about(name);
            let is_discipline = match it.discipline {
                Some(discipline) if !file.disciplines.is_empty() => {
                    file.disciplines.contains(&discipline)
                }
                _ => true,
            };
            it.seed == 1 && is_case && is_discipline
        })
    }

    fn title(&self, outcome: &Outcome) -> String {
        let name = &self.experiment.cases[outcome.case].name;
        match outcome.discipline {
            Some(discipline) => format!("{name}, {}", discipline.name()),
            None => name.value.clone(),
        }
    }

    fn time(&self, file: &FigureFile) -> Result<Vec<Panel>, String> {
        let end = file.to.copied().map_or(f64::INFINITY, |span| span.as_secs_f64() * 1e3);
        let panels = self.first_runs(file).map(|outcome| {
            let sample = &outcome.sample;
            let series = file.series.iter().map(|At { value: name, .. }| {
                let missing = || format!("figure {}: no curve {name:?}", file.name);
                let curve = sample.curves.get(name).ok_or_else(missing)?;
                let points = sample.times_ms.iter().copied().zip(curve.iter().copied());
                let points = points.filter(|(time, _)| *time <= end).collect();
                Ok(Series::new(name, Drawn::Line, points))
            });
            let deadlock = sample.metric("deadlock_ms").filter(|time| *time <= end);
            let marks = deadlock.map(|x| Mark::alarm("deadlock", x));
            let series = series.collect::<Result<_, String>>()?;
            let x = Axis::linear("time (ms)");
            Ok(Panel {
                marks: marks.into_iter().collect(),
                ..Panel::new(self.title(outcome), x, file.y_axis(), series)
            })
        });
        panels.collect()
    }

    /// A panel for each discipline if bars speak of `{d}`, and the cases that are compared.
    fn bars(&self, file: &FigureFile) -> (Vec<Panel>, Vec<Case>) {
        let hangs = file.bars.iter().any(|bar| bar.value.contains("{d}"));
        let places: Vec<Option<Discipline>> = if !hangs {
            vec![None]
        } else if file.disciplines.is_empty() {
            self.experiment.disciplines.iter().copied().map(Some).collect()
        } else {
            file.disciplines.iter().copied().map(Some).collect()
        };
        let mut cases = Vec::new();
        let panels = places.into_iter().map(|it| self.bar_panel(file, it, &mut cases)).collect();
        (panels, cases)
    }

    fn bar_panel(
        &self,
        file: &FigureFile,
        discipline: Option<Discipline>,
        cases: &mut Vec<Case>,
    ) -> Panel {
        let mut groups: Vec<String> = Vec::new();
        let mut series: Vec<Series> = Vec::new();
        for bar in file.bars.iter() {
            // Without groups every bar is a group, and all are of one series.
            let label = bar.label.value.clone();
            let (group, label) = match bar.group.get() {
                Some(group) => (group.clone(), label),
                None => (label, "measured".to_string()),
            };
            let place = groups.iter().position(|it| *it == group).unwrap_or_else(|| {
                groups.push(group);
                groups.len() - 1
            });
            let value = match discipline {
                Some(discipline) => bar.value.replace("{d}", discipline.name()),
                None => bar.value.value.clone(),
            };
            let mut add = |label: &str, source: Source, height: f64| {
                let is_it = |it: &&mut Series| it.label == label && it.source == source;
                let point = (place as f64, height);
                match series.iter_mut().find(is_it) {
                    Some(series) => series.points.push(point),
                    None => series
                        .push(Series::new(label, Drawn::Bars, vec![point]).from_source(source)),
                }
            };
            cases.extend(self.cases(&value));
            // What was not measured has no bar.
            if let Some(height) = self.values.evaluate(&value) {
                add(&label, Source::Measured, height);
            }
            if let Some(paper) = bar.paper.copied() {
                let label = match bar.group.get() {
                    Some(_) => format!("{label}, paper"),
                    None => "paper".to_string(),
                };
                add(&label, Source::Paper, paper);
            }
        }
        let title = discipline.map_or("", |it| it.name());
        let x = Axis::new(&*file.x, Scale::Names(groups));
        Panel::new(title, x, file.y_axis(), series)
    }

    fn lines(&self, file: &FigureFile) -> (Vec<Panel>, Vec<Case>) {
        let mut cases = Vec::new();
        let mut curves: BTreeMap<(usize, String), Vec<(f64, f64)>> = BTreeMap::new();
        let mut order: Vec<String> = Vec::new();
        for case in self.experiment.cases.iter() {
            let (Some(x), true) = (case.x.copied(), file.is_about(&case.name)) else {
                continue;
            };
            let of = if case.disciplines.is_empty() {
                &self.experiment.disciplines
            } else {
                &case.disciplines
            };
            let places =
                if of.is_empty() { vec![None] } else { of.iter().copied().map(Some).collect() };
            let is_wanted = |place: &Option<Discipline>| match place {
                Some(place) if !file.disciplines.is_empty() => file.disciplines.contains(place),
                _ => true,
            };
            for place in places.into_iter().filter(is_wanted) {
                let prefix = super::prefix(&case.name, place);
                let name = case.series.get().cloned().unwrap_or_default();
                let name = match place {
                    Some(place) => format!("{name} {}", place.name()),
                    None => name,
                };
                let metric = format!("{prefix}/{}", file.metric);
                cases.extend(self.cases(&metric));
                let Some(value) = self.values.evaluate(&metric) else {
                    continue;
                };
                let rank = order.iter().position(|it| *it == name).unwrap_or_else(|| {
                    order.push(name.clone());
                    order.len() - 1
                });
                curves.entry((rank, name)).or_default().push((x, value));
            }
        }
        let ours = curves.into_iter().map(|((_, label), mut points)| {
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Series::new(label, Drawn::Marked, points)
        });
        let theirs = file.paper.0.iter().map(|(label, points)| {
            let label = format!("{}, paper", label.value);
            let points = points.value.iter().map(|it| it.value.into());
            Series::new(label, Drawn::Marked, points.collect()).from_source(Source::Paper)
        });
        let series = ours.chain(theirs).collect();
        (vec![Panel::new("", file.x_axis(), file.y_axis(), series)], cases)
    }

    /// A panel for each discipline, a curve for each case, which ends below 1 if flows did not
    /// finish.
    fn cdf(&self, file: &FigureFile) -> (Vec<Panel>, Vec<Case>) {
        let mut panels: Vec<(Option<Discipline>, Vec<Series>)> = Vec::new();
        let mut cases = Vec::new();
        for outcome in self.first_runs(file) {
            let values = match file.metric.as_str() {
                "slowdown" => &outcome.sample.slowdowns,
                _ => &outcome.sample.fct_us,
            };
            let flows = |name| outcome.sample.metric(name).unwrap_or(0.0) as u64;
            let case = Case {
                name: self.title(outcome),
                value: None,
                best: 0.0,
                worst: f64::INFINITY,
                finished: flows("finished"),
                unfinished: flows("unfinished"),
            };
            let (count, finished) = (values.len() as f64, 1.0 - case.share());
            cases.push(case);
            let points = values.iter().enumerate();
            let points = points.map(|(n, value)| (*value, (n + 1) as f64 / count * finished));
            let name = &self.experiment.cases[outcome.case].name.value;
            let series = Series::new(name, Drawn::Line, points.collect());
            let found = panels.iter_mut().find(|(it, _)| *it == outcome.discipline);
            match found {
                Some((_, list)) => list.push(series),
                None => panels.push((outcome.discipline, vec![series])),
            }
        }
        let panels = panels.into_iter().map(|(discipline, series)| {
            let title = discipline.map_or("", |it| it.name());
            let y = Axis::linear("share of flows");
            Panel::new(title, file.x_axis(), y, series)
        });
        (panels.collect(), cases)
    }
}
