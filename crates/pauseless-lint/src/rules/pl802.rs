//! PL802, nic-trusts-the-tag: A NIC trusts the VLAN tag, and the port it is cabled to the DSCP.

use crate::fabric::Fabric;
use crate::host::Host;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL802",
    name: "nic-trusts-the-tag",
    severity: Severity::Error,
    sentence: "A NIC trusts the VLAN tag, and the port it is cabled to the DSCP.",
    why: "The two give packets different priorities, so a PAUSE stops others than those that it is for.",
    fix: "`mlnx_qos --trust dscp`",
    released: "Needs a file of a host, which no template has.",
    evidence: "G16",
    good: &[],
    bad: &[set("srv0.mlnx_qos", "Priority trust state: dscp", r#""Priority trust state: pcp""#)],
    also: &[],
    check: Check::Host(check),
};

fn check(host: &Host, fabric: &Fabric, found: &mut Found) {
    let Some(trust) = host.trusts_dscp.filter(|trust| !trust.value) else {
        return;
    };
    let ports = fabric.ports_of(host);
    let by_dscp = ports.iter().find(|at| {
        at.switch.map_at(at.port, MapKind::DscpToTc).is_some()
            && at.switch.map_at(at.port, MapKind::Dot1pToTc).is_none()
    });
    if let Some(at) = by_dscp {
        let message = format!("trusts pcp, {}:{} DSCP", at.switch.name, at.port.name);
        let mut finding = found.of(&host.name, trust.place(), message);
        finding.device.clone_from(&host.name);
        found.push(finding);
    }
}
