//! What every kind of link must do, over wires of every kind.

mod links {
    pub mod wire;
}

use links::wire::{Wire, memory, packet};
use pauseless_dataplane::link::{Link, Received};

/// One body for all kinds of links.
fn for_each_wire(law: impl Fn(&mut Wire)) {
    for make in [memory, packet] {
        if let Some(mut wire) = make() {
            law(&mut wire);
        }
    }
}

fn received(link: &mut dyn Link) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let take = &mut |frame: Received<'_>| {
        assert_eq!(frame.length, frame.bytes.len());
        frames.push(frame.bytes.to_vec());
    };
    while link.receive(64, take).expect("the interface works") > 0 {}
    frames
}

/// A frame of `size` bytes that is like no other of its `number`.
fn frame(size: usize, number: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..size).map(|at| (at * 7 + number) as u8).collect();
    bytes[..12].copy_from_slice(&[2, 0x46, 0, 0, 0, 1, 2, 0x50, 0, 0, 0, 1]);
    bytes[12..14].copy_from_slice(&[0x88, 0xb5]);
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
        let mut arrived = Vec::new();
        for frame in &frames {
            while !wire.a.send(frame) {
                wire.a.flush().expect("the interface works");
                arrived.extend(received(&mut *wire.b));
            }
        }
        wire.a.flush().expect("the interface works");
        arrived.extend(received(&mut *wire.b));
        assert_eq!(arrived.len(), frames.len(), "{}", wire.name);
        for (arrived, frame) in arrived.iter().zip(&frames) {
            assert_eq!(arrived, frame, "{}", wire.name);
        }
        assert!(received(&mut *wire.a).is_empty(), "{}: an echo", wire.name);
    });
}
