//! What a reproduction prints.

use std::fmt::Write;

use super::claim::{Finding, Judged, Verdict};
use super::file::Paper;
use super::judge::Tried;
use super::{Reproduced, Scale};
use pauseless_text::quantity;
use pauseless_text::terminal::{Mood, Paint};

/// An experiment with all of its claims.
pub fn report(done: &Reproduced, paint: Paint) -> String {
    let it = &done.experiment;
    let name = paint.paint(Mood::Strong, &done.entry.name());
    let mut text = format!("{name}  {}\n{}", it.title, it.cites);
    let note = done.note();
    match (done.scale, note.is_empty()) {
        (_, true) => text.push('\n'),
        (scale, false) => {
            let _ = writeln!(text, "; {}: {note}", scale.name());
        }
    }
    for judged in &done.claims {
        text.push_str(&claim(judged, paint));
    }
    let _ = writeln!(text, "  in all: {} (what these words mean: docs/repro.md)", brief(done));
    text
}

/// One line: how many claims are met, and how many are not.
pub fn brief(done: &Reproduced) -> String {
    let counted = Verdict::ALL.into_iter().filter(|it| *it != Verdict::OtherScale);
    let counted = counted.filter_map(|verdict| match done.count(verdict) {
        0 => None,
        count => Some(format!("{count} {}", verdict.name())),
    });
    Vec::from_iter(counted).join(", ")
}

/// A duration in the unit that suits it: seconds, minutes, hours or days.
pub fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 90.0 => format!("{} s", seconds.ceil().max(1.0)),
        seconds if seconds < 90.0 * 60.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds < 72.0 * 3_600.0 => format!("{:.1} h", seconds / 3_600.0),
        seconds => format!("{:.0} days", seconds / 86_400.0),
    }
}

fn claim(judged: &Judged, paint: Paint) -> String {
    let claim = &judged.claim;
    let mood = match judged.verdict {
        Verdict::Met | Verdict::Sourced => Mood::Good,
        Verdict::Broken => Mood::Bad,
        Verdict::OtherScale => Mood::Strong,
        _ => Mood::Poor,
    };
    let verdict = format!("{:<13}", judged.verdict.name());
    let mut text = format!("  {} {}", paint.paint(mood, &verdict), claim.text);
    if let Some(cites) = claim.cites.get() {
        let _ = write!(text, " ({cites})");
    }
    let _ = write!(text, "\n{INDENT}paper: {}", paper(claim));
    if judged.verdict == Verdict::OtherScale {
        let scale = claim.scale.or(Scale::Full).name();
        let _ = writeln!(text, "; judged with --{scale} only");
        return text;
    }
    let _ = writeln!(text, "; asked for: {}", claim.asked());
    findings(&mut text, judged, paint);
    if !claim.reason.is_empty() {
        let _ = writeln!(text, "{INDENT}why: {}", claim.reason);
    }
    for tried in &judged.readings {
        let verdict = tried.judged.verdict.name();
        let _ = write!(text, "{INDENT}read as {}: {verdict}", tried.name());
        match asked_otherwise(judged, tried) {
            Some(asked) => {
                let _ = writeln!(text, "; asked for: {asked}");
            }
            None => text.push('\n'),
        }
        findings(&mut text, &tried.judged, paint);
        if !tried.judged.claim.reason.is_empty() {
            let _ = writeln!(text, "{INDENT}why: {}", tried.judged.claim.reason);
        }
    }
    if let Some(contradiction) = claim.contradicted.get() {
        let _ = writeln!(text, "{INDENT}contradicted by: {}", *contradiction.by);
        if let Some(computed) = computed(judged) {
            let _ = writeln!(text, "{INDENT}computed: {computed}");
        }
    }
    text
}

/// What was measured, a line for each discipline.
fn findings(text: &mut String, judged: &Judged, paint: Paint) {
    for finding in &judged.findings {
        let place = finding.discipline.map_or("measured", |it| it.name());
        let answer = match (judged.findings.len(), finding.holds) {
            (1, _) => "",
            (_, true) => "  yes",
            (_, false) => "  no",
        };
        let _ = writeln!(text, "{INDENT}{place}: {}{answer}", measured(judged, finding));
        if let Some(doubt) = &finding.doubt {
            let doubt = doubt.text();
            let _ = writeln!(text, "{INDENT}  {}", paint.paint(Mood::Poor, &doubt));
        }
    }
}

/// What is asked for under a reading, if that is not what the claim asks for.
pub fn asked_otherwise(judged: &Judged, tried: &Tried) -> Option<String> {
    let asked = tried.judged.claim.asked();
    (asked != judged.claim.asked()).then_some(asked)
}

/// What was computed for what the paper says against a claim, and what was asked of it.
pub fn computed(judged: &Judged) -> Option<String> {
    let contradiction = judged.claim.contradiction()?;
    let asked = contradiction.asked();
    let of = Judged { claim: contradiction, ..judged.clone() };
    let all = judged.computed.iter().map(|finding| measured(&of, finding));
    Some(format!("{}, asked for {asked}", Vec::from_iter(all).join(", ")))
}

/// What the paper gives, with its unit.
pub fn paper(claim: &super::file::Claim) -> String {
    match &claim.paper.value {
        Paper::Words(words) => words.clone(),
        Paper::Number(value) => with_unit(&quantity::measured(*value), &claim.unit),
    }
}

/// What was measured for a claim, with its unit.
pub fn measured(judged: &Judged, finding: &Finding) -> String {
    let claim = &judged.claim;
    let write = |value: &Option<f64>| match value {
        Some(value) => quantity::measured(*value),
        None => "-".to_string(),
    };
    let is_order = !claim.asks.order.is_empty();
    let values: Vec<String> = match (is_order, &finding.measured[..]) {
        (false, [_, _, _, _, _, ..]) => extremes(&finding.measured),
        (_, all) => all.iter().map(write).collect(),
    };
    let between = if is_order { " < " } else { ", " };
    with_unit(&values.join(between), &claim.unit)
}

/// Of many values the least and the greatest say enough.
fn extremes(measured: &[Option<f64>]) -> Vec<String> {
    let known = measured.iter().flatten().copied();
    let least = known.clone().fold(f64::INFINITY, f64::min);
    let greatest = known.clone().fold(f64::NEG_INFINITY, f64::max);
    let missing = measured.len() - known.count();
    let mut texts =
        vec![format!("{} to {}", quantity::measured(least), quantity::measured(greatest))];
    if missing > 0 {
        texts.push(format!("{missing} not measured"));
    }
    texts
}

fn with_unit(number: &str, unit: &str) -> String {
    match unit {
        "" => number.to_string(),
        unit => format!("{number} {unit}"),
    }
}

const INDENT: &str = "                ";
