//! PL201, pfc-without-headroom: A priority is paused by a group that has no headroom.

use crate::database::Row;
use crate::fix::Field;
use crate::rule::prelude::*;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL201",
    name: "pfc-without-headroom",
    severity: Severity::Error,
    sentence: "A priority is paused by a group that has no headroom.",
    why: "The PAUSE goes out when the group is full; what is on the cable then has no place and is dropped. The group is bound to a profile without xoff, or to none while groups of other ports are bound. Where no group in the file has headroom, groups without a row are left out: they are made when the switch starts.",
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
    if port.is_internal() || is_off {
        return;
    }
    let without = port
        .priorities()
        .map(|priority| (priority, switch.priority_to_group(port, priority)))
        .filter(|(_, group)| !switch.has_headroom(port, *group))
        // Where no group has headroom, those without a row are made when the switch starts.
        .filter(|(_, group)| switch.has_lossless || is_bound_to_none(switch, port, *group))
        .map(|(priority, _)| priority);
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
    let turned = turned_away(switch, port, without);
    let place = match (&turned, binding) {
        (Some((row, priority)), _) => Place::of(*row, &priority.to_string()),
        (None, Some(binding)) => Place::of(binding.row, "profile"),
        (None, None) => port.qos.map_or_else(Place::default, |row| Place::of(row, "pfc_enable")),
    };
    let mut finding = found.at_port(switch, port, place, message);
    finding.group = bits(groups.into()).next();
    let bound = binding.and_then(|binding| switch.profile_of(binding));
    finding.related.extend(bound.map(|profile| Place::row(profile.row)));
    // What no port like this one pauses is a mistake of the list, and not of the group.
    let usual = switch.usual(port, |other| other.pfc_enable.map(|list| list.read));
    if usual.is_some_and(|usual| usual & without == 0) {
        finding.related.extend(port.qos.map(|row| Place::of(row, "pfc_enable")));
    }
    if let Some((row, priority)) = turned {
        let number = priority.to_string();
        let op = Op::set(row.table(), row.key().text, &number, number.clone());
        found.push(finding.patch([op]));
        return;
    }
    found.push(finding.patch(patch(switch, port, groups)));
}

/// Whether a row binds a group to a profile that exists and has no headroom.
fn is_bound_to_none(switch: &Switch, port: &Port, group: u8) -> bool {
    switch.group_profile(port, group).is_some_and(|profile| !profile.is_lossless())
}

/// The map from priorities to groups and the priority that it leads astray: to a group without
/// headroom, while the group of its own number has some.
fn turned_away<'d>(switch: &Switch<'d>, port: &Port<'d>, without: u8) -> Option<(Row<'d>, u8)> {
    let map = switch.map_at(port, MapKind::PriorityToGroup)?;
    let astray = bits(without.into()).find(|priority| {
        switch.priority_to_group(port, *priority) != *priority
            && switch.has_headroom(port, *priority)
    })?;
    Some((map.row, astray))
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
