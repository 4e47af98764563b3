//! PL313, port-without-admin-status: A port that pauses has no admin_status, so it is down and gets no headroom.

use crate::rule::prelude::*;
use crate::switch::BufferModel;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL313",
    name: "port-without-admin-status",
    severity: Severity::Error,
    sentence: "A port that pauses has no admin_status, so it is down and gets no headroom.",
    why: "PORT without admin_status is down. In the static model no lossless group is made for it on Mellanox and Barefoot, and nowhere in older releases; elsewhere it is a warning.",
    fix: "set admin_status to up",
    released: "Never on a released template.",
    evidence: "BI 23354",
    good: &[set("tor0", "/PORT/Ethernet2", r#"{"lanes": "2,3", "speed": "50000"}"#)],
    bad: &[unset("tor0", "/PORT/Ethernet0/admin_status")],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let Some(row) = port.row.filter(|row| row.get("admin_status").is_none()) else {
        return;
    };
    if port.pfc() == 0 || switch.model == BufferModel::Dynamic || port.is_internal() {
        return;
    }
    let message = "no admin_status, so no headroom is made".to_string();
    let finding = found.at_port(switch, port, Place::row(row), message);
    let is_error = matches!(switch.vendor, Vendor::Mellanox | Vendor::Barefoot);
    let severity = if is_error { Severity::Error } else { Severity::Warning };
    let op = Op::set("PORT", port.name, "admin_status", "up");
    found.push(finding.severity(severity).patch([op]));
}
