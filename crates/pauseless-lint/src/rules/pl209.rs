//! PL209, control-plane-is-lossless: packets of routing protocols are lossless.

use crate::rule::prelude::*;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL209",
    name: "control-plane-is-lossless",
    severity: Severity::Warning,
    sentence: "Packets of routing protocols are lossless.",
    why: "In a storm of PAUSE frames BGP then stands still with everything else, its sessions die, and the fabric reroutes into something worse. DSCP 48 and 56 are what routing protocols use.",
    fix: "give 48 and 56 a class of their own",
    released: "Never on a released template.",
    evidence: "BI 10608 moves 48 out of the way",
    good: &[set("tor0", "/DSCP_TO_TC_MAP/AZURE/46", r#""3""#)],
    bad: &[set("tor0", "/DSCP_TO_TC_MAP/AZURE/48", r#""3""#)],
    also: &["PL604", "PL809", "PL805"],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    for dscp in [48, 56].into_iter().filter(|dscp| switch.is_lossless(port, *dscp)) {
        let map = switch.map_at(port, MapKind::DscpToTc);
        let key = dscp.to_string();
        let place = map.map_or_else(Place::default, |map| Place::of(map.row, &key));
        let finding = found.at_port(switch, port, place, format!("DSCP {dscp} is lossless"));
        let class = [6, 7, 1, 0].into_iter().find(|class| {
            let group = switch.tc_to_group(port, *class);
            u32::from(switch.pausing_groups(port)) & bit(group) == 0
        });
        let patch = map.zip(class).map(|(map, class)| {
            Op::set("DSCP_TO_TC_MAP", map.row.key().text, &key, class.to_string())
        });
        found.push(finding.patch(patch));
    }
}
