//! PL708, lossless-vlan-spans-switches: A VLAN with lossless ports spans switches.

use crate::rule::prelude::*;
use std::collections::BTreeSet;

use crate::cable::End;
use crate::fabric::Fabric;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL708",
    name: "lossless-vlan-spans-switches",
    severity: Severity::Note,
    sentence: "A VLAN with lossless ports spans switches.",
    why: "When a MAC address has expired, its packets are flooded to all ports of the VLAN, and flooding closes circles that routes do not have.",
    fix: "route between switches",
    released: "Never on a released template.",
    evidence: "G16",
    good: &[],
    bad: &[
        set("tor0", "/VLAN_MEMBER/Vlan100|Ethernet40", r#"{"tagging_mode": "tagged"}"#),
        set("leaf0", "/VLAN", r#"{"Vlan100": {"vlanid": "100"}}"#),
        set("leaf0", "/VLAN_MEMBER", r#"{"Vlan100|Ethernet0": {"tagging_mode": "tagged"}}"#),
    ],
    also: &[],
    check: Check::Fabric(check),
};

fn check(fabric: &Fabric, found: &mut Found) {
    let mut seen = BTreeSet::new();
    for cable in &fabric.cables {
        let (a, b) = (cable.a, cable.b);
        if !(a.port.is_in_vlan && b.port.is_in_vlan) || a.port.pfc() & b.port.pfc() == 0 {
            continue;
        }
        let vlans = |end: &End| {
            let rows = end.switch.config.rows("VLAN_MEMBER");
            let keys = rows.filter_map(|row| Some((row, row.key().text.split_once('|')?)));
            let own = keys.filter(|(_, (_, port))| *port == end.port.name);
            own.map(|(row, (vlan, _))| (vlan.to_string(), Place::row(row))).collect::<Vec<_>>()
        };
        let there = vlans(&b);
        for (vlan, place) in vlans(&a) {
            let is_common = there.iter().any(|(other, _)| *other == vlan);
            if is_common
                && seen.insert((vlan.clone(), a.switch.name.clone(), b.switch.name.clone()))
            {
                let message =
                    format!("lossless VLAN spans {} and {}", a.switch.name, b.switch.name);
                found.push(found.about(a.switch, &vlan, place, message));
            }
        }
    }
}
