//! DCTCP: sources cut by the share of their packets that was marked.
//!
//! **Models** the step that marks above one threshold, and a source that estimates the share of marked
//! packets, alpha, cuts by alpha/2 at most once per window, and adds one packet per window otherwise.
//! Acknowledgements say of every packet whether it was marked.
//!
//! **Source** rfc8257 section 3; dctcp10 for the threshold.
//!
//! **Deviates** It is the rate form: what is cut and raised is the rate R, as in mode 8 of the HPCC
//! authors' public simulator, and one packet per window is one packet per round trip without queues.
//! With a window that follows the rate
//! ([`Window::FollowsRate`](crate::transport::Window::FollowsRate)), which is the default, R stands for
//! RFC 8257's window of R times that round trip: where a queue makes round trips longer, the window
//! holds the source back, not the pace. No window is larger than that of the line rate. There is no
//! slow start: a flow begins at its initial rate. Alpha counts packets, not bytes, and a lost packet
//! cuts nothing.
//!
//! **States** two stretches of the sequence numbers, each one window long:
//! ```text
//!   observed window:  acked, marked --its end is acknowledged--> alpha = (1 - g) alpha + g marked/acked
//!   open --mark: R = R (1 - alpha/2)--> reduced --what was sent before the cut is acknowledged--> open
//!   an observed window that ends while open: R = R + one packet per round trip
//! ```
//!
//! **Not modelled** delayed acknowledgements with their extra state (RFC 8257 section 3.2), slow start,
//! retransmission timeouts, packets that cannot be marked.

use super::marking::{self, MarkAt};
use super::{Bounds, Feedback, Sent, Sequence};
use crate::unit::{Bytes, Rate, Span, Time};

/// The parameters of DCTCP, for switches and sources.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// K, the queue length above which packets are marked.
    pub k: Bytes,
    /// Whether packets are marked as they arrive in the queue or as they leave it.
    pub mark_at: MarkAt,
    /// g, the gain of alpha.
    pub g: f64,
    /// The value of alpha at the start.
    pub alpha_initial: f64,
    /// The step of the rate per window without a cut; `None` for one packet per round trip.
    pub rate_ai: Option<Rate>,
    /// The rate below which no cut brings a flow.
    pub rate_min: Rate,
}

impl Default for Config {
    /// K is 65 packets of 1500 B, as the paper recommends for 10 Gb/s.
    //= rfc8257 4.2 defaults
    //= dctcp10 3.5 threshold
    fn default() -> Config {
        Config {
            k: Bytes::new(97_500),
            mark_at: MarkAt::Arrival,
            g: 1.0 / 16.0,
            alpha_initial: 1.0,
            rate_ai: None,
            rate_min: Rate::mbps(100),
        }
    }
}

impl Config {
    /// The parameters of the switches: a step at K.
    //= rfc8257 3.1 marking
    pub fn marking(&self) -> marking::Config {
        marking::Config {
            kmin: self.k,
            kmax: self.k,
            pmax: 1.0,
            reference: None,
            phantom: None,
            mark_at: self.mark_at,
            levels: Default::default(),
        }
    }
}

/// The sender's half: cuts the rate by the share of marked packets.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    bounds: Bounds,
    g: f64,
    /// The step of the rate, if it is not one packet per round trip.
    rate_ai: Option<f64>,
    /// The round-trip time without queues, in seconds.
    round_trip: f64,
    rate: f64,
    alpha: f64,
    /// The largest packet that was sent.
    packet: Bytes,
    /// The number of the packet that is sent next.
    next: Sequence,
    /// The packet whose acknowledgement ends the observed window.
    window_end: Sequence,
    /// The acknowledgements in the observed window, and those among them of marked packets.
    acked: u32,
    marked: u32,
    /// After a cut, the packet whose acknowledgement lets the rate change again.
    reduced_until: Option<Sequence>,
}

impl ReactionPoint {
    /// A source that starts at its initial rate. Panics if neither the step nor the round-trip time
    /// is known.
    pub fn new(config: &Config, source: super::Source) -> ReactionPoint {
        assert!(
            config.rate_ai.is_some() || source.round_trip > Span::ZERO,
            "one packet per round trip needs a round-trip time"
        );
        let bounds = Bounds::new(config.rate_min, source.line);
        ReactionPoint {
            bounds,
            g: config.g,
            rate_ai: config.rate_ai.map(|rate| rate.as_bps() as f64),
            round_trip: source.round_trip.as_ps() as f64 * 1e-12,
            rate: bounds.limit(source.initial.as_bps() as f64),
            alpha: config.alpha_initial,
            packet: Bytes::ZERO,
            next: Sequence::default(),
            // The first acknowledgement ends the first window.
            window_end: Sequence::default(),
            acked: 0,
            marked: 0,
            reduced_until: None,
        }
    }

    /// The estimate of the share of marked packets, from 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Handles the acknowledgement of packet `sequence`.
    fn on_ack(&mut self, sequence: Sequence, is_marked: bool) {
        self.acked += 1;
        self.marked += u32::from(is_marked);
        let is_window_over = sequence.is_from(self.window_end);
        if is_window_over {
            //= rfc8257 3.3 alpha
            let share = f64::from(self.marked) / f64::from(self.acked);
            self.alpha = (1.0 - self.g) * self.alpha + self.g * share;
            (self.acked, self.marked) = (0, 0);
            self.window_end = self.end_of_window(sequence);
        }
        if self.reduced_until.is_some_and(|end| sequence.is_from(end)) {
            self.reduced_until = None;
        }
        if self.reduced_until.is_some() {
            return;
        }
        if is_marked {
            // The rate is cut once per window of data.
            //= rfc8257 3.3 cut
            self.rate = self.bounds.limit(self.rate * (1.0 - self.alpha / 2.0));
            self.reduced_until = Some(self.end_of_window(sequence));
        } else if is_window_over {
            //= rfc8257 3.3 increase
            self.rate = self.bounds.limit(self.rate + self.step());
        }
    }

    /// The first packet that is not sent yet, or, after going back to an earlier packet, the one
    /// behind `sequence`.
    fn end_of_window(&self, sequence: Sequence) -> Sequence {
        if self.next.is_from(sequence.next()) { self.next } else { sequence.next() }
    }

    /// The step of the rate, in bit/s.
    fn step(&self) -> f64 {
        let packet = self.packet.get() as f64 * 8.0;
        self.rate_ai.unwrap_or_else(|| packet / self.round_trip)
    }
}

impl super::ReactionPoint for ReactionPoint {
    #[inline]
    fn on_send(&mut self, _now: Time, packet: Sent) {
        self.next = packet.sequence.next();
        self.packet = self.packet.max(packet.size);
    }

    fn on_feedback(&mut self, _now: Time, feedback: Feedback) {
        match feedback {
            Feedback::Ack { sequence, is_marked, .. } => self.on_ack(sequence, is_marked),
            Feedback::Nack { expected, is_marked, .. } => {
                self.on_ack(expected.previous(), is_marked)
            }
            _ => {}
        }
    }

    #[inline]
    fn rate(&self) -> Rate {
        self.bounds.rate(self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::super::telemetry::Echo;
    use super::super::{CongestionPoint, Joining, QueueState, ReactionPoint as _, Source};
    use super::*;

    const LINE: Rate = Rate::gbps(10);

    /// A source 100 us from its target and back: 1000 B per round trip are 80 Mb/s.
    fn source(config: Config) -> ReactionPoint {
        let source = Source { line: LINE, initial: Rate::gbps(8), round_trip: Span::us(100) };
        ReactionPoint::new(&config, source)
    }

    fn send(point: &mut ReactionPoint, numbers: core::ops::Range<u32>) {
        for number in numbers {
            let packet = Sent { size: Bytes::new(1_000), sequence: Sequence(number) };
            point.on_send(Time::ZERO, packet);
        }
    }

    fn acknowledge(point: &mut ReactionPoint, number: u32, is_marked: bool) {
        let ack = Feedback::Ack { sequence: Sequence(number), is_marked, echo: Echo::NONE };
        point.on_feedback(Time::ZERO, ack);
    }

    /// A source that has seen the end of its first window, which is one packet long, and sends
    /// 1 to 4.
    fn after_first_window() -> ReactionPoint {
        let mut point = source(Config::default());
        send(&mut point, 0..1);
        acknowledge(&mut point, 0, false);
        send(&mut point, 1..5);
        point
    }

    /// With g = 1/16: 15/16 * 1 + 1/16 * 0 = 0.9375. The next window ends with packet 1, the one after
    /// that with packet 5, and 2 of the packets 2 to 5 are marked:
    /// 15/16 * 0.9375 = 0.87890625, then 15/16 * 0.87890625 + 1/16 * 2/4 = 0.855224609375.
    //= rfc8257 3.3 alpha type=test
    #[test]
    fn alpha_follows_the_share_of_marked_packets_once_per_window() {
        let mut point = after_first_window();
        assert_eq!(point.alpha(), 0.9375);
        acknowledge(&mut point, 1, false);
        assert_eq!(point.alpha(), 0.87890625);
        send(&mut point, 5..10);
        for (number, is_marked) in [(2, true), (3, false), (4, true)] {
            acknowledge(&mut point, number, is_marked);
            assert_eq!(point.alpha(), 0.87890625);
        }
        acknowledge(&mut point, 5, false);
        assert_eq!(point.alpha(), 0.855224609375);
    }

    /// Packet 1 ends a window, of which it is all: alpha is 15/16 * 0.9375 + 1/16 = 0.94140625, and
    /// the cut leaves 8080 Mb/s * (1 - 0.94140625/2). What was sent before the cut, packets 2 to 4,
    /// cuts no more; packet 5, sent after it, ends a window of marked packets and does: alpha is
    /// 15/16 * 0.94140625 + 1/16 = 0.945068359375.
    //= rfc8257 3.3 cut type=test
    #[test]
    fn marks_cut_by_half_of_alpha_once_per_window() {
        let mut point = after_first_window();
        assert_eq!(point.rate(), Rate::mbps(8_080));
        acknowledge(&mut point, 1, true);
        let cut = 8.08e9 * (1.0 - 0.94140625 / 2.0);
        assert_eq!(point.rate(), Rate::bps(cut as u64));
        send(&mut point, 5..6);
        for number in 2..5 {
            acknowledge(&mut point, number, true);
            assert_eq!(point.rate(), Rate::bps(cut as u64));
        }
        acknowledge(&mut point, 5, true);
        assert_eq!(point.alpha(), 0.945068359375);
        let twice = cut * (1.0 - 0.945068359375 / 2.0);
        assert_eq!(point.rate(), Rate::bps((twice + 0.5) as u64));
    }

    //= rfc8257 3.3 increase type=test
    #[test]
    fn windows_without_marks_add_one_packet_per_round_trip() {
        let mut point = after_first_window();
        acknowledge(&mut point, 1, false);
        assert_eq!(point.rate(), Rate::mbps(8_160));
        // Packets 2 to 4 belong to the next window.
        for number in 2..5 {
            acknowledge(&mut point, number, false);
        }
        assert_eq!(point.rate(), Rate::mbps(8_160));
        send(&mut point, 5..6);
        acknowledge(&mut point, 5, false);
        assert_eq!(point.rate(), Rate::mbps(8_240));
        // A given step instead, up to the line.
        let rate_ai = Some(Rate::gbps(1));
        let mut point = source(Config { rate_ai, ..Config::default() });
        for (number, gbps) in [(0, 9), (1, 10), (2, 10)] {
            send(&mut point, number..number + 1);
            acknowledge(&mut point, number, false);
            assert_eq!(point.rate(), Rate::gbps(gbps));
        }
    }

    #[test]
    fn a_source_that_goes_back_still_has_windows() {
        let mut point = after_first_window();
        // Packet 1 is missing and sent again, and then all up to 4 turn out to have arrived.
        let nack = Feedback::Nack { expected: Sequence(1), is_marked: false, echo: Echo::NONE };
        point.on_feedback(Time::ZERO, nack);
        send(&mut point, 1..2);
        acknowledge(&mut point, 4, false);
        assert_eq!(point.rate(), Rate::mbps(8_160));
        // That window ends with packet 5, not with every repetition of what is known.
        acknowledge(&mut point, 4, false);
        assert_eq!(point.rate(), Rate::mbps(8_160));
    }

    //= rfc8257 4.2 defaults type=test
    //= dctcp10 3.5 threshold type=test
    #[test]
    fn defaults_are_those_of_the_standard_and_the_paper() {
        let config = Config::default();
        assert_eq!((config.g, config.alpha_initial), (0.0625, 1.0));
        assert_eq!(config.k, Bytes::new(65 * 1_500));
    }

    //= rfc8257 3.1 marking type=test
    #[test]
    fn packets_that_find_more_than_k_are_marked() {
        let mut marker = marking::Marker::new(&Config::default().marking(), LINE, 1);
        let size = Bytes::new(1_500);
        let queue =
            |packets: u32| QueueState { packets, bytes: size * u64::from(packets), is_held: false };
        // The queue counts the packet that joins: 65 others are no more than K, 66 are.
        let mut join = |packets| marker.on_enqueue(Time::ZERO, size, queue(packets));
        assert_eq!(join(66), Joining::Silent);
        assert_eq!(join(67), Joining::Marked);
    }
}
