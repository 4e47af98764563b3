//! PL204, classes-share-a-lossless-group: two traffic classes share a lossless group, and its PAUSE stops only one of them.

use crate::rule::prelude::*;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL204",
    name: "classes-share-a-lossless-group",
    severity: Severity::Error,
    sentence: "Two traffic classes share a lossless group, and its PAUSE stops only one of them.",
    why: "Packets of the other class go on arriving after the PAUSE and overrun the headroom of both. Only classes that some code point reaches count, and a group is fine if its PAUSE stops the queues of all its classes.",
    fix: "give each class a group of its own",
    released: "Never on a released template.",
    evidence: "src; BI 11157, 11569",
    good: &[set("tor0", "/TC_TO_PRIORITY_GROUP_MAP/AZURE/7", r#""3""#)],
    bad: &[set("tor0", "/TC_TO_PRIORITY_GROUP_MAP/AZURE/1", r#""3""#)],
    also: &["PL604", "PL210", "PL805", "PL809", "PL804", "PL209"],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    for group in bits(switch.pausing_groups(port).into()) {
        let classes = bits(switch.reached(port));
        let classes = classes.filter(|class| switch.tc_to_group(port, *class) == group);
        let classes = Vec::from_iter(classes);
        let stopped = switch.stopped_queues(port, group);
        let escapes = |class: &&u8| stopped & bit(switch.tc_to_queue(port, **class)) == 0;
        let escaping = Vec::from_iter(classes.iter().filter(escapes));
        let is_lossless = !switch.has_lossless || switch.has_headroom(port, group);
        if classes.len() < 2 || escaping.is_empty() || !is_lossless {
            continue;
        }
        let names = Vec::from_iter(classes.iter().map(u8::to_string)).join(", ");
        let message = format!("traffic classes {names} share lossless group {group}");
        let map = switch.map_at(port, MapKind::TcToGroup);
        let row = map.map(|map| map.row).or(port.qos);
        let place = row.map_or_else(Place::default, |row| Place::of(row, &escaping[0].to_string()));
        let finding = found.at_port(switch, port, place, message).group(group);
        let lossy = |class: &&&u8| u32::from(switch.pausing_groups(port)) & bit(***class) == 0;
        let patch = map.into_iter().flat_map(|map| {
            escaping.iter().filter(lossy).map(|class| {
                let key = map.row.key().text;
                Op::set("TC_TO_PRIORITY_GROUP_MAP", key, &class.to_string(), "0")
            })
        });
        let patch = Vec::from_iter(patch);
        found.push(finding.patch(patch));
    }
}
