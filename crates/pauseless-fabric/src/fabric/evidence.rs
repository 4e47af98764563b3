//! What the files of a fabric say beyond its graph: the names by which a finding is told.

use std::collections::{BTreeMap, BTreeSet};

use pauseless_core::id::{NodeId, PortId};
use pauseless_core::table::WayId;

use crate::dependency::PortChoice;
use crate::routing::Routing;

/// What the files of a fabric say beyond its graph.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// What the labels of packets stand for, such as `DSCP 3`.
    pub labels: BTreeMap<u8, String>,
    /// The egresses at which packets with a label do not obey the PAUSE frames of the next switch.
    pub deaf: BTreeSet<(NodeId, PortId, u8)>,
    /// The routes of the switches themselves, if the files have them.
    pub routes: Option<RouteEvidence>,
    /// Whether the files say on which lanes packets travel.
    pub lanes: LaneEvidence,
    /// What an InfiniBand subnet manager calls the ends of paths; empty elsewhere.
    pub addresses: Addresses,
    /// When switches choose among the ports that their tables allow. No dump says it; what chips with
    /// a shared memory do is assumed.
    pub choice: PortChoice,
    /// The rule that routes an escape class, to which every packet may change at every switch; `None`
    /// if there is no such class.
    pub escape: Option<Routing>,
}

/// What an InfiniBand subnet manager calls the ends of paths.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    /// The LID of each group of packets, by group; `None` for an end node that has none.
    pub lids: Vec<Option<u16>>,
    /// The LID of each switch that has one.
    pub switch_lids: BTreeMap<NodeId, u16>,
    /// The GUID of the port of each end node, where the files have it.
    pub port_guids: BTreeMap<NodeId, u64>,
}

/// What the files say of the lanes on which packets travel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LaneEvidence {
    /// They say it, or there is one lane only.
    #[default]
    Known,
    /// Tables of an InfiniBand fabric without the service levels of paths: all packets are taken to
    /// have level 0, but a routing engine may have laid them out on several lanes.
    Assumed {
        /// The routing engine that a file of the subnet manager names.
        engine: Option<String>,
    },
}

/// Where the routes of a fabric stand, and where they end.
#[derive(Clone, Debug, Default)]
pub struct RouteEvidence {
    /// The destination of each way, such as `10.0.0.0/8`; further ways are not looked at.
    pub prefixes: Vec<String>,
    /// The switches and ways at which packets go where no file follows them, or arrive.
    pub ends: BTreeSet<(NodeId, WayId)>,
    /// The switches whose routes no file has.
    pub silent: Vec<NodeId>,
    /// Whether next hops lead where no file has a cable.
    pub is_partial: bool,
    /// The tier of each switch of which a file says it; 0 is next to the hosts.
    pub tiers: BTreeMap<NodeId, u32>,
    /// By switch and then by way, the number of the route in `places` that it follows, from 1; 0
    /// where it has none.
    pub chosen: BTreeMap<NodeId, Vec<u32>>,
    /// The places of the routes that are followed.
    pub places: Vec<Place>,
    /// The files that places refer to.
    pub files: Vec<String>,
}

/// A place in one of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the file in [`RouteEvidence::files`].
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
}

impl RouteEvidence {
    /// Whether packets of `way` that get to `switch` are out of sight, or have arrived.
    pub fn is_end(&self, switch: NodeId, way: WayId) -> bool {
        self.silent.contains(&switch) || self.ends.contains(&(switch, way))
    }

    /// The file and the line of the route that `switch` follows for packets of `way`.
    pub fn place(&self, switch: NodeId, way: WayId) -> Option<(String, u32)> {
        let number = *self.chosen.get(&switch)?.get(way.index())?;
        let place = self.places.get(usize::try_from(number.checked_sub(1)?).ok()?)?;
        Some((self.files.get(place.file as usize)?.clone(), place.line))
    }
}
