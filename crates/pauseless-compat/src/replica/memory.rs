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
    limits: Vec<PortLimits>,
    /// What all may share.
    pool: u32,
    shared: u32,
    in_headroom: Vec<[u32; 8]>,
    ingress: Vec<[u32; 8]>,
    /// Bytes that wait by port and group.
    pub egress: Vec<[u32; 8]>,
    is_pausing: Vec<[bool; 8]>,
}

impl Memory {
    /// For ports in the order of their interfaces.
    pub fn new(total: u32, limits: Vec<PortLimits>) -> Memory {
        let count = limits.len();
        let aside = limits
            .iter()
            .fold(0u32, |sum, port| sum.wrapping_add(port.headroom).wrapping_add(RESERVE));
        Memory {
            limits,
            pool: total.wrapping_sub(aside),
            shared: 0,
            in_headroom: vec![[0; 8]; count],
            ingress: vec![[0; 8]; count],
            egress: vec![[0; 8]; count],
            is_pausing: vec![[false; 8]; count],
        }
    }

    fn threshold(&self, port: usize) -> u32 {
        self.pool.wrapping_sub(self.shared) >> self.limits[port].shift
    }

    fn above_reserve(&self, port: usize, group: usize) -> u32 {
        self.ingress[port][group].saturating_sub(RESERVE)
    }

    /// Takes a frame in; whether there was a place for it.
    pub fn take(&mut self, port: usize, group: usize, size: u32) -> bool {
        let threshold = self.threshold(port);
        let is_headroom_full =
            size.wrapping_add(self.in_headroom[port][group]) > self.limits[port].headroom;
        if is_headroom_full && size.wrapping_add(self.above_reserve(port, group)) > threshold {
            return false;
        }
        let sum = self.ingress[port][group].wrapping_add(size);
        if sum > RESERVE && sum - RESERVE > threshold {
            let used = &mut self.in_headroom[port][group];
            *used = used.wrapping_add(size);
            return true;
        }
        self.ingress[port][group] = sum;
        if sum > RESERVE {
            self.shared = self.shared.wrapping_add(size.min(sum - RESERVE));
        }
        true
    }

    /// A frame that came in there leaves.
    pub fn give(&mut self, port: usize, group: usize, size: u32) {
        let from_headroom = size.min(self.in_headroom[port][group]);
        let rest = size - from_headroom;
        let from_shared = rest.min(self.above_reserve(port, group));
        self.in_headroom[port][group] -= from_headroom;
        let held = &mut self.ingress[port][group];
        *held = held.wrapping_sub(rest);
        self.shared = self.shared.wrapping_sub(from_shared);
    }

    /// Whether a PAUSE is to be sent now, which is then taken for sent.
    pub fn pauses(&mut self, port: usize, group: usize) -> bool {
        let is_due = !self.is_pausing[port][group]
            && (self.in_headroom[port][group] > 0
                || self.above_reserve(port, group) >= self.threshold(port));
        self.is_pausing[port][group] |= is_due;
        is_due
    }

    /// Whether a RESUME is to be sent now, which is then taken for sent.
    pub fn resumes(&mut self, port: usize, group: usize) -> bool {
        let used = self.above_reserve(port, group);
        let is_low = used == 0 || used.wrapping_add(RESUME_OFFSET) <= self.threshold(port);
        let is_due = self.is_pausing[port][group] && self.in_headroom[port][group] == 0 && is_low;
        self.is_pausing[port][group] &= !is_due;
        is_due
    }
}
