//! Fabrics of layers: fat tree, leaf and spine, three-tier Clos, and rails.

use super::Wiring;

/// Two layers: every leaf is joined to every spine. Host Hn is on leaf n / `hosts_per_leaf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafSpine {
    /// Switches with hosts, L0..; at least one.
    pub leaves: u32,
    /// Switches without hosts, S0..; at least one.
    pub spines: u32,
    /// At least one.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreeTierClos {
    /// At least one.
    pub pods: u32,
    /// At least one.
    pub tors_per_pod: u32,
    /// At least one.
    pub leaves_per_pod: u32,
    /// At least one.
    pub spines: u32,
    /// At least one.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RailOptimised {
    /// At least one.
    pub blocks: u32,
    /// At least one.
    pub servers_per_block: u32,
    /// The NICs of a server; at least one.
    pub rails: u32,
    /// Switches above the rails, S0..; with none, each rail of each block is alone.
    pub spines: u32,
    /// Parallel links between a rail switch and a spine; at least one.
    pub links_per_pair: u32,
}

impl Wiring {
    //= gfc19 fig 11
    pub(super) fn fat_tree(&mut self, k: u32) {
        let half = k / 2;
        let edges = self.row(1, k * half, |n| format!("E{}", n + 1));
        let aggregations = self.row(2, k * half, |n| format!("A{}", n + 1));
        let cores = self.row(3, half * half, |n| format!("C{}", n + 1));
        self.attach_all(&edges, half);
        let half = half as usize;
        for (edges, aggregations) in edges.chunks(half).zip(aggregations.chunks(half)) {
            self.join_all(edges, aggregations, 1);
        }
        // The first aggregation of each pod serves the first group of cores, and so on.
        for pod in aggregations.chunks(half) {
            for (aggregation, group) in pod.chunks(1).zip(cores.chunks(half)) {
                self.join_all(aggregation, group, 1);
            }
        }
    }

    pub(super) fn leaf_spine(&mut self, shape: LeafSpine) {
        let leaves = self.row(1, shape.leaves, |n| format!("L{n}"));
        let spines = self.row(2, shape.spines, |n| format!("S{n}"));
        self.attach_all(&leaves, shape.hosts_per_leaf);
        self.join_all(&leaves, &spines, shape.links_per_pair);
    }

    pub(super) fn three_tier_clos(&mut self, shape: ThreeTierClos) {
        let tors = self.row(1, shape.pods * shape.tors_per_pod, |n| format!("T{n}"));
        let leaves = self.row(2, shape.pods * shape.leaves_per_pod, |n| format!("L{n}"));
        let spines = self.row(3, shape.spines, |n| format!("S{n}"));
        self.attach_all(&tors, shape.hosts_per_tor);
        let pods = tors.chunks(shape.tors_per_pod as usize);
        for (tors, leaves) in pods.zip(leaves.chunks(shape.leaves_per_pod as usize)) {
            self.join_all(tors, leaves, shape.links_per_tor_leaf);
        }
        self.join_all(&leaves, &spines, shape.links_per_leaf_spine);
    }

    pub(super) fn rail_optimised(&mut self, shape: RailOptimised) {
        let rails = shape.rails;
        let name = |n| format!("B{}r{}", n / rails, n % rails);
        let switches = self.row(1, shape.blocks * rails, name);
        let spines = self.row(2, shape.spines, |n| format!("S{n}"));
        for server in 0..shape.blocks * shape.servers_per_block {
            let block = server / shape.servers_per_block;
            for rail in 0..rails {
                let switch = switches[(block * rails + rail) as usize];
                self.attach(switch, format!("N{server}r{rail}"));
            }
        }
        self.join_all(&switches, &spines, shape.links_per_pair);
    }
}
