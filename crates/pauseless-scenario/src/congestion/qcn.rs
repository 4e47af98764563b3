//! The keys of the congestion control `kind = "qcn"`.

use pauseless_core::congestion::{CongestionControl, qcn::Config};
use pauseless_core::unit::{Bytes, Rate, Span};

use super::{BYTES, COUNTS, Chosen, RATES_ANY, SHARES, SPANS, scheme};
use pauseless_text::section;

/// The speed that the defaults of the rates are for.
const SPEED: Rate = Rate::gbps(10);

section! {
    /// IEEE 802.1Qau: switches sample their queues and tell sources; the defaults are those of its
    /// MIB.
    pub struct Qcn for Config = Config::default(), {
        /// Q_eq, the queue that a switch aims at.
        queue_set_point: Bytes, within BYTES, source "802.1Q CN MIB";
        /// w, of the queue's growth against its length.
        weight: f64, within 0.0..=64.0, source "802.1Q CN MIB";
        /// The bytes between two samples when there is no congestion.
        sample_base: Bytes, within BYTES, source "802.1Q CN MIB";
        /// Gd: a notification of psi cuts the rate by Gd psi.
        gd: f64, within SHARES, source "802.1Q CN MIB";
        /// One cut leaves at least this share.
        decrease_factor_min: f64, within SHARES, source "802.1Q CN MIB";
        /// BC, bytes sent per stage of recovery.
        byte_reset: Bytes, within BYTES, source "802.1Q CN MIB";
        /// T_rp, time per stage.
        time_reset: Span, within SPANS, source "802.1Q CN MIB";
        /// F, stages of fast recovery.
        threshold: u32, within COUNTS, source "802.1Q CN MIB";
        /// R_AI, the step of active increase.
        rate_ai: Rate, within RATES_ANY, source "802.1Q CN MIB";
        /// R_HAI, the step of hyper-active increase.
        rate_hai: Rate, within RATES_ANY, source "802.1Q CN MIB";
        /// The least rate that a flow is ever limited to.
        rate_min: Rate, within RATES_ANY, source "802.1Q CN MIB";
        /// Whether rates grow with the speed of the link; `rate_ai` and `rate_hai` are multiplied by
        /// the rate of the host's link over 10 Gbps.
        scale_with_speed: bool,
            get |config| Some(config.reference.is_some()),
            set |config, is_scaled: bool| config.reference = is_scaled.then_some(SPEED),
            source "802.1Q CN MIB";
    }
}

scheme! {
    pub(super) static QCN = "qcn": Qcn in CongestionControl::Qcn, |section| {
        let mut config = Config::default();
        Qcn::fill(section, &mut config);
        Some(Chosen::new(CongestionControl::Qcn(config)))
    }
}
