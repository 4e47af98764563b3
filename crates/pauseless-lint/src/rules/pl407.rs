//! PL407, small-weight: A lossless queue has less than a tenth of the weights.

use crate::rule::prelude::*;
use crate::switch::Binding;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL407",
    name: "small-weight",
    severity: Severity::Note,
    sentence: "A lossless queue has less than a tenth of the weights.",
    why: "It is then slow whenever the others are busy, and pauses more. Templates for AI back ends give one of their lossless queues little by design, of 100 in all.",
    fix: "a larger weight, unless it is meant so",
    released: "Silent on the templates for AI back ends, which give 1 of 100 by design.",
    evidence: "templates of Apollo (ComputeAI)",
    good: &[],
    bad: &[set("tor0", "/SCHEDULER/scheduler.1/weight", r#""1""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let weight = |binding: &Binding| switch.scheduler(binding)?.get("weight")?.number();
    let queues = port.scheduling.iter().filter_map(|one| Some((one, weight(one)?)));
    let queues = Vec::from_iter(queues);
    let sum = queues.iter().map(|(one, weight)| weight * one.all().count() as u64).sum::<u64>();
    // A hundred in all is a share in percent, written by somebody who has thought of it.
    if sum == 100 || switch.about("resource_type") == "ComputeAI" {
        return;
    }
    let lossless = switch.used_lossless_queues(port);
    for (binding, weight) in queues {
        let is_lossless = binding.all().any(|queue| lossless & bit(queue) != 0);
        if is_lossless && weight * 10 < sum {
            let queue = binding.first;
            let message = format!("lossless queue {queue} has {weight} of {sum} weights");
            let place = Place::of(binding.row, "scheduler");
            found.push(found.at_port(switch, port, place, message));
        }
    }
}
