//! The traffic `kind = "ring-all-reduce"`: parts travel twice round a ring of ranks.

use super::{AnyKind, Collective, Pattern, Round, Task, kind, part};
use pauseless_text::declare::Variant;
use pauseless_text::section;

section! {
    /// Reduce and scatter, then gather, around a ring; 2 (n - 1) steps in which each rank sends the
    /// n-th part of its buffer to the next one. A step starts when the one before has arrived and is
    /// sent.
    pub struct Ring {
        collective: Collective, keys inline except rounds chunks;
    }
}

pub(in super::super) static RING_ALL_REDUCE: Variant<AnyKind> = kind::<Ring>("ring-all-reduce");

impl Pattern for Ring {
    fn keys(&self) -> &Collective {
        &self.collective
    }

    fn keys_mut(&mut self) -> &mut Collective {
        &mut self.collective
    }

    fn count(&self, ranks: f64) -> f64 {
        ranks * 2.0 * (ranks - 1.0)
    }

    /// In step s, rank i sends part i - s to rank i + 1: n - 1 steps add the parts up, n - 1 more
    /// spread the sums. A step begins when the part has arrived and the own step before is finished.
    fn round(&self, n: usize) -> Round {
        let size = self.collective.size();
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
}
