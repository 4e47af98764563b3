//! Fabrics of layers: fat tree, leaf and spine, three-tier Clos, and rails.

use super::size::{FIELD_MAX, product, sum};
use super::{Numbers, Shape, Size, SizeError, Wiring};

/// A fat tree with edges E1.., aggregations A1.., cores C1.. and the k^3 / 4 hosts H0..
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FatTree {
    /// The number of ports of each switch: even, from 2 to 64.
    pub k: u32,
}

/// Two layers: every leaf is joined to every spine. Host Hn is on leaf n / `hosts_per_leaf`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeafSpine {
    /// Switches with hosts, L0..; at least one.
    pub leaves: u32,
    /// Switches without hosts, S0..; at least one.
    pub spines: u32,
    /// The hosts of each leaf; at least one.
    pub hosts_per_leaf: u32,
    /// Parallel links between a leaf and a spine; at least one.
    pub links_per_pair: u32,
}

/// Three layers: in a pod every top-of-rack switch (ToR) is joined to every leaf, and every leaf
/// of every pod is joined to every spine.
///
/// Switches and hosts are numbered through all pods: pod 1 begins with T`tors_per_pod`. Host Hn is
/// on ToR n / `hosts_per_tor`. A ToR has `leaves_per_pod * links_per_tor_leaf` uplinks for
/// `hosts_per_tor` hosts, and a leaf `spines * links_per_leaf_spine` uplinks for
/// `tors_per_pod * links_per_tor_leaf` links from below; these numbers and the rates of the links
/// are the oversubscription.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreeTierClos {
    /// The groups of ToRs and leaves; at least one.
    pub pods: u32,
    /// The ToRs of each pod; at least one.
    pub tors_per_pod: u32,
    /// The leaves of each pod; at least one.
    pub leaves_per_pod: u32,
    /// The spines that join the pods; at least one.
    pub spines: u32,
    /// The hosts of each ToR; at least one.
    pub hosts_per_tor: u32,
    /// Parallel links between a ToR and a leaf of its pod; at least one.
    pub links_per_tor_leaf: u32,
    /// Parallel links between a leaf and a spine; at least one.
    pub links_per_leaf_spine: u32,
}

impl ThreeTierClos {
    /// The network of 512 hosts on which PCN is evaluated, without oversubscription where hosts
    /// have 10 Gbps and switches 40 Gbps.
    //= pcn20 7.4
    pub const PCN: ThreeTierClos = ThreeTierClos {
        pods: 8,
        tors_per_pod: 4,
        leaves_per_pod: 2,
        spines: 8,
        hosts_per_tor: 16,
        links_per_tor_leaf: 2,
        links_per_leaf_spine: 1,
    };
}

/// Servers with one NIC for each of their accelerators, and a switch for each rail of a block.
///
/// NIC r of every server of a block is on rail switch r of that block, and every rail switch is
/// joined to every spine. Each NIC is a host of its own: NIC 0 of server 3 is N3r0, with servers
/// numbered through all blocks, and rail switch 2 of block 1 is B1r2. What joins the accelerators
/// inside a server is not part of the fabric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RailOptimised {
    /// The groups of servers with rail switches of their own; at least one.
    pub blocks: u32,
    /// The servers of each block; at least one.
    pub servers_per_block: u32,
    /// The NICs of a server; at least one.
    pub rails: u32,
    /// Switches above the rails, S0..; with none, each rail of each block is alone.
    pub spines: u32,
    /// Parallel links between a rail switch and a spine; at least one.
    pub links_per_pair: u32,
}

impl Shape for FatTree {
    fn size(&self) -> Size {
        let k = self.k;
        let hosts = product([k, k, k]) / 4;
        Size {
            hosts,
            switches: sum([product([k, k]), product([k / 2, k / 2])]),
            links: hosts.saturating_mul(3),
            ports: k.into(),
        }
    }

    fn check(&self) -> Result<(), SizeError> {
        Numbers("a fat tree").within("k", self.k, 2..=FAT_TREE_K_MAX)?;
        if self.k % 2 == 1 {
            let range = format!("choose an even number from 2 to {FAT_TREE_K_MAX}");
            let why = format!("k of a fat tree: {} is odd; {range}", self.k);
            return Err(SizeError::Impossible { field: "k", why });
        }
        Ok(())
    }

    //= gfc19 fig 11
    fn draw(&self, wiring: &mut Wiring) {
        let k = self.k;
        let half = k / 2;
        let edges = wiring.row(1, k * half, |n| format!("E{}", n + 1));
        let aggregations = wiring.row(2, k * half, |n| format!("A{}", n + 1));
        let cores = wiring.row(3, half * half, |n| format!("C{}", n + 1));
        wiring.attach_all(&edges, half);
        let half = half as usize;
        for (edges, aggregations) in edges.chunks(half).zip(aggregations.chunks(half)) {
            wiring.join_all(edges, aggregations, 1);
        }
        // The first aggregation of each pod serves the first group of cores, and so on.
        for pod in aggregations.chunks(half) {
            for (aggregation, group) in pod.chunks(1).zip(cores.chunks(half)) {
                wiring.join_all(aggregation, group, 1);
            }
        }
    }
}

impl Shape for LeafSpine {
    fn size(&self) -> Size {
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

    fn check(&self) -> Result<(), SizeError> {
        Numbers("a leaf-spine fabric").positive(&[
            ("leaves", self.leaves),
            ("spines", self.spines),
            ("hosts_per_leaf", self.hosts_per_leaf),
            ("links_per_pair", self.links_per_pair),
        ])
    }

    fn draw(&self, wiring: &mut Wiring) {
        let leaves = wiring.row(1, self.leaves, |n| format!("L{n}"));
        let spines = wiring.row(2, self.spines, |n| format!("S{n}"));
        wiring.attach_all(&leaves, self.hosts_per_leaf);
        wiring.join_all(&leaves, &spines, self.links_per_pair);
    }
}

impl Shape for ThreeTierClos {
    fn size(&self) -> Size {
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

    fn check(&self) -> Result<(), SizeError> {
        Numbers("a Clos fabric").positive(&[
            ("pods", self.pods),
            ("tors_per_pod", self.tors_per_pod),
            ("leaves_per_pod", self.leaves_per_pod),
            ("spines", self.spines),
            ("hosts_per_tor", self.hosts_per_tor),
            ("links_per_tor_leaf", self.links_per_tor_leaf),
            ("links_per_leaf_spine", self.links_per_leaf_spine),
        ])
    }

    fn draw(&self, wiring: &mut Wiring) {
        let tors = wiring.row(1, self.pods * self.tors_per_pod, |n| format!("T{n}"));
        let leaves = wiring.row(2, self.pods * self.leaves_per_pod, |n| format!("L{n}"));
        let spines = wiring.row(3, self.spines, |n| format!("S{n}"));
        wiring.attach_all(&tors, self.hosts_per_tor);
        let pods = tors.chunks(self.tors_per_pod as usize);
        for (tors, leaves) in pods.zip(leaves.chunks(self.leaves_per_pod as usize)) {
            wiring.join_all(tors, leaves, self.links_per_tor_leaf);
        }
        wiring.join_all(&leaves, &spines, self.links_per_leaf_spine);
    }
}

impl Shape for RailOptimised {
    fn size(&self) -> Size {
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

    fn check(&self) -> Result<(), SizeError> {
        let fields = Numbers("a rail-optimised fabric");
        fields.positive(&[
            ("blocks", self.blocks),
            ("servers_per_block", self.servers_per_block),
            ("rails", self.rails),
            ("links_per_pair", self.links_per_pair),
        ])?;
        fields.within("spines", self.spines, 0..=FIELD_MAX)
    }

    fn draw(&self, wiring: &mut Wiring) {
        let rails = self.rails;
        let name = |n| format!("B{}r{}", n / rails, n % rails);
        let switches = wiring.row(1, self.blocks * rails, name);
        let spines = wiring.row(2, self.spines, |n| format!("S{n}"));
        for server in 0..self.blocks * self.servers_per_block {
            let block = server / self.servers_per_block;
            for rail in 0..rails {
                let switch = switches[(block * rails + rail) as usize];
                wiring.attach(switch, format!("N{server}r{rail}"));
            }
        }
        wiring.join_all(&switches, &spines, self.links_per_pair);
    }
}

/// The largest k, with 65,536 hosts.
const FAT_TREE_K_MAX: u32 = 64;
