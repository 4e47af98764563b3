//! PL307, lossless-queue-can-drop: the queue of a lossless class can drop.

use crate::fix::Field;
use crate::rule::prelude::*;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL307",
    name: "lossless-queue-can-drop",
    severity: Severity::Error,
    sentence: "The queue of a lossless class can drop.",
    why: "PFC protects the ingress; what leaves must not be limited. The queue has a lossy profile, or one of a pool of type egress that may take less than 45 % of the ingress pool, or a negative dynamic_th. Half is normal on Tomahawk 5, which has two memories; a pool for both directions is exempt. A queue without any profile, where ports like it have one, takes what the chip starts with.",
    fix: "give it egress_lossless_profile",
    released: "6 SKUs limit their lossless queues below 45 % of the ingress pool: enough incast at one port drops there.",
    evidence: "src: templates; bufferorch.cpp",
    good: &[
        set("tor0", "/BUFFER_QUEUE/Ethernet0|3-4/profile", r#""egress_lossless_two""#),
        set(
            "tor0",
            "/BUFFER_PROFILE/egress_lossless_two",
            r#"{"pool": "egress_lossless_pool", "size": "0", "dynamic_th": "0"}"#,
        ),
    ],
    bad: &[set("tor0", "/BUFFER_QUEUE/Ethernet0|3-4/profile", r#""q_lossy_profile""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let queues = bits(switch.lossless_classes(port)).map(|class| switch.tc_to_queue(port, class));
    let queues = queues.fold(0u32, |mask, queue| mask | bit(queue));
    let is_bound = |queue: u8| port.queue(queue).is_some();
    let is_usual =
        |queue: u8| switch.usual(port, |other| Some(other.queue(queue).is_some())).unwrap_or(false);
    if let Some(queue) = bits(queues).find(|queue| !is_bound(*queue) && is_usual(*queue)) {
        let row = port.qos.or(port.row);
        let place = row.map_or_else(Place::default, Place::row);
        let message = format!("lossless queue {queue} can drop: no profile");
        let mut finding = found.at_port(switch, port, place, message);
        finding.related.extend(port.queues.iter().map(|binding| Place::row(binding.row)));
        let key = format!("{}|{queue}", port.name);
        let field = Field { name: "profile", value: "egress_lossless_profile" };
        let is_there = switch.profiles.contains_key(field.value);
        found.push(finding.patch(is_there.then(|| Op::row("BUFFER_QUEUE", &key, &[field]))));
    }
    for binding in &port.queues {
        let mut lossless = binding.all().filter(|queue| queues & bit(*queue) != 0);
        let (Some(queue), Some(profile)) = (lossless.next(), switch.profile_of(binding)) else {
            continue;
        };
        let Some(pool) = switch.pool_of(profile).filter(|pool| pool.direction == "egress") else {
            continue;
        };
        let is_low = profile.dynamic_th.is_some_and(|n| n < 0) && !profile.is_zero();
        let ingress = ingress_size(switch, port);
        let least = ingress.map(|size| size / 100 * 45);
        // Nobody gets more than the pool has; a size of 0 stands for one that is calculated.
        let whole = pool.size.filter(|size| *size > 0).unwrap_or(u64::MAX);
        let limit = profile.static_th.map(|limit| limit.min(whole));
        let is_short = limit.zip(least).is_some_and(|(limit, least)| limit < least);
        let is_lossy = profile.name.contains("lossy") || pool.row.key().text.contains("lossy");
        if !is_lossy && !is_low && !is_short {
            continue;
        }
        let message = format!("lossless queue {queue} can drop: {}", profile.name);
        let place = Place::of(binding.row, "profile");
        let class = bits(switch.lossless_classes(port))
            .find(|class| switch.tc_to_queue(port, *class) == queue);
        let finding = found.at_port(switch, port, place, message);
        let finding = match class {
            Some(class) => finding.group(switch.tc_to_group(port, class)),
            None => finding,
        };
        let is_whole = binding.all().all(|queue| queues & bit(queue) != 0);
        let good = "egress_lossless_profile";
        let is_there = switch.profiles.contains_key(good) && profile.name != good;
        let op = Op::set("BUFFER_QUEUE", binding.row.key().text, "profile", good);
        found.push(finding.patch((is_whole && is_there).then_some(op)));
    }
}

/// The size of the pool that the port's lossless groups take from.
fn ingress_size(switch: &Switch, port: &Port) -> Option<u64> {
    let profiles = port.groups.iter().filter_map(|binding| switch.profile_of(binding));
    let mut lossless = profiles.filter(|profile| profile.is_lossless());
    lossless.find_map(|profile| switch.pool_size(profile))
}
