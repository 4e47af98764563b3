//! Single mistakes that nobody made a file of: each is found by the rule that says its cause, at the
//! table, key and field where it is, and nothing above a note is said beside it.

mod released;

use pauseless_lint::finding::Severity;
use pauseless_lint::fix::{self, Op};
use pauseless_lint::lint;
use released::files;
use serde_json::Value;

/// A mistake in one of the released configurations, or in a switch of the pod.
struct Mistake {
    /// The file it is made in.
    of: &'static str,
    /// Where in it, as a JSON pointer.
    path: &'static str,
    /// What is written there, as JSON; nothing to remove it.
    value: Option<&'static str>,
    /// The only rule that fires above a note.
    rule: &'static str,
    /// The place that it names.
    place: &'static str,
}

const MISTAKES: [Mistake; 69] = [
    // One end of a cable, in a port channel: one finding and not three.
    Mistake {
        of: "pod-leaf0",
        path: "/PORT_QOS_MAP/Ethernet0/pfc_enable",
        value: Some(r#""3""#),
        rule: "PL601",
        place: "PORT_QOS_MAP|Ethernet0|pfc_enable",
    },
    Mistake {
        of: "pod-tor1",
        path: "/PORT_QOS_MAP/Ethernet40",
        value: None,
        rule: "PL601",
        place: "PORT|Ethernet40|pfc_enable",
    },
    Mistake {
        of: "pod-leaf0",
        path: "/PORT/Ethernet0/mtu",
        value: Some(r#""1500""#),
        rule: "PL602",
        place: "PORT|Ethernet0|mtu",
    },
    Mistake {
        of: "pod-leaf0",
        path: "/PORT/Ethernet0/speed",
        value: Some(r#""40000""#),
        rule: "PL603",
        place: "PORT|Ethernet0|speed",
    },
    Mistake {
        of: "pod-leaf0",
        path: "/CABLE_LENGTH/AZURE/Ethernet0",
        value: Some(r#""300m""#),
        rule: "PL302",
        place: "BUFFER_PG|Ethernet0|3-4|profile",
    },
    Mistake {
        of: "pod-tor2",
        path: "/DSCP_TO_TC_MAP/AZURE/3",
        value: Some(r#""1""#),
        rule: "PL604",
        place: "DSCP_TO_TC_MAP|AZURE|3",
    },
    // The same in a channel of one switch alone.
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/PORT_QOS_MAP/Ethernet0/pfc_enable",
        value: Some(r#""3,5""#),
        rule: "PL608",
        place: "PORT_QOS_MAP|Ethernet0|pfc_enable",
    },
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/PORT_QOS_MAP/Ethernet0/dscp_to_tc_map",
        value: Some(r#""AZUR""#),
        rule: "PL101",
        place: "PORT_QOS_MAP|Ethernet0|dscp_to_tc_map",
    },
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/CABLE_LENGTH/AZURE/Ethernet0",
        value: Some(r#""2km""#),
        rule: "PL303",
        place: "CABLE_LENGTH|AZURE|Ethernet0",
    },
    // Values of a type or range that the switch does not read.
    Mistake {
        of: "dell-s6100-t0",
        path: "/PORT_QOS_MAP/Ethernet0/pfc_enable",
        value: Some(r#"["3", "4"]"#),
        rule: "PL103",
        place: "PORT_QOS_MAP|Ethernet0|pfc_enable",
    },
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold",
        value: Some(r#""2000K""#),
        rule: "PL106",
        place: "WRED_PROFILE|AZURE_LOSSLESS|green_min_threshold",
    },
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/WRED_PROFILE/AZURE_LOSSLESS/ecn",
        value: Some(r#""ecn_yellow""#),
        rule: "PL402",
        place: "WRED_PROFILE|AZURE_LOSSLESS|ecn",
    },
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/PFC_WD/Ethernet0/action",
        value: Some(r#""dorp""#),
        rule: "PL507",
        place: "PFC_WD|Ethernet0|action",
    },
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/BUFFER_QUEUE/Ethernet0|3-4",
        value: None,
        rule: "PL307",
        place: "PORT_QOS_MAP|Ethernet0",
    },
    // The pool is calculated here, so its size is in no file.
    Mistake {
        of: "mellanox-sn4600c-c64-t1-dynamic",
        path: "/DEFAULT_LOSSLESS_BUFFER_PARAMETER/AZURE/default_dynamic_th",
        value: Some(r#""-6""#),
        rule: "PL404",
        place: "WRED_PROFILE|AZURE_LOSSLESS|green_min_threshold",
    },
    Mistake {
        of: "arista-7260cx3-d108c8-dualtor-t0",
        path: "/TC_TO_QUEUE_MAP/AZURE_TUNNEL/3",
        value: Some(r#""3""#),
        rule: "PL703",
        place: "TUNNEL|MuxTunnel0|encap_tc_to_queue_map",
    },
    // Entries, maps and words that are missing or mean nothing.
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/TC_TO_PRIORITY_GROUP_MAP/AZURE/3",
        value: None,
        rule: "PL109",
        place: "TC_TO_PRIORITY_GROUP_MAP|AZURE",
    },
    Mistake {
        of: "dell-s6100-t0",
        path: "/MAP_PFC_PRIORITY_TO_QUEUE/AZURE/3",
        value: None,
        rule: "PL109",
        place: "MAP_PFC_PRIORITY_TO_QUEUE|AZURE",
    },
    Mistake {
        of: "arista-7060x6-th5-t0",
        path: "/PORT_QOS_MAP/Ethernet0/tc_to_queue_map",
        value: None,
        rule: "PL109",
        place: "PORT_QOS_MAP|Ethernet0|tc_to_queue_map",
    },
    Mistake {
        of: "mellanox-sn4600c-d48c40-t0",
        path: "/PORT_QOS_MAP/Ethernet2/pfc_to_pg_map",
        value: None,
        rule: "PL109",
        place: "PORT_QOS_MAP|Ethernet2|pfc_to_pg_map",
    },
    Mistake {
        of: "mellanox-sn4600c-d48c40-t0",
        path: "/PFC_PRIORITY_TO_PRIORITY_GROUP_MAP/AZURE/3",
        value: Some(r#""0""#),
        rule: "PL201",
        place: "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP|AZURE|3",
    },
    Mistake {
        of: "arista-7260cx3-d108c8-dualtor-t0",
        path: "/TC_TO_PRIORITY_GROUP_MAP/AZURE/1",
        value: Some(r#""3""#),
        rule: "PL204",
        place: "TC_TO_PRIORITY_GROUP_MAP|AZURE|1",
    },
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/TC_TO_PRIORITY_GROUP_MAP/AZURE/3",
        value: Some(r#""9""#),
        rule: "PL106",
        place: "TC_TO_PRIORITY_GROUP_MAP|AZURE|3",
    },
    Mistake {
        of: "arista-7060x6-th5-t0",
        path: "/PORT_QOS_MAP/Ethernet0/pfc_enable",
        value: Some(r#""3,4,5""#),
        rule: "PL201",
        place: "PORT_QOS_MAP|Ethernet0|pfc_enable",
    },
    Mistake {
        of: "pod-tor1",
        path: "/PORT_QOS_MAP/Ethernet40/pfc_enable",
        value: Some(r#""3,4,5""#),
        rule: "PL601",
        place: "PORT_QOS_MAP|Ethernet40|pfc_enable",
    },
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/BUFFER_PG/Ethernet0|4-3",
        value: Some(r#"{"profile": "pg_lossless_100000_300m_profile"}"#),
        rule: "PL106",
        place: "BUFFER_PG|Ethernet0|4-3",
    },
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/BUFFER_PROFILE/pg_lossless_100000_300m_profile/xoff",
        value: Some(r#""-1""#),
        rule: "PL106",
        place: "BUFFER_PROFILE|pg_lossless_100000_300m_profile|xoff",
    },
    Mistake {
        of: "dell-s6100-t0",
        path: "/BUFFER_PROFILE/pg_lossless_40000_5m_profile/xoff",
        value: None,
        rule: "PL201",
        place: "BUFFER_PG|Ethernet0|3-4|profile",
    },
    Mistake {
        of: "mellanox-sn4600c-d48c40-t0",
        path: "/BUFFER_PROFILE/pg_lossless_50000_5m_profile/xoff",
        value: Some(r#""3379""#),
        rule: "PL311",
        place: "BUFFER_PROFILE|pg_lossless_50000_5m_profile|xoff",
    },
    Mistake {
        of: "mellanox-sn4600c-d48c40-t0",
        path: "/BUFFER_PROFILE/pg_lossless_50000_5m_profile/pool",
        value: Some(r#""egress_lossless_pool""#),
        rule: "PL102",
        place: "BUFFER_PG|Ethernet10|3-4|profile",
    },
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/BUFFER_PROFILE/egress_lossless_profile/static_th",
        value: None,
        rule: "PL309",
        place: "BUFFER_PROFILE|egress_lossless_profile",
    },
    Mistake {
        of: "mellanox-sn4600c-d48c40-t0",
        path: "/BUFFER_PORT_INGRESS_PROFILE_LIST/Ethernet2/profile_list",
        value: Some(r#""ingress_lossles_profile""#),
        rule: "PL102",
        place: "BUFFER_PORT_INGRESS_PROFILE_LIST|Ethernet2|profile_list",
    },
    Mistake {
        of: "dell-s6100-t0",
        path: "/BUFFER_POOL/ingress_lossless_pool/type",
        value: Some(r#""ingres""#),
        rule: "PL108",
        place: "BUFFER_POOL|ingress_lossless_pool|type",
    },
    Mistake {
        of: "dell-s6100-t0",
        path: "/PORT/Ethernet0/admin_status",
        value: Some(r#""UP""#),
        rule: "PL108",
        place: "PORT|Ethernet0|admin_status",
    },
    Mistake {
        of: "mellanox-sn4600c-c64-t1-dynamic",
        path: "/BUFFER_POOL/ingress_lossless_pool/mode",
        value: Some(r#""static""#),
        rule: "PL309",
        place: "BUFFER_POOL|ingress_lossless_pool|mode",
    },
    Mistake {
        of: "mellanox-sn4600c-c64-t1-dynamic",
        path: "/DEFAULT_LOSSLESS_BUFFER_PARAMETER/AZURE/default_dynamic_th",
        value: Some(r#""12""#),
        rule: "PL106",
        place: "DEFAULT_LOSSLESS_BUFFER_PARAMETER|AZURE|default_dynamic_th",
    },
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/SCHEDULER/scheduler.1/weight",
        value: Some(r#""0""#),
        rule: "PL106",
        place: "SCHEDULER|scheduler.1|weight",
    },
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/WRED_PROFILE/AZURE_LOSSLESS/green_max_threshold",
        value: None,
        rule: "PL405",
        place: "WRED_PROFILE|AZURE_LOSSLESS|green_max_threshold",
    },
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/WRED_PROFILE/AZURE_LOSSLESS/green_min_threshold",
        value: Some(r#""900000000""#),
        rule: "PL405",
        place: "WRED_PROFILE|AZURE_LOSSLESS|green_min_threshold",
    },
    Mistake {
        of: "arista-7260cx3-d108c8-dualtor-t0",
        path: "/PFC_WD/Ethernet48",
        value: None,
        rule: "PL501",
        place: "PORT_QOS_MAP|Ethernet48|pfcwd_sw_enable",
    },
    Mistake {
        of: "dell-s6100-t0",
        path: "/CABLE_LENGTH/AZURE/Ethernet0",
        value: Some(r#""0m""#),
        rule: "PL304",
        place: "CABLE_LENGTH|AZURE|Ethernet0",
    },
    Mistake {
        of: "pod-leaf0",
        path: "/PORTCHANNEL/PortChannel1/mtu",
        value: Some(r#""1500""#),
        rule: "PL608",
        place: "PORTCHANNEL|PortChannel1|mtu",
    },
    Mistake {
        of: "pod-tor1",
        path: "/PORTCHANNEL_MEMBER/PortChannel102|Ethernet999",
        value: Some(r#"{}"#),
        rule: "PL104",
        place: "PORTCHANNEL_MEMBER|PortChannel102|Ethernet999",
    },
    Mistake {
        of: "arista-7260cx3-d108c8-dualtor-t0",
        path: "/TC_TO_QUEUE_MAP/AZURE_TUNNEL/3",
        value: Some(r#""1""#),
        rule: "PL704",
        place: "TUNNEL|MuxTunnel0|encap_tc_to_queue_map",
    },
    Mistake {
        of: "mellanox-sn4600c-d48c40-t0",
        path: "/TC_TO_QUEUE_MAP/AZURE_TUNNEL/3",
        value: Some(r#""4""#),
        rule: "PL703",
        place: "TUNNEL|MuxTunnel0|encap_tc_to_queue_map",
    },
    Mistake {
        of: "mellanox-sn4600c-d48c40-t0",
        path: "/TC_TO_PRIORITY_GROUP_MAP/AZURE_TUNNEL/3",
        value: Some(r#""1""#),
        rule: "PL705",
        place: "TUNNEL|MuxTunnel0|decap_tc_to_pg_map",
    },
    Mistake {
        of: "arista-7260cx3-d108c8-dualtor-t0",
        path: "/DSCP_TO_TC_MAP/AZURE_TUNNEL/3",
        value: Some(r#""1""#),
        rule: "PL705",
        place: "TUNNEL|MuxTunnel0|decap_dscp_to_tc_map",
    },
    Mistake {
        of: "arista-7260cx3-d108c8-dualtor-t0",
        path: "/TC_TO_DSCP_MAP/AZURE_TUNNEL/3",
        value: Some(r#""0""#),
        rule: "PL704",
        place: "TUNNEL|MuxTunnel0|encap_tc_to_dscp_map",
    },
    Mistake {
        of: "arista-7260cx3-d108c8-dualtor-t0",
        path: "/TUNNEL/MuxTunnel0/decap_tc_to_pg_map",
        value: Some(r#""AZURE_TUNEL""#),
        rule: "PL101",
        place: "TUNNEL|MuxTunnel0|decap_tc_to_pg_map",
    },
    Mistake {
        of: "pod-tor1",
        path: "/DEVICE_NEIGHBOR/Ethernet40/name",
        value: Some(r#""pod-leaf1""#),
        rule: "PL607",
        place: "DEVICE_NEIGHBOR|Ethernet40|name",
    },
    Mistake {
        of: "dell-s6100-t0",
        path: "/WRED_PROFILE/AZURE_LOSSLESS/wred_green_enable",
        value: Some(r#""True""#),
        rule: "PL108",
        place: "WRED_PROFILE|AZURE_LOSSLESS|wred_green_enable",
    },
    // Words that nothing reads, pools and lists of the wrong size or side.
    Mistake {
        of: "dell-s6100-t0",
        path: "/DEVICE_METADATA/localhost/default_pfcwd_status",
        value: Some(r#""enabel""#),
        rule: "PL108",
        place: "DEVICE_METADATA|localhost|default_pfcwd_status",
    },
    Mistake {
        of: "pod-leaf0",
        path: "/DEVICE_METADATA/localhost/type",
        value: Some(r#""LeafRouterr""#),
        rule: "PL108",
        place: "DEVICE_METADATA|localhost|type",
    },
    Mistake {
        of: "arista-7260cx3-d108c8-dualtor-t0",
        path: "/DEVICE_METADATA/localhost/subtype",
        value: Some(r#""DualTor""#),
        rule: "PL108",
        place: "DEVICE_METADATA|localhost|subtype",
    },
    Mistake {
        of: "mellanox-sn4600c-d48c40-t0",
        path: "/FLEX_COUNTER_TABLE/PFCWD/FLEX_COUNTER_STATUS",
        value: Some(r#""enabled""#),
        rule: "PL108",
        place: "FLEX_COUNTER_TABLE|PFCWD|FLEX_COUNTER_STATUS",
    },
    Mistake {
        of: "mellanox-sn4600c-d48c40-t0",
        path: "/BUFFER_PORT_INGRESS_PROFILE_LIST/Ethernet248/profile_list",
        value: Some(r#""egress_lossless_profile""#),
        rule: "PL102",
        place: "BUFFER_PORT_INGRESS_PROFILE_LIST|Ethernet248|profile_list",
    },
    Mistake {
        of: "dell-s6100-t0",
        path: "/BUFFER_POOL/egress_lossless_pool/size",
        value: Some(r#""1598272""#),
        rule: "PL307",
        place: "BUFFER_QUEUE|Ethernet0|3-4|profile",
    },
    // One mistake of a member or of a map is one finding, at the member or map that has it.
    Mistake {
        of: "dell-s6100-t0",
        path: "/PORT/Ethernet6/mtu",
        value: Some(r#""1500""#),
        rule: "PL608",
        place: "PORT|Ethernet6|mtu",
    },
    Mistake {
        of: "dell-s6100-t0",
        path: "/CABLE_LENGTH/AZURE/Ethernet1",
        value: Some(r#""40m""#),
        rule: "PL302",
        place: "BUFFER_PG|Ethernet1|3-4|profile",
    },
    Mistake {
        of: "dell-s6100-t0",
        path: "/PORT/Ethernet1/speed",
        value: Some(r#""10000""#),
        rule: "PL302",
        place: "BUFFER_PG|Ethernet1|3-4|profile",
    },
    Mistake {
        of: "dell-s6100-t0",
        path: "/BUFFER_PG/Ethernet0|0-2",
        value: Some(r#"{"profile": "pg_lossless_40000_5m_profile"}"#),
        rule: "PL105",
        place: "BUFFER_PG|Ethernet0|0-2",
    },
    Mistake {
        of: "arista-7260cx3-c64-t1",
        path: "/PORT_QOS_MAP/Ethernet4",
        value: None,
        rule: "PL608",
        place: "PORT|Ethernet4|pfc_enable",
    },
    Mistake {
        of: "arista-7260cx3-d108c8-dualtor-t0",
        path: "/PORT_QOS_MAP/Ethernet48/dscp_to_tc_map",
        value: Some(r#""AZURE""#),
        rule: "PL608",
        place: "PORT_QOS_MAP|Ethernet48|dscp_to_tc_map",
    },
    Mistake {
        of: "arista-7260cx3-d108c8-dualtor-t0",
        path: "/PORT_QOS_MAP/Ethernet52/dscp_to_tc_map",
        value: Some(r#""AZURE""#),
        rule: "PL608",
        place: "PORT_QOS_MAP|Ethernet52|dscp_to_tc_map",
    },
    Mistake {
        of: "arista-7260cx3-d108c8-dualtor-t0",
        path: "/PORT_QOS_MAP/Ethernet48/tc_to_queue_map",
        value: Some(r#""AZURE""#),
        rule: "PL608",
        place: "PORT_QOS_MAP|Ethernet48|tc_to_queue_map",
    },
    Mistake {
        of: "arista-7260cx3-d108c8-dualtor-t0",
        path: "/PORT_QOS_MAP/Ethernet0/pfc_enable",
        value: Some(r#""2,3,4,6""#),
        rule: "PL201",
        place: "PORT_QOS_MAP|Ethernet0|pfc_enable",
    },
    Mistake {
        of: "mellanox-sn4600c-d48c40-t0",
        path: "/SYSTEM_DEFAULTS/tunnel_qos_remap/status",
        value: Some(r#""disabled""#),
        rule: "PL703",
        place: "SYSTEM_DEFAULTS|tunnel_qos_remap|status",
    },
    Mistake {
        of: "pod-leaf0",
        path: "/TC_TO_PRIORITY_GROUP_MAP/AZURE",
        value: Some(
            r#"{"0": "0", "1": "0", "2": "0", "3": "4", "4": "3", "5": "0", "6": "0", "7": "7"}"#,
        ),
        rule: "PL206",
        place: "TC_TO_PRIORITY_GROUP_MAP|AZURE|3",
    },
    Mistake {
        of: "dell-s6100-t0",
        path: "/TC_TO_QUEUE_MAP/AZURE",
        value: Some(
            r#"{"0": "0", "1": "1", "2": "2", "3": "4", "4": "3", "5": "5", "6": "6", "7": "7"}"#,
        ),
        rule: "PL206",
        place: "TC_TO_QUEUE_MAP|AZURE|3",
    },
];

#[test]
fn further_mistakes_are_found_with_their_cause_alone() {
    let mut wrong = Vec::new();
    for mistake in &MISTAKES {
        let Mistake { of, path, value, rule, place } = mistake;
        let folder = if of.starts_with("pod-") { "pod" } else { "good" };
        let mut sources = files(folder);
        sources.retain(|source| folder == "pod" || source.stem() == *of);
        let at = sources.iter().position(|source| source.stem() == *of).unwrap();
        let mut document: Value = serde_json::from_str(&sources[at].text).unwrap();
        let op = if value.is_some() { "add" } else { "remove" };
        let value = value.map(|value| serde_json::from_str(value).unwrap());
        fix::apply(&mut document, &[Op { op, path: path.to_string(), value }]).unwrap();
        sources[at].text = fix::to_rows(&document);
        let report = lint(&sources).unwrap();
        let loud = report.findings.iter().filter(|one| one.severity > Severity::Note);
        let loud = Vec::from_iter(loud.map(|one| (one.rule.id, one.place.name())));
        if !loud.iter().all(|(id, _)| id == rule) {
            wrong.push(format!("{of} {path}: {loud:?}, not {rule} alone"));
        }
        if !loud.iter().any(|(_, name)| name == place) {
            wrong.push(format!("{of} {path}: {loud:?}, not at {place}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn a_table_with_a_slip_in_its_name_is_one_finding() {
    for table in ["WRED_PROFILE", "DSCP_TO_TC_MAP", "SCHEDULER"] {
        let mut sources = files("good");
        sources.retain(|source| source.stem() == "dell-s6100-t0");
        let mut document: Value = serde_json::from_str(&sources[0].text).unwrap();
        let rows = document.as_object_mut().unwrap().remove(table).unwrap();
        document[format!("{table}S")] = rows;
        sources[0].text = fix::to_rows(&document);
        let report = lint(&sources).unwrap();
        let loud = report.findings.iter().filter(|one| one.severity > Severity::Note);
        let loud = Vec::from_iter(loud.map(|one| one.rule.id));
        assert_eq!(loud, ["PL107"], "{table}");
    }
}
