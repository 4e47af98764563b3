//! The loop of one node, and how it sleeps.

use std::io;
use std::num::NonZeroU64;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pauseless_core::unit::{Span, Time};
use pauseless_dataplane::clock::{self, Clock, Pace};
use pauseless_dataplane::host::HostNode;
use pauseless_dataplane::link::{self, Link};
use pauseless_dataplane::net;
use pauseless_dataplane::report::NodeReport;
use pauseless_dataplane::switch::SwitchNode;
use pauseless_dataplane::tap::Tap;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

use super::file::NodeFile;
use crate::plan::NodeConfig;
use pauseless_text::problem::Problems;

/// A switch or a host.
pub enum Node {
    /// A switch that forwards between its links.
    Switch(Box<SwitchNode>),
    /// A host that sends and receives flows.
    Host(Box<HostNode>),
}

/// How a node is driven.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How its time passes.
    pub pace: Pace,
    /// When its clock starts, which may lie ahead.
    pub start: Instant,
    /// When it ends by its own clock, if it does.
    pub end: Option<Time>,
    /// Whether it never sleeps.
    pub is_spinning: bool,
}

impl Settings {
    /// When the node ends by its own clock, at the latest when there is no more time.
    fn last(&self) -> Time {
        self.end.unwrap_or(Clock::END).min(Clock::END)
    }
}

/// Who looks at a node while it runs.
pub trait Audience {
    /// The node says this.
    fn hear(&mut self, message: &str);

    /// This is how it stands, a few times a second.
    fn see(&mut self, status: NodeReport);

    /// Whether the node shall end.
    fn is_over(&self) -> bool;
}

/// The links of a node in the order of its ports, and how each was made.
pub struct Links {
    /// One link per port, in the order of the ports.
    pub links: Vec<Box<dyn Link>>,
    /// What was taken for each and why.
    pub how: Vec<String>,
    /// What keeps other nodes off the same interfaces, as long as it is held.
    pub claims: Vec<Claim>,
}

/// An interface that is ours: a socket whose name there can be once in a network namespace, and that is
/// gone with its process.
#[derive(Debug)]
pub struct Claim(#[expect(dead_code, reason = "it is there")] UnixDatagram);

impl Claim {
    /// Claims `interface`, unless another node of this namespace has.
    pub fn new(interface: &str) -> io::Result<Claim> {
        let name = SocketAddr::from_abstract_name(format!("pauseless/{interface}"))?;
        UnixDatagram::bind_addr(&name).map(Claim)
    }
}

impl Links {
    /// Opens every interface of `file`; else says which one is not as it should be.
    pub fn open(file: &NodeFile) -> Result<Links, Problems> {
        let mut opened = Links { links: Vec::new(), how: Vec::new(), claims: Vec::new() };
        for (port, interface) in file.interfaces.iter().enumerate() {
            let refuse = |error: io::Error| refuse(file, port, &error);
            if !net::interface_exists(interface) {
                return Err(refuse(io::ErrorKind::NotFound.into()));
            }
            opened.claims.push(Claim::new(interface).map_err(refuse)?);
            let made = link::open(interface, file.wire.backend).map_err(refuse)?;
            opened.links.push(made.link);
            opened.how.push(made.how);
        }
        Ok(opened)
    }

    /// Drops what has come in while the links were opened one after the other, which takes the kernel
    /// long: no node was there to hold the senders back.
    pub fn forget(&mut self) {
        for link in &mut self.links {
            for _ in 0..FORGOTTEN_MAX {
                match link.receive(BURST, &mut |_| {}) {
                    Ok(count) if count > 0 => {}
                    // What is wrong with the link is the node's to say.
                    _ => break,
                }
            }
        }
    }
}

/// What is wrong with the interface of `port`, and what to do.
fn refuse(file: &NodeFile, port: usize, error: &io::Error) -> Problems {
    let interface = &file.interfaces[port];
    let (message, help) = match error.kind() {
        io::ErrorKind::NotFound => (
            format!("this machine has no interface {interface}"),
            format!("it has {}", interfaces().join(", ")),
        ),
        io::ErrorKind::PermissionDenied => (
            error.to_string(),
            "this needs root or CAP_NET_RAW, and AF_XDP CAP_NET_ADMIN and CAP_BPF too; `unshare -Urn` \
             makes a user namespace in which AF_PACKET works"
                .to_string(),
        ),
        io::ErrorKind::AddrInUse => (
            format!("another pauseless runs on {interface}"),
            "end it first, or give every node interfaces of its own".to_string(),
        ),
        _ => (error.to_string(), String::new()),
    };
    file.problem_of_interface(port, message, &help)
}

/// The interfaces of the network namespace that this thread is in.
pub fn interfaces() -> Vec<String> {
    // Unlike /sys this always shows our own namespace.
    let table = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let lines = table.lines().skip(2);
    let names = lines.filter_map(|line| Some(line.split_once(':')?.0.trim().to_string()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Calls a method that switches and hosts both have.
macro_rules! either {
    ($node:expr, $machine:ident => $what:expr) => {
        match $node {
            Node::Switch($machine) => $what,
            Node::Host($machine) => $what,
        }
    };
}

impl Node {
    /// The node of `file` over these links.
    pub fn new(file: &NodeFile, links: Vec<Box<dyn Link>>) -> Node {
        match &file.plan.config {
            NodeConfig::Switch(config) => Node::Switch(Box::new(SwitchNode::new(config, links))),
            NodeConfig::Host(config) => {
                let link = links.into_iter().next().expect("a host has one port");
                Node::Host(Box::new(HostNode::new(config, link)))
            }
        }
    }

    /// Shows every frame to `tap` from now on.
    pub fn set_tap(&mut self, tap: Box<dyn Tap>) {
        either!(self, node => node.set_tap(tap));
    }

    /// Runs it until its end or until its audience has seen enough; returns its last report.
    pub fn drive(&mut self, settings: &Settings, audience: &mut dyn Audience) -> NodeReport {
        let mut clock = Clock::new(settings.pace, settings.start);
        // The kernel's stamps say something only about a clock that keeps up with it.
        if settings.pace == Pace::Real {
            let watch = Box::new(clock::watch(settings.start));
            either!(self, node => {
                node.set_epoch(epoch(settings.start));
                node.set_watch(watch);
            });
        }
        // The default of 50 us is half the time of a frame at 100 Mb/s.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let may_sleep = settings.pace == Pace::Real && !settings.is_spinning;
        let mut looked = Instant::now();
        let mut rounds: u32 = 0;
        loop {
            let now = clock.look();
            let count = either!(self, node => {
                node.advance(now);
                node.flush();
                node.receive(now)
            });
            let is_idle = may_sleep && count == 0;
            if is_idle {
                self.sleep(now);
            }
            rounds = rounds.wrapping_add(1);
            if !(is_idle || rounds.is_multiple_of(ROUNDS)) {
                continue;
            }
            let is_over = now >= settings.last() || audience.is_over();
            if is_over || looked.elapsed() >= LOOK_EVERY {
                looked = Instant::now();
                for message in either!(self, node => node.take_messages()) {
                    audience.hear(&message);
                }
                if now >= Clock::END {
                    audience.hear(TIME_IS_OVER);
                }
                let mut status = either!(self, node => node.status(now));
                status.stalled = clock.stalled();
                audience.see(status);
            }
            if is_over {
                let mut report = either!(self, node => node.report(now));
                report.stalled = clock.stalled();
                return report;
            }
        }
    }

    /// Sleeps until a frame is there or something is due.
    fn sleep(&self, now: Time) {
        let due = either!(self, node => node.poll_timeout()).saturating_since(now);
        if due < NAP_MIN {
            return;
        }
        let nap = Duration::from_nanos(due.min(NAP_MAX).as_ps() / 1_000);
        let nap = Timespec::try_from(nap).expect("a nap of at most NAP_MAX fits a timespec");
        let wait = |links: &mut dyn Iterator<Item = &dyn Link>| {
            let descriptors = links.filter_map(|link| link.descriptor());
            let readable = |descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN);
            let mut waiting: Vec<PollFd<'_>> = descriptors.map(readable).collect();
            // Whoever wakes us up: the loop looks at everything.
            let _ = poll(&mut waiting, Some(&nap));
        };
        match self {
            Node::Switch(node) => wait(&mut node.links().iter().map(|link| &**link)),
            Node::Host(node) => wait(&mut std::iter::once(node.link())),
        }
    }
}

/// Keeps the calling thread on one core.
pub fn pin(core: usize) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    if core >= rustix::thread::CpuSet::MAX_CPU {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    set.set(core);
    rustix::thread::sched_setaffinity(None, &set)?;
    Ok(())
}

/// Lets the kernel end this process when the thread of process `parent` that has started it ends.
pub fn end_with_parent(parent: u32) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
    // It may have ended before that.
    if std::os::unix::process::parent_id() == parent {
        Ok(())
    } else {
        Err(io::Error::other("it has ended already"))
    }
}

/// What CLOCK_MONOTONIC shows, the same for all processes of a machine.
pub fn monotonic_ns() -> u64 {
    let shown = clock_gettime(ClockId::Monotonic);
    shown.tv_sec as u64 * 1_000_000_000 + shown.tv_nsec as u64
}

/// The instant at which CLOCK_MONOTONIC shows so many nanoseconds.
pub fn instant_at(wanted: u64) -> Instant {
    let (shown, now) = (monotonic_ns(), Instant::now());
    match wanted.checked_sub(shown) {
        Some(ahead) => now + Duration::from_nanos(ahead),
        None => now.checked_sub(Duration::from_nanos(shown - wanted)).unwrap_or(now),
    }
}

/// What the wall shows at `start`, since 1970.
pub fn epoch(start: Instant) -> Duration {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Instant::now();
    match start.checked_duration_since(now) {
        Some(ahead) => wall + ahead,
        None => wall.saturating_sub(now - start),
    }
}

/// The message of a node that runs on after its time, because it was not stopped.
const TIME_IS_OVER: &str =
    "the clock of a node goes on for 200 days, which are over: it ends; start it again";

/// As many frames at a time as nodes take.
const BURST: usize = 64;
/// The most frames that are thrown away at the start: more than any ring holds, since a sender that
/// never stops must not keep us here.
const FORGOTTEN_MAX: usize = 128;
/// The time between two pictures on the screen.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// A loop that does not sleep looks at the wall for people only so often.
const ROUNDS: u32 = 64;
/// To go to sleep and wake up takes as long.
const NAP_MIN: Span = Span::us(5);
/// The longest sleep, so that Ctrl-C is heard soon.
const NAP_MAX: Span = Span::ms(20);

#[cfg(test)]
mod tests {
    use pauseless_dataplane::link::memory;

    use super::*;
    use crate::plan;
    use pauseless_scenario::{Overrides, Scenario};

    #[test]
    fn processes_that_start_at_one_instant_agree_on_it() {
        let shown = monotonic_ns();
        let ahead = instant_at(shown + 3_000_000_000);
        let distance = ahead - Instant::now();
        assert!(distance <= Duration::from_secs(3), "{distance:?}");
        assert!(distance > Duration::from_secs(2), "{distance:?}");
        assert!(instant_at(shown) <= Instant::now());
    }

    /// Hears, and never has enough.
    #[derive(Default)]
    struct Ears(Vec<String>);

    impl Audience for Ears {
        fn hear(&mut self, message: &str) {
            self.0.push(message.to_string());
        }

        fn see(&mut self, _status: NodeReport) {}

        fn is_over(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_node_ends_with_a_report_before_there_is_no_more_time() {
        let text = r#"duration = "1 ms"
            [topology]
            kind = "ring"
            switches = 3
            hosts_per_switch = 1
            rate = "200 Mbps"
            delay = "1 us"
            [switch]
            buffer = "300 KB"
            [[flow]]
            name = "F1"
            source = "H1"
            target = "H3"
            path = ["S1", "S2", "S3"]
            [flow_control]
            kind = "pfc"
            xoff = "150 KB"
            xon = "147 KB""#;
        let scenario = Scenario::parse("test", text, &Overrides::default());
        let config = scenario.unwrap_or_else(|it| panic!("{it}")).config;
        let plans = plan::nodes(&config, &plan::Options::default());
        let mut plans = plans.unwrap_or_else(|it| panic!("{it}"));
        // Samples of half a year would fill the memory.
        plans.iter_mut().for_each(|it| it.sample_as_probed(&config));
        let host = plans.into_iter().find_map(|plan| match plan.config {
            NodeConfig::Host(config) => Some(config),
            NodeConfig::Switch(_) => None,
        });
        let (link, _other) = memory::pair(16);
        let node = HostNode::new(&host.expect("it has hosts"), Box::new(link));
        let long = Duration::from_secs(201 * 86_400);
        let settings = Settings {
            pace: Pace::Real,
            start: Instant::now().checked_sub(long).expect("it goes below zero"),
            end: None,
            is_spinning: true,
        };
        let mut ears = Ears::default();
        let report = Node::Host(Box::new(node)).drive(&settings, &mut ears);
        assert!(report.time >= Clock::END && report.time < Time::MAX);
        assert!(ears.0.iter().any(|it| it == TIME_IS_OVER), "{:?}", ears.0);
    }

    #[test]
    fn an_interface_is_claimed_once_and_free_again_when_its_node_is_gone() {
        let name = format!("test{}", std::process::id());
        let claim = Claim::new(&name).expect("it is free");
        let refused = Claim::new(&name).expect_err("it is taken");
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        drop(claim);
        Claim::new(&name).expect("it is free again");
    }

    #[test]
    fn loopback_is_an_interface() {
        assert!(interfaces().contains(&"lo".to_string()));
    }
}
