//! A claims file: an experiment of a paper, what it says came out, and how we look.

use std::collections::BTreeSet;
use std::ops::Deref;

use pauseless_core::switch::Discipline;
use pauseless_core::unit::Span;
use toml::Table;

use super::Scale;
use super::compute::{Compute, Function, PerRun};
use super::reading::{Contradiction, Reading, Under};
use pauseless_run::results::{Beside, Reference};
use pauseless_run::sample::Asked;
use pauseless_run::sample::curve::{INSTANTS, Measure};
pub use pauseless_scenario::parse_table;
use pauseless_text::declare::{
    At, Declared, FileValue, Info, Item, Kind, List, Named, OneOrMany, Place, Section, Tables,
};
use pauseless_text::problem::{Problem, Problems, Sink};
use pauseless_text::{section, words};

section! {
    /// An experiment of a paper: a scenario, what is run of it, and what the paper says came out.
    pub struct Experiment {
        /// What the experiment shows, in one line.
        title: String, required "\"Three flows in a ring of four switches\"", default String::new();
        /// Where in the paper it stands.
        cites: String, required "\"HotNets'16, section 3.2, Fig. 4\"", default String::new();
        /// The scenario, another file of the folder, or `none`.
        scenario: String, derived "the file with the same stem";
        /// A function of `repro/compute/` that measures what cases alone cannot.
        compute: Function<Compute>;
        /// A function of `repro/compute/` that adds metrics to each run.
        per_run: Function<PerRun>;
        /// How packets wait; every case is run in each of these, and values then have the discipline in
        /// their name.
        disciplines: Disciplines, default Disciplines::default();
        /// The measured time of one core, shown by `--list` and before long work.
        seconds: Seconds, required "seconds = { quick = 1, full = 20 }", default Seconds::default();
        /// How the experiment is changed for a quick run.
        quick: Resize, default Resize::default();
        /// How the experiment is changed for a full run.
        full: Resize, default Resize::default();
        /// The parameters that the paper leaves open.
        choices as "choice": Tables<Choice>, default Tables::default();
        /// What a discipline needs that others do not.
        adaptations as "adapt": Tables<Adaptation>, default Tables::default();
        /// The variants of the scenario that are run.
        cases as "case": Tables<Case>, default Tables::default();
        /// Campaigns that are run beside the cases.
        campaigns as "campaign": Tables<CampaignUse>, default Tables::default();
        /// Flows whose completion is measured by itself.
        groups as "group": Tables<Group>, default Tables::default();
        /// Numbers that are taken from recorded curves of every run.
        measures as "measure": Tables<Measure>, default Tables::default();
        /// Other readings of the paper, under which claims are judged, too.
        readings as "reading": Tables<Reading>, default Tables::default();
        /// What the paper says.
        claims as "claim": Tables<Claim>, default Tables::default();
        /// The figures that are drawn.
        figures as "figure": Tables<FigureFile>, default Tables::default();
    }
}

section! {
    /// The time of one core that an experiment takes, in seconds.
    pub struct Seconds {
        /// The time of a quick run.
        quick: f64, required "1", default 0.0;
        /// The time at the paper's scale.
        full: f64, required "20", default 0.0;
    }
}

section! {
    /// The changes to the scenario at one scale.
    pub struct Resize {
        /// How this scale differs, in words.
        note: String, default String::new();
        /// Values of the scenario by their paths, for all cases.
        set: Table, default Table::new();
    }
}

section! {
    /// A parameter that the paper leaves open.
    pub struct Choice {
        /// The parameter that is open.
        what: String, required "\"link delay\"", default String::new();
        /// What we have chosen.
        ours: String, required "\"1 us\"", default String::new();
        /// Why we have chosen it.
        why: String, required "\"not stated; the queues of Fig. 3 fit\"", default String::new();
    }
}

section! {
    /// What is changed in the scenario where packets wait in one way.
    pub struct Adaptation {
        /// The discipline that needs it.
        discipline: Discipline, required "\"software\"", default Discipline::OutputQueued;
        /// Values of the scenario by their paths, for all cases in this discipline.
        set: Table, default Table::new();
    }
}

section! {
    /// A variant of the scenario.
    pub struct Case {
        /// Its name in values and figures, without `/` and `@`.
        name: String, required "\"PFC\"", default String::new();
        /// How many seeds a quick run tries.
        seeds: u64, within SEEDS, default 1;
        /// How many seeds a full run tries.
        seeds_full: u64, within SEEDS, derived "`seeds`";
        /// Values of the scenario by their paths, such as `duration`, `"switch.buffer"`, `flow_control`
        /// (the whole section), `"flow.F1.rate"` or `"traffic.1.load"`; elements of lists are found by
        /// name, by kind or by position from 1. What is there is replaced, what is not is added.
        set: Table, default Table::new();
        /// The place on the horizontal axis of a figure of lines.
        x: f64;
        /// The curve in a figure of lines.
        series: String;
        /// The disciplines of this case alone.
        disciplines: Disciplines, default Disciplines::default();
    }
}

section! {
    /// A campaign, whose runs are made like those of cases and whose rows are judged.
    pub struct CampaignUse {
        /// The campaign, another file of the folder.
        file: String, required "\"table1.sweep.toml\"", default String::new();
        /// The size of the campaign.
        size: String;
        /// How the names of its values begin; `{AXIS}` stands for the value of an axis. Numeric axes
        /// that are not in it are values themselves.
        name: String, required "\"k{k}/{scheme}\"", default String::new();
        /// The only scale at which it is run.
        scale: Scale;
    }
}

section! {
    /// The flows from some hosts, whose completion is measured by itself.
    pub struct Group {
        /// Its name in metrics.
        name: String, required "\"background\"", default String::new();
        /// The hosts, such as `H2..H15`.
        sources: List<String>, within "a list of hosts", required "[\"H2..H15\"]", default List::new();
    }
}

section! {
    /// Something that the paper says, and how our numbers are judged by it.
    pub struct Claim {
        /// What the paper says.
        text: String, required "\"the third flow closes the cycle\"", default String::new();
        /// Where the paper says it.
        cites: String;
        /// The paper's number, or its words; `"not in the paper"` marks a claim of your own, which is
        /// counted apart.
        paper: Paper, required "\"deadlock\"", default Paper::Words(String::new());
        /// The unit of the number.
        unit: String, default String::new();
        /// The values that are judged, and what is asked of them.
        asks: Asks, keys inline;
        /// Where it is met; everywhere, nowhere, or in these disciplines and no others.
        met: Met, required "true", default Met::Always(true);
        /// Why it is not met, or not everywhere.
        reason: String, default String::new();
        /// The only scale at which it is judged.
        scale: Scale;
        /// The readings under which it is judged, too, beside the experiment as it is written.
        under: Tables<Under>, default Tables::default();
        /// What else the paper says that makes it impossible.
        contradicted: Contradiction;
        /// Where it is met at the paper's scale, if that is not where it is met in a quick run.
        full: AtFull;
    }
}

section! {
    /// Where a claim is met at the paper's scale.
    pub struct AtFull {
        /// Where it is met with `--full`; everywhere, nowhere, or in these disciplines.
        met: Met, required "true", default Met::Always(true);
        /// Why it is not met with `--full`, or not everywhere.
        reason: String, default String::new();
    }
}

section! {
    /// The values that a claim speaks of, and what is asked of them.
    pub struct Asks {
        /// The values that are judged, each by itself.
        value: OneOrMany<String>, default OneOrMany::default();
        /// Values that rise from each to the next.
        order: List<String>, within "a list of values", default List::new();
        /// How far an order may be violated, in percent; without it values rise strictly.
        slack_percent: f64;
        /// The values are at most so far from the paper's number.
        within: f64;
        /// The values are at most so many percent of the paper's number away from it.
        within_percent: f64;
        /// The values lie between the paper's number divided and multiplied by this.
        factor: f64;
        /// The values are at most this.
        at_most: f64;
        /// The values are at least this.
        at_least: f64;
        /// The values lie between these two.
        between: [f64; 2];
    }
}

section! {
    /// A figure of the experiment.
    pub struct FigureFile {
        /// The stem of its files.
        name: String, required "\"queues\"", default String::new();
        /// The caption of the figure.
        caption: String, required "\"the queues over time\"", default String::new();
        /// What kind of figure it is; curves over time in a panel for each case and discipline, bars, a
        /// metric of each case at its `x`, or distributions of completion times with a curve for each
        /// case.
        kind: FigureKind, required "\"time\"", default FigureKind::Time;
        /// What the horizontal axis measures.
        x: String, default String::new();
        /// What the vertical axis measures.
        y: String, default String::new();
        /// Whether the horizontal axis has powers of ten.
        x_log: bool, default false;
        /// Whether the vertical axis has powers of ten.
        y_log: bool, default false;
        /// The curves of a figure over time.
        series: List<String>, within "a list of curves", default List::new();
        /// The only cases in it.
        cases: List<String>, within "a list of cases", default List::new(), derived "all cases";
        /// The only disciplines in it.
        disciplines: Disciplines, default Disciplines::default(), derived "all disciplines";
        /// The end of a time axis.
        to: Span, within INSTANTS, derived "the end of the run";
        /// The bars of the figure.
        bars: Tables<Bar>, default Tables::default();
        /// The metric of lines, or `fct` or `slowdown` of a distribution.
        metric: String, default String::new();
        /// The paper's curves, points by the name of the curve.
        paper: Named<List<[f64; 2]>>, default Named::default();
    }
}

section! {
    /// A bar of a figure.
    pub struct Bar {
        /// What stands below it.
        label: String, required "\"PFC\"", default String::new();
        /// The group that it is in.
        group: String;
        /// The value that the bar shows.
        value: String, required "\"PFC/pauses\"", default String::new();
        /// The number that the paper gives.
        paper: f64;
    }
}

/// The whole file, for documents and schemas.
pub fn info() -> Info {
    Experiment::info()
}

words! { Scale { "quick" => Scale::Quick, "full" => Scale::Full } }

/// A kind of figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureKind {
    /// Curves over time, a panel for each case.
    Time,
    /// Bars, with the paper's beside ours.
    Bars,
    /// A metric against a number of the case.
    Lines,
    /// Distributions of completion times.
    Cdf,
}

words! {
    FigureKind {
        "time" => FigureKind::Time,
        "bars" => FigureKind::Bars,
        "lines" => FigureKind::Lines,
        "cdf" => FigureKind::Cdf,
    }
}

/// A list of queueing disciplines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disciplines(pub Vec<Discipline>);

impl Deref for Disciplines {
    type Target = [Discipline];

    fn deref(&self) -> &[Discipline] {
        &self.0
    }
}

impl FileValue for Disciplines {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Disciplines>> {
        let At { value, place } = List::<Discipline>::take(item, &Default::default())?;
        let value = Disciplines(value.into_iter().map(|it| it.value).collect());
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        List::<Discipline>::kind(&Default::default())
    }

    fn show(&self) -> String {
        format!("[{}]", Vec::from_iter(self.iter().map(FileValue::show)).join(", "))
    }
}

/// What a paper gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Paper {
    /// A number of the paper.
    Number(f64),
    /// An order, or what happens.
    Words(String),
}

impl FileValue for Paper {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Paper>> {
        let place = item.place.clone();
        let value = if item.is_string() {
            Paper::Words(item.string()?.value)
        } else {
            Paper::Number(item.number()?.value)
        };
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        let number = f64::kind(&Default::default());
        Kind::Either(vec![number, Kind::Text("the paper's words")])
    }

    fn show(&self) -> String {
        match self {
            Paper::Number(number) => number.show(),
            Paper::Words(words) => words.show(),
        }
    }
}

/// Where a claim is marked as met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Met {
    /// It is met everywhere, or nowhere.
    Always(bool),
    /// It is met in these disciplines and no others.
    In(Disciplines),
}

impl Met {
    /// Whether it is marked as met there.
    pub fn is_in(&self, discipline: Option<Discipline>) -> bool {
        match self {
            Met::Always(met) => *met,
            Met::In(list) => discipline.is_some_and(|discipline| list.contains(&discipline)),
        }
    }
}

impl FileValue for Met {
    type Limit = ();

    fn take(item: Item<'_>, (): &()) -> Option<At<Met>> {
        let place = item.place.clone();
        let value = if item.is_list() {
            Met::In(Disciplines::take(item, &())?.value)
        } else {
            Met::Always(item.boolean("true, false or a list of disciplines")?.value)
        };
        Some(At { value, place })
    }

    fn kind((): &()) -> Kind {
        Kind::Either(vec![Kind::Flag, Disciplines::kind(&())])
    }

    fn show(&self) -> String {
        match self {
            Met::Always(met) => met.show(),
            Met::In(list) => list.show(),
        }
    }
}

impl Case {
    /// The seeds that are tried.
    pub fn seeds(&self, scale: Scale) -> std::ops::RangeInclusive<u64> {
        let quick = self.seeds.value;
        match scale {
            Scale::Quick => 1..=quick,
            Scale::Full => 1..=self.seeds_full.or(quick),
        }
    }
}

impl Experiment {
    /// Reads a claims file, which messages call `file`.
    pub fn parse(file: &str, text: &str) -> Result<Experiment, Problems> {
        let refuse = |list: Vec<Problem>| Problems::new(file, text, list);
        let table = parse_table(text).map_err(refuse)?;
        let sink = Sink::default();
        let mut root = Section::root(&sink, table);
        let experiment = Experiment::read(&mut root);
        root.finish();
        if sink.is_empty() {
            experiment.check(&sink);
        }
        if sink.is_empty() { Ok(experiment) } else { Err(refuse(sink.into_list())) }
    }

    /// Reports what is wrong although each key is right by itself.
    fn check(&self, sink: &Sink) {
        for claim in self.claims.iter() {
            if let Err(problem) = claim.check(self) {
                sink.push(problem);
            }
        }
        self.check_readings(sink);
        for (name, place) in self.values() {
            let metric = self.metric(name).filter(|it| it.contains('{'));
            if let Some(Err(wrong)) = metric.map(|metric| self.reference(metric)) {
                sink.push(place.problem(format!("{name}: no run has such a number: {wrong}")));
            }
        }
        let mut runs = 0;
        for case in self.cases.iter() {
            let seeds = case.seeds.value.max(case.seeds_full.or(1));
            runs += seeds * self.disciplines_of(case).len().max(1) as u64;
            if runs > RUNS_MAX {
                let message = format!("{runs} runs in the cases so far, the limit is {RUNS_MAX}");
                let help = "try fewer seeds, or make it a [[campaign]], which may have more";
                sink.push(case.place.problem(message).help(help));
                break;
            }
        }
        for case in self.cases.iter() {
            if case.name.contains(['/', '@']) {
                let place = case.name.place.as_ref().unwrap_or(&case.place);
                let message = format!("case {:?}: no / or @ in a name", case.name.value);
                sink.push(place.problem(message));
            }
        }
    }

    /// The disciplines in which a case is run; none if its scenario says that.
    pub(super) fn disciplines_of<'e>(&'e self, case: &'e Case) -> &'e Disciplines {
        if case.disciplines.is_empty() { &self.disciplines } else { &case.disciplines }
    }

    /// The numbers that claims and figures ask for by their names in the registry of results.
    pub fn asked(&self) -> Vec<Asked> {
        let metrics = self.values().filter_map(|(name, _)| self.metric(name));
        let lines = self.figures.iter().map(|figure| figure.metric.as_str());
        let metrics: BTreeSet<&str> = metrics.chain(lines).collect();
        let asked = metrics.into_iter().filter_map(|metric| {
            let reference = self.reference(metric).ok()?;
            let name = metric.to_string();
            Some(Asked { name, reference })
        });
        let mut asked: Vec<Asked> = asked.collect();
        // Completion times are of finished flows only: what the others leave open is measured, too.
        let besides = asked.iter().filter_map(|it| it.reference.beside());
        let besides: Vec<Beside> = besides.collect();
        asked.extend(
            besides
                .iter()
                .flat_map(Beside::all)
                .map(|reference| Asked { name: reference.text(), reference: reference.clone() }),
        );
        asked
    }

    /// The values that claims and bars speak of, such as `PFC/{d}/rate.min@max`, and where.
    fn values(&self) -> impl Iterator<Item = (&str, &Place)> {
        let claims = self.claims.iter().flat_map(|claim| {
            let readings = claim.under.iter().flat_map(|under| under.asks.names());
            let computed = claim.contradicted.get().map_or(&[][..], |it| it.asks.names());
            claim.asks.names().iter().chain(readings).chain(computed)
        });
        let claims = claims.map(|name| (name.value.as_str(), &name.place));
        let bars = self.figures.iter().flat_map(|figure| figure.bars.iter()).map(|bar| {
            let place = bar.value.place.as_ref();
            (bar.value.as_str(), place.unwrap_or(&bar.place))
        });
        claims.chain(bars).flat_map(|(names, place)| {
            names.split(" : ").map(str::trim).map(move |name| (name, place))
        })
    }

    /// The metric of a value, if it is that of a case: `rate.min`.
    fn metric<'n>(&self, name: &'n str) -> Option<&'n str> {
        let name = name.rsplit_once('@').map_or(name, |(name, _)| name);
        let rest = self
            .cases
            .iter()
            .find_map(|case| name.strip_prefix(case.name.as_str())?.strip_prefix('/'))?;
        let mut places = Discipline::ALL.map(Discipline::name).into_iter().chain(["{d}"]);
        let behind = places.find_map(|place| rest.strip_prefix(place)?.strip_prefix('/'));
        Some(behind.unwrap_or(rest))
    }

    /// The number that a name means in this experiment.
    pub(super) fn reference(&self, metric: &str) -> Result<Reference, String> {
        let groups = Vec::from_iter(self.groups.iter().map(|group| group.name.as_str()));
        Reference::with_groups(metric, &groups)
    }

    /// What is set in every case in this discipline.
    pub fn adaptation(&self, discipline: Option<Discipline>) -> Table {
        let of = self.adaptations.iter().filter(|it| Some(*it.discipline) == discipline);
        of.flat_map(|it| it.set.value.clone()).collect()
    }

    /// What is set in every case at this scale.
    pub fn resize(&self, scale: Scale) -> &Resize {
        match scale {
            Scale::Quick => &self.quick,
            Scale::Full => &self.full,
        }
    }
}

/// How many seeds a case may have; campaigns may have more.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=10_000;
/// How many runs all cases together may have: the numbers of all are in memory at once.
const RUNS_MAX: u64 = 100_000;

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn what_is_wrong_is_shown_at_its_place_with_what_was_meant() {
        let text = r#"title = "t"
cites = 3
seconds = { quick = 1 }
disciplines = ["output-queud"]
compute = "pcn-fig91"
quik = { note = "less" }
[[case]]
nam = "PFC"
seeds = 0
[[measure]]
name = "m"
series = "queue.S1:H1"
from = 1
take = "often"
[[claim]]
text = "c"
paper = true
value = [1]
between = [1]
met = "yes"
[[figure]]
name = "f"
caption = "c"
kind = "bar"
"#;
        let wrong = Experiment::parse("f.claims.toml", text).expect_err("it is wrong");
        let shown = wrong.list().iter().map(|problem| {
            let (line, _) = wrong.position(problem).expect("a place");
            let said = [&*problem.message, &*problem.expected, &*problem.help];
            let said = Vec::from_iter(said.into_iter().filter(|it| !it.is_empty()));
            format!("{line}: {}: {said:?}", problem.key)
        });
        expect![[r#"
            2: cites: ["an integer stands here", "a string"]
            3: seconds.full: ["missing", "add full = 20"]
            4: disciplines[0]: ["unknown value \"output-queud\"", "one of \"output-queued\", \"virtual-output-queued\", \"input-queued\", \"input-queued-fifo-first\", \"input-queued-slotted\", \"software\"", "did you mean output-queued?"]
            5: compute: ["unknown value \"pcn-fig91\"", "one of \"gfc-parameters\", \"gfc-stages\", \"hotnets-fig2\", \"hotnets-loop\", \"pcn-fig10\", \"pcn-fig19\", \"pcn-table1\", \"ttl-sizes\", \"gfc-exposure\", \"gfc-overlap\", \"gfc-evolution\", \"gfc-feedback\"", "did you mean pcn-fig19?"]
            6: quik: ["unknown key", "one of adapt, campaign, case, choice, cites, claim, compute, disciplines, figure, full, group, measure, per_run, quick, reading, scenario, seconds, title", "did you mean quick?"]
            7: case[0].name: ["missing", "add name = \"PFC\""]
            8: case[0].nam: ["unknown key", "one of disciplines, name, seeds, seeds_full, series, set, x", "did you mean name?"]
            9: case[0].seeds: ["0 is out of range", "a whole number from 1 to 10000"]
            13: measure[0].from: ["a number without a unit", "a time in ps, ns, us, ms, s", "write a string with a unit, for example \"10 us\""]
            14: measure[0].take: ["\"often\" cannot be taken", "mean, min, max, last, std, below X, above X, first below X or first above X"]
            17: claim[0].paper: ["a boolean stands here", "a number"]
            18: claim[0].value[0]: ["an integer stands here", "a string"]
            19: claim[0].between: ["not a pair", "two numbers"]
            20: claim[0].met: ["a string stands here", "true, false or a list of disciplines"]
            24: figure[0].kind: ["unknown value \"bar\"", "one of \"time\", \"bars\", \"lines\", \"cdf\"", "did you mean bars?"]"#]].assert_eq(&Vec::from_iter(shown).join("\n"));
    }

    #[test]
    fn claims_are_checked_at_their_places() {
        let file = |rest: &str| {
            format!("title = \"t\"\ncites = \"c\"\nseconds = {{ quick = 1, full = 1 }}\n{rest}")
        };
        let claim = "[[claim]]\ntext = \"t\"\npaper = 1\nwithin = 1\nmet = true\n";
        let shown = [
            file("[[case]]\nname = \"a@b\"\n"),
            file(&format!("{claim}value = [\"a/b\", \"a/b@often\"]\n")),
            file(&format!("{claim}value = \"a\"\nslack_percent = 5\n")),
        ]
        .map(|text| {
            let wrong = Experiment::parse("f.claims.toml", &text).expect_err("it is wrong");
            wrong.to_string().lines().next().unwrap_or("").to_string()
        });
        expect![[r#"
            pauseless: f.claims.toml:5:8: case[0].name: case "a@b": no / or @ in a name
            pauseless: f.claims.toml:9:17: claim[0].value[1]: a/b@often: @often is none of median, mean, min, max, sum, count, above, percent, std
            pauseless: f.claims.toml:4:1: claim[0]: slack_percent without order"#]].assert_eq(&shown.join("\n"));
    }
}
