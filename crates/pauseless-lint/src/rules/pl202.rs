//! PL202, headroom-without-pfc: A group has headroom, but no priority that is paused leads to it.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL202",
    name: "headroom-without-pfc",
    severity: Severity::Warning,
    sentence: "A group has headroom, but no priority that is paused leads to it.",
    why: "It never pauses, and drops when it is full: the headroom is taken for nothing.",
    fix: "add the priority to pfc_enable, or unbind the profile",
    released: "Never on a released template.",
    evidence: "src: swss orchagent/qosorch.cpp",
    good: &[set("tor0", "/BUFFER_PG/Ethernet0|5", r#"{"profile": "ingress_lossy_profile"}"#)],
    bad: &[set("tor0", "/BUFFER_PG/Ethernet0|5", r#"{"profile": "pg_lossless_50000_5m_profile"}"#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    // The dynamic model binds the groups of all ports, and uses those of the ports that are up.
    let is_off = switch.has_ports && !port.is_up();
    if is_off || !switch.config.has("PORT_QOS_MAP") {
        return;
    }
    let pausing = switch.pausing_groups(port);
    for binding in &port.groups {
        let silent = binding.all().filter(|group| *group < 8 && pausing & 1 << group == 0);
        let silent = silent.filter(|group| switch.has_headroom(port, *group));
        let silent = silent.fold(0u8, |mask, group| mask | 1 << group);
        if silent == 0 {
            continue;
        }
        let word = if silent.count_ones() == 1 { "group" } else { "groups" };
        let message = format!(
            "{word} {} with headroom, but no priority of pfc_enable leads there",
            list(silent)
        );
        let mut finding = found.at_port(switch, port, Place::row(binding.row), message);
        let row = port.qos.or(port.row);
        finding.related.extend(row.map(|row| Place::of(row, "pfc_enable")));
        let usual = switch.usual(port, |other| other.pfc_enable.map(|list| list.read));
        let enable = usual.filter(|usual| usual & !port.pfc() != 0 && port.qos.is_some());
        let patch = match enable {
            Some(usual) => Op::set("PORT_QOS_MAP", port.name, "pfc_enable", list(usual)),
            None => Op::drop("BUFFER_PG", binding.row.key().text),
        };
        let is_whole = binding.all().all(|group| group < 8 && silent & 1 << group != 0);
        found.push(finding.patch((enable.is_some() || is_whole).then_some(patch)));
    }
}
