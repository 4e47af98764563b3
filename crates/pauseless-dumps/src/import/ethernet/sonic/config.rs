//! What a switch is configured to do, as plain data.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::net::IpAddr;
use std::ops::Range;

use crate::import::ethernet::routes::{Prefix, RouteTable};
use crate::import::ethernet::wiring::{Endpoint, Skipped, WiredLink, WiredNode, Wiring};

/// The configuration of one switch; what the file does not say is `None` or not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchConfig {
    /// The name of the switch.
    pub hostname: Option<String>,
    /// The place of its name in the file.
    pub hostname_at: Range<usize>,
    /// The model, such as `ACS-MSN4700`.
    pub hwsku: Option<String>,
    /// Its place in the fabric, such as `LeafRouter`.
    pub device_type: Option<String>,
    /// `dynamic` where the switch calculates headroom itself.
    pub buffer_model: Option<String>,
    /// The ports by name.
    pub ports: BTreeMap<String, Port>,
    /// The cables by port.
    pub cables: BTreeMap<String, Cable>,
    /// The buffer pools by name.
    pub pools: BTreeMap<String, BufferPool>,
    /// The buffer profiles by name.
    pub profiles: BTreeMap<String, BufferProfile>,
    /// The ingress priority groups by port; no two of a port have a class in common.
    pub groups: BTreeMap<String, Vec<BufferGroup>>,
    /// PFC and maps by port; `global` is the switch.
    pub port_qos: BTreeMap<String, PortQos>,
    /// The QoS maps by kind and name.
    pub maps: BTreeMap<(MapKind, String), QosMap>,
    /// The tunnels by name.
    pub tunnels: BTreeMap<String, Tunnel>,
    /// The PFC watchdogs by port.
    pub watchdogs: BTreeMap<String, Watchdog>,
    /// How often the watchdogs look, in milliseconds.
    pub poll_interval_ms: Option<u32>,
    /// The far ends of the cables by port.
    pub neighbours: BTreeMap<String, Neighbour>,
    /// Addresses, bundles of ports, routes and what LLDP hears.
    pub layer3: Layer3,
    /// Tables of the file that were not read, each once.
    pub ignored: Vec<String>,
    /// Contradictions that an operator would want to know, in the order of the file.
    pub warnings: Vec<Warning>,
}

/// What a switch knows to route by, from its configuration and from APPL_DB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer3 {
    /// The addresses of each interface with the prefix that is connected there.
    pub addresses: BTreeMap<String, BTreeSet<(IpAddr, Prefix)>>,
    /// The ports of each port channel and VLAN.
    pub members: BTreeMap<String, BTreeSet<String>>,
    /// The ports of port channels that carry nothing: LACP has not selected them.
    pub idle: BTreeSet<String>,
    /// The hardware address of each neighbour, by interface and IP address.
    pub hardware: BTreeMap<(String, IpAddr), String>,
    /// The port behind which a VLAN has learned a hardware address.
    pub learned: BTreeMap<(String, String), String>,
    /// The far ends of the cables by port, as LLDP hears them.
    pub heard: BTreeMap<String, Neighbour>,
    /// The routes, a table for each VRF.
    pub routes: Vec<RouteTable>,
}

/// An entry of the table `PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Speed in Mb/s, above 0.
    pub speed_mbps: Option<u32>,
    /// Largest frame in bytes.
    pub mtu: Option<u32>,
    /// Lanes of the switch chip.
    pub lanes: Vec<u32>,
    /// The name on the front panel.
    pub alias: Option<String>,
    /// Whether the port is switched on.
    pub admin_up: Option<bool>,
    /// The place of the entry in the file.
    pub at: Range<usize>,
}

/// The cable at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cable {
    /// Its length; 0 for ports inside the box.
    pub metres: u32,
    /// The place of the entry in the file.
    pub at: Range<usize>,
}

/// Which way the frames of a pool go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Into the switch, before the crossbar.
    Ingress,
    /// Out of the switch.
    Egress,
    /// The pool counts both.
    Both,
}

/// How the limits of a pool are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As a number of bytes.
    Static,
    /// As a share of what is free.
    Dynamic,
}

/// An entry of the table `BUFFER_POOL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferPool {
    /// The direction of the frames that the pool holds.
    pub direction: Direction,
    /// How its limits are set.
    pub mode: Mode,
    /// Bytes; `None` where the switch calculates them.
    pub size: Option<u64>,
    /// Bytes of headroom that all ports share.
    pub xoff: Option<u64>,
    /// The place of the entry in the file.
    pub at: Range<usize>,
}

/// Up to where a queue may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// `n`: 2^n times what is free in the pool.
    Dynamic(i8),
    /// A fixed number of bytes.
    Static(u64),
}

/// An entry of the table `BUFFER_PROFILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferProfile {
    /// The pool that it takes from; defined in the same file.
    pub pool: String,
    /// Reserved bytes; `None` where the switch calculates them.
    pub size: Option<u64>,
    /// Bytes down to which a paused group must drain.
    pub xon: Option<u64>,
    /// Bytes of headroom; a profile without is lossy.
    pub xoff: Option<u64>,
    /// How far below its threshold a paused group must drain.
    pub xon_offset: Option<u64>,
    /// Up to where a queue may grow.
    pub threshold: Option<Threshold>,
    /// Whether the switch calculates the headroom (`headroom_type` is `dynamic`).
    pub calculated: bool,
    /// Mb/s and metres that the name says it was made for (`pg_lossless_100000_40m_profile`).
    pub made_for: Option<(u32, u32)>,
    /// The place of the entry in the file.
    pub at: Range<usize>,
}

impl BufferProfile {
    /// Whether it has room for what arrives after the pause was sent.
    pub fn is_lossless(&self) -> bool {
        self.calculated || self.xoff.is_some_and(|xoff| xoff > 0)
    }
}

/// The profile of a priority group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupProfile {
    /// Defined in the same file.
    Named(String),
    /// `NULL`: the switch calculates a lossless one from speed and cable.
    Calculated,
}

/// Ingress priority groups of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferGroup {
    /// One bit per group, group 0 the lowest.
    pub classes: u8,
    /// The buffer profile of these classes.
    pub profile: GroupProfile,
    /// The place of the entry in the file.
    pub at: Range<usize>,
}

/// PFC and maps of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortQos {
    /// One bit per class that sends and obeys PFC, class 0 the lowest.
    pub pfc_enable: u8,
    /// One bit per class that the watchdog looks after.
    pub pfcwd_sw_enable: u8,
    /// The map of each kind, by name; defined in the same file.
    pub maps: BTreeMap<MapKind, String>,
    /// The place of the entry in the file.
    pub at: Range<usize>,
}

/// From what to what a map leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MapKind {
    /// From the DSCP of a packet to its traffic class.
    DscpToTc,
    /// From the 802.1p priority of a frame to its traffic class.
    Dot1pToTc,
    /// From traffic class to ingress priority group.
    TcToPriorityGroup,
    /// From traffic class to egress queue.
    TcToQueue,
    /// From traffic class to the DSCP of the outer header.
    TcToDscp,
    /// From the class of a PFC frame to the queue that it stops.
    PfcToQueue,
    /// From the class of a PFC frame to the priority group that sends it.
    PfcToPriorityGroup,
}

/// A map from one code point to another, such as from DSCP to traffic class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QosMap {
    /// The value of each key.
    pub entries: BTreeMap<u8, u8>,
    /// The place of the entry in the file.
    pub at: Range<usize>,
}

/// The QoS maps of a tunnel, which remap priorities on the way in and out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// For packets that leave the tunnel, by name of the map.
    pub decap: BTreeMap<MapKind, String>,
    /// For packets that enter the tunnel, by name of the map.
    pub encap: BTreeMap<MapKind, String>,
    /// The place of the entry in the file.
    pub at: Range<usize>,
}

/// What a watchdog does to a queue that is paused for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Drop the frames of the queue.
    Drop,
    /// Send them in spite of the pause.
    Forward,
    /// Only raise an alarm.
    Alert,
}

/// The PFC watchdog of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watchdog {
    /// What the watchdog does with a queue that is paused for too long.
    pub action: Option<Action>,
    /// The time in pause after which it does so.
    pub detection_ms: Option<u32>,
    /// The time without a pause after which it stops doing so.
    pub restoration_ms: Option<u32>,
    /// The place of the entry in the file.
    pub at: Range<usize>,
}

/// The far end of a cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The name of the other device.
    pub name: String,
    /// The other device's port.
    pub port: String,
    /// The place of the entry in the file.
    pub at: Range<usize>,
}

/// A contradiction that may be meant so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The name of the table.
    pub table: &'static str,
    /// The key in the table.
    pub key: String,
    /// The line, from 1.
    pub line: usize,
    /// The place of the entry in the file.
    pub at: Range<usize>,
    /// What is odd, and what would be right.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, table, key) = (self.line, self.table, &self.key);
        write!(f, "line {line}: {table}|{key}: {}", self.message)
    }
}

impl SwitchConfig {
    /// One bit per class that `port` does not lose frames of, class 0 the lowest.
    ///
    /// That is a class with PFC whose priority group, if the file gives it a buffer, has headroom.
    /// A group without a buffer counts, because SONiC may give it one when it starts.
    /// Where the file says nothing about PFC on any port, the buffers alone decide.
    pub fn lossless_classes(&self, port: &str) -> u8 {
        if self.port_qos.keys().all(|port| port == "global") {
            return self.buffered(port).0;
        }
        let Some(qos) = self.port_qos.get(port) else {
            return 0;
        };
        let (_, lossy) = self.buffered(port);
        let has_no_headroom = |class: &u8| lossy & self.group_of(qos, *class) != 0;
        let classes = (0..8).filter(|class| qos.pfc_enable & 1 << class != 0);
        classes.filter(|class| !has_no_headroom(class)).fold(0, |mask, class| mask | 1 << class)
    }

    /// One bit per priority group of `port` with and without headroom; a group that has no buffer
    /// in the file is in neither.
    pub fn buffered(&self, port: &str) -> (u8, u8) {
        let (mut lossless, mut lossy) = (0, 0);
        for group in self.groups.get(port).into_iter().flatten() {
            if self.is_lossless(group) { lossless |= group.classes } else { lossy |= group.classes }
        }
        (lossless, lossy)
    }

    /// Whether a priority group has headroom.
    pub fn is_lossless(&self, group: &BufferGroup) -> bool {
        match &group.profile {
            GroupProfile::Calculated => true,
            GroupProfile::Named(name) => {
                self.profiles.get(name).is_some_and(BufferProfile::is_lossless)
            }
        }
    }

    /// The cables that this switch knows of: half the truth, as each neighbour has its own half.
    /// `None` if the file does not name the switch.
    pub fn wiring(&self) -> Option<Wiring> {
        let name = self.hostname.clone()?;
        let mut wiring = Wiring::default();
        wiring.nodes.push(WiredNode {
            name: name.clone(),
            kind: self.device_type.clone(),
            at: self.hostname_at.clone(),
        });
        let mut named = HashSet::from([name.as_str()]);
        for (port, neighbour) in &self.neighbours {
            if neighbour.name == name {
                wiring.skipped.push(Skipped {
                    what: format!("{port} is cabled to the same switch"),
                    at: neighbour.at.clone(),
                });
                continue;
            }
            if named.insert(&neighbour.name) {
                wiring.nodes.push(WiredNode {
                    name: neighbour.name.clone(),
                    kind: None,
                    at: neighbour.at.clone(),
                });
            }
            let end = Endpoint { node: name.clone(), interface: port.clone() };
            let (node, interface) = (neighbour.name.clone(), neighbour.port.clone());
            let ends = [end, Endpoint { node, interface }];
            wiring.links.push(WiredLink { ends, at: neighbour.at.clone() });
        }
        Some(wiring)
    }

    /// The bit of the priority group that sends the PFC frames of a class.
    pub(crate) fn group_of(&self, qos: &PortQos, class: u8) -> u8 {
        let kind = MapKind::PfcToPriorityGroup;
        let map = qos.maps.get(&kind).and_then(|name| self.maps.get(&(kind, name.clone())));
        let group = map.and_then(|map| map.entries.get(&class)).copied();
        // Without a map, class and group have the same number.
        1u8.checked_shl(u32::from(group.unwrap_or(class))).unwrap_or(0)
    }
}
