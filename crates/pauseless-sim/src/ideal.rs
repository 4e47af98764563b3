//! How long a flow takes alone in an empty network: the yardstick of slowdown.
//!
//! A train of equal packets over store-and-forward hops loses time only at its slowest hop, so
//! its end is known without looking at every packet. The last packet may be shorter; it is
//! followed from hop to hop behind the one before it.

use pauseless_core::id::PortId;
use pauseless_core::unit::{Bytes, Rate, Span};
use pauseless_fabric::trace::{Header, trace};

use crate::config::{Config, Flow};

/// The packets of a flow, as they leave its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Train {
    /// The frame bytes of all packets together.
    pub size: Bytes,
    /// The frame bytes of a full packet; the last one may be shorter.
    pub packet: Bytes,
    /// The bytes that every frame occupies on the wire beyond its size.
    pub overhead: Bytes,
    /// The rate that sets how close together frames may start.
    pub pace: Rate,
}

/// The time from the start of the first frame at the source until the last bit of the last one
/// has arrived at the target, over `hops` that are otherwise empty: the rate and the delay of
/// each link, that of the source first. Exact, in a time that does not depend on the size;
/// [`Span::MAX`] where that is too short.
pub fn ideal_span(hops: &[(Rate, Span)], train: Train) -> Span {
    assert!(!hops.is_empty(), "the path has no link");
    assert!(train.packet > Bytes::ZERO, "the packet size is zero");
    if train.size == Bytes::ZERO {
        return Span::ZERO;
    }
    let full = train.size.get() / train.packet.get();
    let rest = Bytes::new(train.size.get() % train.packet.get());
    // Without a shorter one, the last full packet is the last packet.
    let (before, last) = match rest {
        Bytes::ZERO => (full - 1, train.packet),
        rest => (full, rest),
    };
    let span_of = |rate: Rate, size: Bytes| {
        let span = rate.tx_span(size + train.overhead);
        u128::from(span.as_ps())
    };
    let pace = u128::from(train.pace.tx_span(train.packet).as_ps());
    // The time between two full packets where they leave the hop; at the source at least that of
    // the pace.
    let mut gap = pace;
    // When the last bits of the first and of the last packet of the train reach the hop.
    let mut first = 0;
    let mut end = 0;
    for (index, &(rate, delay)) in hops.iter().enumerate() {
        let full_span = span_of(rate, train.packet);
        let delay = u128::from(delay.as_ps());
        gap = gap.max(full_span);
        if index == 0 {
            end = u128::from(before) * gap;
        }
        // The packet before the last one must have left.
        if before > 0 {
            end = end.max(first + full_span + u128::from(before - 1) * gap);
        }
        end += span_of(rate, last) + delay;
        first += full_span + delay;
    }
    Span::ps(u64::try_from(end).unwrap_or(u64::MAX))
}

/// The same for a flow of `config`, on its route; [`Span::ZERO`] for a flow without end, and for
/// one that circles.
///
/// Control frames and answers, flow control, congestion control, jitter, slow receivers and the
/// flow's own silences are left out: whatever they cost is part of its slowdown.
pub fn ideal_of(config: &Config, flow: &Flow) -> Span {
    if !flow.is_finite() {
        return Span::ZERO;
    }
    let header = Header { source: flow.source, group: flow.group, hash: flow.hash };
    let Ok(path) = trace(&config.topology, &config.table, header) else {
        return Span::ZERO;
    };
    let links = path
        .into_iter()
        .map(|(node, port)| (config.line(node, port), config.topology.port(node, port).delay));
    let train = Train {
        size: flow.size,
        packet: flow.packet,
        overhead: config.wire_overhead,
        pace: config.by_clock(flow.source, PortId(0), flow.pace),
    };
    ideal_span(&Vec::from_iter(links), train)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn train(size: u64, pace: Rate) -> Train {
        Train { size: Bytes::new(size), packet: Bytes::new(1_500), overhead: Bytes::ZERO, pace }
    }

    const LINE: Rate = Rate::gbps(10);

    #[test]
    fn by_hand() {
        let hop = (LINE, Span::us(1));
        // One packet: 1.2 us of frame per hop.
        let one = ideal_span(&[hop, hop], train(1_500, LINE));
        assert_eq!(one, Span::ns(2 * (1_200 + 1_000)));
        // Ten packets follow each other at 1.2 us.
        let ten = ideal_span(&[hop, hop], train(15_000, LINE));
        assert_eq!(ten, one + Span::ns(9 * 1_200));
        // A slow link in the middle has them follow each other at 12 us.
        let slow = (Rate::gbps(1), Span::us(1));
        let path = [hop, slow, hop];
        let first = Span::ns(1_200 + 12_000 + 1_200 + 3_000);
        let span = ideal_span(&path, train(15_000, LINE));
        assert_eq!(span, first + Span::ns(9 * 12_000));
        // Half a packet behind them is sent sooner and still has to wait for the one before it.
        let span = ideal_span(&path, train(15_750, LINE));
        assert_eq!(span, first + Span::ns(9 * 12_000 + 6_000 - 600));
        // Paced at 1 Gb/s no packet meets another one.
        let span = ideal_span(&[hop, hop], train(15_000, Rate::gbps(1)));
        assert_eq!(span, one + Span::ns(9 * 12_000));
    }

    #[test]
    fn nothing_to_send_takes_no_time_and_far_too_much_for_ever() {
        let hop = (LINE, Span::us(1));
        assert_eq!(ideal_span(&[hop], train(0, LINE)), Span::ZERO);
        assert_eq!(ideal_span(&[hop], train(u64::MAX, LINE)), Span::MAX);
    }

    /// Every packet at every hop, paced as `pauseless_core::host` does it.
    fn oracle(hops: &[(Rate, Span)], train: Train) -> Span {
        let mut left = train.size;
        let mut next = Span::ZERO;
        let mut free = vec![Span::ZERO; hops.len()];
        let mut end = Span::ZERO;
        while left > Bytes::ZERO {
            let size = train.packet.min(left);
            left -= size;
            let start = next.max(free[0]);
            let pace = train.pace.tx_span(size);
            next = next.max(start.saturating_sub(pace)) + pace;
            end = start;
            for (&(rate, delay), free) in hops.iter().zip(&mut free) {
                *free = end.max(*free) + rate.tx_span(size + train.overhead);
                end = *free + delay;
            }
        }
        end
    }

    fn rate() -> impl Strategy<Value = Rate> {
        prop_oneof![
            Just(Rate::gbps(10)),
            Just(Rate::gbps(25)),
            (1_000_000u64..400_000_000_000).prop_map(Rate::bps),
        ]
    }

    proptest! {
        #[test]
        fn it_agrees_with_following_every_packet(
            hops in prop::collection::vec((rate(), (0u64..5_000_000).prop_map(Span::ps)), 1..8),
            size in 1u64..200_000,
            packet in 1u64..9_001,
            overhead in 0u64..40,
            pace in rate(),
        ) {
            let size = Bytes::new(size.min(packet * 500));
            let (packet, overhead) = (Bytes::new(packet), Bytes::new(overhead));
            let train = Train { size, packet, overhead, pace };
            prop_assert_eq!(ideal_span(&hops, train), oracle(&hops, train));
        }
    }
}
