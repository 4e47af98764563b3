//! What congestion points see of a switch's queues, and what the switch sends for them.

use pauseless_core::congestion::{CongestionControl, Feedback, dcqcn, marking, pcn, qcn};
use pauseless_core::flow_control::{Control, FlowControl, Signal, cbfc, gfc, pfc};
use pauseless_core::id::{Class, PortId};
use pauseless_core::memory::MemoryConfig;
use pauseless_core::port::{LaneConfig, PortConfig};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::software::Polling;
use pauseless_core::switch::{Arrival, Discipline, Switch, SwitchConfig, Transmit};
use pauseless_core::unit::{Bytes, Rate, Span, Time};

const NOW: Time = Time::ZERO;
const EGRESS: PortId = PortId(3);
/// The number of a notification, and of no packet.
const NOTICE: u32 = 1_000;

fn pfc() -> FlowControl {
    let (xoff, xon) = (Bytes::kb(50), Bytes::kb(40));
    FlowControl::Pfc(pfc::Config { xoff, xon, quanta: pfc::UNTIL_RESUMED })
}

/// Four ports at 10 Gb/s with two classes.
fn switch(
    congestion: CongestionControl,
    control: FlowControl,
    discipline: Discipline,
) -> Switch<u32> {
    let lane = LaneConfig::new(control, Bytes::kb(100));
    let port = PortConfig { line: Rate::gbps(10), lanes: [lane; 2].into() };
    Switch::new(&SwitchConfig {
        changes_class: false,
        memory: MemoryConfig::Private,
        congestion,
        seed: 0,
        discipline,
        polling: Polling::default(),
        scheduler: Scheduler::Strict,
        ports: vec![port; 4],
    })
}

/// A packet of 1 KB from `ingress` to the egress; the feedback that the switch wants to send.
fn arrive(switch: &mut Switch<u32>, ingress: u16, packet: u32, class: Class) -> Option<Feedback> {
    let size = Bytes::kb(1);
    let arrival = Arrival { packet, size, class, egress: EGRESS, leaving: class };
    switch.handle_arrival(NOW, PortId(ingress), arrival).expect("there is room")
}

/// The next packet of the egress, and whether it is marked.
fn send(switch: &mut Switch<u32>, now: Time) -> Option<(u32, bool)> {
    let sent = switch.poll_transmit(now, EGRESS)?;
    let Transmit::Data { packet, is_marked, .. } = sent else { panic!("{sent:?}") };
    switch.handle_transmitted(now, EGRESS);
    while switch.poll_ended(now) {}
    Some((packet, is_marked))
}

fn signal(switch: &mut Switch<u32>, class: Class, signal: Signal) {
    switch.handle_signal(NOW, EGRESS, Control { class, signal });
}

fn step(mark_at: marking::MarkAt) -> CongestionControl {
    let k = Bytes::new(2_500);
    let marking = marking::Config {
        kmin: k,
        kmax: k,
        mark_at,
        reference: None,
        ..dcqcn::Config::default().marking
    };
    CongestionControl::Dcqcn(dcqcn::Config { marking, ..dcqcn::Config::default() })
}

/// Five packets, marked above 2.5 KB: by what they leave behind the first two, by what they find the last
/// two. The other class has a queue of its own.
#[test]
fn packets_are_marked_by_the_queue_of_their_class() {
    use marking::MarkAt::{Arrival, Departure};
    for (mark_at, expected) in [(Departure, [1, 1, 0, 0, 0]), (Arrival, [0, 0, 0, 1, 1])] {
        for discipline in Discipline::COMMON {
            let mut switch = switch(step(mark_at), pfc(), discipline);
            for packet in 0..5 {
                assert_eq!(arrive(&mut switch, 0, packet, Class(0)), None);
            }
            arrive(&mut switch, 1, 9, Class(1));
            assert_eq!(switch.counted(EGRESS), Bytes::kb(6), "both classes");
            assert_eq!(switch.counted(PortId(2)), Bytes::ZERO);
            assert_eq!(send(&mut switch, NOW), Some((9, false)), "class 1 goes first");
            assert_eq!(switch.counted(EGRESS), Bytes::kb(5));
            let sent = Vec::from_iter((0..5).map_while(|_| send(&mut switch, NOW)));
            let expected = (0..5).zip(expected.map(|mark| mark == 1));
            assert_eq!(sent, Vec::from_iter(expected), "{discipline:?}");
        }
    }
}

/// Without congestion points nothing is counted.
#[test]
fn nothing_is_counted_without_congestion_control() {
    let mut switch = switch(CongestionControl::None, pfc(), Discipline::OutputQueued);
    arrive(&mut switch, 0, 1, Class(0));
    assert_eq!(switch.counted(EGRESS), Bytes::ZERO);
    assert_eq!(send(&mut switch, NOW), Some((1, false)));
}

/// PCN: a port that has waited for a PAUSE does not mark what stood in its queue then; before and
/// afterwards whoever has somebody behind it is marked.
#[test]
fn pcn_does_not_mark_what_a_pause_has_held() {
    let classes = [(Class(0), Class(1)), (Class(1), Class(0))];
    for (discipline, (class, other)) in
        Discipline::COMMON.into_iter().flat_map(|it| classes.map(|classes| (it, classes)))
    {
        let congestion = CongestionControl::Pcn(pcn::Config::default());
        let mut switch = switch(congestion, pfc(), discipline);
        for packet in 0..4 {
            arrive(&mut switch, 0, packet, class);
        }
        assert_eq!(send(&mut switch, NOW), Some((0, true)));
        signal(&mut switch, class, Signal::Pause { quanta: 1 });
        assert_eq!(send(&mut switch, NOW), None);
        // A RESUME for another class is none for this one.
        signal(&mut switch, other, Signal::Pause { quanta: 0 });
        arrive(&mut switch, 0, 4, class);
        signal(&mut switch, class, Signal::Pause { quanta: 0 });
        for packet in 5..7 {
            arrive(&mut switch, 0, packet, class);
        }
        let sent = Vec::from_iter((0..6).map_while(|_| send(&mut switch, NOW)));
        let expected = [(1, false), (2, false), (3, false), (4, false), (5, true), (6, false)];
        assert_eq!(sent, expected, "{discipline:?}");
        // A second RESUME releases nobody.
        for packet in 7..9 {
            arrive(&mut switch, 0, packet, class);
        }
        signal(&mut switch, class, Signal::Pause { quanta: 0 });
        assert_eq!(send(&mut switch, NOW), Some((7, true)), "{discipline:?}");
    }
}

/// The same for credits, of which the queue has run out by sending, and for GFC, which slows it down.
#[test]
fn pcn_knows_what_credits_and_gfc_have_held() {
    let capacity = Bytes::new(64 * 20);
    let credits = cbfc::Config { capacity, period: Span::ms(1), counters: cbfc::Counters::Iba };
    let unit = Rate::mbps(1);
    let stages = gfc::BufferConfig {
        bm: Bytes::kb(40),
        b1: Bytes::kb(20),
        stages: 4,
        hold: Bytes::kb(50),
        unit,
        refresh: None,
        hold_off: Span::ZERO,
        prompt_stage: 4,
    };
    let (credits, stages) = (FlowControl::Cbfc(credits), FlowControl::GfcBuffer(stages));
    let more = Signal::Credit { fctbs: 0, fccl: 16 + 200 };
    let cases = [(credits, None, more), (stages, Some(Signal::Stage(1)), Signal::Stage(0))];
    for (control, slowing, release) in cases {
        let congestion = CongestionControl::Pcn(pcn::Config::default());
        let mut switch = switch(congestion, control, Discipline::OutputQueued);
        for packet in 0..3 {
            arrive(&mut switch, 0, packet, Class(1));
        }
        assert_eq!(send(&mut switch, NOW), Some((0, true)));
        if let Some(slowing) = slowing {
            signal(&mut switch, Class(1), slowing);
        }
        let later = Time::ZERO + Span::us(100);
        switch.handle_signal(later, EGRESS, Control { class: Class(1), signal: release });
        assert_eq!(send(&mut switch, later), Some((1, false)), "{control:?}");
    }
}

/// QCN: the switch wants to send a notification once enough bytes have come to a long queue. It goes before
/// the data of all classes, the highest class first, on no ingress counter, and not through a PAUSE.
#[test]
fn notifications_go_first_and_obey_pauses() {
    for discipline in Discipline::COMMON.into_iter().chain([Discipline::Software]) {
        let config = qcn::Config {
            queue_set_point: Bytes::kb(5),
            sample_base: Bytes::kb(10),
            ..qcn::Config::default()
        };
        let mut switch = switch(CongestionControl::Qcn(config), pfc(), discipline);
        let mut noticed = 0;
        for packet in 0..45 {
            let feedback = arrive(&mut switch, packet as u16 % 3, packet, Class(0));
            noticed += u32::from(matches!(feedback, Some(Feedback::Congestion { .. })));
        }
        assert!(noticed > 0, "{discipline:?}");
        let inside = switch.inside();
        let notify = |switch: &mut Switch<u32>, packet, class| {
            let (size, class) = (Bytes::new(64), Class(class));
            switch.notify(Arrival { packet, size, class, egress: EGRESS, leaving: class });
        };
        signal(&mut switch, Class(1), Signal::Pause { quanta: 1 });
        notify(&mut switch, NOTICE, 0);
        notify(&mut switch, NOTICE + 1, 1);
        assert_eq!(switch.poll_ready(), Some(EGRESS), "it can send now");
        assert_eq!(switch.inside(), inside + Bytes::new(128));
        let held = switch.port(EGRESS).held(Class(0));
        assert_eq!(send(&mut switch, NOW), Some((NOTICE, false)), "class 1 is paused");
        assert_eq!(switch.port(EGRESS).held(Class(0)), held);
        if discipline != Discipline::Software {
            assert_eq!(send(&mut switch, NOW).map(|(packet, _)| packet), Some(0), "then data");
        }
        signal(&mut switch, Class(1), Signal::Pause { quanta: 0 });
        notify(&mut switch, NOTICE, 0);
        assert_eq!(send(&mut switch, NOW), Some((NOTICE + 1, false)), "class 1 goes first");
        assert_eq!(send(&mut switch, NOW), Some((NOTICE, false)));
    }
}

/// A notification that waits for a pause to run out makes its port ask for that instant.
#[test]
fn a_paused_notification_wakes_its_port() {
    for discipline in Discipline::COMMON.into_iter().chain([Discipline::Software]) {
        let control = FlowControl::Pfc(pfc::Config {
            xoff: Bytes::kb(50),
            xon: Bytes::kb(40),
            quanta: pfc::QUANTA_MAX,
        });
        let mut switch =
            switch(CongestionControl::Qcn(qcn::Config::default()), control, discipline);
        signal(&mut switch, Class(0), Signal::Pause { quanta: 100 });
        let (size, class) = (Bytes::new(64), Class(0));
        switch.notify(Arrival { packet: NOTICE, size, class, egress: EGRESS, leaving: class });
        assert_eq!(send(&mut switch, NOW), None);
        // 100 times 512 bits at 10 Gb/s.
        let end = Time::ZERO + Span::ns(5_120);
        assert_eq!(switch.poll_timeout(EGRESS), end, "{discipline:?}");
        switch.handle_timeout(end, EGRESS);
        assert_eq!(switch.poll_ready(), Some(EGRESS));
        assert_eq!(send(&mut switch, end), Some((NOTICE, false)), "{discipline:?}");
    }
}
