//! A run that ends because its question is answered says what a longer one would have said.

mod networks;

use networks::congestion::{dumbbell_at, schemes};
use networks::random::{Wildness, random_network};
use networks::{MTU, Scheme, early_buffer, gfc_ring, make_cycle_aware, stop_sources};
use pauseless_core::id::FlowId;
use pauseless_core::switch::Discipline;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_sim::config::{Follow, Receiver, Steady, Stop};
use pauseless_sim::outcome::Ended;
use pauseless_sim::{Config, Outcome, run};

const DONE: Stop = Stop { deadlock: false, done: true, steady: None };

fn steady(window: Span) -> Stop {
    let steady = Steady { window, windows: 8, tolerance_permille: 10 };
    Stop { deadlock: false, done: false, steady: Some(steady) }
}

/// What must not depend on when the run ends.
fn assert_same(short: &Outcome, long: &Outcome, what: &str) {
    assert_eq!(short.flows, long.flows, "{what}");
    assert_eq!(short.queues, long.queues, "{what}");
    assert_eq!(short.ports, long.ports, "{what}");
    assert_eq!(short.tree, long.tree, "{what}");
    assert_eq!(short.starved, long.starved, "{what}");
    assert_eq!(short.deadlock, long.deadlock, "{what}");
    assert_eq!(short.losses, long.losses, "{what}");
    assert_eq!(short.expired_bytes, long.expired_bytes, "{what}");
    assert_eq!(short.pause_frames, long.pause_frames, "{what}");
    assert_eq!(short.held_at_end, long.held_at_end, "{what}");
    assert_eq!(short.last_arrival, long.last_arrival, "{what}");
}

#[test]
fn what_is_done_stays_as_it_is() {
    let mut done = 0;
    for seed in 0..120 {
        let wildness = Wildness { scheme: seed % 5, slow_receivers: seed % 2 == 0 };
        let mut config = random_network(seed, wildness);
        for (index, flow) in config.flows.iter_mut().enumerate() {
            // Some flows are stopped, others come to their end.
            if flow.stop == Time::MAX && !flow.is_finite() {
                flow.size = MTU * (3 + 7 * index as u64);
            }
        }
        let long = run(&config);
        config.stop = DONE;
        let short = run(&config);
        if short.ended == Ended::Done {
            done += 1;
            assert!(short.end < long.end && short.events <= long.events);
            assert_eq!(short.held_at_end, Bytes::ZERO, "seed {seed}");
        } else {
            assert_eq!((short.ended, short.end), (Ended::Duration, long.end));
            let is_open = |flow: &pauseless_sim::outcome::FlowOutcome| flow.finish.is_none();
            assert!(short.held_at_end > Bytes::ZERO || short.flows.iter().any(is_open));
        }
        assert_same(&short, &long, &format!("seed {seed}"));
    }
    assert!(done > 30, "{done}");
}

#[test]
fn what_waits_for_others_has_to_run_first() {
    let mut config = gfc_ring(Scheme::Pfc, Discipline::OutputQueued, 1);
    for flow in &mut config.flows {
        flow.size = MTU * 20;
    }
    config.follows = vec![Follow { first: FlowId(0), then: FlowId(2), delay: Span::ms(40) }];
    config.stop = DONE;
    let outcome = run(&config);
    assert_eq!(outcome.ended, Ended::Done);
    let last = outcome.flows[2].finish.expect("it is done");
    assert!(last > Time::ZERO + Span::ms(40));
    assert_eq!(outcome.end, last, "nothing was paused");
    // If the first one never ends, the other one never starts, and there is more to be said.
    config.flows[0].size = Bytes::MAX;
    assert_eq!(run(&config).ended, Ended::Duration);
}

#[test]
fn stuck_or_lost_is_not_done() {
    let mut config = gfc_ring(Scheme::Pfc, Discipline::OutputQueued, 1);
    stop_sources(&mut config, Time::ZERO + Span::ms(20));
    config.stop = DONE;
    let outcome = run(&config);
    assert!(outcome.deadlock.is_some());
    assert_eq!(outcome.ended, Ended::Duration);
    // Flows whose bytes were lost wait for ever.
    let mut config = gfc_ring(Scheme::Pfc, Discipline::OutputQueued, 1);
    for flow in &mut config.flows {
        flow.size = Bytes::mb(20);
    }
    for switch in config.topology.switches().to_vec() {
        for port in 0..config.topology.ports(switch).len() {
            let port = pauseless_core::id::PortId(port as u16);
            let class = pauseless_core::id::Class(0);
            config.ingress.get_mut(switch, port, class).buffer = Bytes::kb(810);
        }
    }
    config.stop = DONE;
    let outcome = run(&config);
    assert!(outcome.lost_packets > 0);
    assert_eq!(outcome.ended, Ended::Duration);
}

#[test]
fn a_deadlock_ends_a_run_only_if_asked() {
    let mut config = gfc_ring(Scheme::Pfc, Discipline::OutputQueued, 1);
    assert_eq!(run(&config).ended, Ended::Duration);
    config.stop = Stop::DEADLOCK;
    let outcome = run(&config);
    assert_eq!(outcome.ended, Ended::Deadlock);
    assert_eq!(outcome.end, outcome.deadlock.expect("a deadlock").time);
}

#[test]
fn a_run_that_is_broken_off_says_so() {
    let config = gfc_ring(Scheme::Pfc, Discipline::OutputQueued, 1);
    let mut simulator = pauseless_sim::Simulator::new(&config);
    simulator.advance(Time::ZERO + Span::ms(1));
    assert_eq!(simulator.finish().ended, Ended::Interrupted);
}

/// The short run's findings and rates are those of the long one.
fn assert_agrees(short: &Outcome, long: &Outcome, what: &str) {
    for (short, long) in short.flows.iter().zip(&long.flows) {
        let (short, long) = (short.goodput_late_bps, long.goodput_late_bps);
        assert!((short - long).abs() <= 0.03 * long, "{what}: {short} against {long}");
    }
    let flows = |outcome: &Outcome| Vec::from_iter(outcome.starved.iter().map(|it| it.flow));
    assert_eq!(flows(short), flows(long), "{what}");
    assert_eq!(short.deadlock, long.deadlock, "{what}");
}

#[test]
fn a_steady_state_is_what_the_run_would_stay_in() {
    let mut count = 0;
    for discipline in Discipline::COMMON {
        for scheme in Scheme::ALL {
            let mut config = gfc_ring(scheme, discipline, 1);
            let long = run(&config);
            for us in [100, 1_500] {
                config.stop = steady(Span::us(us));
                let short = run(&config);
                let what = format!("{discipline:?} {scheme:?} {us} us: {:?}", short.end);
                match short.ended {
                    Ended::Steady => {
                        count += 1;
                        assert!(short.end < long.end);
                        assert_agrees(&short, &long, &what);
                    }
                    _ => {
                        let events = long.events;
                        assert_eq!(Outcome { events, ..short }, long, "{what}");
                    }
                }
            }
        }
    }
    assert!(count > 10, "{count}");
}

/// Plain GFC behind output FIFOs loses a little with every turn of the ring, for ever.
#[test]
fn a_slow_decay_is_not_steady() {
    for us in [20, 100, 1_500] {
        let mut config = gfc_ring(Scheme::GfcBuffer, Discipline::OutputQueued, 1);
        config.stop = steady(Span::us(us));
        assert_eq!(run(&config).ended, Ended::Duration, "{us} us");
        make_cycle_aware(&mut config, early_buffer(Bytes::kb(250), Bytes::kb(1)));
        let outcome = run(&config);
        assert_eq!(outcome.ended, Ended::Steady, "{us} us");
        assert!(outcome.starved.is_empty());
    }
}

/// The rates of QCN and DCQCN go up and down over milliseconds.
#[test]
fn a_slow_oscillation_is_not_steady() {
    let [_, qcn, dcqcn, _] = schemes(Span::us(500));
    for control in [qcn, dcqcn] {
        for us in [50, 200] {
            let mut config = dumbbell_at(4, 100, control);
            config.duration = Span::ms(20);
            config.stop = steady(Span::us(us));
            let outcome = run(&config);
            let what = format!("{} {us} us: {:?}", control.name(), outcome.end);
            assert_eq!(outcome.ended, Ended::Duration, "{what}");
        }
    }
}

#[test]
fn nothing_is_steady_before_a_change_that_is_known() {
    let base = || {
        let mut config = gfc_ring(Scheme::GfcBuffer, Discipline::VirtualOutputQueued, 1);
        config.duration = Span::ms(40);
        config.stop = steady(Span::us(100));
        config
    };
    let late = Time::ZERO + Span::ms(30);
    let end = run(&base()).end;
    assert!(end < Time::ZERO + Span::ms(10), "{end:?}");
    let change = |change: &dyn Fn(&mut Config)| {
        let mut config = base();
        change(&mut config);
        let outcome = run(&config);
        assert!(outcome.end > late, "{:?} {:?}", outcome.ended, outcome.end);
    };
    change(&|config| config.flows[1].start = late);
    change(&|config| config.flows[1].stop = late);
    // At its share of 5 Gb/s it is complete by 32 ms.
    change(&|config| config.flows[1].size = Bytes::mb(20));
    change(&|config| {
        config.receivers = vec![Receiver {
            host: config.flows[0].target,
            steps: vec![(Time::ZERO, Some(Rate::gbps(10))), (late, Some(Rate::gbps(5)))],
        }];
    });
}
