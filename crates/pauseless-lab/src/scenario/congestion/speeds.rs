//! `[[congestion_control.speed]]`: other thresholds at egresses of one speed.

use pauseless_core::congestion::marking::{AtSpeed, Config, SPEEDS_MAX};
use pauseless_core::unit::{Bytes, Rate};

use super::{SHARES, number};
use crate::scenario::file::File;
use crate::scenario::reader::Section;
use crate::scenario::topology::RATES;

/// They have 32 bits.
const THRESHOLDS: std::ops::RangeInclusive<Bytes> = Bytes::ZERO..=Bytes::mb(4_000);

pub(super) fn fill(config: &mut Config, section: &mut Section<'_>) {
    let mut count = 0;
    for mut speed in section.tables("speed") {
        let at = read(&mut speed, config);
        if let (Some(place), Some(_)) = (config.speeds.get_mut(count), &at) {
            *place = at;
        } else if count == SPEEDS_MAX {
            let problem = speed.place.problem("one speed too many");
            speed.report(problem.expected(format!("at most {SPEEDS_MAX}")));
        }
        speed.finish();
        count += 1;
    }
}

fn read(section: &mut Section<'_>, base: &Config) -> Option<AtSpeed> {
    let is_written = section.has("rate");
    let rate = section.quantity_within::<Rate>("rate", RATES);
    if !is_written {
        section.missing("rate", "\"100 Gbps\"");
    }
    let mut bytes = |key: &'static str, usual: Bytes| {
        let found = section.quantity_within(key, THRESHOLDS);
        found.map_or(usual, |found| found.value)
    };
    let (kmin, kmax) = (bytes("kmin", base.kmin), bytes("kmax", base.kmax));
    if kmax < kmin {
        let problem = section.place.problem("kmax is less than kmin");
        section.report(problem.help("let both be equal to mark above one threshold"));
    }
    let pmax = number(section, "pmax", 0.0..=*SHARES.end());
    Some(AtSpeed {
        rate: rate?.value,
        kmin: kmin.get().min(u64::from(u32::MAX)) as u32,
        kmax: kmax.get().min(u64::from(u32::MAX)) as u32,
        pmax: pmax.map_or(base.pmax, |pmax| pmax.value) as f32,
    })
}

pub(super) fn write(config: &Config, file: &mut File) {
    for at in config.speeds.iter().flatten() {
        file.section("[[congestion_control.speed]]");
        file.quantity("rate", at.rate);
        file.quantity("kmin", Bytes::new(u64::from(at.kmin)));
        file.quantity("kmax", Bytes::new(u64::from(at.kmax)));
        // The shortest decimal that is read back as the same number.
        file.plain("pmax", at.pmax);
    }
}
