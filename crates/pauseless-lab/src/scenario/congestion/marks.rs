//! The keys of ECN marking.

use pauseless_core::congestion::marking::{Config, LEVELS_MAX, Level, MarkAt};
use pauseless_core::unit::{Bytes, Rate};

use super::{BYTES, RATES_ANY, number, refuse_alone, share};
use crate::scenario::file::File;
use crate::scenario::reader::Section;
use crate::scenario::unit::Quantity;

const MARK_AT: [(&str, MarkAt); 2] = [
    ("departure", MarkAt::Departure),
    ("arrival", MarkAt::Arrival),
];

pub(super) fn fill(config: &mut Config, section: &mut Section<'_>) {
    let low = section.quantity_within("kmin", BYTES);
    if let Some(low) = &low {
        config.kmin = low.value;
    }
    let is_alone = !section.has("kmax");
    if let Some(kmax) = section.quantity_within("kmax", BYTES) {
        config.kmax = kmax.value;
        if kmax.value < config.kmin {
            let problem = kmax.place.problem("kmax is less than kmin");
            let problem = problem.expected(format!("at least {}", config.kmin.exact()));
            section.report(problem.help("let both be equal to mark above one threshold"));
        }
    } else if let Some(low) = low.filter(|low| is_alone && low.value > config.kmax) {
        refuse_alone(section, low.place, ("kmax", config.kmax.exact()));
    }
    share(section, "pmax", &mut config.pmax);
    if let Some(mark_at) = section.choice("mark_at", &MARK_AT) {
        config.mark_at = mark_at.value;
    }
    if let Some(phantom) = number(section, "phantom", 0.01..=1.0) {
        config.phantom = Some(phantom.value);
        if config.mark_at == MarkAt::Arrival {
            let problem = phantom
                .place
                .problem("a phantom queue knows only what leaves");
            section.report(problem.help("write mark_at = \"departure\""));
        }
    }
    fill_levels(config, section);
}

/// `[[congestion_control.at_rate]]`, thresholds for egresses of one speed.
fn fill_levels(config: &mut Config, section: &mut Section<'_>) {
    let defaults = *config;
    for mut table in section.tables("at_rate") {
        let Some(rate) = table.quantity_within("rate", RATES_ANY) else {
            table.missing("rate", "\"100 Gbps\"");
            table.discard();
            continue;
        };
        let mut own = Config {
            levels: Default::default(),
            ..defaults
        };
        for (key, value) in [("kmin", &mut own.kmin), ("kmax", &mut own.kmax)] {
            if let Some(found) = table.quantity_within(key, Bytes::new(1)..=Bytes::mb(4_000)) {
                *value = found.value;
            }
        }
        share(&mut table, "pmax", &mut own.pmax);
        if own.kmax < own.kmin {
            let problem = table.place.problem("kmax is less than kmin");
            table.report(problem.expected(format!("at least {}", own.kmin.exact())));
        }
        let level = Level {
            mbps: (rate.value.as_bps() / 1_000_000) as u32,
            kmin: own.kmin.get() as u32,
            kmax: own.kmax.get() as u32,
            pmax: own.pmax as f32,
        };
        match config.levels.iter_mut().find(|level| level.is_none()) {
            Some(free) => *free = Some(level),
            None => {
                let message = format!("more than {LEVELS_MAX} speeds have thresholds of their own");
                table.report(table.place.problem(message));
            }
        }
        table.finish();
    }
}

pub(super) fn write(config: &Config, file: &mut File) {
    file.quantity("kmin", config.kmin);
    file.quantity("kmax", config.kmax);
    file.number("pmax", config.pmax);
    if let Some(phantom) = config.phantom {
        file.number("phantom", phantom);
    }
    let mark_at = MARK_AT
        .iter()
        .find(|(_, mark_at)| *mark_at == config.mark_at);
    file.text("mark_at", mark_at.expect("both ends have names").0);
}

/// What comes behind all keys of the section.
pub(super) fn write_levels(config: &Config, file: &mut File) {
    for level in config.levels.iter().flatten() {
        file.section("[[congestion_control.at_rate]]");
        file.quantity("rate", Rate::mbps(level.mbps.into()));
        file.quantity("kmin", Bytes::new(level.kmin.into()));
        file.quantity("kmax", Bytes::new(level.kmax.into()));
        file.plain("pmax", level.pmax);
    }
}
