//! The fabrics of the laboratory: those that deadlock in practice, small enough for every engine.

use std::io;

use super::cabling::{Cabling, Fabric, of_discovery, of_subnet_list, shuffle};
use crate::repo::root;

/// All fabrics, small ones first.
pub fn all() -> io::Result<Vec<Fabric>> {
    let examples = root().join("examples/ib");
    let ndr = examples.join("real/topograph-ndr-40sw-582ca.ibnetdiscover.gz");
    Ok(vec![
        ring("ring5"),
        ring_of_parallel_cables("ring4-parallel"),
        dual_port_ring("ring5-dual-port"),
        leaf_spine_with_ring("leaf-spine-ring"),
        service_nodes_on_spines("service-on-spines"),
        fat_tree("fat-tree4-failures", 4, 6, 1),
        fat_tree("fat-tree8-failures", 8, 60, 1),
        torus("torus5x3", [5, 3, 1], 2),
        torus("torus4x4x3", [4, 4, 3], 1),
        mesh("mesh4x4"),
        dragonfly("dragonfly"),
        hypercube("hypercube4-lmc1"),
        random_regular("random-regular", 16, 4),
        random_regular("random-regular32", 32, 5),
        of_discovery("ndr", &ndr)?,
        of_subnet_list(README, &examples.join("dgx-minhop/opensm-subnet.lst.gz"))?,
    ])
}

/// The fabric with which the README of the project begins.
pub const README: &str = "readme-dgx";

fn ring(name: &'static str) -> Fabric {
    let mut cabling = Cabling::default();
    let switches = cabling.switches("s", 5);
    for at in 0..5 {
        cabling.cable(switches[at], switches[(at + 1) % 5]);
    }
    cabling.hosts(&switches, 2);
    cabling.finish(name)
}

fn ring_of_parallel_cables(name: &'static str) -> Fabric {
    let mut cabling = Cabling::default();
    let switches = cabling.switches("s", 6);
    for at in 0..6 {
        for _ in 0..2 {
            cabling.cable(switches[at], switches[(at + 1) % 6]);
        }
    }
    cabling.hosts(&switches, 2);
    cabling.finish(name)
}

/// Adapters whose two ports are at neighbouring switches.
fn dual_port_ring(name: &'static str) -> Fabric {
    let mut cabling = Cabling::default();
    let switches = cabling.switches("s", 5);
    for at in 0..5 {
        cabling.cable(switches[at], switches[(at + 1) % 5]);
    }
    for at in 0..5 {
        cabling.adapter(format!("n{at}"), &[switches[at], switches[(at + 1) % 5]]);
    }
    cabling.finish(name)
}

/// Two spines, and cables from leaf to leaf all around.
fn leaf_spine_with_ring(name: &'static str) -> Fabric {
    let mut cabling = Cabling::default();
    let (leaves, spines) = (cabling.switches("leaf", 6), cabling.switches("spine", 2));
    for at in 0..6 {
        for &spine in &spines {
            cabling.cable(leaves[at], spine);
        }
        cabling.cable(leaves[at], leaves[(at + 1) % 6]);
    }
    cabling.hosts(&leaves, 4);
    cabling.finish(name)
}

/// Storage on one spine and managers on another, which get to each other by way of leaves.
fn service_nodes_on_spines(name: &'static str) -> Fabric {
    let mut cabling = Cabling::default();
    let (leaves, spines) = (cabling.switches("leaf", 4), cabling.switches("spine", 4));
    for &leaf in &leaves {
        for &spine in &spines {
            cabling.cable(leaf, spine);
        }
    }
    cabling.hosts(&leaves, 6);
    for (at, &spine) in spines.iter().enumerate() {
        cabling.adapter(format!("storage{at}"), &[spine]);
        if at < 2 {
            cabling.adapter(format!("manager{at}"), &[spine]);
        }
    }
    cabling.finish(name)
}

fn fat_tree(name: &'static str, arity: usize, failures: usize, seed: u64) -> Fabric {
    let mut cabling = Cabling::default();
    let half = arity / 2;
    let cores = cabling.switches("core", half * half);
    let mut all_edges = Vec::new();
    for pod in 0..arity {
        let aggregation = cabling.switches(&format!("pod{pod}-agg"), half);
        let edges = cabling.switches(&format!("pod{pod}-edge"), half);
        for (at, &upper) in aggregation.iter().enumerate() {
            for &core in &cores[at * half..(at + 1) * half] {
                cabling.cable(upper, core);
            }
            for &edge in &edges {
                cabling.cable(edge, upper);
            }
        }
        all_edges.extend(edges);
    }
    cabling.hosts(&all_edges, half);
    let gone = cabling.fail(failures, seed);
    assert_eq!(gone, failures);
    cabling.finish(name)
}

/// A torus of two or three dimensions, with what torus-2QoS must be told.
fn torus(name: &'static str, sizes: [usize; 3], hosts: usize) -> Fabric {
    let mut cabling = Cabling::default();
    let [x, y, z] = sizes;
    let switches = cabling.switches("t", x * y * z);
    let number = |at: [usize; 3]| switches[at[0] + x * (at[1] + y * at[2])];
    let next = |mut at: [usize; 3], dimension: usize, by: usize| {
        at[dimension] = (at[dimension] + by) % sizes[dimension];
        number(at)
    };
    for at in 0..x * y * z {
        let place = [at % x, at / x % y, at / (x * y)];
        for (dimension, size) in sizes.into_iter().enumerate() {
            if size > 1 {
                cabling.cable(number(place), next(place, dimension, 1));
            }
        }
    }
    cabling.hosts(&switches, hosts);
    let mut told = format!("torus {x} {y} {z}\n");
    for (dimension, letter) in ["x", "y", "z"].into_iter().enumerate() {
        let size = sizes[dimension];
        if size > 1 {
            let seed = cabling.guid(number([0; 3]));
            let (up, down) = (next([0; 3], dimension, 1), next([0; 3], dimension, size - 1));
            told += &format!("{letter}p_link 0x{seed:x} 0x{:x}\n", cabling.guid(up));
            told += &format!("{letter}m_link 0x{seed:x} 0x{:x}\n", cabling.guid(down));
        }
    }
    Fabric { torus: Some(told), ..cabling.finish(name) }
}

fn mesh(name: &'static str) -> Fabric {
    let mut cabling = Cabling::default();
    let switches = cabling.switches("m", 16);
    for at in 0..16 {
        if at % 4 < 3 {
            cabling.cable(switches[at], switches[at + 1]);
        }
        if at < 12 {
            cabling.cable(switches[at], switches[at + 4]);
        }
    }
    cabling.hosts(&switches, 2);
    cabling.finish(name)
}

/// Five groups of four routers, each joined to one router of every other group.
fn dragonfly(name: &'static str) -> Fabric {
    let mut cabling = Cabling::default();
    let groups: Vec<Vec<usize>> =
        (0..5).map(|group| cabling.switches(&format!("g{group}-r"), 4)).collect();
    for group in &groups {
        for one in 0..4 {
            for other in one + 1..4 {
                cabling.cable(group[one], group[other]);
            }
        }
    }
    for one in 0..5 {
        for other in one + 1..5 {
            // Router r of group g has the cable to group g + r + 1.
            cabling.cable(groups[one][other - one - 1], groups[other][one + 4 - other]);
        }
    }
    for group in &groups {
        cabling.hosts(group, 2);
    }
    cabling.finish(name)
}

/// Two addresses per port, for which paths may differ.
fn hypercube(name: &'static str) -> Fabric {
    let mut cabling = Cabling::default();
    let switches = cabling.switches("c", 16);
    for at in 0..16_usize {
        for far in (0..4).map(|bit| at ^ (1 << bit)).filter(|&far| at < far) {
            cabling.cable(switches[at], switches[far]);
        }
    }
    cabling.hosts(&switches, 2);
    Fabric { lmc: 1, ..cabling.finish(name) }
}

/// Random cables, the same number at each switch: tried with one seed after the other until no
/// switch is joined to itself or twice to another.
fn random_regular(name: &'static str, count: usize, degree: usize) -> Fabric {
    for seed in 1_u64.. {
        let mut stubs = Vec::from_iter((0..count).flat_map(|at| vec![at; degree]));
        shuffle(&mut stubs, seed);
        let mut pairs = Vec::from_iter(stubs.chunks(2).map(|two| (two[0], two[1])));
        pairs.iter_mut().for_each(|pair| *pair = (pair.0.min(pair.1), pair.0.max(pair.1)));
        pairs.sort_unstable();
        let repeats = pairs.windows(2).any(|two| two[0] == two[1]);
        if repeats || pairs.iter().any(|pair| pair.0 == pair.1) {
            continue;
        }
        let mut cabling = Cabling::default();
        let switches = cabling.switches("r", count);
        for (one, other) in pairs {
            cabling.cable(switches[one], switches[other]);
        }
        if cabling.is_connected() {
            cabling.hosts(&switches, 2);
            return cabling.finish(name);
        }
    }
    unreachable!("some seed gives a fabric")
}
