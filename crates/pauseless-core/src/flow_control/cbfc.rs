//! InfiniBand's credit-based flow control.
//!
//! **Models** 64-byte blocks, the counters ABR, FCTBS and FCCL with their 12 bits and modulo
//! arithmetic, the grant limit of 2,048 blocks, a link packet per period, resynchronisation of ABR.
//!
//! **Source** InfiniBand Architecture Specification vol. 1, 7.9.
//!
//! **Deviates** [`Counters::Wide`] uses 32 bits and grants up to 2^31 blocks, because the 131,072
//! bytes that the real counters can grant are less than the buffers of the GFC paper.
//! A link packet costs 64 bytes on the wire, like every control frame here.
//!
//! **States** none: a sender may start a packet iff its credit covers it.
//!
//! **Not modelled** link initialisation (the first grant is there at time zero), the link-down
//! timer, VL15.
//!
//! **Lost messages** cost throughput and nothing else: counters are absolute, so the next link packet says
//! all that a lost one said, and one that comes twice says nothing new.

use super::{Downstream, Gate, Signal, Upstream};
use crate::unit::{Bytes, Rate, Span, Time};

/// The unit of credit.
//= iba 7.9.4.1 block
pub const BLOCK: Bytes = Bytes::new(64);

/// The number of blocks that a packet of `size` bytes takes.
#[inline]
pub fn blocks(size: Bytes) -> u64 {
    size.get().div_ceil(BLOCK.get())
}

/// The recommended period: the time of 65,535 bytes on the link (gfc19 section 5.4).
//= gfc19 5.4 period
pub fn default_period(line: Rate) -> Span {
    line.tx_span(Bytes::new(65_535))
}

/// How wide the counters are; the numbers are their masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Counters {
    /// The standard's 12 bits; a grant reaches at most 2,048 blocks.
    //= iba 7.9.4.4 modulo
    Iba = 0xfff,
    /// 32 bits; a grant reaches at most 2^31 blocks, more than any buffer.
    Wide = u32::MAX,
}

impl Counters {
    const fn mask(self) -> u32 {
        self as u32
    }

    /// Half of the counter's range: what is further ahead than this counts as behind.
    const fn window(self) -> u32 {
        self.mask() / 2 + 1
    }

    fn add(self, counter: u32, blocks: u64) -> u32 {
        counter.wrapping_add(blocks as u32) & self.mask()
    }

    /// The credit limit that a receiver grants, FCCL.
    fn grant(self, abr: u32, free_blocks: u64) -> u32 {
        self.add(abr, free_blocks.min(u64::from(self.window())))
    }

    /// Whether `blocks` more may be sent under the limit `fccl`.
    #[inline]
    fn covers(self, fccl: u32, fctbs: u32, blocks: u64) -> bool {
        let ahead = fccl.wrapping_sub(self.add(fctbs, blocks)) & self.mask();
        ahead <= self.window()
    }
}

/// The parameters of the credits of one (ingress port, class).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The buffer that credits are granted for.
    pub capacity: Bytes,
    /// The time between two link packets.
    pub period: Span,
    /// How wide the counters FCTBS and FCCL are.
    pub counters: Counters,
}

/// The receiver's half, which grants credits.
#[derive(Clone, Debug)]
pub struct CbfcDownstream {
    counters: Counters,
    capacity_blocks: u64,
    held_blocks: u64,
    abr: u32,
    period: Span,
    next: Time,
}

impl CbfcDownstream {
    /// The half of an empty buffer, whose first update leaves after `phase`.
    pub fn new(config: &Config, phase: Span) -> CbfcDownstream {
        CbfcDownstream {
            counters: config.counters,
            capacity_blocks: config.capacity.get() / BLOCK.get(),
            held_blocks: 0,
            abr: 0,
            period: config.period,
            next: Time::ZERO + phase,
        }
    }

    /// Takes over the sender's count of the blocks that it has sent.
    pub fn resynchronise(&mut self, fctbs: u32) {
        //= iba 7.9.4.3 resynchronise
        self.abr = fctbs & self.counters.mask();
    }

    /// Makes a message due now, and the others one period after the other.
    pub(super) fn restart(&mut self, now: Time) {
        self.next = now;
    }

    fn free_blocks(&self) -> u64 {
        self.capacity_blocks.saturating_sub(self.held_blocks)
    }

    fn fccl(&self) -> u32 {
        self.counters.grant(self.abr, self.free_blocks())
    }
}

impl Downstream for CbfcDownstream {
    #[inline]
    fn on_enqueue(&mut self, _now: Time, size: Bytes, _held: Bytes) {
        let blocks = blocks(size);
        self.abr = self.counters.add(self.abr, blocks);
        self.held_blocks += blocks;
    }

    #[inline]
    fn on_dequeue(&mut self, _now: Time, size: Bytes, _held: Bytes) {
        self.held_blocks -= blocks(size);
    }

    #[inline]
    fn has_signal(&self, now: Time) -> bool {
        now >= self.next
    }

    fn poll_signal(&mut self, now: Time) -> Option<Signal> {
        if !self.has_signal(now) {
            return None;
        }
        while self.next <= now {
            self.next = self.next + self.period;
        }
        Some(Signal::Credit { fctbs: 0, fccl: self.fccl() })
    }

    fn poll_timeout(&self) -> Option<Time> {
        Some(self.next)
    }

    fn keeps_blocked(&self, kept: Bytes, head: Bytes) -> bool {
        // When everything else has left, the free blocks are the most that can ever be granted.
        let free = self.capacity_blocks.saturating_sub(blocks(kept));
        free.min(u64::from(self.counters.window())) < blocks(head)
    }

    fn resumes(&self) -> u32 {
        0
    }

    fn resumed_at(&self) -> Time {
        Time::ZERO
    }

    fn on_peer_signal(&mut self, signal: Signal) {
        if let Signal::Credit { fctbs, .. } = signal {
            self.resynchronise(fctbs);
        }
    }

    fn on_discard(&mut self, size: Bytes) {
        self.abr = self.counters.add(self.abr, blocks(size));
    }
}

/// The sender's half, which spends credits.
#[derive(Clone, Debug)]
pub struct CbfcUpstream {
    counters: Counters,
    line: Rate,
    fctbs: u32,
    fccl: u32,
}

impl CbfcUpstream {
    /// The half that holds the first grant of an empty buffer.
    pub fn new(config: &Config, line: Rate) -> CbfcUpstream {
        CbfcUpstream {
            counters: config.counters,
            line,
            fctbs: 0,
            fccl: CbfcDownstream::new(config, Span::ZERO).fccl(),
        }
    }

    /// Blocks sent so far, modulo the counter's width.
    pub fn fctbs(&self) -> u32 {
        self.fctbs
    }

    /// Whether there is credit for a packet of `size` bytes.
    #[inline]
    pub(crate) fn covers(&self, size: Bytes) -> bool {
        //= iba 7.9.4.4 modulo
        self.counters.covers(self.fccl, self.fctbs, blocks(size))
    }
}

impl Upstream for CbfcUpstream {
    fn on_signal(&mut self, _now: Time, signal: Signal) {
        if let Signal::Credit { fccl, .. } = signal {
            self.fccl = fccl;
        }
    }

    #[inline]
    fn on_transmit(&mut self, _now: Time, size: Bytes) {
        self.fctbs = self.counters.add(self.fctbs, blocks(size));
    }

    #[inline]
    fn gate(&self, _now: Time, size: Bytes) -> Gate {
        if self.covers(size) { Gate::Open } else { Gate::Closed }
    }

    #[inline]
    fn is_stopped(&self, now: Time, size: Bytes) -> bool {
        self.gate(now, size) == Gate::Closed
    }

    fn rate(&self, now: Time) -> Option<Rate> {
        (self.gate(now, BLOCK) == Gate::Open).then_some(self.line)
    }

    fn resumes(&self) -> u32 {
        0
    }

    fn spends_credit(&self) -> bool {
        true
    }

    fn complete(&self, signal: Signal) -> Signal {
        signal.counting(self.fctbs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: Bytes = Bytes::new(1_500);

    fn config(capacity: Bytes) -> Config {
        Config { capacity, period: Span::us(10), counters: Counters::Iba }
    }

    //= iba 7.9.4.1 block type=test
    #[test]
    fn a_started_block_counts_whole() {
        assert_eq!(blocks(Bytes::new(1)), 1);
        assert_eq!(blocks(Bytes::new(64)), 1);
        assert_eq!(blocks(MTU), 24);
    }

    /// Worked out by hand from the definition.
    //= iba 7.9.4.4 modulo type=test
    #[test]
    fn the_modulo_rule_at_the_wrap() {
        let mut up = CbfcUpstream::new(&config(Bytes::kib(128)), Rate::gbps(10));
        up.fctbs = 4_090;
        up.on_signal(Time::ZERO, Signal::Credit { fctbs: 0, fccl: 40 });
        assert_eq!(up.gate(Time::ZERO, MTU), Gate::Open);
        up.on_signal(Time::ZERO, Signal::Credit { fctbs: 0, fccl: 10 });
        assert_eq!(up.gate(Time::ZERO, MTU), Gate::Closed);
        up.on_transmit(Time::ZERO, MTU);
        assert_eq!(up.fctbs(), 18);
        assert_eq!(Counters::Iba.grant(4_000, 5_000), 1_952);
        assert_eq!(Counters::Iba.grant(4_000, 100), 4);
        assert_eq!(Counters::Wide.grant(4_000, 5_000), 9_000);
    }

    //= iba 7.9.4.3 resynchronise type=test
    #[test]
    fn a_lost_packet_costs_its_credits_only_until_the_next_link_packet() {
        let config = config(MTU * 4);
        let mut up = CbfcUpstream::new(&config, Rate::gbps(10));
        let mut down = CbfcDownstream::new(&config, Span::ZERO);
        let mut sent = 0;
        while up.gate(Time::ZERO, MTU) == Gate::Open {
            up.on_transmit(Time::ZERO, MTU);
            sent += 1;
        }
        assert_eq!(sent, 3, "93 blocks cover three packets of 24");
        // None of the three arrived. Without the peer's count the grant would not move.
        let stale = down.poll_signal(Time::ZERO).unwrap();
        up.on_signal(Time::ZERO, stale);
        assert_eq!(up.gate(Time::ZERO, MTU), Gate::Closed);
        down.resynchronise(up.fctbs());
        let fresh = down.poll_signal(Time::ZERO + Span::us(10)).unwrap();
        up.on_signal(Time::ZERO, fresh);
        assert_eq!(up.gate(Time::ZERO, MTU), Gate::Open);
    }

    #[test]
    fn updates_leave_every_period_and_are_not_made_up_for() {
        let mut down = CbfcDownstream::new(&config(Bytes::kib(128)), Span::us(3));
        assert_eq!(down.poll_signal(Time::ZERO), None);
        assert_eq!(down.poll_timeout(), Some(Time::ZERO + Span::us(3)));
        assert!(down.poll_signal(Time::ZERO + Span::us(38)).is_some());
        assert_eq!(down.poll_signal(Time::ZERO + Span::us(38)), None);
        assert_eq!(down.poll_timeout(), Some(Time::ZERO + Span::us(43)));
    }

    //= gfc19 5.4 period type=test
    #[test]
    fn the_default_period_is_that_of_the_paper() {
        for (gbps, ns) in [(10, 52_428), (40, 13_107), (100, 5_242)] {
            let period = default_period(Rate::gbps(gbps));
            assert_eq!(period.as_ps() / 1_000, ns);
        }
    }
}
