//! Several files of one switch as one configuration, such as `qos.json` and `buffers.json`, or
//! the configuration and a dump of the running switch.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
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
    union("PORT", &mut into.ports, &other.ports, join_ports)?;
    union("BUFFER_POOL", &mut into.pools, &other.pools, join_pools)?;
    let profiles = &mut into.profiles;
    union("BUFFER_PROFILE", profiles, &other.profiles, join_profiles)?;
    for (port, groups) in &other.groups {
        let known = into.groups.entry(port.clone()).or_default();
        groups.iter().try_for_each(|group| {
            join_group(known, group)
                .map_err(|()| Clash { what: format!("BUFFER_PG|{port}"), at: group.at.clone() })
        })?;
    }
    same("CABLE_LENGTH", &mut into.cables, &other.cables, |v| &mut v.at)?;
    let port_qos = &mut into.port_qos;
    same("PORT_QOS_MAP", port_qos, &other.port_qos, |v| &mut v.at)?;
    same("TUNNEL", &mut into.tunnels, &other.tunnels, |v| &mut v.at)?;
    same("PFC_WD", &mut into.watchdogs, &other.watchdogs, |v| &mut v.at)?;
    let neighbours = &mut into.neighbours;
    same("DEVICE_NEIGHBOR", neighbours, &other.neighbours, |v| &mut v.at)?;
    for (key, map) in &other.maps {
        match into.maps.entry(key.clone()) {
            Entry::Vacant(place) => {
                place.insert(map.clone());
            }
            Entry::Occupied(known) if known.get().entries == map.entries => {}
            Entry::Occupied(_) => {
                let what = format!("the QoS map \"{}\"", key.1);
                let at = map.at.clone();
                return Err(Clash { what, at });
            }
        }
    }
    Ok(())
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
fn same<V: Clone + PartialEq>(
    table: &str,
    known: &mut BTreeMap<String, V>,
    other: &BTreeMap<String, V>,
    at: fn(&mut V) -> &mut Range<usize>,
) -> Result<(), Clash> {
    for (key, value) in other {
        let mut value = value.clone();
        let place = at(&mut value).clone();
        let Some(first) = known.get(key) else {
            known.insert(key.clone(), value);
            continue;
        };
        let mut first = first.clone();
        *at(&mut first) = place.clone();
        if first != value {
            let what = format!("{table}|{key}");
            return Err(Clash { what, at: place });
        }
    }
    Ok(())
}

/// An entry that may know less than another of the same key.
trait Located: Clone {
    fn at(&self) -> &Range<usize>;
}

impl Located for Port {
    fn at(&self) -> &Range<usize> {
        &self.at
    }
}

impl Located for BufferPool {
    fn at(&self) -> &Range<usize> {
        &self.at
    }
}

impl Located for BufferProfile {
    fn at(&self) -> &Range<usize> {
        &self.at
    }
}

/// Entries of both; those in both files are joined, unless `join` says that they cannot be.
fn union<V: Located>(
    table: &str,
    known: &mut BTreeMap<String, V>,
    other: &BTreeMap<String, V>,
    join: fn(&mut V, &V) -> bool,
) -> Result<(), Clash> {
    for (key, value) in other {
        let Some(first) = known.get_mut(key) else {
            known.insert(key.clone(), value.clone());
            continue;
        };
        if !join(first, value) {
            let what = format!("{table}|{key}");
            let at = value.at().clone();
            return Err(Clash { what, at });
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
