//! RoCEv2 packets: the data of flows, and what all of them have in common.
//!
//! ```text
//!   Ethernet 14 | IPv4 20 | UDP 8, port 4791 | BTH 12 | payload | ICRC 4
//! ```
//! The payload of data begins with a magic number, the run of its source, the packet's number and the time
//! of its sending, and goes on with zeros. RoCE counts in words of four octets; what a frame has beyond them follows the
//! datagram as Ethernet's padding.
//!
//! **Source** InfiniBand Architecture Specification vol. 1, 9.2, and its annex A17.
//!
//! **Deviates** All data packets are RC "SEND Only": their sizes are free and they need no further
//! header. Nothing is acknowledged unless congestion control wants it.
//!
//! **Not modelled** connections: a flow's number is its queue pair, and its addresses follow from it.

use super::ethernet::{self, HEADER};
use super::ip::{Ecn, IPV4_HEADER, Ipv4};
use super::{MacAddress, Malformed, crc, u16_at, u32_at, u64_at};
use pauseless_core::id::{Class, FlowId};
use pauseless_core::unit::Bytes;

/// The UDP port of RoCEv2.
//= ib-a17 17.3 port
pub const PORT: u16 = 4791;
/// RC "SEND Only": the opcode of data packets.
pub const SEND_ONLY: u8 = 0x04;
/// RC "Acknowledge": the opcode of acknowledgements.
pub const ACKNOWLEDGE: u8 = 0x11;
/// The opcode of a congestion notification packet.
//= ib-a17 17.9.3 opcode
pub const CONGESTION: u8 = 0x81;

const UDP_HEADER: usize = 8;
const BTH: usize = 12;
const ICRC: usize = 4;
/// The length from the first octet of IP to the payload, in bytes.
const HEADERS: usize = IPV4_HEADER + UDP_HEADER + BTH;
/// The length of the FCS, which sizes include but buffers do not hold.
const FCS: usize = 4;
const P_KEY: u16 = 0xffff;
const BECN: u8 = 0x40;
/// Queue pairs 0 and 1 belong to subnet and communication management.
const QP_FIRST: u32 = 2;

/// The queue pair of a flow's packets and of the feedback about them. Panics for flows beyond 2^24
/// - 3.
pub fn queue_pair(flow: FlowId) -> u32 {
    let pair = flow.0.checked_add(QP_FIRST);
    pair.filter(|pair| pair >> 24 == 0).expect("queue pairs have 24 bits")
}

/// The flow of a queue pair.
fn flow_of(pair: u32) -> Result<FlowId, Malformed> {
    pair.checked_sub(QP_FIRST).map(FlowId).ok_or(Malformed::Magic)
}

/// A frame with a RoCEv2 packet over IPv4 whose lengths and checksum are right.
#[derive(Clone, Copy, Debug)]
pub struct Packet<T> {
    bytes: T,
    /// The offset at which IP begins.
    begin: usize,
    end: usize,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of the frame `bytes`.
    pub fn new(bytes: T) -> Result<Packet<T>, Malformed> {
        let frame = bytes.as_ref();
        let ethernet = ethernet::Packet::new(frame)?;
        if ethernet.ether_type() != ethernet::IPV4 {
            return Err(Malformed::EtherType(ethernet.ether_type()));
        }
        let begin = ethernet.header_len();
        let ipv4 = Ipv4::parse(ethernet.payload())?;
        let length = usize::from(ipv4.length);
        if length < HEADERS + ICRC {
            return Err(Malformed::Truncated);
        }
        let udp = &ethernet.payload()[IPV4_HEADER..];
        if u16_at(udp, 2) != PORT {
            return Err(Malformed::Ip);
        }
        if usize::from(u16_at(udp, 4)) != length - IPV4_HEADER {
            return Err(Malformed::Length);
        }
        let end = begin + length;
        Ok(Packet { bytes, begin, end })
    }

    /// The octets from IP to ICRC.
    fn datagram(&self) -> &[u8] {
        &self.bytes.as_ref()[self.begin..self.end]
    }

    /// The address that the frame is sent to.
    pub fn destination(&self) -> MacAddress {
        ethernet::destination(self.bytes.as_ref()).expect("the header is complete")
    }

    /// The address that the frame comes from.
    pub fn source(&self) -> MacAddress {
        ethernet::source(self.bytes.as_ref()).expect("the header is complete")
    }

    /// The octet with DSCP and ECN.
    pub fn traffic_class(&self) -> u8 {
        self.datagram()[1]
    }

    /// The ECN field of the packet.
    pub fn ecn(&self) -> Ecn {
        Ecn::of(self.traffic_class())
    }

    /// The class that the DSCP stands for.
    pub fn class(&self) -> Class {
        Class(self.traffic_class() >> 5)
    }

    fn bth(&self) -> &[u8] {
        &self.datagram()[IPV4_HEADER + UDP_HEADER..]
    }

    /// The opcode, the kind of RoCE packet.
    pub fn opcode(&self) -> u8 {
        self.bth()[0]
    }

    /// The bit that congestion notifications set.
    pub fn becn(&self) -> bool {
        self.bth()[4] & BECN != 0
    }

    /// The queue pair that the packet is for.
    pub fn destination_qp(&self) -> u32 {
        u32_at(self.bth(), 4) & 0xff_ffff
    }

    /// The packet sequence number.
    pub fn psn(&self) -> u32 {
        u32_at(self.bth(), 8) & 0xff_ffff
    }

    /// The octets between BTH and ICRC.
    pub fn payload(&self) -> &[u8] {
        let datagram = self.datagram();
        &datagram[HEADERS..datagram.len() - ICRC]
    }

    /// The ICRC, the check sum of the fields that do not change on the way.
    pub fn icrc(&self) -> u32 {
        let datagram = self.datagram();
        let (_, icrc) = datagram.split_last_chunk().expect("Packet::new has checked the length");
        u32::from_le_bytes(*icrc)
    }

    /// Whether the ICRC is right. This takes time in proportion to the packet.
    pub fn has_right_icrc(&self) -> bool {
        let datagram = self.datagram();
        self.icrc() == icrc(&datagram[..datagram.len() - ICRC])
    }
}

/// The ICRC of a datagram without its last four octets.
//= ib-a17 17.3 icrc
fn icrc(datagram: &[u8]) -> u32 {
    // Ones stand in for InfiniBand's local route header, and for the fields that routers change.
    const ONES: usize = 8;
    let (headers, payload) = datagram.split_at(HEADERS);
    let mut masked = [0xff; ONES + HEADERS];
    let fields = &mut masked[ONES..];
    fields.copy_from_slice(headers);
    fields[1] = 0xff;
    fields[8] = 0xff;
    fields[10..12].fill(0xff);
    fields[IPV4_HEADER + 6..IPV4_HEADER + 8].fill(0xff);
    fields[IPV4_HEADER + UDP_HEADER + 4] = 0xff;
    crc::Crc32::default().update(&masked).update(payload).finish()
}

/// The headers of a packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Headers {
    pub source: MacAddress,
    pub target: MacAddress,
    pub class: Class,
    pub ecn: Ecn,
    pub flow: FlowId,
    pub way: Way,
    pub opcode: u8,
    pub becn: bool,
    pub psn: u32,
}

/// The direction of a packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// From the source to the target.
    Data,
    /// From the target back to the source.
    Answer,
}

impl Headers {
    /// The bytes of a frame around its payload.
    pub const AROUND: usize = HEADER + HEADERS + ICRC;

    /// Writes a frame that fills `frame`, with `payload` and zeros behind the headers.
    pub fn emit(self, frame: &mut [u8], payload: &[u8]) {
        let words = (frame.len() - Headers::AROUND) & !3;
        assert!(payload.len() <= words, "the frame has room for the payload");
        let ethernet = ethernet::Repr {
            destination: self.target,
            source: self.source,
            ether_type: ethernet::IPV4,
        };
        let rest = ethernet.emit(frame);
        let (datagram, padding) = rest.split_at_mut(HEADERS + words + ICRC);
        padding.fill(0);
        self.emit_headers(datagram);
        let (body, last) = datagram.split_at_mut(HEADERS + words);
        let (begin, zeros) = body[HEADERS..].split_at_mut(payload.len());
        begin.copy_from_slice(payload);
        zeros.fill(0);
        last.copy_from_slice(&icrc(body).to_le_bytes());
    }

    fn emit_headers(self, datagram: &mut [u8]) {
        let length = u16::try_from(datagram.len()).expect("frames are shorter than 64 KiB");
        let (source, target) = addresses(self.flow);
        let (source, target) = match self.way {
            Way::Data => (source, target),
            Way::Answer => (target, source),
        };
        let ipv4 =
            Ipv4 { traffic_class: (self.class.0 << 5) | self.ecn.bits(), length, source, target };
        ipv4.emit(datagram);
        let (udp, rest) = datagram[IPV4_HEADER..].split_at_mut(UDP_HEADER);
        // The source port spreads flows over the paths of a network; a checksum of 0 is none.
        let port = 0xc000 | (self.flow.0 & 0x3fff) as u16;
        udp[..2].copy_from_slice(&port.to_be_bytes());
        udp[2..4].copy_from_slice(&PORT.to_be_bytes());
        udp[4..6].copy_from_slice(&(length - IPV4_HEADER as u16).to_be_bytes());
        udp[6..].fill(0);
        let bth = &mut rest[..BTH];
        bth[..2].copy_from_slice(&[self.opcode, 0]);
        bth[2..4].copy_from_slice(&P_KEY.to_be_bytes());
        bth[4..8].copy_from_slice(&queue_pair(self.flow).to_be_bytes());
        if self.becn {
            bth[4] = BECN;
        }
        bth[8..].copy_from_slice(&(self.psn & 0xff_ffff).to_be_bytes());
    }
}

/// The IPv4 addresses of a flow's source and target: 10.0.0.0/9 and 10.128.0.0/9 and its number.
fn addresses(flow: FlowId) -> (u32, u32) {
    let number = flow.0 & 0x7f_ffff;
    (0x0a00_0000 | number, 0x0a80_0000 | number)
}

/// The flow, direction and sequence number of a packet, if its ICRC is right.
pub(super) fn flow_of_packet<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<FlowId, Malformed> {
    if !packet.has_right_icrc() {
        return Err(Malformed::Checksum);
    }
    flow_of(packet.destination_qp())
}

/// A data packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// The address of the port that sends it.
    pub source: MacAddress,
    /// The address of the flow's target: [`MacAddress::of_flow`], or any that leads there.
    pub target: MacAddress,
    /// The class of the frame, which the DSCP carries.
    pub class: Class,
    /// The flow that it belongs to, which the queue pair carries.
    pub flow: FlowId,
    /// The run of its source: a source that is started again counts from zero in a new run.
    pub run: u32,
    /// The number of packets sent before it in this run; the lower 24 bits are RoCE's sequence
    /// number.
    pub number: u64,
    /// When it was sent, in ns of a clock that both ends share.
    pub stamp_ns: u64,
    /// The ECN field of the packet.
    pub ecn: Ecn,
}

impl Data {
    /// The length of the shortest frame, FCS included.
    pub const SIZE_MIN: Bytes = Bytes::new((Headers::AROUND + Data::PAYLOAD + FCS) as u64);

    /// The length of magic number, run, number and time.
    const PAYLOAD: usize = 24;
    const MAGIC: u32 = u32::from_be_bytes(*b"PLss");

    /// Writes the packet so that it fills `frame`, which has its size without the FCS. Panics if
    /// that is less than [`Data::SIZE_MIN`] without the FCS, or 64 KiB and more.
    pub fn emit(self, frame: &mut [u8]) {
        let headers = Headers {
            source: self.source,
            target: self.target,
            class: self.class,
            ecn: self.ecn,
            flow: self.flow,
            way: Way::Data,
            opcode: SEND_ONLY,
            becn: false,
            psn: self.number as u32,
        };
        let mut payload = [0; Data::PAYLOAD];
        payload[..4].copy_from_slice(&Data::MAGIC.to_be_bytes());
        payload[4..8].copy_from_slice(&self.run.to_be_bytes());
        payload[8..16].copy_from_slice(&self.number.to_be_bytes());
        payload[16..].copy_from_slice(&self.stamp_ns.to_be_bytes());
        headers.emit(frame, &payload);
    }

    /// Reads `packet`, if our hosts have sent it and it is intact.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Data, Malformed> {
        if packet.opcode() != SEND_ONLY {
            return Err(Malformed::Opcode(u16::from(packet.opcode())));
        }
        let payload = packet.payload();
        if payload.len() < Data::PAYLOAD {
            return Err(Malformed::Truncated);
        }
        if u32_at(payload, 0) != Data::MAGIC {
            return Err(Malformed::Magic);
        }
        let number = u64_at(payload, 8);
        if packet.psn() != (number & 0xff_ffff) as u32 {
            return Err(Malformed::Magic);
        }
        Ok(Data {
            flow: flow_of_packet(packet)?,
            source: packet.source(),
            target: packet.destination(),
            class: packet.class(),
            run: u32_at(payload, 4),
            number,
            stamp_ns: u64_at(payload, 16),
            ecn: packet.ecn(),
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::{class_of, mark_congestion};
    use pauseless_core::id::{NodeId, PortId};

    fn data(flow: u32, number: u64) -> Data {
        Data {
            source: MacAddress::of_port(NodeId(7), PortId(0)),
            target: MacAddress::of_flow(FlowId(flow)),
            class: Class(3),
            flow: FlowId(flow),
            run: 0x5eed_0001,
            number,
            stamp_ns: 123_456_789_012,
            ecn: Ecn::Capable0,
        }
    }

    fn bytes(data: Data, length: usize) -> Vec<u8> {
        let mut frame = vec![0xee; length];
        data.emit(&mut frame);
        frame
    }

    fn parse(frame: &[u8]) -> Result<Data, Malformed> {
        Packet::new(frame).and_then(|packet| Data::parse(&packet))
    }

    const MIN: usize = Data::SIZE_MIN.get() as usize - FCS;

    proptest! {
        #[test]
        fn what_is_written_is_read(flow in 0..0xff_fffeu32, number: u64, length in MIN..1_600) {
            let data = data(flow, number);
            let frame = bytes(data, length);
            prop_assert_eq!(parse(&frame), Ok(data));
            prop_assert_eq!(class_of(&frame), Class(3));
        }

        /// What routers and switches change is not covered, and all else is.
        //= ib-a17 17.3 icrc type=test
        #[test]
        fn one_wrong_bit_is_noticed_and_a_mark_is_not_wrong(bit in 112..(MIN * 8)) {
            let mut frame = bytes(data(1, 2), MIN);
            prop_assert!(mark_congestion(&mut frame));
            prop_assert_eq!(parse(&frame).map(|data| data.ecn), Ok(Ecn::Marked));
            frame[bit / 8] ^= 1 << (bit % 8);
            // The UDP checksum and the FECN and BECN bits may change on the way.
            let is_free = matches!(bit / 8, 40 | 41 | 46);
            prop_assert_eq!(parse(&frame).is_err(), !is_free);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(parse(&bytes).is_err());
        }
    }

    #[test]
    fn what_is_cut_short_is_refused() {
        let frame = bytes(data(1, 2), 300);
        for length in 0..frame.len() - 2 {
            assert!(parse(&frame[..length]).is_err(), "{length}");
        }
        // The last two octets are padding, since 300 - 58 is no multiple of four.
        assert!(parse(&frame[..298]).is_ok());
    }

    //= ib-a17 17.3 port type=test
    #[test]
    fn the_headers_are_where_the_standard_has_them() {
        let frame = bytes(data(0x0001_0203, 0x0500_0007), 100);
        assert_eq!(frame[12..14], [0x08, 0x00]);
        assert_eq!(frame[15], (24 << 2) | 2);
        assert_eq!(frame[16..18], [0, 86 - 2]);
        assert_eq!(frame[26..34], [10, 1, 2, 3, 10, 0x81, 2, 3]);
        assert_eq!(frame[36..38], [0x12, 0xb7]);
        assert_eq!(frame[42..54], [4, 0, 0xff, 0xff, 0, 1, 2, 5, 0, 0, 0, 7]);
        assert_eq!(Data::SIZE_MIN, Bytes::new(86));
    }
}
