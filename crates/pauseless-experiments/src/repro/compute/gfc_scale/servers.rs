//! Figs. 16 and 17: what servers get, in networks without a cycle and in those that deadlock.

use pauseless_run::Run;
use pauseless_run::sample::Add;

/// The part of a run over which servers are averaged: flows have begun.
const SETTLED: f64 = 0.2;
/// The last part of a run.
const LATE: f64 = 0.75;

/// `per_run`: what the servers of a run got.
pub fn servers(run: &Run, add: Add<'_>) {
    let hosts = run.topology().hosts().len() as f64;
    let end_s = run.outcome.end.as_ps() as f64 / 1e12;
    let flows = &run.outcome.flows;
    let delivered: u64 = flows.iter().map(|flow| flow.delivered.get()).sum();
    add("server_gbps".to_string(), delivered as f64 * 8.0 / end_s / 1e9 / hosts);
    let is_late = |time: u64| time as f64 > LATE * run.outcome.end.as_ps() as f64;
    let late = flows.iter().filter_map(|flow| flow.finish);
    let late = late.filter(|finish| is_late(finish.as_ps())).count();
    add("finished_late".to_string(), late as f64);
    let series = &run.outcome.series;
    let sent = |from: f64| {
        let is_in = move |row: &usize| {
            series.times[*row].as_ps() as f64 > from * run.outcome.end.as_ps() as f64
        };
        let rows = (0..series.times.len()).filter(is_in);
        let hosts = series.ports.iter().filter(|it| run.topology().is_host(it.node));
        let values =
            hosts.flat_map(move |port| rows.clone().map(|row| port.sending_bps[row] / 1e9));
        mean_and_std(values)
    };
    if let Some((mean, std)) = sent(SETTLED) {
        add("sent_gbps".to_string(), mean);
        add("sent_std".to_string(), std);
    }
    if let Some((mean, _)) = sent(LATE) {
        add("sent_late_gbps".to_string(), mean);
    }
}

fn mean_and_std(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        count += 1.0;
        sum += value;
        squares += value * value;
    }
    let mean: f64 = sum / count;
    (count > 0.0).then(|| (mean, (squares / count - mean * mean).max(0.0).sqrt()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ops::ControlFlow;

    use super::*;
    use pauseless_scenario::{Overrides, Scenario};

    /// One of three hosts sends, at half the rate of its link, and its flows are short.
    #[test]
    fn what_servers_get_is_averaged_over_all_of_them() {
        let text = r#"
            duration = "10 ms"
            [topology]
            kind = "n-to-1"
            senders = 2
            rate = "10 Gbps"
            delay = "1 us"
            [switch]
            buffer = "400 KB"
            [flow_control]
            kind = "pfc"
            [[flow]]
            source = "H1"
            target = "R"
            rate = "6 Gbps"
            [[flow]]
            source = "H2"
            target = "R"
            size = "15 KB"
            start = "8 ms"
            [probe]
            resolution = "100 us"
            ports = ["H*:*", "R:*"]
        "#;
        let scenario = Scenario::parse("t", text, &Overrides::default());
        let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
        let run = Run::execute(scenario, |_| ControlFlow::Continue(()));
        let mut found = BTreeMap::new();
        servers(&run, &mut |name, value| {
            found.insert(name, value);
        });
        assert!((found["sent_gbps"] - 2.0).abs() < 0.02, "{found:?}");
        // 6, 0 and 0: the mean of the squares is 12.
        assert!((found["sent_std"] - 8.0_f64.sqrt()).abs() < 0.03, "{found:?}");
        assert_eq!(found["finished_late"], 1.0);
    }
}
