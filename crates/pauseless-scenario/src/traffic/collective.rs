//! Collective operations: flows between ranks that wait for each other.

mod all_to_all;
mod ring;
mod tree;

use std::collections::BTreeMap;
use std::fmt;

use pauseless_core::id::NodeId;
use pauseless_core::unit::{Bytes, Span};

use super::super::flows::{Limits, SIZES, TIMES};
use super::pool::{Pool, complete_hosts};
use super::scene::{Batch, FLOWS_MAX, FOLLOWS_MAX, Link, Made, Pair, Scene};
use super::{AnyKind, TrafficKind, kind};
pub(super) use all_to_all::ALL_TO_ALL;
pub use pauseless_text::declare::List;
use pauseless_text::{section, words};
pub(super) use ring::RING_ALL_REDUCE;
pub(super) use tree::TREE_ALL_REDUCE;

section! {
    /// A collective operation among the hosts of a job.
    pub struct Collective {
        /// The ranks, in order of the topology.
        hosts: List<String>, within "a list of strings", derived "all hosts";
        /// The buffer of each rank.
        size: Bytes, within SIZES, required "\"1 MB\", the buffer of each rank";
        /// When a rank sends to which others; `"shifted"` is first to the next rank, when that is
        /// finished to the one after it, and so on.
        rounds: Rounds, default Rounds::AtOnce;
        /// In so many parts, which follow each other.
        chunks: u64, within 1..=1_000_000, default 1;
        /// How often it happens.
        repeat: u64, within 1..=u64::from(u32::MAX), default 1;
        /// The time from one to the next; it begins rank by rank, so long after all flows that the
        /// rank has sent and received in the one before.
        gap: Span, within TIMES, default Span::ZERO;
    }
}

/// When a rank sends to which others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounds {
    /// A rank sends to all others at once.
    AtOnce,
    /// A rank sends to one after the other.
    Shifted,
}

words! { Rounds { "at once" => Rounds::AtOnce, "shifted" => Rounds::Shifted } }

/// A collective operation by who sends to whom, and when.
trait Pattern: fmt::Debug + 'static + Send + Sync {
    fn keys(&self) -> &Collective;

    /// The keys, to be completed.
    fn keys_mut(&mut self) -> &mut Collective;

    /// Into how many parts the buffers of `ranks` ranks are cut.
    fn parts(&self, ranks: u64) -> u64 {
        ranks
    }

    /// How many flows one repetition of `ranks` ranks has.
    fn count(&self, ranks: f64) -> f64;

    /// About how many waits there are from one repetition to the next, where they may be too many.
    fn waits(&self, _ranks: f64) -> f64 {
        0.0
    }

    /// One repetition of `ranks` ranks.
    fn round(&self, ranks: usize) -> Round;
}

/// A flow of one repetition.
struct Task {
    source: usize,
    target: usize,
    size: Bytes,
    /// Tells it from others of the same ends.
    number: u64,
}

/// One repetition of the operation.
#[derive(Default)]
struct Round {
    tasks: Vec<Task>,
    /// The tasks that wait: (the task that must end first, the task that starts then).
    links: Vec<(u32, u32)>,
}

impl<P: Pattern> TrafficKind for P {
    fn complete(&mut self, _: Limits<'_>) -> Option<()> {
        let Collective { hosts, size, place, .. } = self.keys_mut();
        complete_hosts(hosts, place);
        size.get().map(|_| ())
    }

    fn flows(&self, scene: &Scene<'_>) -> Option<Batch> {
        let keys = self.keys();
        let ranks = keys.ranks(scene, |ranks| self.parts(ranks))?;
        let (n, repeat) = (ranks.len() as f64, keys.repeat.value as f64);
        if self.waits(n) * (repeat - 1.0) > FOLLOWS_MAX as f64 {
            let place = &scene.traffic.place;
            let problem = place.problem("too many flows would wait for each other");
            scene.sink.push(problem.help("rounds = \"shifted\", fewer hosts, or a smaller repeat"));
            return None;
        }
        let count = self.count(n) * repeat;
        let make = || keys.generate(scene, &ranks, &self.round(ranks.len()));
        Some(Batch::about(count, make))
    }

    fn pairs(&self, scene: &Scene<'_>) -> Option<Batch> {
        let ranks = self.keys().ranks(scene, |ranks| self.parts(ranks))?;
        let count = self.count(ranks.len() as f64);
        if count > FLOWS_MAX as f64 {
            return Some(scene.pairs(count, []));
        }
        let tasks = self.round(ranks.len()).tasks.into_iter();
        let pairs = tasks.map(|task| Pair::of(ranks[task.source], ranks[task.target], task.size));
        let mut pairs = Vec::from_iter(pairs);
        pairs.sort_unstable();
        pairs.dedup();
        Some(scene.pairs(pairs.len() as f64, pairs))
    }
}

impl Collective {
    /// The buffer of each rank.
    fn size(&self) -> Bytes {
        self.size.copied().expect("`complete` refuses a collective without a size")
    }

    /// The ranks, in order of the topology; `parts` of their buffers have at least a byte.
    fn ranks(&self, scene: &Scene<'_>, parts: impl Fn(u64) -> u64) -> Option<Vec<NodeId>> {
        let hosts = Pool::of(&self.hosts);
        let ranks = hosts.hosts(scene)?;
        let parts = parts(ranks.len() as u64);
        let problem = if ranks.len() < 2 {
            let message = "a collective operation has at least two ranks";
            hosts.place.problem(message).help("list more hosts")
        } else if self.size().get() < parts {
            let message = format!("{} are no {parts} parts of a byte", self.size());
            hosts.place.problem(message).help("a larger size, or fewer parts")
        } else {
            return Some(ranks);
        };
        scene.sink.push(problem);
        None
    }

    /// All flows.
    ///
    /// A repetition begins rank by rank: those flows of a rank that wait for nothing within a
    /// repetition wait for all flows that the rank sent or received in the one before, which is
    /// all that a rank can know. Of flows that follow each other between the same two ranks,
    /// only the last is named, so that a ring needs two entries for each rank.
    fn generate(&self, scene: &Scene<'_>, ranks: &[NodeId], round: &Round) -> Batch {
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
        for turn in 0..self.repeat.value {
            let base = batch.flows.len() as u32;
            for (index, task) in round.tasks.iter().enumerate() {
                let [source, target] = [task.source, task.target].map(|rank| ranks[rank]);
                let number = format_args!("{}.{}", turn + 1, task.number);
                let name = scene.flow_name(source, target, number);
                let made = Made::new(name, [source, target], task.size, scene.start);
                batch.flows.push(made);
                if turn > 0 && is_first[index] {
                    let before = by_rank[task.source].iter();
                    batch.follows.extend(before.map(|first| Link {
                        first: base - count as u32 + first,
                        then: base + index as u32,
                        delay: self.gap.value,
                    }));
                }
            }
            batch.follows.extend(round.links.iter().map(|(first, then)| Link {
                first: base + first,
                then: base + then,
                delay: Span::ZERO,
            }));
        }
        batch
    }
}

/// Part `index` of `count` parts of `size` that are as equal as whole bytes can be.
fn part(size: Bytes, count: u64, index: u64) -> Bytes {
    let more = u64::from(index < size.get() % count);
    Bytes::new(size.get() / count + more)
}
