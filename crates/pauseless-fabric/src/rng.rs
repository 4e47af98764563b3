//! Random numbers as a function of (seed, purpose, entity, count): one named stream per purpose and
//! entity, so that adding a draw somewhere never shifts the draws elsewhere.

/// The purposes of random streams.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    /// Which of several shortest paths a switch takes.
    TieBreak = 7,
    /// When a flow starts.
    FlowStart = 1,
    /// How much longer than usual a control frame takes to process.
    Processing = 2,
    /// The phase of a periodic message.
    Phase = 3,
    /// Which targets a generated workload picks.
    Workload = 4,
    /// The ECMP hash of a flow.
    Hash = 5,
    /// How much later than usual a frame arrives.
    Wire = 6,
    /// Which switches of a random fabric are joined.
    Wiring = 8,
    /// Which links of a fabric fail.
    Failure = 9,
    /// Which packets a switch marks or samples.
    Marking = 10,
    /// Which values of an axis a campaign takes.
    Axis = 11,
    /// Which frames a wire loses.
    WireLoss = 12,
    /// How fast the clock of a port is.
    Clock = 13,
    /// How much longer than usual a frame occupies its egress.
    Line = 14,
    /// How long a switch takes to learn of an event.
    Converge = 15,
    /// Which next hops a switch takes, and in which order.
    LoadBalancing = 17,
}

/// A stream of random numbers that are hashes of a counter.
#[derive(Clone, Debug)]
pub struct Stream {
    key: u64,
    count: u64,
}

impl Stream {
    /// The stream for `purpose` of `entity`.
    pub fn new(seed: u64, purpose: Purpose, entity: u64) -> Stream {
        let key = mix(mix(mix(seed) ^ purpose as u64) ^ entity);
        Stream { key, count: 0 }
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.count += 1;
        mix(self.key.wrapping_add(self.count.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// A number below `bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Puts `items` in random order (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// A number derived from a name, the same in every run.
pub fn hash_name(name: &str) -> u64 {
    // FNV-1a, finished with a mixer because its high bits are weak.
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    mix(name.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, fold))
}

/// The output function of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_do_not_resemble_each_other() {
        let draw = |seed, purpose, entity| Stream::new(seed, purpose, entity).next_u64();
        let first = draw(1, Purpose::FlowStart, 7);
        assert_eq!(first, draw(1, Purpose::FlowStart, 7));
        assert_ne!(first, draw(2, Purpose::FlowStart, 7));
        assert_ne!(first, draw(1, Purpose::Processing, 7));
        assert_ne!(first, draw(1, Purpose::FlowStart, 8));
        let mut stream = Stream::new(3, Purpose::Workload, 0);
        let mean = (0..10_000).map(|_| stream.below(1_000)).sum::<u64>() / 10_000;
        assert!((485..515).contains(&mean), "{mean}");
        assert_eq!(stream.below(0), 0);
    }
}
