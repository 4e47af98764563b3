//! Fig. 19: what the messages of buffer-based GFC take of the links.

use pauseless_core::switch::Discipline;

use super::super::super::scope::{Failure, Scope};
use crate::repro::data::Measured;
use pauseless_figures::figure::{Axis, Drawn, Figure, Panel, Series};
use pauseless_run::Run;
use pauseless_run::sample::Add;

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
    let rank = |numerator: usize, of: usize| nearest_rank(&shares, numerator, of);
    add("bin_p99".to_string(), rank(99, 100));
    if busy < count {
        add("bin_busy_p99".to_string(), nearest_rank(&shares[busy..], 99, 100));
    }
    for point in 0..=POINTS {
        // Fine where it matters: the upper tenth.
        add(format!("bin_q{point:03}"), rank(900 + point, 1_000));
    }
}

/// The smallest of the sorted `values` that `numerator` of `of` parts of them do not exceed.
fn nearest_rank(values: &[f64], numerator: usize, of: usize) -> f64 {
    values[(numerator * values.len()).div_ceil(of).max(1) - 1]
}

/// `compute`: the distribution in the first network, for buffer-based GFC in both rules of its messages
/// and time-based GFC beside it.
pub fn feedback(_: &Scope<'_>, measured: &mut Measured) -> Result<(), Failure> {
    let panels = Discipline::COMMON.map(|discipline| {
        let curve = |scheme: &str| {
            let points = (0..=POINTS).filter_map(|point| {
                let name = format!("{scheme}/{}/bin_q{point:03}", discipline.name());
                let x = (*measured.values.get(&name)?.first()?)?;
                Some((x, (900 + point) as f64 / 1_000.0))
            });
            Series::new(scheme, Drawn::Line, points.collect())
        };
        let curves = ["GFC buffer", "GFC every change", "GFC time"].map(curve).into_iter();
        let curves = curves.filter(|curve| !curve.points.is_empty()).collect();
        let x = Axis::linear("share of the link in 500 us (%)");
        let y = Axis::linear("share of ports and bins");
        Panel::new(discipline.name(), x, y, curves)
    });
    let caption = "Bandwidth of feedback messages, the upper tenth of all ports and bins";
    measured.figures.push(Figure::new("feedback", caption, panels.to_vec()));
    Ok(())
}

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
        assert_eq!(found["bin_busy_p99"], found["bin_p99"]);
        assert!(found["bin_max"] < 0.12, "{found:?}");
    }
}
