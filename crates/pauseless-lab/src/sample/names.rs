//! The names of the numbers that a run can have.

use pauseless_sim::config::Config;

use crate::scenario::did_you_mean;

/// Numbers of whole runs.
const WHOLE: [&str; 33] = [
    "deadlock",
    "stuck",
    "deadlock_ms",
    "deadlock_ports",
    "starved",
    "lost",
    "warnings",
    "held_kb",
    "pauses",
    "feedback_percent",
    "end_ms",
    "hops",
    "last_arrival_ms",
    "rate.sum",
    "rate.mean",
    "rate.min",
    "rate.max",
    "queue_max",
    "jain",
    "tree_ms",
    "tree_links",
    "tree_hosts",
    "answers_percent",
    "flows_per_s",
    "share_mean",
    "share_min",
    "finished",
    "unfinished",
    "fct_mean_us",
    "fct_p50_us",
    "fct_p99_us",
    "slowdown_mean",
    "slowdown_p99",
];
/// Numbers of a flow, a port or a class, whose name follows.
const PARTS: [&str; 9] = [
    "rate",
    "total",
    "pauses",
    "queue_max",
    "queue_end",
    "queue_mean",
    "held_ms",
    "held_last_ms",
    "utilisation",
];
/// Numbers of all flows or of some, whose size or class follows.
const GROUPS: [&str; 7] = [
    "finished",
    "unfinished",
    "fct_mean_us",
    "fct_p50_us",
    "fct_p99_us",
    "slowdown_mean",
    "slowdown_p99",
];

/// Whether some run could have a number of this name; else the name that may have been meant.
pub fn check(name: &str) -> Result<(), String> {
    let is_group = |part: &str| {
        let class = part
            .strip_prefix("class")
            .and_then(|it| it.parse::<u8>().ok());
        ["S", "M", "L", "XL"].contains(&part) || class.is_some()
    };
    let is_known = match name.split_once('.') {
        _ if WHOLE.contains(&name) => true,
        Some((what, part)) if PARTS.contains(&what) => !part.is_empty(),
        Some((what, part)) if GROUPS.contains(&what) => is_group(part),
        _ => false,
    };
    if is_known {
        return Ok(());
    }
    // The part that is a name of the user's resembles nothing.
    let guess = match name.split_once('.') {
        Some((what, _)) => did_you_mean(what, PARTS.into_iter().chain(GROUPS)),
        None => did_you_mean(name, WHOLE),
    };
    Err(match guess.is_empty() {
        true => "docs/repro.md lists all names".to_string(),
        false => guess,
    })
}

/// Whether runs of a scenario could have a number of this name, which [`check`] knows: the flow, the
/// port or the class must be there.
pub(crate) fn fits(name: &str, config: &Config) -> bool {
    if WHOLE.contains(&name) {
        return true;
    }
    let topology = &config.topology;
    // Of several ways to write a port, one is the name of the number.
    let port = |part: &str| {
        let (node, port) = topology.port_named(part).ok()?;
        (topology.port_name(node, port) == part).then_some((node, port))
    };
    let is_class = |part: &str| {
        let classes = config.ingress.class_count();
        (0..classes).any(|class| part == format!("class{class}"))
    };
    match name.split_once('.') {
        Some(("rate" | "total", part)) => config.flows.iter().any(|flow| flow.name == part),
        Some(("pauses", part)) => is_class(part) || port(part).is_some(),
        Some(("queue_mean", part)) => {
            let probed = &config.probes.ports;
            port(part).is_some_and(|port| probed.contains(&port))
        }
        Some((what, part)) if PARTS.contains(&what) => port(part).is_some(),
        _ => true,
    }
}

/// What to write instead of a name that does not fit.
pub(crate) fn help(name: &str) -> &'static str {
    match name.split_once('.') {
        Some(("rate" | "total", _)) => "name one of the scenario's flows",
        Some(("pauses", _)) => "name a port as NODE:PEER, or a class as class0",
        Some(("queue_mean", _)) => "name a port as NODE:PEER that [probe] of the scenario has",
        _ => "name a port as NODE:PEER",
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::run::Run;
    use crate::sample::Sample;
    use crate::scenario::{Overrides, Scenario};

    /// What a run has can be asked for, with flows that end and flows that do not.
    #[test]
    fn every_number_of_a_run_is_known() {
        let text = include_str!("../../../../scenarios/incast-shared.toml");
        let endless = "\n[[flow]]\nname = \"F1\"\nsource = \"H1\"\ntarget = \"R\"\n";
        let text = format!("{text}{endless}").replace("\"2 ms\"", "\"200 us\"");
        let scenario = Scenario::parse("t", &text, &Overrides::default());
        let scenario = scenario.unwrap_or_else(|wrong| panic!("{wrong}"));
        let run = Run::execute(scenario, |_| ControlFlow::Continue(()));
        let sample = Sample::of(&run, &[]).expect("no curves");
        assert!(sample.metrics.len() > 20);
        for name in sample.metrics.keys() {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        assert_eq!(check("puases"), Err("did you mean pauses?".to_string()));
        assert!(check("fct_mean_us.SM").is_err() && check("rate.").is_err());
    }

    /// Of very many flows and ports, those that are asked for have numbers, and no others.
    #[test]
    fn one_of_many_flows_can_be_asked_for() {
        let text = r#"
            duration = "10 us"
            [topology]
            kind = "dumbbell"
            left = 140
            right = 1
            rate = "10 Gbps"
            delay = "1 us"
            [switch]
            buffer = "10 MB"
            [flow_control]
            kind = "pfc"
            [[traffic]]
            kind = "incast"
            target = "Y1"
            sources = ["X1..X100"]
            size = "10 KB"
        "#;
        let scenario = Scenario::parse("t", text, &Overrides::default());
        let scenario = scenario.unwrap_or_else(|wrong| panic!("{wrong}"));
        let flow = scenario.config.flows[70].name.clone();
        let run = Run::execute(scenario, |_| ControlFlow::Continue(()));
        let asked = [format!("rate.{flow}"), "held_ms.SW0:X9".to_string()];
        let (few, none) = (
            Sample::with(&run, &[], &asked).expect("no curves"),
            Sample::of(&run, &[]).expect("no curves"),
        );
        for name in &asked {
            assert!(fits(name, &run.scenario.config), "{name}");
            assert!(few.metric(name).is_some(), "{name}");
            assert_eq!(none.metric(name), None, "{name}");
        }
        let rates = |sample: &Sample| {
            let names = sample.metrics.keys();
            names.filter(|name| name.starts_with("rate.")).count()
        };
        assert_eq!(rates(&few), rates(&none) + 1);
    }
}
