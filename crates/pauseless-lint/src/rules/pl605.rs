//! PL605, cable-lengths-differ: the two ends of a cable give it different lengths.

use crate::cable::{Cable, End};
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL605",
    name: "cable-lengths-differ",
    severity: Severity::Warning,
    sentence: "The two ends of a cable give it different lengths.",
    why: "The end with the shorter one has too little headroom.",
    fix: "measure it, and set both",
    released: "Never on a released template.",
    evidence: "follows from PL301",
    good: &[],
    bad: &[
        set("tor0", "/CABLE_LENGTH/AZURE/Ethernet40", r#""5m""#),
        set(
            "tor0",
            "/BUFFER_PROFILE/pg_lossless_100000_5m_profile",
            r#"{"pool": "ingress_lossless_pool", "xon": "19456", "xoff": "61440", "size": "19456", "dynamic_th": "0"}"#,
        ),
        set("tor0", "/BUFFER_PG/Ethernet40|3-4/profile", r#""pg_lossless_100000_5m_profile""#),
    ],
    also: &["PL608"],
    check: Check::Cable(check),
};

fn check(cable: &Cable, found: &mut Found) {
    let mut ends = [cable.a, cable.b];
    ends.sort_by_key(|end| end.port.metres());
    let [short, long] = ends;
    let (Some(here), Some(there)) = (short.port.metres(), long.port.metres()) else {
        return;
    };
    // Nothing is what another rule is about.
    if here == there || here == 0 {
        return;
    }
    let place = |end: &End| {
        end.port.cable.map_or_else(Place::default, |cable| Place::of(cable.row, end.port.name))
    };
    let message = format!("cable {here}m here, {there}m at {}", long.name());
    let finding = found.at_port(short.switch, short.port, place(&short), message);
    found.push(finding.beside(place(&long)));
}
