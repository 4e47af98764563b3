//! Nodes over veth pairs whose interfaces go down and come back, and whose neighbours start anew.

mod star;

use std::io;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pauseless_core::flow_control::FlowControl;
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_dataplane::clock::{Clock, Pace};
use pauseless_dataplane::config::HostNodeConfig;
use pauseless_dataplane::host::HostNode;
use pauseless_dataplane::link::Link;
use pauseless_dataplane::link::packet::{Options, PacketLink};
use pauseless_dataplane::net::{self, Namespace};
use pauseless_dataplane::switch::SwitchNode;
use star::{assert_conserved, cbfc, common, pfc, port, received, sent, switch_config};

const TICK: Span = Span::us(20);

/// Two hosts with a switch between them; the first one sends to the second.
struct Wired {
    outside: Namespace,
    control: FlowControl,
    switch: SwitchNode,
    source: HostNode,
    target: HostNode,
    now: Time,
}

impl Wired {
    fn new(control: FlowControl) -> io::Result<Wired> {
        let (inside, outside) = (Namespace::new()?, Namespace::new()?);
        let mut links: Vec<Box<dyn Link>> = Vec::new();
        for (near, far) in [("s0", "h0"), ("s1", "h1")] {
            net::veth(inside.end(near), outside.end(far))?;
            let link = inside.enter(|| PacketLink::open(near, Options::default()))??;
            links.push(Box::new(link));
        }
        let config = switch_config(vec![port(control, 1); 2], &[1]);
        let source = host(&outside, "h0", control)?;
        let target = host(&outside, "h1", control)?;
        Ok(Wired {
            outside,
            control,
            switch: SwitchNode::new(&config, links),
            source,
            target,
            now: Time::ZERO,
        })
    }

    fn run(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            self.turn(self.now + TICK);
        }
    }

    /// Everybody does what is due by `now`.
    fn turn(&mut self, now: Time) {
        self.now = now;
        for host in [&mut self.source, &mut self.target] {
            host.advance(now);
            host.flush();
        }
        self.switch.advance(now);
        self.switch.flush();
        self.switch.receive(now);
        self.source.receive(now);
        self.target.receive(now);
    }

    /// Demands that the line is full again, soon: links look at their interfaces only now and then,
    /// and the kernel of a loaded machine may take its time to carry frames.
    fn assert_full(&mut self) {
        let mut frames = 0;
        for _ in 0..500 {
            let before = self.switch.report(self.now).ports[1].counters.sent;
            self.run(Span::ms(4));
            frames = self.switch.report(self.now).ports[1].counters.sent - before;
            if FULL.contains(&frames) {
                return;
            }
        }
        panic!("{frames} in 4 ms: {:#?}", self.switch.report(self.now));
    }

    fn set_up(&self, name: &str, is_up: bool) {
        let set = self.outside.enter(|| net::set_up(name, is_up));
        set.expect("the namespace is there").expect("the interface is there");
    }
}

/// The host at the interface `name`: h0 sends, h1 receives.
fn host(place: &Namespace, name: &str, control: FlowControl) -> io::Result<HostNode> {
    let link = place.enter(|| PacketLink::open(name, Options::default()))??;
    let (sends, receives) = match name {
        "h0" => (vec![sent(0, Bytes::MAX)], vec![]),
        _ => (vec![], vec![received(0)]),
    };
    let config =
        HostNodeConfig { common: common(name, 1, 1), port: port(control, 1), sends, receives };
    Ok(HostNode::new(&config, Box::new(link)))
}

/// A network of each flow control, unless the kernel does not let us.
fn for_each_network(test: impl Fn(Wired)) {
    for control in [pfc(), cbfc()] {
        match Wired::new(control) {
            Ok(wired) => test(wired),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                eprintln!("not tested: {error}");
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// What leaves in 4 ms at 1 Gb/s, give or take what is on its way.
const FULL: std::ops::RangeInclusive<u64> = 320..=336;

#[test]
fn a_switch_goes_on_after_an_interface_was_down() {
    for_each_network(|mut wired| {
        wired.run(Span::ms(2));
        wired.assert_full();
        wired.set_up("h1", false);
        wired.run(Span::ms(4));
        wired.set_up("h1", true);
        wired.assert_full();
        let report = wired.switch.report(wired.now);
        let counters = report.ports[1].counters;
        assert!(counters.outages >= 1, "{counters:?}");
        assert_eq!(report.ports[0].counters.overruns, 0);
        assert_conserved(&mut wired.switch, wired.now);
        // What was lost is known to the one whose loss it is.
        let target = wired.target.report(wired.now);
        let failures = counters.send_failures;
        assert!(target.receives[0].missing <= failures, "{target:?}");
    });
}

#[test]
fn a_switch_goes_on_with_a_neighbour_that_was_killed_and_started_again() {
    for_each_network(|mut wired| {
        wired.run(Span::ms(2));
        for name in ["h1", "h0"] {
            // The new one opens its interface before the old one is gone.
            let fresh = host(&wired.outside, name, wired.control).expect("it was possible before");
            let place = match name {
                "h0" => &mut wired.source,
                _ => &mut wired.target,
            };
            *place = fresh;
            place.receive(wired.now);
            wired.assert_full();
        }
        let report = wired.switch.report(wired.now);
        let overruns = report.ports.iter().map(|port| port.counters.overruns);
        assert_eq!(overruns.sum::<u64>(), 0);
        assert_conserved(&mut wired.switch, wired.now);
    });
}

/// With the wall's clock, the kernel's stamps tell how long frames waited for us, and the frames' own
/// how long they took.
#[test]
fn times_are_those_of_the_wall() {
    for_each_network(|mut wired| {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        let epoch = epoch.expect("it is later than 1970");
        let start = Instant::now();
        wired.switch.set_epoch(epoch);
        wired.source.set_epoch(epoch);
        wired.target.set_epoch(epoch);
        let mut clock = Clock::new(Pace::Real, start);
        while start.elapsed() < Duration::from_millis(50) {
            wired.turn(clock.look());
        }
        let lateness = wired.switch.report(wired.now).lateness;
        let target = wired.target.report(wired.now);
        let latency = target.receives[0].latency;
        for quantiles in [lateness.data, latency] {
            assert!(quantiles.count > 100, "{quantiles:?}");
            // A frame alone takes 12 us and is there for the next look.
            assert!(quantiles.p50 < Span::ms(20), "{quantiles:?}");
        }
        assert!(latency.p50 >= Span::us(12), "{latency:?}");
    });
}
