//! PL402, wred-drops-lossless: WRED drops packets of a lossless queue.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL402",
    name: "wred-drops-lossless",
    severity: Severity::Error,
    sentence: "WRED drops packets of a lossless queue.",
    why: "The profile has thresholds switched on and no ECN, so it drops where it should mark. With ECN on, packets that are not ECN-capable are still dropped: hosts must set ECT.",
    fix: "set ecn to ecn_all",
    released: "Never on a released template.",
    evidence: "BI 27606",
    good: &[set(
        "tor0",
        "/WRED_PROFILE/OTHER",
        r#"{"ecn": "ecn_none", "wred_green_enable": "true"}"#,
    )],
    bad: &[set("tor0", "/WRED_PROFILE/AZURE_LOSSLESS/ecn", r#""ecn_none""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    for wred in switch.lossless_wreds() {
        let drops = ["green", "yellow", "red"].iter().any(|colour| wred.is_on(colour));
        if wred.marks() || !drops {
            continue;
        }
        let message = format!("drops in a lossless queue ({})", wred.ecn);
        let finding = found.about(switch, wred.name, Place::of(wred.row, "ecn"), message);
        found.push(finding.patch([Op::set("WRED_PROFILE", wred.name, "ecn", "ecn_all")]));
    }
}
