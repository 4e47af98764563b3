//! PL608, members-differ: members of a port channel differ.

use crate::rule::prelude::*;
use std::collections::BTreeMap;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL608",
    name: "members-differ",
    severity: Severity::Error,
    sentence: "Members of a port channel differ, or members of a VLAN in their MTU.",
    why: "Packets of a flow take the members by hash, so a part of the flows is lossy, or slower, or cut. Compared are the neighbour, speed, MTU, cable, pfc_enable and all maps, and the MTU of the channel itself, which its members get; what another rule says of the same value is left to it. Members of a VLAN that pause are compared by MTU, as a warning.",
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
    let members = switch.ports.iter().filter(|port| port.row.is_some() || !switch.has_ports);
    let members = members.filter_map(|port| Some((port.channel?, port)));
    let mut channels: BTreeMap<&str, Vec<&Port>> = BTreeMap::new();
    for (channel, port) in members {
        channels.entry(channel).or_default().push(port);
    }
    vlans(switch, found);
    for (channel, ports) in channels {
        differs_from_channel(switch, channel, &ports, found);
        let is_bare = |port: &&Port| port.qos.is_none();
        let without_row = ports.iter().filter(|port| is_bare(port)).count();
        let has_rows = without_row == 0 || without_row == ports.len();
        for field in FIELDS {
            if !has_rows && field.ends_with("_map") {
                // A row that is missing is one difference and not one per map.
                continue;
            }
            let values = Vec::from_iter(ports.iter().map(|port| value(port, field)));
            if values.iter().all(|one| *one == values[0]) {
                continue;
            }
            // Of two members that differ, those of other channels tell which is the odd one.
            let kind = switch.kind_of_neighbour(ports[0]);
            let kin = switch.ports.iter().filter(|other| {
                field != "neighbour"
                    && other.channel.is_some()
                    && switch.kind_of_neighbour(other) == kind
            });
            let kin = Vec::from_iter(kin.map(|port| value(port, field)));
            let count = |one: &String| {
                [&values, &kin].map(|all| all.iter().filter(|other| *other == one).count())
            };
            let Some(usual) = values.iter().max_by_key(|one| count(one)) else {
                continue;
            };
            let Some(odd) = values.iter().position(|one| one != usual) else {
                continue;
            };
            let port = ports[odd];
            // A neighbour that is not named is no difference yet.
            if field == "neighbour" && (values[odd].is_empty() || usual.is_empty()) {
                continue;
            }
            let shown =
                |value: &str| if value.is_empty() { "none".to_string() } else { value.to_string() };
            let message = format!(
                "members of {channel} differ in {field}: {} here, {} at others",
                shown(&values[odd]),
                shown(usual)
            );
            let mut finding = found.at_port(switch, port, place(switch, port, field), message);
            if field == "neighbour" {
                // Which of the rows is wrong, other sources of cables may know.
                finding.related.extend(ports.iter().map(|port| place(switch, port, field)));
            }
            found.push(finding);
        }
    }
}

/// The MTU of a channel is what its members get, whatever they say themselves.
fn differs_from_channel(switch: &Switch, channel: &str, ports: &[&Port], found: &mut Found) {
    let row = switch.config.row_of("PORTCHANNEL", channel);
    let mtu = row.and_then(|row| Some((row, row.get("mtu")?.number()?)));
    let (Some((row, mtu)), Some(own)) = (mtu, ports.first().map(|port| port.mtu())) else {
        return;
    };
    if mtu == own || ports.iter().any(|port| port.mtu() != own || port.get("mtu").is_none()) {
        return;
    }
    let message = format!("mtu {mtu}, and {own} at its members");
    let mut finding = found.about(switch, channel, Place::of(row, "mtu"), message);
    let members = ports.iter().filter_map(|port| port.row);
    finding.related.extend(members.map(|row| Place::of(row, "mtu")));
    let op = Op::set("PORTCHANNEL", channel, "mtu", own.to_string());
    found.push(finding.patch([op]));
}

/// A frame is switched from one member of a VLAN to another as it is: where it is too long, it is lost.
fn vlans(switch: &Switch, found: &mut Found) {
    let mut vlans: BTreeMap<&str, Vec<&Port>> = BTreeMap::new();
    for row in switch.config.rows("VLAN_MEMBER") {
        let Some((vlan, name)) = row.key().text.split_once('|') else {
            continue;
        };
        let port = switch.port(name).filter(|port| port.pfc() != 0 && port.row.is_some());
        vlans.entry(vlan).or_default().extend(port);
    }
    for (vlan, ports) in vlans {
        let count = |mtu: u64| ports.iter().filter(|other| other.mtu() == mtu).count();
        let Some(usual) = ports.iter().map(|port| port.mtu()).max_by_key(|mtu| count(*mtu)) else {
            continue;
        };
        // Where no MTU is that of most members, none is the odd one.
        let odd = ports.iter().filter(|port| port.mtu() != usual && 2 * count(usual) > ports.len());
        for port in odd {
            let message = format!("mtu {}, and {usual} at other members of {vlan}", port.mtu());
            let finding = found.at_port(switch, port, place(switch, port, "mtu"), message);
            let op = Op::set("PORT", port.name, "mtu", usual.to_string());
            found.push(finding.severity(Severity::Warning).patch([op]));
        }
    }
}

fn value(port: &Port, field: &str) -> String {
    match field {
        "speed" => port.speed().map(|speed| speed.to_string()).unwrap_or_default(),
        "mtu" => port.mtu().to_string(),
        "neighbour" => port.neighbour.map(|one| one.name.text.to_string()).unwrap_or_default(),
        "cable" => port.cable.map(|cable| cable.value.text.to_string()).unwrap_or_default(),
        "pfc_enable" => list(port.pfc()),
        other => {
            let value = port.qos.and_then(|row| row.get(other));
            value.map(|value| value.reference().text.to_string()).unwrap_or_default()
        }
    }
}

fn place(switch: &Switch, port: &Port, field: &str) -> Place {
    let row = match field {
        "speed" | "mtu" => port.row,
        "cable" => match port.cable {
            Some(cable) => return Place::of(cable.row, port.name),
            None => switch.config.rows("CABLE_LENGTH").next().or(port.row),
        },
        "neighbour" => port.neighbour.map(|neighbour| neighbour.row),
        _ => port.qos,
    };
    let field = match field {
        "cable" => port.name,
        "neighbour" => "name",
        field => field,
    };
    row.or(port.row).map_or_else(Place::default, |row| Place::of(row, field))
}

const FIELDS: [&str; 10] = [
    "neighbour",
    "speed",
    "mtu",
    "cable",
    "pfc_enable",
    "dscp_to_tc_map",
    "tc_to_pg_map",
    "tc_to_queue_map",
    "pfc_to_queue_map",
    "pfc_to_pg_map",
];
