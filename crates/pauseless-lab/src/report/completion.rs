//! Figures of many finite flows: how fast they finished, and who was slowed down.

use pauseless_core::unit::{Bytes, Span};

use super::chart::{Axis, Curve, Figure, Stroke};
use super::figure::Panel;
use pauseless_run::Run;
use pauseless_run::metrics::completion::{SizeRange, fct, slowdown};
use pauseless_run::metrics::distribution::Percentile;

/// The axes of these figures, which all runs of a page share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompletionScale {
    /// Completion times in microseconds.
    pub fct: Axis,
    /// Flow sizes in KB.
    pub size: Axis,
    /// The end of the axis of slowdowns.
    pub slowdown_max: f64,
}

/// A flow that has finished.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Finished {
    size: Bytes,
    fct: Span,
    slowdown: Option<f64>,
}

/// Flows of similar sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bin {
    /// The largest of them.
    size: Bytes,
    median: f64,
    p95: f64,
}

impl CompletionScale {
    /// Axes on which every run of `runs` fits; `None` if none has enough to show.
    pub fn of(runs: &[Run]) -> Option<CompletionScale> {
        let flows: Vec<Vec<Finished>> = runs.iter().map(finished).collect();
        let all = || flows.iter().flatten();
        let bins = flows.iter().flat_map(|flows| bins(flows));
        Some(CompletionScale {
            fct: decades(all().map(|flow| log_us(flow.fct)))?,
            size: decades(all().map(|flow| log_kb(flow.size)))?,
            slowdown_max: bins.map(|bin| bin.p95).fold(0.0, f64::max) * 1.05,
        })
    }
}

/// The figures of a run; none when few flows have finished.
pub fn panels(run: &Run, scale: CompletionScale) -> Vec<Panel> {
    let flows = finished(run);
    if flows.is_empty() {
        return Vec::new();
    }
    let name = &run.scenario.name;
    let description = format!("share of the flows of {name} that finished within a time (us)");
    let times = Figure::new(description, scale.fct, 1.0, distributions(&flows));
    let mut panels = vec![Panel::new("share of flows that finished within so many us", times)];
    let bins = bins(&flows);
    // Flows of one size make no curve.
    if bins.len() > 1 {
        let description = format!("slowdown of the flows of {name} by size (KB)");
        let curves = slowdowns(&bins);
        let figure = Figure::new(description, scale.size, scale.slowdown_max, curves);
        panels.push(Panel::new("slowdown by flow size (KB)", figure));
    }
    panels
}

/// The flows that have finished, in order of size; nothing if there are too few to draw.
fn finished(run: &Run) -> Vec<Finished> {
    let flows = run.scenario.config.flows.iter().zip(&run.outcome.flows);
    let flows = flows.filter_map(|(flow, outcome)| {
        Some(Finished { size: flow.size, fct: fct(outcome)?, slowdown: slowdown(outcome) })
    });
    let mut flows: Vec<Finished> = flows.collect();
    if flows.len() < FLOWS_MIN {
        return Vec::new();
    }
    flows.sort_by_key(|flow| (flow.size, flow.fct));
    flows
}

/// The share of flows that has finished within a time: of all, and by size if there are several.
fn distributions(flows: &[Finished]) -> Vec<Curve> {
    let mut groups = vec![("all".to_string(), Vec::from_iter(flows))];
    for range in SizeRange::ALL {
        let members = flows.iter().filter(|flow| range.contains(flow.size));
        groups.push((range.to_string(), members.collect()));
    }
    groups.retain(|(_, members)| !members.is_empty());
    if groups.len() == 2 {
        groups.pop();
    }
    let curves = groups.into_iter().enumerate().map(|(colour, (label, members))| Curve {
        label,
        colour,
        stroke: Stroke::Solid,
        points: distribution(members.iter().map(|flow| flow.fct).collect()),
    });
    curves.collect()
}

/// The logarithm of a time and the share of spans that are no longer, at a few places.
fn distribution(mut spans: Vec<Span>) -> Vec<(f64, f64)> {
    spans.sort_unstable();
    let count = spans.len();
    let places = count.min(POINTS_MAX);
    let first = spans.first().map(|span| (log_us(*span), 0.0));
    let points = (1..=places).map(|place| {
        let rank = (place * count).div_ceil(places);
        (log_us(spans[rank - 1]), rank as f64 / count as f64)
    });
    first.into_iter().chain(points).collect()
}

fn slowdowns(bins: &[Bin]) -> Vec<Curve> {
    let curve = |label: &str, colour, value: fn(&Bin) -> f64| Curve {
        label: label.to_string(),
        colour,
        stroke: Stroke::Solid,
        points: bins.iter().map(|bin| (log_kb(bin.size), value(bin))).collect(),
    };
    vec![curve("median", 0, |bin| bin.median), curve("95th percentile", 1, |bin| bin.p95)]
}

/// Cuts flows, which are in order of size, into a few groups of about as many each; flows of one
/// size stay together.
fn bins(flows: &[Finished]) -> Vec<Bin> {
    let wanted = flows.len().div_ceil(BINS_MAX).max(FLOWS_MIN / 2);
    let mut bins = Vec::new();
    let mut members: Vec<f64> = Vec::new();
    for (index, flow) in flows.iter().enumerate() {
        members.extend(flow.slowdown);
        let next = flows.get(index + 1);
        let is_end = next.is_none_or(|next| members.len() >= wanted && next.size != flow.size);
        if !is_end {
            continue;
        }
        members.sort_unstable_by(f64::total_cmp);
        let [median, p95] = [Percentile::P50, Percentile::P95].map(|p| p.of(&members));
        if let (Some(median), Some(p95)) = (median, p95) {
            bins.push(Bin { size: flow.size, median, p95 });
        }
        members.clear();
    }
    bins
}

/// The whole powers of ten around some logarithms; `None` without any.
fn decades(logarithms: impl Iterator<Item = f64> + Clone) -> Option<Axis> {
    let least = logarithms.clone().reduce(f64::min)?;
    let greatest = logarithms.reduce(f64::max)?;
    Some(Axis::Decades { from: least.floor() as i32, to: greatest.ceil() as i32 })
}

fn log_us(span: Span) -> f64 {
    (span.as_ps().max(1) as f64 / 1e6).log10()
}

fn log_kb(size: Bytes) -> f64 {
    (size.get().max(1) as f64 / 1e3).log10()
}

/// The fewest flows that make a figure; fewer can be looked at one by one.
const FLOWS_MIN: usize = 20;

/// The most points of a curve; more would not show.
const POINTS_MAX: usize = 200;

/// Into how many groups flows are cut by size, at most.
const BINS_MAX: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(size: u64, us: u64) -> Finished {
        Finished { size: Bytes::new(size), fct: Span::us(us), slowdown: Some(us as f64) }
    }

    #[test]
    fn a_distribution_ends_at_everything() {
        let spans = (1..=1_000).rev().map(Span::us).collect();
        let points = distribution(spans);
        assert_eq!(points.len(), 1 + POINTS_MAX);
        assert_eq!(points[0], (0.0, 0.0));
        assert_eq!(points.last(), Some(&(3.0, 1.0)));
        // Half of them within 500 us.
        assert_eq!(points[POINTS_MAX / 2], (500f64.log10(), 0.5));
        assert!(points.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1));
    }

    #[test]
    fn bins_hold_equal_sizes_together() {
        let mut flows = vec![flow(1_000, 1); 15];
        flows.extend((0..10).map(|n| flow(2_000 + n, n)));
        let found = bins(&flows);
        let expected = [
            Bin { size: Bytes::new(1_000), median: 1.0, p95: 1.0 },
            Bin { size: Bytes::new(2_009), median: 4.0, p95: 9.0 },
        ];
        assert_eq!(found, expected);
        assert!(bins(&[]).is_empty());
    }

    #[test]
    fn axes_end_at_powers_of_ten() {
        let axis = decades([0.3, 2.1].into_iter());
        assert_eq!(axis, Some(Axis::Decades { from: 0, to: 3 }));
        assert_eq!(decades(std::iter::empty()), None);
    }
}
