//! Which kind of link an interface gets.

use std::io;
use std::str::FromStr;

use super::Link;
use super::packet::{self, PacketLink};
use super::xdp::{self, XdpLink};
use crate::net::{self, Kind};

/// The socket by which frames are exchanged with an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// AF_PACKET on veth, where it needs no rights outside its namespace and loses nothing when the far end
    /// is slow; AF_XDP elsewhere, or AF_PACKET if that fails.
    #[default]
    Auto,
    /// AF_PACKET with memory-mapped rings.
    Packet,
    /// AF_XDP in the best mode that the driver has.
    Xdp,
}

impl FromStr for Backend {
    type Err = String;

    fn from_str(text: &str) -> Result<Backend, String> {
        match text {
            "auto" => Ok(Backend::Auto),
            "packet" => Ok(Backend::Packet),
            "xdp" => Ok(Backend::Xdp),
            _ => Err(format!("`{text}` is no back end; say auto, packet or xdp")),
        }
    }
}

/// A link that was opened, and how.
pub struct Opened {
    /// The link, ready for use.
    pub link: Box<dyn Link>,
    /// The choice and its reasons, for the log.
    pub how: String,
}

/// Opens an interface of the namespace that the calling thread is in.
pub fn open(interface: &str, backend: Backend) -> io::Result<Opened> {
    match backend {
        Backend::Packet => by_packet(interface, "as asked"),
        Backend::Xdp => by_xdp(interface),
        Backend::Auto if net::kind(interface)? == Kind::Veth => {
            by_packet(interface, "since it is one end of a veth pair")
        }
        Backend::Auto => {
            by_xdp(interface).or_else(|error| by_packet(interface, &format!("since {error}")))
        }
    }
}

fn by_packet(interface: &str, reason: &str) -> io::Result<Opened> {
    let link = PacketLink::open(interface, packet::Options::default())?;
    Ok(Opened { link: Box::new(link), how: format!("{interface}: AF_PACKET, {reason}") })
}

fn by_xdp(interface: &str) -> io::Result<Opened> {
    let link = XdpLink::open(interface, xdp::Options::default())?;
    let refusals = link.refusals().iter().map(|refusal| format!("; not {refusal}"));
    Ok(Opened {
        how: format!("{interface}: AF_XDP, {}{}", link.mode(), refusals.collect::<String>()),
        link: Box::new(link),
    })
}
