//! What is shown of a campaign whose file does not say.

use super::super::campaign::{Axis, Campaign, Label};
use super::super::row::column;
use super::file::{Band, FINDINGS, Kind, Middle, Take, Wanted};
use super::found::{UNDECIDED, WARNINGS};

/// Shares of findings by all axes that are not repetitions, a line along each axis of numbers, a
/// heat map if there are two, and a distribution.
pub(super) fn reports(campaign: &Campaign) -> Vec<Wanted> {
    let axes: Vec<&Axis> = campaign.axes.iter().filter(|axis| !is_repetition(axis)).collect();
    let numeric: Vec<&Axis> = axes.iter().copied().filter(|it| is_numeric(it)).collect();
    let names: Vec<&Axis> = axes.iter().copied().filter(|it| !is_numeric(it)).collect();
    let list = |axes: &[&Axis]| axes.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    let mut all = Vec::new();
    let is_kept = |it: &&str| campaign.keep.iter().any(|kept| kept == it);
    let of = FINDINGS.iter().filter(|it| is_kept(it));
    let of: Vec<String> = of.map(|it| it.to_string()).collect();
    if !of.is_empty() {
        let kind = Kind::Proportion { of, columns: None, per: Vec::new() };
        // The last axis has its bars side by side: best the one with the most values.
        let mut by = axes.clone();
        by.sort_by_key(|axis| axis.points.len());
        all.push(wanted("findings", kind, list(&by)));
    }
    let measure = measure(campaign);
    let few: Vec<&Axis> = names.into_iter().filter(|it| it.points.len() <= FEW).collect();
    for axis in &numeric {
        let kind = Kind::Line {
            x: axis.name.clone(),
            of: measure.clone(),
            middle: if is_finding(&measure) { Middle::Mean } else { Middle::Median },
            band: Band::Confidence,
            is_log: is_log(axis),
        };
        all.push(wanted(&format!("along-{}", column(&axis.name)), kind, list(&few)));
    }
    if let [y, x, ..] = &numeric[..] {
        let kind = Kind::Heatmap {
            x: x.name.clone(),
            y: y.name.clone(),
            take: if is_finding(&measure) { Take::Proportion } else { Take::Mean },
            of: measure.clone(),
        };
        all.push(wanted("map", kind, list(&few)));
    }
    if !is_finding(&measure) {
        let kind = Kind::Cdf { of: measure, is_log: false };
        all.push(wanted("distribution", kind, list(&few)));
    }
    all
}

fn wanted(name: &str, kind: Kind, by: Vec<String>) -> Wanted {
    let is_fit = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
    Wanted {
        name: name.replace(|char| !is_fit(char), "_"),
        title: String::new(),
        kind,
        select: Vec::new(),
        by,
    }
}

/// Whether the values of an axis are many of the same kind.
fn is_repetition(axis: &Axis) -> bool {
    axis.name == "seed" || axis.points.len() > REPETITIONS
}

fn is_numeric(axis: &Axis) -> bool {
    let mut labels = axis.points.iter().map(|point| &point.label);
    axis.points.len() > 1 && labels.all(|label| matches!(label, Label::Number(_)))
}

/// Whether the steps of an axis grow with its values.
fn is_log(axis: &Axis) -> bool {
    let numbers = axis.points.iter().map(|point| match point.label {
        Label::Number(number) => number,
        Label::Text(_) => 0.0,
    });
    let least = numbers.clone().fold(f64::INFINITY, f64::min);
    let greatest = numbers.fold(0.0, f64::max);
    least > 0.0 && greatest >= least * 50.0
}

/// The number that says most: a completion time, a rate, or whatever is kept.
fn measure(campaign: &Campaign) -> String {
    let kept: Vec<String> = campaign.keep.iter().map(|name| column(name)).collect();
    let liked = ["fct_mean_us", "rate_min"].into_iter().map(str::to_string);
    let liked = liked.filter(|name| kept.contains(name));
    let is_measure =
        |name: &&String| !is_finding(name) && ![UNDECIDED, WARNINGS].contains(&name.as_str());
    let others = kept.iter().filter(is_measure).cloned();
    liked.chain(others).next().unwrap_or(FINDINGS[0].to_string())
}

fn is_finding(name: &str) -> bool {
    FINDINGS.contains(&name)
}

/// An axis with more values than this repeats.
const REPETITIONS: usize = 50;
/// The most values of an axis that become curves.
const FEW: usize = 6;
