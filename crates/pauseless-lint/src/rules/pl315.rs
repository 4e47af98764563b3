//! PL315, null-profile-in-the-static-model: A group has the profile NULL, but nobody calculates it.

use crate::rule::prelude::*;
use crate::switch::BufferModel;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL315",
    name: "null-profile-in-the-static-model",
    severity: Severity::Error,
    sentence: "A group has the profile NULL, but nobody calculates it.",
    why: "NULL means that the dynamic model makes the headroom; buffer_model says traditional.",
    fix: "name a profile, or set buffer_model to dynamic",
    released: "Never on a released template.",
    evidence: "src: cfgmgr/buffermgr.cpp",
    good: &[set("dyn0", "/BUFFER_PG/Ethernet4|3-4/profile", r#""NULL""#)],
    bad: &[set("tor0", "/BUFFER_PG/Ethernet0|3-4/profile", r#""NULL""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    // Without the row of the switch nobody knows the model.
    if switch.model == BufferModel::Dynamic || switch.metadata().is_none() {
        return;
    }
    for binding in &port.groups {
        if binding.row.get("profile").is_none_or(|profile| profile.text != "NULL") {
            continue;
        }
        let message = "profile NULL, but buffer_model is traditional".to_string();
        let place = Place::of(binding.row, "profile");
        let key = binding.row.key().text;
        let finding = found.about(switch, key, place, message);
        let profile = switch.lossless_profile(port);
        let all_null = switch.profiles.values().all(|profile| profile.xoff.is_none());
        let dynamic = Op::set("DEVICE_METADATA", "localhost", "buffer_model", "dynamic");
        let patch = profile.map(|profile| Op::set("BUFFER_PG", key, "profile", profile));
        found.push(finding.patch(patch.or(all_null.then_some(dynamic))));
    }
}
