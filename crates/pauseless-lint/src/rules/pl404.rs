//! PL404, ecn-after-pfc: ECN begins to mark where PFC has long stopped the senders.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL404",
    name: "ecn-after-pfc",
    severity: Severity::Warning,
    sentence: "ECN begins to mark where PFC has long stopped the senders.",
    why: "A single busy group, the mildest case, is paused at alpha B / (1 + alpha) of a pool of B bytes, or at static_th; where the dynamic model calculates the pool, so does this rule. Marking from there on never happens; an error if it would begin beyond the whole pool.",
    fix: "lower the threshold, or raise alpha",
    released: "9 SKUs; Cig-CS6436-54P pauses at 45,696 B and marks from 1 MiB on.",
    evidence: "Z15; Cig-CS6436-54P as released",
    good: &[set("tor0", "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", r#""5000000""#)],
    bad: &[
        set("tor0", "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold", r#""30000000""#),
        set("tor0", "/WRED_PROFILE/AZURE_LOSSLESS/green_max_threshold", r#""40000000""#),
    ],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    for class in bits(switch.lossless_classes(port)) {
        let queue = switch.tc_to_queue(port, class);
        let named = port.scheduled(queue, "wred_profile").map(|name| name.reference());
        let Some(wred) = named.and_then(|name| switch.wreds.get(name.text)) else {
            continue;
        };
        let group = switch.tc_to_group(port, class);
        let (Some(kmin), Some(pause)) =
            (wred.number("green_min_threshold"), switch.pause_alone(port, group))
        else {
            continue;
        };
        let xoff = pause.xoff;
        if kmin < xoff || !wred.marks() || !wred.is_on("green") {
            continue;
        }
        let pool = pause.size;
        let is_error = pool.is_some_and(|size| kmin >= size);
        let severity = if is_error { Severity::Error } else { Severity::Warning };
        let of = pool.map_or(String::new(), |size| format!(" of a pool of {size} B"));
        let message = format!("ECN from {kmin} B, PFC already at {xoff} B{of}");
        let place = Place::of(wred.row, "green_min_threshold");
        let finding = found.at_port(switch, port, place, message).severity(severity);
        found.push(finding.beside(Place::row(pause.row)).group(group));
    }
}
