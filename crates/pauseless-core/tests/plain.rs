//! The short way through a switch against the long one: whatever happens, both send the same frames at
//! the same instants, ask for the same timeouts, and count the same.

use pauseless_core::congestion::{CongestionControl, dcqcn, pcn};
use pauseless_core::flow_control::{Control, FlowControl, Signal, cbfc, gfc, pfc};
use pauseless_core::id::{Class, PortId};
use pauseless_core::memory::{
    Alpha, HeadroomPool, LaneMemory, MemoryConfig, SharedConfig, Threshold,
};
use pauseless_core::port::{LaneConfig, PortConfig};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::software::Polling;
use pauseless_core::switch::{
    AnyClasses, Arrival, Discipline, Driver, OneBareClass, OneClass, OneClassOfCredit, Started,
    Switch, SwitchConfig, Transmit,
};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

/// Calls a switch with all that is known of it.
macro_rules! known {
    ($switch:expr, $call:ident($($argument:expr),*)) => {
        if $switch.is_known_as::<OneBareClass>() {
            $switch.$call::<OneBareClass>($($argument),*)
        } else if $switch.is_known_as::<OneClass>() {
            $switch.$call::<OneClass>($($argument),*)
        } else if $switch.is_known_as::<OneClassOfCredit>() {
            $switch.$call::<OneClassOfCredit>($($argument),*)
        } else {
            $switch.$call::<AnyClasses>($($argument),*)
        }
    };
}

const PORTS: u16 = 4;
const LINE: Rate = Rate::gbps(10);

/// What a switch has asked its driver for.
#[derive(Clone, Debug, Default, PartialEq)]
struct Asked {
    frames: Vec<(PortId, Transmit<u32>)>,
    /// When each port wants to be called; what was asked before stays.
    armed: [Option<Time>; PORTS as usize],
    stopped: Vec<(PortId, u8)>,
}

impl Driver<u32> for Asked {
    fn transmit(&mut self, _switch: &Switch<u32>, port: PortId, frame: Transmit<u32>) {
        self.frames.push((port, frame));
    }

    fn arm(&mut self, port: PortId, time: Time) {
        let armed = &mut self.armed[port.index()];
        if time < Time::MAX {
            *armed = Some(armed.map_or(time, |before| before.min(time)));
        }
    }

    fn stopped(&mut self, port: PortId, classes: u8) {
        self.stopped.push((port, classes));
    }
}

impl Asked {
    /// Puts a packet on its wire, and does what is left, as drivers of the short way do.
    fn finish(&mut self, switch: &mut Switch<u32>, now: Time, started: Option<Started<u32>>) {
        if let Some(Started { port, packet, size, class, is_marked }) = started {
            self.transmit(switch, port, Transmit::Data { packet, size, class, is_marked });
        }
        if known!(switch, is_ready()) {
            switch.serve(now, self);
        }
    }
}

/// Lets all ports that are ready send, as drivers of the long way do.
fn poll(switch: &mut Switch<u32>, now: Time, asked: &mut Asked) {
    while let Some(port) = switch.poll_ready() {
        if let Some(frame) = switch.poll_transmit(now, port) {
            asked.transmit(switch, port, frame);
        }
        asked.arm(port, switch.poll_timeout(port));
        if switch.stopped(port) != 0 {
            asked.stopped(port, switch.stopped(port));
        }
    }
}

fn control(scheme: usize) -> FlowControl {
    match scheme {
        0 => FlowControl::None,
        1 => {
            let (xoff, xon) = (Bytes::kb(6), Bytes::kb(4));
            FlowControl::Pfc(pfc::Config { xoff, xon, quanta: 200 })
        }
        2 => {
            let (bm, b1) = (Bytes::kb(12), Bytes::kb(4));
            FlowControl::GfcBuffer(gfc::BufferConfig {
                bm,
                b1,
                stages: 5,
                hold: bm,
                unit: Rate::mbps(8),
                refresh: Some(Span::us(20)),
                hold_off: Span::us(2),
                prompt_stage: 4,
            })
        }
        4 => FlowControl::Pfc(pfc::Config::commanded(200)),
        _ => {
            let (capacity, period) = (Bytes::kb(20), Span::us(5));
            let counters = cbfc::Counters::Wide;
            FlowControl::Cbfc(cbfc::Config { capacity, period, counters })
        }
    }
}

/// A memory of which every (ingress, class) may use half of what is free.
fn shared(classes: usize) -> MemoryConfig {
    let lane = LaneMemory {
        reserve: Bytes::kb(1),
        headroom: Bytes::kb(6),
        threshold: Threshold::Dynamic(Alpha::new(1, 2).expect("not zero")),
        resume_offset: Bytes::kb(1),
    };
    MemoryConfig::Shared(SharedConfig {
        pool: Bytes::kb(20),
        partitions: [].into(),
        headroom: HeadroomPool::Class,
        class_count: classes,
        lanes: vec![lane; classes * usize::from(PORTS)].into(),
    })
}

fn switch(
    discipline: Discipline,
    scheme: usize,
    congestion: usize,
    classes: usize,
    scheduler: usize,
) -> Switch<u32> {
    let lane = LaneConfig::new(control(scheme), Bytes::kb(20));
    let lanes = vec![lane; classes].into();
    let congestion = match congestion {
        0 => CongestionControl::None,
        1 => CongestionControl::Dcqcn(dcqcn::Config::default()),
        _ => CongestionControl::Pcn(pcn::Config::default()),
    };
    let schedulers = [
        Scheduler::Strict,
        Scheduler::Weighted([1, 2, 3, 4, 5, 6, 7, 8]),
        Scheduler::Random,
        Scheduler::RoundRobin { express: 2 },
    ];
    Switch::new(&SwitchConfig {
        changes_class: false,
        memory: if scheme == 4 { shared(classes) } else { MemoryConfig::Private },
        congestion,
        seed: 7,
        discipline,
        polling: Polling::default(),
        scheduler: schedulers[scheduler],
        ports: vec![PortConfig { line: LINE, lanes }; usize::from(PORTS)],
    })
}

/// A thing that happens, at a port and in a class.
#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { size: u64, egress: u16 },
    Signal { value: u16 },
    Wait { ns: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (64u64..1_500, 0..PORTS).prop_map(|(size, egress)| Step::Arrive { size, egress }),
        1 => (0u16..300).prop_map(|value| Step::Signal { value }),
        3 => (1u64..3_000).prop_map(|ns| Step::Wait { ns }),
    ]
}

fn signal(scheme: usize, value: u16) -> Option<Signal> {
    match scheme {
        0 => None,
        1 | 4 => Some(Signal::Pause { quanta: value }),
        2 => Some(Signal::Stage(value % 6)),
        _ => Some(Signal::Credit { fctbs: 0, fccl: u32::from(value) }),
    }
}

/// Both switches, and the frames on their wires.
struct Both {
    short: Switch<u32>,
    long: Switch<u32>,
    asked: [Asked; 2],
    now: Time,
    /// When the frame of each port has left.
    busy: [Option<Time>; PORTS as usize],
}

impl Both {
    /// Compares what both have asked for, and takes over the frames.
    fn compare(&mut self) {
        let [short, long] = &mut self.asked;
        assert_eq!(short.frames, long.frames, "at {}", self.now);
        assert_eq!(short.armed, long.armed, "at {}", self.now);
        short.stopped.dedup();
        long.stopped.dedup();
        assert_eq!(short.stopped, long.stopped, "at {}", self.now);
        for (port, frame) in &short.frames {
            let size = match frame {
                Transmit::Control(_) => Control::SIZE,
                Transmit::Data { size, .. } => *size,
            };
            let busy = &mut self.busy[port.index()];
            assert_eq!(*busy, None, "the wire is free");
            *busy = Some(self.now + LINE.tx_span(size));
        }
        for asked in &mut self.asked {
            asked.frames.clear();
            asked.stopped.clear();
        }
        for port in (0..PORTS).map(PortId) {
            let [short, long] = [&self.short, &self.long].map(|switch| switch.port(port));
            for class in (0..short.class_count()).map(|class| Class(class as u8)) {
                assert_eq!(short.held(class), long.held(class));
                assert_eq!(short.held_max(class), long.held_max(class));
                let [short, long] = [&self.short, &self.long];
                assert_eq!(short.backlog(port, class), long.backlog(port, class));
            }
        }
    }

    /// Lets time pass, with all that happens until then.
    fn wait(&mut self, until: Time) {
        loop {
            let ends = self.busy.iter().flatten();
            let timers = self.asked[0].armed.iter().flatten();
            let Some(next) = ends.chain(timers).min().copied().filter(|next| *next <= until) else {
                break;
            };
            self.now = next;
            let [short, long] = &mut self.asked;
            if let Some(port) = self.busy.iter().position(|end| *end == Some(next)) {
                self.busy[port] = None;
                let port = PortId(port as u16);
                let started = known!(self.short, depart(next, port));
                short.finish(&mut self.short, next, started);
                self.long.handle_transmitted(next, port);
                poll(&mut self.long, next, long);
            } else {
                let port = short.armed.iter().position(|time| *time == Some(next));
                let port = port.expect("it is a timeout");
                for asked in [&mut *short, &mut *long] {
                    asked.armed[port] = None;
                }
                // Timeouts and signals take the long way in both.
                for (switch, asked) in [(&mut self.short, short), (&mut self.long, long)] {
                    switch.handle_timeout(next, PortId(port as u16));
                    poll(switch, next, asked);
                }
            }
            self.compare();
        }
        self.now = until;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn both_ways_do_the_same(
        is_virtual in any::<bool>(),
        scheme in 0usize..5,
        congestion in 0usize..3,
        classes in 1usize..=3,
        scheduler in 0usize..4,
        steps in prop::collection::vec((step(), 0..PORTS, any::<u8>()), 1..150),
    ) {
        let discipline =
            if is_virtual { Discipline::VirtualOutputQueued } else { Discipline::OutputQueued };
        let short = switch(discipline, scheme, congestion, classes, scheduler);
        prop_assert!(short.is_plain());
        let long = short.clone();
        let mut both =
            Both { short, long, asked: Default::default(), now: Time::ZERO, busy: [None; 4] };
        for port in (0..PORTS).map(PortId) {
            for asked in &mut both.asked {
                asked.arm(port, both.long.poll_timeout(port));
            }
        }
        for (number, (step, port, class)) in steps.into_iter().enumerate() {
            let (port, class) = (PortId(port), Class(class % classes as u8));
            let now = both.now;
            let [short, long] = &mut both.asked;
            match step {
                Step::Wait { ns } => both.wait(now + Span::ns(ns)),
                Step::Arrive { size, egress } => {
                    let (size, egress) = (Bytes::new(size), PortId(egress));
                    let packet = number as u32;
                    let arrival = Arrival { packet, size, class, egress, leaving: class };
                    let one = known!(both.short, arrive(now, port, arrival));
                    let other = both.long.handle_arrival(now, port, arrival);
                    prop_assert_eq!(one.map(|_| None), other);
                    short.finish(&mut both.short, now, one.unwrap_or(None));
                    poll(&mut both.long, now, long);
                    both.compare();
                }
                Step::Signal { value } => {
                    let Some(signal) = signal(scheme, value) else {
                        continue;
                    };
                    let control = Control { class, signal };
                    for (switch, asked) in [(&mut both.short, short), (&mut both.long, long)] {
                        switch.handle_signal(now, port, control);
                        poll(switch, now, asked);
                    }
                    both.compare();
                }
            }
            // Whatever is due in this instant comes before the next step.
            let now = both.now;
            both.wait(now);
        }
    }
}
