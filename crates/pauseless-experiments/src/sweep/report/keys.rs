//! The keys of `[[report]]` and `[[claim]]` in a campaign's file.

use super::super::campaign::Label;
use super::file::{Band, Middle, Take};
use super::words as units;
use pauseless_text::declare::{
    Choice, Declared, Entry, FileValue, Info, KeyInfo, Kind, List, Named, OneOrMany, Tables,
    Variant, Written,
};
use pauseless_text::reader::{At, Item, Section};
use pauseless_text::variant;
use pauseless_text::{section, words};

section! {
    /// What a campaign's report shows.
    pub(crate) struct ReportKeys {
        /// The tables and figures of the report; without any, shares of findings by all axes but seeds,
        /// a line for each numeric axis, a heat map over two, and a distribution.
        report: Tables<ReportFile>;
        /// What the campaign is said to show.
        claim: Tables<ClaimFile>;
    }
}

section! {
    /// A table of the report, and its figure.
    pub(crate) struct CommonKeys {
        /// The stem of its files; letters, digits, `-` and `_`.
        name: Stem, required "\"verdicts\"";
        /// The title of the table.
        title: String, derived "what the rest of the section says";
        /// The runs that count, by values of axes, such as `{ k = [4, 8] }`.
        select as "where": Conditions, derived "all runs";
        /// A row, a curve or a panel for each combination of these axes.
        by: OneOrMany<String>;
    }
}

section! {
    /// The share of runs in which a number is above zero, as a table and as bars with intervals.
    pub(crate) struct ProportionKeys {
        /// The numbers; a run counts if the number is above zero.
        of: OneOrMany<String>, required "[\"deadlock\"]";
        /// The axis that goes across.
        columns: String;
        /// Counts combinations of these axes instead of runs; a network deadlocks if any of its runs
        /// does.
        per: OneOrMany<String>, derived "runs are counted";
    }
}

section! {
    /// How a number is distributed over runs.
    pub(crate) struct CdfKeys {
        /// The number that is shown.
        of: String, required "\"deadlock\"";
        /// Whether its axis has powers of ten.
        x_log: bool, default false;
    }
}

section! {
    /// The middle of a number along an axis, with a band.
    pub(crate) struct LineKeys {
        /// The axis that goes across.
        x: String, required "\"seed\"";
        /// The number that is shown.
        of: String, required "\"deadlock\"";
        /// What stands for the runs at one place.
        middle: Middle, default Middle::Median;
        /// What the band shows; the confidence interval of the middle, quartiles or the whole range.
        band: Band, default Band::Confidence;
        /// Whether the axis has powers of ten.
        x_log: bool, default false;
    }
}

section! {
    /// A number over two axes.
    pub(crate) struct HeatmapKeys {
        /// The axis that goes across.
        x: String, required "\"seed\"";
        /// The axis that goes up.
        y: String, required "\"seed\"";
        /// The number that is shown.
        of: String, required "\"deadlock\"";
        /// What stands in a cell.
        take: Take, default Take::Mean;
    }
}

section! {
    /// What a campaign is said to show; `sweep report` exits with 1 if it does not hold.
    pub(crate) struct ClaimFile {
        /// The claim in words.
        text: String, required "\"GFC deadlocks in none\"";
        /// The number that is above zero in the runs that count.
        of: String, required "\"deadlock\"";
        /// Counts combinations of these axes instead of runs.
        per: OneOrMany<String>, derived "runs are counted";
        /// The runs that count, by values of axes.
        select as "where": Conditions, derived "all runs";
        /// The share that was measured is not more than this.
        at_most: f64, within 0.0..=1.0;
        /// The share that was measured is not less than this.
        at_least: f64, within 0.0..=1.0;
        /// The share is less than with these values of axes, and the intervals do not overlap.
        fewer_than: Conditions;
        /// The share is more than with these values of axes, and the intervals do not overlap.
        more_than: Conditions;
        /// Whether it is known to hold.
        met: bool, default true;
        /// Why it does not hold; needed with `met = false`.
        reason: String, default String::new();
        /// The sizes of the campaign at which it is judged.
        sizes: List<String>, within "a list of strings", derived "all sizes";
    }
}

words! { Middle { "median" => Middle::Median, "mean" => Middle::Mean } }
words! {
    Band { "95%" => Band::Confidence, "quartiles" => Band::Quartiles, "range" => Band::Range }
}
words! {
    Take {
        "mean" => Take::Mean,
        "median" => Take::Median,
        "max" => Take::Max,
        "proportion" => Take::Proportion,
    }
}

/// Values of axes, by the axis' name.
pub(crate) type Conditions = Named<OneOrMany<Literal>>;

/// A value of an axis as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Flag(bool),
    Number(f64),
    /// A quantity or a name.
    Text(String),
}

impl FileValue for Literal {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Literal>> {
        let place = item.place.clone();
        let value = if item.is_boolean() {
            Literal::Flag(item.boolean("a value of the axis")?.value)
        } else if item.is_string() {
            Literal::Text(item.string()?.value)
        } else {
            Literal::Number(item.number()?.value)
        };
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        let number = f64::kind(&Default::default());
        Kind::Either(vec![Kind::Text("a value of the axis"), number, Kind::Flag])
    }

    fn show(&self) -> String {
        match self {
            Literal::Flag(flag) => flag.show(),
            Literal::Number(number) => number.show(),
            Literal::Text(text) => text.show(),
        }
    }
}

impl Literal {
    /// What stands in the column of an axis with this unit.
    pub(super) fn label(&self, unit: &str) -> Label {
        match self {
            Literal::Flag(flag) => Label::Text(flag.to_string()),
            Literal::Number(number) => Label::Number(*number),
            Literal::Text(text) => {
                let amount = match unit {
                    "" => None,
                    _ => units::parse(text, unit),
                };
                amount.map_or(Label::Text(text.clone()), Label::Number)
            }
        }
    }
}

/// The stem of a file's name.
#[derive(Clone, Debug)]
pub(crate) struct Stem(pub String);

impl FileValue for Stem {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Stem>> {
        let sink = item.sink();
        let At { value, place } = item.string()?;
        let is_fit = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
        if value.is_empty() || value.len() > 64 || !value.chars().all(is_fit) {
            let problem = place.problem("not fit for the name of a file");
            sink.push(problem.expected("letters, digits, - and _"));
            return None;
        }
        let value = Stem(value);
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::Text("letters, digits, - and _")
    }

    fn show(&self) -> String {
        self.0.show()
    }
}

/// A section `[[report]]` of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReportFile {
    pub common: CommonKeys,
    /// `None` if it was reported as wrong.
    pub kind: Option<KindKeys>,
}

/// The keys of each kind of report.
#[derive(Clone, Debug)]
pub(crate) enum KindKeys {
    Proportion(ProportionKeys),
    Cdf(CdfKeys),
    Line(LineKeys),
    Heatmap(HeatmapKeys),
}

static KINDS: [Variant<KindKeys>; 4] = [
    variant!("proportion": KindKeys::Proportion[ProportionKeys]),
    variant!("cdf": KindKeys::Cdf[CdfKeys]),
    variant!("line": KindKeys::Line[LineKeys]),
    variant!("heatmap": KindKeys::Heatmap[HeatmapKeys]),
];

/// All kinds of reports.
pub fn kinds() -> Choice<KindKeys> {
    Choice { key: "kind", default: None, variants: KINDS.iter().collect() }
}

/// Its kind, the keys that all kinds have, and its own; nothing if it was reported as wrong.
impl Written for ReportFile {
    fn entries(&self) -> Vec<Entry> {
        let kinds = kinds();
        let kind = self.kind.as_ref().and_then(|kind| kinds.keys_of(kind));
        kind.map_or(Vec::new(), |(name, keys)| {
            let kind = Entry::text(kinds.key, name);
            [vec![kind], (&self.common, keys).entries()].concat()
        })
    }
}

impl Declared for ReportFile {
    fn about() -> String {
        CommonKeys::about()
    }

    fn keys() -> Vec<KeyInfo> {
        CommonKeys::keys()
    }

    fn read(section: &mut Section<'_>) -> ReportFile {
        let Some(kind) = kinds().take(section) else {
            return ReportFile::default();
        };
        ReportFile { common: CommonKeys::read(section), kind: (kind.value.read)(section) }
    }

    fn info() -> Info {
        Info { variants: Some(kinds().describe()), ..CommonKeys::info() }
    }
}
