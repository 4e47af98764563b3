//! What the PCN paper measures of a workload beside completion times: who sends PAUSE, and how long
//! it takes until all flows are finished.

use pauseless_core::unit::Time;

use pauseless_run::Run;
use pauseless_run::sample::Add;

/// `per_run = "workload"`: `pauses.layer1` and so on, by the layer of the switch that asked for the
/// pause, and `completion_rate`, flows per millisecond until the last one that finished; until the
/// end if some did not.
pub fn workload(run: &Run, add: Add<'_>) {
    let topology = run.topology();
    let layers = topology.switches().iter().map(|it| topology.node(*it).layer);
    let mut sent = vec![0; usize::from(layers.max().unwrap_or(0)) + 1];
    for port in &run.outcome.ports {
        let peer = topology.port(port.node, port.port).peer;
        sent[usize::from(topology.node(peer).layer)] += port.pauses;
    }
    for (layer, pauses) in sent.into_iter().enumerate().skip(1) {
        add(format!("pauses.layer{layer}"), pauses as f64);
    }
    if let Some(rate) = completion_rate(run) {
        add("completion_rate".to_string(), rate);
    }
}

fn completion_rate(run: &Run) -> Option<f64> {
    let all = run.metrics().completion?.all;
    let finishes = run.outcome.flows.iter().filter_map(|it| it.finish);
    let last = match all.unfinished {
        0 => finishes.max()?,
        _ => run.outcome.end,
    };
    Some(all.finished as f64 / ((last - Time::ZERO).as_secs_f64() * 1e3))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ops::ControlFlow;

    use super::*;
    use pauseless_scenario::{Overrides, Scenario};

    /// Two hosts behind one switch send 1 MB each to a third one behind another.
    const FILE: &str = r#"
        duration = "10 ms"
        mtu = "1000 B"
        timing.start_jitter = "0 us"
        topology = { kind = "custom", rate = "10 Gbps", delay = "1 us", node = [
            { name = "S1", kind = "switch", layer = 1 }, { name = "S2", kind = "switch", layer = 2 },
            { name = "A", kind = "host" }, { name = "B", kind = "host" }, { name = "C", kind = "host" },
        ], link = [
            { between = ["S1", "S2"] }, { between = ["S1", "A"] }, { between = ["S1", "B"] },
            { between = ["S2", "C"] },
        ] }
        switch.buffer = "200 KB"
        flow_control.kind = "pfc"
        flow = [
            { source = "A", target = "C", size = "1 MB" }, { source = "B", target = "C", size = "1 MB" },
        ]
    "#;

    fn measured(duration: &str) -> BTreeMap<String, f64> {
        let text = FILE.replace("10 ms", duration);
        let scenario = Scenario::parse("two", &text, &Overrides::default()).expect("a scenario");
        let run = Run::execute(scenario, |_| ControlFlow::Continue(()));
        let mut all = BTreeMap::new();
        workload(&run, &mut |name, value| {
            all.insert(name, value);
        });
        all
    }

    #[test]
    fn a_pause_belongs_to_the_switch_that_asked_for_it() {
        let all = measured("10 ms");
        assert!(all["pauses.layer1"] > 0.0, "S1 holds the hosts: {all:?}");
        assert_eq!(all["pauses.layer2"], 0.0, "S2 has nothing to wait for");
    }

    #[test]
    fn flows_are_counted_until_the_last_one_or_the_end() {
        // 2 MB at 10 Gb/s take 1.6 ms.
        let rate = measured("10 ms")["completion_rate"];
        assert!((1.2..1.25).contains(&rate), "{rate}");
        assert_eq!(measured("1 ms")["completion_rate"], 0.0, "none in 1 ms");
    }
}
