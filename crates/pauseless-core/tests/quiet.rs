//! A port tells the halves of its flow control only of what they have to know; whatever happens, it says
//! and allows what halves do that are told everything.

use pauseless_core::flow_control::{
    AnyDownstream, AnyUpstream, Downstream, FlowControl, Signal, Upstream, cbfc, gfc, pfc,
};
use pauseless_core::id::Class;
use pauseless_core::port::{LaneConfig, Port, PortConfig};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use proptest::prelude::*;

const LINE: Rate = Rate::gbps(10);
const BUFFER: Bytes = Bytes::kb(20);

fn control(scheme: usize) -> FlowControl {
    let pfc = |quanta| pfc::Config { xoff: Bytes::kb(6), xon: Bytes::kb(4), quanta };
    let bm = Bytes::kb(12);
    let mapping =
        gfc::Mapping { bm, b0: Bytes::kb(4), hold: bm, floor: Rate::mbps(8), unit: Rate::mbps(8) };
    match scheme {
        0 => FlowControl::None,
        1 => FlowControl::Pfc(pfc(200)),
        2 => FlowControl::Pfc(pfc(pfc::UNTIL_RESUMED)),
        3 | 4 => FlowControl::GfcBuffer(gfc::BufferConfig {
            bm,
            b1: if scheme == 3 { Bytes::kb(4) } else { Bytes::ZERO },
            stages: 5,
            hold: bm,
            unit: Rate::mbps(8),
            refresh: Some(Span::us(20)),
            hold_off: Span::us(2),
            prompt_stage: 4,
        }),
        5 => FlowControl::GfcTime(gfc::TimeConfig {
            mapping,
            period: Span::us(5),
            measure: gfc::Measure::Message,
            capacity: BUFFER,
        }),
        _ => FlowControl::Cbfc(cbfc::Config {
            capacity: BUFFER,
            period: Span::us(5),
            counters: cbfc::Counters::Wide,
        }),
    }
}

fn signal(scheme: usize, value: u16) -> Option<Signal> {
    match scheme {
        0 => None,
        1 | 2 => Some(Signal::Pause { quanta: value }),
        3 | 4 => Some(Signal::Stage(value % 7)),
        5 => Some(Signal::Free(Bytes::new(u64::from(value) * 64))),
        _ => Some(Signal::Credit { fctbs: 0, fccl: u32::from(value) }),
    }
}

/// Halves that are told everything, and the counter between them.
struct Told {
    up: AnyUpstream,
    down: AnyDownstream,
    held: Bytes,
    is_talking: bool,
}

impl Told {
    /// The next message, as [`Port::poll_signal`] finds it.
    fn poll(&mut self, now: Time) -> Option<Signal> {
        if !std::mem::take(&mut self.is_talking) {
            return None;
        }
        let signal = self.down.poll_signal(now);
        if signal.is_none() {
            self.down.handle_timeout(now);
        }
        signal.map(|signal| self.up.complete(signal))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_port_says_and_allows_what_its_halves_do(
        scheme in 0usize..7,
        steps in prop::collection::vec((0u8..7, 64u64..1_500, 0u16..320), 1..300),
    ) {
        let control = control(scheme);
        let lane = LaneConfig::new(control, BUFFER);
        let mut port = Port::new(&PortConfig { line: LINE, lanes: [lane].into() });
        let mut told = Told {
            up: control.upstream(LINE),
            down: control.downstream(LINE, Span::ZERO),
            held: Bytes::ZERO,
            is_talking: false,
        };
        let (mut now, mut inside, mut held_max) = (Time::ZERO, Vec::new(), Bytes::ZERO);
        let class = Class(0);
        for (step, size, value) in steps {
            let size = Bytes::new(size);
            match step {
                0 | 1 => {
                    let charge = port.charge(class, size);
                    let fits = told.held + charge <= BUFFER;
                    prop_assert_eq!(port.enqueue(now, class, charge).is_ok(), fits);
                    if fits {
                        told.held += charge;
                        told.down.on_enqueue(now, charge, told.held);
                        told.is_talking |= told.down.has_signal(now);
                        inside.push(charge);
                    }
                }
                2 => if let Some(charge) = inside.pop() {
                    port.dequeue(now, class, charge);
                    told.held -= charge;
                    told.down.on_dequeue(now, charge, told.held);
                    told.is_talking |= told.down.has_signal(now);
                },
                3 => if let Some(signal) = signal(scheme, value) {
                    port.handle_signal(now, pauseless_core::flow_control::Control { class, signal });
                    told.up.on_signal(now, signal);
                },
                4 => {
                    now = now + Span::ns(u64::from(value) * 40);
                    if port.poll_timeout() <= now {
                        port.handle_timeout(now);
                        told.down.handle_timeout(now);
                        told.is_talking |= told.down.has_signal(now);
                    }
                }
                5 => {
                    let charge = port.charge(class, size);
                    let held = told.held + charge;
                    prop_assert_eq!(port.pass(now, class, charge).is_ok(), held <= BUFFER);
                    if held <= BUFFER {
                        held_max = held_max.max(held);
                        told.down.on_enqueue(now, charge, held);
                        told.is_talking |= told.down.has_signal(now);
                        told.down.on_dequeue(now, charge, told.held);
                        told.is_talking |= told.down.has_signal(now);
                    }
                }
                _ => {
                    let said = port.poll_signal(now).map(|control| control.signal);
                    prop_assert_eq!(said, told.poll(now));
                }
            }
            held_max = held_max.max(told.held);
            prop_assert_eq!(port.held_max(class), held_max);
            prop_assert_eq!(port.held(class), told.held);
            prop_assert_eq!(port.is_talking(), told.is_talking);
            let gate = port.gate(now, class, size);
            prop_assert_eq!(gate, told.up.gate(now, size));
            if gate == pauseless_core::flow_control::Gate::Open && value % 3 == 0 {
                port.on_transmit(now, class, size);
                told.up.on_transmit(now, size);
            }
        }
    }
}
