//! The keys of the congestion control `kind = "pcn"`.

use pauseless_core::congestion::{CongestionControl, pcn::Config};
use pauseless_core::unit::{Rate, Span};

use super::{Chosen, RATES_ANY, SHARES, SPANS, refuse_alone, scheme};
use pauseless_text::section;

section! {
    /// Photonic congestion notification (NSDI 2020): targets measure, sources go to the measured
    /// rate in one step.
    pub struct Pcn for Config = Config::default(), {
        /// T, from one notification of a flow to the next; PCN 6.2 recommends the largest
        /// round-trip time.
        period: Span, within SPANS, source "pcn20 5.2";
        /// The first weight of an increase, and the margin of a decrease; PCN 6.2 recommends 0.1 / N
        /// for N flows. One above 0.5 needs a `w_max`, too.
        w_min: f64, within SHARES, source "pcn20 5.3";
        /// What the weight tends to.
        w_max: f64, within SHARES, source "pcn20 5.3";
        /// The least rate; our choice.
        rate_min: Rate, within RATES_ANY, source "our choice";
    }
}

scheme! {
    pub(super) static PCN = "pcn": Pcn in CongestionControl::Pcn, |section| {
        let mut config = Config::default();
        let keys = Pcn::fill(section, &mut config);
        if config.w_max < config.w_min {
            if let Some(place) = keys.w_max.place() {
                let problem = place.problem("w_max is less than w_min");
                section.report(problem.expected(format!("at least {}", config.w_min)));
            } else if !keys.w_max.is_written && let Some(place) = keys.w_min.place() {
                refuse_alone(section, place, "w_max", config.w_max.to_string());
            }
        }
        Some(Chosen::new(CongestionControl::Pcn(config)))
    }
}
