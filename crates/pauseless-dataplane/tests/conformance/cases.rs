//! The networks that are recorded: all flow controls, disciplines and two classes, and marking.

use pauseless_core::congestion::{CongestionControl, dcqcn, pcn};
use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::{FlowControl, cbfc, pfc};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::Arbiter::{FifoFirst, Slotted};
use pauseless_core::switch::Discipline::{
    self, InputQueued, OutputQueued, Software, VirtualOutputQueued,
};
use pauseless_core::switch::watchdog;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::generate::{LinkSpecs, Ring, Shape};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::Config;
use pauseless_sim::config::{Congestion, Ingress, IngressTable, Reaction, Watchdog};
use pauseless_sim::rng::hash_name;

use super::networks::{MTU, Wanted, flow, network, pace};

const LINE: Rate = Rate::gbps(10);
const BUFFER: Bytes = Bytes::kb(100);
const JITTER: Span = Span::us(2);

const WATCHDOG: watchdog::Config = watchdog::Config {
    detection: Span::us(10),
    restoration: Span::us(100),
    poll: Span::ZERO,
    action: watchdog::Action::Drop,
};

/// Class 0 gets twice the share of any other.
const WEIGHTS: Scheduler = Scheduler::Weighted([2, 1, 1, 1, 1, 1, 1, 1]);

/// A network and what it runs.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    scheme: Scheme,
    discipline: Discipline,
    marking: Marking,
    extra: Extra,
    /// The switch says at least so much.
    pub controls_min: usize,
    /// It marks at least so many packets.
    pub marks_min: usize,
}

#[derive(Clone, Copy, Debug)]
enum Scheme {
    Pfc,
    /// Pauses so short that they run out by themselves.
    PfcShort,
    Cbfc(cbfc::Counters),
    GfcBuffer,
    GfcTime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marking {
    None,
    Pcn,
    Dcqcn,
}

/// What a switch has besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extra {
    None,
    /// A watchdog that drops what is paused for long.
    Watchdog,
    /// Classes that take turns.
    Weights,
    /// Egresses that rest for a tick after every frame.
    Tick,
    /// Line clocks that deviate, a different one at each port.
    Clocks,
}

const fn ring(scheme: Scheme, discipline: Discipline, controls_min: usize) -> Case {
    Case {
        scheme,
        discipline,
        marking: Marking::None,
        extra: Extra::None,
        controls_min,
        marks_min: 0,
    }
}

const fn incast(marking: Marking) -> Case {
    Case {
        scheme: Scheme::Pfc,
        discipline: OutputQueued,
        marking,
        extra: Extra::None,
        controls_min: 0,
        marks_min: 10,
    }
}

const fn with(extra: Extra, discipline: Discipline) -> Case {
    Case { extra, ..ring(Scheme::Pfc, discipline, 10) }
}

const WIDE: Scheme = Scheme::Cbfc(cbfc::Counters::Wide);

pub const CASES: [Case; 29] = [
    ring(Scheme::Pfc, OutputQueued, 30),
    ring(Scheme::Pfc, VirtualOutputQueued, 30),
    ring(Scheme::Pfc, Discipline::INPUT_QUEUED, 30),
    ring(Scheme::Pfc, InputQueued(FifoFirst), 5),
    ring(Scheme::Pfc, InputQueued(Slotted), 5),
    ring(Scheme::PfcShort, OutputQueued, 200),
    ring(Scheme::PfcShort, VirtualOutputQueued, 200),
    ring(Scheme::Cbfc(cbfc::Counters::Iba), OutputQueued, 500),
    ring(WIDE, OutputQueued, 500),
    ring(WIDE, VirtualOutputQueued, 500),
    ring(WIDE, Discipline::INPUT_QUEUED, 500),
    ring(WIDE, InputQueued(FifoFirst), 500),
    ring(WIDE, InputQueued(Slotted), 500),
    ring(WIDE, Software, 500),
    ring(Scheme::GfcBuffer, OutputQueued, 10),
    ring(Scheme::GfcBuffer, VirtualOutputQueued, 10),
    ring(Scheme::GfcBuffer, Discipline::INPUT_QUEUED, 10),
    with(Extra::Tick, Discipline::INPUT_QUEUED),
    with(Extra::Tick, InputQueued(FifoFirst)),
    with(Extra::Tick, Software),
    ring(Scheme::GfcTime, OutputQueued, 500),
    ring(Scheme::GfcTime, VirtualOutputQueued, 500),
    incast(Marking::Pcn),
    incast(Marking::Dcqcn),
    with(Extra::Watchdog, OutputQueued),
    with(Extra::Weights, OutputQueued),
    with(Extra::Weights, VirtualOutputQueued),
    with(Extra::Clocks, OutputQueued),
    Case { scheme: Scheme::GfcBuffer, ..with(Extra::Clocks, VirtualOutputQueued) },
];

impl Case {
    /// The network of this case as the simulator runs it.
    pub fn config(&self) -> Config {
        let mut config = match self.marking {
            Marking::None => self.ring(),
            Marking::Pcn => incast_of(CongestionControl::Pcn(pcn::Config::default())),
            Marking::Dcqcn => incast_of(CongestionControl::Dcqcn(dcqcn::Config::default())),
        };
        let ingress = Ingress { control: self.control(), buffer: BUFFER };
        config.ingress = IngressTable::uniform(&config.topology, 2, ingress);
        config.discipline = self.discipline;
        config.processing = Span::ZERO;
        // So that no two things happen at the same instant.
        config.wire_jitter = JITTER;
        config.duration = Span::ms(2);
        match self.extra {
            Extra::None => {}
            Extra::Watchdog => config.mitigation.watchdog = Watchdog::On(WATCHDOG),
            Extra::Weights => config.scheduler = WEIGHTS,
            Extra::Tick => pace(&mut config),
            Extra::Clocks => config.hardware.clocks.deviation_max_ppb = 100_000,
        }
        config
    }

    /// Whether packets are dropped on purpose.
    pub fn is_dropping(&self) -> bool {
        self.extra == Extra::Watchdog
    }

    /// The switch that is looked at.
    pub fn node(&self, config: &Config) -> NodeId {
        let name = match self.extra {
            // The first one whose watchdog has something to do.
            Extra::Watchdog => "S2",
            Extra::None | Extra::Weights | Extra::Tick | Extra::Clocks => "S1",
        };
        config.topology.node_named(name).expect("a switch")
    }

    /// The ring of the GFC paper, every flow once in each class.
    fn ring(&self) -> Config {
        let round = [
            ("H1", "H3", ["H1", "S1", "S2", "S3", "H3"].as_slice()),
            ("H2", "H1", ["H2", "S2", "S3", "S1", "H1"].as_slice()),
            ("H3", "H2", ["H3", "S3", "S1", "S2", "H2"].as_slice()),
        ];
        let wanted = round.map(|(source, target, path)| Wanted { source, target, path });
        let mut config = network(topology(), &wanted, anything(), 1);
        let mut second = config.flows.clone();
        for flow in &mut second {
            flow.name = format!("{} again", flow.name);
            flow.hash = hash_name(&flow.name);
            flow.class = Class(1);
            flow.packet = Bytes::new(700);
            flow.pace = Rate::gbps(6);
        }
        config.flows.extend(second);
        pauseless_sim::config::canonical_order(&mut config.flows);
        config
    }

    fn control(&self) -> FlowControl {
        let latency = Latency {
            mtu: MTU,
            line: LINE,
            wire: Span::us(1) + JITTER,
            processing: Span::ZERO,
            classes: 2,
            jitter: JITTER,
            overhead: Bytes::ZERO,
            clock_ppb: 0,
        };
        let derivation = Derivation::new(latency, BUFFER);
        match self.scheme {
            Scheme::Pfc => FlowControl::Pfc(derivation.pfc()),
            Scheme::PfcShort => FlowControl::Pfc(pfc::Config { quanta: 300, ..derivation.pfc() }),
            Scheme::Cbfc(counters) => {
                FlowControl::Cbfc(cbfc::Config { capacity: BUFFER, period: Span::us(20), counters })
            }
            Scheme::GfcBuffer => FlowControl::GfcBuffer(derivation.gfc_buffer(None, None)),
            Scheme::GfcTime => {
                FlowControl::GfcTime(derivation.gfc_time(None, None, Some(Span::us(20))))
            }
        }
    }
}

fn topology() -> Topology {
    let spec = LinkSpec { rate: LINE, delay: Span::us(1) };
    let shape = Ring { switches: 3, hosts_per_switch: 1 };
    shape.build(LinkSpecs::same(spec)).expect("a ring")
}

/// Replaced by the case.
fn anything() -> Ingress {
    Ingress { control: FlowControl::None, buffer: BUFFER }
}

/// Two hosts send to the third one, which tells them about marks in a class of their own and sends to
/// them as well.
fn incast_of(control: CongestionControl) -> Config {
    let pairs = [("H2", "H1"), ("H3", "H1"), ("H1", "H2"), ("H1", "H3")];
    let wanted = pairs.map(|(source, target)| Wanted { source, target, path: &[] });
    let mut config = network(topology(), &wanted, anything(), 1);
    config.congestion = Congestion { control, ack_every: 0 };
    for (name, back) in [("H2->H1", "H1->H2"), ("H3->H1", "H1->H3")] {
        let group = config.flows[flow(&config, back).index()].group;
        let index = flow(&config, name).index();
        let initial = config.topology.port(config.flows[index].source, PortId(0)).rate;
        config.flows[index].reaction = Reaction::Controlled {
            initial,
            group,
            class: Class(1),
            window: Bytes::MAX,
            round_trip: Span::ZERO,
        };
    }
    config
}
