//! PL504, watchdog-faster-than-its-poll: A time of the watchdog is below the poll interval.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL504",
    name: "watchdog-faster-than-its-poll",
    severity: Severity::Error,
    sentence: "A time of the watchdog is below the poll interval.",
    why: "Times are counted in polls: what is shorter than one is refused, or acts on a single look.",
    fix: "at least the poll interval, or poll faster",
    released: "Never on a released template.",
    evidence: "BI 27865, UT 4520",
    good: &[set("tor0", "/PFC_WD/GLOBAL/POLL_INTERVAL", r#""100""#)],
    bad: &[set("tor0", "/PFC_WD/Ethernet0/detection_time", r#""100""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let (Some(watchdog), Some(poll)) = (port.watchdog, switch.poll_ms()) else {
        return;
    };
    let times =
        [("detection_time", watchdog.detection), ("restoration_time", watchdog.restoration)];
    for (field, time) in times {
        let Some(time) = time.filter(|time| *time > 0 && *time < poll) else {
            continue;
        };
        let message = format!("{field} {time} ms below the poll of {poll} ms");
        let finding = found.at_port(switch, port, Place::of(watchdog.row, field), message);
        let usual = switch.usual(port, |other| {
            let watchdog = other.watchdog?;
            watchdog.row.get(field)?.number().filter(|time| *time >= poll)
        });
        let time = usual.unwrap_or(poll).to_string();
        found.push(finding.patch([Op::set("PFC_WD", watchdog.row.key().text, field, time)]));
    }
}
