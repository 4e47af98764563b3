//! PL206, pause-stops-another-queue: packets of a lossless class leave by a queue that its PAUSE does not stop.

use crate::rule::prelude::*;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL206",
    name: "pause-stops-another-queue",
    severity: Severity::Error,
    sentence: "Packets of a lossless class leave by a queue that its PAUSE does not stop.",
    why: "The neighbour asks for silence, this switch stops a queue that has nothing to do with it and goes on sending: the neighbour loses packets. It is so if the queue of the class is none of those that the PAUSE of its group stops.",
    fix: "make tc_to_queue_map and pfc_to_queue_map agree",
    released: "Never on a released template.",
    evidence: "src: the chain of maps",
    good: &[set("tor0", "/MAP_PFC_PRIORITY_TO_QUEUE/AZURE/1", r#""0""#)],
    bad: &[set("tor0", "/MAP_PFC_PRIORITY_TO_QUEUE/AZURE/3", r#""2""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    for class in bits(switch.lossless_classes(port)) {
        let group = switch.tc_to_group(port, class);
        let queue = switch.tc_to_queue(port, class);
        let stopped = switch.stopped_queues(port, group);
        if stopped & bit(queue) != 0 {
            continue;
        }
        let mut priorities = port.priorities();
        let Some(priority) =
            priorities.find(|priority| switch.priority_to_group(port, *priority) == group)
        else {
            continue;
        };
        let other = switch.priority_to_queue(port, priority);
        let message = format!(
            "packets of class {class} leave by queue {queue}, but PAUSE in {priority} stops queue \
             {other}"
        );
        let odd = odd(switch, port, Pair { class, priority });
        let map = switch.map_at(port, odd.kind);
        let key = odd.key.to_string();
        let place = match map.map(|map| map.row).or(port.qos) {
            Some(row) => Place::of(row, &key),
            None => Place::default(),
        };
        let mut finding = found.at_port(switch, port, place, message).group(group);
        finding.related.extend(map.map(|map| Place::row(map.row)));
        found.push(finding.patch(map.map(|map| {
            Op::set(odd.kind.table(), map.row.key().text, &key, odd.value.to_string())
        })));
    }
}

/// A class and the priority that pauses its group.
struct Pair {
    class: u8,
    priority: u8,
}

/// The entry of a map that is to be mended.
struct Odd {
    kind: MapKind,
    key: u8,
    value: u8,
}

/// Released maps lead to the same number: the first map of the chain that does not is the odd one.
fn odd(switch: &Switch, port: &Port, pair: Pair) -> Odd {
    let Pair { class, priority } = pair;
    let queue = switch.priority_to_queue(port, priority);
    // Where the priority stops the queue of its own number, a class that leads elsewhere is odd.
    let is_plain = queue == priority;
    let group = switch.tc_to_group(port, class);
    if is_plain && group != class && switch.tc_to_queue(port, class) == class {
        Odd { kind: MapKind::TcToGroup, key: class, value: class }
    } else if switch.tc_to_queue(port, class) == class {
        Odd { kind: MapKind::PriorityToQueue, key: priority, value: class }
    } else {
        Odd { kind: MapKind::TcToQueue, key: class, value: queue }
    }
}
