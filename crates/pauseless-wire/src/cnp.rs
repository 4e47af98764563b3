//! The congestion notification packet of RoCEv2, with PCN's receiving rate.
//!
//! Sixteen reserved octets follow the BTH. PCN puts the receiving rate in the first four, in Mb/s, and
//! says by the ECN field whether the flow is congested. DCQCN's has zeros and no mark.
//!
//! **Source** InfiniBand Architecture Specification annex A17; pcn20 section 5.2.
//!
//! **Deviates** Where the rate stands among the reserved octets is our choice, the paper does not say.
//! A packet that says "not congested" is Not-ECT, so that no switch can turn it into its opposite.

use super::ip::Ecn;
use super::roce::{CONGESTION, Headers, Packet, Way, flow_of_packet};
use super::{MacAddress, Malformed, u32_at};
use pauseless_core::congestion::Feedback;
use pauseless_core::id::{Class, FlowId};

const RESERVED: usize = 16;

/// The contents of a congestion notification packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cnp {
    /// The address of the port that sends it.
    pub source: MacAddress,
    /// The address of the flow's source: [`MacAddress::of_answers`], or any that leads there.
    pub target: MacAddress,
    /// The class of the frame, which the DSCP carries.
    pub class: Class,
    /// The flow that it is about, which the queue pair carries.
    pub flow: FlowId,
    /// The receiving rate of PCN in Mb/s; `None` in DCQCN.
    pub rate_mbps: Option<u32>,
    /// PCN: whether the flow is congested.
    pub is_congested: bool,
}

impl Cnp {
    /// The length of the frame without its FCS, in bytes.
    //= ib-a17 17.9.3 length
    pub const LEN: usize = Headers::AROUND + RESERVED;

    /// Writes the packet to `frame`.
    pub fn emit(self, frame: &mut [u8; Cnp::LEN]) {
        let headers = Headers {
            source: self.source,
            target: self.target,
            class: self.class,
            //= pcn20 5.2 notification
            ecn: if self.is_congested { Ecn::Marked } else { Ecn::NotCapable },
            flow: self.flow,
            way: Way::Answer,
            opcode: CONGESTION,
            becn: true,
            psn: 0,
        };
        headers.emit(frame, &self.rate_mbps.unwrap_or(0).to_be_bytes());
    }

    /// Reads `packet`, if it is a congestion notification and intact.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Cnp, Malformed> {
        if packet.opcode() != CONGESTION {
            return Err(Malformed::Opcode(u16::from(packet.opcode())));
        }
        let reserved = packet.payload();
        if reserved.len() < RESERVED {
            return Err(Malformed::Truncated);
        }
        let rate = u32_at(reserved, 0);
        Ok(Cnp {
            flow: flow_of_packet(packet)?,
            source: packet.source(),
            target: packet.destination(),
            class: packet.class(),
            rate_mbps: (rate != 0).then_some(rate),
            is_congested: packet.ecn() == Ecn::Marked,
        })
    }

    /// The packet as feedback for a reaction point.
    pub fn feedback(&self) -> Feedback {
        match self.rate_mbps {
            None => Feedback::Cnp,
            Some(rate_mbps) => Feedback::Receiving { is_congested: self.is_congested, rate_mbps },
        }
    }

    /// The fields that carry this feedback, the rate and the mark; `None` if it does not travel in
    /// a congestion notification packet.
    pub fn fields(feedback: Feedback) -> Option<(Option<u32>, bool)> {
        match feedback {
            Feedback::Cnp => Some((None, false)),
            Feedback::Receiving { is_congested, rate_mbps } => {
                Some((Some(rate_mbps), is_congested))
            }
            Feedback::Ack { .. }
            | Feedback::Nack { .. }
            | Feedback::Congestion { .. }
            | Feedback::Outside(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mark_congestion;

    fn cnp() -> Cnp {
        Cnp {
            source: MacAddress([2, 0, 0, 0, 0, 1]),
            target: MacAddress::of_answers(FlowId(0xd0)),
            class: Class(6),
            flow: FlowId(0xd0),
            rate_mbps: Some(9_500),
            is_congested: true,
        }
    }

    fn parse(frame: &[u8]) -> Result<Cnp, Malformed> {
        Packet::new(frame).and_then(|packet| Cnp::parse(&packet))
    }

    /// Worked out by hand from the definition.
    //= ib-a17 17.9.3 length type=test
    //= ib-a17 17.9.3 opcode type=test
    //= pcn20 5.2 notification type=test
    #[test]
    fn the_frame_of_queue_pair_d2() {
        let mut frame = [0xee; Cnp::LEN];
        cnp().emit(&mut frame);
        assert_eq!(frame.len() as u64 + 4, Feedback::CNP_SIZE.get());
        assert_eq!(frame[15], (48 << 2) | 3);
        assert_eq!((&frame[16..18], &frame[38..40]), (&[0, 60][..], &[0, 40][..]));
        let bth = [0x81, 0, 0xff, 0xff, 0x40, 0, 0, 0xd2, 0, 0, 0, 0];
        assert_eq!(frame[42..54], bth);
        assert_eq!(frame[54..58], [0, 0, 0x25, 0x1c]);
        assert_eq!(frame[58..70], [0; 12]);
        for length in 0..frame.len() {
            assert!(parse(&frame[..length]).is_err(), "{length}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(flow in 0..0xff_fffeu32, rate: Option<u32>, congested: bool) {
            let rate_mbps = rate.filter(|rate| *rate != 0);
            let is_congested = congested;
            let cnp = Cnp { flow: FlowId(flow), rate_mbps, is_congested, ..cnp() };
            let mut frame = [0xee; Cnp::LEN];
            cnp.emit(&mut frame);
            prop_assert_eq!(parse(&frame), Ok(cnp));
            // No switch can turn an increase into a decrease.
            prop_assert_eq!(mark_congestion(&mut frame), congested);
            prop_assert_eq!(parse(&frame), Ok(cnp));
            if let Some((rate_mbps, is_congested)) = Cnp::fields(cnp.feedback()) {
                prop_assert_eq!(rate_mbps, cnp.rate_mbps);
                prop_assert_eq!(is_congested, congested && rate_mbps.is_some());
            }
        }
    }
}
