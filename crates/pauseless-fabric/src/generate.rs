//! The shapes that papers and operators use, by size.

use pauseless_core::id::NodeId;
use thiserror::Error;

use crate::builder::TopologyBuilder;
use crate::topology::{LinkSpec, PORT_COUNT_MAX, Topology};

/// A shape of fabric with its size. Switches come before hosts, and at each switch the ports to
/// hosts come first, then those to the layer above or to the next switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Switches S1.. in a circle. The host of S1 is H1; if there are several they are H1a, H1b..
    Ring {
        /// At least three.
        switches: u32,
        /// At least one.
        hosts_per_switch: u32,
    },
    /// Switches S1.. in a row, with hosts named as those of a ring.
    Line {
        /// At least one.
        switches: u32,
        /// At least one.
        hosts_per_switch: u32,
    },
    /// Hosts X1.. on SW0, hosts Y1.. on SW1, and one link between the two.
    Dumbbell {
        /// At least one.
        left: u32,
        /// At least one.
        right: u32,
    },
    /// Hosts H1.. and the sink R on the switch S1.
    NToOne {
        /// At least one.
        senders: u32,
    },
    /// Edges E1.., aggregations A1.., cores C1.. and hosts H0.., of which `k` cubed over four.
    FatTree {
        /// The number of ports of each switch: even, from 2 to 48.
        k: u32,
    },
}

/// The links of a generated fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSpecs {
    /// Between a host and its switch.
    pub host: LinkSpec,
    /// Between two switches.
    pub switch: LinkSpec,
}

impl LinkSpecs {
    /// The same for all links.
    pub const fn same(spec: LinkSpec) -> LinkSpecs {
        LinkSpecs {
            host: spec,
            switch: spec,
        }
    }
}

impl Shape {
    /// The fabric of this shape, or what is wrong with its size.
    pub fn build(self, links: LinkSpecs) -> Result<Topology, SizeError> {
        self.check()?;
        let mut build = Build {
            nodes: TopologyBuilder::new(),
            links,
        };
        match self {
            Shape::Ring {
                switches,
                hosts_per_switch,
            } => {
                let chain = build.chain(switches, hosts_per_switch);
                build.link(chain[chain.len() - 1], chain[0]);
            }
            Shape::Line {
                switches,
                hosts_per_switch,
            } => {
                build.chain(switches, hosts_per_switch);
            }
            Shape::Dumbbell { left, right } => build.dumbbell(left, right),
            Shape::NToOne { senders } => build.n_to_one(senders),
            Shape::FatTree { k } => build.fat_tree(k),
        }
        Ok(build
            .nodes
            .build()
            .expect("a generator makes only valid fabrics"))
    }

    fn check(self) -> Result<(), SizeError> {
        const HOSTS_MAX: u32 = PORT_COUNT_MAX as u32 - 1;
        let within = |what, given, min, max| match given {
            _ if (min..=max).contains(&given) => Ok(()),
            _ => Err(SizeError::OutOfRange {
                what,
                given,
                min,
                max,
            }),
        };
        match self {
            Shape::Ring {
                switches,
                hosts_per_switch,
            } => {
                within("switches of a ring", switches, 3, CHAIN_MAX)?;
                within("hosts per switch of a ring", hosts_per_switch, 1, CHAIN_MAX)
            }
            Shape::Line {
                switches,
                hosts_per_switch,
            } => {
                within("switches of a line", switches, 1, CHAIN_MAX)?;
                within("hosts per switch of a line", hosts_per_switch, 1, CHAIN_MAX)
            }
            Shape::Dumbbell { left, right } => {
                within("left hosts of a dumbbell", left, 1, HOSTS_MAX)?;
                within("right hosts of a dumbbell", right, 1, HOSTS_MAX)
            }
            Shape::NToOne { senders } => within("senders", senders, 1, HOSTS_MAX),
            Shape::FatTree { k } => {
                within("k of a fat tree", k, 2, FAT_TREE_K_MAX)?;
                match k % 2 {
                    0 => Ok(()),
                    _ => Err(SizeError::OddFatTree { k }),
                }
            }
        }
    }
}

/// Why no fabric has that size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SizeError {
    /// Too small or too large.
    #[error("{what}: {given} is not in the range from {min} to {max}")]
    OutOfRange {
        /// Which number.
        what: &'static str,
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
}

struct Build {
    nodes: TopologyBuilder,
    links: LinkSpecs,
}

impl Build {
    fn link(&mut self, a: NodeId, b: NodeId) {
        self.nodes.connect(a, b, self.links.switch);
    }

    fn attach(&mut self, switch: NodeId, name: String) {
        let host = self.nodes.add_host(name);
        self.nodes.connect(switch, host, self.links.host);
    }

    fn chain(&mut self, switches: u32, hosts_per_switch: u32) -> Vec<NodeId> {
        let names = (1..=switches).map(|n| format!("S{n}"));
        let chain: Vec<NodeId> = names.map(|name| self.nodes.add_switch(name)).collect();
        for (n, &switch) in (1..).zip(&chain) {
            for host in 0..hosts_per_switch {
                let name = match hosts_per_switch {
                    1 => format!("H{n}"),
                    _ => format!("H{n}{}", letters(host)),
                };
                self.attach(switch, name);
            }
        }
        for pair in chain.windows(2) {
            self.link(pair[0], pair[1]);
        }
        chain
    }

    fn dumbbell(&mut self, left: u32, right: u32) {
        let ends = [self.nodes.add_switch("SW0"), self.nodes.add_switch("SW1")];
        for (switch, prefix, count) in [(ends[0], "X", left), (ends[1], "Y", right)] {
            for n in 1..=count {
                self.attach(switch, format!("{prefix}{n}"));
            }
        }
        self.link(ends[0], ends[1]);
    }

    fn n_to_one(&mut self, senders: u32) {
        let switch = self.nodes.add_switch("S1");
        for n in 1..=senders {
            self.attach(switch, format!("H{n}"));
        }
        self.attach(switch, "R".to_string());
    }

    //= gfc19 fig 11
    fn fat_tree(&mut self, k: u32) {
        let half = k as usize / 2;
        let mut row = |layer: u8, prefix: &str, count: usize| -> Vec<NodeId> {
            let names = (1..=count).map(|n| format!("{prefix}{n}"));
            names
                .map(|name| self.nodes.add_switch_at(layer, name))
                .collect()
        };
        let edges = row(1, "E", k as usize * half);
        let aggregations = row(2, "A", k as usize * half);
        let cores = row(3, "C", half * half);
        for n in 0..edges.len() * half {
            self.attach(edges[n / half], format!("H{n}"));
        }
        for (pod_edges, pod_aggregations) in edges.chunks(half).zip(aggregations.chunks(half)) {
            for &edge in pod_edges {
                for &aggregation in pod_aggregations {
                    self.link(edge, aggregation);
                }
            }
        }
        // The first aggregation of each pod serves the first group of cores, and so on.
        for pod_aggregations in aggregations.chunks(half) {
            for (&aggregation, group) in pod_aggregations.iter().zip(cores.chunks(half)) {
                for &core in group {
                    self.link(aggregation, core);
                }
            }
        }
    }
}

/// a, b, .. z, aa, ab, ..
fn letters(mut n: u32) -> String {
    let mut name = Vec::new();
    loop {
        name.push(b'a' + (n % 26) as u8);
        if n < 26 {
            break;
        }
        n = n / 26 - 1;
    }
    name.into_iter().rev().map(char::from).collect()
}

/// Far above any ring or row that is built, and low enough that the product fits a node id.
const CHAIN_MAX: u32 = 1_024;
/// 27,648 hosts: the largest that switches of 48 ports make.
const FAT_TREE_K_MAX: u32 = 48;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::NodeKind;
    use pauseless_core::id::PortId;
    use pauseless_core::unit::{Rate, Span};

    const LINKS: LinkSpecs = LinkSpecs {
        host: LinkSpec {
            rate: Rate::gbps(10),
            delay: Span::us(1),
        },
        switch: LinkSpec {
            rate: Rate::gbps(40),
            delay: Span::us(5),
        },
    };

    const SHAPES: [Shape; 12] = [
        Shape::Ring {
            switches: 3,
            hosts_per_switch: 1,
        },
        Shape::Ring {
            switches: 7,
            hosts_per_switch: 30,
        },
        Shape::Line {
            switches: 1,
            hosts_per_switch: 1,
        },
        Shape::Line {
            switches: 2,
            hosts_per_switch: 1,
        },
        Shape::Line {
            switches: 5,
            hosts_per_switch: 2,
        },
        Shape::Dumbbell { left: 1, right: 1 },
        Shape::Dumbbell { left: 3, right: 5 },
        Shape::NToOne { senders: 1 },
        Shape::NToOne { senders: 15 },
        Shape::FatTree { k: 2 },
        Shape::FatTree { k: 4 },
        Shape::FatTree { k: 10 },
    ];

    #[test]
    fn every_port_name_leads_back_to_its_port() {
        for shape in SHAPES {
            let topology = shape.build(LINKS).unwrap();
            for &node in topology.hosts().iter().chain(topology.switches()) {
                for port in (0..topology.ports(node).len()).map(|n| PortId(n as u16)) {
                    let name = topology.port_name(node, port);
                    assert_eq!(
                        topology.port_named(&name),
                        Ok((node, port)),
                        "{shape:?} {name}"
                    );
                }
            }
        }
    }

    #[test]
    fn links_of_hosts_and_of_switches_have_their_own_spec() {
        for shape in SHAPES {
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
        // Hosts, switches, links.
        let expected = [
            (3, 3, 6),
            (210, 7, 217),
            (1, 1, 1),
            (2, 2, 3),
            (10, 5, 14),
            (2, 2, 3),
            (8, 2, 9),
            (2, 1, 2),
            (16, 1, 16),
            (2, 5, 6),
            (16, 20, 48),
            (250, 125, 750),
        ];
        for (shape, expected) in SHAPES.into_iter().zip(expected) {
            let topology = shape.build(LINKS).unwrap();
            let switches = topology.switches().len();
            let sizes = (topology.host_count(), switches, topology.links().len());
            assert_eq!(sizes, expected, "{shape:?}");
        }
    }

    #[test]
    fn small_shapes_are_wired_as_drawn() {
        let cases: [(Shape, &[(&str, &str)]); 5] = [
            (
                Shape::Ring {
                    switches: 3,
                    hosts_per_switch: 1,
                },
                &[("S1", "H1,S2,S3"), ("S2", "H2,S1,S3"), ("S3", "H3,S2,S1")],
            ),
            (
                Shape::Ring {
                    switches: 4,
                    hosts_per_switch: 2,
                },
                &[("S1", "H1a,H1b,S2,S4"), ("S3", "H3a,H3b,S2,S4")],
            ),
            (
                Shape::Line {
                    switches: 3,
                    hosts_per_switch: 1,
                },
                &[("S1", "H1,S2"), ("S2", "H2,S1,S3")],
            ),
            (
                Shape::Dumbbell { left: 2, right: 1 },
                &[("SW0", "X1,X2,SW1"), ("SW1", "Y1,SW0")],
            ),
            (
                Shape::NToOne { senders: 2 },
                &[("S1", "H1,H2,R"), ("R", "S1")],
            ),
        ];
        for (shape, rows) in cases {
            let topology = shape.build(LINKS).unwrap();
            for (name, neighbours) in rows {
                let node = topology.node_named(name).unwrap();
                assert_eq!(
                    topology.neighbour_names(node).join(","),
                    *neighbours,
                    "{shape:?} {name}"
                );
            }
        }
    }

    //= gfc19 fig 11 type=test
    #[test]
    fn the_fat_tree_is_wired_as_in_the_paper() {
        let topology = Shape::FatTree { k: 4 }.build(LINKS).unwrap();
        let rows = [
            ("E1", "H0,H1,A1,A2"),
            ("E3", "H4,H5,A3,A4"),
            ("E8", "H14,H15,A7,A8"),
            ("A1", "E1,E2,C1,C2"),
            ("A2", "E1,E2,C3,C4"),
            ("A7", "E7,E8,C1,C2"),
            ("C1", "A1,A3,A5,A7"),
            ("C4", "A2,A4,A6,A8"),
        ];
        for (name, neighbours) in rows {
            let node = topology.node_named(name).unwrap();
            assert_eq!(
                topology.neighbour_names(node).join(","),
                neighbours,
                "{name}"
            );
        }
        for (name, kind, layer) in [
            ("H3", NodeKind::Host, 0),
            ("E2", NodeKind::Switch, 1),
            ("A8", NodeKind::Switch, 2),
            ("C4", NodeKind::Switch, 3),
        ] {
            let node = topology.node(topology.node_named(name).unwrap());
            assert_eq!((node.kind, node.layer), (kind, layer), "{name}");
        }
    }

    #[test]
    fn impossible_sizes_name_the_legal_range() {
        let cases = [
            (
                Shape::Ring {
                    switches: 2,
                    hosts_per_switch: 1,
                },
                "switches of a ring: 2 is not in the range from 3 to 1024",
            ),
            (
                Shape::Ring {
                    switches: 3,
                    hosts_per_switch: 0,
                },
                "hosts per switch of a ring: 0 is not in the range from 1 to 1024",
            ),
            (
                Shape::Line {
                    switches: 0,
                    hosts_per_switch: 1,
                },
                "switches of a line: 0 is not in the range from 1 to 1024",
            ),
            (
                Shape::Line {
                    switches: 1,
                    hosts_per_switch: 9999,
                },
                "hosts per switch of a line: 9999 is not in the range from 1 to 1024",
            ),
            (
                Shape::Dumbbell { left: 0, right: 1 },
                "left hosts of a dumbbell: 0 is not in the range from 1 to 65534",
            ),
            (
                Shape::Dumbbell {
                    left: 1,
                    right: 65_535,
                },
                "right hosts of a dumbbell: 65535 is not in the range from 1 to 65534",
            ),
            (
                Shape::NToOne { senders: 0 },
                "senders: 0 is not in the range from 1 to 65534",
            ),
            (
                Shape::FatTree { k: 0 },
                "k of a fat tree: 0 is not in the range from 2 to 48",
            ),
            (
                Shape::FatTree { k: 5 },
                "k of a fat tree: 5 is odd; choose an even number from 2 to 48",
            ),
            (
                Shape::FatTree { k: 50 },
                "k of a fat tree: 50 is not in the range from 2 to 48",
            ),
        ];
        for (shape, expected) in cases {
            assert_eq!(shape.build(LINKS).unwrap_err().to_string(), expected);
        }
        assert!(Shape::NToOne { senders: 65_534 }.build(LINKS).is_ok());
    }

    #[test]
    fn letters_go_on_after_z() {
        let cases = [
            (0, "a"),
            (25, "z"),
            (26, "aa"),
            (27, "ab"),
            (701, "zz"),
            (702, "aaa"),
        ];
        for (n, expected) in cases {
            assert_eq!(letters(n), expected);
        }
    }
}
