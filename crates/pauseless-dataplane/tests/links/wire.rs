//! Wires with a link at each end.

use std::io;
use std::time::{Duration, Instant};

use pauseless_dataplane::link::packet::{self, PacketLink};
use pauseless_dataplane::link::xdp::{self, Mode, XdpLink};
use pauseless_dataplane::link::{Link, memory};
use pauseless_dataplane::net::{self, Namespace};

/// What the ends of a wire are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Two queues in memory.
    Memory,
    /// Packet sockets on a veth pair.
    Packet,
    /// AF_XDP sockets on a veth pair.
    Xdp(Mode),
    /// A packet socket and an AF_XDP socket on a veth pair.
    Mixed,
}

/// All kinds that work everywhere.
pub const KINDS: [Kind; 5] =
    [Kind::Memory, Kind::Packet, Kind::Xdp(Mode::Copy), Kind::Xdp(Mode::Skb), Kind::Mixed];

/// A wire between two links.
pub struct Wire {
    /// What it is made of.
    pub kind: Kind,
    /// The link at one end.
    pub a: Box<dyn Link>,
    /// The link at the other end.
    pub b: Box<dyn Link>,
    /// The namespaces of the ends, if they are in any.
    pub places: Option<[Namespace; 2]>,
}

impl Wire {
    /// A wire of this kind; `None`, with a word on why, where the kernel does not let us.
    pub fn new(kind: Kind) -> Option<Wire> {
        if kind == Kind::Memory {
            let (a, b) = memory::pair(256);
            let (a, b) = (Box::new(a), Box::new(b));
            let places = None;
            return Some(Wire { kind, a, b, places });
        }
        let places = pair()?;
        let [a, b] = [0, 1].map(|end| open(&places[end], kind, end));
        let places = Some(places);
        Some(Wire { kind, a, b, places })
    }

    /// Opens the second end again, before or after the old one is closed.
    pub fn reopen_b(&mut self) {
        let Some(places) = &self.places else { return };
        let (nothing, _) = memory::pair(1);
        self.b = Box::new(nothing);
        self.b = open(&places[1], self.kind, 1);
    }

    /// Frames that come to the second end, if so many come in time: the kernel may take a while.
    pub fn arrived(&mut self, count: usize) -> Vec<Vec<u8>> {
        let start = Instant::now();
        let mut frames = received(&mut *self.b);
        while frames.len() < count && start.elapsed() < PATIENCE {
            std::thread::yield_now();
            frames.extend(received(&mut *self.b));
        }
        frames
    }

    /// Sends all frames and returns what arrives, taking it in time.
    pub fn carry(&mut self, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut arrived = Vec::new();
        for frame in frames {
            while !self.a.send(frame) {
                self.a.flush().expect("the interface works");
                arrived.extend(self.arrived(0));
            }
        }
        loop {
            self.a.flush().expect("the interface works");
            if self.a.backlog() == 0 {
                break;
            }
            arrived.extend(self.arrived(0));
        }
        let rest = frames.len().saturating_sub(arrived.len());
        arrived.extend(self.arrived(rest));
        arrived
    }
}

/// Frames that wait at a link.
pub fn received(link: &mut dyn Link) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let take = &mut |frame: pauseless_dataplane::link::Received<'_>| {
        assert_eq!(frame.length, frame.bytes.len());
        frames.push(frame.bytes.to_vec());
    };
    while link.receive(64, take).expect("the interface works") > 0 {}
    frames
}

/// Whether something happens before patience ends.
pub fn in_time(mut happens: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if happens() {
            return true;
        }
    }
    false
}

/// A link of the kind that this end of the wire has.
pub fn open(place: &Namespace, kind: Kind, end: usize) -> Box<dyn Link> {
    let result = place.enter(|| -> io::Result<Box<dyn Link>> {
        let mode = match (kind, end) {
            (Kind::Xdp(mode), _) => mode,
            (Kind::Mixed, 1) => Mode::Copy,
            _ => {
                let link = PacketLink::open(INTERFACE, packet::Options::default())?;
                return Ok(Box::new(link));
            }
        };
        let options = xdp::Options { mode: Some(mode), ..xdp::Options::default() };
        Ok(Box::new(XdpLink::open(INTERFACE, options)?))
    });
    result.and_then(|link| link).expect("a link")
}

/// Two namespaces with a veth pair between them, or a word on why not.
pub fn pair() -> Option<[Namespace; 2]> {
    let made = Namespace::new().and_then(|a| Ok([a, Namespace::new()?]));
    match made {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            eprintln!("not tested here: {error}");
            None
        }
        made => {
            let places = made.expect("namespaces");
            connect(&places);
            Some(places)
        }
    }
}

/// Makes the veth pair.
pub fn connect(places: &[Namespace; 2]) {
    net::veth(places[0].end(INTERFACE), places[1].end(INTERFACE)).expect("a veth pair");
}

/// More than a kernel needs that has anything else to do.
const PATIENCE: Duration = Duration::from_secs(5);

/// The name of the interface in each namespace.
pub const INTERFACE: &str = "wire";
