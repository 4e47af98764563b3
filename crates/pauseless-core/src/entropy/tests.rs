use alloc::vec::Vec;

use super::*;

fn config(kind: EntropyKind, values: u16) -> EntropyConfig {
    EntropyConfig { kind, values, seed: 7, ..EntropyConfig::default() }
}

fn source(kind: EntropyKind, values: u16) -> EntropySource {
    EntropySource::new(&config(kind, values)).expect("the scheme sprays")
}

fn at_us(us: u64) -> Time {
    Time::ZERO + Span::us(us)
}

fn taken(source: &mut EntropySource, count: usize) -> Vec<u16> {
    (0..count).map(|_| source.on_send(Time::ZERO).0).collect()
}

#[test]
fn a_flow_with_one_path_has_no_machine() {
    assert!(EntropySource::new(&EntropyConfig::default()).is_none());
}

/// Each round has every value once, in the order i XOR x; x differs from round to round.
#[test]
fn oblivious_rounds_are_permutations_by_xor() {
    let mut source = source(EntropyKind::Oblivious, 64);
    let mut masks = Vec::new();
    for _ in 0..20 {
        let round = taken(&mut source, 64);
        let mask = round[0];
        let expected = Vec::from_iter((0..64).map(|index| index ^ mask));
        assert_eq!(round, expected);
        masks.push(mask);
    }
    masks.sort_unstable();
    masks.dedup();
    assert!(masks.len() > 10, "{masks:?}");
}

#[test]
fn a_seed_decides_everything() {
    for kind in [EntropyKind::Oblivious, EntropyKind::Bitmap, EntropyKind::Reps] {
        let take = |seed| {
            let config = EntropyConfig { seed, ..config(kind, 64) };
            taken(&mut EntropySource::new(&config).expect("it sprays"), 200)
        };
        assert_eq!(take(1), take(1));
        assert_ne!(take(1), take(2), "{kind:?}");
    }
}

/// The penalties: a mark 1, a missing packet 4, a timeout 15, never more than 15.
#[test]
fn penalties_add_up_to_fifteen() {
    let mut bitmap = Bitmap::new(&config(EntropyKind::Bitmap, 8));
    let value = Entropy(3);
    let mut after = Vec::new();
    for news in [PathNews::Good, PathNews::Marked, PathNews::Missing, PathNews::Missing] {
        bitmap.punish(value, news);
        after.push(bitmap.penalty(value));
    }
    assert_eq!(after, [0, 1, 5, 9]);
    bitmap.punish(value, PathNews::TimedOut);
    assert_eq!(bitmap.penalty(value), 15);
    // An entropy that is none of ours, as of a switch that rewrites it, changes nothing.
    bitmap.punish(Entropy(100), PathNews::TimedOut);
}

/// A value with penalty p is left out p times, and then used again.
#[test]
fn a_punished_value_is_skipped_as_often_as_its_penalty_says() {
    let mut source = source(EntropyKind::Bitmap, 8);
    source.on_news(Time::ZERO, Entropy(5), PathNews::Missing);
    let packets = taken(&mut source, 4 * 7);
    assert!(!packets.contains(&5), "{packets:?}");
    for value in [0, 1, 2, 3, 4, 6, 7] {
        assert_eq!(packets.iter().filter(|it| **it == value).count(), 4, "{packets:?}");
    }
    let mut next = taken(&mut source, 8);
    next.sort_unstable();
    assert_eq!(next, [0, 1, 2, 3, 4, 5, 6, 7]);
}

/// If all values are punished, a packet still leaves, and each of them has lost a point.
#[test]
fn a_packet_leaves_although_all_values_are_punished() {
    let mut bitmap = Bitmap::new(&config(EntropyKind::Bitmap, 4));
    for value in 0..4 {
        bitmap.punish(Entropy(value), PathNews::Missing);
    }
    let sum = |bitmap: &Bitmap| (0..4).map(|it| u32::from(bitmap.penalty(Entropy(it)))).sum();
    let before: u32 = sum(&bitmap);
    bitmap.take();
    let after: u32 = sum(&bitmap);
    // A round that ends in the middle may pass a value twice, and another not at all.
    assert_eq!(before - after, 4);
}

#[test]
fn reps_uses_each_unmarked_entropy_once_the_oldest_first() {
    let mut source = source(EntropyKind::Reps, 1 << 15);
    for value in [11, 12, 13] {
        source.on_news(Time::ZERO, Entropy(value), PathNews::Good);
    }
    source.on_news(Time::ZERO, Entropy(99), PathNews::Marked);
    assert_eq!(taken(&mut source, 3), [11, 12, 13]);
    // Nothing is fresh: what follows is random, and the chance that it is one of these is 10^-4.
    let random = taken(&mut source, 3);
    assert!(!random.iter().any(|it| [11, 12, 13, 99].contains(it)), "{random:?}");
}

/// The ring has eight places: of ten acknowledgements the last eight are used.
#[test]
fn the_ring_forgets_what_is_older() {
    let mut source = source(EntropyKind::Reps, 64);
    for value in 0..10 {
        source.on_news(Time::ZERO, Entropy(value), PathNews::Good);
    }
    assert_eq!(taken(&mut source, 8), [2, 3, 4, 5, 6, 7, 8, 9]);
    // Two more after all were used: only these are fresh.
    for value in [20, 21] {
        source.on_news(Time::ZERO, Entropy(value), PathNews::Good);
    }
    assert_eq!(taken(&mut source, 2), [20, 21]);
}

/// After a timeout the ring is used in a circle for 10 ms, then come 16 random values.
#[test]
fn a_timeout_freezes_the_ring() {
    let mut source = source(EntropyKind::Reps, 1 << 15);
    for value in [1, 2, 3] {
        source.on_news(Time::ZERO, Entropy(value), PathNews::Good);
    }
    source.on_news(at_us(100), Entropy(9), PathNews::TimedOut);
    let frozen = Vec::from_iter((0..7).map(|packet| source.on_send(at_us(101 + packet)).0));
    assert_eq!(frozen, [1, 2, 3, 1, 2, 3, 1]);
    // A second timeout does not make it longer.
    source.on_news(at_us(5_000), Entropy(9), PathNews::TimedOut);
    assert_eq!(source.on_send(at_us(10_100)).0, 2);
    source.on_news(at_us(10_101), Entropy(4), PathNews::Good);
    let explored = Vec::from_iter((0..16).map(|_| source.on_send(at_us(10_102)).0));
    assert!(!explored.contains(&4), "{explored:?}");
    assert_eq!(source.on_send(at_us(10_103)).0, 4);
}

/// While it explores, a timeout does not freeze the ring again.
#[test]
fn exploring_ends_before_the_ring_freezes_again() {
    let mut source = source(EntropyKind::Reps, 64);
    source.on_news(at_us(0), Entropy(1), PathNews::TimedOut);
    source.on_send(at_us(10_001));
    source.on_news(at_us(10_002), Entropy(1), PathNews::TimedOut);
    for value in [5, 6] {
        source.on_news(at_us(10_003), Entropy(value), PathNews::Good);
    }
    for _ in 0..15 {
        source.on_send(at_us(10_004));
    }
    let last = Vec::from_iter((0..2).map(|_| source.on_send(at_us(10_004)).0));
    assert_eq!(last, [5, 6], "it is not frozen: each is used once");
}

/// Mixed: every unmarked acknowledgement is used once, in order and without a limit; else the bitmap.
#[test]
fn mixed_recycles_first_and_falls_back_to_the_bitmap() {
    let mut mixed = source(EntropyKind::Mixed, 64);
    let mut bitmap = source(EntropyKind::Bitmap, 64);
    assert_eq!(taken(&mut mixed, 10), taken(&mut bitmap, 10));
    let good = Vec::from_iter((0..64).rev());
    for value in &good {
        mixed.on_news(Time::ZERO, Entropy(*value), PathNews::Good);
    }
    assert_eq!(taken(&mut mixed, 64), good);
    for source in [&mut mixed, &mut bitmap] {
        source.on_news(Time::ZERO, Entropy(17), PathNews::Marked);
    }
    let (after, alone) = (taken(&mut mixed, 53), taken(&mut bitmap, 53));
    assert_eq!(after, alone);
    assert!(!after.contains(&17));
}

/// Whatever happens, a scheme only uses values that there are.
#[test]
fn values_stay_in_their_range() {
    let all = [PathNews::Good, PathNews::Marked, PathNews::Missing, PathNews::TimedOut];
    for kind in [EntropyKind::Oblivious, EntropyKind::Bitmap, EntropyKind::Reps, EntropyKind::Mixed]
    {
        for values in [1, 2, 16, EntropyConfig::VALUES_MAX] {
            let mut source = source(kind, values);
            let mut dither = Dither::new(u64::from(values));
            for step in 0..2_000 {
                let entropy = source.on_send(at_us(step * 20));
                assert!(entropy.0 < values, "{kind:?}: {entropy:?} of {values}");
                let news = all[dither.choice(4) as usize];
                dither.advance();
                source.on_news(at_us(step * 20 + 10), entropy, news);
            }
        }
    }
}

/// 64 entropies of one flow spread evenly over four ports, whatever its hash.
#[test]
fn hashes_of_different_entropies_have_nothing_in_common() {
    for flow in [0, 1, u64::MAX, 0x1234_5678_9abc_def0] {
        let mut counts = [0; 4];
        for value in 0..4_096 {
            counts[(Entropy(value).mix(flow) >> 62) as usize] += 1;
        }
        // 1024 expected, standard deviation 28.
        assert!(counts.iter().all(|it| (910..1_140).contains(it)), "{counts:?}");
    }
}
