//! PL311, headroom-below-802: the headroom is below 802.1Q's worst case.

use crate::headroom::{wire_bytes, worst_case_bytes};
use crate::rule::prelude::*;
use crate::switch::MadeFor;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL311",
    name: "headroom-below-802",
    severity: Severity::Note,
    sentence: "The headroom is below 802.1Q's worst case.",
    why: "Annex N of 802.1Q adds a largest frame in each direction, the PAUSE itself, the delays of both interfaces and the response time to what the cable holds. SONiC and its vendors calculate with what their chips really need, which is often less. `pauseless plan --against` says by which of the two a port can lose. Below a third of it, as after a digit that got lost, this is a warning.",
    fix: "compare with `pauseless plan --against`, which says by which bound",
    released: "A note on many good templates: SN4600C at 50G is 3,357 B below it. A warning on 1 of 3,607 rows of the lookup files of sonic-buildimage 086b03bd70f9, symbolic links left out: Newport has for 400 Gb/s over 5 m the 18,432 B of 100 Gb/s.",
    evidence: "802.1Q-2022 annex N",
    good: &[],
    bad: &[set("tor0", "/BUFFER_PROFILE/pg_lossless_100000_40m_profile/xoff", r#""50000""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let (Some(speed), Some(metres)) = (port.speed(), port.metres().filter(|metres| *metres > 0))
    else {
        return;
    };
    let made = MadeFor { speed, metres };
    for binding in &port.groups {
        let profile = switch.profile_of(binding);
        let Some((profile, xoff)) = profile.and_then(|profile| Some((profile, profile.xoff?)))
        else {
            continue;
        };
        let is_other = profile.made_for().is_some_and(|other| other != made);
        let needs = worst_case_bytes(made, port.mtu());
        if xoff == 0 || is_other || xoff >= needs || xoff < wire_bytes(made) {
            continue;
        }
        let is_far_below = xoff.saturating_mul(FAR_BELOW) < needs;
        let (severity, what) = if is_far_below {
            (Severity::Warning, "is less than a third of")
        } else {
            (Severity::Note, "below")
        };
        let message = format!("headroom {xoff} B {what} 802.3's worst case {needs} B");
        let finding = found.at_port(switch, port, Place::of(profile.row, "xoff"), message);
        found.push(finding.severity(severity));
    }
}

/// Of 3,607 rows of released lookup files that hold what is on the cable, one is below a third.
const FAR_BELOW: u64 = 3;
