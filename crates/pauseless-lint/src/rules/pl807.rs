//! PL807, host-mtu-above-the-port: the MTU of a host is above that of its port.

use crate::fabric::Fabric;
use crate::host::Host;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL807",
    name: "host-mtu-above-the-port",
    severity: Severity::Error,
    sentence: "The MTU of a host is above that of its port.",
    why: "Its largest packets vanish at the switch.",
    fix: "one MTU",
    released: "Needs a file of a host, which no template has.",
    evidence: "mlx5 counter rx_oversize_pkts_phy",
    good: &[],
    bad: &[set("srv0.ip-link", "\"mtu\":9000", r#""\"mtu\":9216""#)],
    also: &[],
    check: Check::Host(check),
};

fn check(host: &Host, fabric: &Fabric, found: &mut Found) {
    let Some(mtu) = host.mtu else {
        return;
    };
    let ports = fabric.ports_of(host);
    if let Some(at) = ports.iter().find(|at| at.port.row.is_some() && at.port.mtu() < mtu.value) {
        let message =
            format!("MTU {}, {}:{} has {}", mtu.value, at.switch.name, at.port.name, at.port.mtu());
        let mut finding = found.of(&host.name, mtu.place(), message);
        finding.device.clone_from(&host.name);
        found.push(finding);
    }
}
