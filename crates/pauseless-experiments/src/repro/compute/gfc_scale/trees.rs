//! Random fat trees with failed links and random shortest paths, and how exposed each is to deadlock.
//!
//! A network is known by k and the number of its sample; from that follow the links that fail and
//! the path of every switch to every host. The scenario file has the same network when it has
//! `topology.random_failures.sample` and `routing.seed` set to the number of the sample.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use pauseless_core::class_map::ClassMap;
use pauseless_core::id::{NodeId, PortId};
use pauseless_core::unit::{Rate, Span};
use pauseless_fabric::dependency::{Checker, Lane, Lossy, Network, Traffic};
use pauseless_fabric::failure::{Draw, Failures};
use pauseless_fabric::generate::{FatTree, LinkSpecs, Shape};
use pauseless_fabric::routing::{Multipath, RouteBuilder, Routes, TieBreak};
use pauseless_fabric::topology::{LinkSpec, Topology};
use pauseless_fabric::trace::{Header, trace};

/// Each link between switches fails with this probability.
const FAILURE_PPM: u32 = 50_000;
/// `topology.random_failures.seed` of the scenario files.
const FAILURE_SEED: u64 = 1;

/// A network with a cycle of buffers that can wait for each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cyclic {
    /// The number of its sample.
    pub sample: u64,
    /// The probability that, of all cycles, the likeliest one has a flow for each of its
    /// dependencies when every host sends to one random host of another rack.
    pub exposure: f64,
}

/// What was found among the samples.
#[derive(Clone, Debug, Default)]
pub struct Screened {
    /// The most exposed first.
    pub cyclic: Vec<Cyclic>,
    /// Networks in which some hosts cannot reach others; they are not run.
    pub cut: usize,
}

/// Which of equally short paths is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// A random one for each switch and host, drawn from the number of the sample.
    Random,
    /// The one by the lowest port.
    Lowest,
}

/// All fat trees of one size.
pub struct Trees {
    topology: Topology,
    ties: Ties,
    checker: Checker,
    traffic: Traffic,
    nobody: Vec<bool>,
}

impl Trees {
    /// The fat trees of size k, which is even.
    pub fn new(k: u32, ties: Ties) -> Trees {
        let spec = LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) };
        let shape = FatTree { k };
        let topology = shape.build(LinkSpecs::same(spec)).expect("a fat tree");
        Trees {
            checker: Checker::new(&topology, 1),
            traffic: Traffic::AllPairs(vec![Lane::ONLY]),
            nobody: vec![false; topology.nodes().len()],
            ties,
            topology,
        }
    }

    /// Looks at the first `count` samples.
    pub fn screen(&mut self, count: u64) -> Screened {
        let mut screened = Screened::default();
        for sample in 0..count {
            let routes = self.routes(sample);
            let network = Network {
                topology: &self.topology,
                routes: &routes,
                classes: &ClassMap::Same,
                traffic: &self.traffic,
                lossy: &Lossy::nothing(),
            };
            let graph = self.checker.graph(network, &self.nobody);
            if self.is_cut(&routes) {
                screened.cut += 1;
            } else if graph.is_cyclic() {
                let exposure = self.exposure(&routes);
                screened.cyclic.push(Cyclic { sample, exposure });
            }
        }
        let order = |a: &Cyclic, b: &Cyclic| {
            b.exposure.total_cmp(&a.exposure).then(a.sample.cmp(&b.sample))
        };
        screened.cyclic.sort_by(order);
        screened
    }

    fn routes(&self, sample: u64) -> Routes {
        let draw = Draw { seed: FAILURE_SEED, sample };
        let failures = Failures::random_links(&self.topology, FAILURE_PPM, draw);
        let tie_break = match self.ties {
            Ties::Random => TieBreak::Seeded(sample),
            Ties::Lowest => TieBreak::Lowest,
        };
        RouteBuilder::new(&self.topology, Multipath::Single { tie_break })
            .without_links(failures.links())
            .build()
    }

    /// The switch of a host.
    fn rack(&self, host: NodeId) -> NodeId {
        self.topology.port(host, PortId(0)).peer
    }

    /// Whether a host cannot be reached from another rack.
    fn is_cut(&self, routes: &Routes) -> bool {
        let hosts = self.topology.hosts();
        let racks = Vec::from_iter(hosts.iter().map(|host| self.rack(*host)));
        hosts.iter().any(|target| {
            let group = routes.groups.of_host(*target);
            racks.iter().any(|rack| routes.table.next_hop(*rack, group, 0).is_none())
        })
    }

    /// How many pairs of hosts make each ingress buffer wait for each other one.
    fn dependencies(&self, routes: &Routes) -> Dependencies {
        let mut pairs = BTreeMap::new();
        let hosts = self.topology.hosts();
        for &target in hosts {
            let group = routes.groups.of_host(target);
            for &source in hosts {
                if self.rack(source) == self.rack(target) {
                    continue;
                }
                let header = Header { source, group, hash: 0 };
                let path = trace(&self.topology, &routes.table, header).expect("nobody is cut off");
                // Neither the link from the source nor that to the target can be in a cycle.
                let links = &path[1..path.len() - 1];
                for pair in links.windows(2) {
                    *pairs.entry((pair[0], pair[1])).or_insert(0) += 1;
                }
            }
        }
        pairs
    }

    fn exposure(&self, routes: &Routes) -> f64 {
        let hosts = self.topology.hosts();
        let first = self.rack(hosts[0]);
        let others = hosts.iter().filter(|host| self.rack(**host) != first);
        exposure(&self.dependencies(routes), others.count() as f64)
    }
}

/// A link between switches, by the port that sends.
type Link = (NodeId, PortId);
/// How many pairs of hosts have a packet in the buffer behind the first link that wants to go on
/// over the second.
type Dependencies = BTreeMap<(Link, Link), u32>;

/// The probability of the likeliest cycle, if each pair is active with a probability of 1 over
/// `targets`: that of the lightest cycle, where a dependency weighs minus the logarithm of its
/// own.
fn exposure(dependencies: &Dependencies, targets: f64) -> f64 {
    let mut numbers = BTreeMap::new();
    for (from, to) in dependencies.keys() {
        for link in [from, to] {
            let next = numbers.len();
            numbers.entry(*link).or_insert(next);
        }
    }
    let mut next = vec![Vec::new(); numbers.len()];
    for ((from, to), pairs) in dependencies {
        let probability = 1.0 - (1.0 - 1.0 / targets).powi(*pairs as i32);
        next[numbers[from]].push((numbers[to], -probability.ln()));
    }
    let weights = (0..next.len()).filter_map(|start| lightest_cycle(&next, start));
    (-weights.fold(f64::INFINITY, f64::min)).exp()
}

/// The weight of the lightest cycle through `start` (Dijkstra).
fn lightest_cycle(next: &[Vec<(usize, f64)>], start: usize) -> Option<f64> {
    let mut best = vec![f64::INFINITY; next.len()];
    let mut heap = BinaryHeap::from([Reverse((Weight(0.0), start))]);
    while let Some(Reverse((Weight(weight), at))) = heap.pop() {
        if at == start && weight > 0.0 {
            return Some(weight);
        }
        if at != start && weight > best[at] {
            continue;
        }
        for &(to, step) in &next[at] {
            if weight + step < best[to] {
                best[to] = weight + step;
                heap.push(Reverse((Weight(weight + step), to)));
            }
        }
    }
    None
}

/// A weight that can be compared, since it is a number.
#[derive(PartialEq)]
struct Weight(f64);

impl Eq for Weight {}

impl PartialOrd for Weight {
    fn partial_cmp(&self, other: &Weight) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Weight {
    fn cmp(&self, other: &Weight) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pauseless_check::check;
    use pauseless_scenario::fabric_file;
    use pauseless_text::source::Source;

    /// What is screened is what the scenario file says, network by network.
    #[test]
    fn the_scenario_file_has_the_same_networks() {
        let screened = Trees::new(4, Ties::Random).screen(60);
        let mut cyclic = Vec::new();
        let mut cut = 0;
        for sample in 0..60 {
            let text = format!(
                "[topology]\nkind = \"fat-tree\"\nk = 4\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n\
                 random_failures = {{ share = \"5 %\", seed = 1, sample = {sample} }}\n\
                 [routing]\nkind = \"shortest\"\ntie_break = \"seeded\"\nseed = {sample}\n"
            );
            let file = "tree.toml".to_string();
            let fabric = fabric_file::read(&Source { file, text }).expect("a fabric");
            let verdict = check(&fabric, &[]);
            match verdict.unrouted_pairs {
                0 if verdict.is_cyclic() => cyclic.push(sample),
                0 => {}
                _ => cut += 1,
            }
        }
        let mut found = Vec::from_iter(screened.cyclic.iter().map(|it| it.sample));
        found.sort_unstable();
        assert_eq!((found, screened.cut), (cyclic, cut));
        assert!(screened.cyclic.len() > 2, "{screened:?}");
    }

    #[test]
    fn the_likeliest_cycle_decides_the_exposure() {
        let link = |number: u32| (NodeId(number), PortId(0));
        let of = |list: &[(u32, u32, u32)]| {
            let edges = list.iter().map(|(from, to, pairs)| ((link(*from), link(*to)), *pairs));
            exposure(&edges.collect(), 10.0)
        };
        assert_eq!(of(&[(0, 1, 5), (1, 2, 5)]), 0.0, "no cycle");
        // One pair of ten: 0.1 for each dependency.
        assert!((of(&[(0, 1, 1), (1, 0, 1)]) - 0.01).abs() < 1e-12);
        let two = [(0, 1, 1), (1, 0, 1), (1, 2, 1), (2, 1, 2)];
        assert!((of(&two) - 0.1 * 0.19).abs() < 1e-12);
    }
}
