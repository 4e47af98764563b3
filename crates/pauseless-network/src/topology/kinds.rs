//! The kinds of fabrics, each declared once: its name, its sentence and its keys.
//!
//! A new kind is its shape in `pauseless_fabric::generate`, a block of keys here, and a line in
//! `KINDS`, or is registered from another crate. Its first key may be written without its name, as in `--generate fat-tree:48`.

use std::any::Any;
use std::sync::Arc;

use pauseless_fabric::generate::{
    Dragonfly, Dumbbell, FatTree, HyperX, LeafSpine, Line, Mesh, NToOne, ParkingLot, RailOptimised,
    RandomRegular, Ring, Shape, ThreeTierClos, Torus,
};

pub use super::super::custom::Custom;
use pauseless_text::declare::{Choice, Fills, Place, Registry, Section, Variant};
use pauseless_text::section;
use pauseless_text::variant;

/// How nodes are joined, as it was written.
#[derive(Clone, Debug)]
pub enum Layout {
    /// A generator makes nodes and links.
    Generated(Generated),
    /// The file lists every node and every link.
    Custom(Custom),
}

/// A shape, and where its numbers were written.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The shape with its sizes.
    pub shape: Arc<dyn Shape>,
    /// The places of the keys that say its sizes, for problems; empty if no file does.
    pub places: Vec<(&'static str, Place)>,
}

/// All kinds, in the order of the documents.
pub fn kinds() -> Choice<Layout> {
    Choice { key: "kind", default: None, variants: OUTSIDE.with(&Vec::from_iter(&KINDS)) }
}

/// The kinds of other crates.
static OUTSIDE: Registry<Layout> = Registry::new();

/// Makes `kind = "NAME"` known in `[topology]`: the shape that the keys `K` fill, which
/// [`section!`](pauseless_text::section) declares `for` it. The first key may be written without its name in
/// `check --generate NAME:4`.
pub fn register_topology<K>(name: &'static str)
where
    K: Fills + 'static,
    K::Config: Shape,
{
    OUTSIDE.register(Box::leak(Box::new(generated::<K>(name))));
}

static KINDS: [Variant<Layout>; 15] = [
    generated::<RingKeys>("ring"),
    generated::<LineKeys>("line"),
    generated::<DumbbellKeys>("dumbbell"),
    generated::<NToOneKeys>("n-to-1"),
    generated::<ParkingLotKeys>("parking-lot"),
    generated::<FatTreeKeys>("fat-tree"),
    generated::<LeafSpineKeys>("leaf-spine"),
    generated::<ClosKeys>("clos"),
    generated::<RailOptimisedKeys>("rail-optimised"),
    generated::<DragonflyKeys>("dragonfly"),
    generated::<TorusKeys>("torus"),
    generated::<MeshKeys>("mesh"),
    generated::<HyperXKeys>("hyperx"),
    generated::<RandomRegularKeys>("random-regular"),
    variant!("custom": Layout::Custom[Custom]),
];

section! {
    /// Switches `S1`.. in a circle; the host of `S1` is `H1`, several are `H1a`, `H1b`..
    pub struct RingKeys for Ring = Ring::default(), {
        /// How many switches there are, at least 3.
        switches: u32, required "a whole number";
        /// How many hosts each switch has.
        hosts_per_switch: u32, required "a whole number";
    }
}

section! {
    /// A ring without the closing link.
    pub struct LineKeys for Line = Line::default(), {
        /// How many switches there are.
        switches: u32, required "a whole number";
        /// How many hosts each switch has.
        hosts_per_switch: u32, required "a whole number";
    }
}

section! {
    /// Hosts `X1`.. on `SW0`, hosts `Y1`.. on `SW1`, and one link between the two.
    pub struct DumbbellKeys for Dumbbell = Dumbbell::default(), {
        /// How many hosts are on `SW0`.
        left: u32, required "a whole number";
        /// How many hosts are on `SW1`.
        right: u32, required "a whole number";
    }
}

section! {
    /// Hosts `H1`.. and the sink `R` on `S1`.
    pub struct NToOneKeys for NToOne = NToOne::default(), {
        /// How many hosts there are beside the sink.
        senders: u32, required "a whole number";
    }
}

section! {
    /// Switches `X0`.. in a row; `A0` on the first and `B0` on the last, and for every link i `Ai` on
    /// the switch before it and `Bi` on the one behind it.
    pub struct ParkingLotKeys for ParkingLot = ParkingLot::default(), {
        /// How many links the row has.
        links: u32, required "a whole number";
    }
}

section! {
    /// Hosts `H0`.., edges `E1`.., aggregations `A1`.., cores `C1`.., numbered as in GFC Fig. 11.
    pub struct FatTreeKeys for FatTree = FatTree::default(), {
        /// The ports of each switch; even, up to 64.
        k: u32, required "a whole number";
    }
}

section! {
    /// Leaves `L0`.., each joined to every spine `S0`..; hosts `H0`.., the first so many on the first
    /// leaf, and so on.
    pub struct LeafSpineKeys for LeafSpine = LeafSpine {
        links_per_pair: 1,
        ..LeafSpine::default()
    }, {
        /// How many switches have hosts.
        leaves: u32, required "a whole number";
        /// How many switches join the leaves.
        spines: u32, required "a whole number";
        /// How many hosts each leaf has.
        hosts_per_leaf: u32, required "a whole number";
        /// How many links join a leaf and a spine.
        links_per_pair: u32;
    }
}

section! {
    /// Top-of-rack switches `T0`.. and leaves `L0`.., numbered through all pods, each leaf joined to
    /// every spine `S0`..; hosts `H0`.., the first so many on the first ToR, and so on.
    ///
    /// The network of PCN 7.4 has 8 pods of 4 ToRs and 2 leaves, 8 spines, 16 hosts on a ToR and
    /// `links_per_tor_leaf = 2`; oversubscription is a matter of these numbers and of `host_rate`.
    pub struct ClosKeys for ThreeTierClos = ThreeTierClos {
        links_per_tor_leaf: 1,
        links_per_leaf_spine: 1,
        ..ThreeTierClos::default()
    }, {
        /// How many pods there are.
        pods: u32, required "a whole number";
        /// How many top-of-rack switches a pod has.
        tors_per_pod: u32, required "a whole number";
        /// How many leaves a pod has, each joined to all its ToRs.
        leaves_per_pod: u32, required "a whole number";
        /// How many switches join the leaves of all pods.
        spines: u32, required "a whole number";
        /// How many hosts each ToR has.
        hosts_per_tor: u32, required "a whole number";
        /// How many links join a ToR and a leaf of its pod.
        links_per_tor_leaf: u32;
        /// How many links join a leaf and a spine.
        links_per_leaf_spine: u32;
    }
}

section! {
    /// NIC 0 of server 3 is the host `N3r0`, with servers numbered through all blocks; it is on the
    /// rail switch `B0r0` of its block, and every rail switch is joined to every spine `S0`.. A server is
    /// as many hosts as it has NICs; what joins its accelerators inside is not simulated.
    pub struct RailOptimisedKeys for RailOptimised = RailOptimised {
        links_per_pair: 1,
        ..RailOptimised::default()
    }, {
        /// How many blocks of servers there are.
        blocks: u32, required "a whole number";
        /// How many servers a block has.
        servers_per_block: u32, required "a whole number";
        /// How many NICs a server has, and rail switches a block.
        rails: u32, required "a whole number";
        /// How many switches join the rails; with 0 every rail of every block is alone.
        spines: u32, required "a whole number";
        /// How many links join a rail switch and a spine.
        links_per_pair: u32;
    }
}

section! {
    /// Router 1 of group 0 is `G0R1`; hosts `H0`.., the first so many on the first router, and so on.
    /// Groups are fully connected inside. With fewer than a h + 1 groups any two are joined by the same
    /// number of links, as many as there are ports for; ports that are left over are not connected.
    pub struct DragonflyKeys for Dragonfly = Dragonfly::default(), {
        /// How many groups of routers there are, up to a h + 1.
        groups: u32, required "a whole number";
        /// a, how many routers a group has.
        routers_per_group: u32, required "a whole number";
        /// p, how many hosts each router has.
        hosts_per_router: u32, required "a whole number";
        /// h, how many links to other groups a router has at most.
        global_links_per_router: u32, required "a whole number";
    }
}

section! {
    /// The switch at x = 1, y = 0 is `S1_0`, or `S1_0_2` with z = 2; hosts `H0`.., the first so many on
    /// the first switch, and so on. Rows close to rings, but a dimension of two has one link and not
    /// two, and a dimension of one has none.
    pub struct TorusKeys for Torus = Torus::default(), {
        /// How many switches there are along x, y and z; `[4, 4]` or `[4, 4, 4]`.
        dimensions: [u32; 3], required "[4, 4], or three numbers";
        /// How many hosts each switch has.
        hosts_per_switch: u32, required "a whole number";
    }
}

section! {
    /// A torus without the links that close the rows.
    pub struct MeshKeys for Mesh = Mesh::default(), {
        /// How many switches there are along x, y and z; `[4, 4]` or `[4, 4, 4]`.
        dimensions: [u32; 3], required "[4, 4], or three numbers";
        /// How many hosts each switch has.
        hosts_per_switch: u32, required "a whole number";
    }
}

section! {
    /// A grid of switches, named as those of a torus, in which every switch is joined to all others of
    /// each of its rows (HyperX, SC 2009); with sides of two a hypercube, with `[8, 1]` a full mesh.
    pub struct HyperXKeys for HyperX = HyperX {
        links_per_pair: 1,
        ..HyperX::default()
    }, {
        /// How many switches there are along x, y and z; `[4, 4]` or `[4, 4, 4]`.
        dimensions: [u32; 3], required "[4, 4], or three numbers";
        /// How many hosts each switch has.
        hosts_per_switch: u32, required "a whole number";
        /// How many links join two switches of a row.
        links_per_pair: u32;
    }
}

section! {
    /// Switches `S0`.. that are joined at random, no two of them twice and all of them connected; hosts
    /// `H0`.., the first so many on the first switch, and so on.
    pub struct RandomRegularKeys for RandomRegular = RandomRegular {
        seed: 1,
        ..RandomRegular::default()
    }, {
        /// How many switches there are.
        switches: u32, required "a whole number";
        /// How many others each switch is joined to; times `switches` it must be even.
        degree: u32, required "a whole number";
        /// How many hosts each switch has.
        hosts_per_switch: u32, required "a whole number";
        /// What the links are drawn from; the general `seed` does not change them.
        seed: u64;
    }
}

/// The kind of a shape that `K` fills.
const fn generated<K>(name: &'static str) -> Variant<Layout>
where
    K: Fills + 'static,
    K::Config: Shape,
{
    Variant {
        name,
        info: K::info,
        read: read::<K>,
        keys_of: |layout| match layout {
            Layout::Generated(Generated { shape, .. }) => {
                let shape: &dyn Any = &**shape;
                let keys = K::of(shape.downcast_ref()?);
                Some(Box::new(keys))
            }
            Layout::Custom(_) => None,
        },
    }
}

fn read<K>(section: &mut Section<'_>) -> Option<Layout>
where
    K: Fills,
    K::Config: Shape,
{
    let mut shape = K::base();
    let keys = K::fill(section, &mut shape);
    keys.is_complete()
        .then(|| Layout::Generated(Generated { shape: Arc::new(shape), places: keys.places() }))
}
