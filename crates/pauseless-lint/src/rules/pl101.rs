//! PL101, map-does-not-exist: A port or queue names a map or profile that does not exist.

use crate::rule::prelude::*;
use crate::rules::pl107::is_misspelled;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL101",
    name: "map-does-not-exist",
    severity: Severity::Error,
    sentence: "A port or queue names a map or profile that does not exist.",
    why: "Orchagent applies a row as a whole: one name that leads nowhere, and nothing of the row is applied, PFC neither. It retries in silence. Every map field of PORT_QOS_MAP is looked at, the four of TUNNEL, and `scheduler` and `wred_profile` of QUEUE.",
    fix: "define the map, or name one that exists",
    released: "Never on a released template.",
    evidence: "src: swss orchagent/qosorch.cpp",
    good: &[
        set(
            "tor0",
            "/TC_TO_PRIORITY_GROUP_MAP/AZURE_NEW",
            r#"{"3": "3", "4": "4", "0": "0", "1": "0", "2": "0"}"#,
        ),
        set("tor0", "/PORT_QOS_MAP/Ethernet0/tc_to_pg_map", r#""AZURE_NEW""#),
    ],
    bad: &[set("tor0", "/PORT_QOS_MAP/Ethernet0/tc_to_pg_map", r#""AZURE_NEW""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    for row in switch.config.rows("PORT_QOS_MAP") {
        for kind in MapKind::ALL {
            let Some(name) = row.get(kind.field()).map(|name| name.reference()) else {
                continue;
            };
            let is_there = switch.map(kind, name.text).is_some();
            if name.text.is_empty() || is_there || is_elsewhere(switch, kind.table()) {
                continue;
            }
            let message = format!(
                "{} names {}, which does not exist; nothing of this row is applied, PFC neither",
                kind.field(),
                name.text
            );
            let place = Place::of(row, kind.field());
            let finding = found.about(switch, row.key().text, place, message);
            let other = usual_map(switch, row.key().text, kind);
            let patch =
                other.map(|other| Op::set("PORT_QOS_MAP", row.key().text, kind.field(), other));
            found.push(finding.patch(patch));
        }
    }
    look_at_tunnels(switch, found);
    for row in switch.config.rows("QUEUE") {
        let has = |field: &str, name: &str| match field {
            "wred_profile" => switch.wreds.contains_key(name),
            _ => switch.config.row_of("SCHEDULER", name).is_some(),
        };
        for (field, table) in [("wred_profile", "WRED_PROFILE"), ("scheduler", "SCHEDULER")] {
            let Some(name) = row.get(field).map(|name| name.reference()) else {
                continue;
            };
            if name.text.is_empty() || has(field, name.text) || is_elsewhere(switch, table) {
                continue;
            }
            let message = format!("{field} names {}, which does not exist", name.text);
            let key = row.key().text;
            let finding = found.about(switch, key, Place::of(row, field), message);
            let queue = key.rsplit('|').next().unwrap_or_default();
            let near = switch.config.rows("QUEUE").filter(|other| {
                other.key().text != key && other.key().text.rsplit('|').next() == Some(queue)
            });
            let mut names = near.filter_map(|other| Some(other.get(field)?.reference().text));
            let other = names.find(|other| has(field, other));
            found.push(finding.patch(other.map(|other| Op::set("QUEUE", key, field, other))));
        }
    }
}

/// Whether a table is not there because its name has a slip, which is PL107's to say.
fn is_elsewhere(switch: &Switch, table: &str) -> bool {
    !switch.config.has(table) && is_misspelled(switch, table)
}

/// The maps of tunnels, which a dual-ToR needs.
fn look_at_tunnels(switch: &Switch, found: &mut Found) {
    for row in switch.config.rows("TUNNEL") {
        for (field, kind) in TUNNEL_MAPS {
            let Some(name) = row.get(field).map(|name| name.reference()) else {
                continue;
            };
            if name.text.is_empty() || switch.map(kind, name.text).is_some() {
                continue;
            }
            let message = format!("{field} names {}, which does not exist", name.text);
            let key = row.key().text;
            let finding = found.about(switch, key, Place::of(row, field), message);
            let others = TUNNEL_MAPS.iter().filter_map(|(field, _)| row.get(field));
            let other = others.map(|name| name.reference().text);
            let mut other = other.filter(|other| switch.map(kind, other).is_some());
            found.push(finding.patch(other.next().map(|name| Op::set("TUNNEL", key, field, name))));
        }
    }
}

/// The fields of a tunnel that name maps.
pub(super) const TUNNEL_MAPS: [(&str, MapKind); 4] = [
    ("encap_tc_to_queue_map", MapKind::TcToQueue),
    ("encap_tc_to_dscp_map", MapKind::TcToDscp),
    ("decap_dscp_to_tc_map", MapKind::DscpToTc),
    ("decap_tc_to_pg_map", MapKind::TcToGroup),
];

/// The map that ports like this one have, or the only one that there is.
fn usual_map<'d>(switch: &Switch<'d>, key: &str, kind: MapKind) -> Option<&'d str> {
    let exists = |name: &&str| switch.map(kind, name).is_some();
    let named = |port: &Port<'d>| Some(port.qos?.get(kind.field())?.reference().text);
    let usual = switch.port(key).and_then(|port| switch.usual(port, named)).filter(exists);
    let only = || {
        let maps = switch.maps.get(&kind)?;
        (maps.len() == 1).then(|| maps.keys().next().copied()).flatten()
    };
    usual.or_else(only)
}
