//! PL808, dcqcn-is-off: ECN is off for a lossless priority of a NIC: the sender does not slow down.

use crate::fabric::Fabric;
use crate::host::Host;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL808",
    name: "dcqcn-is-off",
    severity: Severity::Warning,
    sentence: "ECN is off for a lossless priority of a NIC: the sender does not slow down.",
    why: "Either the notification point sends no notifications, or the reaction point ignores them.",
    fix: "write 1 to ecn/roce_np/enable/P and ecn/roce_rp/enable/P",
    released: "Needs a file of a host, which no template has.",
    evidence: "Z15",
    good: &[],
    bad: &[set("srv0.roce-ecn", "roce_rp/enable/3:1", r#""roce_rp/enable/3:0""#)],
    also: &[],
    check: Check::Host(check),
};

fn check(host: &Host, fabric: &Fabric, found: &mut Found) {
    let own = host.pfc.iter().map(|given| given.value).reduce(|a, b| a | b);
    let of_ports = || fabric.ports_of(host).iter().fold(0, |mask, at| mask | at.port.pfc());
    let pfc = own.unwrap_or_else(of_ports);
    for given in host.ecn_off.iter().filter(|given| pfc & 1 << given.value != 0) {
        let message =
            format!("ECN is off for priority {}: the sender does not slow down", given.value);
        let mut finding = found.of(&host.name, given.place(), message);
        finding.device.clone_from(&host.name);
        found.push(finding);
    }
}
