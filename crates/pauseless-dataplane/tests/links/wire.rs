//! Wires with a link at each end.

use std::io;

use pauseless_dataplane::link::packet::{Options, PacketLink};
use pauseless_dataplane::link::{Link, memory as in_memory};
use pauseless_dataplane::net::{self, Namespace};

/// A wire.
pub struct Wire {
    /// What it is made of.
    pub name: &'static str,
    /// One end.
    pub a: Box<dyn Link>,
    /// The other.
    pub b: Box<dyn Link>,
    /// The namespaces of the ends, if they are in any.
    pub places: Option<[Namespace; 2]>,
}

/// A wire in memory.
pub fn memory() -> Option<Wire> {
    let (a, b) = in_memory::pair(256);
    Some(Wire {
        name: "memory",
        a: Box::new(a),
        b: Box::new(b),
        places: None,
    })
}

/// A veth pair with packet sockets.
pub fn packet() -> Option<Wire> {
    let places = veth()?;
    let open = |place: &Namespace| {
        let link = place.enter(|| PacketLink::open(INTERFACE, Options::default()));
        link.and_then(|link| link).expect("a packet socket")
    };
    Some(Wire {
        name: "AF_PACKET",
        a: Box::new(open(&places[0])),
        b: Box::new(open(&places[1])),
        places: Some(places),
    })
}

/// Two namespaces with a veth pair between them, or a word on why not.
pub fn veth() -> Option<[Namespace; 2]> {
    let made = Namespace::new().and_then(|a| Ok([a, Namespace::new()?]));
    match made {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            eprintln!("not tested here: {error}");
            None
        }
        made => {
            let places = made.expect("namespaces");
            net::veth((&places[0], INTERFACE), (&places[1], INTERFACE)).expect("a veth pair");
            Some(places)
        }
    }
}

/// The name of the interface in each namespace.
pub const INTERFACE: &str = "wire";
