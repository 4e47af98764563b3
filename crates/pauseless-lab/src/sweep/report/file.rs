//! What a campaign's file asks of its report: `[[report]]` and `[[claim]]` sections.

use std::collections::BTreeSet;

use super::super::campaign::{Axis, Label};
use super::super::row::column;
use super::rows::is_same;
use super::words;
use crate::scenario::did_you_mean;
use crate::scenario::reader::{At, Item, Section};

/// What is asked of a report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sections {
    /// Tables and figures, in the order of the file.
    pub reports: Vec<Wanted>,
    /// What the campaign is said to show.
    pub claims: Vec<Claim>,
}

/// A table and its figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The stem of its files.
    pub name: String,
    /// What it shows; empty for what the rest of the section says.
    pub title: String,
    /// What is made of the runs.
    pub kind: Kind,
    /// Which runs.
    pub select: Vec<Condition>,
    /// A row, a curve or a panel for each combination of these.
    pub by: Vec<String>,
}

/// What is made of the runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The share of runs in which a number is above zero.
    Proportion {
        /// The numbers.
        of: Vec<String>,
        /// The axis that goes across, if one does.
        columns: Option<String>,
        /// What is counted instead of runs, if anything is: each combination of these.
        per: Vec<String>,
    },
    /// How a number is distributed over runs.
    Cdf {
        /// The number.
        of: String,
        /// Whether its axis goes by powers of ten.
        is_log: bool,
    },
    /// A number along an axis.
    Line {
        /// The axis.
        x: String,
        /// The number.
        of: String,
        /// What stands for the runs at one place.
        middle: Middle,
        /// How far they spread.
        band: Band,
        /// Whether the axis goes by powers of ten.
        is_log: bool,
    },
    /// A number over two axes.
    Heatmap {
        /// The axis across.
        x: String,
        /// The axis upwards.
        y: String,
        /// The number.
        of: String,
        /// What stands in a cell.
        take: Take,
    },
}

/// What stands for several runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Middle {
    /// The middle one.
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

/// What stands in a cell of a heat map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// The sum by the number of runs.
    Mean,
    /// The middle one.
    Median,
    /// The greatest.
    Max,
    /// The share of runs that are above zero.
    Proportion,
}

/// A condition on runs: an axis has one of these values.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The axis.
    pub axis: String,
    /// The values.
    pub values: Vec<Label>,
}

/// What a campaign is said to show.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// In words.
    pub text: String,
    /// The number that is above zero in the runs that count.
    pub of: String,
    /// What is counted instead of runs, if anything is.
    pub per: Vec<String>,
    /// Which runs.
    pub select: Vec<Condition>,
    /// What is asked of their share.
    pub asks: Asks,
    /// Whether it is known to hold.
    pub is_met: bool,
    /// Why it does not.
    pub reason: String,
    /// The sizes of the campaign in which it is judged; empty for all.
    pub sizes: Vec<String>,
}

/// What a claim asks of a share.
#[derive(Clone, Debug, PartialEq)]
pub enum Asks {
    /// Not more.
    AtMost(f64),
    /// Not less.
    AtLeast(f64),
    /// Less than in the same runs with other values of some axes.
    FewerThan(Vec<Condition>),
    /// More than in those.
    MoreThan(Vec<Condition>),
}

/// What sections may speak of.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    /// The axes of the campaign.
    pub axes: &'a [Axis],
    /// The same with all values that they have at any size: a claim about k = 16 is no slip of the
    /// pen where the size at hand has k = 4 alone.
    pub values: &'a [Axis],
    /// The numbers that are kept.
    pub keep: &'a [String],
}

impl<'a> Known<'a> {
    /// Axes, the same with the values of all sizes, and what is kept.
    pub(crate) fn of((axes, values): (&'a [Axis], &'a [Axis]), keep: &'a [String]) -> Known<'a> {
        Known { axes, values, keep }
    }
}

impl Sections {
    /// Takes the sections out of a campaign's file.
    pub(crate) fn read(root: &mut Section<'_>, known: Known<'_>) -> Sections {
        if !root.is_sound() {
            // What is unknown here may be a slip of the pen there.
            let _ = (root.take("report"), root.take("claim"));
            return Sections::default();
        }
        let names = Names::of(known);
        let mut reports: Vec<Wanted> = Vec::new();
        for section in root.tables("report") {
            let place = section.place.clone();
            let report = |message| root.report(place.problem(message));
            match names.wanted(section) {
                Some(it) if reports.iter().any(|other| other.name == it.name) => report(format!(
                    "a second report {:?}; the name is that of its files",
                    it.name
                )),
                Some(it) => reports.push(it),
                None => {}
            }
        }
        let claims = root.tables("claim");
        Sections {
            reports,
            claims: claims
                .into_iter()
                .filter_map(|it| names.claim(it))
                .collect(),
        }
    }
}

/// The names that sections may use.
struct Names<'a> {
    axes: &'a [Axis],
    values: &'a [Axis],
    /// What runs can be told apart by.
    columns: Vec<&'a str>,
    numbers: Vec<String>,
}

impl<'a> Names<'a> {
    fn of(Known { axes, values, keep }: Known<'a>) -> Names<'a> {
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
        Names {
            axes,
            values,
            columns,
            numbers,
        }
    }

    fn wanted(&self, mut section: Section<'_>) -> Option<Wanted> {
        let is_written = section.has("kind");
        let kind = section.choice(
            "kind",
            &[
                ("proportion", Written::Proportion),
                ("cdf", Written::Cdf),
                ("line", Written::Line),
                ("heatmap", Written::Heatmap),
            ],
        );
        let name = section.string("name");
        let Some(At { value: kind, .. }) = kind else {
            if !is_written {
                section.missing("kind", "\"proportion\"");
            }
            section.discard();
            return None;
        };
        section.set_context(format!(" with kind = \"{}\"", kind.name()));
        let name = match name {
            Some(name) if is_stem(&name.value) => Some(name.value),
            Some(name) => {
                let problem = name.place.problem("not fit for the name of a file");
                section.report(problem.expected("letters, digits, - and _"));
                None
            }
            None => {
                section.missing("name", "\"verdicts\"");
                None
            }
        };
        let title = section.string("title").map_or(String::new(), |it| it.value);
        let select = self.conditions(&mut section, "where");
        let by = self.columns(&mut section, "by");
        let made = self.kind(kind, &mut section);
        section.finish();
        Some(Wanted {
            name: name?,
            title,
            kind: made?,
            select,
            by,
        })
    }

    fn kind(&self, kind: Written, section: &mut Section<'_>) -> Option<Kind> {
        match kind {
            Written::Proportion => {
                let of = self.numbers(section);
                let columns = self.column(section, "columns");
                let per = self.columns(section, "per");
                let of = of?;
                Some(Kind::Proportion { of, columns, per })
            }
            Written::Cdf => {
                let of = self.number(section);
                let is_log = is_log(section);
                Some(Kind::Cdf { of: of?, is_log })
            }
            Written::Line => {
                let x = self.numeric(section);
                let of = self.number(section);
                let middles = [("median", Middle::Median), ("mean", Middle::Mean)];
                let middle = section.choice("middle", &middles);
                let bands = [
                    ("95%", Band::Confidence),
                    ("quartiles", Band::Quartiles),
                    ("range", Band::Range),
                ];
                let band = section.choice("band", &bands);
                let is_log = is_log(section);
                Some(Kind::Line {
                    x: x?,
                    of: of?,
                    middle: middle.map_or(Middle::Median, |it| it.value),
                    band: band.map_or(Band::Confidence, |it| it.value),
                    is_log,
                })
            }
            Written::Heatmap => {
                let x = self.axis(section, "x");
                let y = self.axis(section, "y");
                let of = self.number(section);
                let takes = [
                    ("mean", Take::Mean),
                    ("median", Take::Median),
                    ("max", Take::Max),
                    ("proportion", Take::Proportion),
                ];
                let take = section.choice("take", &takes);
                Some(Kind::Heatmap {
                    x: x?,
                    y: y?,
                    of: of?,
                    take: take.map_or(Take::Mean, |it| it.value),
                })
            }
        }
    }

    fn claim(&self, mut section: Section<'_>) -> Option<Claim> {
        let text = section.string("text");
        if text.is_none() {
            section.missing("text", "\"GFC deadlocks in none\"");
        }
        let of = self.number(&mut section);
        let per = self.columns(&mut section, "per");
        let select = self.conditions(&mut section, "where");
        let asks = self.asks(&mut section);
        let is_met = section.boolean("met").is_none_or(|it| it.value);
        let reason = section
            .string("reason")
            .map_or(String::new(), |it| it.value);
        if !is_met && reason.is_empty() {
            section.missing("reason", "\"why it does not hold\"");
        }
        let sizes = section.strings("sizes").map_or(Vec::new(), |it| it.value);
        section.finish();
        Some(Claim {
            text: text?.value,
            of: of?,
            per,
            select,
            asks: asks?,
            is_met,
            reason,
            sizes: sizes.into_iter().map(|it| it.value).collect(),
        })
    }

    fn asks(&self, section: &mut Section<'_>) -> Option<Asks> {
        let mut found = Vec::new();
        let keys = ["at_most", "at_least", "fewer_than", "more_than"];
        let count = keys.iter().filter(|key| section.has(key)).count();
        found.extend(share(section, "at_most").map(Asks::AtMost));
        found.extend(share(section, "at_least").map(Asks::AtLeast));
        let has = ["fewer_than", "more_than"].map(|key| section.has(key));
        let fewer = Asks::FewerThan(self.conditions(section, "fewer_than"));
        let more = Asks::MoreThan(self.conditions(section, "more_than"));
        found.extend(has[0].then_some(fewer));
        found.extend(has[1].then_some(more));
        if count == 1 {
            return found.pop();
        }
        let problem = section.place.problem(match count == 0 {
            true => "nothing is asked of the share",
            false => "more than one thing is asked of the share",
        });
        let help = "write one of at_most = 0, at_least = 0.8, fewer_than = { axis = \"value\" }, \
                    more_than = { .. }";
        section.report(problem.help(help));
        None
    }

    /// Conditions on axes.
    fn conditions(&self, section: &mut Section<'_>, key: &'static str) -> Vec<Condition> {
        let Some(mut table) = section.table(key) else {
            return Vec::new();
        };
        let mut conditions = Vec::new();
        for (name, item) in table.entries() {
            let Some(axis) = self.known(section, &name) else {
                continue;
            };
            let unit = self.axes.iter().find(|it| it.name == axis);
            let unit = unit.map_or("", |axis| axis.unit);
            let items = match item.is_list() {
                true => item
                    .list("a list of values")
                    .map_or(Vec::new(), |it| it.value),
                false => vec![item],
            };
            let values = items.into_iter().filter_map(|item| label(item, unit));
            let values = values.map(|value| {
                self.refuse_stranger(section, (&axis, &value));
                value.value
            });
            let values: Vec<Label> = values.collect();
            conditions.push(Condition { axis, values });
        }
        conditions
    }

    /// Reports a value that its axis does not have at any size.
    fn refuse_stranger(&self, section: &Section<'_>, (name, value): (&str, &At<Label>)) {
        let Some(axis) = self.values.iter().find(|it| it.name == name) else {
            return;
        };
        let mut points = axis.points.iter();
        if points.any(|point| is_same(&point.label, &value.value)) {
            return;
        }
        let write = |label: &Label| words::label(label, axis.unit);
        let known = axis.points.iter().map(|point| write(&point.label));
        let mut known: Vec<String> = known.collect();
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
        let problem = problem.expected(format!("one of {}", words::some(&known)));
        section.report(problem.help(help));
    }

    /// A number that is kept of each run.
    fn number(&self, section: &mut Section<'_>) -> Option<String> {
        match section.take("of") {
            Some(item) => {
                let name = item.string()?;
                self.known_number(section, &name)
            }
            None => {
                section.missing("of", "\"deadlock\"");
                None
            }
        }
    }

    /// One or several of those.
    fn numbers(&self, section: &mut Section<'_>) -> Option<Vec<String>> {
        let Some(item) = section.take("of") else {
            section.missing("of", "[\"deadlock\"]");
            return None;
        };
        let names = match item.is_list() {
            true => item.strings("a list of numbers' names")?.value,
            false => vec![item.string()?],
        };
        if names.len() > NUMBERS_MAX {
            let problem = section
                .place
                .problem(format!("of has {} numbers", names.len()));
            section.report(problem.help(format!("at most {NUMBERS_MAX} fit into a table")));
            return None;
        }
        let names: Option<Vec<String>> = names
            .iter()
            .map(|name| self.known_number(section, name))
            .collect();
        names.filter(|names| !names.is_empty())
    }

    fn known_number(&self, section: &Section<'_>, name: &At<String>) -> Option<String> {
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
        section.report(name.place.problem(message).help(help));
        None
    }

    fn column(&self, section: &mut Section<'_>, key: &'static str) -> Option<String> {
        let name = section.string(key)?;
        self.known(section, &name)
    }

    /// An axis that must be there.
    fn axis(&self, section: &mut Section<'_>, key: &'static str) -> Option<String> {
        if !section.has(key) {
            section.missing(key, &format!("{:?}", self.columns[0]));
        }
        self.column(section, key)
    }

    /// An axis of numbers.
    fn numeric(&self, section: &mut Section<'_>) -> Option<String> {
        let Some(written) = section.take("x") else {
            section.missing("x", &format!("{:?}", self.columns[0]));
            return None;
        };
        let written = written.string()?;
        let name = self.known(section, &written)?;
        let axis = self.axes.iter().find(|axis| axis.name == name);
        let is_text = |axis: &Axis| {
            let mut points = axis.points.iter();
            points.any(|point| matches!(point.label, Label::Text(_)))
        };
        if name == "ended" || axis.is_some_and(is_text) {
            let message = format!("{name} has names, not numbers");
            let problem = written.place.problem(message);
            section.report(problem.help("use it as by, and an axis of numbers as x"));
            return None;
        }
        Some(name)
    }

    fn columns(&self, section: &mut Section<'_>, key: &'static str) -> Vec<String> {
        let Some(item) = section.take(key) else {
            return Vec::new();
        };
        let names = match item.is_list() {
            true => item.strings("a list of axes").map(|it| it.value),
            false => item.string().map(|it| vec![it]),
        };
        let mut known: Vec<String> = Vec::new();
        for name in names.unwrap_or_default() {
            match self.known(section, &name) {
                Some(axis) if known.contains(&axis) => {
                    section.report(name.place.problem(format!("{axis} a second time")));
                }
                Some(axis) => known.push(axis),
                None => {}
            }
        }
        known
    }

    fn known(&self, section: &Section<'_>, name: &At<String>) -> Option<String> {
        if self.columns.contains(&name.value.as_str()) {
            return Some(name.value.clone());
        }
        // `xoff` is as good as `xoff_bytes`.
        let with_unit = |axis: &&Axis| format!("{}_{}", name.value, axis.unit) == axis.name;
        if let Some(axis) = self.axes.iter().find(with_unit) {
            return Some(axis.name.clone());
        }
        let problem = name.place.problem(format!("no axis {:?}", name.value));
        let problem = problem.expected(format!("one of {}", self.columns.join(", ")));
        let columns = self.columns.iter().copied();
        section.report(problem.help(did_you_mean(&name.value, columns)));
        None
    }
}

/// A value of an axis as it is written: a number, a quantity, a name, or true or false.
fn label(item: Item<'_>, unit: &str) -> Option<At<Label>> {
    if item.is_boolean() {
        let At { value, place } = item.boolean("a value of the axis")?;
        let value = Label::Text(value.to_string());
        return Some(At { value, place });
    }
    if !item.is_string() {
        let At { value, place } = item.number()?;
        let value = Label::Number(value);
        return Some(At { value, place });
    }
    let At { value: text, place } = item.string()?;
    let amount = match unit {
        "" => None,
        _ => words::parse(&text, unit),
    };
    let value = amount.map_or(Label::Text(text), Label::Number);
    Some(At { value, place })
}

/// A share from 0 to 1.
fn share(section: &mut Section<'_>, key: &'static str) -> Option<f64> {
    let At { value, place } = section.take(key).and_then(Item::number)?;
    if (0.0..=1.0).contains(&value) {
        return Some(value);
    }
    let problem = place.problem(format!("{value} is out of range"));
    section.report(problem.expected("a share from 0 to 1"));
    None
}

fn is_log(section: &mut Section<'_>) -> bool {
    section.boolean("x_log").is_some_and(|it| it.value)
}

fn is_stem(name: &str) -> bool {
    let is_fit = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_fit)
}

#[derive(Clone, Copy, Debug)]
enum Written {
    Proportion,
    Cdf,
    Line,
    Heatmap,
}

impl Written {
    fn name(self) -> &'static str {
        match self {
            Written::Proportion => "proportion",
            Written::Cdf => "cdf",
            Written::Line => "line",
            Written::Heatmap => "heatmap",
        }
    }
}

/// A bit for each is all that is remembered.
const NUMBERS_MAX: usize = 64;
/// What is kept of every run.
pub(super) const FINDINGS: [&str; 3] = ["deadlock", "starved", "lost"];
