//! PL106, not-a-number: a number is written so that the switch cannot read it, or is out of range.

use crate::database::{Row, quoted};
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL106",
    name: "not-a-number",
    severity: Severity::Error,
    sentence: "A number is written so that the switch cannot read it, or stands for nothing, or is out of range.",
    why: "Orchagent takes the digits that a text starts with, or refuses the whole row: \"2000K\" is 2,000 bytes. Sizes, thresholds, times, speeds, weights, both sides of all maps, and the groups and queues of a key are looked at; a class that no chip has, a negative size, or a range such as 4-3 is as wrong as a word.",
    fix: "write a plain number, such as 2000000",
    released: "Silent on the released configurations and lookup files of the test data; newer than the count over 414 renderings.",
    evidence: "src: swss orchagent/qosorch.cpp, bufferorch.cpp and pfcwdorch.cpp, which use stoul and to_uint",
    good: &[set("tor0", "/BUFFER_PROFILE/egress_lossless_profile/size", r#"0"#)],
    bad: &[set("tor0", "/WRED_PROFILE/AZURE_LOSSLESS/green_max_threshold", r#""10000K""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    for Numbers { table, fields, least, most } in &NUMBERS {
        for row in switch.config.rows(table) {
            for field in *fields {
                let Some(value) = row.get(field) else {
                    continue;
                };
                let message = match value.signed() {
                    None => format!("{field} {} is no number", quoted(value.text)),
                    Some(number) if number < *least => {
                        format!("{field} {number} is below {least}, the least that there is")
                    }
                    Some(number) if number > *most => {
                        format!("{field} {number} is above {most}, the most that there is")
                    }
                    Some(_) => continue,
                };
                found.push(about(switch, row, field, message, found));
            }
        }
    }
    for kind in MapKind::ALL {
        let [from, to] = sides(kind);
        for row in switch.config.rows(kind.table()) {
            for (key, value) in row.fields() {
                let wrong = [(key, from), (value, to)]
                    .into_iter()
                    .find(|(text, side)| text.number().is_none_or(|number| number > side.most));
                if let Some((text, Side { name, most })) = wrong {
                    let message = format!("{} is no {name} of 0..{most}", quoted(text.text));
                    let mut finding = about(switch, row, key.text, message, found);
                    finding.fix = format!("write a {name} of 0..{most}");
                    found.push(finding);
                }
            }
        }
    }
    for (table, most) in [("BUFFER_PG", 7), ("BUFFER_QUEUE", 63), ("QUEUE", 63)] {
        for row in switch.config.rows(table) {
            look_at_range(switch, row, most, found);
        }
    }
}

/// The groups or queues at the end of a key: one, or from the first to the last.
fn look_at_range(switch: &Switch, row: Row, most: u8, found: &mut Found) {
    let Some((port, range)) = row.key().text.rsplit_once('|') else {
        return;
    };
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let ends = [first, last].map(|end| end.trim().parse::<u8>().ok());
    if matches!(ends, [Some(first), Some(last)] if first <= last && last <= most) {
        return;
    }
    let message = format!("{} is no range of 0..{most}, and the row has no effect", quoted(range));
    let mut finding = found.about(switch, port, Place::row(row), message);
    finding.fix = "write one number, or the first and the last, such as 3-4".to_string();
    let enable = switch.port(port).and_then(|port| port.qos);
    finding.related.extend(enable.map(|row| Place::of(row, "pfc_enable")));
    found.push(finding);
}

fn about(
    switch: &Switch,
    row: Row,
    field: &str,
    message: String,
    found: &Found,
) -> crate::finding::Finding {
    let finding = found.about(switch, row.key().text, Place::of(row, field), message);
    finding.beside(Place::row(row))
}

/// The fields of a table that are numbers, and what they may be.
struct Numbers {
    table: &'static str,
    fields: &'static [&'static str],
    least: i64,
    most: i64,
}

const fn of(table: &'static str, fields: &'static [&'static str]) -> Numbers {
    Numbers { table, fields, least: 0, most: i64::MAX }
}

impl Numbers {
    const fn within(self, least: i64, most: i64) -> Numbers {
        Numbers { least, most, ..self }
    }
}

const NUMBERS: [Numbers; 14] = [
    of("PORT", &["speed", "mtu"]).within(1, i64::MAX),
    of("PORTCHANNEL", &["mtu"]).within(1, i64::MAX),
    of("BUFFER_POOL", &["size", "xoff"]),
    of("BUFFER_PROFILE", &["size", "xon", "xoff", "xon_offset", "static_th"]),
    // PL310 says what is wrong with a number that is no exponent.
    of("BUFFER_PROFILE", &["dynamic_th"]).within(i64::MIN, i64::MAX),
    of(
        "WRED_PROFILE",
        &[
            "green_min_threshold",
            "green_max_threshold",
            "yellow_min_threshold",
            "yellow_max_threshold",
            "red_min_threshold",
            "red_max_threshold",
        ],
    ),
    of(
        "WRED_PROFILE",
        &["green_drop_probability", "yellow_drop_probability", "red_drop_probability"],
    )
    .within(0, 100),
    of("PFC_WD", &["detection_time", "restoration_time"]),
    of("PFC_WD", &["POLL_INTERVAL"]).within(100, i64::MAX),
    of("SCHEDULER", &["weight"]).within(1, 100),
    of("DEFAULT_LOSSLESS_BUFFER_PARAMETER", &["default_dynamic_th"]).within(-8, 7),
    of("DEFAULT_LOSSLESS_BUFFER_PARAMETER", &["over_subscribe_ratio", "max_headroom_size"]),
    of("LOSSLESS_TRAFFIC_PATTERN", &["mtu"]).within(64, 65_535),
    of("LOSSLESS_TRAFFIC_PATTERN", &["small_packet_percentage"]).within(0, 100),
];

/// What one side of a map may be.
#[derive(Clone, Copy)]
struct Side {
    name: &'static str,
    most: u64,
}

fn sides(kind: MapKind) -> [Side; 2] {
    let dscp = Side { name: "DSCP", most: 63 };
    let priority = Side { name: "priority", most: 7 };
    let class = Side { name: "traffic class", most: 15 };
    let group = Side { name: "priority group", most: 7 };
    // Chassis with virtual output queues have more than eight.
    let queue = Side { name: "queue", most: 63 };
    match kind {
        MapKind::DscpToTc => [dscp, class],
        MapKind::Dot1pToTc => [priority, class],
        MapKind::TcToGroup => [class, group],
        MapKind::TcToQueue => [class, queue],
        MapKind::PriorityToQueue => [priority, queue],
        MapKind::PriorityToGroup => [priority, group],
        MapKind::TcToDscp => [class, dscp],
    }
}
