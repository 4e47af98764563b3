//! PL304, cable-of-no-length: A cable of 0 m takes the headroom away, and PFC stays on.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL304",
    name: "cable-of-no-length",
    severity: Severity::Error,
    sentence: "A cable of 0 m takes the headroom away, and PFC stays on.",
    why: "0m means none on purpose: the lossless groups of the port are removed. Ports inside the box (role Dpc) are left out.",
    fix: "write the real length, or set pfc_enable to nothing",
    released: "1 SKU, which sets 0m for ports that its QoS template still lets pause.",
    evidence: "src: cfgmgr/buffermgr.cpp; BI 18978",
    good: &[
        set("tor0", "/CABLE_LENGTH/AZURE/Ethernet0", r#""0m""#),
        set("tor0", "/PORT/Ethernet0/role", r#""Dpc""#),
    ],
    bad: &[set("tor0", "/CABLE_LENGTH/AZURE/Ethernet0", r#""0m""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let Some(cable) = port.cable.filter(|cable| cable.metres == Some(0) && port.pfc() != 0) else {
        return;
    };
    if port.is_internal() {
        return;
    }
    let message = format!("cable 0m removes headroom, PFC in {} stays on", list(port.pfc()));
    let finding = found.at_port(switch, port, Place::of(cable.row, port.name), message);
    let made = port.groups.iter().filter_map(|one| switch.profile_of(one)?.made_for());
    let made = made.map(|made| made.metres).next();
    let usual = made.or_else(|| switch.usual(port, |other| other.metres()));
    let usual = usual.filter(|metres| *metres > 0);
    found.push(finding.patch(usual.map(|metres| {
        Op::set("CABLE_LENGTH", cable.row.key().text, port.name, format!("{metres}m"))
    })));
}
