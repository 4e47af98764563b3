//! From the code point of a packet to the queue that it waits in, and from there to the PAUSE.
//!
//! A packet of code point d has class `tc`, is held in group `tc_to_group(tc)` where it enters, and in
//! queue `tc_to_queue(tc)` where it leaves. A group pauses every priority of `pfc_enable` that leads to
//! it; a PAUSE stops the queue that its priority leads to.

use super::{BOUNCED, BufferModel, MapKind, Port, Profile, QosMap, Switch, bits};
use crate::database::Row;

/// What the maps of a port lead to.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    dscp_to_tc: [u8; 64],
    tc_to_group: [u8; 16],
    tc_to_queue: [u8; 16],
    priority_to_group: [u8; 8],
    priority_to_queue: [u8; 8],
    reached: u32,
}

impl Default for Chain {
    fn default() -> Chain {
        Chain {
            dscp_to_tc: [0; 64],
            tc_to_group: [0; 16],
            tc_to_queue: [0; 16],
            priority_to_group: [0; 8],
            priority_to_queue: [0; 8],
            reached: 0,
        }
    }
}

impl<'d> Switch<'d> {
    /// The map of a port; of the DSCP also the map of the whole switch.
    pub fn map_at(&self, port: &Port<'d>, kind: MapKind) -> Option<&QosMap<'d>> {
        let own = port.qos.and_then(|row| row.get(kind.field()));
        let global = || {
            let is_dscp = kind == MapKind::DscpToTc;
            let is_tagged = port.qos.is_some_and(|row| row.get("dot1p_to_tc_map").is_some());
            let row =
                self.config.row_of("PORT_QOS_MAP", "global").filter(|_| is_dscp && !is_tagged);
            row.and_then(|row| row.get(kind.field()))
        };
        self.map(kind, own.or_else(global)?.reference().text)
    }

    /// What the maps of a port lead to, all at once.
    pub(super) fn chain(&self, port: &Port<'d>) -> Chain {
        let lead = |kind: MapKind, from: u8| {
            let map = self.map_at(port, kind)?;
            map.entries.get(&from).copied()
        };
        let mut chain = Chain::default();
        for dscp in 0..64 {
            chain.dscp_to_tc[usize::from(dscp)] = lead(MapKind::DscpToTc, dscp).unwrap_or(0);
        }
        // Without a map the chip's own counts, which is the same number.
        for tc in 0..16 {
            let at = usize::from(tc);
            chain.tc_to_group[at] = lead(MapKind::TcToGroup, tc).unwrap_or(tc);
            chain.tc_to_queue[at] = lead(MapKind::TcToQueue, tc).unwrap_or(tc);
        }
        for priority in 0..8 {
            let at = usize::from(priority);
            chain.priority_to_group[at] =
                lead(MapKind::PriorityToGroup, priority).unwrap_or(priority);
            chain.priority_to_queue[at] =
                lead(MapKind::PriorityToQueue, priority).unwrap_or(priority);
        }
        chain.reached = self.reached_by_maps(port);
        chain
    }

    /// The class of a code point at a port; one that no map has is class 0.
    pub fn dscp_to_tc(&self, port: &Port<'d>, dscp: u8) -> u8 {
        port.chain.dscp_to_tc[usize::from(dscp % 64)]
    }

    /// The group in which packets of a class are held where they enter.
    pub fn tc_to_group(&self, port: &Port<'d>, tc: u8) -> u8 {
        port.chain.tc_to_group[usize::from(tc % 16)]
    }

    /// The queue in which packets of a class wait where they leave.
    pub fn tc_to_queue(&self, port: &Port<'d>, tc: u8) -> u8 {
        port.chain.tc_to_queue[usize::from(tc % 16)]
    }

    /// The group that pauses a priority.
    pub fn priority_to_group(&self, port: &Port<'d>, priority: u8) -> u8 {
        port.chain.priority_to_group[usize::from(priority % 8)]
    }

    /// The queue that a PAUSE of a priority stops.
    pub fn priority_to_queue(&self, port: &Port<'d>, priority: u8) -> u8 {
        port.chain.priority_to_queue[usize::from(priority % 8)]
    }

    /// One bit per class that some code point leads to.
    pub fn reached(&self, port: &Port<'d>) -> u32 {
        port.chain.reached
    }

    fn reached_by_maps(&self, port: &Port<'d>) -> u32 {
        let maps = [MapKind::DscpToTc, MapKind::Dot1pToTc].map(|kind| self.map_at(port, kind));
        let mut classes = 0u32;
        for (at, map) in maps.into_iter().enumerate() {
            let Some(map) = map else {
                continue;
            };
            classes |= map.entries.values().fold(0, |mask, class| mask | bit(*class));
            let all = [64, 8][at];
            if map.entries.len() < all {
                // What the map leaves out is class 0.
                classes |= 1;
            }
        }
        classes
    }

    /// One bit per group that some priority of `pfc_enable` leads to.
    pub fn pausing_groups(&self, port: &Port<'d>) -> u8 {
        let groups = port.priorities().map(|priority| self.priority_to_group(port, priority));
        groups.fold(0, |mask, group| mask | bit(group) as u8)
    }

    /// The profile of a group, if there is one.
    pub fn group_profile(&self, port: &Port<'d>, group: u8) -> Option<&Profile<'d>> {
        self.profile_of(port.group(group)?)
    }

    /// Whether a group has headroom, or will get some from the switch itself.
    pub fn has_headroom(&self, port: &Port<'d>, group: u8) -> bool {
        let Some(binding) = port.group(group) else {
            return false;
        };
        let is_null = binding.row.get("profile").is_some_and(|name| name.text == "NULL");
        is_null || self.profile_of(binding).is_some_and(Profile::is_lossless)
    }

    /// One bit per class that a port holds in a group that pauses.
    pub fn lossless_classes(&self, port: &Port<'d>) -> u32 {
        let groups = self.pausing_groups(port);
        let classes = bits(self.reached(port));
        classes
            .filter(|class| u32::from(groups) & bit(self.tc_to_group(port, *class)) != 0)
            .fold(0, |mask, class| mask | bit(class))
    }

    /// One bit per class that a port holds in a group with headroom, whose PAUSE stops its queue, without
    /// those that only bounced packets of a dual-ToR use.
    pub fn ordinary_classes(&self, port: &Port<'d>) -> u32 {
        let classes = bits(self.lossless_classes(port) & !u32::from(self.bounced()));
        let is_held = |class: &u8| {
            let group = self.tc_to_group(port, *class);
            let is_stopped =
                self.stopped_queues(port, group) & bit(self.tc_to_queue(port, *class)) != 0;
            is_stopped && (!self.has_lossless || self.has_headroom(port, group))
        };
        classes.filter(is_held).fold(0, |mask, class| mask | bit(class))
    }

    /// A port by which packets that the standby ToR of a pair sends back go up: one that pauses their
    /// priorities, else the first that pauses any. Of several, one with the maps that most of them
    /// have: a port that differs by mistake says nothing about the others.
    pub fn uplink(&self) -> Option<&Port<'d>> {
        let has_bounced = |port: &&Port| port.pfc() & BOUNCED == BOUNCED;
        let faces_leaf = |port: &&Port| self.kind_of_neighbour(port).contains("Leaf");
        let mut ports = Vec::from_iter(self.pausing().filter(has_bounced));
        if ports.iter().any(faces_leaf) {
            ports.retain(faces_leaf);
        }
        let kinds = [MapKind::DscpToTc, MapKind::TcToQueue];
        let maps =
            |port: &Port<'d>| kinds.map(|kind| Some(port.qos?.get(kind.field())?.reference().text));
        let count = |port: &&Port<'d>| {
            let own = maps(port);
            ports.iter().filter(|other| maps(other) == own).count()
        };
        // Of two alike the first.
        let usual = ports.iter().rev().copied().max_by_key(count);
        usual.or_else(|| self.pausing().next())
    }

    /// One bit per queue that a PAUSE stops.
    pub fn lossless_queues(&self, port: &Port<'d>) -> u32 {
        let queues = port.priorities().map(|priority| self.priority_to_queue(port, priority));
        queues.fold(0, |mask, queue| mask | bit(queue))
    }

    /// One bit per queue that the PAUSE frames of a group stop.
    pub fn stopped_queues(&self, port: &Port<'d>, group: u8) -> u32 {
        let priorities = port.priorities();
        priorities
            .filter(|priority| self.priority_to_group(port, *priority) == group)
            .fold(0, |mask, priority| mask | bit(self.priority_to_queue(port, priority)))
    }

    /// One bit per queue in which packets of a lossless class wait, without those that only bounced
    /// packets of a dual-ToR use.
    pub fn used_lossless_queues(&self, port: &Port<'d>) -> u32 {
        let classes = self.lossless_classes(port) & !u32::from(self.bounced());
        bits(classes).fold(0, |mask, class| mask | bit(self.tc_to_queue(port, class)))
    }

    /// The priority of a code point: the first that pauses the group in which it is held. What
    /// `pfc_enable` says does not count.
    pub fn priority_of(&self, port: &Port<'d>, dscp: u8) -> Option<u8> {
        let group = self.tc_to_group(port, self.dscp_to_tc(port, dscp));
        (0..8).find(|priority| self.priority_to_group(port, *priority) == group)
    }

    /// Whether packets of a code point are held in a group that pauses, with or without headroom.
    pub fn is_paused(&self, port: &Port<'d>, dscp: u8) -> bool {
        let group = self.tc_to_group(port, self.dscp_to_tc(port, dscp));
        u32::from(self.pausing_groups(port)) & bit(group) != 0
    }

    /// Whether packets of a code point are paused before they are lost at a port.
    pub fn is_lossless(&self, port: &Port<'d>, dscp: u8) -> bool {
        let group = self.tc_to_group(port, self.dscp_to_tc(port, dscp));
        let is_bound = !self.has_lossless || self.has_headroom(port, group);
        u32::from(self.pausing_groups(port)) & bit(group) != 0 && is_bound
    }

    /// When a lossless group pauses that is the only one that is busy.
    pub fn pause_alone(&self, port: &Port<'d>, group: u8) -> Option<PauseAlone<'d>> {
        let binding = port.group(group)?;
        let is_made = binding.row.get("profile").is_some_and(|name| name.text == "NULL");
        if is_made && self.model == BufferModel::Dynamic {
            let pool = self.pools.get("ingress_lossless_pool")?;
            let row = self.config.rows("DEFAULT_LOSSLESS_BUFFER_PARAMETER").next()?;
            let size = self.size_of(pool)?;
            let n = row.get("default_dynamic_th")?.signed()?;
            return Some(PauseAlone { xoff: share(size, n, 1), size: Some(size), row });
        }
        let profile = self.profile_of(binding).filter(|profile| profile.is_lossless())?;
        let size = self.pool_size(profile);
        let xoff = match profile.static_th {
            Some(bytes) => bytes,
            None => share(size?, profile.dynamic_th?, 1),
        };
        Some(PauseAlone { xoff, size, row: profile.row })
    }
}

/// When a group that alone is busy sends PAUSE.
#[derive(Clone, Copy, Debug)]
pub struct PauseAlone<'d> {
    /// The bytes that it holds then.
    pub xoff: u64,
    /// The bytes of its pool.
    pub size: Option<u64>,
    /// The row that says it.
    pub row: Row<'d>,
}

/// The bytes that each of `count` groups may take of a pool at once, with a limit of 2^n of what is free.
pub fn share(pool: u64, n: i64, count: u64) -> u64 {
    // Tables and YANG allow -8 to 7; what is outside is another rule's.
    let alpha = 2f64.powi(n.clamp(-16, 16) as i32);
    (alpha * pool as f64 / (1.0 + count as f64 * alpha)) as u64
}

/// The bit of a class, none for what no switch has.
pub fn bit(index: u8) -> u32 {
    1u32.checked_shl(index.into()).unwrap_or(0)
}
