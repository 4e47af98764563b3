//! How far packets of a flow overtake each other, as their targets see it.
//!
//! Only runs in which packets may take several paths have it. There every packet on its way has a note
//! with the number of its transmission: a packet that is sent again after a loss
//! has not been overtaken by what was sent before that.

use std::collections::{BTreeMap, VecDeque};

use pauseless_core::arrivals::Arrivals;
use pauseless_core::congestion::Sequence;
use pauseless_core::id::{FlowId, NodeId};
use pauseless_core::transport::Receiver;
use pauseless_core::unit::{Bytes, Span, Time};

use crate::config::Config;
use crate::outcome::{FlowReordering, Reordering};

/// How many packets behind a missing one are waited for it: it is lost then.
const LOST_AFTER: u64 = 1 << 20;

/// The state of all flows and targets.
#[derive(Debug)]
pub(crate) struct Order {
    /// How many packets of each flow were sent, repetitions included.
    sent: Vec<u64>,
    /// What has arrived of each flow.
    flows: Vec<Option<Box<Tracked>>>,
    /// What each node holds back, and the most that it did.
    held: Vec<(Bytes, Bytes)>,
    total: Reordering,
}

/// What has arrived of a flow.
#[derive(Clone, Debug, Default)]
struct Tracked {
    /// By the number of the transmission.
    sendings: Arrivals,
    /// The transmissions that left a gap as they arrived, and when: what a packet in that gap was
    /// overtaken by first.
    jumps: VecDeque<(u64, Time)>,
    /// By the number in the flow.
    numbers: Arrivals,
    /// The bytes that have arrived behind the first missing number.
    depth: Bytes,
    /// The length of each of these.
    waiting: VecDeque<(u64, u32)>,
    seen: FlowReordering,
}

/// A data packet at its target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub flow: FlowId,
    pub sequence: Sequence,
    /// The number of its transmission.
    pub sending: u64,
    pub size: Bytes,
}

impl Order {
    /// The state before the first packet, if packets may come out of order.
    pub(crate) fn new(config: &Config) -> Option<Box<Order>> {
        let is_needed =
            !config.has_one_path_per_flow() || config.transport.receiver != Receiver::InOrder;
        is_needed.then(|| {
            Box::new(Order {
                sent: vec![0; config.flows.len()],
                flows: vec![None; config.flows.len()],
                held: vec![(Bytes::ZERO, Bytes::ZERO); config.topology.nodes().len()],
                total: Reordering::default(),
            })
        })
    }

    /// The number of the transmission that begins.
    pub(crate) fn on_send(&mut self, flow: FlowId) -> u64 {
        let sent = &mut self.sent[flow.index()];
        *sent += 1;
        *sent - 1
    }

    /// Handles a packet at its target, whatever that does with it.
    pub(crate) fn on_arrival(&mut self, now: Time, packet: Arrived) {
        let tracked = self.flows[packet.flow.index()].get_or_insert_default();
        let overtaken = tracked.overtake(now, packet.sending);
        tracked.wait(packet);
        let depth = tracked.seen.depth_max;
        let Reordering { packets, late_packets, extents, late, depth_max, .. } = &mut self.total;
        *packets += 1;
        *depth_max = (*depth_max).max(depth);
        if let Some((extent, span)) = overtaken {
            *late_packets += 1;
            extents.add(extent);
            late.add_roughly(span.as_ps());
        }
    }

    /// Handles `size` bytes that a target has taken, and those that it hands on with them.
    pub(crate) fn on_taken(&mut self, node: NodeId, size: Bytes, delivered: Bytes) {
        let (held, most) = &mut self.held[node.index()];
        *held = *held + size - delivered;
        *most = (*most).max(*held);
    }

    /// The bytes that all targets hold back.
    pub(crate) fn held(&self) -> Bytes {
        self.held.iter().map(|(held, _)| *held).sum()
    }

    /// Takes over what another part of the run has seen; every flow has its target in one of them.
    pub(crate) fn add(&mut self, part: &mut Order) {
        for (flow, there) in self.flows.iter_mut().zip(&mut part.flows) {
            if there.is_some() {
                *flow = there.take();
            }
        }
        for ((held, most), (more, there)) in self.held.iter_mut().zip(&part.held) {
            *held += *more;
            *most = (*most).max(*there);
        }
        self.total.add(&part.total);
    }

    /// What is known of a flow.
    pub(crate) fn of_flow(&self, index: usize) -> FlowReordering {
        self.flows[index].as_ref().map(|it| it.seen).unwrap_or_default()
    }

    /// What is known of all flows together.
    pub(crate) fn finish(mut self) -> Reordering {
        self.total.held_max = self.held.iter().map(|(_, most)| *most).max().unwrap_or_default();
        self.total
    }
}

impl Tracked {
    /// How many packets that were sent later have overtaken one that arrives, and how long ago the first
    /// of them did; `None` if none has.
    fn overtake(&mut self, now: Time, sending: u64) -> Option<(u64, Span)> {
        self.seen.packets += 1;
        let end = self.sendings.end();
        if sending >= end {
            if sending > end {
                self.jumps.push_back((sending, now));
            }
            self.sendings.insert(sending);
            self.sendings.give_up_before((sending + 1).saturating_sub(LOST_AFTER));
            self.forget_jumps();
            return None;
        }
        let extent = if sending < self.sendings.next() {
            // It was given up: all that was sent later may have come.
            end - sending - 1
        } else {
            self.sendings.count_above(sending)
        };
        let first = self.jumps.partition_point(|(by, _)| *by <= sending);
        let since = self.jumps.get(first).map_or(now, |(_, time)| *time);
        self.sendings.insert(sending);
        self.forget_jumps();
        let span = now.saturating_since(since);
        self.seen.late_packets += 1;
        self.seen.extent_max = self.seen.extent_max.max(extent);
        self.seen.late_max = self.seen.late_max.max(span);
        Some((extent, span))
    }

    /// Forgets the jumps over gaps that are closed.
    fn forget_jumps(&mut self) {
        let next = self.sendings.next();
        while self.jumps.front().is_some_and(|(by, _)| *by <= next) {
            self.jumps.pop_front();
        }
    }

    /// Accounts for what a target would have to hold to hand on all packets in order.
    fn wait(&mut self, packet: Arrived) {
        let next = self.numbers.next();
        let ahead = packet.sequence.0.wrapping_sub(next as u32) & Sequence::MAX.0;
        if ahead > Sequence::MAX.0 / 2 {
            // It has arrived before.
            return;
        }
        let number = next + u64::from(ahead);
        if !self.numbers.insert(number) {
            return;
        }
        let size = packet.size.get() as u32;
        if number != next {
            let place = self.waiting.partition_point(|(it, _)| *it < number);
            self.waiting.insert(place, (number, size));
            self.depth += packet.size;
            self.seen.depth_max = self.seen.depth_max.max(self.depth);
            self.numbers.give_up_before((number + 1).saturating_sub(LOST_AFTER));
        }
        let next = self.numbers.next();
        while let Some((_, size)) = self.waiting.front().filter(|(number, _)| *number < next) {
            self.depth -= Bytes::new(u64::from(*size));
            self.waiting.pop_front();
        }
    }
}

/// How often each of some numbers came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<u64, u64>);

impl Counts {
    fn add(&mut self, number: u64) {
        *self.0.entry(number).or_default() += 1;
    }

    /// Adds a number, rounded up by less than a percent, lest there be very many of them.
    fn add_roughly(&mut self, number: u64) {
        let shift = (u64::BITS - number.leading_zeros()).saturating_sub(8);
        self.add(number.div_ceil(1 << shift) << shift);
    }

    fn merge(&mut self, other: &Counts) {
        for (number, count) in &other.0 {
            *self.0.entry(*number).or_default() += count;
        }
    }

    /// The least number that at least `permille` of `all` values do not exceed, those that were not
    /// counted here being zero.
    pub fn percentile(&self, permille: u64, all: u64) -> u64 {
        let counted: u64 = self.0.values().sum();
        let mut below = all - counted;
        let rank = u128::from(all) * u128::from(permille);
        for (number, count) in &self.0 {
            if u128::from(below) * 1_000 >= rank {
                break;
            }
            below += count;
            if u128::from(below) * 1_000 >= rank {
                return *number;
            }
        }
        0
    }

    /// The highest number; 0 without any.
    pub fn max(&self) -> u64 {
        self.0.last_key_value().map_or(0, |(number, _)| *number)
    }
}

impl Reordering {
    fn add(&mut self, other: &Reordering) {
        let Reordering { packets, late_packets, extents, late, depth_max, held_max } = other;
        self.packets += packets;
        self.late_packets += late_packets;
        self.extents.merge(extents);
        self.late.merge(late);
        self.depth_max = self.depth_max.max(*depth_max);
        self.held_max = self.held_max.max(*held_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 1000 B that arrive one after the other, 1 us each, by their numbers.
    fn arrive(numbers: &[u32]) -> (FlowReordering, Reordering) {
        let mut order = Order {
            sent: vec![0],
            flows: vec![None],
            held: Vec::new(),
            total: Reordering::default(),
        };
        for (step, number) in numbers.iter().enumerate() {
            let packet = Arrived {
                flow: FlowId(0),
                sequence: Sequence(*number),
                sending: u64::from(*number),
                size: Bytes::new(1_000),
            };
            order.on_arrival(Time::ZERO + Span::us(step as u64), packet);
        }
        (order.of_flow(0), order.finish())
    }

    #[test]
    fn what_comes_in_order_is_not_late() {
        let (flow, total) = arrive(&[0, 1, 2, 3]);
        assert_eq!(flow, FlowReordering { packets: 4, ..FlowReordering::default() });
        assert_eq!((total.packets, total.extents.percentile(1_000, 4)), (4, 0));
    }

    /// Packet 1 comes after 2, 3 and 4, the first of which was there 3 us before; packet 5 after 6 and 7.
    #[test]
    fn extent_depth_and_late_time_are_those_of_the_definition() {
        let (flow, total) = arrive(&[0, 2, 3, 4, 1, 6, 7, 5]);
        assert_eq!((flow.packets, flow.late_packets), (8, 2));
        assert_eq!((flow.extent_max, flow.depth_max), (3, Bytes::new(3_000)));
        assert_eq!(flow.late_max, Span::us(3));
        assert_eq!(total.extents.max(), 3);
        // Of eight packets six have extent 0, one 2 and one 3.
        let at = |permille| total.extents.percentile(permille, total.packets);
        assert_eq!([500, 750, 751, 875, 876, 1_000].map(at), [0, 0, 2, 2, 3, 3]);
    }

    /// A packet of an earlier gap is late from the jump over its own gap on, not from a later one.
    #[test]
    fn each_gap_has_its_own_beginning() {
        // 1 is overtaken first by 2, at 1 us; 3 by 4, at 2 us.
        let (flow, _) = arrive(&[0, 2, 4, 3, 1]);
        assert_eq!((flow.late_max, flow.extent_max), (Span::us(3), 3));
        assert_eq!(flow.depth_max, Bytes::new(3_000));
    }

    #[test]
    fn rough_counts_are_less_than_a_percent_above() {
        let mut counts = Counts::default();
        for number in [1, 255, 256, 257, 1_000_001, u64::MAX >> 9] {
            counts.add_roughly(number);
            let most = counts.max();
            assert!(most >= number && most - number <= number / 100, "{number}: {most}");
        }
    }
}
