//! Campaign files: TOML in, a checked [`Campaign`] out.
//!
//! Everything that can be wrong is looked for before anything is run: the file itself here, and what
//! its values make of the scenario in [`trial`], by reading scenarios that have them.

mod amounts;
mod asked;
mod axis;
mod idle;
mod label;
mod size;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::campaign::{Campaign, FLOWS, Filter};
use super::plan::{TASKS_MAX, combinations};
use super::report::file::{Known, Sections};
use super::row::column;
use crate::import::{self, source::Source};
use crate::problem::{Problem, Problems, Sink};
use crate::results::{self, Kept, Reference};
use crate::scenario::reader::{At, Place, Section};
use crate::scenario::{FILE_MAX, parse_table, traffic};
use asked::Asked;
use axis::Draft;
use size::Size;

/// Columns that all results have.
const TAKEN: [&str; 6] = ["task", "version", "scenario", "seed", "ended", "error"];
/// What may end a run before its time.
const STOPS: [(&str, &str); 3] = [
    ("deadlock", "deadlock"),
    ("done", "done"),
    ("steady", "steady"),
];

impl Campaign {
    /// Reads the campaign at `path`, at one of the sizes that it has or as it is written.
    pub fn read(path: &Path, size: Option<&str>) -> Result<Campaign, Problems> {
        let source = Source::read_within(path, FILE_MAX)?;
        let Source { file, text } = &source;
        import::refuse_simulators(file, text)?;
        let refuse = |list: Vec<Problem>| Problems::new(file, text, list);
        let table = parse_table(text).map_err(refuse)?;
        let sink = Sink::default();
        let reading = Reading {
            path,
            stem: source.stem(),
            size,
        };
        let read = reading.read(Section::root(&sink, table));
        let Some(written) = read?.filter(|_| sink.is_empty()) else {
            return Err(refuse(sink.into_list()));
        };
        trial::check(&written, &sink)?;
        match sink.is_empty() {
            true => Ok(written.campaign),
            false => Err(refuse(sink.into_list())),
        }
    }
}

/// A campaign, and where in its file things were written.
struct Written {
    campaign: Campaign,
    scenario: Origin,
    /// Of each axis.
    axes: Vec<axis::Places>,
    asked: Asked,
}

/// Where the scenario comes from.
struct Origin {
    /// Where in the campaign's file it is named.
    place: Place,
    /// Its own file and what that contains, if it has one.
    file: Option<(PathBuf, String)>,
}

/// The scenario that all runs begin with.
struct Base {
    table: Table,
    /// What its paths are relative to.
    folder: PathBuf,
    source: Origin,
}

/// How a file is read.
struct Reading<'a> {
    path: &'a Path,
    /// The name of the file, without its ending.
    stem: String,
    size: Option<&'a str>,
}

impl Reading<'_> {
    /// Fails with what is wrong with the scenario's own file; `None` if something was reported.
    fn read(&self, mut root: Section<'_>) -> Result<Option<Written>, Problems> {
        if root.has("topology") && !root.has("scenario") {
            let problem = root.place.problem("this is a scenario, and no campaign");
            let help = "run it with `pauseless run`, or name it in a campaign's `scenario`";
            root.report(problem.help(help));
            return Ok(None);
        }
        let title = root.string("title").map(|title| title.value);
        let scenario = self.scenario(&mut root)?;
        let mut keep = read_keep(&mut root);
        let curves = root.strings("curves").map_or(Vec::new(), |it| it.value);
        let stop = read_stop(&mut root);
        let mut drafts = Draft::read_all(&mut root);
        let filter = root.table("filter").map(read_filter);
        let mut note = String::new();
        let sizes = Size::read_all(&mut root, &drafts);
        let values = size::all_values(&drafts.0, &sizes);
        if let Some(size) = self.chosen(&root, sizes) {
            note = size.note.clone();
            keep = size.keep.clone().or(keep);
            size.apply(&mut drafts.0);
        }
        let keeps_flows = take_flows(&mut keep);
        let names = kept(keep.as_deref());
        let axes = axis::finish(drafts.0, &root, &names);
        let (axes, places): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
        let known = Known::of((&axes, &values), &names);
        let Sections { reports, claims } = Sections::read(&mut root, known);
        let Some(Base {
            table: mut base,
            folder,
            source,
        }) = scenario
        else {
            root.finish();
            return Ok(None);
        };
        if let Some(stop) = stop {
            set_stop(&mut base, stop);
        }
        let name = self.name();
        let mut campaign = Campaign {
            title: title.unwrap_or_else(|| name.clone()),
            name,
            note,
            base,
            folder,
            axes,
            filter: filter.unwrap_or_default(),
            keep: names,
            keeps_flows,
            curves: texts(curves.clone()),
            distributions: BTreeMap::new(),
            reports,
            claims,
        };
        campaign.distributions = distributions(&campaign);
        refuse_crowd(&root, &campaign);
        root.finish();
        Ok(Some(Written {
            campaign,
            scenario: source,
            axes: places,
            asked: Asked {
                keep: keep.unwrap_or_default(),
                curves,
            },
        }))
    }

    /// The stem of the file, with the size behind it.
    fn name(&self) -> String {
        let stem = &self.stem;
        let stem = stem.strip_suffix(".sweep").unwrap_or(stem);
        match self.size {
            Some(size) => format!("{stem}-{size}"),
            None => stem.to_string(),
        }
    }

    /// The size that was asked for.
    fn chosen(&self, root: &Section<'_>, sizes: Vec<Size>) -> Option<Size> {
        let wanted = self.size?;
        let names = Vec::from_iter(sizes.iter().map(|size| size.name.clone()));
        let found = sizes.into_iter().find(|size| size.name == wanted);
        if found.is_none() {
            let problem = root.place.problem(format!("there is no size {wanted:?}"));
            let names = names.iter().map(String::as_str);
            let guess = crate::scenario::did_you_mean(wanted, names.clone());
            let all = Vec::from_iter(names).join(", ");
            let help = match (all.is_empty(), guess.is_empty()) {
                (true, _) => format!("it has no sizes; add a section [size.{wanted}]"),
                (_, true) => format!("it has {all}"),
                _ => format!("{guess} It has {all}"),
            };
            root.report(problem.help(help));
        }
        found
    }

    /// The scenario that all runs begin with.
    fn scenario(&self, root: &mut Section<'_>) -> Result<Option<Base>, Problems> {
        let here = self.path.parent().unwrap_or(Path::new(""));
        let Some(item) = root.take("scenario") else {
            root.missing("scenario", "\"FILE.toml\", or a section [scenario]");
            return Ok(None);
        };
        if item.is_table() {
            let Some(At { value, place }) = item.value() else {
                return Ok(None);
            };
            let table = value.as_table().cloned().unwrap_or_default();
            let source = Origin { place, file: None };
            let folder = here.to_path_buf();
            return Ok(Some(Base {
                table,
                folder,
                source,
            }));
        }
        let Some(At { value, place }) = item.string() else {
            return Ok(None);
        };
        let path = here.join(&value);
        let shown = path.display().to_string();
        if !path.exists() {
            let problem = place.problem(format!("there is no file {shown}"));
            root.report(problem.help("write its path as seen from this file"));
            return Ok(None);
        }
        let text = Source::read_within(&path, FILE_MAX)?.text;
        parse_table(&text).map_err(|list| Problems::new(&shown, &text, list))?;
        let table = toml::from_str(&text)
            .map_err(|error: toml::de::Error| Problems::of_file(&shown, error.to_string(), ""))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let file = Some((path, text));
        let source = Origin { place, file };
        Ok(Some(Base {
            table,
            folder,
            source,
        }))
    }
}

/// `keep`, without names that no run could have.
fn read_keep(section: &mut Section<'_>) -> Option<Vec<At<String>>> {
    let list = section.strings("keep")?;
    for At { value, place } in list.value.iter().filter(|it| it.value != FLOWS) {
        if let Err(help) = Reference::parse(value) {
            let problem = place.problem(format!("no run has a number {value:?}"));
            section.report(problem.help(help));
        }
    }
    Some(list.value)
}

/// Takes `flows` out of `keep`, which is no number; whether it was there. If nothing else was, the
/// usual numbers are kept.
fn take_flows(keep: &mut Option<Vec<At<String>>>) -> bool {
    let Some(names) = keep else {
        return false;
    };
    let count = names.len();
    names.retain(|it| it.value != FLOWS);
    let is_there = names.len() < count;
    if is_there && names.is_empty() {
        *keep = None;
    }
    is_there
}

/// What is kept of every run, and then `keep` or the usual, each once.
fn kept(keep: Option<&[At<String>]>) -> Vec<String> {
    let keep = match keep {
        Some(keep) => keep.iter().map(|it| it.value.clone()).collect(),
        None => results::kept_names(Kept::Usually),
    };
    let mut all = Vec::new();
    for name in results::kept_names(Kept::Always).into_iter().chain(keep) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// `stop`, as `verdict.stop_on` has it.
fn read_stop(root: &mut Section<'_>) -> Option<Value> {
    let list = root.strings("stop")?;
    let words = STOPS.map(|(word, _)| word);
    for At { value, place } in &list.value {
        if !words.contains(&value.as_str()) {
            let problem = place.problem(format!("nothing stops on {value:?}"));
            let problem = problem.expected(format!("some of {}", words.join(", ")));
            root.report(problem.help(crate::scenario::did_you_mean(value, words)));
        }
    }
    let words = texts(list.value).into_iter().map(Value::String);
    Some(Value::Array(words.collect()))
}

/// Writes `verdict.stop_on` into a scenario.
fn set_stop(base: &mut Table, stop: Value) {
    let verdict = base.entry("verdict").or_insert(Value::Table(Table::new()));
    if let Value::Table(verdict) = verdict {
        // The older way to write it would contradict this one.
        verdict.remove("stop_on_deadlock");
        verdict.insert("stop_on".to_string(), stop);
    }
}

fn read_filter(mut section: Section<'_>) -> Filter {
    let filter = Filter {
        cyclic: section.boolean("cyclic").map(|it| it.value),
        connected: section.boolean("connected").map(|it| it.value),
    };
    section.finish();
    filter
}

fn texts(list: Vec<At<String>>) -> Vec<String> {
    list.into_iter().map(|it| it.value).collect()
}

/// Reports that there are more runs than anybody could want. With a filter only those combinations
/// are known, and gone through, that end with the last axis of the network.
fn refuse_crowd(root: &Section<'_>, campaign: &Campaign) {
    let last = campaign.network_axes().last().copied();
    let (axes, help) = match campaign.filter.is_open() {
        true => (
            &campaign.axes[..],
            "fewer values of some axis, or several campaigns",
        ),
        false => (
            &campaign.axes[..last.map_or(0, |last| last + 1)],
            "fewer networks, or their axes before all others",
        ),
    };
    let count = combinations(axes);
    if count > TASKS_MAX {
        let problem = root
            .place
            .problem(format!("{count} combinations of values"));
        let problem = problem.expected(format!("at most {TASKS_MAX}"));
        root.report(problem.help(help));
    }
}

/// Every distribution and every list of flows that is read from a file, in the scenario or in any
/// value of an axis, by the name of the file.
fn distributions(campaign: &Campaign) -> BTreeMap<String, Value> {
    let mut files = BTreeSet::new();
    sizes_of(&Value::Table(campaign.base.clone()), &mut files);
    for (path, value) in campaign
        .axes
        .iter()
        .flat_map(|it| &it.points)
        .flat_map(|it| &it.set)
    {
        match (path.rsplit('.').next(), value) {
            (Some("sizes" | "file"), Value::String(file)) => {
                files.insert(file.clone());
            }
            _ => sizes_of(value, &mut files),
        }
    }
    let read = files.into_iter().filter_map(|file| {
        let points = traffic::inline(&file, &campaign.folder);
        let rows = || traffic::inline_rows(&file, &campaign.folder).map(Value::String);
        let content = points.or_else(rows)?;
        Some((file, content))
    });
    read.collect()
}

/// What stands at any key `sizes` or `file`.
fn sizes_of(value: &Value, files: &mut BTreeSet<String>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                match (key.as_str(), value) {
                    ("sizes" | "file", Value::String(file)) => {
                        files.insert(file.clone());
                    }
                    _ => sizes_of(value, files),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| sizes_of(value, files)),
        _ => {}
    }
}

/// Whether a column of results has this name already, which is what it has.
fn taken(name: &str, keep: &[String]) -> Option<&'static str> {
    if TAKEN.contains(&name) {
        return Some("all results have a column of this name");
    }
    let mut kept = keep.iter().map(|number| column(number));
    kept.any(|number| number == name)
        .then_some("a number of this name is kept of each run")
}

#[cfg(test)]
mod tests;
