//! How the memory of switches is divided there.

use std::collections::BTreeMap;

use super::super::topology::Topology;

/// What an ingress port of a switch has, beside its reserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PortMemory {
    /// The most in headroom, in bytes.
    pub headroom: u64,
    /// Its threshold is what is free, over two to this power.
    pub shift: u32,
}

/// The ports of all switches by what they have, as `NODE:NEIGHBOUR`.
pub fn ports(topology: &Topology) -> BTreeMap<PortMemory, Vec<String>> {
    let nic = topology.nic_rate().map_or(u64::MAX, |rate| rate.as_bps());
    let mut ports: BTreeMap<PortMemory, Vec<String>> = BTreeMap::new();
    for link in &topology.links {
        let memory = memory(link.rate.as_bps(), link.delay.as_ps() / 1_000, nic);
        let [a, b] = link.ends;
        for (node, peer) in [(a, b), (b, a)] {
            if topology.is_switch[node] {
                ports.entry(memory).or_default().push(format!("{node}:{peer}"));
            }
        }
    }
    ports
}

/// The switch that sets most aside, and how much for headroom and for reserves.
pub(super) fn most_set_aside(topology: &Topology) -> Option<(usize, [u64; 2])> {
    let mut aside: BTreeMap<usize, [u64; 2]> = BTreeMap::new();
    for link in &topology.links {
        let headroom = memory(link.rate.as_bps(), link.delay.as_ps() / 1_000, u64::MAX).headroom;
        for node in link.ends.into_iter().filter(|end| topology.is_switch[*end]) {
            let [all, reserves] = aside.entry(node).or_default();
            *all = all.saturating_add(headroom);
            *reserves += RESERVE;
        }
    }
    let of = |(_, [headroom, reserves]): &(usize, [u64; 2])| headroom.saturating_add(*reserves);
    aside.into_iter().max_by_key(of)
}

/// What every port has for itself.
pub(super) const RESERVE: u64 = 4_096;

/// Three times what is under way one way, in that order of whole numbers; and an eighth of what is
/// free at the rate of a NIC, twice as much for every doubling.
pub(super) fn memory(mut rate: u64, delay_ns: u64, nic: u64) -> PortMemory {
    let bits = u128::from(rate) * u128::from(delay_ns);
    let headroom = (bits / 8 / 1_000_000_000 * 3) as u64;
    let mut shift = 3;
    while rate > nic && shift > 0 {
        shift -= 1;
        rate /= 2;
    }
    PortMemory { headroom, shift }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headroom_and_thresholds_follow_rate_and_delay() {
        let of = |gigabits: u64, nanoseconds| {
            let PortMemory { headroom, shift } =
                memory(gigabits * 1_000_000_000, nanoseconds, 100_000_000_000);
            (headroom, shift)
        };
        assert_eq!(of(40, 1_000), (15_000, 3));
        assert_eq!(of(100, 1_000), (37_500, 3));
        assert_eq!(of(200, 1_000), (75_000, 2));
        assert_eq!(of(400, 1_000), (150_000, 1));
        assert_eq!(of(1_600, 500), (300_000, 0));
        assert_eq!(of(100, 1), (36, 3));
    }
}
