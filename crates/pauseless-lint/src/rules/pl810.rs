//! PL810, nic-expects-a-shorter-cable: the cable length that a NIC has is below that of its port.

use crate::fabric::Fabric;
use crate::host::Host;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL810",
    name: "nic-expects-a-shorter-cable",
    severity: Severity::Warning,
    sentence: "The cable length that a NIC has is below that of its port.",
    why: "Its own headroom is made for that length and too small.",
    fix: "`mlnx_qos --cable_len`",
    released: "Needs a file of a host, which no template has.",
    evidence: "mlnx_qos",
    good: &[],
    bad: &[set("srv0.mlnx_qos", "Cable len: 7", r#""Cable len: 3""#)],
    also: &[],
    check: Check::Host(check),
};

fn check(host: &Host, fabric: &Fabric, found: &mut Found) {
    let Some(given) = host.cable_metres else {
        return;
    };
    let ports = fabric.ports_of(host);
    let mut longer = ports.iter().filter_map(|at| Some((at, at.port.metres()?)));
    if let Some((at, metres)) = longer.find(|(_, metres)| *metres > given.value) {
        let message =
            format!("cable {} m, {}:{} says {metres} m", given.value, at.switch.name, at.port.name);
        let mut finding = found.of(&host.name, given.place(), message);
        finding.device.clone_from(&host.name);
        found.push(finding);
    }
}
