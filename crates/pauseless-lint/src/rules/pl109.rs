//! PL109, map-leaves-a-class-out: a lossless class or priority is in no entry of a map, or a port lacks the map.

use crate::rule::prelude::*;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL109",
    name: "map-leaves-a-class-out",
    severity: Severity::Warning,
    sentence: "A lossless class or priority is in no entry of a map, or a port lacks the map.",
    why: "What the switch does then is the chip's default, which differs between chips and releases: some lead each class to the group and queue of its number, some all to 0. Looked at are the maps from class to group, from class to queue and from the priority of a PAUSE to the queue; PL205 has the one from priority to group. A port that lacks a map is told only where other ports of the switch have it.",
    fix: "write the entry, or name the map",
    released: "Silent on the released configurations of the test data; newer than the count over 414 renderings.",
    evidence: "src: swss orchagent/qosorch.cpp hands over what is listed, and nothing else",
    good: &[unset("tor0", "/TC_TO_QUEUE_MAP/AZURE/2")],
    bad: &[unset("tor0", "/TC_TO_PRIORITY_GROUP_MAP/AZURE/3")],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let Some(row) = port.qos.filter(|_| port.pfc() != 0) else {
        return;
    };
    let classes = switch.lossless_classes(port);
    let looked_at = [
        (MapKind::TcToGroup, "class", classes),
        (MapKind::TcToQueue, "class", classes),
        (MapKind::PriorityToQueue, "priority", port.pfc().into()),
        // What an entry that is missing there means is PL205's.
        (MapKind::PriorityToGroup, "priority", 0),
    ];
    for (kind, of, needed) in looked_at {
        let (field, key) = (kind.field(), row.key().text);
        if row.get(field).is_none() {
            let named = |other: &Port| other.qos?.get(field).map(|name| name.text.to_string());
            let Some(usual) = switch.ports.iter().find_map(named) else {
                continue;
            };
            let message = format!("PFC in {}, but no {field}", list(port.pfc()));
            let finding = found.at_port(switch, port, Place::of(row, field), message);
            found.push(finding.patch([Op::set("PORT_QOS_MAP", key, field, usual)]));
            continue;
        }
        let Some(map) = switch.map_at(port, kind) else {
            continue;
        };
        let has = map.row.fields().filter_map(|(key, _)| key.text.trim().parse::<u8>().ok());
        let has = has.fold(0, |mask, key| mask | bit(key));
        for missing in bits(needed & !has) {
            let name = map.row.key().text;
            let message = format!("{of} {missing} is in no entry of this {}", kind.table());
            let finding = found.about(switch, name, Place::row(map.row), message);
            let value = missing.to_string();
            found.push(finding.patch([Op::set(kind.table(), name, &value, value.clone())]));
        }
    }
}
