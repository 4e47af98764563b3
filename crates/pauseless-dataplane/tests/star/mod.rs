//! A switch with hosts around it, wires in memory, and a clock that the test owns.
#![allow(dead_code, reason = "every test binary uses some of these")]

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use pauseless_core::congestion::{AnyNotificationPoint, AnyReactionPoint, CongestionControl};
use pauseless_core::flow_control::{FlowControl, cbfc, pfc};
use pauseless_core::host::Duty;
use pauseless_core::id::{Class, FlowId, NodeId, PortId};
use pauseless_core::memory::MemoryConfig;
use pauseless_core::port::{LaneConfig, PortConfig};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::software::Polling;
use pauseless_core::switch::{Discipline, SwitchConfig};
use pauseless_core::unit::{Bytes, Rate, Span, Time};
use pauseless_dataplane::config::{
    Common, HostNodeConfig, ReceivedFlow, SentFlow, SwitchNodeConfig,
};
use pauseless_dataplane::host::HostNode;
use pauseless_dataplane::link::{Link, Losses, Received, memory};
use pauseless_dataplane::report::{NodeReport, PortCounters};
use pauseless_dataplane::switch::SwitchNode;
use pauseless_wire::{Envelope, MacAddress};

pub const LINE: Rate = Rate::gbps(1);
pub const MTU: Bytes = Bytes::new(1_500);
pub const TICK: Span = Span::us(5);

/// PFC with room for what comes after XOFF.
pub fn pfc() -> FlowControl {
    FlowControl::Pfc(pfc::Config {
        xoff: Bytes::kb(30),
        xon: Bytes::kb(27),
        quanta: pfc::QUANTA_MAX,
    })
}

/// Credits for 64 KB, a link packet every 20 us.
pub fn cbfc() -> FlowControl {
    FlowControl::Cbfc(cbfc::Config {
        capacity: Bytes::kib(64),
        period: Span::us(20),
        counters: cbfc::Counters::Wide,
    })
}

/// A port whose classes all run `control` at both ends.
pub fn port(control: FlowControl, class_count: usize) -> PortConfig {
    let lane = LaneConfig {
        ingress: control,
        egress: control,
        buffer: Bytes::kib(64),
        phase: Span::us(1),
        tick: Span::ZERO,
    };
    PortConfig { line: LINE, lanes: vec![lane; class_count].into() }
}

/// A port whose first class runs `control` and whose second one has no flow control.
pub fn half_lossless(control: FlowControl) -> PortConfig {
    let mut port = port(control, 2);
    port.lanes[1].ingress = FlowControl::None;
    port.lanes[1].egress = FlowControl::None;
    port
}

pub fn common(name: &str, node: u32, port_count: usize) -> Common {
    let ports = 0..port_count as u16;
    Common {
        name: name.to_owned(),
        addresses: ports
            .clone()
            .map(|port| MacAddress::of_port(NodeId(node), PortId(port)))
            .collect(),
        neighbours: ports.map(|port| format!("H{port}")).collect(),
        envelope: Envelope::MacControl,
        slack: Span::ms(1),
        resolution: Span::ZERO,
    }
}

/// A switch with a port per host; flow f goes to host `targets[f]`.
pub fn switch_config(ports: Vec<PortConfig>, targets: &[u16]) -> SwitchNodeConfig {
    let flows = (0..).map(FlowId).zip(targets);
    SwitchNodeConfig {
        common: common("S", 100, ports.len()),
        switch: SwitchConfig {
            discipline: Discipline::OutputQueued,
            polling: Polling::default(),
            scheduler: Scheduler::Strict,
            ports,
            congestion: CongestionControl::None,
            changes_class: false,
            seed: 1,
            memory: MemoryConfig::Private,
        },
        forwarding: flows.map(|(flow, port)| (MacAddress::of_flow(flow), PortId(*port))).collect(),
        watchdog: None,
    }
}

pub fn sent(flow: u32, size: Bytes) -> SentFlow {
    SentFlow {
        flow: FlowId(flow),
        name: format!("F{flow}"),
        target: MacAddress::of_flow(FlowId(flow)),
        class: Class(0),
        packet: MTU,
        pace: LINE,
        size,
        start: Time::ZERO,
        stop: Time::MAX,
        duty: Duty::ALWAYS,
        control: AnyReactionPoint::None { rate: LINE },
    }
}

pub fn received(flow: u32) -> ReceivedFlow {
    ReceivedFlow {
        flow: FlowId(flow),
        name: format!("F{flow}"),
        address: MacAddress::of_flow(FlowId(flow)),
        answers_to: MacAddress::of_answers(FlowId(flow)),
        answer_class: Class(0),
        point: AnyNotificationPoint::None,
    }
}

/// A link that can be cut: it fails then, and what is given to it stays in line.
pub struct Cuttable {
    inner: memory::MemoryLink,
    is_cut: Arc<AtomicBool>,
}

impl Cuttable {
    pub fn new(inner: memory::MemoryLink) -> (Cuttable, Arc<AtomicBool>) {
        let is_cut = Arc::new(AtomicBool::new(false));
        let shared = is_cut.clone();
        (Cuttable { inner, is_cut }, shared)
    }

    fn check(&self) -> io::Result<()> {
        if self.is_cut.load(Ordering::Relaxed) {
            Err(io::Error::other("the interface is down"))
        } else {
            Ok(())
        }
    }
}

impl Link for Cuttable {
    fn receive(&mut self, most: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize> {
        self.check()?;
        self.inner.receive(most, take)
    }

    fn send(&mut self, frame: &[u8]) -> bool {
        self.inner.send(frame)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.check()?;
        self.inner.flush()
    }

    fn backlog(&self) -> usize {
        self.inner.backlog()
    }

    fn losses(&mut self) -> Losses {
        self.inner.losses()
    }
}

/// An end of a wire that outlives the node on it.
#[derive(Clone)]
pub struct Socket(Arc<Mutex<memory::MemoryLink>>);

impl Socket {
    fn lock(&self) -> MutexGuard<'_, memory::MemoryLink> {
        self.0.lock().expect("no panic with it")
    }
}

impl Link for Socket {
    fn receive(&mut self, most: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize> {
        self.lock().receive(most, take)
    }

    fn send(&mut self, frame: &[u8]) -> bool {
        self.lock().send(frame)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lock().flush()
    }

    fn backlog(&self) -> usize {
        self.lock().backlog()
    }

    fn losses(&mut self) -> Losses {
        self.lock().losses()
    }
}

/// What a host sends and receives.
pub type Flows = (Vec<SentFlow>, Vec<ReceivedFlow>);

/// A switch and its hosts in lockstep.
pub struct Star {
    sockets: Vec<Socket>,
    pub switch: SwitchNode,
    pub hosts: Vec<HostNode>,
    pub now: Time,
}

impl Star {
    /// Host i has `ports[i]` and what it sends and receives.
    pub fn new(config: &SwitchNodeConfig, hosts: Vec<(Vec<SentFlow>, Vec<ReceivedFlow>)>) -> Star {
        let pairs = hosts.iter().map(|_| memory::pair(4_096));
        let (links, ends): (Vec<_>, Vec<_>) = pairs.unzip();
        let links = links.into_iter().map(|link| Box::new(link) as Box<dyn Link>);
        let links = links.collect();
        let sockets = ends.into_iter().map(|end| Socket(Arc::new(Mutex::new(end))));
        let sockets = Vec::from_iter(sockets);
        let hosts = hosts.into_iter().enumerate();
        let mut nodes =
            Vec::from_iter(hosts.map(|(index, flows)| host(config, index, &sockets[index], flows)));
        let mut switch = SwitchNode::new(config, links);
        for (index, host) in nodes.iter_mut().enumerate() {
            let port = PortId(index as u16);
            switch.set_arrivals(port, host.departures());
            host.set_arrivals(switch.departures(port));
        }
        Star { sockets, switch, hosts: nodes, now: Time::ZERO }
    }

    /// Kills a host and starts another one in its place.
    pub fn restart_host(&mut self, index: usize, config: &SwitchNodeConfig, flows: Flows) {
        let mut fresh = host(config, index, &self.sockets[index], flows);
        let port = PortId(index as u16);
        self.switch.set_arrivals(port, fresh.departures());
        fresh.set_arrivals(self.switch.departures(port));
        // Its line begins now; it has nothing to catch up with.
        fresh.receive(self.now);
        self.hosts[index] = fresh;
    }

    pub fn step(&mut self) {
        self.now = self.now + TICK;
        let now = self.now;
        self.switch.advance(now);
        self.hosts.iter_mut().for_each(|host| host.advance(now));
        self.switch.flush();
        self.hosts.iter_mut().for_each(HostNode::flush);
        self.switch.receive(now);
        for host in &mut self.hosts {
            host.receive(now);
        }
    }

    pub fn run(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            self.step();
        }
    }

    pub fn report(&mut self) -> (NodeReport, Vec<NodeReport>) {
        let now = self.now;
        let hosts = self.hosts.iter_mut().map(|host| host.report(now)).collect();
        (self.switch.report(now), hosts)
    }
}

fn host(config: &SwitchNodeConfig, index: usize, socket: &Socket, flows: Flows) -> HostNode {
    let config = HostNodeConfig {
        common: Common {
            resolution: config.common.resolution,
            ..common(&format!("H{index}"), index as u32, 1)
        },
        port: config.switch.ports[index].clone(),
        sends: flows.0,
        receives: flows.1,
    };
    HostNode::new(&config, Box::new(socket.clone()))
}

/// The counters of all ports of a switch, added up.
pub fn totals(report: &NodeReport) -> PortCounters {
    let mut sum = PortCounters::default();
    for port in &report.ports {
        let PortCounters {
            received,
            sent,
            unknown,
            reflected,
            overruns,
            watchdog_drops,
            malformed,
            oversized,
            control_received,
            ..
        } = port.counters;
        sum.received += received;
        sum.sent += sent;
        sum.unknown += unknown;
        sum.reflected += reflected;
        sum.overruns += overruns;
        sum.watchdog_drops += watchdog_drops;
        sum.malformed += malformed;
        sum.oversized += oversized;
        sum.control_received += control_received;
    }
    sum
}

/// Every data frame that came in is accounted for.
pub fn assert_conserved(switch: &mut SwitchNode, now: Time) {
    let report = switch.report(now);
    let PortCounters { received, sent, unknown, reflected, overruns, watchdog_drops, .. } =
        totals(&report);
    let inside = switch.frames_inside() as u64;
    assert_eq!(
        received,
        sent + inside + unknown + reflected + overruns + watchdog_drops,
        "{report:#?}"
    );
}
