//! InfiniBand's link packet in an Ethernet frame of its own type, and two relatives.
//!
//! Behind the EtherType stands an octet for the kind and one that is zero, then the packet:
//! ```text
//!   0 credit        Op 4 bits, FCTBS 12, VL 4, FCCL 12, LPCRC 16: the standard's 48 bits
//!   1 wide credit   Op 8, VL 8, FCTBS 32, FCCL 32, LPCRC 16
//!   2 free          zero 8, VL 8, free bytes 64, LPCRC 16: the message of time-based GFC
//! ```
//!
//! **Source** InfiniBand Architecture Specification vol. 1, 7.9.4; kinds 1 and 2 are our own, because
//! 12 bits cannot grant the buffers of the GFC paper.
//!
//! **Deviates** The standard has delimiters of the physical layer around the packet; here it is a frame.

use super::{Malformed, crc, u16_at, u32_at, u64_at};
use pauseless_core::id::Class;
use pauseless_core::unit::Bytes;

const CREDIT: u8 = 0;
const WIDE_CREDIT: u8 = 1;
const FREE: u8 = 2;
/// Octets of the kind and the zero behind it.
const KIND: usize = 2;
/// Octets of the LPCRC at the end.
const CRC: usize = 2;

/// The octets of a link packet behind its EtherType.
#[derive(Clone, Copy, Debug)]
pub struct Packet<T>(T);

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `bytes`, which must hold all fields of the kind that they name.
    pub fn new(bytes: T) -> Result<Packet<T>, Malformed> {
        let [kind, _, packet @ ..] = bytes.as_ref() else {
            return Err(Malformed::Truncated);
        };
        if packet.len() < body_len(*kind)? + CRC {
            return Err(Malformed::Truncated);
        }
        Ok(Packet(bytes))
    }

    /// The kind of the packet: credits, wide credits, or the message of GFC.
    pub fn kind(&self) -> u8 {
        self.0.as_ref()[0]
    }

    /// The octets that the LPCRC covers.
    fn body(&self) -> &[u8] {
        let length = body_len(self.kind()).expect("Packet::new has checked the length");
        &self.0.as_ref()[KIND..KIND + length]
    }

    /// The operation: 0 normally, 1 while the link initialises.
    pub fn op(&self) -> u8 {
        match self.kind() {
            CREDIT => self.body()[0] >> 4,
            _ => self.body()[0],
        }
    }

    /// The virtual lane that the packet speaks of.
    pub fn vl(&self) -> u8 {
        match self.kind() {
            CREDIT => self.body()[2] >> 4,
            _ => self.body()[1],
        }
    }

    /// The blocks sent by the sender of this packet; 0 in the message of GFC.
    pub fn fctbs(&self) -> u32 {
        match self.kind() {
            CREDIT => u32::from(u16_at(self.body(), 0) & 0xfff),
            WIDE_CREDIT => u32_at(self.body(), 2),
            _ => 0,
        }
    }

    /// The credit limit; 0 in the message of GFC.
    pub fn fccl(&self) -> u32 {
        match self.kind() {
            CREDIT => u32::from(u16_at(self.body(), 2) & 0xfff),
            WIDE_CREDIT => u32_at(self.body(), 6),
            _ => 0,
        }
    }

    /// The free bytes; 0 in the other kinds.
    pub fn free(&self) -> u64 {
        match self.kind() {
            FREE => u64_at(self.body(), 2),
            _ => 0,
        }
    }

    /// The check sum of all octets before it.
    pub fn lpcrc(&self) -> u16 {
        let at = KIND + self.body().len();
        u16::from_le_bytes([self.0.as_ref()[at], self.0.as_ref()[at + 1]])
    }
}

fn body_len(kind: u8) -> Result<usize, Malformed> {
    match kind {
        CREDIT => Ok(4),
        WIDE_CREDIT | FREE => Ok(10),
        other => Err(Malformed::Opcode(u16::from(other))),
    }
}

/// The contents of a link packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repr {
    /// The credits of a virtual lane.
    Credit(Credit),
    /// The free space that time-based GFC reports.
    Free {
        /// The class whose buffer it is.
        class: Class,
        /// The bytes that were free when the message was made.
        bytes: Bytes,
    },
}

/// The fields of a link packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// The virtual lane whose credits these are.
    pub class: Class,
    /// The blocks sent by the sender of this packet since the link came up.
    pub fctbs: u32,
    /// The credit limit that the packet grants.
    pub fccl: u32,
    /// Whether the counters have 32 bits, not 12.
    pub is_wide: bool,
    /// Whether the packet was sent while the link initialised.
    pub is_init: bool,
}

impl Repr {
    /// The length of the longest kind, in bytes.
    pub const LEN: usize = KIND + 10 + CRC;

    /// Reads `packet`, if its check sum is right. The octet behind the kind is ignored.
    //= iba 7.9.4 link-packet
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Repr, Malformed> {
        if packet.lpcrc() != crc::crc16(packet.body()) {
            return Err(Malformed::Checksum);
        }
        // Reserved operations are refused.
        if packet.op() > u8::from(packet.kind() != FREE) {
            return Err(Malformed::Opcode(u16::from(packet.op())));
        }
        if usize::from(packet.vl()) >= Class::COUNT_MAX {
            return Err(Malformed::Class(packet.vl()));
        }
        let class = Class(packet.vl());
        if packet.kind() == FREE {
            let bytes = Bytes::new(packet.free());
            return Ok(Repr::Free { class, bytes });
        }
        Ok(Repr::Credit(Credit {
            class,
            fctbs: packet.fctbs(),
            fccl: packet.fccl(),
            is_wide: packet.kind() == WIDE_CREDIT,
            is_init: packet.op() == 1,
        }))
    }

    /// Writes the packet to the first [`Repr::LEN`] bytes of `bytes`. Counters of 12 bits are
    /// truncated.
    pub fn emit(self, bytes: &mut [u8]) {
        let (kind, length) = match self {
            Repr::Credit(Credit { is_wide: false, .. }) => (CREDIT, 4),
            Repr::Credit(_) => (WIDE_CREDIT, 10),
            Repr::Free { .. } => (FREE, 10),
        };
        bytes[..KIND].copy_from_slice(&[kind, 0]);
        let body = &mut bytes[KIND..];
        match self {
            Repr::Credit(credit) if credit.is_wide => {
                body[..2].copy_from_slice(&[u8::from(credit.is_init), credit.class.0]);
                body[2..6].copy_from_slice(&credit.fctbs.to_be_bytes());
                body[6..10].copy_from_slice(&credit.fccl.to_be_bytes());
            }
            Repr::Credit(credit) => {
                let word = |high: u8, low: u32| (u16::from(high) << 12) | (low & 0xfff) as u16;
                let first = word(u8::from(credit.is_init), credit.fctbs);
                let second = word(credit.class.0, credit.fccl);
                body[..2].copy_from_slice(&first.to_be_bytes());
                body[2..4].copy_from_slice(&second.to_be_bytes());
            }
            Repr::Free { class, bytes } => {
                body[..2].copy_from_slice(&[0, class.0]);
                body[2..10].copy_from_slice(&bytes.get().to_be_bytes());
            }
        }
        let check = crc::crc16(&body[..length]).to_le_bytes();
        body[length..length + CRC].copy_from_slice(&check);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_repr() -> impl Strategy<Value = Repr> {
        let credit = (0..8u8, any::<(u32, u32, bool, bool)>());
        let credit = credit.prop_map(|(class, (fctbs, fccl, is_wide, is_init))| {
            let mask = if is_wide { u32::MAX } else { 0xfff };
            Repr::Credit(Credit {
                class: Class(class),
                fctbs: fctbs & mask,
                fccl: fccl & mask,
                is_wide,
                is_init,
            })
        });
        let free = (0..8u8, any::<u64>()).prop_map(|(class, bytes)| Repr::Free {
            class: Class(class),
            bytes: Bytes::new(bytes),
        });
        prop_oneof![credit, free]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_and_nothing_shorter(repr in any_repr()) {
            let mut bytes = [0; Repr::LEN];
            repr.emit(&mut bytes);
            prop_assert_eq!(Repr::parse(&Packet::new(bytes).unwrap()), Ok(repr));
            let length = KIND + body_len(bytes[0]).unwrap() + CRC;
            for cut in 0..length {
                let refused = Packet::new(&bytes[..cut]).err();
                prop_assert_eq!(refused, Some(Malformed::Truncated));
            }
        }

        #[test]
        fn one_wrong_bit_is_noticed(repr in any_repr(), bit in 16..64usize) {
            let mut bytes = [0; Repr::LEN];
            repr.emit(&mut bytes);
            bytes[bit / 8] ^= 1 << (bit % 8);
            let refused = Packet::new(bytes).and_then(|packet| Repr::parse(&packet));
            prop_assert_eq!(refused, Err(Malformed::Checksum));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
            let _ = Packet::new(&bytes).and_then(|packet| Repr::parse(&packet));
        }
    }

    /// Worked out by hand from the layout, the check apart.
    //= iba 7.9.4 link-packet type=test
    #[test]
    fn the_standards_packet_has_48_bits() {
        let credit =
            Credit { class: Class(3), fctbs: 0xabc, fccl: 0x123, is_wide: false, is_init: true };
        let mut bytes = [0; Repr::LEN];
        Repr::Credit(credit).emit(&mut bytes);
        assert_eq!(bytes[..6], [0, 0, 0x1a, 0xbc, 0x31, 0x23]);
        assert_eq!(bytes[8..], [0; 6]);
        // Reserved operations are discarded although their check is right.
        bytes[2] = 0x2a;
        let check = crc::crc16(&bytes[2..6]).to_le_bytes();
        bytes[6..8].copy_from_slice(&check);
        let refused = Repr::parse(&Packet::new(bytes).unwrap());
        assert_eq!(refused, Err(Malformed::Opcode(2)));
    }
}
