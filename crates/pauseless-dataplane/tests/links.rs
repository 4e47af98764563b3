//! What every kind of link must do, over wires of every kind.

mod links {
    pub mod wire;
}

use std::process::Command;
use std::time::{Duration, Instant};

use links::wire::{INTERFACE, KINDS, Kind, Wire, connect, in_time, pair, received};
use pauseless_dataplane::link::{self, Backend, Losses};
use pauseless_dataplane::net::{self, Namespace};

/// One body for all kinds of wires.
fn for_each_wire(law: impl Fn(&mut Wire)) {
    for kind in KINDS {
        if let Some(mut wire) = Wire::new(kind) {
            law(&mut wire);
        }
    }
}

/// A frame of `size` bytes that is like no other of its `number`.
fn frame(size: usize, number: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..size).map(|at| (at * 7 + number) as u8).collect();
    bytes[..12].copy_from_slice(&[2, 0x46, 0, 0, 0, 1, 2, 0x50, 0, 0, 0, 1]);
    bytes[12..14].copy_from_slice(&[0x88, 0xb5]);
    if let Some(place) = bytes[14..].first_chunk_mut() {
        *place = (number as u32).to_be_bytes();
    }
    bytes
}

/// A PFC frame and a frame with a VLAN tag.
fn special() -> [Vec<u8>; 2] {
    let mut pause = frame(60, 0);
    pause[..6].copy_from_slice(&[0x01, 0x80, 0xc2, 0, 0, 1]);
    pause[12..16].copy_from_slice(&[0x88, 0x08, 0x01, 0x01]);
    let mut tagged = frame(1_518, 0);
    tagged[12..18].copy_from_slice(&[0x81, 0x00, 0x60, 0x05, 0x88, 0xb5]);
    [pause, tagged]
}

#[test]
fn frames_of_every_length_and_kind_arrive_as_they_are() {
    for_each_wire(|wire| {
        let mut frames: Vec<_> = (14..=1_514).map(|size| frame(size, size)).collect();
        frames.extend(special());
        let arrived = wire.carry(&frames);
        assert_eq!(arrived.len(), frames.len(), "{:?}", wire.kind);
        for (arrived, frame) in arrived.iter().zip(&frames) {
            assert_eq!(arrived, frame, "{:?}", wire.kind);
        }
        let echo = received(&mut *wire.a);
        assert!(echo.is_empty(), "{:?}: an echo", wire.kind);
    });
}

#[test]
fn a_long_burst_arrives_whole_if_it_is_taken_in_time() {
    for_each_wire(|wire| {
        let frames: Vec<_> = (0..10_000).map(|number| frame(64, number)).collect();
        let arrived = wire.carry(&frames);
        assert!(arrived == frames, "{:?}: {}", wire.kind, arrived.len());
        let losses = (wire.a.losses(), wire.b.losses());
        assert_eq!(losses, Default::default(), "{:?}", wire.kind);
    });
}

#[test]
fn whoever_is_too_slow_can_see_how_much_was_lost() {
    for_each_wire(|wire| {
        let mut sent = 0;
        for number in 0..10_000 {
            if !wire.a.send(&frame(64, number)) {
                wire.a.flush().expect("the interface works");
                if !wire.a.send(&frame(64, number)) {
                    continue;
                }
            }
            sent += 1;
        }
        wire.a.flush().expect("the interface works");
        let lost = |wire: &mut Wire| (wire.a.losses().send + wire.b.losses().receive) as usize;
        let mut expected = sent - wire.a.backlog() - lost(wire);
        let mut arrived = 0;
        // What was still on its way may be lost as well.
        while arrived < expected {
            let count = wire.arrived(1).len();
            assert!(count > 0, "{:?}: {arrived} of {expected} came", wire.kind);
            arrived += count;
            expected = sent - wire.a.backlog() - lost(wire);
        }
        assert!(arrived < 10_000, "{:?}: nothing was lost", wire.kind);
        assert_eq!(arrived, expected, "{:?}", wire.kind);
    });
}

#[test]
fn a_packet_ring_outlasts_a_stall_of_25_ms() {
    let Some(mut wire) = Wire::new(Kind::Packet) else {
        return;
    };
    // So many of the shortest frames come at 100 Mb/s.
    let frames: Vec<_> = (0..3_721).map(|number| frame(60, number)).collect();
    for frame in &frames {
        assert!(wire.a.send(frame));
        wire.a.flush().expect("the interface works");
    }
    assert!(wire.arrived(frames.len()) == frames);
    assert_eq!(wire.b.losses(), Losses::default());
}

#[test]
fn an_interface_that_was_down_works_again() {
    for_each_wire(|wire| {
        let Some(places) = wire.places.take() else {
            return;
        };
        let set_up = |place: &Namespace, is_up| {
            let done = place.enter(|| net::set_up(INTERFACE, is_up));
            done.and_then(|done| done).expect("the interface is there");
        };
        // The own end down, then the other one: no carrier.
        for end in [0, 1] {
            let before = wire.a.losses();
            set_up(&places[end], false);
            let what = format!("{:?}, end {end}", wire.kind);
            for number in 0..10 {
                assert!(wire.a.send(&frame(64, number)));
                assert!(wire.a.flush().is_err(), "{what}");
                assert_eq!(wire.a.backlog(), 0, "{what}");
            }
            let losses = wire.a.losses();
            assert_eq!(losses.send - before.send, 10, "{what}");
            set_up(&places[end], true);
            recover(wire);
            assert!(wire.a.send(&frame(64, end)));
            wire.a.flush().expect("the interface works");
            assert_eq!(wire.arrived(1), [frame(64, end)], "{what}");
        }
    });
}

#[test]
fn what_waits_when_an_interface_fails_is_taken_or_counted() {
    for_each_wire(|wire| {
        let Some(places) = wire.places.take() else {
            return;
        };
        for number in 0..20 {
            assert!(wire.a.send(&frame(64, number)));
        }
        wire.a.flush().expect("the interface works");
        // The kernel has them all a moment after the first.
        assert!(in_time(|| wire.b.receive(1, &mut |_| ()).expect("it works") == 1));
        std::thread::sleep(Duration::from_millis(20));
        let done = places[1].enter(|| net::set_up(INTERFACE, false));
        done.and_then(|done| done).expect("the interface is there");
        for number in 0..3 {
            assert!(wire.b.send(&frame(64, number)));
        }
        assert!(wire.b.flush().is_err(), "{:?}", wire.kind);
        let mut taken = 0;
        while wire.b.receive(64, &mut |_| taken += 1).is_ok() {}
        let Losses { receive, send } = wire.b.losses();
        assert_eq!((taken + receive, send), (19, 3), "{:?}", wire.kind);
    });
}

/// Looks for frames until both ends work, which they notice after a while.
fn recover(wire: &mut Wire) {
    for link in [&mut wire.a, &mut wire.b] {
        assert!(in_time(|| link.receive(1, &mut |_| ()).is_ok()));
        link.flush().expect("the interface works");
    }
}

#[test]
fn an_interface_that_others_have_taken_costs_its_node_no_time() {
    for_each_wire(|wire| {
        let (Kind::Xdp(_), Some(places)) = (wire.kind, wire.places.take()) else {
            return;
        };
        let set_up = |is_up| {
            let done = places[0].enter(|| net::set_up(INTERFACE, is_up));
            done.and_then(|done| done).expect("the interface is there");
        };
        set_up(false);
        assert!(in_time(|| wire.a.receive(1, &mut |_| ()).is_err()));
        let mut thief = None;
        assert!(in_time(|| {
            let opened = places[0].enter(|| link::open(INTERFACE, Backend::Xdp));
            thief = opened.expect("the namespace is there").ok();
            thief.is_some()
        }));
        set_up(true);
        let (start, mut looks) = (Instant::now(), 0);
        while start.elapsed() < Duration::from_millis(500) {
            let refused = wire.a.receive(1, &mut |_| ());
            assert!(refused.is_err(), "{:?}: two have it", wire.kind);
            looks += 1;
        }
        // A look at an empty ring takes less than 0.1 us, and a try to attach tens of milliseconds.
        assert!(looks > 50_000, "{:?}: {looks} looks", wire.kind);
        drop(thief);
        recover(wire);
        let frames = [frame(64, 0)];
        assert_eq!(wire.carry(&frames), frames, "{:?}", wire.kind);
    });
}

#[test]
fn an_interface_that_was_made_anew_is_taken() {
    for_each_wire(|wire| {
        let Some(places) = wire.places.take() else {
            return;
        };
        let gone = places[0].enter(|| net::remove(INTERFACE));
        gone.and_then(|gone| gone).expect("the interface is there");
        assert!(wire.a.send(&frame(64, 0)));
        assert!(wire.a.flush().is_err(), "{:?}", wire.kind);
        assert_eq!(wire.a.losses().send, 1, "{:?}", wire.kind);
        let seen = in_time(|| wire.b.receive(1, &mut |_| ()).is_err());
        assert!(seen, "{:?}: whoever only receives learns of it", wire.kind);
        connect(&places);
        recover(wire);
        let frames: Vec<_> = (0..100).map(|number| frame(64, number)).collect();
        assert_eq!(wire.carry(&frames), frames, "{:?}", wire.kind);
    });
}

#[test]
fn a_peer_that_is_opened_again_goes_on() {
    for_each_wire(|wire| {
        if wire.kind == Kind::Memory {
            return;
        }
        for round in 0..3 {
            let frames: Vec<_> = (0..500).map(|number| frame(100 + round, number)).collect();
            assert_eq!(wire.carry(&frames), frames, "{:?} {round}", wire.kind);
            wire.reopen_b();
        }
    });
}

#[test]
fn the_choice_of_a_link_says_what_it_took() {
    let Some(places) = pair() else { return };
    let how = |backend| {
        let opened = places[0].enter(|| link::open(INTERFACE, backend));
        opened.and_then(|opened| opened).expect("a link").how
    };
    assert_eq!(how(Backend::Packet), "wire: AF_PACKET, as asked");
    let auto = how(Backend::Auto);
    assert_eq!(auto, "wire: AF_PACKET, since it is one end of a veth pair");
    let xdp = how(Backend::Xdp);
    let start = "wire: AF_XDP, copy mode; not zero-copy: ";
    assert!(xdp.starts_with(start), "{xdp}");
    let missing = places[0].enter(|| link::open("other", Backend::Auto));
    let error = missing.expect("the namespace is there").map(|_| ());
    let error = error.expect_err("no such interface");
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert!(error.to_string().contains("other"), "{error}");
}

#[test]
fn af_xdp_refuses_an_interface_with_several_queues() {
    let Some([place, _far]) = pair() else { return };
    let pair = "link add name many numrxqueues 2 numtxqueues 2 type veth peer name other";
    let made = place.enter(|| Command::new("ip").args(pair.split(' ')).status());
    let Ok(Ok(made)) = made else {
        eprintln!("not tested here: there is no `ip`");
        return;
    };
    assert!(made.success());
    let queues = |name| place.enter(|| net::queues(name)).and_then(|queues| queues);
    assert_eq!(queues(INTERFACE).expect("it is there"), 1);
    assert_eq!(queues("many").expect("it is there"), 2);
    let refused = place.enter(|| link::open("many", Backend::Xdp).map(|_| ()));
    let refused = refused.expect("the namespace is there");
    let message = refused.expect_err("two queues").to_string();
    assert!(message.contains("ethtool -L many combined 1"), "{message}");
}

#[test]
fn a_frame_that_is_too_long_is_counted() {
    for_each_wire(|wire| {
        if wire.kind == Kind::Memory {
            return;
        }
        for size in [1_600, 9_000] {
            assert!(wire.a.send(&frame(size, 0)));
        }
        assert!(wire.a.send(&frame(64, 0)));
        wire.a.flush().expect("the interface works");
        assert_eq!(wire.arrived(1), [frame(64, 0)], "{:?}", wire.kind);
        let expected = Losses { receive: 0, send: 2 };
        assert_eq!(wire.a.losses(), expected, "{:?}", wire.kind);
    });
}
