//! Hosts against a model that asks all flows one after the other: whatever happens, both send the same
//! frames and ask for the same timeouts.

mod linear;

use linear::Linear;
use proptest::prelude::*;

use super::*;
use crate::congestion::{AnyReactionPoint, CongestionControl, Source, dcqcn, timely};
use crate::flow_control::{FlowControl, Signal, cbfc, gfc, pfc};
use crate::port::LaneConfig;
use crate::transport::{Finish, GoBackN, Pacing, Recovery, Transport, Window};
use alloc::vec::Vec;

const LINE: Rate = Rate::gbps(10);
const CLASSES: usize = 3;

/// A host and its model, and the frame on their line.
struct Pair {
    host: Host,
    model: Linear,
    now: Time,
    /// When the frame on the line has left.
    left: Option<Time>,
    flows: u32,
    /// Packets of every flow so far, of which the last may be acknowledged.
    sent: Vec<Sequence>,
}

#[derive(Clone, Debug)]
enum Op {
    Start {
        class: u8,
        packets: u64,
        rest: u64,
        pace: u64,
        stop: u64,
        duty: u64,
        control: usize,
        transport: usize,
    },
    Feedback {
        flow: u32,
        kind: u8,
    },
    Answer {
        class: u8,
    },
    Pause {
        class: u8,
        quanta: u16,
    },
    Credit {
        class: u8,
        blocks: u32,
    },
    Wait {
        ns: u64,
    },
}

fn any_op() -> impl Strategy<Value = Op> {
    let class = 0..CLASSES as u8;
    let start = (
        class.clone(),
        prop_oneof![1u64..20, Just(u64::MAX)],
        0u64..1_000,
        prop_oneof![Just(10u64), 1..10u64, Just(100)],
        prop_oneof![4 => Just(0u64), 1 => 1..40_000u64],
        prop_oneof![4 => Just(0u64), 1 => 1..10_000u64],
        0usize..3,
        0usize..7,
    );
    let start = start.prop_map(|(class, packets, rest, pace, stop, duty, control, transport)| {
        Op::Start { class, packets, rest, pace, stop, duty, control, transport }
    });
    prop_oneof![
        3 => start,
        6 => (any::<u32>(), 0u8..4).prop_map(|(flow, kind)| Op::Feedback { flow, kind }),
        1 => class.clone().prop_map(|class| Op::Answer { class }),
        1 => (class.clone(), prop_oneof![Just(0u16), 1..100u16, Just(u16::MAX)])
            .prop_map(|(class, quanta)| Op::Pause { class, quanta }),
        2 => (class, 0u32..100).prop_map(|(class, blocks)| Op::Credit { class, blocks }),
        6 => (0u64..20_000).prop_map(|ns| Op::Wait { ns }),
    ]
}

/// The flow control of a class: none, PFC, credits or GFC.
fn flow_control(scheme: usize) -> FlowControl {
    let (xoff, xon) = (Bytes::kb(10), Bytes::kb(8));
    match scheme {
        0 => FlowControl::None,
        1 => FlowControl::Pfc(pfc::Config { xoff, xon, quanta: pfc::QUANTA_MAX }),
        2 => FlowControl::Cbfc(cbfc::Config {
            capacity: Bytes::kb(8),
            period: Span::us(50),
            counters: cbfc::Counters::Wide,
        }),
        _ => FlowControl::GfcBuffer(gfc::BufferConfig {
            bm: Bytes::kb(100),
            b1: Bytes::kb(40),
            stages: 5,
            hold: Bytes::kb(120),
            unit: Rate::mbps(1),
            refresh: None,
            hold_off: Span::us(2),
            prompt_stage: 4,
        }),
    }
}

fn transport(number: usize) -> Transport {
    let plain = Transport::default();
    let timeout = Recovery::GoBackN(GoBackN { timeout: Span::us(30), ..GoBackN::default() });
    match number {
        0 | 1 => plain,
        2 => Transport { window: Window::Fixed, finish: Finish::Source, ..plain },
        3 => Transport { window: Window::FollowsRate, pacing: Pacing::Pace, ..plain },
        4 => Transport { recovery: timeout, ..plain },
        5 => Transport { recovery: timeout, window: Window::Fixed, ..plain },
        _ => Transport { pacing: Pacing::Strict, ..plain },
    }
}

fn reaction(number: usize) -> AnyReactionPoint {
    let control = match number {
        0 => CongestionControl::None,
        1 => CongestionControl::Dcqcn(dcqcn::Config::default()),
        _ => CongestionControl::Timely(timely::Config::per_packet(Span::us(10))),
    };
    control.reaction_point(Source::at_line(LINE))
}

impl Pair {
    fn new(schemes: &[usize], limited: Option<u8>) -> Pair {
        let lanes =
            schemes.iter().map(|scheme| LaneConfig::new(flow_control(*scheme), Bytes::kb(200)));
        let config = PortConfig { line: LINE, lanes: lanes.collect() };
        let (mut host, mut model) = (Host::new(&config), Linear::new(&config));
        if let Some(class) = limited {
            host.limit(Class(class), Rate::gbps(3));
            model.port.limit(Class(class), Rate::gbps(3));
        }
        Pair { host, model, now: Time::ZERO, left: None, flows: 0, sent: Vec::new() }
    }

    fn start(&mut self, op: &Op) {
        let Op::Start { class, packets, rest, pace, stop, duty, control, transport: number } = *op
        else {
            return;
        };
        let packet = Bytes::new(1_000);
        let size =
            if packets == u64::MAX { Bytes::MAX } else { packet * packets + Bytes::new(rest) };
        let span = |ns| if ns == 0 { Span::MAX } else { Span::ns(ns) };
        let sender = Sender {
            flow: FlowId(self.flows),
            class: Class(class),
            packet,
            pace: Rate::bps(pace * 100_000_000),
            size,
            start: self.now,
            stop: self.now.saturating_add(span(stop)),
            duty: if duty == 0 {
                Duty::ALWAYS
            } else {
                Duty { on: span(duty), off: Span::ns(3_000) }
            },
            control: reaction(control),
            transport: transport(number),
            window: Bytes::kb(3),
        };
        self.flows += 1;
        self.sent.push(Sequence(0));
        self.host.start(sender.clone());
        self.model.start(sender);
    }

    fn feedback(&mut self, flow: u32, kind: u8) {
        if self.flows == 0 {
            return;
        }
        let flow = FlowId(flow % self.flows);
        let (is_marked, echo) = (kind == 1, Echo::NONE);
        let sequence = self.sent[flow.index()];
        let feedback = match kind {
            0 | 1 => Feedback::Ack { sequence, is_marked, echo },
            2 => Feedback::Nack { expected: Sequence(sequence.0 / 2), is_marked, echo },
            _ => Feedback::Cnp,
        };
        let is_complete = self.host.handle_feedback(self.now, flow, feedback);
        assert_eq!(is_complete, self.model.handle_feedback(self.now, flow, feedback));
    }

    fn signal(&mut self, class: Class, signal: Signal) {
        let control = Control { class, signal };
        self.host.handle_signal(self.now, control);
        self.model.handle_signal(self.now, control);
    }

    /// What a driver does after every change.
    fn drain(&mut self) {
        let frame = self.host.poll_transmit(self.now);
        assert_eq!(frame, self.model.poll_transmit(self.now), "at {}", self.now);
        assert_eq!(self.host.poll_timeout(), self.model.poll_timeout(), "at {}", self.now);
        for flow in (0..self.flows).map(FlowId) {
            assert_eq!(self.host.rate(flow), self.model.rate(flow));
        }
        if let Some(frame) = frame {
            let size = match frame {
                Transmit::Data { size, packet, .. } => {
                    if let Outgoing::Data { flow, sequence, .. } = packet {
                        self.sent[flow.index()] = sequence;
                    }
                    size
                }
                Transmit::Control(_) => Control::SIZE,
            };
            self.left = Some(self.now + LINE.tx_span(size));
        }
    }

    fn wait(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            let timeout = self.host.poll_timeout();
            let left = self.left.unwrap_or(Time::MAX);
            if timeout.min(left) > end {
                break;
            }
            self.now = timeout.min(left);
            if left <= timeout {
                self.left = None;
                self.host.handle_transmitted(self.now);
                self.model.handle_transmitted(self.now);
            } else {
                self.host.handle_timeout(self.now);
                self.model.handle_timeout(self.now);
            }
            self.drain();
        }
        self.now = end;
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Start { .. } => self.start(op),
            Op::Feedback { flow, kind } => self.feedback(flow, kind),
            Op::Answer { class } => {
                self.host.answer(Class(class), FlowId(0), Feedback::Cnp);
                self.model.answer(Class(class), FlowId(0), Feedback::Cnp);
            }
            Op::Pause { class, quanta } => {
                let class = Class(class);
                let is_gfc = matches!(self.host.port().upstream(class), AnyUpstream::Gfc(_));
                let stage = Signal::Stage(quanta % 6);
                self.signal(class, if is_gfc { stage } else { Signal::Pause { quanta } });
            }
            Op::Credit { class, blocks } => {
                let class = Class(class);
                if let AnyUpstream::Cbfc(half) = self.host.port().upstream(class) {
                    let (fctbs, fccl) = (0, half.fctbs() + blocks);
                    self.signal(class, Signal::Credit { fctbs, fccl });
                }
            }
            Op::Wait { ns } => return self.wait(Span::ns(ns)),
        }
        self.drain();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn a_host_serves_whom_a_search_of_all_flows_would(
        schemes in proptest::collection::vec(0usize..4, CLASSES),
        limited in prop_oneof![3 => Just(None), 1 => (0..CLASSES as u8).prop_map(Some)],
        ops in proptest::collection::vec(any_op(), 1..150),
    ) {
        let mut pair = Pair::new(&schemes, limited);
        for op in &ops {
            pair.apply(op);
        }
    }
}
