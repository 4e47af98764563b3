//! The memory of a switch there, in numbers of 32 bits that wrap around as they do there.

const RESERVE: u32 = 4_096;
const RESUME_OFFSET: u32 = 3_072;

/// What an ingress port may take.
#[derive(Clone, Copy, Debug, Default)]
pub struct PortLimits {
    /// The most in headroom of each group, in bytes.
    pub headroom: u32,
    /// Its threshold is what is free, over two to this power.
    pub shift: u32,
}

/// The counters of one switch.
#[derive(Clone, Debug)]
pub struct Memory {
    /// What all may share.
    pool: u32,
    shared: u32,
    ports: Vec<Counters>,
}

/// The counters of a port.
#[derive(Clone, Debug)]
struct Counters {
    limits: PortLimits,
    groups: [Group; 8],
}

/// The counters of a group at a port, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// What came in there, without what is in headroom.
    ingress: u32,
    in_headroom: u32,
    /// What waits to leave there.
    egress: u32,
    is_pausing: bool,
}

impl Memory {
    /// For ports in the order of their interfaces.
    pub fn new(total: u32, limits: Vec<PortLimits>) -> Memory {
        let aside = limits
            .iter()
            .fold(0u32, |sum, port| sum.wrapping_add(port.headroom).wrapping_add(RESERVE));
        let counters = |limits| Counters { limits, groups: [Group::default(); 8] };
        Memory {
            pool: total.wrapping_sub(aside),
            shared: 0,
            ports: limits.into_iter().map(counters).collect(),
        }
    }

    /// The bytes of all groups that wait at a port, as a number of 32 bits.
    pub fn waiting(&self, port: usize) -> u32 {
        self.ports[port].groups.iter().fold(0, |sum, group| sum.wrapping_add(group.egress))
    }

    /// A frame waits to leave at a port.
    pub fn enqueue(&mut self, port: usize, group: usize, size: u32) {
        let waiting = &mut self.ports[port].groups[group].egress;
        *waiting = waiting.wrapping_add(size);
    }

    /// A frame leaves at a port; how many bytes of its group still wait there.
    pub fn dequeue(&mut self, port: usize, group: usize, size: u32) -> u32 {
        let waiting = &mut self.ports[port].groups[group].egress;
        *waiting = waiting.wrapping_sub(size);
        *waiting
    }

    /// Takes a frame in; whether there was a place for it.
    pub fn take(&mut self, port: usize, group: usize, size: u32) -> bool {
        let free = self.pool.wrapping_sub(self.shared);
        let Counters { limits, groups } = &mut self.ports[port];
        let at = &mut groups[group];
        let threshold = limits.threshold(free);
        let is_headroom_full = size.wrapping_add(at.in_headroom) > limits.headroom;
        if is_headroom_full && size.wrapping_add(at.above_reserve()) > threshold {
            return false;
        }
        let sum = at.ingress.wrapping_add(size);
        if sum > RESERVE && sum - RESERVE > threshold {
            at.in_headroom = at.in_headroom.wrapping_add(size);
            return true;
        }
        at.ingress = sum;
        if sum > RESERVE {
            self.shared = self.shared.wrapping_add(size.min(sum - RESERVE));
        }
        true
    }

    /// A frame that came in there leaves.
    pub fn give(&mut self, port: usize, group: usize, size: u32) {
        let at = &mut self.ports[port].groups[group];
        let from_headroom = size.min(at.in_headroom);
        let rest = size - from_headroom;
        let from_shared = rest.min(at.above_reserve());
        at.in_headroom -= from_headroom;
        at.ingress = at.ingress.wrapping_sub(rest);
        self.shared = self.shared.wrapping_sub(from_shared);
    }

    /// Whether a PAUSE is to be sent now, which is then taken for sent.
    pub fn pauses(&mut self, port: usize, group: usize) -> bool {
        let free = self.pool.wrapping_sub(self.shared);
        let Counters { limits, groups } = &mut self.ports[port];
        let at = &mut groups[group];
        let is_due =
            !at.is_pausing && (at.in_headroom > 0 || at.above_reserve() >= limits.threshold(free));
        at.is_pausing |= is_due;
        is_due
    }

    /// Whether a RESUME is to be sent now, which is then taken for sent.
    pub fn resumes(&mut self, port: usize, group: usize) -> bool {
        let free = self.pool.wrapping_sub(self.shared);
        let Counters { limits, groups } = &mut self.ports[port];
        let at = &mut groups[group];
        let used = at.above_reserve();
        let is_low = used == 0 || used.wrapping_add(RESUME_OFFSET) <= limits.threshold(free);
        let is_due = at.is_pausing && at.in_headroom == 0 && is_low;
        at.is_pausing &= !is_due;
        is_due
    }
}

impl PortLimits {
    /// What a group may take of the shared memory when so much of it is free.
    fn threshold(self, free: u32) -> u32 {
        free >> self.shift
    }
}

impl Group {
    fn above_reserve(&self) -> u32 {
        self.ingress.saturating_sub(RESERVE)
    }
}
