//! PL207, queue-with-lossless-and-lossy: A queue carries a lossless and a lossy class.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL207",
    name: "queue-with-lossless-and-lossy",
    severity: Severity::Error,
    sentence: "A queue carries a lossless and a lossy class.",
    why: "The PAUSE for the lossless class holds up the lossy one, and WRED drops packets of the lossless class to make room for the other.",
    fix: "give each class a queue of its own",
    released: "Never on a released template.",
    evidence: "Cisco's guide to PFC: only no-drop traffic in the queue",
    good: &[set("tor0", "/TC_TO_QUEUE_MAP/AZURE/2", r#""1""#)],
    bad: &[set("tor0", "/TC_TO_QUEUE_MAP/AZURE/2", r#""3""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let lossless = switch.lossless_classes(port);
    let lossy = switch.reached(port) & !lossless;
    for class in bits(lossy) {
        let queue = switch.tc_to_queue(port, class);
        let mut others = bits(lossless);
        let Some(other) = others.find(|other| switch.tc_to_queue(port, *other) == queue) else {
            continue;
        };
        let message = format!("queue {queue} carries lossless class {other} and lossy {class}");
        let map = switch.map_at(port, MapKind::TcToQueue);
        let place = match map.map(|map| map.row).or(port.qos) {
            Some(row) => Place::of(row, &class.to_string()),
            None => Place::default(),
        };
        let group = switch.tc_to_group(port, other);
        let finding = found.at_port(switch, port, place, message).group(group);
        let is_free =
            (0..8).filter(|one| *one != class).all(|one| switch.tc_to_queue(port, one) != class);
        let patch = map.filter(|_| is_free).map(|map| {
            let key = class.to_string();
            Op::set("TC_TO_QUEUE_MAP", map.row.key().text, &key, key.as_str())
        });
        found.push(finding.patch(patch));
    }
}
