//! Figures of many finite flows: how fast they finished, and who was slowed down.

use pauseless_core::unit::{Bytes, Span};

use super::figure::Panel;
use pauseless_figures::figure::{self, Axis, Drawn, Scale, Series};
use pauseless_run::Run;
use pauseless_run::metrics::completion::{SizeRange, fct, slowdown};
use pauseless_run::metrics::distribution::Percentile;
use pauseless_run::metrics::has_started;
use pauseless_text::quantity;

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

/// The figures of a run; none when few flows have finished.
pub fn panels(run: &Run) -> Vec<Panel> {
    let flows = finished(run);
    if flows.is_empty() {
        return Vec::new();
    }
    let name = &run.scenario.name;
    let description = format!("share of the flows of {name} that finished within a time (us)");
    let unfinished = unfinished(run);
    let left_out = match unfinished.len() {
        0 => String::new(),
        some => format!("; {} did not finish", quantity::plural(some as u64, "flow")),
    };
    let caption = format!("share of flows that finished within so many us{left_out}");
    let x = Axis::new("completion time (us)", Scale::Log);
    let curves = distributions(&flows, &unfinished);
    let y = Axis::linear("share of flows").covering(0.0, 1.0);
    let times = figure::Panel::new("", x, y, curves);
    let mut panels = vec![Panel::new(&caption, description, times)];
    let bins = bins(&flows);
    // Flows of one size make no curve.
    if bins.len() > 1 {
        let description = format!("slowdown of the flows of {name} by size (KB)");
        let most = bins.iter().map(|bin| bin.p95).fold(0.0, f64::max);
        let x = Axis::new("flow size (KB)", Scale::Log);
        let y = Axis::linear("slowdown").covering(0.0, most * 1.05);
        let slowdowns = figure::Panel::new("", x, y, slowdowns(&bins));
        let caption = format!("slowdown by flow size (KB){left_out}");
        panels.push(Panel::new(&caption, description, slowdowns));
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

/// The sizes of the finite flows that have started and not finished.
fn unfinished(run: &Run) -> Vec<Bytes> {
    let flows = run.scenario.config.flows.iter().zip(&run.outcome.flows);
    let unfinished = flows.filter(|(flow, found)| {
        flow.is_finite() && found.finish.is_none() && has_started(&run.outcome, found)
    });
    unfinished.map(|(flow, _)| flow.size).collect()
}

/// The share of flows that has finished within a time: of all, and by size if there are several.
/// Those that did not finish count, so that a curve ends below 1 where there are some.
fn distributions(flows: &[Finished], unfinished: &[Bytes]) -> Vec<Series> {
    let mut groups = vec![("all".to_string(), Vec::from_iter(flows), unfinished.len())];
    for range in SizeRange::ALL {
        let members = flows.iter().filter(|flow| range.contains(flow.size));
        let unfinished = unfinished.iter().filter(|size| range.contains(**size));
        groups.push((range.to_string(), members.collect(), unfinished.count()));
    }
    groups.retain(|(_, members, _)| !members.is_empty());
    if groups.len() == 2 {
        groups.pop();
    }
    let curves = groups.into_iter().map(|(label, members, unfinished)| {
        let spans = members.iter().map(|flow| flow.fct).collect();
        Series::new(label, Drawn::Line, distribution(spans, unfinished))
    });
    curves.collect()
}

/// A time in microseconds and the share of flows that took no longer, at a few places; `unfinished`
/// of them have no time.
fn distribution(mut spans: Vec<Span>, unfinished: usize) -> Vec<(f64, f64)> {
    spans.sort_unstable();
    let count = spans.len();
    let places = count.min(POINTS_MAX);
    let first = spans.first().map(|span| (us(*span), 0.0));
    let points = (1..=places).map(|place| {
        let rank = (place * count).div_ceil(places);
        (us(spans[rank - 1]), rank as f64 / (count + unfinished) as f64)
    });
    first.into_iter().chain(points).collect()
}

fn slowdowns(bins: &[Bin]) -> Vec<Series> {
    let curve = |label: &str, value: fn(&Bin) -> f64| {
        let kb = |bin: &Bin| bin.size.get().max(1) as f64 / 1e3;
        let points = bins.iter().map(|bin| (kb(bin), value(bin)));
        Series::new(label, Drawn::Line, points.collect())
    };
    vec![curve("median", |bin| bin.median), curve("95th percentile", |bin| bin.p95)]
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

fn us(span: Span) -> f64 {
    span.as_ps().max(1) as f64 / 1e6
}

/// The least number of flows that is drawn: of fewer every one can be looked at.
const FLOWS_MIN: usize = 20;

/// The most points of a distribution: more do not show.
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
        let points = distribution(spans, 0);
        assert_eq!(points.len(), 1 + POINTS_MAX);
        assert_eq!(points[0], (1.0, 0.0));
        assert_eq!(points.last(), Some(&(1_000.0, 1.0)));
        // Half of them within 500 us.
        assert_eq!(points[POINTS_MAX / 2], (500.0, 0.5));
        assert!(points.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1));
        // A flow that did not finish is never among those within a time.
        let points = distribution(vec![Span::us(1); 3], 1);
        assert_eq!(points.last(), Some(&(1.0, 0.75)));
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
}
