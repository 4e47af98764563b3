//! Networks of the PCN and GFC papers on which congestion control is tried.

use pauseless_core::class_map::ClassMap;
use pauseless_core::congestion::marking::{self, MarkAt};
use pauseless_core::congestion::{CongestionControl, dcqcn, pcn, qcn, timely};
use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, FlowId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Discipline;
use pauseless_core::transport::Transport;
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_fabric::builder::TopologyBuilder;
use pauseless_fabric::generate::{Dumbbell, LinkSpecs, ParkingLot, Shape};
use pauseless_fabric::routing::{Groups, Multipath, RouteBuilder, TieBreak};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::config::{
    Congestion, Flow, Ingress, IngressTable, Mitigation, Probes, Reaction, Replay, Stop, WireLoss,
    canonical_order,
};
use pauseless_sim::outcome::PortOutcome;
use pauseless_sim::rng::{Purpose, Stream, hash_name};
use pauseless_sim::{Config, Outcome};

/// The packets of the PCN paper.
pub const PACKET: Bytes = Bytes::new(1_000);

/// A flow, greedy and without end unless changed.
#[derive(Clone)]
pub struct Wish {
    pub name: String,
    pub source: String,
    pub target: String,
    pub pace: Option<Rate>,
    pub initial: Option<Rate>,
    pub size: Bytes,
    pub start: Time,
    pub is_controlled: bool,
    pub class: Class,
}

impl Wish {
    pub fn new(name: &str, source: &str, target: &str) -> Wish {
        Wish {
            name: name.to_string(),
            source: source.to_string(),
            target: target.to_string(),
            pace: None,
            initial: None,
            size: Bytes::MAX,
            start: Time::ZERO,
            is_controlled: true,
            class: Class(0),
        }
    }
}

/// PFC as in all experiments of the PCN paper.
pub fn pcn_ingress() -> Ingress {
    Ingress {
        control: FlowControl::Pfc(pfc::Config {
            xoff: Bytes::kb(512),
            xon: Bytes::kb(510),
            quanta: pfc::QUANTA_MAX,
        }),
        buffer: Bytes::mb(1),
    }
}

/// A run of `wishes` under `control`, with a class of its own for what sources are told.
pub fn controlled(
    topology: Topology,
    wishes: &[Wish],
    ingress: Ingress,
    control: CongestionControl,
) -> Config {
    let class_count = 2 + wishes.iter().map(|wish| wish.class.0).max().unwrap_or(0);
    let tie_break = TieBreak::Lowest;
    let routes = RouteBuilder::new(&topology, Multipath::Single { tie_break }).build();
    let seed = 1;
    let flows = wishes.iter().map(|wish| {
        let named = |name: &str| topology.node_named(name).expect("a node of that name");
        let (source, target) = (named(&wish.source), named(&wish.target));
        let line = topology.ports(source)[0].rate;
        let hash = hash_name(&wish.name);
        let offset = Stream::new(seed, Purpose::FlowStart, hash).below(5_000_000);
        Flow {
            name: wish.name.clone(),
            source,
            target,
            group: routes.groups.of_host(target),
            class: wish.class,
            label: 0,
            ttl: Flow::TTL_NONE,
            packet: PACKET,
            pace: wish.pace.unwrap_or(line),
            size: wish.size,
            start: wish.start + Span::ps(offset),
            stop: Time::MAX,
            hash,
            duty: Duty::ALWAYS,
            reaction: if wish.is_controlled {
                Reaction::Controlled {
                    initial: wish.initial.unwrap_or(line),
                    group: routes.groups.of_host(source),
                    class: Class(class_count - 1),
                    window: Bytes::MAX,
                    round_trip: Span::ZERO,
                }
            } else {
                Reaction::None
            },
        }
    });
    let mut flows = Vec::from_iter(flows);
    canonical_order(&mut flows);
    Config {
        ingress: IngressTable::uniform(&topology, usize::from(class_count), ingress),
        table: routes.table.clone(),
        discipline: Discipline::OutputQueued,
        polling: Default::default(),
        classes: ClassMap::Same,
        scheduler: Scheduler::Strict,
        processing: Span::us(3),
        processing_jitter: Span::ZERO,
        wire_jitter: Span::ZERO,
        wire_overhead: Bytes::ZERO,
        hardware: pauseless_sim::config::Hardware::default(),
        congestion: Congestion { control, ack_every: control.ack_every() },
        transport: Transport::default(),
        wire_loss: WireLoss::default(),
        load_balancing: Vec::new(),
        receivers: Vec::new(),
        duration: Span::ms(10),
        stop: Stop::default(),
        starvation_permille: 100,
        mitigation: Mitigation::default(),
        changes: Default::default(),
        is_tracing: false,
        replay: Replay::Off,
        probes: Probes::default(),
        seed,
        flows,
        follows: Vec::new(),
        topology,
    }
}

/// Puts every flow of a network under `control`; sources are told in the class of the data.
pub fn put_under(config: &mut Config, control: CongestionControl) {
    config.congestion = Congestion { control, ack_every: control.ack_every() };
    let groups = Groups::of_hosts(&config.topology);
    for flow in &mut config.flows {
        flow.reaction = Reaction::Controlled {
            initial: flow.pace,
            group: groups.of_host(flow.source),
            class: flow.class,
            window: Bytes::MAX,
            round_trip: Span::ZERO,
        };
    }
}

/// The four schemes that the PCN paper compares, for a network with this smallest round trip.
pub fn schemes(min_rtt: Span) -> [CongestionControl; 4] {
    [
        CongestionControl::Pcn(pcn::Config::default()),
        CongestionControl::Qcn(qcn::Config::default()),
        CongestionControl::Dcqcn(dcqcn::Config::default()),
        CongestionControl::Timely(timely::Config::per_packet(min_rtt)),
    ]
}

fn spec(gbps: u64, delay: Span) -> LinkSpec {
    LinkSpec { rate: Rate::gbps(gbps), delay }
}

/// PCN Fig. 1: H0 and H1 behind S0, H2 to H15, R0 and R1 at S1; 40 Gb/s and 5 us everywhere.
pub fn pcn_fig1_topology() -> Topology {
    let mut builder = TopologyBuilder::new();
    let link = spec(40, Span::us(5));
    let (s0, s1) = (builder.add_switch("S0"), builder.add_switch("S1"));
    builder.connect(s0, s1, link);
    for index in 0..16 {
        let host = builder.add_host(format!("H{index}"));
        builder.connect(host, if index < 2 { s0 } else { s1 }, link);
    }
    for name in ["R0", "R1"] {
        let host = builder.add_host(name);
        builder.connect(host, s1, link);
    }
    builder.build().expect("Fig. 1")
}

/// When the bursts of [`pcn_fig1`] begin: every scheme has come to its steady state by then.
pub const BURST: Time = Time::from_ps(80_000_000_000);
/// How long the bursts last when R1 is always busy.
pub const BURST_SPAN: Span = Span::us(2_867);

/// PCN Fig. 1 to 3: F0 and F1 share the link between the switches, then H2 to H15 send 16 flows of
/// 64 KB each to R1, which nothing but flow control holds back.
pub fn pcn_fig1(control: CongestionControl) -> Config {
    let mut wishes = vec![Wish::new("F0", "H0", "R0"), Wish::new("F1", "H1", "R1")];
    if control == CongestionControl::None {
        for wish in &mut wishes {
            wish.pace = Some(Rate::gbps(20));
        }
    }
    for host in 2..16 {
        for number in 0..16 {
            let name = format!("B{host}.{number}");
            wishes.push(Wish {
                size: Bytes::kb(64),
                start: BURST,
                is_controlled: false,
                ..Wish::new(&name, &format!("H{host}"), "R1")
            });
        }
    }
    let mut config = controlled(pcn_fig1_topology(), &wishes, pcn_ingress(), control);
    if let CongestionControl::Timely(_) = control {
        // The paper's sources measure a round trip per segment of 64 KB.
        config.congestion.ack_every = 64;
    }
    config.duration = Span::ms(180);
    let ports = ["H0:S0", "H1:S0", "S0:S1", "S1:R1"];
    config.probes = Probes {
        resolution: Span::us(50),
        ports: ports.map(|name| super::port(&config, name)).to_vec(),
        flows: ["F0", "F1"].map(|name| super::flow(&config, name)).to_vec(),
        ..Probes::default()
    };
    config
}

/// PCN Fig. 5: F0 at 20 Gb/s, three greedy sources to R1, and F1 at `rate` against them.
pub fn pcn_fig5(rate: Rate) -> Config {
    let mut wishes = vec![Wish::new("F0", "H0", "R0"), Wish::new("F1", "H1", "R1")];
    wishes[0].pace = Some(Rate::gbps(20));
    wishes[1].pace = Some(rate);
    for host in 2..5 {
        wishes.push(Wish::new(&format!("B{host}"), &format!("H{host}"), "R1"));
    }
    let none = CongestionControl::None;
    let mut config = controlled(pcn_fig1_topology(), &wishes, pcn_ingress(), none);
    config.duration = Span::ms(30);
    config
}

/// GFC Fig. 20: eight greedy flows of 10 Gb/s over one link, under buffer-based GFC and DCQCN.
pub fn gfc_fig20(mark_at: MarkAt) -> Config {
    let mut builder = TopologyBuilder::new();
    let link = spec(10, Span::us(1));
    let (near, far) = (builder.add_switch("SW0"), builder.add_switch("SW1"));
    builder.connect(near, far, link);
    for index in 1..=9 {
        let host = builder.add_host(format!("H{index}"));
        builder.connect(host, if index < 9 { near } else { far }, link);
    }
    let topology = builder.build().expect("Fig. 20");
    let latency = Latency {
        mtu: super::MTU,
        line: link.rate,
        wire: link.delay,
        processing: Span::us(3),
        classes: 2,
        jitter: Span::ZERO,
        overhead: Bytes::ZERO,
        clock_ppb: 0,
    };
    let derivation = Derivation::new(latency, Bytes::kb(312));
    let gfc = derivation.gfc_buffer(Some(Bytes::kb(300)), Some(Bytes::kb(281)));
    let ingress = Ingress { control: FlowControl::GfcBuffer(gfc), buffer: derivation.buffer };
    assert_eq!(derivation.check(&ingress.control), Ok(()));
    let mut control = dcqcn::Config { alpha_initial: 0.5, ..dcqcn::Config::default() };
    control.marking = marking::Config {
        kmin: Bytes::kb(40),
        kmax: Bytes::kb(40),
        reference: None,
        mark_at,
        ..control.marking
    };
    let wish = |index| Wish::new(&format!("F{index}"), &format!("H{index}"), "H9");
    let wishes = Vec::from_iter((1..=8).map(wish));
    let control = CongestionControl::Dcqcn(control);
    let mut config = controlled(topology, &wishes, ingress, control);
    for flow in &mut config.flows {
        flow.packet = super::MTU;
    }
    config.duration = Span::ms(20);
    config.probes = Probes {
        resolution: Span::us(10),
        ports: ["H1:SW0", "SW0:H1"].map(|name| super::port(&config, name)).to_vec(),
        flows: vec![super::flow(&config, "F1")],
        ..Probes::default()
    };
    config
}

/// Flows of unequal rates that together just fill one link, each from a host of its own, and a
/// round trip that is short against PCN's period: what the fluid model speaks of.
pub fn fluid_network(flow_count: u32, control: pcn::Config) -> Config {
    let shape = Dumbbell { left: flow_count, right: flow_count };
    let topology = shape.build(LinkSpecs::same(spec(40, Span::us(1))));
    let parts = u64::from(flow_count * (flow_count + 1));
    let wish = |index: u32| Wish {
        initial: Some(Rate::mbps(80_000 * u64::from(index) / parts)),
        ..Wish::new(&format!("F{index:02}"), &format!("X{index}"), &format!("Y{index}"))
    };
    let wishes = Vec::from_iter((1..=flow_count).map(wish));
    let control = CongestionControl::Pcn(control);
    let topology = topology.expect("a dumbbell");
    let mut config = controlled(topology, &wishes, pcn_ingress(), control);
    config.probes = Probes {
        resolution: Span::us(100),
        ports: vec![super::port(&config, "SW0:SW1")],
        flows: (0..flow_count).map(FlowId).collect(),
        ..Probes::default()
    };
    config
}

/// Jain's index of the rates of all flows late in the run, and their sum in Gb/s.
pub fn fairness(outcome: &Outcome) -> (f64, f64) {
    let rates = outcome.flows.iter().map(|flow| flow.goodput_late_bps / 1e9);
    let sum: f64 = rates.clone().sum();
    let squares: f64 = rates.clone().map(|rate| rate * rate).sum();
    (sum * sum / (rates.count() as f64 * squares), sum)
}

/// What left a port, and how it was held.
pub fn port_outcome(config: &Config, outcome: &Outcome, name: &str) -> PortOutcome {
    let (node, port) = super::port(config, name);
    let mut ports = outcome.ports.iter();
    let found = ports.find(|it| (it.node, it.port) == (node, port));
    *found.expect("every port has an outcome")
}

/// PCN 7.1: three pairs of hosts around one link of 10 Gb/s, a round trip of 500 us; the third
/// pair has twice as many flows.
pub fn pcn_dumbbell(flow_count: usize, control: CongestionControl) -> Config {
    dumbbell_at(flow_count, 10, control)
}

/// The same with links of another speed.
pub fn dumbbell_at(flow_count: usize, gbps: u64, control: CongestionControl) -> Config {
    let link = spec(gbps, Span::us(83));
    let shape = Dumbbell { left: 3, right: 3 };
    let topology = shape.build(LinkSpecs::same(link)).expect("a dumbbell");
    let quarter = flow_count / 4;
    let mut wishes = Vec::new();
    for (pair, count) in [(1, quarter), (2, quarter), (3, 2 * quarter)] {
        for number in 0..count {
            let name = format!("P{pair}.{number:03}");
            wishes.push(Wish::new(&name, &format!("X{pair}"), &format!("Y{pair}")));
        }
    }
    let mut config = controlled(topology, &wishes, pcn_ingress(), control);
    config.probes = Probes {
        resolution: Span::us(100),
        ports: vec![super::port(&config, "SW0:SW1")],
        flows: (0..flow_count.min(16) as u32).map(FlowId).collect(),
        ..Probes::default()
    };
    config
}

/// PCN 7.1 with many flows from their fair rates, and PCN's parameters chosen for them: a period in
/// which a fair flow sends forty packets, so that "at least 95 % marked" can be told from "all
/// marked", and a w_min with which the queue swings by a tenth of what the link carries in a
/// millisecond; 0.1/N, as section 6.2 has it, is a tenth of what it carries in a period.
pub fn pcn_for_many(flow_count: usize) -> Config {
    let forty = Rate::gbps(10).tx_span(PACKET) * 40 * flow_count as u64;
    let period = forty.max(Span::us(500));
    let swing = 1e-3 / period.as_secs_f64();
    let control = CongestionControl::Pcn(pcn::Config {
        period,
        w_min: 0.1 / flow_count as f64 * swing.min(1.0),
        ..pcn::Config::default()
    });
    let mut config = pcn_dumbbell(flow_count, control);
    for flow in &mut config.flows {
        if let Reaction::Controlled { initial, .. } = &mut flow.reaction {
            *initial = Rate::bps(10_000_000_000 / flow_count as u64);
        }
    }
    config
}

/// PCN B.3: F0 passes every link of a row, each other flow one of them.
pub fn parking_lot(links: u32, control: CongestionControl) -> Config {
    let shape = ParkingLot { links };
    let topology = shape.build(LinkSpecs::same(spec(40, Span::us(5))));
    let topology = topology.expect("a parking lot");
    let mut wishes = vec![Wish::new("F00", "A0", "B0")];
    for link in 1..=links {
        let name = format!("F{link:02}");
        wishes.push(Wish::new(&name, &format!("A{link}"), &format!("B{link}")));
    }
    controlled(topology, &wishes, pcn_ingress(), control)
}
