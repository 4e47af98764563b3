//! What there is: the registry as text, as JSON and as the tables of `docs/metrics.md`.

use serde::Serialize;

use super::curves::{CURVES, Curve};
use super::reference::Parameter;
use super::{Json, Kept, NUMBERS, Number, Scope};
pub use pauseless_scenario::did_you_mean;
use pauseless_text::record::SCHEMA;
use pauseless_text::records;
use pauseless_text::terminal::Table;

/// The document of `pauseless metrics --json`.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Listing {
    /// The version of the format of this document; see [`SCHEMA`].
    pub schema: u32,
    /// Every number, in the order of the registry.
    pub numbers: Vec<NumberRecord>,
    /// Every curve, in the order of the registry.
    pub curves: Vec<CurveRecord>,
}

records! {
    /// A number of the registry.
    pub struct NumberRecord(number: &Number) {
        /// The name by which the number is asked for.
        name: &'static str = number.name;
        /// The unit in tables, claims and figures; empty for a plain number.
        unit: &'static str = number.unit.name();
        /// What the number is of: the run, a class, a layer, a port or a flow.
        scope: &'static str = number.scope().name();
        /// A sentence that says what the number is.
        meaning: &'static str = number.says;
        /// How it is asked for.
        example: String = number.example();
        /// The parameter that it needs; null if it needs none.
        needs: Option<&'static str> = number.needs().map(Parameter::name);
        /// The parameters that it can do without.
        allows: Vec<&'static str> = number.allows().iter().map(|it| it.name()).collect();
        /// The names of fixed percentiles, with `{}` for `p99`; null if it is none.
        spelt: Option<&'static str> = Some(number.spelt).filter(|it| !it.is_empty());
        /// Whether a run may lack it because what it measures has not happened.
        may_be_missing: bool = number.may_be_missing;
        /// When it is computed: only if `asked`, or in `sampled`, `usually` or `always`.
        kept: &'static str = kept(number);
        /// Where the document of a run has it; null if it has not.
        json: Option<String> = Some(number.json_path()).filter(|it| !it.is_empty());
        /// The unit of the number in that document.
        json_unit: &'static str = number.unit.base();
        /// The type there: `integer` or `number`.
        json_type: &'static str = if number.is_real { "number" } else { "integer" };
        /// Whether it is null there without a value, and not absent.
        is_nullable: bool = matches!(number.json, Json::Null(_));
        /// Its column in `flows.csv` and `flows.parquet`; null if it has none.
        column: Option<&'static str> = Some(number.column).filter(|it| !it.is_empty());
    }

    /// A curve of the registry.
    pub struct CurveRecord(curve: &Curve) {
        /// The name by which the curve is asked for.
        name: &'static str = curve.name;
        /// The unit in tables, claims and figures.
        unit: &'static str = curve.unit.name();
        /// What the curve is of: a port or a flow.
        scope: &'static str = curve.parameter();
        /// A sentence that says what the curve shows.
        meaning: &'static str = curve.says;
        /// Its name in the document of a run and in `series.csv`; null if they do not have it.
        column: Option<&'static str> = Some(curve.column).filter(|it| !it.is_empty());
    }
}

/// The entries that are listed.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    word: String,
}

impl Filter {
    /// The entries that have this word in their name, their scope or their sentence; else which may
    /// have been meant.
    pub fn of(word: &str) -> Result<Filter, String> {
        let filter = Filter { word: word.to_lowercase() };
        if filter.numbers().next().is_some() || filter.curves().next().is_some() {
            return Ok(filter);
        }
        let names = NUMBERS.iter().map(|it| it.name).chain(CURVES.iter().map(|it| it.name));
        Err(match did_you_mean(word, names).as_str() {
            "" => format!("no metric has {word:?} in its name or in what it says"),
            guess => format!("no metric has {word:?} in its name or in what it says; {guess}"),
        })
    }

    fn lets(&self, texts: [&str; 3]) -> bool {
        texts.into_iter().any(|text| text.to_lowercase().contains(&self.word))
    }

    fn numbers(&self) -> impl Iterator<Item = &'static Number> {
        NUMBERS.iter().filter(|it| self.lets([it.name, it.scope().name(), it.says]))
    }

    fn curves(&self) -> impl Iterator<Item = &'static Curve> {
        CURVES.iter().filter(|it| self.lets([it.name, it.parameter(), it.says]))
    }
}

/// The listing as a table for people.
pub fn text(filter: &Filter) -> String {
    let mut text = String::new();
    let mut numbers = Table::new("number unit of what-it-is");
    for scope in Scope::ALL {
        for number in filter.numbers().filter(|it| it.scope() == scope) {
            let scope = scope.name().to_string();
            let says = number.says.to_string();
            numbers.push(vec![form(number), number.unit.name().into(), scope, says]);
        }
    }
    let mut curves = Table::new("curve unit of what-it-is");
    for curve in filter.curves() {
        curves.push(vec![
            format!("{}{{{}}}", curve.name, curve.parameter()),
            curve.unit.name().to_string(),
            curve.parameter().to_string(),
            curve.says.to_string(),
        ]);
    }
    for table in [numbers, curves] {
        if !table.is_empty() {
            text += &table.render(|_, _, cell| cell.to_string());
            text.push('\n');
        }
    }
    text + HINT
}

/// The listing as a document for programs.
pub fn json(filter: &Filter) -> Listing {
    Listing {
        schema: SCHEMA,
        numbers: filter.numbers().map(NumberRecord::new).collect(),
        curves: filter.curves().map(CurveRecord::new).collect(),
    }
}

/// A document with its tables written anew: what stands between a line `<!-- metrics: SCOPE -->`, or
/// `<!-- metrics: curves -->`, and the next `<!-- end -->`.
pub fn fill(document: &str) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = document;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let unclosed = || format!("a table that begins with {BEGIN} has no end");
        let (name, after) = after.split_once(" -->\n").ok_or_else(unclosed)?;
        let (_, after) = after.split_once(END).ok_or_else(unclosed)?;
        let table = markdown(name).ok_or_else(|| format!("there is no table {name:?}"))?;
        filled += &format!("{before}{BEGIN}{name} -->\n{table}{END}");
        rest = after;
    }
    Ok(filled + rest)
}

/// The table of a scope in Markdown, or that of the curves.
fn markdown(name: &str) -> Option<String> {
    if name == "curves" {
        let mut text = "| name | unit | column | meaning |\n|---|---|---|---|\n".to_string();
        for curve in CURVES {
            let form = format!("`{}{{{}}}`", curve.name, curve.parameter());
            let column = code(curve.column);
            text += &row([&form, curve.unit.name(), &column, curve.says]);
        }
        return Some(text);
    }
    let scope = Scope::ALL.into_iter().find(|it| it.name() == name)?;
    let mut text = "| name | unit | JSON | meaning |\n|---|---|---|---|\n".to_string();
    for number in NUMBERS.iter().filter(|it| it.scope() == scope) {
        let form = format!("`{}`", form(number));
        let json = match number.json_path() {
            path if path.starts_with("metrics.") || scope == Scope::Run => code(&path),
            path => code(path.rsplit('.').next().unwrap_or_default()),
        };
        text += &row([&form, number.unit.name(), &json, number.says]);
    }
    Some(text)
}

fn row(cells: [&str; 4]) -> String {
    let cells = cells.map(|cell| match cell {
        "" => "|".to_string(),
        cell => format!("| {cell}"),
    });
    format!("{} |\n", cells.join(" "))
}

fn code(text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!("`{text}`"),
    }
}

/// A name with the parameter that it needs.
fn form(number: &Number) -> String {
    match number.needs() {
        Some(parameter) => format!("{}{{{}}}", number.name, parameter.name()),
        None => number.name.to_string(),
    }
}

fn kept(number: &Number) -> &'static str {
    number.kept_at.iter().map(|(_, kept)| *kept).fold(number.kept, Kept::max).name()
}

const BEGIN: &str = "<!-- metrics: ";
const END: &str = "<!-- end -->";

const HINT: &str = "\
How to ask for one: pauses, pauses{class=0}, queue_max{port=S1:S2}, rate{flow=F1}, links_held{layer=1},
slowdown{p=99.9}, and of some of the flows fct_us{p=99, size=10KB..100KB, class=0}.
What unfinished flows could make of a completion time: fct_mean_us{bound=best}, fct_us{p=99, bound=worst};
the 95 % interval of a percentile: slowdown{p=99, bound=from}, slowdown{p=99, bound=to}.
Short forms: rate.F1, queue_max.S1:S2, pauses.class0, fct_p99_us, slowdown_p999, fct_mean_us.S.
docs/metrics.md has definitions, and what each does not mean.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_filters_and_a_slip_is_told() {
        let all = text(&Filter::default());
        assert!(NUMBERS.iter().all(|it| all.contains(it.says)));
        let few = json(&Filter::of("Jain").expect("there are some"));
        let names = Vec::from_iter(few.numbers.iter().map(|it| it.name));
        let expected = ["jain", "jain_goodput", "jain_goodput_late_endless"];
        assert_eq!((names, few.curves.len()), (expected.to_vec(), 0));
        let wrong = Filter::of("slowdwon").expect_err("no such word");
        assert!(wrong.ends_with("did you mean slowdown?"), "{wrong}");
        let layers = json(&Filter::of("links_held").expect("one"));
        let it = &layers.numbers[0];
        assert_eq!(it.json.as_deref(), Some("metrics.layers[].links_held"));
        assert_eq!((it.needs, it.example.as_str()), (Some("layer"), "links_held{layer=1}"));
    }

    #[test]
    fn tables_of_documents_are_written_anew() {
        let text = "before\n<!-- metrics: class -->\nstale\n<!-- end -->\nbehind\n";
        let filled = fill(text).expect("a document");
        assert!(filled.starts_with("before\n<!-- metrics: class -->\n| name |"));
        assert!(filled.ends_with("<!-- end -->\nbehind\n") && !filled.contains("stale"));
        assert!(filled.contains("| `pauses{class}` | | `pause_frames_by_class[]` |"), "{filled}");
        assert_eq!(fill(&filled), Ok(filled.clone()));
        assert!(fill("<!-- metrics: nobody -->\n<!-- end -->").is_err());
        assert!(fill("<!-- metrics: run -->\n").is_err());
    }
}
