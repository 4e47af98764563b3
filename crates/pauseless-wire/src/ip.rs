//! The fields of IP that a switch reads and writes: class and ECN mark, behind any tags.

use super::ethernet::{self, IPV4, IPV6};
use super::{Malformed, u16_at};
use pauseless_core::id::Class;

/// The length of an IPv4 header without options, in bytes.
pub const IPV4_HEADER: usize = 20;
/// The length of an IPv6 header, in bytes.
const IPV6_HEADER: usize = 40;

/// The ECN field, the lower two bits of the traffic class.
//= rfc3168 5
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The packet must not be marked.
    #[default]
    NotCapable,
    /// The packet may be marked: ECT(1).
    Capable1,
    /// The packet may be marked: ECT(0).
    Capable0,
    /// The packet is marked: CE.
    Marked,
}

impl Ecn {
    /// The ECN field of a traffic class octet.
    pub fn of(traffic_class: u8) -> Ecn {
        match traffic_class & 0b11 {
            0b00 => Ecn::NotCapable,
            0b01 => Ecn::Capable1,
            0b10 => Ecn::Capable0,
            _ => Ecn::Marked,
        }
    }

    /// The two bits as they stand in the header.
    pub fn bits(self) -> u8 {
        self as u8
    }
}

/// The IP version of a frame, and where its header begins.
#[derive(Clone, Copy)]
enum Header {
    V4(usize),
    V6(usize),
}

impl Header {
    #[inline]
    fn of(frame: &[u8]) -> Option<Header> {
        Header::within(&ethernet::Packet::new(frame).ok()?)
    }

    #[inline]
    fn within(packet: &ethernet::Packet<&[u8]>) -> Option<Header> {
        let (at, payload) = (packet.header_len(), packet.payload());
        let version = payload.first()? >> 4;
        match (packet.ether_type(), version) {
            (IPV4, 4) if payload.len() >= IPV4_HEADER => Some(Header::V4(at)),
            (IPV6, 6) if payload.len() >= IPV6_HEADER => Some(Header::V6(at)),
            _ => None,
        }
    }

    fn traffic_class(self, frame: &[u8]) -> u8 {
        match self {
            Header::V4(at) => frame[at + 1],
            Header::V6(at) => (u16_at(frame, at) >> 4) as u8,
        }
    }
}

/// The class of a frame: the priority of its outermost tag, else the upper three bits of the DSCP, else 0.
#[inline]
pub fn class_of(frame: &[u8]) -> Class {
    let Ok(packet) = ethernet::Packet::new(frame) else {
        return Class(0);
    };
    if let Some(tag) = packet.tag() {
        return Class(tag.priority());
    }
    let header = Header::within(&packet);
    Class(header.map_or(0, |header| header.traffic_class(frame) >> 5))
}

/// The ECN field of the packet in a frame.
#[inline]
pub fn ecn_of(frame: &[u8]) -> Ecn {
    let header = Header::of(frame);
    header.map_or(Ecn::NotCapable, |header| Ecn::of(header.traffic_class(frame)))
}

/// Marks the packet in a frame if it may be marked; returns whether it is marked now.
#[inline]
pub fn mark_congestion(frame: &mut [u8]) -> bool {
    let Some(header) = Header::of(frame) else {
        return false;
    };
    match Ecn::of(header.traffic_class(frame)) {
        Ecn::NotCapable => return false,
        Ecn::Marked => return true,
        Ecn::Capable0 | Ecn::Capable1 => {}
    }
    match header {
        Header::V4(at) => {
            let old = u16_at(frame, at);
            frame[at + 1] |= Ecn::Marked.bits();
            let sum = updated(u16_at(frame, at + 10), old, u16_at(frame, at));
            frame[at + 10..at + 12].copy_from_slice(&sum.to_be_bytes());
        }
        Header::V6(at) => frame[at + 1] |= Ecn::Marked.bits() << 4,
    }
    true
}

/// The checksum of a header in which the word `old` has become `new`.
//= rfc1624 3 eq 3
fn updated(checksum: u16, old: u16, new: u16) -> u16 {
    !fold(u32::from(!checksum) + u32::from(!old) + u32::from(new))
}

/// The checksum of a header; 0 if its checksum field is right.
//= rfc1071 1
pub(super) fn checksum(header: &[u8]) -> u16 {
    let (words, _) = header.as_chunks::<2>();
    !fold(words.iter().map(|word| u32::from(u16::from_be_bytes(*word))).sum())
}

fn fold(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    ((once & 0xffff) + (once >> 16)) as u16
}

/// The IPv4 header of our hosts: no options, no fragments, UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ipv4 {
    pub traffic_class: u8,
    /// The length of header and payload, in bytes.
    pub length: u16,
    pub source: u32,
    pub target: u32,
}

const UDP: u8 = 17;
const DO_NOT_FRAGMENT: u16 = 0x4000;
const TTL: u8 = 64;

impl Ipv4 {
    pub fn parse(bytes: &[u8]) -> Result<Ipv4, Malformed> {
        if bytes.len() < IPV4_HEADER {
            return Err(Malformed::Truncated);
        }
        // RoCE uses neither options nor fragments.
        let is_plain = bytes[0] == 0x45 && u16_at(bytes, 6) & !DO_NOT_FRAGMENT == 0;
        if !is_plain || bytes[9] != UDP {
            return Err(Malformed::Ip);
        }
        if checksum(&bytes[..IPV4_HEADER]) != 0 {
            return Err(Malformed::Checksum);
        }
        let length = u16_at(bytes, 2);
        if usize::from(length) < IPV4_HEADER {
            return Err(Malformed::Length);
        }
        if usize::from(length) > bytes.len() {
            return Err(Malformed::Truncated);
        }
        Ok(Ipv4 {
            traffic_class: bytes[1],
            length,
            source: super::u32_at(bytes, 12),
            target: super::u32_at(bytes, 16),
        })
    }

    pub fn emit(self, bytes: &mut [u8]) {
        let header = &mut bytes[..IPV4_HEADER];
        header.fill(0);
        header[..2].copy_from_slice(&[0x45, self.traffic_class]);
        header[2..4].copy_from_slice(&self.length.to_be_bytes());
        header[6..8].copy_from_slice(&DO_NOT_FRAGMENT.to_be_bytes());
        header[8..10].copy_from_slice(&[TTL, UDP]);
        header[12..16].copy_from_slice(&self.source.to_be_bytes());
        header[16..].copy_from_slice(&self.target.to_be_bytes());
        let sum = checksum(header);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    fn frame(tag: Option<u16>, traffic_class: u8) -> Vec<u8> {
        let mut frame = Vec::from([2; 12]);
        if let Some(tag) = tag {
            frame.extend([0x81, 0x00]);
            frame.extend(tag.to_be_bytes());
        }
        frame.extend([0x08, 0x00]);
        let ipv4 = Ipv4 { traffic_class, length: 48, source: 0x0a00_0001, target: 0x0a80_0001 };
        let mut header = [0; 48];
        ipv4.emit(&mut header);
        frame.extend(header);
        frame
    }

    fn frame6(traffic_class: u8) -> Vec<u8> {
        let mut frame = Vec::from([2; 12]);
        frame.extend([0x86, 0xdd]);
        frame.extend((0x6003_4567 | (u32::from(traffic_class) << 20)).to_be_bytes());
        frame.extend([0; 36]);
        frame
    }

    #[test]
    fn the_class_is_the_tags_or_the_dscps() {
        assert_eq!(class_of(&frame(None, 26 << 2)), Class(3));
        assert_eq!(class_of(&frame(Some(5 << 13 | 7), 26 << 2)), Class(5));
        assert_eq!(class_of(&frame6(48 << 2)), Class(6));
        assert_eq!(class_of(&[0xff; 30]), Class(0), "an unknown EtherType");
        assert_eq!(class_of(&[]), Class(0));
    }

    proptest! {
        //= rfc1624 3 eq 3 type=test
        //= rfc1071 1 type=test
        //= rfc3168 5 type=test
        #[test]
        fn a_mark_keeps_the_checksum_right(class: u8, tag: Option<u16>) {
            let mut bytes = frame(tag, class);
            let before = bytes.clone();
            let is_marked = mark_congestion(&mut bytes);
            prop_assert_eq!(is_marked, class & 3 != 0);
            let at = bytes.len() - 48;
            let ipv4 = Ipv4::parse(&bytes[at..]).expect("the checksum is right");
            prop_assert_eq!(ipv4.traffic_class, if is_marked { class | 3 } else { class });
            prop_assert_eq!(class_of(&bytes), class_of(&before));
            prop_assert_eq!(ecn_of(&bytes) == Ecn::Marked, is_marked);
        }

        #[test]
        fn ipv6_is_marked_too(class: u8) {
            let mut bytes = frame6(class);
            prop_assert_eq!(mark_congestion(&mut bytes), class & 3 != 0);
            let marked = if class & 3 != 0 { class | 3 } else { class };
            prop_assert_eq!(bytes, frame6(marked));
        }

        #[test]
        fn no_bytes_make_it_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let before = bytes.clone();
            let _ = (class_of(&bytes), ecn_of(&bytes));
            if !mark_congestion(&mut bytes) {
                prop_assert_eq!(bytes, before);
            }
        }
    }

    #[test]
    fn what_is_cut_short_is_left_alone() {
        for whole in [frame(Some(1), 2), frame6(2)] {
            for length in 0..whole.len() {
                let mut cut = whole[..length].to_vec();
                if !mark_congestion(&mut cut) {
                    assert_eq!(cut, whole[..length]);
                }
            }
        }
    }
}
