//! A switch as rules see it: ports with what is configured for each, and the chain from code point
//! to queue that decides what a PAUSE stops.
//!
//! Nothing is refused here: what a switch ignores in silence, a rule must be able to see.

pub mod bounce;
pub mod chain;
mod port;
mod read;

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};

use pauseless_dumps::import::ethernet::pg_profile::PgProfile;

use crate::database::{Database, Row, Text};
use crate::pool::Division;

pub use port::{Binding, Cable, ClassList, Neighbour, Port, Watchdog};

/// Who makes the chip, as far as it changes what a configuration means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vendor {
    /// Spectrum, of Mellanox or NVIDIA.
    Mellanox,
    /// Tofino, of Barefoot or Intel.
    Barefoot,
    /// Silicon One in Cisco's 8000.
    Cisco,
    /// Broadcom, and everybody whose templates are like Broadcom's.
    Broadcom,
}

/// Whoever calculates the buffers of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferModel {
    /// `pg_profile_lookup.ini` and the templates of the SKU.
    Traditional,
    /// The switch calculates them itself.
    Dynamic,
}

/// From what to what a map leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MapKind {
    /// From the DSCP of a packet to its traffic class.
    DscpToTc,
    /// From the 802.1p priority of a frame to its traffic class.
    Dot1pToTc,
    /// From traffic class to ingress priority group.
    TcToGroup,
    /// From traffic class to egress queue.
    TcToQueue,
    /// From the priority of a PAUSE to the queue that it stops.
    PriorityToQueue,
    /// From the priority of a PAUSE to the group that sends it.
    PriorityToGroup,
    /// From traffic class to the DSCP of a tunnel's header.
    TcToDscp,
}

impl MapKind {
    /// All kinds of maps.
    pub const ALL: [MapKind; 7] = [
        MapKind::DscpToTc,
        MapKind::Dot1pToTc,
        MapKind::TcToGroup,
        MapKind::TcToQueue,
        MapKind::PriorityToQueue,
        MapKind::PriorityToGroup,
        MapKind::TcToDscp,
    ];

    /// The table that has such maps.
    pub fn table(self) -> &'static str {
        match self {
            MapKind::DscpToTc => "DSCP_TO_TC_MAP",
            MapKind::Dot1pToTc => "DOT1P_TO_TC_MAP",
            MapKind::TcToGroup => "TC_TO_PRIORITY_GROUP_MAP",
            MapKind::TcToQueue => "TC_TO_QUEUE_MAP",
            MapKind::PriorityToQueue => "MAP_PFC_PRIORITY_TO_QUEUE",
            MapKind::PriorityToGroup => "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
            MapKind::TcToDscp => "TC_TO_DSCP_MAP",
        }
    }

    /// The field of a port that names such a map.
    pub fn field(self) -> &'static str {
        match self {
            MapKind::DscpToTc => "dscp_to_tc_map",
            MapKind::Dot1pToTc => "dot1p_to_tc_map",
            MapKind::TcToGroup => "tc_to_pg_map",
            MapKind::TcToQueue => "tc_to_queue_map",
            MapKind::PriorityToQueue => "pfc_to_queue_map",
            MapKind::PriorityToGroup => "pfc_to_pg_map",
            MapKind::TcToDscp => "tc_to_dscp_map",
        }
    }
}

/// A map between two kinds of code points.
#[derive(Debug)]
pub struct QosMap<'d> {
    /// The row that it comes from.
    pub row: Row<'d>,
    /// The value of each key that is given.
    pub entries: BTreeMap<u8, u8>,
}

/// A pool of buffers.
#[derive(Clone, Copy, Debug)]
pub struct Pool<'d> {
    /// The row that it comes from.
    pub row: Row<'d>,
    /// Bytes; `None` where the switch calculates them.
    pub size: Option<u64>,
    /// Bytes of headroom that all ports share; 0 where none is.
    pub xoff: u64,
    /// Whether its limits are shares of what is free, not numbers of bytes.
    pub is_dynamic: bool,
    /// `ingress`, `egress` or `both`, as the file says.
    pub direction: &'d str,
}

/// A profile of a priority group or of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Profile<'d> {
    /// The row that it comes from.
    pub row: Row<'d>,
    /// Its name, which says for released templates what it was made for.
    pub name: &'d str,
    /// The name of the pool.
    pub pool: Option<Text<'d>>,
    /// The bytes that are reserved.
    pub size: Option<u64>,
    /// Bytes down to which a paused group drains.
    pub xon: Option<u64>,
    /// The bytes of headroom, for what arrives after the PAUSE.
    pub xoff: Option<u64>,
    /// The n of a limit of 2^n times what is free.
    pub dynamic_th: Option<i64>,
    /// A limit in bytes.
    pub static_th: Option<u64>,
    /// Whether the switch calculates its headroom.
    pub is_calculated: bool,
}

impl Profile<'_> {
    /// Whether it has room for what arrives after the PAUSE.
    pub fn is_lossless(&self) -> bool {
        self.is_calculated || self.xoff.is_some_and(|xoff| xoff > 0)
    }

    /// Whether it is one of those that take the buffers of ports that are not used away.
    pub fn is_zero(&self) -> bool {
        self.name.contains("zero")
    }

    /// The Mb/s and metres in a name such as `pg_lossless_100000_40m_profile`.
    pub fn made_for(&self) -> Option<MadeFor> {
        let mut parts = self.name.strip_prefix("pg_lossless_")?.split('_');
        let speed = parts.next()?.parse().ok()?;
        Some(MadeFor { speed, metres: metres(parts.next()?)? })
    }
}

/// What a profile was made for, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MadeFor {
    /// The speed in Mb/s.
    pub speed: u64,
    /// The length of the cable.
    pub metres: u64,
}

/// How much a queue marks, and whether it drops instead.
#[derive(Clone, Copy, Debug)]
pub struct Wred<'d> {
    /// The row that it comes from.
    pub row: Row<'d>,
    /// The name of the profile.
    pub name: &'d str,
    /// What is marked, such as `ecn_all`; `ecn_none` if the file says nothing.
    pub ecn: &'d str,
}

impl Wred<'_> {
    /// Whether the mode is one that switches know.
    pub fn is_known(&self) -> bool {
        MODES.contains(&self.ecn)
    }

    /// Whether it marks anything.
    pub fn marks(&self) -> bool {
        self.is_known() && self.ecn != "ecn_none"
    }

    /// Whether packets of this colour are marked where they would be dropped otherwise.
    pub fn marks_colour(&self, colour: &str) -> bool {
        self.ecn == "ecn_all" || self.ecn.split('_').skip(1).any(|marked| marked == colour)
    }

    /// Whether packets of this colour are marked or dropped by it.
    pub fn is_on(&self, colour: &str) -> bool {
        let field = self.row.get(&format!("wred_{colour}_enable"));
        field.is_some_and(|value| value.text == "true")
    }

    /// A threshold or probability in its own unit.
    pub fn number(&self, field: &str) -> Option<u64> {
        self.row.get(field)?.number()
    }
}

/// A switch as it is configured.
#[derive(Debug)]
pub struct Switch<'d> {
    /// Its name, or that of its file.
    pub name: String,
    /// The CONFIG_DB of the switch.
    pub config: &'d Database<'d>,
    /// Its APPL_DB, where that was given.
    pub applied: Option<&'d Database<'d>>,
    /// Its STATE_DB, where that was given.
    pub state: Option<&'d Database<'d>>,
    /// The rows of its `pg_profile_lookup.ini`, where that was given.
    pub lookup: Option<&'d [PgProfile]>,
    /// Who makes the chip.
    pub vendor: Vendor,
    /// Who calculates the buffers.
    pub model: BufferModel,
    /// Ports in the order of the file.
    pub ports: Vec<Port<'d>>,
    /// Whether PORT is in the file, so that a port that is not in it does not exist.
    pub has_ports: bool,
    /// The pools by name.
    pub pools: BTreeMap<&'d str, Pool<'d>>,
    /// The profiles by name.
    pub profiles: BTreeMap<&'d str, Profile<'d>>,
    /// The profiles of marking by name.
    pub wreds: BTreeMap<&'d str, Wred<'d>>,
    /// The maps by kind and name.
    pub maps: HashMap<MapKind, BTreeMap<&'d str, QosMap<'d>>>,
    /// Whether bounced packets of a dual-ToR get classes of their own.
    pub remaps_tunnels: bool,
    /// Whether any group of any port has headroom.
    pub has_lossless: bool,
    by_name: HashMap<&'d str, usize>,
    /// The pool that the dynamic model makes, once somebody has asked.
    calculated: OnceCell<Option<u64>>,
    /// The line card of a chassis that the rows are of, where only their keys say it.
    line_card: Option<&'d str>,
}

impl<'d> Switch<'d> {
    /// The row `localhost` of DEVICE_METADATA.
    pub fn metadata(&self) -> Option<Row<'d>> {
        self.config.row_of("DEVICE_METADATA", "localhost")
    }

    /// A field of the row `localhost` of DEVICE_METADATA; empty if it is not given.
    pub fn about(&self, field: &str) -> &'d str {
        let value = self.metadata().and_then(|row| row.get(field));
        value.map_or("", |value| value.text)
    }

    /// The place in the fabric, such as `ToRRouter`.
    pub fn role(&self) -> &'d str {
        self.about("type")
    }

    /// The port of this name.
    pub fn port(&self, name: &str) -> Option<&Port<'d>> {
        self.by_name.get(name).map(|index| &self.ports[*index])
    }

    /// The port of this name or alias: LLDP sends aliases.
    pub fn port_or_alias(&self, name: &str) -> Option<&Port<'d>> {
        self.port(name).or_else(|| self.ports.iter().find(|port| port.alias() == Some(name)))
    }

    /// Ports that send or obey PAUSE frames.
    pub fn pausing(&self) -> impl Iterator<Item = &Port<'d>> {
        self.ports.iter().filter(|port| port.pfc() != 0)
    }

    /// The map of this kind and name.
    pub fn map(&self, kind: MapKind, name: &str) -> Option<&QosMap<'d>> {
        self.maps.get(&kind)?.get(name)
    }

    /// The pool of a profile.
    pub fn pool_of(&self, profile: &Profile<'d>) -> Option<&Pool<'d>> {
        self.pools.get(profile.pool?.reference().text)
    }

    /// The bytes of the pool of a profile: those of the file, else what the dynamic model makes of it.
    pub fn pool_size(&self, profile: &Profile<'d>) -> Option<u64> {
        self.size_of(self.pool_of(profile)?)
    }

    /// The bytes of a pool, given or calculated.
    fn size_of(&self, pool: &Pool) -> Option<u64> {
        let is_made = self.model == BufferModel::Dynamic && pool.direction == "ingress";
        let calculated = || {
            *self.calculated.get_or_init(|| {
                let is_open = |pool: &&Pool| pool.direction == "ingress" && pool.size.is_none();
                let pools = self.pools.values().filter(is_open).count() as u64;
                Some(Division::of(self)?.pool()? / pools.max(1))
            })
        };
        pool.size.or_else(|| if is_made { calculated() } else { None })
    }

    /// The profile that a binding names.
    pub fn profile_of(&self, binding: &Binding<'d>) -> Option<&Profile<'d>> {
        self.profiles.get(binding.row.get("profile")?.reference().text)
    }

    /// Whether the other ToR of a pair is configured.
    pub fn is_dual(&self) -> bool {
        self.about("subtype") == "DualToR"
            || self.config.has("PEER_SWITCH")
            || self.config.has("MUX_CABLE")
    }

    /// The row that says whether bounced packets get classes of their own, where it says no.
    pub fn remap_that_is_off(&self) -> Option<Row<'d>> {
        let row = self.config.row_of("SYSTEM_DEFAULTS", "tunnel_qos_remap");
        row.filter(|row| !self.remaps_tunnels && row.get("status").is_some())
    }

    /// Classes that only bounced packets of a dual-ToR use here.
    pub fn bounced(&self) -> u8 {
        if self.remaps_tunnels { BOUNCED } else { 0 }
    }

    /// How ports like this one do: the value most of them have, if more than half agree.
    pub fn usual<T: PartialEq + Copy>(
        &self,
        port: &Port<'d>,
        value: impl Fn(&Port<'d>) -> Option<T>,
    ) -> Option<T> {
        let kin = |other: &&Port<'d>| {
            other.name != port.name
                && other.speed() == port.speed()
                && self.kind_of_neighbour(other) == self.kind_of_neighbour(port)
        };
        let near = Vec::from_iter(self.ports.iter().filter(kin).filter_map(&value));
        let others = self.ports.iter().filter(|other| other.name != port.name);
        majority(&near).or_else(|| majority(&Vec::from_iter(others.filter_map(&value))))
    }

    /// What the neighbour at a port is, such as `LeafRouter`; empty if that is not known.
    pub fn kind_of_neighbour(&self, port: &Port<'d>) -> &'d str {
        let Some(neighbour) = &port.neighbour else {
            return "";
        };
        let row = self.config.row_of("DEVICE_NEIGHBOR_METADATA", neighbour.name.text);
        row.and_then(|row| row.get("type")).map_or("", |kind| kind.text)
    }

    /// The profile that a lossless group of a port should have: what ports like it have, or the one
    /// whose name fits speed and cable.
    pub fn lossless_profile(&self, port: &Port<'d>) -> Option<&'d str> {
        let fits = |profile: &&Profile<'d>| {
            let made = profile.made_for();
            let link = port.speed().zip(port.metres());
            profile.is_lossless()
                && made
                    .zip(link)
                    .is_none_or(|(made, (speed, metres))| made == MadeFor { speed, metres })
        };
        let bound = |other: &Port<'d>| {
            let profiles = other.groups.iter().filter_map(|binding| self.profile_of(binding));
            profiles.filter(fits).map(|profile| profile.name).next()
        };
        let named = || {
            let mut profiles = self.profiles.values().filter(|one| one.made_for().is_some());
            profiles.find(fits).map(|profile| profile.name)
        };
        self.usual(port, bound).or_else(named)
    }

    /// The profiles of marking that lossless queues have, each once.
    pub fn lossless_wreds(&self) -> impl Iterator<Item = &Wred<'d>> {
        let mut used = std::collections::BTreeSet::new();
        for port in self.pausing() {
            for queue in bits(self.used_lossless_queues(port)) {
                used.extend(
                    port.scheduled(queue, "wred_profile").map(|name| name.reference().text),
                );
            }
        }
        self.wreds.values().filter(move |wred| used.contains(wred.name))
    }

    /// The row of SCHEDULER that a row of QUEUE names.
    pub fn scheduler(&self, binding: &Binding<'d>) -> Option<Row<'d>> {
        self.config.row_of("SCHEDULER", binding.row.get("scheduler")?.reference().text)
    }

    /// How often watchdogs look, in milliseconds.
    pub fn poll_ms(&self) -> Option<u64> {
        self.config.row_of("PFC_WD", "GLOBAL")?.get("POLL_INTERVAL")?.number()
    }

    /// Whether a port is to a host, by the type of its neighbour, or because it is in a VLAN.
    pub fn faces_host(&self, port: &Port<'d>) -> bool {
        let kind = self.kind_of_neighbour(port);
        kind.contains("Server") || kind.is_empty() && port.is_in_vlan
    }
}

/// The value that more than half of these have.
fn majority<T: PartialEq + Copy>(values: &[T]) -> Option<T> {
    let count = |value: &T| values.iter().filter(|other| *other == value).count();
    let most = values.iter().take(SEEN_MAX).max_by_key(|value| count(value))?;
    (count(most) * 2 > values.len()).then_some(*most)
}

/// A length such as `40m`.
pub fn metres(text: &str) -> Option<u64> {
    text.strip_suffix('m')?.parse().ok()
}

/// The numbers of the bits that are set, lowest first.
pub fn bits(mask: u32) -> impl Iterator<Item = u8> + Clone {
    (0..32).filter(move |bit| mask & 1 << bit != 0)
}

/// The bits of a mask as a list, such as `3,4`.
pub fn list(mask: u8) -> String {
    Vec::from_iter(bits(mask.into()).map(|bit| bit.to_string())).join(",")
}

/// The modes of marking, as orchagent has them.
const MODES: [&str; 8] = [
    "ecn_none",
    "ecn_green",
    "ecn_yellow",
    "ecn_red",
    "ecn_green_yellow",
    "ecn_green_red",
    "ecn_yellow_red",
    "ecn_all",
];
/// A majority shows among the first values already.
const SEEN_MAX: usize = 8;
/// The priorities of packets that the standby ToR of a pair sends back up.
pub const BOUNCED: u8 = 1 << 2 | 1 << 6;
