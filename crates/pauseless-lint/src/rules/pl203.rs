//! PL203, nothing-is-lossless: no code point leads to a lossless group.

use crate::rule::prelude::*;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL203",
    name: "nothing-is-lossless",
    severity: Severity::Warning,
    sentence: "No code point leads to a lossless group.",
    why: "PFC is on and looks right in every show command, but nothing is protected. Groups 2 and 6 of a dual-ToR are left out, as only bounced packets use them; 802.1p maps count.",
    fix: "map the DSCP that the hosts use to the class",
    released: "1 SKU: Quanta-IX9-32X maps all 64 code points to class 0 as released, so its lossless groups are never used.",
    evidence: "Quanta-IX9-32X as released",
    good: &[set("tor0", "/DSCP_TO_TC_MAP/AZURE/26", r#""3""#)],
    bad: &[set("dyn0", "/DSCP_TO_TC_MAP/AZURE/3", r#""1""#)],
    also: &["PL805"],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let maps = [MapKind::DscpToTc, MapKind::Dot1pToTc].map(|kind| switch.map_at(port, kind));
    let Some(map) = maps.into_iter().flatten().next() else {
        return;
    };
    let groups = bits(switch.reached(port)).map(|class| switch.tc_to_group(port, class));
    let reached = groups.fold(0u32, |mask, group| mask | bit(group));
    let idle = u32::from(switch.pausing_groups(port) & !switch.bounced()) & !reached;
    let is_lossless = |group: &u8| !switch.has_lossless || switch.has_headroom(port, *group);
    for group in bits(idle).filter(is_lossless) {
        let message = format!("no DSCP leads to lossless group {group}");
        let finding = found.at_port(switch, port, Place::row(map.row), message);
        let groups = switch.map_at(port, MapKind::TcToGroup).map(|map| Place::row(map.row));
        let finding = groups.into_iter().fold(finding, |finding, place| finding.beside(place));
        found.push(finding.group(group));
    }
}
