//! PL108, unknown-word: a field that takes one of some words has another.

use crate::database::{Row, quoted};
use crate::rule::prelude::*;
use crate::rules::pl107::is_slip;

/// The declaration of this rule.
pub const RULE: Rule = Rule {
    id: "PL108",
    name: "unknown-word",
    severity: Severity::Error,
    sentence: "A field that takes one of some words has another.",
    why: "The switch refuses the row, or takes the word for what it does without one: a pool whose type is \"ingres\" is never made, and a port whose admin_status is \"UP\" stays down. Upper and lower case differ, but in types of schedulers. The type of a switch is found if it differs from a known one by a slip: it has no tier then, and is compared with no other switch.",
    fix: "write one of the words that there are",
    released: "Silent on the released configurations of the test data; newer than the count over 414 renderings.",
    evidence: "SONiC's YANG models; src: swss orchagent/bufferorch.cpp, qosorch.cpp, portsorch.cpp",
    good: &[
        set("tor0", "/PORT/Ethernet0/fec", r#""auto""#),
        set("tor0", "/DEVICE_METADATA/localhost/type", r#""StorageRouter""#),
    ],
    bad: &[set("tor0", "/BUFFER_POOL/egress_lossy_pool/mode", r#""dynamc""#)],
    also: &[],
    check: Check::Switch(check),
};

fn check(switch: &Switch, found: &mut Found) {
    for words in &WORDS {
        for row in switch.config.rows(words.table) {
            for field in words.fields {
                look(switch, row, field, words.known, found);
            }
        }
    }
    look_for_slips(switch, found);
}

fn look_for_slips(switch: &Switch, found: &mut Found) {
    let Some(row) = switch.metadata() else {
        return;
    };
    for slips in &SLIPS {
        let Some(value) = row.get(slips.field).filter(|one| !slips.known.contains(&one.text))
        else {
            continue;
        };
        let is_near =
            |word: &&&str| value.text.eq_ignore_ascii_case(word) || is_slip(value.text, word);
        let Some(meant) = slips.known.iter().find(is_near) else {
            continue;
        };
        let text = quoted(value.text);
        let message = format!("{} {text} is no kind of switch, and {meant} is one", slips.field);
        let place = Place::of(row, slips.field);
        let finding = found.about(switch, &switch.name, place, message);
        let op = Op::set("DEVICE_METADATA", row.key().text, slips.field, *meant);
        found.push(finding.patch([op]));
    }
}

fn look(switch: &Switch, row: Row, field: &str, known: &[&str], found: &mut Found) {
    let Some(value) = row.get(field) else {
        return;
    };
    let any_case = row.table() == "SCHEDULER";
    let is = |word: &&str| value.text == *word || any_case && value.text.eq_ignore_ascii_case(word);
    if known.iter().any(is) {
        return;
    }
    let message = format!("{field} {} is none of {}", quoted(value.text), known.join(", "));
    let key = row.key().text;
    let finding = found.about(switch, key, Place::of(row, field), message);
    let meant = known.iter().find(|word| value.text.trim().eq_ignore_ascii_case(word));
    let patch = meant.map(|word| Op::set(row.table(), key, field, *word));
    found.push(finding.beside(Place::row(row)).patch(patch));
}

/// The words that some fields of a table may have.
struct Words {
    table: &'static str,
    fields: &'static [&'static str],
    known: &'static [&'static str],
}

const WORDS: [Words; 13] = [
    Words { table: "PORT", fields: &["admin_status"], known: &["up", "down"] },
    Words { table: "PORT", fields: &["pfc_asym"], known: &["on", "off"] },
    // Old releases wrote 0 and 1.
    Words { table: "PORT", fields: &["autoneg"], known: &["on", "off", "1", "0"] },
    Words { table: "PORT", fields: &["fec"], known: &["rs", "fc", "none", "auto"] },
    Words { table: "BUFFER_POOL", fields: &["type"], known: &["ingress", "egress", "both"] },
    Words { table: "BUFFER_POOL", fields: &["mode"], known: &["static", "dynamic"] },
    Words { table: "SCHEDULER", fields: &["type"], known: &["DWRR", "WRR", "STRICT"] },
    Words {
        table: "WRED_PROFILE",
        fields: &["wred_green_enable", "wred_yellow_enable", "wred_red_enable"],
        known: &["true", "false"],
    },
    Words { table: "PFC_WD", fields: &["BIG_RED_SWITCH"], known: &["enable", "disable"] },
    Words {
        table: "DEVICE_METADATA",
        fields: &["buffer_model"],
        known: &["traditional", "dynamic"],
    },
    Words {
        table: "DEVICE_METADATA",
        fields: &["default_pfcwd_status"],
        known: &["enable", "disable"],
    },
    Words {
        table: "FLEX_COUNTER_TABLE",
        fields: &["FLEX_COUNTER_STATUS"],
        known: &["enable", "disable"],
    },
    Words { table: "TUNNEL", fields: &["dscp_mode"], known: &["pipe", "uniform"] },
];

/// A field of DEVICE_METADATA that may have other words than these, but none that is nearly one.
struct Slips {
    field: &'static str,
    known: &'static [&'static str],
}

const SLIPS: [Slips; 2] = [
    Slips {
        field: "type",
        known: &[
            "ToRRouter",
            "LeafRouter",
            "SpineRouter",
            "UpperSpineRouter",
            "LowerSpineRouter",
            "FabricSpineRouter",
            "BackEndToRRouter",
            "BackEndLeafRouter",
            "SpineChassisFrontendRouter",
            "ChassisBackendRouter",
            "MgmtToRRouter",
            "MgmtLeafRouter",
            "MgmtSpineRouter",
            "MgmtAccessRouter",
        ],
    },
    Slips { field: "subtype", known: &["DualToR"] },
];
