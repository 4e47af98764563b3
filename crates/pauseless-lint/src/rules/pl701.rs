//! PL701, lossless-at-some-switches-only: A priority is lossless at some switches of a tier and not at others.

use crate::rule::prelude::*;
use std::collections::BTreeMap;

use crate::fabric::Fabric;
use crate::switch::BOUNCED;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL701",
    name: "lossless-at-some-switches-only",
    severity: Severity::Error,
    sentence: "A priority is lossless at some switches of a tier and not at others.",
    why: "Flows that take the others lose, and so do flows that were rerouted. Priorities 2 and 6 of dual-ToRs are left out, and so are switches of the management network.",
    fix: "one set of lossless priorities",
    released: "Never on a released template.",
    evidence: "follows from the chain of maps",
    good: &[],
    bad: &[
        set("tor0", "/PORT_QOS_MAP/Ethernet0/pfc_enable", r#""3""#),
        set("tor0", "/PORT_QOS_MAP/Ethernet40/pfc_enable", r#""3""#),
        set("tor0", "/PORT_QOS_MAP/Ethernet44/pfc_enable", r#""3""#),
    ],
    also: &["PL601", "PL202", "PL502", "PL801", "PL203"],
    check: Check::Fabric(check),
};

fn check(fabric: &Fabric, found: &mut Found) {
    let mut tiers: BTreeMap<&str, Vec<&Switch>> = BTreeMap::new();
    for switch in fabric.switches {
        let counts = switch.config.has("PORT_QOS_MAP") && !switch.role().contains("Mgmt");
        if counts && !switch.role().is_empty() {
            tiers.entry(switch.role()).or_default().push(switch);
        }
    }
    for switches in tiers.into_values() {
        let is_remapped = switches.iter().any(|switch| switch.remaps_tunnels);
        let exempt = if is_remapped { BOUNCED } else { 0 };
        let all = switches.iter().fold(0, |mask, switch| mask | lossless(switch)) & !exempt;
        for priority in bits(all.into()) {
            let (with, without): (Vec<&Switch>, Vec<&Switch>) =
                switches.iter().partition(|switch| lossless(switch) & 1 << priority != 0);
            let Some(first) = without.first() else {
                continue;
            };
            let names = without.iter().take(SHOWN_MAX).map(|switch| switch.name.as_str());
            let names = Vec::from_iter(names).join(", ");
            let more = without.len().saturating_sub(SHOWN_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let plural = if with.len() == 1 { "switch" } else { "switches" };
            let message = format!(
                "priority {priority} is lossless at {} {plural} of this tier, not at {names}{more}",
                with.len()
            );
            // The few are the ones to look at.
            let is_few = with.len() < without.len();
            let odd = if is_few { &with } else { &without };
            let is_odd = |port: &&Port| (port.pfc() & 1 << priority != 0) == is_few;
            let ports = odd.iter().flat_map(|switch| switch.pausing().filter(is_odd));
            let mut enable = ports.filter_map(|port| port.qos);
            let row = enable.next().or(first.metadata());
            let place = row.map_or_else(Place::default, |row| Place::of(row, "pfc_enable"));
            let mut finding = found.about(odd[0], first.role(), place, message);
            finding.related.extend(enable.map(|row| Place::of(row, "pfc_enable")));
            found.push(finding);
        }
    }
}

/// One bit per priority that a switch pauses; what a single one of its ports does is left to the rules
/// about that port.
fn lossless(switch: &Switch) -> u8 {
    let count = |priority: u8| {
        switch.pausing().filter(|port| port.pfc() & 1 << priority != 0).take(2).count()
    };
    let least = switch.pausing().take(2).count();
    (0..8).filter(|priority| least > 0 && count(*priority) >= least).fold(0, |all, p| all | 1 << p)
}

/// More names do not help.
const SHOWN_MAX: usize = 4;
