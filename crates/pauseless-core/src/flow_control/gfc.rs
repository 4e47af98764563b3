//! Gentle flow control: the sender is slowed in proportion to the queue, never stopped by design.
//!
//! **Models** conceptual GFC (continuous feedback), buffer-based GFC (a message when the stage
//! changes) and time-based GFC (a message every period), all over the [`Limiter`].
//!
//! **Source** gfc19 sections 4 and 5; misprints resolved as in the comments below.
//!
//! **Deviates** The paper lets the sender go on for ever at the rate of the last stage, which fills
//! any finite buffer if nothing drains for long enough. Above `hold`, a level inside the
//! guard band that the theorems' fluid never reaches, the sender is held; see [`crate::derive`].
//! The paper tells every change of stage, so that a queue on a threshold sends a message with
//! every packet. With [`BufferConfig::hold_off`] a faster stage waits until no message has
//! left for so long; a slower one and the end of a hold are told at once.
//!
//! **States** of the buffer-based downstream half: the stage 0..=N that the queue is in, and N+1
//! above `hold`, beside the stage that was told last. A message that could not leave before the next
//! change is replaced by it. When the hold-off ends the half looks at the queue again by itself
//! ([`Downstream::handle_timeout`]), so that the last return to stage 0 is told even if no packet
//! ever comes or goes again.
//!
//! **Lost messages** The paper's sender never hears again what a lost message said: it goes on at the rate
//! of an old stage until the next change. With [`BufferConfig::refresh`] the newest stage is said again
//! that long after the last message, in stage 0 too, since a lost return to 0 would slow the sender down
//! for ever. So after any loss the rate is right within one refresh and the latency of a message; until
//! then up to C times refresh more bytes arrive than B_m - B_1 was made for. Time-based GFC says all
//! anew every period anyway: a loss there counts as a longer T.
//!
//! **Not modelled** several classes in one message.

use alloc::boxed::Box;

use super::limiter::Limiter;
use super::{Downstream, Gate, Signal, Upstream, cbfc};
use crate::unit::{Bytes, Rate, Span, Time};

/// Parameters of buffer-based GFC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferConfig {
    /// B_m, the queue length that the mapping aims never to reach.
    pub bm: Bytes,
    /// B_1, the queue length at which stage 1 begins.
    pub b1: Bytes,
    /// N, the last stage.
    pub stages: u16,
    /// The queue length above which the sender is held.
    pub hold: Bytes,
    /// The unit in which the rate limiter sets rates.
    pub unit: Rate,
    /// The time without a message after which the present stage is sent again; `None` for never, as
    /// in the paper, where no message is lost.
    pub refresh: Option<Span>,
    /// The time without a message after which a faster stage is told; zero for at once, as in the
    /// paper. A slower stage and the end of a hold are always told at once.
    pub hold_off: Span,
    /// The first stage that is told at once although it is faster: its sender has at most a frame for
    /// the time of the hold-off.
    pub prompt_stage: u16,
}

/// Parameters of time-based GFC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeConfig {
    /// How the rate follows the queue.
    pub mapping: Mapping,
    /// T, the time between two messages.
    pub period: Span,
    /// How the sender learns the free space.
    pub measure: Measure,
    /// The physical buffer, whose free space the message reports.
    pub capacity: Bytes,
}

/// Parameters of conceptual GFC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConceptualConfig {
    /// How the rate follows the queue.
    pub mapping: Mapping,
    /// The feedback latency, from the change of the queue to the change of the sender's rate.
    pub delay: Span,
}

/// How time-based GFC measures the free space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The message carries the free space at the time that it was made, as the proofs assume.
    Message,
    /// The sender computes FCCL - FCTBS, as in the text of the paper; this also subtracts what is
    /// in flight.
    Credit,
}

/// The line through (B_0, C) and (B_m, 0), with a floor above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// B_m, the queue length at which the rate would reach zero.
    pub bm: Bytes,
    /// B_0, the queue length at which the rate begins to fall.
    pub b0: Bytes,
    /// The queue length above which the sender is held.
    pub hold: Bytes,
    /// The lowest rate that the mapping assigns.
    pub floor: Rate,
    /// The unit in which the rate limiter sets rates.
    pub unit: Rate,
}

impl BufferConfig {
    /// The least whole number of bytes at or above B_k = B_m - (B_m - B_1) / 2^(k-1).
    //= gfc19 4.2 eq 5
    pub fn threshold(&self, stage: u16) -> Bytes {
        assert!(stage >= 1, "stage 0 has no lower threshold");
        let width = self.bm.get() - self.b1.get();
        Bytes::new(self.bm.get() - width.checked_shr(u32::from(stage) - 1).unwrap_or(0))
    }

    /// The stage of a queue of `held` bytes; `stages + 1` means hold.
    pub fn stage(&self, held: Bytes) -> u16 {
        if held > self.hold {
            return self.stages + 1;
        }
        if held < self.b1 {
            return 0;
        }
        let left = self.bm.get().saturating_sub(held.get());
        if left == 0 {
            return self.stages;
        }
        // k is the largest with width / 2^(k-1) >= left.
        let width = self.bm.get() - self.b1.get();
        let stage = (width / left).ilog2() as u16 + 1;
        stage.min(self.stages)
    }

    /// The rate of a stage, R_k = C / 2^k.
    //= gfc19 4.2 eq 4
    pub fn rate(&self, stage: u16, line: Rate) -> Rate {
        let stage = u32::from(stage.min(self.stages));
        let bps = line.as_bps().checked_shr(stage).unwrap_or(0).max(1);
        Rate::bps(bps.max(self.unit.as_bps()).min(line.as_bps()))
    }
}

impl Mapping {
    /// The rate for a queue of `held` bytes, `None` when the sender is to be held.
    //= gfc19 4.1 mapping
    pub fn rate(&self, held: Bytes, line: Rate) -> Option<Rate> {
        if held > self.hold {
            return None;
        }
        let left = self.bm.saturating_sub(held).get();
        let width = self.bm.get() - self.b0.get();
        if left >= width {
            return Some(line);
        }
        let bps = u128::from(line.as_bps()) * u128::from(left) / u128::from(width);
        let bps = (bps as u64).max(self.floor.as_bps()).min(line.as_bps());
        Rate::new(bps)
    }
}

/// The sender's half of all three variants.
#[derive(Clone, Debug)]
pub struct GfcUpstream {
    limiter: Limiter,
    held: bool,
    /// The variant, boxed because the packet path does not need it.
    scheme: Box<Scheme>,
    line: Rate,
    fctbs: u32,
    resumes: u32,
}

#[derive(Clone, Debug)]
enum Scheme {
    Buffer(BufferConfig),
    Time(TimeConfig),
    Conceptual(ConceptualConfig),
}

impl GfcUpstream {
    /// The half for a link whose far end runs buffer-based GFC.
    pub fn buffer(config: &BufferConfig, line: Rate) -> GfcUpstream {
        GfcUpstream::new(Scheme::Buffer(*config), line, config.unit)
    }

    /// The half for a link whose far end runs time-based GFC.
    pub fn time(config: &TimeConfig, line: Rate) -> GfcUpstream {
        GfcUpstream::new(Scheme::Time(*config), line, config.mapping.unit)
    }

    /// The half for a link whose far end runs conceptual GFC.
    pub fn conceptual(config: &ConceptualConfig, line: Rate) -> GfcUpstream {
        GfcUpstream::new(Scheme::Conceptual(*config), line, config.mapping.unit)
    }

    fn new(scheme: Scheme, line: Rate, unit: Rate) -> GfcUpstream {
        let limiter = Limiter::new(line, unit);
        GfcUpstream { scheme: Box::new(scheme), line, limiter, held: false, fctbs: 0, resumes: 0 }
    }

    /// The rate that a signal assigns, or `None` inside to hold the sender. Signals of other
    /// schemes assign nothing.
    fn asked(&self, signal: Signal) -> Option<Option<Rate>> {
        match (&*self.scheme, signal) {
            (Scheme::Buffer(config), Signal::Stage(stage)) => {
                Some((stage <= config.stages).then(|| config.rate(stage, self.line)))
            }
            (Scheme::Time(config), Signal::Free(free)) => {
                let held = config.capacity.saturating_sub(free);
                Some(config.mapping.rate(held, self.line))
            }
            (Scheme::Time(config), Signal::Credit { fccl, .. }) => {
                // More blocks sent than granted make a large difference modulo 2^32: nothing is
                // free.
                let blocks = fccl.wrapping_sub(self.fctbs) as i32;
                let free = cbfc::BLOCK * u64::from(blocks.max(0).unsigned_abs());
                let held = config.capacity.saturating_sub(free);
                Some(config.mapping.rate(held, self.line))
            }
            (Scheme::Conceptual(config), Signal::Level(held)) => {
                Some(config.mapping.rate(held, self.line))
            }
            _ => None,
        }
    }
}

impl Upstream for GfcUpstream {
    fn on_signal(&mut self, now: Time, signal: Signal) {
        let Some(asked) = self.asked(signal) else {
            return;
        };
        if let Some(rate) = asked {
            self.limiter.assign(now, rate);
        }
        if self.held && asked.is_some() {
            self.resumes = self.resumes.wrapping_add(1);
        }
        self.held = asked.is_none();
    }

    #[inline]
    fn on_transmit(&mut self, now: Time, size: Bytes) {
        self.fctbs = self.fctbs.wrapping_add(cbfc::blocks(size) as u32);
        self.limiter.on_transmit(now, size);
    }

    #[inline]
    fn gate(&self, now: Time, _size: Bytes) -> Gate {
        if self.held {
            return Gate::Closed;
        }
        let ready = self.limiter.ready();
        if now < ready { Gate::At(ready) } else { Gate::Open }
    }

    #[inline]
    fn is_stopped(&self, _now: Time, _size: Bytes) -> bool {
        self.held
    }

    fn rate(&self, _now: Time) -> Option<Rate> {
        (!self.held).then(|| self.limiter.rate())
    }

    fn resumes(&self) -> u32 {
        match &*self.scheme {
            Scheme::Time(config) if config.measure == Measure::Credit => 0,
            _ => self.resumes,
        }
    }

    fn complete(&self, signal: Signal) -> Signal {
        signal.counting(self.fctbs)
    }
}

/// Counts how often a held sender was released, for the variants that hold.
#[derive(Clone, Copy, Debug)]
struct Hold {
    announced: bool,
    resumes: u32,
    resumed_at: Time,
}

impl Hold {
    const NEVER: Hold = Hold { announced: false, resumes: 0, resumed_at: Time::ZERO };

    fn tell(&mut self, now: Time, hold: bool) {
        if self.announced && !hold {
            self.resumes = self.resumes.wrapping_add(1);
            self.resumed_at = now;
        }
        self.announced = hold;
    }
}

/// The receiver's half of buffer-based GFC.
#[derive(Clone, Debug)]
pub struct BufferDownstream {
    config: Box<BufferConfig>,
    stage: u16,
    announced: u16,
    /// The range of queue lengths of `stage`: one comparison on the packet path.
    range: (Bytes, Bytes),
    /// When the stage is sent again; [`Time::MAX`] for never.
    refresh_at: Time,
    /// Until when no faster stage is told; [`Time::ZERO`] once that instant has been handled.
    quiet_until: Time,
    hold: Hold,
}

impl BufferDownstream {
    /// The half of an empty queue.
    pub fn new(config: &BufferConfig) -> BufferDownstream {
        let mut half = BufferDownstream {
            config: Box::new(*config),
            stage: 0,
            announced: 0,
            range: (Bytes::ZERO, Bytes::ZERO),
            refresh_at: Time::MAX,
            quiet_until: Time::ZERO,
            hold: Hold::NEVER,
        };
        half.enter(0);
        half.rearm(Time::ZERO);
        half
    }

    fn enter(&mut self, stage: u16) {
        let config = &self.config;
        self.stage = stage;
        let above_hold = config.hold + Bytes::new(1);
        let low = match stage {
            0 => Bytes::ZERO,
            k if k > config.stages => above_hold,
            k => config.threshold(k),
        };
        let high = match stage {
            k if k < config.stages => config.threshold(k + 1).min(above_hold),
            k if k == config.stages => above_hold,
            _ => Bytes::MAX,
        };
        self.range = (low, high);
    }

    /// Sets the refresh and the hold-off after a message, or at the beginning.
    fn rearm(&mut self, now: Time) {
        let again = |refresh| now.saturating_add(refresh);
        self.refresh_at = self.config.refresh.map_or(Time::MAX, again);
        let hold_off = self.config.hold_off;
        let has_faster = (1..=self.config.stages).contains(&self.announced);
        let is_quiet = has_faster && hold_off > Span::ZERO;
        self.quiet_until = if is_quiet { again(hold_off) } else { Time::ZERO };
    }

    /// Whether the stage, which is not the one that was told last, may be told now.
    fn may_tell(&self, now: Time) -> bool {
        self.stage > self.announced
            || self.stage >= self.config.prompt_stage
            || now >= self.quiet_until
    }

    /// The queue lengths of the stage that was told, see [`super::AnyDownstream::quiet`].
    #[inline]
    pub(super) fn quiet(&self) -> (Bytes, Bytes) {
        // Where B_1 is zero, not even an empty queue is in the first stage.
        if self.stage == self.announced && self.range.1 > Bytes::ZERO {
            (self.range.0, self.range.1 - Bytes::new(1))
        } else {
            super::AnyDownstream::LOUD
        }
    }

    #[inline]
    fn follow(&mut self, held: Bytes) {
        if held < self.range.0 || held >= self.range.1 {
            self.enter(self.config.stage(held));
        }
    }
}

impl Downstream for BufferDownstream {
    #[inline]
    fn on_enqueue(&mut self, _now: Time, _size: Bytes, held: Bytes) {
        self.follow(held);
    }

    #[inline]
    fn on_dequeue(&mut self, _now: Time, _size: Bytes, held: Bytes) {
        self.follow(held);
    }

    #[inline]
    fn has_signal(&self, now: Time) -> bool {
        self.stage != self.announced && self.may_tell(now) || now >= self.refresh_at
    }

    fn poll_signal(&mut self, now: Time) -> Option<Signal> {
        if !self.has_signal(now) {
            return None;
        }
        self.announced = self.stage;
        self.hold.tell(now, self.stage > self.config.stages);
        self.rearm(now);
        Some(Signal::Stage(self.stage))
    }

    fn poll_timeout(&self) -> Option<Time> {
        let quiet_until = Some(self.quiet_until).filter(|time| *time != Time::ZERO);
        let due = quiet_until.map_or(self.refresh_at, |time| time.min(self.refresh_at));
        (due != Time::MAX).then_some(due)
    }

    fn handle_timeout(&mut self, now: Time) {
        if now >= self.quiet_until {
            self.quiet_until = Time::ZERO;
        }
    }

    fn keeps_blocked(&self, kept: Bytes, _head: Bytes) -> bool {
        // The end of a hold is told at once, so nothing but the queue keeps it.
        self.hold.announced && kept > self.config.hold
    }

    fn resumes(&self) -> u32 {
        self.hold.resumes
    }

    fn resumed_at(&self) -> Time {
        self.hold.resumed_at
    }
}

/// The receiver's half of time-based GFC: says every `period` how many bytes are free, by a message or
/// by credits.
#[derive(Clone, Debug)]
pub struct TimeDownstream {
    config: Box<TimeConfig>,
    held: Bytes,
    abr: u32,
    next: Time,
    hold: Hold,
}

impl TimeDownstream {
    /// The half of an empty queue, whose first message leaves after `phase`.
    pub fn new(config: &TimeConfig, phase: Span) -> TimeDownstream {
        TimeDownstream {
            config: Box::new(*config),
            held: Bytes::ZERO,
            abr: 0,
            next: Time::ZERO + phase,
            hold: Hold::NEVER,
        }
    }

    /// Makes a message due now, and the others one period after the other.
    pub(super) fn restart(&mut self, now: Time) {
        self.next = now;
    }
}

impl Downstream for TimeDownstream {
    #[inline]
    fn on_enqueue(&mut self, _now: Time, size: Bytes, held: Bytes) {
        self.held = held;
        self.abr = self.abr.wrapping_add(cbfc::blocks(size) as u32);
    }

    #[inline]
    fn on_dequeue(&mut self, _now: Time, _size: Bytes, held: Bytes) {
        self.held = held;
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
            self.next = self.next + self.config.period;
        }
        self.hold.tell(now, self.held > self.config.mapping.hold);
        let free = self.config.capacity.saturating_sub(self.held);
        Some(match self.config.measure {
            Measure::Message => Signal::Free(free),
            Measure::Credit => {
                let blocks = (free.get() / cbfc::BLOCK.get()) as u32;
                let fccl = self.abr.wrapping_add(blocks);
                Signal::Credit { fctbs: 0, fccl }
            }
        })
    }

    fn poll_timeout(&self) -> Option<Time> {
        Some(self.next)
    }

    fn keeps_blocked(&self, kept: Bytes, _head: Bytes) -> bool {
        match self.config.measure {
            Measure::Message => self.hold.announced && kept > self.config.mapping.hold,
            Measure::Credit => {
                // As for credits: when everything else has left, this is the most that is ever
                // granted.
                let block = cbfc::BLOCK.get();
                let free = self.config.capacity.saturating_sub(kept).get() / block * block;
                self.config.capacity - Bytes::new(free) > self.config.mapping.hold
            }
        }
    }

    fn resumes(&self) -> u32 {
        match self.config.measure {
            Measure::Message => self.hold.resumes,
            // The sender also counts what is in flight, so it is held and released without a
            // message; but no message on its way can grant more than `keeps_blocked` allows for.
            Measure::Credit => 0,
        }
    }

    fn resumed_at(&self) -> Time {
        self.hold.resumed_at
    }

    fn on_peer_signal(&mut self, signal: Signal) {
        if let Signal::Credit { fctbs, .. } = signal {
            self.abr = fctbs;
        }
    }

    fn on_discard(&mut self, size: Bytes) {
        self.abr = self.abr.wrapping_add(cbfc::blocks(size) as u32);
    }
}

/// The receiver's half of conceptual GFC, which reports every change of the queue.
#[derive(Clone, Debug)]
pub struct ConceptualDownstream {
    config: Box<ConceptualConfig>,
    held: Bytes,
    announced: Bytes,
    hold: Hold,
}

impl ConceptualDownstream {
    /// The half of an empty queue.
    pub fn new(config: &ConceptualConfig) -> ConceptualDownstream {
        ConceptualDownstream {
            config: Box::new(*config),
            held: Bytes::ZERO,
            announced: Bytes::ZERO,
            hold: Hold::NEVER,
        }
    }
}

impl Downstream for ConceptualDownstream {
    fn on_enqueue(&mut self, _now: Time, _size: Bytes, held: Bytes) {
        self.held = held;
    }

    fn on_dequeue(&mut self, _now: Time, _size: Bytes, held: Bytes) {
        self.held = held;
    }

    fn has_signal(&self, _now: Time) -> bool {
        self.held != self.announced
    }

    fn poll_signal(&mut self, now: Time) -> Option<Signal> {
        if !self.has_signal(now) {
            return None;
        }
        self.announced = self.held;
        self.hold.tell(now, self.held > self.config.mapping.hold);
        Some(Signal::Level(self.held))
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    fn keeps_blocked(&self, kept: Bytes, _head: Bytes) -> bool {
        self.hold.announced && kept > self.config.mapping.hold
    }

    fn resumes(&self) -> u32 {
        self.hold.resumes
    }

    fn resumed_at(&self) -> Time {
        self.hold.resumed_at
    }
}

#[cfg(test)]
mod tests;
