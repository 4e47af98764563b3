//! The frame of priority flow control, from the opcode on.
//!
//! ```text
//!   octet 0     2                    4          6              20
//!         | 01 01 | class-enable vector | Time[0] | ... | Time[7] |
//! ```
//!
//! **Source** IEEE 802.1Q clause 36, 802.3 annex 31B.

use super::{Malformed, u16_at};
use pauseless_core::id::Class;

/// The opcode of PFC.
//= 802.1Q-2022 36.1.3 opcode
pub const OPCODE: u16 = 0x0101;

/// The octets of a MAC control frame behind its EtherType.
#[derive(Clone, Copy, Debug)]
pub struct Packet<T>(T);

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view of `bytes`, which must hold all fields.
    pub fn new(bytes: T) -> Result<Packet<T>, Malformed> {
        if bytes.as_ref().len() < Repr::LEN {
            return Err(Malformed::Truncated);
        }
        Ok(Packet(bytes))
    }

    /// The opcode, the kind of MAC control frame.
    pub fn opcode(&self) -> u16 {
        u16_at(self.0.as_ref(), 0)
    }

    /// Bit i says whether `Time[i]` is valid. The upper octet is reserved.
    pub fn class_enable_vector(&self) -> u16 {
        u16_at(self.0.as_ref(), 2)
    }

    /// `Time[class]`, valid or not. Panics for a class above seven.
    pub fn time(&self, class: Class) -> u16 {
        assert!(class.index() < Class::COUNT_MAX, "PFC has eight classes");
        u16_at(self.0.as_ref(), 4 + 2 * class.index())
    }
}

/// The contents of a frame: the pause times of some classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repr {
    /// The pause time of each class in quanta of 512 bit times; 0 resumes, `None` does not mention
    /// the class.
    pub times: [Option<u16>; Class::COUNT_MAX],
}

impl Repr {
    /// The length from the opcode to the last time, in bytes.
    pub const LEN: usize = 20;

    /// A frame about one class. Panics for a class above seven.
    pub fn one(class: Class, quanta: u16) -> Repr {
        let mut repr = Repr::default();
        repr.times[class.index()] = Some(quanta);
        repr
    }

    /// Reads `packet`. Reserved bits and times that are not enabled are ignored.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Repr, Malformed> {
        if packet.opcode() != OPCODE {
            return Err(Malformed::Opcode(packet.opcode()));
        }
        let vector = packet.class_enable_vector();
        let mut repr = Repr::default();
        for (class, time) in (0..).zip(&mut repr.times) {
            if vector & (1 << class) != 0 {
                *time = Some(packet.time(Class(class)));
            }
        }
        Ok(repr)
    }

    /// Writes the times to the first [`Repr::LEN`] bytes of `packet`.
    //= 802.1Q-2022 36.1.3 layout
    pub fn emit<T: AsMut<[u8]> + AsRef<[u8]>>(self, packet: &mut Packet<T>) {
        let bytes = packet.0.as_mut();
        bytes[..2].copy_from_slice(&OPCODE.to_be_bytes());
        let mut vector = 0u16;
        for (class, time) in self.times.into_iter().enumerate() {
            let at = 4 + 2 * class;
            vector |= u16::from(time.is_some()) << class;
            bytes[at..at + 2].copy_from_slice(&time.unwrap_or(0).to_be_bytes());
        }
        bytes[2..4].copy_from_slice(&vector.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        //= 802.1Q-2022 36.1.3 layout type=test
        #[test]
        fn what_is_written_is_read(times in any::<[Option<u16>; 8]>()) {
            let mut packet = Packet::new([0xff; Repr::LEN]).unwrap();
            let repr = Repr { times };
            repr.emit(&mut packet);
            prop_assert_eq!(Repr::parse(&packet), Ok(repr));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let packet = Packet::new(&bytes);
            prop_assert_eq!(packet.is_ok(), bytes.len() >= Repr::LEN);
            let parsed = packet.and_then(|packet| Repr::parse(&packet));
            prop_assert_eq!(parsed.is_ok(), bytes.len() >= Repr::LEN && bytes[..2] == [1, 1]);
        }
    }

    //= 802.1Q-2022 36.1.3 opcode type=test
    #[test]
    fn only_enabled_times_count() {
        let mut bytes = [0x11; Repr::LEN];
        bytes[..4].copy_from_slice(&[0x01, 0x01, 0xff, 0x81]);
        let repr = Repr::parse(&Packet::new(bytes).unwrap()).unwrap();
        let some = Some(0x1111);
        assert_eq!(repr.times, [some, None, None, None, None, None, None, some]);
        bytes[1] = 0x02;
        let refused = Repr::parse(&Packet::new(bytes).unwrap());
        assert_eq!(refused, Err(Malformed::Opcode(0x0102)));
    }
}
