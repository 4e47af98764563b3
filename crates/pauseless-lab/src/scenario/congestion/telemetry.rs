//! The keys of `kind = "hpcc"`.

use pauseless_core::congestion::hpcc::{Config, Precision};
use pauseless_core::unit::Span;

use super::{number, rate, span};
use crate::scenario::file::File;
use crate::scenario::reader::Section;

pub(super) fn fill(config: &mut Config, section: &mut Section<'_>) {
    if let Some(eta) = number(section, "eta", 0.01..=1.0) {
        config.eta = eta.value;
    }
    if let Some(stages) = section.integer("stage_max", 0..=1_000) {
        config.stage_max = stages.value as u32;
    }
    rate(section, "rate_ai", &mut config.rate_ai);
    rate(section, "rate_min", &mut config.rate_min);
    span(section, "base_rtt", &mut config.base_rtt);
    let switches = [
        ("fast_react", &mut config.is_fast_reacting),
        ("per_hop", &mut config.is_per_hop),
        ("sample_feedback", &mut config.is_sampling),
    ];
    for (key, value) in switches {
        if let Some(found) = section.boolean(key) {
            *value = found.value;
        }
    }
    if let Some(multiple) = section.integer("record_multiple", 1..=65_536) {
        config.precision = Precision::Coarse(multiple.value as u32);
    }
}

pub(super) fn write(config: &Config, file: &mut File) {
    file.number("eta", config.eta);
    file.plain("stage_max", config.stage_max);
    file.quantity("rate_ai", config.rate_ai);
    file.quantity("rate_min", config.rate_min);
    // Without it every flow has its own.
    if config.base_rtt > Span::ZERO {
        file.quantity("base_rtt", config.base_rtt);
    }
    file.plain("fast_react", config.is_fast_reacting);
    file.plain("per_hop", config.is_per_hop);
    file.plain("sample_feedback", config.is_sampling);
    if let Precision::Coarse(multiple) = config.precision {
        file.plain("record_multiple", multiple);
    }
}
