//! Laws of a shared memory over random divisions, arrivals and departures, against a naive model.

use std::collections::VecDeque;

use pauseless_core::congestion::CongestionControl;
use pauseless_core::flow_control::{FlowControl, Signal, pfc};
use pauseless_core::id::{Class, PortId};
use pauseless_core::memory::{
    Alpha, HeadroomPool, LaneMemory, Memory, MemoryConfig, SharedConfig, Threshold,
};
use pauseless_core::port::{LaneConfig, PortConfig};
use pauseless_core::schedule::Scheduler;
use pauseless_core::switch::software::Polling;
use pauseless_core::switch::{Arrival, Discipline, Switch, SwitchConfig, Transmit};
use pauseless_core::unit::{Bytes, Rate, Time};
use proptest::prelude::*;

const PORTS: usize = 3;
const CLASSES: usize = 2;
const LANES: usize = PORTS * CLASSES;

/// The rules once more, from whole sums, in numbers that may become negative.
struct Model {
    config: SharedConfig,
    inside: [i128; LANES],
    headroom: [i128; LANES],
    paused: [bool; LANES],
}

impl Model {
    fn own(&self, lane: usize) -> (i128, i128) {
        match self.config.partitions.get(lane % CLASSES) {
            None => (i128::from(self.config.lanes[lane].reserve.get()), self.inside[lane]),
            Some(size) => {
                let class = (0..LANES).filter(|other| other % CLASSES == lane % CLASSES);
                let sum = class.map(|other| self.inside[other]).sum();
                (i128::from(size.get()), sum)
            }
        }
    }

    fn pool(&self) -> i128 {
        let lanes = if self.config.partitions.is_empty() {
            0..LANES
        } else {
            // One lane stands for its class.
            0..CLASSES
        };
        lanes
            .map(|lane| {
                let (own, used) = self.own(lane);
                (used - own).max(0)
            })
            .sum()
    }

    fn threshold(&self, lane: usize) -> i128 {
        let free = i128::from(self.config.pool.get()) - self.pool();
        let times = |alpha: Alpha, bytes: i128| {
            bytes * i128::from(alpha.numerator()) / i128::from(alpha.denominator())
        };
        match self.config.lanes[lane].threshold {
            Threshold::Static(bytes) => i128::from(bytes.get()),
            Threshold::Dynamic(alpha) => times(alpha, free),
            Threshold::Partition { alpha, least } => {
                let (own, used) = self.own(lane);
                let sizes = self.config.partitions.iter();
                let sum: i128 = sizes.map(|size| i128::from(size.get())).sum();
                let spare = (own - used).max(0);
                times(alpha, own * free / sum + spare).max(i128::from(least.get()))
            }
        }
    }

    fn shared(&self, lane: usize) -> i128 {
        let reserve = i128::from(self.config.lanes[lane].reserve.get());
        (self.inside[lane] - reserve).max(0)
    }

    /// Counts a packet that arrives and says whether it fits.
    fn arrive(&mut self, lane: usize, size: i128) -> bool {
        let threshold = self.threshold(lane);
        self.inside[lane] += size;
        let is_over = self.shared(lane) > threshold && self.shared(lane) > 0;
        if is_over || self.pool() > i128::from(self.config.pool.get()) {
            self.inside[lane] -= size;
            let port = lane / CLASSES;
            let of_port = port * CLASSES..(port + 1) * CLASSES;
            let fits = match self.config.headroom {
                HeadroomPool::Class => true,
                HeadroomPool::Port(limit) => {
                    let used: i128 = of_port.map(|lane| self.headroom[lane]).sum();
                    used + size <= i128::from(limit.get())
                }
                HeadroomPool::Switch(limit) => {
                    self.headroom.iter().sum::<i128>() + size <= i128::from(limit.get())
                }
            };
            let own = i128::from(self.config.lanes[lane].headroom.get());
            if !fits || self.headroom[lane] + size > own {
                return false;
            }
            self.headroom[lane] += size;
        }
        let is_at_limit = self.shared(lane) > 0 && self.shared(lane) >= self.threshold(lane);
        self.paused[lane] |= self.headroom[lane] > 0 || is_at_limit;
        true
    }

    fn leave(&mut self, lane: usize, size: i128) {
        let first = size.min(self.headroom[lane]);
        self.headroom[lane] -= first;
        self.inside[lane] -= size - first;
        for lane in 0..LANES {
            let offset = i128::from(self.config.lanes[lane].resume_offset.get()).max(1);
            let is_low =
                self.shared(lane) == 0 || self.shared(lane) + offset <= self.threshold(lane);
            if self.headroom[lane] == 0 && is_low {
                self.paused[lane] = false;
            }
        }
    }
}

fn threshold() -> impl Strategy<Value = Threshold> {
    let alpha = prop_oneof![Just((1, 8)), Just((1, 1)), Just((8, 1)), (1u32..20, 1u32..20)];
    prop_oneof![
        (0u64..20_000).prop_map(|bytes| Threshold::Static(Bytes::new(bytes))),
        alpha.prop_map(|(n, d)| Threshold::Dynamic(Alpha::new(n, d).expect("positive"))),
    ]
}

fn lane() -> impl Strategy<Value = LaneMemory> {
    (0u64..3_000, 0u64..6_000, threshold(), 0u64..4_000).prop_map(
        |(reserve, headroom, threshold, offset)| LaneMemory {
            reserve: Bytes::new(reserve),
            headroom: Bytes::new(headroom),
            threshold,
            resume_offset: Bytes::new(offset),
        },
    )
}

fn division() -> impl Strategy<Value = SharedConfig> {
    let headroom = prop_oneof![
        Just(HeadroomPool::Class),
        (0u64..12_000).prop_map(|size| HeadroomPool::Port(Bytes::new(size))),
        (0u64..20_000).prop_map(|size| HeadroomPool::Switch(Bytes::new(size))),
    ];
    let lanes = proptest::collection::vec(lane(), LANES);
    let partitions = proptest::option::of((1u64..9_000, 1u64..9_000));
    (0u64..40_000, headroom, lanes, partitions).prop_map(|(pool, headroom, lanes, partitions)| {
        let mut lanes = lanes;
        if partitions.is_some() {
            for lane in &mut lanes {
                lane.reserve = Bytes::ZERO;
                if let Threshold::Dynamic(alpha) = lane.threshold {
                    let least = Bytes::new(1_500);
                    lane.threshold = Threshold::Partition { alpha, least };
                }
            }
        }
        let sizes = partitions.map(|(a, b)| vec![Bytes::new(a), Bytes::new(b)]);
        SharedConfig {
            pool: Bytes::new(pool),
            partitions: sizes.unwrap_or_default().into(),
            headroom,
            class_count: CLASSES,
            lanes: lanes.into(),
        }
    })
}

/// A packet for a lane, or a departure from one.
fn op() -> impl Strategy<Value = (usize, Option<u64>)> {
    let packet = prop_oneof![3 => (64u64..=1_500).prop_map(Some), 2 => Just(None)];
    (0..LANES, packet)
}

fn name(lane: usize) -> (PortId, Class) {
    (PortId((lane / CLASSES) as u16), Class((lane % CLASSES) as u8))
}

fn assert_alike(memory: &Memory, model: &Model) -> Result<(), TestCaseError> {
    let used = memory.in_use();
    prop_assert_eq!(i128::from(used.pool.get()), model.pool());
    prop_assert_eq!(i128::from(used.headroom.get()), model.headroom.iter().sum::<i128>());
    let all = model.inside.iter().chain(&model.headroom).sum::<i128>();
    prop_assert_eq!(i128::from(used.total.get()), all);
    prop_assert!(used.pool <= model.config.pool);
    prop_assert!(used.headroom <= model.config.headroom());
    prop_assert!(used.total <= model.config.total());
    let paused: Vec<_> = memory.paused().collect();
    let expected = (0..LANES).filter(|lane| model.paused[*lane]);
    prop_assert_eq!(paused, expected.map(name).collect::<Vec<_>>());
    for lane in 0..LANES {
        let (port, class) = name(lane);
        let threshold = memory.threshold(port, class).get();
        prop_assert_eq!(i128::from(threshold), model.threshold(lane));
        let shared = memory.shared_of(port, class).get();
        prop_assert_eq!(i128::from(shared), model.shared(lane));
        let headroom = memory.headroom_of(port, class).get();
        prop_assert_eq!(i128::from(headroom), model.headroom[lane]);
    }
    Ok(())
}

proptest! {
    /// Counters, thresholds and pauses are those of the model; no part exceeds its size; nothing
    /// is left, and nobody paused, when all packets have gone.
    #[test]
    fn is_what_the_rules_say(
        config in division(),
        ops in proptest::collection::vec(op(), 1..200),
    ) {
        let mut memory = Memory::new(&config);
        let mut model = Model {
            config,
            inside: [0; LANES],
            headroom: [0; LANES],
            paused: [false; LANES],
        };
        let mut packets: [VecDeque<u64>; LANES] = Default::default();
        let drain = (0..LANES).flat_map(|lane| std::iter::repeat_n((lane, None), 200));
        for (lane, packet) in ops.into_iter().chain(drain) {
            let (port, class) = name(lane);
            match packet {
                Some(size) => {
                    let found = memory.charge(port, class, Bytes::new(size));
                    let fits = model.arrive(lane, i128::from(size));
                    prop_assert_eq!(found.is_ok(), fits);
                    if fits {
                        packets[lane].push_back(size);
                    }
                }
                None => {
                    let Some(size) = packets[lane].pop_front() else { continue };
                    memory.release(port, class, Bytes::new(size));
                    while memory.next_resumed().is_some() {}
                    model.leave(lane, i128::from(size));
                }
            }
            assert_alike(&memory, &model)?;
        }
        prop_assert_eq!(memory.in_use().total, Bytes::ZERO);
        prop_assert_eq!(memory.in_use().pool, Bytes::ZERO);
        prop_assert!(!memory.is_pausing());
    }
}

/// A division in whole units of 500 bytes, so that sums often meet a threshold exactly.
fn coarse_division() -> impl Strategy<Value = SharedConfig> {
    let coarse = |bytes: Bytes| Bytes::new(bytes.get() / 500 * 500);
    division().prop_map(move |mut config| {
        config.pool = coarse(config.pool);
        config.headroom = HeadroomPool::Class;
        for size in &mut config.partitions {
            *size = coarse(*size) + Bytes::new(500);
        }
        for lane in &mut config.lanes {
            lane.reserve = coarse(lane.reserve);
            lane.resume_offset = coarse(lane.resume_offset);
            lane.headroom = Bytes::kb(100);
            if let Threshold::Static(bytes) = &mut lane.threshold {
                *bytes = coarse(Bytes::new(bytes.get() / 4));
            }
        }
        config
    })
}

proptest! {
    /// What the deadlock detector asks of a memory is what happens: when all packets but those that are kept
    /// have left, in any order, exactly those are paused of which it was said. While packets are still on
    /// their way to one of them and pass, whoever was said to stay paused does.
    #[test]
    fn whoever_stays_paused_was_known_beforehand(
        config in coarse_division(),
        arrivals in proptest::collection::vec((0..LANES, 1u64..4), 1..60),
        keeps in proptest::collection::vec(any::<bool>(), 60),
        passing in proptest::collection::vec(1u64..4, 0..6),
        order in any::<u64>(),
    ) {
        let mut memory = Memory::new(&config);
        let (mut kept, mut leaving) = ([Bytes::ZERO; LANES], Vec::new());
        for ((lane, size), keeps) in arrivals.into_iter().zip(keeps) {
            let (port, class) = name(lane);
            let size = Bytes::new(size * 500);
            memory.charge(port, class, size).expect("headroom is ample");
            if keeps {
                kept[lane] += size;
            } else {
                leaving.push((lane, size));
            }
        }
        let kept_of = |port: PortId, class: Class| kept[port.index() * CLASSES + class.index()];
        let paused = Vec::from_iter(memory.paused());
        let passing = Vec::from_iter(passing.into_iter().map(|size| Bytes::new(size * 500)));
        let coming: Bytes = passing.iter().copied().sum();
        let stay = |coming: Bytes| {
            let stays = |&&(port, class): &&_| memory.keeps_paused(port, class, coming, kept_of);
            Vec::from_iter(paused.iter().filter(stays).copied())
        };
        let (stay_alone, stay_despite) = (stay(Bytes::ZERO), stay(coming));
        prop_assert!(stay_despite.iter().all(|lane| stay_alone.contains(lane)));
        let number = |at: usize| (order >> (at % 60)) as usize;
        for at in 0..leaving.len() {
            let (lane, size) = leaving.swap_remove(number(at) % leaving.len());
            let (port, class) = name(lane);
            memory.release(port, class, size);
            while memory.next_resumed().is_some() {}
        }
        prop_assert_eq!(Vec::from_iter(memory.paused()), stay_alone);
        for &(port, class) in &stay_despite {
            for size in &passing {
                memory.charge(port, class, *size).expect("headroom is ample");
            }
            for size in &passing {
                memory.release(port, class, *size);
                while memory.next_resumed().is_some() {}
            }
            prop_assert!(memory.paused().any(|lane| lane == (port, class)));
        }
    }
}

fn switch(config: SharedConfig) -> Switch<u64> {
    let control = FlowControl::Pfc(pfc::Config::commanded(pfc::QUANTA_MAX));
    let lane = LaneConfig::new(control, config.total());
    let port = PortConfig { line: Rate::gbps(10), lanes: [lane; CLASSES].into() };
    Switch::new(&SwitchConfig {
        changes_class: false,
        memory: MemoryConfig::Shared(config),
        congestion: CongestionControl::None,
        seed: 0,
        discipline: Discipline::OutputQueued,
        polling: Polling::default(),
        scheduler: Scheduler::Strict,
        ports: vec![port; PORTS],
    })
}

/// Lets every port send what it has to say; data goes out when the driver says so.
fn drain(
    switch: &mut Switch<u64>,
    told: &mut [bool; LANES],
    busy: &mut [bool; PORTS],
) -> Result<(), TestCaseError> {
    while let Some(port) = switch.poll_ready() {
        match switch.poll_transmit(Time::ZERO, port) {
            None => {}
            Some(Transmit::Data { .. }) => busy[port.index()] = true,
            Some(Transmit::Control(control)) => {
                let Signal::Pause { quanta } = control.signal else {
                    panic!("PFC says nothing else");
                };
                let told = &mut told[port.index() * CLASSES + control.class.index()];
                prop_assert_eq!(quanta == 0, *told, "PAUSE and RESUME take turns");
                *told = quanta > 0;
                switch.handle_transmitted(Time::ZERO, port);
            }
        }
    }
    Ok(())
}

proptest! {
    /// Through the switch: each peer hears PAUSE and RESUME by turns, at the end it may send, and
    /// what it was told last is what the memory wants, unless its wire is still busy.
    #[test]
    fn peers_are_told_what_the_memory_wants(
        config in division(),
        ops in proptest::collection::vec((op(), 0..PORTS), 1..200),
    ) {
        let mut switch = switch(config);
        let (mut told, mut busy) = ([false; LANES], [false; PORTS]);
        let (mut count, mut sent) = (0, 0);
        let drains = (0..1_500).map(|n| ((0, None), n % PORTS));
        for ((lane, packet), port) in ops.into_iter().chain(drains) {
            let (ingress, class) = name(lane);
            let egress = PortId(port as u16);
            match packet {
                Some(size) => {
                    let size = Bytes::new(size);
                    let arrival = Arrival { packet: 0, size, class, egress, leaving: class };
                    let fits = switch.handle_arrival(Time::ZERO, ingress, arrival);
                    count += usize::from(fits.is_ok());
                }
                None if busy[port] => {
                    busy[port] = false;
                    switch.handle_transmitted(Time::ZERO, egress);
                    sent += 1;
                }
                None => {}
            }
            drain(&mut switch, &mut told, &mut busy)?;
            let memory = switch.memory().expect("shared");
            for (lane, told) in told.iter().enumerate().filter(|(lane, _)| !busy[lane / CLASSES]) {
                let wanted = memory.paused().any(|paused| paused == name(lane));
                prop_assert_eq!(*told, wanted, "lane {}", lane);
            }
        }
        prop_assert_eq!(sent, count);
        prop_assert_eq!(told, [false; LANES]);
    }
}
