//! TIMELY.
use super::{Feedback, Sent};
use crate::unit::{Rate, Span, Time};

/// Parameters of TIMELY.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The weight of a new difference in the moving average.
    pub ewma_weight: f64,
    /// The factor of a decrease.
    pub beta: f64,
    /// Below this round-trip time the rate grows.
    pub t_low: Span,
    /// Above this one it falls.
    pub t_high: Span,
    /// The additive step, for a link of the reference speed.
    pub delta: Rate,
    /// The speed that the step is for, if it is to be scaled with the link's own.
    pub reference: Option<Rate>,
    /// The network's smallest round-trip time, which gradients are measured in.
    pub min_rtt: Span,
    /// After so many negative differences in a row the step is `hai_factor` times as large.
    pub hai_threshold: u32,
    /// See `hai_threshold`.
    pub hai_factor: f64,
    /// The least rate.
    pub rate_min: Rate,
    /// The patched version's middle branch.
    pub is_patched: bool,
}

impl Config {
    /// The authors' snippet for pacing per packet, in a network with this smallest round-trip time.
    pub fn per_packet(min_rtt: Span) -> Config {
        Config {
            ewma_weight: 0.02,
            beta: 0.8,
            t_low: Span::ZERO,
            t_high: Span::ms(1),
            delta: Rate::mbps(10),
            reference: Some(Rate::gbps(10)),
            min_rtt,
            hai_threshold: 5,
            hai_factor: 5.0,
            rate_min: Rate::mbps(10),
            is_patched: false,
        }
    }
}

/// Reaction point.
#[derive(Clone, Debug)]
pub struct ReactionPoint {
    rate: Rate,
}

impl ReactionPoint {
    /// On a link of rate `line`, starting at `initial`.
    pub fn new(_config: &Config, _line: Rate, initial: Rate) -> ReactionPoint {
        ReactionPoint { rate: initial }
    }
}

impl super::ReactionPoint for ReactionPoint {
    fn on_send(&mut self, _: Time, _: Sent) {}
    fn on_feedback(&mut self, _: Time, _: Feedback) {}
    fn rate(&self) -> Rate {
        self.rate
    }
    fn poll_timeout(&self) -> Time {
        Time::MAX
    }
    fn handle_timeout(&mut self, _: Time) {}
}
