//! PL309, threshold-of-the-other-kind: A lossless profile has a threshold of the other kind than its pool.

use std::collections::BTreeMap;

use crate::rule::prelude::*;
use crate::switch::BufferModel;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL309",
    name: "threshold-of-the-other-kind",
    severity: Severity::Error,
    sentence: "A lossless profile has a threshold of the other kind than its pool.",
    why: "The pool does not have the limit that was meant. Only profiles with xoff count: templates for Broadcom have static limits of lossy profiles in dynamic pools, and that works. A profile of any group or queue that has neither limit is told, too: nobody then says when the group pauses, or when the queue is full.",
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
    without_limit(switch, found);
    let made_in = switch.pools.get("ingress_lossless_pool").filter(|pool| !pool.is_dynamic);
    if let Some(pool) = made_in.filter(|_| switch.model == BufferModel::Dynamic) {
        let message = "static, but the dynamic model makes profiles with dynamic_th".to_string();
        let place = Place::of(pool.row, "mode");
        let finding = found.about(switch, "ingress_lossless_pool", place, message);
        let op = Op::set("BUFFER_POOL", "ingress_lossless_pool", "mode", "dynamic");
        found.push(finding.patch([op]));
    }
    for profile in switch.profiles.values().filter(|profile| profile.is_lossless()) {
        let Some(pool) = switch.pool_of(profile) else {
            continue;
        };
        let (field, mode) =
            if pool.is_dynamic { ("static_th", "dynamic") } else { ("dynamic_th", "static") };
        if profile.row.get(field).is_none() {
            continue;
        }
        let message = format!("{field} in a {mode} pool");
        let finding = found.about(switch, profile.name, Place::of(profile.row, field), message);
        let finding = finding.beside(Place::row(profile.row));
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

/// Profiles of groups and queues that have neither limit.
fn without_limit(switch: &Switch, found: &mut Found) {
    let bindings = switch.ports.iter().flat_map(|port| port.groups.iter().chain(&port.queues));
    let bound = bindings.filter_map(|binding| switch.profile_of(binding));
    let bound = BTreeMap::from_iter(bound.map(|profile| (profile.name, profile)));
    for profile in bound.into_values().filter(|profile| !profile.is_calculated) {
        let mut limits = ["dynamic_th", "static_th"].into_iter();
        if limits.any(|limit| profile.row.get(limit).is_some()) {
            continue;
        }
        let what = if profile.is_lossless() { "when it pauses" } else { "when it is full" };
        let message = format!("neither dynamic_th nor static_th: nobody says {what}");
        found.push(found.about(switch, profile.name, Place::row(profile.row), message));
    }
}
