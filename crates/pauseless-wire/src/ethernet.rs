//! The Ethernet header with its optional 802.1Q tags.

use super::{MacAddress, Malformed, u16_at};

/// The EtherType of MAC control frames, such as PAUSE.
//= 802.1Q-2022 36.1.3 address
pub const MAC_CONTROL: u16 = 0x8808;
/// The EtherType of MAC control octets in the private envelope: the first of IEEE 802's two
/// EtherTypes for experiments.
pub const PRIVATE_CONTROL: u16 = 0x88b5;
/// The EtherType of InfiniBand's link packets here: the second EtherType for experiments.
pub const LINK_PACKET: u16 = 0x88b6;
/// The EtherType of IPv4 packets.
pub const IPV4: u16 = 0x0800;
/// The EtherType of IPv6 packets.
pub const IPV6: u16 = 0x86dd;
/// The EtherType of an 802.1Q tag.
pub const TAG: u16 = 0x8100;
/// The EtherType of a service tag, which another tag follows.
pub const SERVICE_TAG: u16 = 0x88a8;

/// The length of a header without tags, in bytes.
pub const HEADER: usize = 14;
/// The length of a tag, in bytes.
const TAG_LEN: usize = 4;
/// The most tags that are read.
const TAGS_MAX: usize = 2;

/// The address that a frame is sent to.
#[inline]
pub fn destination(frame: &[u8]) -> Option<MacAddress> {
    frame.first_chunk().map(|address| MacAddress(*address))
}

/// The address that a frame comes from.
#[inline]
pub fn source(frame: &[u8]) -> Option<MacAddress> {
    frame.get(6..)?.first_chunk().map(|address| MacAddress(*address))
}

/// A frame whose header is complete.
#[derive(Clone, Copy, Debug)]
pub struct Packet<T> {
    bytes: T,
    header: usize,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `bytes`, which must hold the header and up to two tags.
    #[inline]
    pub fn new(bytes: T) -> Result<Packet<T>, Malformed> {
        let frame = bytes.as_ref();
        let mut header = HEADER;
        for _ in 0..TAGS_MAX {
            if frame.len() < header {
                return Err(Malformed::Truncated);
            }
            if !matches!(u16_at(frame, header - 2), TAG | SERVICE_TAG) {
                break;
            }
            header += TAG_LEN;
        }
        if frame.len() < header {
            return Err(Malformed::Truncated);
        }
        Ok(Packet { bytes, header })
    }

    /// The address that the frame is sent to.
    pub fn destination(&self) -> MacAddress {
        destination(self.bytes.as_ref()).expect("the header is complete")
    }

    /// The address that the frame comes from.
    pub fn source(&self) -> MacAddress {
        source(self.bytes.as_ref()).expect("the header is complete")
    }

    /// The outermost tag, if the frame has any.
    pub fn tag(&self) -> Option<Tag> {
        (self.header > HEADER).then(|| Tag(u16_at(self.bytes.as_ref(), HEADER)))
    }

    /// The EtherType behind the tags.
    #[inline]
    pub fn ether_type(&self) -> u16 {
        u16_at(self.bytes.as_ref(), self.header - 2)
    }

    /// The length of the header with its tags, in bytes.
    #[inline]
    pub fn header_len(&self) -> usize {
        self.header
    }

    /// The bytes behind the header.
    pub fn payload(&self) -> &[u8] {
        &self.bytes.as_ref()[self.header..]
    }
}

/// The control information of an 802.1Q tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(pub u16);

impl Tag {
    /// The priority code point, from 0 to 7.
    pub fn priority(self) -> u8 {
        (self.0 >> 13) as u8
    }
}

/// A header without a tag, the only kind that we send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// The address that the frame is sent to.
    pub destination: MacAddress,
    /// The address that the frame comes from.
    pub source: MacAddress,
    /// The EtherType of the payload.
    pub ether_type: u16,
}

impl Repr {
    /// The length of the header, in bytes.
    pub const LEN: usize = HEADER;

    /// Reads the header; `None` if it has a tag.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Option<Repr> {
        (packet.tag().is_none()).then(|| Repr {
            destination: packet.destination(),
            source: packet.source(),
            ether_type: packet.ether_type(),
        })
    }

    /// Writes the header to the first [`Repr::LEN`] bytes of `frame`, and returns the rest.
    pub fn emit(self, frame: &mut [u8]) -> &mut [u8] {
        let (header, payload) = frame.split_at_mut(HEADER);
        header[..6].copy_from_slice(&self.destination.0);
        header[6..12].copy_from_slice(&self.source.0);
        header[12..].copy_from_slice(&self.ether_type.to_be_bytes());
        payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNTAGGED: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x08, 0x00, 0xaa, 0xbb];

    #[test]
    fn a_header_is_what_was_written() {
        let packet = Packet::new(UNTAGGED).expect("it is complete");
        let repr = Repr::parse(&packet).expect("it has no tag");
        assert_eq!(repr.destination, MacAddress([1, 2, 3, 4, 5, 6]));
        assert_eq!(repr.source, MacAddress([7, 8, 9, 10, 11, 12]));
        assert_eq!(repr.ether_type, IPV4);
        assert_eq!(packet.payload(), [0xaa, 0xbb]);
        let mut again = [0; 16];
        repr.emit(&mut again).copy_from_slice(packet.payload());
        assert_eq!(again, UNTAGGED);
    }

    #[test]
    fn tags_are_looked_through_and_the_outermost_counts() {
        let mut frame = UNTAGGED[..12].to_vec();
        frame.extend([0x88, 0xa8, 0xa0, 0x01, 0x81, 0x00, 0x60, 0x02, 0x86, 0xdd, 0x01]);
        let packet = Packet::new(&frame).expect("it is complete");
        assert_eq!(packet.tag().map(Tag::priority), Some(5));
        assert_eq!((packet.ether_type(), packet.header_len()), (IPV6, 22));
        assert_eq!(packet.payload(), [0x01]);
        assert_eq!(Repr::parse(&packet), None);
        for length in 0..22 {
            let cut = Packet::new(&frame[..length]);
            assert_eq!(cut.err(), Some(Malformed::Truncated), "{length}");
        }
    }
}
