//! PL607, cable-is-elsewhere: two sources name different far ends of one port.

use crate::fabric::{Claim, Fabric};
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL607",
    name: "cable-is-elsewhere",
    severity: Severity::Warning,
    sentence: "Two sources name different far ends of one port.",
    why: "All rules about both ends of a cable then look at the wrong pair. A wiring file is believed before LLDP, and LLDP before DEVICE_NEIGHBOR.",
    fix: "correct the cable or the table",
    released: "Never on a released template.",
    evidence: "LLDP",
    good: &[set("tor0", "/DEVICE_NEIGHBOR/Ethernet0/port", r#""eth1""#)],
    bad: &[
        set("tor0", "/DEVICE_NEIGHBOR/Ethernet40/port", r#""Ethernet4""#),
        set("tor0", "/DEVICE_NEIGHBOR/Ethernet44/port", r#""Ethernet0""#),
    ],
    also: &[],
    check: Check::Fabric(check),
};

fn check(fabric: &Fabric, found: &mut Found) {
    for [first, second] in &fabric.disputes {
        let named = |claim: &Claim| format!("{}:{}", claim.far.node, claim.far.interface);
        let is_turned = first.near != second.near && first.far.node == second.near.node;
        let (subject, said) = if is_turned {
            // The other end says so.
            (format!("{}:{}", second.near.node, second.near.interface), named(second))
        } else {
            (format!("{}:{}", second.near.node, second.near.interface), named(second))
        };
        let other = format!("{}:{} is at {}", first.near.node, first.near.interface, named(first));
        let message = format!("{} says {said}, {} says {other}", second.source, first.source);
        let mut finding = found.of(&subject, second.place.clone(), message);
        finding.device.clone_from(&second.near.node);
        finding.subject.clone_from(&second.near.interface);
        found.push(finding.beside(first.place.clone()));
    }
}
