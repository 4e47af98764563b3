//! The watchdog and the draining of queues, in the three disciplines.

use pauseless_core::congestion::CongestionControl;
use pauseless_core::flow_control::{Control, FlowControl, Signal, pfc};
use pauseless_core::id::{Class, PortId};
use pauseless_core::port::{LaneConfig, PortConfig};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::software::Polling;
use pauseless_core::switch::watchdog::{Action, Config, Notice};
use pauseless_core::switch::{Arrival, Discipline, Switch, SwitchConfig, Transmit};
use pauseless_core::unit::{Bytes, Rate, Span, Time};

const CLASS: Class = Class(1);
const EGRESS: PortId = PortId(3);

fn us(us: u64) -> Time {
    Time::ZERO + Span::us(us)
}

/// Four ports at 10 Gb/s with two classes, PFC at 10 KB of 20 KB.
fn switch(discipline: Discipline) -> Switch<u32> {
    let control = FlowControl::Pfc(pfc::Config {
        xoff: Bytes::kb(10),
        xon: Bytes::kb(8),
        quanta: pfc::QUANTA_MAX,
    });
    let lane = LaneConfig::new(control, Bytes::kb(20));
    let port = PortConfig { line: Rate::gbps(10), lanes: [lane; 2].into() };
    Switch::new(&SwitchConfig {
        changes_class: false,
        memory: pauseless_core::memory::MemoryConfig::Private,
        congestion: CongestionControl::None,
        seed: 0,
        discipline,
        polling: Polling::default(),
        scheduler: Scheduler::Strict,
        ports: vec![port; 4],
    })
}

/// The same with a watchdog: 100 us to detect, 50 us to restore.
fn watched(discipline: Discipline, action: Action) -> Switch<u32> {
    let mut switch = switch(discipline);
    switch.watch(&Config {
        detection: Span::us(100),
        restoration: Span::us(50),
        poll: Span::ZERO,
        action,
    });
    switch
}

fn arrive(switch: &mut Switch<u32>, at: Time, ingress: u16, egress: PortId, packet: u32) {
    let arrival = Arrival { packet, size: Bytes::kb(1), class: CLASS, egress, leaving: CLASS };
    let arrived = switch.handle_arrival(at, PortId(ingress), arrival);
    arrived.expect("there is room");
}

fn pause(switch: &mut Switch<u32>, at: Time, quanta: u16) {
    let signal = Signal::Pause { quanta };
    let control = Control { class: CLASS, signal };
    switch.handle_signal(at, EGRESS, control);
}

fn dropped(switch: &mut Switch<u32>, at: Time) -> Vec<u32> {
    std::iter::from_fn(|| switch.poll_dropped(at)).map(|dropped| dropped.packet).collect()
}

fn send(switch: &mut Switch<u32>, at: Time, port: PortId) -> Option<Transmit<u32>> {
    let sent = switch.poll_transmit(at, port);
    if sent.is_some() {
        switch.handle_transmitted(at, port);
        while switch.poll_ended(at) {}
    }
    sent
}

#[test]
fn a_drained_queue_is_empty_and_upstream_hears_a_resume() {
    for discipline in Discipline::COMMON {
        let mut switch = switch(discipline);
        pause(&mut switch, us(0), pfc::QUANTA_MAX);
        for packet in 0..12 {
            arrive(&mut switch, us(0), 0, EGRESS, packet);
        }
        arrive(&mut switch, us(0), 1, EGRESS, 12);
        let paused = send(&mut switch, us(0), PortId(0));
        let expected = |quanta| {
            let signal = Signal::Pause { quanta };
            let control = Control { class: CLASS, signal };
            Some(Transmit::Control(control))
        };
        assert_eq!(paused, expected(pfc::QUANTA_MAX));
        let mut gone = Vec::new();
        while let Some(dropped) = switch.drain(us(1), EGRESS, CLASS) {
            gone.push(dropped.packet);
        }
        gone.sort();
        assert_eq!(gone, Vec::from_iter(0..=12), "{discipline:?}");
        assert_eq!(switch.backlog(EGRESS, CLASS), 0);
        assert_eq!(switch.inside(), Bytes::ZERO);
        for ingress in [0, 1] {
            assert_eq!(switch.port(PortId(ingress)).held(CLASS), Bytes::ZERO);
        }
        assert_eq!(send(&mut switch, us(1), PortId(0)), expected(0));
        assert_eq!(switch.drain(us(1), EGRESS, CLASS), None);
    }
}

#[test]
fn in_an_input_queued_switch_only_heads_are_dropped() {
    let mut switch = switch(Discipline::INPUT_QUEUED);
    pause(&mut switch, us(0), pfc::QUANTA_MAX);
    for (packet, egress) in [EGRESS, EGRESS, PortId(2), EGRESS].into_iter().enumerate() {
        arrive(&mut switch, us(0), 0, egress, packet as u32);
    }
    let next = |switch: &mut Switch<u32>| {
        let dropped = switch.drain(us(0), EGRESS, CLASS)?;
        Some(dropped.packet)
    };
    assert_eq!([(); 3].map(|()| next(&mut switch)), [Some(0), Some(1), None]);
    let sent = send(&mut switch, us(0), PortId(2));
    assert!(matches!(sent, Some(Transmit::Data { packet: 2, .. })));
    assert_eq!(next(&mut switch), Some(3));
}

#[test]
fn a_storm_is_dropped_after_the_detection_time_until_pauses_cease() {
    for discipline in Discipline::COMMON {
        let mut switch = watched(discipline, Action::Drop);
        pause(&mut switch, us(10), pfc::QUANTA_MAX);
        assert_eq!(switch.poll_timeout(EGRESS), Time::MAX, "nothing waits");
        arrive(&mut switch, us(20), 0, EGRESS, 1);
        arrive(&mut switch, us(30), 1, EGRESS, 2);
        // A refresh is the same pause.
        pause(&mut switch, us(40), pfc::QUANTA_MAX);
        assert_eq!(switch.poll_transmit(us(40), EGRESS), None);
        assert_eq!(switch.poll_timeout(EGRESS), us(120));
        switch.handle_timeout(us(119), EGRESS);
        assert_eq!(switch.poll_watchdog(), None);
        switch.handle_timeout(us(120), EGRESS);
        let notice = |is_storm| Notice { egress: EGRESS, class: CLASS, is_storm };
        assert_eq!(switch.poll_watchdog(), Some(notice(true)));
        assert_eq!(switch.poll_watchdog(), None);
        assert_eq!(dropped(&mut switch, us(120)), [1, 2]);
        // What comes is dropped, although the pause is over.
        pause(&mut switch, us(130), pfc::QUANTA_MAX);
        pause(&mut switch, us(140), 0);
        arrive(&mut switch, us(150), 2, EGRESS, 3);
        assert_eq!(dropped(&mut switch, us(150)), [3]);
        assert_eq!(send(&mut switch, us(150), EGRESS), None);
        assert_eq!(switch.poll_timeout(EGRESS), us(180), "after the last PAUSE");
        switch.handle_timeout(us(180), EGRESS);
        assert_eq!(switch.poll_watchdog(), Some(notice(false)));
        arrive(&mut switch, us(190), 2, EGRESS, 4);
        assert_eq!(dropped(&mut switch, us(190)), []);
        let sent = send(&mut switch, us(190), EGRESS);
        assert!(matches!(sent, Some(Transmit::Data { packet: 4, .. })));
    }
}

#[test]
fn a_queue_that_forwards_ignores_the_pause_and_obeys_again_later() {
    let mut switch = watched(Discipline::OutputQueued, Action::Forward);
    arrive(&mut switch, us(0), 0, EGRESS, 1);
    pause(&mut switch, us(0), pfc::QUANTA_MAX);
    assert_eq!(send(&mut switch, us(99), EGRESS), None);
    switch.handle_timeout(us(100), EGRESS);
    assert_eq!(dropped(&mut switch, us(100)), []);
    assert!(send(&mut switch, us(100), EGRESS).is_some());
    assert_eq!(switch.blocked(us(100), EGRESS, CLASS), None);
    switch.handle_timeout(us(150), EGRESS);
    // Still paused by a PAUSE of long ago.
    arrive(&mut switch, us(160), 0, EGRESS, 2);
    assert_eq!(send(&mut switch, us(160), EGRESS), None);
    assert_eq!(switch.poll_timeout(EGRESS), us(260));
}

#[test]
fn an_alert_changes_nothing() {
    let mut switch = watched(Discipline::OutputQueued, Action::Alert);
    arrive(&mut switch, us(0), 0, EGRESS, 1);
    pause(&mut switch, us(0), pfc::QUANTA_MAX);
    switch.handle_timeout(us(100), EGRESS);
    assert!(switch.poll_watchdog().is_some_and(|notice| notice.is_storm));
    assert_eq!(dropped(&mut switch, us(100)), []);
    assert_eq!(send(&mut switch, us(100), EGRESS), None);
}

#[test]
fn a_queue_that_moves_is_in_no_storm() {
    let mut switch = watched(Discipline::OutputQueued, Action::Drop);
    arrive(&mut switch, us(0), 0, EGRESS, 1);
    arrive(&mut switch, us(0), 0, EGRESS, 2);
    pause(&mut switch, us(0), pfc::QUANTA_MAX);
    pause(&mut switch, us(90), 0);
    assert!(send(&mut switch, us(90), EGRESS).is_some());
    pause(&mut switch, us(91), pfc::QUANTA_MAX);
    assert_eq!(send(&mut switch, us(91), EGRESS), None);
    assert_eq!(switch.poll_timeout(EGRESS), us(191));
    // A pause that runs out without anybody noticing is no storm either.
    pause(&mut switch, us(100), 100);
    switch.handle_timeout(us(191), EGRESS);
    assert_eq!(switch.poll_watchdog(), None);
    assert_eq!(dropped(&mut switch, us(191)), []);
}

#[test]
fn polled_storms_begin_and_end_at_multiples_of_the_interval() {
    let mut switch = switch(Discipline::OutputQueued);
    switch.watch(&Config {
        detection: Span::us(100),
        restoration: Span::us(50),
        poll: Span::us(40),
        action: Action::Drop,
    });
    arrive(&mut switch, us(5), 0, EGRESS, 1);
    pause(&mut switch, us(10), pfc::QUANTA_MAX);
    assert_eq!(send(&mut switch, us(10), EGRESS), None);
    assert_eq!(switch.poll_timeout(EGRESS), us(120), "110 us, rounded up");
    switch.handle_timeout(us(120), EGRESS);
    assert_eq!(dropped(&mut switch, us(120)), [1]);
    assert_eq!(switch.poll_timeout(EGRESS), us(200), "170 us, rounded up");
}

/// A packet that somebody else drops, as the recovery from a deadlock does, is a movement as well: the queue
/// is in no storm until it has stood still for the whole detection time again.
#[test]
fn a_drop_by_others_is_a_movement() {
    let mut switch = watched(Discipline::OutputQueued, Action::Drop);
    arrive(&mut switch, us(0), 0, EGRESS, 1);
    arrive(&mut switch, us(0), 0, EGRESS, 2);
    pause(&mut switch, us(0), pfc::QUANTA_MAX);
    assert_eq!(switch.poll_timeout(EGRESS), us(100));
    assert_eq!(switch.poll_timeout(PortId(2)), Time::MAX, "another port has no reason to look");
    assert_eq!(switch.drain(us(60), EGRESS, CLASS).map(|dropped| dropped.packet), Some(1));
    assert_eq!(send(&mut switch, us(60), EGRESS), None);
    assert!(switch.poll_timeout(EGRESS) > us(100));
    // The next packet finds the queue stopped.
    arrive(&mut switch, us(70), 0, EGRESS, 3);
    assert_eq!(switch.poll_timeout(EGRESS), us(170));
    switch.handle_timeout(us(100), EGRESS);
    assert_eq!(switch.poll_watchdog(), None);
    switch.handle_timeout(us(170), EGRESS);
    assert_eq!(switch.poll_watchdog().map(|notice| notice.is_storm), Some(true));
    assert_eq!(dropped(&mut switch, us(170)), [2, 3]);
}
