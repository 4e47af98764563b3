//! PL706, valley: routes send packets down to a switch and up again.

use pauseless_fabric::audit::FaultKind;
use pauseless_text::quantity;

use crate::fabric::{Fabric, Stray};
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL706",
    name: "valley",
    severity: Severity::Warning,
    sentence: "Routes send packets down to a switch and up again.",
    why: "Buffers of a fabric in tiers cannot wait for each other in a circle while every packet goes up first and then only down; several valleys can close one, a single valley does not. `pauseless check` says whether they do. Looked at where files have routes, with every next hop, as `check` does it; what is above what is taken from the type of each switch, else counted from the hosts.",
    fix: "no transit through switches below: filter AS paths there",
    released: "Templates have no routes; silent on those of the healthy pod, and on those of its failure over the spines.",
    evidence: "H16; RFC 7938",
    good: &[
        set("leaf1", "", LEAF1),
        set(
            "leaf0.ip-route",
            "",
            r#"[{"dst": "10.9.0.0/24", "gateway": "10.2.0.0", "dev": "Ethernet32"}]"#,
        ),
        set("tor0.ip-route", "", TOR0),
        set(
            "leaf1.ip-route",
            "",
            r#"[{"dst": "10.9.0.0/24", "dev": "Ethernet32", "scope": "link"}]"#,
        ),
    ],
    bad: &[
        set("leaf1", "", LEAF1),
        set(
            "leaf0.ip-route",
            "",
            r#"[{"dst": "10.9.0.0/24", "gateway": "10.0.0.1", "dev": "PortChannel1"}]"#,
        ),
        set("tor0.ip-route", "", TOR0),
        set(
            "leaf1.ip-route",
            "",
            r#"[{"dst": "10.9.0.0/24", "dev": "Ethernet32", "scope": "link"}]"#,
        ),
    ],
    also: &[],
    check: Check::Fabric(check),
};

fn check(fabric: &Fabric, found: &mut Found) {
    let valleys = fabric.roads.strays.iter().filter(|stray| stray.kind == FaultKind::Valley);
    for valley in valleys.filter(|valley| !is_of_circle(fabric, valley)) {
        let [from, bottom, to] = &valley.path[..] else {
            continue;
        };
        let subject = quantity::some(valley.prefixes.iter(), SHOWN_MAX);
        let message = format!("packets come down from {from} and go up again to {to}");
        let mut finding = found.of(&subject, valley.place.clone(), message);
        finding.device.clone_from(bottom);
        found.push(finding);
    }
}

/// Whether a valley is one because its packets go in a circle, which another rule says.
fn is_of_circle(fabric: &Fabric, valley: &Stray) -> bool {
    fabric.roads.strays.iter().any(|stray| {
        stray.kind == FaultKind::Loop
            && valley.path[1..].iter().all(|switch| stray.path.contains(switch))
            && stray.prefixes.iter().any(|prefix| valley.prefixes.contains(prefix))
    })
}

/// More prefixes do not help.
const SHOWN_MAX: usize = 4;
/// A second leaf above tor0, with hosts behind it.
const LEAF1: &str = r#"{"DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "type": "LeafRouter"}}, "DEVICE_NEIGHBOR": {"Ethernet0": {"name": "tor0", "port": "Ethernet48"}, "Ethernet32": {"name": "spine1", "port": "Ethernet0"}}}"#;
const TOR0: &str = r#"[{"dst": "10.9.0.0/24", "gateway": "10.0.1.0", "dev": "Ethernet48"}]"#;
