//! Fig. 19: what the messages of buffer-based GFC take of the links.

use pauseless_core::switch::Discipline;
use pauseless_core::unit::Span;

use super::super::super::Scale;
use super::super::super::scope::{Failure, Scope};
use super::{BUFFER, How, Pair, TIME, network, record};
use crate::repro::data::Measured;
use pauseless_figures::figure::{Axis, Drawn, Figure, Panel, Series};
use pauseless_run::Run;
use pauseless_run::sample::{Add, Sample};

/// Points of the distribution.
const POINTS: usize = 100;

/// `per_run`: the distribution over all ports and bins, in percent of the link.
pub fn feedback_bins(run: &Run, add: Add<'_>) {
    let ports = run.outcome.series.ports.iter();
    let mut shares: Vec<f64> = Vec::new();
    for series in ports {
        let line = run.topology().port(series.node, series.port).rate.as_bps() as f64;
        shares.extend(series.feedback_bps.iter().map(|rate| 100.0 * rate / line));
    }
    if shares.is_empty() {
        return;
    }
    shares.sort_by(f64::total_cmp);
    let count = shares.len();
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let busy = shares.partition_point(|share| *share == 0.0);
    add("bin_mean".to_string(), mean(&shares));
    add("bin_busy_mean".to_string(), mean(&shares[busy..]));
    add("bin_busy_share".to_string(), 100.0 * (count - busy) as f64 / count as f64);
    add("bin_max".to_string(), shares[count - 1]);
    // The nearest rank.
    let rank = |numerator: usize, of: usize| shares[(numerator * count).div_ceil(of).max(1) - 1];
    add("bin_p99".to_string(), rank(99, 100));
    for point in 0..=POINTS {
        // Fine where it matters: the upper tenth.
        add(format!("bin_q{point:03}"), rank(900 + point, 1_000));
    }
}

/// `compute`: buffer-based GFC, and time-based GFC beside it.
pub fn feedback(scope: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    let base = scope.text()?;
    let (k, simulations, duration) = match scope.scale() {
        Scale::Quick => (8, 1_u64, Span::ms(4)),
        Scale::Full => (16, 100, Span::ms(10)),
    };
    let mut panels = Vec::new();
    for discipline in Discipline::ALL {
        let mut curves = Vec::new();
        for scheme in [BUFFER, TIME] {
            // Time-based GFC sends at a fixed pace: one simulation shows it.
            let count = match (scheme == BUFFER, discipline) {
                (true, Discipline::OutputQueued) => simulations,
                (true, _) => simulations.div_ceil(10),
                (false, Discipline::OutputQueued) => 1,
                (false, _) => continue,
            };
            let how = How::whole(scheme, discipline, duration);
            let samples = runs(scope, (&base, k), (how, count), measured)?;
            curves.extend(samples);
        }
        let x = Axis::linear("share of the link in 500 us (%)");
        let y = Axis::linear("share of ports and bins");
        panels.push(Panel::new(discipline.name(), x, y, curves));
    }
    let caption = "Bandwidth of feedback messages, the upper tenth of all ports and bins";
    measured.figures.push(Figure::new("feedback", caption, panels));
    Ok(())
}

/// Adds the numbers of all simulations, a network each, and draws those of the first.
fn runs(
    scope: &Scope<'_>,
    (base, k): (&str, u32),
    (how, count): (How, u64),
    measured: &mut Measured,
) -> Result<Option<Series>, Failure> {
    let prefix = format!("{}/{}", how.scheme.name, how.discipline.name());
    let mut first = None;
    for sample in 0..count {
        let pair = Pair { sample, seed: 1 };
        let text = network(scope, base, (k, sample))?;
        let task = how.task(scope, &text, pair)?;
        let run = scope.sample(vec![task])?.remove(0);
        record(measured, &prefix, &run, &METRICS);
        first.get_or_insert_with(|| series(how.scheme.name, &run));
    }
    Ok(first)
}

fn series(label: &str, run: &Sample) -> Series {
    let points = (0..=POINTS).filter_map(|point| {
        let x = run.metric(&format!("bin_q{point:03}"))?;
        Some((x, (900 + point) as f64 / 1_000.0))
    });
    Series::new(label, Drawn::Line, points.collect())
}

const METRICS: [&str; 7] =
    ["bin_mean", "bin_busy_mean", "bin_busy_share", "bin_p99", "bin_max", "lost", "deadlock"];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ops::ControlFlow;

    use super::*;
    use pauseless_scenario::{Overrides, Scenario};

    /// Time-based GFC sends 64 B every T, whatever happens, and each way.
    #[test]
    fn a_message_each_period_is_seen_in_every_bin() {
        let text = r#"
            duration = "4 ms"
            [topology]
            kind = "n-to-1"
            senders = 2
            rate = "10 Gbps"
            delay = "1 us"
            [switch]
            buffer = "400 KB"
            [flow_control]
            kind = "gfc-time"
            period = "50 us"
            [[flow]]
            source = "H1"
            target = "R"
            [probe]
            resolution = "500 us"
            ports = ["*"]
        "#;
        let scenario = Scenario::parse("t", text, &Overrides::default());
        let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
        let run = Run::execute(scenario, |_| ControlFlow::Continue(()));
        let mut found = BTreeMap::new();
        feedback_bins(&run, &mut |name, value| {
            found.insert(name, value);
        });
        // 64 B in 50 us are 10.24 Mb/s.
        assert!((found["bin_mean"] - 0.1024).abs() < 0.006, "{found:?}");
        assert_eq!(found["bin_busy_share"], 100.0);
        assert!(found["bin_max"] < 0.12, "{found:?}");
    }
}
