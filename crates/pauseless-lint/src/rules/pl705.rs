//! PL705, tunnel-is-half-remapped: A tunnel that remaps classes copies the DSCP, or lacks a map on the way out.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL705",
    name: "tunnel-is-half-remapped",
    severity: Severity::Warning,
    sentence: "A tunnel that remaps classes copies the DSCP, or lacks a map on the way out.",
    why: "Bounced packets then arrive in the class that they were sent in, or in class 0, and not in the one that was kept for them.",
    fix: "dscp_mode pipe; set all four maps",
    released: "Never on a released template.",
    evidence: "SO 950",
    good: &[set("dual0", "/TUNNEL/MuxTunnel0/ttl_mode", r#""uniform""#)],
    bad: &[set("dual0", "/TUNNEL/MuxTunnel0/dscp_mode", r#""uniform""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    if !switch.remaps_tunnels || !switch.is_dual() {
        return;
    }
    for row in switch.config.rows("TUNNEL") {
        if row.get("encap_tc_to_queue_map").is_none() {
            continue;
        }
        let name = row.key().text;
        if row.get("dscp_mode").is_some_and(|mode| mode.text == "uniform") {
            let message = "dscp_mode uniform, with classes remapped".to_string();
            let finding = found.about(switch, name, Place::of(row, "dscp_mode"), message);
            found.push(finding.patch([Op::set("TUNNEL", name, "dscp_mode", "pipe")]));
        }
        let maps = ["encap_tc_to_dscp_map", "decap_dscp_to_tc_map", "decap_tc_to_pg_map"];
        for field in maps.into_iter().filter(|field| row.get(field).is_none()) {
            let finding = found.about(
                switch,
                name,
                Place::row(row),
                format!("no {field}, with classes remapped"),
            );
            let other = row.get("encap_tc_to_queue_map").map(|name| name.reference().text);
            found.push(finding.patch(other.map(|other| Op::set("TUNNEL", name, field, other))));
        }
    }
}
