//! Links and switches that are down: drawn at random, one after the other, or by name.

use pauseless_core::id::NodeId;
use thiserror::Error;

use crate::name::NameError;
use crate::rng::{Purpose, Stream};
use crate::topology::{LinkIndex, Topology};

/// A set of links of one healthy topology that are down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// The links that are down, in ascending order.
    links: Vec<LinkIndex>,
}

/// The identity of a random set of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The seed of all samples.
    pub seed: u64,
    /// The number of the sample; each has a random stream of its own.
    pub sample: u64,
}

/// The probability of one, in parts per million.
pub const PPM_MAX: u32 = 1_000_000;

impl Failures {
    /// The failure of these links, given in any order.
    pub fn of_links(links: impl IntoIterator<Item = LinkIndex>) -> Failures {
        let mut links: Vec<LinkIndex> = links.into_iter().collect();
        links.sort_unstable();
        links.dedup();
        Failures { links }
    }

    /// The failure of a switch: all of its links, those to hosts included.
    pub fn of_switch(topology: &Topology, switch: NodeId) -> Failures {
        Failures::of_links(topology.ports(switch).iter().map(|port| port.link))
    }

    /// Random failures: every link between two switches fails with a probability of `ppm` in a
    /// million, independently of the others.
    pub fn random_links(topology: &Topology, ppm: u32, draw: Draw) -> Failures {
        let mut stream = Stream::new(draw.seed, Purpose::Failure, draw.sample);
        let links = switch_links(topology);
        let links = links.filter(|_| stream.below(u64::from(PPM_MAX)) < u64::from(ppm));
        // Each link takes one random number, whether it fails or not.
        Failures::of_links(links)
    }

    /// Exactly `count` random links between switches fail, every such set being equally likely.
    pub fn random_count(
        topology: &Topology,
        count: usize,
        draw: Draw,
    ) -> Result<Failures, FailureError> {
        let mut links: Vec<LinkIndex> = switch_links(topology).collect();
        if count > links.len() {
            return Err(FailureError::TooMany { wanted: count, count: links.len() });
        }
        let mut stream = Stream::new(draw.seed, Purpose::Failure, draw.sample);
        for at in 0..count {
            let chosen = at + stream.below((links.len() - at) as u64) as usize;
            links.swap(at, chosen);
        }
        links.truncate(count);
        Ok(Failures::of_links(links))
    }

    /// The failures of each single link between two switches, in the order of the links.
    pub fn single_links(topology: &Topology) -> impl Iterator<Item = Failures> + '_ {
        switch_links(topology).map(|link| Failures { links: vec![link] })
    }

    /// The failures of each single switch, in the order of the switches.
    pub fn single_switches(topology: &Topology) -> impl Iterator<Item = Failures> + '_ {
        topology.switches().iter().map(|switch| Failures::of_switch(topology, *switch))
    }

    /// The failure that a name stands for: a switch, `A1`; a link between switches, `A1-C2`, of
    /// which the second of parallel ones is `A1-C2#2`; or a link by one of its ports, `A1:C2`.
    pub fn named(topology: &Topology, name: &str) -> Result<Failures, FailureError> {
        if let Some(node) = topology.node_named(name) {
            return if topology.is_host(node) {
                Err(FailureError::Host { name: name.to_string() })
            } else {
                Ok(Failures::of_switch(topology, node))
            };
        }
        let (node, port) = topology.port_named(&port_of(topology, name)?)?;
        let port = topology.port(node, port);
        for end in [node, port.peer] {
            if topology.is_host(end) {
                let host = topology.node(end).name.clone();
                return Err(FailureError::HostLink { host });
            }
        }
        Ok(Failures::of_links([port.link]))
    }

    /// The links, in ascending order.
    pub fn links(&self) -> &[LinkIndex] {
        &self.links
    }

    /// Whether nothing has failed.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Whether the link is down.
    pub fn contains(&self, link: LinkIndex) -> bool {
        self.links.binary_search(&link).is_ok()
    }

    /// The links that fail in either of the two.
    pub fn union(&self, others: &Failures) -> Failures {
        Failures::of_links(self.links.iter().chain(&others.links).copied())
    }

    /// The rest of `topology`, which must be the one that the failures were made for.
    pub fn apply(&self, topology: &Topology) -> Topology {
        topology.without_links(&self.links)
    }

    /// The hosts that lose their own link, in the order of the links.
    pub fn hosts_cut_off(&self, topology: &Topology) -> Vec<NodeId> {
        let links = self.links.iter().map(|link| topology.links()[link.0 as usize]);
        links.flat_map(|link| [link.a, link.b]).filter(|end| topology.is_host(*end)).collect()
    }

    /// The two ends of every link by name, and the number among parallel links, from 1.
    pub fn ends<'t>(&self, topology: &'t Topology) -> impl Iterator<Item = ([&'t str; 2], usize)> {
        self.links.iter().map(|&index| {
            let link = topology.links()[index.0 as usize];
            let parallel = topology.ports_towards(link.a, link.b);
            let earlier = parallel.take_while(|port| topology.port(link.a, *port).link != index);
            let names = [link.a, link.b].map(|end| topology.node(end).name.as_str());
            (names, earlier.count() + 1)
        })
    }

    /// The links by name, such as `A1-C2`, as [`Failures::named`] reads them.
    pub fn names(&self, topology: &Topology) -> Vec<String> {
        let ends = self.ends(topology);
        ends.map(|([a, b], number)| match number {
            1 => format!("{a}-{b}"),
            _ => format!("{a}-{b}#{number}"),
        })
        .collect()
    }
}

/// Why a name or a number does not denote a failure.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "each message names the fields of its variant")]
pub enum FailureError {
    /// The name is neither a node nor a link.
    #[error("the fabric has no switch or link {name:?}; write a switch as A1, a link as A1-C2")]
    Unknown { name: String },
    /// The name is that of a link which the fabric does not have.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The name has dashes that can be split in more than one way.
    #[error("{name:?} may be more than one link; write it as a port, {first} or {second}")]
    Ambiguous { name: String, first: String, second: String },
    /// The name is that of a host.
    #[error("{name} is a host; fail switches and the links between them")]
    Host { name: String },
    /// The link is the only one of a host.
    #[error("host {host} would have no link left; fail links between switches only")]
    HostLink { host: String },
    /// More links were to fail than there are.
    #[error("{wanted} links cannot fail: only {count} are between switches")]
    TooMany { wanted: usize, count: usize },
}

fn switch_links(topology: &Topology) -> impl Iterator<Item = LinkIndex> + '_ {
    let links = (0..).map(LinkIndex).zip(topology.links());
    let links =
        links.filter(|(_, link)| ![link.a, link.b].iter().any(|end| topology.is_host(*end)));
    links.map(|(index, _)| index)
}

/// The port name of a link that is written with a dash. Nodes may have dashes in their names, so
/// every dash is tried.
fn port_of(topology: &Topology, name: &str) -> Result<String, FailureError> {
    if name.contains(':') {
        return Ok(name.to_string());
    }
    let splits = name.match_indices('-').map(|(at, _)| (&name[..at], &name[at + 1..]));
    let is_node = |name: &str| topology.node_named(name).is_some();
    let splits: Vec<_> = splits.filter(|(node, _)| is_node(node)).collect();
    let ports: Vec<String> = splits.iter().map(|(node, peer)| format!("{node}:{peer}")).collect();
    let exist = |port: &&String| topology.port_named(port).is_ok();
    let existing: Vec<&String> = ports.iter().filter(exist).collect();
    match existing[..] {
        [first, second, ..] => Err(FailureError::Ambiguous {
            name: name.to_string(),
            first: first.clone(),
            second: second.clone(),
        }),
        [port] => Ok(port.clone()),
        // The message about the first reading lists the neighbours of its first node.
        [] => ports.into_iter().next().ok_or(FailureError::Unknown { name: name.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{FatTree, LinkSpecs, Shape, ThreeTierClos};
    use crate::topology::tests::{SPEC, build};

    fn fat_tree(k: u32) -> Topology {
        FatTree { k }.build(LinkSpecs::same(SPEC)).unwrap()
    }

    fn clos() -> Topology {
        let shape = ThreeTierClos::PCN;
        shape.build(LinkSpecs::same(SPEC)).unwrap()
    }

    #[test]
    fn links_fail_as_often_as_asked() {
        // 8 pods x 4 x 4 + 128 links between switches.
        let topology = fat_tree(8);
        for ppm in [1_000, 50_000, 500_000] {
            let samples = 2_000;
            let failed = (0..samples).map(|sample| {
                let draw = Draw { seed: 3, sample };
                let failures = Failures::random_links(&topology, ppm, draw);
                assert!(failures.hosts_cut_off(&topology).is_empty());
                failures.links().len()
            });
            let (count, trials) = (failed.sum::<usize>() as f64, (samples * 256) as f64);
            let p = f64::from(ppm) / f64::from(PPM_MAX);
            let deviation = (trials * p * (1.0 - p)).sqrt();
            let error = (count - trials * p).abs() / deviation;
            assert!(error < 4.0, "{ppm}: {count} of {trials} is {error} sigma off");
        }
    }

    #[test]
    fn never_and_always_are_exact() {
        let topology = fat_tree(4);
        let draw = Draw { seed: 1, sample: 0 };
        assert!(Failures::random_links(&topology, 0, draw).is_empty());
        let all = Failures::random_links(&topology, PPM_MAX, draw);
        assert_eq!(all.links().len(), 32);
        assert_eq!(all.apply(&topology).links().len(), 16);
    }

    #[test]
    fn samples_repeat_and_differ() {
        let topology = fat_tree(8);
        let draw = |seed, sample| Failures::random_links(&topology, 50_000, Draw { seed, sample });
        assert_eq!(draw(7, 3), draw(7, 3));
        assert_ne!(draw(7, 3), draw(7, 4));
        assert_ne!(draw(7, 3), draw(8, 3));
    }

    #[test]
    fn so_many_fail_and_each_is_as_likely_as_the_others() {
        let topology = fat_tree(4);
        let mut times = vec![0; topology.links().len()];
        for sample in 0..3_200 {
            let draw = Draw { seed: 5, sample };
            let failures = Failures::random_count(&topology, 3, draw).unwrap();
            assert_eq!(failures.links().len(), 3);
            for link in failures.links() {
                times[link.0 as usize] += 1;
            }
        }
        // 3,200 x 3 / 32 = 300, with a standard deviation of 17.
        let switch: Vec<i32> = times.into_iter().filter(|times| *times > 0).collect();
        assert_eq!(switch.len(), 32);
        assert!(switch.iter().all(|times| (230..370).contains(times)), "{switch:?}");
        let draw = Draw { seed: 5, sample: 0 };
        assert_eq!(Failures::random_count(&topology, 32, draw).unwrap().links().len(), 32);
        let message = Failures::random_count(&topology, 33, draw).unwrap_err().to_string();
        assert_eq!(message, "33 links cannot fail: only 32 are between switches");
    }

    #[test]
    fn single_failures_are_all_of_them() {
        let topology = fat_tree(4);
        let links: Vec<Failures> = Failures::single_links(&topology).collect();
        assert_eq!(links.len(), 32);
        assert!(links.iter().all(|one| one.links().len() == 1));
        assert!(links.iter().all(|one| one.hosts_cut_off(&topology).is_empty()));
        let switches: Vec<Failures> = Failures::single_switches(&topology).collect();
        assert_eq!(switches.len(), 20);
        assert!(switches.iter().all(|one| one.links().len() == 4));
        let cut_off = |at: usize| switches[at].hosts_cut_off(&topology).len();
        assert_eq!((cut_off(0), cut_off(7), cut_off(8), cut_off(19)), (2, 2, 0, 0));
    }

    #[test]
    fn names_lead_to_failures_and_back() {
        for topology in [fat_tree(4), clos()] {
            for one in Failures::single_links(&topology) {
                let names = one.names(&topology);
                assert_eq!(Failures::named(&topology, &names[0]), Ok(one));
            }
        }
        let topology = clos();
        let named = |name: &str| Failures::named(&topology, name).unwrap();
        assert_eq!(named("T0-L1#2"), named("L1:T0#2"));
        assert_eq!(named("T0-L1"), named("T0-L1#1"));
        assert_ne!(named("T0-L1"), named("T0-L1#2"));
        assert_eq!(named("S3").links().len(), 16);
        let both = named("S3").union(&named("L0-S3"));
        assert_eq!(both, named("S3"));
        assert!(both.contains(named("L15-S3").links()[0]));
        assert!(!both.contains(named("L15-S4").links()[0]));
    }

    #[test]
    fn wrong_names_are_explained() {
        let topology = fat_tree(4);
        let cases = [
            ("", "the fabric has no switch or link \"\""),
            ("Z1", "the fabric has no switch or link \"Z1\"; write a switch as A1"),
            ("Z1-A1", "the fabric has no switch or link \"Z1-A1\""),
            ("A1-Z1", "A1 has no link to \"Z1\"; its neighbours are E1, E2, C1, C2"),
            ("A1-C4", "A1 has no link to \"C4\"; its neighbours are E1, E2, C1, C2"),
            ("A1-C1#2", "A1 has no link number 2 to C1, only 1"),
            ("A1:C1#x", "\"A1:C1#x\" is no port name"),
            ("H3", "H3 is a host; fail switches"),
            ("E1-H0", "host H0 would have no link left"),
            ("H0:E1", "host H0 would have no link left"),
        ];
        for (name, expected) in cases {
            let message = Failures::named(&topology, name).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{message} instead of {expected}");
        }
    }

    #[test]
    fn dashes_in_names_are_understood_where_they_can_be() {
        let nodes = ["a", "b", "a-b", "b-c", "c", "H1"];
        // a-b is a switch; a - b-c and a-b - c are both links.
        let topology = build(&nodes, &[(0, 1), (0, 3), (2, 4), (1, 4), (0, 5)]).unwrap();
        let named = |name: &str| Failures::named(&topology, name);
        assert_eq!(named("a-b").unwrap().links(), [LinkIndex(2)]);
        assert_eq!(named("a:b").unwrap().links(), [LinkIndex(0)]);
        // b-c is the switch again, and its only link is the one to a.
        assert_eq!(named("b-c").unwrap().links(), [LinkIndex(1)]);
        let message = named("a-b-c").unwrap_err().to_string();
        let expected = "\"a-b-c\" may be more than one link; write it as a port, a:b-c or a-b:c";
        assert_eq!(message, expected);
    }
}
