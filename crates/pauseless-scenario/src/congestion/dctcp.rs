//! The keys of the congestion control `kind = "dctcp"`.

use pauseless_core::congestion::CongestionControl;
use pauseless_core::congestion::dctcp::Config;
use pauseless_core::congestion::marking::MarkAt;
use pauseless_core::unit::{Bytes, Rate};

use super::{BYTES, Chosen, RATES_ANY, SHARES, scheme};
use pauseless_text::section;

section! {
    /// DCTCP (SIGCOMM 2010, RFC 8257): switches mark above a threshold, acknowledgements bring the marks
    /// back, and sources cut by the share of marked packets; the rate form, with a window that follows the
    /// rate.
    pub struct Dctcp for Config = Config::default(), {
        /// K, packets are marked by a queue above this, whatever the speed of the egress; dctcp10 has 65
        /// packets of 1500 B for 10 Gbps, and more than a seventh of C RTT in general.
        k: Bytes, within BYTES, source "dctcp10 3.5";
        /// By which queue packets are marked; on `"arrival"` by the one that a packet finds, on
        /// `"departure"` by the one that it leaves behind.
        mark_at: MarkAt, source "rfc8257 3.1";
        /// g, the gain of alpha.
        g: f64, within SHARES, source "rfc8257 4.2";
        /// alpha at the start.
        alpha_initial: f64, within 0.0..=1.0, source "rfc8257 4.2";
        /// What the rate grows by per window without a cut; the HPCC simulator has `"1 Gbps"`.
        rate_ai: Rate, within RATES_ANY,
            get |config| config.rate_ai,
            set |config, rate| config.rate_ai = Some(rate),
            derived "one packet per round trip without queues", source "rfc8257 3.3";
        /// The least rate that a flow is ever limited to.
        rate_min: Rate, within RATES_ANY, source "public code";
    }
}

scheme! {
    pub(super) static DCTCP = "dctcp": Dctcp in CongestionControl::Dctcp, |section| {
        let mut config = Config::default();
        Dctcp::fill(section, &mut config);
        Some(Chosen::new(CongestionControl::Dctcp(config)))
    }
}
