//! A ring of three switches in lockstep: the detector sees the deadlock, also after a message was lost.

mod star;

use std::io;

use pauseless_core::deadlock::Deadlock;
use pauseless_core::flow_control::{FlowControl, pfc};
use pauseless_core::id::{FlowId, NodeId, PortId};
use pauseless_core::switch::watchdog::{self, Action};
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_dataplane::bed::{Bed, BedNode, Machine};
use pauseless_dataplane::clock::Pace;
use pauseless_dataplane::config::{Common, HostNodeConfig, SentFlow};
use pauseless_dataplane::host::HostNode;
use pauseless_dataplane::link::memory::{self, MemoryLink};
use pauseless_dataplane::link::{Link, Losses, Received};
use pauseless_dataplane::switch::SwitchNode;
use pauseless_wire::MacAddress;
use star::{common, port, received, sent, switch_config};

const TICK: Span = Span::us(20);

/// A wire that swallows one RESUME.
struct Forgetful {
    wire: MemoryLink,
    /// It is the so many-th from now; 0 for none.
    resumes_left: u32,
}

impl Link for Forgetful {
    fn receive(&mut self, most: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize> {
        self.wire.receive(most, take)
    }

    fn send(&mut self, frame: &[u8]) -> bool {
        let is_resume = frame[12..14] == [0x88, 0x08] && frame[18..20] == [0, 0];
        if is_resume && self.resumes_left > 0 {
            self.resumes_left -= 1;
            if self.resumes_left == 0 {
                return true;
            }
        }
        self.wire.send(frame)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.wire.flush()
    }

    fn backlog(&self) -> usize {
        self.wire.backlog()
    }

    fn losses(&mut self) -> Losses {
        Losses::default()
    }
}

/// The ring: port 0 of a switch leads to its host, port 1 to the next switch, port 2 to the last one.
/// Each flow goes from a host to the second one after it. The last host starts later.
fn ring(lost_resume: u32, watchdog: Option<watchdog::Config>) -> Bed {
    let control =
        FlowControl::Pfc(pfc::Config { xoff: Bytes::kb(30), xon: Bytes::kb(27), quanta: 2_000 });
    let mut to_last: Vec<Option<Box<dyn Link>>> = (0..3).map(|_| None).collect();
    let mut to_next: Vec<Option<Box<dyn Link>>> = (0..3).map(|_| None).collect();
    for switch in 0..3 {
        let (here, there) = memory::pair(10_000);
        to_next[switch] = Some(Box::new(here));
        to_last[(switch + 1) % 3] = Some(Box::new(Forgetful {
            wire: there,
            resumes_left: if switch == 0 { lost_resume } else { 0 },
        }));
    }
    let (mut switches, mut hosts) = (Vec::new(), Vec::new());
    for number in 0..3u32 {
        let (up, down) = memory::pair(10_000);
        let index = number as usize;
        let [next, last] = [&mut to_next, &mut to_last].map(|links| links[index].take());
        let links =
            vec![Box::new(down) as Box<dyn Link>, next.expect("one each"), last.expect("one each")];
        switches.push(switch(number, control, watchdog, links));
        hosts.push(host(number, control, Box::new(up)));
    }
    switches.append(&mut hosts);
    Bed::new(switches, Pace::Elastic(TICK))
}

fn switch(
    number: u32,
    control: FlowControl,
    watchdog: Option<watchdog::Config>,
    links: Vec<Box<dyn Link>>,
) -> BedNode {
    let mut config = switch_config(vec![port(control, 1); 3], &[]);
    config.common.slack = TICK;
    config.watchdog = watchdog;
    for flow in 0..3 {
        let is_there = (number + 3 - flow) % 3 == 2;
        let egress = PortId(if is_there { 0 } else { 1 });
        let address = MacAddress::of_flow(FlowId(flow));
        config.forwarding.push((address, egress));
    }
    BedNode {
        machine: Machine::Switch(SwitchNode::new(&config, links)),
        peers: vec![
            (NodeId(3 + number), PortId(0)),
            (NodeId((number + 1) % 3), PortId(2)),
            (NodeId((number + 2) % 3), PortId(1)),
        ],
    }
}

fn host(number: u32, control: FlowControl, link: Box<dyn Link>) -> BedNode {
    let start = match number {
        2 => Time::ZERO + Span::ms(10),
        _ => Time::ZERO,
    };
    let config = HostNodeConfig {
        common: Common { slack: TICK, ..common("H", 10 + number, 1) },
        port: port(control, 1),
        sends: vec![SentFlow { start, ..sent(number, Bytes::MAX) }],
        receives: vec![received((number + 1) % 3)],
    };
    BedNode {
        machine: Machine::Host(HostNode::new(&config, link)),
        peers: vec![(NodeId(number), PortId(0))],
    }
}

fn run(lost_resume: u32) -> (Option<Deadlock>, Bed) {
    let mut bed = ring(lost_resume, None);
    while bed.now() < Time::ZERO + Span::ms(200) && bed.deadlock().is_none() {
        bed.step();
    }
    (bed.deadlock().cloned(), bed)
}

#[test]
fn a_deadlock_of_real_nodes_is_found_with_its_cycle_and_flows() {
    let (deadlock, bed) = run(0);
    let deadlock = deadlock.expect("PFC deadlocks in the ring");
    assert_eq!((bed.vanished(), bed.vanished_from()), (0, None));
    let cycle: Vec<(u32, u16)> =
        deadlock.cycle.iter().map(|queue| (queue.node.0, queue.port.0)).collect();
    assert_eq!(cycle.len(), 3, "{cycle:?}");
    assert!(cycle.iter().all(|(_, port)| *port == 1), "{cycle:?}");
    assert_eq!(deadlock.flows, [FlowId(0), FlowId(1), FlowId(2)]);
}

/// An end that has missed a RESUME is not waited for, since the wire has nothing on it any more.
#[test]
fn a_lost_resume_does_not_hide_a_deadlock() {
    let (deadlock, bed) = run(5);
    assert_eq!(bed.vanished(), 1, "the fifth RESUME was lost");
    assert_eq!(bed.vanished_from(), Some((NodeId(1), PortId(2))));
    assert!(deadlock.is_some());
}

#[test]
fn a_deadlock_is_over_when_a_watchdog_drops_a_queue_of_its_cycle() {
    let watchdog = watchdog::Config {
        detection: Span::ms(5),
        restoration: Span::ms(5),
        poll: Span::ZERO,
        action: Action::Drop,
    };
    for action in [Action::Drop, Action::Alert] {
        let mut bed = ring(0, Some(watchdog::Config { action, ..watchdog }));
        while bed.now() < Time::ZERO + Span::ms(60) {
            bed.step();
        }
        let episodes = bed.episodes();
        match action {
            Action::Alert => {
                assert_eq!(episodes.len(), 1);
                assert_eq!(episodes[0].broken, None);
            }
            _ => {
                assert!(episodes.len() > 1, "sources go on, and so it comes back");
                let broken = episodes[0].broken.expect("it was broken");
                assert!(broken - episodes[0].deadlock.time <= Span::ms(5) + TICK);
                // One at a time: the same cycle, grown, is no other one.
                let next = episodes[1].deadlock.time;
                assert!(broken <= next);
            }
        }
        let storms = bed.nodes().filter_map(|machine| match machine {
            Machine::Switch(switch) => Some(switch.storms()),
            Machine::Host(_) => None,
        });
        let storms: Vec<_> = storms.flatten().collect();
        assert!(!storms.is_empty());
        let is_dropped = storms.iter().any(|storm| storm.dropped > 0);
        assert_eq!(is_dropped, action == Action::Drop);
    }
}
