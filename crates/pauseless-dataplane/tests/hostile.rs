//! Hostile frames through the running switch, over veth pairs, with a good flow beside them.
//!
//! How many follows `HOSTILE_FRAMES`, a number for all four flow controls together:
//!
//! ```text
//!   HOSTILE_FRAMES=10000000 cargo test -p pauseless-dataplane --test hostile -- --nocapture
//! ```

mod hostile_frames;
mod star;

use std::time::{Duration, Instant};
use std::{env, fs, io};

use hostile_frames::Generator;
use pauseless_core::derive::{Derivation, Latency};
use pauseless_core::flow_control::FlowControl;
use pauseless_core::id::PortId;
use pauseless_core::unit::{Bytes, Span, Time};
use pauseless_dataplane::config::HostNodeConfig;
use pauseless_dataplane::departures::Departures;
use pauseless_dataplane::host::HostNode;
use pauseless_dataplane::link::Link;
use pauseless_dataplane::link::packet::{Options, PacketLink};
use pauseless_dataplane::net::{self, Namespace};
use pauseless_dataplane::report::{NodeReport, PortCounters};
use pauseless_dataplane::switch::SwitchNode;
use star::{
    MTU, assert_conserved, cbfc, common, half_lossless, pfc, received, sent, switch_config,
};

/// Ports of the good source, of its target, and of whoever means harm.
const PORTS: usize = 3;
const HARM: usize = 2;
/// Frames between two looks of the switch.
const VOLLEY: usize = 64;
/// How far the clock moves meanwhile.
const TICK: Span = Span::us(20);

fn gfc() -> [FlowControl; 2] {
    let latency = Latency {
        mtu: MTU,
        line: star::LINE,
        wire: TICK,
        processing: TICK,
        classes: 2,
        jitter: Span::ZERO,
        overhead: Bytes::ZERO,
        clock_ppb: 0,
    };
    let derivation = Derivation::new(latency, Bytes::kib(64));
    [
        FlowControl::GfcBuffer(derivation.gfc_buffer(None, None)),
        FlowControl::GfcTime(derivation.gfc_time(None, None, None)),
    ]
}

/// Both ends of a wire for each port, the switch's first.
fn wires() -> io::Result<Vec<(PacketLink, PacketLink)>> {
    let (inside, outside) = (Namespace::new()?, Namespace::new()?);
    let wire = |port: usize| {
        let (near, far) = (format!("s{port}"), format!("h{port}"));
        net::veth(inside.end(&near), outside.end(&far))?;
        // Frames as long as any link carries.
        inside.enter(|| net::set_mtu(&near, 9_000))??;
        outside.enter(|| net::set_mtu(&far, 9_000))??;
        let options = Options::default();
        let long = Options { largest: 9_100, ..options };
        let near = inside.enter(|| PacketLink::open(&near, options))??;
        let far = outside
            .enter(|| PacketLink::open(&far, if port == HARM { long } else { options }))??;
        Ok((near, far))
    };
    (0..PORTS).map(wire).collect()
}

struct Bed {
    switch: SwitchNode,
    source: HostNode,
    target: HostNode,
    harm: PacketLink,
    /// What is on the wires of the good hosts.
    wires: Vec<Departures>,
    now: Time,
}

impl Bed {
    fn new(control: FlowControl) -> io::Result<Bed> {
        let lanes = half_lossless(control);
        let config = switch_config(vec![lanes.clone(); PORTS], &[1, 1, 2]);
        let mut links: Vec<Box<dyn Link>> = Vec::new();
        let mut ends = Vec::new();
        for (near, far) in wires()? {
            links.push(Box::new(near));
            ends.push(far);
        }
        let harm = ends.pop().expect("three wires");
        let mut host = |name, sends, receives| {
            let config =
                HostNodeConfig { common: common(name, 1, 1), port: lanes.clone(), sends, receives };
            HostNode::new(&config, Box::new(ends.pop().expect("three wires")))
        };
        let mut target = host("target", vec![], vec![received(0), received(1)]);
        let mut source = host("source", vec![sent(0, Bytes::MAX)], vec![]);
        let mut switch = SwitchNode::new(&config, links);
        let mut wires = Vec::new();
        for (port, host) in [(PortId(0), &mut source), (PortId(1), &mut target)] {
            let (up, down) = (host.departures(), switch.departures(port));
            switch.set_arrivals(port, up.clone());
            host.set_arrivals(down.clone());
            wires.extend([up, down]);
        }
        Ok(Bed { switch, source, target, harm, wires, now: Time::ZERO })
    }

    fn step(&mut self) {
        self.now = self.now + TICK;
        let now = self.now;
        self.switch.advance(now);
        self.switch.flush();
        for host in [&mut self.source, &mut self.target] {
            host.advance(now);
            host.flush();
        }
        let patience = Instant::now() + Duration::from_secs(10);
        loop {
            self.switch.receive(now);
            self.source.receive(now);
            self.target.receive(now);
            // The kernel of a loaded machine may take its time, but the clock waits for it.
            if !self.wires.iter().any(Departures::is_waiting) {
                break;
            }
            assert!(Instant::now() < patience, "a good frame got lost on a wire");
        }
        self.harm.receive(10_000, &mut |_| ()).expect("the wire works");
    }

    fn attack(&mut self, generator: &mut Generator, count: usize) {
        for _ in 0..count.div_ceil(VOLLEY) {
            for _ in 0..VOLLEY {
                let frame = generator.next();
                if !self.harm.send(frame) {
                    self.harm.flush().expect("the wire works");
                    self.harm.send(frame);
                }
            }
            self.harm.flush().expect("the wire works");
            self.step();
        }
    }

    /// How many frames of whoever means harm some counter knows.
    fn counted(&mut self) -> u64 {
        let PortCounters { received, malformed, oversized, control_received, kernel_drops, .. } =
            self.switch.report(self.now).ports[HARM].counters;
        let seen = received + malformed + oversized + control_received + kernel_drops;
        seen + self.harm.losses().send
    }

    /// Everything that was given to the wire is found in some counter of the switch.
    fn assert_counted(&mut self, given: u64) -> NodeReport {
        let patience = Instant::now() + Duration::from_secs(10);
        while self.counted() < given && Instant::now() < patience {
            self.step();
        }
        assert_eq!(given, self.counted());
        assert_conserved(&mut self.switch, self.now);
        self.switch.report(self.now)
    }
}

/// Resident memory in bytes.
fn resident() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").expect("Linux says");
    let pages = statm.split(' ').nth(1).expect("the second number");
    pages.parse::<u64>().expect("a number") * 4_096
}

fn withstand(control: FlowControl, count: usize) -> io::Result<()> {
    let mut bed = Bed::new(control)?;
    let mut generator = Generator::new(7);
    // Until all that grows has grown.
    let first = (count / 4).max(20 * VOLLEY);
    bed.attack(&mut generator, first);
    let before = resident();
    bed.attack(&mut generator, count.saturating_sub(first));
    let grown = resident().saturating_sub(before);
    assert!(grown < 4 << 20, "{grown} bytes more");
    let report = bed.assert_counted(generator.made());
    let counters = report.ports[HARM].counters;
    let kinds = [
        counters.oversized,
        counters.malformed,
        counters.unknown,
        counters.unwelcome,
        counters.reflected,
        counters.declassed,
        counters.received,
    ];
    assert!(kinds.iter().all(|count| *count > 0), "{counters:#?}");
    // The good flow goes on until all that it has sent is there.
    for _ in 0..3_000 {
        bed.step();
    }
    let now = bed.now;
    let sent = bed.source.report(now).sends[0].frames;
    let target = bed.target.report(now);
    let good = &target.receives[0];
    assert_eq!((good.missing, good.duplicates, good.reordered), (0, 0, 0));
    // What waits in the switch is not lost, and no more than its buffers hold.
    assert!(good.frames > 1_000 && sent - good.frames < 100, "{sent} {good:?}");
    for port in [PortId(0), PortId(1)] {
        assert_eq!(report.ports[port.index()].counters.overruns, 0);
    }
    eprintln!(
        "{}: {} frames; good ones {}; memory +{grown} B; {counters:?}",
        control.name(),
        generator.made(),
        good.frames,
    );
    Ok(())
}

#[test]
fn hostile_frames_harm_nobody_else() {
    let count = env::var("HOSTILE_FRAMES")
        .map_or(600_000, |count| count.parse().expect("HOSTILE_FRAMES is a number"));
    let [stages, times] = gfc();
    for control in [pfc(), cbfc(), stages, times] {
        match withstand(control, count / 4) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                eprintln!("not tested: {error}");
            }
            Err(error) => panic!("{error}"),
        }
    }
}
