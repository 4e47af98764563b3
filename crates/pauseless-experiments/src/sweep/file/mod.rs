//! Campaign files: TOML in, a checked [`Campaign`] out.
//!
//! Everything that can be wrong is looked for before anything is run: the file itself here, and what
//! its values make of the scenario in `trial`, by reading scenarios that have them.

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
use super::report::keys::ReportKeys;
use super::row::column;
use super::store;
use asked::Asked;
use axis::{AxisFile, Draft};
use pauseless_run::results::{self, Beside, Kept, Reference};
use pauseless_scenario::{FILE_MAX, StopOn, parse_table, traffic};
use pauseless_text::declare::{Declared, FileValue, Info, Key, Kind, List, Named, Tables};
use pauseless_text::foreign;
use pauseless_text::problem::{Problem, Problems, Sink};
use pauseless_text::reader::{At, Item, Place, Section};
use pauseless_text::source::Source;
use pauseless_text::{section, words};
use size::{Drafts, Size, SizeFile};

section! {
    /// One scenario over many values, seeds or networks, with one row of results per run.
    struct CampaignFile {
        /// One line that says what the campaign shows.
        title: String, derived "the name of the file";
        /// The scenario that all runs begin with; its file as seen from this one, or the scenario
        /// itself as `[scenario]`.
        scenario: Beginning, required "\"FILE.toml\", or a section [scenario]";
        /// The numbers that are kept of each run, beside `deadlock`, `starved`, `undecided`, `lost` and
        /// `warnings`; `"flows"` among them keeps a row for each flow of each run as well.
        keep: List<String>, within "a list of strings", derived "the usual ones";
        /// The recorded curves that are kept of each run; they must be in `[probe]` of the scenario.
        curves: List<String>, within "a list of strings", default List::new();
        /// What ends a run before its time; `verdict.stop_on` of all runs.
        stop: List<Stop>, derived "what the scenario says";
        /// The axes, along which the scenario is varied.
        axis: Tables<AxisFile>, required "[[axis]] with a key and its values";
        /// Which networks are run; it looks at the network alone, once for each.
        filter: FilterKeys, default FilterKeys::default();
        /// The same campaign with other values, for `--size NAME`.
        size: Named<SizeFile>, default Named::default();
    }
}

section! {
    /// Leaves out networks that do not fit, before anything is run.
    struct FilterKeys {
        /// Only networks with a cyclic buffer dependency when every host may send to every other over
        /// the routes (`true`), or only those without (`false`); a `path` of a single flow does not
        /// count.
        cyclic: bool;
        /// Only networks in which every host reaches every other (`true`), or only those in which some
        /// do not (`false`).
        connected: bool;
    }
}

/// The whole file, for documents and schemas.
pub fn info() -> Info {
    CampaignFile::info().with(ReportKeys::info())
}

/// What may end a run before its time, as `verdict.stop_on` has it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stop(&'static str);

words!(Stop, StopOn::NAMES.map(|name| (name, Stop(name))));

/// The scenario that all runs begin with, as it was written.
#[derive(Clone, Debug)]
enum Beginning {
    File(String),
    Inline(Table),
}

impl FileValue for Beginning {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Beginning>> {
        let place = item.place.clone();
        let value = if item.is_table() {
            Beginning::Inline(Table::take(item, &())?.value)
        } else {
            Beginning::File(item.string()?.value)
        };
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::Either(vec![Kind::Text("the path of a scenario"), Table::kind(&())])
    }

    fn show(&self) -> String {
        match self {
            Beginning::File(path) => path.show(),
            Beginning::Inline(table) => table.show(),
        }
    }
}

impl Campaign {
    /// Reads the campaign at `path`, at one of the sizes that it has or as it is written.
    pub fn read(path: &Path, size: Option<&str>) -> Result<Campaign, Problems> {
        let source = Source::read_within(path, FILE_MAX)?;
        Campaign::parse(&source, size, &[])
    }

    /// Reads a campaign whose text is known. Its scenario is taken from `beside`, texts by the names
    /// of their files, before it is looked for on the disk.
    pub(crate) fn parse(
        source: &Source,
        size: Option<&str>,
        beside: &[(String, String)],
    ) -> Result<Campaign, Problems> {
        let Source { file, text } = source;
        foreign::refuse(file, text)?;
        let refuse = |list: Vec<Problem>| Problems::new(file, text, list);
        let table = parse_table(text).map_err(refuse)?;
        let sink = Sink::default();
        let mut root = Section::root(&sink, table);
        let is_scenario = root.has("topology");
        let keys = CampaignFile::read(&mut root);
        if is_scenario && !keys.scenario.is_written {
            let problem = root.place.problem("this is a scenario, and no campaign");
            let help = "run it with `pauseless run`, or name it in a campaign's `scenario`";
            return Err(refuse(vec![problem.help(help)]));
        }
        let stem = source.stem();
        let path = Path::new(file);
        let read = Reading { path, stem, size, beside }.read(keys, root);
        // What is wrong with the report alone must not hide what is wrong with the runs.
        let Some(written) = read?.filter(|written| written.is_sound) else {
            return Err(refuse(sink.into_list()));
        };
        trial::check(&written, &sink)?;
        if sink.is_empty() { Ok(written.campaign) } else { Err(refuse(sink.into_list())) }
    }
}

/// A campaign, and where in its file things were written.
struct Placed {
    campaign: Campaign,
    /// Whether nothing is wrong with what its runs depend on.
    is_sound: bool,
    scenario: Origin,
    /// Where each axis was written.
    axes: Vec<axis::Places>,
    asked: Asked,
}

/// Where the scenario comes from.
struct Origin {
    /// Where in the campaign's file it is named.
    place: Place,
    /// The scenario's own file and its text, if it has one.
    file: Option<(PathBuf, String)>,
}

/// The scenario that all runs begin with.
struct Base {
    table: Table,
    /// The folder that paths in the scenario are relative to.
    folder: PathBuf,
    source: Origin,
}

/// How a file is read.
struct Reading<'a> {
    path: &'a Path,
    /// The name of the file, without its ending.
    stem: String,
    size: Option<&'a str>,
    /// The texts of files that need not be on the disk, by their names.
    beside: &'a [(String, String)],
}

impl Reading<'_> {
    /// Fails with what is wrong with the scenario's own file; `None` if something was reported.
    fn read(&self, file: CampaignFile, mut root: Section<'_>) -> Result<Option<Placed>, Problems> {
        let sink = root.sink();
        let scenario = self.scenario(file.scenario.given, sink)?;
        let mut keep = file.keep.get().cloned();
        refuse_unknown(keep.as_deref(), sink);
        let mut drafts = drafts(&file.axis, sink);
        let mut note = String::new();
        let sizes = file.size.value.0.iter();
        let sizes = sizes.map(|(name, it)| Size::new(&name.value, &it.value, &drafts, sink));
        let sizes = Vec::from_iter(sizes);
        let values = size::all_values(&drafts.sound, &sizes);
        if let Some(size) = self.chosen(&root, sizes) {
            note = size.note.clone();
            keep = size.keep.clone().or(keep);
            size.apply(&mut drafts.sound);
        }
        let keeps_flows = take_flows(&mut keep);
        let names = kept(keep.as_deref());
        let axes = axis::finish(drafts.sound, sink, &names);
        let (axes, places): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
        let known = Known { axes: &axes, values: &values, keep: &names };
        let is_sound = sink.is_empty();
        let before = sink.count();
        let Sections { reports, claims } = Sections::read(&mut root, known);
        let about_reports = sink.count() - before;
        let Some(Base { table: mut base, folder, source }) = scenario else {
            root.finish();
            return Ok(None);
        };
        if let Some(stop) = file.stop.get() {
            stop_on(&mut base, stop);
        }
        let name = self.name();
        let curves = file.curves.value;
        let mut campaign = Campaign {
            title: file.title.given.map_or(name.clone(), |title| title.value),
            name,
            note,
            base,
            folder,
            axes,
            filter: Filter {
                cyclic: file.filter.cyclic.copied(),
                connected: file.filter.connected.copied(),
            },
            keep: names,
            keeps_flows,
            curves: curves.iter().map(|it| it.value.clone()).collect(),
            distributions: BTreeMap::new(),
            reports,
            claims,
        };
        campaign.distributions = distributions(&campaign);
        refuse_crowd(&root, &campaign);
        root.finish();
        let is_sound = is_sound && sink.count() == about_reports;
        Ok(Some(Placed {
            campaign,
            is_sound,
            scenario: source,
            axes: places,
            asked: Asked { keep: keep.unwrap_or_default(), curves },
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
    pub fn chosen(&self, root: &Section<'_>, sizes: Vec<Size>) -> Option<Size> {
        let wanted = self.size?;
        let names = Vec::from_iter(sizes.iter().map(|size| size.name.clone()));
        let found = sizes.into_iter().find(|size| size.name == wanted);
        if found.is_none() {
            let problem = root.place.problem(format!("there is no size {wanted:?}"));
            let names = names.iter().map(String::as_str);
            let guess = pauseless_scenario::did_you_mean(wanted, names.clone());
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

    /// The scenario that all runs begin with; `None` if it was reported as missing.
    fn scenario(
        &self,
        written: Option<At<Beginning>>,
        sink: &Sink,
    ) -> Result<Option<Base>, Problems> {
        let here = self.path.parent().unwrap_or(Path::new(""));
        let Some(At { value, place }) = written else {
            return Ok(None);
        };
        let name = match value {
            Beginning::File(name) => name,
            Beginning::Inline(table) => {
                let source = Origin { place, file: None };
                let folder = here.to_path_buf();
                return Ok(Some(Base { table, folder, source }));
            }
        };
        let path = here.join(&name);
        let shown = path.display().to_string();
        let text = match self.beside.iter().find(|(it, _)| *it == name) {
            Some((_, text)) => text.clone(),
            None if !path.exists() => {
                let problem = place.problem(format!("there is no file {shown}"));
                sink.push(problem.help("write its path as seen from this file"));
                return Ok(None);
            }
            None => Source::read_within(&path, FILE_MAX)?.text,
        };
        foreign::refuse(&shown, &text)?;
        parse_table(&text).map_err(|list| Problems::new(&shown, &text, list))?;
        let table = toml::from_str(&text)
            .map_err(|error: toml::de::Error| Problems::of_file(&shown, error.to_string(), ""))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let file = Some((path, text));
        let source = Origin { place, file };
        Ok(Some(Base { table, folder, source }))
    }
}

/// The axes, as far as they can be varied.
fn drafts(axes: &Key<Tables<AxisFile>>, sink: &Sink) -> Drafts {
    let (mut sound, mut broken) = (Vec::new(), Vec::new());
    for axis in axes.get().into_iter().flat_map(|axes| axes.iter()) {
        match Draft::new(axis, sink) {
            Ok(draft) => sound.push(draft),
            Err(name) => broken.extend(name),
        }
    }
    Drafts { sound, broken }
}

/// Reports names of `keep` that no run could have.
fn refuse_unknown(keep: Option<&[At<String>]>, sink: &Sink) {
    for At { value, place } in keep.unwrap_or_default().iter().filter(|it| it.value != FLOWS) {
        if let Err(help) = Reference::parse(value) {
            sink.push(place.problem(format!("no run has a number {value:?}")).help(help));
        }
    }
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

/// The numbers that are kept of every run, then those of `keep` or the usual ones, then what must
/// stand beside these, each once.
fn kept(keep: Option<&[At<String>]>) -> Vec<String> {
    let keep = match keep {
        Some(keep) => keep.iter().map(|it| it.value.clone()).collect(),
        None => results::kept_names(Kept::Usually),
    };
    let mut all: Vec<String> = Vec::new();
    for name in results::kept_names(Kept::Always).into_iter().chain(keep) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    // Completion times are of finished flows only: what the others leave open is kept, too.
    let besides = all.iter().filter_map(|name| Reference::parse(name).ok()?.beside());
    let besides: Vec<Beside> = besides.collect();
    for it in besides.iter().flat_map(Beside::all) {
        if !all.iter().any(|name| column(name) == it.column()) {
            all.push(it.text());
        }
    }
    all
}

/// Sets `verdict.stop_on` of a scenario.
fn stop_on(scenario: &mut Table, stop: &List<Stop>) {
    let words = stop.iter().map(|it| Value::String(it.value.0.to_string()));
    let words = Value::Array(words.collect());
    let verdict = scenario.entry("verdict");
    if let Value::Table(verdict) = verdict.or_insert(Value::Table(Table::new())) {
        // The older way to write it would contradict this one.
        verdict.remove("stop_on_deadlock");
        verdict.insert("stop_on".to_string(), words);
    }
}

/// Reports that there are more runs than anybody could want. With a filter only those combinations
/// are known, and gone through, that end with the last axis of the network.
fn refuse_crowd(root: &Section<'_>, campaign: &Campaign) {
    let last = campaign.network_axes().last().copied();
    let (axes, help) = if campaign.filter.is_open() {
        (&campaign.axes[..], "fewer values of some axis, or several campaigns")
    } else {
        (
            &campaign.axes[..last.map_or(0, |last| last + 1)],
            "fewer networks, or their axes before all others",
        )
    };
    let count = combinations(axes);
    if count > TASKS_MAX {
        let problem = root.place.problem(format!("{count} combinations of values"));
        root.report(problem.expected(format!("at most {TASKS_MAX}")).help(help));
    }
}

/// Every distribution and every list of flows that is read from a file, in the scenario or in any
/// value of an axis, by the name of the file.
fn distributions(campaign: &Campaign) -> BTreeMap<String, Value> {
    let mut files = BTreeSet::new();
    sizes_of(&Value::Table(campaign.base.clone()), &mut files);
    for (path, value) in campaign.axes.iter().flat_map(|it| &it.points).flat_map(|it| &it.set) {
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

/// Collects the files that any key `sizes` or `file` names.
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
    if store::FIXED.contains(&name) {
        return Some("all results have a column of this name");
    }
    let mut kept = keep.iter().map(|number| column(number));
    kept.any(|number| number == name).then_some("a number of this name is kept of each run")
}

#[cfg(test)]
mod tests;
