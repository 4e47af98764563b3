//! Real files, what they mean, and warnings; what is refused is in `bad`.

mod bad;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::*;
use crate::import::ethernet::testing::{never_panics, sample};

/// The classes of a mask as people write them.
fn mask(classes: &[u8]) -> u8 {
    classes.iter().fold(0, |mask, class| mask | 1 << class)
}

fn warnings(config: &SwitchConfig) -> Vec<String> {
    config.warnings.iter().map(Warning::to_string).collect()
}

#[test]
fn a_leaf_with_calculated_headroom() {
    let text = sample("config_db-acs-msn4700-t1.json");
    let config = parse(&text).unwrap();
    assert_eq!(config.hostname.as_deref(), Some("sonic"));
    assert_eq!(&text[config.hostname_at.clone()], "\"sonic\"");
    assert_eq!(config.hwsku.as_deref(), Some("ACS-MSN4700"));
    assert_eq!(config.device_type.as_deref(), Some("LeafRouter"));
    assert_eq!(config.buffer_model.as_deref(), Some("dynamic"));
    assert_eq!((config.ports.len(), config.cables.len()), (98, 32));
    assert_eq!((config.pools.len(), config.profiles.len()), (4, 5));
    assert_eq!(config.groups.values().flatten().count(), 64);

    let mut speeds = BTreeMap::new();
    for port in config.ports.values() {
        *speeds.entry(port.speed_mbps.unwrap()).or_insert(0) += 1;
    }
    let expected = [
        (10_000, 2),
        (25_000, 8),
        (40_000, 4),
        (50_000, 48),
        (100_000, 25),
        (200_000, 3),
        (400_000, 8),
    ];
    assert_eq!(speeds.into_iter().collect::<Vec<_>>(), expected);
    let first = &config.ports["Ethernet0"];
    assert_eq!(first.lanes, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(first.alias.as_deref(), Some("etp1"));
    assert_eq!((first.mtu, first.admin_up), (Some(9100), Some(true)));
    assert_eq!(config.cables["Ethernet184"].metres, 40);
    assert_eq!(config.pools["egress_lossless_pool"].size, Some(60_817_392));
    assert_eq!(config.pools["ingress_lossless_pool"].size, None);
    assert_eq!(config.lossless_classes("Ethernet0"), mask(&[3, 4]));
    assert_eq!(config.lossless_classes("Ethernet2"), 0);
    let ignored = [
        "BUFFER_PORT_EGRESS_PROFILE_LIST",
        "BUFFER_PORT_INGRESS_PROFILE_LIST",
        "BUFFER_QUEUE",
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
        "LOSSLESS_TRAFFIC_PATTERN",
        "VERSIONS",
    ];
    assert_eq!(config.ignored, ignored);
    // The file describes broken-out ports beside the whole ones, on the same lanes.
    assert!(config.warnings.iter().all(|w| w.message.starts_with("lane ")));
    assert_eq!(config.warnings.len(), 65);
}

#[test]
fn the_buffers_of_a_running_switch() {
    let config = parse(&sample("appl_db-acs-msn4700-t1.json")).unwrap();
    assert_eq!((config.pools.len(), config.profiles.len()), (4, 18));
    assert_eq!(config.groups.values().flatten().count(), 64);
    assert_eq!(config.groups.len(), 32);
    let profile = &config.profiles["pg_lossless_400000_40m_profile"];
    assert_eq!(profile.pool, "ingress_lossless_pool");
    assert_eq!((profile.size, profile.xon), (Some(124_928), Some(37_888)));
    assert_eq!((profile.xoff, profile.made_for), (Some(77_824), Some((400_000, 40))));
    assert_eq!(profile.threshold, Some(Threshold::Dynamic(0)));
    let lossless = config.profiles.values().filter(|profile| profile.is_lossless());
    assert_eq!(lossless.count(), 13);
    assert_eq!(config.lossless_classes("Ethernet248"), mask(&[3, 4]));
    let named = GroupProfile::Named("pg_lossless_100000_40m_profile".to_string());
    let groups = &config.groups["Ethernet248"];
    assert!(groups.iter().any(|group| group.classes == 0b1_1000 && group.profile == named));
    assert_eq!(warnings(&config), [""; 0]);
}

#[test]
fn the_maps_of_a_dual_tor_remap_the_tunnel() {
    let config = parse(&sample("qos-arista7260-dualtor.json")).unwrap();
    assert_eq!(config.port_qos.len(), 65);
    let count = |classes: &[u8]| {
        let ports = config.port_qos.keys();
        ports.filter(|port| config.lossless_classes(port) == mask(classes)).count()
    };
    assert_eq!(count(&[3, 4]), 56);
    assert_eq!(count(&[2, 3, 4, 6]), 8);
    let up = &config.port_qos["Ethernet48"];
    assert_eq!(up.pfcwd_sw_enable, mask(&[3, 4]));
    assert_eq!(up.maps[&MapKind::DscpToTc], "AZURE_UPLINK");
    assert_eq!(up.maps[&MapKind::TcToPriorityGroup], "AZURE");
    let map = |kind, name: &str, from: u8| config.maps[&(kind, name.to_string())].entries[&from];
    let tunnel = "AZURE_TUNNEL";
    // Classes 3 and 4 travel through the tunnel as 2 and 6.
    assert_eq!(map(MapKind::TcToPriorityGroup, tunnel, 3), 2);
    assert_eq!(map(MapKind::TcToPriorityGroup, tunnel, 4), 6);
    assert_eq!(map(MapKind::TcToQueue, tunnel, 3), 2);
    assert_eq!(map(MapKind::TcToQueue, tunnel, 4), 6);
    assert_eq!(map(MapKind::TcToDscp, tunnel, 3), 2);
    assert_eq!(map(MapKind::TcToDscp, tunnel, 4), 6);
    assert_eq!(map(MapKind::DscpToTc, "AZURE_UPLINK", 2), 2);
    assert_eq!(map(MapKind::DscpToTc, "AZURE", 2), 1);
    assert_eq!(map(MapKind::DscpToTc, "AZURE", 33), 8);
    assert_eq!(map(MapKind::PfcToQueue, "AZURE", 6), 6);
    assert_eq!(config.maps.len(), 1 + 3 + 3 + 2 + 1);
    assert_eq!(config.ignored, ["QUEUE", "SCHEDULER", "WRED_PROFILE"]);
    assert_eq!(warnings(&config), [""; 0]);
}

#[test]
fn the_buffers_of_two_kinds_of_switches() {
    let config = parse(&sample("buffer-arista7260-dualtor.json")).unwrap();
    assert_eq!(config.pools["ingress_lossless_pool"].xoff, Some(7_827_456));
    assert_eq!((config.cables.len(), config.groups.len()), (122, 64));
    let long: BTreeSet<_> = config.cables.values().map(|cable| cable.metres).collect();
    assert_eq!(long.into_iter().collect::<Vec<_>>(), [5, 40]);
    let threshold = config.profiles["egress_lossy_profile"].threshold;
    assert_eq!(threshold, Some(Threshold::Dynamic(-1)));
    // A static limit of a lossy profile in a dynamic pool is nothing to warn of.
    assert_eq!(
        config.profiles["ingress_lossy_profile"].threshold,
        Some(Threshold::Static(44_302_336))
    );
    assert_eq!(warnings(&config), [""; 0]);

    let config = parse(&sample("buffers-mellanox4600c-t1-dynamic.json")).unwrap();
    assert_eq!(config.groups.values().flatten().count(), 148);
    let uplink = |port: &&String| config.lossless_classes(port) == mask(&[2, 3, 4, 6]);
    assert_eq!(config.groups.keys().filter(uplink).count(), 20);
    assert_eq!(warnings(&config), [""; 0]);
}

/// The tables of a small switch, one per line, so that a test can replace one.
const TABLES: [(&str, &str); 8] = [
    ("DEVICE_METADATA", r#"{"localhost": {"hostname": "leaf1", "type": "LeafRouter"}}"#),
    ("PORT", r#"{"Ethernet0": {"speed": "100000"}, "Ethernet4": {"speed": 100000}}"#),
    ("CABLE_LENGTH", r#"{"AZURE": {"Ethernet0": "40m", "Ethernet4": "5m"}}"#),
    ("BUFFER_POOL", r#"{"in": {"type": "ingress", "mode": "dynamic", "size": "1000000"}}"#),
    (
        "BUFFER_PROFILE",
        r#"{"pg_lossless_100000_40m_profile": {"pool": "[BUFFER_POOL|in]", "size": "300",
          "xon": "100", "xoff": "200", "dynamic_th": "0"},
          "lossy": {"pool": "in", "size": "0", "static_th": "7"},
          "odd": {"pool": "in", "size": "300", "xoff": "200", "static_th": "7"}}"#,
    ),
    (
        "BUFFER_PG",
        r#"{"Ethernet0,Ethernet4|3-4": {"profile": "[BUFFER_PROFILE|pg_lossless_100000_40m_profile]"}}"#,
    ),
    ("PORT_QOS_MAP", r#"{"Ethernet0": {"pfc_enable": "3,4"}, "Ethernet4": {"pfc_enable": "3,4"}}"#),
    (
        "DEVICE_NEIGHBOR",
        r#"{"Ethernet0": {"name": "spine1", "port": "Ethernet8"},
          "Ethernet4": {"name": "spine1", "port": "Ethernet12"}}"#,
    ),
];

/// The small switch with one table replaced or added: that one is the first, on line 2.
fn with(table: &str, content: &str) -> String {
    let mut text = format!("{{\n\"{table}\": {content}");
    for (name, content) in TABLES.iter().filter(|(name, _)| *name != table) {
        let _ = write!(text, ",\n\"{name}\": {content}");
    }
    text + "}\n"
}

#[test]
fn old_style_references_and_lists_of_ports() {
    let config = parse(&with("X", "[]")).unwrap();
    for port in ["Ethernet0", "Ethernet4"] {
        assert_eq!(config.lossless_classes(port), mask(&[3, 4]));
    }
    assert_eq!(config.ignored, ["X"]);
    let expected = ["BUFFER_PROFILE|odd: static_th in in, whose mode is dynamic"];
    let found = warnings(&config);
    assert!(found.len() == 1 && found[0].ends_with(expected[0]), "{found:?}");
    let wiring = config.wiring().unwrap();
    let names: Vec<_> = wiring.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["leaf1", "spine1"]);
    let [near, far] = &wiring.links[1].ends;
    assert_eq!(near.interface, "Ethernet4");
    assert_eq!([&far.node[..], &far.interface], ["spine1", "Ethernet12"]);
}

#[test]
fn flat_nested_and_wrapped_entries_say_the_same() {
    let flat = r#"{"PORT|Ethernet0": {"speed": "1"}, "CABLE_LENGTH|AZURE": {"Ethernet0": "3m"}}"#;
    let nested = r#"{"PORT": {"Ethernet0": {"speed": "1"}}, "CABLE_LENGTH": {"AZURE": {"Ethernet0": "3m"}}}"#;
    let wrapped = r#"{"PORT_TABLE:Ethernet0": {"expireat": 1.5, "ttl": -0.001, "type": "hash",
        "value": {"speed": "1"}}, "PORT_TABLE:PortInitDone": {"lanes": "0"},
        "CABLE_LENGTH|AZURE": {"type": "hash", "value": {"Ethernet0": "3m"}}}"#;
    for text in [flat, nested, wrapped] {
        let config = parse(text).unwrap();
        assert_eq!(config.ports.len(), 1);
        assert_eq!(config.ports["Ethernet0"].speed_mbps, Some(1));
        assert_eq!(config.cables["Ethernet0"].metres, 3);
    }
}

#[test]
fn a_class_is_lossless_with_pfc_and_headroom() {
    let text = with(
        "BUFFER_PG",
        r#"{"Ethernet0|3": {"profile": "lossy"}, "Ethernet0|4": {"profile": "NULL"}}"#,
    );
    let config = parse(&text).unwrap();
    assert_eq!(config.lossless_classes("Ethernet0"), mask(&[4]));
    assert_eq!(config.buffered("Ethernet0"), (mask(&[4]), mask(&[3])));
    assert_eq!(config.lossless_classes("Ethernet8"), 0);
    // With a map, it is the buffer of another group that counts.
    let text = text.replace(
        r#""Ethernet0": {"pfc_enable": "3,4"}"#,
        r#""Ethernet0": {"pfc_enable": "3,4", "pfc_to_pg_map": "M"}"#,
    );
    let map = r#""PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"M": {"3": "4", "4": "3"}}"#;
    let text = text.replacen('{', &format!("{{{map},"), 1);
    let config = parse(&text).unwrap();
    assert_eq!(config.lossless_classes("Ethernet0"), mask(&[3]));
}

#[test]
fn deep_and_wide_files_end_soon() {
    let deep = format!("{{\"X\": {}{}, \"PORT\": {{}}}}", "[".repeat(1 << 20), "]".repeat(1 << 20));
    assert_eq!(parse(&deep).unwrap().ignored, ["X"]);
    let mut wide = "{\"PORT\": {}, \"BUFFER_PG\": {".to_string();
    for port in 0..100_000 {
        let _ = writeln!(wide, "\"E{port}|3\": {{\"profile\": \"NULL\"}},");
    }
    wide.push_str("\"F|3\": {\"profile\": \"NULL\"}}, \"PORT_QOS_MAP\": {\"F\": {}}}");
    let start = std::time::Instant::now();
    let config = parse(&wide).unwrap();
    assert_eq!(config.warnings.len(), 100_001);
    assert_eq!(config.warnings[100_000].line, 100_001);
    assert!(start.elapsed() < std::time::Duration::from_secs(10));
}

#[test]
fn anything_is_parsed_or_refused() {
    never_panics(parse, "config_db-acs-msn4700-t1.json");
    never_panics(parse, "appl_db-acs-msn4700-t1.json");
    never_panics(parse, "qos-arista7260-dualtor.json");
}

#[test]
fn contradictions_are_warnings_with_table_key_and_line() {
    let check = |table: &str, rows: &str| {
        for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
            let (content, expected) = row.split_once(" => ").unwrap();
            let config = parse(&with(table, content)).unwrap();
            let found = warnings(&config);
            let is_there = found.iter().any(|warning| warning.contains(expected));
            assert!(is_there, "{expected:?} is not among {found:#?}");
        }
    };
    check("PORT", PORT_WARNINGS);
    check("CABLE_LENGTH", CABLE_WARNINGS);
    check("BUFFER_PG", GROUP_WARNINGS);
    check("PORT_QOS_MAP", QOS_WARNINGS);
    check("PFC_WD", WATCHDOG_WARNINGS);
    let row = r#"{"Ethernet0": {"name": "x"}} => line 2: DEVICE_NEIGHBOR|Ethernet0: a neighbour without name or port"#;
    check("DEVICE_NEIGHBOR", row);
}

const PORT_WARNINGS: &str = r#"
    {"Ethernet0": {}, "Ethernet4": {"speed": "1"}} => line 2: PORT|Ethernet0: no speed
    {"Ethernet0": {"speed": "1"}} => line 4: CABLE_LENGTH|Ethernet4: no such port in PORT
    {"A": {"lanes": "1,2"}, "B": {"lanes": "2"}} => line 2: PORT|B: lane 2 is also one of A
    {"Ethernet0": {"speed": "400000"}} => BUFFER_PG|Ethernet0: a port of 400000 Mb/s, but pg_lossless_100000_40m_profile is for 100000 Mb/s
"#;

const CABLE_WARNINGS: &str = r#"
    {"A": {"Ethernet0": "41m"}} => BUFFER_PG|Ethernet0: a cable of 41 m, but pg_lossless_100000_40m_profile is for 40 m
"#;

const GROUP_WARNINGS: &str = r#"
    {"Ethernet0|3-4": {"profile": "NULL"}, "Ethernet4|3": {"profile": "lossy"}} => PORT_QOS_MAP|Ethernet4: PFC is enabled for class 3, but its BUFFER_PG has no xoff
    {"Ethernet0|3-4": {"profile": "NULL"}} => PORT_QOS_MAP|Ethernet4: PFC is enabled for classes 3, 4, but no BUFFER_PG has headroom
    {"Ethernet0|0": {"profile": "lossy"}} => PORT_QOS_MAP|Ethernet0: PFC is enabled, but no port has a lossless BUFFER_PG
    {"Ethernet0,Ethernet4|2-4": {"profile": "NULL"}} => line 2: BUFFER_PG|Ethernet4: headroom for class 2, but PFC is not enabled
"#;

const QOS_WARNINGS: &str = r#"
    {"Ethernet0": {"pfc_enable": "3,4", "pfcwd_sw_enable": "3,5"}} => line 2: PORT_QOS_MAP|Ethernet0: pfcwd_sw_enable has class 5, pfc_enable has not
    {"global": {"pfc_enable": "3"}} => line 2: PORT_QOS_MAP|global: pfc_enable has no effect here
    {"Ethernet0": {"pfc_enable": ""}} => BUFFER_PG|Ethernet0: headroom for classes 3, 4, but PFC is not enabled
"#;

const WATCHDOG_WARNINGS: &str = r#"
    {"GLOBAL": {"POLL_INTERVAL": "400"}, "Ethernet0": {"detection_time": "200"}} => line 2: PFC_WD|Ethernet0: a detection_time of 200 ms is below POLL_INTERVAL, 400 ms
    {"Ethernet8": {"action": "drop"}} => line 2: PFC_WD|Ethernet8: a watchdog on a port without PFC
"#;
