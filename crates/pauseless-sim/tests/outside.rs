//! Schemes of other crates: those of the core behind the boxed arms do what they do in their own.

#[path = "../../pauseless-core/tests/disguise/mod.rs"]
mod disguise;
mod networks;

use disguise::Language;
use disguise::congestion::disguised_congestion;
use disguise::flow_control::disguised_flow_control;
use networks::congestion::{pcn_dumbbell, put_under, schemes};
use networks::random::{Wildness, random_network};
use networks::{Scheme, gfc_ring};
use pauseless_core::congestion::{CongestionControl, hpcc};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::switch::Discipline;
use pauseless_core::unit::Span;
use pauseless_sim::config::Reaction;
use pauseless_sim::parallel::Parallel;
use pauseless_sim::{Config, Outcome, run};

/// The same network with the flow control of every port disguised.
fn disguise_flow_control(config: &Config, language: Language) -> Config {
    let mut disguised = config.clone();
    for node in 0..config.topology.nodes().len() {
        let node = NodeId(node as u32);
        for port in 0..config.topology.ports(node).len() {
            for class in 0..config.ingress.class_count() {
                let (port, class) = (PortId(port as u16), Class(class as u8));
                let ingress = disguised.ingress.get_mut(node, port, class);
                ingress.control = disguised_flow_control(ingress.control, language)
                    .expect("a scheme with messages on the wire");
            }
        }
    }
    disguised
}

/// The outcome without what is known only of messages that say pause or stage.
fn without_names(mut outcome: Outcome) -> Outcome {
    outcome.pause_frames = 0;
    outcome.pause_frames_by_class = Default::default();
    outcome.gfc_holds = 0;
    for port in &mut outcome.ports {
        port.pauses = 0;
    }
    outcome
}

/// Runs `config` in both forms and both languages; what became of it.
fn same_in_another_crate(config: &Config, name: &str) -> Outcome {
    let expected = run(config);
    let own = disguise_flow_control(config, Language::Own);
    assert_eq!(run(&own), expected, "{name}");
    let bytes = run(&disguise_flow_control(config, Language::Bytes));
    assert_eq!(bytes.deadlock, expected.deadlock, "{name}");
    assert_eq!(without_names(bytes), without_names(expected.clone()), "{name}");
    expected
}

/// The deadlock of the ring comes at the same instant, with the same members, cycle and flows.
#[test]
fn the_ring_deadlocks_at_the_same_instant_with_the_same_witness() {
    for scheme in [Scheme::Pfc, Scheme::Cbfc] {
        let mut config = gfc_ring(scheme, Discipline::OutputQueued, 1);
        config.stop.deadlock = true;
        let outcome = same_in_another_crate(&config, &format!("{scheme:?}"));
        let deadlock = outcome.deadlock.expect("the ring deadlocks");
        assert_eq!((deadlock.cycle.len(), deadlock.flows.len()), (3, 3));
        assert_eq!(outcome.pause_frames > 0, scheme == Scheme::Pfc);
    }
}

/// Any network, with slow receivers, several classes and every discipline.
#[test]
fn a_flow_control_does_the_same_in_another_crate() {
    let mut deadlocks = [0; 4];
    for scheme in 0..4 {
        for seed in 0..20 {
            let wildness = Wildness { scheme, slow_receivers: seed % 2 == 0 };
            let mut config = random_network(seed, wildness);
            config.duration = Span::ms(1);
            let outcome = same_in_another_crate(&config, &format!("{scheme}, seed {seed}"));
            deadlocks[scheme as usize] += usize::from(outcome.deadlock.is_some());
        }
    }
    assert!(deadlocks[0] > 2 && deadlocks[1] > 2, "{deadlocks:?}");
}

/// Both seams at once, on several threads.
#[test]
fn outside_schemes_run_on_several_threads() {
    let [_, _, dcqcn, _] = schemes(Span::us(20));
    let disguised = disguised_congestion(dcqcn, Language::Bytes);
    let mut config = pcn_dumbbell(8, dcqcn);
    config.duration = Span::ms(1);
    let expected = run(&config);
    config.congestion.control = disguised;
    let config = disguise_flow_control(&config, Language::Own);
    assert!(expected.answers > 10, "{}", expected.answers);
    for threads in [1, 2, 3] {
        let outcome = Parallel::new(&config, threads).run();
        assert_eq!(outcome, expected, "{threads} threads");
    }
}

/// Gives every flow the round trip that HPCC starts from.
fn set_round_trips(config: &mut Config) {
    for flow in &mut config.flows {
        if let Reaction::Controlled { round_trip, .. } = &mut flow.reaction {
            *round_trip = Span::us(20);
        }
    }
}

/// Every congestion control, under every flow control that uses wires.
#[test]
fn a_congestion_control_does_the_same_in_another_crate() {
    let [pcn, qcn, dcqcn, timely] = schemes(Span::us(20));
    let hpcc = CongestionControl::Hpcc(hpcc::Config::default());
    let languages = |control: CongestionControl| {
        if control == qcn {
            // Its own messages are shorter than those that nobody else understands.
            &Language::ALL[..1]
        } else {
            &Language::ALL[..]
        }
    };
    for control in [pcn, qcn, dcqcn, timely, hpcc] {
        let mut answers = 0;
        for seed in 0..12 {
            let wildness = Wildness { scheme: seed % 4, slow_receivers: seed % 3 == 0 };
            let mut config = random_network(1_000 + seed, wildness);
            config.duration = Span::ms(1);
            put_under(&mut config, control);
            set_round_trips(&mut config);
            let expected = run(&config);
            answers += expected.answers;
            for language in languages(control) {
                config.congestion.control = disguised_congestion(control, *language);
                let name = format!("{}, {language:?}, seed {seed}", control.name());
                assert_eq!(run(&config), expected, "{name}");
            }
        }
        assert!(answers > 100, "{}: {answers}", control.name());
    }
}
