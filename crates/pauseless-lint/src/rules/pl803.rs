//! PL803, link-pause-and-pfc: link pause and PFC are both on at a NIC.

use crate::fabric::Fabric;
use crate::host::Host;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL803",
    name: "link-pause-and-pfc",
    severity: Severity::Error,
    sentence: "Link pause and PFC are both on at a NIC.",
    why: "Link pause stops all classes at once and saves none from being dropped.",
    fix: "`ethtool -A X rx off tx off`",
    released: "Needs a file of a host, which no template has.",
    evidence: "NVIDIA/daqiri 250: a fifth of 400G lost",
    good: &[],
    bad: &[set("srv0.ethtool-a", "RX:\t\toff", r#""RX:\t\ton""#)],
    also: &[],
    check: Check::Host(check),
};

fn check(host: &Host, fabric: &Fabric, found: &mut Found) {
    let Some(pause) = host.link_pause.filter(|pause| pause.value) else {
        return;
    };
    let ports = fabric.ports_of(host);
    let by_switch = ports.iter().any(|at| at.port.pfc() != 0);
    let by_host = host.pfc.iter().any(|given| given.value != 0);
    // Where nothing is known of PFC, who asks a linter for lossless Ethernet has it on.
    let is_unknown = host.pfc.is_empty() && ports.is_empty();
    if by_switch || by_host || is_unknown {
        let message = "link pause and PFC both on".to_string();
        let mut finding = found.of(&host.name, pause.place(), message);
        finding.device.clone_from(&host.name);
        found.push(finding);
    }
}
