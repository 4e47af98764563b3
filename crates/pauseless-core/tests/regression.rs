//! Faults that were found by review before the first release, so that they stay mended.

use pauseless_core::congestion::CongestionControl;
use pauseless_core::derive::{Derivation, Latency, Violation};
use pauseless_core::flow_control::{
    Downstream, FlowControl, Signal, Upstream, cbfc, gfc, limiter, pfc,
};
use pauseless_core::id::{Class, PortId};
use pauseless_core::port::{LaneConfig, Port, PortConfig};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::software::Polling;
use pauseless_core::switch::{Arrival, Discipline, Switch, SwitchConfig, Transmit};
use pauseless_core::unit::{Bytes, Rate, Span, Time};

const LINE: Rate = Rate::gbps(10);
const MTU: Bytes = Bytes::new(1_500);

fn lane(control: FlowControl) -> LaneConfig {
    LaneConfig { phase: Span::ns(1), ..LaneConfig::new(control, Bytes::kb(200)) }
}

fn at(ns: u64) -> Time {
    Time::ZERO + Span::ns(ns)
}

/// A class whose RESUME was taken back before it could leave still refreshes its PAUSE in time.
#[test]
fn a_resume_that_was_taken_back_does_not_cost_the_refresh() {
    let (xoff, xon) = (Bytes::kb(80), Bytes::kb(80));
    let lane = lane(FlowControl::Pfc(pfc::Config { xoff, xon, quanta: pfc::QUANTA_MAX }));
    let mut port = Port::new(&PortConfig { line: LINE, lanes: [lane; 2].into() });
    for _ in 0..54 {
        port.enqueue(at(0), Class(1), MTU).expect("there is room");
    }
    assert!(port.poll_signal(at(0)).is_some());
    let refresh = port.poll_timeout();
    // While the wire is busy class 1 falls below XON and class 0 rises above XOFF.
    port.dequeue(at(100), Class(1), MTU);
    for _ in 0..54 {
        port.enqueue(at(200), Class(0), MTU).expect("there is room");
    }
    assert_eq!(port.poll_signal(at(300)).map(|control| control.class), Some(Class(0)));
    port.enqueue(at(340), Class(1), MTU).expect("there is room");
    assert_eq!(port.poll_signal(at(352)), None, "class 1 has nothing new to say");
    assert!(port.poll_timeout() <= refresh, "{}", port.poll_timeout());
}

/// With unsafe parameters the hold may lie below B_m; it is seen there as well.
#[test]
fn a_hold_below_bm_is_seen() {
    let (bm, b1, hold) = (Bytes::mb(1), Bytes::kb(750), Bytes::kb(997));
    let config = gfc::BufferConfig {
        bm,
        b1,
        stages: 19,
        hold,
        unit: limiter::RATE_UNIT,
        refresh: None,
        hold_off: Span::ZERO,
        prompt_stage: 0,
    };
    let mut down = gfc::BufferDownstream::new(&config);
    let mut last = None;
    for held in (500..=998_000).step_by(500) {
        down.on_enqueue(at(0), Bytes::new(500), Bytes::new(held));
        last = down.poll_signal(at(0)).or(last);
    }
    assert_eq!(last, Some(Signal::Stage(20)));
}

/// Two classes change while the wire is busy: both levels leave at once, not after the frame.
#[test]
fn conceptual_signals_wait_for_no_wire_and_for_no_other_class() {
    let mapping = gfc::Mapping {
        bm: Bytes::kb(100),
        b0: Bytes::kb(50),
        hold: Bytes::kb(150),
        floor: Rate::mbps(1),
        unit: limiter::RATE_UNIT,
    };
    let lane = |us| {
        lane(FlowControl::GfcConceptual(gfc::ConceptualConfig { mapping, delay: Span::us(us) }))
    };
    let port = PortConfig { line: LINE, lanes: [lane(10), lane(20)].into() };
    let (discipline, scheduler) = (Discipline::OutputQueued, Scheduler::Strict);
    let mut switch = Switch::new(&SwitchConfig {
        changes_class: false,
        memory: pauseless_core::memory::MemoryConfig::Private,
        congestion: CongestionControl::None,
        seed: 0,
        discipline,
        polling: Polling::default(),
        scheduler,
        ports: vec![port; 2],
    });
    let arrive = |switch: &mut Switch<u32>, ingress, egress, class| {
        let arrival = Arrival {
            packet: 0,
            size: MTU,
            class: Class(class),
            egress: PortId(egress),
            leaving: Class(class),
        };
        switch.handle_arrival(at(100), PortId(ingress), arrival).expect("there is room");
    };
    arrive(&mut switch, 1, 0, 0);
    assert!(switch.poll_transmit(at(100), PortId(0)).is_some(), "port 0 is busy from now on");
    while switch.poll_ready().is_some() {}
    arrive(&mut switch, 0, 1, 0);
    arrive(&mut switch, 0, 1, 1);
    let mut ready = Vec::from_iter(std::iter::from_fn(|| switch.poll_ready()));
    ready.sort();
    assert_eq!(ready, [PortId(0), PortId(1)]);
    let mut heard = Vec::new();
    while let Some((control, delay)) = switch.poll_out_of_band(at(100), PortId(0)) {
        heard.push((control.class, delay));
    }
    assert_eq!(heard, [(Class(0), Span::us(10)), (Class(1), Span::us(20))]);
}

/// A switch with credits for one frame and a half at port 2.
fn credit_switch(discipline: Discipline) -> Switch<u32> {
    let config =
        |capacity| cbfc::Config { capacity, period: Span::ms(1), counters: cbfc::Counters::Wide };
    let wide = lane(FlowControl::Cbfc(config(Bytes::kb(100))));
    let tight = LaneConfig { egress: FlowControl::Cbfc(config(Bytes::new(2_300))), ..wide };
    let port = |lane| PortConfig { line: LINE, lanes: [lane; 1].into() };
    let ports = vec![port(wide), port(wide), port(tight), port(wide)];
    Switch::new(&SwitchConfig {
        changes_class: false,
        memory: pauseless_core::memory::MemoryConfig::Private,
        congestion: CongestionControl::None,
        seed: 0,
        discipline,
        polling: Polling::default(),
        scheduler: Scheduler::Strict,
        ports,
    })
}

fn arrive(switch: &mut Switch<u32>, ingress: u16, egress: u16, size: u64) {
    let (size, class, egress) = (Bytes::new(size), Class(0), PortId(egress));
    let arrival = Arrival { packet: 0, size, class, egress, leaving: class };
    switch.handle_arrival(at(0), PortId(ingress), arrival).expect("there is room");
    while switch.poll_ready().is_some() {}
}

fn send(switch: &mut Switch<u32>, port: u16) {
    let transmit = switch.poll_transmit(at(0), PortId(port));
    assert!(matches!(transmit, Some(Transmit::Data { .. })), "{transmit:?}");
    switch.handle_transmitted(at(0), PortId(port));
    while switch.poll_ready().is_some() || switch.poll_ended(at(0)) {}
}

/// A packet that becomes head behind another one is asked at once whether it has credit.
#[test]
fn a_head_that_was_uncovered_is_known_to_lack_credit() {
    let mut switch = credit_switch(Discipline::INPUT_QUEUED);
    arrive(&mut switch, 0, 2, 1_500);
    send(&mut switch, 2);
    arrive(&mut switch, 1, 2, 64);
    arrive(&mut switch, 0, 3, 1_500);
    arrive(&mut switch, 0, 2, 1_500);
    send(&mut switch, 2);
    send(&mut switch, 3);
    assert!(switch.blocked(at(0), PortId(2), Class(0)).is_some());
    assert_eq!(switch.stopped(PortId(2)), 1);
}

/// A sender that counts what is in flight is held and let go unasked; that is no missing resume.
#[test]
fn credit_measure_does_not_confuse_the_count_of_resumes() {
    let mapping = gfc::Mapping {
        bm: Bytes::kb(100),
        b0: Bytes::kb(50),
        hold: Bytes::kb(109),
        floor: Rate::mbps(1),
        unit: limiter::RATE_UNIT,
    };
    let (period, capacity, measure) = (Span::us(50), Bytes::kb(112), gfc::Measure::Credit);
    let config = gfc::TimeConfig { mapping, period, measure, capacity };
    let control = FlowControl::GfcTime(config);
    let (mut up, mut down) = (control.upstream(LINE), control.downstream(LINE, Span::ns(1)));
    for n in 1..=74u64 {
        up.on_transmit(at(0), MTU);
        if n <= 72 {
            down.on_enqueue(at(0), MTU, MTU * n);
        }
    }
    let signal = down.poll_signal(at(1)).expect("a message is due");
    up.on_signal(at(1), signal);
    assert!(up.is_stopped(at(1), MTU), "in flight counts");
    for n in (0..72u64).rev() {
        down.on_dequeue(at(2), MTU, MTU * n);
    }
    let signal = down.poll_signal(at(60_000)).expect("the next one");
    up.on_signal(at(60_000), signal);
    assert!(!up.is_stopped(at(60_000), MTU));
    assert_eq!(up.resumes(), down.resumes());
}

/// A refresh may take longer on its way than the PAUSE before it.
#[test]
fn jitter_needs_longer_pauses() {
    let latency = |jitter| Latency {
        mtu: MTU,
        line: LINE,
        wire: Span::us(1),
        processing: Span::us(9),
        classes: 1,
        jitter,
        overhead: Bytes::new(20),
        clock_ppb: 0,
    };
    let check = |jitter, quanta| {
        let derivation = Derivation::new(latency(jitter), Bytes::kb(100));
        derivation.check(&FlowControl::Pfc(pfc::Config { quanta, ..derivation.pfc() }))
    };
    assert_eq!(check(Span::ZERO, 52), Ok(()));
    assert!(matches!(check(Span::ZERO, 50), Err(Violation::Quanta { least: 52, .. })));
    assert!(matches!(check(Span::us(6), 52), Err(Violation::Quanta { .. })));
    assert_eq!(check(Span::us(6), 300), Ok(()));
}

/// A message that is held off leaves the port although nothing comes or goes any more, and in spite of
/// another class.
#[test]
fn a_port_tells_the_last_return_to_stage_0() {
    let latency = Latency {
        mtu: MTU,
        line: LINE,
        wire: Span::us(1),
        processing: Span::us(3),
        classes: 2,
        jitter: Span::ZERO,
        overhead: Bytes::ZERO,
        clock_ppb: 0,
    };
    let derivation = Derivation::new(latency, Bytes::kb(200));
    let config = derivation.gfc_buffer(None, None);
    assert_eq!((config.hold_off, config.prompt_stage), (Span::ns(14_800), 4));
    let lane = lane(FlowControl::GfcBuffer(config));
    let mut port = Port::new(&PortConfig { line: LINE, lanes: [lane; 2].into() });
    let count = config.b1.get().div_ceil(MTU.get());
    for class in [Class(0), Class(1)] {
        for _ in 0..count {
            port.enqueue(at(u64::from(class.0)), class, MTU).expect("there is room");
        }
        let control = port.poll_signal(at(u64::from(class.0))).expect("stage 1");
        assert_eq!((control.class, control.signal), (class, Signal::Stage(1)));
        port.dequeue(at(100), class, MTU);
        assert_eq!(port.poll_signal(at(100)), None);
    }
    for class in [Class(0), Class(1)] {
        let due = port.poll_timeout();
        assert_eq!(due, at(14_800 + u64::from(class.0)));
        port.handle_timeout(due);
        let control = port.poll_signal(due).expect("stage 0");
        assert_eq!((control.class, control.signal), (class, Signal::Stage(0)));
    }
    assert_eq!(port.poll_timeout(), Time::MAX);
}
