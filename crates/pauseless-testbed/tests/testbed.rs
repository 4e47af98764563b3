//! The ring on real frames, over rings in memory: what comes of it, and that it is what the simulator says.

#![cfg(target_os = "linux")]

use std::ops::ControlFlow;
use std::path::Path;

use pauseless_core::switch::Discipline;
use pauseless_core::switch::watchdog::{self, Action};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_dataplane::report::NodeReport;
use pauseless_run::Progress;
use pauseless_scenario::{Overrides, Scenario};
use pauseless_sim::config::{Probes, Stop, Watchdog};
use pauseless_sim::outcome::Ended;
use pauseless_testbed::plan::NodePlan;
use pauseless_testbed::ring::{self, Speed};
use pauseless_testbed::wires::Backend;
use pauseless_testbed::{self as testbed, BedError, Measured, Options, Watch, json, page, table};

fn scenarios(names: &[&str], discipline: Discipline, duration: Span) -> Vec<Scenario> {
    let overrides = Overrides {
        discipline: Some(discipline),
        duration: Some(duration),
        ..Overrides::default()
    };
    let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
    let scenarios = ring::scenarios(Speed::Lockstep, &names, &overrides);
    scenarios.unwrap_or_else(|it| panic!("{it}"))
}

/// The ring with PFC behind output queues.
fn pfc(duration: Span) -> Scenario {
    scenarios(&["pfc"], Discipline::OutputQueued, duration).remove(0)
}

fn watched(scenario: Scenario, watch: &mut dyn Watch) -> Result<Measured, BedError> {
    let options = Options { backend: Backend::Memory, ..Options::default() };
    testbed::measure(scenario, &options, watch)
}

fn measure(scenario: Scenario) -> Measured {
    let measured = watched(scenario, &mut |_: Progress| ControlFlow::Continue(()));
    measured.unwrap_or_else(|it| panic!("{it}"))
}

fn measured(names: &[&str], discipline: Discipline, duration: Span) -> Vec<Measured> {
    let scenarios = scenarios(names, discipline, duration);
    scenarios.into_iter().map(measure).collect()
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
    let options = Options { backend: Backend::Memory, ..Options::default() };
    let go_on = &mut |_: Progress| ControlFlow::Continue(());
    let measured = testbed::measure(scenario, &options, go_on);
    let measured = measured.unwrap_or_else(|it| panic!("{it}"));
    let wire = &measured.wire;
    assert!(!wire.is_tau_exceeded(), "{:?} > {}", wire.tau, wire.tau_configured);
    assert_eq!((wire.overruns, measured.run.outcome.lost_packets), (0, 0));
    let remarks = table::remarks(&measured);
    assert!(remarks.iter().any(|it| it.contains("up to 5.00 us, is left out")), "{remarks:?}");
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

/// Both halves of GFC's Fig. 9 and 10, on frames.
#[test]
fn input_queues_and_software_show_both_halves() {
    for discipline in [Discipline::INPUT_QUEUED, Discipline::Software] {
        for measured in measured(&["pfc", "cbfc"], discipline, Span::ms(400)) {
            assert_lossless(&measured);
            assert!(measured.run.outcome.deadlock.is_some(), "{discipline:?}");
        }
        for measured in measured(&["gfc-buffer", "gfc-time"], discipline, Span::ms(500)) {
            assert_lossless(&measured);
            assert_half(&measured);
        }
    }
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
    assert!(difference < 9_000, "{name}: {ours:?}, simulated {simulated:?}");
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
    let lines = table::table(&runs, pauseless_text::terminal::Paint::Plain);
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert_eq!(lines.matches("deadlock at").count(), 2, "{lines}");
    let page = page::page(&runs);
    // Goodput and the queues of two ports.
    assert_eq!(page.matches("<svg ").count(), 3);
    assert!(page::has_curves(&runs));
    // Every figure has what was measured and, dashed, what was simulated.
    let figures = page.split("<svg ").skip(1);
    let figures = figures.map(|it| it.split("</svg>").next().expect("a beginning"));
    for figure in figures {
        assert!(figure.contains("stroke-dasharray"), "{figure}");
        assert!(figure.contains("deadlock "), "{figure}");
    }
    assert_eq!(page.matches("<li>simulated: deadlock at ").count(), 1);
}

/// Breaks off when it sees nodes, which only real ones are.
struct Impatient {
    has_seen: bool,
}

impl Watch for Impatient {
    fn progress(&mut self, _: Progress) -> ControlFlow<()> {
        if self.has_seen { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn see(&mut self, _: &[NodePlan], statuses: Vec<NodeReport>) {
        self.has_seen = statuses.len() == 6;
    }
}

#[test]
fn a_run_that_is_broken_off_reports_what_was_measured() {
    let scenario = pfc(Span::s(20));
    let run = watched(scenario, &mut Impatient { has_seen: false });
    let run = run.unwrap_or_else(|it| panic!("{it}")).run;
    assert!(run.interrupted);
    assert!(run.outcome.end < Time::ZERO + Span::s(20));
    assert!(run.outcome.flows[0].delivered.get() > 0);
}

#[test]
fn a_simulation_that_is_broken_off_leaves_nothing_to_measure() {
    let broken = watched(pfc(Span::ms(400)), &mut |_: Progress| ControlFlow::Break(()));
    assert!(matches!(broken, Err(BedError::Interrupted)));
}

#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    let mut scenario = pfc(Span::ms(400));
    scenario.config.wire_overhead = Bytes::new(20);
    let mut looks = 0;
    let refused = watched(scenario, &mut |_: Progress| {
        looks += 1;
        ControlFlow::Continue(())
    });
    assert!(matches!(refused, Err(BedError::Unsupported(_))));
    assert_eq!(looks, 0);
}

#[test]
fn flows_are_judged_by_their_progress_whatever_is_probed() {
    for resolution in [Span::ZERO, Span::ms(200)] {
        let mut scenario = pfc(Span::ms(400));
        scenario.config.probes.resolution = resolution;
        if resolution == Span::ZERO {
            scenario.config.probes = Probes::default();
        }
        let measured = measure(scenario);
        let outcome = &measured.run.outcome;
        assert!(outcome.deadlock.is_some());
        assert_eq!(outcome.starved, [], "{resolution:?}");
        for flow in &outcome.flows {
            assert_eq!(flow.goodput_late_bps, 0.0, "{resolution:?}");
        }
        let times = Vec::from_iter(outcome.series.times.iter().map(|time| *time - Time::ZERO));
        match resolution {
            Span::ZERO => assert_eq!(times, []),
            _ => assert_eq!(times, [Span::ms(200), Span::ms(400)]),
        }
        assert_eq!(page::has_curves(&[measured]), resolution > Span::ZERO);
    }
}

#[test]
fn a_deadlock_that_watchdogs_break_is_broken_and_may_come_back() {
    let mut scenario = pfc(Span::ms(400));
    scenario.config.mitigation.watchdog = Watchdog::On(watchdog::Config {
        detection: Span::ms(50),
        restoration: Span::ms(50),
        poll: Span::ZERO,
        action: Action::Drop,
    });
    let Measured { run, simulated, .. } = measure(scenario);
    let broken = |it: &pauseless_sim::Outcome| {
        let episodes = it.episodes.iter();
        let broken = episodes.filter_map(|episode| Some(episode.broken? - episode.found));
        Vec::from_iter(broken)
    };
    let (ours, theirs) = (broken(&run.outcome), broken(&simulated.outcome));
    assert!(!ours.is_empty() && ours.len().abs_diff(theirs.len()) <= 2);
    assert!(ours.iter().all(|span| *span <= Span::ms(51)), "{ours:?}");
    assert!(run.outcome.episodes.len() - ours.len() <= 1);
    let first = run.outcome.trips.first().expect("a trip");
    // Seen at the end of the tick.
    let broken = run.outcome.episodes[0].broken.expect("broken");
    assert!(first.time <= broken && broken - first.time <= Span::us(20));
    let dropped = run.outcome.trips.iter().map(|trip| trip.dropped.packets);
    assert_eq!(dropped.sum::<u64>(), run.outcome.losses.watchdog.packets);
    assert!(run.outcome.losses.watchdog.packets > 0);
}

#[test]
fn a_run_ends_when_its_question_is_answered() {
    let mut scenario = pfc(Span::ms(400));
    scenario.config.stop = Stop::DEADLOCK;
    let Measured { run, .. } = measure(scenario);
    assert_eq!(run.outcome.ended, Ended::Deadlock);
    assert_eq!(Some(run.outcome.end), run.outcome.deadlock.map(|it| it.time));
    let name = "gfc-buffer-cycle-aware";
    let discipline = Discipline::OutputQueued;
    let mut scenario = scenarios(&[name], discipline, Span::s(4)).remove(0);
    scenario.config.stop = Stop { deadlock: false, done: true, steady: None };
    for flow in &mut scenario.config.flows {
        flow.size = Bytes::kb(300);
    }
    let Measured { run, .. } = measure(scenario);
    assert_eq!(run.outcome.ended, Ended::Done);
    assert!(run.outcome.end < Time::ZERO + Span::ms(200));
    assert!(run.outcome.flows.iter().all(|flow| flow.finish.is_some()));
}
