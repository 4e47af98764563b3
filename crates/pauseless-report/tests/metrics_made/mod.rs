//! Runs whose outcome is made by hand.
#![allow(dead_code, reason = "every test binary uses some of these")]

use std::ops::ControlFlow;
use std::sync::Arc;

use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_run::Run;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_sim::Config;
use pauseless_sim::outcome::{CongestionTree, FlowOutcome, Recording};

const NETWORK: &str = r#"
duration = "1 us"

[topology]
kind = "custom"

[[topology.node]]
name = "A"
kind = "host"

[[topology.node]]
name = "B"
kind = "host"

[[topology.node]]
name = "S"
kind = "switch"

[[topology.link]]
between = ["A", "S"]
rate = "10 Gbps"
delay = "1 us"

[[topology.link]]
between = ["B", "S"]
rate = "40 Gbps"
delay = "1 us"

[switch]
classes = 2
buffer = "1 MB"

[flow_control]
kind = "none"
"#;

/// A run over these flows, each (name, size or nothing, class), that has done nothing yet and is
/// to be filled in by hand; it has lasted 2 ms.
pub fn blank(flows: &[(&str, Option<u64>, u8)]) -> Run {
    let mut text = NETWORK.to_string();
    for (name, size, class) in flows {
        text.push_str(&format!(
            "\n[[flow]]\nname = \"{name}\"\nsource = \"A\"\ntarget = \"B\"\nclass = {class}\n"
        ));
        if let Some(size) = size {
            text.push_str(&format!("size = \"{size} B\"\n"));
        }
    }
    let scenario = Scenario::parse("by-hand", &text, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|problems| panic!("{problems}"));
    let mut run = Run::execute(scenario, |_| ControlFlow::Continue(()));
    run.wall_s = 1.0;
    let outcome = &mut run.outcome;
    outcome.end = ms(2);
    outcome.flows = vec![FlowOutcome::default(); flows.len()];
    outcome.ports = Vec::new();
    outcome.tree = CongestionTree::default();
    outcome.series = Recording::default();
    (outcome.answers, outcome.answer_bytes) = (0, Bytes::ZERO);
    run
}

/// What was run, to be changed after the fact.
pub fn config(run: &mut Run) -> &mut Config {
    let scenario = Arc::get_mut(&mut run.scenario);
    &mut scenario.expect("no other run has it").config
}

pub fn ms(ms: u64) -> Time {
    Time::ZERO + Span::ms(ms)
}

pub fn us(us: u64) -> Time {
    Time::ZERO + Span::us(us)
}

pub fn finished(start: Time, fct: Span, ideal: Span) -> FlowOutcome {
    FlowOutcome { start: Some(start), finish: Some(start + fct), ideal, ..FlowOutcome::default() }
}
