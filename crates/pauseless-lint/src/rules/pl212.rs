//! PL212, pfc-where-it-has-no-business: PFC is on at a switch of the management network, or at a port inside the box.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL212",
    name: "pfc-where-it-has-no-business",
    severity: Severity::Warning,
    sentence: "PFC is on at a switch of the management network, or at a port inside the box.",
    why: "There is nothing lossless to protect there, and a PAUSE can stop management when it is needed most.",
    fix: "remove pfc_enable",
    released: "Never on a released template.",
    evidence: "BI 18978",
    good: &[set("tor0", "/DEVICE_METADATA/localhost/type", r#""BackEndToRRouter""#)],
    bad: &[set("tor0", "/DEVICE_METADATA/localhost/type", r#""MgmtToRRouter""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    if switch.role().contains("Mgmt")
        && let Some(row) = switch.pausing().find_map(|port| port.qos)
    {
        let message = format!("is a {}, with PFC on", switch.role());
        let place = Place::of(row, "pfc_enable");
        let finding = found.about(switch, &switch.name, place, message);
        let off =
            switch.pausing().filter(|port| port.qos.is_some_and(|row| row.key().text == port.name));
        let patch = off.map(|port| Op::set("PORT_QOS_MAP", port.name, "pfc_enable", ""));
        let patch = Vec::from_iter(patch);
        found.push(finding.patch(patch));
    }
    for port in switch.pausing() {
        let role = port.get("role").map_or("Ext", |role| role.text);
        if let Some(row) = port.qos.filter(|_| matches!(role, "Inb" | "Rec" | "Dpc")) {
            let message = format!("is a port of role {role}, with PFC on");
            let finding = found.at_port(switch, port, Place::of(row, "pfc_enable"), message);
            let off = Op::set("PORT_QOS_MAP", row.key().text, "pfc_enable", "");
            found.push(finding.patch([off]));
        }
    }
}
