//! The acknowledgement of RoCE, for the congestion controls that measure round trips.
//!
//! Four octets follow the BTH: the syndrome and the number of messages, which is that of packets here.
//! The BECN bit says whether the packet that is acknowledged was marked.
//!
//! **Source** InfiniBand Architecture Specification vol. 1, 9.2.5.2.
//!
//! **Deviates** The standard has no echo of a mark in acknowledgements; ours is in a bit that it leaves
//! to congestion.

use super::ip::Ecn;
use super::roce::{ACKNOWLEDGE, Headers, Packet, Way, flow_of_packet};
use super::{MacAddress, Malformed};
use pauseless_core::congestion::telemetry::Echo;
use pauseless_core::congestion::{Feedback, Sequence};
use pauseless_core::id::{Class, FlowId};

const AETH: usize = 4;

/// The contents of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The address of the port that sends it.
    pub source: MacAddress,
    /// The address of the flow's source: [`MacAddress::of_answers`], or any that leads there.
    pub target: MacAddress,
    /// The class of the frame, which the DSCP carries.
    pub class: Class,
    /// The flow that it is about, which the queue pair carries.
    pub flow: FlowId,
    /// The number of the acknowledged packet.
    pub sequence: Sequence,
    /// Whether the acknowledged packet was marked.
    pub is_marked: bool,
}

impl Ack {
    /// The length of the frame without its FCS, in bytes.
    pub const LEN: usize = Headers::AROUND + AETH;

    /// Writes the acknowledgement to `frame`.
    //= iba 9.2.5.2 acknowledge
    pub fn emit(self, frame: &mut [u8; Ack::LEN]) {
        let headers = Headers {
            source: self.source,
            target: self.target,
            class: self.class,
            ecn: Ecn::NotCapable,
            flow: self.flow,
            way: Way::Answer,
            opcode: ACKNOWLEDGE,
            becn: self.is_marked,
            psn: self.sequence.0,
        };
        // The syndrome 0x1f is a positive acknowledgement without a credit limit.
        let aeth = (0x1f << 24) | (self.sequence.0 & 0xff_ffff);
        headers.emit(frame, &aeth.to_be_bytes());
    }

    /// Reads `packet`, if it is a positive acknowledgement and intact.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Ack, Malformed> {
        if packet.opcode() != ACKNOWLEDGE {
            return Err(Malformed::Opcode(u16::from(packet.opcode())));
        }
        let [syndrome, _, _, _, ..] = *packet.payload() else {
            return Err(Malformed::Truncated);
        };
        if syndrome >> 5 != 0 {
            return Err(Malformed::Opcode(u16::from(syndrome)));
        }
        Ok(Ack {
            flow: flow_of_packet(packet)?,
            source: packet.source(),
            target: packet.destination(),
            class: packet.class(),
            sequence: Sequence(packet.psn()),
            is_marked: packet.becn(),
        })
    }

    /// The acknowledgement as feedback for a reaction point.
    pub fn feedback(&self) -> Feedback {
        Feedback::Ack {
            sequence: self.sequence,
            is_marked: self.is_marked,
            // The frame has no room for telemetry.
            echo: Echo::NONE,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        //= iba 9.2.5.2 acknowledge type=test
        #[test]
        fn what_is_written_is_read(flow in 0..0xff_fffeu32, psn in 0..1u32 << 24, marked: bool) {
            let ack = Ack {
                source: MacAddress([2, 0, 0, 0, 0, 1]),
                target: MacAddress::of_answers(FlowId(flow)),
                class: Class(5),
                flow: FlowId(flow),
                sequence: Sequence(psn),
                is_marked: marked,
            };
            let mut frame = [0xee; Ack::LEN];
            ack.emit(&mut frame);
            prop_assert_eq!(frame.len() as u64 + 4, Feedback::ACK_SIZE.get());
            prop_assert_eq!((frame[42], frame[54]), (0x11, 0x1f));
            let parse = |frame| Packet::new(frame).and_then(|packet| Ack::parse(&packet));
            prop_assert_eq!(parse(&frame[..]), Ok(ack));
            for length in 0..frame.len() {
                prop_assert!(parse(&frame[..length]).is_err());
            }
        }
    }
}
