//! PL211, many-lossless-priorities: A port has more than four lossless priorities.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL211",
    name: "many-lossless-priorities",
    severity: Severity::Note,
    sentence: "A port has more than four lossless priorities.",
    why: "Each takes headroom for a whole cable, whether it is used or not.",
    fix: "two are enough for most",
    released: "Silent on all of them: the dual-ToR has four.",
    evidence: "G16: two in practice",
    good: &[],
    bad: &[set("tor0", "/PORT_QOS_MAP/Ethernet0/pfc_enable", r#""1,2,3,4,5""#)],
    also: &[
        "PL201", "PL203", "PL204", "PL205", "PL502", "PL801", "PL206", "PL401", "PL307", "PL608",
        "PL210", "PL805", "PL701",
    ],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let count = port.pfc().count_ones();
    if let Some(row) = port.qos.filter(|_| count > 4) {
        let message = format!("{count} lossless priorities");
        found.push(found.at_port(switch, port, Place::of(row, "pfc_enable"), message));
    }
}
