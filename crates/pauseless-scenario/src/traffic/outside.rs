//! Kinds of traffic of other crates.

use std::any::Any;
use std::fmt;

use super::scene::{Batch, Pair, Scene};
use super::{AnyKind, TrafficKind};
use pauseless_text::declare::{Declared, Registry, Variant, Written};
use pauseless_text::problem::Problem;

/// The keys of a kind of traffic of another crate, a section that [`section!`](pauseless_text::section) declares,
/// and the flows that they stand for.
pub trait TrafficRule: Declared + Written + fmt::Debug + Send + Sync + 'static {
    /// All flows of a run, which start before [`Scene::end`]. The keys, the network, the seed and the
    /// name of the section decide them, and nothing else. Their names begin with [`Scene::pair_name`] or
    /// [`Scene::flow_name`], and no two are alike.
    fn flows(&self, scene: &Scene<'_>) -> Result<Batch, Problem>;

    /// Every pair of hosts that may send to each other, whatever the seed, for `pauseless check`.
    fn pairs(&self, scene: &Scene<'_>) -> Result<Vec<Pair>, Problem>;
}

/// The kinds of traffic of other crates.
pub(super) static OUTSIDE: Registry<AnyKind> = Registry::new();

/// Makes `kind = "NAME"` known in `[[traffic]]`.
pub fn register_traffic<R: TrafficRule>(name: &'static str) {
    let variant: Variant<AnyKind> = Variant {
        name,
        info: R::info,
        read: |section| Some(Box::new(Ruled(R::read(section)))),
        keys_of: |kind| {
            let kind: &dyn Any = &**kind;
            let Ruled(rule) = kind.downcast_ref::<Ruled<R>>()?;
            Some(Box::new(rule))
        },
    };
    OUTSIDE.register(Box::leak(Box::new(variant)));
}

/// A rule of another crate among our own kinds.
#[derive(Debug)]
struct Ruled<R>(R);

impl<R: TrafficRule> TrafficKind for Ruled<R> {
    fn flows(&self, scene: &Scene<'_>) -> Option<Batch> {
        let batch = self.0.flows(scene).map_err(|problem| scene.sink.push(problem)).ok()?;
        for flow in &batch.flows {
            let ends = [flow.source, flow.target];
            let are_hosts = ends.iter().all(|end| scene.topology.is_host(*end));
            assert!(are_hosts, "{} is between hosts", flow.name);
            assert_ne!(flow.source, flow.target, "{} goes nowhere", flow.name);
        }
        let mut waits = batch.follows.iter().flat_map(|wait| [wait.first, wait.then]);
        let are_flows = waits.all(|flow| (flow as usize) < batch.flows.len());
        assert!(are_flows, "flows wait for flows of the same section");
        Some(batch)
    }

    fn pairs(&self, scene: &Scene<'_>) -> Option<Batch> {
        let pairs = self.0.pairs(scene).map_err(|problem| scene.sink.push(problem)).ok()?;
        Some(scene.pairs(pairs.len() as f64, pairs))
    }
}
