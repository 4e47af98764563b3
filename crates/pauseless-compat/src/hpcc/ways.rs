//! How long the ways between hosts are, as these simulators reckon it: they search from every
//! host, count whole nanoseconds, and keep what the first shortest way found has.

use std::collections::BTreeMap;

use super::topology::Topology;

/// What a way adds up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Way {
    /// The delays of its links, in nanoseconds.
    pub delay: u64,
    /// The time to send one payload on each of them, in nanoseconds.
    pub sending: u64,
    /// The rate of the slowest, in bit/s.
    pub rate: u64,
}

impl Way {
    const EMPTY: Way = Way { delay: 0, sending: 0, rate: u64::MAX };

    fn then(self, other: Way) -> Way {
        Way {
            delay: self.delay + other.delay,
            sending: self.sending + other.sending,
            rate: self.rate.min(other.rate),
        }
    }

    /// There and back without queues, in nanoseconds.
    pub(super) fn round_trip(self) -> u64 {
        2 * self.delay + self.sending
    }

    /// The bytes that fill it.
    pub(super) fn product(self) -> u64 {
        let bits = u128::from(self.round_trip()) * u128::from(self.rate) / 1_000_000_000;
        (bits / 8) as u64
    }
}

/// The ways between all hosts.
pub(super) struct Ways {
    /// For each node its switch and the way there; switches have none.
    entry: Vec<Option<(usize, Way)>>,
    /// The switches that have hosts, in order.
    edges: Vec<usize>,
    /// The way from each of them to each, source after source; none if there is no way.
    between: Vec<Option<Way>>,
}

impl Ways {
    /// Searches from every switch that has hosts, the neighbour with the highest number first.
    pub fn new(topology: &Topology, payload: u64) -> Ways {
        let count = topology.is_switch.len();
        let mut neighbours: Vec<Vec<(usize, Way)>> = vec![Vec::new(); count];
        let mut entry = vec![None; count];
        for link in &topology.links {
            let way = Way {
                delay: link.delay.as_ps() / 1_000,
                sending: payload * 8_000_000_000 / link.rate.as_bps(),
                rate: link.rate.as_bps(),
            };
            let [a, b] = link.ends;
            for (from, to) in [(a, b), (b, a)] {
                if !topology.is_switch[from] {
                    entry[from] = Some((to, way));
                } else if topology.is_switch[to] {
                    neighbours[from].push((to, way));
                }
            }
        }
        for list in &mut neighbours {
            list.sort_unstable_by(|a, b| b.cmp(a));
        }
        let mut edges = Vec::from_iter(entry.iter().flatten().map(|(switch, _)| *switch));
        edges.sort_unstable();
        edges.dedup();
        let mut between = vec![None; edges.len() * edges.len()];
        for (number, &target) in edges.iter().enumerate() {
            let found = search(&neighbours, target);
            for (row, &source) in between.chunks_mut(edges.len()).zip(&edges) {
                row[number] = found[source];
            }
        }
        Ways { entry, edges, between }
    }

    /// The way between two switches that have hosts.
    fn between(&self, from: usize, to: usize) -> Option<Way> {
        let number = |switch| self.edges.binary_search(&switch).ok();
        self.between[number(from)? * self.edges.len() + number(to)?]
    }

    /// From host to host; `None` if there is none.
    pub(super) fn get(&self, source: usize, target: usize) -> Option<Way> {
        let (from, first) = self.entry[source]?;
        let (to, last) = self.entry[target]?;
        Some(last.then(self.between(from, to)?).then(first))
    }

    /// The longest round trip and the largest product of all pairs of hosts.
    pub(super) fn largest(&self) -> (u64, u64) {
        let mut kinds: BTreeMap<usize, Vec<(Way, usize)>> = BTreeMap::new();
        for (switch, way) in self.entry.iter().flatten() {
            let list = kinds.entry(*switch).or_default();
            match list.iter_mut().find(|(other, _)| other == way) {
                Some((_, count)) => *count += 1,
                None => list.push((*way, 1)),
            }
        }
        let (mut longest, mut largest) = (0, 0);
        let pairs = self.edges.iter().flat_map(|from| self.edges.iter().map(move |to| (from, to)));
        let ways = pairs.zip(&self.between);
        for ((from, to), between) in ways.filter_map(|(pair, way)| Some((pair, way.as_ref()?))) {
            for (number, (first, count)) in kinds[from].iter().enumerate() {
                for (other, (last, _)) in kinds[to].iter().enumerate() {
                    if from == to && number == other && *count < 2 {
                        // A host does not talk to itself.
                        continue;
                    }
                    let way = last.then(*between).then(*first);
                    longest = longest.max(way.round_trip());
                    largest = largest.max(way.product());
                }
            }
        }
        (longest, largest)
    }
}

/// The way of every switch to `target`.
fn search(neighbours: &[Vec<(usize, Way)>], target: usize) -> Vec<Option<Way>> {
    let mut found = vec![None; neighbours.len()];
    found[target] = Some(Way::EMPTY);
    let mut queue = vec![(target, Way::EMPTY)];
    let mut next = 0;
    while let Some(&(at, way)) = queue.get(next) {
        next += 1;
        for &(peer, link) in &neighbours[at] {
            if found[peer].is_none() {
                let way = way.then(link);
                found[peer] = Some(way);
                queue.push((peer, way));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use pauseless_text::problem::Sink;

    #[test]
    fn round_trips_are_those_of_the_simulator() {
        // Two hosts on the first switch, one on the second, all at 40 Gb/s and 1 us.
        let text =
            "5 2 4\n3 4\n0 3 40Gbps 1us 0\n1 3 40Gbps 1us 0\n2 4 40Gbps 1us 0\n3 4 40Gbps 1us 0\n";
        let sink = Sink::default();
        let topology = Topology::parse(text.into(), &sink);
        let ways = Ways::new(&topology, 1_000);
        let near = ways.get(0, 1).unwrap();
        assert_eq!((near.round_trip(), near.product()), (4_400, 22_000));
        let far = ways.get(0, 2).unwrap();
        assert_eq!((far.round_trip(), far.product()), (6_600, 33_000));
        assert_eq!(ways.largest(), (6_600, 33_000));
    }
}
