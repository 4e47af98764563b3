//! The traffic `kind = "permutation"`: every host sends to one other host.

use pauseless_core::id::NodeId;
use pauseless_core::unit::Bytes;
use pauseless_sim::rng::{Purpose, Stream, hash_name};

pub use super::super::flows::SIZES;
use super::pool::{Cast, Racks};
use super::scene::{Batch, Made, Scene};
use super::{AnyKind, Naming, TrafficKind, kind};
use pauseless_text::declare::Variant;
use pauseless_text::section;

section! {
    /// Every host sends to another one, along a random cycle through all hosts; without a `name`,
    /// flows are called as in `[[flow]]`.
    pub struct Permutation {
        /// How much each host sends.
        size: Bytes, within SIZES, derived "without end";
    }
}

pub(super) static PERMUTATION: Variant<AnyKind> = kind::<Permutation>("permutation");

impl TrafficKind for Permutation {
    fn flows(&self, scene: &Scene<'_>) -> Option<Batch> {
        let mut hosts = hosts(scene)?;
        let entity = if scene.traffic.is_prefixed() { hash_name(scene.name) } else { 0 };
        Stream::new(scene.seed, Purpose::Workload, entity).shuffle(&mut hosts);
        let targets = hosts.iter().cycle().skip(1);
        let flows = hosts.iter().zip(targets).map(|(source, target)| {
            let name = scene.pair_name(*source, *target);
            Made::new(name, [*source, *target], self.size.copied(), scene.start)
        });
        Some(Batch::of(flows.collect()))
    }

    fn pairs(&self, scene: &Scene<'_>) -> Option<Batch> {
        // Some seed makes each of them.
        let hosts = hosts(scene)?;
        let racks = || Racks::new(scene.topology, &hosts, false);
        let cast = Cast { sources: racks(), targets: racks() };
        let size = self.size.or(Bytes::MAX);
        Some(scene.pairs_of(&cast, size..=size))
    }

    fn naming(&self) -> Naming {
        Naming::EndsIfUnnamed
    }
}

/// All hosts; `None` if they are too few, which is reported.
fn hosts(scene: &Scene<'_>) -> Option<Vec<NodeId>> {
    let hosts = scene.topology.hosts();
    if hosts.len() >= 2 {
        return Some(hosts.to_vec());
    }
    scene.sink.push(scene.traffic.place.problem("a permutation needs at least two hosts"));
    None
}
