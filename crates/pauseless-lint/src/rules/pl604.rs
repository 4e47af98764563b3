//! PL604, dscp-means-another-priority: A code point is one priority at one end of a cable and another at the other.

use crate::cable::{Cable, End};
use crate::rule::prelude::*;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL604",
    name: "dscp-means-another-priority",
    severity: Severity::Error,
    sentence: "A code point is one priority at one end of a cable and another at the other.",
    why: "The receiver then pauses the wrong priority, and the packets that overrun it are not stopped. All code points are compared that are lossless at either end, whatever pfc_enable says; on a dual-ToR the maps of the two ports, never their names.",
    fix: "one DSCP map",
    released: "Never on a released template.",
    evidence: "src: the chain of maps",
    good: &[set("tor0", "/DSCP_TO_TC_MAP/AZURE/9", r#""2""#)],
    bad: &[set("tor0", "/DSCP_TO_TC_MAP/AZURE/3", r#""4""#)],
    also: &["PL804", "PL204", "PL203"],
    check: Check::Cable(check),
};

fn check(cable: &Cable, found: &mut Found) {
    // An end at which nothing leads to a lossless group is the odd one.
    let is_turned = !has_idle(&cable.a) && has_idle(&cable.b);
    let (a, b) = if is_turned { (cable.b, cable.a) } else { (cable.a, cable.b) };
    let has_maps = [a, b].iter().all(|end| {
        let kinds = [MapKind::DscpToTc, MapKind::Dot1pToTc];
        kinds.into_iter().any(|kind| end.switch.map_at(end.port, kind).is_some())
    });
    let is_used = a.port.pfc() != 0 && b.port.pfc() != 0;
    if !has_maps || !is_used {
        return;
    }
    let mut wrong = Vec::new();
    for dscp in 0..64 {
        let here = a.switch.priority_of(a.port, dscp);
        let there = b.switch.priority_of(b.port, dscp);
        let (Some(p), Some(q)) = (here, there) else {
            continue;
        };
        let is_lossless = a.port.pfc() & 1 << p != 0 || b.port.pfc() & 1 << q != 0;
        if is_lossless && p != q {
            wrong.push(Wrong { dscp, p, q });
        }
    }
    let Some(first) = wrong.first() else {
        return;
    };
    let dscps = Vec::from_iter(wrong.iter().take(SHOWN_MAX).map(|one| one.dscp.to_string()));
    let more = if wrong.len() > SHOWN_MAX { ", .." } else { "" };
    let message = format!(
        "DSCP {}{more}: {} is priority {} here, {} at {}",
        dscps.join(", "),
        first.dscp,
        first.p,
        first.q,
        b.name()
    );
    let place = |end: &End| {
        let map = end.switch.map_at(end.port, MapKind::DscpToTc);
        let field = first.dscp.to_string();
        map.map_or_else(Place::default, |map| Place::of(map.row, &field))
    };
    let mut finding = found.at_port(a.switch, a.port, place(&a), message);
    finding.related.push(place(&b));
    for end in [&a, &b] {
        let map = end.switch.map_at(end.port, MapKind::DscpToTc);
        finding.related.extend(map.map(|map| Place::row(map.row)));
        let named = end.port.qos.map(|row| Place::of(row, "dscp_to_tc_map"));
        finding.related.extend(named);
        let groups = end.switch.map_at(end.port, MapKind::TcToGroup);
        finding.related.extend(groups.map(|map| Place::row(map.row)));
    }
    found.push(finding);
}

/// Whether a group pauses to which no code point leads.
fn has_idle(end: &End) -> bool {
    let groups = bits(end.switch.reached(end.port)).map(|tc| end.switch.tc_to_group(end.port, tc));
    let reached = groups.fold(0u32, |mask, group| mask | bit(group));
    u32::from(end.switch.pausing_groups(end.port)) & !reached != 0
}

/// A code point and its priority at both ends.
struct Wrong {
    dscp: u8,
    p: u8,
    q: u8,
}

/// More code points do not help.
const SHOWN_MAX: usize = 6;
