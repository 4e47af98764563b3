//! PL408, coloured-thresholds-below-green: yellow or red packets are marked before green ones.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL408",
    name: "coloured-thresholds-below-green",
    severity: Severity::Note,
    sentence: "Yellow or red packets are marked before green ones.",
    why: "Drop precedence: harmless until a policer or map colours lossless packets, which are then marked or dropped first.",
    fix: "the same thresholds for all colours, if nothing is coloured",
    released: "A note on most Broadcom templates, which have 1 MiB for yellow and red.",
    evidence: "released templates",
    good: &[],
    bad: &[set("tor0", "/WRED_PROFILE/AZURE_LOSSLESS/red_min_threshold", r#""1048576""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    for wred in switch.lossless_wreds().filter(|wred| wred.marks()) {
        let Some(green) = wred.number("green_min_threshold") else {
            continue;
        };
        for colour in ["yellow", "red"].into_iter().filter(|colour| wred.is_on(colour)) {
            let field = format!("{colour}_min_threshold");
            if wred.number(&field).is_some_and(|min| min < green) {
                let message = format!("{colour} thresholds below green");
                let place = Place::of(wred.row, &field);
                found.push(found.about(switch, wred.name, place, message));
            }
        }
    }
}
