//! PL405, wred-thresholds-reversed: A WRED profile has its lower threshold above its upper one, or never marks.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL405",
    name: "wred-thresholds-reversed",
    severity: Severity::Warning,
    sentence: "A WRED profile has its lower threshold above its upper one, or lacks one, or never marks.",
    why: "With min above max the SDK refuses the profile or marks all at once; with a probability of 0 nothing is marked before max.",
    fix: "min <= max, and a probability above 0",
    released: "Never on a released template.",
    evidence: "SONiC's YANG model",
    good: &[set("tor0", "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", r#""10000000""#)],
    bad: &[set("tor0", "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", r#""10000001""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    for wred in switch.lossless_wreds() {
        for colour in ["green", "yellow", "red"] {
            let [low, high] = ["min", "max"].map(|end| format!("{colour}_{end}_threshold"));
            let probability = format!("{colour}_drop_probability");
            if !wred.is_on(colour) {
                continue;
            }
            for end in [&low, &high] {
                if wred.row.get(end).is_none() && colour == "green" {
                    let message = format!("no {end}: the chip's own, which may be 0, counts");
                    let place = Place::of(wred.row, end);
                    found.push(found.about(switch, wred.name, place, message));
                }
            }
            if let (Some(min), Some(max)) = (wred.number(&low), wred.number(&high))
                && min > max
            {
                let message = format!("{colour} min {min} above max {max}");
                let finding = found.about(switch, wred.name, Place::of(wred.row, &low), message);
                let swap = [(&low, max), (&high, min)].map(|(field, value)| {
                    Op::set("WRED_PROFILE", wred.name, field, value.to_string())
                });
                found.push(finding.patch(swap));
            }
            if wred.number(&probability) == Some(0) {
                let message = format!("{probability} 0: nothing is marked below max");
                let place = Place::of(wred.row, &probability);
                let finding = found.about(switch, wred.name, place, message);
                let others = ["green", "yellow", "red"].iter().filter_map(|other| {
                    wred.number(&format!("{other}_drop_probability")).filter(|value| *value > 0)
                });
                let usual = others.max().unwrap_or(5).to_string();
                found.push(finding.patch([Op::set(
                    "WRED_PROFILE",
                    wred.name,
                    &probability,
                    usual,
                )]));
            }
        }
    }
}
