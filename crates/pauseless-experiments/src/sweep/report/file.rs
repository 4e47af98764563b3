//! What a campaign's file asks of its report: `[[report]]` and `[[claim]]` sections.

use std::collections::BTreeSet;

use super::super::campaign::{Axis, Label};
use super::super::row::column;
use super::keys::{ClaimFile, Conditions, KindKeys, ProportionKeys, ReportFile, ReportKeys};
use super::rows::is_same;
use super::words;
pub use pauseless_scenario::did_you_mean;
use pauseless_text::declare::{Declared, Key, OneOrMany};
use pauseless_text::problem::Sink;
use pauseless_text::reader::{At, Section};

/// The sections of a campaign's file that a report needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sections {
    /// Tables and figures, in the order of the file.
    pub reports: Vec<Wanted>,
    /// The claims in the order of the file.
    pub claims: Vec<Claim>,
}

/// A table and its figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The stem of its files.
    pub name: String,
    /// The title; empty for one made of the rest of the section.
    pub title: String,
    /// The kind of table with its own keys.
    pub kind: Kind,
    /// The conditions on the runs that count.
    pub select: Vec<Condition>,
    /// A row, a curve or a panel for each combination of these.
    pub by: Vec<String>,
}

impl Wanted {
    /// The title of the file, or else the usual one.
    pub(super) fn title_or(&self, usual: impl FnOnce() -> String) -> String {
        match self.title.as_str() {
            "" => usual(),
            title => title.to_string(),
        }
    }
}

/// A kind of table or figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The share of runs in which a number is above zero.
    Proportion {
        /// The numbers that count if they are above zero.
        of: Vec<String>,
        /// The axis that goes across, if one does.
        columns: Option<String>,
        /// The axes whose combinations are counted instead of runs, if any.
        per: Vec<String>,
    },
    /// How a number is distributed over runs.
    Cdf {
        /// The number that is shown.
        of: String,
        /// Whether its axis goes by powers of ten.
        is_log: bool,
    },
    /// A number along an axis.
    Line {
        /// The axis that goes across.
        x: String,
        /// The number that is shown.
        of: String,
        /// The number that stands for the runs at one place.
        middle: Middle,
        /// How far they spread.
        band: Band,
        /// Whether the axis goes by powers of ten.
        is_log: bool,
    },
    /// A number over two axes.
    Heatmap {
        /// The axis that goes across.
        x: String,
        /// The axis that goes up.
        y: String,
        /// The number that is shown.
        of: String,
        /// The number that stands in a cell.
        take: Take,
    },
}

/// The number that stands for several runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Middle {
    /// The run in the middle.
    Median,
    /// The sum by their number.
    Mean,
}

/// What a band shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// The 95 % confidence interval of the middle.
    Confidence,
    /// From the first to the third quartile.
    Quartiles,
    /// From the least to the greatest.
    Range,
}

/// The number that stands in a cell of a heat map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// The sum by the number of runs.
    Mean,
    /// The run in the middle.
    Median,
    /// The greatest of the runs.
    Max,
    /// The share of runs that are above zero.
    Proportion,
}

/// A condition on runs: an axis has one of these values.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The name of the axis.
    pub axis: String,
    /// The values that meet the condition.
    pub values: Vec<Label>,
}

/// A claim about the share of runs that have found something.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The claim in words.
    pub text: String,
    /// The number that is above zero in the runs that count.
    pub of: String,
    /// The axes whose combinations are counted instead of runs, if any.
    pub per: Vec<String>,
    /// The conditions on the runs that count.
    pub select: Vec<Condition>,
    /// The condition on the share of these runs.
    pub asks: Asks,
    /// Whether it is known to hold.
    pub is_met: bool,
    /// The reason why it does not hold, if it does not.
    pub reason: String,
    /// The sizes of the campaign in which it is judged; empty for all.
    pub sizes: Vec<String>,
}

/// What a claim asks of a share.
#[derive(Clone, Debug, PartialEq)]
pub enum Asks {
    /// The share is at most this.
    AtMost(f64),
    /// The share is at least this.
    AtLeast(f64),
    /// Less than in the same runs with other values of some axes.
    FewerThan(Vec<Condition>),
    /// More than in the same runs with other values of some axes.
    MoreThan(Vec<Condition>),
}

/// The axes and numbers that sections may name.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The axes of the campaign.
    pub axes: &'a [Axis],
    /// The same with all values that they have at any size: a claim about k = 16 is no slip of the
    /// pen where the size at hand has k = 4 alone.
    pub values: &'a [Axis],
    /// The numbers that are kept.
    pub keep: &'a [String],
}

impl Sections {
    /// Takes the sections out of a campaign's file.
    pub fn read(root: &mut Section<'_>, known: Known<'_>) -> Sections {
        // What is unknown here may be a slip of the pen there.
        let is_sound = root.is_sound();
        let file = ReportKeys::read(root);
        if !is_sound {
            return Sections::default();
        }
        let names = Names::of(known, root.sink());
        let mut reports: Vec<Wanted> = Vec::new();
        for report in file.report.get().into_iter().flat_map(|it| it.iter()) {
            match names.wanted(report) {
                Some(it) if reports.iter().any(|other| other.name == it.name) => {
                    let name = &it.name;
                    let message =
                        format!("a second report {name:?}; the name is that of its files");
                    names.sink.push(report.common.place.problem(message));
                }
                Some(it) => reports.push(it),
                None => {}
            }
        }
        let claims = file.claim.get().into_iter().flat_map(|it| it.iter());
        let claims = claims.filter_map(|it| names.claim(it)).collect();
        Sections { reports, claims }
    }
}

/// The names that sections may use.
struct Names<'a> {
    sink: &'a Sink,
    axes: &'a [Axis],
    values: &'a [Axis],
    /// The columns by which runs can be told apart.
    columns: Vec<&'a str>,
    numbers: Vec<String>,
}

impl<'a> Names<'a> {
    pub fn of(known: Known<'a>, sink: &'a Sink) -> Names<'a> {
        let Known { axes, values, keep } = known;
        let mut columns: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
        for more in ["seed", "ended"] {
            if !columns.contains(&more) {
                columns.push(more);
            }
        }
        let mut numbers = FINDINGS.map(str::to_string).to_vec();
        for name in keep.iter().map(|name| column(name)) {
            if !numbers.contains(&name) {
                numbers.push(name);
            }
        }
        Names { sink, axes, values, columns, numbers }
    }

    fn wanted(&self, file: &ReportFile) -> Option<Wanted> {
        let ReportFile { common, kind } = file;
        let select = self.conditions(&common.select);
        let by = self.columns(&common.by);
        let kind = self.kind(kind.as_ref()?);
        Some(Wanted {
            name: common.name.get()?.0.clone(),
            title: common.title.get().cloned().unwrap_or_default(),
            kind: kind?,
            select,
            by,
        })
    }

    fn kind(&self, kind: &KindKeys) -> Option<Kind> {
        match kind {
            KindKeys::Proportion(keys) => {
                let of = self.numbers(keys);
                let columns = self.axis(&keys.columns);
                let per = self.columns(&keys.per);
                let of = of?;
                Some(Kind::Proportion { of, columns, per })
            }
            KindKeys::Cdf(keys) => {
                let of = self.number(&keys.of)?;
                let is_log = keys.x_log.value;
                Some(Kind::Cdf { of, is_log })
            }
            KindKeys::Line(keys) => {
                let (x, of) = (self.numeric(&keys.x), self.number(&keys.of));
                Some(Kind::Line {
                    x: x?,
                    of: of?,
                    middle: keys.middle.value,
                    band: keys.band.value,
                    is_log: keys.x_log.value,
                })
            }
            KindKeys::Heatmap(keys) => {
                let (x, y) = (self.axis(&keys.x), self.axis(&keys.y));
                let of = self.number(&keys.of);
                Some(Kind::Heatmap { x: x?, y: y?, of: of?, take: keys.take.value })
            }
        }
    }

    fn claim(&self, file: &ClaimFile) -> Option<Claim> {
        let of = self.number(&file.of);
        let per = self.columns(&file.per);
        let select = self.conditions(&file.select);
        let asks = self.asks(file);
        let is_met = file.met.value;
        let reason = file.reason.value.clone();
        if !is_met && reason.is_empty() {
            let problem = file.place.inner("reason").problem("missing");
            self.sink.push(problem.help("add reason = \"why it does not hold\""));
        }
        let sizes = file.sizes.get().into_iter().flatten();
        Some(Claim {
            text: file.text.get()?.clone(),
            of: of?,
            per,
            select,
            asks: asks?,
            is_met,
            reason,
            sizes: sizes.map(|it| it.value.clone()).collect(),
        })
    }

    fn asks(&self, file: &ClaimFile) -> Option<Asks> {
        let conditions = |key: &Key<Conditions>| key.is_written.then(|| self.conditions(key));
        let asks = [
            file.at_most.copied().map(Asks::AtMost),
            file.at_least.copied().map(Asks::AtLeast),
            conditions(&file.fewer_than).map(Asks::FewerThan),
            conditions(&file.more_than).map(Asks::MoreThan),
        ];
        let is_written = [
            file.at_most.is_written,
            file.at_least.is_written,
            file.fewer_than.is_written,
            file.more_than.is_written,
        ];
        let message = match is_written.iter().filter(|it| **it).count() {
            1 => return asks.into_iter().flatten().next(),
            0 => "nothing is asked of the share",
            _ => "more than one thing is asked of the share",
        };
        let help = "write one of at_most = 0, at_least = 0.8, fewer_than = { axis = \"value\" }, \
                    more_than = { .. }";
        self.sink.push(file.place.problem(message).help(help));
        None
    }

    /// The conditions that a key has, checked.
    fn conditions(&self, written: &Key<Conditions>) -> Vec<Condition> {
        let mut conditions = Vec::new();
        for (name, literals) in written.get().into_iter().flat_map(|it| &it.0) {
            let Some(axis) = self.known(name) else {
                continue;
            };
            let unit = self.axes.iter().find(|it| it.name == axis).map_or("", |axis| axis.unit);
            let values = literals.value.0.iter().map(|literal| {
                let value = At { value: literal.value.label(unit), place: literal.place.clone() };
                self.refuse_stranger(&axis, &value);
                value.value
            });
            let values = values.collect();
            conditions.push(Condition { axis, values });
        }
        conditions
    }

    /// Reports a value that its axis does not have at any size.
    fn refuse_stranger(&self, name: &str, value: &At<Label>) {
        let Some(axis) = self.values.iter().find(|it| it.name == name) else {
            return;
        };
        if axis.points.iter().any(|point| is_same(&point.label, &value.value)) {
            return;
        }
        let write = |label: &Label| words::label(label, axis.unit);
        let mut known: Vec<String> = axis.points.iter().map(|point| write(&point.label)).collect();
        // Sizes repeat values.
        let mut seen = BTreeSet::new();
        known.retain(|it| seen.insert(it.clone()));
        let message = format!("{name} has no value {}", write(&value.value));
        let help = match &value.value {
            // Any two numbers resemble each other.
            Label::Number(_) => String::new(),
            Label::Text(text) => did_you_mean(text, known.iter().map(String::as_str)),
        };
        let problem = value.place.problem(message);
        self.sink.push(problem.expected(format!("one of {}", words::some(&known))).help(help));
    }

    /// A number that is kept of each run.
    fn number(&self, name: &Key<String>) -> Option<String> {
        self.known_number(name.given.as_ref()?)
    }

    /// One or several numbers that are kept of each run.
    fn numbers(&self, keys: &ProportionKeys) -> Option<Vec<String>> {
        let names = &keys.of.get()?.0;
        if names.len() > NUMBERS_MAX {
            let problem = keys.place.problem(format!("of has {} numbers", names.len()));
            self.sink.push(problem.help(format!("at most {NUMBERS_MAX} fit into a table")));
            return None;
        }
        let names: Option<Vec<String>> = names.iter().map(|name| self.known_number(name)).collect();
        names.filter(|names| !names.is_empty())
    }

    fn known_number(&self, name: &At<String>) -> Option<String> {
        let found = column(&name.value);
        if self.numbers.contains(&found) {
            return Some(found);
        }
        let message = format!("{:?} is not kept of the runs", name.value);
        let numbers = self.numbers.iter().map(String::as_str);
        let mut help = did_you_mean(&name.value, numbers);
        if help.is_empty() {
            help = format!("add it to keep; kept are {}", self.numbers.join(", "));
        }
        self.sink.push(name.place.problem(message).help(help));
        None
    }

    /// An axis, or another thing that runs can be told apart by.
    fn axis(&self, name: &Key<String>) -> Option<String> {
        self.known(name.given.as_ref()?)
    }

    /// An axis of numbers.
    fn numeric(&self, written: &Key<String>) -> Option<String> {
        let name = self.axis(written)?;
        let axis = self.axes.iter().find(|axis| axis.name == name);
        let is_text =
            |axis: &Axis| axis.points.iter().any(|point| matches!(point.label, Label::Text(_)));
        if name == "ended" || axis.is_some_and(is_text) {
            let problem = written.place()?.problem(format!("{name} has names, not numbers"));
            self.sink.push(problem.help("use it as by, and an axis of numbers as x"));
            return None;
        }
        Some(name)
    }

    fn columns(&self, names: &Key<OneOrMany<String>>) -> Vec<String> {
        let mut known: Vec<String> = Vec::new();
        for name in names.get().into_iter().flat_map(|names| &names.0) {
            match self.known(name) {
                Some(axis) if known.contains(&axis) => {
                    self.sink.push(name.place.problem(format!("{axis} a second time")));
                }
                Some(axis) => known.push(axis),
                None => {}
            }
        }
        known
    }

    fn known(&self, name: &At<String>) -> Option<String> {
        if self.columns.contains(&name.value.as_str()) {
            return Some(name.value.clone());
        }
        // `xoff` is as good as `xoff_bytes`, and a key as the column that it makes.
        let written = column(&name.value);
        let with_unit =
            |axis: &&Axis| written == axis.name || format!("{written}_{}", axis.unit) == axis.name;
        if let Some(axis) = self.axes.iter().find(with_unit) {
            return Some(axis.name.clone());
        }
        let problem = name.place.problem(format!("no axis {:?}", name.value));
        let problem = problem.expected(format!("one of {}", self.columns.join(", ")));
        let columns = self.columns.iter().copied();
        self.sink.push(problem.help(did_you_mean(&name.value, columns)));
        None
    }
}

/// The most numbers of a table, since each takes a bit of 64.
const NUMBERS_MAX: usize = 64;
/// The findings, which are kept of every run.
pub(super) const FINDINGS: [&str; 3] = ["deadlock", "starved", "lost"];
