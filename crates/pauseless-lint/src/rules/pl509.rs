//! PL509, big-red-switch: BIG_RED_SWITCH is on: all lossless queues drop.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL509",
    name: "big-red-switch",
    severity: Severity::Error,
    sentence: "BIG_RED_SWITCH is on: all lossless queues drop.",
    why: "It is for emergencies, and somebody has left it on.",
    fix: "pfcwd big_red_switch disable",
    released: "Never on a released template.",
    evidence: "src: swss orchagent/pfcwdorch.cpp",
    good: &[set("tor0", "/PFC_WD/GLOBAL/BIG_RED_SWITCH", r#""disable""#)],
    bad: &[set("tor0", "/PFC_WD/GLOBAL/BIG_RED_SWITCH", r#""enable""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    let Some(row) = switch.config.row_of("PFC_WD", "GLOBAL") else {
        return;
    };
    if row.get("BIG_RED_SWITCH").is_some_and(|value| value.text == "enable") {
        let message = "BIG_RED_SWITCH is on: all lossless queues drop".to_string();
        let place = Place::of(row, "BIG_RED_SWITCH");
        let finding = found.about(switch, &switch.name, place, message);
        found.push(finding.patch([Op::set("PFC_WD", "GLOBAL", "BIG_RED_SWITCH", "disable")]));
    }
}
