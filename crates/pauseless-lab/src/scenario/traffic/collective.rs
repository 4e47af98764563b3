//! Collective operations: flows between ranks that wait for each other.

use std::collections::BTreeMap;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Bytes, Span};

use super::super::flows::TIMES;
use super::super::reader::Section;
use super::pool::Pool;
use super::{Batch, FOLLOWS_MAX, Link, Made, Scene};

/// Who sends to whom, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Every rank sends a part to every other one, all at once or one after the other.
    AllToAll { is_shifted: bool },
    /// Reduce and scatter, then gather, in steps around a ring.
    Ring,
    /// Reduce to the root of a binary tree, then broadcast from it, in so many parts.
    Tree { chunks: u64 },
}

/// `kind = "all-to-all"`, `"ring-all-reduce"` and `"tree-all-reduce"`.
#[derive(Clone, Debug)]
pub(super) struct Collective {
    pub pattern: Pattern,
    pub hosts: Pool,
    /// The buffer of each rank.
    pub size: Bytes,
    pub repeat: u64,
    pub gap: Span,
}

/// A flow of one repetition.
struct Task {
    source: usize,
    target: usize,
    size: Bytes,
    /// Tells it from others of the same ends.
    number: u64,
}

/// One repetition.
#[derive(Default)]
struct Round {
    tasks: Vec<Task>,
    /// (first, then).
    links: Vec<(u32, u32)>,
}

impl Collective {
    /// Reads its own keys.
    pub(super) fn read(
        section: &mut Section<'_>,
        pattern: Pattern,
        size: (bool, Option<Bytes>),
    ) -> Option<Collective> {
        if !size.0 {
            section.missing("size", "\"1 MB\", the buffer of each rank");
        }
        let pattern = match pattern {
            Pattern::AllToAll { .. } => {
                let rounds = section.choice("rounds", &[("at once", false), ("shifted", true)]);
                let is_shifted = rounds.is_some_and(|rounds| rounds.value);
                Pattern::AllToAll { is_shifted }
            }
            Pattern::Tree { .. } => {
                let chunks = section.integer("chunks", 1..=1_000_000);
                let chunks = chunks.map_or(1, |chunks| chunks.value);
                Pattern::Tree { chunks }
            }
            Pattern::Ring => Pattern::Ring,
        };
        let repeat = section.integer("repeat", 1..=u64::from(u32::MAX));
        let gap = section.quantity_within("gap", TIMES);
        Some(Collective {
            pattern,
            hosts: Pool::read(section, "hosts"),
            size: size.1?,
            repeat: repeat.map_or(1, |repeat| repeat.value),
            gap: gap.map_or(Span::ZERO, |gap| gap.value),
        })
    }

    /// The ranks, in order of the topology.
    pub(super) fn cast(&self, scene: &Scene<'_>) -> Option<Vec<NodeId>> {
        let ranks = self.hosts.hosts(scene)?;
        let parts = match self.pattern {
            Pattern::Tree { chunks } => chunks,
            _ => ranks.len() as u64,
        };
        let place = &self.hosts.place;
        let problem = if ranks.len() < 2 {
            let problem = place.problem("a collective operation has at least two ranks");
            problem.help("list more hosts")
        } else if self.size.get() < parts {
            let problem = place.problem(format!("{} are no {parts} parts of a byte", self.size));
            problem.help("a larger size, or fewer parts")
        } else {
            return Some(ranks);
        };
        scene.sink.push(problem);
        None
    }

    /// How many flows there will be.
    pub(super) fn estimate(&self, ranks: &[NodeId]) -> f64 {
        let n = ranks.len() as f64;
        let each = match self.pattern {
            Pattern::AllToAll { .. } => n * (n - 1.0),
            Pattern::Ring => n * 2.0 * (n - 1.0),
            Pattern::Tree { chunks } => 2.0 * (n - 1.0) * chunks as f64,
        };
        each * self.repeat as f64
    }

    /// Whether so many flows would wait for each other that they do not fit the memory.
    pub(super) fn is_too_tangled(&self, ranks: &[NodeId]) -> bool {
        let n = ranks.len() as f64;
        let each = match self.pattern {
            Pattern::AllToAll { is_shifted: false } => 2.0 * n * (n - 1.0) * (n - 1.0),
            _ => 0.0,
        };
        each * (self.repeat - 1) as f64 > FOLLOWS_MAX as f64
    }

    /// All flows.
    ///
    /// A repetition begins rank by rank: those flows of a rank that wait for nothing within a
    /// repetition wait for all flows that the rank sent or received in the one before, which is
    /// all that a rank can know. Of flows that follow each other between the same two ranks,
    /// only the last is named, so that a ring needs two entries for each rank.
    pub(super) fn generate(&self, scene: &Scene<'_>, ranks: &[NodeId]) -> Batch {
        let round = self.round(ranks.len());
        let count = round.tasks.len();
        let mut is_first = vec![true; count];
        for (_, then) in &round.links {
            is_first[*then as usize] = false;
        }
        let mut last: BTreeMap<(usize, usize), u32> = BTreeMap::new();
        let mut by_rank = vec![Vec::new(); ranks.len()];
        for (index, task) in round.tasks.iter().enumerate() {
            last.insert((task.source, task.target), index as u32);
        }
        for ((source, target), index) in last {
            by_rank[source].push(index);
            by_rank[target].push(index);
        }
        let mut batch = Batch::default();
        for turn in 0..self.repeat {
            let base = batch.flows.len() as u32;
            for (index, task) in round.tasks.iter().enumerate() {
                let [source, target] = [task.source, task.target].map(|rank| ranks[rank]);
                let number = format_args!("{}.{}", turn + 1, task.number);
                batch.flows.push(Made {
                    name: scene.flow_name(source, target, number),
                    source,
                    target,
                    size: task.size,
                    start: scene.start,
                });
                if turn > 0 && is_first[index] {
                    let before = by_rank[task.source].iter();
                    batch.follows.extend(before.map(|first| Link {
                        first: base - count as u32 + first,
                        then: base + index as u32,
                        delay: self.gap,
                    }));
                }
            }
            batch
                .follows
                .extend(round.links.iter().map(|(first, then)| Link {
                    first: base + first,
                    then: base + then,
                    delay: Span::ZERO,
                }));
        }
        batch
    }

    /// The pairs of hosts that talk to each other, and how much at once.
    pub(super) fn pairs(&self, ranks: &[NodeId]) -> Vec<(NodeId, NodeId, Bytes)> {
        let tasks = self.round(ranks.len()).tasks.into_iter();
        let pairs = tasks.map(|task| (ranks[task.source], ranks[task.target], task.size));
        let mut pairs = Vec::from_iter(pairs);
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    fn round(&self, n: usize) -> Round {
        match self.pattern {
            Pattern::AllToAll { is_shifted } => all_to_all(n, self.size, is_shifted),
            Pattern::Ring => ring(n, self.size),
            Pattern::Tree { chunks } => tree(n, self.size, chunks),
        }
    }
}

/// Part `index` of `count` parts of `size` that are as equal as whole bytes can be.
fn part(size: Bytes, count: u64, index: u64) -> Bytes {
    let more = u64::from(index < size.get() % count);
    Bytes::new(size.get() / count + more)
}

fn all_to_all(n: usize, size: Bytes, is_shifted: bool) -> Round {
    let mut round = Round::default();
    for shift in 1..n {
        for source in 0..n {
            let target = (source + shift) % n;
            let index = round.tasks.len() as u32;
            if is_shifted && shift > 1 {
                round.links.push((index - n as u32, index));
            }
            round.tasks.push(Task {
                source,
                target,
                size: part(size, n as u64, target as u64),
                number: shift as u64,
            });
        }
    }
    round
}

/// In step s, rank i sends part i - s to rank i + 1: n - 1 steps add the parts up, n - 1 more
/// spread the sums. A step begins when the part has arrived and the own step before is finished.
fn ring(n: usize, size: Bytes) -> Round {
    let mut round = Round::default();
    for step in 0..2 * (n - 1) {
        for source in 0..n {
            let index = |step: usize, rank: usize| (step * n + rank) as u32;
            if step > 0 {
                let own = index(step - 1, source);
                let received = index(step - 1, (source + n - 1) % n);
                let then = index(step, source);
                round.links.extend([(own, then), (received, then)]);
            }
            let chunk = (source + 2 * n - step) % n;
            round.tasks.push(Task {
                source,
                target: (source + 1) % n,
                size: part(size, n as u64, chunk as u64),
                number: step as u64 + 1,
            });
        }
    }
    round
}

/// The parent of rank i is (i - 1) / 2. A part goes up when those of the children have arrived,
/// and down when it has arrived from above; on each link the parts follow each other.
fn tree(n: usize, size: Bytes, chunks: u64) -> Round {
    let mut round = Round::default();
    let edges = n as u32 - 1;
    // By part, up before down, by the child of the edge.
    let index = |chunk: u64, is_down: bool, child: usize| {
        (2 * chunk as u32 + u32::from(is_down)) * edges + child as u32 - 1
    };
    let children = |rank: usize| (2 * rank + 1..=2 * rank + 2).filter(|child| *child < n);
    for chunk in 0..chunks {
        for is_down in [false, true] {
            for child in 1..n {
                let parent = (child - 1) / 2;
                let then = index(chunk, is_down, child);
                if chunk > 0 {
                    round.links.push((index(chunk - 1, is_down, child), then));
                }
                let up = match (is_down, parent) {
                    (false, _) => Some(child),
                    (true, 0) => Some(0),
                    (true, _) => None,
                };
                match up {
                    Some(rank) => {
                        let arrived = children(rank).map(|from| index(chunk, false, from));
                        round.links.extend(arrived.map(|first| (first, then)));
                    }
                    None => round.links.push((index(chunk, true, parent), then)),
                }
                let (source, target) = match is_down {
                    true => (parent, child),
                    false => (child, parent),
                };
                round.tasks.push(Task {
                    source,
                    target,
                    size: part(size, chunks, chunk),
                    number: chunk + 1,
                });
            }
        }
    }
    round
}
