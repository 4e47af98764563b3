//! PL106, not-a-number: a number is written so that the switch cannot read it.

use crate::database::{Row, Text, quoted};
use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL106",
    name: "not-a-number",
    severity: Severity::Error,
    sentence: "A number is written so that the switch cannot read it, or stands for nothing.",
    why: "Orchagent takes the digits that a text starts with, or refuses the whole row: \"2000K\" is 2,000 bytes. Sizes, thresholds, times, speeds, and both sides of all maps are looked at; a class that no chip has is as wrong as a word.",
    fix: "write a plain number, such as 2000000",
    released: "Silent on the released configurations and lookup files of the test data; newer than the count over 414 renderings.",
    evidence: "src: swss orchagent/qosorch.cpp, bufferorch.cpp and pfcwdorch.cpp, which use stoul and to_uint",
    good: &[set("tor0", "/BUFFER_PROFILE/egress_lossless_profile/size", r#"0"#)],
    bad: &[set("tor0", "/WRED_PROFILE/AZURE_LOSSLESS/green_max_threshold", r#""10000K""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    for numbers in &NUMBERS {
        for row in switch.config.rows(numbers.table) {
            for field in numbers.fields {
                let wrong = row.get(field).filter(|value| !is_number(*value));
                if let Some(value) = wrong {
                    let message = format!("{field} {} is no number", quoted(value.text));
                    let finding = about(switch, row, field, message, found);
                    found.push(finding);
                }
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

fn is_number(value: Text) -> bool {
    value.signed().is_some()
}

/// The fields of a table that are numbers.
struct Numbers {
    table: &'static str,
    fields: &'static [&'static str],
}

const NUMBERS: [Numbers; 5] = [
    Numbers { table: "PORT", fields: &["speed", "mtu"] },
    Numbers { table: "BUFFER_POOL", fields: &["size", "xoff"] },
    Numbers {
        table: "BUFFER_PROFILE",
        fields: &["size", "xon", "xoff", "xon_offset", "dynamic_th", "static_th"],
    },
    Numbers {
        table: "WRED_PROFILE",
        fields: &[
            "green_min_threshold",
            "green_max_threshold",
            "green_drop_probability",
            "yellow_min_threshold",
            "yellow_max_threshold",
            "yellow_drop_probability",
            "red_min_threshold",
            "red_max_threshold",
            "red_drop_probability",
        ],
    },
    Numbers { table: "PFC_WD", fields: &["detection_time", "restoration_time", "POLL_INTERVAL"] },
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
