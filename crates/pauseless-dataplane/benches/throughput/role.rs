//! The processes that this program starts itself as: generators and devices.

use std::io::{self, Read};
use std::net::UdpSocket;
use std::process::Command;
use std::thread;
use std::time::Instant;

use pauseless_core::congestion::CongestionControl;
use pauseless_core::flow_control::{FlowControl, cbfc, gfc, pfc};
use pauseless_core::id::{FlowId, NodeId, PortId};
use pauseless_core::memory::MemoryConfig;
use pauseless_core::port::{LaneConfig, PortConfig};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::software::Polling;
use pauseless_core::switch::{Discipline, SwitchConfig};
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_dataplane::clock::{Clock, Pace};
use pauseless_dataplane::config::{Common, SwitchNodeConfig};
use pauseless_dataplane::link::packet::{self, PacketLink};
use pauseless_dataplane::link::xdp::{self, Mode, XdpLink};
use pauseless_dataplane::link::{Link, Received};
use pauseless_dataplane::net;
use pauseless_dataplane::switch::SwitchNode;
use pauseless_wire::{Envelope, MacAddress};

use super::bed::{HERE, IN, OUT, THERE};

/// The first argument of such a process.
pub const FLAG: &str = "--role";

/// This program in a role, on one core.
pub fn command(core: usize, words: &[&str]) -> Command {
    let program = std::env::current_exe().expect("the name of this program");
    let mut command = Command::new("taskset");
    command.args(["-c", &core.to_string()]);
    command.arg(program).arg(FLAG).args(words);
    command
}

/// Plays a role until the standard input ends.
pub fn play(words: &[String]) {
    thread::spawn(|| {
        let _ = io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let words = Vec::from_iter(words.iter().map(String::as_str));
    match words[..] {
        ["generate", size] => generate(size.parse().expect("a size")),
        ["forward", backend] => forward(open(IN, backend), open(OUT, backend)),
        ["switch", backend, control] => {
            let links = vec![open(IN, backend), open(OUT, backend)];
            switch(links, control_named(control));
        }
        _ => panic!("no such role: {words:?}"),
    }
}

fn open(interface: &str, backend: &str) -> Box<dyn Link> {
    let mode = match backend {
        "packet" => {
            let link = PacketLink::open(interface, packet::Options::default());
            return Box::new(link.expect("a packet socket"));
        }
        "xdp" => Mode::Copy,
        _ => Mode::Skb,
    };
    let options = xdp::Options { mode: Some(mode), ..xdp::Options::default() };
    Box::new(XdpLink::open(interface, options).expect("an AF_XDP socket"))
}

/// Datagrams of class 0 to the address of flow 0, as fast as possible: the kernel cuts each send into
/// dozens of frames, which is several times quicker than one message per frame.
fn generate(size: usize) {
    let payload = size - AROUND;
    let segments = (60_000 / payload).min(SEGMENTS);
    let socket = UdpSocket::bind((HERE, 4_791)).expect("a socket");
    socket.connect((THERE, 4_791)).expect("an address");
    net::set_segment_size(&socket, payload as u16).expect("a kernel that cuts datagrams");
    let bytes = vec![0; payload * segments];
    loop {
        // Whatever the device does not take is lost, which the kernel may say or not.
        let _ = socket.send(&bytes);
    }
}

/// What a device costs that only copies.
fn forward(mut from: Box<dyn Link>, mut to: Box<dyn Link>) {
    loop {
        let send = &mut |frame: Received<'_>| {
            while !to.send(frame.bytes) {
                to.flush().expect("the interface works");
            }
        };
        from.receive(64, send).expect("the interface works");
        to.flush().expect("the interface works");
    }
}

fn switch(links: Vec<Box<dyn Link>>, control: FlowControl) {
    let mut node = SwitchNode::new(&config(control), links);
    let mut clock = Clock::new(Pace::Real, Instant::now());
    loop {
        let now = clock.look();
        node.advance(now);
        node.flush();
        node.receive(now);
    }
}

/// Ethernet, IPv4 and UDP headers, and the FCS.
const AROUND: usize = 14 + 20 + 8 + 4;

/// The kernel cuts a send into at most so many.
const SEGMENTS: usize = 64;

/// Large enough for what waits while a burst is handled: the line is far quicker than this machine.
const BUFFER: Bytes = Bytes::kb(8_000);
const LINE: Rate = Rate::gbps(100);

fn control_named(name: &str) -> FlowControl {
    match name {
        "pfc" => FlowControl::Pfc(pfc::Config {
            xoff: Bytes::kb(4_000),
            xon: Bytes::kb(3_997),
            quanta: pfc::QUANTA_MAX,
        }),
        "gfc" => FlowControl::GfcBuffer(gfc::BufferConfig {
            bm: Bytes::kb(7_000),
            b1: Bytes::kb(4_000),
            stages: 20,
            hold: Bytes::kb(7_500),
            unit: Rate::gbps(1),
            refresh: None,
            hold_off: Span::ZERO,
            prompt_stage: 0,
        }),
        "cbfc" => FlowControl::Cbfc(cbfc::Config {
            capacity: BUFFER,
            period: Span::us(50),
            counters: cbfc::Counters::Wide,
        }),
        _ => FlowControl::None,
    }
}

/// Two ports, of which the first one sends to the second. What gates its egress has no say: nobody is
/// there to answer.
fn config(control: FlowControl) -> SwitchNodeConfig {
    let lane =
        |egress| LaneConfig { egress, phase: Span::us(1), ..LaneConfig::new(control, BUFFER) };
    let port = |egress| PortConfig { line: LINE, lanes: vec![lane(egress)].into() };
    // Nobody behind the second port returns credits.
    let egress = match control {
        FlowControl::Cbfc(_) => FlowControl::None,
        control => control,
    };
    let ports = vec![port(egress), port(egress)];
    let address = |port| MacAddress::of_port(NodeId(0), PortId(port));
    SwitchNodeConfig {
        common: Common {
            name: "device".to_owned(),
            addresses: vec![address(0), address(1)],
            neighbours: vec!["generator".to_owned(), "sink".to_owned()],
            envelope: Envelope::MacControl,
            slack: Span::ms(100),
            resolution: Span::ZERO,
        },
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
        forwarding: vec![(MacAddress::of_flow(FlowId(0)), PortId(1))],
        watchdog: None,
    }
}
