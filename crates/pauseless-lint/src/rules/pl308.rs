//! PL308, shared-headroom-is-small: the headroom that ports share is less than an eighth of what they may need together.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL308",
    name: "shared-headroom-is-small",
    severity: Severity::Note,
    sentence: "The headroom that ports share is less than an eighth of what they may need together.",
    why: "Sharing is a bet that not all ports are paused at once. The good configurations have ratios from 0.7 to 5.2.",
    fix: "more xoff in the pool",
    released: "7 SKUs, with ratios above 8.",
    evidence: "src: swss; data of released templates",
    good: &[],
    bad: &[set("tor0", "/BUFFER_POOL/ingress_lossless_pool/xoff", r#""20000""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    for (name, pool) in &switch.pools {
        if pool.xoff == 0 {
            continue;
        }
        let bindings = switch.ports.iter().flat_map(|port| &port.groups);
        let needs = bindings.filter_map(|binding| {
            let profile = switch.profile_of(binding)?;
            let is_of = profile.pool.is_some_and(|pool| pool.reference().text == *name);
            let needs = profile.xoff.filter(|_| is_of)?;
            Some(needs.saturating_mul(binding.all().count() as u64))
        });
        let needs = needs.fold(0, u64::saturating_add);
        if needs / RATIO_MAX > pool.xoff {
            let message =
                format!("shared headroom {} B for groups that may need {needs} B", pool.xoff);
            found.push(found.about(switch, name, Place::of(pool.row, "xoff"), message));
        }
    }
}

/// Above it, released templates are rare.
const RATIO_MAX: u64 = 8;
