//! PL213, asymmetric-pfc: PFC is asymmetric: any priority can be stopped by the neighbour.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL213",
    name: "asymmetric-pfc",
    severity: Severity::Note,
    sentence: "PFC is asymmetric: any priority can be stopped by the neighbour.",
    why: "With pfc_asym on, PAUSE is obeyed in all eight priorities and sent only in those of pfc_enable.",
    fix: "switch it off, unless the neighbour needs it",
    released: "Never on a released template.",
    evidence: "src: swss orchagent/portsorch.cpp, mask 0xff",
    good: &[],
    bad: &[set("tor0", "/PORT/Ethernet0/pfc_asym", r#""on""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let is_on = port.get("pfc_asym").is_some_and(|value| value.text == "on");
    if let Some(row) = port.row.filter(|_| is_on && port.pfc() != 0) {
        let message = "asymmetric PFC: any priority can be stopped by the neighbour".to_string();
        let finding = found.at_port(switch, port, Place::of(row, "pfc_asym"), message);
        found.push(finding.patch([Op::set("PORT", port.name, "pfc_asym", "off")]));
    }
}
