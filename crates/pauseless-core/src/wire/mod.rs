//! Frames as bytes: one file per kind, each with a view of the bytes and a type for what they mean.
//!
//! All frames are without their FCS, as interfaces and captures have them.

use core::fmt;

use crate::id::{FlowId, NodeId, PortId};

/// An Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// Where MAC control frames go; no bridge forwards it.
    //= 802.1Q-2022 36.1.3 address
    pub const CONTROL: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x01]);

    /// What the data of a flow is addressed to: every flow may have a path of its own.
    pub fn of_flow(flow: FlowId) -> MacAddress {
        MacAddress::local(0x46, flow.0)
    }

    /// What the answers to the source of a flow are addressed to.
    pub fn of_answers(flow: FlowId) -> MacAddress {
        MacAddress::local(0x41, flow.0)
    }

    /// The address of a port, which its control frames come from.
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

    /// Whether it names a group rather than one station.
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

/// What control frames travel in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Envelope {
    /// MAC control frames, EtherType 0x8808, as the standard has them.
    #[default]
    MacControl,
    /// The same octets behind a private EtherType, for interfaces that swallow MAC control frames.
    Private,
}
