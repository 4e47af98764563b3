//! PL310, unusual-alpha: A lossless group may take most of the pool, or pauses after two packets, or other switches of the model do otherwise.

use std::collections::BTreeMap;

use crate::fabric::Fabric;
use crate::rule::prelude::*;
use crate::switch::chain::share;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL310",
    name: "unusual-alpha",
    severity: Severity::Note,
    sentence: "A lossless group may take most of the pool, or pauses after two packets, or other switches of the model do otherwise.",
    why: "The share is 2^n of what is free: above 2^3 one group takes nearly all of it, and with all groups busy each may get less than two packets. A difference between switches of one model is a warning: it was 1/64 instead of 1/16 in an outage. Outside of -8..7 the profile is refused, which is a warning.",
    fix: "use one dynamic_th for all switches of a model",
    released: "A note on the released lookup files that have 7; they range from -6 to 7.",
    evidence: "G16: 1/64 instead of 1/16 on one ToR model",
    good: &[set("tor0", "/BUFFER_PROFILE/pg_lossless_50000_5m_profile/dynamic_th", r#""1""#)],
    bad: &[set("tor0", "/BUFFER_PROFILE/pg_lossless_50000_5m_profile/dynamic_th", r#""7""#)],
    also: &[],
    check: Check::Fabric(check),
};

fn check(fabric: &Fabric, found: &mut Found) {
    let models = usual_of_models(fabric);
    for switch in fabric.switches {
        let groups = switch.ports.iter().flat_map(|port| &port.groups);
        let lossless = groups.filter(|one| switch.profile_of(one).is_some_and(|p| p.is_lossless()));
        let count = lossless.map(|one| one.all().count() as u64).sum::<u64>().max(1);
        for profile in switch.profiles.values() {
            let (Some(n), false) = (profile.dynamic_th, profile.is_zero()) else {
                continue;
            };
            if !profile.is_lossless() {
                continue;
            }
            let place = Place::of(profile.row, "dynamic_th");
            let share = |of: u64| switch.pool_size(profile).map(|size| share(size, n, of));
            if n > 3 {
                let alpha = 2f64.powi(n.min(16) as i32);
                let percent = (100.0 * alpha / (1.0 + alpha)).round();
                let message = format!("alpha 2^{n}: one group may take {percent} % of the pool");
                found.push(found.about(switch, profile.name, place.clone(), message));
            }
            if let Some(bytes) = share(count).filter(|bytes| *bytes < PACKETS) {
                let message = format!("alpha 2^{n}: pauses at {bytes} B with all groups busy");
                found.push(found.about(switch, profile.name, place.clone(), message));
            }
            if !(-8..=7).contains(&n) {
                let message = format!("dynamic_th {n} is outside -8..7");
                let finding = found.about(switch, profile.name, place.clone(), message);
                found.push(finding.severity(Severity::Warning));
            }
            let usual = models.get(&[switch.about("hwsku"), profile.name]);
            if let Some(other) = usual.filter(|usual| **usual != n) {
                let message = format!("alpha 2^{n}, and 2^{other} at others of the same model");
                let finding = found.about(switch, profile.name, place, message);
                let op = Op::set("BUFFER_PROFILE", profile.name, "dynamic_th", other.to_string());
                found.push(finding.severity(Severity::Warning).patch([op]));
            }
        }
    }
}

/// The n that most switches of a model have in a profile, by model and profile; of two alike the first.
fn usual_of_models<'d>(fabric: &Fabric<'d>) -> BTreeMap<[&'d str; 2], i64> {
    let mut alphas: BTreeMap<[&str; 2], Vec<i64>> = BTreeMap::new();
    for switch in fabric.switches.iter().filter(|switch| !switch.about("hwsku").is_empty()) {
        for profile in switch.profiles.values() {
            let key = [switch.about("hwsku"), profile.name];
            alphas.entry(key).or_default().extend(profile.dynamic_th);
        }
    }
    let usual = |alphas: Vec<i64>| {
        let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
        for n in &alphas {
            *counts.entry(*n).or_default() += 1;
        }
        let most = counts.values().max().copied()?;
        alphas.into_iter().find(|n| counts[n] == most)
    };
    let all = alphas.into_iter();
    all.filter_map(|(key, alphas)| Some((key, usual(alphas)?))).collect()
}

/// Two packets of the usual MTU.
const PACKETS: u64 = 2 * 9_100;
