//! PL811, somebody-else-configures-the-nic: the firmware or lldpad may overwrite these settings.

use crate::fabric::Fabric;
use crate::host::Host;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL811",
    name: "somebody-else-configures-the-nic",
    severity: Severity::Note,
    sentence: "The firmware or lldpad may overwrite these settings.",
    why: "With DCBX the NIC takes what its neighbour advertises.",
    fix: "`mlnx_qos -d os`, and stop lldpad",
    released: "Needs a file of a host, which no template has.",
    evidence: "mlnx_qos",
    good: &[],
    bad: &[set("srv0.mlnx_qos", "DCBX mode: OS controlled", r#""DCBX mode: Firmware controlled""#)],
    also: &[],
    check: Check::Host(check),
};

fn check(host: &Host, _: &Fabric, found: &mut Found) {
    if let Some(given) = host.is_negotiated {
        let message = format!("{} may overwrite these settings", given.value);
        let mut finding = found.of(&host.name, given.place(), message);
        finding.device.clone_from(&host.name);
        found.push(finding);
    }
}
