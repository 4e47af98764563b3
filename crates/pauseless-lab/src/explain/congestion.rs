//! The parameters of the congestion control, with their units and where they come from.

use pauseless_core::congestion::marking::{self, MarkAt};
use pauseless_core::congestion::{CongestionControl, dcqcn, hpcc, pcn, qcn, timely};
use pauseless_core::unit::{Rate, Span};
use pauseless_sim::config::Reaction;

use super::{Group, Steps};
use crate::scenario::Scenario;
use crate::scenario::unit::Quantity;

/// What end hosts and switches do about congestion; `None` if nobody is told anything.
pub(super) fn group(scenario: &Scenario) -> Option<Group> {
    let congestion = &scenario.config.congestion;
    if congestion.control == CongestionControl::None && congestion.ack_every == 0 {
        return None;
    }
    let mut steps = Steps::default();
    steps.common(scenario);
    match &congestion.control {
        CongestionControl::None | CongestionControl::Outside(_) => {}
        CongestionControl::Pcn(config) => steps.pcn(config),
        CongestionControl::Qcn(config) => steps.qcn(config),
        CongestionControl::Dcqcn(config) => steps.dcqcn(config),
        CongestionControl::Timely(config) => steps.timely(config),
        CongestionControl::Hpcc(config) => steps.hpcc(config),
    }
    let flows = &scenario.config.flows;
    let told = flows.iter().filter(|flow| flow.reaction != Reaction::None);
    let name = congestion.control.name();
    let title = format!(
        "congestion control {name} for {} of {} flows",
        told.count(),
        flows.len()
    );
    Some(Group {
        title,
        rows: steps.rows,
        stages: Vec::new(),
    })
}

/// The origin of a value that may have been written in the file.
fn origin(is_default: bool, default: &'static str) -> &'static str {
    match is_default {
        true => default,
        false => "scenario",
    }
}

/// What a value that grows with the speed of the link says about that.
fn grown(text: &str, reference: Option<Rate>) -> String {
    match reference {
        Some(reference) => format!("{text}, times C / {reference}"),
        None => text.to_string(),
    }
}

impl Steps {
    fn common(&mut self, scenario: &Scenario) {
        let congestion = &scenario.config.congestion;
        let class = scenario
            .config
            .flows
            .iter()
            .find_map(|flow| match flow.reaction {
                Reaction::Controlled { class, .. } if class != flow.class => Some(class.0),
                _ => None,
            });
        let class = class.map_or("that of the data".to_string(), |class| class.to_string());
        self.add(("class", "in which sources are told"), class, "as run");
        let every = match congestion.ack_every {
            0 => "never".to_string(),
            1 => "every packet".to_string(),
            n => format!("every {n} packets"),
        };
        let is_default = congestion.ack_every == congestion.control.ack_every();
        let names = ("ack_every", "the target acknowledges");
        self.add(names, every, origin(is_default, "default"));
    }

    /// A row whose value is compared with that of the default.
    fn given<T: PartialEq + Copy>(
        &mut self,
        names: (&str, &str),
        (value, default): (T, T),
        (text, source): (impl Fn(T) -> String, &'static str),
    ) {
        self.add(names, text(value), origin(value == default, source));
    }

    fn quantity<Q: Quantity + PartialEq>(
        &mut self,
        names: (&str, &str),
        values: (Q, Q),
        source: &'static str,
    ) {
        self.given(names, values, (Q::exact, source));
    }

    fn number(&mut self, names: (&str, &str), values: (f64, f64), source: &'static str) {
        self.given(names, values, (|value: f64| value.to_string(), source));
    }

    fn count(&mut self, names: (&str, &str), values: (u32, u32), source: &'static str) {
        self.given(names, values, (|value: u32| value.to_string(), source));
    }

    fn rate_min(&mut self, values: (Rate, Rate), source: &'static str) {
        self.quantity(("rate_min", "the least rate"), values, source);
    }

    fn pcn(&mut self, config: &pcn::Config) {
        const WEIGHTS: &str = "pcn20 5.3";
        let default = pcn::Config::default();
        let names = ("period", "T, from one notification to the next");
        self.quantity(names, (config.period, default.period), "pcn20 5.2");
        let names = ("w_min", "first weight of an increase, margin of a decrease");
        self.number(names, (config.w_min, default.w_min), WEIGHTS);
        let names = ("w_max", "what the weight tends to");
        self.number(names, (config.w_max, default.w_max), WEIGHTS);
        self.rate_min((config.rate_min, default.rate_min), "PROTOCOLS 8");
    }

    fn qcn(&mut self, config: &qcn::Config) {
        const MIB: &str = "802.1Q CN MIB";
        let default = qcn::Config::default();
        let names = ("queue_set_point", "Q_eq, the queue that switches aim at");
        let values = (config.queue_set_point, default.queue_set_point);
        self.quantity(names, values, MIB);
        let names = ("weight", "w, of the queue's growth");
        self.number(names, (config.weight, default.weight), MIB);
        let names = (
            "sample_base",
            "bytes between two samples without congestion",
        );
        self.quantity(names, (config.sample_base, default.sample_base), MIB);
        let names = ("gd", "Gd, a notification psi cuts by Gd psi");
        self.number(names, (config.gd, default.gd), MIB);
        let names = ("decrease_factor_min", "one cut leaves at least this share");
        let values = (config.decrease_factor_min, default.decrease_factor_min);
        self.number(names, values, MIB);
        let names = ("byte_reset", "BC, bytes per stage of recovery");
        self.quantity(names, (config.byte_reset, default.byte_reset), MIB);
        let names = ("time_reset", "T_rp, time per stage");
        self.quantity(names, (config.time_reset, default.time_reset), MIB);
        let names = ("threshold", "F, stages of fast recovery");
        self.count(names, (config.threshold, default.threshold), MIB);
        let formula = grown("R_AI, the step of active increase", config.reference);
        let values = (config.rate_ai, default.rate_ai);
        self.quantity(("rate_ai", &formula), values, MIB);
        let formula = grown("R_HAI, of hyper-active increase", config.reference);
        let values = (config.rate_hai, default.rate_hai);
        self.quantity(("rate_hai", &formula), values, MIB);
        self.rate_min((config.rate_min, default.rate_min), MIB);
    }

    fn marking(&mut self, config: &marking::Config, default: &marking::Config) {
        const PAPER: &str = "dcqcn15 3.1";
        let formula = grown("no marks up to this queue", config.reference);
        self.quantity(("kmin", &formula), (config.kmin, default.kmin), PAPER);
        let formula = grown("every packet above this one", config.reference);
        self.quantity(("kmax", &formula), (config.kmax, default.kmax), PAPER);
        let names = ("pmax", "the probability just below kmax");
        self.number(names, (config.pmax, default.pmax), PAPER);
        let text = |mark_at| {
            let word = match mark_at {
                MarkAt::Departure => "departure",
                MarkAt::Arrival => "arrival",
            };
            word.to_string()
        };
        let names = ("mark_at", "when it is decided");
        let values = (config.mark_at, default.mark_at);
        self.given(names, values, (text, "public code"));
        if let Some(phantom) = config.phantom {
            let names = (
                "phantom",
                "the virtual queue drains at this share of the line",
            );
            self.add(names, phantom, "scenario");
        }
    }

    fn hpcc(&mut self, config: &hpcc::Config) {
        const PAPER: &str = "hpcc19 5.1";
        let default = hpcc::Config::default();
        let names = ("eta", "how busy links are to be");
        self.number(names, (config.eta, default.eta), PAPER);
        let names = ("stage_max", "additive steps before a multiplicative one");
        self.count(names, (config.stage_max, default.stage_max), PAPER);
        let names = ("rate_ai", "W_AI / T, the additive step");
        self.quantity(names, (config.rate_ai, default.rate_ai), PAPER);
        self.rate_min((config.rate_min, default.rate_min), "public code");
        let text = |base_rtt| match base_rtt {
            Span::ZERO => "that of each flow".to_string(),
            base_rtt => base_rtt.exact(),
        };
        let names = ("base_rtt", "T, the round trip without queues");
        self.given(names, (config.base_rtt, default.base_rtt), (text, "as run"));
    }

    fn dcqcn(&mut self, config: &dcqcn::Config) {
        const PAPER: &str = "dcqcn15 3.1";
        let default = dcqcn::Config::default();
        self.marking(&config.marking, &default.marking);
        let names = match config.style {
            dcqcn::Style::Paper => ("cnp_interval", "N, at most one CNP per flow in this time"),
            dcqcn::Style::Nic => ("cnp_interval", "how often a NIC looks for marks"),
        };
        self.quantity(names, (config.cnp_interval, default.cnp_interval), PAPER);
        let names = ("alpha_timer", "K, alpha decays after so long without a CNP");
        self.quantity(names, (config.alpha_timer, default.alpha_timer), PAPER);
        let names = ("alpha_initial", "alpha at the start");
        self.number(names, (config.alpha_initial, default.alpha_initial), PAPER);
        let names = ("g", "the gain of alpha");
        self.number(names, (config.g, default.g), PAPER);
        let names = ("increase_timer", "T, time per stage of recovery");
        let values = (config.increase_timer, default.increase_timer);
        self.quantity(names, values, PAPER);
        let names = ("byte_counter", "B, bytes per stage");
        self.quantity(names, (config.byte_counter, default.byte_counter), PAPER);
        let names = ("threshold", "F, stages of fast recovery");
        self.count(names, (config.threshold, default.threshold), PAPER);
        let formula = grown("R_AI, the step of additive increase", config.reference);
        let values = (config.rate_ai, default.rate_ai);
        self.quantity(("rate_ai", &formula), values, PAPER);
        let formula = grown("R_HAI, of hyper increase", config.reference);
        let values = (config.rate_hai, default.rate_hai);
        self.quantity(("rate_hai", &formula), values, "PROTOCOLS 5");
        self.rate_min((config.rate_min, default.rate_min), "PROTOCOLS 5");
        let text = |clamp| {
            let word = match clamp {
                dcqcn::Clamp::Always => "always",
                dcqcn::Clamp::AfterStage => "after-stage",
                dcqcn::Clamp::AfterByteStage => "after-byte-stage",
            };
            word.to_string()
        };
        let names = ("clamp", "when a CNP lowers the target rate, too");
        self.given(names, (config.clamp, default.clamp), (text, PAPER));
    }

    fn timely(&mut self, config: &timely::Config) {
        const SNIPPET: &str = "timely15 snippet";
        let default = timely::Config::per_packet(config.min_rtt);
        let names = ("min_rtt", "gradients are measured in it");
        self.quantity(names, (config.min_rtt, default.min_rtt), "as run");
        let names = ("ewma_weight", "weight of a new difference in the average");
        self.number(names, (config.ewma_weight, default.ewma_weight), SNIPPET);
        let names = ("beta", "the factor of a decrease");
        self.number(names, (config.beta, default.beta), SNIPPET);
        let names = ("t_low", "below this round trip the rate grows");
        self.quantity(names, (config.t_low, default.t_low), SNIPPET);
        let names = ("t_high", "above this one it falls");
        self.quantity(names, (config.t_high, default.t_high), SNIPPET);
        let formula = grown("the additive step", config.reference);
        self.quantity(("delta", &formula), (config.delta, default.delta), SNIPPET);
        let names = (
            "hai_threshold",
            "negative gradients in a row until larger steps",
        );
        let values = (config.hai_threshold, default.hai_threshold);
        self.count(names, values, SNIPPET);
        let names = ("hai_factor", "so many times as large");
        self.number(names, (config.hai_factor, default.hai_factor), SNIPPET);
        self.rate_min((config.rate_min, default.rate_min), "PROTOCOLS 6");
        let values = (config.is_patched, default.is_patched);
        let text = |is_patched: bool| if is_patched { "yes" } else { "no" }.to_string();
        let names = ("patched", "the middle branch of timely16");
        self.given(names, values, (text, SNIPPET));
    }
}
