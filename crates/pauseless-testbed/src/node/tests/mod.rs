//! A report to try views on.

use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_dataplane::report::{
    ClassReport, Lateness, NodeReport, PortCounters, PortReport, PortSeries, Quantiles,
    ReceiveReport, Recording, SendReport,
};

/// A switch after two seconds: one port flows, one is paused and has lost frames.
pub(super) fn report() -> NodeReport {
    NodeReport {
        name: "S1".to_string(),
        time: Time::ZERO + Span::s(2),
        stalled: Span::ms(3),
        ports: vec![port("H1", 100_000), port("S2", 25_000)],
        sends: vec![SendReport {
            flow: 0,
            name: "F1".to_string(),
            frames: 8_000,
            bytes: Bytes::new(12_000_000),
            first: Some(Time::ZERO + Span::us(60)),
            allowed_bps: 100_000_000,
        }],
        receives: vec![ReceiveReport {
            flow: 1,
            name: "F2".to_string(),
            frames: 7_990,
            bytes: Bytes::new(11_985_000),
            first: Some(Time::ZERO + Span::us(200)),
            last: Some(Time::ZERO + Span::ms(1_999)),
            missing: 3,
            reordered: 1,
            duplicates: 0,
            astray: 0,
            restarts: 1,
            marked: 0,
            latency: quantiles(55),
        }],
        lateness: Lateness {
            control: quantiles(10),
            data: quantiles(20),
            control_sent: quantiles(5),
            data_sent: Quantiles::default(),
        },
        series: Recording {
            times: vec![Time::ZERO + Span::ms(10)],
            ports: vec![PortSeries {
                queue: vec![1_500],
                input_bps: vec![0.1],
                ..PortSeries::default()
            }],
            flows: Vec::new(),
        },
    }
}

fn port(neighbour: &str, sent: u64) -> PortReport {
    let is_paused = neighbour == "S2";
    PortReport {
        neighbour: neighbour.to_string(),
        line_bps: 100_000_000,
        counters: PortCounters {
            received: sent / 2,
            received_bytes: Bytes::new(sent / 2 * 1_500),
            sent,
            sent_bytes: Bytes::new(sent * 1_500),
            pauses_received: 12,
            overruns: if is_paused { 7 } else { 0 },
            unknown: 2,
            ..PortCounters::default()
        },
        classes: vec![ClassReport {
            class: 3,
            held: Bytes::kb(120),
            held_max: Bytes::kb(151),
            buffer: Bytes::kb(300),
            backlog: 80,
            allowed_bps: (!is_paused).then_some(50_000_000),
            is_stopped: is_paused,
        }],
    }
}

fn quantiles(us: u64) -> Quantiles {
    Quantiles {
        count: 7_990,
        p50: Span::us(us),
        p99: Span::us(us * 4),
        p999: Span::us(us * 20),
        max: Span::us(us * 100),
    }
}
