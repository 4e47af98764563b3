//! The keys of the congestion control `kind = "hpcc"`.

use pauseless_core::congestion::CongestionControl;
use pauseless_core::congestion::hpcc::Config;
use pauseless_core::unit::{Rate, Span};

use super::{Chosen, RATES_ANY, SPANS, scheme};
use pauseless_text::section;

section! {
    /// High precision congestion control (SIGCOMM 2019): switches write into every packet, and
    /// acknowledgements bring that back.
    pub struct Hpcc for Config = Config::default(), {
        /// How busy links are to be.
        eta: f64, within 0.01..=1.0, source "hpcc19 5.1";
        /// maxStage, so many additive steps before a multiplicative one.
        stage_max: u32, within 0..=1_000, source "hpcc19 5.1";
        /// W_AI over the base round-trip time.
        rate_ai: Rate, within RATES_ANY, source "hpcc19 5.1";
        /// The least rate that a flow is ever limited to.
        rate_min: Rate, within RATES_ANY, source "public code";
        /// T, the round-trip time without queues.
        base_rtt: Span, within SPANS,
            get |config| (config.base_rtt > Span::ZERO).then_some(config.base_rtt),
            set |config, round_trip| config.base_rtt = round_trip,
            derived "that of each flow", source "as run";
        /// Whether every acknowledgement changes the rate, or one per round trip.
        fast_react: bool, field is_fast_reacting, source "hpcc19 5.1";
        /// A rate for each hop, of which the lowest counts.
        per_hop: bool, field is_per_hop, source "public code";
        /// A fast reaction ignores hops without a queue.
        sample_feedback: bool, field is_sampling, source "public code";
    }
}

scheme! {
    pub static HPCC = "hpcc": Hpcc in CongestionControl::Hpcc, |section| {
        let mut config = Config::default();
        Hpcc::fill(section, &mut config);
        Some(Chosen::new(CongestionControl::Hpcc(config)))
    }
}
