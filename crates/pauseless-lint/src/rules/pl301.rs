//! PL301, headroom-below-the-wire: the headroom is below what the cable alone holds there and back.

use crate::fabric::{Fabric, Lookup};
use crate::headroom::wire_bytes;
use crate::json::Span;
use crate::rule::prelude::*;
use crate::switch::MadeFor;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL301",
    name: "headroom-below-the-wire",
    severity: Severity::Error,
    sentence: "The headroom is below what the cable alone holds there and back.",
    why: "While the PAUSE travels to the neighbour the neighbour sends, and what is on the cable then still arrives: 2 L R / (8 * 1.98e8) bytes. Nothing can make a port lossless whose headroom is below that. Rows of pg_profile_lookup.ini are looked at, too. The bound of 802.1Q that `plan` has is larger and not used here, because good templates are below it; see PL311.",
    fix: "correct the row or the length; else no PFC on this cable",
    released: "Of 1,462 released lookup rows 20 fail, all Mellanox at 1500 and 2000 m, of which SN4280 and SN4700-O8C48 have the 200G rows again at 400G; 3 SKUs use them.",
    evidence: "released rows of pg_profile_lookup.ini; MG 20422",
    good: &[set("tor0", "/BUFFER_PROFILE/pg_lossless_50000_5m_profile/xoff", r#""20000""#)],
    bad: &[set("tor0", "/BUFFER_PROFILE/pg_lossless_50000_5m_profile/xoff", r#""300""#)],
    also: &["PL301"],
    check: Check::Fabric(check),
};

fn check(fabric: &Fabric, found: &mut Found) {
    for switch in fabric.switches {
        for port in &switch.ports {
            look(switch, port, found);
        }
    }
    for Lookup { file, name, rows } in fabric.lookups {
        for row in rows {
            let made = MadeFor { speed: row.speed_mbps.into(), metres: row.cable_m.into() };
            let wire = wire_bytes(made);
            if row.xoff < wire {
                let at = Span { start: row.at.start as u32, end: row.at.end as u32 };
                let subject = name.rsplit('/').next().unwrap_or(name);
                let message = sentence(row.xoff, made);
                found.push(found.of(subject, Place::in_file(*file, at), message));
            }
        }
    }
}

fn sentence(xoff: u64, made: MadeFor) -> String {
    let MadeFor { speed, metres } = made;
    let wire = wire_bytes(made);
    format!("headroom {xoff} B, {metres} m at {speed} Mb/s hold {wire} B there and back")
}

fn look(switch: &Switch, port: &Port, found: &mut Found) {
    let (Some(speed), Some(metres)) = (port.speed(), port.metres()) else {
        return;
    };
    let made = MadeFor { speed, metres };
    let wire = wire_bytes(made);
    for binding in &port.groups {
        let Some(profile) = switch.profile_of(binding) else {
            continue;
        };
        let Some(xoff) = profile.xoff.filter(|xoff| *xoff > 0 && *xoff < wire) else {
            continue;
        };
        if profile.made_for().is_some_and(|other| other != made) {
            // The profile of another port: that is the cause.
            continue;
        }
        let place = Place::of(profile.row, "xoff");
        found.push(found.at_port(switch, port, place, sentence(xoff, made)));
    }
}
