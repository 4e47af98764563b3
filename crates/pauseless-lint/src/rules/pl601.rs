//! PL601, ends-pause-different-priorities: the two ends of a cable pause different priorities.

use crate::cable::Cable;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL601",
    name: "ends-pause-different-priorities",
    severity: Severity::Error,
    sentence: "The two ends of a cable pause different priorities.",
    why: "PAUSE in a priority that the other end does not know stops nothing there, and packets are lost. Ends at hosts need a file of the host.",
    fix: "the same list at both ends",
    released: "Never on a released template.",
    evidence: "src: the chain of maps",
    good: &[set("tor0", "/PORT_QOS_MAP/Ethernet40/pfc_enable", r#""4,3""#)],
    bad: &[
        set("tor0", "/PORT_QOS_MAP/Ethernet40/pfc_enable", r#""3""#),
        set("tor0", "/PORT_QOS_MAP/Ethernet40/pfcwd_sw_enable", r#""3""#),
        unset("tor0", "/BUFFER_PG/Ethernet40|3-4"),
        set("tor0", "/BUFFER_PG/Ethernet40|3", r#"{"profile": "pg_lossless_100000_40m_profile"}"#),
    ],
    also: &["PL608"],
    check: Check::Cable(check),
};

fn check(cable: &Cable, found: &mut Found) {
    let ends = [cable.a, cable.b];
    let lists = ends.map(|end| end.port.pfc_enable.map_or(0, |list| list.meant));
    if lists[0] == lists[1] {
        return;
    }
    let [Some(a), Some(b)] = ends.map(|end| end.port.qos.or(end.port.row)) else {
        return;
    };
    // A file without any PFC says nothing about it.
    if ends.iter().any(|end| !end.switch.config.has("PORT_QOS_MAP")) {
        return;
    }
    let says = |mask: u8| if mask == 0 { "nothing".to_string() } else { list(mask) };
    let usual =
        ends.map(|end| end.switch.usual(end.port, |port| port.pfc_enable.map(|one| one.meant)));
    let odd = (0..2).find(|at| usual[*at].is_some_and(|usual| usual != lists[*at]));
    let (here, row) = match odd {
        Some(1) => (1, b),
        _ => (0, a),
    };
    let (end, other) = (ends[here], ends[1 - here]);
    let message = format!(
        "pauses {}, {} at the other end {}",
        says(lists[here]),
        other.name(),
        says(lists[1 - here])
    );
    let place = Place::of(row, "pfc_enable");
    let finding = found.at_port(end.switch, end.port, place, message);
    let far = other.port.qos.or(other.port.row);
    let finding = match far {
        Some(far) => finding.beside(Place::of(far, "pfc_enable")),
        None => finding,
    };
    let fits = usual[here].filter(|usual| *usual == lists[1 - here] && end.port.qos.is_some());
    let patch = fits.map(|usual| Op::set("PORT_QOS_MAP", end.port.name, "pfc_enable", list(usual)));
    found.push(finding.patch(patch));
}
