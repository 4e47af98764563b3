//! The traffic `kind = "tree-all-reduce"`: sums go up a tree of ranks and come down again.

use super::{AnyKind, Collective, Pattern, Round, Task, kind, part};
use pauseless_text::declare::Variant;
use pauseless_text::section;

section! {
    /// Reduce up a binary tree, in which the parent of rank i is (i - 1) / 2, and broadcast down
    /// again.
    pub struct Tree {
        collective: Collective, keys inline except rounds;
    }
}

pub(in super::super) static TREE_ALL_REDUCE: Variant<AnyKind> = kind::<Tree>("tree-all-reduce");

impl Pattern for Tree {
    fn keys(&self) -> &Collective {
        &self.collective
    }

    fn keys_mut(&mut self) -> &mut Collective {
        &mut self.collective
    }

    fn parts(&self, _ranks: u64) -> u64 {
        self.collective.chunks.value
    }

    fn count(&self, ranks: f64) -> f64 {
        2.0 * (ranks - 1.0) * self.collective.chunks.value as f64
    }

    /// The parent of rank i is (i - 1) / 2. A part goes up when those of the children have arrived,
    /// and down when it has arrived from above; on each link the parts follow each other.
    fn round(&self, n: usize) -> Round {
        let (size, chunks) = (self.collective.size(), self.collective.chunks.value);
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
                    let up = if is_down { Some(0).filter(|_| parent == 0) } else { Some(child) };
                    match up {
                        Some(rank) => {
                            let arrived = children(rank).map(|from| index(chunk, false, from));
                            round.links.extend(arrived.map(|first| (first, then)));
                        }
                        None => round.links.push((index(chunk, true, parent), then)),
                    }
                    let (source, target) = if is_down { (parent, child) } else { (child, parent) };
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
}
