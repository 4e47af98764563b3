//! PL505, watchdog-never-restores: A watchdog has no restoration_time.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL505",
    name: "watchdog-never-restores",
    severity: Severity::Warning,
    sentence: "A watchdog has no restoration_time.",
    why: "One storm, and the queue drops for ever.",
    fix: "set it, at least detection_time",
    released: "Never on a released template.",
    evidence: "src: swss orchagent/pfcwdorch.cpp",
    good: &[set("tor0", "/PFC_WD/Ethernet0/restoration_time", r#""400""#)],
    bad: &[unset("tor0", "/PFC_WD/Ethernet0/restoration_time")],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let Some(watchdog) = port.watchdog.filter(|one| one.restoration.is_none_or(|time| time == 0))
    else {
        return;
    };
    let message = "no restoration_time: a storm leaves the queue dropping for ever".to_string();
    let place = Place::of(watchdog.row, "restoration_time");
    let finding = found.at_port(switch, port, place, message);
    let usual = switch.usual(port, |other| other.watchdog?.restoration.filter(|time| *time > 0));
    let time = usual.or(watchdog.detection).map(|time| time.to_string());
    let key = watchdog.row.key().text;
    found.push(finding.patch(time.map(|time| Op::set("PFC_WD", key, "restoration_time", time))));
}
