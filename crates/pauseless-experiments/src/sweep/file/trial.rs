//! Whether the values of a campaign make scenarios that can be run.
//!
//! The scenario is read with each value of each axis, the others at their first value, so that what
//! is wrong with a value is found before the first run, and shown where the value was written. Of
//! axes with very many values only some are tried; a run that fails nevertheless says so in its row.

use rayon::prelude::*;
use toml::{Table, Value};

use super::asked::{Asked, Lack};
use super::{Placed, idle};
use crate::sweep::campaign::{Axis, Campaign, Filter};
use crate::sweep::network::Answer;
use pauseless_scenario::{Overrides, parse_file};
use pauseless_text::problem::{Problem, Problems, Sink};

/// Of axes with more values, only the first, the middle and the last one are tried.
const TRIED_MAX: usize = 64;
/// The most networks that are looked at for one that the filter lets through.
const LOOKED_AT_MAX: usize = 40;

/// Tries all axes. Fails with what is wrong with the scenario's own file.
pub fn check(written: &Placed, sink: &Sink) -> Result<(), Problems> {
    let campaign = &written.campaign;
    let trial = Trial { written, sink, first: first(campaign) };
    let mut lacks = Vec::new();
    if !trial.whole(&mut lacks)? {
        return Ok(());
    }
    idle::check(written, sink);
    let mut tried = Vec::new();
    for (number, axis) in campaign.axes.iter().enumerate() {
        let last = axis.points.len() - 1;
        let points = match axis.points.len() {
            count if count <= TRIED_MAX => Vec::from_iter(0..count),
            _ => vec![0, last / 2, last],
        };
        let others = points.into_iter().filter(|it| *it != trial.first[number]);
        tried.extend(others.map(|point| (number, point)));
    }
    trial.points(&tried, &mut lacks);
    if let Some(lack) = lacks.into_iter().reduce(Lack::and) {
        written.asked.report(&lack, sink);
    }
    Ok(())
}

/// The first value of each axis; of those that decide the network the first that the filter lets
/// through, if one is near.
fn first(campaign: &Campaign) -> Vec<usize> {
    let mut points = vec![0; campaign.axes.len()];
    let Some(last) = campaign.network_axes().last().copied() else {
        return points;
    };
    if campaign.filter.is_open() {
        return points;
    }
    let count = campaign.axes[last].points.len();
    for point in 0..count.min(LOOKED_AT_MAX) {
        points[last] = point;
        let scenario = campaign.scenario(&points, |_, _| {});
        if campaign.filter.judge(&scenario) == Answer::Through {
            return points;
        }
    }
    points[last] = 0;
    points
}

struct Trial<'w> {
    written: &'w Placed,
    sink: &'w Sink,
    first: Vec<usize>,
}

impl Trial<'_> {
    /// Whether the first values make a scenario.
    fn whole(&self, lacks: &mut Vec<Lack>) -> Result<bool, Problems> {
        let mut is_fine = true;
        let table = self.table(&self.first, &mut is_fine);
        if !is_fine {
            return Ok(false);
        }
        let problems = match self.reader().read(&table) {
            Ok(lack) => {
                lacks.extend(lack);
                return Ok(true);
            }
            Err(problems) => problems,
        };
        for problem in problems {
            match self.culprit(&problem) {
                Some(axis) => self.blame(axis, self.first[axis], &problem),
                None => self.blame_scenario(&problem)?,
            }
        }
        Ok(false)
    }

    /// Tries more values, each by itself: points of axes.
    fn points(&self, tried: &[(usize, usize)], lacks: &mut Vec<Lack>) {
        let tables = tried.iter().filter_map(|(axis, point)| {
            let mut points = self.first.clone();
            points[*axis] = *point;
            let mut is_fine = true;
            let table = self.table(&points, &mut is_fine);
            is_fine.then_some(((*axis, *point), table))
        });
        let tables = Vec::from_iter(tables);
        let reader = self.reader();
        // A large network takes a second.
        let found = tables.par_iter().map(|(_, table)| reader.read(table));
        let found: Vec<Result<Option<Lack>, Vec<Problem>>> = found.collect();
        for ((at, _), read) in tables.iter().zip(found) {
            match read {
                Ok(lack) => lacks.extend(lack),
                Err(problems) => problems.iter().for_each(|it| self.blame(at.0, at.1, it)),
            }
        }
    }

    /// The scenario with these values; what cannot be set is reported.
    fn table(&self, points: &[usize], is_fine: &mut bool) -> Table {
        self.written.campaign.scenario(points, |axis, wrong| {
            *is_fine = false;
            let problem = self.written.axes[axis].key(&wrong).problem(wrong);
            let help = "an element of a list is meant by its name, its kind or its number from 1";
            self.sink.push(problem.help(help));
        })
    }

    fn reader(&self) -> Reader<'_> {
        let Placed { campaign, scenario, .. } = self.written;
        let file = match &scenario.file {
            Some((path, _)) => path.clone(),
            None => campaign.folder.join("scenario"),
        };
        Reader {
            file: file.display().to_string(),
            filter: campaign.filter,
            asked: &self.written.asked,
        }
    }

    /// The last axis that sets what the problem is about.
    fn culprit(&self, problem: &Problem) -> Option<usize> {
        let campaign = &self.written.campaign;
        let key = without_places(&problem.key);
        let about =
            campaign.axes.iter().zip(&self.first).enumerate().filter(|(_, (axis, point))| {
                axis.points[**point].set.iter().any(|(path, _)| {
                    let path = without_elements(&campaign.base, path);
                    is_within(&key, &path) || (!key.is_empty() && is_within(&path, &key))
                })
            });
        about.map(|(number, _)| number).next_back()
    }

    /// Reports once that an axis makes another kind of a section whose other keys stay as they are.
    fn blame_kind(&self, axis: usize, point: usize, section: &str) {
        let label = &self.written.campaign.axes[axis].points[point].label;
        let place = self.written.axes[axis].point(point);
        let message = format!("[{section}] of the scenario has keys that {label} does not have");
        self.sink.push(place.problem(message).help(format!(
            "use cases, which replace the whole section: \
             axis.cases.NAME.{section} = {{ kind = \"{label}\", .. }}"
        )));
    }

    /// The axis that makes a section another kind, if that is why it has a key that is unknown; and
    /// the section.
    fn other_kind<'p>(&self, problem: &'p Problem) -> Option<(usize, &'p str)> {
        let section = problem.key.split('.').next()?;
        let kind = format!("{section}.kind");
        let mut axes = self.written.campaign.axes.iter();
        let sets = |axis: &Axis| axis.points.iter().flat_map(|it| &it.set).any(|it| it.0 == kind);
        let is_it = problem.message.starts_with("unknown key with kind");
        Some((axes.position(sets).filter(|_| is_it)?, section))
    }

    /// Reports a problem at a value of an axis.
    fn blame(&self, axis: usize, point: usize, problem: &Problem) {
        if let Some((other, section)) = self.other_kind(problem) {
            let point = if other == axis { point } else { self.first[other] };
            return self.blame_kind(other, point, section);
        }
        let places = &self.written.axes[axis];
        let label = &self.written.campaign.axes[axis].points[point].label;
        let is_key = problem.message.starts_with("unknown key");
        let (place, message) = if is_key {
            (places.key(&problem.key), format!("{}: {}", problem.key, problem.message))
        } else {
            (places.point(point), format!("with {label}, {}: {}", problem.key, problem.message))
        };
        let shown = place.problem(message).expected(problem.expected.clone());
        self.sink.push(shown.help(problem.help.clone()));
    }

    /// Reports a problem that no axis makes. If the scenario's own file has it, that is the place.
    fn blame_scenario(&self, problem: &Problem) -> Result<(), Problems> {
        if let Some((axis, section)) = self.other_kind(problem) {
            self.blame_kind(axis, self.first[axis], section);
            return Ok(());
        }
        let source = &self.written.scenario;
        if let Some((path, text)) = &source.file {
            let file = path.display().to_string();
            let read = parse_file(&file, "scenario", text, &Overrides::default());
            let same = |it: &Problem| (&it.key, &it.message) == (&problem.key, &problem.message);
            if let Err(problems) = read
                && problems.list().iter().any(same)
            {
                return Err(problems);
            }
        }
        let key = match problem.key.as_str() {
            "" => String::new(),
            key => format!("{key}: "),
        };
        let message = format!("with the first value of each axis, {key}{}", problem.message);
        let shown = source.place.problem(message).expected(problem.expected.clone());
        self.sink.push(shown.help(problem.help.clone()));
        Ok(())
    }
}

/// Reads scenarios, on any core.
struct Reader<'a> {
    /// The file that paths are relative to.
    file: String,
    filter: Filter,
    asked: &'a Asked,
}

impl Reader<'_> {
    /// What the runs of a scenario lack, or what is wrong with it; neither if it is one that the
    /// filter leaves out.
    pub fn read(&self, table: &Table) -> Result<Option<Lack>, Vec<Problem>> {
        let text = toml::to_string(table).expect("it was read from a file");
        let read = parse_file(&self.file, "scenario", &text, &Overrides::default());
        let read = read.map(|scenario| self.asked.lack(&scenario));
        match read {
            Ok(lack) if lack.is_empty() => Ok(Some(lack)),
            _ if self.filter.judge(table) != Answer::Through => Ok(None),
            Ok(lack) => Ok(Some(lack)),
            Err(problems) => Err(problems.list().to_vec()),
        }
    }
}

pub(super) fn is_within(key: &str, section: &str) -> bool {
    let rest = key.strip_prefix(section);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A key without places in lists: `flow[2].rate` becomes `flow.rate`.
fn without_places(key: &str) -> String {
    Vec::from_iter(key.split('.').map(|part| part.split('[').next().unwrap_or(part))).join(".")
}

/// `flow.F1.rate` as `flow.rate`, since the flows are a list.
fn without_elements(base: &Table, path: &str) -> String {
    let mut parts = path.split('.');
    let first = parts.next().unwrap_or(path);
    let is_list = matches!(base.get(first), Some(Value::Array(_)));
    let rest = parts.skip(usize::from(is_list));
    Vec::from_iter(std::iter::once(first).chain(rest)).join(".")
}
