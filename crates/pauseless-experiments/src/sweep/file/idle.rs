//! Values that change nothing: their runs would be the same, and counted as different ones.

use std::collections::BTreeMap;

use super::Placed;
use super::trial::is_within;
use crate::sweep::campaign::Axis;
use pauseless_scenario::patch;
use pauseless_text::problem::Sink;

/// Reports axes whose keys another one sets afterwards in all of its values, and cases that make the
/// same scenario.
pub fn check(written: &Placed, sink: &Sink) {
    let axes = &written.campaign.axes;
    for (number, axis) in axes.iter().enumerate() {
        let later = &axes[number + 1..];
        let places = &written.axes[number];
        if let Some((path, by)) = overruled(axis, later) {
            let message =
                format!("{path} has no effect: every value of {:?} sets it again", by.name);
            let help = "put this axis behind that one, or leave one of them out";
            sink.push(places.key(&path).problem(message).help(help));
        }
        for (first, second) in twins(written, axis) {
            let [first, label] = [first, second].map(|it| &axis.points[it].label);
            let message = format!("{label} makes the same scenario as {first}");
            sink.push(places.point(second).problem(message).help("keep one of them"));
        }
    }
}

/// A key of an axis that is set again whatever a later one does, and that one. Not if only some of
/// its values do: the others are then what is compared.
fn overruled<'a>(axis: &Axis, later: &'a [Axis]) -> Option<(String, &'a Axis)> {
    if axis.points.len() < 2 {
        return None;
    }
    axis.points.iter().flat_map(|point| &point.set).find_map(|(path, _)| {
        let by = later.iter().find(|other| {
            let mut points = other.points.iter();
            points.all(|point| point.set.iter().any(|(other, _)| is_within(path, other)))
        });
        Some((path.clone(), by?))
    })
}

/// Pairs of cases that make the same of the scenario. Other values differ, or they would have the same
/// label.
fn twins(written: &Placed, axis: &Axis) -> Vec<(usize, usize)> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut twins = Vec::new();
    if axis.points.len() > CASES_MAX {
        return twins;
    }
    for (place, point) in axis.points.iter().enumerate() {
        let mut table = written.campaign.base.clone();
        for (path, value) in &point.set {
            // What cannot be set is reported where it is tried.
            if patch::put(&mut table, path, value).is_err() {
                return Vec::new();
            }
        }
        match seen.get(&table.to_string()) {
            Some(first) => twins.push((*first, place)),
            None => {
                seen.insert(table.to_string(), place);
            }
        }
    }
    twins
}

/// Nobody writes more by hand.
const CASES_MAX: usize = 64;
