//! PL210, unmarked-is-lossless: DSCP 0 is lossless, and so is every packet that nobody has marked.

use crate::rule::prelude::*;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL210",
    name: "unmarked-is-lossless",
    severity: Severity::Warning,
    sentence: "DSCP 0 is lossless, and so is every packet that nobody has marked.",
    why: "Storage, management and whatever else is on the host then fills the lossless buffers and is paused with RoCE.",
    fix: "map 0 to a lossy class",
    released: "Never on a released template.",
    evidence: "follows from the chain of maps",
    good: &[set("tor0", "/DSCP_TO_TC_MAP/AZURE/0", r#""0""#)],
    bad: &[set("tor0", "/DSCP_TO_TC_MAP/AZURE/0", r#""3""#)],
    also: &["PL604", "PL805"],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let map = switch.map_at(port, MapKind::DscpToTc);
    let Some(map) = map.filter(|_| switch.is_lossless(port, 0)) else {
        return;
    };
    let message = "DSCP 0 is lossless; every unmarked packet is".to_string();
    let finding = found.at_port(switch, port, Place::of(map.row, "0"), message);
    let class = [1, 0].into_iter().find(|class| {
        let group = switch.tc_to_group(port, *class);
        u32::from(switch.pausing_groups(port)) & bit(group) == 0
    });
    let patch =
        class.map(|class| Op::set("DSCP_TO_TC_MAP", map.row.key().text, "0", class.to_string()));
    found.push(finding.patch(patch));
}
