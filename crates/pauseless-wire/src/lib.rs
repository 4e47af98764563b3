#![doc = include_str!("../README.md")]
//! There is one file per kind of frame, each with a view of the bytes and a type for what they mean.
//!
//! All frames are without their FCS, as interfaces and captures have them.
//!
//! `Packet` is a view of bytes with an accessor per field; `Repr` is what they mean, and has only
//! what is valid. Neither allocates, and neither panics on any bytes.
//! [`control`] is the way in and out for the messages of all flow controls.
#![no_std]

extern crate alloc;

pub mod ack;
pub mod cnm;
pub mod cnp;
pub mod control;
pub mod crc;
pub mod ethernet;
pub mod gfc;
pub mod ip;
pub mod link_packet;
pub mod pfc;
pub mod roce;

use core::fmt;

use pauseless_core::id::{FlowId, NodeId, PortId};

pub use ethernet::{destination, source};
pub use ip::{class_of, mark_congestion};

/// The least length of a frame without its FCS, in bytes; shorter ones are padded with zeros.
pub const FRAME_MIN: usize = 60;

/// Why bytes are not the frame that they claim to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The frame ends before its last mandatory field.
    Truncated,
    /// The EtherType is not that of this kind of frame.
    EtherType(u16),
    /// The opcode, operation or kind is unknown.
    Opcode(u16),
    /// The version, header length, fragment or protocol of IP is not supported.
    Ip,
    /// The lengths of two layers contradict each other.
    Length,
    /// A checksum or CRC is wrong.
    Checksum,
    /// The packet was not sent by our hosts.
    Magic,
    /// The class is above seven.
    Class(u8),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Truncated => f.write_str("it is cut short"),
            Malformed::EtherType(value) => write!(f, "unexpected EtherType 0x{value:04x}"),
            Malformed::Opcode(value) => write!(f, "unknown operation 0x{value:x}"),
            Malformed::Ip => f.write_str("an IP header that is not read here"),
            Malformed::Length => f.write_str("its lengths contradict each other"),
            Malformed::Checksum => f.write_str("a checksum is wrong"),
            Malformed::Magic => f.write_str("not a packet of our hosts"),
            Malformed::Class(class) => write!(f, "class {class} does not exist"),
        }
    }
}

/// Whether a frame is a control frame of any flow control, by its EtherType alone.
#[inline]
pub fn is_control(frame: &[u8]) -> bool {
    let Some(&[high, low]) = frame.get(12..14) else {
        return false;
    };
    matches!(
        u16::from_be_bytes([high, low]),
        ethernet::MAC_CONTROL | ethernet::PRIVATE_CONTROL | ethernet::LINK_PACKET
    )
}

/// Two octets at `at`; the caller has checked that they are there.
fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Four octets at `at`; the caller has checked that they are there.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Eight octets at `at`; the caller has checked that they are there.
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    (u64::from(u32_at(bytes, at)) << 32) | u64::from(u32_at(bytes, at + 4))
}

/// An Ethernet address of 48 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// The destination of MAC control frames, which no bridge forwards.
    //= 802.1Q-2022 36.1.3 address
    pub const CONTROL: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x01]);

    /// The destination of control frames in the private envelope: a locally administered group
    /// address, which interfaces and bridges pass like any other. Its last octets spell PAUSE.
    pub const PRIVATE_CONTROL: MacAddress = MacAddress([0x03, 0x50, 0x41, 0x55, 0x53, 0x45]);

    /// The destination of a flow's data: every flow may have a path of its own.
    pub fn of_flow(flow: FlowId) -> MacAddress {
        MacAddress::local(0x46, flow.0)
    }

    /// The destination of feedback to the source of a flow.
    pub fn of_answers(flow: FlowId) -> MacAddress {
        MacAddress::local(0x41, flow.0)
    }

    /// The address of a port, the source of its control frames.
    pub fn of_port(node: NodeId, port: PortId) -> MacAddress {
        let [.., node_high, node_low] = node.0.to_be_bytes();
        let [port_high, port_low] = port.0.to_be_bytes();
        MacAddress([0x02, 0x50, node_high, node_low, port_high, port_low])
    }

    /// A locally administered address.
    fn local(kind: u8, number: u32) -> MacAddress {
        let [a, b, c, d] = number.to_be_bytes();
        MacAddress([0x02, kind, a, b, c, d])
    }

    /// Whether it is a group address.
    pub fn is_group(self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// How control frames are encapsulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Envelope {
    /// As MAC control frames, EtherType 0x8808, as in the standard.
    #[default]
    MacControl,
    /// As the same octets behind a private EtherType, for interfaces that consume MAC control
    /// frames.
    Private,
}
