//! What must not harm a switch: bad frames, storms, links that fail, peers that start anew, and any
//! order of all of these.

mod star;

use std::sync::atomic::Ordering;

use pauseless_core::congestion::{CongestionControl, dcqcn, marking};
use pauseless_core::flow_control::cbfc::Counters;
use pauseless_core::flow_control::{Control, Signal};
use pauseless_core::id::{Class, FlowId};
use pauseless_core::switch::{Discipline, watchdog};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_dataplane::config::SwitchNodeConfig;
use pauseless_dataplane::link::memory::{self, MemoryLink};
use pauseless_dataplane::link::{Link, Received};
use pauseless_dataplane::report::PortCounters;
use pauseless_dataplane::switch::SwitchNode;
use pauseless_wire::control::Header;
use pauseless_wire::ip::{self, Ecn};
use pauseless_wire::roce::Data;
use pauseless_wire::{Envelope, MacAddress};
use proptest::prelude::*;
use star::*;

/// A switch whose ports end in the hands of the test.
struct Bare {
    switch: SwitchNode,
    ends: Vec<MemoryLink>,
    now: Time,
}

impl Bare {
    fn new(config: &SwitchNodeConfig) -> Bare {
        let pairs = config.switch.ports.iter().map(|_| memory::pair(10_000));
        let (links, ends): (Vec<_>, Vec<_>) = pairs.unzip();
        let links = links.into_iter().map(|link| Box::new(link) as Box<dyn Link>);
        Bare { switch: SwitchNode::new(config, links.collect()), ends, now: Time::ZERO }
    }

    fn send(&mut self, port: usize, frame: &[u8]) {
        assert!(self.ends[port].send(frame));
        self.ends[port].flush().expect("memory does not fail");
    }

    /// Lets the switch take what has come in, and time pass.
    fn pass(&mut self, span: Span) {
        self.switch.receive(self.now);
        self.now = self.now + span;
        self.switch.advance(self.now);
        self.switch.flush();
    }

    /// What has come out of a port.
    fn taken(&mut self, port: usize) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        let take = &mut |frame: Received<'_>| frames.push(frame.bytes.to_vec());
        self.ends[port].receive(10_000, take).expect("memory does not fail");
        frames
    }

    fn counters(&mut self, port: usize) -> PortCounters {
        self.switch.report(self.now).ports[port].counters
    }
}

fn data(flow: u32, number: u64, length: usize) -> Vec<u8> {
    let mut frame = vec![0; length];
    let data = Data {
        source: MacAddress([2, 0, 0, 0, 0, 1]),
        target: MacAddress::of_flow(FlowId(flow)),
        class: Class(0),
        flow: FlowId(flow),
        run: 0,
        number,
        stamp_ns: 0,
        ecn: Ecn::Capable0,
    };
    data.emit(&mut frame);
    frame
}

fn control(class: u8, signal: Signal) -> Vec<u8> {
    let header = Header { envelope: Envelope::MacControl, source: MacAddress([2, 0, 0, 0, 0, 1]) };
    let mut frame = vec![0; 60];
    let class = Class(class);
    let written = header.emit(&mut frame, Control { class, signal }, Counters::Wide);
    written.expect("it has a frame");
    frame
}

fn pause(class: u8, quanta: u16) -> Vec<u8> {
    control(class, Signal::Pause { quanta })
}

type Count = fn(&PortCounters) -> u64;

#[test]
fn bad_frames_are_counted_by_kind_and_said_once_and_good_ones_pass() {
    let mut bare = Bare::new(&switch_config(vec![port(pfc(), 1); 3], &[1, 0]));
    let mut tagged = data(0, 0, 1_514);
    tagged.splice(12..12, [0x81, 0x00, 0x00, 0x00]);
    let mut declassed = data(0, 1, 100);
    // DSCP 40 is class 5.
    declassed[15] = 40 << 2;
    let link_pause =
        [&[1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 0, 1, 0, 9][..], &[0; 42]]
            .concat();
    let bad: [(Vec<u8>, Count); 9] = [
        (vec![], |c| c.malformed),
        (vec![1; 13], |c| c.malformed),
        (pause(0, 1)[..20].to_vec(), |c| c.malformed),
        (data(0, 0, 1_515), |c| c.oversized),
        (vec![7; 9_000], |c| c.oversized),
        (data(77, 0, 200), |c| c.unknown),
        (data(1, 0, 200), |c| c.reflected),
        (pause(3, 1), |c| c.unwelcome),
        (link_pause, |c| c.unwelcome),
    ];
    let mut messages = 0;
    for (number, (frame, count)) in bad.iter().enumerate() {
        let before = count(&bare.counters(0));
        bare.send(0, frame);
        bare.send(0, frame);
        bare.pass(Span::ms(1));
        assert_eq!(count(&bare.counters(0)) - before, 2, "{number}");
        assert!(bare.taken(1).is_empty(), "{number}");
        messages += bare.switch.take_messages().len();
    }
    // Malformed, oversized, unknown, reflected, unwelcome.
    assert_eq!(messages, 5);
    // The largest frame with a service tag around its tag.
    let mut twice = tagged.clone();
    twice.splice(12..12, [0x88, 0xa8, 0x00, 0x00]);
    let good = [tagged, twice, declassed, data(0, 2, 14 + 68)];
    for frame in &good {
        bare.send(0, frame);
    }
    bare.pass(Span::ms(10));
    assert_eq!(bare.taken(1), good);
    assert_eq!(bare.counters(0).declassed, 1);
    assert_conserved(&mut bare.switch, bare.now);
}

/// A kernel that takes nothing for 100 us in every millisecond is within the slack: the line catches up,
/// also while other ports are busy.
#[test]
fn a_kernel_that_is_busy_for_less_than_the_slack_costs_no_line() {
    let (here, mut there) = memory::pair(100_000);
    let (link, is_cut) = Cuttable::new(here);
    let mut config = switch_config(vec![port(pfc(), 1); 3], &[1, 2]);
    // Here nobody listens to PAUSE.
    for port in &mut config.switch.ports {
        port.lanes[0].buffer = Bytes::mb(10);
    }
    let (inward, mut source) = memory::pair(100_000);
    let (beside, _other) = memory::pair(100_000);
    let links: [Box<dyn Link>; 3] = [Box::new(inward), Box::new(link), Box::new(beside)];
    let mut switch = SwitchNode::new(&config, links.into());
    for number in 0..1_000 {
        assert!(source.send(&data(0, number, 1_496)));
    }
    source.flush().expect("memory does not fail");
    for round in 1..=2_000u64 {
        is_cut.store(round % 200 < 20, Ordering::Relaxed);
        // Something always comes in for the other port.
        source.send(&data(1, round, 100));
        source.flush().expect("memory does not fail");
        let now = Time::ZERO + Span::us(5 * round);
        switch.advance(now);
        switch.flush();
        switch.receive(now);
    }
    let mut count = 0;
    let take = &mut |_: Received<'_>| count += 1;
    there.receive(10_000, take).expect("memory does not fail");
    // 12 us each in 10 ms.
    assert!((830..=834).contains(&count), "{count}");
}

/// Only the switch that marks a frame counts it, not those behind it.
#[test]
fn frames_that_come_marked_are_not_marked_here() {
    let mut config = switch_config(vec![port(pfc(), 1); 3], &[1]);
    config.switch.congestion = CongestionControl::Dcqcn(dcqcn::Config {
        marking: marking::Config {
            kmin: Bytes::ZERO,
            kmax: Bytes::new(1),
            ..dcqcn::Config::default().marking
        },
        ..dcqcn::Config::default()
    });
    for is_before in [false, true] {
        let mut bare = Bare::new(&config);
        for number in 0..10 {
            let mut frame = data(0, number, 1_000);
            if is_before {
                assert!(pauseless_wire::mark_congestion(&mut frame));
            }
            bare.send(0, &frame);
        }
        bare.pass(Span::ms(1));
        let marked = bare.taken(1);
        let marked = marked.iter().filter(|it| ip::ecn_of(it) == Ecn::Marked);
        assert!(marked.count() >= 8);
        assert_eq!(bare.counters(1).marked == 0, is_before);
    }
}

#[test]
fn a_pause_for_a_class_that_is_not_lossless_stops_nothing() {
    let mut bare = Bare::new(&switch_config(vec![half_lossless(pfc()); 2], &[1]));
    bare.send(1, &pause(1, u16::MAX));
    let mut lossy = data(0, 0, 500);
    // DSCP 8 is class 1.
    lossy[15] = 8 << 2;
    bare.send(0, &lossy);
    bare.pass(Span::us(100));
    assert_eq!(bare.taken(1).len(), 1);
    assert_eq!(bare.counters(1).unwelcome, 1);
}

/// Whether frames still reach port 1 after it has been in a storm of PAUSE for 50 ms, and what was
/// dropped meanwhile.
fn storm(watchdog: Option<watchdog::Config>) -> (usize, PortCounters) {
    let mut config = switch_config(vec![port(pfc(), 1); 3], &[1, 2]);
    config.watchdog = watchdog;
    let mut bare = Bare::new(&config);
    let (mut through, mut beside) = (0, 0);
    bare.send(1, &pause(0, u16::MAX));
    bare.pass(Span::ZERO);
    for step in 0..500 {
        bare.send(1, &pause(0, u16::MAX));
        // Only what fits: this sender does not listen.
        if step < 20 || (watchdog.is_some() && step > 30) {
            bare.send(0, &data(0, step, 1_000));
        }
        bare.send(0, &data(1, step, 1_000));
        bare.pass(Span::us(100));
        through += bare.taken(1).len();
        beside += bare.taken(2).len();
    }
    assert_eq!(beside, 500, "what goes elsewhere is not harmed");
    assert_eq!(bare.counters(0).overruns, 0);
    assert_conserved(&mut bare.switch, bare.now);
    let mut counters = bare.counters(1);
    // When the storm is over the queue moves again, by itself.
    bare.pass(Span::ms(60));
    bare.send(0, &data(0, 1_000, 1_000));
    bare.pass(Span::ms(60));
    let after = bare.taken(1).len();
    assert_eq!(after, if watchdog.is_some() { 1 } else { 21 });
    counters.pauses_received = bare.counters(1).pauses_received;
    (through, counters)
}

#[test]
fn a_storm_stops_one_queue_and_a_watchdog_drops_what_waits_in_it() {
    let (through, counters) = storm(None);
    assert_eq!((through, counters.watchdog_drops), (0, 0));
    assert_eq!(counters.pauses_received, 1, "it was paused all the time");
    let (through, counters) = storm(Some(watchdog::Config {
        detection: Span::ms(2),
        restoration: Span::ms(10),
        poll: Span::ZERO,
        action: watchdog::Action::Drop,
    }));
    assert_eq!(through, 0);
    assert_eq!((counters.watchdog_trips, counters.watchdog_drops), (1, 489));
}

#[test]
fn a_link_that_fails_and_comes_back_loses_nothing_that_was_not_lost_by_the_kernel() {
    let config = switch_config(vec![port(pfc(), 1); 2], &[1]);
    let (near, mut far) = memory::pair(10_000);
    let (out, mut there) = memory::pair(8);
    let (out, is_cut) = Cuttable::new(out);
    let mut switch = SwitchNode::new(&config, vec![Box::new(near), Box::new(out)]);
    let mut now = Time::ZERO;
    let mut step = |far: &mut MemoryLink, frames: &[Vec<u8>]| {
        frames.iter().for_each(|frame| assert!(far.send(frame)));
        far.flush().expect("memory does not fail");
        switch.receive(now);
        now = now + Span::ms(1);
        switch.advance(now);
        switch.flush();
        (switch.report(now), switch.take_messages())
    };
    is_cut.store(true, Ordering::Relaxed);
    let frames = Vec::from_iter((0..30).map(|number| data(0, number, 1_000)));
    let (report, messages) = step(&mut far, &frames);
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(report.ports[1].counters.send_retries > 0);
    let (report, messages) = step(&mut far, &[]);
    assert_eq!((report.ports[1].counters.outages, messages.len()), (1, 0));
    is_cut.store(false, Ordering::Relaxed);
    let mut arrived = Vec::new();
    for round in 0..20 {
        let (report, messages) = step(&mut far, &[]);
        assert_eq!(messages.len(), usize::from(round == 0), "it works again, once");
        assert_eq!(report.ports[1].counters.outages, 1);
        let take = &mut |frame: Received<'_>| arrived.push(frame.bytes.to_vec());
        there.receive(100, take).expect("memory does not fail");
    }
    assert_eq!(arrived, frames);
    assert_eq!(switch.frames_inside(), 0);
}

/// A neighbour that starts anew counts from zero. The counters are absolute and come with every link
/// packet, so both directions are right again two periods later. Until then the neighbour
/// sends as if the buffer were empty, and may overrun one that is not; and it is not sent to.
#[test]
fn credits_are_right_again_two_periods_after_a_peer_has_started_anew() {
    let config = switch_config(vec![port(cbfc(), 1); 2], &[1, 0]);
    let flows = |host: u32| (vec![sent(host, Bytes::MAX)], vec![received(1 - host)]);
    let mut star = Star::new(&config, vec![flows(0), flows(1)]);
    // Long enough for the counters to be further apart than a whole buffer.
    star.run(Span::ms(3));
    star.restart_host(0, &config, flows(0));
    // Two periods of 20 us, and what is on its way.
    star.run(Span::us(60));
    let (switch, _) = star.report();
    let before = switch.ports.iter().map(|port| port.counters.sent_bytes);
    let before = Vec::from_iter(before);
    star.run(Span::ms(1));
    let (switch, _) = star.report();
    for (port, before) in switch.ports.iter().zip(before) {
        let bytes = (port.counters.sent_bytes - before).get() as f64;
        assert!(bytes > 0.97 * 125_000.0, "{bytes} in 1 ms: {port:?}");
        assert_eq!(port.counters.overruns, 0);
    }
}

#[derive(Clone, Debug)]
enum Op {
    Data { from: usize, flow: u32, length: usize, class: u8 },
    Control { from: usize, class: u8, signal: Signal },
    Noise { from: usize, bytes: Vec<u8> },
    Pass { us: u64 },
}

fn op() -> impl Strategy<Value = Op> {
    let signal = prop_oneof![
        any::<u16>().prop_map(|quanta| Signal::Pause { quanta }),
        (0u16..4).prop_map(|quanta| Signal::Pause { quanta }),
        (any::<u32>(), any::<u32>()).prop_map(|(fctbs, fccl)| Signal::Credit { fctbs, fccl }),
        any::<u64>().prop_map(|bytes| Signal::Free(Bytes::new(bytes))),
    ];
    prop_oneof![
        8 => (0..3usize, 0..4u32, 82..1_520usize, 0..3u8)
            .prop_map(|(from, flow, length, class)| Op::Data { from, flow, length, class }),
        3 => (0..3usize, 0..3u8, signal)
            .prop_map(|(from, class, signal)| Op::Control { from, class, signal }),
        1 => (0..3usize, prop::collection::vec(any::<u8>(), 0..100))
            .prop_map(|(from, bytes)| Op::Noise { from, bytes }),
        4 => (0..200u64).prop_map(|us| Op::Pass { us }),
    ]
}

fn apply(bare: &mut Bare, op: Op, number: u64) {
    match op {
        Op::Data { from, flow, length, class } => {
            let mut frame = data(flow, number, length);
            frame[15] = (class << 3) << 2;
            bare.send(from, &frame);
        }
        Op::Control { from, class, signal } => bare.send(from, &control(class, signal)),
        Op::Noise { from, bytes } => bare.send(from, &bytes),
        Op::Pass { us } => bare.pass(Span::us(us)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever comes in, every frame is sent, held or counted, and no slot is lost or used twice.
    #[test]
    fn no_frame_is_unaccounted_for(
        ops in prop::collection::vec(op(), 0..300),
        is_credit: bool,
        is_watched: bool,
        discipline in 0..3usize,
    ) {
        let lane = if is_credit { cbfc() } else { pfc() };
        let mut config = switch_config(vec![half_lossless(lane); 3], &[0, 1, 2]);
        config.switch.discipline = Discipline::COMMON[discipline];
        config.watchdog = is_watched.then_some(watchdog::Config {
            detection: Span::us(300),
            restoration: Span::us(500),
            poll: Span::ZERO,
            action: watchdog::Action::Drop,
        });
        let mut bare = Bare::new(&config);
        let mut given = 0;
        for (number, op) in (0..).zip(ops) {
            given += u64::from(!matches!(op, Op::Pass { .. }));
            apply(&mut bare, op, number);
            let mut waiting = 0;
            bare.switch.core().for_each_waiting(|_, _, _| waiting += 1);
            let inside = bare.switch.frames_inside();
            prop_assert!(inside >= waiting && inside <= waiting + 3, "{inside} {waiting}");
            assert_conserved(&mut bare.switch, bare.now);
        }
        bare.pass(Span::ZERO);
        let PortCounters { received, malformed, oversized, control_received, .. } =
            totals(&bare.switch.report(bare.now));
        prop_assert_eq!(given, received + malformed + oversized + control_received);
    }
}
