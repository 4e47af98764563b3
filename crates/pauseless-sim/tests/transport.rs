//! Windows, go-back-N, flows that finish at their source, and congestion control by telemetry.

mod networks;

use networks::congestion::*;
use pauseless_core::congestion::{CongestionControl, dcqcn, hpcc, timely};
use pauseless_core::id::FlowId;
use pauseless_core::transport::{
    AnswerSizes, Finish, GoBackN, Pacing, Recovery, Transport, Window,
};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::config::{Follow, Reaction};
use pauseless_sim::parallel::Parallel;
use pauseless_sim::{Config, Outcome, run};

const LINE: Rate = Rate::gbps(100);
const DELAY: Span = Span::us(1);

/// Senders A0, A1, .. at one switch, targets B0, B1, .. at another.
fn two_switches(count: usize) -> Topology {
    let mut builder = TopologyBuilder::new();
    let link = LinkSpec { rate: LINE, delay: DELAY };
    let (near, far) = (builder.add_switch("S0"), builder.add_switch("S1"));
    builder.connect(near, far, link);
    for index in 0..count {
        for (side, switch) in [("A", near), ("B", far)] {
            let host = builder.add_host(format!("{side}{index}"));
            builder.connect(host, switch, link);
        }
    }
    builder.build().expect("two switches")
}

/// Flows from each A to each B, of so many packets.
fn network(count: usize, packets: u64, control: CongestionControl) -> Config {
    let wishes = (0..count).map(|index| Wish {
        size: PACKET * packets,
        ..Wish::new(&format!("F{index}"), &format!("A{index}"), &format!("B{index}"))
    });
    let wishes = Vec::from_iter(wishes);
    let mut config = controlled(two_switches(count), &wishes, pcn_ingress(), control);
    config.congestion.ack_every = 1;
    // Three links there and back, and three times a packet.
    let round_trip = DELAY * 6 + LINE.tx_span(PACKET) * 3;
    for flow in &mut config.flows {
        flow.start = Time::ZERO;
        if let Reaction::Controlled { window, round_trip: whole, .. } = &mut flow.reaction {
            *whole = round_trip;
            *window = LINE.bytes_in(round_trip);
        }
    }
    config
}

fn finish(outcome: &Outcome, flow: usize) -> Span {
    let finish = outcome.flows[flow].finish.expect("it finishes");
    finish - Time::ZERO
}

/// The same on several threads.
fn check_threads(config: &Config, outcome: &Outcome) {
    for threads in [2, 3] {
        let parallel = Parallel::new(config, threads).run();
        assert_eq!(&parallel, outcome, "{threads} threads");
    }
}

#[test]
fn a_window_of_one_packet_lets_one_go_per_round_trip() {
    let mut config = network(1, 10, CongestionControl::None);
    config.transport.window = Window::Fixed;
    config.transport.finish = Finish::Source;
    config.transport.sizes = AnswerSizes { ack: Bytes::new(60), ..AnswerSizes::default() };
    if let Reaction::Controlled { window, .. } = &mut config.flows[0].reaction {
        *window = PACKET;
    }
    let outcome = run(&config);
    let there = (DELAY + LINE.tx_span(PACKET)) * 3;
    let back = (DELAY + LINE.tx_span(Bytes::new(60))) * 3;
    assert_eq!(finish(&outcome, 0), (there + back) * 10);
    assert_eq!(outcome.acknowledgements, 10);
    check_threads(&config, &outcome);
    // With as much as fits on the way, the line is never idle: acknowledgements take their time,
    // so that a little more has to fit.
    if let Reaction::Controlled { window, .. } = &mut config.flows[0].reaction {
        *window = LINE.bytes_in(there + back);
    }
    let line = LINE.tx_span(PACKET * 9);
    assert_eq!(finish(&run(&config), 0), there + back + line);
}

#[test]
fn go_back_n_delivers_everything_once() {
    let mut config = network(4, 5_000, CongestionControl::None);
    config.transport.recovery =
        Recovery::GoBackN(GoBackN { nack_interval: Span::us(20), timeout: Span::us(100) });
    config.transport.finish = Finish::Source;
    config.transport.window = Window::Fixed;
    config.wire_loss.share = 0.001;
    config.duration = Span::ms(50);
    config.stop.done = true;
    let outcome = run(&config);
    assert!(outcome.losses.wire.packets > 20, "{:?}", outcome.losses);
    assert_eq!((outcome.lost_packets, outcome.loss.as_ref()), (0, None));
    // What is lost costs a window at the most, which has 79 packets.
    let (refused, lost) = (outcome.refused.packets, outcome.losses.wire.packets);
    assert!(refused > lost && refused < 79 * lost, "{refused} of {lost}");
    for flow in &outcome.flows {
        assert!(flow.finish.is_some(), "{flow:?}");
        assert_eq!(flow.delivered, PACKET * 5_000);
    }
    check_threads(&config, &outcome);
    // Four flows share one link. Without losses they take 1.6 ms.
    let ideal = LINE.tx_span(PACKET * 20_000);
    let longest = (0..4).map(|flow| finish(&outcome, flow)).max();
    let longest = longest.expect("four flows");
    assert!(longest > ideal && longest < ideal * 2, "{longest}");
    // Nobody goes back by himself: a lost tail is never sent again.
    config.wire_loss.share = 0.02;
    config.transport.recovery = Recovery::GoBackN(GoBackN::default());
    let stuck = run(&config);
    assert!(stuck.flows.iter().any(|flow| flow.finish.is_none()));
}

/// Without losses, go-back-N changes nothing.
#[test]
fn without_losses_nobody_goes_back() {
    let mut config = network(4, 500, CongestionControl::None);
    let plain = run(&config);
    config.transport.recovery = Recovery::GoBackN(GoBackN::default());
    let outcome = run(&config);
    assert_eq!(outcome, plain);
}

#[test]
fn what_follows_a_flow_starts_when_its_source_knows() {
    let mut config = network(2, 1, CongestionControl::None);
    config.follows = vec![Follow { first: FlowId(0), then: FlowId(1), delay: Span::ZERO }];
    let there = (DELAY + LINE.tx_span(PACKET)) * 3;
    let ack = (DELAY + LINE.tx_span(AnswerSizes::default().ack)) * 3;
    assert_eq!(finish(&run(&config), 1), there * 2);
    config.transport.finish = Finish::Source;
    let outcome = run(&config);
    assert_eq!(finish(&outcome, 1), (there + ack) * 2);
    check_threads(&config, &outcome);
}

/// Strict pacing makes up for nothing: of two flows at three quarters of the line each, none gets
/// more than its share of turns, but a frame that waits delays all that follow.
#[test]
fn strict_pacing_makes_up_for_nothing() {
    let mut wishes = Vec::from([Wish::new("F0", "A0", "B0"), Wish::new("F1", "A0", "B1")]);
    for wish in &mut wishes {
        wish.size = PACKET * 1_000;
        wish.pace = Some(Rate::gbps(45));
    }
    let mut config = controlled(two_switches(2), &wishes, pcn_ingress(), CongestionControl::None);
    for flow in &mut config.flows {
        flow.start = Time::ZERO;
    }
    let caught_up = run(&config);
    config.transport.pacing = Pacing::Strict;
    let strict = run(&config);
    let span = |outcome: &Outcome| finish(outcome, 0).max(finish(outcome, 1));
    // The flow that has to wait for the other one's frame first stays behind it from then on.
    assert!(span(&strict) >= span(&caught_up), "{} {}", span(&strict), span(&caught_up));
    assert!(span(&strict) < span(&caught_up) + Span::us(1));
}

fn hpcc_network(count: usize, packets: u64) -> Config {
    let control = CongestionControl::Hpcc(hpcc::Config {
        rate_ai: Rate::mbps(50),
        ..hpcc::Config::default()
    });
    let mut config = network(count, packets, control);
    config.transport.window = Window::FollowsRate;
    config
}

/// Sixteen senders to one link: after the first round trips the queue is next to nothing, the link
/// is as busy as it is to be, and all get the same.
#[test]
fn hpcc_keeps_the_queue_short_and_shares_the_link() {
    let mut config = hpcc_network(16, u64::from(u32::MAX));
    config.duration = Span::ms(4);
    let outcome = run(&config);
    let (index, sum) = fairness(&outcome);
    assert!((90.0..97.0).contains(&sum), "{sum} {index}");
    assert!(index > 0.98, "{sum} {index}");
    // A packet of every flow or so is somewhere in the switches; at first it was all windows.
    assert!(outcome.held_at_end < PACKET * 16, "{}", outcome.held_at_end);
    let mut short = config.clone();
    short.duration = Span::ms(1);
    check_threads(&short, &run(&short));
}

/// Losses and telemetry together: nothing is mislaid, whatever is lost on the way.
#[test]
fn telemetry_survives_losses() {
    let mut config = hpcc_network(4, 2_000);
    config.transport.recovery =
        Recovery::GoBackN(GoBackN { nack_interval: Span::us(20), timeout: Span::us(200) });
    config.wire_loss.share = 0.005;
    config.duration = Span::ms(30);
    let outcome = run(&config);
    assert!(outcome.losses.wire.packets > 20);
    assert!(outcome.flows.iter().all(|flow| flow.finish.is_some()));
    check_threads(&config, &outcome);
}

/// The schemes of the HPCC authors' simulator share a link about fairly and keep it busy.
#[test]
fn nics_and_round_trips_share_a_link() {
    let nic = CongestionControl::Dcqcn(dcqcn::Config {
        style: dcqcn::Style::Nic,
        cnp_interval: Span::us(4),
        alpha_timer: Span::us(1),
        increase_timer: Span::us(300),
        threshold: 1,
        rate_ai: Rate::mbps(20),
        rate_hai: Rate::mbps(200),
        clamp: dcqcn::Clamp::AfterStage,
        ..dcqcn::Config::default()
    });
    let round_trips = CongestionControl::Timely(timely::Config {
        update: timely::Update::PerRoundTrip,
        ewma_weight: 0.875,
        t_low: Span::us(50),
        t_high: Span::us(500),
        delta: Rate::mbps(10),
        ..timely::Config::per_packet(Span::us(20))
    });
    for (control, least) in [(nic, 0.6), (round_trips, 0.3)] {
        let mut config = network(4, u64::from(u32::MAX), control);
        config.transport = Transport { pacing: Pacing::Strict, ..Transport::default() };
        config.duration = Span::ms(8);
        let outcome = run(&config);
        assert_eq!(outcome.lost_packets, 0);
        let (index, total) = fairness(&outcome);
        let name = control.name();
        assert!(total > least * 100.0, "{name}: {total} {index}");
        assert!(index > 0.7, "{name}: {total} {index}");
    }
}
