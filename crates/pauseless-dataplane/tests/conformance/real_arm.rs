//! The real switch: the frames that came to the simulated one, as bytes, at the same instants.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::port::PortConfig;
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_dataplane::config::{Common, SwitchNodeConfig};
use pauseless_dataplane::link::packet::{Options, PacketLink};
use pauseless_dataplane::link::{Link, Received, memory};
use pauseless_dataplane::net::{self, Namespace};
use pauseless_dataplane::switch::SwitchNode;
use pauseless_dataplane::tap::{Direction, Tap};
use pauseless_sim::config::{Reaction, Watchdog};
use pauseless_sim::{Config, switch_config};
use pauseless_wire::cnp::Cnp;
use pauseless_wire::control::{self, Header};
use pauseless_wire::ip::Ecn;
use pauseless_wire::roce::{self, Data};
use pauseless_wire::{Envelope, MacAddress};

use super::cases::Case;
use super::{Arm, Passing, Record, What};

/// What the wires of the switch are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wires {
    Memory,
    Veth,
}

pub struct RealArm {
    pub wires: Wires,
    /// The frames that arrive at hosts and switches.
    pub arrivals: Vec<Passing>,
}

type Ends = Vec<Box<dyn Link>>;

impl Arm for RealArm {
    fn run(&mut self, case: &Case) -> io::Result<Record> {
        let config = case.config();
        let node = case.node(&config);
        let node_config = node_config(&config, node);
        let ports = node_config.switch.ports.clone();
        let (links, mut ends) = self.wires.make(ports.len())?;
        let mut switch = SwitchNode::new(&node_config, links);
        let seen = Rc::new(RefCell::new(Vec::new()));
        switch.set_tap(Box::new(Camera { seen: seen.clone() }));
        let mut carried = vec![Vec::new(); ports.len()];
        for passing in &self.arrivals {
            // Just before: at the same instant, what comes in is first.
            switch.advance(Time::from_ps(passing.time.as_ps() - 1));
            switch.flush();
            let frame = write(*passing, &ports);
            let end = &mut ends[passing.port.index()];
            assert!(end.send(&frame));
            end.flush()?;
            take(&mut switch, passing.time);
            collect(&mut ends, &mut carried);
        }
        switch.advance(Time::from_ps((Time::ZERO + config.duration).as_ps() - 1));
        switch.flush();
        let report = switch.report(Time::ZERO + config.duration);
        let counters = report.ports.iter().map(|port| port.counters);
        for counters in counters.clone() {
            let harm = counters.malformed + counters.unknown + counters.unwelcome;
            assert_eq!(harm + counters.overruns + counters.declassed, 0, "{case:?}");
        }
        let dropped = counters.map(|counters| counters.watchdog_drops);
        assert_eq!(dropped.sum::<u64>() > 0, case.is_dropping(), "{case:?}");
        let seen = seen.take();
        check_carried(&seen, &mut ends, carried);
        let far = |port: PortId| &ports[port.index()];
        let departures = seen
            .iter()
            .map(|(time, port, frame)| Passing {
                time: *time,
                port: *port,
                what: read(frame, far(*port)),
            })
            .collect();
        Ok(Record { arrivals: self.arrivals.clone(), departures })
    }
}

impl Wires {
    /// The switch's ends, and ours.
    fn make(self, count: usize) -> io::Result<(Ends, Ends)> {
        if self == Wires::Memory {
            let pairs = (0..count).map(|_| memory::pair(1_000));
            let boxed = pairs
                .map(|(a, b)| -> (Box<dyn Link>, Box<dyn Link>) { (Box::new(a), Box::new(b)) });
            return Ok(boxed.unzip());
        }
        let (inside, outside) = (Namespace::new()?, Namespace::new()?);
        let wire = |port: usize| -> io::Result<(Box<dyn Link>, Box<dyn Link>)> {
            let (near, far) = (format!("s{port}"), format!("p{port}"));
            net::veth(inside.end(&near), outside.end(&far))?;
            let options = Options::default();
            let near = inside.enter(|| PacketLink::open(&near, options))??;
            let far = outside.enter(|| PacketLink::open(&far, options))??;
            Ok((Box::new(near), Box::new(far)))
        };
        let wires = (0..count).map(wire).collect::<io::Result<Vec<_>>>()?;
        Ok(wires.into_iter().unzip())
    }
}

/// A frame that has left.
type Left = (Time, PortId, Vec<u8>);

/// Remembers what has left.
struct Camera {
    seen: Rc<RefCell<Vec<Left>>>,
}

impl Tap for Camera {
    fn see(&mut self, time: Time, port: PortId, direction: Direction, frame: &[u8]) {
        if direction == Direction::Out {
            self.seen.borrow_mut().push((time, port, frame.to_vec()));
        }
    }
}

fn node_config(config: &Config, node: NodeId) -> SwitchNodeConfig {
    let ports = config.topology.ports(node);
    let numbers = (0..ports.len()).map(|port| PortId(port as u16));
    let mut forwarding = Vec::new();
    for (index, flow) in config.flows.iter().enumerate() {
        let id = FlowId(index as u32);
        let next_hop = |group| config.table.next_hop(node, group, flow.hash);
        let data = next_hop(flow.group);
        forwarding.extend(data.map(|port| (MacAddress::of_flow(id), port)));
        if let Reaction::Controlled { group, .. } = flow.reaction {
            let answers = next_hop(group);
            forwarding.extend(answers.map(|port| (MacAddress::of_answers(id), port)));
        }
    }
    SwitchNodeConfig {
        common: Common {
            name: "S1".to_owned(),
            addresses: numbers.clone().map(|port| MacAddress::of_port(node, port)).collect(),
            neighbours: numbers.map(|port| format!("port {}", port.0)).collect(),
            envelope: Envelope::MacControl,
            slack: Span::s(1),
            resolution: Span::ZERO,
        },
        switch: switch_config(config, node),
        forwarding,
        watchdog: match config.mitigation.watchdog {
            Watchdog::On(watchdog) => Some(watchdog),
            Watchdog::Off => None,
        },
    }
}

/// Lets the switch take the one frame that is on its way; the kernel may need a moment.
fn take(switch: &mut SwitchNode, time: Time) {
    let patience = Instant::now() + Duration::from_secs(10);
    while switch.receive(time) == 0 {
        assert!(Instant::now() < patience, "a frame got lost on the wire");
    }
}

fn collect(ends: &mut Ends, carried: &mut [Vec<Vec<u8>>]) {
    for (end, carried) in ends.iter_mut().zip(carried) {
        let take = &mut |frame: Received<'_>| carried.push(frame.bytes.to_vec());
        end.receive(1_000, take).expect("the wire works");
    }
}

/// The wires have carried what the tap has seen.
fn check_carried(seen: &[Left], ends: &mut Ends, mut carried: Vec<Vec<Vec<u8>>>) {
    let patience = Instant::now() + Duration::from_secs(10);
    while carried.iter().map(Vec::len).sum::<usize>() < seen.len() {
        assert!(Instant::now() < patience, "a frame got lost on the wire");
        collect(ends, &mut carried);
    }
    for (index, carried) in carried.iter().enumerate() {
        let sent = seen.iter().filter(|(_, port, _)| port.index() == index);
        assert!(carried.iter().eq(sent.map(|(_, _, frame)| frame)));
    }
}

/// The bytes of a frame that comes in.
fn write(passing: Passing, ports: &[PortConfig]) -> Vec<u8> {
    let source = MacAddress([2, 0, 0, 0, 0, 1]);
    match passing.what {
        What::Data { flow, number, size, class, is_marked } => {
            let mut frame = vec![0; size.get() as usize - 4];
            let ecn = if is_marked { Ecn::Marked } else { Ecn::Capable0 };
            let data = Data {
                source,
                target: MacAddress::of_flow(flow),
                class,
                flow,
                number,
                run: 0,
                stamp_ns: 0,
                ecn,
            };
            data.emit(&mut frame);
            frame
        }
        What::Answer { flow, feedback, class } => {
            let (rate_mbps, is_congested) = Cnp::fields(feedback).expect("a CNP");
            let cnp = Cnp {
                source,
                target: MacAddress::of_answers(flow),
                class,
                flow,
                rate_mbps,
                is_congested,
            };
            let mut frame = [0; Cnp::LEN];
            cnp.emit(&mut frame);
            frame.to_vec()
        }
        What::Control(control) => {
            let envelope = Envelope::MacControl;
            let far = &ports[passing.port.index()].lanes[control.class.index()].egress;
            let mut frame = vec![0; control::LEN];
            let header = Header { envelope, source };
            let written = header.emit(&mut frame, control, control::counters_of(far));
            written.expect("it has a frame");
            frame
        }
    }
}

/// What a frame says that has left by `port`.
fn read(frame: &[u8], port: &PortConfig) -> What {
    if pauseless_wire::is_control(frame) {
        let said = control::parse(frame).expect("the switch wrote it");
        // To whoever hears it, this end is the far one.
        let scheme = |class: Class| -> Option<&FlowControl> {
            port.lanes.get(class.index()).map(|lane| &lane.ingress)
        };
        let mut controls = said.controls(scheme);
        let control = controls.next().expect("it says something");
        assert!(controls.next().is_none(), "one class at a time");
        return What::Control(control.expect("it is welcome"));
    }
    let packet = roce::Packet::new(frame).expect("it came in like that");
    if packet.opcode() == roce::CONGESTION {
        let cnp = Cnp::parse(&packet).expect("it came in like that");
        return What::Answer { flow: cnp.flow, feedback: cnp.feedback(), class: cnp.class };
    }
    let data = Data::parse(&packet).expect("it came in like that");
    What::Data {
        flow: data.flow,
        number: data.number,
        size: Bytes::new(frame.len() as u64 + 4),
        class: data.class,
        is_marked: data.ecn == Ecn::Marked,
    }
}
