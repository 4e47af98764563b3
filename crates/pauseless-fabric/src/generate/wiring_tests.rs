//! Small instances, wired as drawn.

use super::tests::{LINKS, dragonfly, leaf_spine, line, mesh, rails, ring, torus};
use super::*;
use crate::topology::NodeKind;

/// Each row is a node and its neighbours in the order of its ports.
fn check(shape: impl Shape, rows: &[(&str, &str)]) {
    let topology = shape.build(LINKS).unwrap();
    for (name, neighbours) in rows {
        let node = topology.node_named(name).expect(name);
        let found = topology.neighbour_names(node).join(",");
        assert_eq!(found, *neighbours, "{shape:?} {name}");
    }
}

fn check_layers(topology: &Topology, layers: &[(&str, u8)]) {
    for (name, layer) in layers {
        let node = topology.node(topology.node_named(name).expect(name));
        let kind = match layer {
            0 => NodeKind::Host,
            _ => NodeKind::Switch,
        };
        assert_eq!((node.kind, node.layer), (kind, *layer), "{name}");
    }
}

#[test]
fn chains() {
    check(ring(3, 1), &[("S1", "H1,S2,S3"), ("S2", "H2,S1,S3"), ("S3", "H3,S2,S1")]);
    check(ring(4, 2), &[("S1", "H1a,H1b,S2,S4"), ("S3", "H3a,H3b,S2,S4")]);
    check(line(3, 1), &[("S1", "H1,S2"), ("S2", "H2,S1,S3")]);
    check(Dumbbell { left: 2, right: 1 }, &[("SW0", "X1,X2,SW1"), ("SW1", "Y1,SW0")]);
    check(NToOne { senders: 2 }, &[("S1", "H1,H2,R"), ("R", "S1")]);
}

//= pcn20 B.3 type=test
#[test]
fn the_parking_lot_is_wired_as_in_the_paper() {
    check(
        ParkingLot { links: 3 },
        &[("X0", "A0,A1,X1"), ("X1", "B1,A2,X0,X2"), ("X2", "B2,A3,X1,X3"), ("X3", "B0,B3,X2")],
    );
    check(ParkingLot { links: 1 }, &[("X0", "A0,A1,X1"), ("X1", "B0,B1,X0")]);
}

//= gfc19 fig 11 type=test
#[test]
fn the_fat_tree_is_wired_as_in_the_paper() {
    let shape = FatTree { k: 4 };
    check(
        shape,
        &[
            ("E1", "H0,H1,A1,A2"),
            ("E3", "H4,H5,A3,A4"),
            ("E8", "H14,H15,A7,A8"),
            ("A1", "E1,E2,C1,C2"),
            ("A2", "E1,E2,C3,C4"),
            ("A7", "E7,E8,C1,C2"),
            ("C1", "A1,A3,A5,A7"),
            ("C4", "A2,A4,A6,A8"),
        ],
    );
    let topology = shape.build(LINKS).unwrap();
    check_layers(&topology, &[("H3", 0), ("E2", 1), ("A8", 2), ("C4", 3)]);
}

#[test]
fn leaves_and_spines() {
    let shape = leaf_spine([3, 2, 2, 1]);
    check(shape, &[("L0", "H0,H1,S0,S1"), ("L2", "H4,H5,S0,S1"), ("S1", "L0,L1,L2")]);
    let topology = shape.build(LINKS).unwrap();
    check_layers(&topology, &[("H5", 0), ("L2", 1), ("S0", 2)]);
    let double = leaf_spine([3, 2, 2, 2]).build(LINKS).unwrap();
    assert!(double.port_named("L1:S1#2").is_ok());
    assert!(double.port_named("L1:S1#3").is_err());
}

//= pcn20 7.4 type=test
#[test]
fn the_clos_of_the_paper() {
    let shape = ThreeTierClos::PCN;
    check(
        shape,
        &[
            ("L0", "T0,T1,T2,T3,S0,S1,S2,S3,S4,S5,S6,S7"),
            ("L15", "T28,T29,T30,T31,S0,S1,S2,S3,S4,S5,S6,S7"),
            ("S0", "L0,L1,L2,L3,L4,L5,L6,L7,L8,L9,L10,L11,L12,L13,L14,L15"),
            ("H511", "T31"),
            ("H16", "T1"),
        ],
    );
    let topology = shape.build(LINKS).unwrap();
    check_layers(&topology, &[("H64", 0), ("T4", 1), ("L2", 2), ("S7", 3)]);
    // 16 x 10 Gbps from below meet 2 x 2 x 40 Gbps, and at a leaf 8 x 40 meet 8 x 40.
    let up = |name: &str, layer: u8| {
        let node = topology.node_named(name).unwrap();
        let ports = topology.ports(node).iter();
        let (up, down): (Vec<_>, Vec<_>) =
            ports.partition(|port| topology.node(port.peer).layer > layer);
        let rate = |ports: Vec<&crate::topology::Port>| -> u64 {
            ports.iter().map(|port| port.rate.as_bps()).sum()
        };
        (rate(up), rate(down))
    };
    assert_eq!(up("T9", 1), (160_000_000_000, 160_000_000_000));
    assert_eq!(up("L9", 2), (320_000_000_000, 320_000_000_000));
    assert!(topology.port_named("T9:L4#2").is_ok());
    assert!(topology.port_named("L4:S0#2").is_err());
}

#[test]
fn rails_of_blocks() {
    let shape = rails([2, 3, 2, 2]);
    check(
        shape,
        &[
            ("B0r0", "N0r0,N1r0,N2r0,S0,S1"),
            ("B0r1", "N0r1,N1r1,N2r1,S0,S1"),
            ("B1r0", "N3r0,N4r0,N5r0,S0,S1"),
            ("S1", "B0r0,B0r1,B1r0,B1r1"),
        ],
    );
    let topology = shape.build(LINKS).unwrap();
    check_layers(&topology, &[("N5r1", 0), ("B1r1", 1), ("S0", 2)]);
    check(rails([2, 2, 2, 0]), &[("B1r1", "N2r1,N3r1")]);
}

#[test]
fn a_full_dragonfly() {
    // a = 4, h = 2, nine groups: one link between any two.
    let shape = dragonfly([9, 4, 1, 2]);
    check(
        shape,
        &[
            // Ports 0 and 1 of group 0 lead to groups 1 and 2; seen from there it is seven or eight
            // groups further on, which is the last router.
            ("G0R0", "H0,G0R1,G0R2,G0R3,G1R3,G2R3"),
            ("G0R1", "H1,G0R0,G0R2,G0R3,G3R2,G4R2"),
            ("G0R3", "H3,G0R0,G0R1,G0R2,G7R0,G8R0"),
            ("G8R0", "H32,G8R1,G8R2,G8R3,G0R3,G1R3"),
        ],
    );
    let topology = shape.build(LINKS).unwrap();
    assert_eq!(group_links(&topology, 9), vec![1; 36]);
    for switch in topology.switches() {
        assert_eq!(topology.ports(*switch).len(), 1 + 3 + 2);
    }
}

#[test]
fn a_dragonfly_of_fewer_groups_has_more_links_between_them() {
    // Eight global ports: two rounds of three other groups, and two ports left over.
    let topology = dragonfly([4, 4, 1, 2]).build(LINKS).unwrap();
    assert_eq!(group_links(&topology, 4), vec![2; 6]);
    let last = topology.node_named("G2R3").unwrap();
    assert_eq!(topology.ports(last).len(), 1 + 3);
    let alone = dragonfly([1, 3, 1, 2]).build(LINKS).unwrap();
    assert_eq!(alone.links().len(), 3 + 3);
}

/// How many links join each pair of groups.
fn group_links(topology: &Topology, groups: usize) -> Vec<u32> {
    let group = |node: NodeId| {
        let name = &topology.node(node).name;
        let digits = name.strip_prefix('G').and_then(|rest| rest.split_once('R'));
        digits.map(|(group, _)| group.parse::<usize>().unwrap())
    };
    let mut counts = vec![vec![0; groups]; groups];
    for link in topology.links() {
        if let (Some(a), Some(b)) = (group(link.a), group(link.b)) {
            counts[a.min(b)][a.max(b)] += 1;
        }
    }
    let pairs = (0..groups).flat_map(|a| (a + 1..groups).map(move |b| (a, b)));
    pairs.map(|(a, b)| counts[a][b]).collect()
}

#[test]
fn grids() {
    check(
        torus([4, 3, 1], 1),
        &[
            ("S0_0", "H0,S1_0,S3_0,S0_1,S0_2"),
            ("S1_1", "H5,S0_1,S2_1,S1_0,S1_2"),
            ("S3_2", "H11,S2_2,S0_2,S3_1,S3_0"),
        ],
    );
    check(
        torus([2, 2, 2], 1),
        &[("S0_0_0", "H0,S1_0_0,S0_1_0,S0_0_1"), ("S1_1_1", "H7,S0_1_1,S1_0_1,S1_1_0")],
    );
    check(torus([3, 1, 1], 1), &[("S0_0", "H0,S1_0,S2_0")]);
    check(
        mesh([3, 2, 1], 2),
        &[
            ("S0_0", "H0,H1,S1_0,S0_1"),
            ("S1_1", "H8,H9,S0_1,S2_1,S1_0"),
            ("S2_1", "H10,H11,S1_1,S2_0"),
        ],
    );
}

#[test]
fn a_torus_has_its_switches_in_the_order_that_routing_relies_on() {
    let [x, y, z] = [4, 3, 5];
    for joined in [true, false] {
        let topology = if joined {
            torus([x, y, z], 1).build(LINKS).unwrap()
        } else {
            mesh([x, y, z], 1).build(LINKS).unwrap()
        };
        for id in 0..x * y * z {
            let at = [id % x, id / x % y, id / x / y];
            let name = format!("S{}_{}_{}", at[0], at[1], at[2]);
            assert_eq!(topology.node_named(&name), Some(NodeId(id)));
            let mut expected = Vec::new();
            for (dimension, length) in [x, y, z].into_iter().enumerate() {
                for step in [1, length - 1] {
                    let mut to = at;
                    to[dimension] = (at[dimension] + step) % length;
                    if joined || to[dimension].abs_diff(at[dimension]) == 1 {
                        expected.push((to[2] * y + to[1]) * x + to[0]);
                    }
                }
            }
            let ports = topology.ports(NodeId(id)).iter().map(|port| port.peer.0);
            let mut found: Vec<u32> = ports.filter(|peer| *peer < x * y * z).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{name}");
        }
    }
}
