//! PL102, profile-does-not-exist: A group or queue has a profile that does not exist, or one whose pool is for the other direction.

use crate::rule::prelude::*;
use std::collections::BTreeSet;

use crate::database::{Text, quoted};
use crate::switch::Binding;
use crate::switch::chain::bit;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL102",
    name: "profile-does-not-exist",
    severity: Severity::Error,
    sentence: "A group or queue has a profile that does not exist, or one whose pool is for the other direction.",
    why: "The row is not applied, and the group keeps what the chip starts with. An error for what must be lossless, a warning for the rest. A pool of type both fits groups and queues.",
    fix: "name a profile that exists, with a pool of the right direction",
    released: "20 of 229 SKUs put a lossy ingress profile into an egress pool: the row has no effect, which nobody noticed because nothing lossless hangs on it.",
    evidence: "src: swss orchagent/bufferorch.cpp; data of 20 released SKUs",
    good: &[set("tor0", "/BUFFER_PG/Ethernet0|0/profile", r#""ingress_lossless_profile""#)],
    bad: &[set("tor0", "/BUFFER_PG/Ethernet0|3-4/profile", r#""pg_lossless_50000_7m_profile""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    if switch.profiles.is_empty() {
        return;
    }
    look_at_lists(switch, found);
    for (table, wrong) in [("BUFFER_PG", "egress"), ("BUFFER_QUEUE", "ingress")] {
        let is_groups = table == "BUFFER_PG";
        let mut seen = BTreeSet::new();
        for port in &switch.ports {
            let bindings = if is_groups { &port.groups } else { &port.queues };
            let lossless = if is_groups {
                u32::from(switch.pausing_groups(port))
            } else {
                switch.lossless_queues(port)
            };
            for binding in bindings {
                let Some(name) = binding.row.get("profile").map(|name| name.reference()) else {
                    continue;
                };
                if name.text == "NULL" {
                    continue;
                }
                let profile = switch.profiles.get(name.text);
                let what = match profile.map(|profile| (profile, switch.pool_of(profile))) {
                    None => "does not exist".to_string(),
                    Some((profile, None)) => match profile.pool {
                        Some(pool) => {
                            let pool = quoted(pool.reference().text);
                            format!("has the pool {pool}, which does not exist")
                        }
                        None => "has no pool".to_string(),
                    },
                    Some((_, Some(pool))) if pool.direction == wrong => {
                        format!("has an {wrong} pool")
                    }
                    Some(_) => continue,
                };
                let is_lossless = binding.all().any(|index| lossless & bit(index) != 0);
                if profile.is_some() && !seen.insert((name.text, is_lossless)) {
                    continue;
                }
                let severity = if is_lossless { Severity::Error } else { Severity::Warning };
                let key = binding.row.key().text;
                let place = Place::of(binding.row, "profile");
                let message = match name.text {
                    "" => "no profile is named".to_string(),
                    name => format!("profile {name} {what}"),
                };
                let finding = found.about(switch, key, place, message).severity(severity);
                let mut finding = finding.patch(other(switch, port, binding, table));
                finding.related.extend(profile.map(|profile| Place::row(profile.row)));
                found.push(finding);
            }
        }
    }
}

/// The lists of profiles that ports of some chips have beside those of groups and queues.
fn look_at_lists(switch: &Switch, found: &mut Found) {
    let tables = [
        ("BUFFER_PORT_INGRESS_PROFILE_LIST", "egress"),
        ("BUFFER_PORT_EGRESS_PROFILE_LIST", "ingress"),
    ];
    for (table, wrong) in tables {
        for row in switch.config.rows(table) {
            let Some(list) = row.get("profile_list") else {
                continue;
            };
            let names = list.items().map(|name| Text { text: name, ..list }.reference().text);
            let is_turned = |name: &str| {
                let pool = switch.profiles.get(name).and_then(|one| switch.pool_of(one));
                pool.is_some_and(|pool| pool.direction == wrong)
            };
            for name in names {
                let message = if !switch.profiles.contains_key(name) {
                    format!("profile {name} of {table} does not exist")
                } else if is_turned(name) {
                    format!("profile {name} of {table} has an {wrong} pool")
                } else {
                    continue;
                };
                let place = Place::of(row, "profile_list");
                let finding = found.about(switch, row.key().text, place, message);
                let others = switch.config.rows(table).filter_map(|row| row.get("profile_list"));
                let fit = |list: &Text| {
                    let mut names = list.items();
                    names.all(|name| switch.profiles.contains_key(name) && !is_turned(name))
                };
                let usual = others.filter(fit).map(|list| list.text).next();
                let op = usual.map(|usual| Op::set(table, row.key().text, "profile_list", usual));
                found.push(finding.patch(op));
            }
        }
    }
}

/// What ports like this one have there.
fn other(switch: &Switch, port: &Port, binding: &Binding, table: &str) -> Option<Op> {
    let is_groups = table == "BUFFER_PG";
    let name = switch.usual(port, |other| {
        let of = if is_groups { other.group(binding.first) } else { other.queue(binding.first) };
        let name = of?.row.get("profile")?.reference().text;
        switch.profiles.get(name).and_then(|profile| switch.pool_of(profile)).map(|_| name)
    })?;
    Some(Op::set(table, binding.row.key().text, "profile", name))
}
