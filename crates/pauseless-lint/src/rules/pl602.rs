//! PL602, mtu-differs: the two ends of a cable have different MTUs.

use crate::cable::Cable;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL602",
    name: "mtu-differs",
    severity: Severity::Error,
    sentence: "The two ends of a cable have different MTUs.",
    why: "Frames that are larger than the smaller one vanish without any congestion.",
    fix: "one MTU at both ends",
    released: "Never on a released template.",
    evidence: "mlx5 counter rx_oversize_pkts_phy",
    good: &[unset("tor0", "/PORT/Ethernet40/mtu")],
    bad: &[set("tor0", "/PORT/Ethernet40/mtu", r#""1500""#)],
    also: &["PL608"],
    check: Check::Cable(check),
};

fn check(cable: &Cable, found: &mut Found) {
    let ends = [cable.a, cable.b];
    let [Some(_), Some(_)] = ends.map(|end| end.port.row) else {
        return;
    };
    let mtu = ends.map(|end| end.port.mtu());
    if mtu[0] == mtu[1] {
        return;
    }
    let usual = ends.map(|end| end.switch.usual(end.port, |port| Some(port.mtu())));
    let odd = (0..2).find(|at| usual[*at].is_some_and(|usual| usual != mtu[*at]));
    let here = odd.unwrap_or(if mtu[0] < mtu[1] { 0 } else { 1 });
    let (end, other) = (ends[here], ends[1 - here]);
    let message = format!("MTU {}, and {} at {}", mtu[here], mtu[1 - here], other.name());
    let place = end.port.row.map_or_else(Place::default, |row| Place::of(row, "mtu"));
    let finding = found.at_port(end.switch, end.port, place, message);
    let far = other.port.row.map(|row| Place::of(row, "mtu"));
    let patch = Op::set("PORT", end.port.name, "mtu", mtu[1 - here].to_string());
    let finding = far.into_iter().fold(finding, |finding, far| finding.beside(far));
    found.push(finding.patch([patch]));
}
