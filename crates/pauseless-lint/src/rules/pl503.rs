//! PL503, watchdog-cannot-start: A watchdog is configured for a port, and pfcwd_sw_enable is empty.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL503",
    name: "watchdog-cannot-start",
    severity: Severity::Error,
    sentence: "A watchdog is configured for a port, and pfcwd_sw_enable is empty.",
    why: "It has nothing to watch: starting it is retried for ever. A note where pfc_enable is empty, too.",
    fix: "the same list as pfc_enable",
    released: "21 SKUs, whose templates set pfc_enable and not pfcwd_sw_enable.",
    evidence: "src: swss orchagent/pfcwdorch.cpp; 21 released SKUs",
    good: &[set("tor0", "/PORT_QOS_MAP/Ethernet0/pfcwd_sw_enable", r#""4,3""#)],
    bad: &[unset("tor0", "/PORT_QOS_MAP/Ethernet0/pfcwd_sw_enable")],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let (Some(watchdog), 0) = (port.watchdog, port.watch()) else {
        return;
    };
    if !switch.config.has("PORT_QOS_MAP") || port.watched.is_some_and(|list| !list.is_list) {
        return;
    }
    let message = "watchdog cannot start, pfcwd_sw_enable is empty".to_string();
    let place = match port.qos {
        Some(row) => Place::of(row, "pfcwd_sw_enable"),
        None => Place::row(watchdog.row),
    };
    let finding = found.at_port(switch, port, place, message);
    let finding = finding.beside(Place::row(watchdog.row));
    if port.pfc() == 0 {
        found.push(finding.severity(Severity::Note));
        return;
    }
    let all = list(port.pfc() & !switch.bounced());
    found.push(finding.patch([Op::set("PORT_QOS_MAP", port.name, "pfcwd_sw_enable", all)]));
}
