//! PL603, link-settings-differ: speed, FEC or autonegotiation differ between the ends of a cable.

use crate::cable::Cable;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL603",
    name: "link-settings-differ",
    severity: Severity::Warning,
    sentence: "Speed, FEC or autonegotiation differ between the ends of a cable.",
    why: "There is no link. Compared is what both ends give and neither leaves to the other.",
    fix: "set both alike",
    released: "Never on a released template.",
    evidence: "src: swss orchagent/portsorch.cpp",
    good: &[set("tor0", "/PORT/Ethernet40/fec", r#""auto""#)],
    bad: &[set("tor0", "/PORT/Ethernet40/fec", r#""none""#)],
    also: &["PL608", "PL302"],
    check: Check::Cable(check),
};

fn check(cable: &Cable, found: &mut Found) {
    let (a, b) = (cable.a, cable.b);
    let is_auto = |port: &Port| port.get("autoneg").is_some_and(|value| value.text == "on");
    let negotiates = is_auto(a.port) && is_auto(b.port);
    for field in ["speed", "fec", "autoneg"] {
        let values = [a, b].map(|end| end.port.get(field).map(|value| value.text));
        let [Some(here), Some(there)] = values else {
            continue;
        };
        if here == there || [here, there].contains(&"auto") || negotiates {
            continue;
        }
        let message = format!("{field} {here}, and {there} at {}", b.name());
        let place = a.port.row.map_or_else(Place::default, |row| Place::of(row, field));
        let far = b.port.row.map_or_else(Place::default, |row| Place::of(row, field));
        found.push(found.at_port(a.switch, a.port, place, message).beside(far));
    }
}
