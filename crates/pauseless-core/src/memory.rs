//! The packet memory of a switch that its ports share.
//!
//! **Models** the ingress accounting of commodity switches: a reserve of every (ingress, class), a
//! pool for all, headroom for what is under way when a PAUSE is due; static or dynamic thresholds;
//! and the k + 1 partitions of the TTL note, of which one is shared.
//!
//! **Source** Choudhury and Hahne's dynamic thresholds as public simulators have them
//! (docs/protocols.md#memory-threshold); TTL note, section 2.3, equation 16; SONiC's shared
//! headroom pool.
//!
//! **Where a packet is counted.** In the reserve as far as it reaches, the rest in the pool, if its
//! (ingress, class) stays within its threshold and the pool has room; otherwise as a whole in
//! headroom, and that is when the sender is told to stop. Headroom is given back first, then
//! the pool, then the reserve. Bytes are counted, not places, so that no packet has to remember
//! where it was counted; chips do the same. So it is with partitions: a class fills its own up to the
//! brim before it takes from the shared one, and gives back to the shared one first. A
//! packet at the brim is counted in both, which differs from the note by less than a packet.
//!
//! **When a threshold is looked at.** It moves whenever anything arrives or leaves anywhere. To pause,
//! it is enough to look when a packet of the (ingress, class) arrives: nobody has to stop a sender
//! that does not send, and if the threshold has fallen meanwhile, the next packet finds headroom. To
//! resume, it must be looked at whenever memory becomes free: a queue that stands still because
//! of a pause further on has no departures of its own, and would stay paused beside an empty pool for
//! as long as that lasts. Only what is paused need be looked at. What it has in headroom it must
//! lose by departures of its own, though: headroom is not turned into pool when the pool empties.
//!
//! **Deviates** The public simulators resume on the departures of a queue alone, and pause a queue
//! that is within its reserve if the pool is full to the last byte; here it has nothing to fear.
//!
//! **Not modelled** Cells, and the egress side's own limits, which lossless classes are exempt from.

use alloc::boxed::Box;
use core::num::NonZeroU32;

use crate::id::{Class, PortId};
use crate::port::{FullPool, Overrun};
use crate::unit::Bytes;

/// How the packet memory of a switch is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryConfig {
    /// Every (ingress, class) has a buffer and thresholds of its own.
    Private,
    /// All (ingress, class) of the switch share one memory.
    Shared(SharedConfig),
}

/// How a shared memory is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedConfig {
    /// The pool that every (ingress, class) may use.
    pub pool: Bytes,
    /// The partition of each class, for the whole switch; empty if classes have no partitions.
    pub partitions: Box<[Bytes]>,
    /// Who shares headroom with whom.
    pub headroom: HeadroomPool,
    /// How many classes every port has.
    pub class_count: usize,
    /// The limits of every (port, class), the classes of a port side by side.
    pub lanes: Box<[LaneMemory]>,
}

/// Who shares headroom with whom. Each (ingress, class) has a limit of its own in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadroomPool {
    /// Each (ingress, class) has its own headroom.
    Class,
    /// The classes of a port share this much headroom.
    Port(Bytes),
    /// All ports of the switch share this much headroom.
    Switch(Bytes),
}

/// What one (ingress, class) may use of a shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneMemory {
    /// Bytes reserved for it alone; zero where classes have partitions.
    pub reserve: Bytes,
    /// The most headroom that it may use.
    pub headroom: Bytes,
    /// The most that it may use of the shared pool.
    pub threshold: Threshold,
    /// It resumes when it has fallen this far below the threshold, and by a byte in any case.
    pub resume_offset: Bytes,
}

/// The most that an (ingress, class) may use of the shared pool; it is paused when it reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// A fixed number of bytes.
    Static(Bytes),
    /// A multiple of the free bytes of the pool.
    Dynamic(Alpha),
    /// Equation 16 of the TTL note, which needs partitions.
    Partition {
        /// The factor of the share and the spare room.
        alpha: Alpha,
        /// The lower bound of the threshold, one MTU, which the note's proof needs.
        least: Bytes,
    },
}

/// A positive fraction, the factor of a dynamic threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alpha {
    numerator: NonZeroU32,
    denominator: NonZeroU32,
}

impl Alpha {
    /// The fraction, or `None` if either number is zero.
    pub const fn new(numerator: u32, denominator: u32) -> Option<Alpha> {
        match (NonZeroU32::new(numerator), NonZeroU32::new(denominator)) {
            (Some(numerator), Some(denominator)) => Some(Alpha { numerator, denominator }),
            _ => None,
        }
    }

    /// The number above the fraction bar.
    pub const fn numerator(self) -> u32 {
        self.numerator.get()
    }

    /// The number below the fraction bar.
    pub const fn denominator(self) -> u32 {
        self.denominator.get()
    }

    /// The fraction of `bytes`, rounded down.
    #[inline]
    pub fn of(self, bytes: Bytes) -> Bytes {
        let (numerator, denominator) = (self.numerator.get(), self.denominator.get());
        // Real memories are small enough for the 64-bit division.
        if let Some(product) = bytes.get().checked_mul(u64::from(numerator)) {
            return Bytes::new(product / u64::from(denominator));
        }
        let product = u128::from(bytes.get()) * u128::from(numerator);
        let quotient = product / u128::from(denominator);
        Bytes::new(u64::try_from(quotient).unwrap_or(u64::MAX))
    }

    /// The bytes of `pool` that each of `active` queues holds when all want as much as they can
    /// get: each holds alpha times the rest, which makes alpha / (1 + n alpha) of the pool.
    pub fn fixed_point(self, pool: Bytes, active: u64) -> Bytes {
        let (numerator, denominator) = (self.numerator(), self.denominator());
        let product = u128::from(pool.get()) * u128::from(numerator);
        let all = u128::from(denominator) + u128::from(active) * u128::from(numerator);
        Bytes::new((product / all) as u64)
    }
}

impl SharedConfig {
    /// The size of the whole memory: reserves, partitions, pool and headroom.
    pub fn total(&self) -> Bytes {
        let reserves: Bytes = self.lanes.iter().map(|lane| lane.reserve).sum();
        self.pool + reserves + self.dedicated() + self.headroom()
    }

    /// The sizes of its parts.
    pub fn sizes(&self) -> MemoryUse {
        MemoryUse { pool: self.pool, headroom: self.headroom(), total: self.total() }
    }

    /// The bytes set aside for headroom.
    pub fn headroom(&self) -> Bytes {
        match self.headroom {
            HeadroomPool::Class => self.lanes.iter().map(|lane| lane.headroom).sum(),
            HeadroomPool::Port(size) => size * self.port_count() as u64,
            HeadroomPool::Switch(size) => size,
        }
    }

    /// The most bytes that one (ingress, class) can hold, if no other one holds any.
    pub fn lane_max(&self, port: PortId, class: Class) -> Bytes {
        let LaneMemory { reserve, headroom, threshold, .. } = self.lanes[self.lane(port, class)];
        let own = match threshold {
            Threshold::Static(bytes) => bytes.min(self.pool),
            // It is paused at alpha times what it leaves free.
            Threshold::Dynamic(alpha) => {
                let (above, below) =
                    (u128::from(alpha.numerator()), u128::from(alpha.denominator()));
                let share = u128::from(self.pool.get()) * above / (above + below);
                Bytes::new(share as u64)
            }
            Threshold::Partition { .. } => self.partitions[class.index()] + self.pool,
        };
        reserve + own + headroom
    }

    /// The bytes of all partitions together.
    fn dedicated(&self) -> Bytes {
        self.partitions.iter().copied().sum()
    }

    fn port_count(&self) -> usize {
        self.lanes.len() / self.class_count
    }

    fn lane(&self, port: PortId, class: Class) -> usize {
        port.index() * self.class_count + class.index()
    }

    fn class_of(&self, lane: usize) -> usize {
        lane % self.class_count
    }
}

/// Bytes counted against the pool and the partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Usage {
    pool: Bytes,
    /// With partitions, the bytes of each class outside headroom.
    classes: [Bytes; Class::COUNT_MAX],
}

impl Usage {
    /// Accounts for a change of the bytes of `lane` outside headroom from `from` to `to`.
    #[inline]
    fn move_lane(&mut self, config: &SharedConfig, lane: usize, from: Bytes, to: Bytes) {
        let (own, from, to) = if config.partitions.is_empty() {
            (config.lanes[lane].reserve, from, to)
        } else {
            let class = config.class_of(lane);
            let before = self.classes[class];
            self.classes[class] = before - from + to;
            (config.partitions[class], before, self.classes[class])
        };
        self.pool = self.pool + to.saturating_sub(own) - from.saturating_sub(own);
    }

    /// The most that `lane` may use of the shared pool at present.
    #[inline]
    fn threshold(&self, config: &SharedConfig, lane: usize) -> Bytes {
        let free = config.pool.saturating_sub(self.pool);
        match config.lanes[lane].threshold {
            Threshold::Static(bytes) => bytes,
            Threshold::Dynamic(alpha) => alpha.of(free),
            Threshold::Partition { alpha, least } => {
                let class = config.class_of(lane);
                let own = config.partitions[class];
                //= ttl 2.3 eq 16
                let share = u128::from(own.get()) * u128::from(free.get())
                    / u128::from(config.dedicated().get().max(1));
                let share = Bytes::new(share as u64);
                let spare = own.saturating_sub(self.classes[class]);
                alpha.of(share + spare).max(least)
            }
        }
    }
}

/// Bytes held by one (ingress, class).
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// Bytes in its reserve, its partition and the pool.
    inside: Bytes,
    headroom: Bytes,
}

/// Bytes of each part of a memory: its size, its present use, or its peak.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Bytes of the shared pool.
    pub pool: Bytes,
    /// Bytes of all headroom together.
    pub headroom: Bytes,
    /// Bytes of the whole memory, reserves included.
    pub total: Bytes,
}

/// The shared memory of a switch. See the [module](self).
#[derive(Clone, Debug)]
pub struct Memory {
    config: SharedConfig,
    lanes: Box<[Lane]>,
    usage: Usage,
    headroom: Bytes,
    total: Bytes,
    /// Headroom in use per port; empty unless the classes of a port share it.
    by_port: Box<[Bytes]>,
    /// The (ingress, class) that are paused, a bit each.
    paused: Box<[u64]>,
    paused_count: usize,
    max: MemoryUse,
}

impl Memory {
    /// Builds an empty memory.
    pub fn new(config: &SharedConfig) -> Memory {
        let classes = 1..=Class::COUNT_MAX;
        assert!(classes.contains(&config.class_count));
        assert_eq!(config.lanes.len() % config.class_count, 0);
        let is_split = !config.partitions.is_empty();
        assert!(!is_split || config.partitions.len() == config.class_count);
        for lane in &config.lanes {
            let is_partition = matches!(lane.threshold, Threshold::Partition { .. });
            assert!(!is_partition || is_split, "equation 16 needs partitions");
            assert!(!is_split || lane.reserve == Bytes::ZERO, "a reserve beside partitions");
        }
        let by_port = match config.headroom {
            HeadroomPool::Port(_) => config.port_count(),
            HeadroomPool::Class | HeadroomPool::Switch(_) => 0,
        };
        Memory {
            lanes: alloc::vec![Lane::default(); config.lanes.len()].into(),
            usage: Usage::default(),
            headroom: Bytes::ZERO,
            total: Bytes::ZERO,
            by_port: alloc::vec![Bytes::ZERO; by_port].into(),
            paused: alloc::vec![0; config.lanes.len().div_ceil(64)].into(),
            paused_count: 0,
            max: MemoryUse::default(),
            config: config.clone(),
        }
    }

    /// How the memory is divided.
    pub fn config(&self) -> &SharedConfig {
        &self.config
    }

    /// Accounts for an arriving packet of `size` bytes; returns whether its sender must be paused
    /// now, or the overrun if it does not fit.
    pub fn charge(&mut self, port: PortId, class: Class, size: Bytes) -> Result<bool, Overrun> {
        let at = self.config.lane(port, class);
        let Lane { inside, .. } = self.lanes[at];
        let config = &self.config;
        let shared = (inside + size).saturating_sub(config.lanes[at].reserve);
        let threshold = self.usage.threshold(config, at);
        let is_within = shared <= threshold || shared == Bytes::ZERO;
        self.usage.move_lane(config, at, inside, inside + size);
        if is_within && self.usage.pool <= config.pool {
            self.lanes[at].inside += size;
        } else {
            self.usage.move_lane(config, at, inside + size, inside);
            self.take_headroom(port, at, size)?;
        }
        self.total += size;
        self.max.pool = self.max.pool.max(self.usage.pool);
        self.max.headroom = self.max.headroom.max(self.headroom);
        self.max.total = self.max.total.max(self.total);
        let is_full = self.is_full(at);
        let (word, bit) = (at / 64, 1 << (at % 64));
        if is_full && self.paused[word] & bit == 0 {
            self.paused[word] |= bit;
            self.paused_count += 1;
        }
        Ok(is_full)
    }

    /// Counts a packet in headroom, which must have room for it.
    fn take_headroom(&mut self, port: PortId, at: usize, size: Bytes) -> Result<(), Overrun> {
        let limit = self.config.lanes[at].headroom;
        let held = self.lanes[at].headroom;
        if limit == Bytes::ZERO {
            // In a lossy class, packets beyond the threshold are dropped.
            let shared = self.shared(at);
            let buffer = self.usage.threshold(&self.config, at);
            let pool = FullPool::Shared;
            return Err(Overrun { held: shared, buffer, pool });
        }
        let (used, buffer, pool) = match self.config.headroom {
            _ if held + size > limit => (held, limit, FullPool::Headroom),
            HeadroomPool::Class => (held, limit, FullPool::Headroom),
            HeadroomPool::Port(size) => {
                let used = self.by_port[port.index()];
                (used, size, FullPool::PortHeadroom)
            }
            HeadroomPool::Switch(size) => (self.headroom, size, FullPool::SwitchHeadroom),
        };
        if used + size > buffer {
            let held = used;
            return Err(Overrun { held, buffer, pool });
        }
        self.lanes[at].headroom += size;
        self.headroom += size;
        if let Some(used) = self.by_port.get_mut(port.index()) {
            *used += size;
        }
        Ok(())
    }

    /// Accounts for the departure of `size` bytes; [`Memory::next_resumed`] then says which senders
    /// may resume.
    pub fn release(&mut self, port: PortId, class: Class, size: Bytes) {
        let at = self.config.lane(port, class);
        let Lane { inside, headroom } = self.lanes[at];
        let from_headroom = size.min(headroom);
        let rest = size - from_headroom;
        self.usage.move_lane(&self.config, at, inside, inside - rest);
        self.lanes[at] = Lane { inside: inside - rest, headroom: headroom - from_headroom };
        self.headroom -= from_headroom;
        if let Some(used) = self.by_port.get_mut(port.index()) {
            *used -= from_headroom;
        }
        self.total -= size;
    }

    /// The lowest paused (ingress, class) that may resume; it counts as resumed from now on.
    #[inline]
    pub fn next_resumed(&mut self) -> Option<(PortId, Class)> {
        if self.paused_count == 0 {
            return None;
        }
        let at = self.paused_lanes().find(|at| self.may_resume(*at))?;
        self.paused[at / 64] &= !(1 << (at % 64));
        self.paused_count -= 1;
        Some(self.name(at))
    }

    /// Whether any (ingress, class) is paused.
    pub fn is_pausing(&self) -> bool {
        self.paused_count > 0
    }

    /// The (ingress, class) that are paused, lowest first.
    pub fn paused(&self) -> impl Iterator<Item = (PortId, Class)> + Clone + '_ {
        self.paused_lanes().map(|at| self.name(at))
    }

    fn paused_lanes(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        self.paused.iter().enumerate().flat_map(|(word, bits)| {
            let mut bits = *bits;
            core::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
                bits &= bits - 1;
                Some(word * 64 + bit)
            })
        })
    }

    fn name(&self, at: usize) -> (PortId, Class) {
        let port = PortId((at / self.config.class_count) as u16);
        (port, Class(self.config.class_of(at) as u8))
    }

    fn is_full(&self, at: usize) -> bool {
        let shared = self.shared(at);
        let is_at_limit = || shared >= self.usage.threshold(&self.config, at);
        self.lanes[at].headroom > Bytes::ZERO || shared > Bytes::ZERO && is_at_limit()
    }

    fn may_resume(&self, at: usize) -> bool {
        self.lanes[at].headroom == Bytes::ZERO
            && self.is_low(at, self.shared(at), self.usage.threshold(&self.config, at))
    }

    /// Whether an (ingress, class) without headroom is low enough to resume. It is paused at the threshold,
    /// so it has to be below that, by a byte at least: otherwise a pause that nothing follows would be one
    /// that could end, and the deadlock that it belongs to would not be seen.
    fn is_low(&self, at: usize, shared: Bytes, threshold: Bytes) -> bool {
        let offset = self.config.lanes[at].resume_offset.max(Bytes::new(1));
        shared == Bytes::ZERO || shared + offset <= threshold
    }

    fn shared(&self, at: usize) -> Bytes {
        let reserve = self.config.lanes[at].reserve;
        self.lanes[at].inside.saturating_sub(reserve)
    }

    /// Whether (`port`, `class`), paused now, stays so for ever if of every (ingress, class) `kept`
    /// bytes never leave, everything else does, and only `in_flight` more bytes are on their way to it.
    ///
    /// Answers no if it is possible that it does not. Whatever else arrives and leaves meanwhile, no
    /// other (ingress, class) ends with less beside headroom than if everything but `kept` left now:
    /// headroom is given back first, so what passes can only turn headroom into pool, never the
    /// other way round. For its own headroom to become empty, what leaves and what is still to come
    /// must be enough, and then all that is kept is counted in the pool.
    pub fn keeps_paused(
        &self,
        port: PortId,
        class: Class,
        in_flight: Bytes,
        kept: impl Fn(PortId, Class) -> Bytes,
    ) -> bool {
        let own = self.config.lane(port, class);
        let mut usage = Usage::default();
        let mut shared = Bytes::ZERO;
        for (at, lane) in self.lanes.iter().enumerate() {
            let (port, class) = self.name(at);
            let kept = kept(port, class);
            let leaving = (lane.inside + lane.headroom).saturating_sub(kept);
            if at == own {
                if lane.headroom > leaving + in_flight {
                    return true;
                }
                shared = kept.saturating_sub(self.config.lanes[at].reserve);
                usage.move_lane(&self.config, at, Bytes::ZERO, kept);
                continue;
            }
            let inside = lane.inside + lane.headroom.min(leaving);
            let inside = inside.saturating_sub(leaving);
            usage.move_lane(&self.config, at, Bytes::ZERO, inside);
        }
        !self.is_low(own, shared, usage.threshold(&self.config, own))
    }

    /// The present threshold of (`port`, `class`).
    pub fn threshold(&self, port: PortId, class: Class) -> Bytes {
        let at = self.config.lane(port, class);
        self.usage.threshold(&self.config, at)
    }

    /// The headroom that (`port`, `class`) uses.
    pub fn headroom_of(&self, port: PortId, class: Class) -> Bytes {
        self.lanes[self.config.lane(port, class)].headroom
    }

    /// The bytes of (`port`, `class`) beyond its reserve, without headroom.
    pub fn shared_of(&self, port: PortId, class: Class) -> Bytes {
        self.shared(self.config.lane(port, class))
    }

    /// The bytes in use now.
    pub fn in_use(&self) -> MemoryUse {
        MemoryUse { pool: self.usage.pool, headroom: self.headroom, total: self.total }
    }

    /// The most that was ever in use.
    pub fn high_water(&self) -> MemoryUse {
        self.max
    }

    /// Bytes of heap memory in use.
    pub fn heap_bytes(&self) -> usize {
        size_of::<Memory>()
            + self.lanes.len() * (size_of::<Lane>() + size_of::<LaneMemory>())
            + size_of_val(&*self.by_port)
            + size_of_val(&*self.paused)
    }
}
