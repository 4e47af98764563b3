//! Entropy: the value in a packet that switches hash together with the flow, so that its source spreads
//! the packets of one flow over several paths.
//!
//! **Models** four schemes at a source: *oblivious* uses its values in turn; *bitmap* does, too, and
//! skips those that were marked or lost; *REPS* uses the values of unmarked acknowledgements again;
//! *mixed* does that first and falls back to the bitmap.
//!
//! **Source** the rules and parameters of uet-htsim at commit 40ccb05, with which comparisons were made.
//!
//! **Deviates** A bitmap lets every value that it skips lose one point, that program only the first one
//! for each packet. A NACK or a timeout counts against the value with which the missing packet was sent,
//! where that program knows the value of a trimmed packet and none for a timeout. Frozen mode ends with
//! the first packet or acknowledgement after its time, not with the first acknowledgement.
//!
//! **States** of REPS; the others have none:
//! ```text
//!   normal --timeout--> frozen: the ring in a circle --10 ms--> exploring: 16 random values --> normal
//! ```
//!
//! **Not modelled** entropies that a target chooses for its acknowledgements: they travel with the
//! entropy of the packet that they acknowledge.

mod bitmap;
mod reps;
#[cfg(test)]
mod tests;

use alloc::collections::VecDeque;

pub use bitmap::Bitmap;
pub use reps::Reps;

use crate::congestion::dither::Dither;
use crate::unit::{Span, Time};

/// The value that switches hash together with the flow. In RoCEv2 it is the UDP source port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entropy(pub u16);

impl Entropy {
    /// The hash of a packet with this entropy, of a flow with the hash `flow`.
    #[inline]
    pub fn mix(self, flow: u64) -> u64 {
        // The finalizer of SplitMix64, so that neighbouring values have nothing in common.
        let step = (u64::from(self.0) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut x = flow.wrapping_add(step);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

/// How a source chooses the entropy of its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntropyConfig {
    /// The scheme by which values are chosen.
    pub kind: EntropyKind,
    /// How many values there are, a power of two up to 32,768: so many paths at most.
    pub values: u16,
    /// REPS: how many entropies of acknowledgements are kept.
    pub ring: u16,
    /// REPS: how long the ring is used in a circle after a timeout.
    pub freeze: Span,
    /// REPS: how many packets take random values after that.
    pub explore: u16,
    /// The seed of everything that is drawn.
    pub seed: u64,
}

impl EntropyConfig {
    /// Whether packets of one flow may take several paths.
    pub fn is_spraying(&self) -> bool {
        self.kind != EntropyKind::Flow
    }

    /// The most values that there can be.
    pub const VALUES_MAX: u16 = 1 << 15;
}

impl Default for EntropyConfig {
    /// One path per flow, and the parameters of uet-htsim for the rest.
    fn default() -> EntropyConfig {
        EntropyConfig {
            kind: EntropyKind::Flow,
            values: 64,
            ring: 8,
            freeze: Span::ms(10),
            explore: 16,
            seed: 0,
        }
    }
}

/// A scheme that chooses entropies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EntropyKind {
    /// All packets of a flow have the same: they take one path.
    #[default]
    Flow,
    /// All values in turn, in an order that changes from round to round.
    Oblivious,
    /// As `Oblivious`, but values with a penalty are skipped.
    Bitmap,
    /// The values of unmarked acknowledgements, each once; without any, a random one.
    Reps,
    /// The values of unmarked acknowledgements, each once; without any, as `Bitmap`.
    Mixed,
}

impl EntropyKind {
    /// Whether the scheme learns from acknowledgements.
    pub fn needs_acknowledgements(self) -> bool {
        matches!(self, EntropyKind::Bitmap | EntropyKind::Reps | EntropyKind::Mixed)
    }
}

/// What a source has learnt of the path that an entropy leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathNews {
    /// An unmarked packet was acknowledged.
    Good,
    /// A marked packet was acknowledged.
    Marked,
    /// The target misses a packet.
    Missing,
    /// A packet was not acknowledged for so long that it is sent again.
    TimedOut,
}

/// The entropies of one flow at its source.
#[derive(Clone, Debug)]
pub enum EntropySource {
    /// All values in turn, see [`EntropyKind::Oblivious`].
    Oblivious(Rounds),
    /// All values without a penalty in turn, see [`EntropyKind::Bitmap`].
    Bitmap(Bitmap),
    /// Values that came back unmarked, see [`EntropyKind::Reps`].
    Reps(Reps),
    /// See [`EntropyKind::Mixed`]: what was recycled, the oldest first, and what is used without.
    Mixed(VecDeque<Entropy>, Bitmap),
}

impl EntropySource {
    /// The entropies of a flow that begins; `None` if all of its packets have the same.
    pub fn new(config: &EntropyConfig) -> Option<EntropySource> {
        assert!(config.values.is_power_of_two(), "values are swapped in pairs");
        Some(match config.kind {
            EntropyKind::Flow => return None,
            EntropyKind::Oblivious => EntropySource::Oblivious(Rounds::new(config)),
            EntropyKind::Bitmap => EntropySource::Bitmap(Bitmap::new(config)),
            EntropyKind::Reps => EntropySource::Reps(Reps::new(config)),
            EntropyKind::Mixed => EntropySource::Mixed(VecDeque::new(), Bitmap::new(config)),
        })
    }

    /// The entropy of the next packet.
    pub fn on_send(&mut self, now: Time) -> Entropy {
        match self {
            EntropySource::Oblivious(rounds) => rounds.take(),
            EntropySource::Bitmap(bitmap) => bitmap.take(),
            EntropySource::Reps(reps) => reps.take(now),
            EntropySource::Mixed(recycled, bitmap) => {
                recycled.pop_front().unwrap_or_else(|| bitmap.take())
            }
        }
    }

    /// Handles what has become of a packet with this entropy.
    pub fn on_news(&mut self, now: Time, entropy: Entropy, news: PathNews) {
        match self {
            EntropySource::Oblivious(_) => {}
            EntropySource::Bitmap(bitmap) => bitmap.punish(entropy, news),
            EntropySource::Reps(reps) => reps.on_news(now, entropy, news),
            EntropySource::Mixed(recycled, bitmap) => {
                bitmap.punish(entropy, news);
                if news == PathNews::Good {
                    recycled.push_back(entropy);
                }
            }
        }
    }
}

/// All values in rounds: value i of a round is i XOR x, with an x that is drawn for each round.
#[derive(Clone, Debug)]
pub struct Rounds {
    values: u16,
    index: u16,
    mask: u16,
    dither: Dither,
}

impl Rounds {
    fn new(config: &EntropyConfig) -> Rounds {
        let mut rounds =
            Rounds { values: config.values, index: 0, mask: 0, dither: Dither::new(config.seed) };
        rounds.draw();
        rounds
    }

    fn draw(&mut self) {
        self.mask = draw(&mut self.dither, self.values);
    }

    /// The next value of the round.
    fn peek(&self) -> u16 {
        self.index ^ self.mask
    }

    fn advance(&mut self) {
        self.index += 1;
        if self.index == self.values {
            self.index = 0;
            self.draw();
        }
    }

    fn take(&mut self) -> Entropy {
        let value = self.peek();
        self.advance();
        Entropy(value)
    }
}

/// A random value below `values`.
fn draw(dither: &mut Dither, values: u16) -> u16 {
    let value = dither.choice(u32::from(values)) as u16;
    dither.advance();
    value
}
