//! PL309, threshold-of-the-other-kind: A lossless profile has a threshold of the other kind than its pool.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL309",
    name: "threshold-of-the-other-kind",
    severity: Severity::Error,
    sentence: "A lossless profile has a threshold of the other kind than its pool.",
    why: "The pool does not have the limit that was meant. Only profiles with xoff count: templates for Broadcom have static limits of lossy profiles in dynamic pools, and that works. Without either limit nobody says when the group pauses.",
    fix: "use the kind of threshold that the mode of the pool says",
    released: "Never on a released template.",
    evidence: "src: cfgmgr/buffermgrdyn.cpp",
    good: &[set(
        "tor0",
        "/BUFFER_PROFILE/ingress_lossy_profile",
        r#"{"pool": "ingress_lossless_pool", "size": "0", "static_th": "44302336"}"#,
    )],
    bad: &[set(
        "tor0",
        "/BUFFER_PROFILE/pg_lossless_50000_5m_profile",
        r#"{"pool": "ingress_lossless_pool", "xon": "19456", "xoff": "33792", "size": "19456", "static_th": "44302336"}"#,
    )],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    for profile in switch.profiles.values().filter(|profile| profile.is_lossless()) {
        let Some(pool) = switch.pool_of(profile) else {
            continue;
        };
        let (field, mode) =
            if pool.is_dynamic { ("static_th", "dynamic") } else { ("dynamic_th", "static") };
        let limits = [profile.row.get("dynamic_th"), profile.row.get("static_th")];
        if limits.iter().all(Option::is_none) && !profile.is_calculated {
            let message =
                "neither dynamic_th nor static_th: nobody says when it pauses".to_string();
            found.push(found.about(switch, profile.name, Place::row(profile.row), message));
            continue;
        }
        if profile.row.get(field).is_none() {
            continue;
        }
        let message = format!("{field} in a {mode} pool");
        let finding = found.about(switch, profile.name, Place::of(profile.row, field), message);
        let near = switch.profiles.values().filter(|other| {
            other.name != profile.name && other.is_lossless() && other.dynamic_th.is_some()
        });
        let usual = near.filter_map(|other| other.dynamic_th).next().filter(|_| pool.is_dynamic);
        let patch = usual.into_iter().flat_map(|n| {
            let set = Op::set("BUFFER_PROFILE", profile.name, "dynamic_th", n.to_string());
            [Op::unset("BUFFER_PROFILE", profile.name, field), set]
        });
        let patch = Vec::from_iter(patch);
        found.push(finding.patch(patch));
    }
}
