//! PCN.
use super::{Feedback, QueueState, Received, Sent};
use crate::unit::{Bytes, Rate, Span, Time};

/// Parameters of PCN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// T, the time between two notifications of a flow.
    pub period: Span,
    /// The smallest weight of an increase, and the margin of a decrease.
    pub w_min: f64,
    /// What the weight tends to.
    pub w_max: f64,
    /// The least rate.
    pub rate_min: Rate,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            period: Span::us(50),
            w_min: 1.0 / 128.0,
            w_max: 0.5,
            rate_min: Rate::mbps(1),
        }
    }
}

/// Congestion point.
#[derive(Clone, Debug)]
pub struct CongestionPoint;

impl CongestionPoint {
    /// With an empty queue.
    pub fn new() -> CongestionPoint {
        CongestionPoint
    }
}

impl super::CongestionPoint for CongestionPoint {
    fn on_enqueue(&mut self, _: Time, _: Bytes, _: QueueState) -> Option<Feedback> {
        None
    }
    fn on_dequeue(&mut self, _: Time, _: Bytes, _: QueueState) -> bool {
        false
    }
    fn on_release(&mut self, _: Time, _: QueueState) {}
}

/// Notification point.
#[derive(Clone, Debug)]
pub struct NotificationPoint;

impl NotificationPoint {
    /// Before the first packet.
    pub fn new(_config: &Config) -> NotificationPoint {
        NotificationPoint
    }
}

impl super::NotificationPoint for NotificationPoint {
    fn on_packet(&mut self, _: Time, _: Received) -> Option<Feedback> {
        None
    }
    fn poll_timeout(&self) -> Time {
        Time::MAX
    }
    fn handle_timeout(&mut self, _: Time) -> Option<Feedback> {
        None
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
