//! PL406, strict-priority-beside-lossless: A lossless queue has strict priority, or stands beside one that has.

use crate::rule::prelude::*;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL406",
    name: "strict-priority-beside-lossless",
    severity: Severity::Warning,
    sentence: "A lossless queue has strict priority, or stands beside one that has.",
    why: "Whoever is starved by it fills its buffer and pauses: starvation becomes PAUSE that spreads.",
    fix: "use DWRR",
    released: "Not on the 414 renderings; on those of five models of Marvell (d64p512t), whose queue 7 is strict: what fills it starves the lossless ones.",
    evidence: "follows from strict priority",
    good: &[set("tor0", "/QUEUE/Ethernet0|3/scheduler", r#""scheduler.0""#)],
    bad: &[set("tor0", "/SCHEDULER/scheduler.1/type", r#""STRICT""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let lossless = switch.used_lossless_queues(port);
    if lossless == 0 {
        return;
    }
    for binding in &port.scheduling {
        let Some(scheduler) = switch.scheduler(binding) else {
            continue;
        };
        if scheduler.get("type").is_none_or(|kind| kind.text != "STRICT") {
            continue;
        }
        let queue = binding.first;
        let is_lossless = binding.all().any(|queue| lossless & bit(queue) != 0);
        let message = if is_lossless {
            format!("lossless queue {queue} is STRICT")
        } else {
            format!("queue {queue} is STRICT beside lossless {}", list(lossless as u8))
        };
        let finding = found.at_port(switch, port, Place::of(binding.row, "scheduler"), message);
        let name = scheduler.key().text;
        let mut others = switch.config.rows("SCHEDULER").filter(|row| row.key().text != name);
        let kind = others.find_map(|row| row.get("type").filter(|kind| kind.text != "STRICT"));
        let kind = kind.map_or("DWRR", |kind| kind.text);
        let finding = finding.beside(Place::of(scheduler, "type"));
        found.push(finding.patch([Op::set("SCHEDULER", name, "type", kind)]));
    }
}
