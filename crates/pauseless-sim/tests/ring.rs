//! The ring of the GFC paper (Fig. 1, 9, 10) in all queueing disciplines, over 20 seeds.

mod networks;

use std::sync::Mutex;

use networks::{
    Scheme, early_buffer, early_time, gfc_ring, make_cycle_aware, pace, port, stop_sources,
};
use pauseless_core::switch::{Arbiter, Discipline};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_sim::config::Probes;
use pauseless_sim::{Config, Outcome, run};

const SEEDS: u64 = 20;
const FAIR: f64 = 5e9;

/// Runs `config(seed)` for every seed on two threads and hands each outcome to `check`.
fn over_seeds(config: impl Fn(u64) -> Config + Sync, check: impl Fn(&Config, Outcome) + Sync) {
    let next = Mutex::new(1..=SEEDS);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.lock().expect("no test panics while it holds this").next();
                    let Some(seed) = seed else { return };
                    let config = config(seed);
                    check(&config, run(&config));
                }
            });
        }
    });
}

fn assert_fair(config: &Config, outcome: &Outcome) {
    for (flow, result) in config.flows.iter().zip(&outcome.flows) {
        let share = result.goodput_late_bps / FAIR;
        assert!((share - 1.0).abs() < 0.02, "seed {} {}: {share}", config.seed, flow.name);
    }
    assert_eq!(outcome.lost_packets, 0);
    assert_eq!(outcome.deadlock, None);
    assert!(outcome.starved.is_empty());
}

/// The names of the egress queues on the witness's cycle, in order from the smallest.
fn cycle_names(config: &Config, outcome: &Outcome) -> Vec<String> {
    let deadlock = outcome.deadlock.as_ref().expect("a deadlock");
    let name = |queue: &pauseless_sim::outcome::EgressQueue| {
        config.topology.port_name(queue.node, queue.port)
    };
    let mut names: Vec<String> = deadlock.cycle.iter().map(name).collect();
    let first =
        names.iter().enumerate().min_by_key(|(_, name)| name.as_str()).map(|(index, _)| index);
    names.rotate_left(first.expect("a cycle has members"));
    names
}

#[test]
fn output_queued_pfc_and_cbfc_deadlock_on_the_three_inter_switch_links() {
    for (scheme, limit) in [(Scheme::Pfc, Span::ms(4)), (Scheme::Cbfc, Span::ms(100))] {
        over_seeds(
            |seed| gfc_ring(scheme, Discipline::OutputQueued, seed),
            |config, outcome| {
                assert_eq!(cycle_names(config, &outcome), ["S1:S2", "S2:S3", "S3:S1"]);
                let deadlock = outcome.deadlock.as_ref().expect("a deadlock");
                assert!(deadlock.time < Time::ZERO + limit, "{}", deadlock.time);
                assert_eq!(deadlock.flows.len(), 3);
                assert_eq!(deadlock.members.len(), 3);
                assert_eq!(outcome.lost_packets, 0);
            },
        );
    }
}

#[test]
fn output_queued_plain_gfc_never_stops_a_sender_loses_nothing_and_starves() {
    for scheme in [Scheme::GfcBuffer, Scheme::GfcTime] {
        over_seeds(
            |seed| gfc_ring(scheme, Discipline::OutputQueued, seed),
            |config, outcome| {
                assert_eq!(outcome.deadlock, None);
                assert_eq!(outcome.lost_packets, 0);
                assert_eq!(outcome.gfc_holds, 0, "seed {}", config.seed);
                assert_eq!(outcome.starved.len(), 3, "seed {}", config.seed);
                for starved in &outcome.starved {
                    assert!((starved.fair_bps - FAIR).abs() < 1.0);
                    assert!(starved.rate_bps > 0.0, "it starves, it does not stand still");
                }
            },
        );
    }
}

#[test]
fn cycle_aware_thresholds_give_the_fair_rate_in_every_discipline() {
    let buffer = early_buffer(Bytes::kb(400), Bytes::kb(170));
    let time = early_time(Bytes::kb(520), Bytes::kb(20));
    for discipline in Discipline::COMMON {
        for (scheme, early) in [(Scheme::GfcBuffer, buffer), (Scheme::GfcTime, time)] {
            over_seeds(
                |seed| {
                    let mut config = gfc_ring(scheme, discipline, seed);
                    config.duration = Span::ms(40);
                    make_cycle_aware(&mut config, early);
                    config
                },
                |config, outcome| {
                    assert_fair(config, &outcome);
                    assert_eq!(outcome.gfc_holds, 0);
                },
            );
        }
    }
}

#[test]
fn virtual_output_queued_gfc_settles_where_the_paper_says() {
    // Buffer-based in stage 1, time-based where the mapping gives half the rate.
    let bands = [(Scheme::GfcBuffer, 750_000, 875_000), (Scheme::GfcTime, 738_000, 754_000)];
    for (scheme, low, high) in bands {
        over_seeds(
            |seed| {
                let mut config = gfc_ring(scheme, Discipline::VirtualOutputQueued, seed);
                config.duration = Span::ms(40);
                let ports = vec![port(&config, "S1:H1")];
                config.probes = Probes {
                    resolution: Span::us(100),
                    ports,
                    flows: Vec::new(),
                    ..Probes::default()
                };
                config
            },
            |config, outcome| {
                assert_fair(config, &outcome);
                let queue = &outcome.series.ports[0].queue;
                let settled = &queue[queue.len() / 2..];
                let (min, max) = (settled.iter().min().unwrap(), settled.iter().max().unwrap());
                assert!(*min >= low && *max < high, "seed {}: {min}..{max}", config.seed);
            },
        );
    }
}

/// In slots the transit packet is always there when its egress decides: none of the four schemes comes
/// near a deadlock.
#[test]
fn in_slots_all_four_keep_the_fair_rate() {
    let slotted = Discipline::InputQueued(Arbiter::Slotted);
    for scheme in Scheme::ALL {
        keep_the_fair_rate(|seed| gfc_ring(scheme, slotted, seed));
    }
}

fn keep_the_fair_rate(config: impl Fn(u64) -> Config + Sync) {
    over_seeds(
        |seed| Config { duration: Span::ms(40), ..config(seed) },
        |config, outcome| assert_fair(config, &outcome),
    );
}

/// Both halves of the paper's Fig. 9 and 10: PFC and credits deadlock, both kinds of GFC flow on.
#[test]
fn input_queues_show_both_halves() {
    for arbiter in [Arbiter::EgressFirst, Arbiter::FifoFirst] {
        let discipline = Discipline::InputQueued(arbiter);
        for scheme in [Scheme::Pfc, Scheme::Cbfc] {
            deadlock_soon(|seed| gfc_ring(scheme, discipline, seed));
        }
        for scheme in [Scheme::GfcBuffer, Scheme::GfcTime] {
            keep_the_fair_rate(|seed| gfc_ring(scheme, discipline, seed));
        }
    }
}

fn deadlock_soon(config: impl Fn(u64) -> Config + Sync) {
    over_seeds(config, |config, outcome| {
        let deadlock = outcome.deadlock.as_ref().expect("a deadlock");
        assert!(deadlock.time < Time::ZERO + Span::ms(6), "{}: {}", config.seed, deadlock.time);
    });
}

/// The halves are the tick's: with it PFC and credits keep the fair rate too, without it GFC starves.
#[test]
fn the_tick_and_not_the_feedback_makes_the_difference() {
    for scheme in [Scheme::Pfc, Scheme::Cbfc] {
        keep_the_fair_rate(|seed| {
            let mut config = gfc_ring(scheme, Discipline::INPUT_QUEUED, seed);
            pace(&mut config);
            config
        });
    }
    for scheme in [Scheme::GfcBuffer, Scheme::GfcTime] {
        over_seeds(
            |seed| {
                // With no FIFO that blocks the ring has no ticks.
                let mut config = gfc_ring(scheme, Discipline::OutputQueued, seed);
                config.discipline = Discipline::INPUT_QUEUED;
                config
            },
            |config, outcome| {
                for flow in &outcome.flows {
                    let share = flow.goodput_late_bps / FAIR;
                    assert!(share < 0.9, "{scheme:?} seed {}: {share}", config.seed);
                }
            },
        );
    }
}

#[test]
fn after_the_sources_stop_gfc_drains_everywhere_and_what_deadlocked_does_not() {
    for discipline in Discipline::COMMON {
        for scheme in Scheme::ALL {
            let deadlocks = discipline != Discipline::VirtualOutputQueued
                && matches!(scheme, Scheme::Pfc | Scheme::Cbfc);
            over_seeds(
                |seed| {
                    let mut config = gfc_ring(scheme, discipline, seed);
                    // Long enough for CBFC to deadlock, or for the queues to settle.
                    let stop = if deadlocks { Span::ms(80) } else { Span::ms(15) };
                    stop_sources(&mut config, Time::ZERO + stop);
                    config.duration = Span::ms(300);
                    config
                },
                |config, outcome| {
                    let held = outcome.held_at_end;
                    assert_eq!(outcome.deadlock.is_some(), deadlocks, "seed {}", config.seed);
                    assert_eq!(held > Bytes::mb(3), deadlocks, "{scheme:?}: {held}");
                    assert_eq!(held == Bytes::ZERO, !deadlocks, "{scheme:?}: {held}");
                },
            );
        }
    }
}
