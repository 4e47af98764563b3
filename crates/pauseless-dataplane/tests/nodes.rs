//! Switch and hosts together, over wires in memory.

#[path = "../../pauseless-core/tests/disguise/mod.rs"]
mod disguise;
mod star;

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use disguise::Language;
use disguise::congestion::disguised_congestion;
use disguise::flow_control::disguised_flow_control;
use pauseless_core::congestion::{CongestionControl, Source, dcqcn, pcn};
use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::{Class, FlowId, PortId};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_dataplane::config::{HostNodeConfig, ReceivedFlow, SentFlow};
use pauseless_dataplane::host::HostNode;
use pauseless_dataplane::link::{Link, Losses, Received, memory};
use pauseless_dataplane::switch::SwitchNode;
use pauseless_wire::MacAddress;
use pauseless_wire::roce::Data;
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

/// A wire with a kernel that stamps frames when they are flushed, by a clock that the test owns.
struct Stamped {
    clock: Arc<AtomicU64>,
    incoming: Line,
    outgoing: Line,
    waiting: Vec<Vec<u8>>,
}

type Line = Arc<Mutex<VecDeque<(Vec<u8>, Duration)>>>;

const EPOCH: Duration = Duration::from_secs(1_000);

impl Link for Stamped {
    fn receive(&mut self, most: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize> {
        let mut incoming = self.incoming.lock().expect("no panic with it");
        let count = most.min(incoming.len());
        for (bytes, stamp) in incoming.drain(..count) {
            take(Received { bytes: &bytes, length: bytes.len(), stamp: Some(stamp) });
        }
        Ok(count)
    }

    fn send(&mut self, frame: &[u8]) -> bool {
        self.waiting.push(frame.to_vec());
        true
    }

    fn flush(&mut self) -> io::Result<()> {
        let stamp = EPOCH + Duration::from_nanos(self.clock.load(Ordering::Relaxed));
        let frames = self.waiting.drain(..).map(|frame| (frame, stamp));
        let mut outgoing = self.outgoing.lock().expect("no panic with it");
        outgoing.extend(frames);
        Ok(())
    }

    fn backlog(&self) -> usize {
        0
    }

    fn losses(&mut self) -> Losses {
        Losses::default()
    }
}

/// A source and a switch, each with a watch, and the clock in ns that both are set by.
fn watched() -> (Arc<AtomicU64>, HostNode, SwitchNode) {
    let clock = Arc::new(AtomicU64::new(0));
    let (there, back) = (Line::default(), Line::default());
    let end = |incoming: &Line, outgoing: &Line| {
        Box::new(Stamped {
            clock: clock.clone(),
            incoming: incoming.clone(),
            outgoing: outgoing.clone(),
            waiting: Vec::new(),
        })
    };
    let watch = || {
        let clock = clock.clone();
        Box::new(move || Time::ZERO + Span::ns(clock.load(Ordering::Relaxed)))
    };
    let config = HostNodeConfig {
        common: common("H0", 0, 1),
        port: port(pfc(), 1),
        sends: vec![sent(0, Bytes::MAX)],
        receives: vec![],
    };
    let mut source = HostNode::new(&config, end(&back, &there));
    let config = switch_config(vec![port(pfc(), 1); 2], &[1]);
    let (other, _) = memory::pair(1_000_000);
    let mut switch = SwitchNode::new(&config, vec![end(&there, &back), Box::new(other)]);
    source.set_epoch(EPOCH);
    source.set_watch(watch());
    switch.set_epoch(EPOCH);
    switch.set_watch(watch());
    (clock, source, switch)
}

/// Whoever loses the processor for 900 us is late by that, wherever in its round it happens.
#[test]
fn stalls_of_sender_and_receiver_are_measured() {
    let stall = Span::us(900);
    let us = |us: u64| Time::ZERO + Span::us(us);
    for who in ["nobody", "sender", "sender in its round", "receiver in its round"] {
        let (clock, mut source, mut switch) = watched();
        let set = |us: u64| clock.store(us * 1_000, Ordering::Relaxed);
        for round in 0..1_000 {
            let time = round * 5;
            set(time);
            let is_stall = round == 380;
            if who != "sender" || !(200..380).contains(&round) {
                source.advance(us(time));
                set(time + if is_stall && who == "sender in its round" { 900 } else { 0 });
                source.flush();
                source.receive(us(time));
                set(time);
            }
            switch.advance(us(time));
            switch.flush();
            set(time + if is_stall && who == "receiver in its round" { 900 } else { 0 });
            switch.receive(us(time));
        }
        let sending = source.report(us(5_000)).lateness.data_sent;
        let receiving = switch.report(us(5_000)).lateness.data;
        assert!(sending.count > 300 && receiving.count > 300, "{who}");
        assert_eq!(sending.max >= stall, who.starts_with("sender"), "{who}: {sending:?}");
        assert_eq!(receiving.max >= stall, who.starts_with("receiver"), "{who}: {receiving:?}");
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
            control: scheme.reaction_point(Source::at_line(LINE)),
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

/// The same at a host to which nothing comes.
#[test]
fn a_kernel_that_is_busy_for_less_than_the_slack_costs_a_host_no_line() {
    let (here, mut there) = memory::pair(100_000);
    let (link, is_cut) = Cuttable::new(here);
    let config = HostNodeConfig {
        common: common("H0", 0, 1),
        port: port(pfc(), 1),
        sends: vec![sent(0, Bytes::MAX)],
        receives: vec![],
    };
    let mut source = HostNode::new(&config, Box::new(link));
    for round in 1..=2_000u64 {
        is_cut.store(round % 200 < 20, Ordering::Relaxed);
        let now = Time::ZERO + Span::us(5 * round);
        source.advance(now);
        source.flush();
        source.receive(now);
    }
    let mut count = 0;
    let take = &mut |_: Received<'_>| count += 1;
    there.receive(10_000, take).expect("memory does not fail");
    assert!((830..=834).contains(&count), "{count}");
}

/// The planner refuses such flows with a better message.
#[test]
fn a_last_packet_without_room_for_its_number_is_refused() {
    let config = switch_config(vec![port(pfc(), 1)], &[0]);
    let make = |last: u64| {
        let flow = sent(0, Bytes::new(3 * 1_500 + last));
        std::panic::catch_unwind(|| Star::new(&config, vec![(vec![flow], vec![])])).is_ok()
    };
    assert!(make(0) && make(Data::SIZE_MIN.get()));
    assert!(!make(Data::SIZE_MIN.get() - 1));
}

/// The planner refuses such schemes with a better message.
#[test]
fn schemes_without_frames_are_refused() {
    let make = |control, congestion: CongestionControl| {
        let config = switch_config(vec![port(control, 1)], &[0]);
        let flow = ReceivedFlow { point: congestion.notification_point(), ..received(0) };
        std::panic::catch_unwind(|| Star::new(&config, vec![(vec![], vec![flow])])).is_ok()
    };
    let dcqcn = CongestionControl::Dcqcn(dcqcn::Config::default());
    assert!(make(pfc(), dcqcn));
    let outside = disguised_flow_control(pfc(), Language::Own).expect("PFC has messages");
    assert!(!make(outside, dcqcn));
    assert!(!make(pfc(), disguised_congestion(dcqcn, Language::Own)));
}

#[test]
fn recordings_add_up_to_what_was_received() {
    let mut config = switch_config(vec![port(pfc(), 1); 2], &[1]);
    config.common.resolution = Span::ms(1);
    let hosts = vec![(vec![sent(0, Bytes::MAX)], vec![]), (vec![], vec![received(0)])];
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
