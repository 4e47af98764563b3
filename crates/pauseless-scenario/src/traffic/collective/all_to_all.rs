//! The traffic `kind = "all-to-all"`: every rank sends a part to every other.

use super::{AnyKind, Collective, Pattern, Round, Rounds, Task, kind, part};
use pauseless_text::declare::Variant;
use pauseless_text::section;

section! {
    /// Each rank sends a part of its buffer to every other one.
    pub struct AllToAll {
        collective: Collective, keys inline except chunks;
    }
}

pub(in super::super) static ALL_TO_ALL: Variant<AnyKind> = kind::<AllToAll>("all-to-all");

impl Pattern for AllToAll {
    fn keys(&self) -> &Collective {
        &self.collective
    }

    fn keys_mut(&mut self) -> &mut Collective {
        &mut self.collective
    }

    fn count(&self, ranks: f64) -> f64 {
        ranks * (ranks - 1.0)
    }

    fn waits(&self, ranks: f64) -> f64 {
        match self.collective.rounds.value {
            Rounds::AtOnce => 2.0 * ranks * (ranks - 1.0) * (ranks - 1.0),
            Rounds::Shifted => 0.0,
        }
    }

    fn round(&self, n: usize) -> Round {
        let size = self.collective.size();
        let is_shifted = self.collective.rounds.value == Rounds::Shifted;
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
}
