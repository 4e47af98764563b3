//! PL205, priority-without-group: A priority is enabled that the map from priority to group does not have.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL205",
    name: "priority-without-group",
    severity: Severity::Error,
    sentence: "A priority is enabled that the map from priority to group does not have.",
    why: "The chip has no group that could send its PAUSE frames.",
    fix: "add the priority to the map",
    released: "Never on a released template.",
    evidence: "src: swss orchagent/qosorch.cpp",
    good: &[set("tor0", "/PFC_PRIORITY_TO_PRIORITY_GROUP_MAP/AZURE/5", r#""5""#)],
    bad: &[unset("tor0", "/PFC_PRIORITY_TO_PRIORITY_GROUP_MAP/AZURE/4")],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let (Some(map), Some(row)) = (switch.map_at(port, MapKind::PriorityToGroup), port.qos) else {
        return;
    };
    for priority in port.priorities().filter(|priority| !map.entries.contains_key(priority)) {
        let name = map.row.key().text;
        let message = format!("priority {priority} is in pfc_enable, not in pfc_to_pg_map {name}");
        let place = Place::of(row, "pfc_enable");
        let finding = found.at_port(switch, port, place, message).group(priority);
        let field = priority.to_string();
        let op = Op::set("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", name, &field, field.as_str());
        found.push(finding.beside(Place::row(map.row)).patch([op]));
    }
}
