//! Drives one switch by hand, without any simulator: two ports at 10 Gb/s send into a third, and the
//! switch tells them to pause before its buffers overflow.
//!
//! Run it with `cargo run -p pauseless --example switch_by_hand`.
//!
//! The switch has no clock, socket or thread. Whoever drives it says what arrives and when, asks
//! what goes out, and says when that has left: the simulator does it, and so does a real node.

use pauseless::core::congestion::CongestionControl;
use pauseless::core::flow_control::{Control, FlowControl, Signal, pfc};
use pauseless::core::id::{Class, PortId};
use pauseless::core::memory::MemoryConfig;
use pauseless::core::port::{LaneConfig, PortConfig};
use pauseless::core::schedule::Scheduler;
use pauseless::core::switch::software::Polling;
use pauseless::core::switch::{Arrival, Discipline, Switch, SwitchConfig, Transmit};
use pauseless::core::unit::{Bytes, Rate, Time};

const LINE: Rate = Rate::gbps(10);
const FRAME: Bytes = Bytes::new(1_500);
const SENDERS: [PortId; 2] = [PortId(0), PortId(1)];
const RECEIVER: PortId = PortId(2);
/// For so many steps the senders have something to send.
const STEPS: u64 = 60;

fn main() {
    let thresholds =
        pfc::Config { xoff: Bytes::kb(12), xon: Bytes::kb(9), quanta: pfc::QUANTA_MAX };
    let control = FlowControl::Pfc(thresholds);
    let lane = LaneConfig::new(control, Bytes::kb(30));
    let port = PortConfig { line: LINE, lanes: [lane].into() };
    let mut switch: Switch<u32> = Switch::new(&SwitchConfig {
        discipline: Discipline::OutputQueued,
        polling: Polling::default(),
        scheduler: Scheduler::Strict,
        ports: vec![port; 3],
        congestion: CongestionControl::None,
        changes_class: false,
        seed: 1,
        memory: MemoryConfig::Private,
    });
    // One step is the time of a frame on the wire. Both senders send one unless they are told not
    // to, the receiver gets one, and frames of PFC are so short that they take no time here.
    let step = LINE.tx_span(FRAME);
    let mut is_paused = [false; 2];
    let mut is_sending = false;
    let (mut arrived, mut left, mut pauses, mut resumes) = (0, 0, 0, 0);
    for number in 0.. {
        let now = Time::ZERO + step * number;
        if is_sending {
            switch.handle_transmitted(now, RECEIVER);
            (is_sending, left) = (false, left + 1);
        }
        for (sender, is_paused) in SENDERS.into_iter().zip(is_paused) {
            if !is_paused && number < STEPS {
                arrive(&mut switch, now, sender, arrived);
                arrived += 1;
            }
        }
        while let Some(port) = switch.poll_ready() {
            match switch.poll_transmit(now, port) {
                Some(Transmit::Data { .. }) => is_sending = true,
                Some(Transmit::Control(Control { signal: Signal::Pause { quanta }, .. })) => {
                    let held = switch.port(port).held(Class(0));
                    let says = if quanta > 0 { "pause" } else { "go on" };
                    println!("{now}: {held} of port {} are here, so it is to {says}", port.0);
                    is_paused[port.index()] = quanta > 0;
                    let count = if quanta > 0 { &mut pauses } else { &mut resumes };
                    *count += 1;
                    switch.handle_transmitted(now, port);
                }
                Some(Transmit::Control(other)) => unreachable!("PFC does not send {other:?}"),
                None => {}
            }
        }
        if number >= STEPS && !is_sending {
            break;
        }
    }
    let most = SENDERS.map(|port| switch.port(port).held_max(Class(0)));
    println!("{arrived} frames arrived and {left} left; {pauses} pauses, {resumes} resumes");
    println!("the ports held at most {} and {}", most[0], most[1]);
    assert_eq!(arrived, left, "nothing is lost and nothing stays");
    assert!(pauses > 0 && pauses == resumes);
    assert!(most.iter().all(|most| *most <= Bytes::kb(30)));
}

/// A frame from `sender` is there with its last bit, and the forwarding table says where it goes.
fn arrive(switch: &mut Switch<u32>, now: Time, sender: PortId, packet: u32) {
    let class = Class(0);
    let arrival = Arrival { packet, size: FRAME, class, egress: RECEIVER, leaving: class };
    switch.handle_arrival(now, sender, arrival).expect("PFC leaves room");
}
