//! PL707, routes-in-a-circle: routes send packets in a circle.

use pauseless_fabric::audit::FaultKind;
use pauseless_text::quantity;

use crate::fabric::Fabric;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL707",
    name: "routes-in-a-circle",
    severity: Severity::Error,
    sentence: "Routes send packets in a circle.",
    why: "They go round until their time to live is over; without loss, full buffers on the way wait for each other before that. Usually two defaults that point at each other, or a route that was left behind where a host has moved away. Looked at where files have routes, with every next hop, as `pauseless check` does it.",
    fix: "remove one of the routes of the circle, often a default",
    released: "Templates have no routes; silent on all three sets of routes of the pod.",
    evidence: "follows from the routes; H16 has deadlocks of transient circles",
    good: &[
        set(
            "tor0.ip-route",
            "",
            r#"[{"dst": "192.168.0.0/24", "dev": "Vlan100", "scope": "link"}]"#,
        ),
        set("leaf0.ip-route", "", LEAF0),
    ],
    bad: &[
        set(
            "tor0.ip-route",
            "",
            r#"[{"dst": "192.168.0.0/24", "dev": "Vlan100", "scope": "link"}, {"dst": "192.168.0.200", "gateway": "10.0.0.0", "dev": "PortChannel101"}]"#,
        ),
        set("leaf0.ip-route", "", LEAF0),
    ],
    also: &[],
    check: Check::Fabric(check),
};

fn check(fabric: &Fabric, found: &mut Found) {
    for circle in fabric.roads.strays.iter().filter(|stray| stray.kind == FaultKind::Loop) {
        let Some(first) = circle.path.first() else {
            continue;
        };
        let subject = quantity::some(circle.prefixes.iter(), SHOWN_MAX);
        let message = format!("packets go in a circle: {} > {first}", circle.path.join(" > "));
        let mut finding = found.of(&subject, circle.place.clone(), message);
        finding.device.clone_from(first);
        found.push(finding);
    }
}

/// More prefixes do not help.
const SHOWN_MAX: usize = 4;
const LEAF0: &str = r#"[{"dst": "192.168.0.0/24", "gateway": "10.0.0.1", "dev": "PortChannel1"}]"#;
