//! PL508, watchdog-actions-differ: ports have different watchdog actions, and the chip has one for all.

use crate::rule::prelude::*;
use crate::switch::Watchdog;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL508",
    name: "watchdog-actions-differ",
    severity: Severity::Error,
    sentence: "Ports have different watchdog actions, and the chip has one for all.",
    why: "Broadcom chips with deadlock recovery in hardware have a single action; the second is refused.",
    fix: "one action for all ports",
    released: "Never on a released template.",
    evidence: "src: swss orchagent/pfcwdorch.cpp",
    good: &[set("tor0", "/PFC_WD/Ethernet0/action", r#""forward""#)],
    bad: &[set("leaf0", "/PFC_WD/Ethernet0/action", r#""forward""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    if switch.vendor != Vendor::Broadcom {
        return;
    }
    let watchdogs = Vec::from_iter(switch.ports.iter().filter_map(|port| port.watchdog));
    // What is no action at all is another rule's.
    let is_action = |one: &Watchdog| matches!(one.action(), "drop" | "forward" | "alert");
    let watchdogs = Vec::from_iter(watchdogs.into_iter().filter(is_action));
    let count = |action: &str| watchdogs.iter().filter(|one| one.action() == action).count();
    let usual = watchdogs.iter().map(|one| one.action()).max_by_key(|action| count(action));
    let odd = usual.and_then(|usual| watchdogs.iter().find(|one| one.action() != usual));
    let (Some(usual), Some(odd)) = (usual, odd) else {
        return;
    };
    let message = format!(
        "watchdog actions differ between ports ({} and {usual}); this ASIC has one",
        odd.action()
    );
    let mut finding = found.about(switch, &switch.name, Place::of(odd.row, "action"), message);
    let other = watchdogs.iter().filter(|one| one.action() != usual);
    finding.related.extend(other.clone().skip(1).map(|one| Place::of(one.row, "action")));
    let patch = other.map(|one| Op::set("PFC_WD", one.row.key().text, "action", usual));
    let patch = Vec::from_iter(patch);
    found.push(finding.patch(patch));
}
