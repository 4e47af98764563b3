//! PL402, wred-drops-lossless: WRED drops packets of a lossless queue.

use crate::database::quoted;
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL402",
    name: "wred-drops-lossless",
    severity: Severity::Error,
    sentence: "WRED drops packets of a lossless queue.",
    why: "The profile has thresholds switched on for a colour and no ECN for it, so it drops where it should mark; packets are green unless somebody colours them. A mode that does not exist leaves the profile unapplied. With ECN on, packets that are not ECN-capable are still dropped: hosts must set ECT.",
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
        let mut colours = ["green", "yellow", "red"].into_iter();
        let drops = colours.any(|colour| wred.is_on(colour) && !wred.marks_colour(colour));
        if wred.is_known() && !drops {
            continue;
        }
        let message = if wred.is_known() {
            format!("drops in a lossless queue ({})", wred.ecn)
        } else {
            format!("ecn {} is no mode; the profile is not applied", quoted(wred.ecn))
        };
        let finding = found.about(switch, wred.name, Place::of(wred.row, "ecn"), message);
        found.push(finding.patch([Op::set("WRED_PROFILE", wred.name, "ecn", "ecn_all")]));
    }
}
