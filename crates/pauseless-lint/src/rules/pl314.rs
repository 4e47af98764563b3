//! PL314, dynamic-model-without-defaults: the dynamic buffer model lacks a table that it needs, and makes no lossless group.

use crate::fix::Field;
use crate::rule::prelude::*;
use crate::switch::BufferModel;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL314",
    name: "dynamic-model-without-defaults",
    severity: Severity::Error,
    sentence: "The dynamic buffer model lacks a table that it needs, and makes no lossless group.",
    why: "DEFAULT_LOSSLESS_BUFFER_PARAMETER has the threshold of the groups that it makes, LOSSLESS_TRAFFIC_PATTERN the packets that it makes them for.",
    fix: "add the table (`config qos reload`)",
    released: "Never on a released template.",
    evidence: "src: cfgmgr/buffermgrdyn.cpp",
    good: &[set("dyn0", "/DEFAULT_LOSSLESS_BUFFER_PARAMETER/AZURE/default_dynamic_th", r#""1""#)],
    bad: &[unset("dyn0", "/DEFAULT_LOSSLESS_BUFFER_PARAMETER")],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    let is_used = switch.pausing().next().is_some();
    let Some(row) = switch.metadata().filter(|_| switch.model == BufferModel::Dynamic && is_used)
    else {
        return;
    };
    let th = Field { name: "default_dynamic_th", value: "0" };
    let pattern = [
        Field { name: "mtu", value: "1024" },
        Field { name: "small_packet_percentage", value: "50" },
    ];
    let tables = [
        ("DEFAULT_LOSSLESS_BUFFER_PARAMETER", &[th][..]),
        ("LOSSLESS_TRAFFIC_PATTERN", &pattern[..]),
    ];
    for (table, fields) in tables {
        let mut rows = switch.config.rows(table);
        if rows.any(|row| row.get(fields[0].name).is_some()) {
            continue;
        }
        let message = format!("dynamic buffer model without {table}: no lossless group is made");
        let place = Place::of(row, "buffer_model");
        let finding = found.about(switch, &switch.name, place, message);
        found.push(finding.patch([Op::row(table, "AZURE", fields)]));
    }
}
