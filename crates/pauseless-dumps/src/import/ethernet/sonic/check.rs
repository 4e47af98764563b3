//! What several tables say together: references that lead nowhere, and contradictions.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::config::*;
use super::table::Table;
use crate::import::ethernet::quoted;
use pauseless_text::problem::Problem;

/// Refuses what cannot be true and adds warnings about what is odd.
pub(super) fn check(text: &str, config: &mut SwitchConfig) -> Result<(), Problem> {
    profiles_have_pools(config)?;
    groups_have_profiles(config)?;
    maps_exist(config)?;
    neighbours_are_cabled_once(config)?;
    let mut checker = Checker { config, warnings: Vec::new() };
    checker.ports();
    checker.names();
    checker.thresholds();
    checker.pfc();
    checker.headroom();
    checker.watchdogs();
    let found = checker.warnings;
    config.warnings.extend(found);
    let lines = Lines::new(text);
    for warning in &mut config.warnings {
        warning.line = lines.of(warning.at.start);
    }
    let place = |warning: &Warning| (warning.at.start, warning.key.clone());
    config.warnings.sort_by_key(place);
    Ok(())
}

fn profiles_have_pools(config: &SwitchConfig) -> Result<(), Problem> {
    for (name, profile) in &config.profiles {
        let Some(pool) = config.pools.get(&profile.pool) else {
            let of = format!("BUFFER_PROFILE|{name}");
            return Err(missing(of, "BUFFER_POOL", &profile.pool, &profile.at));
        };
        let (Some(size), Some(xoff)) = (profile.size, profile.xoff) else {
            continue;
        };
        // Where the pool has headroom for all, the profile need not hold its own; and where the
        // switch calculates the pool, only the switch knows.
        let shares = pool.xoff.is_some_and(|xoff| xoff > 0) || pool.size.is_none();
        let xon = profile.xon.unwrap_or(0);
        if xoff > 0 && xon.saturating_add(xoff) > size && !shares {
            let message = format!("a size of {size} does not hold xon {xon} and xoff {xoff}");
            let mut problem = Problem::new(profile.at.clone(), message);
            problem.key = format!("BUFFER_PROFILE|{name}");
            let expected = format!("{} or more", xon.saturating_add(xoff));
            let help = format!(
                "or give BUFFER_POOL|{} an xoff, the headroom that all ports share",
                profile.pool
            );
            return Err(problem.expected(expected).help(help));
        }
    }
    Ok(())
}

fn groups_have_profiles(config: &SwitchConfig) -> Result<(), Problem> {
    for (port, groups) in &config.groups {
        for group in groups {
            if let GroupProfile::Named(name) = &group.profile
                && !config.profiles.contains_key(name)
            {
                let of = format!("BUFFER_PG|{port}");
                return Err(missing(of, "BUFFER_PROFILE", name, &group.at));
            }
        }
    }
    Ok(())
}

fn maps_exist(config: &SwitchConfig) -> Result<(), Problem> {
    let exist = |of: String, maps: &BTreeMap<MapKind, String>, at: &Range<usize>| {
        for (kind, name) in maps {
            if !config.maps.contains_key(&(*kind, name.clone())) {
                return Err(missing(of, Table::Map(*kind).name(), name, at));
            }
        }
        Ok(())
    };
    for (port, qos) in &config.port_qos {
        exist(format!("PORT_QOS_MAP|{port}"), &qos.maps, &qos.at)?;
    }
    for (name, tunnel) in &config.tunnels {
        exist(format!("TUNNEL|{name}"), &tunnel.decap, &tunnel.at)?;
        exist(format!("TUNNEL|{name}"), &tunnel.encap, &tunnel.at)?;
    }
    Ok(())
}

fn neighbours_are_cabled_once(config: &SwitchConfig) -> Result<(), Problem> {
    let mut taken = HashMap::new();
    for (port, neighbour) in &config.neighbours {
        let end = (&neighbour.name, &neighbour.port);
        if let Some(other) = taken.insert(end, port) {
            let end = quoted(&format!("{}:{}", end.0, end.1));
            let message = format!("{end} is cabled twice, also to {}", quoted(other));
            let mut problem = Problem::new(neighbour.at.clone(), message);
            problem.key = format!("DEVICE_NEIGHBOR|{port}");
            return Err(problem.expected("one cable per interface"));
        }
    }
    Ok(())
}

/// The problem that entry `of` refers to a `name` that `table` does not have.
fn missing(of: String, table: &str, name: &str, at: &Range<usize>) -> Problem {
    let mut problem = Problem::new(at.clone(), format!("{} is not in {table}", quoted(name)));
    problem.key = of;
    problem.expected(format!("the name of an entry in {table}"))
}

struct Checker<'c> {
    config: &'c SwitchConfig,
    warnings: Vec<Warning>,
}

impl Checker<'_> {
    fn warn(&mut self, table: &'static str, key: &str, at: &Range<usize>, message: String) {
        let warning = Warning { table, key: key.to_string(), line: 0, at: at.clone(), message };
        self.warnings.push(warning);
    }

    fn ports(&mut self) {
        let mut lanes: HashMap<u32, &str> = HashMap::new();
        for (name, port) in &self.config.ports {
            if port.speed_mbps.is_none() {
                self.warn("PORT", name, &port.at, "no speed: add \"speed\" in Mb/s".to_string());
            }
            let shared = port.lanes.iter().find_map(|lane| {
                let other = *lanes.entry(*lane).or_insert(name);
                (other != name).then_some((*lane, other))
            });
            if let Some((lane, other)) = shared {
                self.warn("PORT", name, &port.at, format!("lane {lane} is also one of {other}"));
            }
        }
    }

    /// Ports that other tables know and PORT does not.
    fn names(&mut self) {
        let config = self.config;
        if config.ports.is_empty() {
            return;
        }
        let cables = config.cables.iter().map(|(port, cable)| ("CABLE_LENGTH", port, &cable.at));
        let groups = config.groups.iter().filter_map(|(port, groups)| {
            let group = groups.first()?;
            Some(("BUFFER_PG", port, &group.at))
        });
        let qos = config.port_qos.iter().filter(|(port, _)| *port != GLOBAL);
        let qos = qos.map(|(port, qos)| ("PORT_QOS_MAP", port, &qos.at));
        let watchdogs = config.watchdogs.iter();
        let watchdogs = watchdogs.map(|(port, watchdog)| ("PFC_WD", port, &watchdog.at));
        let neighbours = config.neighbours.iter();
        let neighbours = neighbours.map(|(port, peer)| ("DEVICE_NEIGHBOR", port, &peer.at));
        let all = cables.chain(groups).chain(qos);
        for (table, port, at) in all.chain(watchdogs).chain(neighbours) {
            if !config.ports.contains_key(port) {
                self.warn(table, port, at, "no such port in PORT".to_string());
            }
        }
    }

    fn thresholds(&mut self) {
        // Templates for Broadcom have static limits of lossy profiles in dynamic pools, and that works.
        let lossless = |profile: &BufferProfile| profile.xoff.is_some_and(|xoff| xoff > 0);
        for (name, profile) in self.config.profiles.iter().filter(|(_, one)| lossless(one)) {
            let Some(pool) = self.config.pools.get(&profile.pool) else {
                continue;
            };
            let (field, mode) = match (profile.threshold, pool.mode) {
                (Some(Threshold::Static(_)), Mode::Dynamic) => ("static_th", "dynamic"),
                (Some(Threshold::Dynamic(_)), Mode::Static) => ("dynamic_th", "static"),
                _ => continue,
            };
            let message = format!("{field} in {}, whose mode is {mode}", profile.pool);
            self.warn("BUFFER_PROFILE", name, &profile.at, message);
        }
    }

    /// PFC without headroom, and headroom without PFC.
    fn pfc(&mut self) {
        let config = self.config;
        let groups = || config.groups.values().flatten();
        let any_lossless = groups().any(|group| config.is_lossless(group));
        let first = config.port_qos.iter().find(|(_, qos)| qos.pfc_enable != 0);
        if let (Some((port, qos)), false, false) = (first, any_lossless, config.groups.is_empty()) {
            let message = "PFC is enabled, but no port has a lossless BUFFER_PG: SONiC makes them \
                           from pg_profile_lookup.ini when it starts, so take a dump of the \
                           running switch";
            self.warn("PORT_QOS_MAP", port, &qos.at, message.to_string());
        }
        for (port, qos) in &config.port_qos {
            if port == GLOBAL && qos.pfc_enable != 0 {
                self.warn(
                    "PORT_QOS_MAP",
                    port,
                    &qos.at,
                    "pfc_enable has no effect here: set it per port".to_string(),
                );
                continue;
            }
            if any_lossless {
                self.pfc_without_headroom(port, qos);
            }
            let unwatched = qos.pfcwd_sw_enable & !qos.pfc_enable;
            if unwatched != 0 {
                let message =
                    format!("pfcwd_sw_enable has {}, pfc_enable has not", classes(unwatched));
                self.warn("PORT_QOS_MAP", port, &qos.at, message);
            }
        }
        if !config.port_qos.is_empty() {
            self.headroom_without_pfc();
        }
    }

    fn pfc_without_headroom(&mut self, port: &str, qos: &PortQos) {
        let (lossless, lossy) = self.config.buffered(port);
        let enabled = |class: &u8| qos.pfc_enable & 1 << class != 0;
        let (mut without, mut in_lossy) = (0, 0);
        for class in (0..8).filter(enabled) {
            let group = self.config.group_of(qos, class);
            if lossy & group != 0 {
                in_lossy |= 1 << class;
            } else if lossless & group == 0 {
                without |= 1 << class;
            }
        }
        if in_lossy != 0 {
            let message = format!(
                "PFC is enabled for {}, but its BUFFER_PG has no xoff: it pauses and still loses",
                classes(in_lossy)
            );
            self.warn("PORT_QOS_MAP", port, &qos.at, message);
        }
        if without != 0 {
            let message = format!(
                "PFC is enabled for {}, but no BUFFER_PG has headroom for it",
                classes(without)
            );
            self.warn("PORT_QOS_MAP", port, &qos.at, message);
        }
    }

    fn headroom_without_pfc(&mut self) {
        let config = self.config;
        for (port, groups) in &config.groups {
            let qos = config.port_qos.get(port);
            let sending = qos.map_or(0, |qos| {
                let enabled = (0..8).filter(|class| qos.pfc_enable & 1 << class != 0);
                enabled.fold(0, |mask, class| mask | config.group_of(qos, class))
            });
            for group in groups {
                let silent = group.classes & !sending;
                if silent != 0 && config.is_lossless(group) {
                    let message = format!(
                        "headroom for {}, but PFC is not enabled for it: nobody is paused",
                        classes(silent)
                    );
                    self.warn("BUFFER_PG", port, &group.at, message);
                }
            }
        }
    }

    /// Profiles whose names say that they were made for another speed or cable.
    fn headroom(&mut self) {
        let config = self.config;
        for (port, groups) in &config.groups {
            for group in groups {
                let GroupProfile::Named(name) = &group.profile else {
                    continue;
                };
                let profile = config.profiles.get(name);
                let Some((speed, metres)) = profile.and_then(|profile| profile.made_for) else {
                    continue;
                };
                if let Some(cable) = config.cables.get(port).filter(|c| c.metres > metres) {
                    let cable = cable.metres;
                    let message = format!("a cable of {cable} m, but {name} is for {metres} m");
                    self.warn("BUFFER_PG", port, &group.at, message);
                }
                let own = config.ports.get(port).and_then(|port| port.speed_mbps);
                if let Some(own) = own.filter(|own| *own > speed) {
                    let message = format!("a port of {own} Mb/s, but {name} is for {speed} Mb/s");
                    self.warn("BUFFER_PG", port, &group.at, message);
                }
            }
        }
        for (name, profile) in &config.profiles {
            let (Some(size), Some(xoff)) = (profile.size, profile.xoff) else {
                continue;
            };
            let pool = config.pools.get(&profile.pool);
            let calculated = pool.is_some_and(|pool| pool.size.is_none() && pool.xoff.is_none());
            if xoff > 0 && profile.xon.unwrap_or(0).saturating_add(xoff) > size && calculated {
                let message = format!(
                    "size does not hold xon and xoff: right only if {} will share headroom",
                    profile.pool
                );
                self.warn("BUFFER_PROFILE", name, &profile.at, message);
            }
        }
    }

    fn watchdogs(&mut self) {
        let config = self.config;
        for (port, watchdog) in &config.watchdogs {
            let pfc = config.port_qos.get(port).map_or(0, |qos| qos.pfc_enable);
            if pfc == 0 && !config.port_qos.is_empty() {
                self.warn(
                    "PFC_WD",
                    port,
                    &watchdog.at,
                    "a watchdog on a port without PFC".to_string(),
                );
            }
            let times = (watchdog.detection_ms, config.poll_interval_ms);
            if let (Some(detection), Some(poll)) = times
                && detection < poll
            {
                let message =
                    format!("a detection_time of {detection} ms is below POLL_INTERVAL, {poll} ms");
                self.warn("PFC_WD", port, &watchdog.at, message);
            }
        }
    }
}

/// Such as `class 3` or `classes 3, 4`.
fn classes(mask: u8) -> String {
    let list: Vec<String> =
        (0..8).filter(|class| mask & 1 << class != 0).map(|class: u8| class.to_string()).collect();
    match list.as_slice() {
        [one] => format!("class {one}"),
        many => format!("classes {}", many.join(", ")),
    }
}

/// Where lines start, so that thousands of warnings do not each count them.
struct Lines {
    newlines: Vec<usize>,
}

impl Lines {
    fn new(text: &str) -> Lines {
        let newlines = text.match_indices('\n').map(|(place, _)| place);
        Lines { newlines: newlines.collect() }
    }

    fn of(&self, byte: usize) -> usize {
        self.newlines.partition_point(|newline| *newline < byte) + 1
    }
}

/// The key of PORT_QOS_MAP for the whole switch.
const GLOBAL: &str = "global";
