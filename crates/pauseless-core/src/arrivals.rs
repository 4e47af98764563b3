//! Which packets of a flow have arrived, where they may come in any order.

use alloc::collections::VecDeque;

/// The numbers that have arrived: all before the first missing one, and a bit for each behind it.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// Bits from `start` on.
    words: VecDeque<u64>,
    /// The number of the first bit, a multiple of 64.
    start: u64,
    /// The first number that is missing.
    next: u64,
    /// One more than the highest number that has arrived.
    end: u64,
}

impl Arrivals {
    /// The first number that is missing.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// One more than the highest number that has arrived.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Adds a number; returns whether it is new.
    pub fn insert(&mut self, number: u64) -> bool {
        if number < self.next {
            return false;
        }
        if number == self.next && self.words.is_empty() {
            // In order, as nearly always: no bit is needed.
            self.next += 1;
            self.end = self.next;
            return true;
        }
        if self.words.is_empty() {
            self.start = self.next & !63;
        }
        let place = number - self.start;
        let word = (place / 64) as usize;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let bit = 1 << (place % 64);
        if self.words[word] & bit != 0 {
            return false;
        }
        self.words[word] |= bit;
        self.end = self.end.max(number + 1);
        self.advance();
        true
    }

    /// How many numbers above `number` have arrived, which has not itself.
    pub fn count_above(&self, number: u64) -> u64 {
        debug_assert!(number >= self.next);
        let place = number.saturating_sub(self.start);
        let mut count = 0;
        for (index, word) in self.words.iter().enumerate().skip((place / 64) as usize) {
            let is_first = index as u64 == place / 64;
            let mask = if is_first { u64::MAX.checked_shl((place % 64) as u32 + 1) } else { None };
            let mask = mask.unwrap_or(if is_first { 0 } else { u64::MAX });
            count += u64::from((word & mask).count_ones());
        }
        count
    }

    /// Gives up what is missing before `number`, as if it had arrived.
    pub fn give_up_before(&mut self, number: u64) {
        if number <= self.next {
            return;
        }
        self.next = number;
        self.end = self.end.max(number);
        self.advance();
    }

    /// Moves past what has arrived without a gap, and frees its bits.
    fn advance(&mut self) {
        loop {
            while self.next >= self.start + 64 && self.words.pop_front().is_some() {
                self.start += 64;
            }
            if self.next >= self.end || self.words.is_empty() {
                self.words.clear();
                return;
            }
            let place = self.next - self.start;
            let run = (self.words[0] >> place).trailing_ones();
            if run == 0 {
                return;
            }
            // Ones that were shifted in do not count.
            self.next += u64::from(run).min(64 - place);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use super::*;
    use crate::congestion::dither::Dither;

    #[test]
    fn what_comes_in_order_needs_no_memory() {
        let mut arrivals = Arrivals::default();
        for number in 0..1_000 {
            assert!(arrivals.insert(number));
            assert!(!arrivals.insert(number));
        }
        assert_eq!((arrivals.next(), arrivals.end(), arrivals.words.capacity()), (1_000, 1_000, 0));
    }

    #[test]
    fn a_gap_is_closed_by_the_packet_that_was_missing() {
        let mut arrivals = Arrivals::default();
        for number in [1, 2, 64, 63, 128] {
            assert!(arrivals.insert(number));
        }
        assert_eq!((arrivals.next(), arrivals.count_above(0)), (0, 5));
        assert!(arrivals.insert(0));
        assert_eq!((arrivals.next(), arrivals.count_above(3)), (3, 3));
        assert_eq!(arrivals.count_above(63), 2);
        assert_eq!(arrivals.count_above(127), 1);
        arrivals.give_up_before(60);
        assert_eq!(arrivals.next(), 60);
        arrivals.give_up_before(63);
        assert_eq!(arrivals.next(), 65);
        assert!(!arrivals.insert(64));
    }

    /// Against a set that remembers everything.
    #[test]
    fn arrivals_are_those_of_a_set() {
        for seed in 0..50 {
            let mut dither = Dither::new(seed);
            let mut draw = |count| {
                let value = u64::from(dither.choice(count));
                dither.advance();
                value
            };
            let (mut arrivals, mut set) = (Arrivals::default(), BTreeSet::new());
            for step in 0..500 {
                let next = (0..).find(|it| !set.contains(it)).expect("numbers do not end");
                let number = (next + draw(1 + seed as u32 * 7)).saturating_sub(draw(3));
                if number >= next && !set.contains(&number) {
                    let above = set.range(number..).count() as u64;
                    assert_eq!(arrivals.count_above(number), above, "seed {seed}, step {step}");
                }
                assert_eq!(arrivals.insert(number), set.insert(number), "seed {seed}, step {step}");
                let next = (0..).find(|it| !set.contains(it)).expect("numbers do not end");
                assert_eq!(arrivals.next(), next, "seed {seed}, step {step}");
                assert_eq!(Some(arrivals.end() - 1), set.last().copied());
            }
        }
    }
}
