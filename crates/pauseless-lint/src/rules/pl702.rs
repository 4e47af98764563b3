//! PL702, tier-differs: thresholds of ECN, times of watchdogs or alpha differ within a tier.

use crate::rule::prelude::*;
use std::collections::BTreeMap;

use crate::database::Row;
use crate::fabric::Fabric;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL702",
    name: "tier-differs",
    severity: Severity::Note,
    sentence: "Thresholds of ECN, times of watchdogs or alpha differ within a tier.",
    why: "Flows between hosts that should be alike are then not. A tier is the switches of one role and model.",
    fix: "one value for the tier, unless the models differ",
    released: "Only with several switches, which a template does not have.",
    evidence: "follows from DCQCN",
    good: &[],
    bad: &[
        set("dual0", "/DEVICE_METADATA/localhost/hwsku", r#""Mellanox-SN4600C-D48C40""#),
        set("tor0", "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", r#""3000000""#),
    ],
    also: &[],
    check: Check::Fabric(check),
};

fn check(fabric: &Fabric, found: &mut Found) {
    let mut tiers: BTreeMap<(&str, &str), &Switch> = BTreeMap::new();
    for switch in fabric.switches {
        let Some(wred) = switch.lossless_wreds().next() else {
            continue;
        };
        let Some(first) = tiers.get(&(switch.role(), switch.about("hwsku"))) else {
            tiers.insert((switch.role(), switch.about("hwsku")), switch);
            continue;
        };
        let Some(other) = first.lossless_wreds().next() else {
            continue;
        };
        for field in ["green_min_threshold", "green_max_threshold"] {
            let (here, there) = (wred.number(field), other.number(field));
            if here != there {
                let shown =
                    |value: Option<u64>| value.map_or("none".to_string(), |v| v.to_string());
                let (here, there) = (shown(here), shown(there));
                let message = format!("{field} {here}, and {there} at {}", first.name);
                let place = Place::of(wred.row, field);
                found.push(found.about(switch, wred.name, place, message));
            }
        }
        for field in ["detection_time", "restoration_time"] {
            let [here, there] = [switch, *first].map(|switch| usual_time(switch, field));
            if let (Some((here, row)), Some((there, _))) = (here, there)
                && here != there
            {
                let message = format!("{field} {here} ms, and {there} at {}", first.name);
                found.push(found.about(switch, row.key().text, Place::of(row, field), message));
            }
        }
        if let (Some(here), Some(there)) = (switch.poll_ms(), first.poll_ms())
            && here != there
            && let Some(row) = switch.config.row_of("PFC_WD", "GLOBAL")
        {
            let message = format!("POLL_INTERVAL {here} ms, and {there} at {}", first.name);
            let place = Place::of(row, "POLL_INTERVAL");
            found.push(found.about(switch, &switch.name, place, message));
        }
    }
}

/// The time that most ports of a switch have, and the first row that has it.
fn usual_time<'d>(switch: &Switch<'d>, field: &str) -> Option<(u64, Row<'d>)> {
    let rows = switch.ports.iter().filter_map(|port| port.watchdog.map(|watchdog| watchdog.row));
    let times = rows.filter_map(|row| Some((row.get(field)?.number()?, row)));
    let mut counts: BTreeMap<u64, (usize, Row)> = BTreeMap::new();
    for (time, row) in times {
        counts.entry(time).or_insert((0, row)).0 += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, (count, _))| *count)?;
    Some((most.0, most.1.1))
}
