//! PL506, watchdog-flaps: A watchdog restores faster than it detects.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL506",
    name: "watchdog-flaps",
    severity: Severity::Note,
    sentence: "A watchdog restores faster than it detects.",
    why: "A storm with gaps is then restored and detected again and again. Equal times are the default.",
    fix: "restoration_time at least detection_time",
    released: "Never on a released template.",
    evidence: "BI 29203",
    good: &[],
    bad: &[set("tor0", "/PFC_WD/Ethernet0/detection_time", r#""400""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let Some(watchdog) = port.watchdog else {
        return;
    };
    let (Some(detection), Some(restoration)) = (watchdog.detection, watchdog.restoration) else {
        return;
    };
    if restoration > 0 && restoration < detection {
        let message = format!("restores after {restoration} ms, detects after {detection} ms");
        let place = Place::of(watchdog.row, "restoration_time");
        found.push(found.at_port(switch, port, place, message));
    }
}
