//! PL403, ecn-without-green: ECN is on, but wred_green_enable is not: nothing is marked.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL403",
    name: "ecn-without-green",
    severity: Severity::Warning,
    sentence: "ECN is on, but wred_green_enable is not: nothing is marked.",
    why: "All packets are green unless a policer or map colours them.",
    fix: "set wred_green_enable to true",
    released: "Never on a released template.",
    evidence: "BI 4545",
    good: &[set("tor0", "/WRED_PROFILE/AZURE_LOSSLESS/wred_red_enable", r#""false""#)],
    bad: &[set("tor0", "/WRED_PROFILE/AZURE_LOSSLESS/wred_green_enable", r#""false""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    for wred in switch.lossless_wreds() {
        if !wred.marks() || wred.is_on("green") {
            continue;
        }
        let message = "ecn is on, wred_green_enable is not: nothing is marked".to_string();
        let place = Place::of(wred.row, "wred_green_enable");
        let finding = found.about(switch, wred.name, place, message);
        found.push(finding.patch([Op::set(
            "WRED_PROFILE",
            wred.name,
            "wred_green_enable",
            "true",
        )]));
    }
}
