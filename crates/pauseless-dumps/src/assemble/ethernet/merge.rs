//! Several files of one switch as one configuration, such as `qos.json` and `buffers.json`, or
//! the configuration and a dump of the running switch.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::import::ethernet::sonic::{
    BufferGroup, BufferPool, BufferProfile, GroupProfile, Port, SwitchConfig,
};

/// Two files that do not agree.
pub(super) struct Clash {
    /// The entry, such as `PORT|Ethernet0`.
    pub what: String,
    /// Where it is in the second file.
    pub at: Range<usize>,
}

/// Adds what another file says of the same switch.
pub(super) fn absorb(into: &mut SwitchConfig, other: &SwitchConfig) -> Result<(), Clash> {
    if into.hostname.is_none() {
        into.hostname.clone_from(&other.hostname);
        into.hostname_at.clone_from(&other.hostname_at);
    }
    fill(&mut into.hwsku, &other.hwsku);
    fill(&mut into.device_type, &other.device_type);
    fill(&mut into.buffer_model, &other.buffer_model);
    fill(&mut into.poll_interval_ms, &other.poll_interval_ms);
    union(&mut into.ports, &other.ports, join_ports, |key, it| clash("PORT", key, &it.at))?;
    union(&mut into.pools, &other.pools, join_pools, |key, it| clash("BUFFER_POOL", key, &it.at))?;
    union(&mut into.profiles, &other.profiles, join_profiles, |key, it| {
        clash("BUFFER_PROFILE", key, &it.at)
    })?;
    for (port, groups) in &other.groups {
        let known = into.groups.entry(port.clone()).or_default();
        for group in groups {
            join_group(known, group).map_err(|()| clash("BUFFER_PG", port, &group.at))?;
        }
    }
    let in_table = |table: &'static str| move |key: &String| format!("{table}|{key}");
    same(&mut into.cables, &other.cables, in_table("CABLE_LENGTH"), |it| &mut it.at)?;
    same(&mut into.port_qos, &other.port_qos, in_table("PORT_QOS_MAP"), |it| &mut it.at)?;
    same(&mut into.tunnels, &other.tunnels, in_table("TUNNEL"), |it| &mut it.at)?;
    same(&mut into.watchdogs, &other.watchdogs, in_table("PFC_WD"), |it| &mut it.at)?;
    same(&mut into.neighbours, &other.neighbours, in_table("DEVICE_NEIGHBOR"), |it| &mut it.at)?;
    for (interface, addresses) in &other.layer3.addresses {
        into.layer3.addresses.entry(interface.clone()).or_default().extend(addresses);
    }
    for (bundle, ports) in &other.layer3.members {
        into.layer3.members.entry(bundle.clone()).or_default().extend(ports.iter().cloned());
    }
    let known = &mut into.layer3;
    known.idle.extend(other.layer3.idle.iter().cloned());
    known.hardware.extend(other.layer3.hardware.clone());
    known.learned.extend(other.layer3.learned.clone());
    let in_maps = |(_, name): &(_, String)| format!("the QoS map \"{name}\"");
    same(&mut into.maps, &other.maps, in_maps, |it| &mut it.at)
}

fn clash(table: &str, key: &str, at: &Range<usize>) -> Clash {
    Clash { what: format!("{table}|{key}"), at: at.clone() }
}

fn fill<T: Clone>(known: &mut Option<T>, other: &Option<T>) {
    if known.is_none() {
        known.clone_from(other);
    }
}

/// Takes a value that is not known yet; `false` if both have one and they differ.
fn agree<T: Clone + PartialEq>(known: &mut Option<T>, other: &Option<T>) -> bool {
    fill(known, other);
    other.is_none() || known == other
}

/// Entries of both; those in both files must be equal but for their places.
fn same<K: Ord + Clone, V: Clone + PartialEq>(
    known: &mut BTreeMap<K, V>,
    other: &BTreeMap<K, V>,
    what: impl Fn(&K) -> String,
    at: fn(&mut V) -> &mut Range<usize>,
) -> Result<(), Clash> {
    for (key, value) in other {
        let first = known.entry(key.clone()).or_insert_with(|| value.clone());
        let mut value = value.clone();
        let place = std::mem::replace(at(&mut value), at(first).clone());
        if *first != value {
            return Err(Clash { what: what(key), at: place });
        }
    }
    Ok(())
}

/// Entries of both; those in both files are joined, unless `join` says that they cannot be.
fn union<V: Clone>(
    known: &mut BTreeMap<String, V>,
    other: &BTreeMap<String, V>,
    join: fn(&mut V, &V) -> bool,
    clash: fn(&str, &V) -> Clash,
) -> Result<(), Clash> {
    for (key, value) in other {
        match known.get_mut(key) {
            None => {
                known.insert(key.clone(), value.clone());
            }
            Some(first) => {
                if !join(first, value) {
                    return Err(clash(key, value));
                }
            }
        }
    }
    Ok(())
}

/// Only the speed decides anything here; the rest of a running port may well have changed.
fn join_ports(known: &mut Port, other: &Port) -> bool {
    fill(&mut known.mtu, &other.mtu);
    fill(&mut known.alias, &other.alias);
    fill(&mut known.admin_up, &other.admin_up);
    if known.lanes.is_empty() {
        known.lanes.clone_from(&other.lanes);
    }
    agree(&mut known.speed_mbps, &other.speed_mbps)
}

/// A running switch knows sizes that its configuration leaves to it.
fn join_pools(known: &mut BufferPool, other: &BufferPool) -> bool {
    known.direction == other.direction
        && known.mode == other.mode
        && agree(&mut known.size, &other.size)
        && agree(&mut known.xoff, &other.xoff)
}

fn join_profiles(known: &mut BufferProfile, other: &BufferProfile) -> bool {
    known.calculated |= other.calculated;
    known.pool == other.pool
        && agree(&mut known.size, &other.size)
        && agree(&mut known.xon, &other.xon)
        && agree(&mut known.xoff, &other.xoff)
        && agree(&mut known.xon_offset, &other.xon_offset)
        && agree(&mut known.threshold, &other.threshold)
}

/// Where the configuration leaves the profile to the switch, the running switch has its name.
fn join_group(known: &mut Vec<BufferGroup>, group: &BufferGroup) -> Result<(), ()> {
    let overlaps = |other: &&mut BufferGroup| other.classes & group.classes != 0;
    let Some(first) = known.iter_mut().find(overlaps) else {
        known.push(group.clone());
        return Ok(());
    };
    match (&first.profile, &group.profile) {
        _ if first.classes != group.classes => Err(()),
        (one, other) if one == other => Ok(()),
        (_, GroupProfile::Calculated) => Ok(()),
        (GroupProfile::Calculated, other) => {
            first.profile = other.clone();
            Ok(())
        }
        _ => Err(()),
    }
}
