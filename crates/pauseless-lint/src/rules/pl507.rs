//! PL507, watchdog-does-nothing: the watchdog of a port only reports, or ignores PAUSE.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL507",
    name: "watchdog-does-nothing",
    severity: Severity::Warning,
    sentence: "The watchdog of a port only reports, or ignores PAUSE.",
    why: "alert reports and does nothing. forward sends in spite of the PAUSE, which loses elsewhere: a note, and refused by Cisco 8000. A word that is no action keeps the watchdog from starting.",
    fix: "use drop",
    released: "Never on a released template.",
    evidence: "src: swss orchagent/pfcwdorch.cpp",
    good: &[unset("tor0", "/PFC_WD/Ethernet0/action")],
    bad: &[set("tor0", "/PFC_WD/Ethernet0/action", r#""alert""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let Some(watchdog) = port.watchdog else {
        return;
    };
    let (message, severity) = match watchdog.action() {
        "drop" => return,
        "alert" => ("action alert reports and does nothing", Severity::Warning),
        "forward" if switch.vendor == Vendor::Cisco => {
            ("action forward is refused by this switch", Severity::Warning)
        }
        "forward" => ("action forward ignores PAUSE", Severity::Note),
        _ => ("this action does not exist: the watchdog does not start", Severity::Warning),
    };
    let place = Place::of(watchdog.row, "action");
    let finding = found.at_port(switch, port, place, message.to_string()).severity(severity);
    found.push(finding.patch([Op::set("PFC_WD", watchdog.row.key().text, "action", "drop")]));
}
