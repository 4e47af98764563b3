//! PL305, profile-smaller-than-its-headroom: A lossless profile reserves less than xon and xoff, and its pool shares no headroom.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL305",
    name: "profile-smaller-than-its-headroom",
    severity: Severity::Error,
    sentence: "A lossless profile reserves less than xon and xoff, and its pool shares no headroom.",
    why: "On Mellanox the headroom is then partly of the port and partly of nobody. Elsewhere the size is accounted in another way, and it is a note.",
    fix: "size = xon + xoff, or give the pool an xoff",
    released: "Never on a released template.",
    evidence: "SO doc/qos: dynamically headroom calculation",
    good: &[],
    bad: &[unset("tor0", "/BUFFER_POOL/ingress_lossless_pool/xoff")],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    for profile in switch.profiles.values().filter(|profile| !profile.is_calculated) {
        let (Some(size), Some(xoff)) = (profile.size, profile.xoff.filter(|xoff| *xoff > 0)) else {
            continue;
        };
        let Some(pool) = switch.pool_of(profile).filter(|pool| pool.xoff == 0) else {
            continue;
        };
        let needs = profile.xon.unwrap_or(0).saturating_add(xoff);
        // A pool without a size is calculated, and its shared headroom with it.
        if size >= needs || pool.size.is_none() {
            continue;
        }
        let message =
            format!("size {size} < xon + xoff = {needs}, and the pool shares no headroom");
        let finding = found.about(switch, profile.name, Place::of(profile.row, "size"), message);
        let finding = finding.beside(Place::row(profile.row));
        let is_error = switch.vendor == Vendor::Mellanox;
        let severity = if is_error { Severity::Error } else { Severity::Note };
        let op = Op::set("BUFFER_PROFILE", profile.name, "size", needs.to_string());
        found.push(finding.severity(severity).patch([op]));
    }
}
