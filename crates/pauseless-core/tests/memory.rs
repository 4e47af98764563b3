//! The shared memory of a switch against numbers worked out by hand.

use pauseless_core::id::{Class, PortId};
use pauseless_core::memory::{
    Alpha, HeadroomPool, LaneMemory, Memory, MemoryUse, SharedConfig, Threshold,
};
use pauseless_core::port::{FullPool, Overrun};
use pauseless_core::unit::Bytes;

fn alpha(numerator: u32, denominator: u32) -> Alpha {
    Alpha::new(numerator, denominator).expect("positive")
}

fn b(bytes: u64) -> Bytes {
    Bytes::new(bytes)
}

/// Four ports with one class: 1,000 bytes of reserve, 3,000 of headroom, a pool of 80,000.
fn config(threshold: Threshold) -> SharedConfig {
    let lane =
        LaneMemory { reserve: b(1_000), headroom: b(3_000), threshold, resume_offset: b(2_000) };
    SharedConfig {
        pool: b(80_000),
        partitions: [].into(),
        headroom: HeadroomPool::Class,
        class_count: 1,
        lanes: [lane; 4].into(),
    }
}

fn charge(memory: &mut Memory, port: u16, size: u64) -> Result<bool, Overrun> {
    memory.charge(PortId(port), Class(0), b(size))
}

fn release(memory: &mut Memory, port: u16, size: u64) -> Option<(PortId, Class)> {
    memory.release(PortId(port), Class(0), b(size));
    memory.next_resumed()
}

/// `count` packets of 1,000 bytes; whether the last one pauses.
fn fill(memory: &mut Memory, port: u16, count: u64) -> bool {
    let mut is_full = false;
    for _ in 0..count {
        is_full = charge(memory, port, 1_000).expect("there is room");
    }
    is_full
}

#[test]
fn the_threshold_is_alpha_times_what_is_free() {
    // 20,000 bytes are in the pool, 60,000 are free.
    for (numerator, denominator, expected) in [
        (1, 8, 7_500),
        (1, 4, 15_000),
        (1, 2, 30_000),
        (1, 1, 60_000),
        (2, 1, 120_000),
        (8, 1, 480_000),
        (2, 3, 40_000),
    ] {
        let threshold = Threshold::Dynamic(alpha(numerator, denominator));
        let mut config = config(threshold);
        // Filled by a port that may have it all.
        config.lanes[0].threshold = Threshold::Static(b(80_000));
        let mut memory = Memory::new(&config);
        fill(&mut memory, 0, 21);
        let found = memory.threshold(PortId(1), Class(0));
        assert_eq!(found, b(expected), "{numerator}/{denominator}");
    }
    // It is rounded down, and never wraps.
    assert_eq!(alpha(1, 8).of(b(15)), b(1));
    assert_eq!(alpha(3, 4).of(b(1 << 63)), b(3 << 61));
    assert_eq!(alpha(4, 1).of(b(1 << 63)), Bytes::MAX);
}

#[test]
fn reserve_first_then_the_pool_then_headroom_and_back_in_the_opposite_order() {
    let mut memory = Memory::new(&config(Threshold::Static(b(2_000))));
    let state = |memory: &Memory| {
        let MemoryUse { pool, headroom, total } = memory.in_use();
        [pool.get(), headroom.get(), total.get()]
    };
    assert_eq!(charge(&mut memory, 0, 800), Ok(false));
    assert_eq!(state(&memory), [0, 0, 800], "in the reserve");
    assert_eq!(charge(&mut memory, 0, 700), Ok(false));
    assert_eq!(state(&memory), [500, 0, 1_500], "one packet in both");
    assert_eq!(charge(&mut memory, 0, 1_500), Ok(true), "at the threshold");
    assert_eq!(state(&memory), [2_000, 0, 3_000]);
    assert_eq!(charge(&mut memory, 0, 400), Ok(true));
    assert_eq!(state(&memory), [2_000, 400, 3_400], "beyond it");
    assert_eq!(release(&mut memory, 0, 700), None);
    assert_eq!(state(&memory), [1_700, 0, 2_700], "headroom went first");
    assert_eq!(release(&mut memory, 0, 1_900), Some((PortId(0), Class(0))));
    assert_eq!(state(&memory), [0, 0, 800], "then the pool");
    assert_eq!(release(&mut memory, 0, 800), None);
    assert_eq!(state(&memory), [0, 0, 0]);
    let max = memory.high_water();
    assert_eq!([max.pool, max.headroom, max.total], [b(2_000), b(400), b(3_400)]);
}

#[test]
fn resumes_an_offset_below_the_threshold_and_without_headroom() {
    let mut memory = Memory::new(&config(Threshold::Static(b(10_000))));
    assert!(fill(&mut memory, 0, 12), "one packet is in headroom");
    assert_eq!(memory.headroom_of(PortId(0), Class(0)), b(1_000));
    assert_eq!(release(&mut memory, 0, 1_000), None, "10,000 in the pool");
    assert_eq!(release(&mut memory, 0, 1_000), None, "9,000");
    assert_eq!(release(&mut memory, 0, 999), None, "8,001");
    assert_eq!(release(&mut memory, 0, 1), Some((PortId(0), Class(0))));
    assert!(!memory.is_pausing());
}

/// Port 0 stands still; what lets it go on is that port 1 empties.
#[test]
fn another_queues_departures_let_a_queue_go_on() {
    let mut memory = Memory::new(&config(Threshold::Dynamic(alpha(1, 1))));
    // Alone, port 1 takes half: it has 40,000 when 40,000 are left.
    assert!(!fill(&mut memory, 1, 40));
    assert!(fill(&mut memory, 1, 1));
    // Then port 0 has half of what is left.
    assert!(!fill(&mut memory, 0, 20));
    assert!(fill(&mut memory, 0, 1), "20,000 of 20,000");
    let mut resumed = Vec::new();
    for _ in 0..41 {
        memory.release(PortId(1), Class(0), b(1_000));
        while let Some((port, _)) = memory.next_resumed() {
            resumed.push((port.0, memory.in_use().pool.get()));
        }
    }
    // Port 1 at 29,000 of a threshold of 31,000; port 0 at 20,000 once the threshold is 22,000.
    assert_eq!(resumed, [(0, 58_000), (1, 49_000)]);
}

/// What is in the reserve needs no pool, so a full pool is no reason to pause.
#[test]
fn a_queue_within_its_reserve_is_not_paused() {
    let mut config = config(Threshold::Dynamic(alpha(8, 1)));
    config.lanes[0].threshold = Threshold::Static(b(80_000));
    let mut memory = Memory::new(&config);
    assert!(fill(&mut memory, 0, 81), "the pool is full");
    assert_eq!(memory.threshold(PortId(1), Class(0)), b(0));
    assert_eq!(charge(&mut memory, 1, 1_000), Ok(false));
    assert_eq!(charge(&mut memory, 1, 64), Ok(true), "in headroom");
    assert_eq!(memory.headroom_of(PortId(1), Class(0)), b(64));
}

/// With alpha above one a threshold may exceed what is free; the pool never does its size.
#[test]
fn a_threshold_above_what_is_free_does_not_overfill_the_pool() {
    let mut memory = Memory::new(&config(Threshold::Dynamic(alpha(8, 1))));
    fill(&mut memory, 0, 71);
    assert_eq!(memory.in_use().pool, b(70_000));
    assert!(memory.threshold(PortId(0), Class(0)) == b(80_000));
    fill(&mut memory, 1, 10);
    assert_eq!(memory.in_use().pool, b(79_000));
    assert_eq!(memory.threshold(PortId(1), Class(0)), b(8_000));
    // 9,000 are above 8,000 already; port 2 is below, but its packet is larger than what is left.
    assert_eq!(charge(&mut memory, 2, 1_000), Ok(false));
    assert_eq!(charge(&mut memory, 2, 1_500), Ok(true));
    assert_eq!(memory.headroom_of(PortId(2), Class(0)), b(1_500));
}

#[test]
fn an_overrun_says_which_pool_was_full() {
    let refused = |pool: HeadroomPool, ports: &[u16]| {
        let mut config = config(Threshold::Static(b(1)));
        config.headroom = pool;
        let mut memory = Memory::new(&config);
        for port in ports {
            charge(&mut memory, *port, 1_000).expect("in the reserve");
            charge(&mut memory, *port, 2_000).expect("in headroom");
        }
        charge(&mut memory, 0, 1_500).expect_err("no room")
    };
    let overrun = |held, buffer, pool| Overrun { held: b(held), buffer: b(buffer), pool };
    let own = overrun(2_000, 3_000, FullPool::Headroom);
    assert_eq!(refused(HeadroomPool::Class, &[0]), own);
    assert_eq!(refused(HeadroomPool::Switch(b(12_000)), &[0]), own);
    let port = overrun(2_000, 3_400, FullPool::PortHeadroom);
    let mut lanes = config(Threshold::Static(b(1)));
    lanes.headroom = HeadroomPool::Port(b(3_400));
    lanes.lanes[0].headroom = b(9_000);
    let mut memory = Memory::new(&lanes);
    charge(&mut memory, 0, 1_000).expect("in the reserve");
    charge(&mut memory, 0, 2_000).expect("in headroom");
    assert_eq!(charge(&mut memory, 0, 1_500), Err(port));
    let switch = overrun(4_000, 5_000, FullPool::SwitchHeadroom);
    let mut lanes = config(Threshold::Static(b(1)));
    lanes.headroom = HeadroomPool::Switch(b(5_000));
    let mut memory = Memory::new(&lanes);
    for port in [0, 1] {
        charge(&mut memory, port, 1_000).expect("in the reserve");
        charge(&mut memory, port, 2_000).expect("in headroom");
    }
    charge(&mut memory, 2, 1_000).expect("in the reserve");
    assert_eq!(charge(&mut memory, 2, 1_500), Err(switch));
}

/// What the deadlock detector asks. Everything is stuck: port 0 with a packet in headroom, port 1 with
/// most of the pool. If only port 0's own bytes stay, it goes on; and as long as a packet is on its
/// way to it, headroom may yet become empty.
#[test]
fn who_stays_paused_for_ever() {
    let mut config = config(Threshold::Dynamic(alpha(1, 1)));
    config.lanes[1].threshold = Threshold::Static(b(80_000));
    let mut memory = Memory::new(&config);
    fill(&mut memory, 1, 61);
    assert!(fill(&mut memory, 0, 12), "10,000 of 10,000, and headroom");
    let keeps = |memory: &Memory, in_flight, kept: [u64; 2]| {
        let kept = |port: PortId, _| b(kept.get(port.index()).copied().unwrap_or(0));
        memory.keeps_paused(PortId(0), Class(0), b(in_flight), kept)
    };
    assert!(keeps(&memory, 0, [12_000, 61_000]), "headroom never drains");
    assert!(keeps(&memory, 0, [12_000, 0]), "not even beside an empty pool");
    assert!(!keeps(&memory, 1_000, [12_000, 0]), "unless a packet passes");
    assert!(keeps(&memory, 1_000, [12_000, 61_000]), "the pool is full");
    assert!(!keeps(&memory, 0, [11_000, 0]), "10,000 of 70,000");
    assert!(keeps(&memory, 0, [11_000, 61_000]), "10,000 of 10,000");
    assert!(!keeps(&memory, 0, [1_000, 61_000]), "all in the reserve");
    // Indeed: port 1 drains, a packet passes port 0, and it goes on with all that it kept.
    for _ in 0..61 {
        assert_eq!(release(&mut memory, 1, 1_000).map(|(port, _)| port.0), None);
    }
    assert_eq!(charge(&mut memory, 0, 1_000), Ok(true));
    assert_eq!(release(&mut memory, 0, 1_000), Some((PortId(0), Class(0))));
}

/// Without headroom a class is lossy, and the threshold is where it drops.
#[test]
fn a_lossy_class_drops_at_its_threshold() {
    let mut config = config(Threshold::Dynamic(alpha(1, 1)));
    for lane in &mut config.lanes {
        (lane.headroom, lane.reserve) = (b(0), b(0));
    }
    let mut memory = Memory::new(&config);
    fill(&mut memory, 0, 40);
    let overrun = charge(&mut memory, 0, 1_000).expect_err("at the threshold");
    assert_eq!(overrun, Overrun { held: b(40_000), buffer: b(40_000), pool: FullPool::Shared });
    assert_eq!(memory.in_use().total, b(40_000), "it was not counted");
}

/// Two classes with 30,000 and 10,000 of their own and 60,000 for both, two ports.
fn partitions(alpha: Alpha) -> SharedConfig {
    let least = b(1_500);
    let lane = LaneMemory {
        reserve: b(0),
        headroom: b(5_000),
        threshold: Threshold::Partition { alpha, least },
        resume_offset: b(3_000),
    };
    SharedConfig {
        pool: b(60_000),
        partitions: [b(30_000), b(10_000)].into(),
        headroom: HeadroomPool::Class,
        class_count: 2,
        lanes: [lane; 4].into(),
    }
}

//= ttl 2.3 eq 16 type=test
#[test]
fn equation_16_by_hand() {
    let config = partitions(alpha(1, 2));
    assert_eq!(config.total(), b(100_000 + 4 * 5_000));
    let mut memory = Memory::new(&config);
    let threshold = |memory: &Memory, class| memory.threshold(PortId(1), Class(class)).get();
    // 1/2 (30/40 * 60,000 + 30,000) and 1/2 (10/40 * 60,000 + 10,000).
    assert_eq!(threshold(&memory, 0), 37_500);
    assert_eq!(threshold(&memory, 1), 12_500);
    // Within its own partition a class leaves the others alone.
    for _ in 0..8 {
        let fits = memory.charge(PortId(0), Class(1), b(1_000));
        assert_eq!(fits, Ok(false));
    }
    assert_eq!(threshold(&memory, 0), 37_500);
    assert_eq!(threshold(&memory, 1), 8_500, "1/2 (15,000 + 2,000)");
    // The ninth packet is above 8,500 and goes to headroom.
    assert_eq!(memory.charge(PortId(0), Class(1), b(1_000)), Ok(true));
    assert_eq!(memory.headroom_of(PortId(0), Class(1)), b(1_000));
    // Class 1 from the other port as well, and the partition is full: the rest is shared.
    for _ in 0..4 {
        memory.charge(PortId(1), Class(1), b(1_000)).expect("there is room");
    }
    assert_eq!(memory.in_use().pool, b(2_000), "12,000 of 10,000");
    // 1/2 (3/4 * 58,000 + 30,000) and 1/2 (1/4 * 58,000 + 0).
    assert_eq!(threshold(&memory, 0), 36_750);
    assert_eq!(threshold(&memory, 1), 7_250);
    // What leaves gives back the shared partition first.
    memory.release(PortId(1), Class(1), b(1_000));
    assert_eq!(memory.in_use().pool, b(1_000));
}

/// The note's proof needs a threshold of one packet, whatever is in use.
#[test]
fn a_partitions_threshold_never_falls_below_one_packet() {
    let mut config = partitions(alpha(1, 1_000));
    config.lanes[0].threshold = Threshold::Static(b(1_000_000));
    let mut memory = Memory::new(&config);
    for _ in 0..90 {
        memory.charge(PortId(0), Class(0), b(1_000)).expect("there is room");
    }
    assert_eq!(memory.in_use().pool, b(60_000));
    assert_eq!(memory.threshold(PortId(1), Class(0)), b(1_500));
    // The other class's own partition is still there for it.
    assert_eq!(memory.charge(PortId(1), Class(1), b(1_400)), Ok(false));
    assert_eq!(memory.headroom_of(PortId(1), Class(1)), b(0));
    assert_eq!(memory.charge(PortId(1), Class(0), b(1_400)), Ok(true), "headroom");
}

/// n queues that want all they can get have alpha / (1 + n alpha) of the pool each.
#[test]
fn the_fixed_point_of_choudhury_and_hahne() {
    for (alpha, ports) in [(alpha(1, 8), 4), (alpha(1, 1), 3), (alpha(8, 1), 2)] {
        let mut config = config(Threshold::Dynamic(alpha));
        for lane in &mut config.lanes {
            (lane.headroom, lane.reserve) = (b(0), b(0));
        }
        let mut memory = Memory::new(&config);
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for port in 0..ports {
                is_changed |= charge(&mut memory, port, 10).is_ok();
            }
        }
        let expected = alpha.fixed_point(b(80_000), u64::from(ports)).get();
        for port in 0..ports {
            let found = memory.shared_of(PortId(port), Class(0)).get();
            assert!(found.abs_diff(expected) <= 10 * u64::from(ports), "{found} {expected}");
        }
    }
    assert_eq!(alpha(1, 1).fixed_point(b(80_000), 3), b(20_000));
}

/// Seventy ports with two classes have more pauses than a machine word has bits: all of them are listed in
/// order, and each ends by itself.
#[test]
fn a_large_switch_keeps_all_its_pauses_apart() {
    let lane = LaneMemory {
        reserve: b(0),
        headroom: b(3_000),
        threshold: Threshold::Static(b(1_000)),
        resume_offset: b(0),
    };
    let config = SharedConfig {
        pool: Bytes::mb(1),
        partitions: [].into(),
        headroom: HeadroomPool::Port(b(4_000)),
        class_count: 2,
        lanes: [lane; 140].into(),
    };
    assert_eq!(config.headroom(), b(70 * 4_000));
    assert_eq!(config.total(), Bytes::mb(1) + b(70 * 4_000));
    let sizes = MemoryUse { pool: Bytes::mb(1), headroom: b(280_000), total: b(1_280_000) };
    assert_eq!(config.sizes(), sizes);
    let mut memory = Memory::new(&config);
    let lanes = [(0, 0), (0, 1), (31, 1), (32, 0), (63, 1), (64, 0), (69, 1)];
    let lanes = lanes.map(|(port, class)| (PortId(port), Class(class)));
    for (port, class) in lanes.into_iter().rev() {
        assert_eq!(memory.charge(port, class, b(999)), Ok(false));
        // The headroom of a port is for both of its classes.
        assert_eq!(memory.charge(port, class, b(1_500)), Ok(true));
        assert_eq!(memory.charge(port, class, b(1)), Ok(true), "said again");
        assert_eq!(memory.headroom_of(port, class), b(1_500));
    }
    assert_eq!(memory.in_use().headroom, b(7 * 1_500));
    let full = memory.charge(PortId(0), Class(0), b(1_200)).expect_err("3,000 and 1,200 of 4,000");
    assert_eq!((full.held, full.buffer, full.pool), (b(3_000), b(4_000), FullPool::PortHeadroom));
    assert_eq!(Vec::from_iter(memory.paused()), lanes);
    assert!(memory.is_pausing());
    for (at, (port, class)) in lanes.into_iter().enumerate() {
        assert_eq!(memory.next_resumed(), None);
        memory.release(port, class, b(2_500));
        assert_eq!(memory.next_resumed(), Some((port, class)));
        assert_eq!(Vec::from_iter(memory.paused()), lanes[at + 1..]);
    }
    assert!(!memory.is_pausing());
    assert_eq!(memory.in_use(), MemoryUse::default());
}

#[test]
fn alphas_say_what_they_are() {
    assert_eq!((alpha(3, 8).numerator(), alpha(3, 8).denominator()), (3, 8));
    assert_eq!(Alpha::new(0, 1).or(Alpha::new(1, 0)), None);
    // 100 / (8 + 2 * 3) times 3, rounded down.
    assert_eq!(alpha(3, 8).fixed_point(b(100), 2), b(21));
}

/// Paused exactly at its threshold, with an offset of nothing: as long as nothing leaves nobody looks, so it
/// stays paused, and the detector must know. When a byte leaves, it goes on.
#[test]
fn who_is_paused_at_its_threshold_stays_so_until_something_leaves() {
    let mut config = config(Threshold::Static(b(3_000)));
    config.lanes[0].resume_offset = b(0);
    let mut memory = Memory::new(&config);
    assert!(fill(&mut memory, 0, 4), "3,000 beyond the reserve");
    assert_eq!(memory.next_resumed(), None);
    assert!(memory.keeps_paused(PortId(0), Class(0), b(0), |_, _| b(4_000)));
    assert!(!memory.keeps_paused(PortId(0), Class(0), b(0), |_, _| b(3_999)));
    assert_eq!(release(&mut memory, 0, 1), Some((PortId(0), Class(0))));
}
