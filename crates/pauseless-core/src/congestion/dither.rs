//! Numbers that look random but are part of a machine's state, as from the shift register of a chip.

/// A sequence of numbers that depends on nothing but its seed.
#[derive(Clone, Debug)]
pub struct Dither {
    state: u64,
}

impl Dither {
    /// The sequence of `seed`.
    pub fn new(seed: u64) -> Dither {
        Dither { state: seed }
    }

    /// The next number, from 0 to 1 exclusive.
    pub fn share(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        (x >> 11) as f64 / (1u64 << 53) as f64
    }
}
