//! The keys of the congestion control `kind = "timely"`.

use pauseless_core::congestion::CongestionControl;
use pauseless_core::congestion::timely::{Config, Update};
use pauseless_core::unit::{Rate, Span};

use super::{COUNTS, Chosen, RATES_ANY, SHARES, SPANS, refuse_alone, scheme};
use pauseless_text::section;
use pauseless_text::unit::Quantity;

/// The speed that the default of `delta` is for.
const SPEED: Rate = Rate::gbps(10);
/// What stands for the round trip of the fabric until that is known.
const ROUND_TRIP: Span = Span::us(20);

section! {
    /// TIMELY (SIGCOMM 2015): sources go by round-trip times and their gradient; the defaults are
    /// those of its authors' snippet for pacing per packet.
    pub struct Timely for Config = Config::per_packet(ROUND_TRIP), {
        /// The weight of a new difference in the moving average.
        ewma_weight: f64, within SHARES, source "timely15 snippet";
        /// The factor of a decrease; for `patched` the authors have `0.008`.
        beta: f64, within SHARES, source "timely15 snippet";
        /// Below this round-trip time the rate grows. One above 1 ms needs a `t_high`, too.
        t_low: Span, within Span::ZERO..=*SPANS.end(), source "timely15 snippet";
        /// Above this round-trip time the rate falls.
        t_high: Span, within SPANS, source "timely15 snippet";
        /// The step of additive increase.
        delta: Rate, within RATES_ANY, source "timely15 snippet";
        /// The smallest round-trip time of the network, which gradients are measured in; by default
        /// from the delays of the links, there and back.
        min_rtt: Span, within SPANS, derived "the longest of all controlled flows", source "as run";
        /// After so many negative differences in a row, steps are larger.
        hai_threshold: u32, within COUNTS, source "timely15 snippet";
        /// The factor by which steps are larger then.
        hai_factor: f64, within 1.0..=1_000.0, source "timely15 snippet";
        /// The least rate; our choice.
        rate_min: Rate, within RATES_ANY, source "our choice";
        /// The middle branch of CoNEXT 2016; it needs a `t_low`.
        patched: bool, field is_patched, source "timely15 snippet";
        /// How often the rate changes. With `"per-round-trip"` only when a packet is acknowledged that was sent after
        /// the last change; steps are not scaled by time, `hai_threshold` counts increases of any
        /// kind, and a round trip begins with a packet's first bit.
        update: Update, source "timely15 snippet", written if_changed;
        /// Whether steps grow with the speed of the link; `delta` is multiplied by the rate of the
        /// host's link over 10 Gbps.
        scale_with_speed: bool,
            get |config| Some(config.reference.is_some()),
            set |config, is_scaled: bool| config.reference = is_scaled.then_some(SPEED),
            source "our choice";
    }
}

scheme! {
    pub static TIMELY = "timely": Timely in CongestionControl::Timely, |section| {
        let mut config = Config::per_packet(ROUND_TRIP);
        let keys = Timely::fill(section, &mut config);
        if config.t_high < config.t_low {
            if let Some(place) = keys.t_high.place() {
                let problem = place.problem("t_high is less than t_low");
                section.report(problem.expected(format!("at least {}", config.t_low.exact())));
            } else if !keys.t_high.is_written && let Some(place) = keys.t_low.place() {
                refuse_alone(section, place, "t_high", config.t_high.exact());
            }
        }
        if let Some(place) = keys.patched.place()
            && config.is_patched
            && config.t_low == Span::ZERO
        {
            let problem = place.problem("patched TIMELY divides by t_low");
            section.report(problem.help("add t_low = \"50 us\""));
        }
        Some(Chosen {
            control: CongestionControl::Timely(config),
            is_min_rtt_open: !keys.min_rtt.is_written,
        })
    }
}
