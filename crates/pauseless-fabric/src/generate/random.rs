//! Random regular graphs, as of Jellyfish (Singla, Hong, Popa, Godfrey, NSDI 2012).

use pauseless_core::id::NodeId;

use super::size::{product, sum};
use super::{Numbers, Shape, Size, SizeError, Wiring};
use crate::rng::{Purpose, Stream};

/// Switches S0.. of which each has `degree` links to others, chosen at random such that no two
/// are joined twice and all are connected. Host Hn is on switch n / `hosts_per_switch`.
///
/// The same numbers and seed give the same graph. It is made from a regular one by exchanging the
/// ends of links at random: unlike drawing link after link this cannot get stuck, however dense
/// the graph is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RandomRegular {
    /// The switches of the graph; at least two.
    pub switches: u32,
    /// The links of each switch to others: less than the number of switches, and at least two if
    /// there are more than two; the product with that number must be even.
    pub degree: u32,
    /// The hosts of each switch; at least one.
    pub hosts_per_switch: u32,
    /// The seed of the random links.
    pub seed: u64,
}

impl Shape for RandomRegular {
    fn size(&self) -> Size {
        let hosts = product([self.switches, self.hosts_per_switch]);
        Size {
            hosts,
            switches: self.switches.into(),
            links: sum([hosts, product([self.switches, self.degree]) / 2]),
            ports: sum([self.degree.into(), self.hosts_per_switch.into()]),
        }
    }

    fn check(&self) -> Result<(), SizeError> {
        let fields = Numbers("a random regular fabric");
        let (switches, degree) = (self.switches, self.degree);
        fields.within("switches", switches, 2..=RANDOM_MAX)?;
        // With one link each, only two switches can be connected.
        let degree_min = if switches == 2 { 1 } else { 2 };
        fields.within("degree", degree, degree_min..=switches - 1)?;
        fields.positive(&[("hosts_per_switch", self.hosts_per_switch)])?;
        if switches % 2 == 1 && degree % 2 == 1 {
            let why = format!(
                "{switches} switches with {degree} links each: the product is odd; make one of them \
                 even"
            );
            let field = "degree";
            return Err(SizeError::Impossible { field, why });
        }
        Ok(())
    }

    fn draw(&self, wiring: &mut Wiring) {
        let switches = wiring.row(1, self.switches, |n| format!("S{n}"));
        wiring.attach_all(&switches, self.hosts_per_switch);
        let mut graph = Graph::circulant(*self);
        let mut stream = Stream::new(self.seed, Purpose::Wiring, 0);
        graph.mix(&mut stream, MIXING_ROUNDS);
        while !graph.is_connected() {
            graph.mix(&mut stream, 1);
        }
        graph.links.sort_unstable();
        for (a, b) in graph.links {
            wiring.link(NodeId(a), NodeId(b));
        }
    }
}

/// A graph without loops and parallel edges.
struct Graph {
    nodes: usize,
    /// The links, each with its lower node first.
    links: Vec<(u32, u32)>,
    /// Whether two nodes are joined: a bit for each ordered pair.
    joined: Vec<u64>,
}

impl Graph {
    /// A regular and connected graph: every node is joined to its nearest ones in a circle.
    fn circulant(shape: RandomRegular) -> Graph {
        let nodes = shape.switches as usize;
        let mut graph =
            Graph { nodes, links: Vec::new(), joined: vec![0; (nodes * nodes).div_ceil(64)] };
        for a in 0..shape.switches {
            for offset in 1..=shape.degree / 2 {
                graph.add(a, (a + offset) % shape.switches);
            }
            // An odd degree is completed by the node opposite; the number of nodes is even then.
            let half = shape.switches / 2;
            if shape.degree % 2 == 1 && a < half {
                graph.add(a, a + half);
            }
        }
        graph
    }

    fn add(&mut self, a: u32, b: u32) {
        self.links.push(ordered(a, b));
        self.flip(a, b);
    }

    fn are_joined(&self, a: u32, b: u32) -> bool {
        let bit = a as usize * self.nodes + b as usize;
        self.joined[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Joins two nodes, or separates them.
    fn flip(&mut self, a: u32, b: u32) {
        for (a, b) in [(a, b), (b, a)] {
            let bit = a as usize * self.nodes + b as usize;
            self.joined[bit / 64] ^= 1 << (bit % 64);
        }
    }

    /// Picks two links and exchanges an end of one for an end of the other, `rounds` times as often
    /// as there are links. Exchanges that would join two nodes twice, or one to itself, are
    /// skipped.
    fn mix(&mut self, stream: &mut Stream, rounds: usize) {
        let count = self.links.len();
        for _ in 0..rounds * count {
            let first = stream.below(count as u64) as usize;
            let second = stream.below(count as u64) as usize;
            let ((a, b), mut other) = (self.links[first], self.links[second]);
            if stream.below(2) == 1 {
                other = (other.1, other.0);
            }
            let (c, d) = other;
            let are_free = a != d && b != c && !self.are_joined(a, d) && !self.are_joined(c, b);
            if first == second || !are_free {
                continue;
            }
            for (a, b) in [(a, b), (c, d), (a, d), (c, b)] {
                self.flip(a, b);
            }
            self.links[first] = ordered(a, d);
            self.links[second] = ordered(c, b);
        }
    }

    fn is_connected(&self) -> bool {
        let mut neighbours = vec![Vec::new(); self.nodes];
        for &(a, b) in &self.links {
            neighbours[a as usize].push(b as usize);
            neighbours[b as usize].push(a as usize);
        }
        let mut seen = vec![false; self.nodes];
        seen[0] = true;
        let mut reached = vec![0];
        let mut at = 0;
        while let Some(&node) = reached.get(at) {
            for &next in &neighbours[node] {
                if !std::mem::replace(&mut seen[next], true) {
                    reached.push(next);
                }
            }
            at += 1;
        }
        reached.len() == self.nodes
    }
}

fn ordered(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

/// The number of exchanges per link, after which nothing of the circle is left.
const MIXING_ROUNDS: usize = 20;
/// The most switches: the graph takes a bit for each pair, 32 MiB for this many.
const RANDOM_MAX: u32 = 16_384;
