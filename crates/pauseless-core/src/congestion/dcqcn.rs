//! DCQCN.
use super::{Feedback, Received, Sent, marking};
use crate::unit::{Bytes, Rate, Span, Time};

/// When a CNP makes the target rate follow the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// On every CNP, as in the paper.
    Always,
    /// Only if any stage has advanced since the last cut.
    AfterStage,
    /// Only if the byte counter has advanced since the last cut, as in QCN.
    AfterByteStage,
}

/// Parameters of DCQCN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The switch's part.
    pub marking: marking::Config,
    /// N, at most one CNP per flow in this time.
    pub cnp_interval: Span,
    /// K, alpha decays when no CNP came for this long.
    pub alpha_timer: Span,
    /// alpha at the start.
    pub alpha_initial: f64,
    /// g, the gain of alpha.
    pub g: f64,
    /// T, time per stage.
    pub increase_timer: Span,
    /// B, bytes sent per stage.
    pub byte_counter: Bytes,
    /// F, stages of fast recovery.
    pub threshold: u32,
    /// R_AI.
    pub rate_ai: Rate,
    /// R_HAI.
    pub rate_hai: Rate,
    /// The least rate.
    pub rate_min: Rate,
    /// When the target rate follows the current one.
    pub clamp: Clamp,
    /// The speed that R_AI and R_HAI are for, if they are to be scaled with the link's own.
    pub reference: Option<Rate>,
}

impl Default for Config {
    fn default() -> Config {
        let reference = Some(Rate::gbps(40));
        Config {
            marking: marking::Config {
                kmin: Bytes::kb(5),
                kmax: Bytes::kb(200),
                pmax: 0.01,
                reference,
                phantom: None,
            },
            cnp_interval: Span::us(50),
            alpha_timer: Span::us(55),
            alpha_initial: 1.0,
            g: 1.0 / 256.0,
            increase_timer: Span::us(55),
            byte_counter: Bytes::mb(10),
            threshold: 5,
            rate_ai: Rate::mbps(40),
            rate_hai: Rate::mbps(200),
            rate_min: Rate::mbps(100),
            clamp: Clamp::Always,
            reference,
        }
    }
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
