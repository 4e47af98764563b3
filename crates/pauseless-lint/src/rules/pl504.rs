//! PL504, watchdog-faster-than-its-poll: A time of the watchdog is below the poll interval.

use crate::rule::prelude::*;
use crate::switch::Watchdog;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL504",
    name: "watchdog-faster-than-its-poll",
    severity: Severity::Error,
    sentence: "A time of the watchdog is below the poll interval.",
    why: "Times are counted in polls: what is shorter than one is refused, or acts on a single look. Times beyond 5,000 ms for detection and 60,000 ms for restoration are refused, and so is a row without detection_time.",
    fix: "at least the poll interval, or poll faster",
    released: "Never on a released template.",
    evidence: "BI 27865, UT 4520",
    good: &[set("tor0", "/PFC_WD/GLOBAL/POLL_INTERVAL", r#""100""#)],
    bad: &[set("tor0", "/PFC_WD/Ethernet0/detection_time", r#""100""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let Some(watchdog) = port.watchdog else {
        return;
    };
    out_of_range(switch, port, &watchdog, found);
    let Some(poll) = switch.poll_ms() else {
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

/// Times that pfcwd refuses, and one that is missing: the watchdog does not start.
fn out_of_range(switch: &Switch, port: &Port, watchdog: &Watchdog, found: &mut Found) {
    let mut wrong = |field: &str, message: String| {
        let finding = found.at_port(switch, port, Place::of(watchdog.row, field), message);
        let usual = switch.usual(port, |other| other.watchdog?.row.get(field)?.number());
        let key = watchdog.row.key().text;
        let patch = usual.map(|time| Op::set("PFC_WD", key, field, time.to_string()));
        found.push(finding.patch(patch));
    };
    if watchdog.row.get("detection_time").is_none() {
        let message = "no detection_time: the watchdog does not start".to_string();
        wrong("detection_time", message);
    }
    if let Some(time) = watchdog.detection.filter(|time| *time > DETECTION_MAX) {
        wrong("detection_time", format!("detection_time {time} ms is above {DETECTION_MAX}"));
    }
    if let Some(time) = watchdog.restoration.filter(|time| *time > RESTORATION_MAX) {
        wrong("restoration_time", format!("restoration_time {time} ms is above {RESTORATION_MAX}"));
    }
}

/// The longest times in milliseconds that pfcwd and YANG take.
const DETECTION_MAX: u64 = 5_000;
const RESTORATION_MAX: u64 = 60_000;
