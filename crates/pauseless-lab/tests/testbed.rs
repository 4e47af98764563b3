//! The ring on real frames, over rings in memory: what comes of it, and that it is what the simulator says.

#![cfg(target_os = "linux")]

use std::ops::ControlFlow;
use std::path::Path;

use pauseless_core::switch::Discipline;
use pauseless_core::unit::Span;
use pauseless_lab::report::Progress;
use pauseless_lab::scenario::{Overrides, Scenario};
use pauseless_lab::testbed::ring::{self, Speed};
use pauseless_lab::testbed::wires::Backend;
use pauseless_lab::testbed::{self, Measured, Options, json, page, table};

fn measured(names: &[&str], discipline: Discipline, duration: Span) -> Vec<Measured> {
    let overrides = Overrides {
        discipline: Some(discipline),
        duration: Some(duration),
        ..Overrides::default()
    };
    let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    let scenarios = ring::scenarios(Speed::Lockstep, &names, &overrides);
    let scenarios = scenarios.unwrap_or_else(|it| panic!("{it}"));
    let options = Options {
        backend: Backend::Memory,
        ..Options::default()
    };
    let go_on = &mut |_: Progress| ControlFlow::Continue(());
    let run = |scenario| testbed::measure(scenario, &options, go_on);
    let runs = scenarios.iter().map(run);
    runs.map(|run| run.unwrap_or_else(|it| panic!("{it}")))
        .collect()
}

/// Nothing is lost, late beyond tau, or not understood.
fn assert_lossless(measured: &Measured) {
    let name = &measured.run.scenario.name;
    assert_eq!(table::remarks(measured), [""; 0], "{name}");
    assert_eq!(measured.run.outcome.lost_packets, 0, "{name}");
    assert!(measured.wire.lateness.data.count > 1_000, "{name}");
}

#[test]
fn pfc_and_credits_deadlock_behind_output_queues_as_in_the_simulator() {
    let runs = measured(&["pfc", "cbfc"], Discipline::OutputQueued, Span::ms(400));
    for measured in &runs {
        assert_lossless(measured);
        let ours = measured.run.outcome.deadlock.as_ref().expect("a deadlock");
        let simulated = measured.simulated.outcome.deadlock.as_ref();
        let simulated = simulated.expect("a deadlock");
        let sorted = |cycle: &[_]| {
            let mut cycle = cycle.to_vec();
            cycle.sort();
            cycle
        };
        assert_eq!(sorted(&ours.cycle), sorted(&simulated.cycle));
        assert_eq!(ours.flows.len(), 3);
        // The same physics, not the same phases.
        let ratio = ours.time.as_ps() as f64 / simulated.time.as_ps() as f64;
        assert!((0.4..2.5).contains(&ratio), "{ratio}");
        assert!(measured.run.outcome.held_at_end.get() > 800_000);
        for flow in &measured.run.outcome.flows {
            assert_eq!(flow.goodput_late_bps, 0.0);
        }
    }
}

#[test]
fn cycle_aware_gfc_carries_every_flow_at_half_the_rate() {
    let names = ["gfc-buffer-cycle-aware", "gfc-time-cycle-aware"];
    for measured in measured(&names, Discipline::OutputQueued, Span::ms(500)) {
        assert_lossless(&measured);
        assert_half(&measured);
        // Nodes that answer each other in step with the clock would say hundreds of times as much.
        let counts = [&measured.run, &measured.simulated].map(|it| it.outcome.feedback_frames);
        let [ours, simulated] = counts.map(|count| count as f64);
        assert!((1.0 / 3.0..3.0).contains(&(ours / simulated)), "{counts:?}");
    }
}

/// At 40 Gb/s thresholds are made for a tau of 13 us, which a clock with ticks of 20 us would exceed.
#[test]
fn a_faster_network_has_a_finer_clock() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/pcn-fig1.toml");
    let scenario = Scenario::read(Path::new(path), &Overrides::default());
    let scenario = scenario.unwrap_or_else(|it| panic!("{it}"));
    let options = Options {
        backend: Backend::Memory,
        ..Options::default()
    };
    let go_on = &mut |_: Progress| ControlFlow::Continue(());
    let measured = testbed::measure(&scenario, &options, go_on);
    let measured = measured.unwrap_or_else(|it| panic!("{it}"));
    let wire = &measured.wire;
    assert!(
        !wire.is_tau_exceeded(),
        "{} > {}",
        wire.tau,
        wire.tau_configured
    );
    assert_eq!((wire.overruns, measured.run.outcome.lost_packets), (0, 0));
    let remarks = table::remarks(&measured);
    assert!(
        remarks
            .iter()
            .any(|it| it.contains("up to 5.00 us, is left out")),
        "{remarks:?}"
    );
}

#[test]
fn plain_gfc_does_behind_virtual_output_queues_and_starves_behind_output_queues() {
    let names = ["gfc-buffer"];
    let fair = measured(&names, Discipline::VirtualOutputQueued, Span::ms(500));
    assert_lossless(&fair[0]);
    assert_half(&fair[0]);
    let starved = measured(&names, Discipline::OutputQueued, Span::ms(1_000));
    assert_lossless(&starved[0]);
    assert_eq!(starved[0].run.outcome.starved.len(), 3);
    assert_eq!(starved[0].run.outcome.deadlock, None);
}

/// Every flow has half of 200 Mb/s, within 2 %, and no queue is beyond what the simulator's is.
fn assert_half(measured: &Measured) {
    let name = &measured.run.scenario.name;
    assert_eq!(measured.run.outcome.starved, [], "{name}");
    assert_eq!(measured.run.outcome.deadlock, None, "{name}");
    for flow in &measured.run.outcome.flows {
        let rate = flow.goodput_late_bps / 1e6;
        assert!((98.0..=102.0).contains(&rate), "{name}: {rate} Mb/s");
    }
    let (ours, simulated) = (measured.run.queue_max(), measured.simulated.queue_max());
    let difference = ours.get().abs_diff(simulated.get());
    assert!(
        difference < 9_000,
        "{name}: {ours:?}, simulated {simulated:?}"
    );
}

#[test]
fn reports_say_both() {
    let runs = measured(&["pfc"], Discipline::OutputQueued, Span::ms(60));
    let document = serde_json::to_value(json::document(&runs)).expect("a document");
    let run = &document["runs"][0];
    assert_eq!(run["name"], "pfc");
    assert_eq!(run["discipline"], "output-queued");
    assert_eq!(run["measured"]["backend"], "memory");
    assert_eq!(run["measured"]["tau_exceeded"], false);
    assert_eq!(run["measured"]["sequence_gaps"], 0);
    assert_eq!(run["deadlock"]["cycle"].as_array().map(Vec::len), Some(3));
    assert!(run["simulated"]["deadlock_ps"].as_u64() > Some(0));
    let lines = table::table(&runs, pauseless_lab::report::text::Paint::Plain);
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert_eq!(lines.matches("deadlock at").count(), 2, "{lines}");
    let page = page::page(&runs);
    // Goodput and the queues of two ports.
    assert_eq!(page.matches("<svg ").count(), 3);
    assert!(page.contains("stroke-dasharray") && page.contains("sources") == page.contains("stop"));
}

#[test]
fn a_run_that_is_broken_off_reports_what_was_measured() {
    let scenarios = ring::scenarios(Speed::Lockstep, &["pfc".into()], &Overrides::default());
    let scenario = &scenarios.unwrap_or_else(|it| panic!("{it}"))[0];
    let options = Options {
        backend: Backend::Memory,
        ..Options::default()
    };
    let mut looks = 0;
    let measured = testbed::measure(scenario, &options, &mut |_: Progress| {
        looks += 1;
        match looks {
            3 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    let run = measured.unwrap_or_else(|it| panic!("{it}")).run;
    assert!(run.interrupted);
    // Somebody looks every 1,000 ticks.
    let end = run.outcome.end.as_ps();
    assert!(
        (Span::ms(45).as_ps()..Span::ms(60).as_ps()).contains(&end),
        "{end}"
    );
    assert!(run.outcome.flows[0].delivered.get() > 100_000);
}
