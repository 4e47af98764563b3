//! PL208, pfc-without-classification: A port pauses, but neither DSCP nor 802.1p is mapped to classes.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL208",
    name: "pfc-without-classification",
    severity: Severity::Error,
    sentence: "A port pauses, but neither DSCP nor 802.1p is mapped to classes.",
    why: "Every packet is then of class 0, whatever it is marked with. The row of the port has no such map, and neither has the row `global`.",
    fix: "set dscp_to_tc_map",
    released: "Never on a released template.",
    evidence: "src: swss orchagent/qosorch.cpp",
    good: &[unset("tor0", "/PORT_QOS_MAP/Ethernet0/dscp_to_tc_map")],
    bad: &[
        unset("tor0", "/PORT_QOS_MAP/Ethernet0/dscp_to_tc_map"),
        unset("tor0", "/PORT_QOS_MAP/global"),
    ],
    also: &["PL804", "PL805"],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let Some(row) = port.qos.filter(|_| port.pfc() != 0) else {
        return;
    };
    let global = switch.config.row_of("PORT_QOS_MAP", "global");
    let has = |field: &str| row.get(field).is_some();
    let is_global = global.is_some_and(|row| row.get("dscp_to_tc_map").is_some());
    if has("dscp_to_tc_map") || has("dot1p_to_tc_map") || is_global {
        return;
    }
    let message = format!("PFC in {}, but neither DSCP nor 802.1p is mapped", list(port.pfc()));
    let finding = found.at_port(switch, port, Place::of(row, "pfc_enable"), message);
    let finding = finding.beside(Place::of(row, "dscp_to_tc_map"));
    let named = |other: &Port| other.qos?.get("dscp_to_tc_map").map(|name| name.text.to_string());
    let names = switch.ports.iter().filter_map(named);
    let only = switch.maps.get(&MapKind::DscpToTc).filter(|maps| maps.len() == 1);
    let only = only.and_then(|maps| maps.keys().next()).map(|name| name.to_string());
    let name = names.into_iter().next().or(only);
    let key = row.key().text;
    let patch = name.map(|name| Op::set("PORT_QOS_MAP", key, "dscp_to_tc_map", name));
    found.push(finding.patch(patch));
}
