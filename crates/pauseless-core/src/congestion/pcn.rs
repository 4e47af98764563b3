//! Photonic congestion notification: tells flows that cause congestion from flows that suffer it.
//!
//! **Models** the marking of packets that nobody paused (NP-ECN) in switches, the receiver that
//! reports every flow's receiving rate, and the source that falls to that rate at once and
//! rises gently at first and then aggressively.
//!
//! **Source** pcn20 section 5; misprints resolved as in the comments below.
//!
//! **Deviates** The congestion point has a rule for flow controls that slow a queue down instead
//! of stopping it, which the paper does not know: a packet that leaves while the far end holds its
//! queue back has waited because of the far end, and is not marked. The rate has a floor. A pause
//! that runs out by itself, without a RESUME, is noticed when its class is next chosen.
//!
//! **States** of the congestion point, where PN counts the packets that waited for a release:
//! ```text
//!                 release: PN := packets waiting
//!   PN = 0: mark if -----------------------------> PN > 0: no marks,
//!   one waits behind <----------------------------- PN -= 1 per packet
//!                         PN has come to 0
//! ```
//! The notification point counts n packets, m of them marked, in windows of length T that begin
//! with the flow's first packet and follow each other without gaps:
//! ```text
//!   n = 0, no timer --packet--> n > 0, timer at the window's end --timer--> feedback, n = 0
//! ```
//! The reaction point has a rate and the weight w of the next increase, from w_min towards w_max.
//!
//! **Not modelled** lost notifications. Windows in which nothing arrived are not counted one by
//! one: the next packet finds its window by division, so that an idle flow costs nothing.

use super::{Bounds, Feedback, QueueState, Received};
use crate::unit::{Bytes, Rate, Span, Time};

/// The parameters of PCN, for targets and sources.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// T, the time between two notifications of a flow.
    pub period: Span,
    /// The smallest weight of an increase, and the margin of a decrease.
    pub w_min: f64,
    /// The limit that the weight tends to.
    pub w_max: f64,
    /// The rate below which no notification brings a flow.
    pub rate_min: Rate,
}

impl Default for Config {
    //= pcn20 5.2 period
    //= pcn20 5.3 weights
    fn default() -> Config {
        Config { period: Span::us(50), w_min: 1.0 / 128.0, w_max: 0.5, rate_min: Rate::mbps(1) }
    }
}

/// Marks the packets that have not waited for a release and leave others waiting behind them.
#[derive(Clone, Debug, Default)]
pub struct CongestionPoint {
    /// PN, the packets still in the queue that waited for a release.
    paused: u32,
}

impl CongestionPoint {
    /// The congestion point of an empty queue.
    pub fn new() -> CongestionPoint {
        CongestionPoint::default()
    }
}

impl super::CongestionPoint for CongestionPoint {
    #[inline]
    fn on_dequeue(&mut self, _now: Time, _size: Bytes, queue: QueueState) -> bool {
        if queue.is_held {
            return false;
        }
        //= pcn20 5.1 paused
        if self.paused > 0 {
            self.paused -= 1;
            return false;
        }
        // A threshold of zero means that another packet waits behind. Counting the packet itself
        // would mark everything at an idle port, which must never be marked.
        //= pcn20 5.1 threshold
        queue.packets > 0
    }

    fn on_release(&mut self, _now: Time, queue: QueueState) {
        // Packets counted at an earlier release are still in the queue, so the count is replaced,
        // not increased.
        //= pcn20 5.1 release
        self.paused = queue.packets;
    }
}

/// Reports to the source every T whether the flow is congested and how fast it arrives.
#[derive(Clone, Debug)]
pub struct NotificationPoint {
    period: Span,
    /// When the present window began.
    begin: Time,
    /// When the last packet arrived.
    last: Option<Time>,
    /// The time from the last packet before the window to the first one inside it.
    gap: Span,
    /// n, the packets that arrived in the window.
    packets: u64,
    /// m, how many of them were marked.
    marked: u64,
    /// b, the frame bytes of all of them.
    bytes: Bytes,
}

impl NotificationPoint {
    /// A notification point before the first packet. Panics if T is zero.
    pub fn new(config: &Config) -> NotificationPoint {
        assert!(config.period > Span::ZERO, "T is zero");
        NotificationPoint {
            period: config.period,
            begin: Time::ZERO,
            last: None,
            gap: Span::ZERO,
            packets: 0,
            marked: 0,
            bytes: Bytes::ZERO,
        }
    }

    /// When the window of the packets counted so far ends.
    fn end(&self) -> Time {
        self.begin.saturating_add(self.period)
    }

    /// Makes the report of the window and starts to count anew.
    fn close(&mut self) -> Feedback {
        let packets = core::mem::take(&mut self.packets);
        let marked = core::mem::take(&mut self.marked);
        let bytes = core::mem::take(&mut self.bytes);
        // A flow of less than one packet per window is measured by the gap before its packet. Only
        // a single packet is: a burst after a break would seem absurdly slow.
        //= pcn20 5.2 inter-arrival
        let span = if packets == 1 { self.period.max(self.gap) } else { self.period };
        //= pcn20 5.2 congested
        let is_congested = 100 * marked >= 95 * packets;
        let rate_mbps = rate_mbps(bytes, span);
        Feedback::Receiving { is_congested, rate_mbps }
    }

    /// Opens the window that contains `now`, counted in periods from the first one.
    fn open(&mut self, now: Time) {
        let Some(last) = self.last else {
            self.begin = now;
            return;
        };
        self.gap = now.saturating_since(last);
        let passed = now.saturating_since(self.begin).as_ps() / self.period.as_ps();
        self.begin = self.begin + self.period * passed;
    }
}

/// Bytes per time in whole Mb/s, rounded to the nearest; never zero, because something did arrive.
//= pcn20 5.2 receiving-rate
fn rate_mbps(bytes: Bytes, span: Span) -> u32 {
    // 1 byte per picosecond is 8e12 bit/s, that is 8e6 Mb/s.
    let dividend = u128::from(bytes.get()) * 8_000_000;
    let divisor = u128::from(span.as_ps());
    let nearest = (2 * dividend + divisor) / (2 * divisor);
    u32::try_from(nearest).unwrap_or(u32::MAX).max(1)
}

impl super::NotificationPoint for NotificationPoint {
    /// Handles a packet. One that arrives at the end of a window or later belongs to a later
    /// window; if the timeout of its predecessor was not handled yet, its report is returned here.
    fn on_packet(&mut self, now: Time, packet: Received) -> Option<Feedback> {
        let feedback = self.handle_timeout(now);
        if self.packets == 0 {
            self.open(now);
        }
        self.last = Some(now);
        self.packets += 1;
        self.marked += u64::from(packet.is_marked);
        self.bytes += packet.size;
        feedback
    }

    fn poll_timeout(&self) -> Time {
        if self.packets == 0 {
            return Time::MAX;
        }
        self.end()
    }

    fn handle_timeout(&mut self, now: Time) -> Option<Feedback> {
        //= pcn20 5.2 silence
        if self.packets == 0 || now < self.end() {
            return None;
        }
        Some(self.close())
    }
}

/// The sender's half: falls to the receiving rate, and rises by a growing share of the way to the
/// line rate.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    w_min: f64,
    w_max: f64,
    bounds: Bounds,
    rate: f64,
    w: f64,
}

impl ReactionPoint {
    /// A source on a link of rate `line` that starts at `initial`.
    pub fn new(config: &Config, line: Rate, initial: Rate) -> ReactionPoint {
        let bounds = Bounds::new(config.rate_min, line);
        ReactionPoint {
            w_min: config.w_min,
            w_max: config.w_max,
            bounds,
            rate: bounds.limit(initial.as_bps() as f64),
            w: config.w_min,
        }
    }

    /// The weight of the next increase.
    pub fn weight(&self) -> f64 {
        self.w
    }
}

impl super::ReactionPoint for ReactionPoint {
    fn on_feedback(&mut self, _now: Time, feedback: Feedback) {
        let Feedback::Receiving { is_congested, rate_mbps } = feedback else {
            return;
        };
        if is_congested {
            // While a queue drains, the flow arrives faster than it is sent: the rate must not
            // rise.
            //= pcn20 5.3 line 6
            let receiving = f64::from(rate_mbps) * 1e6 * (1.0 - self.w_min);
            self.rate = self.bounds.limit(self.rate.min(receiving));
            //= pcn20 5.3 line 7
            self.w = self.w_min;
        } else {
            // The averages of the paper, written so that rounding cannot reverse their order.
            //= pcn20 5.3 line 10
            let increased = self.rate + (self.bounds.line - self.rate) * self.w;
            self.rate = self.bounds.limit(increased);
            //= pcn20 5.3 line 11
            self.w += (self.w_max - self.w) * self.w;
        }
    }

    #[inline]
    fn rate(&self) -> Rate {
        self.bounds.rate(self.rate)
    }
}

#[cfg(test)]
mod tests;
