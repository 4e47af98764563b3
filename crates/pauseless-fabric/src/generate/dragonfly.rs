//! The dragonfly of Kim, Dally, Scott and Abts (ISCA 2008).

use pauseless_core::id::NodeId;

use super::size::{FIELD_MAX, product, sum};
use super::{Numbers, Shape, Size, SizeError, Wiring};

/// Groups of routers, each fully connected inside and joined to every other group.
///
/// Router 1 of group 0 is G0R1, and host Hn is on router n / `hosts_per_router` in the order of
/// groups. The global links are arranged as a palm tree: counting the global ports of a group
/// through its routers, port j leads to the group j + 1 further on, modulo the number of groups.
/// With fewer groups than a h + 1 the ports go round again as long as they suffice for a whole
/// round, so that any two groups are joined by equally many links, and what is left over is not
/// connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dragonfly {
    /// The number of groups, from 1 to a h + 1.
    pub groups: u32,
    /// a of the paper, the routers of each group; at least one.
    pub routers_per_group: u32,
    /// p of the paper, the hosts of each router; at least one.
    pub hosts_per_router: u32,
    /// h of the paper, the most global links of a router.
    pub global_links_per_router: u32,
}

impl Dragonfly {
    /// The most groups, a h + 1: with more, two of them would have no link between them.
    pub fn groups_max(self) -> u64 {
        u64::from(self.routers_per_group) * u64::from(self.global_links_per_router) + 1
    }

    /// The number of links that join any two groups.
    pub fn links_per_group_pair(self) -> u64 {
        let ports = self.groups_max() - 1;
        let others = u64::from(self.groups.saturating_sub(1));
        ports.checked_div(others).unwrap_or(0)
    }
}

impl Shape for Dragonfly {
    fn size(&self) -> Size {
        let routers = product([self.groups, self.routers_per_group]);
        let hosts = routers.saturating_mul(self.hosts_per_router.into());
        let local = u64::from(self.routers_per_group.saturating_sub(1));
        let pair = self.links_per_group_pair();
        let group_pairs = product([self.groups, self.groups.saturating_sub(1)]) / 2;
        // The first routers use all their global ports before the next ones have any.
        let used = pair.saturating_mul(self.groups.saturating_sub(1).into());
        let global = used.min(self.global_links_per_router.into());
        Size {
            hosts,
            switches: routers,
            links: sum([
                hosts,
                routers.saturating_mul(local) / 2,
                group_pairs.saturating_mul(pair),
            ]),
            ports: sum([self.hosts_per_router.into(), local, global]),
        }
    }

    fn check(&self) -> Result<(), SizeError> {
        let fields = Numbers("a dragonfly");
        fields.positive(&[
            ("routers_per_group", self.routers_per_group),
            ("hosts_per_router", self.hosts_per_router),
        ])?;
        fields.within("global_links_per_router", self.global_links_per_router, 0..=FIELD_MAX)?;
        // The limit is at most 1024 x 1024 + 1.
        fields.within("groups", self.groups, 1..=self.groups_max() as u32)
    }

    fn draw(&self, wiring: &mut Wiring) {
        let size = self.routers_per_group;
        let name = |n| format!("G{}R{}", n / size, n % size);
        let routers = wiring.row(1, self.groups * size, name);
        wiring.attach_all(&routers, self.hosts_per_router);
        let groups: Vec<&[NodeId]> = routers.chunks(size as usize).collect();
        for group in &groups {
            for (n, &router) in group.iter().enumerate() {
                wiring.join_all(&[router], &group[n + 1..], 1);
            }
        }
        wiring.join_groups(&groups, *self);
    }
}

impl Wiring {
    fn join_groups(&mut self, groups: &[&[NodeId]], shape: Dragonfly) {
        let others = groups.len() - 1;
        let per_router = shape.global_links_per_router as usize;
        for round in 0..shape.links_per_group_pair() as usize {
            let router = |group: usize, steps: usize| {
                groups[group][(round * others + steps - 1) / per_router]
            };
            for group in 0..groups.len() {
                for steps in 1..=others {
                    let other = (group + steps) % groups.len();
                    // Each link is visited from both ends; the way back is the rest of the circle.
                    if group < other {
                        let back = groups.len() - steps;
                        self.link(router(group, steps), router(other, back));
                    }
                }
            }
        }
    }
}
