//! QCN.
use super::{Feedback, QueueState, Sent};
use crate::unit::{Bytes, Rate, Span, Time};

/// Parameters of QCN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Q_eq, the queue that the congestion point aims at.
    pub queue_set_point: Bytes,
    /// w, the weight of the queue's growth.
    pub weight: f64,
    /// The bytes between two samples when there is no congestion.
    pub sample_base: Bytes,
    /// Gd.
    pub gd: f64,
    /// The least factor of one decrease.
    pub decrease_factor_min: f64,
    /// BC, bytes sent per stage.
    pub byte_reset: Bytes,
    /// T_rp, time per stage.
    pub time_reset: Span,
    /// F, stages of fast recovery.
    pub threshold: u32,
    /// R_AI.
    pub rate_ai: Rate,
    /// R_HAI.
    pub rate_hai: Rate,
    /// The least rate.
    pub rate_min: Rate,
    /// The speed that R_AI and R_HAI are for, if they are to be scaled with the link's own.
    pub reference: Option<Rate>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            queue_set_point: Bytes::new(26_000),
            weight: 2.0,
            sample_base: Bytes::new(150_000),
            gd: 1.0 / 128.0,
            decrease_factor_min: 0.5,
            byte_reset: Bytes::new(150_000),
            time_reset: Span::ms(15),
            threshold: 5,
            rate_ai: Rate::mbps(5),
            rate_hai: Rate::mbps(50),
            rate_min: Rate::mbps(5),
            reference: None,
        }
    }
}

/// Congestion point.
#[derive(Clone, Debug)]
pub struct CongestionPoint;

impl CongestionPoint {
    /// With an empty queue.
    pub fn new(_config: &Config, _seed: u64) -> CongestionPoint {
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
