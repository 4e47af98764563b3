//! The simulator's frames as bytes.

use pauseless_core::congestion::Feedback;
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::unit::{Bytes, Time};
use pauseless_sim::Config;
use pauseless_sim::tap::{Direction, Seen, Spot, Tap};
use pauseless_wire::ack::Ack;
use pauseless_wire::cnm::Cnm;
use pauseless_wire::cnp::Cnp;
use pauseless_wire::ip::Ecn;
use pauseless_wire::roce::Data;
use pauseless_wire::{Envelope, MacAddress, control};
use std::io;
use std::path::Path;
use std::time::Duration;

use super::Capture;
use pauseless_scenario::pattern;
use pauseless_text::problem::Sink;
use pauseless_text::reader::{At, Place};

/// The longest frame that IPv4 can name.
const FRAME_MAX: usize = 65_000;
const FCS: usize = 4;

/// Which ports are captured.
#[derive(Clone, Debug)]
pub struct Ports {
    names: Vec<String>,
    /// One element per port of all nodes.
    chosen: Vec<Option<Chosen>>,
    /// The place of the first port of each node in `chosen`.
    starts: Vec<usize>,
    /// No more than so many bytes of a frame are written.
    snap: usize,
}

#[derive(Clone, Copy, Debug)]
struct Chosen {
    interface: u32,
    /// Whether what arrives is written too.
    is_both_ways: bool,
}

impl Ports {
    /// Every port, with what it sends: so every frame is there once for every wire that it was on.
    pub fn all(config: &Config) -> Ports {
        let topology = &config.topology;
        let mut ports = Ports::none(config);
        for node in (0..topology.nodes().len() as u32).map(NodeId) {
            for port in (0..topology.ports(node).len() as u16).map(PortId) {
                ports.choose(node, port, topology.port_name(node, port), false);
            }
        }
        ports
    }

    /// The ports with these names, in which `*` stands for any text, with what they send and receive.
    /// The error says which name is none.
    pub fn named(config: &Config, names: &[String]) -> Result<Ports, String> {
        let sink = Sink::default();
        let patterns =
            names.iter().map(|name| At { value: name.trim().to_owned(), place: Place::default() });
        let patterns: Vec<At<String>> = patterns.collect();
        let found = pattern::ports(&config.topology, &patterns, &sink);
        if let Some(problem) = sink.into_list().first() {
            let help = match &*problem.help {
                "" => "ports are called NODE:NEIGHBOUR, with * for any text",
                help => help,
            };
            return Err(format!("{}; {help}", problem.message));
        }
        let mut ports = Ports::none(config);
        for (node, port) in found {
            ports.choose(node, port, config.topology.port_name(node, port), true);
        }
        Ok(ports)
    }

    /// Only the first `bytes` of each frame: beyond the headers a payload is zeros, and most of the file.
    #[must_use]
    pub fn cut(self, bytes: usize) -> Ports {
        let snap = bytes.max(1);
        Ports { snap, ..self }
    }

    fn none(config: &Config) -> Ports {
        let topology = &config.topology;
        let mut starts = Vec::new();
        let mut count = 0;
        for node in (0..topology.nodes().len() as u32).map(NodeId) {
            starts.push(count);
            count += topology.ports(node).len();
        }
        Ports { names: Vec::new(), chosen: vec![None; count], starts, snap: usize::MAX }
    }

    fn choose(&mut self, node: NodeId, port: PortId, name: String, is_both_ways: bool) {
        let index = self.starts[node.index()] + port.index();
        self.chosen[index] = Some(Chosen { interface: self.names.len() as u32, is_both_ways });
        self.names.push(name);
    }

    /// The interface for what passes `spot`, if that is written.
    fn interface(&self, spot: Spot) -> Option<u32> {
        let index = self.starts[spot.node.index()] + spot.port.index();
        let chosen = self.chosen[index]?;
        let is_wanted = chosen.is_both_ways || spot.direction == Direction::Out;
        is_wanted.then_some(chosen.interface)
    }
}

/// Writes what passes the ports of a simulated network.
#[derive(Debug)]
pub struct SimulatedCapture<'c> {
    config: &'c Config,
    capture: Capture,
    ports: Ports,
    frame: Vec<u8>,
}

impl<'c> SimulatedCapture<'c> {
    /// To the file `path`; time zero is the epoch.
    pub fn create(config: &'c Config, ports: Ports, path: &Path) -> io::Result<Self> {
        let capture = Capture::create(path, &ports.names, Duration::ZERO)?;
        Ok(SimulatedCapture { config, capture, ports, frame: Vec::new() })
    }

    /// The file, to be finished after the run.
    pub fn capture(&self) -> Capture {
        self.capture.clone()
    }

    /// Who has put the frame on the wire.
    fn sender(&self, spot: Spot) -> (NodeId, PortId) {
        match spot.direction {
            Direction::Out => (spot.node, spot.port),
            Direction::In => {
                let port = self.config.topology.port(spot.node, spot.port);
                (port.peer, port.peer_port)
            }
        }
    }

    /// Puts the bytes in `self.frame`; whether there are any.
    fn synthesise(&mut self, spot: Spot, seen: Seen) -> bool {
        let (node, port) = self.sender(spot);
        match seen {
            Seen::Data { .. } => self.data(seen),
            Seen::Answer { flow, feedback, class } => {
                self.answer(flow, feedback, class, MacAddress::of_port(node, port))
            }
            Seen::Control(said) => {
                let lane = self.config.ingress.get(node, port, said.class);
                let header = control::Header {
                    envelope: Envelope::MacControl,
                    source: MacAddress::of_port(node, port),
                };
                self.frame.resize(control::LEN, 0);
                let counters = control::counters_of(&lane.control);
                return header.emit(&mut self.frame, said, counters).is_ok();
            }
        }
        !self.frame.is_empty()
    }

    fn data(&mut self, seen: Seen) {
        let Seen::Data { flow, sequence, is_marked, size, class } = seen else {
            unreachable!("asked by the caller");
        };
        // What is shorter than our shortest packet is written as that.
        let size = size.max(Data::SIZE_MIN).min(Bytes::new(FRAME_MAX as u64));
        self.frame.resize(size.get() as usize - FCS, 0);
        let data = Data {
            source: MacAddress::of_port(self.config.flows[flow.index()].source, PortId(0)),
            target: MacAddress::of_flow(flow),
            class,
            flow: named(flow),
            run: 0,
            number: u64::from(sequence.0),
            // The simulator does not carry it along.
            stamp_ns: 0,
            ecn: if is_marked { Ecn::Marked } else { Ecn::Capable0 },
        };
        data.emit(&mut self.frame);
    }

    fn answer(&mut self, about: FlowId, feedback: Feedback, class: Class, port: MacAddress) {
        let source = MacAddress::of_port(self.config.flows[about.index()].target, PortId(0));
        let target = MacAddress::of_answers(about);
        let flow = named(about);
        self.frame.clear();
        match feedback {
            Feedback::Cnp | Feedback::Receiving { .. } => {
                let (rate_mbps, is_congested) =
                    Cnp::fields(feedback).expect("both kinds are congestion notifications");
                let cnp = Cnp { source, target, class, flow, rate_mbps, is_congested };
                let mut frame = [0; Cnp::LEN];
                cnp.emit(&mut frame);
                self.frame.extend(frame);
            }
            Feedback::Nack { expected: sequence, is_marked, .. }
            | Feedback::Ack { sequence, is_marked, .. } => {
                let ack = Ack { source, target, class, flow, sequence, is_marked };
                let mut frame = [0; Ack::LEN];
                ack.emit(&mut frame);
                self.frame.extend(frame);
            }
            Feedback::Congestion { psi } => {
                let cnm = Cnm { source: port, target, flow, psi };
                let mut frame = [0; Cnm::LEN];
                cnm.emit(&mut frame);
                self.frame.extend(frame);
            }
            // It has no frame.
            Feedback::Outside(_) => {}
        }
    }
}

/// A flow whose number fits in a queue pair; beyond 16 million of them they share.
fn named(flow: FlowId) -> FlowId {
    FlowId(flow.0 % 0xff_fff0)
}

impl Tap for SimulatedCapture<'_> {
    fn see(&mut self, time: Time, spot: Spot, seen: Seen) {
        let Some(interface) = self.ports.interface(spot) else {
            return;
        };
        if !self.synthesise(spot, seen) {
            return;
        }
        let length = self.frame.len();
        let bytes = &self.frame[..length.min(self.ports.snap)];
        self.capture.write(time, interface, spot.direction, bytes, length);
    }
}
