//! Switch and hosts together, over wires in memory.

mod star;

use pauseless_core::congestion::{CongestionControl, dcqcn, pcn};
use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::{Class, FlowId, PortId};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_core::wire::MacAddress;
use pauseless_dataplane::config::{ReceivedFlow, SentFlow};
use star::*;

/// Two hosts send to a third one as fast as they can.
fn incast(control: FlowControl) -> Star {
    let ports = vec![port(control, 1); 3];
    let config = switch_config(ports, &[2, 2]);
    let hosts = vec![
        (vec![sent(0, Bytes::mb(2))], vec![]),
        (vec![sent(1, Bytes::mb(2))], vec![]),
        (vec![], vec![received(0), received(1)]),
    ];
    Star::new(&config, hosts)
}

#[test]
fn flow_control_shares_a_line_and_loses_nothing() {
    for control in [pfc(), cbfc()] {
        let mut star = incast(control);
        star.run(Span::ms(20));
        let (switch, hosts) = star.report();
        for flow in &hosts[2].receives {
            // Half a gigabit per second each.
            let bytes = flow.bytes.get() as f64;
            assert!((bytes / 1.25e6 - 1.0).abs() < 0.05, "{control:?} {flow:?}");
        }
        let stopped = hosts[..2].iter().map(|host| &host.ports[0]);
        let is_stopped = |port: &_| {
            let port: &pauseless_dataplane::report::PortReport = port;
            port.counters.pauses_received > 0 || port.classes[0].is_stopped
        };
        assert!(
            matches!(control, FlowControl::Cbfc(_)) || stopped.clone().all(is_stopped),
            "nobody was paused"
        );
        star.run(Span::ms(20));
        let (_, hosts) = star.report();
        for flow in &hosts[2].receives {
            assert_eq!((flow.missing, flow.duplicates, flow.reordered), (0, 0, 0));
            // 1,333 full frames and what is left.
            assert_eq!((flow.frames, flow.bytes), (1_334, Bytes::mb(2)));
            assert!(flow.latency.p50 >= Span::us(12), "{:?}", flow.latency);
        }
        assert!(star.hosts.iter().all(|host| host.is_done(star.now)));
        assert_eq!(star.switch.frames_inside(), 0);
        assert_conserved(&mut star.switch, star.now);
        let late = &switch.lateness;
        assert!(late.data.count > 0 && late.data.max <= TICK, "{late:?}");
        assert!(star.switch.take_messages().is_empty());
    }
}

/// The same with congestion control: marks on the way, answers back, and rates that follow them.
#[test]
fn sources_are_told_of_congestion_and_slow_down() {
    let schemes = [
        CongestionControl::Pcn(pcn::Config::default()),
        CongestionControl::Dcqcn(dcqcn::Config::default()),
    ];
    for scheme in schemes {
        let mut config = switch_config(vec![port(pfc(), 2); 3], &[2, 2]);
        config.switch.congestion = scheme;
        for flow in 0..2 {
            let answers = MacAddress::of_answers(FlowId(flow));
            config.forwarding.push((answers, PortId(flow as u16)));
        }
        let source = |flow| SentFlow {
            control: scheme.reaction_point(LINE, LINE),
            ..sent(flow, Bytes::MAX)
        };
        let target = |flow| ReceivedFlow {
            answer_class: Class(1),
            point: scheme.notification_point(),
            ..received(flow)
        };
        let hosts = vec![
            (vec![source(0)], vec![]),
            (vec![source(1)], vec![]),
            (vec![], vec![target(0), target(1)]),
        ];
        let mut star = Star::new(&config, hosts);
        star.run(Span::ms(20));
        let (switch, hosts) = star.report();
        let marked = switch.ports[2].counters.marked;
        let seen = hosts[2].receives.iter().map(|flow| flow.marked);
        // Some are still on their way.
        assert!(marked > 0 && seen.sum::<u64>() + 2 >= marked, "{scheme:?}");
        for (host, flow) in hosts[..2].iter().zip(0..) {
            assert!(host.ports[0].counters.received > 0, "no answer came");
            let allowed = host.sends[0].allowed_bps;
            assert!(allowed < LINE.as_bps(), "{scheme:?}: {flow} at {allowed}");
        }
        let unread = hosts.iter().map(|host| host.ports[0].counters);
        assert!(unread.clone().all(|it| it.unknown + it.malformed == 0));
        assert_conserved(&mut star.switch, star.now);
    }
}

/// Numbers begin anew with a source that was killed and started again: nothing came twice, and nothing is
/// missing that the old one has sent.
#[test]
fn a_source_that_starts_again_is_neither_a_duplicate_nor_a_loss() {
    let config = switch_config(vec![port(pfc(), 1); 2], &[1]);
    let source = || (vec![sent(0, Bytes::MAX)], vec![]);
    let mut star = Star::new(&config, vec![source(), (vec![], vec![received(0)])]);
    star.run(Span::ms(10));
    let before = star.report().1.remove(1).receives.remove(0);
    star.restart_host(0, &config, source());
    star.run(Span::ms(5));
    let after = star.report().1.remove(1).receives.remove(0);
    assert_eq!((before.restarts, after.restarts), (0, 1));
    assert_eq!((after.missing, after.duplicates, after.astray), (0, 0, 0));
    assert!(after.frames > before.frames + 400, "{before:?} {after:?}");
}

/// The planner refuses such flows with a better message.
#[test]
#[should_panic(expected = "F0: 20 B")]
fn a_last_packet_without_room_for_its_number_is_refused() {
    let config = switch_config(vec![port(pfc(), 1)], &[0]);
    let flow = sent(0, Bytes::new(3 * 1_500 + 20));
    Star::new(&config, vec![(vec![flow], vec![])]);
}

#[test]
fn recordings_add_up_to_what_was_received() {
    let mut config = switch_config(vec![port(pfc(), 1); 2], &[1]);
    config.common.resolution = Span::ms(1);
    let hosts = vec![
        (vec![sent(0, Bytes::MAX)], vec![]),
        (vec![], vec![received(0)]),
    ];
    let mut star = Star::new(&config, hosts);
    star.run(Span::ms(10));
    let (switch, hosts) = star.report();
    let expected = Vec::from_iter((1..=10).map(|ms| Time::ZERO + Span::ms(ms)));
    assert_eq!(switch.series.times, expected);
    let goodput = &hosts[1].series.flows[0].goodput_bps;
    let bytes = goodput.iter().sum::<f64>() / 8.0 / 1_000.0;
    let (last, frame) = (hosts[1].receives[0].bytes.get() as f64, 1_500.0);
    assert!((bytes - last).abs() <= 2.0 * frame, "{bytes} {last}");
    let [from, to] = &switch.series.ports[..] else {
        panic!("two ports");
    };
    let nearly = |bps: f64| (bps / 1e9 - 1.0).abs() < 0.02;
    assert!(from.input_bps[1..].iter().all(|bps| nearly(*bps)));
    assert!(to.sending_bps[1..].iter().all(|bps| nearly(*bps)));
    assert!(to.allowed_bps.iter().all(|bps| *bps == 1e9));
    assert!(from.queue.iter().all(|held| *held <= 3_000));
}
