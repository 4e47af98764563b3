//! PL201, pfc-without-headroom: A priority is paused by a group that has no headroom.

use crate::fix::Field;
use crate::rule::prelude::*;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL201",
    name: "pfc-without-headroom",
    severity: Severity::Error,
    sentence: "A priority is paused by a group that has no headroom.",
    why: "The PAUSE goes out when the group is full; what is on the cable then has no place and is dropped. The group is bound to a profile without xoff, or to none while groups of other ports are bound. Silent if no group in the file has headroom at all: they are made when the switch starts.",
    fix: "bind a lossless profile, or take the priority out of pfc_enable",
    released: "2 SKUs alone, and with PL303 29 SKUs that have no row for their service ports: those ports do pause without headroom.",
    evidence: "SO 480; src: cfgmgr/buffermgr.cpp",
    good: &[
        set("tor0", "/PORT_QOS_MAP/Ethernet0/pfc_enable", r#""""#),
        set("tor0", "/PORT_QOS_MAP/Ethernet0/pfcwd_sw_enable", r#""""#),
        unset("tor0", "/BUFFER_PG/Ethernet0|3-4"),
        unset("tor0", "/PFC_WD/Ethernet0"),
    ],
    bad: &[set("tor0", "/BUFFER_PG/Ethernet0|3-4/profile", r#""ingress_lossy_profile""#)],
    also: &[],
    check: Check::Port(check),
};

fn check(switch: &Switch, port: &Port, found: &mut Found) {
    let is_off = switch.has_ports && !port.is_up();
    if !switch.has_lossless || port.is_internal() || is_off {
        return;
    }
    let without = port
        .priorities()
        .filter(|priority| !switch.has_headroom(port, switch.priority_to_group(port, *priority)));
    let without = without.fold(0u8, |mask, priority| mask | 1 << priority);
    if without == 0 {
        return;
    }
    let groups = bits(without.into()).map(|priority| switch.priority_to_group(port, priority));
    let groups = groups.fold(0u8, |mask, group| mask | bit(group) as u8);
    let binding = bits(groups.into()).find_map(|group| port.group(group));
    let profile = binding.and_then(|binding| binding.row.get("profile"));
    let profile = profile.map_or("no profile", |name| name.text);
    let (priorities, names) = (list(without), list(groups));
    let word = if groups.count_ones() == 1 { "group" } else { "groups" };
    let message = format!("PFC in {priorities}, but {word} {names} without headroom ({profile})");
    let place = match binding {
        Some(binding) => Place::of(binding.row, "profile"),
        None => port.qos.map_or_else(Place::default, |row| Place::of(row, "pfc_enable")),
    };
    let mut finding = found.at_port(switch, port, place, message);
    let bound = binding.and_then(|binding| switch.profile_of(binding));
    finding.related.extend(bound.map(|profile| Place::row(profile.row)));
    // What no port like this one pauses is a mistake of the list, and not of the group.
    let usual = switch.usual(port, |other| other.pfc_enable.map(|list| list.read));
    if usual.is_some_and(|usual| usual & without == 0) {
        finding.related.extend(port.qos.map(|row| Place::of(row, "pfc_enable")));
    }
    found.push(finding.patch(patch(switch, port, groups)));
}

/// Binds the groups to the profile that fits the port.
fn patch(switch: &Switch, port: &Port, groups: u8) -> Vec<Op> {
    let Some(profile) = switch.lossless_profile(port) else {
        return Vec::new();
    };
    let bindings = port.groups.iter().filter(|binding| binding.all().any(|g| groups & 1 << g != 0));
    let bindings = Vec::from_iter(bindings);
    if bindings.iter().any(|binding| binding.all().any(|group| groups & 1 << group == 0)) {
        // A row that others share is for a person to cut.
        return Vec::new();
    }
    let bound = bindings.iter().flat_map(|binding| binding.all());
    let bound = bound.fold(0u8, |mask, group| mask | 1 << group);
    let set =
        bindings.iter().map(|one| Op::set("BUFFER_PG", one.row.key().text, "profile", profile));
    let add = bits((groups & !bound).into()).map(|group| {
        let field = Field { name: "profile", value: profile };
        Op::row("BUFFER_PG", &format!("{}|{group}", port.name), &[field])
    });
    set.chain(add).collect()
}
