//! The message of buffer-based GFC: the frame of PFC with stages in its time fields.
//!
//! Which of the two a frame is cannot be seen: both ends of a link are configured for one scheme.
//!
//! **Source** gfc19 section 5.1.

use super::{Malformed, pfc};
use pauseless_core::id::Class;

/// A frame of GFC has the layout of PFC's.
pub type Packet<T> = pfc::Packet<T>;

/// The contents of a frame: the stages that some queues have entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repr {
    /// The stage of each class; `None` if the frame does not mention it.
    pub stages: [Option<u16>; Class::COUNT_MAX],
}

impl Repr {
    /// The length from the opcode to the last stage, in bytes.
    pub const LEN: usize = pfc::Repr::LEN;

    /// A frame about one class. Panics for a class above seven.
    pub fn one(class: Class, stage: u16) -> Repr {
        let mut repr = Repr::default();
        repr.stages[class.index()] = Some(stage);
        repr
    }

    /// Reads the stages in `packet`.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Repr, Malformed> {
        let stages = pfc::Repr::parse(packet)?.times;
        Ok(Repr { stages })
    }

    /// Writes the stages to the first [`Repr::LEN`] bytes of `packet`.
    //= gfc19 5.1 message
    pub fn emit<T: AsMut<[u8]> + AsRef<[u8]>>(self, packet: &mut Packet<T>) {
        let times = self.stages;
        pfc::Repr { times }.emit(packet);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= gfc19 5.1 message type=test
    #[test]
    fn a_stage_stands_where_pfc_has_its_time() {
        let mut packet = Packet::new([0u8; Repr::LEN]).unwrap();
        let repr = Repr::one(Class(3), 17);
        repr.emit(&mut packet);
        assert_eq!(packet.class_enable_vector(), 1 << 3);
        assert_eq!(packet.time(Class(3)), 17);
        assert_eq!(Repr::parse(&packet), Ok(repr));
    }
}
