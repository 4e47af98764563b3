//! PL401, lossless-queue-without-ecn: A lossless queue does not mark: PFC is the only brake.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL401",
    name: "lossless-queue-without-ecn",
    severity: Severity::Warning,
    sentence: "A lossless queue does not mark: PFC is the only brake.",
    why: "Senders then never slow down before they are stopped, and every congestion becomes PAUSE that spreads.",
    fix: "bind a WRED profile with ecn_all",
    released: "2 SKUs, which have no WRED profile at the queues of classes 3 and 4.",
    evidence: "Z15: DCQCN needs marks",
    good: &[set("tor0", "/QUEUE/Ethernet0|5/scheduler", r#""scheduler.1""#)],
    bad: &[unset("tor0", "/QUEUE/Ethernet0|3/wred_profile")],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    if !switch.config.has("QUEUE") {
        return;
    }
    for queue in bits(switch.used_lossless_queues(port)) {
        let named = port.scheduled(queue, "wred_profile").map(|name| name.reference());
        let wred = named.map(|name| switch.wreds.get(name.text));
        let is_marking = match wred {
            // What does not exist is another rule's; and so is what drops instead.
            Some(None) => true,
            Some(Some(wred)) => wred.marks() || COLOURS.iter().any(|colour| wred.is_on(colour)),
            None => false,
        };
        if is_marking {
            continue;
        }
        let mut rows = port.scheduling.iter().filter(|binding| binding.has(queue));
        let row = rows.next().map(|binding| binding.row);
        let place =
            row.or(port.qos).map_or_else(Place::default, |row| Place::of(row, "wred_profile"));
        let message = format!("lossless queue {queue} has no ECN; PFC is the only brake");
        let finding = found.at_port(switch, port, place, message);
        let class = bits(switch.lossless_classes(port))
            .find(|class| switch.tc_to_queue(port, *class) == queue);
        let finding = match class {
            Some(class) => finding.group(switch.tc_to_group(port, class)),
            None => finding,
        };
        let usual = switch.usual(port, |other| {
            let name = other.scheduled(queue, "wred_profile")?.reference().text;
            switch.wreds.get(name).filter(|wred| wred.marks()).map(|_| name)
        });
        let key = format!("{}|{queue}", port.name);
        let key = row.map_or(key, |row| row.key().text.to_string());
        let patch = usual.map(|name| Op::set("QUEUE", &key, "wred_profile", name));
        found.push(finding.patch(patch));
    }
}

/// The colours of packets, of which all are green unless somebody says otherwise.
const COLOURS: [&str; 3] = ["green", "yellow", "red"];
