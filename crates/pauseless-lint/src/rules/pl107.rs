//! PL107, misspelled-name: a table or field has a name that differs from a known one by a slip.

use crate::rule::prelude::*;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL107",
    name: "misspelled-name",
    severity: Severity::Error,
    sentence: "A table or field has a name that differs from a known one by a slip.",
    why: "Nobody reads it, so what it should say is missing, and nothing reports that. Names within two letters of a known one that is missing itself are found.",
    fix: "write the known name",
    released: "Silent on the released configurations and lookup files of the test data; newer than the count over 414 renderings.",
    evidence: "src: swss reads tables and fields by name, and skips all others",
    good: &[set("tor0", "/PORT_QOS_MAP/Ethernet0/my_remark", r#""x""#)],
    bad: &[
        unset("tor0", "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold"),
        set("tor0", "/WRED_PROFILE/AZURE_LOSSLESS/green_min_treshold", r#""2000000""#),
    ],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    for table in switch.config.tables() {
        let is_known = FIELDS.iter().any(|known| known.table == table) || OTHERS.contains(&table);
        let meant = FIELDS.iter().map(|known| known.table).chain(OTHERS);
        let mut meant = meant.filter(|name| !switch.config.has(name) && is_slip(table, name));
        if let (false, Some(meant)) = (is_known, meant.next()) {
            let row = switch.config.rows(table).next();
            let place = row.map_or_else(Place::default, Place::row);
            let message = format!("no table is called so, and {meant} is missing");
            found.push(found.about(switch, table, place, message));
        }
    }
    for Known { table, fields } in &FIELDS {
        for row in switch.config.rows(table) {
            let unknown = row.fields().filter(|(name, _)| !fields.contains(&name.text));
            for (name, value) in unknown {
                let mut meant = fields.iter();
                let Some(meant) =
                    meant.find(|known| row.get(known).is_none() && is_slip(name.text, known))
                else {
                    continue;
                };
                let message = format!("no field is called {}, and {meant} is missing", name.text);
                let key = row.key().text;
                let finding = found.about(switch, key, Place::of(row, name.text), message);
                let finding = finding.beside(Place::of(row, meant));
                found.push(finding.patch([
                    Op::unset(table, key, name.text),
                    Op::set(table, key, meant, value.text),
                ]));
            }
        }
    }
}

/// Whether a table is missing because it stands there under a name that differs by a slip.
pub(super) fn is_misspelled(switch: &Switch, table: &str) -> bool {
    switch.config.tables().into_iter().any(|name| is_slip(name, table))
}

/// Whether a name is a known one but for one or two letters; short names are too easily alike.
pub(super) fn is_slip(name: &str, known: &str) -> bool {
    let most = if known.len() < LONG { 1 } else { 2 };
    known.len() >= SHORT && name != known && distance(name, known) <= most
}

/// How many letters must be added, left out or replaced to make one name of the other.
fn distance(a: &str, b: &str) -> usize {
    if a.len().abs_diff(b.len()) > 2 {
        return usize::MAX;
    }
    let mut row = Vec::from_iter(0..=b.len());
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// The fields of a table that rules look at.
struct Known {
    table: &'static str,
    fields: &'static [&'static str],
}

const FIELDS: [Known; 9] = [
    Known {
        table: "PORT_QOS_MAP",
        fields: &[
            "dscp_to_tc_map",
            "dot1p_to_tc_map",
            "tc_to_pg_map",
            "tc_to_queue_map",
            "tc_to_dscp_map",
            "tc_to_dot1p_map",
            "dscp_to_fc_map",
            "exp_to_fc_map",
            "pfc_to_queue_map",
            "pfc_to_pg_map",
            "pfc_enable",
            "pfcwd_sw_enable",
        ],
    },
    Known { table: "BUFFER_PG", fields: &["profile"] },
    Known { table: "BUFFER_QUEUE", fields: &["profile"] },
    Known {
        table: "BUFFER_PROFILE",
        fields: &["pool", "size", "dynamic_th", "static_th", "xon_offset", "headroom_type"],
    },
    Known {
        table: "WRED_PROFILE",
        fields: &[
            "wred_green_enable",
            "wred_yellow_enable",
            "wred_red_enable",
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
    Known { table: "QUEUE", fields: &["scheduler", "wred_profile"] },
    Known { table: "PFC_WD", fields: &["detection_time", "restoration_time", "action"] },
    Known { table: "PORT", fields: &["admin_status", "autoneg", "adv_speeds", "pfc_asym"] },
    Known { table: "CABLE_LENGTH", fields: &[] },
];

/// Further tables of SONiC: those that rules look at row by row, and those with names like theirs.
const OTHERS: [&str; 24] = [
    "DEVICE_METADATA",
    "DEVICE_NEIGHBOR",
    "DSCP_TO_TC_MAP",
    "DSCP_TO_FC_MAP",
    "DOT1P_TO_TC_MAP",
    "TC_TO_DSCP_MAP",
    "TC_TO_DOT1P_MAP",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "BUFFER_POOL",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "LOSSLESS_TRAFFIC_PATTERN",
    "PORTCHANNEL",
    "PORTCHANNEL_MEMBER",
    "SCHEDULER",
    "TUNNEL",
    "SYSTEM_DEFAULTS",
    "FLEX_COUNTER_TABLE",
    "VLAN_MEMBER",
    "MUX_CABLE",
];

/// Shorter names are not looked at.
const SHORT: usize = 6;
/// From this length on two letters may differ.
const LONG: usize = 9;
