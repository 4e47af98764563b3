//! From entries to a [`SwitchConfig`], table by table.

use std::collections::BTreeMap;
use std::collections::btree_map;
use std::ops::RangeInclusive;

use super::config::*;
use super::field::{classes, made_for, metres};
use super::layer3;
use super::table::{Entry, Table, Tables};
use crate::import::ethernet::quoted;
use pauseless_text::problem::Problem;

/// Reads every table; what depends on several is left to `check`.
pub(super) fn read(tables: &Tables) -> Result<SwitchConfig, Problem> {
    let mut config = SwitchConfig { ignored: tables.ignored(), ..SwitchConfig::default() };
    for entry in tables.of(Table::DeviceMetadata) {
        if entry.key == "localhost" {
            config.hostname = entry.owned("hostname")?;
            let hostname = entry.field("hostname");
            config.hostname_at = hostname.map_or(0..0, |field| field.value.at());
            config.hwsku = entry.owned("hwsku")?;
            config.device_type = entry.owned("type")?;
            config.buffer_model = entry.owned("buffer_model")?;
        }
    }
    for entry in tables.of(Table::Port) {
        config.ports.insert(entry.key.clone(), read_port(entry)?);
    }
    for entry in tables.of(Table::CableLength) {
        read_cables(entry, &mut config.cables)?;
    }
    for entry in tables.of(Table::BufferPool) {
        config.pools.insert(entry.key.clone(), read_pool(entry)?);
    }
    for entry in tables.of(Table::BufferProfile) {
        let profile = read_profile(entry)?;
        config.profiles.insert(entry.key.clone(), profile);
    }
    for entry in tables.of(Table::BufferPg) {
        read_group(entry, &mut config.groups)?;
    }
    for (kind, _, _) in MAPS {
        for entry in tables.of(Table::Map(kind)) {
            config.maps.insert((kind, entry.key.clone()), read_map(entry, kind)?);
        }
    }
    for entry in tables.of(Table::PortQosMap) {
        read_port_qos(entry, &mut config.port_qos)?;
    }
    for entry in tables.of(Table::Tunnel) {
        config.tunnels.insert(entry.key.clone(), read_tunnel(entry)?);
    }
    for entry in tables.of(Table::PfcWd) {
        read_watchdog(entry, &mut config)?;
    }
    for entry in tables.of(Table::DeviceNeighbor) {
        read_neighbour(entry, &mut config)?;
    }
    config.layer3 = layer3::read(tables)?;
    Ok(config)
}

fn read_port(entry: &Entry) -> Result<Port, Problem> {
    let mut lanes = Vec::new();
    if let Some(text) = entry.text("lanes")? {
        for lane in text.split(',') {
            lanes.push(lane.trim().parse().map_err(|_| {
                let at = entry.field("lanes").map_or(0..0, |field| field.value.at());
                let problem = entry.problem(at, format!("lanes of {}", quoted(&text)));
                problem.expected("numbers, such as 0,1,2,3")
            })?);
        }
    }
    Ok(Port {
        speed_mbps: entry.number("speed", 1..=u32::MAX)?,
        mtu: entry.number("mtu", 1..=u32::MAX)?,
        lanes,
        alias: entry.owned("alias")?,
        admin_up: entry.choice("admin_status", &[("up", true), ("down", false)])?,
        at: entry.key_at.clone(),
    })
}

fn read_cables(entry: &Entry, cables: &mut BTreeMap<String, Cable>) -> Result<(), Problem> {
    for field in &entry.fields {
        let text = entry.text_of(field)?;
        // What Redis stores for an entry without fields.
        if field.name == "NULL" {
            continue;
        }
        let at = field.name_at.start..field.value.at().end;
        let Some(metres) = metres(&text) else {
            let message = format!("{} is not a length of cable", quoted(&text));
            let problem = entry.problem(field.value.at(), message);
            return Err(problem.expected("metres, such as \"40m\""));
        };
        match cables.entry(field.name.to_string()) {
            btree_map::Entry::Vacant(place) => {
                place.insert(Cable { metres, at });
            }
            btree_map::Entry::Occupied(other) if other.get().metres != metres => {
                let other = other.get().metres;
                let port = quoted(&field.name);
                let message = format!("the cable at {port} is {metres} m here and {other} m above");
                return Err(entry.problem(at, message).expected("one length per port"));
            }
            btree_map::Entry::Occupied(_) => {}
        }
    }
    Ok(())
}

fn read_pool(entry: &Entry) -> Result<BufferPool, Problem> {
    let directions =
        [("ingress", Direction::Ingress), ("egress", Direction::Egress), ("both", Direction::Both)];
    let modes = [("dynamic", Mode::Dynamic), ("static", Mode::Static)];
    let pool = BufferPool {
        direction: required(entry, "type", entry.choice("type", &directions)?)?,
        mode: required(entry, "mode", entry.choice("mode", &modes)?)?,
        size: entry.number("size", 0..=u64::MAX)?,
        xoff: entry.number("xoff", 0..=u64::MAX)?,
        at: entry.key_at.clone(),
    };
    Ok(pool)
}

fn read_profile(entry: &Entry) -> Result<BufferProfile, Problem> {
    let dynamic_th = entry.number("dynamic_th", DYNAMIC_TH)?;
    let static_th = entry.number("static_th", 0..=u64::MAX)?;
    let threshold = match (dynamic_th, static_th) {
        (Some(_), Some(_)) => {
            let message = "dynamic_th and static_th at the same time";
            return Err(entry.problem(entry.key_at.clone(), message).expected("one of them"));
        }
        (Some(exponent), None) => Some(Threshold::Dynamic(exponent)),
        (None, Some(bytes)) => Some(Threshold::Static(bytes)),
        (None, None) => None,
    };
    let headrooms = [("static", false), ("dynamic", true)];
    let calculated = entry.choice("headroom_type", &headrooms)?;
    Ok(BufferProfile {
        pool: required(entry, "pool", entry.reference("pool", "BUFFER_POOL")?)?,
        size: entry.number("size", 0..=u64::MAX)?,
        xon: entry.number("xon", 0..=u64::MAX)?,
        xoff: entry.number("xoff", 0..=u64::MAX)?,
        xon_offset: entry.number("xon_offset", 0..=u64::MAX)?,
        threshold,
        calculated: calculated == Some(true),
        made_for: made_for(&entry.key),
        at: entry.key_at.clone(),
    })
}

fn read_group(
    entry: &Entry,
    groups: &mut BTreeMap<String, Vec<BufferGroup>>,
) -> Result<(), Problem> {
    let refuse = |reason: &str| {
        let problem = entry.problem(entry.key_at.clone(), reason);
        Err(problem.expected("a port and its groups, such as Ethernet0|3-4"))
    };
    let Some((ports, range)) = entry.key.split_once('|') else {
        return refuse("a key without groups");
    };
    let mask = match classes(range) {
        Ok(mask) => mask,
        Err(reason) => return refuse(&format!("groups {}: {reason}", quoted(range))),
    };
    let reference = entry.reference("profile", "BUFFER_PROFILE")?;
    let profile = match required(entry, "profile", reference)? {
        name if name == "NULL" => GroupProfile::Calculated,
        name => GroupProfile::Named(name),
    };
    // Older images list several ports in one key.
    for port in ports.split(',') {
        if port.is_empty() {
            return refuse("a key without a port");
        }
        let others = groups.entry(port.to_string()).or_default();
        if let Some(other) = others.iter().find(|other| other.classes & mask != 0) {
            let class = (other.classes & mask).trailing_zeros();
            let message = format!("group {class} of {} has a profile already", quoted(port));
            let problem = entry.problem(entry.key_at.clone(), message);
            return Err(problem.expected("every group of a port once"));
        }
        others.push(BufferGroup {
            classes: mask,
            profile: profile.clone(),
            at: entry.key_at.clone(),
        });
    }
    Ok(())
}

fn read_map(entry: &Entry, kind: MapKind) -> Result<QosMap, Problem> {
    let found = MAPS.iter().find(|(known, _, _)| *known == kind);
    let (keys, values) = found.map_or((0..=7, 0..=7), |(_, k, v)| (k.clone(), v.clone()));
    let mut entries = BTreeMap::new();
    for field in &entry.fields {
        let text = entry.text_of(field)?;
        if field.name == "NULL" {
            continue;
        }
        let number = |text: &str, limits: &RangeInclusive<u8>| {
            let number = text.parse().ok();
            number.filter(|number| limits.contains(number))
        };
        let (Some(from), Some(to)) = (number(&field.name, &keys), number(&text, &values)) else {
            let at = field.name_at.start..field.value.at().end;
            let message = format!("a map from {} to {}", quoted(&field.name), quoted(&text));
            let (last_key, last_value) = (keys.end(), values.end());
            let expected = format!("from 0..{last_key} to 0..{last_value}");
            return Err(entry.problem(at, message).expected(expected));
        };
        // "3" and "03" are different names of the same key.
        if entries.insert(from, to).is_some() {
            return Err(entry.problem(field.name_at.clone(), format!("{from} is mapped twice")));
        }
    }
    Ok(QosMap { entries, at: entry.key_at.clone() })
}

fn read_port_qos(entry: &Entry, port_qos: &mut BTreeMap<String, PortQos>) -> Result<(), Problem> {
    let qos = PortQos {
        pfc_enable: entry.classes("pfc_enable")?,
        pfcwd_sw_enable: entry.classes("pfcwd_sw_enable")?,
        maps: read_map_names(entry, "")?,
        at: entry.key_at.clone(),
    };
    for port in entry.key.split(',') {
        if port.is_empty() {
            let problem = entry.problem(entry.key_at.clone(), "a key without a port");
            return Err(problem.expected("a port, such as Ethernet0"));
        }
        if port_qos.insert(port.to_string(), qos.clone()).is_some() {
            let message = format!("{} has an entry already", quoted(port));
            return Err(entry.problem(entry.key_at.clone(), message).expected("every port once"));
        }
    }
    Ok(())
}

/// The maps that an entry refers to; their fields have `prefix` before their names.
fn read_map_names(entry: &Entry, prefix: &str) -> Result<BTreeMap<MapKind, String>, Problem> {
    let mut names = BTreeMap::new();
    for (kind, field) in MAP_FIELDS {
        let table = Table::Map(kind).name();
        if let Some(name) = entry.reference(&format!("{prefix}{field}"), table)? {
            names.insert(kind, name);
        }
    }
    Ok(names)
}

fn read_tunnel(entry: &Entry) -> Result<Tunnel, Problem> {
    Ok(Tunnel {
        decap: read_map_names(entry, "decap_")?,
        encap: read_map_names(entry, "encap_")?,
        at: entry.key_at.clone(),
    })
}

fn read_watchdog(entry: &Entry, config: &mut SwitchConfig) -> Result<(), Problem> {
    if entry.key == "GLOBAL" {
        config.poll_interval_ms = entry.number("POLL_INTERVAL", 1..=u32::MAX)?;
        return Ok(());
    }
    let actions = [("drop", Action::Drop), ("forward", Action::Forward), ("alert", Action::Alert)];
    let watchdog = Watchdog {
        action: entry.choice("action", &actions)?,
        detection_ms: entry.number("detection_time", 1..=u32::MAX)?,
        restoration_ms: entry.number("restoration_time", 1..=u32::MAX)?,
        at: entry.key_at.clone(),
    };
    config.watchdogs.insert(entry.key.clone(), watchdog);
    Ok(())
}

fn read_neighbour(entry: &Entry, config: &mut SwitchConfig) -> Result<(), Problem> {
    let at = entry.key_at.clone();
    let (Some(name), Some(port)) = (entry.owned("name")?, entry.owned("port")?) else {
        config.warnings.push(Warning {
            table: entry.table.name(),
            key: entry.key.clone(),
            line: 0,
            at,
            message: "a neighbour without name or port: the cable is left out".to_string(),
        });
        return Ok(());
    };
    let neighbour = Neighbour { name, port, at };
    config.neighbours.insert(entry.key.clone(), neighbour);
    Ok(())
}

/// A field that must be there.
fn required<T>(entry: &Entry, name: &str, value: Option<T>) -> Result<T, Problem> {
    value.ok_or_else(|| {
        let problem = entry.problem(entry.key_at.clone(), format!("{} is missing", quoted(name)));
        problem.help(format!("add a field {}", quoted(name)))
    })
}

/// SONiC's own limits, in its YANG model of profiles.
const DYNAMIC_TH: RangeInclusive<i8> = -8..=7;

/// The limits of keys and values; switches have more traffic classes than PFC has.
const MAPS: [(MapKind, RangeInclusive<u8>, RangeInclusive<u8>); 7] = [
    (MapKind::DscpToTc, 0..=63, 0..=15),
    (MapKind::Dot1pToTc, 0..=7, 0..=15),
    (MapKind::TcToPriorityGroup, 0..=15, 0..=7),
    (MapKind::TcToQueue, 0..=15, 0..=15),
    (MapKind::TcToDscp, 0..=15, 0..=63),
    (MapKind::PfcToQueue, 0..=7, 0..=15),
    (MapKind::PfcToPriorityGroup, 0..=7, 0..=7),
];

const MAP_FIELDS: [(MapKind, &str); 7] = [
    (MapKind::DscpToTc, "dscp_to_tc_map"),
    (MapKind::Dot1pToTc, "dot1p_to_tc_map"),
    (MapKind::TcToPriorityGroup, "tc_to_pg_map"),
    (MapKind::TcToQueue, "tc_to_queue_map"),
    (MapKind::TcToDscp, "tc_to_dscp_map"),
    (MapKind::PfcToQueue, "pfc_to_queue_map"),
    (MapKind::PfcToPriorityGroup, "pfc_to_pg_map"),
];
