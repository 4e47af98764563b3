//! PL104, port-does-not-exist: A table has a port that PORT does not have.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL104",
    name: "port-does-not-exist",
    severity: Severity::Warning,
    sentence: "A table has a port that PORT does not have.",
    why: "What is configured for it waits for ever; after a change of breakout the ports that are there instead have nothing. Lists of ports in a key are taken apart first. Members of port channels and VLANs count, and so do members of channels and VLANs that are not there.",
    fix: "drop the row, or add the port",
    released: "Never on a released template.",
    evidence: "BI 23354: after breakout",
    good: &[
        set("tor0", "/PORT/Ethernet2", r#"{"lanes": "2,3", "speed": "50000"}"#),
        set("tor0", "/CABLE_LENGTH/AZURE/Ethernet2", r#""5m""#),
    ],
    bad: &[set("tor0", "/BUFFER_PG/Ethernet2|0", r#"{"profile": "ingress_lossy_profile"}"#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    if !switch.has_ports {
        return;
    }
    for port in switch.ports.iter().filter(|port| port.row.is_none()) {
        let bindings = [&port.groups, &port.queues, &port.scheduling].into_iter().flatten();
        let rows = bindings.map(|binding| Place::row(binding.row));
        let rows = rows.chain(port.qos.map(Place::row));
        let rows = rows.chain(port.watchdog.map(|watchdog| Place::row(watchdog.row)));
        let rows = rows.chain(port.cable.map(|cable| Place::of(cable.row, port.name)));
        let rows = rows.chain(port.neighbour.map(|neighbour| Place::row(neighbour.row)));
        let places = Vec::from_iter(rows);
        let Some(first) = places.first() else {
            continue;
        };
        let patch = places.iter().filter(|place| !place.key.contains(',')).map(|place| {
            if place.field.is_empty() {
                Op::drop(&place.table, &place.key)
            } else {
                Op::unset(&place.table, &place.key, &place.field)
            }
        });
        let message = format!("{} has it, PORT has not", first.table);
        let mut finding = found.at_port(switch, port, first.clone(), message);
        finding.related.extend(places.iter().skip(1).take(RELATED_MAX).cloned());
        found.push(finding.patch(patch));
    }
    look_at_members(switch, found);
}

/// Members of port channels and VLANs that are no ports, and channels that do not exist.
fn look_at_members(switch: &Switch, found: &mut Found) {
    for table in ["PORTCHANNEL_MEMBER", "VLAN_MEMBER"] {
        for row in switch.config.rows(table) {
            let Some((group, member)) = row.key().text.split_once('|') else {
                continue;
            };
            let known = |table| switch.config.row_of(table, member).is_some();
            if !known("PORT") && !known("PORTCHANNEL") && switch.port(member).is_none() {
                let message = format!("{table} has it, PORT has not");
                let finding = found.about(switch, member, Place::row(row), message);
                found.push(finding.patch([Op::drop(table, row.key().text)]));
            }
            let groups = table.trim_end_matches("_MEMBER");
            if switch.config.has(groups) && switch.config.row_of(groups, group).is_none() {
                let message = format!("{table} has it, {groups} has not");
                found.push(found.about(switch, group, Place::row(row), message));
            }
        }
    }
}

/// More places do not help.
const RELATED_MAX: usize = 8;
