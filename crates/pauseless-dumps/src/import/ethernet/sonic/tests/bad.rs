//! Files that must be refused.

use super::{parse, with};
use crate::import::ethernet::testing::{check_bad, check_rows};

#[test]
fn bad_files_are_refused_with_their_line() {
    check_bad(
        parse,
        &[
            ("", 1, "the file is empty"),
            ("[]", 1, "the file is an array"),
            ("{}", 1, "none of SONiC's tables"),
            ("{\"X\": {}}", 1, "none of SONiC's tables"),
            ("{\n\"PORT\": {\"Ethernet0\"", 2, "the file ends in the middle"),
            ("{\n\"PORT\": {,}}", 2, "not JSON: "),
            ("{\"PORT\": 1}", 1, "PORT is a number"),
            ("{\"PORT\":\n{\"E\": []}}", 2, "\"PORT|E\" is an array"),
            ("{\"PORT|E\": \"x\"}", 1, "\"PORT|E\" is a string"),
            ("{\"PORT\": {},\n\"PORT\": {}}", 2, "\"PORT\" is twice in the file"),
            ("{\"PORT\": {\"E\": {},\n\"E\": {}}}", 2, "\"E\" is twice in PORT"),
            ("{\"PORT\": {\"E\": {}},\n\"PORT|E\": {}}", 2, "\"PORT|E\" is twice in the file"),
            ("{\"PORT|E\": {},\n\"PORT_TABLE:E\": {}}", 2, "\"PORT|E\" is twice in the file"),
            ("{\"PORT|\": {}}", 1, "an empty key in PORT"),
            ("{\"PORT|E\": {\"mtu\": \"1\",\n\"mtu\": \"2\"}}", 2, "\"mtu\" is twice in"),
            ("{\"PORT|E\": {\"\\ud800\": \"1\"}}", 1, "not JSON: "),
        ],
    );
}

#[test]
fn bad_ports_and_cables_are_refused() {
    let port = |field: &str| with("PORT", &format!("{{\"Ethernet0\": {{\n{field}}}}}"));
    let rows = r#"
        "speed": "0" => speed of "0"
        "speed": "-5" => speed of "-5"
        "speed": "100G" => speed of "100G"
        "speed": "" => speed of ""
        "speed": 99999999999 => speed of "99999999999"
        "speed": 1e5 => speed of "1e5"
        "speed": null => speed is null
        "speed": ["1"] => speed is an array
        "mtu": "big" => mtu of "big"
        "lanes": "1,,2" => lanes of "1,,2"
        "admin_status": "maybe" => admin_status of "maybe"
        "alias": {} => alias is an object
    "#;
    check_rows(parse, port, 3, rows);
    let cables = |length: &str| with("CABLE_LENGTH", &format!("{{\"A\": {{\"E\": {length}}}}}"));
    let rows = r#"
        "40" => "40" is not a length of cable
        "40km" => "40km" is not a length of cable
        "-1m" => "-1m" is not a length of cable
        true => E is a truth value
        "40m"}, "B": {"E": "5m" => the cable at "E" is 5 m here and 40 m above
    "#;
    check_rows(parse, cables, 2, rows);
    let neighbours = |rows: &str| with("DEVICE_NEIGHBOR", &format!("{{{rows}}}"));
    let rows = r#"
        "A": {"name": "s", "port": "p"}, "B": {"name": "s", "port": "p"} => "s:p" is cabled twice, also to "A"
        "A": {"name": {}} => name is an object
    "#;
    check_rows(parse, neighbours, 2, rows);
}

#[test]
fn bad_pools_and_profiles_are_refused() {
    let pool = |fields: &str| with("BUFFER_POOL", &format!("{{\"in\": {{{fields}}}}}"));
    let rows = r#"
        "mode": "static" => "type" is missing
        "type": "both" => "mode" is missing
        "type": "sideways", "mode": "static" => type of "sideways"
        "type": "both", "mode": "x" => mode of "x"
        "type": "both", "mode": "static", "size": "1k" => size of "1k"
    "#;
    check_rows(parse, pool, 2, rows);
    let profile = |fields: &str| with("BUFFER_PROFILE", &format!("{{\"p\": {{{fields}}}}}"));
    let rows = r#"
        "size": "0" => "pool" is missing
        "pool": "x" => "x" is not in BUFFER_POOL
        "pool": "[PORT|x]" => pool of "[PORT|x]"
        "pool": "[BUFFER_POOL|in" => pool of "[BUFFER_POOL|in"
        "pool": "in", "dynamic_th": "8" => dynamic_th of "8"
        "pool": "in", "dynamic_th": "0", "static_th": "0" => dynamic_th and static_th at the same
        "pool": "in", "headroom_type": "x" => headroom_type of "x"
        "pool": "in", "size": "299", "xon": "100", "xoff": "200" => a size of 299 does not hold xon 100
        "pool": "in", "size": "1", "xon": "1", "xoff": "18446744073709551615" => a size of 1 does not
    "#;
    check_rows(parse, profile, 2, rows);
}

#[test]
fn bad_groups_are_refused() {
    let group = |content: &str| with("BUFFER_PG", &format!("{{{content}}}"));
    let rows = r#"
        "Ethernet0": {"profile": "lossy"} => a key without groups
        "Ethernet0|3-4-5": {} => groups "3-4-5": "4-5" is not a class
        "Ethernet0|4-3": {} => groups "4-3": "4-3" runs backwards
        "Ethernet0|8": {} => groups "8": "8" is not a class
        "Ethernet0|": {} => groups "": "" is not a class
        "|3": {"profile": "lossy"} => a key without a port
        "Ethernet0|3": {} => "profile" is missing
        "Ethernet0|3": {"profile": ""} => profile of ""
        "Ethernet0|3": {"profile": "x"} => "x" is not in BUFFER_PROFILE
        "E|3-4": {"profile": "NULL"}, "E|4": {"profile": "NULL"} => group 4 of "E" has a profile already
        "E,E|3": {"profile": "NULL"} => group 3 of "E" has a profile already
    "#;
    check_rows(parse, group, 2, rows);
}

#[test]
fn bad_maps_and_watchdogs_are_refused() {
    let qos = |fields: &str| with("PORT_QOS_MAP", &format!("{{\"Ethernet0\": {{{fields}}}}}"));
    let rows = r#"
        "pfc_enable": "3;4" => pfc_enable of "3;4": "3;4" is not a class
        "pfc_enable": "3,3" => pfc_enable of "3,3": class 3 is in it twice
        "pfc_enable": "8" => pfc_enable of "8"
        "pfcwd_sw_enable": "x" => pfcwd_sw_enable of "x"
        "tc_to_pg_map": "M" => "M" is not in TC_TO_PRIORITY_GROUP_MAP
        }, "Ethernet0,B": { => "Ethernet0" has an entry already
        }, ",B": { => a key without a port
    "#;
    check_rows(parse, qos, 2, rows);
    let table = |row: &str| {
        let (table, fields) = row.split_once(' ').expect("table fields");
        with(table, &format!("{{\"M\": {{{fields}}}}}"))
    };
    let rows = r#"
        DSCP_TO_TC_MAP "64": "1" => a map from "64" to "1"
        TC_TO_PRIORITY_GROUP_MAP "3": "8" => a map from "3" to "8"
        TC_TO_QUEUE_MAP "x": "1" => a map from "x" to "1"
        TC_TO_DSCP_MAP "3": "64" => a map from "3" to "64"
        TC_TO_DSCP_MAP "3": "1", "03": "2" => 3 is mapped twice
        MAP_PFC_PRIORITY_TO_QUEUE "3": [] => 3 is an array
        TUNNEL "decap_tc_to_pg_map": "T" => "T" is not in TC_TO_PRIORITY_GROUP_MAP
        PFC_WD "action": "bark" => action of "bark"
        PFC_WD "detection_time": "0" => detection_time of "0"
    "#;
    check_rows(parse, table, 2, rows);
}
