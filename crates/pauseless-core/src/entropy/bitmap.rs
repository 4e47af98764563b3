//! Entropies in rounds, without those that were marked or lost lately.

use alloc::vec::Vec;

use super::{Entropy, EntropyConfig, PathNews, Rounds};

/// All values in rounds, of which those with a penalty are skipped.
#[derive(Clone, Debug)]
pub struct Bitmap {
    rounds: Rounds,
    /// The penalty of every value: how often it is skipped.
    penalties: Vec<u8>,
}

impl Bitmap {
    const MARKED: u8 = 1;
    const MISSING: u8 = 4;
    /// The penalty for a timeout, and the most that a value can have.
    const TIMED_OUT: u8 = 15;

    pub(super) fn new(config: &EntropyConfig) -> Bitmap {
        let penalties = core::iter::repeat_n(0, usize::from(config.values)).collect();
        Bitmap { rounds: Rounds::new(config), penalties }
    }

    /// The next value without a penalty; after a whole round of skips the one that is next.
    pub(super) fn take(&mut self) -> Entropy {
        for _ in 0..self.penalties.len() {
            let penalty = &mut self.penalties[usize::from(self.rounds.peek())];
            if *penalty == 0 {
                break;
            }
            *penalty -= 1;
            self.rounds.advance();
        }
        self.rounds.take()
    }

    pub(super) fn punish(&mut self, entropy: Entropy, news: PathNews) {
        let more = match news {
            PathNews::Good => return,
            PathNews::Marked => Bitmap::MARKED,
            PathNews::Missing => Bitmap::MISSING,
            PathNews::TimedOut => Bitmap::TIMED_OUT,
        };
        if let Some(penalty) = self.penalties.get_mut(usize::from(entropy.0)) {
            *penalty = (*penalty + more).min(Bitmap::TIMED_OUT);
        }
    }

    /// The penalty of a value.
    #[cfg(test)]
    pub(super) fn penalty(&self, entropy: Entropy) -> u8 {
        self.penalties[usize::from(entropy.0)]
    }
}
