//! How large a shape is, by closed form, and which sizes are possible.

use thiserror::Error;

use super::{Dragonfly, Grid, LeafSpine, RailOptimised, RandomRegular, Shape, ThreeTierClos};
use crate::topology::PORT_COUNT_MAX;

/// What a shape would have, known before anything is built. Numbers too large for 64 bits stop at
/// the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Hosts.
    pub hosts: u64,
    /// Switches.
    pub switches: u64,
    /// Links, those of hosts included.
    pub links: u64,
    /// The ports of the switch that has the most.
    pub ports: u64,
}

impl Shape {
    /// How large the fabric would be, whether or not the size is possible.
    pub fn size(self) -> Size {
        match self {
            Shape::Ring {
                switches,
                hosts_per_switch,
            } => chain_size(switches, hosts_per_switch, switches),
            Shape::Line {
                switches,
                hosts_per_switch,
            } => chain_size(switches, hosts_per_switch, switches.saturating_sub(1)),
            Shape::Dumbbell { left, right } => Size {
                hosts: sum([left.into(), right.into()]),
                switches: 2,
                links: sum([left.into(), right.into(), 1]),
                ports: u64::from(left.max(right)) + 1,
            },
            Shape::NToOne { senders } => {
                let hosts = u64::from(senders) + 1;
                Size {
                    hosts,
                    switches: 1,
                    links: hosts,
                    ports: hosts,
                }
            }
            Shape::ParkingLot { links } => {
                let links = u64::from(links);
                Size {
                    hosts: 2 * links + 2,
                    switches: links + 1,
                    links: 3 * links + 2,
                    // A switch in the middle has two hosts, and a lone pair two hosts each.
                    ports: if links < 2 { 3 } else { 4 },
                }
            }
            Shape::FatTree { k } => {
                let hosts = product([k, k, k]) / 4;
                Size {
                    hosts,
                    switches: sum([product([k, k]), product([k / 2, k / 2])]),
                    links: hosts.saturating_mul(3),
                    ports: k.into(),
                }
            }
            Shape::LeafSpine(shape) => shape.size(),
            Shape::ThreeTierClos(shape) => shape.size(),
            Shape::RailOptimised(shape) => shape.size(),
            Shape::Dragonfly(shape) => shape.size(),
            Shape::Torus(grid) => grid.size(|n| if n < 3 { n.saturating_sub(1) } else { n }),
            Shape::Mesh(grid) => grid.size(|n| n.saturating_sub(1)),
            Shape::RandomRegular(shape) => shape.size(),
        }
    }

    /// Whether the size is possible.
    pub(super) fn check(self) -> Result<(), SizeError> {
        match self {
            Shape::Ring {
                switches,
                hosts_per_switch,
            } => {
                let ring = Fields("a ring");
                ring.within(("switches", switches), 3, FIELD_MAX)?;
                ring.within(("hosts_per_switch", hosts_per_switch), 1, FIELD_MAX)?;
            }
            Shape::Line {
                switches,
                hosts_per_switch,
            } => Fields("a line").positive(&[
                ("switches", switches),
                ("hosts_per_switch", hosts_per_switch),
            ])?,
            Shape::Dumbbell { left, right } => {
                let dumbbell = Fields("a dumbbell");
                dumbbell.within(("left", left), 1, HOSTS_MAX)?;
                dumbbell.within(("right", right), 1, HOSTS_MAX)?;
            }
            Shape::NToOne { senders } => {
                Fields("n to 1").within(("senders", senders), 1, HOSTS_MAX)?;
            }
            Shape::ParkingLot { links } => {
                Fields("a parking lot").positive(&[("links", links)])?;
            }
            Shape::FatTree { k } => {
                Fields("a fat tree").within(("k", k), 2, FAT_TREE_K_MAX)?;
                if k % 2 == 1 {
                    return Err(SizeError::OddFatTree { k });
                }
            }
            Shape::LeafSpine(shape) => shape.check()?,
            Shape::ThreeTierClos(shape) => shape.check()?,
            Shape::RailOptimised(shape) => shape.check()?,
            Shape::Dragonfly(shape) => shape.check()?,
            Shape::Torus(grid) => grid.check("a torus")?,
            Shape::Mesh(grid) => grid.check("a mesh")?,
            Shape::RandomRegular(shape) => shape.check()?,
        }
        self.size().check()
    }
}

impl Size {
    /// Refuses what no fabric can have: each number may be legal and their product too large
    /// nevertheless.
    pub fn check(self) -> Result<(), SizeError> {
        let limits = [
            ("links", self.links, LINKS_MAX),
            ("switches", self.switches, LINKS_MAX),
            ("ports on one switch", self.ports, PORT_COUNT_MAX as u64),
        ];
        for (what, count, max) in limits {
            if count > max {
                return Err(SizeError::TooLarge { what, count, max });
            }
        }
        Ok(())
    }
}

impl LeafSpine {
    fn size(self) -> Size {
        let hosts = product([self.leaves, self.hosts_per_leaf]);
        let up = product([self.spines, self.links_per_pair]);
        let down = product([self.leaves, self.links_per_pair]);
        Size {
            hosts,
            switches: sum([self.leaves.into(), self.spines.into()]),
            links: sum([hosts, up.saturating_mul(self.leaves.into())]),
            ports: sum([self.hosts_per_leaf.into(), up]).max(down),
        }
    }

    fn check(self) -> Result<(), SizeError> {
        Fields("a leaf-spine fabric").positive(&[
            ("leaves", self.leaves),
            ("spines", self.spines),
            ("hosts_per_leaf", self.hosts_per_leaf),
            ("links_per_pair", self.links_per_pair),
        ])
    }
}

impl ThreeTierClos {
    fn size(self) -> Size {
        let tors = product([self.pods, self.tors_per_pod]);
        let leaves = product([self.pods, self.leaves_per_pod]);
        let hosts = tors.saturating_mul(self.hosts_per_tor.into());
        let tor_up = product([self.leaves_per_pod, self.links_per_tor_leaf]);
        let leaf_down = product([self.tors_per_pod, self.links_per_tor_leaf]);
        let leaf_up = product([self.spines, self.links_per_leaf_spine]);
        let (tor_links, spine_links) =
            (tors.saturating_mul(tor_up), leaves.saturating_mul(leaf_up));
        let tor_ports = sum([self.hosts_per_tor.into(), tor_up]);
        let spine_ports = leaves.saturating_mul(self.links_per_leaf_spine.into());
        Size {
            hosts,
            switches: sum([tors, leaves, self.spines.into()]),
            links: sum([hosts, tor_links, spine_links]),
            ports: tor_ports.max(sum([leaf_down, leaf_up])).max(spine_ports),
        }
    }

    fn check(self) -> Result<(), SizeError> {
        Fields("a Clos fabric").positive(&[
            ("pods", self.pods),
            ("tors_per_pod", self.tors_per_pod),
            ("leaves_per_pod", self.leaves_per_pod),
            ("spines", self.spines),
            ("hosts_per_tor", self.hosts_per_tor),
            ("links_per_tor_leaf", self.links_per_tor_leaf),
            ("links_per_leaf_spine", self.links_per_leaf_spine),
        ])
    }
}

impl RailOptimised {
    fn size(self) -> Size {
        let rails = product([self.blocks, self.rails]);
        let hosts = rails.saturating_mul(self.servers_per_block.into());
        let up = product([self.spines, self.links_per_pair]);
        let rail_ports = sum([self.servers_per_block.into(), up]);
        let spine_ports = match self.spines {
            0 => 0,
            _ => rails.saturating_mul(self.links_per_pair.into()),
        };
        Size {
            hosts,
            switches: sum([rails, self.spines.into()]),
            links: sum([hosts, rails.saturating_mul(up)]),
            ports: rail_ports.max(spine_ports),
        }
    }

    fn check(self) -> Result<(), SizeError> {
        let fields = Fields("a rail-optimised fabric");
        fields.positive(&[
            ("blocks", self.blocks),
            ("servers_per_block", self.servers_per_block),
            ("rails", self.rails),
            ("links_per_pair", self.links_per_pair),
        ])?;
        fields.within(("spines", self.spines), 0, FIELD_MAX)
    }
}

impl Dragonfly {
    fn size(self) -> Size {
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

    fn check(self) -> Result<(), SizeError> {
        let fields = Fields("a dragonfly");
        fields.positive(&[
            ("routers_per_group", self.routers_per_group),
            ("hosts_per_router", self.hosts_per_router),
        ])?;
        let global = ("global_links_per_router", self.global_links_per_router);
        fields.within(global, 0, FIELD_MAX)?;
        // At most 1024 x 1024 + 1.
        fields.within(("groups", self.groups), 1, self.groups_max() as u32)
    }
}

impl Grid {
    /// `links` says how many links a row of so many switches has.
    fn size(self, links: impl Fn(u32) -> u32) -> Size {
        let switches = product(self.dimensions);
        let hosts = switches.saturating_mul(self.hosts_per_switch.into());
        let along = |n: u32| {
            let rows = switches.checked_div(n.into()).unwrap_or(0);
            rows.saturating_mul(links(n).into())
        };
        // In a row of three or more the ones in the middle have two neighbours.
        let neighbours = self.dimensions.map(|n| u64::from(n.clamp(1, 3) - 1));
        let [x, y, z] = self.dimensions.map(along);
        Size {
            hosts,
            switches,
            links: sum([hosts, x, y, z]),
            ports: sum(neighbours) + u64::from(self.hosts_per_switch),
        }
    }

    fn check(self, shape: &'static str) -> Result<(), SizeError> {
        let fields = Fields(shape);
        fields.positive(&self.dimensions.map(|n| ("dimensions", n)))?;
        fields.positive(&[("hosts_per_switch", self.hosts_per_switch)])
    }
}

impl RandomRegular {
    fn size(self) -> Size {
        let hosts = product([self.switches, self.hosts_per_switch]);
        Size {
            hosts,
            switches: self.switches.into(),
            links: sum([hosts, product([self.switches, self.degree]) / 2]),
            ports: sum([self.degree.into(), self.hosts_per_switch.into()]),
        }
    }

    fn check(self) -> Result<(), SizeError> {
        let fields = Fields("a random regular fabric");
        let (switches, degree) = (self.switches, self.degree);
        fields.within(("switches", switches), 2, RANDOM_MAX)?;
        // With one link each, only two switches can be connected.
        let degree_min = if switches == 2 { 1 } else { 2 };
        fields.within(("degree", degree), degree_min, switches - 1)?;
        fields.positive(&[("hosts_per_switch", self.hosts_per_switch)])?;
        match switches % 2 == 1 && degree % 2 == 1 {
            true => Err(SizeError::OddEnds { switches, degree }),
            false => Ok(()),
        }
    }
}

/// Why no fabric has that size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SizeError {
    /// Too small or too large.
    #[error(
        "{} of {shape}: {given} is not in the range from {min} to {max}",
        spoken(field)
    )]
    OutOfRange {
        /// Which number, by the name of its field.
        field: &'static str,
        /// Of which shape.
        shape: &'static str,
        /// The number given.
        given: u32,
        /// The smallest that is legal.
        min: u32,
        /// The largest that is legal.
        max: u32,
    },
    /// A fat tree splits the ports of a switch into two halves.
    #[error("k of a fat tree: {k} is odd; choose an even number from 2 to {FAT_TREE_K_MAX}")]
    OddFatTree {
        /// The number given.
        k: u32,
    },
    /// Every link has two ends.
    #[error(
        "{switches} switches with {degree} links each: the product is odd; make one of them even"
    )]
    OddEnds {
        /// How many switches.
        switches: u32,
        /// How many links each.
        degree: u32,
    },
    /// More than fits a fabric, although no number is out of range on its own.
    #[error("too large: it would have {count} {what}, and {max} are the most")]
    TooLarge {
        /// Of what there are too many.
        what: &'static str,
        /// How many there would be.
        count: u64,
        /// The largest that is legal.
        max: u64,
    },
}

impl SizeError {
    /// The name of the number that is to blame, if it is one.
    pub fn field(self) -> Option<&'static str> {
        match self {
            SizeError::OutOfRange { field, .. } => Some(field),
            SizeError::OddFatTree { .. } => Some("k"),
            SizeError::OddEnds { .. } => Some("degree"),
            SizeError::TooLarge { .. } => None,
        }
    }
}

/// The name of a field as a message says it.
fn spoken(field: &str) -> String {
    match field {
        "left" | "right" => format!("{field} hosts"),
        _ => field.replace('_', " "),
    }
}

/// Checks the numbers of the shape with this name.
#[derive(Clone, Copy)]
struct Fields(&'static str);

impl Fields {
    fn within(self, field: (&'static str, u32), min: u32, max: u32) -> Result<(), SizeError> {
        let (field, given) = field;
        match given {
            _ if (min..=max).contains(&given) => Ok(()),
            _ => Err(SizeError::OutOfRange {
                field,
                shape: self.0,
                given,
                min,
                max,
            }),
        }
    }

    fn positive(self, fields: &[(&'static str, u32)]) -> Result<(), SizeError> {
        let mut fields = fields.iter();
        fields.try_for_each(|field| self.within(*field, 1, FIELD_MAX))
    }
}

fn chain_size(switches: u32, hosts_per_switch: u32, links: u32) -> Size {
    let hosts = product([switches, hosts_per_switch]);
    Size {
        hosts,
        switches: switches.into(),
        links: sum([hosts, links.into()]),
        ports: u64::from(hosts_per_switch) + u64::from(links.min(2)),
    }
}

fn product<const N: usize>(factors: [u32; N]) -> u64 {
    let factors = factors.into_iter().map(u64::from);
    factors.fold(1, u64::saturating_mul)
}

fn sum<const N: usize>(terms: [u64; N]) -> u64 {
    terms.into_iter().fold(0, u64::saturating_add)
}

/// Far above any single number of what is built, and low enough that products of two fit 32 bits.
const FIELD_MAX: u32 = 1_024;
/// All ports of a switch but one.
const HOSTS_MAX: u32 = PORT_COUNT_MAX as u32 - 1;
/// 65,536 hosts: the largest that switches of 64 ports make.
const FAT_TREE_K_MAX: u32 = 64;
/// Which switches are joined takes a bit for each pair, 32 MiB for so many.
const RANDOM_MAX: u32 = 16_384;
/// Twice the links of the largest ring. It bounds the memory that building takes.
const LINKS_MAX: u64 = 1 << 21;
