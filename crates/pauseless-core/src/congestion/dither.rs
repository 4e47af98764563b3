//! Numbers that look random but are part of a machine's state, as from the shift register of a chip.
//!
//! The generator is SplitMix64: one addition and two multiplications, and every seed is a good one.

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence of pseudo-random numbers that depends only on its seed.
#[derive(Clone, Debug)]
pub struct Dither {
    state: u64,
}

impl Dither {
    /// The sequence that begins at `seed`.
    pub fn new(seed: u64) -> Dither {
        Dither { state: seed }
    }

    /// The next number, from 0 to 1 exclusive.
    #[inline]
    pub fn share(&mut self) -> f64 {
        let x = self.peek();
        self.advance();
        (x >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An index below `count`, the same until [`Dither::advance`].
    #[inline]
    pub fn choice(&self, count: u32) -> u32 {
        // The upper half of the product is below `count`; its bias is at most count / 2^32.
        (((self.peek() >> 32) * u64::from(count)) >> 32) as u32
    }

    /// Moves on to the next number.
    #[inline]
    pub fn advance(&mut self) {
        self.state = self.state.wrapping_add(STEP);
    }

    #[inline]
    fn peek(&self) -> u64 {
        let mut x = self.state.wrapping_add(STEP);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn shares(seed: u64, count: usize) -> Vec<f64> {
        let mut dither = Dither::new(seed);
        (0..count).map(|_| dither.share()).collect()
    }

    /// The first outputs of the reference implementation of SplitMix64 for the seed 0 are
    /// e220a8397b1dcdaf and 6e789e6aa1b965f4; a share is the upper 53 bits of each.
    #[test]
    fn the_sequence_is_that_of_splitmix64() {
        let unit = (1u64 << 53) as f64;
        let expected = [0xe220_a839_7b1d_cdaf_u64, 0x6e78_9e6a_a1b9_65f4];
        let expected = expected.map(|x| (x >> 11) as f64 / unit);
        assert_eq!(shares(0, 2), expected);
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        assert_eq!(shares(7, 100), shares(7, 100));
        assert_ne!(shares(7, 100), shares(8, 100));
    }

    #[test]
    fn a_choice_stays_until_it_is_passed_and_all_are_made_alike() {
        let mut dither = Dither::new(3);
        let mut counts = [0; 5];
        for _ in 0..10_000 {
            assert_eq!(dither.choice(5), dither.choice(5));
            counts[dither.choice(5) as usize] += 1;
            dither.advance();
        }
        // 2000 expected, standard deviation 40.
        assert!(counts.iter().all(|c| (1_840..=2_160).contains(c)), "{counts:?}");
    }

    /// The mean of 10,000 numbers has a standard deviation of 0.0029; four of them are 0.012.
    #[test]
    fn shares_are_spread_evenly() {
        let shares = shares(1, 10_000);
        assert!(shares.iter().all(|share| (0.0..1.0).contains(share)));
        let mean = shares.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.012, "{mean}");
        for tenth in 0..10 {
            let low = f64::from(tenth) / 10.0;
            let inside = |share: &&f64| (low..low + 0.1).contains(*share);
            let count = shares.iter().filter(inside).count();
            // 1000 expected, standard deviation 30.
            assert!((880..=1_120).contains(&count), "{count} in {low}");
        }
    }
}
