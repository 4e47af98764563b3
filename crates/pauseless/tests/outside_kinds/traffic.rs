//! A shift: every host sends to the one so many places further.

use pauseless_core::unit::Bytes;
use pauseless_scenario::outside::{Batch, Made, Pair, Scene, TrafficRule};
use pauseless_text::problem::Problem;
use pauseless_text::section;

section! {
    /// Every host sends to the one so many places further, in a circle.
    pub struct Shift {
        /// How many places further the target is.
        by: u32, within 1..=1_000, default 1;
        /// How much each of them sends.
        size: Bytes, within Bytes::new(1)..=Bytes::mb(1_000), required "\"1 MB\"";
    }
}

impl TrafficRule for Shift {
    fn flows(&self, scene: &Scene<'_>) -> Result<Batch, Problem> {
        let pairs = self.pairs(scene)?.into_iter();
        let flows = pairs.map(|pair| {
            let name = scene.pair_name(pair.source, pair.target);
            let ends = [pair.source, pair.target];
            Made::new(name, ends, pair.size_max, scene.start)
        });
        Ok(Batch::of(flows.collect()))
    }

    fn pairs(&self, scene: &Scene<'_>) -> Result<Vec<Pair>, Problem> {
        let hosts = scene.topology.hosts();
        let by = self.by.value as usize;
        if by.is_multiple_of(hosts.len()) {
            let message = format!("a shift by {by} of {} hosts goes nowhere", hosts.len());
            let place = self.by.place.as_ref().unwrap_or(scene.place());
            return Err(place.problem(message).help("shift by less than there are hosts"));
        }
        let size = self.size.or(Bytes::new(1));
        let targets = hosts.iter().cycle().skip(by);
        let pairs = hosts.iter().zip(targets);
        let pairs = pairs.map(|(source, target)| Pair::of(*source, *target, size));
        Ok(pairs.collect())
    }
}
