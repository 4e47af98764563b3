//! Congestion control in the simulator: every scheme with every flow control, what answers cost, and
//! the rhythms and successions of flows.

mod networks;

use networks::congestion::*;
use networks::random::{Wildness, random_network};
use networks::{flow, port};
use pauseless_core::congestion::marking::MarkAt;
use pauseless_core::congestion::{CongestionControl, Feedback, dctcp, hpcc};
use pauseless_core::flow_control::FlowControl;
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, FlowId};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::generate::{Line, LinkSpecs, Shape};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::config::{Follow, Ingress, Reaction};
use pauseless_sim::{Config, run};

fn all_controls() -> [CongestionControl; 7] {
    let [pcn, qcn, dcqcn, timely] = schemes(Span::us(20));
    let dctcp = CongestionControl::Dctcp(dctcp::Config {
        rate_ai: Some(Rate::mbps(80)),
        ..dctcp::Config::default()
    });
    let base_rtt = Span::us(20);
    let hpcc = CongestionControl::Hpcc(hpcc::Config { base_rtt, ..hpcc::Config::default() });
    [CongestionControl::None, pcn, qcn, dcqcn, timely, dctcp, hpcc]
}

/// Random networks under every flow control and every congestion control, answers in the data's
/// class: nothing is lost, no byte is mislaid (checked at the end of every run), the same run twice
/// is the same, and something is always delivered.
#[test]
fn every_congestion_control_works_with_every_flow_control() {
    let mut answers = 0;
    for control in all_controls() {
        for scheme in 0..5 {
            for seed in 0..25 {
                let wildness = Wildness { scheme, slow_receivers: seed % 2 == 0 };
                let mut config = random_network(1_000 + seed, wildness);
                put_under(&mut config, control);
                let outcome = run(&config);
                let name = format!("{}, scheme {scheme}, seed {seed}", control.name());
                assert_eq!(outcome.lost_packets, 0, "{name}: {:?}", outcome.loss);
                let delivered = outcome.flows.iter().map(|flow| flow.delivered.get());
                assert!(delivered.sum::<u64>() > 0, "{name}");
                answers += outcome.answers;
                if seed < 5 {
                    assert_eq!(outcome, run(&config), "{name}");
                }
            }
        }
    }
    assert!(answers > 10_000, "{answers}");
}

/// The same without flow control: packets and answers are lost, and every one is accounted for.
#[test]
fn without_flow_control_losses_are_accounted_for() {
    for control in all_controls() {
        let mut wishes = Vec::new();
        for host in 2..16 {
            wishes.push(Wish::new(&format!("F{host}"), &format!("H{host}"), "R1"));
        }
        let ingress = Ingress { control: FlowControl::None, buffer: Bytes::kb(100) };
        let mut config = controlled(pcn_fig1_topology(), &wishes, ingress, control);
        config.duration = Span::ms(3);
        let outcome = run(&config);
        assert!(outcome.lost_packets > 0, "{}", control.name());
        let rates = outcome.flows.iter().map(|flow| flow.goodput_late_bps);
        let sum = rates.sum::<f64>() / 1e9;
        let least = match control {
            CongestionControl::None => 39.5,
            // What they do about it is another matter; all of them still send.
            _ => 1.0,
        };
        assert!((least..40.1).contains(&sum), "{}: {sum}", control.name());
    }
}

/// A line of two switches with a host at each end.
fn line() -> Topology {
    let shape = Line { switches: 2, hosts_per_switch: 1 };
    let link = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
    shape.build(LinkSpecs::same(link)).expect("a line")
}

fn two_ways(control: CongestionControl) -> Config {
    let wishes = [Wish::new("F1", "H1", "H2"), Wish::new("F2", "H2", "H1")];
    let mut config = controlled(line(), &wishes, pcn_ingress(), control);
    config.duration = Span::ms(10);
    config
}

/// Two flows in opposite directions, each acknowledged packet by packet: of every 1,066 bytes on a
/// wire 66 are acknowledgements of the other flow, in a class of their own or not.
#[test]
fn acknowledgements_cost_bandwidth() {
    for is_own in [true, false] {
        let mut config = two_ways(CongestionControl::None);
        config.congestion.ack_every = 1;
        for flow in &mut config.flows {
            if let Reaction::Controlled { class, .. } = &mut flow.reaction {
                *class = Class(u8::from(is_own));
            }
        }
        let outcome = run(&config);
        for flow in &outcome.flows {
            let share = flow.goodput_late_bps / 10e9;
            assert!((share - 1_000.0 / 1_066.0).abs() < 1e-3, "{share}");
        }
        assert_eq!(
            outcome.answer_bytes,
            Feedback::ACK_SIZE * outcome.answers,
            "nobody else answers"
        );
        let delivered = outcome.flows.iter().map(|flow| flow.delivered.get() / 1_000);
        let delivered = delivered.sum::<u64>();
        assert!(outcome.answers.abs_diff(delivered) < 10);
    }
}

/// Without congestion control and acknowledgements nothing travels but the data.
#[test]
fn nobody_answers_unasked() {
    let outcome = run(&two_ways(CongestionControl::None));
    assert_eq!(outcome.answers, 0);
    for flow in &outcome.flows {
        assert!(flow.goodput_late_bps > 9.99e9, "{}", flow.goodput_late_bps);
    }
}

/// PCN tells a source once per period that its packets arrive, and at what rate; nothing when
/// nothing has arrived.
#[test]
fn pcn_answers_once_per_period() {
    let [pcn, ..] = schemes(Span::us(20));
    let mut config = two_ways(pcn);
    for flow in &mut config.flows {
        flow.stop = Time::ZERO + Span::ms(5);
    }
    let outcome = run(&config);
    // 5 ms are a hundred periods of 50 us, for two flows.
    assert!((198..=202).contains(&outcome.answers), "{}", outcome.answers);
}

/// GFC Fig. 20. When packets are marked as they arrive, as DCQCN's paper has it, GFC caps the first
/// overshoot at an eighth of the line, and when DCQCN has taken over GFC is idle.
#[test]
fn gfc_fig20_gfc_caps_the_overshoot_and_dcqcn_takes_over() {
    let outcome = run(&gfc_fig20(MarkAt::Arrival));
    assert_eq!((outcome.lost_packets, outcome.gfc_holds), (0, 0));
    let series = &outcome.series;
    let gfc = &series.ports[0].allowed_bps;
    let queue = &series.ports[1].queue;
    let dcqcn = &series.flows[0].allowed_bps;
    let least = gfc.iter().copied().fold(f64::MAX, f64::min);
    assert_eq!(least, 1.25e9);
    let first = gfc.iter().position(|rate| *rate < 10e9).expect("it is capped");
    assert!(dcqcn[first] > 1.25e9, "GFC is first: {}", dcqcn[first]);
    let half = gfc.len() / 2;
    assert!(gfc[half..].iter().all(|rate| *rate == 10e9), "GFC is idle");
    assert!(dcqcn[half..].iter().all(|rate| *rate < 10e9));
    assert!(queue[half..].iter().all(|bytes| *bytes < 281_000));
}

/// The same with marks set as packets leave: DCQCN hears of the congestion sooner, the queue ends at
/// 237 KB, below B_1, and GFC has nothing to do at all.
#[test]
fn gfc_fig20_with_fresh_marks_gfc_is_not_needed() {
    let outcome = run(&gfc_fig20(MarkAt::Departure));
    assert_eq!(outcome.lost_packets, 0);
    let series = &outcome.series;
    let most = series.ports[1].queue.iter().max();
    assert!(most.is_some_and(|bytes| *bytes > 200_000 && *bytes < 281_000));
    assert!(series.ports[0].allowed_bps.iter().all(|rate| *rate == 10e9));
}

/// A flow that waits for two others starts the given time after the later of them.
#[test]
fn flows_start_after_others() {
    let mut wishes = Vec::new();
    for (name, size) in [("A", 100), ("B", 300), ("C", 50), ("D", 50)] {
        wishes.push(Wish { size: Bytes::kb(size), ..Wish::new(name, "H1", "H2") });
    }
    let mut config = controlled(line(), &wishes, pcn_ingress(), CongestionControl::None);
    let follow = |first, then, delay| Follow {
        first: FlowId(first),
        then: FlowId(then),
        delay: Span::us(delay),
    };
    config.follows = vec![follow(0, 2, 7), follow(1, 2, 5), follow(2, 3, 0)];
    config.duration = Span::ms(5);
    let outcome = run(&config);
    let [a, b, c, d] = outcome.flows[..] else {
        panic!("four flows");
    };
    let finish = |flow: pauseless_sim::outcome::FlowOutcome| flow.finish.expect("it finishes");
    assert!(finish(a) < finish(b));
    assert_eq!(c.start, Some(finish(b) + Span::us(5)));
    assert_eq!(d.start, Some(finish(c)));
    // Alone, each takes as long as the closed form says.
    assert_eq!(finish(c) - c.start.expect("it started"), c.ideal);
    assert_eq!(finish(d) - d.start.expect("it started"), d.ideal);
}

/// A flow whose predecessor never ends never starts, and is neither starved nor finished.
#[test]
fn a_flow_without_a_turn_never_starts() {
    let wishes =
        [Wish::new("A", "H1", "H2"), Wish { size: Bytes::kb(10), ..Wish::new("B", "H1", "H2") }];
    let mut config = controlled(line(), &wishes, pcn_ingress(), CongestionControl::None);
    config.follows = vec![Follow { first: FlowId(0), then: FlowId(1), delay: Span::ZERO }];
    let outcome = run(&config);
    let waiting = outcome.flows[1];
    assert_eq!((waiting.start, waiting.finish), (None, None));
    assert_eq!(waiting.delivered, Bytes::ZERO);
    assert!(outcome.starved.is_empty());
}

/// A flow that sends for 30 us and is silent for 70 us has three tenths of the line, in bursts.
#[test]
fn a_flow_keeps_its_rhythm() {
    let wishes = [Wish::new("A", "H1", "H2")];
    let mut config = controlled(line(), &wishes, pcn_ingress(), CongestionControl::None);
    config.flows[0].duty = Duty { on: Span::us(30), off: Span::us(70) };
    config.flows[0].start = Time::ZERO;
    config.duration = Span::ms(10);
    config.probes.resolution = Span::us(10);
    config.probes.ports = vec![port(&config, "H1:S1")];
    config.probes.flows = vec![flow(&config, "A")];
    let outcome = run(&config);
    let mean = outcome.flows[0].goodput_late_bps / 10e9;
    // A packet that starts in time may end after it.
    assert!((0.29..0.32).contains(&mean), "{mean}");
    let sent = &outcome.series.ports[0].sending_bps;
    for (sample, rate) in sent.iter().enumerate() {
        let is_on = sample % 10 < 3;
        assert_eq!(*rate > 5e9, is_on, "sample {sample}: {rate}");
    }
    assert!(outcome.starved.is_empty());
}
