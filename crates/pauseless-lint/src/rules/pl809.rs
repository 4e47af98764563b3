//! PL809, notifications-are-lossless: congestion notifications go to the lossless queue.

use crate::fabric::Fabric;
use crate::host::Host;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL809",
    name: "notifications-are-lossless",
    severity: Severity::Warning,
    sentence: "Congestion notifications go to the lossless queue.",
    why: "The brake then waits behind what it should brake.",
    fix: "another cnp_dscp, such as 48",
    released: "Needs a file of a host, which no template has.",
    evidence: "Z15: notifications with high priority",
    good: &[],
    bad: &[set("srv0.roce-ecn", "cnp_dscp:48", r#""cnp_dscp:3""#)],
    also: &[],
    check: Check::Host(check),
};

fn check(host: &Host, fabric: &Fabric, found: &mut Found) {
    let Some(given) = host.cnp_dscp else {
        return;
    };
    let ports = fabric.ports_of(host);
    if let Some(at) = ports.iter().find(|at| at.switch.is_lossless(at.port, given.value)) {
        let message = format!(
            "cnp_dscp {} leads to the lossless queue at {}:{}",
            given.value, at.switch.name, at.port.name
        );
        let mut finding = found.of(&host.name, given.place(), message);
        finding.device.clone_from(&host.name);
        found.push(finding);
    }
}
