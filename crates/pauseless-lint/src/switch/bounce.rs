//! What becomes of packets that the standby ToR of a pair sends back through a tunnel: the queue and DSCP
//! with which they go up, and the group that holds them where they come out.

use super::chain::bit;
use super::{BOUNCED, MapKind, Port, QosMap, Switch, bits};
use crate::database::Row;

/// The way of a lossless class through a tunnel.
#[derive(Clone, Copy, Debug)]
pub struct Bounce {
    /// The class of the packets before the tunnel.
    pub class: u8,
    /// The queue in which they wait to go up.
    pub queue: u8,
    /// The DSCP of the header that they get.
    pub dscp: u8,
    /// One bit per queue that PAUSE for this DSCP stops at the uplink.
    pub stopped: u32,
    /// The group that holds packets of this DSCP at the uplink, and so sends their PAUSE.
    pub pausing_group: u8,
    /// The class of the packets after the tunnel, where some code point of theirs is of another class.
    pub other_class: Option<(u8, u8)>,
    /// The group that holds them after the tunnel.
    pub group: u8,
}

impl<'d> Switch<'d> {
    /// The map that a field of a tunnel names.
    pub fn tunnel_map(&self, row: Row<'d>, field: &str, kind: MapKind) -> Option<&QosMap<'d>> {
        self.map(kind, row.get(field)?.reference().text)
    }

    /// The way of each lossless class through a tunnel that has all four maps; nothing where the uplink
    /// does not pause bounced packets.
    pub fn bounces(&self, row: Row<'d>) -> Vec<Bounce> {
        let maps = || {
            Some([
                self.tunnel_map(row, "encap_tc_to_queue_map", MapKind::TcToQueue)?,
                self.tunnel_map(row, "encap_tc_to_dscp_map", MapKind::TcToDscp)?,
                self.tunnel_map(row, "decap_dscp_to_tc_map", MapKind::DscpToTc)?,
                self.tunnel_map(row, "decap_tc_to_pg_map", MapKind::TcToGroup)?,
            ])
        };
        let uplink = self.uplink().filter(|port| port.pfc() & BOUNCED == BOUNCED);
        let (Some(uplink), Some(maps)) = (uplink, maps()) else {
            return Vec::new();
        };
        let classes = bits(self.ordinary_classes(uplink));
        classes.map(|class| self.bounce(uplink, maps, class)).collect()
    }

    fn bounce(&self, uplink: &Port<'d>, maps: [&QosMap<'d>; 4], class: u8) -> Bounce {
        let lead = |at: usize, from: u8, else_to: u8| {
            maps[at].entries.get(&from).copied().unwrap_or(else_to)
        };
        let dscp = lead(1, class, 0);
        let pausing_group = self.tc_to_group(uplink, self.dscp_to_tc(uplink, dscp));
        let inner = (0..64).filter(|inner| self.dscp_to_tc(uplink, *inner) == class);
        let mut after = inner.map(|inner| (inner, lead(2, inner, 0)));
        Bounce {
            class,
            queue: lead(0, class, class),
            dscp,
            stopped: self.stopped_queues(uplink, pausing_group),
            pausing_group,
            other_class: after.find(|(_, tc)| *tc != class),
            group: lead(3, class, class),
        }
    }
}

impl Bounce {
    /// Whether a PAUSE of the DSCP of the packets stops the queue in which they wait.
    pub fn is_stopped(&self) -> bool {
        self.stopped & bit(self.queue) != 0
    }
}
