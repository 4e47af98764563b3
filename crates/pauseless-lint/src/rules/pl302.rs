//! PL302, profile-for-another-cable: the profile of a lossless group was made for another speed or cable.

use crate::rule::prelude::*;
use crate::switch::MadeFor;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL302",
    name: "profile-for-another-cable",
    severity: Severity::Error,
    sentence: "The profile of a lossless group was made for another speed or cable.",
    why: "buffermgr names profiles pg_lossless_(speed)_(cable)_profile after what they are for. A group that has another one has too little headroom, or too much: somebody changed speed or cable and did not reload.",
    fix: "reload the QoS configuration, or correct CABLE_LENGTH",
    released: "Never on a released template.",
    evidence: "BI 5837",
    good: &[
        set("tor0", "/CABLE_LENGTH/AZURE/Ethernet0", r#""40m""#),
        set(
            "tor0",
            "/BUFFER_PROFILE/pg_lossless_50000_40m_profile",
            r#"{"pool": "ingress_lossless_pool", "xon": "19456", "xoff": "36864", "size": "19456", "dynamic_th": "0"}"#,
        ),
        set("tor0", "/BUFFER_PG/Ethernet0|3-4/profile", r#""pg_lossless_50000_40m_profile""#),
    ],
    bad: &[set("tor0", "/CABLE_LENGTH/AZURE/Ethernet0", r#""300m""#)],
    also: &["PL810"],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let (Some(speed), Some(metres)) = (port.speed(), port.metres()) else {
        return;
    };
    let set = port.get("speed").and_then(|speed| speed.number());
    for binding in &port.groups {
        let Some(profile) = switch.profile_of(binding).filter(|profile| profile.is_lossless())
        else {
            continue;
        };
        let Some(made) = profile.made_for().filter(|_| metres > 0) else {
            continue;
        };
        let is_speed = made.speed == speed || Some(made.speed) == set;
        if is_speed && made.metres == metres {
            continue;
        }
        let message = format!(
            "is {speed} Mb/s, {metres} m; its profile {} is for {} Mb/s, {} m",
            profile.name, made.speed, made.metres
        );
        let finding = found.at_port(switch, port, Place::of(binding.row, "profile"), message);
        let finding = match port.cable.filter(|_| made.metres != metres) {
            Some(cable) => finding.beside(Place::of(cable.row, port.name)),
            None => finding,
        };
        let finding = match port.row.filter(|_| !is_speed) {
            Some(row) => finding.beside(Place::of(row, "speed")),
            None => finding,
        };
        let patch = patch(switch, port, MadeFor { speed, ..made });
        let other = format!("pg_lossless_{speed}_{metres}m_profile");
        let rebind = switch
            .profiles
            .contains_key(other.as_str())
            .then(|| Op::set("BUFFER_PG", binding.row.key().text, "profile", other.as_str()));
        found.push(finding.patch(patch.or(rebind)));
    }
}

/// The length of the cable is what is wrong if all ports like this one have the other.
fn patch(switch: &Switch, port: &Port, made: MadeFor) -> Option<Op> {
    let usual = switch.usual(port, |other| other.metres())?;
    let cable = port.cable.filter(|_| usual == made.metres && port.metres() != Some(usual))?;
    Some(Op::set("CABLE_LENGTH", cable.row.key().text, port.name, format!("{usual}m")))
}
