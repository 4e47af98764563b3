//! What holds of every shape, and which sizes are impossible.

use super::*;
use pauseless_core::id::PortId;
use pauseless_core::unit::{Rate, Span};
use proptest::prelude::*;

pub(super) const LINKS: LinkSpecs = LinkSpecs {
    host: LinkSpec { rate: Rate::gbps(10), delay: Span::us(1) },
    switch: LinkSpec { rate: Rate::gbps(40), delay: Span::us(5) },
};

pub(super) const fn ring(switches: u32, hosts_per_switch: u32) -> Ring {
    Ring { switches, hosts_per_switch }
}

pub(super) const fn line(switches: u32, hosts_per_switch: u32) -> Line {
    Line { switches, hosts_per_switch }
}

pub(super) const fn leaf_spine(
    [leaves, spines, hosts_per_leaf, links_per_pair]: [u32; 4],
) -> LeafSpine {
    LeafSpine { leaves, spines, hosts_per_leaf, links_per_pair }
}

pub(super) const fn rails([blocks, servers_per_block, rails, spines]: [u32; 4]) -> RailOptimised {
    RailOptimised { blocks, servers_per_block, rails, spines, links_per_pair: 2 }
}

/// Groups, a, p and h.
pub(super) const fn dragonfly([groups, a, p, h]: [u32; 4]) -> Dragonfly {
    Dragonfly { groups, routers_per_group: a, hosts_per_router: p, global_links_per_router: h }
}

pub(super) const fn torus(dimensions: [u32; 3], hosts_per_switch: u32) -> Torus {
    Torus { dimensions, hosts_per_switch }
}

pub(super) const fn mesh(dimensions: [u32; 3], hosts_per_switch: u32) -> Mesh {
    Mesh { dimensions, hosts_per_switch }
}

const fn random(switches: u32, degree: u32, seed: u64) -> RandomRegular {
    RandomRegular { switches, degree, hosts_per_switch: 2, seed }
}

const CLOS: ThreeTierClos = ThreeTierClos {
    pods: 2,
    tors_per_pod: 3,
    leaves_per_pod: 2,
    spines: 3,
    hosts_per_tor: 4,
    links_per_tor_leaf: 1,
    links_per_leaf_spine: 2,
};

/// Shapes with their hosts, switches, links, and the ports of the largest switch.
const SHAPES: [(&dyn Shape, [u64; 4]); 40] = [
    (&ring(3, 1), [3, 3, 6, 3]),
    (&ring(7, 30), [210, 7, 217, 32]),
    (&line(1, 1), [1, 1, 1, 1]),
    (&line(2, 1), [2, 2, 3, 2]),
    (&line(5, 2), [10, 5, 14, 4]),
    (&Dumbbell { left: 1, right: 1 }, [2, 2, 3, 2]),
    (&Dumbbell { left: 3, right: 5 }, [8, 2, 9, 6]),
    (&NToOne { senders: 1 }, [2, 1, 2, 2]),
    (&NToOne { senders: 15 }, [16, 1, 16, 16]),
    (&ParkingLot { links: 1 }, [4, 2, 5, 3]),
    (&ParkingLot { links: 2 }, [6, 3, 8, 4]),
    (&ParkingLot { links: 10 }, [22, 11, 32, 4]),
    (&FatTree { k: 2 }, [2, 5, 6, 2]),
    (&FatTree { k: 4 }, [16, 20, 48, 4]),
    (&FatTree { k: 10 }, [250, 125, 750, 10]),
    (&leaf_spine([1, 1, 1, 1]), [1, 2, 2, 2]),
    (&leaf_spine([4, 2, 3, 1]), [12, 6, 20, 5]),
    (&leaf_spine([2, 3, 1, 4]), [2, 5, 26, 13]),
    (&leaf_spine([9, 1, 1, 2]), [9, 10, 27, 18]),
    (&CLOS, [24, 13, 60, 9]),
    (&ThreeTierClos::PCN, [512, 56, 512 + 128 + 128, 20]),
    (&rails([1, 4, 8, 0]), [32, 8, 32, 4]),
    (&rails([1, 2, 4, 2]), [8, 6, 24, 8]),
    (&rails([3, 4, 2, 1]), [24, 7, 36, 12]),
    (&dragonfly([1, 4, 2, 0]), [8, 4, 14, 5]),
    (&dragonfly([9, 4, 2, 2]), [72, 36, 72 + 54 + 36, 7]),
    (&dragonfly([3, 4, 2, 2]), [24, 12, 24 + 18 + 12, 7]),
    (&dragonfly([4, 4, 1, 2]), [16, 16, 16 + 24 + 12, 6]),
    (&dragonfly([2, 1, 1, 3]), [2, 2, 5, 4]),
    (&dragonfly([19, 6, 3, 3]), [342, 114, 342 + 285 + 171, 11]),
    (&torus([1, 1, 1], 1), [1, 1, 1, 1]),
    (&torus([2, 2, 1], 1), [4, 4, 8, 3]),
    (&torus([4, 4, 1], 1), [16, 16, 48, 5]),
    (&torus([4, 3, 2], 2), [48, 24, 48 + 24 + 24 + 12, 7]),
    (&mesh([4, 4, 1], 1), [16, 16, 40, 5]),
    (&mesh([3, 3, 3], 1), [27, 27, 27 + 54, 7]),
    (&random(2, 1, 1), [4, 2, 5, 3]),
    (&random(6, 5, 1), [12, 6, 27, 7]),
    (&random(20, 4, 7), [40, 20, 80, 6]),
    (&random(9, 2, 3), [18, 9, 27, 4]),
];

#[test]
fn every_port_name_leads_back_to_its_port() {
    for (shape, _) in SHAPES {
        let topology = shape.build(LINKS).unwrap();
        for &node in topology.hosts().iter().chain(topology.switches()) {
            for port in (0..topology.ports(node).len()).map(|n| PortId(n as u16)) {
                let name = topology.port_name(node, port);
                let found = topology.port_named(&name);
                assert_eq!(found, Ok((node, port)), "{shape:?} {name}");
            }
        }
    }
}

#[test]
fn links_of_hosts_and_of_switches_have_their_own_spec() {
    for (shape, _) in SHAPES {
        let topology = shape.build(LINKS).unwrap();
        for link in topology.links() {
            let host = topology.is_host(link.a) || topology.is_host(link.b);
            let expected = if host { LINKS.host } else { LINKS.switch };
            assert_eq!((link.rate, link.delay), (expected.rate, expected.delay));
        }
    }
}

#[test]
fn sizes_add_up() {
    for (shape, expected) in SHAPES {
        let [hosts, switches, links, ports] = expected;
        let foretold = Size { hosts, switches, links, ports };
        assert_eq!(shape.size(), foretold, "{shape:?}");
        assert_eq!(measured(shape), foretold, "{shape:?}");
    }
}

fn measured(shape: &dyn Shape) -> Size {
    let topology = shape.build(LINKS).unwrap();
    let ports = topology.switches().iter();
    let ports = ports.map(|switch| topology.ports(*switch).len() as u64);
    Size {
        hosts: topology.host_count() as u64,
        switches: topology.switches().len() as u64,
        links: topology.links().len() as u64,
        ports: ports.max().unwrap(),
    }
}

#[test]
fn switches_come_first_and_hosts_are_on_the_lowest_layer() {
    for (shape, _) in SHAPES {
        let topology = shape.build(LINKS).unwrap();
        let switches = topology.switches().len();
        for (n, node) in (0..).zip(topology.nodes()) {
            let id = NodeId(n);
            assert_eq!(topology.is_host(id), id.index() >= switches, "{shape:?}");
            assert_eq!(node.layer == 0, topology.is_host(id), "{shape:?}");
            let hosts = topology.ports(id).iter().map(|port| topology.is_host(port.peer));
            let hosts: Vec<bool> = hosts.collect();
            assert!(hosts.is_sorted_by(|a, b| a >= b), "{shape:?} {}", node.name);
            assert!(node.layer < 2 || !hosts.contains(&true), "{shape:?}");
        }
    }
}

#[test]
fn the_largest_fat_tree_has_65536_hosts() {
    let shape = FatTree { k: 64 };
    let size = measured(&shape);
    assert_eq!((size.hosts, size.switches, size.ports), (65_536, 5_120, 64));
    assert_eq!(size, shape.size());
}

/// The sizes of shapes that exist, and of some that do not.
fn any_shape() -> impl Strategy<Value = Box<dyn Shape>> {
    let four = || prop::array::uniform4(0..7u32);
    let dimensions = || prop::array::uniform3(0..5u32);
    fn boxed(shape: impl Shape) -> Box<dyn Shape> {
        Box::new(shape)
    }
    prop_oneof![
        (1..6u32).prop_map(|links| boxed(ParkingLot { links })),
        four().prop_map(|four| boxed(leaf_spine(four))),
        (four(), 0..4u32, 0..3u32, 0..4u32).prop_map(|(four, spines, first, second)| {
            boxed(ThreeTierClos {
                pods: four[0],
                tors_per_pod: four[1],
                leaves_per_pod: four[2],
                spines,
                hosts_per_tor: four[3],
                links_per_tor_leaf: first,
                links_per_leaf_spine: second,
            })
        }),
        four().prop_map(|four| boxed(rails(four))),
        four().prop_map(|four| boxed(dragonfly(four))),
        (dimensions(), 0..3u32).prop_map(|(dimensions, hosts)| boxed(torus(dimensions, hosts))),
        (dimensions(), 0..3u32).prop_map(|(dimensions, hosts)| boxed(mesh(dimensions, hosts))),
        (0..9u32, 0..9u32, any::<u64>())
            .prop_map(|(n, degree, seed)| boxed(random(n, degree, seed))),
    ]
}

proptest! {
    #[test]
    fn what_can_be_built_has_the_size_that_was_foretold(shape in any_shape()) {
        if shape.build(LINKS).is_ok() {
            prop_assert_eq!(measured(&*shape), shape.size());
        }
    }

    #[test]
    fn no_number_makes_a_size_overflow(sizes in prop::array::uniform7(any::<u32>())) {
        let [a, b, c, d, e, f, g] = sizes;
        let clos = ThreeTierClos {
            pods: a,
            tors_per_pod: b,
            leaves_per_pod: c,
            spines: d,
            hosts_per_tor: e,
            links_per_tor_leaf: f,
            links_per_leaf_spine: g,
        };
        let shapes: [&dyn Shape; 13] = [
            &clos,
            &ring(a, b),
            &line(a, b),
            &Dumbbell { left: a, right: b },
            &NToOne { senders: a },
            &ParkingLot { links: a },
            &FatTree { k: a },
            &leaf_spine([a, b, c, d]),
            &rails([a, b, c, d]),
            &dragonfly([a, b, c, d]),
            &torus([a, b, c], d),
            &mesh([a, b, c], d),
            &random(a, b, 1),
        ];
        for shape in shapes {
            let _ = shape.size();
            prop_assert!(a <= 1_024 || shape.check().and(shape.size().check()).is_err());
        }
    }

    #[test]
    fn random_fabrics_are_regular_simple_and_connected(
        (switches, degree) in (2..40u32).prop_flat_map(|n| (Just(n), 1..n)),
        seed: u64,
    ) {
        let shape = random(switches, degree, seed);
        let possible = switches * degree % 2 == 0 && (degree > 1 || switches == 2);
        let built = shape.build(LINKS);
        prop_assert_eq!(built.is_ok(), possible);
        let Ok(topology) = built else { return Ok(()) };
        let mut reached = vec![topology.switches()[0]];
        let mut at = 0;
        while let Some(&node) = reached.get(at) {
            let neighbours = topology.neighbours(node);
            // Two hosts, and no link twice.
            prop_assert_eq!(neighbours.len(), degree as usize + 2);
            prop_assert_eq!(topology.ports(node).len(), degree as usize + 2);
            let switches = neighbours.into_iter().filter(|node| !topology.is_host(*node));
            for next in switches {
                if !reached.contains(&next) {
                    reached.push(next);
                }
            }
            at += 1;
        }
        prop_assert_eq!(reached.len(), switches as usize);
        prop_assert_eq!(topology, shape.build(LINKS).unwrap());
    }
}

#[test]
fn random_fabrics_follow_the_seed_and_forget_the_circle() {
    let build = |seed| random(64, 4, seed).build(LINKS).unwrap();
    assert_ne!(build(1), build(2));
    // In the circle that it began with all 128 links span one or two steps; in a random graph the
    // expectation is 128 x 4 / 63, about 8.
    let topology = build(1);
    let spans = topology.links().iter().filter_map(|link| {
        let is_host = topology.is_host(link.a) || topology.is_host(link.b);
        let span = link.b.0.abs_diff(link.a.0);
        (!is_host).then(|| span.min(64 - span))
    });
    let short = spans.filter(|span| *span <= 2).count();
    assert!(short < 24, "{short}");
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table of messages")]
fn impossible_sizes_name_the_legal_range() {
    let cases: [(&dyn Shape, &str); 26] = [
        (&ring(2, 1), "switches of a ring: 2 is not in the range from 3 to 1024"),
        (&ring(3, 0), "hosts per switch of a ring: 0 is not in the range from 1 to 1024"),
        (&line(0, 1), "switches of a line: 0 is not in the range from 1 to 1024"),
        (&line(1, 9999), "hosts per switch of a line: 9999 is not in the range from 1 to 1024"),
        (
            &Dumbbell { left: 0, right: 1 },
            "left hosts of a dumbbell: 0 is not in the range from 1 to 65534",
        ),
        (
            &Dumbbell { left: 1, right: 65_535 },
            "right hosts of a dumbbell: 65535 is not in the range from 1 to 65534",
        ),
        (&NToOne { senders: 0 }, "senders of n to 1: 0 is not in the range from 1 to 65534"),
        (&ParkingLot { links: 0 }, "links of a parking lot: 0 is not in the range from 1 to 1024"),
        (&FatTree { k: 0 }, "k of a fat tree: 0 is not in the range from 2 to 64"),
        (&FatTree { k: 5 }, "k of a fat tree: 5 is odd; choose an even number from 2 to 64"),
        (&FatTree { k: 66 }, "k of a fat tree: 66 is not in the range from 2 to 64"),
        (
            &leaf_spine([2, 0, 1, 1]),
            "spines of a leaf-spine fabric: 0 is not in the range from 1 to 1024",
        ),
        (
            &leaf_spine([1024, 1024, 1, 2]),
            "too large: it would have 2098176 links, and 2097152 are the most",
        ),
        (
            &leaf_spine([1024, 1, 1, 64]),
            "too large: it would have 65536 ports on one switch, and 65535 are the most",
        ),
        (
            &ThreeTierClos { pods: 0, ..CLOS },
            "pods of a Clos fabric: 0 is not in the range from 1 to 1024",
        ),
        (
            &ThreeTierClos { links_per_tor_leaf: 0, ..CLOS },
            "links per tor leaf of a Clos fabric: 0 is not in the range from 1 to 1024",
        ),
        (
            &rails([1, 1, 0, 1]),
            "rails of a rail-optimised fabric: 0 is not in the range from 1 to 1024",
        ),
        (
            &rails([1, 1, 1, 1025]),
            "spines of a rail-optimised fabric: 1025 is not in the range from 0 to 1024",
        ),
        (&dragonfly([10, 4, 2, 2]), "groups of a dragonfly: 10 is not in the range from 1 to 9"),
        (&dragonfly([2, 4, 2, 0]), "groups of a dragonfly: 2 is not in the range from 1 to 1"),
        (&torus([4, 0, 1], 1), "dimensions of a torus: 0 is not in the range from 1 to 1024"),
        (
            &mesh([1024, 1024, 1024], 1),
            "too large: it would have 4291821568 links, and 2097152 are the most",
        ),
        (
            &random(5, 3, 1),
            "5 switches with 3 links each: the product is odd; make one of them even",
        ),
        (&random(6, 6, 1), "degree of a random regular fabric: 6 is not in the range from 2 to 5"),
        (&random(6, 1, 1), "degree of a random regular fabric: 1 is not in the range from 2 to 5"),
        (
            &random(1, 0, 1),
            "switches of a random regular fabric: 1 is not in the range from 2 to 16384",
        ),
    ];
    for (shape, expected) in cases {
        assert_eq!(shape.build(LINKS).unwrap_err().to_string(), expected);
    }
    assert!(NToOne { senders: 65_534 }.build(LINKS).is_ok());
}

#[test]
fn an_impossible_size_says_which_field_is_to_blame() {
    let field = |shape: &dyn Shape| shape.build(LINKS).unwrap_err().field();
    assert_eq!(field(&ring(3, 0)), Some("hosts_per_switch"));
    assert_eq!(field(&FatTree { k: 3 }), Some("k"));
    assert_eq!(field(&torus([4, 0, 1], 1)), Some("dimensions"));
    assert_eq!(field(&random(5, 3, 1)), Some("degree"));
    assert_eq!(field(&mesh([1024, 1024, 1024], 1)), None);
}
