//! The kinds of generated fabrics: their keys, read and written.

use pauseless_core::unit::Span;
use pauseless_fabric::generate::{
    Dragonfly, Grid, LeafSpine, LinkSpecs, RailOptimised, RandomRegular, Shape, ThreeTierClos,
};
use pauseless_fabric::topology::{LinkSpec, Topology};

use super::super::Aim;
use super::super::custom::{Custom, read_specs};
use super::super::reader::{Item, Place, Section, quoted};
use super::{CELLS_MAX, RATES};
use crate::fabric::Names;

/// The fabric before any failure.
pub(super) struct Healthy {
    pub topology: Topology,
    pub names: Names,
    /// Its generator, unless it is custom.
    pub shape: Option<(Shape, LinkSpecs)>,
}

#[derive(Clone, Copy)]
enum Kind {
    Ring,
    Line,
    Dumbbell,
    NToOne,
    ParkingLot,
    FatTree,
    LeafSpine,
    Clos,
    RailOptimised,
    Dragonfly,
    Torus,
    Mesh,
    RandomRegular,
    Custom,
}

/// In the order of the variants.
const KINDS: [(&str, Kind); 14] = [
    ("ring", Kind::Ring),
    ("line", Kind::Line),
    ("dumbbell", Kind::Dumbbell),
    ("n-to-1", Kind::NToOne),
    ("parking-lot", Kind::ParkingLot),
    ("fat-tree", Kind::FatTree),
    ("leaf-spine", Kind::LeafSpine),
    ("clos", Kind::Clos),
    ("rail-optimised", Kind::RailOptimised),
    ("dragonfly", Kind::Dragonfly),
    ("torus", Kind::Torus),
    ("mesh", Kind::Mesh),
    ("random-regular", Kind::RandomRegular),
    ("custom", Kind::Custom),
];

/// More hosts than any fabric has; each may need a row in every switch.
const HOSTS_MAX: u64 = 1 << 18;

/// The key that a size without a key belongs to, as in `fat-tree:48`; `None` for an unknown kind.
pub(crate) fn lead_key(kind: &str) -> Option<&'static str> {
    let (_, kind) = KINDS.iter().find(|(name, _)| *name == kind)?;
    Some(match kind {
        Kind::Ring | Kind::Line | Kind::RandomRegular => "switches",
        Kind::Dumbbell => "left",
        Kind::NToOne => "senders",
        Kind::ParkingLot => "links",
        Kind::FatTree => "k",
        Kind::LeafSpine => "leaves",
        Kind::Clos => "pods",
        Kind::RailOptimised => "blocks",
        Kind::Dragonfly => "groups",
        Kind::Torus | Kind::Mesh => "dimensions",
        Kind::Custom => "node",
    })
}

/// Reads everything of `[topology]` but the failures.
pub(super) fn read_healthy(section: &mut Section<'_>, aim: Aim) -> Option<Healthy> {
    let has_kind = section.has("kind");
    let kind = section.choice("kind", &KINDS);
    let Some(kind) = kind else {
        if !has_kind {
            let names = KINDS.map(|(name, _)| name);
            let (last, others) = names.split_last().expect("there are kinds");
            section.missing("kind", &format!("{} or {last:?}", quoted(others)));
        }
        section.discard();
        return None;
    };
    let (name, _) = KINDS[kind.value as usize];
    section.set_context(format!(" with kind = {name:?}"));
    if let Kind::Custom = kind.value {
        let (topology, names) = Custom::read(section)?;
        return Some(Healthy {
            topology,
            names,
            shape: None,
        });
    }
    let mut sizes = Sizes {
        section,
        places: Vec::new(),
    };
    let shape = sizes.shape(kind.value);
    let places = sizes.places;
    let specs = read_specs(section).complete(section);
    let shape = shape?;
    let hosts = shape.size().hosts;
    let hosts_max = match aim {
        Aim::Run => CELLS_MAX.isqrt(),
        Aim::Check => HOSTS_MAX,
    };
    if hosts > hosts_max {
        let problem = section
            .place
            .problem(format!("too large: it would have {hosts} hosts"));
        section.report(problem.help("make the fabric smaller"));
        return None;
    }
    // The size is judged even if no link can be made.
    let any = LinkSpec {
        rate: *RATES.start(),
        delay: Span::ZERO,
    };
    match shape.build(specs.unwrap_or(LinkSpecs::same(any))) {
        Ok(topology) => specs.map(|specs| Healthy {
            topology,
            names: Names::default(),
            shape: Some((shape, specs)),
        }),
        Err(error) => {
            let place = places.iter().find(|(key, _)| Some(*key) == error.field());
            let place = place.map_or(&section.place, |(_, place)| place);
            let problem = place.problem(error.to_string());
            section.report(match error.field() {
                Some(_) => problem,
                None => problem.help("make the fabric smaller"),
            });
            None
        }
    }
}

/// Reads the numbers that make up a shape, and remembers where each was written.
struct Sizes<'a, 's> {
    section: &'a mut Section<'s>,
    places: Vec<(&'static str, Place)>,
}

impl Sizes<'_, '_> {
    fn shape(&mut self, kind: Kind) -> Option<Shape> {
        match kind {
            Kind::Ring => {
                self.all(["switches", "hosts_per_switch"])
                    .map(|[switches, hosts_per_switch]| Shape::Ring {
                        switches,
                        hosts_per_switch,
                    })
            }
            Kind::Line => {
                self.all(["switches", "hosts_per_switch"])
                    .map(|[switches, hosts_per_switch]| Shape::Line {
                        switches,
                        hosts_per_switch,
                    })
            }
            Kind::Dumbbell => {
                let sizes = self.all(["left", "right"]);
                sizes.map(|[left, right]| Shape::Dumbbell { left, right })
            }
            Kind::NToOne => self
                .size("senders")
                .map(|senders| Shape::NToOne { senders }),
            Kind::ParkingLot => self.size("links").map(|links| Shape::ParkingLot { links }),
            Kind::FatTree | Kind::Custom => self.size("k").map(|k| Shape::FatTree { k }),
            Kind::LeafSpine => self.leaf_spine(),
            Kind::Clos => self.clos(),
            Kind::RailOptimised => self.rail_optimised(),
            Kind::Dragonfly => self.dragonfly(),
            Kind::Torus => self.grid().map(Shape::Torus),
            Kind::Mesh => self.grid().map(Shape::Mesh),
            Kind::RandomRegular => self.random_regular(),
        }
    }

    fn leaf_spine(&mut self) -> Option<Shape> {
        let sizes = self.all(["leaves", "spines", "hosts_per_leaf"]);
        let links_per_pair = self.size_or_one("links_per_pair");
        let [leaves, spines, hosts_per_leaf] = sizes?;
        Some(Shape::LeafSpine(LeafSpine {
            leaves,
            spines,
            hosts_per_leaf,
            links_per_pair: links_per_pair?,
        }))
    }

    fn clos(&mut self) -> Option<Shape> {
        let pods = self.all(["pods", "tors_per_pod", "leaves_per_pod"]);
        let rest = self.all(["spines", "hosts_per_tor"]);
        let lower = self.size_or_one("links_per_tor_leaf");
        let upper = self.size_or_one("links_per_leaf_spine");
        let [pods, tors_per_pod, leaves_per_pod] = pods?;
        let [spines, hosts_per_tor] = rest?;
        Some(Shape::ThreeTierClos(ThreeTierClos {
            pods,
            tors_per_pod,
            leaves_per_pod,
            spines,
            hosts_per_tor,
            links_per_tor_leaf: lower?,
            links_per_leaf_spine: upper?,
        }))
    }

    fn rail_optimised(&mut self) -> Option<Shape> {
        let sizes = self.all(["blocks", "servers_per_block", "rails", "spines"]);
        let links_per_pair = self.size_or_one("links_per_pair");
        let [blocks, servers_per_block, rails, spines] = sizes?;
        Some(Shape::RailOptimised(RailOptimised {
            blocks,
            servers_per_block,
            rails,
            spines,
            links_per_pair: links_per_pair?,
        }))
    }

    fn dragonfly(&mut self) -> Option<Shape> {
        let [
            groups,
            routers_per_group,
            hosts_per_router,
            global_links_per_router,
        ] = self.all([
            "groups",
            "routers_per_group",
            "hosts_per_router",
            "global_links_per_router",
        ])?;
        Some(Shape::Dragonfly(Dragonfly {
            groups,
            routers_per_group,
            hosts_per_router,
            global_links_per_router,
        }))
    }

    fn grid(&mut self) -> Option<Grid> {
        let dimensions = self.dimensions();
        let hosts_per_switch = self.size("hosts_per_switch");
        Some(Grid {
            dimensions: dimensions?,
            hosts_per_switch: hosts_per_switch?,
        })
    }

    fn random_regular(&mut self) -> Option<Shape> {
        let sizes = self.all(["switches", "degree", "hosts_per_switch"]);
        let has_seed = self.section.has("seed");
        let seed = self.section.integer("seed", 0..=u64::MAX);
        let [switches, degree, hosts_per_switch] = sizes?;
        let seed = match has_seed {
            true => seed?.value,
            false => 1,
        };
        Some(Shape::RandomRegular(RandomRegular {
            switches,
            degree,
            hosts_per_switch,
            seed,
        }))
    }

    /// Numbers that must be written; all are asked for even if the first is missing.
    fn all<const N: usize>(&mut self, keys: [&'static str; N]) -> Option<[u32; N]> {
        let found = keys.map(|key| self.size(key));
        let found: Vec<u32> = found.into_iter().flatten().collect();
        found.try_into().ok()
    }

    fn size(&mut self, key: &'static str) -> Option<u32> {
        if !self.section.has(key) {
            // Taking it makes it known, so that a misspelt one is recognised.
            self.section.take(key);
            self.section.missing(key, "a whole number");
            return None;
        }
        let found = self.section.integer(key, 0..=u64::from(u32::MAX))?;
        self.places.push((key, found.place));
        Some(found.value as u32)
    }

    fn size_or_one(&mut self, key: &'static str) -> Option<u32> {
        if self.section.has(key) {
            return self.size(key);
        }
        self.section.take(key);
        Some(1)
    }

    /// Two or three numbers in a list; what is missing has the length one.
    fn dimensions(&mut self) -> Option<[u32; 3]> {
        const KEY: &str = "dimensions";
        if !self.section.has(KEY) {
            self.section.take(KEY);
            self.section.missing(KEY, "[4, 4], or three numbers");
            return None;
        }
        let list = self.section.list(KEY)?;
        let count = list.value.len();
        let integer = |item: Item<'_>| item.integer(0..=u64::from(u32::MAX));
        let numbers: Vec<_> = list.value.into_iter().filter_map(integer).collect();
        if numbers.len() < count {
            return None;
        }
        if !(2..=3).contains(&count) {
            let problem = list.place.problem(format!("{count} numbers stand here"));
            self.section
                .report(problem.expected("two or three of them, as in [4, 4]"));
            return None;
        }
        let mut dimensions = [1; 3];
        for (dimension, number) in dimensions.iter_mut().zip(numbers) {
            *dimension = number.value as u32;
        }
        self.places.push((KEY, list.place));
        Some(dimensions)
    }
}

/// The name of the kind, and its keys with what is written behind them.
pub(crate) fn written(shape: Shape) -> (&'static str, Vec<(&'static str, String)>) {
    let (kind, keys): (Kind, Vec<(&'static str, u32)>) = match shape {
        Shape::Ring {
            switches,
            hosts_per_switch,
        } => (
            Kind::Ring,
            vec![
                ("switches", switches),
                ("hosts_per_switch", hosts_per_switch),
            ],
        ),
        Shape::Line {
            switches,
            hosts_per_switch,
        } => (
            Kind::Line,
            vec![
                ("switches", switches),
                ("hosts_per_switch", hosts_per_switch),
            ],
        ),
        Shape::Dumbbell { left, right } => (Kind::Dumbbell, vec![("left", left), ("right", right)]),
        Shape::NToOne { senders } => (Kind::NToOne, vec![("senders", senders)]),
        Shape::ParkingLot { links } => (Kind::ParkingLot, vec![("links", links)]),
        Shape::FatTree { k } => (Kind::FatTree, vec![("k", k)]),
        Shape::LeafSpine(shape) => (Kind::LeafSpine, leaf_spine_keys(shape).to_vec()),
        Shape::ThreeTierClos(shape) => (Kind::Clos, clos_keys(shape).to_vec()),
        Shape::RailOptimised(shape) => (Kind::RailOptimised, rail_keys(shape).to_vec()),
        Shape::Dragonfly(shape) => (Kind::Dragonfly, dragonfly_keys(shape).to_vec()),
        Shape::Torus(grid) => (
            Kind::Torus,
            vec![("hosts_per_switch", grid.hosts_per_switch)],
        ),
        Shape::Mesh(grid) => (
            Kind::Mesh,
            vec![("hosts_per_switch", grid.hosts_per_switch)],
        ),
        Shape::RandomRegular(shape) => (
            Kind::RandomRegular,
            vec![
                ("switches", shape.switches),
                ("degree", shape.degree),
                ("hosts_per_switch", shape.hosts_per_switch),
            ],
        ),
    };
    let keys = keys.into_iter().map(|(key, size)| (key, size.to_string()));
    let mut keys: Vec<(&'static str, String)> = keys.collect();
    match shape {
        Shape::Torus(grid) | Shape::Mesh(grid) => {
            let [x, y, z] = grid.dimensions;
            let list = match z {
                1 => format!("[{x}, {y}]"),
                _ => format!("[{x}, {y}, {z}]"),
            };
            keys.insert(0, ("dimensions", list));
        }
        Shape::RandomRegular(shape) => keys.push(("seed", shape.seed.to_string())),
        _ => {}
    }
    (KINDS[kind as usize].0, keys)
}

fn leaf_spine_keys(shape: LeafSpine) -> [(&'static str, u32); 4] {
    [
        ("leaves", shape.leaves),
        ("spines", shape.spines),
        ("hosts_per_leaf", shape.hosts_per_leaf),
        ("links_per_pair", shape.links_per_pair),
    ]
}

fn clos_keys(shape: ThreeTierClos) -> [(&'static str, u32); 7] {
    [
        ("pods", shape.pods),
        ("tors_per_pod", shape.tors_per_pod),
        ("leaves_per_pod", shape.leaves_per_pod),
        ("spines", shape.spines),
        ("hosts_per_tor", shape.hosts_per_tor),
        ("links_per_tor_leaf", shape.links_per_tor_leaf),
        ("links_per_leaf_spine", shape.links_per_leaf_spine),
    ]
}

fn rail_keys(shape: RailOptimised) -> [(&'static str, u32); 5] {
    [
        ("blocks", shape.blocks),
        ("servers_per_block", shape.servers_per_block),
        ("rails", shape.rails),
        ("spines", shape.spines),
        ("links_per_pair", shape.links_per_pair),
    ]
}

fn dragonfly_keys(shape: Dragonfly) -> [(&'static str, u32); 4] {
    [
        ("groups", shape.groups),
        ("routers_per_group", shape.routers_per_group),
        ("hosts_per_router", shape.hosts_per_router),
        ("global_links_per_router", shape.global_links_per_router),
    ]
}
