//! PL105, group-in-two-rows: A group or queue of a port is in two rows.

use crate::rule::prelude::*;
use crate::switch::Binding;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL105",
    name: "group-in-two-rows",
    severity: Severity::Warning,
    sentence: "A group or queue of a port is in two rows.",
    why: "Which of the two counts is decided by the order in which they arrive.",
    fix: "keep one of the rows",
    released: "Never on a released template.",
    evidence: "src: swss orchagent/bufferorch.cpp",
    good: &[set("tor0", "/BUFFER_PG/Ethernet0|1-2", r#"{"profile": "ingress_lossy_profile"}"#)],
    bad: &[set("tor0", "/BUFFER_PG/Ethernet0|3", r#"{"profile": "pg_lossless_50000_5m_profile"}"#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    for (what, bindings) in [("group", &port.groups), ("queue", &port.queues)] {
        for (at, binding) in bindings.iter().enumerate() {
            let others = &bindings[..at];
            let clash = |other: &&Binding| binding.all().any(|index| other.has(index));
            let Some(other) = others.iter().find(clash) else {
                continue;
            };
            let index = binding.all().find(|index| other.has(*index)).unwrap_or(binding.first);
            let message =
                format!("{what} {index} is in two rows, also in {}", other.row.key().text);
            let finding = found.at_port(switch, port, Place::row(binding.row), message);
            let finding = finding.beside(Place::row(other.row));
            let is_same = binding.row.get("profile").map(|name| name.text)
                == other.row.get("profile").map(|name| name.text);
            let inside = |one: &Binding, whole: &Binding| one.all().all(|index| whole.has(index));
            let pairs = [(binding, other), (other, binding)];
            let smaller = pairs.into_iter().find(|(one, whole)| inside(one, whole));
            let drop = smaller
                .filter(|_| is_same)
                .map(|(one, _)| Op::drop(one.row.table(), one.row.key().text));
            found.push(finding.patch(drop));
        }
    }
}
