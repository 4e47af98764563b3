//! The switches in which PFC and credits deadlock while both kinds of GFC flow on, against a model of
//! their own, packet by packet.

mod model;
#[path = "../networks/mod.rs"]
mod networks;

use std::sync::{Arc, Mutex};

use model::{Kind, LINE, Model, Setting};
use networks::{Wanted, network};
use pauseless_core::flow_control::{FlowControl, cbfc, gfc, pfc};
use pauseless_core::id::{Class, NodeId, PortId};
use pauseless_core::switch::{Arbiter, Discipline};
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::generate::{FatTree, LinkSpecs, Ring, Shape};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_sim::config::{Config, Hardware, Ingress};
use pauseless_sim::tap::{Direction, Seen, Spot, Tap};
use pauseless_sim::{Simulator, port_config, switch_config};

const WIRE: Span = Span::us(1);
const PERIOD: Span = Span::ns(52_400);
/// A tick of the countdown at the 833 MHz of a port (GFC 5.3).
const TICK: Span = Span::ps(1_200);

/// A network of the paper with its parameters in bytes.
struct Net {
    name: &'static str,
    wanted: &'static [Wanted],
    buffer: u64,
    xoff: u64,
    xon: u64,
    b1: u64,
    b0: u64,
    feedback: Span,
}

const RING: Net = Net {
    name: "ring",
    wanted: &[
        Wanted { source: "H1", target: "H3", path: &["H1", "S1", "S2", "S3", "H3"] },
        Wanted { source: "H2", target: "H1", path: &["H2", "S2", "S3", "S1", "H1"] },
        Wanted { source: "H3", target: "H2", path: &["H3", "S3", "S1", "S2", "H2"] },
    ],
    buffer: 1_000_000,
    xoff: 800_000,
    xon: 797_000,
    b1: 750_000,
    b0: 492_000,
    feedback: Span::ns(87_600),
};

const FIG11: Net = Net {
    name: "Fig. 11",
    wanted: &[
        Wanted {
            source: "H0",
            target: "H8",
            path: &["H0", "E1", "A1", "C1", "A3", "C2", "A5", "E5", "H8"],
        },
        Wanted { source: "H4", target: "H12", path: &["H4", "E3", "A3", "C2", "A7", "E7", "H12"] },
        Wanted {
            source: "H9",
            target: "H1",
            path: &["H9", "E5", "A5", "C2", "A7", "C1", "A1", "E1", "H1"],
        },
        Wanted { source: "H13", target: "H5", path: &["H13", "E7", "A7", "C1", "A3", "E3", "H5"] },
        Wanted { source: "H4", target: "H5", path: &["H4", "E3", "H5"] },
    ],
    buffer: 300_000,
    xoff: 280_000,
    xon: 277_000,
    b1: 281_000,
    b0: 159_000,
    feedback: Span::us(5),
};

impl Net {
    fn topology(&self) -> Topology {
        let spec = LinkSpecs::same(LinkSpec { rate: Rate::bps(LINE), delay: WIRE });
        let shape: &dyn Shape = match self.name {
            "ring" => &Ring { switches: 3, hosts_per_switch: 1 },
            _ => &FatTree { k: 4 },
        };
        shape.build(spec).expect("a network of the paper")
    }

    fn control(&self, control: model::Control) -> FlowControl {
        match control {
            model::Control::Pfc => FlowControl::Pfc(pfc::Config {
                // Ours pauses above XOFF and resumes below XON, the model at them.
                xoff: Bytes::new(self.xoff - 1),
                xon: Bytes::new(self.xon + 1),
                quanta: pfc::UNTIL_RESUMED,
            }),
            model::Control::Credit => FlowControl::Cbfc(cbfc::Config {
                capacity: Bytes::new(self.buffer),
                period: PERIOD,
                counters: cbfc::Counters::Wide,
            }),
            model::Control::GfcBuffer => FlowControl::GfcBuffer(gfc::BufferConfig {
                bm: Bytes::new(self.buffer),
                b1: Bytes::new(self.b1),
                stages: 16,
                hold: Bytes::mb(100),
                unit: Rate::bps(1),
                refresh: None,
                hold_off: Span::ZERO,
                prompt_stage: 0,
            }),
            model::Control::GfcTime => FlowControl::GfcTime(gfc::TimeConfig {
                mapping: gfc::Mapping {
                    bm: Bytes::new(self.buffer),
                    b0: Bytes::new(self.b0),
                    hold: Bytes::mb(100),
                    floor: Rate::bps(LINE >> 16),
                    unit: Rate::bps(1),
                },
                period: PERIOD,
                measure: gfc::Measure::Message,
                capacity: Bytes::mb(100),
            }),
        }
    }
}

/// One run of both.
struct Case {
    net: &'static Net,
    kind: Kind,
    control: model::Control,
    tick: Option<Span>,
    seed: u64,
}

impl Case {
    fn packet(&self) -> Bytes {
        // Credits count in blocks of 64 bytes, the model in bytes.
        Bytes::new(if self.control == model::Control::Credit { 1_536 } else { 1_500 })
    }

    fn config(&self) -> Config {
        let Net { wanted, feedback, .. } = self.net;
        let ingress = Ingress { control: self.net.control(self.control), buffer: Bytes::mb(100) };
        let mut config = network(self.net.topology(), wanted, ingress, self.seed);
        config.discipline = match self.kind {
            Kind::EgressFirst => Discipline::InputQueued(Arbiter::EgressFirst),
            Kind::FifoFirst => Discipline::InputQueued(Arbiter::FifoFirst),
            Kind::Slotted => Discipline::InputQueued(Arbiter::Slotted),
            Kind::Software => Discipline::Software,
        };
        config.processing = *feedback - WIRE;
        config.hardware = Hardware { control_frame: Bytes::ZERO, ..Hardware::default() };
        config.duration = Span::ms(4);
        for flow in &mut config.flows {
            flow.packet = self.packet();
        }
        // Both flows of a host start together, as in the model.
        for index in 1..config.flows.len() {
            let earlier =
                config.flows[..index].iter().find(|it| it.source == config.flows[index].source);
            if let Some(start) = earlier.map(|it| it.start) {
                config.flows[index].start = start;
            }
        }
        let nodes = 0..config.topology.nodes().len() as u32;
        for node in nodes.map(NodeId) {
            for port in 0..config.topology.ports(node).len() as u16 {
                let (port, class) = (PortId(port), Class(0));
                if config.topology.is_host(node) {
                    config.ingress.get_mut(node, port, class).control = FlowControl::None;
                } else if let Some(tick) = self.tick {
                    config.ingress.pace(node, port, class, tick);
                }
            }
        }
        config
    }

    fn setting(&self, config: &Config) -> Setting {
        let name = |node: NodeId| config.topology.node(node).name.clone();
        let mut setting = Setting {
            kind: self.kind,
            control: self.control,
            paths: Vec::new(),
            ports: Default::default(),
            starts: Default::default(),
            phases: Default::default(),
            dice: Default::default(),
            packet: self.packet().get(),
            buffer: self.net.buffer,
            xoff: self.net.xoff,
            xon: self.net.xon,
            b1: self.net.b1,
            b0: self.net.b0,
            feedback: self.net.feedback.as_ps(),
            period: PERIOD.as_ps(),
            wire: WIRE.as_ps(),
            tick: self.tick.map(Span::as_ps),
            burst: 32,
            ring: 128,
            visit: 60_000,
            per_packet: 20_000,
        };
        for flow in &config.flows {
            let is_it =
                |it: &&Wanted| it.source == name(flow.source) && it.target == name(flow.target);
            let wanted = self.net.wanted.iter().find(is_it).expect("a flow of the network");
            setting.paths.push(wanted.path.iter().map(|it| it.to_string()).collect());
            setting.starts.insert(name(flow.source), flow.start.as_ps());
        }
        for switch in config.topology.switches() {
            let ports = config.topology.ports(*switch);
            let peers = ports.iter().map(|port| name(port.peer));
            setting.ports.insert(name(*switch), peers.collect());
            for (index, port) in ports.iter().enumerate() {
                let lanes = port_config(config, *switch, PortId(index as u16)).lanes;
                let key = (name(port.peer), name(*switch));
                setting.phases.insert(key, lanes[0].phase.as_ps());
            }
            let seed = switch_config(config, *switch).seed ^ 0x50f7_3a4e_9011_b07e;
            setting.dice.insert(name(*switch), seed);
        }
        setting
    }

    /// Compares when which packet arrives.
    fn compare(&self) {
        let config = self.config();
        let mut model = Model::new(self.setting(&config));
        model.run(config.duration.as_ps());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let hosts = (0..config.topology.nodes().len() as u32).map(NodeId);
        let hosts = hosts.map(|node| config.topology.is_host(node)).collect();
        let mut run = Simulator::new(&config);
        run.set_tap(Box::new(Deliveries { hosts, seen: seen.clone() }));
        let outcome = run.run();
        assert_eq!(outcome.lost_packets, 0);
        let seen = seen.lock().expect("the run is over");
        let Case { net: Net { name, .. }, kind, control, tick, seed } = self;
        let what = format!("{name}, {kind:?}, {control:?}, tick {tick:?}, seed {seed}");
        assert!(seen.len() > 300, "{what}: {} packets", seen.len());
        for (ours, its) in seen.iter().zip(&model.delivered) {
            assert_eq!(ours, its, "{what}");
        }
        assert_eq!(seen.len(), model.delivered.len(), "{what}");
    }
}

/// When which packet has arrived at its host.
struct Deliveries {
    hosts: Vec<bool>,
    seen: Arc<Mutex<Vec<(u64, usize)>>>,
}

impl Tap for Deliveries {
    fn see(&mut self, time: pauseless_core::unit::Time, spot: Spot, frame: Seen) {
        let is_delivery = spot.direction == Direction::In && self.hosts[spot.node.index()];
        if let (true, Seen::Data { flow, .. }) = (is_delivery, frame) {
            self.seen.lock().expect("one thread").push((time.as_ps(), flow.index()));
        }
    }
}

fn compare_all(kind: Kind) {
    use model::Control::{Credit, GfcBuffer, GfcTime, Pfc};
    for net in [&RING, &FIG11] {
        for control in [Pfc, Credit, GfcBuffer, GfcTime] {
            // Where GFC paces a software switch, it hands over single packets.
            let is_paced = kind == Kind::Software && matches!(control, GfcBuffer | GfcTime);
            let ticks: &[_] = if is_paced { &[Some(TICK)] } else { &[None, Some(TICK)] };
            for tick in ticks.iter().copied() {
                for seed in 1..=5 {
                    Case { net, kind, control, tick, seed }.compare();
                }
            }
        }
    }
}

#[test]
fn egresses_that_decide_at_once_agree_with_the_model() {
    compare_all(Kind::EgressFirst);
}

#[test]
fn fifos_that_show_first_agree_with_the_model() {
    compare_all(Kind::FifoFirst);
}

#[test]
fn slots_agree_with_the_model() {
    compare_all(Kind::Slotted);
}

#[test]
fn a_software_switch_agrees_with_the_model() {
    compare_all(Kind::Software);
}
