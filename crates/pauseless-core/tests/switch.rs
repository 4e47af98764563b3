//! The switch by itself: order of service, accounting, control frames, in the three disciplines.

use pauseless_core::congestion::CongestionControl;
use pauseless_core::flow_control::{Control, FlowControl, Signal, cbfc, pfc};
use pauseless_core::id::{Class, PortId, QueueId};
use pauseless_core::port::{LaneConfig, PortConfig};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::software::Polling;
use pauseless_core::switch::{Arbiter, Arrival, Discipline, Switch, SwitchConfig, Transmit};
use pauseless_core::unit::{Bytes, Rate, Span, Time};

const NOW: Time = Time::ZERO;

/// Four ports at 10 Gb/s with two classes, PFC at 10 KB of 20 KB.
fn switch(discipline: Discipline) -> Switch<u32> {
    switch_with(discipline, Scheduler::Strict, false)
}

fn switch_with(discipline: Discipline, scheduler: Scheduler, changes_class: bool) -> Switch<u32> {
    let control = FlowControl::Pfc(pfc::Config {
        xoff: Bytes::kb(10),
        xon: Bytes::kb(8),
        quanta: pfc::QUANTA_MAX,
    });
    let lane = LaneConfig::new(control, Bytes::kb(20));
    let port = PortConfig { line: Rate::gbps(10), lanes: [lane; 2].into() };
    let ports = vec![port; 4];
    Switch::new(&SwitchConfig {
        changes_class,
        memory: pauseless_core::memory::MemoryConfig::Private,
        congestion: CongestionControl::None,
        seed: 0,
        discipline,
        polling: Polling { burst: 2, ring: 3, ..Polling::default() },
        scheduler,
        ports,
    })
}

fn arrive(switch: &mut Switch<u32>, ingress: u16, egress: u16, packet: u32) {
    arrive_in(switch, ingress, egress, packet, Class(0));
}

fn arrive_in(switch: &mut Switch<u32>, ingress: u16, egress: u16, packet: u32, class: Class) {
    change(switch, ingress, egress, packet, class, class);
}

/// A packet comes in one class and is to leave in another.
fn change(
    switch: &mut Switch<u32>,
    ingress: u16,
    egress: u16,
    packet: u32,
    class: Class,
    leaving: Class,
) {
    let (size, egress) = (Bytes::kb(1), PortId(egress));
    let arrival = Arrival { packet, size, class, egress, leaving };
    switch.handle_arrival(NOW, PortId(ingress), arrival).expect("there is room");
}

/// The packet that `port` sends next, if it may.
fn send(switch: &mut Switch<u32>, port: u16) -> Option<u32> {
    match switch.poll_transmit(NOW, PortId(port))? {
        Transmit::Data { packet, .. } => Some(packet),
        Transmit::Control(control) => panic!("{control:?}"),
    }
}

/// Everything that `port` sends, one after the other.
fn send_all(switch: &mut Switch<u32>, port: u16) -> Vec<u32> {
    let mut sent = Vec::new();
    while let Some(packet) = send(switch, port) {
        sent.push(packet);
        switch.handle_transmitted(NOW, PortId(port));
        while switch.poll_ended(NOW) {}
    }
    sent
}

fn pause(switch: &mut Switch<u32>, port: u16, quanta: u16) {
    let control = Control { class: Class(0), signal: Signal::Pause { quanta } };
    switch.handle_signal(NOW, PortId(port), control);
}

#[test]
fn output_queues_serve_in_order_of_arrival() {
    let mut switch = switch(Discipline::OutputQueued);
    for (ingress, packet) in [(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (1, 6)] {
        arrive(&mut switch, ingress, 3, packet);
    }
    assert_eq!(send_all(&mut switch, 3), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn virtual_output_queues_take_turns() {
    let mut switch = switch(Discipline::VirtualOutputQueued);
    for (ingress, packet) in [(0, 1), (0, 2), (0, 3), (1, 4), (2, 5), (1, 6)] {
        arrive(&mut switch, ingress, 3, packet);
    }
    assert_eq!(send_all(&mut switch, 3), [1, 4, 5, 2, 6, 3]);
}

#[test]
fn only_an_input_queue_lets_a_blocked_head_block_what_is_behind_it() {
    for discipline in Discipline::COMMON {
        let mut switch = switch(discipline);
        arrive(&mut switch, 0, 3, 1);
        arrive(&mut switch, 0, 2, 2);
        pause(&mut switch, 3, 100);
        let is_blocked = discipline == Discipline::INPUT_QUEUED;
        assert_eq!(send(&mut switch, 3), None, "port 3 is paused");
        assert_eq!(send(&mut switch, 2).is_none(), is_blocked, "{discipline:?}");
        if is_blocked {
            pause(&mut switch, 3, 0);
            assert_eq!(send(&mut switch, 3), Some(1));
            assert_eq!(send(&mut switch, 2), None, "one packet of a FIFO at a time");
            switch.handle_transmitted(NOW, PortId(3));
            while switch.poll_ended(NOW) {}
            assert_eq!(send(&mut switch, 2), Some(2));
        }
    }
}

#[test]
fn a_packet_is_charged_until_its_last_bit_has_left() {
    for discipline in Discipline::COMMON {
        let mut switch = switch(discipline);
        arrive(&mut switch, 0, 3, 1);
        assert_eq!(switch.port(PortId(0)).held(Class(0)), Bytes::kb(1));
        assert_eq!(send(&mut switch, 3), Some(1));
        assert_eq!(switch.port(PortId(0)).held(Class(0)), Bytes::kb(1), "still on the wire");
        assert_eq!(switch.inside(), Bytes::ZERO, "but no longer waiting");
        switch.handle_transmitted(NOW, PortId(3));
        while switch.poll_ended(NOW) {}
        assert_eq!(switch.port(PortId(0)).held(Class(0)), Bytes::ZERO);
        assert_eq!(switch.port(PortId(0)).held_max(Class(0)), Bytes::kb(1));
    }
}

#[test]
fn control_goes_before_data_but_interrupts_none() {
    for discipline in Discipline::COMMON {
        let mut switch = switch(discipline);
        arrive(&mut switch, 1, 0, 100);
        assert_eq!(send(&mut switch, 0), Some(100));
        // Eleven packets of 1 KB exceed XOFF at port 0 while it is sending, with data behind.
        for packet in 0..11 {
            arrive(&mut switch, 0, 3, packet);
        }
        arrive(&mut switch, 2, 0, 101);
        assert_eq!(switch.poll_transmit(NOW, PortId(0)), None, "no preemption");
        switch.handle_transmitted(NOW, PortId(0));
        while switch.poll_ended(NOW) {}
        let quanta = pfc::QUANTA_MAX;
        let control = Control { class: Class(0), signal: Signal::Pause { quanta } };
        assert_eq!(switch.poll_transmit(NOW, PortId(0)), Some(Transmit::Control(control)));
        switch.handle_transmitted(NOW, PortId(0));
        while switch.poll_ended(NOW) {}
        assert_eq!(send(&mut switch, 0), Some(101));
    }
}

#[test]
fn the_highest_class_goes_first_and_a_paused_one_is_skipped() {
    for discipline in Discipline::COMMON {
        let mut switch = switch(discipline);
        arrive_in(&mut switch, 0, 3, 1, Class(0));
        arrive_in(&mut switch, 0, 3, 2, Class(1));
        arrive_in(&mut switch, 1, 3, 3, Class(0));
        assert_eq!(send_all(&mut switch, 3), [2, 1, 3], "{discipline:?}");
        arrive_in(&mut switch, 0, 3, 4, Class(1));
        arrive_in(&mut switch, 0, 3, 5, Class(0));
        pause(&mut switch, 3, 100);
        assert_eq!(send_all(&mut switch, 3), [4], "class 0 is paused, class 1 is not");
    }
}

#[test]
fn what_does_not_fit_is_refused_and_leaves_no_trace() {
    for discipline in Discipline::COMMON {
        let mut switch = switch(discipline);
        for packet in 0..20 {
            arrive(&mut switch, 0, 3, packet);
        }
        let (size, class, egress) = (Bytes::new(1), Class(0), PortId(3));
        let arrival = Arrival { packet: 99, size, class, egress, leaving: class };
        let overrun = switch.handle_arrival(NOW, PortId(0), arrival).unwrap_err();
        assert_eq!((overrun.held, overrun.buffer), (Bytes::kb(20), Bytes::kb(20)));
        assert_eq!(switch.inside(), Bytes::kb(20));
        // Another class and another port have room of their own.
        arrive_in(&mut switch, 0, 3, 100, Class(1));
        arrive(&mut switch, 1, 3, 101);
        assert_eq!(switch.backlog(PortId(3), Class(0)), 21);
    }
}

#[test]
fn what_is_stuck_behind_a_stopped_egress_depends_on_the_discipline() {
    for discipline in Discipline::COMMON {
        let mut switch = switch(discipline);
        arrive(&mut switch, 0, 2, 1);
        arrive(&mut switch, 0, 3, 2);
        arrive(&mut switch, 0, 2, 3);
        let kept = switch.kept(PortId(0), Class(0), |egress, _| egress == PortId(3));
        let expected = match discipline {
            Discipline::INPUT_QUEUED => Bytes::kb(2),
            _ => Bytes::kb(1),
        };
        assert_eq!(kept, expected, "{discipline:?}");
    }
}

const CHANGES: [(Class, Class); 2] = [(Class(0), Class(1)), (Class(1), Class(0))];

/// The class that it came in is charged, that which it leaves in is on the wire and is paused.
#[test]
fn a_packet_that_changes_its_class_is_counted_in_one_and_queued_in_the_other() {
    for discipline in Discipline::COMMON {
        for (class, leaving) in CHANGES {
            let mut switch = switch_with(discipline, Scheduler::Strict, true);
            change(&mut switch, 0, 3, 1, class, leaving);
            assert_eq!(switch.port(PortId(0)).held(class), Bytes::kb(1));
            assert_eq!(switch.port(PortId(0)).held(leaving), Bytes::ZERO);
            assert_eq!(switch.backlog(PortId(3), leaving), 1);
            assert_eq!(switch.backlog(PortId(3), class), 0);
            let from = QueueId { port: PortId(0), class };
            let to = |class| QueueId { port: PortId(3), class };
            let waits_for = |switch: &Switch<u32>, class| switch.waiting(from, to(class));
            assert_eq!(waits_for(&switch, leaving), Bytes::kb(1));
            assert_eq!(waits_for(&switch, class), Bytes::ZERO);
            assert_eq!(switch.queued(PortId(3)), Bytes::kb(1));
            let kept = |switch: &Switch<u32>, stuck| {
                switch.kept(PortId(0), class, |port, to| (port, to) == (PortId(3), stuck))
            };
            assert_eq!(kept(&switch, leaving), Bytes::kb(1), "{discipline:?}");
            assert_eq!(kept(&switch, class), Bytes::ZERO, "{discipline:?}");
            let pause = |quanta| Control { class: leaving, signal: Signal::Pause { quanta } };
            switch.handle_signal(NOW, PortId(3), pause(100));
            assert_eq!(switch.stopped(PortId(3)), 1 << leaving.0);
            assert_eq!(send(&mut switch, 3), None, "{discipline:?}");
            switch.handle_signal(NOW, PortId(3), pause(0));
            let sent = switch.poll_transmit(NOW, PortId(3));
            let is_right =
                |class| matches!(sent, Some(Transmit::Data { class: c, .. }) if c == class);
            assert!(is_right(leaving), "{sent:?}");
            assert_eq!(waits_for(&switch, leaving), Bytes::ZERO);
            switch.handle_transmitted(NOW, PortId(3));
            while switch.poll_ended(NOW) {}
            assert_eq!(switch.port(PortId(0)).held(class), Bytes::ZERO);
        }
    }
}

/// Whoever asks what fills an ingress is told the class that it leaves in, on the wire as well.
#[test]
fn what_holds_the_bytes_of_an_ingress_is_named_by_the_class_that_they_leave_in() {
    for discipline in Discipline::COMMON {
        let mut switch = switch_with(discipline, Scheduler::Strict, true);
        change(&mut switch, 0, 3, 1, Class(0), Class(1));
        let holder = Some(QueueId { port: PortId(3), class: Class(1) });
        assert_eq!(switch.holder(PortId(0), Class(0)), holder, "it waits");
        assert_eq!(send(&mut switch, 3), Some(1));
        assert_eq!(switch.holder(PortId(0), Class(0)), holder, "it leaves");
        switch.handle_transmitted(NOW, PortId(3));
        while switch.poll_ended(NOW) {}
        assert_eq!(switch.holder(PortId(0), Class(0)), None);
        // As much in both: the lower one.
        change(&mut switch, 0, 3, 2, Class(0), Class(1));
        change(&mut switch, 0, 3, 3, Class(0), Class(0));
        let holder = Some(QueueId { port: PortId(3), class: Class(0) });
        assert_eq!(switch.holder(PortId(0), Class(0)), holder);
    }
}

/// Packets of both classes of one ingress may want one queue, which an input-queued switch serves
/// in turn.
#[test]
fn both_classes_of_an_ingress_can_leave_in_the_same_one() {
    for discipline in Discipline::COMMON {
        let mut switch = switch_with(discipline, Scheduler::Strict, true);
        for packet in [1, 2] {
            change(&mut switch, 0, 3, packet, Class(0), Class(1));
        }
        for packet in [3, 4] {
            change(&mut switch, 0, 3, packet, Class(1), Class(1));
        }
        assert_eq!(switch.backlog(PortId(3), Class(1)), 4);
        let expected = match discipline {
            Discipline::INPUT_QUEUED => [1, 3, 2, 4],
            _ => [1, 2, 3, 4],
        };
        assert_eq!(send_all(&mut switch, 3), expected, "{discipline:?}");
        assert_eq!(switch.inside(), Bytes::ZERO);
        let port = switch.port(PortId(0));
        assert_eq!([port.held(Class(0)), port.held(Class(1))], [Bytes::ZERO; 2]);
    }
}

/// A packet of one class that is stopped does not stop the other class of the same egress, except
/// in an input queue, where it stands before what came in its class.
#[test]
fn a_stopped_class_blocks_what_came_in_its_class_only_in_an_input_queue() {
    for discipline in Discipline::COMMON {
        let mut switch = switch_with(discipline, Scheduler::Strict, true);
        pause(&mut switch, 3, 100);
        change(&mut switch, 0, 3, 1, Class(1), Class(0));
        change(&mut switch, 0, 3, 2, Class(1), Class(1));
        change(&mut switch, 0, 3, 3, Class(0), Class(1));
        let expected: &[u32] = match discipline {
            Discipline::INPUT_QUEUED => &[3],
            _ => &[2, 3],
        };
        assert_eq!(send_all(&mut switch, 3), expected, "{discipline:?}");
        let is_stuck = |port, class| (port, class) == (PortId(3), Class(0));
        let kept = switch.kept(PortId(0), Class(1), is_stuck);
        let packets = 3 - expected.len() as u64;
        assert_eq!(kept, Bytes::kb(packets), "{discipline:?}");
    }
}

/// What has come to its end takes no buffer.
#[test]
fn an_expired_packet_is_on_no_counter() {
    let mut switch = switch(Discipline::OutputQueued);
    switch.handle_expired(PortId(0), Class(0), Bytes::kb(1));
    assert_eq!(switch.port(PortId(0)).held_max(Class(0)), Bytes::ZERO);
    assert_eq!(switch.inside(), Bytes::ZERO);
    assert_eq!(switch.poll_ready(), None);
}

/// A random scheduler serves every class and every ingress, and the same seed the same ones.
#[test]
fn a_random_scheduler_serves_all_and_can_be_repeated() {
    for discipline in Discipline::COMMON {
        let order = || {
            let mut switch = switch_with(discipline, Scheduler::Random, false);
            for packet in 0..8 {
                for ingress in 0..3 {
                    arrive_in(&mut switch, ingress, 3, packet, Class(0));
                    arrive_in(&mut switch, ingress, 3, 100 + packet, Class(1));
                }
            }
            send_all(&mut switch, 3)
        };
        let sent = order();
        assert_eq!(sent, order());
        assert_eq!(sent.len(), 48);
        let first = &sent[..24];
        let high = first.iter().filter(|packet| **packet >= 100).count();
        // 12 expected, standard deviation 2.4.
        assert!((3..=21).contains(&high), "{discipline:?}: {high}");
        if discipline != Discipline::OutputQueued {
            // In turns, no ingress is ever two packets ahead of another one.
            let low = Vec::from_iter(sent.iter().filter(|packet| **packet < 100));
            assert!(!low.is_sorted(), "{discipline:?}: {low:?}");
        }
    }
}

/// Two packets end at one instant: what the free egress sees depends on the arbiter, and never on
/// which of the two was handled first.
#[test]
fn arbiters_differ_in_what_a_free_egress_sees() {
    for (arbiter, order) in
        [(Arbiter::EgressFirst, [4, 2]), (Arbiter::FifoFirst, [4, 2]), (Arbiter::Slotted, [2, 4])]
    {
        for ended in [[2, 3], [3, 2]] {
            let mut switch = switch(Discipline::InputQueued(arbiter));
            // FIFO 0 has a packet for port 3 and one for port 2 behind it, FIFO 1 two for port 2.
            for (ingress, egress, packet) in [(0, 3, 1), (0, 2, 2), (1, 2, 3), (1, 2, 4)] {
                arrive(&mut switch, ingress, egress, packet);
            }
            assert_eq!((send(&mut switch, 3), send(&mut switch, 2)), (Some(1), Some(3)));
            while switch.poll_ready().is_some() {}
            let mut sent = Vec::new();
            for port in ended {
                switch.handle_transmitted(NOW, PortId(port));
                serve(&mut switch, &mut sent);
            }
            while switch.poll_ended(NOW) {
                serve(&mut switch, &mut sent);
            }
            switch.handle_transmitted(NOW, PortId(2));
            serve(&mut switch, &mut sent);
            while switch.poll_ended(NOW) {
                serve(&mut switch, &mut sent);
            }
            assert_eq!(sent, order, "{arbiter:?}, {ended:?}");
        }
    }
}

/// Lets every port that is ready send.
fn serve(switch: &mut Switch<u32>, sent: &mut Vec<u32>) {
    while let Some(port) = switch.poll_ready() {
        if let Some(Transmit::Data { packet, .. }) = switch.poll_transmit(NOW, port) {
            sent.push(packet);
        }
    }
}

/// A burst goes from the FIFO to the ring and from there to the NIC, which no PAUSE stops; a packet is
/// charged to its ingress only while it is in the FIFO.
#[test]
fn a_software_switch_moves_bursts_and_cannot_take_them_back() {
    let mut switch = switch(Discipline::Software);
    for packet in 1..=6 {
        arrive(&mut switch, 0, 3, packet);
    }
    let held = |switch: &Switch<u32>| switch.port(PortId(0)).held(Class(0));
    assert_eq!(held(&switch), Bytes::kb(6));
    let mut sent = Vec::new();
    serve(&mut switch, &mut sent);
    assert_eq!(sent, [0; 0], "the core has not looked yet");
    // The core sleeps when it finds no more to do: a ring of three is full.
    while switch.poll_timeout(PortId(0)) < Time::MAX {
        let due = switch.poll_timeout(PortId(0));
        switch.handle_timeout(due, PortId(0));
        serve(&mut switch, &mut sent);
    }
    assert_eq!(sent, [1], "it is on the wire, and packet 2 in the NIC");
    assert_eq!(held(&switch), Bytes::kb(1), "packets 3 to 5 are in the ring");
    assert_eq!(switch.inside(), Bytes::kb(5));
    pause(&mut switch, 3, 100);
    for _ in 0..2 {
        switch.handle_transmitted(NOW, PortId(3));
        serve(&mut switch, &mut sent);
    }
    assert_eq!(sent, [1, 2], "what the NIC has is sent, and no more");
    let kept = switch.kept(PortId(0), Class(0), |egress, _| egress == PortId(3));
    assert_eq!(kept, Bytes::kb(1), "the ring is full");
}

/// A packet that comes when the core has just looked at its ring is found in the next round.
#[test]
fn a_software_switch_forgets_no_packet() {
    let mut switch = switch(Discipline::Software);
    let mut sent = Vec::new();
    arrive(&mut switch, 0, 3, 1);
    serve(&mut switch, &mut sent);
    let mut late = Some(2);
    let mut visits = 0;
    while switch.poll_timeout(PortId(0)) < Time::MAX {
        let due = switch.poll_timeout(PortId(0));
        switch.handle_timeout(due, PortId(0));
        serve(&mut switch, &mut sent);
        visits += 1;
        // The first round has moved packet 1; in the middle of the idle one comes a packet for a ring
        // that it has visited.
        if visits == 12
            && let Some(packet) = late.take()
        {
            arrive(&mut switch, 0, 1, packet);
            serve(&mut switch, &mut sent);
        }
    }
    assert_eq!(sent, [1, 2]);
}

/// What the NIC has been given and not yet sent has taken its credits: of packets of 8 blocks, 20 blocks are
/// enough for two, and for another two when they are granted again.
#[test]
fn a_software_switch_hands_over_no_more_than_it_has_credits_for() {
    for class_count in [1, 2] {
        let control = FlowControl::Cbfc(cbfc::Config {
            capacity: Bytes::new(20 * 64),
            period: Span::s(1),
            counters: cbfc::Counters::Iba,
        });
        let lane = LaneConfig { phase: Span::s(1), ..LaneConfig::new(control, Bytes::kb(20)) };
        let port = PortConfig { line: Rate::gbps(10), lanes: vec![lane; class_count].into() };
        let mut switch: Switch<u32> = Switch::new(&SwitchConfig {
            changes_class: false,
            memory: pauseless_core::memory::MemoryConfig::Private,
            congestion: CongestionControl::None,
            seed: 0,
            discipline: Discipline::Software,
            polling: Polling { burst: 4, ring: 4, ..Polling::default() },
            scheduler: Scheduler::Strict,
            ports: vec![port; 4],
        });
        let (egress, class, size) = (PortId(3), Class(0), Bytes::new(512));
        for packet in 0..8 {
            let arrival = Arrival { packet, size, class, egress, leaving: class };
            switch.handle_arrival(NOW, PortId(0), arrival).expect("there is room");
        }
        let mut now = NOW;
        let mut run = |switch: &mut Switch<u32>| {
            let mut sent = Vec::new();
            for _ in 0..200 {
                now = now + Span::us(1);
                switch.handle_timeout(now, PortId(0));
                while let Some(port) = switch.poll_ready() {
                    if let Some(Transmit::Data { packet, .. }) = switch.poll_transmit(now, port) {
                        sent.push(packet);
                        switch.handle_transmitted(now, port);
                    }
                }
            }
            sent
        };
        assert_eq!(run(&mut switch), [0, 1], "{class_count} classes");
        assert_eq!(switch.stopped(egress), 1);
        let grant = Signal::Credit { fctbs: 0, fccl: 16 + 20 };
        switch.handle_signal(NOW, egress, Control { class, signal: grant });
        assert_eq!(run(&mut switch), [2, 3], "{class_count} classes");
    }
}

/// The packets of five pairs of queues, seen from every side; in a software switch also when they have left
/// their FIFOs for rings and NICs.
#[test]
fn what_waits_is_the_same_from_all_sides() {
    for discipline in Discipline::ALL {
        let mut switch = switch(discipline);
        let packets = [(0, 3, 1, 0), (0, 3, 2, 0), (1, 3, 3, 1), (0, 2, 4, 0), (2, 3, 5, 0)];
        for (ingress, egress, packet, class) in packets {
            arrive_in(&mut switch, ingress, egress, packet, Class(class));
        }
        let mut seen = Vec::new();
        switch.for_each_waiting(|from, to, packet| {
            assert_eq!(from.class, to.class);
            seen.push((from.port.0, to.port.0, *packet, from.class.0));
        });
        seen.sort_by_key(|(_, _, packet, _)| *packet);
        assert_eq!(seen, packets, "{discipline:?}");
        for (egress, class, expected) in
            [(3, 0, vec![1, 2, 5]), (3, 1, vec![3]), (2, 0, vec![4]), (2, 1, vec![])]
        {
            let mut seen = Vec::new();
            switch.for_each_waiting_for(PortId(egress), Class(class), |packet| seen.push(*packet));
            seen.sort_unstable();
            assert_eq!(seen, expected, "{discipline:?}");
        }
        let in_queues = |switch: &Switch<u32>| {
            let queues = [(3, 0), (3, 1), (2, 0), (2, 1)];
            queues.map(|(port, class)| switch.queued_in(PortId(port), Class(class)).get() / 1_000)
        };
        assert_eq!(in_queues(&switch), [3, 1, 1, 0], "{discipline:?}");
        assert_eq!(switch.queued(PortId(3)), Bytes::kb(4), "{discipline:?}");
        assert_eq!(switch.stopped(PortId(3)), 0);
        for class in [0, 1] {
            let control = Control { class: Class(class), signal: Signal::Pause { quanta: 60_000 } };
            switch.handle_signal(NOW, PortId(3), control);
            assert_eq!(switch.stopped(PortId(3)), [0b01, 0b11][usize::from(class)]);
            switch.handle_signal(NOW, PortId(2), control);
        }
        assert_eq!([3, 2, 1].map(|port| switch.stopped(PortId(port))), [0b11, 0b01, 0]);
        // The ring is still empty, so the smallest frame is asked about.
        let head = if discipline == Discipline::Software { Bytes::new(64) } else { Bytes::kb(1) };
        assert_eq!(switch.blocked(NOW, PortId(3), Class(1)), Some(head));
        assert_eq!(switch.blocked(NOW, PortId(2), Class(1)), None, "nothing waits there");
        assert_eq!(switch.blocked(NOW, PortId(1), Class(0)), None);
        if discipline == Discipline::Software {
            // Rings take what there is, and stopped NICs nothing.
            let mut sent = Vec::new();
            while switch.poll_timeout(PortId(0)) < Time::ZERO + Span::ms(1) {
                let due = switch.poll_timeout(PortId(0));
                switch.handle_timeout(due, PortId(0));
                serve(&mut switch, &mut sent);
            }
            assert_eq!(switch.port(PortId(0)).held(Class(0)), Bytes::ZERO);
            assert_eq!(in_queues(&switch), [3, 1, 1, 0]);
            assert_eq!((switch.queued(PortId(3)), switch.inside()), (Bytes::kb(4), Bytes::kb(5)));
        }
    }
}

/// A ring of three is full and the core sleeps; it wakes when a packet of the ring is dropped. Only one port
/// asks for the instant at which it looks.
#[test]
fn a_packet_that_is_dropped_makes_room_in_its_ring() {
    let mut switch = switch(Discipline::Software);
    pause(&mut switch, 3, 60_000);
    for packet in 1..=4 {
        arrive(&mut switch, 0, 3, packet);
    }
    let run = |switch: &mut Switch<u32>| {
        assert!(switch.poll_timeout(PortId(0)) < Time::ZERO + Span::us(1));
        assert!(switch.poll_timeout(PortId(1)) == Time::MAX);
        let mut sent = Vec::new();
        while switch.poll_timeout(PortId(0)) < Time::MAX {
            switch.handle_timeout(switch.poll_timeout(PortId(0)), PortId(0));
            serve(switch, &mut sent);
        }
        assert_eq!(sent, [0; 0]);
        switch.port(PortId(0)).held(Class(0))
    };
    assert_eq!(run(&mut switch), Bytes::kb(1), "the fourth has no place");
    let dropped = switch.drain(NOW, PortId(3), Class(0)).expect("the ring has a head");
    assert_eq!((dropped.packet, dropped.ingress), (1, PortId(0)));
    assert_eq!(run(&mut switch), Bytes::ZERO);
    assert_eq!((switch.backlog(PortId(3), Class(0)), switch.inside()), (3, Bytes::kb(3)));
}

/// Ten blocks of credit, of which a first packet takes eight: a second one is known to lack credit as soon as
/// it comes to the head, and a small one is not.
#[test]
fn a_packet_that_lacks_credit_is_known_on_arrival() {
    let capacity = Bytes::new(10 * 64);
    let counters = cbfc::Counters::Iba;
    let control = FlowControl::Cbfc(cbfc::Config { capacity, period: Span::s(1), counters });
    let lane = LaneConfig { phase: Span::s(1), ..LaneConfig::new(control, Bytes::kb(20)) };
    let port = PortConfig { line: Rate::gbps(10), lanes: [lane; 2].into() };
    for discipline in Discipline::COMMON {
        let mut switch: Switch<u32> = Switch::new(&SwitchConfig {
            changes_class: false,
            memory: pauseless_core::memory::MemoryConfig::Private,
            congestion: CongestionControl::None,
            seed: 0,
            discipline,
            polling: Polling::default(),
            scheduler: Scheduler::Strict,
            ports: vec![port.clone(); 4],
        });
        let (egress, class) = (PortId(3), Class(1));
        let arrive = |switch: &mut Switch<u32>, packet, size| {
            let arrival = Arrival { packet, size: Bytes::new(size), class, egress, leaving: class };
            switch.handle_arrival(NOW, PortId(0), arrival).expect("there is room");
        };
        arrive(&mut switch, 1, 512);
        assert_eq!(switch.stopped(egress), 0);
        assert_eq!(send_all(&mut switch, 3), [1]);
        arrive(&mut switch, 2, 64);
        assert_eq!(switch.stopped(egress), 0, "{discipline:?}: one of two blocks");
        assert_eq!(send_all(&mut switch, 3), [2]);
        arrive(&mut switch, 3, 65);
        assert_eq!(switch.stopped(egress), 0b10, "{discipline:?}: one is not enough");
        assert_eq!(send_all(&mut switch, 3), [0; 0]);
        let grant = Control { class, signal: Signal::Credit { fctbs: 0, fccl: 20 } };
        switch.handle_signal(NOW, egress, grant);
        assert_eq!((switch.stopped(egress), send_all(&mut switch, 3)), (0, vec![3]));
    }
}

/// A NIC that has run empty takes the next packet while the last one is on the wire, so that a PAUSE that
/// comes then is too late; if its egress is paced it takes single packets, and the PAUSE is in time.
#[test]
fn an_empty_nic_takes_a_packet_while_its_wire_is_busy() {
    for (is_paced, expected) in [(false, vec![1, 2]), (true, vec![1])] {
        let mut switch = switch(Discipline::Software);
        if is_paced {
            switch.limit(PortId(3), Class(0), Rate::gbps(9));
        }
        let mut sent = Vec::new();
        for packet in [1, 2] {
            arrive(&mut switch, 0, 3, packet);
            while switch.poll_timeout(PortId(0)) < Time::MAX {
                switch.handle_timeout(switch.poll_timeout(PortId(0)), PortId(0));
                serve(&mut switch, &mut sent);
            }
        }
        assert_eq!(sent, [1]);
        pause(&mut switch, 3, 60_000);
        switch.handle_transmitted(NOW, PortId(3));
        serve(&mut switch, &mut sent);
        assert_eq!(sent, expected);
    }
}
