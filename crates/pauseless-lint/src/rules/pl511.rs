//! PL511, slow-watchdog: A storm lasts more than a second before the watchdog acts.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL511",
    name: "slow-watchdog",
    severity: Severity::Note,
    sentence: "A storm lasts more than a second before the watchdog acts.",
    why: "It acts after detection_time, counted in polls, so after up to one poll more.",
    fix: "shorter times, if the CPU allows",
    released: "A note on large switches, where pfcwd start_default makes the times long.",
    evidence: "src: UT pfcwd start_default",
    good: &[],
    bad: &[
        set("tor0", "/PFC_WD/Ethernet0/detection_time", r#""1000""#),
        set("tor0", "/PFC_WD/Ethernet0/restoration_time", r#""1000""#),
    ],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let (Some(watchdog), Some(poll)) = (port.watchdog, switch.poll_ms()) else {
        return;
    };
    let longest = watchdog.detection.unwrap_or(0).saturating_add(poll);
    if longest > 1_000 {
        let message = format!("a storm lasts up to {longest} ms");
        let place = Place::of(watchdog.row, "detection_time");
        found.push(found.at_port(switch, port, place, message));
    }
}
