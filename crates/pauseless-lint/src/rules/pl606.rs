//! PL606, asymmetric-at-one-end: PFC is asymmetric at one end of a cable only.

use crate::cable::Cable;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL606",
    name: "asymmetric-at-one-end",
    severity: Severity::Note,
    sentence: "PFC is asymmetric at one end of a cable only.",
    why: "One end obeys every priority, the other only its own.",
    fix: "the same pfc_asym at both ends",
    released: "Never on a released template.",
    evidence: "src: swss orchagent/portsorch.cpp",
    good: &[],
    bad: &[set("tor0", "/PORT/Ethernet40/pfc_asym", r#""on""#)],
    also: &[],
    check: Check::Cable(check),
};

fn check(cable: &Cable, found: &mut Found) {
    let is_on = |port: &Port| port.get("pfc_asym").is_some_and(|value| value.text == "on");
    for cable in cable.both() {
        let (a, b) = (cable.a, cable.b);
        if let Some(row) = a.port.row.filter(|_| is_on(a.port) && !is_on(b.port)) {
            let message = format!("pfc_asym is on here, not at {}", b.name());
            found.push(found.at_port(a.switch, a.port, Place::of(row, "pfc_asym"), message));
        }
    }
}
