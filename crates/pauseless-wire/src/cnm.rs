//! QCN's congestion notification message, which a switch sends to the source of a frame.
//!
//! ```text
//!   octet 0         2                10        12      14         16       22       24
//!         | version, QntzFB | CPID | QOffset | QDelta | priority | address | length |
//! ```
//! The version has 4 bits, then 6 are zero and 6 are the quantised feedback.
//!
//! **Source** IEEE 802.1Q-2022 33.4.
//!
//! **Deviates** The identifier of the congestion point is the flow's number, since the encapsulated frame
//! that would name the flow is left out.

use super::ethernet::{self, HEADER};
use super::{FRAME_MIN, MacAddress, Malformed, u16_at, u64_at};
use pauseless_core::congestion::Feedback;
use pauseless_core::id::FlowId;

/// The EtherType of the message.
pub const ETHER_TYPE: u16 = 0x22e7;
const FIELDS: usize = 24;

/// The contents of a congestion notification message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cnm {
    /// The address of the port that sends it.
    pub source: MacAddress,
    /// The address of the flow's source: [`MacAddress::of_answers`], or any that leads there.
    pub target: MacAddress,
    /// The flow that it is about.
    pub flow: FlowId,
    /// The quantised feedback, six bits.
    pub psi: u8,
}

impl Cnm {
    /// The length of the frame without its FCS, in bytes.
    pub const LEN: usize = FRAME_MIN;

    /// Writes the message to `frame`.
    //= 802.1Q-2022 33.4
    pub fn emit(self, frame: &mut [u8; Cnm::LEN]) {
        let header = ethernet::Repr {
            destination: self.target,
            source: self.source,
            ether_type: ETHER_TYPE,
        };
        let body = header.emit(frame);
        body.fill(0);
        body[1] = self.psi & 0x3f;
        body[2..10].copy_from_slice(&u64::from(self.flow.0).to_be_bytes());
        body[16..22].copy_from_slice(&MacAddress::of_flow(self.flow).0);
    }

    /// Reads the message in `frame`.
    pub fn parse(frame: &[u8]) -> Result<Cnm, Malformed> {
        let packet = ethernet::Packet::new(frame)?;
        if packet.ether_type() != ETHER_TYPE || packet.header_len() != HEADER {
            return Err(Malformed::EtherType(packet.ether_type()));
        }
        let body = packet.payload();
        if body.len() < FIELDS {
            return Err(Malformed::Truncated);
        }
        let head = u16_at(body, 0);
        if head >> 12 != 0 {
            return Err(Malformed::Opcode(head >> 12));
        }
        let flow = u32::try_from(u64_at(body, 2)).map_err(|_| Malformed::Magic)?;
        Ok(Cnm {
            source: packet.source(),
            target: packet.destination(),
            flow: FlowId(flow),
            psi: (head & 0x3f) as u8,
        })
    }

    /// The message as feedback for a reaction point.
    pub fn feedback(&self) -> Feedback {
        Feedback::Congestion { psi: self.psi }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        //= 802.1Q-2022 33.4 type=test
        #[test]
        fn what_is_written_is_read(flow: u32, psi in 0..64u8) {
            let cnm = Cnm {
                source: MacAddress([2, 0, 0, 0, 0, 1]),
                target: MacAddress::of_answers(FlowId(flow)),
                flow: FlowId(flow),
                psi,
            };
            let mut frame = [0xee; Cnm::LEN];
            cnm.emit(&mut frame);
            prop_assert_eq!(frame.len() as u64 + 4, Feedback::CNM_SIZE.get());
            prop_assert_eq!(Cnm::parse(&frame), Ok(cnm));
            for length in 0..HEADER + FIELDS {
                prop_assert_eq!(Cnm::parse(&frame[..length]), Err(Malformed::Truncated));
            }
        }
    }
}
