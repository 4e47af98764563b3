//! PL502, priority-is-not-watched: A priority is paused, but the watchdog does not look after it.

use crate::rule::prelude::*;
use crate::switch::BOUNCED;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL502",
    name: "priority-is-not-watched",
    severity: Severity::Warning,
    sentence: "A priority is paused, but the watchdog does not look after it.",
    why: "The watchdog follows pfcwd_sw_enable, not pfc_enable. Priorities 2 and 6 of a dual-ToR are left out with tunnel_qos_remap, as released.",
    fix: "add it to pfcwd_sw_enable",
    released: "Never on a released template.",
    evidence: "src: swss orchagent/pfcwdorch.cpp",
    good: &[set("dual0", "/PORT_QOS_MAP/Ethernet48/pfcwd_sw_enable", r#""3,4""#)],
    bad: &[set("tor0", "/PORT_QOS_MAP/Ethernet0/pfcwd_sw_enable", r#""3""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let Some(row) = port.qos.filter(|_| port.watch() != 0) else {
        return;
    };
    let left = port.pfc() & !port.watch() & !switch.bounced();
    if left == 0 {
        return;
    }
    let word = if left.count_ones() == 1 { "priority" } else { "priorities" };
    let are = if left.count_ones() == 1 { "is" } else { "are" };
    let message = format!("{word} {} {are} not watched", list(left));
    let finding = found.at_port(switch, port, Place::of(row, "pfcwd_sw_enable"), message);
    let mut finding = finding.beside(Place::of(row, "pfc_enable"));
    // Where the remapping of tunnels is off by mistake, 2 and 6 are ordinary priorities.
    let is_bounced = left & !BOUNCED == 0 && switch.is_dual();
    let remap = switch.remap_that_is_off().filter(|_| is_bounced);
    finding.related.extend(remap.map(Place::row));
    let all = list(port.watch() | left);
    found.push(finding.patch([Op::set("PORT_QOS_MAP", row.key().text, "pfcwd_sw_enable", all)]));
}
