//! PL608, members-differ: members of a port channel differ.

use crate::rule::prelude::*;
use std::collections::BTreeMap;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL608",
    name: "members-differ",
    severity: Severity::Error,
    sentence: "Members of a port channel differ.",
    why: "Packets of a flow take the members by hash, so a part of the flows is lossy, or slower, or cut. Compared are PORT_QOS_MAP, speed, MTU and cable.",
    fix: "configure all members alike",
    released: "Never on a released template.",
    evidence: "src: the chain of maps",
    good: &[
        unset("tor0", "/PORTCHANNEL_MEMBER/PortChannel101|Ethernet44"),
        set("tor0", "/PORT/Ethernet44/mtu", r#""1500""#),
        set("leaf0", "/PORT/Ethernet4/mtu", r#""1500""#),
        unset("leaf0", "/PORTCHANNEL_MEMBER/PortChannel1|Ethernet4"),
    ],
    bad: &[set("tor0", "/PORT/Ethernet44/mtu", r#""1500""#)],
    also: &["PL602"],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    let members = switch.ports.iter().filter_map(|port| Some((port.channel?, port)));
    let mut channels: BTreeMap<&str, Vec<&Port>> = BTreeMap::new();
    for (channel, port) in members {
        channels.entry(channel).or_default().push(port);
    }
    for (channel, ports) in channels {
        for field in FIELDS {
            let values = Vec::from_iter(ports.iter().map(|port| value(port, field)));
            let count = |one: &String| values.iter().filter(|other| *other == one).count();
            let Some(usual) = values.iter().max_by_key(|one| count(one)) else {
                continue;
            };
            let Some(odd) = values.iter().position(|one| one != usual) else {
                continue;
            };
            let port = ports[odd];
            let shown =
                |value: &str| if value.is_empty() { "none".to_string() } else { value.to_string() };
            let message = format!(
                "members of {channel} differ in {field}: {} here, {} at others",
                shown(&values[odd]),
                shown(usual)
            );
            found.push(found.at_port(switch, port, place(port, field), message));
        }
    }
}

fn value(port: &Port, field: &str) -> String {
    match field {
        "speed" => port.speed().map(|speed| speed.to_string()).unwrap_or_default(),
        "mtu" => port.mtu().to_string(),
        "cable" => port.cable.map(|cable| cable.value.text.to_string()).unwrap_or_default(),
        "pfc_enable" => list(port.pfc()),
        "pfcwd_sw_enable" => list(port.watch()),
        other => {
            let value = port.qos.and_then(|row| row.get(other));
            value.map(|value| value.reference().text.to_string()).unwrap_or_default()
        }
    }
}

fn place(port: &Port, field: &str) -> Place {
    let row = match field {
        "speed" | "mtu" => port.row,
        "cable" => return port.cable.map_or_else(Place::default, |c| Place::of(c.row, port.name)),
        _ => port.qos,
    };
    row.or(port.row).map_or_else(Place::default, |row| Place::of(row, field))
}

const FIELDS: [&str; 10] = [
    "speed",
    "mtu",
    "cable",
    "pfc_enable",
    "pfcwd_sw_enable",
    "dscp_to_tc_map",
    "tc_to_pg_map",
    "tc_to_queue_map",
    "pfc_to_queue_map",
    "pfc_to_pg_map",
];
